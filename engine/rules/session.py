"""One conversation with an agent: its queue of lines, its turns, and its one writer.

    IDLE -> WANTING -> STARTING -> RUNNING -> CLOSING -> IDLE (next lines) | GIVEN (a worker: its
      ^       place       start       turn       exit                        work is being looked at)
      +------------- HELD (stopped), PARKED (a limit), FAILED (retry) -------------+

A run serves one turn; the next starts only once no process of the last one lives, so a session has
one writer, ever. Lines that arrive meanwhile wait and are taken together. A run that ends without
the agent's own end was cut off: the next turn says so. Pure: engine/adapters/runs.py starts, follows
and ends runs; fleet.py gives places; goal.py hears how turns end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from enum import StrEnum
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules import news
from engine.rules.effects import (
    AnswerRun,
    AnyEffect,
    CloseRun,
    InterruptRun,
    ReplyDesk,
    Say,
    StartRun,
    Tell,
    Watch,
)
from engine.rules.events import (
    AccountRested,
    Asked,
    AskParked,
    AskRaised,
    AskSettled,
    AskWithdrawn,
    GaveUp,
    HoldOver,
    LimitReached,
    LinesLeft,
    Placed,
    Prompted,
    Queued,
    RequestWithdrawn,
    RunExited,
    RunQuiet,
    RunRefused,
    RunStarted,
    SessionEvent,
    SessionNamed,
    SessionOpened,
    SessionResumed,
    SessionStopped,
    SlotFreed,
    SlotWanted,
    TreeBack,
    TreeMoved,
    TurnEnded,
    TurnInterrupted,
    TurnOver,
    WakeAsked,
    WakeDue,
)
from engine.rules.words import Account, AskKind, Decision, Role, TurnError

HOLD_S = 30 * 60.0  # how long a run is kept alive for an open ask
QUIET_S = 15 * 60.0  # silence after which a run counts as hung
INTERRUPT_GRACE_S = 15.0
CLOSE_AGAIN_S = 60.0  # after the order to end a run was given up
LIMIT_MARGIN_S = 60.0
UNKNOWN_LIMIT_S = 15 * 60.0
MAX_CUT_OFFS = 3  # in a row
MAX_WAKES = 5  # of one session's own asking, at a time


class Stage(StrEnum):
    NEW = "new"
    IDLE = "idle"
    WANTING = "wanting"
    STARTING = "starting"
    RUNNING = "running"
    CLOSING = "closing"
    GIVEN = "given"
    PARKED = "parked"
    HELD = "held"
    FAILED = "failed"


LIVE = (Stage.STARTING, Stage.RUNNING, Stage.CLOSING)
RESTING = (Stage.HELD, Stage.FAILED, Stage.PARKED)


class Line(Struct, frozen=True):
    """Text for the agent, and who it is from."""

    text: str
    source: str


class OpenAsk(Struct, frozen=True, kw_only=True):
    """A request of the agent's that the owner was asked about."""

    ask: str
    request: str  # "" = the desk's ask_owner: the answer is the next message
    kind: AskKind
    title: str
    detail: str
    tool: str
    input_json: str
    parked: bool = False


class OwnWake(Struct, frozen=True):
    """A time the agent asked to be woken at, and what for."""

    due_at: float
    why: str


class Session(Struct, frozen=True, tag=True, kw_only=True):
    """Where one conversation stands."""

    id: str
    stage: Stage = Stage.NEW
    goal: str = ""
    role: Role = Role.LEAD
    project: str = ""
    account: Account = Account("", "")
    model: str = ""
    mode: str = "edit"
    branch: str = ""
    commit: str = ""
    preface: str = ""
    brief: str = ""  # its first prompt, for a conversation that must begin anew
    piece: str = ""
    number: int = 0
    title: str = ""
    setup: str = ""
    commands: tuple[str, ...] = ()
    wants: str = ""  # machine, "" = any
    machine: str = ""
    where: str = ""  # why it runs there, or why it waits
    waits_until: float = 0.0  # for a place, where that is known
    queue: tuple[Line, ...] = ()
    taken: tuple[Line, ...] = ()  # what the current turn was given
    turn: int = 0
    run: str = ""
    agent_session: str = ""
    resumable: bool = False  # the agent took a turn up under agent_session
    named: bool = False  # it took the current turn up, so what it was given is not said again
    asks: tuple[OpenAsk, ...] = ()
    wakes: tuple[OwnWake, ...] = ()
    granted: tuple[str, ...] = ()  # fingerprints of requests allowed after they were parked
    ending: TurnError = TurnError.NONE  # why we are closing the run, if it was us
    over: TurnEnded | None = None  # the agent's own end of the current turn
    cut_offs: int = 0
    given: bool = False  # a worker's work is being looked at: no turn until it is back
    parked_until: float = 0.0
    stopping: bool = False
    resuming: bool = False  # told to go on before the stop was over
    final: bool = False  # stopped for good: landed, dropped
    why: str = ""  # of HELD, PARKED, FAILED
    said: str = ""  # last words
    cost_usd: float = 0.0
    started_at: float = 0.0
    version_warning: str = ""

    @property
    def stream(self) -> str:
        return f"session/{self.id}"

    @property
    def live(self) -> bool:
        return self.stage in LIVE


Step = tuple[Session, tuple[AnyEffect, ...]]


def begin(name: str) -> Session:
    return Session(id=name)


def decide(now: Session, event: SessionEvent) -> Step:
    """Return where the session stands after `event`, and what must now be done about it."""
    match event:
        case SessionOpened() if now.stage is Stage.NEW:
            return _open(now, event)
        case Prompted():
            return _hear(now, event)
        case TreeMoved(commit=commit):
            return replace(now, commit=commit), ()
        case TreeBack():
            stage = Stage.IDLE if now.stage is Stage.GIVEN else now.stage
            return _next(replace(now, stage=stage, given=False))
        case SessionStopped():
            return _stop(now, event)
        case SessionResumed(again=again):
            return _go_on(now, again=again)
        case TurnInterrupted():
            return _interrupt(now, event.at)
        case AskSettled():
            return _settled(now, event)
        case AskParked(ask=ask):
            return _park(now, ask)
        case HoldOver(what="limit", run=run) if now.stage is Stage.PARKED and run in ("", now.run):
            return _resume(now)
        case HoldOver(what="news"):
            return _next(now)
        case WakeAsked():
            return _wake_later(now, event)
        case WakeDue(due_at=due_at, why=why):
            left = tuple(wake for wake in now.wakes if wake != OwnWake(due_at, why))
            if now.final:
                return replace(now, wakes=left), ()
            woken = Prompted(text=news.woken(why), source="plain code", at=event.at)
            return _hear(replace(now, wakes=left), woken)
        case _ if getattr(event, "run", now.run) != now.run:
            return now, _turned_away(event)  # late news of an earlier run
        case _:
            return _of_run(now, event)


def _of_run(now: Session, event: SessionEvent) -> Step:
    """Decide about the current run alone."""
    match event:
        case Placed(machine=machine, why=why) if now.stage is Stage.WANTING:
            return _start(now, machine, why)
        case Queued(why=why) if now.stage is Stage.WANTING:
            return replace(now, where=why, waits_until=event.until), ()
        case RunStarted() if now.stage is Stage.STARTING:
            watch = Watch(run=now.run, session=now.id, due_at=event.at + QUIET_S)
            noted = _warn(now, event.note) if event.note else ()
            return replace(now, stage=Stage.RUNNING, started_at=event.at), (watch, *noted)
        case RunRefused(why=why, kind=kind) if now.stage is Stage.STARTING:
            return _fail(now, why, kind)
        case GaveUp(effect="StartRun", about=run) if now.stage is Stage.STARTING and run == now.run:
            return _never_started(now, event.why)
        case GaveUp(effect="CloseRun", about=run) if now.live and run == now.run:
            again = CloseRun(run=now.run, machine=now.machine, due_at=event.at + CLOSE_AGAIN_S)
            return now, (again,)
        case SessionNamed() if now.live:
            warned = () if event.warning in ("", now.version_warning) else _warn(now, event.warning)
            named = replace(
                now,
                agent_session=event.agent_session or now.agent_session,
                resumable=True,
                named=True,
                model=now.model or event.model,
                version_warning=event.warning or now.version_warning,
            )
            return named, warned
        case AskRaised(ask=ask) if any(known.ask == ask for known in now.asks):
            return now, ()
        case AskRaised():
            return _ask(now, event) if _may_ask(now, event) else (now, _turned_away(event))
        case RequestWithdrawn(request=request) if request:
            return _withdraw(
                now,
                lambda ask: _held_by_run(ask) and ask.request == request,
                "the agent took it back",
            )
        case LimitReached(resets_at=resets_at) if now.live:
            return replace(now, parked_until=max(now.parked_until, resets_at)), ()
        case TurnEnded() if now.live and not now.over:
            return _ended(now, event)
        case RunExited() if now.live:
            return _exited(now, event)
        case RunQuiet(silent_s=silent_s) if now.stage is Stage.RUNNING:
            return _quiet(now, silent_s, event.at)
        case HoldOver(what="interrupt") if now.stage is Stage.RUNNING:
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
        commands=event.commands,
        wants=event.machine,
        agent_session=_uuid(seed),
        queue=(Line(event.prompt, "goal"), *now.queue),
    )
    return _next(opened)


def _uuid(seed: str) -> str:
    """A version 4 shaped id: agents insist on one, and a rule may not draw lots."""
    return str(UUID(bytes=hashlib.sha256(seed.encode()).digest()[:16], version=4))


def _next(now: Session) -> Step:
    """Ask for a place if there is something to say and nobody is speaking."""
    if now.stage is not Stage.IDLE or not now.queue:
        return now, ()
    turn = now.turn + 1
    wanting = replace(
        now,
        stage=Stage.WANTING,
        turn=turn,
        run=f"{now.id}-t{turn}",
        where="",
        waits_until=0.0,
        over=None,
    )
    wanted = SlotWanted(
        run=wanting.run,
        teller=now.stream,
        machine=now.machine or now.wants,
        why=_why_there(now),
        account=now.account.name,
        agent=now.account.agent,
    )
    return wanting, (Tell(stream="fleet", event=wanted),)


def _why_there(now: Session) -> str:
    """Say why a session runs on the one machine it names; its conversation and tree do not move."""
    if now.role is Role.LEAD:
        return "leads run here"
    return "its tree is there" if now.machine else "named in the plan"


def _start(now: Session, machine: str, why: str) -> Step:
    prompt = news.joined(tuple((line.source, line.text) for line in now.queue))
    starting = replace(
        now,
        stage=Stage.STARTING,
        machine=machine,
        where=why,
        taken=now.queue,
        queue=(),
        ending=TurnError.NONE,
        over=None,
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
        commands=now.commands,
    )
    return starting, (start,)


def _warn(now: Session, warning: str) -> tuple[AnyEffect, ...]:
    return (Say(goal=now.goal, kind="warning", text=warning),)


# ---------------------------------------------------------------- asks


def fingerprint(tool: str, input_json: str) -> str:
    """What makes two requests the same request."""
    return hashlib.sha256(f"{tool}\0{input_json}".encode()).hexdigest()[:16]


def _may_ask(now: Session, event: AskRaised) -> bool:
    """A run that is being seen out cannot take an answer; a question needs none of it."""
    return now.live and not now.stopping and (now.over is None or not event.request)


def _turned_away(event: SessionEvent) -> tuple[AnyEffect, ...]:
    """Every desk call is answered, one that comes too late as well."""
    call = event.call if isinstance(event, AskRaised) else ""
    return (ReplyDesk(call=call, text=news.TOO_LATE, is_error=True),) if call else ()


def _ask(now: Session, event: AskRaised) -> Step:
    mark = fingerprint(event.tool, event.input_json)
    if event.kind is AskKind.PERMISSION and mark in now.granted:
        granted = list(now.granted)
        granted.remove(mark)
        allow = AnswerRun(
            run=now.run,
            machine=now.machine,
            request=event.request,
            kind="allow",
            tool=event.tool,
            input_json=event.input_json,
        )
        return replace(now, granted=tuple(granted)), (allow,)
    opened = OpenAsk(
        ask=event.ask,
        request=event.request,
        kind=event.kind,
        title=event.title,
        detail=event.detail,
        tool=event.tool,
        input_json=event.input_json,
    )
    asked = Asked(
        kind=event.kind,
        goal=now.goal,
        teller=now.stream,
        title=event.title,
        detail=event.detail,
        who=news.who(now.role, now.number, now.title),
        tool=event.tool,
        questions=event.questions,
        hold_s=HOLD_S if event.request else 0.0,
    )
    effects: list[AnyEffect] = [Tell(stream=f"ask/{event.ask}", event=asked)]
    if event.call:
        effects.append(ReplyDesk(call=event.call, text=news.ASKED_THE_OWNER))
    return replace(now, asks=(*now.asks, opened)), tuple(effects)


def _settled(now: Session, event: AskSettled) -> Step:
    """Hand the owner's answer to the run that waits for it, else keep it for the next turn."""
    ask = next((ask for ask in now.asks if ask.ask == event.ask), None)
    if ask is None:
        return _settled_late(now, event)
    kept = replace(now, asks=tuple(other for other in now.asks if other.ask != event.ask))
    if ask.request and not ask.parked and now.live and not now.over:
        answer = AnswerRun(
            run=now.run,
            machine=now.machine,
            request=ask.request,
            kind=event.decision.value,
            text=event.text,
            tool=ask.tool,
            input_json=ask.input_json,
            answers=event.answers,
        )
        return kept, (answer,)
    if ask.kind is AskKind.PERMISSION and event.decision is Decision.ALLOW:
        mark = fingerprint(ask.tool, ask.input_json)
        kept = replace(kept, granted=(*kept.granted, mark))
    text = news.answer(ask.kind, event.decision, ask.title, ask.detail, event.text, event.answers)
    return _next(replace(kept, queue=(*kept.queue, Line(text, "answer"))))


def _settled_late(now: Session, event: AskSettled) -> Step:
    """The turn ended while the owner answered: a question's answer is said all the same."""
    if not event.answers or now.final:
        return now, ()
    text = news.answer(AskKind.QUESTION, event.decision, "", "", event.text, event.answers)
    return _next(replace(now, queue=(*now.queue, Line(text, "answer"))))


def _park(now: Session, ask_id: str) -> Step:
    ask = next((ask for ask in now.asks if ask.ask == ask_id and not ask.parked), None)
    if ask is None or not now.live or now.over:
        return now, ()
    parked = tuple(
        replace(other, parked=True) if other.ask == ask_id else other for other in now.asks
    )
    deny = AnswerRun(
        run=now.run,
        machine=now.machine,
        request=ask.request,
        kind="deny",
        text=news.ASKED_THE_OWNER,
        tool=ask.tool,
        input_json=ask.input_json,
    )
    return replace(now, asks=parked), (deny,)


def _withdraw(now: Session, which: Callable[[OpenAsk], bool], why: str) -> Step:
    gone = [ask for ask in now.asks if which(ask)]
    kept = tuple(ask for ask in now.asks if ask not in gone)
    told = tuple(Tell(stream=f"ask/{ask.ask}", event=AskWithdrawn(why=why)) for ask in gone)
    return replace(now, asks=kept), told


def _held_by_run(ask: OpenAsk) -> bool:
    return bool(ask.request) and not ask.parked


# ---------------------------------------------------------------- ends


def _ended(now: Session, event: TurnEnded) -> Step:
    """The agent says its turn is over: believe it at once, then see the process out."""
    after, told = _withdraw(now, _held_by_run, "the agent's turn ended")
    ended = replace(
        after,
        stage=Stage.CLOSING,
        over=event,
        said=event.text or after.said,
        cost_usd=after.cost_usd + event.cost_usd,
    )
    effects: list[AnyEffect] = [
        *told,
        *_rest_account(now, event),
        CloseRun(run=now.run, machine=now.machine),
    ]
    if now.role is Role.LEAD and event.text.strip() and event.kind is TurnError.NONE:
        who = news.who(now.role, now.number, now.title)
        effects.append(Say(goal=now.goal, kind="words", text=event.text, who=who))
    return ended, tuple(effects)


def _rest_account(now: Session, event: TurnEnded) -> tuple[AnyEffect, ...]:
    """Tell the fleet before the place is free: nobody else is to start into the same refusal."""
    name = now.account.name
    match event.kind:
        case TurnError.LIMIT:
            until, why = _limit_over(now, event.at), "its plan's usage limit"
        case TurnError.LOGIN:
            until, why = 0.0, signed_out(now.account, event.error)
        case _:
            return ()
    return (Tell(stream="fleet", event=AccountRested(name=name, until=until, why=why)),)


def _exited(now: Session, event: RunExited) -> Step:
    """No process lives any more: free the place, then go on."""
    withdrawn, told = _withdraw(now, _held_by_run, "the agent's turn ended")
    freed = Tell(stream="fleet", event=SlotFreed(run=now.run))
    after, effects = _after_exit(replace(withdrawn, started_at=0.0), event)
    return after, (*told, freed, *effects)


def _after_exit(now: Session, event: RunExited) -> Step:
    over = now.over
    if now.stopping:
        return _stopped(now)
    if over is None and now.ending is TurnError.INTERRUPTED:
        return _interrupted(now)
    if over is None:
        return _cut_off(now, event)
    match over.kind:
        case TurnError.NONE:
            return _done(now)
        case TurnError.INTERRUPTED:
            return _interrupted(now)
        case TurnError.LIMIT:
            return _limited(now, event.at)
        case TurnError.RESUME:
            return _forgotten(now)
        case TurnError.LOGIN:
            return _signed_out(now)
        case kind:
            return _failed(now, over.error or "the agent's turn ended with an error", kind)


def _done(now: Session) -> Step:
    idle = replace(now, stage=Stage.IDLE, taken=(), cut_offs=0, parked_until=0.0, resumable=True)
    if idle.queue:
        return _next(idle)
    if now.role is Role.WORKER and now.asks:
        return idle, ()  # it was told to end its turn: the owner's answer opens the next one
    over = now.over or TurnEnded(run=now.run)
    told = TurnOver(session=now.id, text=over.text, cost_usd=over.cost_usd)
    if now.role is Role.WORKER:
        idle = replace(idle, stage=Stage.GIVEN, given=True)
    return idle, (Tell(stream=f"goal/{now.goal}", event=told),)


def _interrupted(now: Session) -> Step:
    idle = replace(now, stage=Stage.IDLE, taken=(), ending=TurnError.NONE, cut_offs=0)
    if idle.queue:
        return _next(idle)
    return idle, (_tell_over(now, "interrupted", TurnError.INTERRUPTED),)


def _limit_over(now: Session, at: float) -> float:
    known = now.parked_until > at
    return now.parked_until + LIMIT_MARGIN_S if known else at + UNKNOWN_LIMIT_S


def _limited(now: Session, at: float) -> Step:
    until = _limit_over(now, at)
    carry_on = Line(news.LIMIT_OVER, "plain code")
    parked = replace(
        now,
        stage=Stage.PARKED,
        taken=(),
        queue=(carry_on, *now.queue) if now.named else (*now.taken, *now.queue),
        parked_until=until,
        why="its plan's usage limit",
    )
    wake = Tell(stream=now.stream, event=HoldOver(what="limit", run=now.run), due_at=until)
    over = TurnOver(session=now.id, error="reached its plan's usage limit", kind=TurnError.LIMIT)
    return parked, (wake, Tell(stream=f"goal/{now.goal}", event=over))


def _signed_out(now: Session) -> Step:
    """The account rests until its owner acts; the turn is asked for anew, behind that."""
    note = (Line(news.SIGNED_IN_AGAIN, "plain code"),) if now.named else ()
    again = replace(
        now,
        stage=Stage.IDLE,
        taken=(),
        queue=(*note, *now.taken, *now.queue),
        ending=TurnError.NONE,
        cut_offs=0,
    )
    return _next(again)


def _forgotten(now: Session) -> Step:
    """The agent does not know the conversation: begin another, with all that the first was told."""
    again = now.cut_offs + 1
    if again > MAX_CUT_OFFS:
        return _failed(now, "the agent could not begin the conversation", TurnError.AGENT)
    begins = any(line.source == "goal" for line in now.taken)
    first = () if begins else (Line(now.brief, "goal"),)
    note = (Line(news.FORGOTTEN, "plain code"),) if now.resumable else ()
    anew = replace(
        now,
        stage=Stage.IDLE,
        resumable=False,
        agent_session=_uuid(f"{now.agent_session} {now.run}"),
        cut_offs=again,
        queue=(*note, *first, *now.taken, *now.queue),
        taken=(),
    )
    return _next(anew)


def _cut_off(now: Session, event: RunExited) -> Step:
    """The process died under the turn: go on with a note, not for ever."""
    cut_offs = now.cut_offs + 1
    if cut_offs > MAX_CUT_OFFS:
        why = f"its process ended {cut_offs} times without finishing a turn ({event.why})"
        return _failed(now, why, TurnError.CUT_OFF)
    note = news.cut_off(event.why, silent=now.ending is TurnError.SILENT)
    lines = () if now.named else now.taken
    again = replace(
        now,
        stage=Stage.IDLE,
        cut_offs=cut_offs,
        ending=TurnError.NONE,
        taken=(),
        queue=(*lines, Line(note, "plain code"), *now.queue),
    )
    return _next(again)


def _fail(now: Session, why: str, kind: TurnError) -> Step:
    """The run never started."""
    freed = Tell(stream="fleet", event=SlotFreed(run=now.run))
    after, effects = _stopped(now) if now.stopping else _failed(now, why, kind)
    return after, (freed, *effects)


def _never_started(now: Session, why: str) -> Step:
    """Nobody knows whether the order got there: what comes late must not start beside another."""
    after, effects = _fail(now, why, TurnError.START)
    return after, (CloseRun(run=now.run, machine=now.machine, grace_s=0.0), *effects)


def _failed(now: Session, why: str, kind: TurnError) -> Step:
    """Keep what the turn was given, so that Retry says it again."""
    failed = replace(
        now,
        stage=Stage.FAILED,
        why=why,
        queue=(*now.taken, *now.queue),
        taken=(),
        ending=TurnError.NONE,
        cut_offs=0,
    )
    return failed, (_tell_over(now, why, kind),)


def signed_out(account: Account, said: str) -> str:
    """Say how the owner signs an account in again, below the agent's own words."""
    words = [f"quarterdeck account add {account.name} --agent {account.agent}"]
    words += [f"--secret-env {key}" for key in account.secret_env]
    words += [f"--env {key}={value}" for key, value in account.env]
    words += [f"--command {account.command}"] if account.command else []
    words += [f"--config-dir {account.config_dir}"] if account.config_dir else []
    return (
        f"{said}\nGive account {account.name} a login that works, on the box: {' '.join(words)} "
        "Then press Retry: nothing that was said is lost."
    ).strip()


def _tell_over(now: Session, why: str, kind: TurnError) -> Tell:
    text = now.over.text if now.over else ""
    cost_usd = now.over.cost_usd if now.over else 0.0
    over = TurnOver(session=now.id, error=why, kind=kind, text=text, cost_usd=cost_usd)
    return Tell(stream=f"goal/{now.goal}", event=over)


def _quiet(now: Session, silent_s: float, at: float) -> Step:
    waits_for_owner = any(_held_by_run(ask) for ask in now.asks)
    if waits_for_owner or silent_s < QUIET_S:
        left = QUIET_S if waits_for_owner else QUIET_S - silent_s
        return now, (Watch(run=now.run, session=now.id, due_at=at + max(left, 1.0)),)
    closing = replace(now, ending=TurnError.SILENT)
    return closing, (CloseRun(run=now.run, machine=now.machine, grace_s=0.0),)


# ---------------------------------------------------------------- the owner's hand


def _interrupt(now: Session, at: float) -> Step:
    if now.stage is not Stage.RUNNING or now.stopping:
        raise Refused("Nothing is running here just now.")
    if now.ending is TurnError.INTERRUPTED:
        raise Refused("It is being interrupted already.")
    hold = HoldOver(what="interrupt", run=now.run)
    return replace(now, ending=TurnError.INTERRUPTED), (
        InterruptRun(run=now.run, machine=now.machine),
        Tell(stream=now.stream, event=hold, due_at=at + INTERRUPT_GRACE_S),
    )


def _stop(now: Session, event: SessionStopped) -> Step:
    if now.stage is Stage.NEW or (now.stage is Stage.HELD and not event.final):
        return now, ()
    final = now.final or event.final
    # What nobody holds a run for may be answered while the session rests.
    after, told = _withdraw(now, lambda ask: final or _held_by_run(ask), "the session was stopped")
    stopped = replace(after, why=event.why or "stopped", stopping=True, resuming=False, final=final)
    if now.live:
        return stopped, (*told, CloseRun(run=now.run, machine=now.machine))
    freed: tuple[AnyEffect, ...] = ()
    if now.stage is Stage.WANTING:
        freed = (Tell(stream="fleet", event=SlotFreed(run=now.run)),)
    held, effects = _held(stopped)
    return held, (*told, *freed, *effects)


def _stopped(now: Session) -> Step:
    """The stopped run is over: rest, unless the owner let it go on meanwhile."""
    held, effects = _held(now)
    if not now.resuming or now.final:
        return held, effects
    after, more = _resume(held)
    return after, (*effects, *more)


def _held(now: Session) -> Step:
    """Stopped; lines of the owner that were never taken up go to the lead, so none is lost."""
    over = now.over if now.live else None
    finished = over is not None and over.kind is TurnError.NONE
    again = (Line(news.CARRY_ON, "plain code"),) if now.named and not now.final else now.taken
    held = replace(
        now,
        stage=Stage.HELD,
        stopping=False,
        resuming=False,
        queue=(*again, *now.queue) if now.live and not finished else now.queue,
        taken=(),
        ending=TurnError.NONE,
    )
    effects: tuple[AnyEffect, ...] = ()
    waits = now.role is Role.WORKER and bool(held.asks)
    if over is not None and finished and not (held.queue or waits or now.final):
        done = TurnOver(session=now.id, text=over.text, cost_usd=over.cost_usd)
        effects = (Tell(stream=f"goal/{now.goal}", event=done),)
        held = replace(held, given=now.role is Role.WORKER)
    if now.final:
        return _leave_lines(held)
    return held, effects


def _leave_lines(now: Session) -> Step:
    left = "\n\n".join(line.text for line in now.queue if line.source == "owner")
    if now.role is Role.LEAD or not left:
        return now, ()
    kept = tuple(line for line in now.queue if line.source != "owner")
    told = Tell(stream=f"goal/{now.goal}", event=LinesLeft(session=now.id, text=left))
    return replace(now, queue=kept), (told,)


def _hear(now: Session, event: Prompted) -> Step:
    """Keep a line for the next turn; the owner's own word also takes a failed session up again."""
    line = Line(event.text, event.source)
    stage = now.stage
    if stage is Stage.FAILED and line.source == "owner":
        stage = Stage.IDLE
    heard = replace(now, stage=stage, queue=(*now.queue, line), model=event.model or now.model)
    if now.final and not now.live:
        return _leave_lines(heard)
    if event.wait_s and stage is Stage.IDLE:
        return _gather(heard, event.at + event.wait_s, first=not now.queue)
    return _next(heard)


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
    if again or now.given:
        return _resume(now)
    if now.stage is Stage.HELD and now.queue:
        return replace(now, stage=Stage.FAILED, why="waits for Retry"), ()
    return (now, ()) if now.stage is not Stage.HELD else _resume(now)


def _resume(now: Session) -> Step:
    if now.given:
        return replace(now, stage=Stage.GIVEN, why=""), ()
    return _next(replace(now, stage=Stage.IDLE, why="", parked_until=0.0))
