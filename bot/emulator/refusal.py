"""What the Bot API says when it will not do something.

Raised by texts.py, keyboards.py, schema.py, messages.py, topics.py and methods.py;
turned into an HTTP answer by server.py. The sentences are the real server's, because
clients tell errors apart by their text. A sentence of our own starts with "[emulator]".
"""

from typing import Any


class Refusal(Exception):
    """One failed call: HTTP status, description and the `parameters` object."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters

    def body(self) -> dict[str, Any]:
        """Return the JSON object the client is sent."""
        body: dict[str, Any] = {
            "ok": False,
            "error_code": self.code,
            "description": self.description,
        }
        if self.parameters:
            body["parameters"] = dict(self.parameters)
        return body


def bad(cause: str, **parameters: int) -> Refusal:
    """Return a 400 with the server's prefix."""
    return Refusal(400, f"Bad Request: {cause}", **parameters)


def forbidden(cause: str) -> Refusal:
    """Return a 403 with the server's prefix."""
    return Refusal(403, f"Forbidden: {cause}")


def too_many(retry_after: int) -> Refusal:
    """Return a 429 that asks for `retry_after` seconds of quiet."""
    return Refusal(429, f"Too Many Requests: retry after {retry_after}", retry_after=retry_after)


def not_emulated(what: str) -> Refusal:
    """Return a 400 for what the real server may do and this one does not."""
    return bad(f"[emulator] {what} is not emulated")
