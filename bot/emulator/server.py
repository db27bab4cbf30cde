"""The HTTP face: the Bot API at /bot<token>/, files at /file/bot<token>/.

A call is read and checked (schema.py), meets the
weather (faults.py) and the flood limits, and is done (methods.py). control.py and page.py hang
their routes on the same server under a secret path.
"""

import asyncio
import json
import secrets
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import web
from msgspec import Struct

from bot.emulator.cloud import Cloud
from bot.emulator.control import Control
from bot.emulator.faults import Cut, Fault, Faults, Gateway, Odd, Refuse, Silence, Slow, Tear
from bot.emulator.flood import COUNTED
from bot.emulator.methods import METHODS
from bot.emulator.page import Page, only_here
from bot.emulator.phone import Phone
from bot.emulator.refusal import Refusal, too_many
from bot.emulator.schema import Params, Upload, method_named, read
from bot.emulator.updates import Updates

BODY_LIMIT = 50 << 20
CALLS_KEPT = 10_000
_WEBHOOK = (
    "Conflict: can't use getUpdates method while webhook is active; "
    "use deleteWebhook to delete the webhook first"
)
_PAGE = "<html>\r\n<head><title>{0}</title></head>\r\n<body>\r\n<h1>{0}</h1>\r\n</body>\r\n</html>"


class Call(Struct, frozen=True):
    """One call the bot made, as a test may look back on it.

    code    200, or the error's; 0 while no answer was given or the connection dropped
    at      the emulator's clock
    """

    method: str
    params: Params
    code: int
    description: str
    at: float


class Emulator:
    """A Bot API for one bot, on 127.0.0.1. See the package's docstring."""

    def __init__(
        self,
        *,
        token: str,
        owner_id: int,
        threaded: bool = False,
        users_create_topics: bool = False,
        flood: bool = True,
        clock: Callable[[], float] = time.time,
        state: Path | None = None,
        secret: str = "",
        hint: str = "",
    ) -> None:
        number, _, rest = token.partition(":")
        if not (number.isdigit() and rest):
            raise ValueError("a bot token looks like 123456:ABC")
        self.token = token
        self.url = ""
        self.calls: deque[Call] = deque(maxlen=CALLS_KEPT)
        self._secret = secret or secrets.token_urlsafe(16)
        self._hint = hint
        self._flooding = flood
        self._cloud = Cloud(
            int(number),
            owner_id,
            threaded=threaded,
            users_create_topics=users_create_topics,
            clock=clock,
            state=state,
        )
        self.phone = Phone(self._cloud, owner_id)
        self._stopping = asyncio.Event()
        self._runner: web.AppRunner | None = None

    @property
    def faults(self) -> Faults:
        """Return the bad weather a test may order."""
        return self._cloud.faults

    @property
    def updates(self) -> Updates:
        """Return the queue of updates: `lose`, `repeat`, `reverse`, `interrupt`."""
        return self._cloud.updates

    @property
    def notes(self) -> list[str]:
        """Return what the real server would have forgiven without a word."""
        return self._cloud.notes

    @property
    def revision(self) -> int:
        """Return how often anything in the chats has changed."""
        return self._cloud.revision

    @property
    def ignored_waits(self) -> int:
        """Return how many calls came during a wait the bot had been told to keep."""
        return self._cloud.flood.ignored

    @property
    def control_url(self) -> str:
        """Return where other processes find the phone: not to be guessed."""
        return f"{self.url}/{self._secret}"

    @property
    def page_url(self) -> str:
        """Return where a browser finds the phone."""
        return f"{self.control_url}/phone/"

    def calls_of(self, method: str) -> list[Call]:
        """Return the calls of one method, oldest first."""
        return [call for call in self.calls if call.method == method]

    async def start(self, port: int = 0) -> None:
        """Listen on 127.0.0.1; `url` tells where."""
        app = web.Application(client_max_size=BODY_LIMIT, middlewares=[only_here])
        app.router.add_route("*", "/bot{token}/{method}", self._call)
        app.router.add_get("/file/bot{token}/{path:.+}", self._download)
        Control(self.phone, self._cloud).add_to(app, self._secret)
        Page(self.phone, self._cloud, self._hint).add_to(app, self._secret)
        app.router.add_route("*", "/{anything:.*}", _nothing_here)
        # No access log: the token is in every path.
        self._runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=1
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        host, bound = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{bound}"

    async def stop(self) -> None:
        """Let every waiting call go, close, and save."""
        self._stopping.set()
        self._cloud.updates.close()
        self._cloud.changed()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> "Emulator":
        await self.start()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.stop()

    # --- one call ---

    async def _call(self, request: web.Request) -> web.StreamResponse:
        method = method_named(request.match_info["method"])
        try:
            self._check_token(request)
            if method is None:
                raise Refusal(404, "Not Found: method not found")
            params = read(method, *await _parameters(request))
        except Refusal as refusal:
            return self._refused(method or request.match_info["method"], {}, refusal)
        return await self._meet(request, method, params, self.faults.take(method))

    async def _meet(
        self, request: web.Request, method: str, params: Params, fault: Fault | None
    ) -> web.StreamResponse:
        """Let a fault have its way with the call, which is done or not as it says."""
        match fault:
            case Refuse(code, description, parameters):
                return self._refused(method, params, Refusal(code, description, **parameters))
            case None:
                return await self._answer(method, params)
            case Slow(seconds):
                answer = await self._answer(method, params)
                await self._pause(seconds)
                return answer
            case Odd(code, body):
                self._record(method, params, code, "odd")
                return web.Response(status=code, text=body, content_type="application/json")
        if fault.done:
            await self._answer(method, params)
        else:
            self._record(method, params, 0, type(fault).__name__)
        match fault:
            case Gateway(code):
                title = f"{code} Bad Gateway" if code == 502 else f"{code} Server Error"
                return web.Response(status=code, text=_PAGE.format(title), content_type="text/html")
            case Silence():
                await self._stopping.wait()
            case Tear():
                half = web.StreamResponse(headers={"Content-Length": "1000"})
                await half.prepare(request)
                await half.write(b'{"ok":true,"resu')
            case Cut():
                pass
        if request.transport is not None:
            request.transport.abort()
        return web.Response()

    async def _answer(self, method: str, params: Params) -> web.Response:
        try:
            self._check_flood(method, params)
            if method == "getUpdates":
                result = await self._get_updates(params)
            else:
                result = METHODS[method](self._cloud, params)
        except Refusal as refusal:
            return self._refused(method, params, refusal)
        self._record(method, params, 200, "")
        return web.json_response({"ok": True, "result": result})

    async def _get_updates(self, params: Params) -> list[dict[str, Any]]:
        if self.faults.webhook:
            raise Refusal(409, _WEBHOOK)
        return await self._cloud.updates.get(
            params.get("offset", 0),
            params.get("limit", 100),
            params.get("timeout", 0),
            params.get("allowed_updates"),
        )

    def _check_token(self, request: web.Request) -> None:
        token = request.match_info["token"]
        if ":" not in token or not token.partition(":")[0].isdigit():
            raise Refusal(404, "Not Found")
        if self.faults.revoked or not secrets.compare_digest(token.encode(), self.token.encode()):
            raise Refusal(401, "Unauthorized")

    def _check_flood(self, method: str, params: Params) -> None:
        if not self._flooding or method not in COUNTED:
            return
        chat_id = params.get("chat_id")
        wait_s = self._cloud.flood.wait(
            chat_id if isinstance(chat_id, int) else 0, self._cloud.clock()
        )
        if wait_s:
            raise too_many(wait_s)

    def _refused(self, method: str, params: Params, refusal: Refusal) -> web.Response:
        self._record(method, params, refusal.code, refusal.description)
        headers = {}
        if "retry_after" in refusal.parameters:
            headers["Retry-After"] = str(refusal.parameters["retry_after"])
        return web.json_response(refusal.body(), status=refusal.code, headers=headers)

    def _record(self, method: str, params: Params, code: int, description: str) -> None:
        self.calls.append(Call(method, params, code, description, self._cloud.clock()))
        self._cloud.wake()

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return

    async def _download(self, request: web.Request) -> web.Response:
        try:
            self._check_token(request)
        except Refusal as refusal:
            return web.json_response(refusal.body(), status=refusal.code)
        if self.faults.take("file") is not None:  # whatever it is, the connection drops
            if request.transport is not None:
                request.transport.abort()
            return web.Response()
        path = request.match_info["path"]
        until = self._cloud.world.links.get(path, 0.0)
        kept = self._cloud.stored(path.rpartition("/")[2])
        if kept is None or self._cloud.clock() > until:
            return web.json_response(Refusal(404, "Not Found").body(), status=404)
        return web.Response(body=kept.data, content_type="application/octet-stream")


async def _nothing_here(request: web.Request) -> web.Response:
    return web.json_response(Refusal(404, "Not Found").body(), status=404)


async def _parameters(request: web.Request) -> tuple[dict[str, object], dict[str, Upload]]:
    """Return what the request carries, from the query and from the body of any sort."""
    raw: dict[str, object] = dict(request.query)
    uploads: dict[str, Upload] = {}
    if request.method not in ("GET", "POST"):
        raise Refusal(404, "Not Found")
    try:
        if request.content_type == "application/json":
            body = json.loads(await request.text() or "{}")
            if not isinstance(body, dict):
                raise Refusal(400, "Bad Request: object expected")
            raw |= body
        elif request.method == "POST":
            for name, value in (await request.post()).items():
                if isinstance(value, web.FileField):
                    uploads[name] = Upload(value.filename, value.content_type, value.file.read())
                else:
                    raw[name] = value if isinstance(value, str) else bytes(value).decode()
    except web.HTTPRequestEntityTooLarge as error:
        raise Refusal(413, "Request Entity Too Large") from error
    except ValueError as error:
        raise Refusal(400, "Bad Request: can't parse request") from error
    return raw, uploads
