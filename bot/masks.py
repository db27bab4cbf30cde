"""The last net over what the bot says: its own token, and what is plainly a key, whoever wrote it.

    any call of the Bot API ──> answers.py ──> spoken: texts, captions, labels, titles, names of files
    a file made of text     ──> outbox.py  ──> masked

The engine took out what its vault holds (engine/net.py); this is for what no vault knows, and for what the
bot says of itself. Each character becomes a dot, so that formatting stays where it was. Only keys of a
known shape: what words around it give away stands in too many a diff. Neighbours: keys.py, redact.py.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from typing import Any, Final

from bot import keys
from bot.keys import Key

log = logging.getLogger(__name__)

DOT: Final = "\N{BULLET}"
SECRET: Final = 20  # of Telegram's tokens 35; a test's may be a word that stands in ordinary text
# What of a call is read by a person; the rest names chats, messages and files.
READ: Final = frozenset({"text", "caption", "name", "reply_markup", "entities"})
# Only what can be a block's lines: one that never ends must not hide the rest of a card.
_BLOCK: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY[A-Z ]{0,10}-----(?:[\s>|+]*[A-Za-z0-9+/=]{20,})+"
    r"(?:[\s>|+]*[A-Za-z0-9+/=]+(?=\s*-----END))?"
)


def masked(text: str, token: str = "") -> str:
    """Return a text with dots for what must not be shown; as long as it was."""
    secret = token.partition(":")[2]
    for part in (token, secret if len(secret) >= SECRET else ""):
        if part and part in text:
            text = text.replace(part, DOT * len(part))
    found = [Key("PRIVATE_KEY", block[0], *block.span()) for block in _BLOCK.finditer(text)]
    parts, at = [], 0
    for key in keys.in_order([*found, *keys.shaped(text)]):
        parts += [text[at : key.start], DOT * (key.end - key.start)]
        at = key.end
    return "".join([*parts, text[at:]]) if parts else text


class Spoken:
    """One call's parameters as they go out; stands in for the library's RequestData."""

    def __init__(self, data: Any, token: str, call: str) -> None:
        self.parameters: Mapping[str, Any] = data.parameters
        self.json_parameters: dict[str, str] = data.json_parameters
        self.multipart_data: Mapping[str, Any] | None = data.multipart_data
        for name in READ & self.parameters.keys():
            said = self.parameters[name]
            if (clean := _within(said, token)) != said:
                log.warning("masked what looks like a key: call=%s field=%s", call, name)
                self.json_parameters[name] = clean if isinstance(clean, str) else json.dumps(clean)
        if self.multipart_data:
            self.multipart_data = {
                part: (masked(name, token), *rest)
                for part, (name, *rest) in self.multipart_data.items()
            }


def _within(said: Any, token: str) -> Any:
    if isinstance(said, str):
        return masked(said, token)
    if isinstance(said, list):
        return [_within(one, token) for one in said]
    if isinstance(said, dict):
        return {name: _within(one, token) for name, one in said.items()}
    return said
