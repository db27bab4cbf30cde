"""What nobody sees is shown, one alone too; what a script or an emoji needs stays as it is."""

# Letters of many scripts stand here on purpose.
# ruff: noqa: RUF001
from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.entities import tame
from engine.rules.unseen import is_hidden, shown

ZWNJ, ZWJ, VS16 = "\u200c", "\u200d", "\ufe0f"
NEEDED = {
    "a Persian plural": f"کتاب{ZWNJ}ها",
    "a Persian year": f"۱۴۰۳ ه{ZWJ}",
    "a Sinhala word": "ශ්\u200dරී ලංකා",
    "a Hindi half letter": "क्\u200dष",
    "a Mongolian vowel": "ᠪᠠ\u180b",
    "a family": "👨\u200d👩\u200d👧",
    "an astronaut of a skin": "🧑🏽\u200d🚀",
    "a pirate": "🏴\u200d☠\ufe0f",
    "a heart between two": "👩\u200d❤\ufe0f\u200d👨",
    "a woman who shrugs": "🤷\u200d♀\ufe0f",
    "an eye in a bubble": "👁\ufe0f\u200d🗨\ufe0f",
    "signs as pictures": "⚠\ufe0f ✔\ufe0e ℹ\ufe0f ©\ufe0f ↔\ufe0f ‼\ufe0f",
    "a key of a phone": "1\ufe0f\u20e3 #\ufe0f\u20e3",
    "Scotland": "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "an emoji of a later Unicode": "\U0001fae9",
    "letters with marks": "Việt Nam, Ελλάδα, שָׁלוֹם, مَرْحَبًا, ภาษาไทย",
    "an Arabic number sign": "\u0600١٢",
}
ALONE = (
    *(
        "\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2061\u2064\u2066\u2069\u206a\u206f\ufeff\u00ad"
    ),
    *("\u061c\u034f\u115f\u3164\uffa0\u2800\u180b\u180e\ufe00\ufe0d\ufe0e\ufe0f"),
    *("\U000e0001\U000e0041\U000e007f\U000e0100\U000e01ef\U0001d173\ufff9"),
)


@pytest.mark.parametrize("name", NEEDED)
def test_what_a_script_or_an_emoji_is_put_together_with_stays(name: str) -> None:
    assert shown(NEEDED[name]) == NEEDED[name]
    assert tame(NEEDED[name]) == NEEDED[name]


@pytest.mark.parametrize("char", ALONE)
@pytest.mark.parametrize(
    "around", ["Al{}low", "{}Push", "Push{}", "✓ {}x", "1{}2", "а{}б", "中{}文"]
)
def test_one_alone_is_shown_between_what_needs_none(char: str, around: str) -> None:
    """BR-124: three in a row once passed, and one parts a word as well."""
    told = around.format(f"⟨U+{ord(char):04X}⟩")
    assert shown(around.format(char)) == told
    assert tame(around.format(char)) == told


@pytest.mark.parametrize("number", [2, 3, 90])
def test_several_are_told_once_with_their_number(number: int) -> None:
    assert tame("a" + "\u200d" * number + "b") == f"a⟨{number} unseen characters from U+200D⟩b"


def test_beside_one_that_is_needed_no_other_hides() -> None:
    assert shown(f"کتاب{ZWNJ}{ZWNJ}ها") == "کتاب⟨2 unseen characters from U+200C⟩ها"
    assert shown(f"ه{ZWJ}{ZWJ}") == f"ه{ZWJ}⟨U+200D⟩"
    assert shown(f"❤{VS16}{VS16}") == f"❤{VS16}⟨U+FE0F⟩"
    assert shown("👩\u200d\u200b👩") == "👩⟨2 unseen characters from U+200D⟩👩"
    assert shown(f"a{VS16}{ZWJ}👩") == "a⟨2 unseen characters from U+FE0F⟩👩"


def test_a_black_flag_carries_no_letter_in_tags() -> None:
    tags = "".join(chr(0xE0000 + ord(char)) for char in "push it")
    assert shown(f"🏴{tags}") == f"🏴⟨{len(tags)} unseen characters from U+E0070⟩"
    scotland = NEEDED["Scotland"]
    assert shown(f"{scotland}{tags}") == f"{scotland}⟨{len(tags)} unseen characters from U+E0070⟩"


JOINED = (f"{VS16}{ZWJ}", f"\ufe0e{ZWJ}")
MIXED = f"{ZWNJ}{ZWJ}{VS16}\u200b\u200f\u180b" + "که👩❤a1 \u20e3ᠪک"


@given(st.text(st.sampled_from(MIXED), max_size=100))
def test_whatever_stands_there_no_two_unseen_ones_stay_together(text: str) -> None:
    left = shown(text)
    pairs = ["".join(pair) for pair in pairwise(left) if all(map(is_hidden, pair))]
    assert [pair for pair in pairs if pair not in JOINED] == []


@given(st.text(max_size=200))
def test_what_was_shown_once_stays_so(text: str) -> None:
    assert shown(shown(text)) == shown(text)
