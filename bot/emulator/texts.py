"""Texts and their formatting, checked and tidied as the real server does it.

Offsets and lengths count UTF-16 units throughout. messages.py calls `formatted`;
phone.py uses `units` and `cut` to split long texts as the app does.

Of the parse modes only HTML is understood, with the server's own complaints; both
Markdown modes are refused, since this project sends entities.
"""

import re
from collections.abc import Callable
from typing import Any

from bot.emulator.html_mode import parse_html, units
from bot.emulator.refusal import bad, not_emulated

Entity = dict[str, Any]
Note = Callable[[str], None]

TEXT_LIMIT = 4096
CAPTION_LIMIT = 1024
MAX_ENTITIES = 100
_AUTOMATIC = ("mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number")
_CODE = ("pre", "code")
_QUOTES = ("blockquote", "expandable_blockquote")
_MARKS = ("bold", "italic", "underline", "strikethrough", "spoiler")
_RICH = ("text_link", "text_mention", "custom_emoji", "date_time")
# Zero-width characters and joiners: alone they make no message.
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_FOUND_IN_TEXT = (
    ("url", re.compile(r"https?://[^\s<>\"']+[^\s<>\"'.,;:!?)\]]")),
    ("bot_command", re.compile(r"(?<![\w/<>])/[A-Za-z0-9_]{1,64}(?:@\w{3,32})?(?![\w/<>])")),
    ("mention", re.compile(r"(?<!\w)@[A-Za-z0-9_]{2,32}(?!\w)")),
    ("hashtag", re.compile(r"(?<![\w#])#(?=\w*[^\W\d_])\w{1,256}(?![\w#])")),
)

__all__ = ["CAPTION_LIMIT", "TEXT_LIMIT", "Entity", "cut", "formatted", "inside", "units"]


def formatted(
    text: str, entities: list[Entity] | None, parse_mode: str, note: Note
) -> tuple[str, list[Entity]]:
    """Return the text as it is stored and its entities, sorted.

    note    is told what the server puts right without an error
    raises  Refusal for entities that cannot be
    """
    if parse_mode:
        if parse_mode.lower() in ("markdown", "markdownv2"):
            raise bad("can't parse entities: [emulator] Markdown is not read here, send entities")
        if parse_mode.lower() != "html":
            raise bad("unsupported parse_mode")
        if entities:
            note("entities beside a parse_mode are ignored")
        text, entities = parse_html(text)
    wanted = _known(entities or [], note)
    _check_places(text, wanted)
    text, wanted = _tidy(text, wanted)
    wanted = _without_marks_in_code(wanted, note)
    if len(wanted) > MAX_ENTITIES:
        note(f"{len(wanted) - MAX_ENTITIES} entities over {MAX_ENTITIES} are dropped")
    wanted = wanted[:MAX_ENTITIES]
    return text, sorted([*wanted, *_automatic(text, wanted)], key=_order)


def is_blank(text: str) -> bool:
    """Return whether a person would see nothing."""
    return not text.strip().strip(_INVISIBLE).strip()


def cut(text: str, limit: int = TEXT_LIMIT) -> list[str]:
    """Return `text` in parts of at most `limit` units, as the app cuts what is typed."""
    parts, part, size = [], "", 0
    for char in text:
        if size + units(char) > limit:
            parts.append(part)
            part, size = "", 0
        part += char
        size += units(char)
    return [*parts, part] if part else parts


def inside(text: str, entity: Entity) -> str:
    """Return the characters an entity covers."""
    raw = text.encode("utf-16-le")
    start = 2 * entity["offset"]
    return raw[start : start + 2 * entity["length"]].decode("utf-16-le")


def _order(entity: Entity) -> tuple[int, int]:
    return entity["offset"], -entity["length"]


def _known(entities: list[Entity], note: Note) -> list[Entity]:
    kept = []
    for entity in entities:
        kind = entity["type"]
        if kind in _AUTOMATIC:
            continue
        if kind not in (*_CODE, *_QUOTES, *_MARKS, *_RICH):
            raise bad(f"can't parse entities: [emulator] entity type {kind!r} is unknown")
        if kind == "text_mention":
            raise not_emulated("entity type text_mention")
        if kind == "text_link" and not re.match(r"(https?|tg)://[^/\s]+", entity.get("url", "")):
            raise bad(f"entity URL '{entity.get('url', '')}' is invalid: Wrong HTTP URL")
        if entity["length"] <= 0 or entity["offset"] < 0:
            note(f"entity {kind} at {entity['offset']} has no extent and is dropped")
            continue
        kept.append(dict(entity))
    return sorted(kept, key=_order)


def _check_places(text: str, entities: list[Entity]) -> None:
    """Refuse entities outside the text or inside a surrogate pair."""
    starts, at = {0: 0}, 0
    byte = 0
    for char in text:
        at += units(char)
        byte += len(char.encode())
        starts[at] = byte
    for entity in entities:
        offset, end = entity["offset"], entity["offset"] + entity["length"]
        if offset > at:
            raise bad(f"entity begins after the end of the text at UTF-16 offset {offset}")
        if offset not in starts:
            where = starts[offset + 1]
            raise bad(f"entity begins in a middle of a UTF-16 symbol at byte offset {where}")
        if end > at:
            raise bad(
                f"entity beginning at UTF-16 offset {offset} ends after the end of the text "
                f"at UTF-16 offset {end}"
            )
        if end not in starts:
            raise bad(
                f"entity beginning at UTF-16 offset {offset} ends in a middle of a UTF-16 symbol "
                f"at byte offset {starts[end + 1]}"
            )


def _tidy(text: str, entities: list[Entity]) -> tuple[str, list[Entity]]:
    """Clean control characters away and trim both ends; entities follow."""
    moved: dict[int, int] = {}
    old = new = 0
    kept = []
    for char in text:
        moved[old] = new
        old += units(char)
        if char == "\r" or "\u2028" <= char <= "\u202e":
            continue
        kept.append(" " if char < " " and char != "\n" else char)
        new += units(char)
    moved[old] = new
    clean = "".join(kept)
    spans = [(e, moved[e["offset"]], moved[e["offset"] + e["length"]]) for e in entities]

    tail = units(clean.rstrip(" \n"))
    lead = units(clean) - units(clean.lstrip(" \n"))
    # The server stops at the first entity: an indented code block keeps its indent.
    lead = min([lead, *(start for _, start, _ in spans)])
    result = []
    for entity, start, end in spans:
        end = min(end, tail)
        if end > start and inside(clean, {"offset": start, "length": end - start}).strip():
            result.append({**entity, "offset": start - lead, "length": end - start})
    raw = clean.encode("utf-16-le", "surrogatepass")
    return raw[2 * lead : 2 * max(lead, tail)].decode("utf-16-le", "surrogatepass"), result


def _without_marks_in_code(entities: list[Entity], note: Note) -> list[Entity]:
    """Drop what lies in code and cut what overlaps it: code holds no other entity."""
    code: list[Entity] = []
    for entity in entities:
        if entity["type"] in _CODE and not any(_overlap(entity, other) for other in code):
            code.append(entity)
    kept = []
    for entity in entities:
        apart = not any(_overlap(entity, other) for other in code)
        if apart or entity in code or entity["type"] in _QUOTES:
            kept.append(entity)
        else:
            note(f"entity {entity['type']} at {entity['offset']} overlaps code and gives way")
            kept += _around(entity, code)
    return sorted(kept, key=_order)


def _overlap(one: Entity, other: Entity) -> bool:
    ends = one["offset"] + one["length"], other["offset"] + other["length"]
    return bool(one["offset"] < ends[1] and other["offset"] < ends[0])


def _around(entity: Entity, code: list[Entity]) -> list[Entity]:
    if entity["type"] in _CODE:
        return []
    parts, start, end = [], entity["offset"], entity["offset"] + entity["length"]
    for block in sorted(code, key=_order):
        if block["offset"] > start:
            parts.append((start, min(end, block["offset"])))
        start = max(start, block["offset"] + block["length"])
    parts.append((start, end))
    return [{**entity, "offset": a, "length": b - a} for a, b in parts if b > a]


def _automatic(text: str, taken: list[Entity]) -> list[Entity]:
    """Find what the server marks up by itself: links, commands, mentions, hashtags."""
    closed = [e for e in taken if e["type"] in (*_CODE, *_RICH)]
    found: list[Entity] = []
    for kind, pattern in _FOUND_IN_TEXT:
        for match in pattern.finditer(text):
            entity = {
                "type": kind,
                "offset": units(text[: match.start()]),
                "length": units(match.group()),
            }
            if not any(_overlap(entity, other) for other in (*closed, *found)):
                found.append(entity)
    return found
