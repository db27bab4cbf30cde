"""The phone as a web page: its files, and a stream of what the chat shows.

    GET  /<secret>/phone/            the page (page/index.html, phone.css, *.js)
    GET  /<secret>/phone/stream      server-sent events: first all there is, then what changed
    GET  /<secret>/phone/file/<id>   the bytes of a document or photo

What a thumb does goes to /<secret>/do/<verb> (control.py). server.py mounts both.

Guarded four times, since whatever an agent wrote is shown here: the path cannot be guessed; only a
browser that calls this machine by its own name is answered (a page elsewhere that points its name
at 127.0.0.1 is not); the page may run its own scripts alone; a file is never served as a page.
"""

from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any

import msgspec
from aiohttp import hdrs, web

from bot.emulator.cloud import Cloud
from bot.emulator.control import as_json
from bot.emulator.phone import Phone
from bot.emulator.world import Chat, Message

# A tunnel from another computer arrives under another port: only the name is judged.
HERE = ("127.0.0.1", "localhost", "::1")
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # the path is the secret
    "X-Content-Type-Options": "nosniff",
}
_PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8": "image/jpeg"}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def only_here(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer those alone who call this machine by its own name."""
    try:
        name = request.url.host
    except ValueError:  # a Host header that is no host
        name = None
    if name not in HERE:
        return web.Response(status=403, text="This is only for the machine it runs on.\n")
    return await handler(request)


class Page:
    """Shows one phone's private chat with the bot.

    hint   what an empty chat offers to write
    """

    def __init__(self, phone: Phone, cloud: Cloud, hint: str) -> None:
        self._phone = phone
        self._cloud = cloud
        self._hint = hint
        folder = resources.files("bot.emulator") / "page"
        self._files = {
            file.name: (file.read_bytes(), _TYPES[file.name.rpartition(".")[2]])
            for file in folder.iterdir()
            if file.name.rpartition(".")[2] in _TYPES
        }

    def add_to(self, app: web.Application, secret: str) -> None:
        """Hang the routes below /<secret>/phone/."""
        app.router.add_get(f"/{secret}/phone/stream", self._stream)
        app.router.add_get(f"/{secret}/phone/file/{{id}}", self._file)
        app.router.add_get(f"/{secret}/phone/{{name:[a-z.]*}}", self._asset)

    async def _asset(self, request: web.Request) -> web.Response:
        kept = self._files.get(request.match_info["name"] or "index.html")
        if kept is None:
            raise web.HTTPNotFound
        body, kind = kept
        return web.Response(body=body, content_type=kind, charset="utf-8", headers=_HEADERS)

    async def _file(self, request: web.Request) -> web.Response:
        kept = self._cloud.stored(request.match_info["id"])
        if kept is None:
            raise web.HTTPNotFound
        picture = next((t for head, t in _PICTURES.items() if kept.data.startswith(head)), None)
        if kept.file.kind == "photo" and picture is not None:
            return web.Response(body=kept.data, content_type=picture, headers=_HEADERS)
        headers = {**_HEADERS, hdrs.CONTENT_DISPOSITION: "attachment"}
        kind = "application/octet-stream"
        return web.Response(body=kept.data, content_type=kind, headers=headers)

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={**_HEADERS, "X-Accel-Buffering": "no"})
        response.content_type = "text/event-stream"
        await response.prepare(request)
        seen = Seen(self._phone, self._cloud, self._hint)
        while not self._cloud.updates.closed:
            with self._cloud.watching() as change:
                news = seen.news()
                if news:
                    await response.write(b"data: " + msgspec.json.encode(news) + b"\n\n")
                else:
                    await change
        return response


class Seen:
    """What one open page has been told, and so what is news to it.

    Messages are replaced when they change, never altered: one that is still the same object has
    nothing new.
    """

    def __init__(self, phone: Phone, cloud: Cloud, hint: str) -> None:
        self._phone = phone
        self._cloud = cloud
        self._hint = hint
        self._messages: dict[int, Message] | None = None
        self._answered: set[str] = set()
        self._rest: dict[str, Any] = {}

    def news(self) -> dict[str, Any]:
        """Return what changed since the last time, empty if nothing did.

        fresh      all there is; whatever the page showed before is to be forgotten
        messages   new or changed ones
        gone       ids of messages that are no more
        taps       taps the bot has answered now
        topics, pinned, commands, typing, blocked   each whole, when it is another
        """
        place = self._cloud.private_chat(self._phone.owner)
        news = self._changed_rest(place)
        fresh = self._messages is None
        before = self._messages or {}
        changed = [said for said in place.messages.values() if before.get(said.id) is not said]
        gone = [number for number in before if number not in place.messages]
        taps = [tap for tap in self._cloud.world.taps.values() if tap.answered]
        answers = [tap for tap in taps if tap.id not in self._answered]
        self._messages = dict(place.messages)
        self._answered = {tap.id for tap in taps}
        if fresh:
            bot = self._cloud.world.bot
            news |= {"fresh": True, "bot": bot.first_name, "hint": self._hint}
        if changed:
            news["messages"] = as_json(changed)
        if gone:
            news["gone"] = gone
        if answers:
            news["taps"] = as_json(answers)
        return news

    def _changed_rest(self, place: Chat) -> dict[str, Any]:
        typing = {
            (thread or 0): (what, until)
            for (chat, thread), (what, until) in self._cloud.typing.items()
            if chat == place.id
        }
        now: dict[str, Any] = {
            "topics": as_json(list(place.topics.values())),
            "pinned": list(place.pinned),
            "commands": self._phone.menu(),
            "blocked": place.bot_status == "kicked",
            "threaded": self._cloud.threaded,
            "typing": typing,
        }
        news = {name: value for name, value in now.items() if self._rest.get(name) != value}
        self._rest = now
        if "typing" in news:
            clock = self._cloud.clock()
            news["typing"] = [
                {"thread": thread, "what": what, "for_s": until - clock}
                for thread, (what, until) in typing.items()
                if until > clock
            ]
        return news
