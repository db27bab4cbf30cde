"""What runs on played machines: leads, workers and checks, sensible or not, drawn from the seed.

An agent speaks Claude Code's lines and calls its desk, as engine/node/rehearse.py does, and goes on
whoever listens. `Habits` says how often what goes wrong; a story turns it up, and down to nothing for
its end. Neighbour: machine.py keeps what is printed here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from engine.rules.goal_state import Goal, PlanStage, ReviewStage
from engine.rules.plan import Stage as PieceStage
from engine.rules.silence import QUIET_S
from tests.simulation.machine import Run, SimMachine

Fields = dict[str, Any]
Inbox = dict[str, asyncio.Future[Any]]

COMMANDS = ("make lint", "make lint", "git push", "curl http://127.0.0.1:1/")


REVIEWED_AGAIN = (ReviewStage.NONE, ReviewStage.HANDED_BACK, ReviewStage.CORRECTED)


@dataclass
class Habits:
    """How often an agent does what, from 0 to 1."""

    asks: float = 0.0
    differs: float = 0.0  # calls that make no sense just then
    fails: float = 0.0
    hangs: float = 0.0
    dies: float = 0.0
    flaky: float = 0.0  # checks that are killed


class Over(Exception):
    """The turn ends here, and how was said."""


class Player:
    """One process: what it prints, and what it is told."""

    def __init__(
        self, machine: SimMachine, run: Run, work: Callable[[Player], Coroutine[Any, Any, None]]
    ) -> None:
        self.machine = machine
        self.run = run
        self.luck = Random(machine.luck.random())
        self.answers: Inbox = {}
        self.ended = asyncio.Event()
        self._calls = 0
        self._said = False
        self._steered: list[str] = []
        self._task = asyncio.ensure_future(self._live(work))

    # ------------------------------------------------------------ what it is told

    def hear(self, kind: str, data: Any) -> None:
        if kind == "desk":
            self._answer(f"call {data['call']}", data)
            return
        line = json.loads(data)
        match line:
            case {"type": "control_response", "response": response}:
                self._answer(str(response["request_id"]), response["response"])
            case {"type": "control_request", "request": {"subtype": "interrupt"}}:
                if not self._said and not self.ended.is_set():
                    self._task.cancel()
            case {"type": "control_request"}:
                self.end()
            case {"type": "user", "uuid": key}:
                self._steered.append(key)

    def _answer(self, name: str, answer: Any) -> None:
        waiting = self.answers.setdefault(name, asyncio.get_running_loop().create_future())
        if not waiting.done():
            waiting.set_result(answer)

    def end(self) -> None:
        if not self._said and not self.ended.is_set():
            self._task.cancel()
        self.ended.set()

    def stop(self) -> None:
        """Its processes are gone."""
        self.ended.set()
        if self._task is not asyncio.current_task():
            self._task.cancel()

    # ------------------------------------------------------------ what it does

    async def _live(self, work: Callable[[Player], Coroutine[Any, Any, None]]) -> None:
        try:
            await work(self)
        except Over:
            pass
        except asyncio.CancelledError:
            if self.run.over is not None:
                return
            if self.ended.is_set():
                await self._bow_out("killed")
                return
            self.result("", is_error=True, terminal_reason="aborted_streaming")
        if self.run.over is None:
            await self._bow_out("")

    async def _bow_out(self, why: str) -> None:
        """Wait to be ended, and end."""
        try:
            await self.ended.wait()
            await asyncio.sleep(self.luck.random() * 3.0)
        except asyncio.CancelledError:
            return
        self.run.exit(None if why else 0, why, self.machine.now)

    async def nap(self, most_s: float) -> None:
        """Let time pass; lines said meanwhile are read when it is over."""
        await asyncio.sleep(self.luck.random() * most_s)
        steered, self._steered = self._steered, []
        for key in steered:
            self.line(type="command_lifecycle", command_uuid=key, state="started")

    def line(self, **fields: object) -> None:
        self.run.put("out", json.dumps(fields), self.machine.now)

    def result(self, text: str, *, is_error: bool = False, **more: object) -> None:
        self._said = True
        told: Fields = {"subtype": "success", "is_error": is_error, "total_cost_usd": 0.01}
        self.line(type="result", result=text, **(told | more))

    def use(self, command: str) -> None:
        """Begin to use a tool."""
        self._calls += 1
        given = {"command": command}
        block = {"type": "tool_use", "id": f"t{self._calls}", "name": "Bash", "input": given}
        self.line(type="assistant", message={"content": [block]})

    def used(self) -> None:
        """Take the result of the last tool."""
        block = {"type": "tool_result", "tool_use_id": f"t{self._calls}", "content": "ok"}
        self.line(type="user", message={"content": [block]})

    def asks(self) -> bool:
        """Whether it waits for its owner's answer."""
        return any(name.startswith("q") and not one.done() for name, one in self.answers.items())

    def draw(self, share: float) -> bool:
        return self.luck.random() < share

    async def desk(self, tool: str, **arguments: object) -> Fields:
        self._calls += 1
        call = f"c{self._calls}"
        waiting = self.answers.setdefault(
            f"call {call}", asyncio.get_running_loop().create_future()
        )
        said = {"call": call, "tool": tool, "args": arguments}
        self.run.put("desk", said, self.machine.now)
        answer: Fields = await waiting
        return answer

    async def request(self, tool: str, given: Fields) -> Fields:
        """Ask to be allowed something, and wait for the answer."""
        self._calls += 1
        name = f"q{self._calls}"
        waiting = self.answers.setdefault(name, asyncio.get_running_loop().create_future())
        request = {"subtype": "can_use_tool", "tool_name": tool, "input": given}
        self.line(type="control_request", request_id=name, request=request)
        answer: Fields = await waiting
        return answer


class Cast:
    """Who plays what is started on a machine."""

    def __init__(self, habits: Habits, world: Callable[[], Mapping[str, Any]]) -> None:
        self._habits = habits
        self._world = world

    def __call__(self, machine: SimMachine, run: Run) -> Player:
        if not run.is_agent:
            return Player(machine, run, self._check)
        role = run.spec["env"]["QUARTERDECK_ROLE"]
        return Player(machine, run, self._lead if role == "lead" else self._worker)

    # ------------------------------------------------------------ a check

    async def _check(self, me: Player) -> None:
        tree = me.machine.trees.get(me.run.tree)
        commit = tree.checking if tree is not None else ""
        await asyncio.sleep(1.0 + me.luck.random() * 90.0)
        git = me.machine.git
        if me.draw(self._habits.flaky):
            me.run.exit(None, "cut off", me.machine.now)
            return
        after = me.machine.trees.get(me.run.tree)
        if commit and after is not None and after.checking != commit:
            git.faults.append(f"the tree under {me.run.id} was changed while it ran")
        if commit and commit not in git.red:
            git.passed.add(commit)
        me.run.exit(1 if commit in git.red else 0, "", me.machine.now)

    # ------------------------------------------------------------ turns

    async def _begin(self, me: Player) -> None:
        """Take the turn up, as the conversation the flags name, or fail to."""
        await me.nap(8.0)
        if me.draw(self._habits.dies / 4):
            me.run.exit(1, "", me.machine.now)
            raise Over
        (conversation,) = [
            word.partition("=")[2]
            for word in me.run.spec["argv"]
            if word.startswith(("--session-id=", "--resume="))
        ]
        servers = [{"name": "quarterdeck", "status": "connected"}]
        me.line(type="system", subtype="init", session_id=conversation, mcp_servers=servers)
        await me.nap(20.0)
        await self._trouble(me)

    async def _trouble(self, me: Player) -> None:
        """What may go wrong at any time."""
        habits = self._habits
        if me.draw(habits.dies):
            code, why = (None, "cut off") if me.draw(0.5) else (1, "")
            me.run.exit(code, why, me.machine.now)
            raise Over
        if me.draw(habits.hangs):
            await self._fall_silent(me)
        if me.draw(habits.fails):
            self._fail(me)
            raise Over

    async def _fall_silent(self, me: Player) -> None:
        """Print nothing for long: for good reason, or for none."""
        run = me.run
        match me.luck.randrange(8):
            case 0:  # a tool that takes hours
                me.use("make world")
                run.has_tool = True
                await asyncio.sleep(60.0 + me.luck.random() * 4 * 3600.0)
                run.has_tool = False
                me.used()
            case 1:  # a tool whose result never comes
                me.use("make")
                run.has_tool = True
                await asyncio.sleep(me.luck.random() * 1200.0)
                run.has_tool = False
                await asyncio.Event().wait()
            case 2:  # a tool that never ends
                me.use("tail -f log")
                run.has_tool = True
                await asyncio.Event().wait()
            case 3:  # its model's service is away
                for attempt in range(1, me.luck.randint(2, 40)):
                    me.line(type="system", subtype="api_retry", attempt=attempt, retry_delay_ms=6e4)
                    await asyncio.sleep(60.0)
            case 4:  # hung, with a server of an earlier tool beside it
                run.has_tool = True
                await asyncio.Event().wait()
            case 5:  # it thinks for about as long as is waited for, and asks
                await asyncio.sleep(QUIET_S - 30.0 + me.luck.random() * 60.0)
                await me.request("Bash", {"command": "git push", "description": "look"})
            case _:
                await asyncio.Event().wait()

    def _fail(self, me: Player) -> None:
        kind = me.luck.choice(("limit", "limit", "api", "login", "resume"))
        if kind == "limit":
            resets_at = me.machine.clock() + me.luck.choice((300, 1800, 6000))
            info = {"status": "rejected", "rateLimitType": "five_hour", "resetsAt": resets_at}
            me.line(type="rate_limit_event", rate_limit_info=info)
            more: Fields = {"api_error": "usage_limit_reached"}
        elif kind == "resume":
            me.result("No conversation found", is_error=True, terminal_reason="api_error")
            return
        else:
            more = {"api_error_status": 401 if kind == "login" else 529}
        me.result("It failed", is_error=True, terminal_reason="api_error", **more)

    async def _ask(self, me: Player) -> None:
        if not me.draw(self._habits.asks):
            return
        match me.luck.randrange(4):
            case 0:
                question = {"question": "Which currency?", "options": ["Euro", "Pound"]}
                await me.desk("ask_owner", **question)
            case 1:
                options = [{"label": "Euro", "description": ""}, {"label": "Pound"}]
                asked = {"question": "Which?", "header": "Which", "options": options}
                await me.request("AskUserQuestion", {"questions": [asked]})
            case _:
                command = me.luck.choice(COMMANDS)
                await me.request("Bash", {"command": command, "description": "look"})
        await me.nap(10.0)

    async def _worker(self, me: Player) -> None:
        await self._begin(me)
        await self._ask(me)
        await me.nap(200.0)
        await self._trouble(me)
        tree = me.machine.trees.get(me.run.tree)
        if tree is not None and not me.draw(self._habits.differs / 3):
            tree.head = me.machine.git.commit(tree.head)
        await me.nap(30.0)
        if not me.draw(self._habits.differs / 3):
            await me.desk("done", summary="It is there.")
        await me.nap(5.0)
        me.result("Done.")

    async def _lead(self, me: Player) -> None:
        await self._begin(me)
        await self._ask(me)
        if me.draw(self._habits.differs):
            await self._odd_call(me)
        goal = self._goal_of(me)
        for number in _of_no_use(goal) if goal is not None else ():
            await me.desk("stop_worker", piece=number, why="no use")
        goal = self._goal_of(me)
        if goal is not None and _wants_plan(goal):
            await me.nap(60.0)
            await self._propose(me)
        elif goal is not None and _has_something_to_show(goal):
            await me.nap(20.0)
            await me.desk("put_for_review", summary="It works.")
        await self._trouble(me)
        await me.nap(5.0)
        me.result("Noted.")

    def _goal_of(self, me: Player) -> Goal | None:
        session = self._world().get(f"session/{me.run.tree}")
        found = self._world().get(f"goal/{session.goal}") if session is not None else None
        return found if isinstance(found, Goal) else None

    async def _propose(self, me: Player) -> None:
        count = me.luck.randint(1, 3)
        pieces: list[Fields] = []
        for number in range(1, count + 1):
            after = [other for other in range(1, number) if me.draw(0.4)]
            title = f"Piece {number}"
            pieces.append({"title": title, "task": "Build it", "size": "S", "after": after})
        await me.desk("propose_plan", summary="In parts.", pieces=pieces)
        goal = self._goal_of(me)
        if goal is not None and goal.go == "auto" and me.draw(0.9):
            await me.desk("start_plan")

    async def _odd_call(self, me: Player) -> None:
        tool, arguments = me.luck.choice(
            (
                ("status", {}),
                ("propose_plan", {"summary": "Anew.", "pieces": [{"title": "A", "task": "B"}]}),
                ("start_plan", {}),
                ("put_for_review", {"summary": "Is it done?"}),
                ("message_worker", {"piece": 1, "text": "Hurry"}),
                ("retry_piece", {"piece": 1, "note": "again"}),
                ("stop_worker", {"piece": 2, "why": "no use"}),
                ("wake_me", {"after_minutes": 20, "why": "to look"}),
                ("diff", {}),
            )
        )
        await me.desk(tool, **arguments)


def _of_no_use(goal: Goal) -> list[int]:
    """Pieces that failed for good, or wait for one that was stopped."""
    stopped = {piece.number for piece in goal.pieces if piece.stage is PieceStage.STOPPED}
    return [
        piece.number
        for piece in goal.pieces
        if piece.stage is PieceStage.FAILED
        or (piece.stage is PieceStage.WAITING and stopped.intersection(piece.after))
    ]


def _has_something_to_show(goal: Goal) -> bool:
    landed = not goal.at_work and goal.head != goal.base_commit
    return landed and goal.review.stage in REVIEWED_AGAIN


def _wants_plan(goal: Goal) -> bool:
    """Whether a sensible lead would plan now: there is nothing to do, and nothing to show."""
    if goal.plan_stage in (PlanStage.NONE, PlanStage.DISCARDED) or goal.correcting:
        return True
    started = goal.plan_stage is PlanStage.STARTED
    return started and not goal.at_work and goal.head == goal.base_commit
