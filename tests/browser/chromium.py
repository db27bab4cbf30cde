"""A headless Chromium of our own, spoken to over its DevTools protocol.

Needs no driver and no library: the browser prints where it listens, and JSON goes over a websocket.
screen.py makes tabs of it.
"""

import asyncio
import itertools
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome")
LISTENS = "DevTools listening on "
ANSWERS_S = 240
# It is for 127.0.0.1 alone: no name is looked up, and nothing is fetched in the background.
FLAGS = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-pings",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--force-color-profile=srgb",
    "--lang=en-GB",
)

Params = dict[str, Any]


class Failed(Exception):
    """The browser said no, or a page threw."""


def found() -> str | None:
    """Return where a Chromium is on this machine."""
    return next((where for name in NAMES if (where := shutil.which(name))), None)


@contextmanager
def running(command: str) -> Iterator[str]:
    """Run a Chromium with a profile that is thrown away; give the address it listens at."""
    profile = Path(tempfile.mkdtemp(prefix="quarterdeck-browser-"))
    flags = [*FLAGS, f"--user-data-dir={profile}"]
    if os.geteuid() == 0:
        flags.append("--no-sandbox")  # it refuses to start as root otherwise
    process = subprocess.Popen(
        [command, *flags, "about:blank"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        yield _address(process.stderr)
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(profile, ignore_errors=True)


def _address(log: IO[str]) -> str:
    """Return what the browser prints once it listens; what it prints later is read and forgotten."""
    said = []
    for line in log:
        if line.startswith(LISTENS):
            threading.Thread(target=_read_out, args=[log], daemon=True).start()
            return line.removeprefix(LISTENS).strip()
        said.append(line)
    log.close()
    raise Failed("Chromium did not start:\n" + "".join(said[-20:]))


def _read_out(log: IO[str]) -> None:
    with log:
        log.read()


class Browser:
    """One connection to a browser; `call` asks it, `on_event` hears it."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Future[Params]] = {}
        self._hears: dict[str, Callable[[str, Params], None]] = {}

    async def call(self, method: str, session: str = "", **params: Any) -> Params:
        """Return what a command gives.

        raises  Failed with the browser's words
        """
        number = next(self._numbers)
        answer = asyncio.get_running_loop().create_future()
        self._open[number] = answer
        command: Params = {"id": number, "method": method, "params": params}
        if session:
            command["sessionId"] = session
        await self._socket.send_json(command)
        async with asyncio.timeout(ANSWERS_S):
            said: Params = await answer
        if "error" in said:
            raise Failed(f"{method}: {said['error']['message']}")
        result: Params = said["result"]
        return result

    def on_event(self, session: str, hear: Callable[[str, Params], None]) -> None:
        self._hears[session] = hear

    async def listen(self) -> None:
        """Take up what the browser says, until it goes."""
        async for message in self._socket:
            said = message.json()
            if "id" in said:
                answer = self._open.pop(said["id"])
                if not answer.done():
                    answer.set_result(said)
            elif said.get("sessionId") in self._hears:
                self._hears[said["sessionId"]](said["method"], said["params"])


@asynccontextmanager
async def connected(address: str) -> AsyncIterator[Browser]:
    """Speak to the browser at `address` for as long as the block lasts."""
    async with (
        aiohttp.ClientSession() as client,
        client.ws_connect(address, max_msg_size=0) as socket,
    ):
        browser = Browser(socket)
        listening = asyncio.create_task(browser.listen())
        try:
            yield browser
        finally:
            listening.cancel()
