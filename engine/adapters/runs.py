"""One run seen from the engine: started, followed line by line, answered, ended.

    StartRun ──> tree, setup ──> run.start ──> spool ──> follow ──> meanings ──> events of its session
    Check    ──> tree ─────────> run.start ──> spool ──> follow ──> verdict  ──> event of its teller

The spool lives on the machine and outlives us: an event is stored with the offset behind the line it
came of, so that after any restart reading goes on there (`waited_for` says which runs somebody waits
for). An agent's lines are no events, but for what a rule must know. Neighbours: machines.py (the
link), agents/ (what lines mean), engine/calls.py (the desk's calls), engine/rules/session.py.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from engine.adapters.agents import DRIVERS
from engine.adapters.agents import driver as lines
from engine.adapters.agents.driver import Driver, Memory, TurnSpec
from engine.adapters.machines import Machine, NodeRefused
from engine.codec import whole
from engine.errors import Refused, Unavailable
from engine.rules import modes
from engine.rules.effects import AnswerRun, Check, CloseRun, InterruptRun, ReplyDesk, StartRun
from engine.rules.events import (
    AnyEvent,
    AskRaised,
    LimitReached,
    Prompted,
    RequestWithdrawn,
    RunExited,
    RunRefused,
    RunStarted,
    SessionNamed,
    TurnEnded,
)
from engine.rules.fleet import Fleet
from engine.rules.goal_state import Goal
from engine.rules.project import Project
from engine.rules.session_state import Session, Stage
from engine.rules.words import HERE, Account, AskKind, CheckVerdict, Role, TurnError
from stores.ledger import Ledger

log = logging.getLogger(__name__)

CHECK_LIMIT_S = 20 * 60.0
CHECK_OUTPUT_BYTES = 64 * 1024 * 1024  # all of it is read through, to show the last lines
SETUP_STARTS = 3  # a cut-off in each, and the owner is asked
REPORT_LINES = 40
ERROR_LINES = 40
ERROR_LENGTH = 1000  # characters kept of each
LOST_S = 15.0  # by then a runner whose folder was taken away has ended (engine/node/runner.py)
LOST = "what was kept of it on its machine is gone"
ENDED = "Ended: "  # how the runner begins a note on what it ended
STRAY = 200  # characters shown of what is no line of an agent's protocol
REPLIES_KEPT = 200
MAX_LINE_BYTES = 8 * 1024 * 1024  # a longer line is not read: nothing that we need is as long
MAX_SAID = 200_000  # characters kept of an agent's last words; its spool has them all
MAX_ASKED = 1024 * 1024  # characters of a request that may be put to the owner
MAX_NESTED = 200  # brackets within brackets of one: what reads it later has less room than we

TOO_LONG = "That is too long to be put to the owner. Do it in smaller parts."

ERRORS: Mapping[str, TurnError] = {
    "": TurnError.NONE,
    "limit": TurnError.LIMIT,
    "login": TurnError.LOGIN,
    "interrupted": TurnError.INTERRUPTED,
    "budget": TurnError.AGENT,
    "turns": TurnError.AGENT,
    "model": TurnError.START,
    "api": TurnError.API,
    "resume": TurnError.RESUME,
    "exists": TurnError.RESUME,
}

Events = Sequence[tuple[str, AnyEvent]]


class Followed(Struct, frozen=True, kw_only=True):
    """A run somebody waits for, and who."""

    run: str
    stream: str  # the session, or who the verdict goes to
    machine: str = "here"
    session: str = ""  # an agent's turn; "" = a check
    agent: str = ""
    project: str = ""
    about: str = ""
    commit: str = ""
    warm: str = ""  # the session whose tree a check borrows
    branch: str = ""  # and gives back on this branch


class Post(Protocol):
    """The loop's way in."""

    async def __call__(
        self, stream: str, event: AnyEvent, cause: str, *, position: tuple[str, int] | None = None
    ) -> bool: ...


class Calls(Protocol):
    """What answers a desk call: with events to post, or at once with a text (engine/calls.py)."""

    async def __call__(
        self, session: Session, call: str, tool: str, arguments: dict[str, Any]
    ) -> Events | str: ...


class Judged(Protocol):
    """Turns the verdict of a check into the event its teller understands (engine/perform.py)."""

    async def __call__(self, followed: Followed, verdict: CheckVerdict) -> Events: ...


class Runs:
    """All runs of all machines."""

    def __init__(
        self,
        home: Path,
        machines: Mapping[str, Machine],
        ledger: Ledger,
        *,
        state: Callable[[str], Any],
        secret: Callable[[str], Awaitable[str]],
        identity: Callable[[str], Awaitable[tuple[str, str]]],
        on_doing: Callable[[str], None],
        scenario: str = "",
        uptime: Callable[[], float] = time.monotonic,
        check_limit_s: float = CHECK_LIMIT_S,
    ) -> None:
        self._home = home
        self._machines = machines
        self._ledger = ledger
        self._state = state
        self._secret = secret
        self._identity = identity
        self._on_doing = on_doing
        self._scenario = scenario
        self._uptime = uptime
        self._check_limit_s = check_limit_s
        self._drivers: Mapping[str, Driver] = DRIVERS
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._asked_again: set[str] = set()
        self._setting_up: dict[str, asyncio.Event] = {}  # set: that session is to stop
        self._doing: dict[str, str] = {}
        self._heard: dict[str, float] = {}
        self._positions: dict[str, int] = {}
        self._replies: dict[str, str] = {}
        self._group: asyncio.TaskGroup | None = None
        self._wanted: list[Followed] = []
        self.post: Post
        self.calls: Calls
        self.judged: Judged

    # ------------------------------------------------------------ following

    async def open(self) -> None:
        """Learn how far each run was read."""
        self._positions = dict(await self._ledger.positions())

    async def run(self, waited_for: Sequence[Followed]) -> None:
        """Follow every run somebody waits for, until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                for followed in (*waited_for, *self._wanted):
                    self.follow(followed)
                await asyncio.Event().wait()
            finally:
                self._group = None  # a reader that began now would be cancelled by nobody

    def follow(self, followed: Followed) -> None:
        """Read a run from where it was last read, once however often asked."""
        if followed.run in self._tasks:
            self._asked_again.add(followed.run)  # its reader may be about to find no run yet
            return
        if self._group is None:
            self._wanted.append(followed)
            return
        reading = self._follow(followed)
        try:
            self._tasks[followed.run] = self._group.create_task(reading, name=followed.run)
        except RuntimeError:  # another reader broke, and all are on their way down
            reading.close()
            raise

    def doing(self, run: str) -> str:
        """What a run's agent does now, in one line; "" if it has not said."""
        return self._doing.get(run, "")

    def answer_to(self, call: str) -> str:
        """What a desk call was answered; how it stands now if that is too long ago."""
        return self._replies.get(call, "use status to see where things stand.")

    def hear_anew(self, run: str) -> None:
        """Count the time a run has been silent from now on."""
        self._heard[run] = self._uptime()

    def silent_s(self, run: str) -> float:
        """How long a run has printed nothing."""
        now = self._uptime()
        return now - self._heard.setdefault(run, now)

    async def _follow(self, followed: Followed) -> None:
        try:
            await self._read_on(followed)
        finally:
            self._tasks.pop(followed.run, None)
            self._asked_again.discard(followed.run)

    async def _read_on(self, followed: Followed) -> None:
        reader = self._reader(followed)
        offset = self._positions.get(followed.run, 0)
        while True:
            try:
                machine = self._machine(followed.machine)
                async for chunk in machine.follow(followed.run, offset):
                    self._heard[followed.run] = self._uptime()
                    *before, last = chunk.lines or [b""]
                    # Read on from the chunk's start until its last line is stored: what comes
                    # twice has a cause that is known.
                    for line in before:
                        await reader.read(line, (followed.run, offset))
                    if await reader.read(last, (followed.run, chunk.offset)):
                        await self._ledger.forget_position(followed.run)
                        self._forget(followed.run)
                        return
                    offset = chunk.offset
            except NodeRefused as no:
                if followed.run in self._asked_again:  # started since we looked
                    self._asked_again.discard(followed.run)
                    continue
                if reader.began:
                    await self._lose(followed, reader)
                    return
                log.info("not followed run=%s: %s", followed.run, no)
                return  # not started yet: its StartRun or Check is still owed, and comes back here
            except Unavailable as away:
                log.info("link down run=%s: %s", followed.run, away.sentence)
                await asyncio.sleep(1.0)

    async def _lose(self, followed: Followed, reader: _Turn | _Checked) -> None:
        """End a run whose folder was taken away, once its runner has seen that too."""
        log.warning("run lost run=%s", followed.run)
        await asyncio.sleep(LOST_S)
        await reader.lose()
        await self._ledger.forget_position(followed.run)
        self._forget(followed.run)

    def _reader(self, followed: Followed) -> _Turn | _Checked:
        if not followed.session:
            return _Checked(self, followed)
        return _Turn(self, followed, self._drivers[followed.agent])

    def _forget(self, run: str) -> None:
        self._doing.pop(run, None)
        self._heard.pop(run, None)

    def note_doing(self, run: str, text: str) -> None:
        """Remember what an agent does now, and have its card follow."""
        text = whole(text)
        if self._doing.get(run) != text:
            self._doing[run] = text
            self._on_doing(run)

    def session(self, session_id: str) -> Session:
        """Return the session as it stands now."""
        found = self._state(f"session/{session_id}")
        return found if isinstance(found, Session) else Session(id=session_id)

    async def new_id(self, kind: str) -> str:
        (number,) = await self._ledger.take(kind)
        return f"{kind}-{number}"

    async def blob(self, followed: Followed, name: str, size: int) -> str:
        """Fetch a line that was too long for the spool; "" if it is past all reason."""
        if size > MAX_LINE_BYTES:
            return ""
        parts: list[bytes] = []
        read = 0
        while read < size:
            try:
                answer = await self._machine(followed.machine).call(
                    "run.blob", run=followed.run, name=name, offset=read, length=4 * 1024 * 1024
                )
            except NodeRefused as no:  # lost: the run itself is still there, and is read on
                log.warning("line lost run=%s: %s", followed.run, no)
                break
            part = base64.b64decode(answer["data"])
            if not part:
                break
            parts.append(part)
            read += len(part)
        return b"".join(parts).decode("utf-8", "replace")

    def _machine(self, name: str) -> Machine:
        machine = self._machines.get(name)
        if machine is None:
            raise Unavailable(f"{name}: no such machine")
        return machine

    # ------------------------------------------------------------ a turn

    async def start(self, effect: StartRun) -> Events:
        """Ready the tree and start one turn; what is in the way for good comes back as a refusal."""
        stream = f"session/{effect.session}"
        effect = replace(effect, account=self._account(effect.account))
        note = ""
        try:
            if not await self._is_started(effect.machine, effect.run):
                note = await self._start(effect)
        except Refused as no:
            return [(stream, RunRefused(run=effect.run, why=no.sentence))]
        self.follow(
            Followed(
                run=effect.run,
                stream=stream,
                machine=effect.machine,
                session=effect.session,
                agent=effect.account.agent,
            )
        )
        return [(stream, RunStarted(run=effect.run, note=note))]

    def _account(self, known: Account) -> Account:
        """The account as it is now: what kept a session from starting may have been mended since."""
        fleet = self._state("fleet")
        found = fleet.account(known.name) if isinstance(fleet, Fleet) else None
        return found if found is not None and found.agent == known.agent else known

    async def _is_started(self, machine: str, run: str) -> bool:
        """Say whether an order to start a run comes again: its tree is in use, or is others' by now."""
        found = (await self._machine(machine).call("run.list", runs=[run]))["runs"]
        return any(state["alive"] or state["exit"] is not None for state in found)

    async def _start(self, effect: StartRun) -> str:
        """Start one turn, and return what the owner should hear of its tree."""
        machine = self._machine(effect.machine)
        about = await machine.hello()
        made = await self._tree(machine, effect)
        if effect.setup and not effect.resume:
            await self._set_up(machine, effect, made)
        tree = str(made["tree"])
        driver = self._drivers.get(effect.account.agent)
        if driver is None:
            raise Refused(f"No agent called {effect.account.agent} can be driven.")
        command = self._command(effect, about)
        folder = f"{about['home']}/sessions/{effect.session}"
        fenced = bool(about["fenced"])
        secrets = {
            key: await self._secret(f"account/{effect.account.name}/{key}")
            for key in effect.account.secret_env
        }
        spec = TurnSpec(
            session_id=effect.agent_session,
            resume=effect.resume,
            role=effect.role,
            mode=modes.within_fence(effect.mode, fenced),  # type: ignore[arg-type]
            prompt=effect.prompt,
            config_dir=f"{folder}/config",
            tree=tree,
            command=command,
            model=effect.model,
            preface=effect.preface,
            desk_argv=tuple(about["desk"]),
            commands=effect.commands,
            account_env=dict(effect.account.env),
            tmp="/tmp" if fenced else f"{folder}/tmp",
        )
        launch = driver.launch(spec)
        if effect.account.config_dir and driver.login_file:
            if effect.machine != HERE:
                raise Refused(
                    f"Account {effect.account.name} is signed in with a folder of this box, which "
                    f"{effect.machine} does not see: give it a token with --secret-env instead."
                )
            await machine.call(
                "session.login",
                session=effect.session,
                source=effect.account.config_dir,
                name=driver.login_file,
            )
        view = {
            "tree": tree,
            "tree_read_only": effect.role is Role.LEAD,
            "tmp": f"{folder}/tmp",
            "config_dir": f"{folder}/config",
            "read": [*made["read"], *about["toolchains"], *self._shown(effect, command)],
        }
        await machine.call(
            "run.start",
            spec={
                "run": effect.run,
                "kind": "agent",
                "argv": list(launch.argv),
                "env": self._environment(effect, about, launch.env),
                "first_lines": list(launch.first_lines),
                "end_line": driver.end(),
                "desk": True,
                "fence": view,
            },
            secrets=secrets,
        )
        return str(made.get("note") or "")

    def _hub(self, project: str) -> Path:
        return self._home / "hub" / f"{project}.git"

    async def _tree(self, machine: Machine, effect: StartRun) -> dict[str, Any]:
        """The session's tree, on its branch, with what it may need of the hub's commits.

        Returns {"tree": path, "read": what a fence must show beside it}.
        """
        (name, email), _ = await asyncio.gather(
            self._identity(effect.project),
            self._bring(machine, effect.project, effect.commit, effect.goal),
        )
        made = await machine.call(
            "tree.make",
            project=effect.project,
            session=effect.session,
            branch="" if effect.role is Role.LEAD else effect.branch,
            commit=effect.commit,
            name=name,
            email=email,
        )
        if effect.role is Role.LEAD and not made["made"]:  # a new one is there already
            await machine.call(
                "tree.move",
                project=effect.project,
                session=effect.session,
                commit=effect.commit,
            )
        return made

    async def _set_up(self, machine: Machine, effect: StartRun, made: Mapping[str, Any]) -> None:
        """Run the project's setup in a fresh tree, before its agent sees it."""
        for start in range(1, SETUP_STARTS + 1):
            run = f"{effect.run}-setup-{start}"
            await self._run_command(machine, run, effect.setup, made)
            async with self._ended_with(effect.session, machine, run):
                verdict = await self._await_verdict(machine, run)
            if verdict.ran:  # else it was cut off, which says nothing about the project
                break
        if not verdict.passed:
            why = verdict.failure or verdict.summary
            report = verdict.report[-1500:]
            raise Refused(f"The project's setup failed in its tree: {why}\n{report}".strip())

    @asynccontextmanager
    async def _ended_with(self, session: str, machine: Machine, run: str) -> AsyncIterator[None]:
        """End a setup when its session is stopped: the order to close a run waits behind ours."""
        stream = f"session/{session}"
        stopped = self._setting_up[stream] = asyncio.Event()
        self.on_change(stream)
        ending = asyncio.create_task(self._end_once(stopped, machine, run))
        try:
            yield
        finally:
            del self._setting_up[stream]
            ending.cancel()
            await asyncio.wait([ending])

    async def _end_once(self, stopped: asyncio.Event, machine: Machine, run: str) -> None:
        await stopped.wait()
        try:
            await machine.call("run.end", run=run, grace_s=0.0)
        except (Unavailable, NodeRefused) as no:
            log.info("setup not ended run=%s: %s", run, no)

    def on_change(self, stream: str) -> None:
        """Note that a session is to stop, if its tree is being set up just now."""
        stopped = self._setting_up.get(stream)
        session = self._state(stream) if stopped is not None else None
        if stopped is not None and isinstance(session, Session) and session.stopping:
            stopped.set()

    async def _await_verdict(self, machine: Machine, run: str) -> CheckVerdict:
        reading = _Reading()
        async for chunk in machine.follow(run, 0):
            for line in chunk.lines:
                if reading.take(line):
                    return reading.verdict()
        raise Unavailable("the link to the machine ended")

    def _command(self, effect: StartRun, about: Mapping[str, Any]) -> tuple[str, ...]:
        account = effect.account
        if account.agent == "rehearsal":
            return tuple(about["rehearse"])
        if account.command and effect.machine == HERE:  # a path means nothing elsewhere
            return (account.command,)
        found = dict(about["agents"]).get(account.agent)
        if not found:
            raise Refused(
                f"{account.agent} is not installed on {effect.machine}: install it there, or name "
                "it with quarterdeck account add … --command PATH"
            )
        return (str(found),)

    def _shown(self, effect: StartRun, command: tuple[str, ...]) -> list[str]:
        """What the fence must show of the agent itself."""
        if effect.account.agent == "rehearsal":
            scenario = dict(effect.account.env).get("QUARTERDECK_SCENARIO", self._scenario)
            return [str(Path(scenario).resolve())] if scenario else []
        path = Path(command[0])
        if effect.machine != HERE:
            return [str(path.parent)]  # what it points to is among the toolchains its node named
        if not path.is_absolute() or not path.exists():
            raise Refused(
                f"{effect.account.agent} is not at {command[0]}: mend the path with quarterdeck "
                f"account add {effect.account.name} … --command PATH"
            )
        real = path.resolve()
        return list({str(path.parent), str(real.parent)})

    def _environment(
        self, effect: StartRun, about: Mapping[str, Any], laid_over: Mapping[str, str]
    ) -> dict[str, str]:
        env = {
            "PATH": str(about["path"]),
            "HOME": str(about["user_home"]),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "SHELL": "/bin/bash",
            "QUARTERDECK_ROLE": effect.role.value,
        }
        if effect.account.agent == "rehearsal" and self._scenario:
            env["QUARTERDECK_SCENARIO"] = self._scenario
        return env | dict(laid_over)

    async def answer(self, effect_id: int, effect: AnswerRun) -> Events:
        """Write the answer of one request into the run's inbox."""
        session = self.session(effect.run.rpartition("-t")[0])
        driver = self._drivers[session.account.agent]
        request = lines.Request(effect.request, effect.tool, effect.input_json)
        match effect.kind:
            case "allow":
                line = driver.allow(request)
            case "deny":
                line = driver.deny(request, effect.text or "The owner denied this.")
            case "approve":
                line = driver.approve(request, _worker_mode(session.mode))
            case "send_back":
                line = driver.send_back(request, effect.text)
            case _:
                line = driver.answer(request, dict(effect.answers))
        await self._input(effect.machine, effect.run, f"effect-{effect_id}", "line", line)
        return []

    async def reply(self, effect: ReplyDesk) -> Events:
        """Answer a desk call."""
        run, _, call = effect.call.partition("#")
        self._replies[effect.call] = effect.text
        if len(self._replies) > REPLIES_KEPT:
            del self._replies[next(iter(self._replies))]
        session = self.session(run.rpartition("-t")[0])
        data = {"call": call, "text": effect.text, "error": effect.is_error}
        await self._input(session.machine or HERE, run, f"desk-{call}", "desk", data)
        return []

    async def feed(self, followed: Followed, key: str, line: str) -> None:
        """Write one line to an agent, once for each key."""
        await self._input(followed.machine, followed.run, key, "line", line)

    async def interrupt(self, effect_id: int, effect: InterruptRun) -> Events:
        """Ask the agent to end its turn."""
        session = self.session(effect.run.rpartition("-t")[0])
        line = self._drivers[session.account.agent].interrupt()
        await self._input(effect.machine, effect.run, f"effect-{effect_id}", "line", line)
        return []

    async def close(self, effect: CloseRun) -> Events:
        """End a run; its exit comes as a line of its spool."""
        machine = self._machine(effect.machine)
        await machine.call("run.end", run=effect.run, grace_s=effect.grace_s)
        return []

    async def _input(self, machine: str, run: str, key: str, kind: str, data: object) -> None:
        try:
            await self._machine(machine).call("run.input", run=run, key=key, kind=kind, data=data)
        except NodeRefused as no:  # the run is gone: its exit tells
            log.info("not delivered run=%s: %s", run, no)

    # ------------------------------------------------------------ a check

    async def check(self, effect: Check) -> Events:
        """Start the project's command on one commit; the verdict comes when it ends."""
        machine = self._machine(effect.machine)
        followed = Followed(
            run=effect.run,
            stream=effect.teller,
            machine=effect.machine,
            project=effect.project,
            about=effect.about,
            commit=effect.commit,
            warm=effect.session,
        )
        try:
            if not await self._is_started(effect.machine, effect.run):
                await self._start_check(machine, effect)
        except NodeRefused as no:
            verdict = CheckVerdict(passed=False, ran=False, failure=str(no))
            return await self.judged(followed, verdict)
        self.follow(followed)
        return []

    async def _bring(self, machine: Machine, project: str, commit: str, goal: str) -> None:
        """Have the machine's copy hold a commit, and what the goal's base commit is made of."""
        known, begun = self._state(f"project/{project}"), self._state(f"goal/{goal}")
        await machine.bring(
            project,
            self._hub(project),
            [commit],
            base=begun.base_commit if isinstance(begun, Goal) else "",
            source=(known.push_url or known.source) if isinstance(known, Project) else "",
        )

    async def _start_check(self, machine: Machine, effect: Check) -> None:
        """Ready the tree, borrowed or fresh, and start the command in it."""
        goal = effect.teller.partition("/")[2]  # landings, ships and goals bear its id
        await self._bring(machine, effect.project, effect.commit, goal)
        if effect.session:
            made = await machine.call(
                "tree.check_out",
                project=effect.project,
                session=effect.session,
                commit=effect.commit,
            )
            command = effect.command
        else:
            made = await machine.call(
                "tree.fresh", project=effect.project, name=effect.run, commit=effect.commit
            )
            command = _both(effect.setup, effect.command)
        await self._run_command(machine, effect.run, command, made)

    async def _run_command(
        self, machine: Machine, run: str, command: str, made: Mapping[str, Any]
    ) -> None:
        """Start a command of the project's in a tree: no desk, no account, a time limit."""
        about = await machine.hello()
        folder = f"{about['home']}/sessions/{run}"
        env = {
            "PATH": str(about["path"]),
            "HOME": str(about["user_home"]),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "CI": "true",
            "TMPDIR": "/tmp" if about["fenced"] else f"{folder}/tmp",
        }
        await machine.call(
            "run.start",
            spec={
                "run": run,
                "kind": "command",
                "argv": ["/bin/sh", "-c", command],
                "env": env,
                "limit_s": self._check_limit_s,
                "max_output": CHECK_OUTPUT_BYTES,
                "fence": {
                    "tree": made["tree"],
                    "tmp": f"{folder}/tmp",
                    "read": [*made["read"], *about["toolchains"]],
                },
            },
        )

    async def give_back(self, followed: Followed) -> None:
        """Put a borrowed tree back as its worker left it, or let a fresh one go."""
        machine = self._machine(followed.machine)
        try:
            if followed.warm:
                await machine.call(
                    "tree.check_back", project=followed.project, session=followed.warm
                )
            else:
                await machine.call("tree.remove", project=followed.project, name=followed.run)
        except NodeRefused as no:
            log.warning("tree not given back run=%s: %s", followed.run, no)


def _worker_mode(mode: str) -> modes.Mode:
    """The mode an approved worker goes on in: it has just left `plan`."""
    return mode if mode in ("ask", "edit", "auto", "full") else "edit"  # type: ignore[return-value]


def _both(setup: str, command: str) -> str:
    """One shell command that sets a fresh tree up and then checks it."""
    return f"( {setup}\n) && ( {command}\n)" if setup else command


class _Turn:
    """Reads one agent's spool."""

    def __init__(self, runs: Runs, followed: Followed, agent: Driver) -> None:
        self._runs = runs
        self._followed = followed
        self._driver = agent
        self._memory = Memory()
        self._errors: deque[str] = deque(maxlen=ERROR_LINES)
        self._ended = False
        self._unknown = 0
        self._stray = ""  # the last it printed that is no line of its protocol

    @property
    def began(self) -> bool:
        """Whether the run is known to have been started."""
        session = self._runs.session(self._followed.session)
        return session.run == self._followed.run and session.stage is Stage.RUNNING

    async def lose(self) -> None:
        exited = RunExited(run=self._followed.run, code=-1, why=LOST)
        await self._runs.post(self._followed.stream, exited, f"run:{self._followed.run}:lost")

    async def read(self, raw: bytes, position: tuple[str, int]) -> bool:
        """Act on one spooled line; true once the run is over."""
        entry = _entry(raw)
        if entry is None:
            return False
        number, kind, said = entry.get("n", 0), entry.get("k"), entry.get("d")
        cause = f"run:{self._followed.run}:{number}"
        if kind == "out":
            text = str(said)
            if "blob" in entry:
                text = await self._runs.blob(
                    self._followed, str(entry["blob"]), int(entry.get("size", 0))
                )
                if not text:
                    self._runs.note_doing(self._followed.run, "printed a line too long to read")
            await self._meanings(text, cause, position)
        elif kind == "err":
            self._errors.append(str(said)[:ERROR_LENGTH])
        elif kind == "desk" and isinstance(said, dict):
            if "tool" in said:
                await self._call(said, cause, position)
            elif said.get("late"):
                await self._late(said, cause, position)
        elif kind == "exit" and isinstance(said, dict):
            await self._exit(said, cause, position)
            return True
        return False

    async def _meanings(self, text: str, cause: str, position: tuple[str, int]) -> None:
        for index, meaning in enumerate(self._read(text)):
            if isinstance(meaning, lines.Unknown) and meaning.kind == "text":
                self._stray = text.strip()[:STRAY]
            event = await self._event(meaning)
            if event is not None:
                await self._runs.post(
                    self._followed.stream, event, f"{cause}.{index}", position=position
                )

    def _read(self, text: str) -> Sequence[lines.Meaning]:
        try:
            return self._driver.read(text, self._memory)
        except RecursionError:  # brackets within brackets, by the hundred
            return (lines.Unknown("object"),)

    async def _event(self, meaning: lines.Meaning) -> AnyEvent | None:
        run = self._followed.run
        match meaning:
            case lines.Began():
                return self._began(meaning)
            case lines.Asked(input_json=asked) if len(asked) > MAX_ASKED or _is_deep(asked):
                await self._turn_down(meaning)
            case lines.Asked():
                return await self._asked(meaning)
            case lines.AskWithdrawn(request_id=request):
                return RequestWithdrawn(run=run, request=request)
            case lines.Limit(rejected=True):
                return LimitReached(
                    run=run, resets_at=float(meaning.resets_at or 0), window=meaning.window
                )
            case lines.Ended():
                self._ended = True
                return TurnEnded(
                    run=run,
                    text=meaning.text[:MAX_SAID],
                    error=meaning.error[:MAX_SAID],
                    kind=ERRORS[meaning.error_kind],
                    cost_usd=meaning.cost_usd,
                )
            case lines.Tool(brief=brief):
                self._runs.note_doing(run, brief)
            case lines.Said(text=text):
                self._runs.note_doing(run, text.strip().partition("\n")[0][:120])
            case lines.Retrying(reason=reason, attempt=attempt):
                said = f"waits for its model ({reason}), try {attempt}"
                self._runs.note_doing(run, said)
            case lines.Unknown():
                self._unknown += 1
            case _:
                pass
        return None

    def _began(self, began: lines.Began) -> SessionNamed:
        warning = self._driver.version_warning(began.version)
        if not began.desk_ok:
            warning = (
                "The agent did not reach its desk, so it can neither plan nor ask: stop it and "
                "start it again; quarterdeck doctor looks for the cause."
            )
        return SessionNamed(
            run=self._followed.run,
            agent_session=began.session_id,
            model=began.model,
            version=began.version,
            warning=warning,
        )

    async def _turn_down(self, asked: lines.Asked) -> None:
        """Say no to what nobody could read before deciding on it."""
        request = lines.Request(asked.request_id, asked.tool, "")
        line = self._driver.deny(request, TOO_LONG)
        await self._runs.feed(self._followed, f"turned-down-{asked.request_id}", line)

    async def _asked(self, asked: lines.Asked) -> AskRaised:
        return AskRaised(
            run=self._followed.run,
            ask=await self._runs.new_id("a"),
            request=asked.request_id,
            kind=AskKind(asked.kind),
            title=asked.title,
            detail=asked.detail,
            tool=asked.tool,
            input_json=asked.input_json,
            questions=asked.questions,
        )

    async def _call(self, said: Mapping[str, Any], cause: str, position: tuple[str, int]) -> None:
        """Pass a desk call on: what changes something is an event, what only reads is answered."""
        call = f"{self._followed.run}#{said.get('call')}"
        arguments = said.get("args")
        session = self._runs.session(self._followed.session)
        found = await self._runs.calls(
            session, call, str(said.get("tool")), arguments if isinstance(arguments, dict) else {}
        )
        if isinstance(found, str):
            await self._runs.reply(ReplyDesk(call=call, text=found))
            return
        for index, (stream, event) in enumerate(found):
            try:
                await self._runs.post(stream, event, f"{cause}.{index}", position=position)
            except Refused as no:
                await self._runs.reply(ReplyDesk(call=call, text=no.sentence, is_error=True))
                return
        if not any(getattr(event, "call", "") for _, event in found):
            await self._runs.reply(ReplyDesk(call=call, text="Passed on."))

    async def _late(self, said: Mapping[str, Any], cause: str, position: tuple[str, int]) -> None:
        """A call was answered "Kept" before it ran: how it went comes as a message."""
        answer = self._runs.answer_to(f"{self._followed.run}#{said.get('call')}")
        text = f"[Quarterdeck] Your call that was kept has run: {answer}"
        event = Prompted(text=text, source="news")
        await self._runs.post(self._followed.stream, event, f"{cause}.0", position=position)

    async def _exit(self, how: Mapping[str, Any], cause: str, position: tuple[str, int]) -> None:
        """A run that never told of its end may still have said why on its way out."""
        run = self._followed.run
        code = how.get("code")
        ended = self._ended or self._runs.session(self._followed.session).over is not None
        killed = how.get("signal") is not None or how.get("why") in ("cut off", "killed")
        if how.get("why") == "not started" and not ended:
            words = str(how.get("words") or "it could not be started")
            over = TurnEnded(run=run, error=words, kind=TurnError.START)
            await self._runs.post(self._followed.stream, over, f"{cause}.0")
        elif not ended and not killed and how.get("why") in ("", None):
            last = self._driver.last_words("\n".join(self._errors), code)
            kind = ERRORS[last.error_kind] if last.error_kind else TurnError.AGENT
            error = last.error or f"it ended at once without a word (exit {code})"
            if self._stray and not self._errors:
                error = f"{error} What it printed was no line of its protocol: {self._stray}"
            over = TurnEnded(run=run, error=error, kind=kind)
            await self._runs.post(self._followed.stream, over, f"{cause}.0")
        why = str(how.get("words") or how.get("why") or "")
        exited = RunExited(run=run, code=code if isinstance(code, int) else -1, why=why)
        await self._runs.post(self._followed.stream, exited, f"{cause}.1", position=position)


class _Reading:
    """Collects a command's output down to its verdict."""

    def __init__(self) -> None:
        self._tail: deque[str] = deque(maxlen=REPORT_LINES)
        self._began = 0.0
        self._over: Mapping[str, Any] | None = None
        self._at = 0.0
        self._note = ""  # the runner's own words on why it ended the command

    def take(self, raw: bytes) -> bool:
        """Read one spooled line; true once it was the last."""
        entry = _entry(raw)
        if entry is None:
            return False
        self._at = float(entry.get("t", 0.0))
        self._began = self._began or self._at
        kind, said = entry.get("k"), entry.get("d")
        if kind in ("out", "err"):
            self._tail.append(str(said)[:500])
        elif kind == "note" and str(said).startswith(ENDED):
            self._note = str(said).removeprefix(ENDED).strip().removesuffix(".")
        elif kind == "exit" and isinstance(said, dict):
            self._over = said
            return True
        return False

    def verdict(self) -> CheckVerdict:
        how = self._over or {}
        report = "\n".join(self._tail)
        took = _took(self._at - self._began)
        code = how.get("code")
        if how.get("why") in ("cut off", "not started", "killed"):
            words = str(how.get("words") or how["why"])
            return CheckVerdict(passed=False, ran=False, failure=words, report=report)
        if how.get("why"):
            why = how.get("words") or self._note or how["why"]
            summary = f"ended after {took}: {why}"
            return CheckVerdict(passed=False, summary=summary, report=report)
        if code == 0:
            return CheckVerdict(passed=True, summary=f"passed in {took}", report=report)
        ended = f"exit {code}" if code is not None else f"signal {how.get('signal')}"
        return CheckVerdict(passed=False, summary=f"{ended} after {took}", report=report)


class _Checked:
    """Reads one check's spool; nothing is posted before its end, so it is read from the start."""

    def __init__(self, runs: Runs, followed: Followed) -> None:
        self._runs = runs
        self._followed = followed
        self._reading = _Reading()
        self.began = False

    async def read(self, raw: bytes, position: tuple[str, int]) -> bool:
        """Act on one spooled line; true once the run is over."""
        self.began = True
        if not self._reading.take(raw):
            return False
        await self._tell(self._reading.verdict())
        return True

    async def lose(self) -> None:
        await self._tell(CheckVerdict(passed=False, ran=False, failure=LOST))

    async def _tell(self, verdict: CheckVerdict) -> None:
        await self._runs.give_back(self._followed)
        cause = f"run:{self._followed.run}:verdict"
        found = await self._runs.judged(self._followed, verdict)
        for index, (stream, event) in enumerate(found):
            await self._runs.post(stream, event, f"{cause}.{index}")


def _took(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 0):.0f} s"
    return f"{seconds / 60:.0f} min"


def _is_deep(text: str) -> bool:
    """Say whether some JSON is nested past all use."""
    if text.count("[") + text.count("{") <= MAX_NESTED:
        return False
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", re.sub(r'"(?:[^"\\]|\\.)*"', "", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest > MAX_NESTED


def _entry(raw: bytes) -> dict[str, Any] | None:
    """One line of a spool; None for what a torn disk left there."""
    try:
        entry = json.loads(raw)
    except (ValueError, RecursionError):  # the runner's own stack had room for more brackets
        return None
    return entry if isinstance(entry, dict) else None
