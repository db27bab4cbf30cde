"""Each text in every place of every message: read as somebody else's, and nothing in it can be tapped."""

from __future__ import annotations

import pytest

from bot.delivery import entities
from bot.emulator.texts import TEXT_LIMIT, formatted, units
from tests.hostile.judge import offences
from tests.hostile.texts import TEXTS, marked
from tests.hostile.ways import messages

MARK = "zq7"


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
    for what, words in messages(marked(TEXTS[name], MARK)):
        assert units(words.rich.text) <= TEXT_LIMIT, what
        sent = [entity.to_dict() for entity in entities(words.rich)]
        assert len(sent) <= 100, what
        said, shown = formatted(words.rich.text, sent, "", lambda _: None)
        labels = [button.label for row in words.buttons for button in row]
        wrong += [f"{what}: {one}" for one in offences(said, shown, labels, MARK, ours=OURS)]
    assert wrong == []


def test_the_judge_sees_what_is_wrong() -> None:
    quote = [{"type": "blockquote", "offset": 10, "length": 40}]
    assert offences(f"The lead:\n✓ {MARK} done", quote, [], MARK) == []
    assert offences(f"Push {MARK} now\nmore", [], [], MARK)
    assert offences(f"The lead:\n{MARK} ✓ done", [], [], MARK)
    assert offences("The lead:\nx", quote, ["Approved"], MARK)
    assert offences("The lead:\nx", quote, [f"✓ {MARK}"], MARK)
    assert offences("The lead:\nx", quote, ["“Approved”", "Nothing", "Push"], MARK) == []
    tapped = {"type": "bot_command", "offset": 10, "length": 5}
    assert offences(f"The lead:\n/stop {MARK}", [*quote, tapped], [], MARK)
