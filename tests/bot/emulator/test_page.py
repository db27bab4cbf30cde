"""Who may see the phone page, and what it is served with. What it does: tests/browser."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from bot.emulator import Emulator
from tests.bot.emulator.conftest import OWNER, Raw, buttons, picture


@asynccontextmanager
async def stream(client: httpx.AsyncClient, url: str) -> AsyncIterator[AsyncIterator[Any]]:
    """Follow what the page is told."""
    async with client.stream("GET", f"{url}stream") as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        lines = answer.aiter_lines()

        async def news() -> AsyncIterator[Any]:
            async for line in lines:
                if line:
                    yield json.loads(line.removeprefix("data: "))

        yield news()


@pytest.mark.parametrize("name", ["", "phone.css", "phone.js", "words.js", "icon.svg"])
async def test_the_page_runs_its_own_scripts_alone(
    emulator: Emulator, client: httpx.AsyncClient, name: str
) -> None:
    answer = await client.get(f"{emulator.page_url}{name}")
    assert answer.status_code == 200
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert " on" + "click=" not in answer.text
    assert "innerHTML" not in answer.text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "x y"]
)
async def test_a_name_that_is_not_this_machine_s_is_turned_away(
    emulator: Emulator, client: httpx.AsyncClient, host: str
) -> None:
    for path in ("phone/", "phone/stream", "messages", "do/send"):
        answer = await client.get(f"{emulator.control_url}/{path}", headers={"Host": host})
        assert answer.status_code in (400, 403)
    assert emulator.phone.messages() == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "localhost:8080", "[::1]:9"])
async def test_this_machine_s_own_names_are_let_in_by_any_port(
    emulator: Emulator, client: httpx.AsyncClient, host: str
) -> None:
    """A tunnel from a laptop ends here under the laptop's own port."""
    assert (await client.get(emulator.page_url, headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "path", ["../page.py", "%2e%2e/page.py", "page.py", "nothing.js", "file/F9"]
)
async def test_nothing_else_is_served(
    emulator: Emulator, client: httpx.AsyncClient, path: str
) -> None:
    assert (await client.get(f"{emulator.page_url}{path}")).status_code == 404
    assert (await client.get(f"{emulator.url}/guess/phone/")).status_code == 404


async def test_a_file_is_never_served_as_a_page(
    emulator: Emulator, client: httpx.AsyncClient
) -> None:
    page = b"<script>alert(1)</script>"
    sent = emulator.phone.document("x.html", page, mime="text/html")
    assert sent.file is not None
    answer = await client.get(f"{emulator.page_url}file/{sent.file.id}")
    assert answer.content == page
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"] == "attachment"
    shown = emulator.phone.photo(picture())
    assert shown.file is not None
    answer = await client.get(f"{emulator.page_url}file/{shown.file.id}")
    assert answer.headers["Content-Type"] == "image/png"


async def test_the_stream_tells_all_at_first_and_then_what_changed(
    emulator: Emulator, raw: Raw, client: httpx.AsyncClient
) -> None:
    emulator.phone.send("before")
    async with stream(client, emulator.page_url) as news:
        first = await anext(news)
        assert first["fresh"] is True
        assert [message["text"] for message in first["messages"]] == ["before"]
        sent = await raw.call("sendMessage", chat_id=OWNER, text="card", reply_markup=buttons("Go"))
        said = await anext(news)
        assert [message["text"] for message in said["messages"]] == ["card"]
        assert said["messages"][0]["rows"][0][0]["label"] == "Go"
        assert not {"fresh", "gone", "topics"} & said.keys()
        tap = emulator.phone.tap(sent["message_id"], "Go")
        await raw.call(
            "answerCallbackQuery", callback_query_id=tap.id, text="gone", show_alert=True
        )
        answered = await anext(news)
        assert [(t["id"], t["answer"], t["alert"]) for t in answered["taps"]] == [
            (tap.id, "gone", True)
        ]
        await raw.call("deleteMessage", chat_id=OWNER, message_id=sent["message_id"])
        assert (await anext(news))["gone"] == [sent["message_id"]]


async def test_the_stream_ends_with_the_emulator(
    emulator: Emulator, client: httpx.AsyncClient
) -> None:
    async with stream(client, emulator.page_url) as news:
        await anext(news)
        await emulator.stop()
        assert [told async for told in news] == []
