"""How a session's turns end: by themselves, cut off, at a limit, stopped; and what comes after each.

Part of session.py's rule. A run that ends without the agent's own end was cut off: the next turn says
so. Neighbours: asking.py withdraws what the ended run had asked, goal.py hears how turns end.
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.rules import attached, cut_off, killed, news
from engine.rules.asking import held_by_run, why_gone, withdraw
from engine.rules.effects import AfterLimit, AnyEffect, CloseRun, Say, Tell
from engine.rules.events import (
    AccountRested,
    HoldOver,
    LimitSettled,
    LinesLeft,
    RunExited,
    SlotFreed,
    TurnEnded,
    TurnOver,
)
from engine.rules.logins import can_begin
from engine.rules.rests import believed
from engine.rules.session_state import Line, Session, Stage, Step, next_turn, resume, uuid_of
from engine.rules.steering import ended_early, may_go_on, unheard
from engine.rules.words import Account, Role, TurnError

LIMIT_MARGIN_S = 60.0
UNKNOWN_LIMIT_S = 15 * 60.0
LIMIT = "its plan's usage limit"
LIMIT_IS_OVER = f"{LIMIT} is over"
TURN_ENDED = "the agent's turn ended"
ENDED_FOR_IT = "it was told to end, and was ended"
MAX_CUT_OFFS = 3  # in a row


def ended(now: Session, event: TurnEnded, *, shown: bool = False) -> Step:
    """The agent says its turn is over: believe it at once, then see the process out.

    shown   the owner has its last words already
    """
    if may_go_on(now, event):
        kept, told = withdraw(now, held_by_run, why_gone(now, TURN_ENDED))
        early, waits = ended_early(kept, event)
        return early, (*told, *waits)
    after, told = withdraw(unheard(now), held_by_run, why_gone(now, TURN_ENDED))
    ended = replace(
        after,
        stage=Stage.CLOSING,
        over=event,
        left=None,
        said=event.text or after.said,
        cost_usd=after.cost_usd + event.cost_usd,
    )
    effects: list[AnyEffect] = [
        *told,
        *_rest_account(now, event),
        CloseRun(run=now.run, machine=now.machine),
    ]
    return ended, (*effects, *(() if shown else last_words(now, event)))


def last_words(now: Session, event: TurnEnded) -> tuple[AnyEffect, ...]:
    """What a lead says at its turn's end is a line of its topic; a worker's stands on its card."""
    if now.role is not Role.LEAD or not event.text.strip() or event.kind is not TurnError.NONE:
        return ()
    who = news.who(now.role, now.number, now.title)
    return (Say(goal=now.goal, kind="words", text=event.text, who=who),)


def _rest_account(now: Session, event: TurnEnded) -> tuple[AnyEffect, ...]:
    """Tell the fleet before the place is free: nobody else is to start into the same refusal."""
    name = now.account.name
    match event.kind:
        case TurnError.LIMIT:
            until, why = _limit_ends(now, event.at), LIMIT
        case TurnError.LOGIN:
            until, why = 0.0, signed_out(now.account, event.error)
        case _:
            return ()
    return (Tell(stream="fleet", event=AccountRested(name=name, until=until, why=why)),)


def exited(now: Session, event: RunExited) -> Step:
    """No process lives any more: free the place, then go on."""
    event = replace(event, left=cut_off.judged(now, event.left))
    withdrawn, told = withdraw(unheard(now), held_by_run, why_gone(now, TURN_ENDED))
    let_in = now.over is not None and now.over.kind in (TurnError.NONE, TurnError.LIMIT)
    freed = Tell(stream="fleet", event=SlotFreed(run=now.run, let_in=let_in))
    after, effects = _after_exit(replace(withdrawn, started_at=0.0, tools=(), silence=None), event)
    return after, (*told, freed, *effects)


def _after_exit(now: Session, event: RunExited) -> Step:
    over = now.over
    # Its own end tells of what it broke off; ended for it, nobody knows.
    note = cut_off.was_open(now, event, ENDED_FOR_IT) if over is None else ()
    if now.stopping:
        return _stopped(now, note)
    if over is None and now.ending is TurnError.INTERRUPTED:
        return _interrupted(now, note)
    if over is None and killed.was_killed(event) and now.kills < killed.MAX_KILLS:
        return killed.parked(now, event)
    if over is None and killed.was_killed(event):
        words = killed.words(event, cut_off.during(event.left))
        why = f"it was {words}; that was the second time in a row"
        return _failed(now, why, TurnError.CUT_OFF)
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
            why = over.error or "the agent's turn ended with an error"
            before = replace(now, taken=(*cut_off.was_open(now, event, why), *now.taken))
            return _failed(before, why, kind)


def _done(now: Session) -> Step:
    idle = replace(now, stage=Stage.IDLE, taken=(), cut_offs=0, kills=0, parked_until=0.0)
    idle = replace(idle, resumable=True)
    if idle.queue:
        return next_turn(idle)
    if now.role is Role.WORKER and (now.asks or now.keyed):
        return idle, ()  # it was told to end its turn: the owner's answer opens the next one
    over = now.over or TurnEnded(run=now.run)
    told = TurnOver(session=now.id, text=over.text, cost_usd=over.cost_usd)
    if now.role is Role.WORKER:
        idle = replace(idle, stage=Stage.GIVEN, given=True)
    return idle, (Tell(stream=f"goal/{now.goal}", event=told),)


def _interrupted(now: Session, note: tuple[Line, ...] = ()) -> Step:
    # What it never took up is said with the next line: a first turn's task would be lost.
    again = () if now.named else now.taken
    idle = replace(
        now,
        stage=Stage.IDLE,
        taken=(),
        queue=(*again, *note, *now.queue),
        ending=TurnError.NONE,
        cut_offs=0,
    )
    if now.queue:
        return next_turn(idle)
    rests = replace(idle, interrupted=True)
    return rests, (_tell_over(now, "interrupted", TurnError.INTERRUPTED),)


def _limit_ends(now: Session, at: float) -> float:
    known = believed(now.parked_until, at)
    return now.parked_until + LIMIT_MARGIN_S if known else at + UNKNOWN_LIMIT_S


def _limited(now: Session, at: float) -> Step:
    until = _limit_ends(now, at)
    carry_on = Line(news.LIMIT_OVER, "plain code")
    parked = replace(
        now,
        stage=Stage.PARKED,
        taken=(),
        queue=(carry_on, *now.queue) if now.named else (*now.taken, *now.queue),
        parked_until=until,
        why=LIMIT,
    )
    wake = Tell(stream=now.stream, event=HoldOver(what="limit", run=now.run), due_at=until)
    over = TurnOver(session=now.id, error="reached its plan's usage limit", kind=TurnError.LIMIT)
    return parked, (wake, Tell(stream=f"goal/{now.goal}", event=over))


def limit_over(now: Session) -> Step:
    """The limit is over: whether it goes on is the goal's to say, or its owner's."""
    if now.stage is Stage.WANTING:  # its account rested, and the fleet took it out of the line
        now = replace(now, stage=Stage.PARKED, waits_until=0.0)
    if now.stage is not Stage.PARKED:
        return now, ()
    parked = replace(now, parked_until=0.0, why=LIMIT_IS_OVER)
    return parked, (AfterLimit(session=now.id, goal=now.goal, account=now.account.name),)


def limit_settled(now: Session, event: LimitSettled) -> Step:
    """The goal has said what a parked session is to do."""
    if not event.why:
        return resume(now)
    waiting = replace(now, why=event.why, parked_until=event.until)
    if not event.until:
        return waiting, ()
    again = HoldOver(what="limit", run=now.run)
    return waiting, (Tell(stream=now.stream, event=again, due_at=event.until),)


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
    return next_turn(again)


def _forgotten(now: Session) -> Step:
    """The agent does not know the conversation: begin another, with all that the first was told."""
    again = now.cut_offs + 1
    if again > MAX_CUT_OFFS:
        return _failed(now, "the agent could not begin the conversation", TurnError.AGENT)
    begins = any(line.source == "goal" for line in now.taken)
    first = () if begins else (Line(now.brief, "goal", now.files),)
    note = (Line(news.FORGOTTEN, "plain code"),) if now.resumable else ()
    anew = replace(
        now,
        stage=Stage.IDLE,
        resumable=False,
        agent_session=uuid_of(f"{now.agent_session} {now.run}"),
        cut_offs=again,
        queue=(*note, *first, *now.taken, *now.queue),
        taken=(),
    )
    return next_turn(anew)


def _cut_off(now: Session, event: RunExited) -> Step:
    """The process died under the turn: go on with a note, not for ever."""
    cut_offs = now.cut_offs + 1
    if cut_offs > MAX_CUT_OFFS:
        last = cut_off.during(event.left)
        last = f", the last time{last}" if last else ""
        how = "it had been silent for long" if now.ending is TurnError.SILENT else event.why
        why = f"its process ended {cut_offs} times without finishing a turn{last} ({how})"
        return _failed(now, why, TurnError.CUT_OFF)
    again = replace(
        now,
        stage=Stage.IDLE,
        cut_offs=cut_offs,
        left=event.left,
        ending=TurnError.NONE,
        taken=(),
        queue=(*cut_off.opening(now, event, event.why), *now.queue),
    )
    return next_turn(again)


def fail(now: Session, why: str, kind: TurnError) -> Step:
    """The run never started."""
    freed = Tell(stream="fleet", event=SlotFreed(run=now.run))
    after, effects = _stopped(now) if now.stopping else _failed(now, why, kind)
    return after, (freed, *effects)


def not_signed_in(now: Session, why: str) -> Step:
    """The run did not start, since its account has no login: all wait for that, on one card."""
    said = signed_out(now.account, why)
    rest = Tell(stream="fleet", event=AccountRested(name=now.account.name, until=0.0, why=said))
    freed = Tell(stream="fleet", event=SlotFreed(run=now.run))
    after, effects = _stopped(now) if now.stopping else _signed_out(now)
    return after, (rest, freed, *effects)


def never_started(now: Session, why: str) -> Step:
    """Nobody knows whether the order got there: what comes late must not start beside another."""
    after, effects = fail(now, why, TurnError.START)
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
        left=None,
        cut_offs=0,
        kills=0,
    )
    return failed, (_tell_over(now, why, kind),)


def signed_out(account: Account, said: str) -> str:
    """Say how the owner signs an account in again, below the agent's own words."""
    words = [f"quarterdeck account add {account.name} --agent {account.agent}"]
    words += [f"--secret-env {key}" for key in account.secret_env]
    words += [f"--env {key}={value}" for key, value in account.env]
    words += [f"--command {account.command}"] if account.command else []
    words += [f"--config-dir {account.config_dir}"] if account.config_dir else []
    words += [f'--login-command "{account.login_command}"'] if account.login_command else []
    here = "Press Log in; or give" if can_begin(account) else "Give"
    return (
        f"{said}\n{here} account {account.name} a login that works, on the box: {' '.join(words)} "
        "Then press Retry: nothing that was said is lost."
    ).strip()


def _tell_over(now: Session, why: str, kind: TurnError) -> Tell:
    text = now.over.text if now.over else ""
    cost_usd = now.over.cost_usd if now.over else 0.0
    over = TurnOver(session=now.id, error=why, kind=kind, text=text, cost_usd=cost_usd)
    return Tell(stream=f"goal/{now.goal}", event=over)


def _stopped(now: Session, note: tuple[Line, ...] = ()) -> Step:
    """The stopped run is over: rest, unless the owner let it go on meanwhile."""
    held, effects = rest(now)
    if not now.final:
        held = replace(held, queue=(*note, *held.queue))
    if not now.resuming or now.final:
        return held, effects
    after, more = resume(held)
    return after, (*effects, *more)


def rest(now: Session) -> Step:
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
        left=None,
    )
    effects: tuple[AnyEffect, ...] = ()
    waits = now.role is Role.WORKER and bool(held.asks or held.keyed)
    if over is not None and finished and not (held.queue or waits or now.final):
        done = TurnOver(session=now.id, text=over.text, cost_usd=over.cost_usd)
        effects = (Tell(stream=f"goal/{now.goal}", event=done),)
        held = replace(held, given=now.role is Role.WORKER)
    if now.final:
        return leave_lines(held)
    return held, effects


def leave_lines(now: Session) -> Step:
    own = [line for line in now.queue if line.source == "owner"]
    left = "\n\n".join(line.text for line in own)
    if now.role is Role.LEAD or not left:
        return now, ()
    kept = tuple(line for line in now.queue if line.source != "owner")
    files = attached.merged(*(line.files for line in own))
    lines = LinesLeft(session=now.id, text=left, files=files)
    return replace(now, queue=kept), (Tell(stream=f"goal/{now.goal}", event=lines),)
