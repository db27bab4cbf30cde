"""What a repository brings for agents, from the phone: the card, its answer, and taking that back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import Refused
from engine.rules.words import BROUGHT
from engine.views import CommandCard, PlanCard, TrustCard, WorkerCard
from tests.engine.phone import PIECE, Phone, good_worker, held, lead, plan, words
from tests.fakes import git

GUARD = ".claude/hooks/guard.sh"
HOOK = {"type": "command", "command": f"sh {GUARD}"}
BRINGS = {
    ".claude/settings.json": json.dumps({"hooks": {"Stop": [{"hooks": [HOOK]}]}}),
    GUARD: "true\n",
    ".mcp.json": json.dumps({"mcpServers": {"words": {"command": "words"}}}),
}


def bring(repository: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Bring something for agents")


async def asked(phone: Phone, goal: str) -> TrustCard:
    return await phone.card(goal, TrustCard)


async def test_work_goes_on_while_the_card_waits_and_a_change_is_asked_about_anew(
    tmp_path: Path,
) -> None:
    async with held(tmp_path) as phone:
        await phone.agent(*lead(plan(PIECE)), good_worker())
        repository = phone.repository(check="true")
        bring(repository, BRINGS)
        project = await phone.project(repository)

        goal = await phone.goal(project)
        card = await asked(phone, goal)
        assert card.what == "1 hook and 1 MCP server"
        await phone.tap(await phone.card(goal, CommandCard), "allow")
        await phone.tap(await phone.card(goal, PlanCard), "start")
        await phone.card(goal, WorkerCard, lambda card: bool(card.stage))
        assert await asked(phone, goal) == card, "nothing waited for it, and it stands as it was"

        assert await phone.tap(card, "trust") == "Trusted"
        later = await phone.goal(project)
        await phone.card(later, PlanCard)
        assert phone.of(later, TrustCard) == [], "once for exactly this"

        bring(repository, {GUARD: "false\n"})
        third = await phone.goal(project)
        anew = await asked(phone, third)
        assert anew.brought.digest != card.brought.digest
        assert anew.changed
        assert await phone.tap(anew, "leave_off") == "Left off"
        known = f"project/{project}"
        await phone.until(
            lambda: any(c.kind == BROUGHT for c in phone.engine.loop.state(known).refused),
            "the project to hear of it",
        )

        (view,) = [view for view in await phone.door.projects() if view.name == project]
        brought = [command for command in view.decided if command.kind == BROUGHT]
        assert [(command.what, command.allowed) for command in brought] == [
            ("1 hook and 1 MCP server", True),
            ("1 hook and 1 MCP server", False),
        ]
        told = await phone.door.change_command(
            project, BROUGHT, brought[0].text, False, cause=phone.cause()
        )
        assert told == {"verdict": "Taken back: no session has it from its next turn on."}
        (view,) = [view for view in await phone.door.projects() if view.name == project]
        assert not [c for c in view.decided if c.kind == BROUGHT and c.allowed]


@pytest.mark.parametrize(
    "body", ['{"hooks": ', "\x00", '{"hooks": {"Stop": 3}}', '{"a": "\\ud800"}']
)
async def test_a_file_that_cannot_be_read_holds_nothing_up(tmp_path: Path, body: str) -> None:
    async with held(tmp_path) as phone:
        await phone.agent(*lead(plan(PIECE)), good_worker())
        repository = phone.repository(check="true")
        bring(repository, {".claude/settings.json": body, ".mcp.json": body})
        goal = await phone.goal(await phone.project(repository))
        await phone.card(goal, PlanCard)
        assert phone.of(goal, TrustCard) == []


async def test_a_hook_that_does_what_cannot_be_undone_is_trusted_by_a_second_tap(
    tmp_path: Path,
) -> None:
    pushes = {"type": "command", "command": "git push --force origin main"}
    body = json.dumps({"hooks": {"Stop": [{"hooks": [pushes]}]}})
    async with held(tmp_path) as phone:
        await phone.agent(*lead(plan(PIECE)))
        repository = phone.repository()
        bring(repository, {".claude/settings.json": body})
        card = await asked(phone, await phone.goal(await phone.project(repository)))
        assert "Overwrites “main” on “origin”" in words(card)
        with pytest.raises(Refused, match="second tap"):
            await phone.door.tap(card.id, card.revision, "trust", cause=phone.cause())
        assert await phone.tap(card, "trust") == "Trusted"
