"""A network of its own for one fence: its own loopback, pasta at the door, and what stays shut.

    launch ──> pasta ──> cat        (holds the namespaces; ends when our pipe to it does)
       └─ fork, enter(): join them, shut what must not be reached ──> bwrap ──> the command

The fence stays our own child, so it lives and dies as one without. pasta carries what goes out to
the internet; of this machine only the named ports of 127.0.0.1 answer. Where we fall, the pipe
closes, cat ends and pasta with it; where pasta falls, `on_end` is called.

engine/node/fence.py starts one where its `Probe` says so; engine/node/own_network.py finds out
whether it may. Linux and the standard library only.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import select
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Callable, NamedTuple

RESOLV = "/etc/resolv.conf"
# Where clouds hand out a machine's keys. Nothing else lives there, but for some a resolver does.
METADATA = (
    ("169.254.0.0", 16),
    ("100.100.100.200", 32),  # Alibaba's
    ("168.63.129.16", 32),  # Azure's second
    ("fd00:ec2::254", 128),  # Amazon's
    ("fd20:ce::254", 128),  # Google's
    ("fd00:c1::a9fe:a9fe", 128),  # Oracle's
    ("fd00:42::42", 128),  # Scaleway's
)
# Addresses that nobody has, kept for documents: what is asked of them is handed to our resolver.
_FORWARD = {4: "198.51.100.53", 6: "2001:db8::53"}
_ENDS_S = 5.0
_LOOK_S = 0.02
_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_LOOPBACK = re.compile(
    r"\b[a-z][a-z0-9+.-]*://(?:[^/@\s]*@)?(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?(?![\w.:-])",
    re.IGNORECASE,
)
# An address by itself, as OLLAMA_HOST has it.
_BARE = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\]):(\d{1,5})", re.IGNORECASE)
_USUAL = {"http": 80, "https": 443}

_libc = ctypes.CDLL(None, use_errno=True)  # loaded here: `enter` runs between fork and exec


def begun(pasta: str, ports: Iterable[int], marks: Mapping[str, str]) -> Network:
    """Start one, at the second try if the first came to nothing: what runs then would be lost for it."""
    named = set(ports)
    try:
        return Network(pasta, named, marks)
    except OSError:
        return Network(pasta, named, marks)


class Network:
    """One such network, from its start on."""

    ready_s = 30.0  # what it may take until it carries, which is some 60 ms

    def __init__(self, pasta: str, ports: Iterable[int], marks: Mapping[str, str]) -> None:
        """Start it, from the main thread, and wait until it carries.

        ports    of this machine's 127.0.0.1, which answer inside at the same place
        marks    variables by which its processes can be told to be of one run
        raises   OSError with a sentence
        """
        named = sorted(set(ports))
        self.resolv, dns = resolver()
        self._shut = [*_LOOPBACKS, _LINK, *shut()]
        self._closing = False
        self._watcher: threading.Thread | None = None
        self._errors = os.memfd_create("pasta")
        argv = [pasta, "-q", "--config-net", "--no-map-gw", "-t", "none", "-u", "none"]
        argv += ["-T", ",".join(map(str, named)) or "none", "-U", "none", *dns, "--", "cat"]
        try:
            self.process = subprocess.Popen(
                argv,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={"PATH": os.environ.get("PATH", os.defpath), **marks},
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            os.close(self._errors)
            raise OSError(
                f"it got no network of its own: pasta does not start ({error.strerror}). "
                "Install passt again, or restart Quarterdeck to share this machine's network"
            ) from None
        self._handles: list[int] = []
        try:
            self._await()
            holder = _eldest_child(self.process.pid)
            for kind in ("user", "net"):
                handle = os.open(f"/proc/{holder}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC)
                self._handles.append(handle)
        except OSError as error:
            with suppress(ProcessLookupError):  # what it forked may wait for it for ever
                os.killpg(self.process.pid, signal.SIGKILL)
            said = self._said() or str(error)
            self.close()
            raise OSError(f"it got no network of its own: {said}") from None

    def enter(self) -> None:
        """Join it, in the forked process that is about to become the fence."""
        for handle, kind in zip(self._handles, (_NEW_USER, _NEW_NET)):
            if _libc.setns(handle, kind):
                raise OSError(ctypes.get_errno(), "setns")
        six, ways = _has_six(), _ways_out()
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
            for net in self._shut:
                for way in ways if six or net.family == socket.AF_INET else ():
                    kernel.send(_request(net, way))
                    _accepted(kernel.recv(4096))

    def watch(self, on_end: Callable[[], None]) -> None:
        """Have `on_end` called, in a thread, should it end before it was closed."""

        def wait() -> None:
            self.process.wait()
            if not self._closing:
                on_end()

        self._let_go()
        self._watcher = threading.Thread(target=wait, name="network", daemon=True)
        self._watcher.start()

    def close(self) -> int:
        """End it, and return pasta's exit code; the kernel takes some 25 ms to clear it away."""
        self._closing = True
        self._let_go()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        if not self._is_over():
            self.process.kill()
            self._is_over()
        return self.process.returncode

    def _is_over(self) -> bool:
        if self._watcher is not None:
            self._watcher.join(_ENDS_S)
            return not self._watcher.is_alive()
        try:
            self.process.wait(_ENDS_S)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _let_go(self) -> None:
        """Close what was needed to join it."""
        handles, self._handles = self._handles, []
        for handle in handles:
            os.close(handle)
        if self._errors >= 0:
            os.close(self._errors)
            self._errors = -1

    def _await(self) -> None:
        """Wait until cat gives a line back: pasta starts it when all is in place."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):  # it has ended, which is seen below
            self.process.stdin.write(b"\n")
        ready = select.poll()
        ready.register(self.process.stdout.fileno(), select.POLLIN)
        until = time.monotonic() + self.ready_s
        while not ready.poll(_LOOK_S * 1000):
            if time.monotonic() > until:
                raise OSError(f"pasta was not ready within {self.ready_s:g} s")
            # Left to be waited for, so that its number, and its group's, stays its own.
            if os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                raise OSError("pasta ended")
        if not self.process.stdout.read(1):
            raise OSError("pasta ended")

    def _said(self) -> str:
        """Return the last of what pasta said of its trouble."""
        size = os.fstat(self._errors).st_size
        text = os.pread(self._errors, 4096, max(0, size - 4096)).decode("utf-8", "replace")
        lines = [line for line in text.splitlines() if line and "to syslog" not in line]
        return lines[-1][:200] if lines else ""


def named_in(values: Iterable[str]) -> set[int]:
    """Return the ports of 127.0.0.1 that addresses in these values lead to, such as a model's."""
    found: set[int] = set()
    for value in values:
        if bare := _BARE.fullmatch(value.strip()):
            found.add(int(bare.group(1)))
        for match in _LOOPBACK.finditer(value):
            scheme = match.group(0).partition(":")[0].lower()
            found.add(int(match.group(1) or _USUAL.get(scheme, 0)))
    return {port for port in found if 0 < port < 65536}


def resolver(path: str = RESOLV) -> tuple[str, list[str]]:
    """Return the resolv.conf to show inside ("": this machine's), and what to tell pasta for it.

    A resolver on this machine, or at an address that is shut, cannot be asked from inside: then
    pasta hands on what is asked of an address that nobody has.
    """
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return "", []
    servers = _servers(lines)
    closed = [*_LOCAL, _LINK, *shut()]
    if servers and not any(_is_in(server, closed) for server in servers):
        return "", []
    version = 6 if servers and ":" in servers[0] else 4
    kept = [line for line in lines if line.split()[:1] != ["nameserver"]]
    text = "\n".join([*kept, f"nameserver {_FORWARD[version]}", ""])
    return text, ["--dns-forward", _FORWARD[version]]


class Net(NamedTuple):
    """Addresses that begin with the same bits."""

    address: bytes
    bits: int

    @property
    def family(self) -> socket.AddressFamily:
        return socket.AF_INET if len(self.address) == 4 else socket.AF_INET6

    def holds(self, address: bytes) -> bool:
        """Say whether an address is one of these."""
        if len(address) != len(self.address):
            return False
        rest = len(address) * 8 - self.bits
        ours, theirs = (int.from_bytes(one, "big") >> rest for one in (self.address, address))
        return ours == theirs


def _packed(address: str) -> bytes:
    """Return an address as the kernel has it; raises OSError for none."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.inet_pton(family, address.partition("%")[0])


_LOOPBACKS = (Net(_packed("127.0.0.0"), 8), Net(_packed("::1"), 128))
_LOCAL = (*_LOOPBACKS, Net(_packed("0.0.0.0"), 8), Net(_packed("::"), 128))  # the fence's own
_LINK = Net(_packed("fe80::"), 10)


def shut() -> list[Net]:
    """Return what must not be reached from inside: metadata, and this machine by any address."""
    return [*(Net(_packed(address), bits) for address, bits in METADATA), *own_addresses()]


def shuttable(path: str = RESOLV) -> list[str]:
    """Return where clouds have their metadata, as systemd reads it, but for where the resolver is asked."""
    asked = _servers(_lines(path))
    return [
        f"{address}/{bits}"
        for address, bits in METADATA
        if not any(_is_in(server, [Net(_packed(address), bits)]) for server in asked)
    ]


def _servers(lines: Iterable[str]) -> list[str]:
    words = [line.split() for line in lines]
    return [found[1] for found in words if len(found) > 1 and found[0] == "nameserver"]


def _is_in(server: str, nets: Iterable[Net]) -> bool:
    try:
        address = _packed(server)
    except OSError:
        return False
    return any(net.holds(address) for net in nets)


def own_addresses() -> list[Net]:
    """Return this machine's own addresses but for loopback: services on them are no internet."""
    found = set()
    trie = _lines("/proc/net/fib_trie")
    for line, following in zip(trie, trie[1:]):
        if line.startswith("|-- ") and following == "/32 host LOCAL":
            found.add(Net(_packed(line[4:]), 32))
    for line in _lines("/proc/net/if_inet6"):
        found.add(Net(bytes.fromhex(line.split()[0]), 128))
    return sorted(one for one in found if not any(net.holds(one.address) for net in _LOCAL))


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return [line.strip() for line in file]
    except OSError:
        return []


def _request(net: Net, way: int) -> bytes:
    """Return what asks the kernel to take a net for this side's own, also for who names the way out.

    A route that says "unreachable" is passed over for a socket that is bound to the interface, for a
    datagram that names it, and for a link-local address, which always does: pasta would then carry it.
    """
    local, static, host, own = 255, 4, 254, 2
    route = struct.pack("=8BI", net.family, net.bits, 0, 0, local, static, host, own, 0)
    whole = route + struct.pack("=HH", 4 + len(net.address), 1) + net.address
    whole += struct.pack("=HHI", 8, 4, way)
    # RTM_NEWROUTE; it is to be answered, and made beside what the kernel has for the same net
    return struct.pack("=IHHII", 16 + len(whole), 24, 0x1 | 0x4 | 0x400 | 0x800, 1, 0) + whole


def _accepted(answer: bytes) -> None:
    code = -struct.unpack_from("=i", answer, 16)[0]
    if code not in (0, errno.EEXIST):
        raise OSError(code, "a route could not be shut")


def _ways_out() -> list[int]:
    """Return the interfaces that are up and lead out of this process's network."""
    ways = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for number, name in socket.if_nameindex():
            told = fcntl.ioctl(asking, 0x8913, struct.pack("16sH14x", os.fsencode(name), 0))
            (flags,) = struct.unpack_from("H", told, 16)
            if flags & 0x1 and not flags & 0x8:  # IFF_UP, IFF_LOOPBACK
                ways.append(number)
    if not ways:
        raise OSError("no way out of the network made for it")
    return ways


def _has_six() -> bool:
    """Say whether this process's network speaks IPv6 to anybody but itself."""
    return any(line.split()[-1] != "lo" for line in _lines("/proc/net/if_inet6"))


def _eldest_child(pid: int) -> int:
    """Return what pasta started for us; for what it does inside it starts others, for a moment each."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        children = file.read().split()
    if not children:
        raise OSError("pasta has no child")
    return int(children[0])
