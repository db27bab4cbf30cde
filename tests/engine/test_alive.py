"""The engine's sign of life: what it finds of its own past, and the URL it calls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.alive import Alive, usable


class Listener:
    """A server of the owner's, as small as it can be."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.status = "200 OK"
        self.url = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.asked.append(head.decode().split("\r\n")[0])
        writer.write(f"HTTP/1.1 {self.status}\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    found = Listener()
    server = await asyncio.start_server(found.answer, "127.0.0.1", 0)
    found.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/ping/abc?from=here"
    async with server:
        yield found


class Life:
    def __init__(self, folder: Path) -> None:
        self.now = 1_000_000.0
        self.url = ""
        self.away: list[tuple[float, float]] = []
        self._path = folder / "engine.alive"
        self.begin()

    def begin(self) -> None:
        self.alive = Alive(self._path, lambda: self.now, away=self._was_away, url=lambda: self.url)

    async def _was_away(self, since: float, until: float) -> None:
        self.away.append((since, until))


@pytest.fixture
def life(tmp_path: Path) -> Life:
    return Life(tmp_path)


async def test_a_long_absence_is_told_once_and_a_short_one_never(life: Life) -> None:
    await life.alive.beat()
    life.now += 240
    life.begin()
    await life.alive.beat()
    assert life.away == []
    life.now += 3600
    life.begin()
    await life.alive.beat()
    await life.alive.beat()
    assert life.away == [(1_000_240.0, 1_003_840.0)]


async def test_a_clock_that_is_not_set_yet_hides_no_absence(life: Life) -> None:
    """A box without a clock of its own starts in the past, and is set when it has a network."""
    await life.alive.beat()
    life.now = 5.0
    life.begin()
    await life.alive.beat()
    life.now = 1_007_200.0
    await life.alive.beat()
    assert life.away == [(1_000_000.0, 1_007_200.0)]


async def test_the_owners_url_is_called_and_how_it_went_is_kept(
    life: Life, listener: Listener
) -> None:
    assert life.alive.heard() == ""
    life.url = listener.url
    assert life.alive.heard() == "127.0.0.1: not called yet"
    await life.alive.call()
    assert listener.asked == ["GET /ping/abc?from=here HTTP/1.1"]
    assert life.alive.heard() == "127.0.0.1: heard"
    listener.status = "500 Broken"
    await life.alive.call()
    assert life.alive.heard() == "127.0.0.1: answered 500"
    assert "abc" not in life.alive.heard()


async def test_a_url_nobody_listens_at_harms_nothing(life: Life) -> None:
    life.url = "http://127.0.0.1:9/"
    await life.alive.call()
    assert life.alive.heard().startswith("127.0.0.1: not reached")


@pytest.mark.parametrize(
    ("url", "fits"),
    [
        ("https://alive.example/ping/abc", True),
        ("http://127.0.0.1:8000", True),
        ("alive.example/ping", False),
        ("ftp://alive.example/", False),
        ("https:///ping", False),
        ("https://alive.example:port/", False),
        ("https://alive.example/a b", False),
        ("https://alive.example/é", False),
    ],
)
def test_only_a_plain_url_is_taken(url: str, fits: bool) -> None:
    assert usable(url) is fits
