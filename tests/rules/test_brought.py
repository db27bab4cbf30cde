"""What a repository brings for its agents: asked about once, and nothing ever waits for the answer."""

from __future__ import annotations

from msgspec.structs import replace

from engine import board
from engine.board.guarded import guarded
from engine.rules import brought
from engine.rules.brought import Off
from engine.rules.effects import StartRun
from engine.rules.events import Answered, CommandChanged, PlanStarted
from engine.rules.fleet import Fleet, Machine
from engine.rules.plan import Stage as PieceStage
from engine.rules.words import BROUGHT, Brought, BroughtItem, Command, Decision
from engine.views import PlanCard, SessionCard, TrustCard
from tests.rules.test_goal import goal, piece
from tests.rules.world import World, draft, opened, proposed

HOOK = BroughtItem("hook", "PreToolUse Bash", "sh .claude/hooks/guard.sh")
OFF = BroughtItem("allow", "Bash(npm:*)", "", Off.WIDE)
ONE = brought.as_command(Brought("a" * 64, (HOOK, OFF), (".claude/settings.json",)))
OTHER = brought.as_command(Brought("b" * 64, (HOOK, OFF), (".claude/settings.json",)))
ASK = "ask/a-90"


def card(world: World) -> TrustCard:
    found = board.cards(world.states, "g-1", lambda _: "")
    return next(card for card in found if isinstance(card, TrustCard))


def of(world: World, kind: type) -> object:
    return next(c for c in board.cards(world.states, "g-1", lambda _: "") if isinstance(c, kind))


def test_what_is_asked_about_says_again_what_it_stands_for() -> None:
    told = brought.told(ONE)
    assert told is not None
    assert (told.items, brought.given(told), brought.counted(told)) == (
        (HOOK, OFF),
        (HOOK,),
        "1 hook",
    )
    assert brought.told(Command("check", "make test")) is None
    assert brought.told(None) is None
    assert ONE != OTHER, "the same words of other files are another thing"


def test_it_is_counted_in_words() -> None:
    kinds = ("hook", "hook", "server", "deny", "skill", "setting", "file")
    many = Brought("c", tuple(BroughtItem(kind, "n") for kind in kinds))
    assert brought.counted(many) == "2 hooks, 1 MCP server, 1 rule and 1 skill"
    assert brought.counted(Brought("c")) == "nothing"


def test_no_worker_and_no_check_waits_for_it() -> None:
    world = proposed(opened(ONE), draft("One"))
    world.turn()
    world.owed.clear()
    assert card(world).asks
    world.post("goal/g-1", PlanStarted(plan="pl-1"))
    assert piece(world, 1).stage is PieceStage.WORKING
    plan = of(world, PlanCard)
    assert isinstance(plan, PlanCard)
    assert (plan.first, plan.decided) == ("", "Started by you")
    assert isinstance(lead := of(world, SessionCard), SessionCard)
    assert "waits for your Allow" not in lead.check
    assert all(ONE.text not in order.commands for order in world.owes(StartRun))


def test_trust_holds_for_exactly_this_and_is_taken_back() -> None:
    world = opened(ONE)
    assert card(world).buttons == ("trust", "leave_off")
    before = card(world).revision
    world.post(ASK, Answered(decision=Decision.ALLOW))
    assert world.states["project/shop"].allowed == (ONE,)
    assert goal(world).command(BROUGHT) == ONE.text
    done = card(world)
    assert done.decided == "Trusted: sessions have it from their next turn"
    assert done.revision == before
    taken = CommandChanged(command=ONE, allowed=False, goals=("g-1",))
    world.post("project/shop", taken)
    assert world.states["project/shop"].allowed == ()
    assert goal(world).command(BROUGHT) == ""


def test_left_off_is_kept_and_not_asked_again() -> None:
    world = opened(ONE)
    world.post(ASK, Answered(decision=Decision.DENY))
    project = world.states["project/shop"]
    assert (project.allowed, project.refused, project.asking) == ((), (ONE,), ())
    assert card(world).decided.startswith("Left off")


def test_a_card_says_when_another_state_of_it_was_decided_and_keeps_its_revision() -> None:
    world = opened(OTHER)
    before = card(world)
    world.states["project/shop"] = replace(world.states["project/shop"], allowed=(ONE,))
    assert (before.changed, card(world).changed) == (False, True)
    assert before.revision == card(world).revision


def test_a_hook_that_does_what_cannot_be_undone_takes_a_second_tap() -> None:
    grave = BroughtItem("hook", "Stop", "git push --force origin main")
    world = opened(brought.as_command(Brought("d" * 64, (grave,), ())))
    found = guarded(card(world))
    assert isinstance(found, TrustCard)
    assert found.stakes
    assert found.twice == ("trust",)


def test_a_machine_that_has_not_answered_is_called_unfenced_by_nobody() -> None:
    """A card must not change by itself as it waits: the node answers while it is read."""
    world = opened(ONE)
    fleet = Fleet(machines=(Machine(name="here"),))
    world.states["fleet"] = fleet
    assert card(world).unfenced == ()
    loose = replace(fleet.machines[0], up=True, fence="unfenced: no bubblewrap")
    world.states["fleet"] = replace(fleet, machines=(loose,))
    assert card(world).unfenced == ("here",)
