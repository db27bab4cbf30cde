"""Reads a call's parameters as strictly as the published Bot API describes them.

schema.json is derived from aiogram's types by scripts/bot_api_schema.py. Parameters
arrive as JSON, as form fields or as query text; all come out of `read` as plain Python
values. What the API does not know is refused: a typing error must not pass in silence.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from msgspec import Struct

from bot.emulator.refusal import Refusal, bad, not_emulated

Params = dict[str, Any]

# What the real server says, or does, when these are left out.
_MISSING = {"chat_id": "chat_id is empty", "text": "message text is empty"}
# Parameters whose effect is not shown here and harms nothing when ignored.
_IGNORED = {
    "allow_paid_broadcast",
    "cache_time",
    "disable_content_type_detection",
    "has_spoiler",
    "is_big",
    "show_caption_above_media",
}
_REFUSED = {
    "business_connection_id",
    "direct_messages_topic_id",
    "ephemeral_message_parameters",
    "inline_message_id",
    "message_effect_id",
    "receiver_user_id",
    "rich_message",
    "suggested_post_parameters",
    "thumbnail",
}


class Upload(Struct, frozen=True):
    """A file that came in the body of a multipart request."""

    name: str
    mime: str
    data: bytes


@cache
def load() -> dict[str, Any]:
    """Return schema.json."""
    text = files("bot.emulator").joinpath("schema.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


@cache
def method_named(name: str) -> str | None:
    """Return the method's proper name; the server does not mind the case."""
    return {known.lower(): known for known in load()["methods"]}.get(name.lower())


def read(method: str, raw: Mapping[str, object], uploads: Mapping[str, Upload]) -> Params:
    """Return the checked parameters of `method`, files put in place of their references.

    raises  Refusal for an unknown, missing, ill-typed or unsupported parameter
    """
    fields: dict[str, Any] = load()["methods"][method]
    unused = dict(uploads)
    params: Params = {}
    for name in [*raw, *(u for u in uploads if u in fields and u not in raw)]:
        if name not in fields:
            raise bad(f'[emulator] {method} has no parameter "{name}"')
        if name in _REFUSED:
            raise not_emulated(f'parameter "{name}"')
        value = raw.get(name, f"attach://{name}")
        if "InputFile" in fields[name]["type"]:
            params[name] = _file(value, unused)
        elif value is not None:
            params[name] = _value(value, fields[name], name)
    if unused:
        raise bad(f'[emulator] file "{min(unused)}" is referred to by no parameter')
    for name, field in fields.items():
        if field.get("required") and name not in params:
            raise bad(_MISSING.get(name, f'[emulator] parameter "{name}" is required'))
    return {name: value for name, value in params.items() if name not in _IGNORED}


def _file(value: object, unused: dict[str, Upload]) -> Upload | str:
    if not isinstance(value, str):
        raise bad("wrong file identifier/HTTP URL specified")
    if value.startswith("attach://"):
        upload = unused.pop(value.removeprefix("attach://"), None)
        if upload is None:
            raise bad("file must be non-empty")
        return upload
    return value


def _value(value: object, field: dict[str, Any], where: str) -> Any:
    """Return a top-level value, which text may carry in place of JSON."""
    alternatives = field["type"]
    if not isinstance(value, str):
        return _json(value, field, where)
    for kind in alternatives:
        if kind == "Integer" and value.lstrip("-").isascii() and value.lstrip("-").isdigit():
            return int(value)
        if kind == "Boolean" and value.lower() in ("true", "false", "yes", "no", "1", "0"):
            return value.lower() in ("true", "yes", "1")
    if "String" in alternatives:
        return value
    try:
        decoded = json.loads(value)
    except json.JSONDecodeError as error:
        raise _wrong(where, alternatives) from error
    return _json(decoded, field, where)


def _json(value: object, field: dict[str, Any], where: str) -> Any:
    """Return a JSON value that fits one of the field's types."""
    failures: list[Refusal] = []
    for kind in field["type"]:
        try:
            found = _one(value, kind, where)
        except Refusal as failure:
            failures.append(failure)
            continue
        if "const" in field and found not in field["const"]:
            raise bad(f'[emulator] "{where}" can only be {field["const"]}')
        return found
    if len(failures) == 1:
        raise failures[0]
    raise _wrong(where, field["type"])


def _one(value: object, kind: Any, where: str) -> Any:
    if isinstance(kind, dict):
        if not isinstance(value, list):
            raise _wrong(where, [kind])
        return [_json(item, {"type": kind["array"]}, where) for item in value]
    scalars: dict[str, tuple[type, ...]] = {
        "Integer": (int,),
        "String": (str,),
        "Boolean": (bool,),
        "Float": (int, float),
    }
    if kind in scalars:
        fits = isinstance(value, scalars[kind]) and (kind == "Boolean") == isinstance(value, bool)
        if not fits:
            raise _wrong(where, [kind])
        return value
    return _object(value, kind, where)


def _object(value: object, kind: str, where: str) -> Params:
    if not isinstance(value, dict):
        raise (
            bad("object expected as reply markup")
            if where == "reply_markup"
            else _wrong(where, [kind])
        )
    fields: dict[str, Any] = load()["types"][kind]
    for name in value:
        if name not in fields:
            raise bad(f'[emulator] {kind} has no field "{name}"')
    for name, field in fields.items():
        if field.get("required") and value.get(name) is None:
            raise bad(f"can't parse {kind}: Can't find field \"{name}\"")
    return {
        name: _json(part, fields[name], name) for name, part in value.items() if part is not None
    }


def _wrong(where: str, kinds: list[Any]) -> Refusal:
    names = " or ".join("Array" if isinstance(kind, dict) else str(kind) for kind in kinds)
    return bad(f'[emulator] "{where}" must be of type {names}')
