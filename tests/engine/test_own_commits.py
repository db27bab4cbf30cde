"""Commits the owner never pushed leave with the goal's: the card says so before Push."""

from __future__ import annotations

from pathlib import Path

from engine.views import ShipCard
from tests.engine.phone import good_worker, held, lead, plan
from tests.fakes import git


async def test_the_ship_card_counts_what_goes_along_unreviewed(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        await phone.agent(*lead(plan({"title": "The work"})), good_worker())
        shop = phone.repository("shop", remote=True)
        (shop / "mine.txt").write_text("not pushed yet\n")
        git(shop, "add", "-A")
        git(shop, "commit", "-q", "-m", "Mine")
        goal = await phone.goal(await phone.project(shop))
        phone.will(goal, until="ship")
        card = await phone.card(goal, ShipCard)
        await phone.tap(card, "proceed")
        ready = await phone.card(goal, ShipCard, lambda card: card.stage == "ready")
        assert "with 1 commit of yours" in ready.steps[-1].text
