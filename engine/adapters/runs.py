"""Runs seen from the engine: started, answered, ended.

    StartRun ──> tree, setup ──> run.start ──> spool ──> following.py ──> reading.Turn ─────> events
    Check    ──> tree ─────────> run.start ──> spool ──> following.py ──> reading.Checked ──> verdict

The spool lives on the machine and outlives us. Neighbours: following.py (where each run is read on),
reading.py (what its lines mean), machines.py (the link), agents/ (what an agent is started with and
answered), engine/calls.py (the desk's calls), engine/rules/session.py.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from msgspec.structs import replace

from engine.adapters import handing, links, usage
from engine.adapters.agents import DRIVERS
from engine.adapters.agents import driver as lines
from engine.adapters.agents.driver import Driver, Kit, Steers, TurnSpec
from engine.adapters.following import Followed, Following
from engine.adapters.keyed import Keyed
from engine.adapters.machines import Machine, NodeRefused
from engine.adapters.reading import Checked, Output, Turn
from engine.adapters.spool import Damage
from engine.errors import Refused, Unavailable
from engine.night import zone_of
from engine.rules import drift, modes, news
from engine.rules.effects import (
    AnswerRun,
    Check,
    CloseRun,
    InterruptRun,
    ReplyDesk,
    StartRun,
    SteerRun,
)
from engine.rules.events import (
    AnyEvent,
    LinesUnknown,
    RunRefused,
    RunStarted,
    RunWentOn,
    SpoolDamaged,
)
from engine.rules.fleet import Fleet
from engine.rules.goal_state import Goal
from engine.rules.project import Project
from engine.rules.session_state import Session
from engine.rules.words import HERE, Account, Attachment, CheckVerdict, LeftOff, Role, TurnError
from stores.attached import Attached
from stores.ledger import Ledger

log = logging.getLogger(__name__)

CHECK_LIMIT_S = 20 * 60.0
CHECK_OUTPUT_BYTES = 64 * 1024 * 1024  # all of it is read through, to show the last lines
SETUP_STARTS = 3  # a cut-off in each, and the owner is asked
REPLIES_KEPT = 200
MAX_LINE_BYTES = 8 * 1024 * 1024  # a longer line is not read: nothing that we need is as long

Events = Sequence[tuple[str, AnyEvent]]


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


class KeyedValues(Protocol):
    """Values of the vault by their names, for a command there (engine/requests/keys.py).

    used   a run is given them now; else they are to be taken out of what it printed, where still known
    raises Refused, if used, for one that is not there, or not for there
    """

    async def __call__(
        self, names: Sequence[str], project: str, machine: str, *, used: bool
    ) -> dict[str, str]: ...


class Kits(Protocol):
    """Lays what its owner trusted of a repository for a session (engine/adapters/kits.py)."""

    async def __call__(
        self, machine: Machine, effect: StartRun, about: Mapping[str, Any]
    ) -> Kit: ...


class Judged(Protocol):
    """Turns the verdict of a check into the event its teller understands (engine/perform.py)."""

    async def __call__(self, followed: Followed, verdict: CheckVerdict) -> Events: ...


class SignedOut(Refused):
    """An account has nothing to sign in with: its owner acts, and all its runs wait."""


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
        keys: KeyedValues,
        identity: Callable[[str], Awaitable[tuple[str, str]]],
        on_doing: Callable[[str], None],
        scenario: str = "",
        uptime: Callable[[], float] = time.monotonic,
        clock: Callable[[], float] = time.time,
        check_limit_s: float = CHECK_LIMIT_S,
    ) -> None:
        self._home = home
        self._attached = Attached(home / "attached")
        self._machines = machines
        self._ledger = ledger
        self._state = state
        self._secret = secret
        self.keys = keys
        self._identity = identity
        self._scenario = scenario
        self._check_limit_s = check_limit_s
        self._clock = clock
        self._drivers: Mapping[str, Driver] = DRIVERS
        self._setting_up: dict[str, asyncio.Event] = {}  # set: that session is to stop
        self._replies: dict[str, str] = {}
        self.following = Following(
            ledger, machine=self._machine, reader=self._reader, on_doing=on_doing, uptime=uptime
        )
        self.post: Post
        self.calls: Calls
        self.judged: Judged
        self.kits: Kits

    def _reader(self, followed: Followed) -> Turn | Checked | Keyed:
        if followed.keys:
            return Keyed(self, followed)
        if not followed.session:
            return Checked(self, followed)
        return Turn(self, followed, self._drivers[followed.agent])

    async def left_off(self, run: str) -> LeftOff:
        """How far a run's agent has got: the tools it has open, and what it said last."""
        reader = self.following.reader(run)
        return await reader.left_off() if isinstance(reader, Turn) else LeftOff()

    def now(self) -> float:
        return self._clock()

    def machine(self, name: str) -> Machine:
        """Return the machine of that name; raises Unavailable if there is none."""
        return self._machine(name)

    def answer_to(self, call: str) -> str:
        """What a desk call was answered; how it stands now if that is too long ago."""
        return self._replies.get(call, "use status to see where things stand.")

    def ports(self, project: str) -> list[int]:
        """Return the ports of their machine that a project's runs may reach."""
        found = self._state(f"project/{project}")
        return list(found.ports) if isinstance(found, Project) else []

    def session(self, session_id: str) -> Session:
        """Return the session as it stands now."""
        found = self._state(f"session/{session_id}")
        return found if isinstance(found, Session) else Session(id=session_id)

    async def note_use(self, followed: Followed, limit: lines.Limit, cause: str) -> None:
        """Tell the fleet where a window of the account stands, if that is new."""
        fleet = self._state("fleet")
        windows = fleet.windows if isinstance(fleet, Fleet) else ()
        zone = zone_of(self._state("owner"))
        account = self.session(followed.session).account.name
        told = usage.used(limit, account, windows, self._clock(), zone) if account else None
        if told is None:
            return
        try:
            await self.post("fleet", told, cause)
        except Unavailable as aside:  # the turn's own lines matter more
            log.warning("use not noted run=%s: %s", followed.run, aside.sentence)

    async def note_drift(
        self, followed: Followed, version: str, kinds: Mapping[str, int], cause: str
    ) -> None:
        """Tell the fleet of the kinds of line of an agent that nobody here knows, if that is new."""
        if not kinds:
            return
        log.warning("unknown lines run=%s version=%s kinds=%s", followed.run, version, dict(kinds))
        told = LinesUnknown(
            agent=followed.agent,
            version=version,
            kinds=tuple(kinds),
            goal=self.session(followed.session).goal,
        )
        fleet = self._state("fleet")
        known = fleet.drifts if isinstance(fleet, Fleet) else ()
        if drift.noted(known, told)[0] != known:
            await self.post("fleet", told, cause)

    async def note_damage(self, followed: Followed, damage: Damage, cause: str) -> None:
        """Tell the fleet of what could not be read of a run, if there was any."""
        if not damage.lines:
            return
        log.warning("damaged run=%s lines=%d bytes=%d", followed.run, damage.lines, damage.size)
        told = SpoolDamaged(
            machine=followed.machine,
            run=followed.run,
            lines=damage.lines,
            size=damage.size,
            goal=self.session(followed.session).goal,
        )
        await self.post("fleet", told, cause)

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
        note = uncopied = ""
        try:
            if not await self.is_started(effect.machine, effect.run):
                note, uncopied = await self._start(effect)
        except SignedOut as no:
            refused = RunRefused(run=effect.run, why=no.sentence, kind=TurnError.LOGIN)
            return [(stream, refused)]
        except Refused as no:
            return [(stream, RunRefused(run=effect.run, why=no.sentence))]
        self.following.follow(
            Followed(
                run=effect.run,
                stream=stream,
                machine=effect.machine,
                session=effect.session,
                agent=effect.account.agent,
            )
        )
        self.following.hear_anew(effect.run)
        return [(stream, RunStarted(run=effect.run, note=note, uncopied=uncopied))]

    def _account(self, known: Account) -> Account:
        """The account as it is now: what kept a session from starting may have been mended since."""
        fleet = self._state("fleet")
        found = fleet.account(known.name) if isinstance(fleet, Fleet) else None
        return found if found is not None and found.agent == known.agent else known

    def is_fenced(self, name: str) -> bool:
        """Whether agents on a machine run in a fence, as its node said last."""
        fleet = self._state("fleet")
        known = fleet.machine(name) if isinstance(fleet, Fleet) else None
        return known is not None and known.fenced

    def agents_on(self, name: str) -> int:
        """How many agents have a place on a machine."""
        fleet = self._state("fleet")
        running = fleet.running if isinstance(fleet, Fleet) else ()
        return sum(slot.machine == name for slot in running)

    async def is_started(self, machine: str, run: str) -> bool:
        """Say whether an order to start a run comes again: its tree is in use, or is others' by now."""
        found = (await self._machine(machine).call("run.list", runs=[run]))["runs"]
        return any(state["alive"] or state["exit"] is not None for state in found)

    async def _start(self, effect: StartRun) -> tuple[str, str]:
        """Start one turn; return what the owner should hear of its tree, and what that lacks."""
        machine = self._machine(effect.machine)
        about = await machine.hello()
        await self._be_alone(machine, effect)
        made = await self._tree(machine, effect)
        uncopied = await self._fill(machine, effect) if not effect.resume else ""
        if effect.setup and not effect.resume:
            await self._set_up(machine, effect, made)
        tree = str(made["tree"])
        driver = self._drivers.get(effect.account.agent)
        if driver is None:
            raise Refused(f"No agent called {effect.account.agent} can be driven.")
        command = self._command(effect, about)
        folder = f"{about['home']}/sessions/{effect.session}"
        fenced = bool(about["fenced"])
        gone = await handing.bring(machine, effect.session, effect.files, self._attached)
        secrets = await self._secrets_of(effect.account)
        kit = await self.kits(machine, effect, about)
        spec = TurnSpec(
            session_id=effect.agent_session,
            resume=effect.resume,
            role=effect.role,
            mode=modes.within_fence(effect.mode, fenced),  # type: ignore[arg-type]
            prompt=news.with_files(
                effect.prompt,
                f"{folder}/files",
                effect.sent,
                gone,
                of_goal=effect.role is Role.WORKER and not effect.resume,
            ),
            config_dir=f"{folder}/config",
            tree=tree,
            command=command,
            model=effect.model,
            preface=effect.preface,
            desk_argv=tuple(about["desk"]),
            commands=effect.commands,
            account_env=dict(effect.account.env),
            tmp="/tmp" if fenced else f"{folder}/tmp",
            files=f"{folder}/files",
            kit=kit,
        )
        launch = driver.launch(spec)
        if effect.account.config_dir and driver.login_file:
            if effect.machine != HERE:
                raise Refused(
                    f"Account {effect.account.name} is signed in with a folder of this box, which "
                    f"{effect.machine} does not see: give it a token with --secret-env instead."
                )
            try:
                await machine.call(
                    "session.login",
                    session=effect.session,
                    source=effect.account.config_dir,
                    name=driver.login_file,
                )
            except NodeRefused as no:
                raise SignedOut(no.sentence) from no
        view = {
            "tree": tree,
            "tree_read_only": effect.role is Role.LEAD,
            "tmp": f"{folder}/tmp",
            "config_dir": f"{folder}/config",
            "files": f"{folder}/files",
            "ports": self.ports(effect.project),
            "read": [*made["read"], *about["toolchains"], *self._shown(effect, command)]
            + ([kit.folder] if kit.folder else []),
        }
        await machine.call(
            "run.start",
            spec={
                "run": effect.run,
                "session": effect.session,
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
        return str(made.get("note") or ""), uncopied

    async def _secrets_of(self, account: Account) -> dict[str, str]:
        try:
            return {
                key: await self._secret(f"account/{account.name}/{key}")
                for key in account.secret_env
            }
        except Refused as no:
            raise SignedOut(no.sentence) from no

    async def _be_alone(self, machine: Machine, effect: StartRun) -> None:
        """See that no process of an earlier turn is left: a session has one writer, and one tree."""
        if effect.run.endswith("-t1"):
            return
        answer = await machine.call("run.alone", session=effect.session, run=effect.run)
        if answer["left"]:
            waits = f"waits: a process of its last turn ({answer['left'][0]}) does not end"
            self.following.note_doing(effect.run, waits)
            raise Unavailable(f"{effect.machine}: {waits}")
        if self.following.doing(effect.run):
            self.following.note_doing(effect.run, "")

    def _hub(self, project: str) -> Path:
        return self._home / "hub" / f"{project}.git"

    async def _tree(self, machine: Machine, effect: StartRun) -> dict[str, Any]:
        """The session's tree, on its branch, with what it may need of the hub's commits.

        Returns {"tree": path, "read": what a fence must show beside it}.
        """
        (name, email), _ = await asyncio.gather(
            self._identity(effect.project),
            self.bring(machine, effect.project, effect.commit, effect.goal),
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

    async def _fill(self, machine: Machine, effect: StartRun) -> str:
        """Copy into a fresh tree what git does not keep; return what could not be copied."""
        if not effect.copy:
            return ""
        known = self._state(f"project/{effect.project}")
        source = known.source if isinstance(known, Project) and effect.machine == HERE else ""
        if not source.startswith("/"):  # an address: then from a tree that was set up
            source = ""
        try:
            filled = await machine.call(
                "tree.fill",
                project=effect.project,
                session=effect.session,
                paths=list(effect.copy),
                source=source,
            )
        except NodeRefused as no:
            return no.sentence
        return str(filled["note"])

    async def _set_up(self, machine: Machine, effect: StartRun, made: Mapping[str, Any]) -> None:
        """Run the project's setup in a fresh tree, before its agent sees it."""
        for start in range(1, SETUP_STARTS + 1):
            run = f"{effect.run}-setup-{start}"
            await self._run_command(machine, effect.project, run, effect.setup, made)
            async with self._ended_with(effect.session, machine, run):
                verdict = await self._await_verdict(machine, run)
            if verdict.ran:  # else it was cut off, which says nothing about the project
                break
        if not verdict.passed:
            why = verdict.failure or verdict.summary
            report = verdict.report[-1500:]
            raise Refused(f"The project's setup failed in its tree: {why}\n{report}".strip())
        if effect.copy:
            await machine.call("tree.set_up", project=effect.project, session=effect.session)

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
        reading = Output()
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
        return links.folders(path)

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
        if effect.files:
            effect = await self._with_files(session.id, effect)
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

    async def _with_files(self, session: str, effect: AnswerRun) -> AnswerRun:
        """Bring what came with an answer, and say in it where that lies."""
        along = await self._along(session, effect.machine, effect.files)
        if not effect.answers:
            return replace(effect, text=along(effect.text))
        *before, (question, answer) = effect.answers
        return replace(
            effect, text=along(effect.text), answers=(*before, (question, along(answer)))
        )

    async def _along(
        self, session: str, name: str, files: tuple[Attachment, ...]
    ) -> Callable[[str], str]:
        """Bring files into a running turn, whose fence shows the folder; return what names them."""
        machine = self._machine(name)
        folder = f"{(await machine.hello())['home']}/sessions/{session}/files"
        gone = await handing.bring(machine, session, files, self._attached)
        return lambda text: news.with_files(text, folder, files, gone)

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

    async def steer(self, effect_id: int, effect: SteerRun) -> Events:
        """Say something to an agent in the middle of its turn."""
        session = self.session(effect.run.rpartition("-t")[0])
        driver = self._drivers[session.account.agent]
        if not isinstance(driver, Steers):
            raise Refused(f"{driver.name} hears nothing in the middle of a turn.")
        text = effect.text
        if effect.files:
            text = (await self._along(session.id, effect.machine, effect.files))(text)
        line = driver.steer(text, effect.key)
        await self._input(effect.machine, effect.run, f"effect-{effect_id}", "line", line)
        return []

    async def close(self, effect: CloseRun) -> Events:
        """End a run; its exit comes as a line of its spool."""
        machine, asked = self._machine(effect.machine), {"grace_s": effect.grace_s}
        if effect.unless_past:
            asked["unless_past"] = effect.unless_past
        answer = await machine.call("run.end", run=effect.run, **asked)
        if not answer.get("went_on"):
            return []
        stream = f"session/{effect.run.rpartition('-t')[0]}"
        return [(stream, RunWentOn(run=effect.run))]

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
            if not await self.is_started(effect.machine, effect.run):
                await self._start_check(machine, effect)
        except NodeRefused as no:
            verdict = CheckVerdict(passed=False, ran=False, failure=str(no))
            return await self.judged(followed, verdict)
        self.following.follow(followed)
        return []

    async def bring(self, machine: Machine, project: str, commit: str, goal: str) -> None:
        """Have the machine's copy hold a commit, what it must be joined with, and the base."""
        known, begun = self._state(f"project/{project}"), self._state(f"goal/{goal}")
        also = [begun.moved_base] if isinstance(begun, Goal) and begun.moved_base else []
        await machine.bring(
            project,
            self._hub(project),
            [commit, *also],
            base=begun.base_commit if isinstance(begun, Goal) else "",
            source=(known.push_url or known.source) if isinstance(known, Project) else "",
        )

    async def _start_check(self, machine: Machine, effect: Check) -> None:
        """Ready the tree, borrowed or fresh, and start the command in it."""
        goal = effect.teller.partition("/")[2]  # landings, ships and goals bear its id
        await self.bring(machine, effect.project, effect.commit, goal)
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
        await self._run_command(machine, effect.project, effect.run, command, made)

    async def _run_command(
        self, machine: Machine, project: str, run: str, command: str, made: Mapping[str, Any]
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
                    "ports": self.ports(project),
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
