"""Which events are decisions, and whose: an owner's, or one made in their place."""

from __future__ import annotations

import msgspec
import pytest

from engine.asker import Asker
from engine.audit import Decided, check, record
from engine.errors import Refused
from engine.rules import ask, kept
from engine.rules.ask import Ask
from engine.rules.effects import AnyEffect
from engine.rules.events import (
    Answered,
    AnyEvent,
    Asked,
    GoalStopped,
    OwnerUnlocked,
    PermissionAsked,
    PlanStarted,
    RuleFits,
    SettingChanged,
)
from engine.rules.goal_state import Goal
from engine.rules.kept import Kept, Rules
from engine.rules.owner import Owner
from engine.rules.words import AlwaysKind, AlwaysRule, AskKind, Decision

RULE = AlwaysRule(AlwaysKind.COMMAND, "make lint", False)
OPEN = Ask(id="a-5", stage=ask.Stage.OPEN, kind=AskKind.PERMISSION, goal="g-1", rule=RULE)


def decided(
    event: AnyEvent,
    before: object,
    after: object,
    effects: tuple[AnyEffect, ...] = (),
    *,
    who: Asker | None = None,
    stream: str = "ask/a-5",
) -> tuple[str, Decided] | None:
    found = record(who, stream, event, before, after, effects)
    if found is None:
        return None
    return found.goal, msgspec.json.decode(found.body, type=Decided)


def test_what_an_owner_asks_for_is_theirs_with_all_they_saw() -> None:
    tap = Asker(who="42", through="tap 42:7", shown="Allow?", verb="allow", card="a-5")
    event = Answered(decision=Decision.ALLOW, at=3.0)
    found = decided(event, OPEN, OPEN, who=tap)
    assert found is not None
    goal, row = found
    assert goal == "g-1"
    assert (row.who, row.through, row.verb, row.card) == ("42", "tap 42:7", "allow", "a-5")
    assert row.verdict == "Answered decision=allow"
    assert row.shown == "Allow?"
    assert len(row.shown_hash) == 64


def test_a_kept_rule_decides_and_says_so_and_a_card_put_to_the_owner_decides_nothing() -> None:
    asked = Asked(
        kind=AskKind.PERMISSION,
        goal="g-1",
        teller="session/s-2",
        title="Run it",
        tool="Bash",
        detail="make lint",
        rule=RULE,
    )
    event = PermissionAsked(ask="a-6", asked=asked)
    rules = Rules(kept=(Kept(ask="a-1", rule=RULE),))
    found = decided(event, rules, *kept.decide(rules, event), stream="project/shop")
    assert found is not None
    assert (found[0], found[1].who, found[1].card) == ("g-1", "your rule", "a-6")
    assert found[1].verdict == "Allowed Bash: make lint"
    assert decided(event, Rules(), *kept.decide(Rules(), event), stream="project/shop") is None

    after, effects = ask.decide(OPEN, RuleFits())
    found = decided(RuleFits(), OPEN, after, effects)
    assert found is not None
    assert found[1].who == "your rule"
    assert decided(RuleFits(), after, *ask.decide(after, RuleFits())) is None


def test_a_lead_that_decides_is_named() -> None:
    answer = Answered(decision=Decision.ANSWER, by="its lead", text="Blue")
    found = decided(answer, OPEN, OPEN)
    assert found is not None
    assert (found[1].who, found[1].verdict) == (
        "its lead",
        "Answered decision=answer by=its lead text=Blue",
    )
    started = PlanStarted(plan="pl-1", by="lead", call="c-1")
    before, after = Goal(id="g-1"), Goal(id="g-1", plan_by="lead")
    found = decided(started, before, after, stream="goal/g-1")
    assert found is not None
    assert (found[0], found[1].who, found[1].card) == ("g-1", "its lead", "pl-1")
    assert decided(started, before, before, stream="goal/g-1") is None  # it may not


def test_what_merely_happens_is_no_decision() -> None:
    assert decided(GoalStopped(), Goal(id="g-1"), Goal(id="g-1", title="x")) is None


def test_a_url_that_may_hold_a_key_is_not_written_down() -> None:
    event = SettingChanged(name="heartbeat", value="https://beat.example/secret")
    found = decided(event, Owner(), Owner(), who=Asker(who="42"), stream="owner")
    assert found is not None
    assert found[1].verdict == "SettingChanged name=heartbeat value=a URL"


def test_while_it_is_locked_only_what_nobody_asks_for_goes_on() -> None:
    locked = Owner(locked_at=1.0)
    with pytest.raises(Refused, match="quarterdeck unlock"):
        check(Asker(who="42"), GoalStopped(), locked)
    check(None, GoalStopped(), locked)
    check(Asker(who="42"), OwnerUnlocked(), locked)
    check(Asker(who="42"), GoalStopped(), Owner())
    check(Asker(who="42"), GoalStopped(), None)
