"""What is found of the planted keys, and what is taken for one among ordinary messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

from msgspec import Struct

from bot import keys
from tests.intake.planted import MOULDS, block, cast
from tests.intake.ways import NEARBY, all_ways


class Recall(Struct, frozen=True):
    """How many were planted, and by kind and way which were not found whole."""

    planted: int
    missed: tuple[tuple[str, str], ...]

    @property
    def rate(self) -> float:
        return 1 - len(self.missed) / self.planted


def whole(message: str, key: str) -> bool:
    """Return whether nothing of a key is left in what would be passed on."""
    left = keys.replaced(message, keys.find(message), lambda one: one.name)
    pieces = [key[at : at + 12] for at in range(0, max(1, len(key) - 11), 4)]
    return not any(piece in left for piece in pieces) and not any(
        line and line in left for line in _halves(message, key)
    )


def _halves(message: str, key: str) -> list[str]:
    return [] if key in message else [key[-8:], key[:12]]


def recall(
    moulds: dict[str, str], ways: dict[str, Callable[[str], str]], chance: Random, times: int = 1
) -> Recall:
    """Plant a key of each kind in each way."""
    missed: list[tuple[str, str]] = []
    planted = 0
    for kind, mould in moulds.items():
        for way, into in ways.items():
            for _ in range(times):
                key = cast(mould, chance)
                planted += 1
                if not whole(into(key), key):
                    missed.append((kind, way))
    return Recall(planted, tuple(missed))


def nearby(forms: Iterable[tuple[str, str]], chance: Random, times: int = 20) -> Recall:
    """Plant values without a shape of their own."""
    missed: list[tuple[str, str]] = []
    planted = 0
    for form, mould in forms:
        for _ in range(times):
            value = cast(mould, chance)
            planted += 1
            if not whole(form.replace(mould, value), value):
                missed.append((form, value))
    return Recall(planted, tuple(missed))


def blocks(chance: Random) -> Recall:
    """Plant whole private keys, each way."""
    made = [block(chance) for _ in range(20)]
    messages = [(one, f"here is it:\n{one}\nthanks") for one in made]
    messages += [
        (one.replace("\n", "\\n"), '{"k": "' + one.replace("\n", "\\n") + '"}') for one in made
    ]
    missed = tuple(("block", "") for key, said in messages if not whole(said, key))
    return Recall(len(messages), missed)


def alarms(messages: Iterable[str]) -> tuple[int, int, list[tuple[str, str]]]:
    """Return how many messages, how many lines, and what was taken for a key in each false alarm."""
    count = lines = 0
    wrong: list[tuple[str, str]] = []
    for message in messages:
        count += 1
        lines += message.count("\n") + 1
        if found := keys.find(message):
            wrong.append((found[0].name, found[0].value[:60]))
    return count, lines, wrong


def known(chance: Random) -> Recall:
    """Return the recall of all kinds with a shape."""
    return recall(MOULDS, all_ways(), chance)


def by_words(chance: Random) -> Recall:
    return nearby(NEARBY, chance)
