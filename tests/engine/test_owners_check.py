"""What the owner set for a project: a check, where its settings name none, and ports its runs may reach."""

import json
from pathlib import Path

from engine.views import CommandCard, PlanCard, SessionCard
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


async def test_every_run_of_a_project_is_given_its_ports_and_no_other_project_s_is(
    tmp_path: Path,
) -> None:
    async with held(tmp_path) as phone:
        await phone.agent(*lead(plan(PIECE)))
        asked, other = await phone.project(), await phone.project()
        for project in (asked, other):
            await phone.door.set_check(project, "true", cause=phone.cause())
        await phone.door.set_ports(asked, "6379 5432", cause=phone.cause())
        for project in (asked, other):
            goal = await phone.goal(project)
            await phone.card(goal, PlanCard)
        orders = [json.loads(path.read_text()) for path in tmp_path.rglob("runs/*/spec.json")]
        given = {(order["kind"], *order["fence"]["ports"]) for order in orders}
        assert given == {
            ("agent", 5432, 6379),
            ("command", 5432, 6379),
            ("agent",),
            ("command",),
        }
