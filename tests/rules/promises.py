"""What must never happen, what must always be seen, and what must have ended: each promise as code.

All of it is judged by what streams decided (`Happened`) and where they stand, whoever played the
outside. Neighbours: outside.py tells stories of all rules at once, tests/simulation/ of the whole engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from engine import board
from engine.rules import landing as landing_rule
from engine.rules import ship as ship_rule
from engine.rules.after_limit import WAITS_FOR_YOU
from engine.rules.effects import AnyEffect, Check, Land, Push, ReplyDesk, RunKeyed, StartRun, Tell
from engine.rules.events import (
    AccountUsed,
    Answered,
    AskRaised,
    AskSettled,
    Checked,
    CommandDecided,
    GaveUp,
    GoalChanged,
    GoalOpened,
    LandingCalled,
    Merged,
    PieceLanded,
    Placed,
    PlanProposed,
    PlanStarted,
    Queued,
    ReserveSet,
    ReviewCorrected,
    ReviewPut,
    RunExited,
    RunRefused,
    SessionOpened,
    SessionResumed,
    SessionStopped,
    ShipChecked,
    ShipFailed,
    ShipOpened,
    ShipPushed,
)
from engine.rules.goal_state import Goal, PlanStage
from engine.rules.plan import MAX_ATTEMPTS
from engine.rules.plan import Stage as PieceStage
from engine.rules.reserve import UNTOLD, UNTOLD_S
from engine.rules.session_state import Session, Stage
from engine.rules.words import AskKind, Decision, Role
from engine.views import AnyCard, FailureCard, LimitCard, SessionCard, WorkerCard
from tests.rules.world import Happened

States: TypeAlias = Mapping[str, Any]


def silent(_run: str) -> str:
    """No agent says what it does."""
    return ""


# ---------------------------------------------------------------- what must never happen


def broken_promises(
    history: Sequence[Happened], states: States, calls: Iterable[str] = ()
) -> list[str]:
    """Return what should never have happened, in the order it did.

    calls   of agents' desks, each to have been answered once by now
    """
    return [
        *_two_writers(history),
        *_workers_before_the_go(history),
        *_unchecked(history),
        *_twice(history, calls),
        *_allowed_by_nobody(history),
        *_begins_though_stopped(history),
        *_too_many_attempts(states),
        *_reserve_not_kept(history),
    ]


def _allowed_by_nobody(history: Sequence[Happened]) -> Iterator[str]:
    """An agent does what the owner allowed: this once, or always and then the very same."""
    asked: dict[str, str] = {}
    allowed: set[str] = set()
    always: set[str] = set()
    ran: set[str] = set()
    for stream, event, effects in history:
        match event:
            case AskRaised(kind=AskKind.PERMISSION | AskKind.KEY):
                asked[event.ask] = event.input_json
            case Answered(decision=Decision.ALLOW) if effects:
                ask = stream.partition("/")[2]
                allowed.add(ask)
                if event.always:
                    always.add(asked[ask])
            case AskSettled(decision=Decision.ALLOW, ask=ask) if ask in asked:
                if ask not in allowed and asked[ask] not in always:
                    yield f"{ask} ({asked[ask]}) was allowed by nobody"
        for order in [effect for effect in effects if isinstance(effect, RunKeyed)]:
            if order.ask in ran:
                yield f"{order.ask} is run a second time"
            ran.add(order.ask)


def _begins_though_stopped(history: Sequence[Happened]) -> Iterator[str]:
    """What the owner stopped begins no turn before it is let go on."""
    stopped: set[str] = set()
    for stream, event, effects in history:
        match event:
            case SessionStopped():
                stopped.add(stream)
            case SessionResumed():
                stopped.discard(stream)
        if stream in stopped:
            yield from (
                f"{effect.run} begins though it was stopped"
                for effect in effects
                if isinstance(effect, StartRun)
            )


def _reserve_not_kept(history: Sequence[Happened]) -> Iterator[str]:
    """No new worker begins on what the owner keeps; nothing else waits for that, nor for ever."""
    reserve, windows = 0, dict[str, tuple[int, float]]()  # share used, until when that counts
    dated: set[str] = set()  # windows that told when they reset
    leads: set[str] = set()
    ran: set[str] = set()
    for stream, event, effects in history:
        match event:
            case ReserveSet(value=value):
                reserve = 0 if value == "off" else int(value)
            case AccountUsed(window=window, percent=percent, resets_at=resets_at):
                share, until = windows.get(window, (UNTOLD, 0.0))
                share = share if until > event.at else UNTOLD
                known_reset = until if until > event.at and window in dated else 0.0
                if resets_at:
                    dated.add(window)
                elif not known_reset:
                    dated.discard(window)
                windows[window] = (
                    share if percent == UNTOLD else percent,
                    resets_at or known_reset or event.at + UNTOLD_S,
                )
            case SessionOpened(role=Role.LEAD):
                leads.add(stream.partition("/")[2])
        touched = any(
            share > 100 - reserve and until > event.at for share, until in windows.values()
        )
        for effect in effects:
            match effect:
                case StartRun():
                    ran.add(effect.session)
                case Tell(event=Placed(run=run)) if run.rpartition("-t")[0] not in leads | ran:
                    if reserve and touched:
                        yield f"{run} begins on what the owner keeps"
                case Tell(event=Queued(kept=kept) as queued) if kept is not None:
                    if queued.run.rpartition("-t")[0] in leads | ran:
                        yield f"{queued.run} has begun, and waits for the reserve"
                    if queued.until <= event.at:
                        yield f"{queued.run} waits for a reset that nobody waits for"


def _two_writers(history: Sequence[Happened]) -> Iterator[str]:
    open_run: dict[str, str] = {}
    for stream, event, effects in history:
        session = stream.partition("/")[2]
        match event:
            case RunExited(run=run) | RunRefused(run=run) | GaveUp(effect="StartRun", about=run):
                if open_run.get(session) == run:
                    del open_run[session]
        for effect in effects:
            if isinstance(effect, StartRun):
                if session in open_run:
                    yield f"{effect.run} was started before {open_run[session]} was over"
                open_run[session] = effect.run


def _workers_before_the_go(history: Sequence[Happened]) -> Iterator[str]:
    """Believes nobody but the owner's own events, and the lead's where its goal's go allows it."""
    plan_of: dict[str, str] = {}
    proposed: dict[str, str] = {}
    started: set[str] = set()
    auto: set[str] = set()
    correcting: set[str] = set()
    for stream, event, effects in history:
        match event:
            case GoalOpened(go="auto"):
                auto.add(stream)
            case GoalChanged(what="go", value="auto"):
                auto.add(stream)
            case GoalChanged(what="go"):
                auto.discard(stream)
            case PlanProposed(plan=plan) if _said_yes(effects):
                proposed[stream] = plan
                plan_of |= dict.fromkeys(event.session_ids, plan)
                if stream in correcting:
                    started.add(plan)
                    correcting.discard(stream)
            case PlanStarted(by="owner", plan=plan):
                started.add(plan)
            case PlanStarted(by="lead") if _said_yes(effects) and stream in auto:
                started.add(proposed.get(stream, ""))
            case ReviewCorrected():
                correcting.add(stream)
            case ShipFailed(moved_to=moved_to) if moved_to:  # Ship was said: the lead mends it
                correcting.add(stream)
            case ReviewPut() if _said_yes(effects):
                correcting.discard(stream)
        for effect in effects:
            if not isinstance(effect, StartRun) or effect.role is Role.LEAD:
                continue
            if plan_of[effect.session] not in started:
                yield f"{effect.run} was started before the owner's go"


def _said_yes(effects: tuple[AnyEffect, ...]) -> bool:
    return not any(isinstance(effect, ReplyDesk) and effect.is_error for effect in effects)


def _unchecked(history: Sequence[Happened]) -> Iterator[str]:
    """What lands or is pushed is the very commit that passed, and Push was said to it."""
    needed: set[str] = set()  # streams whose commits have to be checked
    passed: set[tuple[str, str]] = set()
    merged: dict[tuple[str, str], str] = {}
    for stream, event, effects in history:
        match event:
            case (
                Checked(commit=commit, verdict=verdict)
                | ShipChecked(commit=commit, verdict=verdict)
            ) if verdict.passed:
                passed.add((stream, commit))
            case LandingCalled(check=check) | ShipOpened(check=check) if check:
                needed.add(stream)
            case Merged(commit=commit, onto=onto):
                merged[stream, commit] = onto
        for effect in effects:
            match effect:
                case Land(commit=commit, onto=onto):
                    if merged.get((stream, commit)) != onto:
                        yield f"{commit} lands on {onto}, which it was not made for"
                    if stream in needed and (stream, commit) not in passed:
                        yield f"{commit} lands though its check did not pass"
                case Push(commit=commit):
                    if not isinstance(event, ShipPushed):
                        yield f"{commit} is pushed by {type(event).__name__}"
                    if stream in needed and (stream, commit) not in passed:
                        yield f"{commit} is pushed though its check did not pass"


def _twice(history: Sequence[Happened], calls: Iterable[str]) -> Iterator[str]:
    told = [
        (stream, effect.event)
        for stream, _, effects in history
        for effect in effects
        if isinstance(effect, Tell)
    ]
    settled = Counter(s for s, event in told if isinstance(event, CommandDecided))
    settled.update(f"ask/{event.ask}" for _, event in told if isinstance(event, AskSettled))
    yield from (f"{stream} was decided {n} times" for stream, n in settled.items() if n > 1)
    landed = Counter(event.piece for _, event in told if isinstance(event, PieceLanded))
    yield from (f"{piece} landed {n} times" for piece, n in landed.items() if n > 1)
    replies = Counter(
        effect.call
        for _, _, effects in history
        for effect in effects
        if isinstance(effect, ReplyDesk)
    )
    for call in calls:
        if replies[call] != 1:
            yield f"{call} was answered {replies[call]} times"
    runs = Counter(
        effect.run
        for _, _, effects in history
        for effect in effects
        if isinstance(effect, StartRun | Check)
    )
    yield from (f"{run} was ordered {n} times" for run, n in runs.items() if n > 1)


def _too_many_attempts(states: States) -> Iterator[str]:
    for state in states.values():
        if isinstance(state, Goal):
            yield from (
                f"{piece.id} is at attempt {piece.attempt}"
                for piece in (*state.pieces, *state.earlier)
                if piece.attempt > MAX_ATTEMPTS
            )


# ---------------------------------------------------------------- what must always be seen


def unreasoned_waits(states: States) -> list[str]:
    """Return what waits without a reason on the board, or without a way out (promise 7).

    To be asked when nothing is on its way between streams.
    """
    found: list[str] = []
    for goal in board.goals(states):
        if not goal.live:
            continue
        cards = {card.id: card for card in board.cards(states, goal.id, silent)}
        seen = board.board(states, silent)
        rows = [row for row in (*seen.now, *seen.running, *seen.next) if row.goal == goal.id]
        if not rows:
            found.append(f"{goal.id} ({goal.stage}) is nowhere on the board")
        found += [f"{row.card} has an empty row" for row in rows if not row.text.strip()]
        found += _of_sessions(states, goal, cards)
    return found


def _of_sessions(states: States, goal: Goal, cards: dict[str, AnyCard]) -> Iterator[str]:
    lead = states.get(f"session/{goal.session}")
    asked = any(isinstance(card, LimitCard) and card.asks for card in cards.values())
    if isinstance(lead, Session):
        yield from _of_session(lead, cards[goal.id], asked=asked)
        if lead.stage is Stage.FAILED and not any(
            isinstance(card, FailureCard) for card in cards.values()
        ):
            yield f"{lead.id} failed and no card says so"
        if lead.stage is Stage.HELD and not goal.held:
            yield f"{lead.id} is held in a goal that goes on"
    for piece in goal.pieces:
        worker = states.get(f"session/{piece.session}")
        if not isinstance(worker, Session) or piece.stage in (
            PieceStage.LANDED,
            PieceStage.STOPPED,
        ):
            continue
        card = cards[piece.id]
        yield from _of_session(worker, card, asked=asked)
        if (
            piece.stage is PieceStage.WORKING
            and worker.stage is Stage.IDLE
            and not (worker.asks or worker.keyed)
        ):
            yield f"{piece.id} is being worked on by nobody"
        if (
            piece.stage is PieceStage.WORKING
            and worker.stage is Stage.FAILED
            and not piece.again_at
        ):
            yield f"{piece.id} failed and nobody tries it again"
        if worker.stage is Stage.GIVEN and piece.stage not in (
            PieceStage.COLLECTING,
            PieceStage.LANDING,
        ):
            yield f"{worker.id} waits for work on {piece.id} that nobody does"
        if worker.stage is Stage.HELD and not goal.held:
            yield f"{worker.id} is held in a goal that goes on"
        failed = piece.stage in (PieceStage.FAILED, PieceStage.PAUSED) and not goal.held
        if failed and "retry" not in card.buttons:
            yield f"{piece.id} is {piece.stage} without Retry"


def _of_session(session: Session, card: AnyCard, *, asked: bool) -> Iterator[str]:
    assert isinstance(card, SessionCard | WorkerCard)
    if session.stage is Stage.PARKED and session.why == WAITS_FOR_YOU and not asked:
        yield f"{session.id} waits for a word that nobody is asked for"
    waiting = (Stage.WANTING, Stage.PARKED, Stage.HELD, Stage.FAILED)
    if session.stage not in waiting or session.final:
        return
    if not card.waits or not all(wait.what and wait.why for wait in card.waits):
        yield f"{session.id} ({session.stage}) waits without a reason: {card.waits}"
    if not card.buttons and not any(wait.until or "/resume" in wait.why for wait in card.waits):
        yield f"{session.id} ({session.stage}) waits without a way out"


def unfinished(states: States) -> list[str]:
    """Return what should have ended once the outside was kind and time had passed."""
    found: list[str] = []
    for stream, state in states.items():
        match state:
            case landing_rule.Landing(entries=entries) if entries:
                found.append(f"{stream}: {entries[0].piece} is still {entries[0].stage}")
            case ship_rule.Ship(stage=stage) if stage in (
                ship_rule.Stage.TAKING,
                ship_rule.Stage.CHECKING,
                ship_rule.Stage.PUSHING,
            ):
                found.append(f"{stream} is still {stage}")
            case Session(keyed=keyed) if keyed:
                found.append(f"{stream}: a command with a key is still under way")
            case Session(steered=steered) if steered and not state.live:
                found.append(f"{stream}: a line said in its last turn is nowhere")
            case Session(stage=Stage.PARKED, why=why) if why == WAITS_FOR_YOU:
                pass  # that is the owner's to decide
            case Session(stage=stage) if state.live or stage in (Stage.WANTING, Stage.PARKED):
                found.append(f"{stream} is still {stage}")
            case Goal() if state.live:
                found += [
                    f"{piece.id} is still {piece.stage}"
                    for piece in state.pieces
                    if piece.stage in (PieceStage.COLLECTING, PieceStage.LANDING)
                ]
                since = (
                    state.plan_at > state.review.decided_at
                )  # one that waited before may wait on
                if state.plan_stage is PlanStage.PROPOSED and state.correcting and since:
                    found.append(f"{stream}: a plan waits though the correction was its go")
    fleet = states["fleet"]
    found += [f"{slot.run} keeps its place" for slot in (*fleet.running, *fleet.wanting)]
    return found
