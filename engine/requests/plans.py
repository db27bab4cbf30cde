"""A proposed plan, changed by the owner before Start.

Neighbours: rules/changing.py decides, engine/choices.py says what there is to choose; the bot's panel
behind Change… (bot/plan_panel.py) asks both.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine import choices
from engine.errors import Refused
from engine.requests.inside import Inside
from engine.requests.taps import CHANGED, GONE
from engine.rules import fleet
from engine.rules.events import PlanChanged
from engine.views import PlanCard, PlanChoices


class Plans(Inside):
    """Requests about plans."""

    async def plan_choices(self, plan: str) -> PlanChoices:
        """What can be changed of a plan, as it stands now."""
        card = self._plan(plan)
        return choices.of_plan(self._goal(card.goal), self._fleet(), card)

    async def change_plan(
        self,
        plan: str,
        revision: str,
        piece: int,
        what: str,
        value: str = "",
        after: Sequence[int] = (),
        cause: str = "",
    ) -> dict[str, str]:
        """Change one piece, if the plan still is what was shown: {"revision": the plan's new one}."""
        card = self._plan(plan)
        if card.decided:
            raise Refused(f"{card.decided}: it cannot be changed any more.")
        if revision != card.revision:
            if await self._ledger.knows(cause):  # asked again: it is our own change that we see
                return {"revision": card.revision}
            raise Refused(CHANGED)
        changed = PlanChanged(
            plan=plan,
            piece=piece,
            what=what,
            value=value,
            after=tuple(after),
            reach=fleet.reach(self._fleet()),
            edits=card.edits,
        )
        await self._loop.post(f"goal/{card.goal}", changed, cause)
        return {"revision": self._plan(plan).revision}

    def _plan(self, plan: str) -> PlanCard:
        card = self._cards.get(plan)
        if not isinstance(card, PlanCard):
            raise Refused(GONE)
        return card
