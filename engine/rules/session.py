"""One conversation with an agent: its queue of lines, its turns, and its one writer.

    IDLE -> WANTING -> STARTING -> RUNNING -> CLOSING -> IDLE (next lines) | GIVEN (a worker: its
      ^       place       start       turn       exit                        work is being looked at)
      +------------- HELD (stopped), PARKED (a limit, killed), FAILED (retry) -----+

A run serves one turn; the next starts only once no process of the last one lives, so a session has
one writer, ever. Lines that arrive meanwhile wait and are taken together. A run that ends without
the agent's own end was cut off: the next turn says so. Pure: engine/adapters/runs.py starts, follows
and ends runs; fleet.py gives places; goal.py hears how turns end. Its parts: session_state.py (the data),
asking.py, turn_ends.py, own_tasks.py, silence.py.
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.rules import attached, keyed_run, killed, news, own_tasks, silence
from engine.rules.asking import (
    held_by_run,
    may_ask,
    park,
    put,
    settled,
    turned_away,
    why_gone,
    withdraw,
)
from engine.rules.effects import (
    AnyEffect,
    CloseRun,
    ReplyDesk,
    Say,
    StartRun,
    Tell,
)
from engine.rules.events import (
    AskParked,
    AskRaised,
    AskSettled,
    FilesSent,
    GaveUp,
    HoldOver,
    KeyedOver,
    LimitReached,
    LimitSettled,
    LineReworded,
    LineTaken,
    NewWorkerWaits,
    Placed,
    Prompted,
    PromptReworded,
    Queued,
    RequestWithdrawn,
    RunBusy,
    RunExited,
    RunHeard,
    RunQuiet,
    RunRefused,
    RunStarted,
    RunUp,
    RunWentOn,
    SaidNow,
    SessionEvent,
    SessionNamed,
    SessionOpened,
    SessionResumed,
    SessionSet,
    SessionStopped,
    SlotFreed,
    SlotTicked,
    TreeBack,
    TreeMoved,
    TurnEnded,
    TurnInterrupted,
    WakeAsked,
    WakeDue,
)
from engine.rules.rests import believed
from engine.rules.rewording import has_begun, line_reworded, reworded
from engine.rules.session_state import (
    RESTING,
    Line,
    OwnWake,
    Session,
    Stage,
    Step,
    next_turn,
    resume,
    uuid_of,
    with_files,
)
from engine.rules.steering import ends_now, heard, interrupt, say_now, unheard
from engine.rules.turn_ends import (
    LIMIT_IS_OVER,
    ended,
    exited,
    fail,
    leave_lines,
    limit_over,
    limit_settled,
    never_started,
    not_signed_in,
    rest,
)
from engine.rules.words import Attachment, Role, TurnError

CLOSE_AGAIN_S = 60.0  # after the order to end a run was given up
BY_OWNER = "stopped by you"
MAX_WAKES = 5  # of one session's own asking, at a time


def begin(name: str) -> Session:
    return Session(id=name)


def decide(now: Session, event: SessionEvent) -> Step:
    """Return where the session stands after `event`, and what must now be done about it."""
    match event:
        case SessionOpened() if now.stage is Stage.NEW:
            return _open(now, event)
        case Prompted():
            return _hear(now, event)
        case PromptReworded() if not has_begun(now):
            return reworded(now, event), ()
        case PromptReworded():  # it began just then: it hears of the edit as the owner's line
            line = Prompted(text=news.edited(event.text), source="owner", at=event.at)
            return _hear(now, line)
        case LineReworded():
            return line_reworded(now, event), ()
        case SessionSet():
            return _set(now, event)
        case TreeMoved(commit=commit):
            return _moved(now, commit), ()
        case TreeBack():
            stage = Stage.IDLE if now.stage is Stage.GIVEN else now.stage
            return next_turn(replace(now, stage=stage, given=False))
        case SessionStopped():
            return _stop(now, event)
        case SessionResumed(again=again):
            return _go_on(now, again=again)
        case TurnInterrupted() if now.kept_end is not None and not now.stopping:
            return own_tasks.see_out(now, event.at)
        case TurnInterrupted():
            return interrupt(now, event.at)
        case SaidNow():
            return say_now(now, event.at)
        case AskSettled():
            return settled(now, event)
        case KeyedOver():
            return keyed_run.over(now, event)
        case GaveUp(effect="RunKeyed"):
            return keyed_run.gave_up(now, event)
        case AskParked(ask=ask):
            return park(now, ask, event.at)
        case HoldOver(what="limit", run=run) if run in ("", now.run):
            return limit_over(now)
        case LimitSettled() if now.stage is Stage.PARKED:
            return limit_settled(now, event)
        case HoldOver(what="news"):
            return next_turn(now)
        case WakeAsked():
            return _wake_later(now, event)
        case WakeDue(due_at=due_at, why=why):
            left = tuple(wake for wake in now.wakes if wake != OwnWake(due_at, why))
            if now.final:
                return replace(now, wakes=left), ()
            woken = Prompted(text=news.woken(why), source="plain code", at=event.at)
            return _hear(replace(now, wakes=left), woken)
        case _ if getattr(event, "run", now.run) != now.run:
            return now, turned_away(event)  # late news of an earlier run
        case _:
            return _of_run(now, event)


def _of_run(now: Session, event: SessionEvent) -> Step:
    """Decide about the current run alone."""
    match event:
        case Placed(machine=machine, why=why) if now.stage is Stage.WANTING:
            return _start(now, machine, why)
        case Queued(why=why) if now.stage is Stage.WANTING:
            waiting = replace(now, where=why, waits_until=event.until)
            return waiting, _told_of_reserve(now, event)
        case RunStarted() if now.stage is Stage.STARTING:
            noted = _warn(now, event.note) if event.note else ()
            lacks = event.uncopied or now.uncopied
            running = replace(now, stage=Stage.RUNNING, started_at=event.at, uncopied=lacks)
            return running, (silence.begin(now, event.at), *noted)
        case RunRefused(why=why, kind=kind) if now.stage is Stage.STARTING:
            return not_signed_in(now, why) if kind is TurnError.LOGIN else fail(now, why, kind)
        case GaveUp(effect="StartRun", about=run) if now.stage is Stage.STARTING and run == now.run:
            return never_started(now, event.why)
        case GaveUp(effect="CloseRun", about=run) if silence.is_ending(now) and run == now.run:
            return silence.goes_on(now, event.at)
        case GaveUp(effect="CloseRun", about=run) if now.live and run == now.run:
            again = CloseRun(run=now.run, machine=now.machine, due_at=event.at + CLOSE_AGAIN_S)
            return now, (again,)
        case GaveUp(effect="AfterLimit") if now.stage is Stage.PARKED and now.why == LIMIT_IS_OVER:
            return resume(now)
        case SessionNamed() if now.live:
            warned = () if event.warning in ("", now.version_warning) else _warn(now, event.warning)
            up = () if now.named else (Tell(stream="fleet", event=RunUp(run=now.run)),)
            named = replace(
                now,
                agent_session=event.agent_session or now.agent_session,
                resumable=True,
                named=True,
                kept_end=None,  # it goes on
                model=now.model or event.model,
                version_warning=event.warning or now.version_warning,
            )
            return named, (*up, *warned)
        case AskRaised(ask=ask) if any(known.ask == ask for known in now.asks):
            return now, ()
        case AskRaised():
            return put(now, event) if may_ask(now, event) else (now, turned_away(event))
        case RequestWithdrawn(request=request) if request:
            return withdraw(
                now,
                lambda ask: held_by_run(ask) and ask.request == request,
                why_gone(now, "you stopped it" if now.stopping else "the agent took it back"),
            )
        case LineTaken(key=key) if now.live and now.over is None:
            return heard(now, key), ()
        case GaveUp(effect="SteerRun", about=run) if run == now.run:
            return unheard(now), ()
        case LimitReached(resets_at=resets_at, at=at) if now.live:
            until = max(believed(now.parked_until, at), believed(resets_at, at))
            return replace(now, parked_until=until), ()
        case TurnEnded() if now.live and not now.over:
            whole = replace(now, kept_end=None)
            is_kept = own_tasks.outlast(whole, event)
            return own_tasks.keep(whole, event) if is_kept else ended(whole, event)
        case RunBusy() if now.live and not now.over:
            return own_tasks.counted(now, event)
        case HoldOver(what="tasks") if now.stage is Stage.RUNNING and not now.stopping:
            return own_tasks.looked(now, event.at)
        case RunExited() if now.live:
            return exited(own_tasks.exited(now, event), event)
        case RunQuiet() if now.stage is Stage.RUNNING:
            return silence.quiet(replace(now, tools=event.tools), event)
        case RunHeard():
            return silence.heard(now), ()
        case RunWentOn() if silence.is_ending(now):
            return silence.goes_on(now, event.at)
        case HoldOver(what="killed") if killed.rests(now):
            return killed.goes_on(now)
        case HoldOver(what="interrupt") if now.stage is Stage.RUNNING and ends_now(now):
            return now, (CloseRun(run=now.run, machine=now.machine, grace_s=0.0),)
        case _:
            return now, ()


# ---------------------------------------------------------------- opening, starting


def _open(now: Session, event: SessionOpened) -> Step:
    seed = f"{now.id} {event.at!r}"
    opened = replace(
        now,
        stage=Stage.IDLE,
        goal=event.goal,
        role=event.role,
        project=event.project,
        account=event.account,
        model=event.model,
        mode=event.mode,
        branch=event.branch,
        commit=event.commit,
        preface=event.preface,
        brief=event.prompt,
        piece=event.piece,
        number=event.number,
        title=event.title,
        setup=event.setup,
        copy=event.copy,
        commands=event.commands,
        wants=event.machine,
        ticked=event.machines,
        agent_session=uuid_of(seed),
        queue=(Line(event.prompt, "goal", event.files), *now.queue),
        files=attached.merged(event.files, now.files),
    )
    after, effects = next_turn(opened)
    return after, (*_told_of_files(opened, now.files), *effects)


def _set(now: Session, event: SessionSet) -> Step:
    """Take up what the owner set; who waits for a place asks anew where it may go."""
    if now.stage is Stage.NEW or now.final:
        return now, ()
    changed = replace(
        now,
        mode=now.mode if event.mode is None else event.mode,
        model=now.model if event.model is None else event.model,
        ticked=now.ticked if event.machines is None else event.machines,
    )
    if event.machines is None or now.machine or now.role is Role.LEAD:
        return changed, ()
    if changed.ticked and changed.wants not in changed.ticked:
        changed = replace(changed, wants="")
    anew = SlotTicked(run=now.run, machine=changed.wants, machines=changed.ticked)
    return changed, (Tell(stream="fleet", event=anew),) if now.stage is Stage.WANTING else ()


def _moved(now: Session, commit: str) -> Session:
    """The lead's branch went on; a worker is told of it to merge it, and need not ask for that."""
    if now.role is not Role.WORKER:
        return replace(now, commit=commit)
    return replace(now, commit=commit, commands=(*now.commands, f"git merge {commit}"))


def _start(now: Session, machine: str, why: str) -> Step:
    said = tuple((line.source, news.with_names(line.text, line.files)) for line in now.queue)
    prompt = news.joined(said) if len(said) > 1 else now.queue[0].text
    starting = replace(
        now,
        stage=Stage.STARTING,
        machine=machine,
        where=why,
        taken=now.queue,
        queue=(),
        ending=TurnError.NONE,
        over=None,
        tasks=0,
        kept_end=None,
        tools=(),
        silence=None,
        named=False,
        why="",
    )
    start = StartRun(
        run=now.run,
        session=now.id,
        goal=now.goal,
        role=now.role,
        project=now.project,
        account=now.account,
        model=now.model,
        mode=now.mode,
        machine=machine,
        branch=now.branch,
        commit=now.commit,
        preface=now.preface,
        prompt=prompt,
        agent_session=now.agent_session,
        resume=now.resumable,
        setup=now.setup,
        copy=now.copy,
        commands=now.commands,
        files=now.files,
        sent=attached.merged(*(line.files for line in now.queue)),
    )
    return starting, (start,)


def _told_of_reserve(now: Session, event: Queued) -> tuple[AnyEffect, ...]:
    if event.kept is None or not now.goal:
        return ()
    waits = NewWorkerWaits(kept=event.kept, until=event.until)
    return (Tell(stream=f"goal/{now.goal}", event=waits),)


def _warn(now: Session, warning: str) -> tuple[AnyEffect, ...]:
    return (Say(goal=now.goal, kind="warning", text=warning),)


# ---------------------------------------------------------------- the owner's hand


def _stop(now: Session, event: SessionStopped) -> Step:
    if now.stage is Stage.NEW or (now.stage is Stage.HELD and not event.final):
        return keyed_run.end(now)
    final = now.final or event.final
    # What nobody holds a run for may be answered while the session rests.
    why = "you stopped it" if event.why == BY_OWNER else "the session was stopped"
    after, withdrawn = withdraw(now, lambda ask: final or held_by_run(ask), why)
    after, closed = keyed_run.end(after)
    told = (*withdrawn, *closed)
    stopped = replace(after, why=event.why or "stopped", stopping=True, resuming=False, final=final)
    if now.live:
        return stopped, (*told, CloseRun(run=now.run, machine=now.machine))
    freed: tuple[AnyEffect, ...] = ()
    if now.stage is Stage.WANTING:
        freed = (Tell(stream="fleet", event=SlotFreed(run=now.run)),)
    held, effects = rest(stopped)
    return held, (*told, *freed, *effects)


def _hear(now: Session, event: Prompted) -> Step:
    """Keep a line for the next turn; the owner's own word also takes a failed session up again."""
    line = Line(event.text, event.source, event.files, event.key)
    stage = now.stage
    if stage is Stage.FAILED and line.source == "owner":
        stage = Stage.IDLE
    heard = replace(now, stage=stage, queue=(*now.queue, line), model=event.model or now.model)
    heard = with_files(heard, event.files)
    if now.final and not now.live:
        return leave_lines(heard)
    if event.wait_s and stage is Stage.IDLE:
        return _gather(heard, event.at + event.wait_s, first=not now.queue or now.interrupted)
    after, effects = next_turn(heard)
    return after, (*_told_of_files(now, event.files), *effects)


def _told_of_files(now: Session, files: tuple[Attachment, ...]) -> tuple[AnyEffect, ...]:
    """What a lead is sent its workers may need: they see neither its conversation nor its folder."""
    if not files or now.role is not Role.LEAD or not now.goal:
        return ()
    return (Tell(stream=f"goal/{now.goal}", event=FilesSent(files=files)),)


def _wake_later(now: Session, event: WakeAsked) -> Step:
    if now.final or len(now.wakes) >= MAX_WAKES:
        no = "Your goal is over." if now.final else f"You have {MAX_WAKES} wakes to come already."
        return now, (ReplyDesk(call=event.call, text=no, is_error=True),)
    asked = replace(now, wakes=(*now.wakes, OwnWake(event.due_at, event.why)))
    due = WakeDue(due_at=event.due_at, why=event.why)
    return asked, (
        ReplyDesk(call=event.call, text=news.wake_set(event.clock)),
        Tell(stream=now.stream, event=due, due_at=event.due_at),
    )


def _gather(now: Session, until: float, *, first: bool) -> Step:
    """Let a session at rest sleep on, for other news to come with this: one turn hears it all."""
    more = HoldOver(what="news")
    return now, (Tell(stream=now.stream, event=more, due_at=until),) if first else ()


def _go_on(now: Session, *, again: bool) -> Step:
    """Take a resting session up; `again` False: what had failed goes on waiting for Retry."""
    if now.final:
        return now, ()
    if now.live and now.stopping:
        return replace(now, resuming=True), ()
    if now.stage not in RESTING:
        return now, ()
    now = replace(now, kills=0)
    if again or now.given:
        return resume(now)
    if now.stage is Stage.HELD and now.queue:
        return replace(now, stage=Stage.FAILED, why="waits for Retry"), ()
    return (now, ()) if now.stage is not Stage.HELD else resume(now)
