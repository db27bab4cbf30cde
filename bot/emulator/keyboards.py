"""Keyboards under messages: what the server refuses, and what the phone shows of them.

messages.py checks with `check` and compares with what stands; phone.py presses what
`rows` returns.
"""

import re
from typing import Any

from msgspec import Struct

from bot.emulator.refusal import bad
from bot.emulator.texts import Note, units

_KINDS = (
    "callback_data",
    "callback_game",
    "copy_text",
    "disabled",
    "login_url",
    "pay",
    "switch_inline_query",
    "switch_inline_query_chosen_chat",
    "switch_inline_query_current_chat",
    "url",
    "web_app",
)
_STYLES = ("danger", "success", "primary")
MAX_BUTTONS = 100
PER_ROW_SHOWN = 8


class Button(Struct, frozen=True):
    """One button as the person sees it.

    kind    the field that made it: callback_data, url, copy_text, disabled, ...
    value   that field's text: the data, the address, what is copied
    """

    label: str
    kind: str
    value: str = ""
    style: str = ""


def rows(markup: dict[str, Any] | None) -> list[list[Button]]:
    """Return the inline keyboard, row by row."""
    return [[_button(raw) for raw in row] for row in (markup or {}).get("inline_keyboard", [])]


def _button(raw: dict[str, Any]) -> Button:
    kind = next(name for name in _KINDS if name in raw)
    value = raw[kind]
    if isinstance(value, dict):
        value = value.get("text") or value.get("url") or ""
    return Button(raw["text"], kind, str(value), raw.get("style", ""))


def check(markup: dict[str, Any] | None, note: Note) -> dict[str, Any] | None:
    """Return the markup as it is kept; an empty inline keyboard is none at all.

    raises  Refusal with the server's words for it
    """
    if markup is None:
        return None
    placeholder = markup.get("input_field_placeholder")
    if placeholder is not None and not 1 <= units(placeholder) <= 64:
        raise bad("[emulator] input_field_placeholder must be of 1-64 characters")
    if "inline_keyboard" not in markup:
        return markup
    keyboard = [row for row in markup["inline_keyboard"] if row]
    if sum(len(row) for row in keyboard) > MAX_BUTTONS:
        raise bad("reply markup is too long")
    for row in keyboard:
        if len(row) > PER_ROW_SHOWN:
            note(f"a row of {len(row)} buttons, {PER_ROW_SHOWN} are shown")
        for raw in row:
            _check_button(raw)
    if not keyboard and not markup.get("force_reply"):
        return None
    return {**markup, "inline_keyboard": keyboard}


def _check_button(raw: dict[str, Any]) -> None:
    given = [name for name in _KINDS if name in raw]
    if not raw["text"].strip():
        raise bad("can't parse inline keyboard button: Text buttons are unallowed")
    if not given or raw[given[0]] == "":
        raise bad(
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"
        )
    if len(given) > 1:
        raise bad(
            "can't parse inline keyboard button: "
            f"[emulator] exactly one kind is needed, got {' and '.join(given)}"
        )
    if raw.get("style", "primary") not in _STYLES:
        raise bad("[emulator] button style must be danger, success or primary")
    match raw:
        case {"callback_data": str(data)} if len(data.encode()) > 64:
            raise bad("BUTTON_DATA_INVALID")
        case {"copy_text": {"text": str(copied)}} if not 1 <= units(copied) <= 256:
            raise bad("BUTTON_COPY_TEXT_INVALID")
        case {"url": str(url)} if not _reachable(url):
            raise bad(f"inline keyboard button URL '{url}' is invalid: Wrong HTTP URL")
        case {"callback_game": _} | {"pay": _} | {"web_app": _} | {"login_url": _}:
            raise bad("BUTTON_TYPE_INVALID")


def _reachable(url: str) -> bool:
    """Return whether the server would take the address: a host without a dot is none."""
    if url.startswith("tg://"):
        return True
    match = re.fullmatch(r"(?:https?://)?(?:[^/@\s]*@)?([^/:?#\s]+)(?::\d+)?(?:[/?#]\S*)?", url)
    return match is not None and "." in match.group(1).strip(".")
