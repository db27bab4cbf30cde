"""Values to tagged JSON and back: what the ledger keeps and the socket carries.

The class name goes with every value, so a value is never taken for another of the same shape. Reading
forgives what an older or newer release wrote: unknown fields are ignored, missing ones take their
defaults. A class name nobody knows is Broken: guessing would be worse.

Neighbours: loop.py (stores through it), api.py (its own framing, the same tags).
"""

from __future__ import annotations

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
        self._decoder: msgspec.json.Decoder[V] = msgspec.json.Decoder(of)

    def dump(self, value: V) -> bytes:
        return _ENCODER.encode(value)

    def load(self, body: bytes) -> V:
        try:
            return self._decoder.decode(body)
        except msgspec.MsgspecError as fault:
            raise Broken(f"a stored {_kind(body)} cannot be read: {fault}") from fault


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
