"""One goal that carries eight texts the whole way, through everything that may speak on it.

    the repository   settings, README, AGENTS.md, a file's name, a commit's message, a branch; its red check
                     prints the README
    its lead         asks for a tool, asks the owner, proposes a plan, speaks, puts it for review, says the diff
    its worker       asks for a command, writes, names, commits, ends: with its work done, with a question of
                     its own, or dying

Which text is said where goes on with `round`, so that in eight rounds each was everywhere. Nobody decides:
what is pressed is pressed here, and counted. Engine, bot, node and rehearsal agents are real, Telegram
alone is emulated. Neighbours: judge.py, texts.py; test_whole_way.py (once), __main__.py (every round).
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bot import backlog, text
from bot.emulator import Message
from engine import audit
from engine.rules.fenced import OUTSIDE
from engine.rules.goal_state import Goal
from engine.rules.session_state import Session, Stage
from engine.rules.ship import Ship
from tests.engine.chat import LIMIT_S, OWNER, Chat, chatting
from tests.engine.phone import Step, desk, worker, write
from tests.fakes import git
from tests.hostile.judge import offences, unfenced
from tests.hostile.texts import TEXTS, led, marked

VALUE = "vQ7kdZr41mXw9Tt8LpHs"
LABELS = frozenset(text.LABELS.values()) | {"Settings", "No"}
EACH = 8  # texts a goal carries
ENDS = ("lands", "asks", "dies")
CARRIED = [list(TEXTS)[at : at + EACH] for at in range(0, len(TEXTS), EACH)]


class Way:
    """All of it, and one scenario for whatever runs."""

    def __init__(self, chat: Chat, scenario: Path, folder: Path) -> None:
        self.chat = chat
        self._scenario = scenario
        self._folder = folder
        self._count = 0

    async def carry(self, names: Sequence[str], ends: str, *, round: int = 0) -> None:
        """Play one goal with these texts, and assert that they got nothing and look like nothing of ours."""
        self._count += 1
        way = led if round // EACH % 2 else marked
        marks = [f"zq{self._count}{chr(97 + at)}" for at in range(EACH)]
        turned = [names[(at + round) % len(names)] for at in range(EACH)]
        said = [way(TEXTS[name], mark) for name, mark in zip(turned, marks, strict=True)]
        goal, origin = await self._given(said, ends)
        before = git(origin, "for-each-ref")
        taps = await self._pressed(goal, marks, ends)
        self._judge(marks)
        seen = " ".join(map(_all, self.chat.phone.from_bot()))
        for session in (goal.session, self._state(goal.id).pieces[0].session):
            heard = self._heard(session)
            seen += heard
            assert VALUE not in heard
            task = _plain(said[6])[:3000]  # its lead's, word for word
            loose = [line for mark in marks for line in unfenced(heard.replace(task, ""), mark)]
            assert not loose, loose
        unseen = [mark for mark in marks if mark not in seen]
        assert not unseen, (unseen, turned)
        decided = await self._decisions(goal.id)
        assert set(decided) == {str(OWNER)}, decided
        assert len(decided) <= taps, decided
        assert not isinstance(self.chat.engine.loop.state(f"ship/{goal.id}"), Ship)
        assert git(origin, "for-each-ref") == before
        await self.chat.engine.door.stop(goal.id, cause=f"stop {goal.id}")

    # ------------------------------------------------------------ what speaks

    async def _given(self, said: list[str], ends: str) -> tuple[Goal, Path]:
        """Give a goal in a repository full of the texts, from the phone."""
        name = f"shop{self._count}"
        path = self._folder / name
        check = (
            f"test -f work.txt || {{ head -c 500 README.md; exit 1; }} # {_line(said[0])[:2000]}"
        )
        (path / ".quarterdeck").mkdir(parents=True)
        (path / ".quarterdeck/settings.toml").write_text(
            f"[worktree]\ncheck = {json.dumps(check)}\n"
        )
        (path / "README.md").write_text(_plain(said[1]))
        (path / "AGENTS.md").write_text(_plain(said[2]))
        (path / _file_name(said[3])).write_text("x\n")
        git(path, "init", "-q", "-b", "main")
        git(path, "add", "-A")
        git(path, "commit", "-q", "-m", _plain(said[4])[:5000])
        git(path, "branch", "b" + re.sub(r"\W+", "-", _plain(said[5]), flags=re.ASCII)[:60] + "x")
        origin = path.with_name(f"{name}-origin.git")
        git(self._folder, "clone", "-q", "--bare", str(path), str(origin))
        git(path, "remote", "add", "origin", str(origin))
        self._scenario.write_text(json.dumps({"parts": [*_lead(said), worker(*_work(said, ends))]}))
        await self.chat.engine.door.add_project(name, str(path), cause=f"project {self._count}")
        self._last = max((message.id for message in self.chat.phone.messages()), default=0)
        self.chat.phone.send(f"/new {name} Look around")
        goal: Goal = await self._until(lambda: self._newest(name))
        return goal, origin

    async def _pressed(self, goal: Goal, marks: list[str], ends: str) -> int:
        """Press what moves the goal on, never what was asked for; return how often."""
        presses = [
            ("Allow a tool?", "Deny"),
            ("Allow the project's check?", "Allow"),
            ("A plan waits for your go", "Start"),
            ("Allow a command?", "Deny"),
        ]
        for words, label in presses:
            card = await self.chat.until(words, label=label, after=self._last)
            self.chat.phone.tap(card, label)
        if ends == "lands":
            await self.chat.until("Ready for your review", label="Ship", after=self._last)
        else:
            piece = self._state(goal.id).pieces[0].session
            over = marks[5] if ends == "asks" else marks[6]
            await self._until(lambda: self._holding(over) or None)
            await self._until(lambda: self._session(piece).stage is not Stage.RUNNING or None)
        await self._until(lambda: self._session(goal.session).stage is Stage.IDLE or None)
        await self._until(lambda: self._spoken(marks[7]) or None)
        return 1 + len(presses)  # the goal itself is the first decision

    # ------------------------------------------------------------ what became of it

    def _judge(self, marks: list[str]) -> None:
        """Assert of every message with a text, as it stands, what judge.py says."""
        wrong = []
        for message in self.chat.phone.from_bot():
            for mark in marks:
                if mark in _all(message):
                    wrong += offences(
                        message.text, message.entities, message.labels, mark, ours=LABELS
                    )
        assert not wrong, wrong
        assert VALUE not in self.chat.phone.transcript()
        named = [topic.name for topic in self.chat.phone.topics()]
        assert [mark for mark in marks for name in named if mark in name] == []

    def _heard(self, session: str) -> str:
        """All that an agent was given, as its runs' orders hold it."""
        orders = sorted((self.chat.home.root / "runs").glob(f"{session}-t*/spec.json"))
        lines = [line for order in orders for line in json.loads(order.read_text())["first_lines"]]
        return "\n".join(str(json.loads(line)["message"]["content"]) for line in lines)

    async def _decisions(self, goal: str) -> list[str]:
        """Return who decided what of a goal."""
        rows = await self.chat.engine.door._ledger.decisions(0.0, goal)
        return [one.who for one in map(audit.read, rows)]

    def _holding(self, mark: str) -> list[Message]:
        return [message for message in self.chat.phone.from_bot() if mark in _all(message)]

    def _spoken(self, mark: str) -> list[Message]:
        return [one for one in self._holding(mark) if "The lead:\n" in one.text]

    def _newest(self, project: str) -> Goal | None:
        goals = self.chat.engine.loop.states("goal").values()
        return next((g for g in goals if isinstance(g, Goal) and g.project == project), None)

    async def _until(self, fact: Any) -> Any:
        return await self.chat.phone.until(fact, timeout=LIMIT_S)

    def _session(self, name: str) -> Session:
        found = self.chat.engine.loop.state(f"session/{name}")
        assert isinstance(found, Session)
        return found

    def _state(self, goal: str) -> Goal:
        found = self.chat.engine.loop.state(f"goal/{goal}")
        assert isinstance(found, Goal)
        return found


def _lead(said: list[str]) -> list[Step]:
    tool = {"tool": "WebFetch", "input": {"url": said[0][:8000], "prompt": said[1][:300]}}
    first: list[Step] = [
        {"permission": tool, "denied": []},
        desk("start_plan"),
        desk("ask_owner", question=_plain(said[2])[:1900], options=[_line(said[3])[:60], "No"]),
        desk(
            "propose_plan",
            summary=_plain(said[4])[:3000],
            pieces=[{"title": _plain(said[5])[:100], "task": _plain(said[6])[:3000], "size": "S"}],
        ),
        {"say": said[7]},
    ]
    review: list[Step] = [
        desk("diff") | {"expect": OUTSIDE, "keep": "diff"},
        desk("put_for_review", summary=_plain(said[4])[:3000]),
        {"say": "{diff}"},
    ]
    return [
        {"role": "lead", "turn": 1, "steps": first},
        {"role": "lead", "prompt": "Every piece of the plan has landed", "steps": review},
        {"role": "lead", "steps": [{"say": "Noted."}]},
    ]


def _work(said: list[str], ends: str) -> list[Step]:
    asked = {"command": said[0][:3000], "description": said[1][:300]}
    steps: list[Step] = [
        {"permission": {"tool": "Bash", "input": asked}, "denied": []},
        write(_file_name(said[2]), _plain(said[3])[:2000]),
        write("work.txt"),
        {"commit": _plain(said[4])[:2000]},
    ]
    if ends == "asks":
        ask = desk(
            "ask_owner", question=_plain(said[5])[:1900], options=[_line(said[6])[:60], "No"]
        )
        return [*steps, ask, {"say": said[7]}]
    if ends == "dies":
        return [*steps, {"say": said[5]}, {"stderr": _plain(said[6])[:2000]}, {"exit": 1}]
    return [*steps, desk("done", summary=_plain(said[5])[:1500]), {"say": said[6]}]


def _all(message: Message) -> str:
    return " ".join([message.text, *message.labels])


def _plain(said: str) -> str:
    """A text without half characters and NUL: neither the desk nor git takes them, and both say so."""
    return said.replace("\0", "").encode("utf-8", "replace").decode()


def _line(said: str) -> str:
    return " ".join(_plain(said).split())


def _file_name(said: str) -> str:
    """A file's name that holds the text, as far as a name can."""
    name = _plain(said).replace("/", "|").encode()[:200].decode("utf-8", "ignore")
    return f"{name}.txt"


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Way]:
    """One engine, bot and node for all goals, with a key in the vault that nobody may see."""
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
