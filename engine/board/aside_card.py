"""The cards of streams that were set aside: what rests, why, and that Retry or Leave it ends the waiting.

Pure. They belong to General: a goal whose own state cannot be read has no card to stand on.
Neighbours: engine/loop.py sets aside, retries and lets go; engine/requests/aside.py hears the buttons.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Protocol

from engine.board.every_card import sealed
from engine.board.looking import World, goal_of, state_of
from engine.rules.goal_state import Goal
from engine.views import AnyCard, FailureCard

ASIDE = "aside-"  # how the id of such a card begins
WHAT = {
    "ask": "a question to you",
    "fleet": "all that starts agents, with its machines and accounts",
    "goal": "the goal",
    "landing": "the landing of pieces",
    "owner": "your settings",
    "project": "the project",
    "session": "a session",
    "ship": "the shipping",
}
LEFT = "Left by you: nothing that comes for it changes anything"


class SetAside(Protocol):
    """What is known of a stream that was set aside (stores/ledger.py's BrokenStream)."""

    @property
    def why(self) -> str: ...

    @property
    def at(self) -> float: ...

    @property
    def dropped(self) -> bool: ...


def aside_cards(world: World, found: Mapping[str, SetAside]) -> list[AnyCard]:
    """One for each stream set aside."""
    return [sealed(_card(world, stream, aside)) for stream, aside in sorted(found.items())]


def aside_id(stream: str, aside: SetAside) -> str:
    return f"{ASIDE}{hashlib.sha256(stream.encode()).hexdigest()[:8]}-{int(aside.at)}"


def named(world: World, stream: str) -> str:
    """What a stream is, in the owner's words."""
    kind, _, name = stream.partition("/")
    what = WHAT.get(kind, stream)
    goal = state_of(world, f"goal/{goal_of(world, stream)}", Goal)
    if kind == "project":
        return f"{what} {name}"
    if goal is None:
        return what
    return f"{what} {goal.title}" if kind == "goal" else f"{what} of {goal.title}"


def _card(world: World, stream: str, aside: SetAside) -> FailureCard:
    return FailureCard(
        id=aside_id(stream, aside),
        at=aside.at,
        what=f"Set aside: {named(world, stream)}; all else goes on",
        why=(
            f"{aside.why}: a mistake of mine, or of this release. What comes for it waits.\n"
            "Retry has it decided once more, best after an update. Leave it lets it go for good: "
            "what comes for it is only logged."
        ),
        buttons=() if aside.dropped else ("retry", "leave"),
        asks=not aside.dropped,
        decided=LEFT if aside.dropped else "",
    )
