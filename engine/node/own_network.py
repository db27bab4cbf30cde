"""Whether this machine can give each run a network of its own: found out by giving one to a trial run.

pasta (package passt) is what makes it. Where it is missing, may not work or leaks, runs share the
machine's network as before, and the machine's card says why and what mends it. An owner who wants
that anyway leaves a file `shared-network` in the node's home.

engine/node/serve.py asks once, as it starts, from the main thread; engine/doctor.py asks as well.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import replace

from engine.node import fence, network

SWITCH = "shared-network"  # in the node's home: no run gets a network of its own
INSTALL = "install passt"
TUN = "/dev/net/tun"
_NAMESPACE = "/proc/self/ns/net"
_PATIENCE_S = 20.0
_CONNECT_S = 5.0
_LOOK = "[ -O /usr ] && echo own; echo inside"


def tried(probe: fence.Probe, home: str) -> fence.Probe:
    """Return the probe with what there is of networks: how they are made, or why there are none."""
    if not probe.fenced:
        return probe
    if os.path.exists(os.path.join(home, SWITCH)):
        return replace(probe, shares=f"the file {SWITCH} in its home asks for that")
    pasta = shutil.which("pasta")
    if pasta is None:
        return replace(probe, shares=INSTALL)
    if why := _no_tun():
        return replace(probe, shares=why)
    hopeful = replace(probe, network=os.path.abspath(pasta))
    # Once more where it failed: a busy machine is no reason.
    fault = _fault(hopeful, home) and _fault(hopeful, home)
    return replace(probe, shares=fault) if fault else hopeful


def _fault(hopeful: fence.Probe, home: str) -> str:
    try:
        return _look(hopeful, home)
    except (OSError, ValueError) as error:
        return f"a trial did not start: {error}"


def _no_tun(path: str = TUN) -> str:
    if not os.path.exists(path):
        return f"there is no {path}; `sudo modprobe tun` makes it"
    if not os.access(path, os.R_OK | os.W_OK):
        return f"{path} is closed to ordinary users; `sudo chmod 0666 {path}` opens it"
    return ""


class _Trial(network.Network):
    """A network that is looked round in by whoever enters it."""

    ready_s = 10.0

    def __init__(self, pasta: str, named: int) -> None:
        self._asked = {"named": ("127.0.0.1", named), "metadata": ("169.254.169.254", 80)}
        self._outside = os.stat(_NAMESPACE).st_ino
        self.seen, self.see = os.pipe()
        super().__init__(pasta, [named], {})

    def enter(self) -> None:
        super().enter()
        words = [f"{name}={_outcome(address)}" for name, address in self._asked.items()]
        words += ["apart"] if os.stat(_NAMESPACE).st_ino != self._outside else []
        os.write(self.see, " ".join(words).encode())


def _outcome(address: tuple[str, int]) -> str:
    try:
        socket.create_connection(address, _CONNECT_S).close()
    except socket.timeout:
        return "ETIMEDOUT"
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "failed")
    return "open"


def _look(hopeful: fence.Probe, home: str) -> str:
    """Start a run in such a network and return what is wrong with it; nothing if all is well.

    Nothing of ours listens for that: pasta itself takes connections to a named port, inside. Here the
    port is only kept from others meanwhile.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as named:
        named.bind(("127.0.0.1", 0))
        own = _Trial(hopeful.network, named.getsockname()[1])
        try:
            said = _run(hopeful, home, own)
        finally:
            os.close(own.see)
            with open(own.seen, "rb") as file:
                seen = file.read().decode().split()
    return _judged(seen, said, own.close())


def _run(hopeful: fence.Probe, home: str, own: network.Network) -> list[str]:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": os.path.expanduser("~")}
    child = fence.launch(
        ["/bin/sh", "-c", _LOOK],
        environment,
        fence.View(home=home),
        hopeful,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        own=own,
    )
    try:
        out, _ = child.process.communicate(timeout=_PATIENCE_S)
    except subprocess.TimeoutExpired:
        child.kill()
        out, _ = child.process.communicate()
    child.wait()
    return out.decode("utf-8", "replace").split()


def _judged(seen: Sequence[str], said: Sequence[str], code: int) -> str:
    if "named=open" not in seen:
        return "a trial of pasta failed: a port it was to lead to did not answer"
    if "apart" not in seen:
        return "a trial of pasta leaks: this machine's own network shows inside"
    if "metadata=ECONNREFUSED" not in seen:
        return "a trial of pasta leaks: a cloud's metadata shows inside"
    if said != ["inside"]:
        return f"a trial of pasta failed: {' '.join(said)[:200] or 'its fence did not stand'}"
    return f"a trial of pasta failed: it ended with {code}" if code else ""
