"""A check the owner set for a project: what counts where its settings say one, and what the card says."""

from pathlib import Path

from engine.views import CommandCard, SessionCard
from tests.engine.phone import PIECE, held, lead, plan


async def test_the_owners_check_runs_unasked_unless_the_settings_name_one(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        await phone.agent(*lead(plan(PIECE)))
        bare, named = await phone.project(), await phone.project(check="test -f README")
        for project in (bare, named):
            await phone.door.set_check(project, "true", cause=phone.cause())

        goal = await phone.goal(bare)
        card = await phone.card(goal, SessionCard, lambda card: "passes" in card.check)
        assert card.check == "check: true (set by you) · passes on main"
        assert phone.of(goal, CommandCard) == []

        goal = await phone.goal(named)
        asked = await phone.card(goal, CommandCard)
        assert asked.command == "test -f README"
        await phone.tap(asked, "allow")
        card = await phone.card(goal, SessionCard, lambda card: "passes" in card.check)
        assert card.check == "check: test -f README · passes on main"
