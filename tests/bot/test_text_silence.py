"""How a silent run is told: in few words, in steps, and by the owner's clock."""

from __future__ import annotations

from datetime import UTC

import pytest
from msgspec.structs import replace

from bot import text, text_board, text_live, text_silence
from engine.views import Board, Peek, Row, SessionCard, Silence, Why, WorkerCard, WorkLine
from tests.bot.sample import CARDS

NOON = 20_000 * 86_400.0 + 12 * 3600
TOOL = Silence(Why.TOOL, "npm test", minutes=10, begun=NOON - 600, since=NOON - 720)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (TOOL, "silent 10+ min: runs “npm test” since 11:48"),
        (Silence(Why.OWNER, minutes=5), "silent 5+ min: waits for your answer, above"),
        (
            Silence(Why.NETWORK, "overloaded (529)", minutes=3, until=NOON),
            "silent 3+ min: Anthropic does not answer (“overloaded (529)”), tries again at 12:00",
        ),
        (
            Silence(Why.NETWORK, "unknown", minutes=3),
            "silent 3+ min: Anthropic does not answer, tries again",
        ),
        (Silence(Why.TASKS, minutes=60), "silent 1+ h: its own tasks still run"),
        (Silence(Why.TASKS, "node", minutes=90), "silent 1 h 30 min: “node” works behind it"),
        (
            Silence(Why.LIMIT, minutes=15, until=NOON),
            "silent 15+ min: waits for its usage limit until 12:00",
        ),
        (
            Silence(Why.STOPPED, "claude", minutes=3),
            "silent 3+ min: a signal stopped “claude”; Interrupt ends its turn",
        ),
        (Silence(Why.MODEL, minutes=5), "silent 5+ min: waits for its model"),
        (
            Silence(Why.HUNG, minutes=15),
            "silent 15+ min: nothing of it runs; it is ended, and goes on with a note",
        ),
    ],
)
def test_each_kind_says_what_it_waits_for(found: Silence, said: str) -> None:
    assert text_silence.words(found, UTC, "claude") == said


def test_what_an_agent_named_is_one_short_line() -> None:
    long = Silence(Why.TOOL, "a\nReady to push\n" + "x" * 500, minutes=3, begun=NOON, since=NOON)
    said = text_silence.words(long, UTC)
    assert "\n" not in said
    assert len(said) < 120


def test_every_place_that_says_what_an_agent_does_says_so() -> None:
    words = "silent 10+ min: runs “npm test” since 11:48"
    session = next(card for card in CARDS if isinstance(card, SessionCard) and card.doing)
    worker = next(card for card in CARDS if isinstance(card, WorkerCard) and card.doing)
    for card in (session, worker):
        assert card.doing in text.card(card, UTC).rich.text
        shown = text.card(replace(card, silence=TOOL), UTC).rich.text
        assert words in shown
        assert card.doing not in shown
    line = WorkLine(1, "The work", "Bash: npm test", "here", TOOL)
    (at_work,) = text_live.progress(replace(session, work=(line,)), UTC)
    assert at_work.text == f"1 The work · {words} · here"
    row = Row("g-1", "p-1", "Orders", "here", silence=TOOL)
    (status,) = text_board.board(Board(running=(row,)), UTC)
    assert f"Orders · {words} · here" in status.rich.text
    view = Peek(who="The lead", goal="g-1", running=True, silent_s=740.0, silence=TOOL)
    assert "silent for 12 min: runs “npm test” since 11:48" in text_live.peek(view, UTC).text
