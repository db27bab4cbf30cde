"""Record what each agent prints in the situations every driver must read alike.

    python -m tests.real_agents.record        writes tests/fixtures/<driver>/<situation>.jsonl

Run it when a pinned version moves, and read the difference: it is what that release changed on the wire.
The real agents of .agents/ answer to a scripted model, the rehearsal agent to a scenario.
tests/adapters/agents/test_every_driver.py reads the result.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import tempfile
import uuid
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from engine.adapters.agents import DRIVERS
from engine.adapters.agents.driver import Asked, Driver, Ended, Tool, TurnSpec
from engine.rules.modes import Mode
from engine.rules.words import Role
from tests.adapters.agents.talk import REHEARSE, Talk
from tests.real_agents.model_server import (
    LOGIN_EXPIRED,
    Call,
    Json,
    ModelServer,
    Part,
    Step,
    plan_file,
    usage_limit,
)

ROOT = Path(__file__).resolve().parents[2]
CLI = ROOT / ".agents/claude/node_modules/.bin/claude"
RESETS_AT = 2_000_000_000
SESSION = "6f1f3c1e-8f0b-4a57-9a39-2f4f3f3f9a11"
LONG = "python3 -c 'import time; time.sleep(600)'"
QUESTION = {"question": "Which database?", "header": "Database"}
LABELS = ("SQLite", "Postgres")


def _write_plan(body: Json) -> Step:
    return Call("Write", {"file_path": plan_file(body), "content": "1. write a.txt\n"})


def _bash(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "a step"})


_ASKED = QUESTION | {
    "multiSelect": False,
    "options": [{"label": label, "description": ""} for label in LABELS],
}

# What the model answers, and what the scenario plays, so that both agents come to the same.
SITUATIONS: dict[str, tuple[Mode, tuple[Step, ...], list[dict[str, Any]]]] = {
    "plain": ("edit", ("All is well.",), [{"say": "All is well."}]),
    "permission": (
        "ask",
        (_bash("touch made.txt"), "Made."),
        [{"run": "touch made.txt"}, {"say": "Made."}],
    ),
    "question": (
        "ask",
        (Call("AskUserQuestion", {"questions": [_ASKED]}), "SQLite it is."),
        [{"question": QUESTION | {"options": LABELS}}, {"say": "SQLite it is."}],
    ),
    "approach": (
        "plan",
        (_write_plan, Call("ExitPlanMode", {}), "On it."),
        [{"approach": "1. write a.txt\n"}, {"say": "On it."}],
    ),
    "interrupted": ("edit", (_bash(LONG), "Never."), [{"run": LONG}]),
    "limit": ("edit", (usage_limit(RESETS_AT),), [{"limit": {"resets_at": RESETS_AT}}]),
    "login": (
        "edit",
        (LOGIN_EXPIRED,),
        [{"api_error": {"status": 401, "text": "API Error: 401 OAuth token has expired."}}],
    ),
    "resume": ("edit", (), []),
}


def spec_in(folder: Path, driver: Driver, situation: str, mode: Mode) -> TurnSpec:
    for name in ("tree", "config", "tmp"):
        (folder / name).mkdir()
    subprocess.run(["git", "init", "-q", folder / "tree"], check=True)
    return TurnSpec(
        session_id=SESSION,
        resume=situation == "resume",
        role=Role.WORKER,
        mode=mode,
        prompt="go",
        config_dir=str(folder / "config"),
        tree=str(folder / "tree"),
        command=(str(CLI),) if driver.name == "claude" else REHEARSE,
        model="sonnet",
        tmp=str(folder / "tmp"),
        commands=(LONG,),
    )


async def play(driver: Driver, spec: TurnSpec, situation: str) -> list[str]:
    """Return the lines of one turn, answered the same way for every agent."""
    async with Talk(driver, spec, str(Path(spec.tree).parent)) as talk:
        if situation == "interrupted":
            await talk.until(Tool)
            await talk.send(driver.interrupt())
        elif situation in ("permission", "question", "approach"):
            asked = await talk.until(Asked)
            answers = {
                "permission": driver.allow(asked),
                "question": driver.answer(asked, {QUESTION["question"]: LABELS[0]}),
                "approach": driver.approve(asked, "edit"),
            }
            await talk.send(answers[situation])
        await talk.until(Ended)
        return talk.lines


def tidy(line: str, folder: Path) -> str:
    """Return the line without this machine's paths and without its long lists."""
    body = json.loads(line.replace(str(folder), "/home/user"))
    for name in ("slash_commands", "terminal_slash_commands", "skills", "agents", "plugins"):
        if name in body:
            body[name] = body[name][:1]
    return json.dumps(body)


async def record() -> None:
    for driver in DRIVERS.values():
        target = ROOT / "tests/fixtures" / driver.name
        target.mkdir(parents=True, exist_ok=True)
        for situation, (mode, steps, scenario) in SITUATIONS.items():
            folder = Path(tempfile.mkdtemp(prefix="record-"))
            script = folder / f"{uuid.uuid4()}.json"
            script.write_text(json.dumps({"parts": [{"steps": scenario}]}))
            with ModelServer([Part(steps)]) as api:
                env = api.env() | {"QUARTERDECK_SCENARIO": str(script)}
                spec = replace(spec_in(folder, driver, situation, mode), account_env=env)
                lines = await play(driver, spec, situation)
            text = "".join(f"{tidy(line, folder)}\n" for line in lines)
            (target / f"{situation}.jsonl").write_text(text)


if __name__ == "__main__":
    asyncio.run(record())
