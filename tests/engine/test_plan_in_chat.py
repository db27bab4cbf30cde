"""A plan with the check not allowed yet, and one that is discarded: what the owner then sees, in the chat."""

from __future__ import annotations

import json
from pathlib import Path

from tests.engine.chat import LIMIT_S, chatting
from tests.engine.phone import PIECE, good_worker, lead, plan
from tests.fakes import git

SHOWN_ANEW = "The plan is started and waits for this."


def _laid(folder: Path) -> Path:
    path = folder / "shop"
    (path / ".quarterdeck").mkdir(parents=True)
    (path / ".quarterdeck/settings.toml").write_text('[worktree]\ncheck = "test -f README"\n')
    (path / "README").write_text("A shop\n")
    git(path, "init", "-q", "-b", "main")
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "A shop")
    return path


async def test_after_start_the_check_is_asked_for_where_the_owner_looks(tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"parts": [*lead(plan(PIECE)), good_worker()]}))
    source = _laid(tmp_path)
    async with chatting(tmp_path, scenario=str(scenario)) as chat:
        await chat.engine.door.add_project("shop", str(source), cause="project")
        await chat.engine.door.add_account("main", "rehearsal", cause="account")
        asked = await chat.sent("/new shop Do it", "test -f README", label="Allow")
        before = "nothing begins before your word on the check (its card is above)"
        shown = await chat.until(before, label="Start")
        await chat.tapped(shown, "Start", "it waits for your word on the check")
        again = await chat.until(SHOWN_ANEW, label="Allow")
        assert again.id > shown.id
        assert again.silent
        await chat.phone.until(lambda: chat.phone.message(asked.id) is None, LIMIT_S)
        await chat.tapped(again, "Allow", "Worker 1")
        await chat.until("Ready for your review", label="Ship")


async def test_a_discarded_plan_says_what_to_do_and_the_goal_is_dropped_at_once(
    tmp_path: Path,
) -> None:
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"parts": lead(plan(PIECE))}))
    source = _laid(tmp_path)
    async with chatting(tmp_path, scenario=str(scenario)) as chat:
        await chat.engine.door.add_project("shop", str(source), cause="project")
        await chat.engine.door.add_account("main", "rehearsal", cause="account")
        asked = await chat.sent("/new shop Do it", "test -f README", label="Allow")
        await chat.tapped(asked, "Allow", "passes on main")
        shown = await chat.until("How it is done.", label="Start")
        said = "Waits for a line from you: the plan was discarded. Write what you want instead"
        waiting = await chat.tapped(shown, "Discard", said, label="Drop")
        sure = await chat.tapped(waiting, "Drop", "nothing of it is pushed", label="Drop it")
        kept = await chat.tapped(sure, "Keep it", said, label="Drop")
        assert sure.id == kept.id == waiting.id
        sure = await chat.tapped(kept, "Drop", "nothing of it is pushed", label="Drop it")
        await chat.tapped(sure, "Drop it", "✓ Dropped by you")
