"""What a worker asks its owner: a question that ends its turn, permissions that hold it, and rules for them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.errors import Refused
from engine.rules.effects import AnswerRun, Collect, StartRun
from engine.rules.events import (
    Answered,
    AskRaised,
    ProjectRemoved,
    RequestWithdrawn,
    RuleRevoked,
    SessionStopped,
    TurnInterrupted,
)
from engine.rules.words import AskKind, Decision, Question
from engine.views import PermissionCard, WorkerCard
from tests.rules.world import World, draft, started

STOPPED = SessionStopped(why="stopped by you")


def asking() -> World:
    """A worker has asked by its desk and ended its turn."""
    world = started(draft("Orders"))
    world.turn("Noted.")  # the lead hears that its plan was started
    start = world.begin_turn()
    asked = AskRaised(
        run=start.run,
        ask="a-1",
        request="",
        kind=AskKind.QUESTION,
        title="Which currency?",
        detail="Which currency?",
        questions=(Question("Which currency?", options=("Euro", "Pound")),),
        call=f"{start.run}#c1",
    )
    world.post(f"session/{start.session}", asked)
    world.end_turn(start, "I asked.")
    return world


def test_its_work_is_left_alone_until_the_owner_has_answered() -> None:
    world = asking()
    assert world.owes(Collect) == []
    assert world.owes(StartRun) == []
    card = world.card("p-1")
    assert isinstance(card, WorkerCard)
    assert [wait.what for wait in card.waits] == ["your answer"]


def test_the_answer_opens_its_next_turn_and_costs_no_attempt() -> None:
    world = asking()
    world.post("ask/a-1", Answered(decision=Decision.ANSWER, text="Pound", index=0))
    assert "A: Pound" in world.turn("Done.")
    assert [collect.piece for collect in world.owes(Collect)] == ["p-1"]
    card = world.card("p-1")
    assert isinstance(card, WorkerCard)
    assert (card.attempt, card.waits) == (1, ())


# ---------------------------------------------------------------- permissions, and rules for them


def wanting(world: World, number: int = 1, command: str = "make lint", **more: Any) -> AskRaised:
    """The request of an agent to run a command."""
    return AskRaised(
        run=world.states[ME].run,
        ask=f"a-{number}",
        request=f"req-{number}",
        kind=AskKind.PERMISSION,
        title="Run a command",
        detail=command,
        tool="Bash",
        input_json=json.dumps({"command": command}),
        **more,
    )


ME = "session/s-2"
PROJECT = "project/shop"


def at_work() -> World:
    world = started(draft("Orders"))
    world.turn("Noted.")
    world.begin_turn()
    return world


def permission(world: World, number: int = 1) -> PermissionCard:
    card = world.card(f"a-{number}")
    assert isinstance(card, PermissionCard)
    return card


def allowed(world: World) -> list[str]:
    return [answer.request for answer in world.owes(AnswerRun) if answer.kind == "allow"]


def always(world: World, number: int = 1) -> None:
    world.post(f"ask/a-{number}", Answered(decision=Decision.ALLOW, always=True))


def test_always_allows_this_one_and_answers_the_next_without_a_card() -> None:
    world = at_work()
    world.post(ME, wanting(world))
    assert permission(world).buttons == ("allow", "always", "deny")
    always(world)
    assert permission(world).decided == "Always allowed by you"
    world.post(ME, wanting(world, 2))
    assert allowed(world) == ["req-1", "req-2"]
    assert "ask/a-2" not in world.states
    assert [one.used for one in world.states[PROJECT].rules.kept] == [1]


def test_a_rule_answers_no_other_command_and_none_outside_a_fence() -> None:
    world = at_work()
    world.post(ME, wanting(world))
    always(world)
    world.post(ME, wanting(world, 2, "make lint test"))
    world.post(ME, wanting(world, 3, unfenced=True))
    assert (permission(world, 2).asks, permission(world, 3).asks) == (True, True)
    assert allowed(world) == ["req-1"]


def test_always_settles_the_open_cards_that_its_rule_covers() -> None:
    world = at_work()
    for number, command in enumerate(("make lint", "make lint", "make test"), 1):
        world.post(ME, wanting(world, number, command))
    always(world)
    assert permission(world, 2).decided == "Allowed by your rule"
    assert permission(world, 3).asks
    assert allowed(world) == ["req-1", "req-2"]


def test_a_revoked_rule_asks_again() -> None:
    world = at_work()
    world.post(ME, wanting(world))
    always(world)
    world.post(PROJECT, RuleRevoked(ask="a-1"))
    world.post(ME, wanting(world, 2))
    assert permission(world, 2).asks
    with pytest.raises(Refused, match="no such rule"):
        world.post(PROJECT, RuleRevoked(ask="a-1"))


def test_always_is_refused_where_it_was_not_offered() -> None:
    world = at_work()
    world.post(ME, wanting(world, command="git push"))
    card = permission(world)
    assert (card.buttons, card.never) == (("allow", "deny"), "stays")
    with pytest.raises(Refused, match="Always is not offered"):
        always(world)
    assert permission(world).asks


def test_what_the_owner_interrupted_or_stopped_is_not_said_to_be_the_agents_doing() -> None:
    for by, why in ((TurnInterrupted(), "you interrupted it"), (STOPPED, "you stopped it")):
        world = at_work()
        world.post(ME, wanting(world))
        world.post(ME, by)
        world.post(ME, RequestWithdrawn(run=world.states[ME].run, request="req-1"))
        assert permission(world).decided == f"No longer needed: {why}"


def test_a_withdrawal_never_overtakes_its_request() -> None:
    """Both go by the project, however late each is told."""
    world = at_work()
    world.patient = True
    world.post(ME, wanting(world))
    world.post(ME, RequestWithdrawn(run=world.states[ME].run, request="req-1"))
    world.settle()
    assert permission(world).decided == "No longer needed: the agent took it back"
    assert world.states[PROJECT].rules.open == ()


def test_a_rule_s_answer_that_comes_too_late_changes_nothing() -> None:
    world = at_work()
    world.post(ME, wanting(world))
    always(world)
    world.patient = True
    world.post(ME, wanting(world, 2))
    world.post(ME, RequestWithdrawn(run=world.states[ME].run, request="req-2"))
    world.settle()
    assert allowed(world) == ["req-1"]


def test_rules_are_forgotten_with_their_project() -> None:
    world = at_work()
    world.post(ME, wanting(world))
    always(world)
    world.post(PROJECT, ProjectRemoved())
    assert world.states[PROJECT].rules.kept == ()


def test_a_card_says_that_it_waits_for_the_answer_while_its_permission_is_open() -> None:
    """BR-22: an unanswered one is counted in its session's status."""
    world = at_work()
    world.post(ME, wanting(world))
    card = world.card("p-1")
    assert isinstance(card, WorkerCard)
    assert ([wait.what for wait in card.waits], card.doing) == (["your answer"], "")
    world.post("ask/a-1", Answered(decision=Decision.DENY))
    card = world.card("p-1")
    assert isinstance(card, WorkerCard)
    assert (card.waits, card.doing) == ((), "working")
