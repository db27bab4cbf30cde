"""A machine to reach: a real sshd on loopback, run by whoever runs the tests, with a home of its own.

Whatever is asked for there begins in that home, after its .bashrc was read: as on many a machine, it
prints a banner and exports what is nobody's business. The client's side is a home of its own too, with
the key that the machine lets in. Neighbours: test_ssh.py (one machine), test_goal_there.py (a goal).
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.adapters.ssh import Address

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
BANNER = 'echo "Welcome aboard"; printf "no line end"'
LEAK = "export ANTHROPIC_API_KEY=leaked-key QUARTERDECK_RUN=odd"

CONFIG = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
LogLevel ERROR
ForceCommand . {folder}/begin
"""
BEGIN = """
export HOME={home}
cd "$HOME"
. "$HOME/.bashrc"
exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"
"""


class Sshd:
    """One machine's SSH server; `port` stays the same when it is started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "there"
        self.port = _free_port()
        self._server: subprocess.Popen[bytes] | None = None
        self.home.mkdir(parents=True)
        self.bashrc = self.home / ".bashrc"
        self.bashrc.write_text(f"{BANNER}\n{LEAK}\n")
        self.new_host_key()
        (folder / "begin").write_text(BEGIN.format(home=self.home))
        (folder / "config").write_text(CONFIG.format(port=self.port, folder=folder))
        (folder / "authorized_keys").touch()

    def new_host_key(self) -> None:
        """Let the machine show another key from its next start on."""
        (self.folder / "host_key").unlink(missing_ok=True)
        _keygen(self.folder / "host_key")

    def let_in(self, client: Path) -> None:
        """Let a client's home in, which gets a key for it."""
        (client / ".ssh").mkdir(mode=0o700)
        _keygen(client / ".ssh/id_ed25519")
        public = (client / ".ssh/id_ed25519.pub").read_text()
        (self.folder / "authorized_keys").write_text(public)

    @property
    def address(self) -> Address:
        return Address(pwd.getpwuid(os.getuid()).pw_name, "127.0.0.1", self.port)

    @property
    def text(self) -> str:
        return f"{self.address.user}@127.0.0.1:{self.port}"

    @property
    def node_home(self) -> Path:
        """The folder of the one box that was here."""
        (box,) = (self.home / ".local/state/quarterdeck-node").iterdir()
        return box

    def start(self) -> None:
        assert SSHD, "openssh-server is not installed: .ci/run does that"
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        with (self.folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [SSHD, "-D", "-e", "-f", str(self.folder / "config")], stderr=log
            )
        for _ in range(500):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert self._server.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.01)
        raise AssertionError((self.folder / "log").read_text())

    def stop(self) -> None:
        """Take no new connections; those there are stay."""
        if self._server is not None:
            self._server.kill()
            self._server.wait()
            self._server = None

    def sessions(self) -> list[int]:
        """The processes that hold connections; a server may use several for each."""
        assert self._server is not None
        found: list[int] = []
        todo = [self._server.pid]
        while todo:
            pid = todo.pop()
            children = _read(f"/proc/{pid}/task/{pid}/children").split()
            servers = [
                int(child) for child in children if _read(f"/proc/{child}/comm").startswith("sshd")
            ]
            found += servers
            todo += servers
        return found

    def cut(self) -> None:
        """End every connection there is, as a pulled cable does once it is noticed."""
        kill(self.sessions())

    def away(self) -> None:
        """Cut, and refuse what is tried until the next start."""
        sessions = self.sessions()
        self.stop()
        kill(sessions)


@contextmanager
def sshd(folder: Path) -> Iterator[Sshd]:
    """Run a machine while the block lasts."""
    there = Sshd(folder)
    there.start()
    try:
        yield there
    finally:
        if there._server is not None:
            there.away()


def _read(path: str) -> str:
    """Return what the kernel says, nothing of a process that has just ended."""
    try:
        return Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def kill(pids: list[int], number: signal.Signals = signal.SIGKILL) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _keygen(path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
