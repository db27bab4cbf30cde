"""Values to tagged JSON and back: what the ledger keeps and the socket carries.

The class name goes with every value, so a value is never taken for another of the same shape. Reading
forgives what an older or newer release wrote: unknown fields are ignored, missing ones take their
defaults. A class name nobody knows is Broken: guessing would be worse.

Neighbours: loop.py (stores through it), api/wire.py (its own framing, the same tags).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Generic, TypeVar, get_args

import msgspec

from engine.errors import Broken

V = TypeVar("V")

_ENCODER = msgspec.json.Encoder()


class Codec(Generic[V]):
    """Reads and writes the values of one tagged class, or of a union of them."""

    def __init__(self, of: Any) -> None:
        for member in get_args(of) or (of,):
            if not _tagged(member):
                name = getattr(member, "__name__", member)
                raise TypeError(f"{name} is no tagged struct: its name would not be stored with it")
        self._of = of

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[V]:
        """Made when the first value is read: for all events there are that takes as long as a start may."""
        return msgspec.json.Decoder(self._of)

    def dump(self, value: V) -> bytes:
        return _ENCODER.encode(value)

    def storable(self, value: V) -> V:
        """Return the value itself, or one with U+FFFD where a text holds half a surrogate pair.

        Such text is no Unicode: it comes of a name that is no UTF-8, or of an agent's broken escape.
        """
        try:
            _ENCODER.encode(value)
        except UnicodeEncodeError:
            return self.load(_ENCODER.encode(_whole(msgspec.to_builtins(value))))
        return value

    def load(self, body: bytes) -> V:
        try:
            return self._decoder.decode(body)
        except msgspec.MsgspecError as fault:
            raise Broken(f"a stored {_kind(body)} cannot be read: {fault}") from fault


def whole(text: str) -> str:
    """Return the text with U+FFFD for each half of a surrogate pair."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {_whole(key): _whole(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(one) for one in value]
    return value


def _tagged(member: Any) -> bool:
    fields = getattr(member, "__struct_config__", None)
    return fields is not None and fields.tag is not None


class _Tag(msgspec.Struct):
    type: str = "value without a class name"


def _kind(body: bytes) -> str:
    try:
        return msgspec.json.decode(body, type=_Tag).type
    except msgspec.MsgspecError:
        return "value that is no JSON"
