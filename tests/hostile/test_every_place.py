"""Each text in every place of every message: read as somebody else's, and nothing in it can be tapped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.delivery import entities
from bot.emulator.texts import TEXT_LIMIT, formatted, units
from bot.text import Words
from tests.hostile.judge import offences
from tests.hostile.texts import TEXTS, led, marked
from tests.hostile.ways import messages

MARK = "zq7"
MUCH = 3000  # characters: such a text is there for its length alone


def labels_of(said: str) -> list[tuple[str, list[str]]]:
    return [
        (what, [button.label for row in words.buttons for button in row])
        for what, words in messages(said)
    ]


# What stands on the buttons where nobody means harm; an option is as its agent words it.
OURS = frozenset(label for _, labels in labels_of("Harmless") for label in labels) - {"Harmless"}


@pytest.mark.parametrize("name", TEXTS)
def test_wherever_it_stands_it_reads_as_somebody_elses(name: str) -> None:
    """BR-124, and the rest of K."""
    wrong = []
    for what, words in both(TEXTS[name]):
        assert units(words.rich.text) <= TEXT_LIMIT, what
        sent = [entity.to_dict() for entity in entities(words.rich)]
        assert len(sent) <= 100, what
        said, shown = formatted(words.rich.text, sent, "", lambda _: None)
        labels = [button.label for row in words.buttons for button in row]
        wrong += [f"{what}: {one}" for one in offences(said, shown, labels, MARK, ours=OURS)]
    assert wrong == []


def both(said: str) -> Iterator[tuple[str, Words]]:
    """Yield each message with the marks behind each line's first word, then before it."""
    yield from messages(marked(said, MARK))
    if len(said) < MUCH:
        yield from messages(led(said, MARK))
