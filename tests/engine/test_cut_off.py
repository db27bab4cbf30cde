"""Turns cut off in the middle, and runs found again: nothing is lost, nothing done twice.

Real processes, real git, real fences where there are any. Neighbours: tests/rules/test_cut_off.py (what is
decided), test_real_kills.py (a whole goal with everything killed), tests/real_agents/test_cut_off.py.
"""

from __future__ import annotations

import os
import signal
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from engine.adapters.machines import Local
from engine.codec import Codec
from engine.node import folder
from engine.paths import Home
from engine.rules.events import AnyEvent, AskRaised, RunExited, TurnEnded
from engine.rules.session_state import Session
from engine.views import FailureCard, PermissionCard, WorkerCard
from tests.engine.phone import (
    PIECE,
    Phone,
    good_worker,
    held,
    labels,
    lead,
    plan,
    words,
    worker,
    write,
)
from tests.node import reading

LONG = "touch .git/begun; until test -e .git/go; do sleep 0.1; done"


async def at(phone: Phone, goal: str) -> tuple[Session, Path]:
    """Wait until the goal's worker is in the middle of its long command; return it and its tree."""
    await phone.card(goal, WorkerCard, lambda card: "interrupt" in card.buttons)
    name = phone.state(goal).pieces[0].session
    (tree,) = (phone.home.root / "trees").glob(f"*/{name}")
    await phone.until(lambda: (tree / ".git/begun").exists(), "the worker to be at work")
    return phone.session(name), tree


def kill_runner(phone: Phone, run: str) -> None:
    child = folder.read(str(phone.home.runs / run / "child.json"))
    assert child is not None
    os.kill(child["runner"], signal.SIGKILL)


def happened(phone: Phone, stream: str) -> Counter[type]:
    """What has happened to a stream, counted."""
    codec: Codec[AnyEvent] = Codec(AnyEvent)
    with closing(sqlite3.connect(phone.home.engine_db)) as ledger:
        rows = ledger.execute("SELECT body FROM events WHERE stream = ?", (stream,)).fetchall()
    return Counter(type(codec.load(body)) for (body,) in rows)


async def test_a_worker_cut_off_in_a_command_is_told_which_and_lands_once(tmp_path: Path) -> None:
    """BR-42, BR-51."""
    async with held(tmp_path) as phone:
        slow = worker(
            write("work.txt"),
            {"say": "On it."},
            {"wait_for": ".git/go"},
            {"commit": "Do the work"},
            {"say": "Done."},
        )
        await phone.agent(*lead(plan(PIECE)), worker({"run": LONG}, turn=1), slow)
        goal = await phone.goal(await phone.project(remote=True), willing=True)
        session, tree = await at(phone, goal)
        stuck = "waits: process 7 (dd) was killed and does not end; nothing starts beside it"
        line = folder.line(0, "note", stuck)  # as its node says it of a run without a runner
        folder.append(str(phone.home.runs / session.run), "out.jsonl", line)
        await phone.card(goal, WorkerCard, lambda card: stuck in words(card))
        kill_runner(phone, session.run)
        cut = "Cut off during Bash: a step of the scenario; goes on, told to look first"
        await phone.card(goal, WorkerCard, lambda card: cut in words(card))
        await phone.card(goal, WorkerCard, lambda card: "On it." in card.doing)
        note = phone.heard(session.id).partition("was cut off")[2]
        assert f"- Bash, with `{LONG}`, begun" in note
        assert "look whether it took effect before you repeat it" in note
        (tree / ".git/go").touch()
        await phone.shipped(goal)
        assert phone.session(session.id).cut_offs == 0
        (card,) = phone.of(goal, WorkerCard)
        assert card.cut_off == ""


class Stuck(Local):
    """This machine, on which a killed process does not go away."""

    stuck = False

    async def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        if op == "run.alone" and self.stuck:
            return {"left": ["s-0-t1"]}
        return await super().call(op, **arguments)


async def test_the_next_turn_waits_for_the_last_ones_process_and_says_so(tmp_path: Path) -> None:
    """BR-51."""
    machine = Stuck(Home(tmp_path / "home").make().root)
    async with held(tmp_path, machine=machine) as phone:
        await phone.agent(*lead(plan(PIECE)), worker({"run": LONG}, turn=1), good_worker())
        goal = await phone.goal(await phone.project(remote=True), willing=True)
        session, _ = await at(phone, goal)
        machine.stuck = True
        kill_runner(phone, session.run)
        waits = "waits: a process of its last turn (s-0-t1) does not end"
        await phone.card(goal, WorkerCard, lambda card: waits in words(card))
        assert not (phone.home.runs / f"{session.id}-t2").exists()
        machine.stuck = False
        phone.later(60)  # it is asked again after a while
        await phone.shipped(goal)


async def test_what_a_tool_was_is_known_though_the_engine_was_away_when_it_ended(
    tmp_path: Path,
) -> None:
    """BR-42: the tool was begun before what was read last, and the end came while nobody read."""
    async with held(tmp_path) as phone:
        await phone.agent(*lead(plan(PIECE)), worker({"run": LONG}, turn=1), good_worker())
        goal = await phone.goal(await phone.project(remote=True), willing=True)
        session, _ = await at(phone, goal)
        phone.stays = True
    kill_runner(phone, session.run)
    async with held(tmp_path, after=phone) as later:
        later.will(goal)
        await later.shipped(goal)
        assert f"with `{LONG}`, begun" in later.heard(session.id)


async def test_a_run_that_talks_while_nobody_reads_is_read_to_its_end_once(tmp_path: Path) -> None:
    """BR-37, BR-42: no line of it is lost, none counts twice."""
    asks = {"permission": {"tool": "WebFetch", "input": {"url": "http://127.0.0.1:1/"}}}
    talks = worker(
        {"run": LONG},
        {"cost": 0.25},
        asks,
        write("work.txt"),
        {"commit": "Do the work"},
        {"say": "It is done."},
        turn=1,
    )
    async with held(tmp_path) as phone:
        await phone.agent(*lead(plan(PIECE)), talks)
        goal = await phone.goal(await phone.project(remote=True), willing=True)
        session, tree = await at(phone, goal)
        phone.stays = True
    run = phone.home.runs / session.run
    (tree / ".git/go").touch()
    reading.until(lambda: "WebFetch" in "".join(reading.said(run)))
    async with held(tmp_path, after=phone) as again:
        await again.tap(await again.card(goal, PermissionCard), "allow")
        again.stays = True
        await again.until(lambda: (tree / "work.txt").exists(), "the answer to be heard")
    reading.until(lambda: folder.ended(str(run)) or "It is done." in "".join(reading.said(run)))
    async with held(tmp_path, after=again) as last:
        last.will(goal)
        await last.shipped(goal)
        kinds = happened(last, session.stream)
        assert (kinds[AskRaised], kinds[TurnEnded], kinds[RunExited]) == (2, 1, 1)
        assert last.session(session.id).cost_usd == 0.25
        assert last.session(session.id).turn == 1


IDLE = """#!/bin/sh
read -r prompt
cat <<'.'
{"type":"system","subtype":"init","session_id":"","tools":["AskUserQuestion"],\
"mcp_servers":[{"name":"quarterdeck","status":"connected"}],"claude_code_version":"2.1.332"}
{"type":"result","subtype":"success","is_error":false,"result":""}
.
read -r end
"""


async def test_a_success_with_nothing_said_or_done_is_no_success(tmp_path: Path) -> None:
    """BR-54."""
    async with held(tmp_path) as phone:
        account = await phone.command(IDLE)
        goal = await phone.goal(await phone.project())
        card = await phone.card(goal, FailureCard)
        assert "ended its turn without a word, and had done nothing in it" in words(card)
        assert labels(card) == ["Retry", "Stop"]
        await phone.command(IDLE.replace('"result":""', '"result":"Here."'), account)
        await phone.tap(card, "retry")
        lead_id = phone.state(goal).session
        await phone.until(lambda: phone.session(lead_id).said == "Here.", "its words")
