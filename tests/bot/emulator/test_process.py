"""The emulator as a process of its own, and its phone over HTTP."""

import asyncio
import base64
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.emulator import Emulator
from tests.bot.emulator.conftest import OWNER, TOKEN, Raw, buttons


@asynccontextmanager
async def started(*more: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, dict[str, str]]]:
    """Run an emulator and give it with what it printed; kill it if it is still there."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bot.emulator",
        "--token",
        TOKEN,
        "--owner",
        str(OWNER),
        *more,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        yield process, json.loads(await process.stdout.readline())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def ended(process: asyncio.subprocess.Process, by: signal.Signals) -> int:
    process.send_signal(by)
    return await process.wait()


class Remote:
    """The phone as another process reaches it."""

    def __init__(self, client: httpx.AsyncClient, url: str) -> None:
        self._client = client
        self._url = url

    async def post(self, path: str, **arguments: Any) -> Any:
        answer = await self._client.post(f"{self._url}/{path}", json=arguments)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def get(self, path: str) -> Any:
        return (await self._client.get(f"{self._url}/{path}")).json()

    async def failure(self, path: str, **arguments: Any) -> str:
        answer = await self._client.post(f"{self._url}/{path}", json=arguments)
        assert answer.status_code == 400
        error: str = answer.json()["error"]
        return error


@pytest.fixture
def remote(emulator: Emulator, client: httpx.AsyncClient) -> Remote:
    return Remote(client, emulator.control_url)


async def test_a_conversation_through_a_process_survives_a_kill(
    tmp_path: Path, client: httpx.AsyncClient
) -> None:
    """BR-37"""
    options = ("--state", str(tmp_path / "telegram.json"), "--threaded")
    async with started(*options) as (process, where):
        raw, phone = Raw(client, where["url"]), Remote(client, where["control"])
        thread = await phone.post("do/create_topic", name="Cart")
        await phone.post("do/send", text="hello", thread=thread)
        await raw.call("sendMessage", chat_id=OWNER, text="card", reply_markup=buttons("Go"))
        document = base64.b64encode(b"some notes").decode()
        await phone.post("do/document", name="notes.txt", data_base64=document)
        before, updates = await phone.get("messages"), await raw.call("getUpdates")
        await ended(process, signal.SIGKILL)

    async with started(*options) as (process, where):
        raw, phone = Raw(client, where["url"]), Remote(client, where["control"])
        assert await phone.get("messages") == before
        assert await raw.call("getUpdates") == updates
        assert await ended(process, signal.SIGTERM) == 0


async def test_another_process_can_wait_tap_and_order_weather(
    raw: Raw, emulator: Emulator, remote: Remote
) -> None:
    waiting = asyncio.create_task(remote.post("wait", contains="ready", button="Go"))
    await raw.call("sendMessage", chat_id=OWNER, text="ready", reply_markup=buttons("Go"))
    card = await waiting
    assert card["rows"][0][0]["label"] == "Go"
    tap = await remote.post("do/tap", message=card["id"], label="Go")
    assert tap["data"] == "c:1:1:go"
    await remote.post("fault/flood", method="getMe", retry_after=2)
    assert await raw.refusal("getMe") == "Too Many Requests: retry after 2"


async def test_changes_are_told_when_they_happen(emulator: Emulator, remote: Remote) -> None:
    revision = (await remote.get("changes?after=-1"))["revision"]
    waiting = asyncio.create_task(remote.get(f"changes?after={revision}"))
    emulator.phone.send("x")
    assert (await waiting)["revision"] > revision


async def test_what_goes_wrong_is_said(emulator: Emulator, remote: Remote) -> None:
    assert "no such verb" in await remote.failure("do/dance")
    assert "no message #999" in await remote.failure("do/tap", message=999, label="Go")
    assert "waited 0.01 s in vain" in await remote.failure("wait", contains="x", timeout=0.01)
    assert "colour" in await remote.failure("do/send", text="x", colour="red")


async def test_the_control_path_cannot_be_guessed(
    emulator: Emulator, client: httpx.AsyncClient
) -> None:
    assert emulator.control_url.startswith(f"{emulator.url}/")
    assert len(emulator.control_url) > len(emulator.url) + 20
    assert (await client.get(f"{emulator.url}/guess/messages")).status_code == 404


@pytest.mark.parametrize("token", ["", "1", "x:y", ":y"])
def test_a_malformed_token_is_refused_at_once(token: str) -> None:
    with pytest.raises(ValueError, match="a bot token looks like"):
        Emulator(token=token, owner_id=OWNER)
