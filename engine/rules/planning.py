"""A goal's plan: proposed by the lead, started by the owner (or at once, where the go allows it).

Part of goal.py's rule. Neighbours: plan.py (what makes a plan sound), piece.py (what becomes of it).
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.errors import Refused
from engine.rules import changing, names, news, plan, roles
from engine.rules.effects import Tell
from engine.rules.events import (
    PlanChanged,
    PlanDiscarded,
    PlanProposed,
    PlanStarted,
    SessionOpened,
)
from engine.rules.goal_state import (
    Goal,
    PlanStage,
    ReviewStage,
    Stage,
    Step,
    error,
    reply,
    to_lead,
    with_piece,
)
from engine.rules.plan import Piece
from engine.rules.words import BROUGHT, COPY, Role


def of_plan(now: Goal, event: PlanProposed | PlanChanged | PlanStarted | PlanDiscarded) -> Step:
    match event:
        case PlanProposed():
            return _propose(now, event)
        case PlanStarted(call=call) if call:
            return _start_by_lead(now, event)
        case PlanStarted(plan=plan_id) if _is_proposed(now, plan_id):
            if wrong := _was_edited(now, event) or being_shipped(now):
                raise Refused(wrong)
            return _start_plan(now, "owner", event.at)
        case PlanChanged(plan=plan_id) if _is_proposed(now, plan_id):
            if wrong := _was_edited(now, event):
                raise Refused(wrong)
            return changing.change(now, event), ()
        case PlanDiscarded(plan=plan_id) if _is_proposed(now, plan_id):
            discarded = replace(now, plan_stage=PlanStage.DISCARDED, plan_at=event.at)
            return discarded, (to_lead(now, news.plan_discarded()),)
        case _:
            raise Refused(_plan_already(now, event.plan))


def _is_proposed(now: Goal, plan_id: str) -> bool:
    return now.plan == plan_id and now.plan_stage is PlanStage.PROPOSED


def _was_edited(now: Goal, event: PlanStarted | PlanChanged) -> str:
    """Say that the plan is not the one that was shown: two taps may be on their way at once."""
    if event.edits in (-1, now.plan_edits):
        return ""
    return "The plan changed since it was shown. Look at it again."


def _plan_already(now: Goal, plan_id: str) -> str:
    if now.plan != plan_id:
        return "That plan was replaced by a newer one."
    return f"That plan is already {now.plan_stage.value}."


def _propose(now: Goal, event: PlanProposed) -> Step:
    wrong = plan.fault(event.pieces) or _not_ticked(now, event)
    wrong = wrong or _under_way(now) or being_shipped(now)
    if wrong:
        return now, error(event.call, wrong)
    taken = {piece.branch for piece in (*now.pieces, *now.earlier)}
    pieces = []
    for number, draft in enumerate(event.pieces, start=1):
        branch = names.worker_branch(draft.title, event.piece_ids[number - 1], taken)
        taken.add(branch)
        agent = draft.agent or now.account.agent
        own = agent == now.account.agent
        pieces.append(
            Piece(
                id=event.piece_ids[number - 1],
                session=event.session_ids[number - 1],
                number=number,
                title=plan.plain_title(draft.title),
                task=draft.task,
                size=draft.size,
                after=draft.after,
                branch=branch,
                agent=agent,
                account=None if own else event.reach.account(agent),
                model=draft.model or (now.model if own else ""),
                machine=draft.machine,
            )
        )
    proposed = replace(
        now,
        stage=Stage.PLANNING if now.stage is Stage.PLANNING else Stage.BUILDING,
        plan=event.plan,
        plan_stage=PlanStage.PROPOSED,
        plan_summary=event.summary,
        plan_at=event.at,
        pieces=tuple(pieces),
        as_proposed=(),
        estimates=event.estimates,
        earlier=(*now.earlier, *(piece for piece in now.pieces if piece.opened)),
    )
    if now.correcting:
        started, effects = _start_plan(proposed, "correction", event.at)
        answer = "Started at once: the owner's correction is the go. End your turn."
        return started, (*reply(event.call, answer), *effects)
    answer = "Put to the owner. End your turn: you hear when it is started, or not."
    if now.go == "auto":
        answer = "Kept. You may start it yourself with start_plan."
    return proposed, reply(event.call, answer)


def _not_ticked(now: Goal, event: PlanProposed) -> str:
    for number, draft in enumerate(event.pieces, start=1):
        if draft.machine and now.machines and draft.machine not in now.machines:
            ticked = ", ".join(now.machines)
            return f"Piece {number}: {draft.machine} is not ticked for this goal; ticked: {ticked}."
    return ""


def _under_way(now: Goal) -> str:
    """Say why a new plan cannot take this one's place, or ""."""
    if now.plan_stage is not PlanStage.STARTED:
        return ""
    open_pieces = tuple(piece.number for piece in now.pieces if piece.stage in plan.OPEN)
    if not open_pieces:
        return ""
    return (
        f"The plan you have is under way: {plan.numbers(open_pieces)} not landed yet. Wait for "
        "the news, or stop what you no longer want with stop_worker."
    )


def being_shipped(now: Goal) -> str:
    """Say that nothing new begins while the owner ships, or ""."""
    if now.review.stage is not ReviewStage.SHIPPING:
        return ""
    return "The last review is being shipped just now: that must end, or be cancelled, first."


def _start_by_lead(now: Goal, event: PlanStarted) -> Step:
    if now.plan_stage is not PlanStage.PROPOSED:
        return now, error(event.call, "There is no plan to start: propose one first.")
    if now.go != "auto":
        said = "The owner starts this plan. End your turn; you hear when it is started."
        return now, error(event.call, said)
    if wrong := being_shipped(now):
        return now, error(event.call, wrong)
    started, effects = _start_plan(now, "lead", event.at)
    return started, (*reply(event.call, "Started."), *effects)


def _start_plan(now: Goal, by: str, at: float) -> Step:
    """Let every piece wait for its turn, and start those that need not wait."""
    started = replace(
        now,
        stage=Stage.BUILDING,
        plan_stage=PlanStage.STARTED,
        plan_by=by,
        plan_at=at,
        correcting=False,
        pieces=tuple(
            replace(piece, stage=plan.Stage.WAITING)
            if piece.stage is plan.Stage.PROPOSED
            else piece
            for piece in now.pieces
        ),
    )
    changes = news.plan_changes(now.as_proposed, now.pieces)
    begun = news.plan_started(by, len(now.pieces), changes)
    told = () if by == "correction" else (to_lead(now, begun),)
    after, effects = start_ready(started, at)
    return after, (*told, *effects)


def start_ready(now: Goal, at: float) -> Step:
    """Start the pieces that wait for nothing; none before the owner's word on the commands."""
    if now.held or not now.settled or now.plan_stage is not PlanStage.STARTED:
        return now, ()
    effects = []
    for piece in plan.ready(now.pieces):
        working = replace(
            piece, stage=plan.Stage.WORKING, opened=True, base=now.head, started_at=at
        )
        now = with_piece(now, working)
        effects.append(_open_worker(now, working))
    return now, tuple(effects)


def _open_worker(now: Goal, piece: Piece) -> Tell:
    joins = (f"git merge {now.moved_base}",) if now.moved_base else ()
    opened = SessionOpened(
        goal=now.id,
        role=Role.WORKER,
        project=now.project,
        account=piece.account or now.account,
        model=piece.model,
        mode=now.mode,
        branch=piece.branch,
        commit=now.head,
        preface=roles.worker(piece.branch, now.command("check")),
        prompt=roles.task(piece.number, piece.title, piece.task),
        piece=piece.id,
        number=piece.number,
        title=piece.title,
        machine=piece.machine if piece.machine in (now.machines or (piece.machine,)) else "",
        machines=now.machines,
        setup=now.command("setup"),
        copy=tuple(now.command(COPY).split("\n")) if now.command(COPY) else (),
        commands=(
            *(
                c.command.text
                for c in now.commands
                if c.allowed and c.command.kind not in (COPY, BROUGHT)
            ),
            *joins,
        ),
        files=now.files,
    )
    return Tell(stream=f"session/{piece.session}", event=opened)
