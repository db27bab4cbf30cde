"""Each text from where it comes from to the owner's chat and to other agents, with all of it real but Telegram.

One engine, bot and node for all. A repository has the text in its settings, its README, a file's name and a
commit's message; its lead asks for a tool with it, asks the owner with it, plans with it, says it. A worker
ends with it, by its desk and by its error output, and its lead hears. Nobody decides: what is pressed is pressed here, and
counted. Neighbours: judge.py, test_every_place.py (all other places, and more of each).
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bot import backlog, text
from bot.emulator import Message
from engine import audit
from engine.rules import goal_state
from engine.rules.goal_state import Goal
from engine.rules.session_state import Session, Stage
from engine.rules.ship import Ship
from tests.engine.chat import LIMIT_S, Chat, chatting
from tests.engine.phone import Step, desk, lead, plan, worker, write
from tests.fakes import git
from tests.hostile.judge import offences, unfenced
from tests.hostile.texts import TEXTS, marked

pytestmark = pytest.mark.asyncio(loop_scope="module")

VALUE = "vQ7kdZr41mXw9Tt8LpHs"
LABELS = frozenset(text.LABELS.values()) | {"Settings", "No"}
# A goal each takes its time: every third one in `make test`, all of them with HOSTILE=all.
SAMPLE = list(TEXTS)[::3]
WORKERS = (
    "quarterdeck speaks",
    "a fence that closes ours",
    "a fake verdict",
)


@dataclass
class Way:
    """All of it, and one scenario for whatever runs."""

    chat: Chat
    scenario: Path
    folder: Path
    count: int = 0
    last: int = 0  # the newest message before the goal was given

    async def goal(self, said: str, parts: list[Step]) -> Goal:
        """Give a goal in a repository full of the text, from the phone."""
        self.count += 1
        self.last = max((message.id for message in self.chat.phone.messages()), default=0)
        name = f"shop{self.count}"
        path = self.folder / name
        (path / ".quarterdeck").mkdir(parents=True)
        check = json.dumps(f"true # {said[:5000]}".encode("utf-8", "replace").decode())
        (path / ".quarterdeck/settings.toml").write_text(f"[worktree]\ncheck = {check}\n")
        (path / "README.md").write_text(said, errors="replace")
        (path / _file_name(said)).write_text("x\n")
        git(path, "init", "-q", "-b", "main")
        git(path, "add", "-A")
        git(path, "commit", "-q", "-m", _plain(said)[:5000])
        self.scenario.write_text(json.dumps({"parts": parts}))
        await self.chat.engine.door.add_project(name, str(path), cause=f"project {self.count}")
        self.chat.phone.send(f"/new {name} Look around")
        found: Goal = await self._until(lambda: self._newest(name))
        return found

    def _newest(self, project: str) -> Goal | None:
        goals = self.chat.engine.loop.states("goal").values()
        return next((g for g in goals if isinstance(g, Goal) and g.project == project), None)

    async def _until(self, fact: Any) -> Any:
        return await self.chat.phone.until(fact, timeout=LIMIT_S)

    def session(self, name: str) -> Session:
        found = self.chat.engine.loop.state(f"session/{name}")
        assert isinstance(found, Session)
        return found

    def state(self, goal: str) -> Goal:
        found = self.chat.engine.loop.state(f"goal/{goal}")
        assert isinstance(found, Goal)
        return found

    async def rested(self, session: str) -> None:
        await self._until(lambda: self.session(session).stage is Stage.IDLE or None)

    def holding(self, mark: str) -> list[Message]:
        return [message for message in self.chat.phone.from_bot() if mark in _all(message)]

    async def judged(self, mark: str) -> None:
        """Assert of every message with the text, as it stands and as it ever stood, what judge.py says."""
        wrong = []
        for message in self.holding(mark):
            wrong += offences(message.text, message.entities, message.labels, mark, ours=LABELS)
        assert wrong == []
        assert VALUE not in self.chat.phone.transcript()
        assert [topic for topic in self.chat.phone.topics() if mark in topic.name] == []

    def heard(self, session: str) -> str:
        """All that an agent was given, as its runs' orders hold it."""
        orders = (self.chat.home.root / "runs").glob(f"{session}-t*/spec.json")
        lines = [line for order in orders for line in json.loads(order.read_text())["first_lines"]]
        return "\n".join(str(json.loads(line)["message"]["content"]) for line in lines)

    async def decisions(self, goal: str) -> list[str]:
        """Return who decided what of a goal, in short."""
        rows = await self.chat.engine.door._ledger.decisions(0.0, goal)
        return [f"{one.who}: {one.verdict}"[:40] for one in map(audit.read, rows)]


def _all(message: Message) -> str:
    return " ".join([message.text, *message.labels])


def _plain(said: str) -> str:
    return said.replace("\0", "").encode("utf-8", "replace").decode() or "x"


def _file_name(said: str) -> str:
    """A file's name that holds the text, as far as a name can."""
    name = _plain(said).replace("/", "|").encode()[:200].decode("utf-8", "ignore")
    return f"{name}.txt"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def way(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Way]:
    folder = tmp_path_factory.mktemp("hostile")
    scenario = folder / "scenario.json"
    scenario.write_text('{"parts": []}')
    few, backlog.FEW = backlog.FEW, 1000  # what many say at once is test_every_place.py's
    try:
        async with chatting(folder, scenario=str(scenario)) as chat:
            await chat.engine.door._of_vault().put("SHOP_KEY", VALUE, 1.0)
            await chat.engine.door.add_account("main", "rehearsal", cause="account")
            yield Way(chat, scenario, folder)
    finally:
        backlog.FEW = few


@pytest.mark.parametrize("name", list(TEXTS) if os.environ.get("HOSTILE") == "all" else SAMPLE)
async def test_from_a_repository_and_a_lead_it_gets_no_decision_no_secret_and_no_card(
    way: Way, name: str
) -> None:
    mark = f"zq{way.count + 1}x"
    said = marked(TEXTS[name], mark)
    short = said[:300]
    steps = [
        {
            "permission": {"tool": "WebFetch", "input": {"url": said[:8000], "prompt": short}},
            "denied": [],
        },
        desk("start_plan"),
        desk("ask_owner", question=said[:1900], options=[" ".join(short.split())[:60], "No"]),
        plan({"title": short[:100], "task": said[:3000]}),
        {"say": said},
    ]
    goal = await way.goal(said, lead(*steps))
    asked = await way.chat.until("WebFetch", label="Deny", after=way.last)
    way.chat.phone.tap(asked, "Deny")
    await way.rested(goal.session)
    await way._until(lambda: any("\nThe lead:\n" in m.text for m in way.holding(mark)) or None)
    await way.judged(mark)
    decided = await way.decisions(goal.id)
    assert [one.partition(":")[0] for one in decided] == ["42"] * len(decided), decided
    state = way.state(goal.id)
    assert state.plan_stage in (goal_state.PlanStage.PROPOSED, goal_state.PlanStage.NONE)
    assert not isinstance(way.chat.engine.loop.state(f"ship/{goal.id}"), Ship)
    await way.chat.engine.door.stop(goal.id, cause=f"stop {goal.id}")


@pytest.mark.parametrize("name", WORKERS)
async def test_from_a_worker_it_reaches_lead_and_owner_as_a_quote_and_lands_nothing_unasked(
    way: Way, name: str
) -> None:
    mark = f"zq{way.count + 1}x"
    said = marked(TEXTS[name], mark)
    steps = [
        write("work.txt", said[:2000]),
        {"commit": "Do the work"},
        desk("done", summary=said[:1500]),
        {"stderr": _plain(said)[:2000]},
        {"exit": 1},
    ]
    goal = await way.goal("harmless", [*lead(plan({"title": "The work"})), worker(*steps)])
    for label in ("Allow", "Start"):
        card = await way.chat.until("Look around", label=label, after=way.last)
        way.chat.phone.tap(card, label)
    await way._until(lambda: mark in way.heard(goal.session) or None)
    assert unfenced(way.heard(goal.session), mark) == []
    await way.judged(mark)
    assert way.state(goal.id).review.id == ""
    await way.chat.engine.door.stop(goal.id, cause=f"stop {goal.id}")
