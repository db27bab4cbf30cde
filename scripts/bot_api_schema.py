"""Write bot/emulator/schema.json: what each Bot API method we call may be given.

The source is aiogram's generated classes (parameters, types, what is required), so the
emulator is as strict as the published API and not as lenient as one client of it. The
list of reaction emoji comes from python-telegram-bot, which carries it as data.

    python scripts/bot_api_schema.py           rewrite the file
    python scripts/bot_api_schema.py --check   exit 1 if it would change
"""

import argparse
import json
import sys
import types
from datetime import datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import aiogram
from aiogram import methods
from aiogram.client.default import Default
from aiogram.types import InputFile, TelegramObject
from telegram.constants import ReactionEmoji

TARGET = Path(__file__).resolve().parent.parent / "bot" / "emulator" / "schema.json"
METHODS = (
    "answerCallbackQuery",
    "closeForumTopic",
    "createForumTopic",
    "deleteForumTopic",
    "deleteMessage",
    "deleteMessages",
    "deleteWebhook",
    "editForumTopic",
    "editMessageReplyMarkup",
    "editMessageText",
    "getChat",
    "getFile",
    "getMe",
    "getUpdates",
    "getWebhookInfo",
    "leaveChat",
    "pinChatMessage",
    "reopenForumTopic",
    "sendChatAction",
    "sendDocument",
    "sendMessage",
    "sendPhoto",
    "setMessageReaction",
    "setMyCommands",
)
# Refused whole by the emulator, so what they hold need not be written down.
OPAQUE = ("InputRichMessage",)
SCALARS = {
    int: "Integer",
    str: "String",
    bool: "Boolean",
    float: "Float",
    datetime: "Integer",
    timedelta: "Integer",
}


class Schema:
    """Collects methods and, from their parameters, every type that can be reached."""

    def __init__(self) -> None:
        self.types: dict[str, dict[str, Any]] = {}

    def build(self) -> dict[str, Any]:
        """Return the whole document."""
        found = {name: self._fields(_method(name)) for name in METHODS}
        return {
            "source": f"aiogram {aiogram.__version__}, Bot API {aiogram.__api_version__}",
            "methods": found,
            "types": dict(sorted(self.types.items())),
            "reactions": sorted(str(emoji.value) for emoji in ReactionEmoji),
        }

    def _fields(self, model: Any) -> dict[str, Any]:
        return {
            field.alias or name: self._field(field) for name, field in model.model_fields.items()
        }

    def _field(self, field: Any) -> dict[str, Any]:
        entry: dict[str, Any] = {"type": self._alternatives(field.annotation)}
        constants = _constants(field.annotation)
        if constants:
            entry["const"] = constants
        # A field with one possible value has a default in aiogram, but travels all the same.
        if field.is_required() or constants:
            entry["required"] = True
        if isinstance(field.json_schema_extra, dict) and field.json_schema_extra.get("deprecated"):
            entry["deprecated"] = True
        return entry

    def _alternatives(self, annotation: Any) -> list[Any]:
        origin = get_origin(annotation)
        if origin is Annotated:
            return self._alternatives(get_args(annotation)[0])
        if origin in (Union, types.UnionType):
            found: list[Any] = []
            for part in get_args(annotation):
                found += [alt for alt in self._alternatives(part) if alt not in found]
            return found
        if origin is list:
            return [{"array": self._alternatives(get_args(annotation)[0])}]
        if origin is Literal:
            return sorted({SCALARS[type(_plain(value))] for value in get_args(annotation)})
        return self._plain_type(annotation)

    def _plain_type(self, annotation: Any) -> list[Any]:
        if annotation in (type(None), Default):
            return []
        if annotation in SCALARS:
            return [SCALARS[annotation]]
        if issubclass(annotation, InputFile):
            return ["InputFile"]
        if issubclass(annotation, str):
            return ["String"]
        if issubclass(annotation, TelegramObject):
            self._collect(annotation)
            return [annotation.__name__]
        raise TypeError(f"no Bot API type for {annotation!r}")

    def _collect(self, model: Any) -> None:
        if model.__name__ in OPAQUE:
            self.types[model.__name__] = {}
        if model.__name__ not in self.types:
            self.types[model.__name__] = {}  # first, so that a type may hold itself
            self.types[model.__name__] = self._fields(model)


def _method(name: str) -> Any:
    return getattr(methods, name[0].upper() + name[1:])


def _plain(value: object) -> object:
    return value.value if isinstance(value, Enum) else value


def _constants(annotation: Any) -> list[object]:
    if get_origin(annotation) is not Literal:
        return []
    return [_plain(value) for value in get_args(annotation)]


def document() -> str:
    """Return the file's text as it should be."""
    return json.dumps(Schema().build(), indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Derive the emulator's schema from aiogram.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    arguments = parser.parse_args()
    text = document()
    if arguments.check:
        return 0 if TARGET.read_text(encoding="utf-8") == text else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
