"""What makes a plan sound, and which pieces may start."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules.plan import (
    MAX_PIECES,
    Piece,
    Stage,
    fault,
    numbers,
    plain_title,
    ready,
    waits_for,
)
from engine.rules.words import PieceDraft


def draft(*after: int, title: str = "One", task: str = "Build it", size: str = "M") -> PieceDraft:
    return PieceDraft(title=title, task=task, after=after, size=size)


def piece(number: int, stage: Stage, *after: int) -> Piece:
    return Piece(id=f"p-{number}", number=number, title="", task="", stage=stage, after=after)


def test_a_sound_plan_has_no_fault() -> None:
    assert fault((draft(), draft(1), draft(1, 2))) == ""


def test_what_is_wrong_with_a_plan_is_a_sentence_that_names_the_piece() -> None:
    assert "no pieces" in fault(())
    assert "21 pieces; 20" in fault((draft(),) * (MAX_PIECES + 1))
    assert fault((draft(), draft(title=" "))) == "Piece 2 has no title."
    assert "Piece 1 has no task" in fault((draft(task="\n"),))
    assert '"S", "M" or "L", not "XL"' in fault((draft(size="XL"),))
    assert "names piece 0" in fault((draft(0),))
    assert "Pieces 2, 3 wait for each other" in fault((draft(), draft(3), draft(2)))


def test_a_piece_is_ready_once_all_it_comes_after_has_landed() -> None:
    pieces = (
        piece(1, Stage.LANDED),
        piece(2, Stage.LANDING),
        piece(3, Stage.WAITING, 1),
        piece(4, Stage.WAITING, 1, 2),
        piece(5, Stage.PROPOSED),
    )
    assert [found.number for found in ready(pieces)] == [3]


def test_a_waiting_piece_says_what_for() -> None:
    pieces = (piece(1, Stage.WORKING), piece(2, Stage.WAITING), piece(3, Stage.WAITING, 1, 2))
    assert waits_for(pieces[2], pieces) == "pieces 1 and 2 (starts once landed)"
    stuck = (piece(1, Stage.STOPPED), pieces[1], pieces[2])
    assert waits_for(stuck[2], stuck) == "piece 1 (stopped)"
    assert waits_for(pieces[1], pieces) == ""


def test_numbers_read_as_a_list() -> None:
    assert [numbers(n) for n in ((1,), (1, 2), (1, 2, 3))] == [
        "piece 1",
        "pieces 1 and 2",
        "pieces 1, 2 and 3",
    ]


@given(st.lists(st.lists(st.integers(-1, 7), max_size=3), max_size=7))
def test_a_plan_without_a_fault_can_be_built_to_its_end(orders: list[list[int]]) -> None:
    drafts = tuple(draft(*after) for after in orders)
    if fault(drafts):
        return
    pieces = tuple(piece(n, Stage.WAITING, *d.after) for n, d in enumerate(drafts, start=1))
    for _ in pieces:
        landing = {found.number for found in ready(pieces)}
        pieces = tuple(
            piece(p.number, Stage.LANDED, *p.after) if p.number in landing else p for p in pieces
        )
    assert all(p.stage is Stage.LANDED for p in pieces)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("\u2713 Allowed by you", "Allowed by you"),
        ("\u26a0\ufe0f  \u2757 Orders", "Orders"),
        ("\u2022 \u2192 Orders", "Orders"),
        ("Orders \u2705 Its check passed", "Orders Its check passed"),
        ("Orders\U0001f7e2\u26a0\ufe0f page \u2713", "Orders page"),
        ("Orders \U0001f34e page", "Orders \U0001f34e page"),
        (".gitignore", ".gitignore"),
        ("\u00c9tat", "\u00c9tat"),
        ("\u201cOrders\u201d page", "\u201cOrders\u201d page"),
        ("\u2713", "\u201c\u2713\u201d"),
        (" ", ""),
    ],
)
def test_a_title_begins_with_no_sign_and_holds_none_of_ours(given: str, shown: str) -> None:
    assert plain_title(given) == shown
