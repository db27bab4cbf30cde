"""A socket of ours in systemd's place: it hears what a process tells of itself."""

import socket
from pathlib import Path
from types import TracebackType
from typing import Self

PATIENCE_S = 60.0


class Ear:
    """Hears sd_notify datagrams on a socket with a path, or an abstract one (`@name`)."""

    def __init__(self, address: str | Path) -> None:
        self.address = str(address)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self._socket.settimeout(PATIENCE_S)

    def __enter__(self) -> Self:
        self._socket.bind(
            self.address.replace("@", "\0", 1) if self.address[0] == "@" else self.address
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def heard(self) -> dict[str, str]:
        """Wait for the next datagram and return what it says."""
        lines = self._socket.recv(4096).decode().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def until(self, name: str) -> list[str]:
        """Return the names of what is told up to and with `name`, one for each datagram."""
        told: list[str] = []
        while name not in told:
            told.append(next(iter(self.heard())))
        return told

    def left(self) -> list[str]:
        """Return what was told already and not heard yet."""
        self._socket.setblocking(False)
        told: list[str] = []
        try:
            while True:
                told.append(next(iter(self.heard())))
        except BlockingIOError:
            return told
        finally:
            self._socket.settimeout(PATIENCE_S)
