"""States -> cards: all the owner can see of a goal, computed afresh from its streams.

Pure: `cards(world, goal)` for one goal, `general(world)` for what belongs to none, `board(world)` for
/status. `world` is every stream's state by name. The types are in views.py, the words in bot/text.py.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from engine import board_places
from engine.progress import AS_THEY_ARE, INTERRUPTED, STOPPED, work_lines
from engine.rules import after_limit, estimates, news, session_state, steering, turn_ends
from engine.rules import ask as ask_rule
from engine.rules import goal_state as goal_rule
from engine.rules import landing as landing_rule
from engine.rules import plan as plan_rule
from engine.rules import ship as ship_rule
from engine.rules.ask import Ask
from engine.rules.fleet import Fleet
from engine.rules.goal_state import Goal, PlanStage, ReviewStage
from engine.rules.landing import Landing
from engine.rules.plan import Piece
from engine.rules.project import Project
from engine.rules.session_state import Session
from engine.rules.ship import Ship
from engine.rules.words import AskKind, Decision, TurnError
from engine.views import (
    AnyCard,
    ApproachCard,
    Board,
    CommandCard,
    FailureCard,
    LimitCard,
    PermissionCard,
    PieceLine,
    PlanCard,
    ProjectCard,
    QuestionCard,
    ReviewCard,
    Row,
    SessionCard,
    ShipCard,
    Step,
    Wait,
    WhereCard,
    WorkerCard,
)

YOUR_LINE = "a line of yours"
GOES_ON = "by you; nothing runs until /resume"
YOUR_ANSWER = "your answer"
UNDER_WAY = (plan_rule.Stage.COLLECTING, plan_rule.Stage.LANDING)

World = Mapping[str, object]
Doing = Callable[[str], str]  # run id -> what its agent does now, one line; "" if not known

S = TypeVar("S")


def _state(world: World, stream: str, kind: type[S]) -> S | None:
    found = world.get(stream)
    return found if isinstance(found, kind) else None


def _all(world: World, prefix: str, kind: type[S]) -> Iterator[S]:
    for stream, state in world.items():
        if stream.startswith(prefix) and isinstance(state, kind):
            yield state


def goals(world: World) -> list[Goal]:
    """Every goal ever opened, oldest first."""
    return sorted(
        (goal for goal in _all(world, "goal/", Goal) if goal.stage is not None),
        key=lambda goal: goal.opened_at,
    )


def of_goal(world: World, goal: str, streams: Iterable[str]) -> World:
    """What a goal's cards are made of: its own streams, and what lies beside them."""
    own = {stream: world[stream] for stream in streams}
    found = own.get(f"goal/{goal}")
    if isinstance(found, Goal):
        for beside in ("fleet", f"project/{found.project}"):
            if beside in world:
                own[beside] = world[beside]
    return own


def _each_goal(world: World) -> Iterator[tuple[Goal, World]]:
    """Every goal, oldest first, with its own streams: all of the world is gone through but once."""
    streams: dict[str, list[str]] = {}
    for stream in world:
        streams.setdefault(goal_of(world, stream), []).append(stream)
    for goal in goals(world):
        yield goal, of_goal(world, goal.id, streams[goal.id])


def goal_of(world: World, stream: str) -> str:
    """The goal whose cards a change of `stream` may change; "" = General."""
    kind, _, name = stream.partition("/")
    if kind in ("goal", "landing", "ship"):
        return name
    state = world.get(stream)
    if isinstance(state, Session | Ask):
        return state.goal
    return ""


def sealed(card: AnyCard) -> AnyCard:
    """Give the card its revision: a hash of what a decision on it would rest on.

    A session's and a worker's buttons act on the session as it is, whatever its card shows.
    """
    if isinstance(card, SessionCard | WorkerCard):
        body = card.id.encode()
    else:
        body = msgspec.json.encode(
            replace(card, revision="", at=0.0, decided="", decided_at=0.0, buttons=(), asks=False)
        )
    return replace(card, revision=hashlib.sha256(body).hexdigest()[:8])


# ---------------------------------------------------------------- one goal's cards


def cards(world: World, goal_id: str, doing: Doing) -> list[AnyCard]:
    """Every card of one goal, in the order they came up."""
    goal = _state(world, f"goal/{goal_id}", Goal)
    if goal is None or goal.stage is None:
        return []
    workers = [
        _worker_card(world, goal, piece, doing)
        for piece in (*goal.earlier, *goal.pieces)
        if piece.opened
    ]
    work, more = work_lines(goal, workers, _commands_wait)
    found: list[AnyCard] = [replace(_session_card(world, goal, doing), work=work, more=more)]
    if goal.plan:
        found.append(_plan_card(world, goal))
    found.extend(workers)
    if goal.review.id and goal.review.stage not in (ReviewStage.JUDGING, ReviewStage.HANDED_BACK):
        found.append(_review_card(world, goal))
    ship = _state(world, f"ship/{goal_id}", Ship)
    if ship and ship.id:
        found.append(_ship_card(world, goal, ship))
    if goal.failure:
        found.append(_failure_card(goal))
    found.extend(
        _ask_card(world, ask)
        for ask in _all(world, "ask/", Ask)
        if ask.goal == goal_id and ask.stage
    )
    return [sealed(card) for card in found]


def general(world: World) -> list[AnyCard]:
    """Cards that belong to no goal."""
    fleet = _state(world, "fleet", Fleet) or Fleet()
    found: list[AnyCard] = [
        _login_card(rest.account, rest.why, rest.at) for rest in fleet.rests if rest.signed_out
    ]
    found.extend(
        board_places.project_card(project, project.adding)
        for project in _all(world, "project/", Project)
        if project.adding
    )
    found.extend(
        _ask_card(world, ask)
        for ask in _all(world, "ask/", Ask)
        if not ask.goal and ask.stage is not None
    )
    return [sealed(card) for card in found]


def everything(world: World, doing: Doing) -> list[AnyCard]:
    """All cards there are, goal by goal."""
    found = general(world)
    for goal, own in _each_goal(world):
        found.extend(cards(own, goal.id, doing))
    return found


def _lead(world: World, goal: Goal) -> Session | None:
    lead = _state(world, f"session/{goal.session}", Session)
    return lead if lead and lead.stage is not session_state.Stage.NEW else None


GOAL_WORDS = {
    goal_rule.Stage.OPENING: "starting",
    goal_rule.Stage.PLANNING: "planning",
    goal_rule.Stage.BUILDING: "building",
    goal_rule.Stage.REVIEW: "in review",
    goal_rule.Stage.SHIPPING: "shipping",
    goal_rule.Stage.SHIPPED: "shipped",
    goal_rule.Stage.DROPPED: "dropped",
}


def _stage_word(world: World, goal: Goal) -> str:
    if goal.stage is None:
        return ""
    if goal.held and goal.live:
        return "stopped"
    if goal.failure and goal.live:
        return "waits for you"
    if _open_asks(world, goal) or _decision_waits(world, goal):
        return "waits for you"
    if any(
        wait.what in (YOUR_LINE, INTERRUPTED)
        for wait in _lead_waits(world, goal, _lead(world, goal))
    ):
        return "waits for you"
    return GOAL_WORDS[goal.stage]


def _open_asks(world: World, goal: Goal) -> list[Ask]:
    return [
        ask
        for ask in _all(world, "ask/", Ask)
        if ask.goal == goal.id and ask.stage is ask_rule.Stage.OPEN
    ]


def _decision_waits(world: World, goal: Goal) -> bool:
    if not goal.live:
        return False
    ship = _state(world, f"ship/{goal.id}", Ship)
    shipping = ship is not None and ship.stage in (ship_rule.Stage.PROCEED, ship_rule.Stage.READY)
    return (
        goal.plan_stage is PlanStage.PROPOSED
        or goal.review.stage is ReviewStage.OPEN
        or (goal.stage is goal_rule.Stage.SHIPPING and shipping)
        or any(piece.stage is plan_rule.Stage.FAILED for piece in goal.pieces)
    )


def _fence(world: World, machine: str) -> tuple[bool, str]:
    fleet = _state(world, "fleet", Fleet)
    known = fleet.machine(machine or "here") if fleet else None
    return (known.fenced, known.fence) if known else (False, "")


def _session_waits(world: World, session: Session | None) -> tuple[Wait, ...]:
    if session is None:
        return ()
    match session.stage:
        case session_state.Stage.WANTING:
            where = session.where or "asking for one"
            return (Wait("a place to run", where, session.waits_until),)
        case session_state.Stage.PARKED:
            account = f"account {session.account.name}"
            return (_after_limit(session.why, account, session.parked_until),)
        case session_state.Stage.HELD if not session.final:
            return (Wait(STOPPED, GOES_ON),)
        case session_state.Stage.FAILED:
            return (Wait("you", session.why),)
        case session_state.Stage.IDLE if session.asks:
            return (Wait(YOUR_ANSWER, "it asked and ended its turn"),)
        case session_state.Stage.RUNNING if _holds_for_you(world, session):
            return (Wait(YOUR_ANSWER, "it asked and goes on then"),)
        case session_state.Stage.IDLE if session.wakes and not session.queue:
            first = min(session.wakes, key=lambda wake: wake.due_at)
            return (Wait("a time of its own choice", first.why, first.due_at),)
        case _:
            return ()


def _after_limit(why: str, account: str, until: float) -> Wait:
    """What a session waits for that a usage limit stopped: the limit, the morning, its owner."""
    if why == after_limit.TILL_MORNING:
        return Wait("the morning", f"{why}: {account}", until)
    if why == after_limit.WAITS_FOR_YOU:
        return Wait("you", f"{why}: Resume, or Leave it")
    return Wait(turn_ends.LIMIT, account, until)


def _is_past_limit(session: Session | None) -> bool:
    """Whether a session's limit is over and it still rests: then Resume is of use."""
    if session is None or session.stage is not session_state.Stage.PARKED:
        return False
    return session.why in (after_limit.TILL_MORNING, after_limit.WAITS_FOR_YOU)


def _holds_for_you(world: World, session: Session) -> bool:
    """Whether its run is held for a card of the owner's; what a kept rule answers shows none."""
    held = (
        _state(world, f"ask/{ask.ask}", Ask)
        for ask in session.asks
        if ask.request and not ask.parked
    )
    return any(ask is not None and ask.stage is ask_rule.Stage.OPEN for ask in held)


def _lead_waits(world: World, goal: Goal, lead: Session | None) -> tuple[Wait, ...]:
    """Why a goal does not go on by itself; a lead at rest with nothing under way waits for a line."""
    waits = _session_waits(world, lead)
    if waits or not goal.live:
        return waits
    if goal.held:
        return (Wait(STOPPED, GOES_ON),)
    resting = (
        lead is not None
        and lead.stage is session_state.Stage.IDLE
        and (lead.interrupted or not lead.queue)
    )
    under_way = plan_rule.ready(goal.pieces) or any(
        piece.stage in plan_rule.OPEN and piece.stage is not plan_rule.Stage.WAITING
        for piece in goal.pieces
    )
    if resting and lead and lead.interrupted and not goal.failure:
        or_news = ", or its workers' news" if under_way else ""
        return (Wait(INTERRUPTED, f"it waits for a line of yours{or_news}"),)
    if not resting or under_way or goal.failure or _goal_doing(world, goal):
        return ()
    if goal.plan_stage is PlanStage.PROPOSED and goal.go != "ask":
        return (Wait("Start", "its lead left the plan for you"),)
    if _open_asks(world, goal) or _decision_waits(world, goal):
        return ()
    return (Wait(YOUR_LINE, "its lead ended its turn and nothing is under way"),)


def _goal_doing(world: World, goal: Goal) -> str:
    """What plain code does for a goal while its lead rests."""
    if goal.failure or not goal.live:
        return ""
    if goal.stage is goal_rule.Stage.OPENING:
        return "" if goal.held else f"{goal.base} is read"
    if goal.review.stage is ReviewStage.JUDGING:
        return "the check runs on the whole"
    ship = _state(world, f"ship/{goal.id}", Ship)
    if ship is None or goal.review.stage is not ReviewStage.SHIPPING:
        return ""
    return SHIP_DOING.get(ship.stage, "")


SHIP_DOING = {
    ship_rule.Stage.TAKING: "shipping: the remote is read",
    ship_rule.Stage.CHECKING: "shipping: the check runs",
    ship_rule.Stage.PUSHING: "shipping: pushing",
}


def _session_doing(world: World, session: Session | None, doing: Doing) -> str:
    if session is None:
        return ""
    match session.stage:
        case session_state.Stage.STARTING:
            return "starting"
        case session_state.Stage.RUNNING if _holds_for_you(world, session):
            return ""  # its last tool is the one that waits
        case session_state.Stage.RUNNING:
            return doing(session.run) or "working"
        case session_state.Stage.CLOSING:
            return "ending its turn"
        case session_state.Stage.IDLE if session.queue and not session.interrupted:
            return "news is gathered for it"
        case _:
            return ""


def _owner_lines(session: Session | None) -> int:
    return len(steering.waiting(session)) if session else 0


def _steered(session: Session | None) -> int:
    return sum(len(one.lines) for one in session.steered) if session else 0


def _check_line(goal: Goal) -> str:
    waiting = [state.command for state in goal.commands if state.allowed is None]
    if waiting:
        return f"{waiting[0].kind}: waits for your Allow"
    check = goal.command("check")
    if not check:
        refused = any(state.command.kind == "check" for state in goal.commands)
        return "no check: you said Not this" if refused else "no check in the settings"
    if goal.check_by_owner:
        check = f"{check} (set by you)"
    verdict = goal.base_verdict
    if verdict is None:
        return f"check: {check}"
    if verdict.failure:
        return f"check: {check} · could not run on {goal.base}"
    state = f"passes on {goal.base}" if verdict.passed else f"already red on {goal.base}"
    return f"check: {check} · {state}"


def _cost(world: World, goal: Goal) -> float:
    sessions = {goal.session, *(piece.session for piece in (*goal.pieces, *goal.earlier))}
    costs = (s.cost_usd for s in _all(world, "session/", Session) if s.id in sessions)
    return math.fsum(costs)  # the same in any order: a start must not change a card


def _counted(goal: Goal) -> list[Piece]:
    """The pieces of a goal's progress: the current plan's, and what landed of earlier ones."""
    earlier = [piece for piece in goal.earlier if piece.stage is plan_rule.Stage.LANDED]
    return [*earlier, *goal.pieces] if goal.plan_stage is PlanStage.STARTED else []


def _session_card(world: World, goal: Goal, doing: Doing) -> SessionCard:
    lead = _lead(world, goal)
    fenced, fence = _fence(world, lead.machine if lead else "here")
    buttons: list[str] = []
    if goal.live:
        if lead and lead.stage is session_state.Stage.RUNNING:
            buttons += ["now"] if steering.may_say_now(lead) else []
            buttons += ["interrupt", "peek"]
        sessions = (goal.session, *(piece.session for piece in goal.at_work))
        past = any(_is_past_limit(_state(world, f"session/{s}", Session)) for s in sessions)
        resting = ["resume", "stop"] if past else ["stop"]
        buttons += ["resume", "drop"] if goal.held else resting
        buttons.append("settings")
    decided = ""
    if goal.stage is goal_rule.Stage.SHIPPED:
        decided = f"Shipped: {goal.where}"
    elif goal.stage is goal_rule.Stage.DROPPED:
        decided = "Dropped by you"
    return SessionCard(
        id=goal.id,
        goal=goal.id,
        at=goal.opened_at,
        project=goal.project,
        title=goal.title,
        text=goal.text,
        files=len(goal.files),
        stage=_stage_word(world, goal),
        doing=_session_doing(world, lead, doing) or _goal_doing(world, goal),
        agent=goal.account.agent,
        model=(lead.model if lead else "") or goal.model,
        mode=goal.mode,
        machines=goal.machines,
        machine=lead.where if lead and lead.live else "here",
        fence=fence or ("fenced" if fenced else ""),
        branch=goal.branch,
        base=goal.base,
        check=_check_line(goal) if goal.branch else "",
        waits=_lead_waits(world, goal, lead),
        pieces=len(_counted(goal)),
        landed=sum(piece.stage is plan_rule.Stage.LANDED for piece in _counted(goal)),
        cost_usd=_cost(world, goal),
        queued=_owner_lines(lead),
        steered=_steered(lead),
        rehearsal=goal.account.agent == "rehearsal",
        buttons=tuple(buttons),
        decided=decided,
    )


def _named(goal: Goal, piece: Piece) -> str:
    drawn = next((other for other in goal.as_proposed if other.id == piece.id), piece)
    return "named in the plan" if drawn.machine == piece.machine else "chosen by you"


def _where(world: World, goal: Goal, piece: Piece) -> str:
    session = _state(world, f"session/{piece.session}", Session)
    # While it waits for a place, why it does stands among its waits.
    if session and session.where and session.stage is not session_state.Stage.WANTING:
        return session.where
    fleet = _state(world, "fleet", Fleet)
    names = [machine.name for machine in fleet.machines] if fleet else ["here"]
    names = [name for name in names if name in (goal.machines or (name,))]
    if piece.machine and piece.machine in (goal.machines or (piece.machine,)):
        return f"{piece.machine}: {_named(goal, piece)}"
    return f"{names[0]}: only machine ticked" if len(names) == 1 else "where fewest agents run"


PLAN_WORDS = {"owner": "you", "lead": "the lead", "correction": "your correction"}


def _plan_card(world: World, goal: Goal) -> PlanCard:
    proposed = goal.plan_stage is PlanStage.PROPOSED and goal.live
    decided = {
        PlanStage.STARTED: f"Started by {PLAN_WORDS.get(goal.plan_by, goal.plan_by)}",
        PlanStage.DISCARDED: "Discarded by you",
    }.get(goal.plan_stage, "" if goal.live else "The goal is over")
    lines = tuple(
        PieceLine(
            number=piece.number,
            title=piece.title,
            task=piece.task,
            size=piece.size,
            after=piece.after,
            where=_where(world, goal, piece),
            agent=piece.agent,
            model=piece.model,
            stage=piece.stage.value if proposed else "",
            cost_usd=found.cost_usd if (found := estimates.of(piece, goal.estimates)) else 0.0,
        )
        for piece in goal.pieces
    )
    return PlanCard(
        id=goal.plan,
        goal=goal.id,
        at=goal.plan_at,
        summary=goal.plan_summary,
        pieces=lines,
        estimate=estimates.total(goal.pieces, goal.estimates),
        changed=bool(news.plan_changes(goal.as_proposed, goal.pieces)),
        buttons=("start", "change", "discard") if proposed else (),
        asks=proposed and goal.go == "ask",
        decided=decided,
        decided_at=goal.plan_at if decided else 0.0,
    )


def _piece_doing(
    world: World, goal: Goal, piece: Piece, session: Session | None, doing: Doing
) -> str:
    if piece.stage is plan_rule.Stage.COLLECTING:
        return "its work is being taken in"
    if piece.stage is not plan_rule.Stage.LANDING:
        return _session_doing(world, session, doing)
    landing = _state(world, f"landing/{goal.id}", Landing)
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
    fleet = _state(world, "fleet", Fleet)
    known = fleet.machine(session.machine) if fleet and session and session.machine else None
    return (Wait(known.name, known.why),) if known and not known.up else ()


def _worker_waits(
    world: World, goal: Goal, piece: Piece, session: Session | None
) -> tuple[Wait, ...]:
    if not goal.live or piece.stage in plan_rule.OVER:
        return ()
    under_way = piece.stage in UNDER_WAY or (session is not None and session.live)
    if under_way and (waits := _machine_waits(world, session)):
        return waits
    stage = session.stage if session else session_state.Stage.NEW
    if piece.stage is plan_rule.Stage.WORKING and stage is session_state.Stage.FAILED:
        return (Wait("its next attempt", piece.why, piece.again_at),)
    if piece.stage is plan_rule.Stage.PAUSED and stage is session_state.Stage.IDLE:
        return (Wait(INTERRUPTED, "it waits for a line of yours, or Retry"),)
    return _session_waits(world, session)


def _worker_card(world: World, goal: Goal, piece: Piece, doing: Doing) -> WorkerCard:
    session = _state(world, f"session/{piece.session}", Session)
    failed = piece.stage is plan_rule.Stage.FAILED and goal.live
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
        where=_where(world, goal, piece),
        agent=piece.agent,
        model=(session.model if session else "") or piece.model,
        branch=piece.branch,
        attempt=piece.attempt,
        waits=_worker_waits(world, goal, piece, session),
        uncopied=session.uncopied if session and piece.stage in plan_rule.OPEN else "",
        said=(session.said if session else "") or piece.summary,
        cost_usd=session.cost_usd if session else 0.0,
        queued=_owner_lines(session),
        steered=_steered(session),
        failure=piece.why if piece.stage is not plan_rule.Stage.WORKING else "",
        report=piece.report if failed else "",
        buttons=tuple(buttons),
        asks=failed,
    )


REVIEW_WORDS = {
    ReviewStage.CORRECTED: "Corrected by you: the lead has it fixed",
    ReviewStage.SHIPPING: "Shipping",
    ReviewStage.SHIPPED: "Shipped",
    ReviewStage.DROPPED: "Dropped by you",
}


def _review_card(world: World, goal: Goal) -> ReviewCard:
    review = goal.review
    is_open = review.stage is ReviewStage.OPEN and goal.live
    verdict = review.verdict
    if verdict.failure:
        check = f"check could not run: {verdict.failure}"
    elif not verdict.ran:
        check = "no check"
    else:
        check = f"check {verdict.summary}" if verdict.passed else f"check failed: {verdict.summary}"
    buttons = ("ship", "correct", "diff", "drop") if verdict.passed else ("correct", "diff", "drop")
    decided = REVIEW_WORDS.get(review.stage, "" if goal.live else "The goal is over")
    return ReviewCard(
        id=review.id,
        goal=goal.id,
        at=review.put_at,
        title=goal.title,
        summary=review.summary,
        commits=review.stats.commits,
        files=review.stats.files,
        added=review.stats.added,
        removed=review.stats.removed,
        check=check,
        check_passed=verdict.passed,
        report="" if verdict.passed else verdict.report,
        risks=review.risks,
        cost_usd=_cost(world, goal) if is_open else 0.0,
        # The one that was sent back is not the corrected one yet.
        corrected=goal.corrected - (review.stage is ReviewStage.CORRECTED),
        pieces=tuple(
            piece.title
            for piece in (*goal.earlier, *goal.pieces)
            if piece.stage is plan_rule.Stage.LANDED
        ),
        buttons=buttons if is_open else ("diff",),
        asks=is_open,
        decided=decided,
        decided_at=review.decided_at,
    )


def _remote(project: Project | None) -> str:
    """What the remote is called: its host and path, the folder's name on this machine."""
    url = project.push_url if project else ""
    if "://" in url:
        url = url.partition("://")[2]
    elif url.startswith(("/", "~", ".")):
        return url.rstrip("/").rpartition("/")[2] or url
    return url.rpartition("@")[2] or "origin"


def _ship_steps(goal: Goal, ship: Ship, remote: str) -> tuple[Step, ...]:
    order = ship_rule.Stage
    place = {
        order.PROCEED: 0,
        order.TAKING: 1,
        order.CHECKING: 2,
        order.READY: 3,
        order.PUSHING: 3,
        order.SHIPPED: 4,
        order.CANCELLED: 0,
        order.HANDED_BACK: 0,
    }[ship.stage]
    steps = {order.TAKING: 1, order.CHECKING: 2, order.PUSHING: 3}
    failed = steps[ship.failed] if ship.failed else 0
    texts = [f"review of {ship.head[:7]} passed"]
    texts.append(f"{goal.base} moved: taken in" if ship.moved else f"read {goal.base} at {remote}")
    texts.append(f"check on {ship.commit[:7]}" if ship.check and ship.commit else "check")
    if not ship.check:
        texts[2] = "no check to run"
    own = f"{ship.beside} commit{'' if ship.beside == 1 else 's'} of yours"
    texts.append(f"push, with {own} that {remote} never had" if ship.beside else "push")
    states = []
    for index in range(4):
        if failed and index == failed:
            states.append("failed")
        elif index < max(place, failed, 1):
            states.append("done")
        elif index == place and ship.stage in (order.TAKING, order.CHECKING, order.PUSHING):
            states.append("doing")
        else:
            states.append("todo")
    return tuple(Step(text, state) for text, state in zip(texts, states, strict=True))


def _ship_card(world: World, goal: Goal, ship: Ship) -> ShipCard:
    order = ship_rule.Stage
    project = _state(world, f"project/{goal.project}", Project)
    elsewhere = project is not None and not project.push_url
    target = (
        f"branch quarterdeck/{goal.id} in {project.source}"
        if project is not None and elsewhere
        else f"{goal.base} at {_remote(project)}"
    )
    words = {
        order.PROCEED: "failed" if ship.failed else "proceed",
        order.TAKING: "working",
        order.CHECKING: "working",
        order.READY: "ready",
        order.PUSHING: "pushing",
        order.SHIPPED: "shipped",
        order.CANCELLED: "cancelled",
        order.HANDED_BACK: "handed back",
    }
    buttons = {
        order.PROCEED: ("proceed", "cancel"),
        order.TAKING: ("cancel",),
        order.CHECKING: ("cancel",),
        order.READY: ("push", "cancel"),
    }.get(ship.stage, ())
    hint = ""
    if elsewhere and ship.stage is order.SHIPPED:
        hint = f"git merge quarterdeck/{goal.id}"
    return ShipCard(
        id=ship.id,
        goal=goal.id,
        title=goal.title,
        stage=words[ship.stage],
        steps=_ship_steps(goal, ship, _remote(project)),
        target=ship.where or target,
        commit=ship.commit or ship.head,
        why=ship.why,
        words=ship.words,
        speaker="check" if ship.failed == order.CHECKING else "remote",
        merge_hint=hint,
        buttons=buttons if goal.live else (),
        asks=goal.live and ship.stage in (order.PROCEED, order.READY),
        decided={
            order.SHIPPED: "Shipped",
            order.CANCELLED: "Cancelled by you",
            order.HANDED_BACK: "Its lead mends it, then you get a new review",
        }.get(ship.stage, ""),
        decided_at=ship.decided_at,
    )


FAILURE_WORDS = {
    TurnError.START: "The lead could not start",
    TurnError.CUT_OFF: "The lead keeps being cut off",
}


def _sign_in(goal: Goal) -> str:
    """What an owner can do about it from where they are; the agent's own advice is for its terminal."""
    account = goal.account
    return (
        f"Give account {account.name} a new login on the box (quarterdeck account add "
        f"{account.name} --agent {account.agent} …), then press Retry."
    )


def _failure_card(goal: Goal) -> FailureCard:
    opening = goal.stage is goal_rule.Stage.OPENING
    signed_out = goal.failure_kind is TurnError.LOGIN and not opening
    what = (
        "The goal could not start"
        if opening
        else FAILURE_WORDS.get(goal.failure_kind, "The lead's turn failed")
    )
    return FailureCard(
        id=f"{goal.id}-failed-{int(goal.failed_at)}",
        goal=goal.id,
        at=goal.failed_at,
        what=what,
        why=f"{goal.failure}\n{_sign_in(goal)}" if signed_out else goal.failure,
        buttons=() if goal.held else ("retry", "stop"),
        asks=not goal.held,
        decided="Stopped by you: Resume goes on" if goal.held else "",
    )


LOGIN = "login-"  # how the id of an account's card begins


def _login_card(account: str, why: str, at: float) -> FailureCard:
    """One for an account, however many of its runs wait."""
    return FailureCard(
        id=f"{LOGIN}{account}-{int(at)}",
        at=at,
        what=f"Account {account} is not signed in",
        why=f"{why} What waits for it goes on by itself then.",
        buttons=("retry",),
        asks=True,
    )


def account_of(card: FailureCard) -> str:
    """The account whose login a card is about."""
    return card.id.removeprefix(LOGIN).rpartition("-")[0]


# ---------------------------------------------------------------- asks


LIMIT_WORDS = {
    Decision.ALLOW: "Goes on",
    Decision.DENY: "Left: Resume on its session's card goes on",
}


def _ask_card(world: World, ask: Ask) -> AnyCard:
    is_open = ask.stage is ask_rule.Stage.OPEN
    decided = ""
    if ask.decision is not None:
        decided = ask_rule.already(ask) if not is_open else ""
        decided = decided.removeprefix("Already ").removesuffix(".")
        decided = decided[:1].upper() + decided[1:]
    if ask.command is not None and ask.decision is Decision.DENY:
        decided = "Not this: it never runs, and the work goes on without it"
    if ask.kind is AskKind.LIMIT and ask.decision in LIMIT_WORDS:
        decided = LIMIT_WORDS[ask.decision]
    session = _state(world, ask.teller, Session)
    machine = session.machine if session else "here"
    fenced, _ = _fence(world, machine)
    common: dict[str, object] = {
        "id": ask.id,
        "goal": ask.goal,
        "at": ask.asked_at,
        "asks": is_open,
        "decided": decided,
        "decided_at": ask.decided_at,
    }
    match ask.kind:
        case AskKind.PERMISSION:
            return PermissionCard(
                **common,  # type: ignore[arg-type]
                who=ask.who,
                tool=_tool_words(ask.tool),
                command=ask.detail,
                why=ask.title,
                machine=machine or "here",
                fenced=fenced,
                project=ask.keeper.removeprefix("project/"),
                rule=ask.rule,
                never=ask.never,
                buttons=_permission_buttons(ask) if is_open else (),
            )
        case AskKind.QUESTION:
            question = ask.questions[len(ask.answers)] if is_open and ask.questions else None
            options = question.options if question else ()
            picks = tuple(f"option-{index}" for index in range(len(options)))
            return QuestionCard(
                **common,  # type: ignore[arg-type]
                who=ask.who,
                questions=ask.questions,
                answers=ask.answers,
                buttons=(*picks, "answer") if is_open else (),
            )
        case AskKind.APPROACH:
            return ApproachCard(
                **common,  # type: ignore[arg-type]
                who=ask.who,
                text=ask.detail,
                buttons=("approve", "send_back", "stop") if is_open else (),
            )
        case AskKind.CHECK | AskKind.SETUP:
            goal = _state(world, f"goal/{ask.goal}", Goal)
            source = f"{goal.settings_from} at {goal.base_commit[:7]}" if goal else ""
            return CommandCard(
                **common,  # type: ignore[arg-type]
                kind=ask.kind.value,
                project=ask.title,
                command=ask.detail,
                source=source,
                buttons=("allow", "not_this") if is_open else (),
            )
        case AskKind.LIMIT:
            goal = _state(world, f"goal/{ask.goal}", Goal)
            return LimitCard(
                **common,  # type: ignore[arg-type]
                account=ask.title,
                title=goal.title if goal else "",
                buttons=("resume", "leave") if is_open else (),
            )
        case AskKind.WHERE:
            options = tuple(label for label, _ in ask.options)
            goal = _state(world, f"goal/{ask.goal}", Goal)
            if is_open and goal is not None and not goal.live:
                is_open = False
                common |= {"asks": False, "decided": "The goal is over"}
            return WhereCard(
                **common,  # type: ignore[arg-type]
                text=ask.detail,
                options=options,
                edited=ask.title == ask_rule.EDITED,
                files=tuple(file.name for file in ask.files),
                buttons=(*(f"option-{i}" for i in range(len(options))), "leave") if is_open else (),
            )


def _tool_words(tool: str) -> str:
    """A tool as the owner may read it: a server's own by its two names."""
    if tool == "AskUserQuestion":
        return "a question that cannot be shown"
    kind, _, rest = tool.partition("__")
    server, _, name = rest.partition("__")
    return f"{name} of {server}" if kind == "mcp" and name else tool


def _permission_buttons(ask: Ask) -> tuple[str, ...]:
    return ("allow", "deny") if ask.rule is None else ("allow", "always", "deny")


# ---------------------------------------------------------------- the board


def board(world: World, doing: Doing) -> Board:
    """/status: Now (waits on the owner), Running, Next, Landed."""
    now: list[Row] = []
    running: list[Row] = []
    following: list[Row] = []
    landed: list[Row] = []
    for goal, own in _each_goal(world):
        if not goal.live:
            now.extend(_left_asks(own, goal))
            continue
        shown = cards(own, goal.id, doing)
        now.extend(
            Row(goal.id, card.id, goal.title, asks_for(card))
            for card in shown
            if card.asks and not card.decided
        )
        for card in shown:
            if isinstance(card, SessionCard | WorkerCard):
                _rows_of_session(goal, card, now, running, following)
        for piece in goal.pieces:
            if piece.stage is plan_rule.Stage.WAITING:
                why = plan_rule.waits_for(piece, goal.pieces)
                why = f"after {why}" if why else _commands_wait(goal)
                following.append(Row(goal.id, goal.id, f"{piece.number}. {piece.title}", why))
            elif piece.stage is plan_rule.Stage.LANDED:
                landed.append(Row(goal.id, piece.id, f"{piece.number}. {piece.title}", goal.title))
    now.extend(Row("", card.id, "General", asks_for(card)) for card in general(world) if card.asks)
    fleet = _state(world, "fleet", Fleet) or Fleet()
    machines = tuple(_machine_line(fleet, machine.name) for machine in fleet.machines)
    return Board(tuple(now), tuple(running), tuple(following), tuple(landed), machines)


def _left_asks(world: World, goal: Goal) -> Iterator[Row]:
    """A goal that is over may have asked for the project what another goal now waits for."""
    for ask in _open_asks(world, goal):
        if ask.kind is AskKind.WHERE:
            continue  # about the goal itself
        yield Row(goal.id, ask.id, goal.title, asks_for(_ask_card(world, ask)))


def _commands_wait(goal: Goal) -> str:
    if goal.held:
        return "stopped: /resume goes on"
    return "waits for your word on the project's commands" if not goal.settled else "starts next"


def _rows_of_session(
    goal: Goal,
    card: SessionCard | WorkerCard,
    now: list[Row],
    running: list[Row],
    following: list[Row],
) -> None:
    title = "Lead" if isinstance(card, SessionCard) else f"{card.number}. {card.title}"
    title = f"{goal.title} · {title}"
    for wait in card.waits:
        if wait.what == YOUR_ANSWER:
            continue  # the card that asks has a row of its own
        said = wait.what.lower() if wait.what in AS_THEY_ARE else f"waits for {wait.what}"
        row = Row(goal.id, card.id, title, f"{said}: {wait.why}", wait.until)
        (now if wait.what in (YOUR_LINE, INTERRUPTED) else following).append(row)
    if card.doing and not card.waits:
        where = card.machine if isinstance(card, SessionCard) else card.where
        running.append(Row(goal.id, card.id, title, f"{card.doing} · {where}"))


PROJECT_ASKS = {
    "barred": "a key to let it in by",
    "bases": "the branch to start from",
    "failed": "it could not be read",
    "check": "how it is checked",
}


def asks_for(card: AnyCard) -> str:
    """What a card waits for, in a few words without foreign text."""
    match card:
        case PlanCard():
            return f"a plan of {len(card.pieces)} to start"
        case PermissionCard():
            return f"{card.who} asks to use {card.tool}"
        case QuestionCard():
            return f"{card.who} has a question"
        case ApproachCard():
            return f"{card.who} shows its approach"
        case CommandCard():
            return f"the project's {card.kind} to allow"
        case ProjectCard():
            return f"project {card.name}: {PROJECT_ASKS.get(card.stage, 'your word')}"
        case ReviewCard():
            return "a review"
        case ShipCard():
            return "Push" if card.stage == "ready" else "Proceed"
        case FailureCard():
            return card.what
        case WorkerCard():
            return f"worker {card.number} failed"
        case LimitCard():
            return "whether to go on after a usage limit"
        case WhereCard(edited=True):
            return "whether your edit of the goal goes to its lead"
        case WhereCard():
            return "which goal a line of yours is for"
        case _:
            return "your word"


def _machine_line(fleet: Fleet, name: str) -> str:
    machine = fleet.machine(name)
    if machine is None:
        return name
    runs = sum(slot.machine == name for slot in fleet.running)
    state = machine.fence if machine.up else f"down: {machine.why}"
    if machine.paused:
        state = f"paused by you · {state}"
    return f"{name} · {runs} of {machine.max_runs} runs · {state}"
