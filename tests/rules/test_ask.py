"""One decision that waits for the owner."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import Refused
from engine.rules.ask import Ask, Stage, already, assents, begin, decide
from engine.rules.effects import AnyEffect, Tell
from engine.rules.events import (
    Answered,
    Asked,
    AskEvent,
    AskHeldOut,
    AskParked,
    AskSettled,
    AskWithdrawn,
    CommandDecided,
)
from engine.rules.words import AskKind, Command, Decision, Question

ALLOW = Answered(decision=Decision.ALLOW)
DENY = Answered(decision=Decision.DENY)


def asked(kind: AskKind = AskKind.PERMISSION, *questions: str, hold_s: float = 1800.0) -> Asked:
    return Asked(
        kind=kind,
        goal="g-1",
        teller="session/s-2",
        title="Delete",
        detail="rm -r build",
        questions=tuple(Question(text, options=("Euro", "Pound")) for text in questions),
        hold_s=hold_s,
        at=100.0,
    )


def opened(kind: AskKind = AskKind.PERMISSION, *questions: str) -> Ask:
    return decide(begin("a-1"), asked(kind, *questions))[0]


def test_the_first_answer_counts_and_later_taps_hear_what_it_was() -> None:
    """BR-16."""
    allowed, effects = decide(opened(), ALLOW)
    settled = AskSettled(ask="a-1", decision=Decision.ALLOW)
    assert effects == (Tell(stream="session/s-2", event=settled),)
    for late in (ALLOW, DENY):
        with pytest.raises(Refused, match="Already allowed by you"):
            decide(allowed, late)


@pytest.mark.parametrize(
    ("kind", "decision"),
    [
        (AskKind.PERMISSION, Decision.APPROVE),
        (AskKind.QUESTION, Decision.ALLOW),
        (AskKind.APPROACH, Decision.ALLOW),
        (AskKind.CHECK, Decision.ANSWER),
        (AskKind.PERMISSION, Decision.WITHDRAWN),
    ],
)
def test_only_what_a_card_offers_answers_it(kind: AskKind, decision: Decision) -> None:
    with pytest.raises(Refused, match="not one of the answers"):
        decide(opened(kind, "Which?"), Answered(decision=decision, text="x"))


def test_several_questions_are_answered_one_by_one_and_told_together() -> None:
    """BR-19: an option, a line and an option reach the agent as one answer."""
    ask = opened(AskKind.QUESTION, "Currency?", "Column?", "Tests?")
    effects: tuple[AnyEffect, ...] = ()
    for index, text in enumerate(("Euro", "the last one, in bold", "Pound")):
        assert effects == ()
        ask, effects = decide(ask, Answered(decision=Decision.ANSWER, text=text, index=index))
    (tell,) = effects
    assert isinstance(tell, Tell)
    assert isinstance(tell.event, AskSettled)
    assert tell.event.answers == (
        ("Currency?", "Euro"),
        ("Column?", "the last one, in bold"),
        ("Tests?", "Pound"),
    )


def test_a_tap_on_a_question_already_answered_does_not_answer_the_next() -> None:
    """BR-16."""
    first = Answered(decision=Decision.ANSWER, text="Euro", index=0)
    ask, _ = decide(opened(AskKind.QUESTION, "Currency?", "Column?"), first)
    with pytest.raises(Refused, match="answered already"):
        decide(ask, first)
    with pytest.raises(Refused, match="empty"):
        decide(ask, Answered(decision=Decision.ANSWER, text="  ", index=1))


def test_an_unanswered_permission_parks_its_run_once_and_stays_open() -> None:
    """BR-24."""
    ask, effects = decide(begin("a-1"), asked(hold_s=60.0))
    assert effects == (Tell(stream="ask/a-1", event=AskHeldOut(), due_at=160.0),)
    parked, effects = decide(ask, AskHeldOut())
    assert effects == (Tell(stream="session/s-2", event=AskParked(ask="a-1")),)
    assert decide(parked, AskHeldOut()) == (parked, ())
    assert decide(parked, ALLOW)[0].stage is Stage.ANSWERED


def test_what_the_desk_asks_holds_no_run_so_nothing_is_parked() -> None:
    assert decide(begin("a-1"), asked(AskKind.QUESTION, "Which?", hold_s=0.0))[1] == ()


def test_a_withdrawn_ask_says_why_to_a_late_tap() -> None:
    gone, effects = decide(opened(), AskWithdrawn(why="the session was stopped"))
    assert effects == ()
    with pytest.raises(Refused, match="No longer needed: the session was stopped"):
        decide(gone, ALLOW)


def test_a_command_is_told_to_its_project() -> None:
    command = Command("check", "make test")
    event = Asked(
        kind=AskKind.CHECK,
        goal="g-1",
        teller="project/shop",
        title="shop",
        detail="make test",
        command=command,
    )
    ask, _ = decide(begin("a-1"), event)
    _, effects = decide(ask, DENY)
    told = CommandDecided(command=command, allowed=False)
    assert effects == (Tell(stream="project/shop", event=told),)


def test_where_a_line_goes_is_settled_with_nobody_to_tell() -> None:
    event = Asked(kind=AskKind.WHERE, goal="", teller="", title="", detail="Fix the tests")
    ask, _ = decide(begin("a-1"), event)
    done, effects = decide(ask, Answered(decision=Decision.ANSWER, text="New goal in shop"))
    assert (done.stage, effects) == (Stage.ANSWERED, ())


def test_nobody_can_answer_what_was_never_asked() -> None:
    with pytest.raises(Refused, match="not open"):
        decide(begin("a-9"), ALLOW)
    assert already(begin("a-9")) == "That card is not open."


TAPS = st.builds(
    Answered,
    decision=st.sampled_from(list(Decision)),
    text=st.sampled_from(["", "Euro"]),
    index=st.integers(-1, 2),
)
EVENTS = st.one_of(
    TAPS,
    TAPS,
    st.just(AskHeldOut()),
    st.just(AskWithdrawn(why="")),
    st.just(asked()),
)


@given(kind=st.sampled_from(list(AskKind)), events=st.lists(EVENTS, max_size=30))
def test_no_order_of_taps_settles_an_ask_twice_or_changes_what_was_decided(
    kind: AskKind, events: list[AskEvent]
) -> None:
    """BR-16."""
    ask = opened(kind, "Currency?", "Column?")
    settled = 0
    for event in events:
        before = ask
        try:
            ask, effects = decide(ask, event)
        except Refused:
            continue
        settled += sum(isinstance(e, Tell) and isinstance(e.event, AskSettled) for e in effects)
        if before.decision is not None:
            assert (ask.decision, ask.text, ask.answers) == (
                before.decision,
                before.text,
                before.answers,
            )
    assert settled == (ask.stage is Stage.ANSWERED)


@pytest.mark.parametrize("line", ["ok", "OK!", "Go ahead.", " yes "])
def test_a_line_that_says_no_more_than_yes_assents(line: str) -> None:
    assert assents(line)


@pytest.mark.parametrize("line", ["ok?", "ok, but with tabs", "yes and no", "not ok", ""])
def test_a_line_that_says_more_or_asks_does_not(line: str) -> None:
    assert not assents(line)
