"""A goal's pieces: how workers' turns end, what lands, what is tried again, what is given up.

Part of goal.py's rule. Three attempts a piece; one is a worker's turn that ended by itself red, broken
or with nothing to land. Not counted: a limit, a cut-off, the owner's stop, the first merge conflict.
Neighbours: planning.py (which pieces start), landing.py (how they enter the lead's branch).
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.rules import fenced, news, plan
from engine.rules.effects import AnyEffect, Collect, KeepTree, Tell
from engine.rules.events import (
    GaveUp,
    GoalEvent,
    LandingCalled,
    LandingDropped,
    NewWorkerWaits,
    PieceCollected,
    PieceLanded,
    PieceRetried,
    PieceReturned,
    PieceStopped,
    Prompted,
    RetryDue,
    SessionResumed,
    SessionStopped,
    TreeBack,
    TreeMoved,
    TurnOver,
    WorkerDone,
    WorkerMessaged,
)
from engine.rules.goal_state import (
    Goal,
    PlanStage,
    ReviewStage,
    Step,
    refuse,
    reply,
    to_lead,
    with_piece,
)
from engine.rules.plan import Piece
from engine.rules.planning import being_shipped, start_ready
from engine.rules.review import hand_back
from engine.rules.words import CheckVerdict, TurnError

RETRY_PAUSE_S = 20.0
BATCH_S = 20.0  # news that wakes a lead at rest waits so long for more of it


def of_piece(now: Goal, event: GoalEvent) -> Step:
    match event:
        case WorkerDone(session=session, summary=summary, call=call):
            piece = now.piece_of(session)
            done = with_piece(now, replace(piece, summary=summary)) if piece else now
            return done, reply(call, "Noted. End your turn: your branch is checked then.")
        case PieceCollected(piece=piece_id, found=found):
            piece = now.piece(piece_id)
            if piece is None or piece.stage is not plan.Stage.COLLECTING:
                return now, ()
            return _collected(now, piece, found.head, event)
        case PieceLanded(piece=piece_id):
            piece = now.piece(piece_id)
            return _landed(now, piece, event) if piece else _moved(now, event)
        case PieceReturned(piece=piece_id):
            piece = now.piece(piece_id)
            if piece is None or piece.stage is not plan.Stage.LANDING:
                return now, ()
            return _returned(now, piece, event)
        case RetryDue(piece=piece_id):
            piece = now.piece(piece_id)
            if piece is None or piece.stage is not plan.Stage.WORKING:
                return now, ()
            again = with_piece(now, replace(piece, again_at=0.0))
            if now.held or not piece.again_at:
                return again, ()  # resuming the goal takes it up
            return again, (Tell(stream=f"session/{piece.session}", event=SessionResumed()),)
        case PieceRetried():
            return _retry(now, event)
        case PieceStopped():
            return _stop_piece(now, event)
        case WorkerMessaged():
            return _message(now, event)
        case NewWorkerWaits(until=until) if until > now.kept_until:
            told = news.to_lead(news.no_new_workers(event.kept))
            heard = replace(now, kept_until=until)
            return heard, (to_lead(now, told, wait_s=BATCH_S),)
        case GaveUp(effect="Collect", about=piece_id, why=why):
            piece = now.piece(piece_id)
            if piece is None or piece.stage is not plan.Stage.COLLECTING:
                return now, ()
            return _give_up(now, piece, why, "")
        case GaveUp(effect="Judge", why=why) if now.review.stage is ReviewStage.JUDGING:
            verdict = CheckVerdict(passed=False, failure=why)
            return hand_back(now, replace(now.review, verdict=verdict))
        case _:
            return now, ()


def turn_over(now: Goal, event: TurnOver) -> Step:
    if event.session == now.session:
        return _lead_over(now, event)
    piece = now.piece_of(event.session)
    if piece is None or not now.live or piece.stage in plan.OVER:
        return now, ()
    match event.kind:
        case TurnError.NONE:
            collecting = with_piece(now, replace(piece, stage=plan.Stage.COLLECTING, why=""))
            return collecting, (_collect(now, piece),)
        case TurnError.INTERRUPTED:
            return with_piece(now, replace(piece, stage=plan.Stage.PAUSED, why="interrupted")), ()
        case TurnError.LIMIT:
            told = f"{_name(piece)} {event.error}; it goes on by itself."
            return now, (to_lead(now, told, wait_s=BATCH_S),)
        case TurnError.AGENT | TurnError.API:
            return _broken(now, piece, event.error, event.at)
        case _:
            return _give_up(now, piece, event.error, "", by_agent=True)


def _lead_over(now: Goal, event: TurnOver) -> Step:
    if event.kind in (TurnError.NONE, TurnError.INTERRUPTED, TurnError.LIMIT):
        return replace(now, failure="", failure_kind=TurnError.NONE), ()
    failed = replace(now, failure=event.error, failure_kind=event.kind, failed_at=event.at)
    return failed, ()


def _collect(now: Goal, piece: Piece) -> Collect:
    return Collect(
        goal=now.id,
        project=now.project,
        piece=piece.id,
        session=piece.session,
        branch=piece.branch,
        base=piece.base,
    )


def _collected(now: Goal, piece: Piece, head: str, event: PieceCollected) -> Step:
    found = event.found
    if found.failure:
        return _attempt(now, piece, found.failure, "")
    if found.dirty:
        listed = "\n".join(found.dirty)
        why = "it left changes uncommitted: commit what belongs to the piece, discard the rest"
        return _attempt(now, piece, why, listed)
    if not found.commits:
        return _attempt(now, piece, "it made no commit, so there is nothing to land", "")
    landing = replace(piece, stage=plan.Stage.LANDING, commit=head, why="", report="")
    called = LandingCalled(
        piece=piece.id,
        session=piece.session,
        branch=piece.branch,
        commit=head,
        title=piece.title,
        project=now.project,
        check=now.command("check"),
        setup=now.command("setup"),
    )
    return with_piece(now, landing), (Tell(stream=f"landing/{now.id}", event=called),)


def _name(piece: Piece) -> str:
    return f'Piece {piece.number} "{fenced.name(piece.title)}"'


def _landed(now: Goal, piece: Piece, event: PieceLanded) -> Step:
    landed = replace(
        piece,
        stage=plan.Stage.LANDED,
        commit=event.commit,
        why="",
        report="",
        landed_at=event.at,
    )
    now = replace(with_piece(now, landed), head=event.head)
    lines = [news.landed(piece.number, piece.title, piece.branch, event.checked)]
    whole = all(other.stage in plan.OVER for other in now.pieces)
    if whole:
        stopped = any(other.stage is plan.Stage.STOPPED for other in now.pieces)
        lines.append(news.all_landed(event.head, stopped=stopped))
    after, started = start_ready(now, event.at)
    over = SessionStopped(why="landed", final=True)
    return after, (
        Tell(stream=f"session/{now.session}", event=TreeMoved(commit=event.head)),
        to_lead(now, news.to_lead("\n".join(lines)), wait_s=0.0 if whole else BATCH_S),
        Tell(stream=f"session/{piece.session}", event=over),
        KeepTree(session=piece.session, project=now.project),
        *started,
    )


def _moved(now: Goal, event: PieceLanded) -> Step:
    """A piece of an earlier plan, stopped while it was being swapped in: the head is where it is."""
    moved = Tell(stream=f"session/{now.session}", event=TreeMoved(commit=event.head))
    return replace(now, head=event.head), (moved,)


def _returned(now: Goal, piece: Piece, event: PieceReturned) -> Step:
    if event.broken:
        return _give_up(now, piece, event.why, event.report)
    moved = Tell(stream=f"session/{piece.session}", event=TreeMoved(commit=now.head))
    if event.conflict and not piece.conflicts:
        again = replace(piece, stage=plan.Stage.WORKING, conflicts=1, why=event.why)
        told = _prompt(piece, news.conflict(event.why, now.head))
        return with_piece(now, again), (moved, told, _give_back(piece))
    if event.conflict:
        why = f"{event.why}. Run `git merge {now.head}` in your branch and resolve"
        after, effects = _attempt(now, piece, why, event.report)
        return after, (moved, *effects)
    return _attempt(now, piece, event.why, event.report)


def _attempt(now: Goal, piece: Piece, why: str, report: str) -> Step:
    """A turn that ended by itself with nothing that could land: again, three times in all."""
    told = news.to_lead(news.piece_failed(piece.number, piece.title, why, report, piece.attempt))
    if piece.attempt >= plan.MAX_ATTEMPTS:
        return _give_up(now, piece, f"{why}, in {plan.MAX_ATTEMPTS} attempts", report)
    again = replace(
        piece, stage=plan.Stage.WORKING, attempt=piece.attempt + 1, why=why, report=report
    )
    prompt = _prompt(piece, news.try_again(why, report, again.attempt))
    heard = to_lead(now, told, wait_s=BATCH_S)
    return with_piece(now, again), (heard, prompt, _give_back(piece))


def _broken(now: Goal, piece: Piece, why: str, at: float) -> Step:
    """The agent itself broke: an attempt too, and the next is after a pause."""
    if piece.attempt >= plan.MAX_ATTEMPTS:
        return _give_up(now, piece, f"{why}, in {plan.MAX_ATTEMPTS} attempts", "", by_agent=True)
    said = news.ended_with(why)
    told = news.to_lead(news.piece_failed(piece.number, piece.title, said, "", piece.attempt))
    due_at = at + RETRY_PAUSE_S * piece.attempt
    again = replace(
        piece, stage=plan.Stage.WORKING, attempt=piece.attempt + 1, why=why, again_at=due_at
    )
    wake = Tell(stream=now.stream, event=RetryDue(piece=piece.id), due_at=due_at)
    return with_piece(now, again), (to_lead(now, told, wait_s=BATCH_S), wake)


def _give_up(now: Goal, piece: Piece, why: str, report: str, *, by_agent: bool = False) -> Step:
    """Leave it to the owner (Retry, Stop) and tell the lead; its session takes lines again.

    by_agent   why is in the words of the worker's agent, or of its machine
    """
    failed = replace(piece, stage=plan.Stage.FAILED, why=why, report=report)
    said = news.ended_with(why) if by_agent else why
    told = news.to_lead(news.piece_given_up(piece.number, piece.title, said, report))
    return with_piece(now, failed), (to_lead(now, told), _give_back(piece))


def _give_back(piece: Piece) -> Tell:
    return Tell(stream=f"session/{piece.session}", event=TreeBack())


def _prompt(piece: Piece, text: str, source: str = "news", model: str = "") -> Tell:
    event = Prompted(text=text, source=source, model=model)
    return Tell(stream=f"session/{piece.session}", event=event)


def _asked_for(now: Goal, piece_id: str, call: str) -> tuple[Piece | None, str]:
    """Find a piece by id, or by its number as a lead names it; else a sentence."""
    piece = now.piece(piece_id)
    if piece is None and call:
        piece = next((p for p in now.pieces if str(p.number) == piece_id), None)
    wrong = "" if piece else f"There is no piece {piece_id} in the current plan."
    return piece, wrong


def _retry(now: Goal, event: PieceRetried) -> Step:
    piece, wrong = _asked_for(now, event.piece, event.call)
    if piece is not None and piece.stage not in (
        plan.Stage.FAILED,
        plan.Stage.PAUSED,
        plan.Stage.STOPPED,
    ):
        wrong = f"Piece {piece.number} is {piece.stage.value}: there is nothing to retry."
    if piece is not None and piece.stage is plan.Stage.STOPPED and piece.opened:
        wrong = f"Piece {piece.number} was stopped for good: plan it anew."
    elif now.held:
        wrong = "This goal is stopped: /resume goes on."
    elif now.plan_stage is not PlanStage.STARTED:
        wrong = "That plan is not started, so there is nothing to retry."
    elif not wrong:
        wrong = being_shipped(now)
    if wrong or piece is None:
        return refuse(now, event.call, wrong)
    again = replace(
        piece,
        stage=plan.Stage.WORKING if piece.opened else plan.Stage.WAITING,
        attempt=1,
        why="",
        report="",
        model=event.model or piece.model,
    )
    if not piece.opened:
        after, started = start_ready(with_piece(now, again), event.at)
        return after, (*reply(event.call, "Tried again."), *started)
    told = news.from_lead(event.note) if event.note else news.taken_up_again(piece.why)
    return with_piece(now, again), (
        *reply(event.call, "Tried again."),
        _prompt(piece, told, model=event.model),
        Tell(stream=f"session/{piece.session}", event=SessionResumed()),
    )


def _stop_piece(now: Goal, event: PieceStopped) -> Step:
    piece, wrong = _asked_for(now, event.piece, event.call)
    if piece is not None and piece.stage in plan.OVER:
        wrong = f"Piece {piece.number} is already {piece.stage.value}."
    if wrong or piece is None:
        return refuse(now, event.call, wrong)
    by = "its lead" if event.call else "you"
    stopped = replace(piece, stage=plan.Stage.STOPPED, why=event.why or f"stopped by {by}")
    stuck = tuple(
        other.number
        for other in now.pieces
        if piece.number in other.after and other.stage is plan.Stage.WAITING
    )
    left = f" What waits for it cannot start: {plan.numbers(stuck)}." if stuck else ""
    effects: list[AnyEffect] = [*reply(event.call, f"Stopped.{left}")]
    if piece.opened:
        over = SessionStopped(why=stopped.why, final=True)
        effects += [
            Tell(stream=f"landing/{now.id}", event=LandingDropped(piece=piece.id)),
            Tell(stream=f"session/{piece.session}", event=over),
            KeepTree(session=piece.session, project=now.project),
        ]
    if not event.call:
        told = f"{_name(piece)}: stopped by the owner.{left}"
        effects.append(to_lead(now, news.to_lead(told)))
    return with_piece(now, stopped), tuple(effects)


def _message(now: Goal, event: WorkerMessaged) -> Step:
    piece, wrong = _asked_for(now, event.piece, event.call)
    if piece is not None and (not piece.opened or piece.stage in plan.OVER):
        wrong = f"Piece {piece.number} is {piece.stage.value}: no worker is there to hear you."
    if wrong or piece is None:
        return refuse(now, event.call, wrong)
    said = _prompt(piece, news.from_lead(event.text), source="lead")
    answer = "Passed on; it reads it after its running turn."
    if piece.stage is plan.Stage.FAILED:
        answer = "Kept for it. It is given up for now: retry_piece takes it up again."
    return now, (said, *reply(event.call, answer))
