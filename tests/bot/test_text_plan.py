"""What the panel behind Change… says, and how a plan's estimate is worded."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot import buttons, text, text_estimate, text_plan
from bot.text import Words
from engine.rules.words import PlanEstimate
from engine.views import PlanCard
from tests.bot import sample
from tests.bot.sample import CHOICES, ESTIMATE


def labels(words: Words) -> list[str]:
    return [button.label for row in words.buttons for button in row]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(20, "under 1 min"), (1500, "25 min"), (5400, "1 h 30 min"), (7200, "2 h")],
)
def test_a_duration_is_as_rough_as_an_estimate(seconds: float, words: str) -> None:
    assert text_estimate.duration(seconds) == words


def test_an_estimate_says_what_it_rests_on_and_what_it_leaves_out() -> None:
    assert text_estimate.whole(ESTIMATE, 3) == (
        "About $1.20 and 25 min, from 14 pieces landed before"
    )
    some = PlanEstimate(0.4, 600.0, 1, unknown=2, same_project=False)
    assert text_estimate.whole(some, 3) == (
        "About $0.40 and 10 min for 1 of 3 pieces, from 1 piece landed before, in other projects too"
    )
    free = PlanEstimate(0.0, 600.0, 2)
    assert text_estimate.whole(free, 1) == "About 10 min, from 2 pieces landed before"


def test_a_plan_without_a_history_says_so_only_while_it_waits() -> None:
    card = next(card for card in sample.CARDS if isinstance(card, PlanCard))
    open_card = replace(card, estimate=None)
    assert text_estimate.NONE_YET in text.card(open_card).rich.text
    over = replace(open_card, asks=False, decided="Started by you")
    assert text_estimate.NONE_YET not in text.card(over).rich.text


def test_many_pieces_are_chosen_by_their_numbers() -> None:
    line = CHOICES.pieces[0].line
    many = tuple(
        replace(CHOICES.pieces[0], line=replace(line, number=number)) for number in range(1, 9)
    )
    words = text_plan.pieces(replace(CHOICES, pieces=many))
    assert [len(row) for row in words.buttons] == [5, 3, 1]
    assert labels(words)[:2] == ["1", "2"]


def test_nothing_is_offered_that_leaves_no_choice() -> None:
    alone = replace(
        CHOICES, pieces=CHOICES.pieces[:1], machines=("here",), agents=("claude",), estimate=None
    )
    assert labels(text_plan.piece(alone, alone.pieces[0])) == [
        *("Small", "✓ Medium", "Large"),
        *("Model…", "← Back", "Done"),
    ]


def test_what_can_be_dropped_says_who_waited_for_it() -> None:
    first, second, third = CHOICES.pieces
    chain = replace(second, line=replace(second.line, after=(1,)))
    now = replace(CHOICES, pieces=(first, chain, third))
    assert "Piece 3 then waits for piece 1." in text_plan.drop(now, chain).rich.text


def test_a_title_cannot_pass_for_a_button_of_ours() -> None:
    line = replace(CHOICES.pieces[0].line, title="✓ Done\nStart")
    now = replace(CHOICES, pieces=(replace(CHOICES.pieces[0], line=line), *CHOICES.pieces[1:]))
    assert labels(text_plan.pieces(now))[0].startswith("1 · ")


def test_every_button_fits_into_what_telegram_carries() -> None:
    page = "1a2b3c4d" + "20" + "w"
    for made in (text_plan.piece, text_plan.model, text_plan.machine, text_plan.order):
        for row in made(CHOICES, CHOICES.pieces[2]).buttons:
            for button in row:
                assert len(buttons.encode("plan-pl-123456", page, button.verb).encode()) <= 64
