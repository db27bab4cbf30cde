"""One emulator a test, and three ways to speak to it: raw HTTP and python-telegram-bot here,
aiogram in test_with_aiogram.py, since importing it takes seconds."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from telegram import Bot

from bot.emulator import Emulator

TOKEN = "4242:test-token"
OWNER = 42


class Clock:
    """Time that moves only when told."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


class Raw:
    """The Bot API without a library: what was answered, status and headers included."""

    def __init__(self, client: httpx.AsyncClient, url: str, token: str = TOKEN) -> None:
        self.client = client
        self.url = f"{url}/bot{token}"

    async def call(self, method: str, **params: Any) -> Any:
        """Return the result of a call that must succeed."""
        answer = (await self.post(method, **params)).json()
        assert answer["ok"], answer
        return answer["result"]

    async def refusal(self, method: str, **params: Any) -> str:
        """Return the description of a call that must fail."""
        answer = await self.post(method, **params)
        body = answer.json()
        assert body["ok"] is False
        assert body["error_code"] == answer.status_code
        description: str = body["description"]
        return description

    async def post(self, method: str, **params: Any) -> httpx.Response:
        return await self.client.post(f"{self.url}/{method}", json=params)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def emulator(clock: Clock) -> AsyncIterator[Emulator]:
    async with Emulator(token=TOKEN, owner_id=OWNER, flood=False, clock=clock) as running:
        yield running


@pytest.fixture
async def threaded(clock: Clock) -> AsyncIterator[Emulator]:
    """An emulator whose private chats have topics."""
    async with Emulator(
        token=TOKEN, owner_id=OWNER, threaded=True, flood=False, clock=clock
    ) as running:
        yield running


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(timeout=10) as opened:
        yield opened


@pytest.fixture
def raw(emulator: Emulator, client: httpx.AsyncClient) -> Raw:
    return Raw(client, emulator.url)


@pytest.fixture
async def bot(emulator: Emulator) -> AsyncIterator[Bot]:
    async with Bot(
        TOKEN, base_url=f"{emulator.url}/bot", base_file_url=f"{emulator.url}/file/bot"
    ) as opened:
        yield opened


def picture(width: int = 640, height: int = 480) -> bytes:
    """Return the head of a PNG: enough to be taken for a picture of that size."""
    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return b"\x89PNG\r\n\x1a\n" + b"\x00\x00\x00\rIHDR" + size + bytes(8)


def buttons(*labels: str) -> dict[str, Any]:
    """Return an inline keyboard of one row, each button carrying its label."""
    row = [{"text": label, "callback_data": f"c:1:1:{label.lower()}"} for label in labels]
    return {"inline_keyboard": [row]}
