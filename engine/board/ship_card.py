"""The card of the way to the push: its four steps, and where it leads.

Pure. Neighbours: engine/rules/ship.py (the steps themselves), review_card.py (what comes before).
"""

from __future__ import annotations

from engine.board.looking import World, state_of
from engine.rules import ship as ship_rule
from engine.rules.goal_state import Goal
from engine.rules.project import Project
from engine.rules.ship import Ship
from engine.views import ShipCard, Step


def _remote(project: Project | None) -> str:
    """What the remote is called: its host and path, the folder's name on this machine."""
    url = project.push_url if project else ""
    if "://" in url:
        url = url.partition("://")[2]
    elif url.startswith(("/", "~", ".")):
        return url.rstrip("/").rpartition("/")[2] or url
    return url.rpartition("@")[2] or "origin"


def _ship_steps(goal: Goal, ship: Ship, remote: str) -> tuple[Step, ...]:
    order = ship_rule.Stage
    place = {
        order.PROCEED: 0,
        order.TAKING: 1,
        order.CHECKING: 2,
        order.READY: 3,
        order.PUSHING: 3,
        order.SHIPPED: 4,
        order.CANCELLED: 0,
        order.HANDED_BACK: 0,
    }[ship.stage]
    steps = {order.TAKING: 1, order.CHECKING: 2, order.PUSHING: 3}
    failed = steps[ship.failed] if ship.failed else 0
    texts = [f"review of {ship.head[:7]} passed"]
    texts.append(f"{goal.base} moved: taken in" if ship.moved else f"read {goal.base} at {remote}")
    texts.append(f"check on {ship.commit[:7]}" if ship.check and ship.commit else "check")
    if not ship.check:
        texts[2] = "no check to run"
    own = f"{ship.beside} commit{'' if ship.beside == 1 else 's'} of yours"
    texts.append(f"push, with {own} that {remote} never had" if ship.beside else "push")
    states = []
    for index in range(4):
        if failed and index == failed:
            states.append("failed")
        elif index < max(place, failed, 1):
            states.append("done")
        elif index == place and ship.stage in (order.TAKING, order.CHECKING, order.PUSHING):
            states.append("doing")
        else:
            states.append("todo")
    return tuple(Step(text, state) for text, state in zip(texts, states, strict=True))


def ship_card(world: World, goal: Goal, ship: Ship) -> ShipCard:
    order = ship_rule.Stage
    project = state_of(world, f"project/{goal.project}", Project)
    elsewhere = project is not None and not project.push_url
    target = (
        f"branch quarterdeck/{goal.id} in {project.source}"
        if project is not None and elsewhere
        else f"{goal.base} at {_remote(project)}"
    )
    words = {
        order.PROCEED: "failed" if ship.failed else "proceed",
        order.TAKING: "working",
        order.CHECKING: "working",
        order.READY: "ready",
        order.PUSHING: "pushing",
        order.SHIPPED: "shipped",
        order.CANCELLED: "cancelled",
        order.HANDED_BACK: "handed back",
    }
    buttons = {
        order.PROCEED: ("proceed", "cancel"),
        order.TAKING: ("cancel",),
        order.CHECKING: ("cancel",),
        order.READY: ("push", "cancel"),
    }.get(ship.stage, ())
    hint = ""
    if elsewhere and ship.stage is order.SHIPPED:
        hint = f"git merge quarterdeck/{goal.id}"
    return ShipCard(
        id=ship.id,
        goal=goal.id,
        title=goal.title,
        stage=words[ship.stage],
        steps=_ship_steps(goal, ship, _remote(project)),
        target=ship.where or target,
        commit=ship.commit or ship.head,
        why=ship.why,
        words=ship.words,
        speaker="check" if ship.failed == order.CHECKING else "remote",
        merge_hint=hint,
        buttons=buttons if goal.live else (),
        asks=goal.live and ship.stage in (order.PROCEED, order.READY),
        decided={
            order.SHIPPED: "Shipped",
            order.CANCELLED: "Cancelled by you",
            order.HANDED_BACK: "Its lead mends it, then you get a new review",
        }.get(ship.stage, ""),
        decided_at=ship.decided_at,
    )
