"""Effects -> adapters: what each order of a rule means outside, and the events that come of it.

One `match`, so that any effect is one hop from who does it: git to engine/adapters/hub.py, runs and
checks to engine/adapters/runs.py, trees to the machine's node: that of the session whose tree it is.
Every order may come again under the same id after a crash, and finds its work done. What the outside refuses for good becomes `GaveUp` of
the stream that asked; what does not answer is raised as Unavailable, and the loop asks again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from msgspec.structs import replace

from engine.adapters import keyed, kits, settings, silent, taking_in
from engine.adapters.following import Followed
from engine.adapters.hub import Hub
from engine.adapters.machines import Machine, NodeRefused
from engine.adapters.runs import Runs
from engine.board import World
from engine.errors import KeyShut, NoRoom, Refused, Unavailable
from engine.night import morning_at
from engine.rules import landing, names, session_state, ship
from engine.rules.effects import (
    AfterLimit,
    AnswerRun,
    AnyEffect,
    Check,
    CloseRun,
    Collect,
    InterruptRun,
    Judge,
    KeepTree,
    Land,
    Merge,
    Push,
    ReadBase,
    ReplyDesk,
    RunKeyed,
    StartRun,
    SteerRun,
    TakeIn,
    TakeRemote,
    TidyBranch,
    Watch,
)
from engine.rules.events import (
    AnyEvent,
    BaseChecked,
    BaseRead,
    Checked,
    GaveUp,
    Landed,
    LimitOver,
    Merged,
    PieceCollected,
    PushDone,
    ReviewJudged,
    RunQuiet,
    ShipChecked,
    ShipTaken,
    TreeKept,
)
from engine.rules.fleet import Fleet
from engine.rules.goal_state import Goal, ReviewStage
from engine.rules.landing import Landing
from engine.rules.owner import Owner
from engine.rules.project import Project
from engine.rules.session_state import Session
from engine.rules.ship import Ship
from engine.rules.words import HERE, CheckVerdict, Collected, Command

Events = Sequence[tuple[str, AnyEvent]]

AGAIN = "-again"
PERHAPS = "Whether it arrived there is not known; Proceed looks, and pushes nothing twice."
RESTORED = "This was to be pushed when the backup was taken that all here was restored from. "
Borrowing = TypeVar("Borrowing", Check, CloseRun)

NO_CHECK = CheckVerdict(passed=True, ran=False, summary="no check")


class Performer:
    """Acts for the loop.

    owed_then   effects up to this number were owed in the backup we are restored from
    """

    def __init__(
        self,
        hub: Hub,
        runs: Runs,
        machines: Mapping[str, Machine],
        world: Callable[[], World],
        clock: Callable[[], float] = time.time,
        *,
        owed_then: int = 0,
    ) -> None:
        self._hub = hub
        self._runs = runs
        self._machines = machines
        self._world = world
        self._clock = clock
        self._owed_then = owed_then

    async def __call__(self, effect_id: int, stream: str, effect: AnyEffect) -> Events:
        """Do what is ordered and return the events that came of it."""
        try:
            if isinstance(effect, Push) and effect_id <= self._owed_then:
                raise Refused(f"{RESTORED}{PERHAPS}")
            if isinstance(effect, RunKeyed) and effect_id <= self._owed_then:
                raise Refused("it was to be run when the backup was taken that all here is from")
            return await self._do(effect_id, stream, effect)
        except Refused as no:
            about = getattr(effect, "piece", "") or getattr(effect, "run", "")
            gave_up = GaveUp(
                effect=type(effect).__name__,
                why=no.sentence,
                about=about,
                untried=isinstance(no, KeyShut),
            )
            return [(stream, gave_up)]

    async def _do(self, effect_id: int, stream: str, effect: AnyEffect) -> Events:
        match effect:
            case ReadBase():
                return await self._read_base(effect)
            case TakeIn():
                return [(stream, await taking_in.take_in(self._hub, effect))]
            case Collect():
                return await self._collect(effect)
            case Merge():
                return await self._merge(effect)
            case Land():
                return await self._land(effect)
            case Judge():
                return await self._judge(effect)
            case TakeRemote():
                return await self._take_remote(effect)
            case Push():
                return await self._push(effect)
            case TidyBranch():
                await self._hub.tidy(effect.project, effect.branch, effect.landed_in)
                return []
            case KeepTree():
                return await self._keep_tree(effect)
            case Check():
                return await self._runs.check(self._where_its_tree_is(effect))
            case StartRun():
                return await self._runs.start(effect)
            case RunKeyed():
                where = machine_of(self._world(), effect.session)
                return await keyed.start(self._runs, effect, where)
            case AnswerRun():
                return await self._runs.answer(effect_id, effect)
            case ReplyDesk():
                return await self._runs.reply(effect)
            case SteerRun():
                return await self._runs.steer(effect_id, effect)
            case InterruptRun():
                return await self._runs.interrupt(effect_id, effect)
            case CloseRun():
                return await self._runs.close(self._where_its_tree_is(effect))
            case AfterLimit():
                return await self._after_limit(effect)
            case Watch(run=run, session=session):
                return [(f"session/{session}", await self._silence(run, session))]
            case _:
                raise TypeError(f"the loop performs {type(effect).__name__} itself")

    async def _silence(self, run: str, session: str) -> RunQuiet:
        name = machine_of(self._world(), session)
        machine = self._machines.get(name)
        if machine is None or self._is_down(name):
            return silent.link_is_silent(self._runs, run)
        return await silent.look(self._runs, machine, run)

    async def _after_limit(self, effect: AfterLimit) -> Events:
        owner = self._world().get("owner")
        known = owner if isinstance(owner, Owner) else Owner()
        over = LimitOver(
            session=effect.session,
            account=effect.account,
            default=known.after_limit,
            morning_at=morning_at(self._clock(), known.zone, known.quiet),
            ask=await self._runs.new_id("a"),
        )
        return [(f"goal/{effect.goal}", over)]

    # ------------------------------------------------------------ what is needed to know

    def _project(self, name: str) -> Project:
        project = self._world().get(f"project/{name}")
        if not isinstance(project, Project):
            raise Refused(f"There is no project {name}.")
        return project

    def _goal(self, goal_id: str) -> Goal:
        goal = self._world().get(f"goal/{goal_id}")
        if not isinstance(goal, Goal):
            raise Refused(f"There is no goal {goal_id}.")
        return goal

    def _machine(self, name: str) -> Machine:
        machine = self._machines.get(name)
        if machine is None:
            raise Unavailable(f"{name}: no such machine")
        return machine

    def _is_down(self, machine: str) -> bool:
        fleet = self._world().get("fleet")
        known = fleet.machine(machine) if isinstance(fleet, Fleet) else None
        return known is not None and not known.up

    def _where_its_tree_is(self, effect: Borrowing) -> Borrowing:
        """Put an order about a session's tree to the machine that tree is on."""
        if not effect.session:
            return effect
        return replace(effect, machine=machine_of(self._world(), effect.session))

    def _target(self, goal_id: str, project: Project) -> tuple[str, str]:
        """Where a goal is pushed: the address, and the branch there."""
        if project.push_url:
            return project.push_url, self._goal(goal_id).base
        return project.source, names.shipped_branch(goal_id)

    # ------------------------------------------------------------ git

    async def _read_base(self, effect: ReadBase) -> Events:
        project = self._project(effect.project)
        try:
            base_commit = await self._hub.bring(effect.project, project.source, effect.base)
        except NoRoom:
            raise
        except Unavailable as away:  # a card with Retry says more than a goal that does not begin
            raise Refused(away.sentence) from away
        branch = await self._hub.begin(effect.project, effect.goal, base_commit, effect.title)
        found = await settings.read(self._hub, effect.project, base_commit)
        commands = found.commands
        by_owner = bool(project.check) and not any(c.kind == "check" for c in commands)
        if by_owner:
            commands = (*commands, Command("check", project.check))
        brought = await kits.read(self._hub, effect.project, base_commit)
        if brought.command is not None:
            commands = (*commands, brought.command)
        asks = [await self._runs.new_id("a") for _ in commands]
        read = BaseRead(
            base_commit=base_commit,
            branch=branch,
            commands=commands,
            asks=tuple(asks),
            settings_from=found.path,
            check_by_owner=by_owner,
            note=" ".join(filter(None, (found.note, brought.note))),
        )
        return [(f"goal/{effect.goal}", read)]

    async def _collect(self, effect: Collect) -> Events:
        machine = self._machine(machine_of(self._world(), effect.session))
        stream = f"goal/{effect.goal}"
        try:
            answer = await machine.call(
                "tree.collect",
                project=effect.project,
                session=effect.session,
                branch=effect.branch,
                base=effect.base,
            )
        except NodeRefused as no:
            failed = Collected(failure=no.sentence)
            return [(stream, PieceCollected(piece=effect.piece, found=failed))]
        found = Collected(
            head=answer["head"],
            commits=int(answer["commits"]),
            dirty=tuple(answer["dirty"]),
            failure=answer.get("failure", ""),
        )
        if found.commits and not found.dirty and not found.failure:
            async with machine.serving(effect.project, effect.session) as (serve, tree):
                taken = await self._hub.collect(
                    effect.project, effect.piece, effect.branch, serve, tree, found.head
                )
            if taken.failure:
                found = Collected(failure=taken.failure)
        return [(stream, PieceCollected(piece=effect.piece, found=found))]

    async def _merge(self, effect: Merge) -> Events:
        branch = self._goal(effect.goal).branch
        message = f"Land {effect.title}\n"
        made = await self._hub.merge(effect.project, branch, effect.commit, message)
        failure, conflict = made.failure, bool(made.conflict_paths)
        if conflict:
            failure = f"conflict in {', '.join(made.conflict_paths[:10])}"
        merged = Merged(
            piece=effect.piece,
            commit=made.commit,
            onto=made.onto,
            failure=failure,
            conflict=conflict,
        )
        return [(f"landing/{effect.goal}", merged)]

    async def _land(self, effect: Land) -> Events:
        branch = self._goal(effect.goal).branch
        done = await self._hub.land(effect.project, branch, effect.commit, effect.onto)
        head = effect.commit if done else await self._hub.head(effect.project, branch)
        landed = Landed(piece=effect.piece, commit=effect.commit, head=head, moved=not done)
        return [(f"landing/{effect.goal}", landed)]

    async def _judge(self, effect: Judge) -> Events:
        if effect.check:
            check = Check(
                run=judge_run(effect.review, effect.head),
                project=effect.project,
                commit=effect.head,
                command=effect.check,
                setup=effect.setup,
                teller=f"goal/{effect.goal}",
                about=effect.review,
            )
            return await self._runs.check(check)
        return await self._judged(effect.goal, effect.review, NO_CHECK)

    async def _judged(self, goal_id: str, review: str, verdict: CheckVerdict) -> Events:
        goal = self._goal(goal_id)
        base, head = goal.base_commit, goal.review.head
        judged = ReviewJudged(
            review=review,
            head=head,
            stats=await self._hub.stats(goal.project, base, head),
            verdict=verdict,
            risks=await self._hub.risks(goal.project, base, head),
        )
        return [(goal.stream, judged)]

    async def _take_remote(self, effect: TakeRemote) -> Events:
        project = self._project(effect.project)
        url, branch = self._target(effect.goal, project)
        message = f"Take {branch} in\n"
        try:
            taken = await self._hub.take_remote(effect.project, url, branch, effect.head, message)
        except NoRoom:
            raise
        except Unavailable as away:  # the owner is there and may press Proceed again
            raise Refused(away.sentence) from away
        failure = taken.failure
        if taken.conflict_paths:
            listed = ", ".join(taken.conflict_paths[:10])
            failure = f"{branch} moved, and what is new there conflicts in {listed}"
        event = ShipTaken(
            remote_head=taken.remote_head,
            commit=taken.commit,
            beside=await self._beside(effect, taken.remote_head),
            moved=taken.moved,
            failure=failure,
            conflict=bool(taken.conflict_paths),
        )
        return [(f"ship/{effect.goal}", event)]

    async def _beside(self, effect: TakeRemote, remote_head: str) -> int:
        """Count the owner's own commits that a push would take along, below the goal's base."""
        if not remote_head:
            return 0
        return (await self._hub.stats(effect.project, remote_head, effect.base_commit)).commits

    async def _push(self, effect: Push) -> Events:
        project = self._project(effect.project)
        url, branch = self._target(effect.goal, project)
        try:
            pushed = await self._hub.push(
                effect.project, url, branch, effect.commit, effect.expected
            )
        except NoRoom:
            raise
        except Unavailable as away:
            raise Refused(f"{away.sentence}\n{PERHAPS}") from away
        done = PushDone(
            commit=effect.commit,
            where=pushed.where,
            landed=pushed.landed,
            moved=pushed.moved,
            words=pushed.words,
        )
        return [(f"ship/{effect.goal}", done)]

    async def _keep_tree(self, effect: KeepTree) -> Events:
        session = self._world().get(f"session/{effect.session}")
        name = machine_of(self._world(), effect.session)
        machine = self._machine(name)
        if isinstance(session, Session) and (session.live or session.keyed or _starts(session)):
            await machine.hello()  # Unreachable: then it takes as long as that does
            raise Unavailable(f"{effect.session} is still ending", retry_after_s=2.0)
        try:
            kept = await machine.call("tree.keep", project=effect.project, session=effect.session)
        except NodeRefused:  # it never had a tree
            return []
        rescue, note = str(kept.get("rescue") or ""), str(kept.get("note") or "")
        if rescue and name != HERE:
            rescue = f"{rescue} of the copy on {name}"
        if not isinstance(session, Session) or not (rescue or note):
            return []
        return [(f"goal/{session.goal}", TreeKept(session=session.id, rescue=rescue, note=note))]

    # ------------------------------------------------------------ checks that ended

    async def judged(self, followed: Followed, verdict: CheckVerdict) -> Events:
        """Turn a check's verdict into the event its teller understands.

        One that could not be judged, as when its process was killed, is run once more.
        """
        kind, _, name = followed.stream.partition("/")
        if kind == "landing":  # counts for itself
            checked = Checked(piece=followed.about, commit=followed.commit, verdict=verdict)
            return [(followed.stream, checked)]
        if verdict.failure and not followed.run.endswith(AGAIN):
            return await self._check_again(followed)
        if kind == "ship":
            return [(followed.stream, ShipChecked(commit=followed.commit, verdict=verdict))]
        if followed.about == "base":
            return [(followed.stream, BaseChecked(verdict=verdict))]
        return await self._judged(name, followed.about, verdict)

    async def _check_again(self, followed: Followed) -> Events:
        name = followed.stream.partition("/")[2]
        state = self._world().get(followed.stream)
        if isinstance(state, Ship):
            command, setup = state.check, state.setup
        else:
            goal = self._goal(name)
            command, setup = goal.command("check"), goal.command("setup")
        check = Check(
            run=f"{followed.run}{AGAIN}",
            project=followed.project,
            commit=followed.commit,
            command=command,
            setup=setup,
            teller=followed.stream,
            about=followed.about,
            machine=followed.machine,
        )
        return await self._runs.check(check)


def _starts(session: Session) -> bool:
    """Say whether a turn may still begin, since its stop was not heard yet."""
    return session.stage is session_state.Stage.WANTING and not session.final


def machine_of(world: World, session_id: str) -> str:
    """The machine a session runs on, and its tree is on; here before it ran."""
    session = world.get(f"session/{session_id}")
    return (session.machine if isinstance(session, Session) else "") or HERE


def judge_run(review: str, head: str) -> str:
    """The id of the check that judges a review."""
    return f"check-{review}-{head[:12]}"


def waited_for(world: World) -> list[Followed]:
    """Every run somebody waits for, as their states tell: what to follow after a start."""
    found: list[Followed] = []
    for stream, state in world.items():
        match state:
            case Session():
                found.extend(_of_session(stream, state))
            case Landing(current=entry) if entry and entry.stage is landing.Stage.CHECKING:
                found.append(
                    Followed(
                        run=landing.check_run(entry),
                        stream=stream,
                        machine=machine_of(world, entry.session),
                        project=entry.project,
                        about=entry.piece,
                        commit=entry.merged,
                        warm=entry.session,
                    )
                )
            case Ship() if state.stage is ship.Stage.CHECKING:
                found.append(
                    Followed(
                        run=ship.check_run(state),
                        stream=stream,
                        project=state.project,
                        about=state.id,
                        commit=state.commit,
                    )
                )
            case Goal():
                found.extend(_of_goal(stream, state))
            case _:
                pass
    return found


def _of_session(stream: str, session: Session) -> list[Followed]:
    turn = Followed(
        run=session.run,
        stream=stream,
        machine=session.machine,
        session=session.id,
        agent=session.account.agent,
    )
    commands = [
        Followed(
            run=one.run,
            stream=stream,
            machine=session.machine or HERE,
            project=session.project,
            about=one.ask,
            keys=one.names,
        )
        for one in session.keyed
    ]
    return [turn, *commands] if session.live else commands


def _of_goal(stream: str, goal: Goal) -> list[Followed]:
    found: list[Followed] = []
    if goal.live and goal.settled and goal.command("check") and goal.base_verdict is None:
        found.append(
            Followed(
                run=f"check-{goal.id}-{goal.base_commit[:12]}-base",
                stream=stream,
                project=goal.project,
                about="base",
                commit=goal.base_commit,
            )
        )
    if goal.review.stage is ReviewStage.JUDGING and goal.command("check"):
        found.append(
            Followed(
                run=judge_run(goal.review.id, goal.review.head),
                stream=stream,
                project=goal.project,
                about=goal.review.id,
                commit=goal.review.head,
            )
        )
    return found
