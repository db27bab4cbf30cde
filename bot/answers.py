"""What comes back over HTTP, looked at before the library reads it.

    Telegram's own JSON        ──> the library, as it is
    anything else (a proxy's page, half an answer, JSON of somebody else's)  ──> "no answer"

The library goes by the status alone: a proxy's 404 page would be a revoked token to it, its 400 page a
refusal for good, and JSON without a result an exception nobody expects. All that is said passes here too:
masks.py takes out what must not be. Neighbours: app.py makes the clients, delivery.py reads what is left
of errors.
"""

import json
import re
from typing import Any

from telegram.error import BadRequest, NetworkError, RetryAfter, TelegramError
from telegram.request import HTTPXRequest

from bot.masks import Spoken
from stores import database

# What to wait where somebody says 429 but not for how long.
UNTOLD_S = 30
TOO_LARGE = "request entity too large"


class Answers(HTTPXRequest):
    """One pool of connections to the Bot API; an answer is Telegram's or none."""

    async def do_request(self, url: str, method: str, *args: Any, **more: Any) -> tuple[int, bytes]:
        """Return the status and Telegram's own JSON; files come as they are.

        raises  NetworkError where somebody else answered: the work may have been done
        """
        name = _named(url, more.get("request_data"))
        if (data := more.get("request_data")) is not None:
            more["request_data"] = Spoken(data, _token(url), name.partition(" ")[0])
        database.boundary(f"before {name}")
        code, payload = await super().do_request(url, method, *args, **more)
        database.boundary(f"after {name}")
        if method == "GET" and code < 300:
            return code, payload
        body = _telegrams(payload)
        if code == 413:
            raise BadRequest(TOO_LARGE)
        if code == 429 and not _wait(body):
            raise RetryAfter(UNTOLD_S)
        if code == 404 and body and "method not found" in str(body.get("description")).lower():
            raise BadRequest("this Bot API does not know the method")
        if (body is None or body["ok"] is not (code < 300)) and method != "GET":
            raise NetworkError(f"status {code}, and no answer of Telegram's")
        return code, payload

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """Return an answer; the library's own would log what it cannot read."""
        body = _telegrams(payload)
        if body is None:
            raise TelegramError("Invalid server response")
        return body


def _token(url: str) -> str:
    found = re.search(r"/bot([^/]+)/", url)
    return found[1] if found else ""


def _named(url: str, data: Any) -> str:
    """Return what a call is called in crash tests: its method, and the message that it is about."""
    about = data.parameters.get("message_id") if data is not None else None
    name = url.partition("?")[0].rpartition("/")[2]
    return f"{name} {about}" if about else name


def _telegrams(payload: bytes) -> dict[str, Any] | None:
    """Return the answer if it is one of Telegram's."""
    try:
        body = json.loads(payload)
    except ValueError:
        return None
    if not isinstance(body, dict):
        return None
    if body.get("ok") is True:
        return body if "result" in body else None
    return body if body.get("ok") is False and isinstance(body.get("description"), str) else None


def _wait(body: dict[str, Any] | None) -> bool:
    parameters = (body or {}).get("parameters")
    return isinstance(parameters, dict) and bool(parameters.get("retry_after"))
