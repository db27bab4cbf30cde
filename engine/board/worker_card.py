"""The card of one worker: a piece that was begun, in its latest attempt.

Pure. Neighbours: waits.py and doing.py (of its session), plan_card.py (a piece before it begins).
"""

from __future__ import annotations

from engine.board.doing import cut_off_line, owner_lines, session_doing, silent, steered
from engine.board.looking import Doing, World, state_of
from engine.board.plan_card import where_of
from engine.board.waits import is_paused, session_waits
from engine.rules import landing as landing_rule
from engine.rules import plan as plan_rule
from engine.rules import session_state, steering
from engine.rules.fleet import Fleet
from engine.rules.goal_state import Goal
from engine.rules.landing import Landing
from engine.rules.plan import Piece
from engine.rules.session_state import Session
from engine.views import INTERRUPTED, Wait, WorkerCard

# A next attempt says its reason where it waits, an Interrupt and a Stop say theirs there too.
SAID_ELSEWHERE = (plan_rule.Stage.WORKING, plan_rule.Stage.PAUSED)
UNDER_WAY = (plan_rule.Stage.COLLECTING, plan_rule.Stage.LANDING)


def _piece_doing(
    world: World, goal: Goal, piece: Piece, session: Session | None, doing: Doing
) -> str:
    if piece.stage is plan_rule.Stage.COLLECTING:
        return "its work is being taken in"
    if piece.stage is not plan_rule.Stage.LANDING:
        return session_doing(world, session, doing)
    landing = state_of(world, f"landing/{goal.id}", Landing)
    entry = next((e for e in landing.entries if e.piece == piece.id), None) if landing else None
    return {
        None: "landing",
        landing_rule.Stage.QUEUED: "waits for its turn to land",
        landing_rule.Stage.MERGING: "merging",
        landing_rule.Stage.CHECKING: "its check runs",
        landing_rule.Stage.LANDING: "landing",
    }[entry.stage if entry else None]


def _machine_waits(world: World, session: Session | None) -> tuple[Wait, ...]:
    """What has to do with a machine that is down waits for it."""
    fleet = state_of(world, "fleet", Fleet)
    known = fleet.machine(session.machine) if fleet and session and session.machine else None
    return (Wait(known.name, known.why),) if known and not known.up else ()


def _worker_waits(
    world: World, goal: Goal, piece: Piece, session: Session | None
) -> tuple[Wait, ...]:
    if not goal.live or piece.stage in plan_rule.OVER:
        return ()
    under_way = piece.stage in UNDER_WAY or (session is not None and session.live)
    if under_way and (waits := _machine_waits(world, session)):
        return (*waits, *session_waits(world, session)) if goal.held else waits
    stage = session.stage if session else session_state.Stage.NEW
    if piece.stage is plan_rule.Stage.WORKING and stage is session_state.Stage.FAILED:
        return (Wait("its next attempt", piece.why, piece.again_at),)
    if is_paused(world, piece):
        return (Wait(INTERRUPTED, "it waits for a line from you, or Retry"),)
    return session_waits(world, session)


def worker_card(world: World, goal: Goal, piece: Piece, doing: Doing) -> WorkerCard:
    session = state_of(world, f"session/{piece.session}", Session)
    failed = piece.stage is plan_rule.Stage.FAILED and goal.live
    waits = _worker_waits(world, goal, piece, session)
    buttons: list[str] = []
    if goal.live and not goal.held:
        if session and session.stage is session_state.Stage.RUNNING and not session.stopping:
            buttons += ["now"] if steering.may_say_now(session) else []
            buttons.append("interrupt")
        if piece.stage in (plan_rule.Stage.FAILED, plan_rule.Stage.PAUSED):
            buttons.append("retry")
        if session and (session.stage is session_state.Stage.RUNNING or session.said):
            buttons.append("peek")
        if piece.stage in plan_rule.OPEN:
            buttons.append("stop")
    return WorkerCard(
        id=piece.id,
        goal=goal.id,
        number=piece.number,
        title=piece.title,
        stage=piece.stage.value,
        doing=_piece_doing(world, goal, piece, session, doing),
        silence=silent(session, waits) if piece.stage not in UNDER_WAY else None,
        where=where_of(world, goal, piece),
        agent=piece.agent,
        model=(session.model if session else "") or piece.model,
        branch=piece.branch,
        attempt=piece.attempt,
        waits=waits,
        cut_off=cut_off_line(session),
        uncopied=session.uncopied if session and piece.stage in plan_rule.OPEN else "",
        said=(session.said if session else "") or piece.summary,
        cost_usd=session.cost_usd if session else 0.0,
        queued=owner_lines(session),
        steered=steered(session),
        failure="" if piece.stage in SAID_ELSEWHERE else piece.why,
        report=piece.report if failed else "",
        buttons=tuple(buttons),
        asks=failed,
    )
