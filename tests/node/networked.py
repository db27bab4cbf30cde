"""Starts runs with a network of their own, as an ordinary user, for tests/node/test_network.py to judge.

What there is to reach stands outside: services of this machine, and sockets without a path. The same
is tried by a run that shares the machine's network, so that it is shown what shuts it. Standard
library only.
"""

from __future__ import annotations

import dataclasses
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.node import fence, network, own_network
from engine.node.runs import Runs
from tests.node.grounds import spooled, wait_for

PYTHON = "/usr/bin/python3"  # shown to every run
PATIENCE_S = 20.0
TRIES = r"""
import errno, json, os, socket, sys
def tried(attempt):
    try:
        return attempt()
    except socket.timeout:
        return "ETIMEDOUT"
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))
def tcp(host, port):
    def attempt():
        socket.create_connection((host, port), 2).close()
        return "open"
    return attempt
def udp(host, port):
    def attempt():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mine:
            mine.settimeout(1)
            mine.connect((host, port))
            mine.send(b"?")
            return mine.recv(9).decode()
    return attempt
def abstract(name):
    def attempt():
        with socket.socket(socket.AF_UNIX) as mine:
            mine.connect("\0" + name)
            return "open"
    return attempt
kinds = {"tcp": tcp, "udp": udp, "abstract": abstract}
asked = json.loads(sys.argv[1])
print(json.dumps({name: tried(kinds[kind](*words)) for name, (kind, *words) in asked.items()}))
"""

# As above, by who names the way out, which a socket may without any right.
BY_THE_WAY = r"""
import errno, json, socket, struct, sys
number, device = [one for one in socket.if_nameindex() if one[1] != "lo"][0]
def tried(host, port, kind):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    to = (host, port, 0, number if host.startswith("fe80") else 0)[: 2 if family == socket.AF_INET else 4]
    with socket.socket(family, socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM) as mine:
        mine.settimeout(1)
        try:
            if kind == "named":
                six = (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, bytes(16) + struct.pack("=I", number))
                four = (socket.IPPROTO_IP, 8, struct.pack("=I8x", number))
                mine.sendmsg([b"?"], [six if ":" in host else four], 0, to)
                return mine.recv(9).decode()
            mine.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
            mine.connect(to)
            if kind == "from":
                return mine.getsockname()[0]
            mine.send(b"?")
            return mine.recv(9).decode()
        except socket.timeout:
            return "ETIMEDOUT"
        except OSError as error:
            return errno.errorcode.get(error.errno, str(error))
print(json.dumps({f"{kind} {host}": tried(host, port, kind) for host, port, kind in json.loads(sys.argv[1])}))
"""


def say(**words: Any) -> None:
    print(json.dumps(words), flush=True)  # noqa: T201 - the test reads it


def found(stage: str) -> fence.Probe:
    """Return what this machine has, or end here with why runs share its network."""
    home = f"{stage}/user/quarterdeck"
    os.makedirs(home, exist_ok=True)
    probe = own_network.tried(fence.probe(), home)
    if not probe.network:
        say(shares=probe.shares or probe.why)
        sys.exit()
    return probe


def start(stage: str, probe: fence.Probe, argv: list[str], **changes: Any) -> fence.Child:
    env = {"PATH": "/usr/bin:/bin", fence.MARK: "r-1", **changes.pop("env", {})}
    return fence.launch(
        argv,
        env,
        fence.View(home=f"{stage}/user/quarterdeck", **changes),
        probe,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def told(child: fence.Child) -> tuple[str, fence.End]:
    assert child.stdout is not None
    said = child.stdout.read().decode()
    return said, child.wait()


def services() -> tuple[dict[str, tuple[Any, ...]], list[socket.socket]]:
    """Return what is to be tried, and what there is to be reached; it must be held."""
    here = [net for net in network.own_addresses() if net.family == socket.AF_INET]
    address = socket.inet_ntoa(here[0].address)
    tcp = [socket.create_server(("", 0)) for _ in range(3)]
    ports = [one.getsockname()[1] for one in tcp]
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("", 0))
    abstract = socket.socket(socket.AF_UNIX)
    name = f"quarterdeck-network-{os.getpid()}"
    abstract.bind("\0" + name)
    abstract.listen(8)
    asked: dict[str, tuple[Any, ...]] = {
        "a port that was named": ("tcp", "127.0.0.1", ports[0]),
        "a port that an address in its environment leads to": ("tcp", "127.0.0.1", ports[1]),
        "the same by name": ("tcp", "localhost", ports[1]),
        "another port": ("tcp", "127.0.0.1", ports[2]),
        "another of the loopback addresses": ("tcp", "127.0.0.2", ports[2]),
        "the machine by its own address": ("tcp", address, ports[2]),
        "the machine by its gateway's address": ("tcp", gateway(), ports[2]),
        "a datagram port": ("udp", "127.0.0.1", udp.getsockname()[1]),
        "a datagram port by the machine's own address": ("udp", address, udp.getsockname()[1]),
        "a cloud's metadata": ("tcp", "169.254.169.254", 80),
        "another link-local address": ("tcp", "169.254.170.2", 80),
        "a cloud's metadata by IPv6": ("tcp", "fd00:ec2::254", 80),
        "a socket without a path": ("abstract", name),
    }
    return asked, [*tcp, udp, abstract]


def gateway() -> str:
    for line in Path("/proc/net/route").read_text(encoding="ascii").splitlines()[1:]:
        words = line.split()
        if words[1] == "00000000":
            return socket.inet_ntoa(int(words[2], 16).to_bytes(4, "little"))
    return "127.0.0.3"


def reach(stage: str) -> None:
    """Say what a run reaches in a network of its own, and one that shares ours."""
    probe = found(stage)
    asked, held = services()
    named, by_name = asked["a port that was named"][2], asked["the same by name"][2]
    shared = dataclasses.replace(probe, network="")
    fence.harden()
    said = {}
    far = ("by its gateway's", "metadata", "link-local")  # not to be had here, shut or not
    for where, with_ in (("own", probe), ("shared", shared)):
        if where == "shared":
            asked = {name: to for name, to in asked.items() if not any(one in name for one in far)}
        child = start(
            stage,
            with_,
            [PYTHON, "-c", TRIES, json.dumps(asked)],
            ports=(named,),
            env={"MODEL_URL": f"http://localhost:{by_name}/v1"},
        )
        said[where] = json.loads(told(child)[0])
    script = "id -u; id -g; grep CapEff /proc/self/status; cat /proc/net/tcp /proc/net/unix | wc -l"
    who = {
        "own": told(start(stage, probe, ["sh", "-c", script]))[0],
        "us": [os.getuid(), os.getgid()],
    }
    say(said=said, who=who, line=probe.describe())
    del held


def strays(stage: str) -> None:
    """Say what a run reaches of this machine that names the way out, and how much came here of it."""
    probe = found(stage)
    with (
        socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as udp,
        socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True) as tcp,
    ):
        port = tcp.getsockname()[1]
        udp.bind(("", port))
        own = [socket.inet_ntop(net.family, net.address) for net in network.own_addresses()]
        hosts = [*own, "127.0.0.1", "127.0.0.2", "::1"]
        asked = [(host, port, kind) for host in hosts for kind in ("tcp", "udp", "named")]
        asked += [("169.254.169.254", 80, "from"), ("fd00:ec2::254", 80, "tcp")]
        asked += [("fe80::a9fe:a9fe", 80, "tcp")]
        fence.harden()
        said = told(start(stage, probe, [PYTHON, "-c", BY_THE_WAY, json.dumps(asked)]))[0]
        came = len(select.select([tcp, udp], [], [], 0)[0])
    say(said=json.loads(said), came=came)


def pastas() -> list[int]:
    """Return the processes that began in this test's name, whatever they are called by now."""
    left = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                words = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[3]) in SESSIONS and words[0] != "Z":
            left.append(int(name))
    return left


SESSIONS: set[int] = set()  # of pasta and what it started: it leads one of its own


def gone(is_gone: Callable[[], bool]) -> bool:
    until = time.monotonic() + PATIENCE_S
    while not is_gone() and time.monotonic() < until:
        time.sleep(0.01)
    return is_gone()


def ends(stage: str) -> None:
    """Say how runs end, and that nothing is left of their networks."""
    probe = found(stage)
    fence.harden()
    seen = []
    for last in ("exit 0", "exit 3", "kill -9 $$", "setsid sleep 600 & exit 4"):
        child = start(stage, probe, ["sh", "-c", last])
        assert child._network is not None
        SESSIONS.add(child._network.process.pid)
        _, end = told(child)
        seen.append([*end, child.ran, len(pastas())])
    say(ends=seen)


def killed(stage: str) -> None:
    """Say what comes of a run when pasta is killed, and when its fence is."""
    probe = found(stage)
    fence.harden()
    seen = {}
    for whom in ("pasta", "the fence", "pid 1 inside", "by us"):
        child = start(stage, probe, ["sh", "-c", "echo up; setsid sleep 600 & sleep 600"])
        assert child._network is not None
        assert child.stdout is not None
        SESSIONS.add(child._network.process.pid)
        child.stdout.readline()
        if whom == "by us":
            child.kill()
        else:
            pids = {"pasta": child._network.process.pid, "the fence": child.pid}
            os.kill(pids.get(whom, child.child_pid), signal.SIGKILL)
        _, end = told(child)
        seen[whom] = [*end, child.stranded, gone(lambda: not pastas())]
    say(ends=seen)


def orphan(stage: str) -> None:
    """Start a run, tell of it, and wait to be killed."""
    probe = found(stage)
    fence.harden()
    child = start(stage, probe, ["sh", "-c", "echo up; setsid sleep 600 & sleep 600"])
    assert child._network is not None
    assert child.stdout is not None
    child.stdout.readline()
    say(pasta=child._network.process.pid, child_pid=child.child_pid)
    signal.pause()


def watch(stage: str) -> None:
    """Kill a process that has a run, and say whether all of it is gone."""
    argv = [sys.executable, "-B", "-m", "tests.node.networked", stage, "orphan"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        line = json.loads(other.stdout.readline())
        if "shares" in line:
            say(**line)
            return
        other.kill()
    SESSIONS.add(line["pasta"])
    pid = line["child_pid"]
    is_gone = gone(lambda: not os.path.exists(f"/proc/{pid}"))
    gone(lambda: not pastas())
    say(gone=is_gone, left=[Path(f"/proc/{one}/stat").read_text() for one in pastas()])


def ordered(stage: str) -> None:
    """Say how runs end that a node was told to start, and what they say as they begin."""
    probe = found(stage)
    home = f"{stage}/user/quarterdeck"
    runs = Runs(home, probe)
    for run, argv in (("r-1", ["sh", "-c", "echo up; exec sleep 600"]), ("r-2", ["no-such-thing"])):
        os.makedirs(f"{home}/trees/{run}")
        view = {"tree": f"{home}/trees/{run}", "tmp": f"{home}/sessions/{run}/tmp", "ports": [5432]}
        env = {"PATH": "/usr/bin:/bin", "HOME": f"{stage}/user"}
        runs.start({"run": run, "kind": "command", "argv": argv, "env": env, "fence": view})
    child = wait_for(f"{home}/runs/r-1/child.json")
    gone(lambda: '"up"' in Path(f"{home}/runs/r-1/out.jsonl").read_text())
    children = Path(f"/proc/{child['runner']}/task/{child['runner']}/children").read_text().split()
    (pasta,) = {int(pid) for pid in children} - {child["pid"]}
    with open(f"/proc/{pasta}/comm", encoding="utf-8") as file:
        name = file.read().strip()
    os.kill(pasta, signal.SIGKILL)
    ends = [wait_for(f"{home}/runs/{run}/exit.json") for run in ("r-1", "r-2")]
    notes = [line["d"] for line in spooled(home, "r-1") if line["k"] == "note"]
    say(name=name, ends=[[end["why"], end["words"]] for end in ends], notes=notes)


def refused(stage: str) -> None:
    """Say what a run is told whose network cannot be made, and that nothing is left of the try."""
    probe = found(stage)
    wrong = dataclasses.replace(probe, network="/bin/false")
    try:
        start(stage, wrong, ["true"])
    except OSError as error:
        say(error=str(error))


def asks(stage: str) -> None:
    """Say what a run's question for a name is answered, whose resolver is where it cannot be asked."""
    probe = found(stage)
    script = "import socket; print(socket.gethostbyname('example.org'))"
    names = told(start(stage, probe, [PYTHON, "-c", script]))[0]
    shown = told(start(stage, probe, ["cat", "/etc/resolv.conf"]))[0]
    say(names=names.split(), shown=shown.splitlines())


def switched(stage: str) -> None:
    """Say what a node finds whose owner wants no such networks, and one without pasta."""
    home = f"{stage}/user/off"
    os.makedirs(home)
    Path(home, own_network.SWITCH).touch()
    probe = fence.probe()
    off = own_network.tried(probe, home)
    os.environ["PATH"] = f"{stage}/nothing"
    without = own_network.tried(probe, stage)
    say(off=[off.network, off.describe()], without=[without.network, without.describe()])


if __name__ == "__main__":
    doing = (reach, strays, ends, killed, orphan, watch, ordered, refused, asks, switched)
    stage_ = sys.argv[1]
    wanted = sys.argv[2] if len(sys.argv) > 2 else os.environ["WHAT"]
    {one.__name__: one for one in doing}[wanted](stage_)
