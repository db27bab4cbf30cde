"""The HTML parse mode: tags to entities, with the server's complaints word for word.

Byte offsets in the complaints count UTF-8 bytes of the source, entities UTF-16 units of
the result. Only texts.py calls this.
"""

import html
import re
from typing import Any

from msgspec import Struct

from bot.emulator.refusal import Refusal, bad

_TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "a": "text_link",
    "tg-emoji": "custom_emoji",
}
_ATTRIBUTE = re.compile(r"""\s*([^\s=>]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s>]*))?""")
_REFERENCE = re.compile(r"&(?:#x[0-9a-fA-F]{1,6}|#[0-9]{1,7}|lt|gt|amp|quot);")


class _Open(Struct):
    tag: str
    begin: int
    offset: int
    attributes: dict[str, str]


def units(text: str) -> int:
    """Return how many UTF-16 units `text` takes: the way Telegram counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def parse_html(source: str) -> tuple[str, list[dict[str, Any]]]:
    """Return the text without its tags, and the entities they asked for.

    raises  Refusal "can't parse entities: ..." as the server says it
    """
    text, entities, stack = "", list[dict[str, Any]](), list[_Open]()
    at = 0
    while at < len(source):
        if source[at] == "&" and (match := _REFERENCE.match(source, at)):
            text += html.unescape(match.group())
            at = match.end()
        elif source[at] == "<" and source.startswith("</", at):
            at = _close(source, at, text, stack, entities)
        elif source[at] == "<":
            at = _open(source, at, text, stack)
        else:
            text += source[at]
            at += 1
    if stack:
        raise _cannot(f'Can\'t find end tag corresponding to start tag "{stack[-1].tag}"')
    for entity in entities:
        if entity["type"] == "code":
            entity.pop("language", None)  # a language belongs to <pre><code> alone
    return text, sorted(entities, key=lambda e: (e["offset"], -e["length"]))


def _open(source: str, at: int, text: str, stack: list[_Open]) -> int:
    begin = _byte(source, at)
    match = re.compile(r"<([^\s>]*)").match(source, at)
    assert match is not None  # the caller saw the "<"
    tag, cursor = match.group(1).lower(), match.end()
    if cursor >= len(source):
        raise _cannot(f"Unclosed start tag at byte offset {begin}")
    if tag not in _TAGS:
        raise _cannot(f'Unsupported start tag "{tag}" at byte offset {begin}')
    attributes: dict[str, str] = {}
    while cursor < len(source) and source[cursor] != ">":
        found = _ATTRIBUTE.match(source, cursor)
        if found is None:
            cursor += 1
            continue
        value = (found.group(2) or "").strip("\"'")
        attributes[found.group(1).lower()] = html.unescape(value)
        cursor = found.end()
    if cursor >= len(source):
        raise _cannot(f'Unclosed start tag "{tag}" at byte offset {begin}')
    if tag == "span" and attributes.get("class") != "tg-spoiler":
        raise _cannot(f'Tag "span" must have class "tg-spoiler" at byte offset {begin}')
    stack.append(_Open(tag, begin, units(text), attributes))
    return cursor + 1


def _close(
    source: str, at: int, text: str, stack: list[_Open], entities: list[dict[str, Any]]
) -> int:
    begin = _byte(source, at)
    end = source.find(">", at)
    if end < 0:
        raise _cannot(f"Unclosed end tag at byte offset {begin}")
    tag = source[at + 2 : end].strip().lower()
    if not stack:
        raise _cannot(f"Unexpected end tag at byte offset {begin}")
    opened = stack.pop()
    if tag and tag != opened.tag:
        raise _cannot(
            f'Unmatched end tag at byte offset {begin}, expected "</{opened.tag}>", '
            f'found "</{tag}>"'
        )
    length = units(text) - opened.offset
    if length:
        _add(opened, length, text, entities)
    return end + 1


def _add(opened: _Open, length: int, text: str, entities: list[dict[str, Any]]) -> None:
    entity: dict[str, Any] = {
        "type": _TAGS[opened.tag],
        "offset": opened.offset,
        "length": length,
    }
    attributes = opened.attributes
    match opened.tag:
        case "a":
            entity["url"] = attributes.get("href") or text.encode("utf-16-le")[
                2 * opened.offset :
            ].decode("utf-16-le")
        case "tg-emoji":
            entity["custom_emoji_id"] = attributes.get("emoji-id", "")
        case "blockquote" if "expandable" in attributes:
            entity["type"] = "expandable_blockquote"
        case "code" if attributes.get("class", "").startswith("language-"):
            entity["language"] = attributes["class"].removeprefix("language-")
        case "pre" if entities and _same_place(entities[-1], entity):
            entity |= {k: v for k, v in entities.pop().items() if k == "language"}
    entities.append(entity)


def _same_place(inner: dict[str, Any], outer: dict[str, Any]) -> bool:
    return inner["type"] == "code" and all(inner[k] == outer[k] for k in ("offset", "length"))


def _byte(source: str, at: int) -> int:
    return len(source[:at].encode())


def _cannot(why: str) -> Refusal:
    return bad(f"can't parse entities: {why}")
