"""The phone for other processes: JSON over HTTP below a path that cannot be guessed.

    GET  /<secret>/messages?chat_id=&thread=   what the chat shows
    GET  /<secret>/changes?after=N             waits for a change past revision N
    GET  /<secret>/transcript                  the chat as text
    POST /<secret>/do/<verb>                   send, tap, edit, delete, react, ... (phone.py)
    POST /<secret>/wait                        {"contains": "...", "button": "...", "after": 0}
    POST /<secret>/fault/<verb>                flood, error, gateway, odd, tear, silence, cut, slow, calm

Verbs take their arguments as one JSON object; files come as base64 in `data_base64`.
What goes wrong is answered 400 with {"error": "..."}. server.py mounts this.
"""

import base64
import contextlib
from collections.abc import Callable
from typing import Any

import msgspec
from aiohttp import web

from bot.emulator.cloud import Cloud
from bot.emulator.phone import WAIT_S, Phone
from bot.emulator.refusal import Refusal
from bot.emulator.world import Message

LONGEST_WAIT_S = 50.0


class Control:
    """Offers one phone and the weather around it."""

    def __init__(self, phone: Phone, cloud: Cloud) -> None:
        self._phone = phone
        self._cloud = cloud
        faults = cloud.faults
        self._verbs: dict[str, Callable[..., Any]] = {
            "block": phone.block,
            "close_topic": phone.close_topic,
            "create_group": phone.create_group,
            "create_topic": phone.create_topic,
            "delete": phone.delete,
            "delete_topic": phone.delete_topic,
            "rename_topic": phone.rename_topic,
            "document": phone.document,
            "edit": phone.edit,
            "other": phone.other,
            "photo": phone.photo,
            "react": phone.react,
            "remove_bot": phone.remove_bot,
            "send": phone.send,
            "start": phone.start,
            "tap": phone.tap,
            "topics": phone.topics,
            "unblock": phone.unblock,
        }
        self._weather: dict[str, Callable[..., None]] = {
            "calm": faults.calm,
            "cut": faults.cut,
            "error": faults.error,
            "flood": faults.flood,
            "gateway": faults.gateway,
            "odd": faults.odd,
            "silence": faults.silence,
            "slow": faults.slow,
            "tear": faults.tear,
        }

    def add_to(self, app: web.Application, secret: str) -> None:
        """Hang the routes below /<secret>/."""
        app.router.add_get(f"/{secret}/messages", self._messages)
        app.router.add_get(f"/{secret}/changes", self._changes)
        app.router.add_get(f"/{secret}/transcript", self._transcript)
        app.router.add_post(f"/{secret}/do/{{verb}}", self._do)
        app.router.add_post(f"/{secret}/wait", self._wait)
        app.router.add_post(f"/{secret}/fault/{{verb}}", self._fault)

    async def _messages(self, request: web.Request) -> web.Response:
        try:
            wanted = {name: int(value) for name, value in request.query.items()}
            shown = self._phone.messages(**wanted)
        except (LookupError, TypeError, ValueError) as error:
            return _failed(error)
        return _json([as_json(message) for message in shown])

    async def _changes(self, request: web.Request) -> web.Response:
        after = int(request.query.get("after", "0"))
        with contextlib.suppress(TimeoutError):
            await self._phone.until(lambda: self._cloud.revision > after, LONGEST_WAIT_S)
        return _json({"revision": self._cloud.revision})

    async def _transcript(self, request: web.Request) -> web.Response:
        return web.Response(text=self._phone.transcript())

    async def _do(self, request: web.Request) -> web.Response:
        return await self._act(request, self._verbs)

    async def _fault(self, request: web.Request) -> web.Response:
        return await self._act(request, self._weather)

    async def _act(
        self, request: web.Request, verbs: dict[str, Callable[..., Any]]
    ) -> web.Response:
        verb = verbs.get(request.match_info["verb"])
        if verb is None:
            return _failed(LookupError(f"no such verb; there are: {', '.join(sorted(verbs))}"))
        try:
            result = verb(**await _arguments(request))
        except (LookupError, TypeError, ValueError, Refusal) as error:
            return _failed(error)
        return _json(as_json(result))

    async def _wait(self, request: web.Request) -> web.Response:
        try:
            wanted = await _arguments(request)
            text, button = str(wanted.get("contains", "")), wanted.get("button")
            found = await self._phone.wait_for(
                lambda m: text in m.text and (button is None or button in m.labels),
                float(wanted.get("timeout", WAIT_S)),
                wanted.get("chat_id"),
                wanted.get("thread"),
                int(wanted.get("after", 0)),
            )
        except (LookupError, TypeError, ValueError, TimeoutError) as error:
            return _failed(error)
        return _json(as_json(found))


async def _arguments(request: web.Request) -> dict[str, Any]:
    body = await request.text()
    arguments = msgspec.json.decode(body, type=dict[str, Any]) if body else {}
    encoded = arguments.pop("data_base64", None)
    if encoded is not None:
        arguments["data"] = base64.b64decode(encoded)
    return arguments


def as_json(value: Any) -> Any:
    """Return what a phone's verb gave, as JSON can carry it; page.py shows the same."""
    if isinstance(value, list):
        return [as_json(item) for item in value]
    shown = msgspec.to_builtins(value)
    if isinstance(value, Message):
        shown["rows"] = msgspec.to_builtins(value.rows)
    return shown


def _json(value: Any) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")


def _failed(error: Exception) -> web.Response:
    text = str(error) or type(error).__name__
    return web.Response(
        status=400, body=msgspec.json.encode({"error": text}), content_type="application/json"
    )
