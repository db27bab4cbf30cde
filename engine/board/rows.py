"""/status: what waits on the owner, runs, comes next and has landed, one row each.

Pure; made from the cards themselves, so that both say the same. Neighbour: every_card.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.board.ask_card import ask_card
from engine.board.every_card import cards, general
from engine.board.looking import Doing, World, each_goal, open_asks, state_of
from engine.board.waits import YOUR_ANSWER, YOUR_LINE, commands_wait
from engine.rules import plan as plan_rule
from engine.rules.fleet import Fleet
from engine.rules.goal_state import Goal
from engine.rules.unseen import in_quotes
from engine.rules.words import AskKind
from engine.views import (
    INTERRUPTED,
    AnyCard,
    ApproachCard,
    Board,
    CommandCard,
    FailureCard,
    KeyedCard,
    LimitCard,
    LoginCard,
    PermissionCard,
    PlanCard,
    ProjectCard,
    QuestionCard,
    ReviewCard,
    Row,
    SessionCard,
    ShipCard,
    TrustCard,
    WhereCard,
    WorkerCard,
)


def board(world: World, doing: Doing, aside: Sequence[AnyCard] = ()) -> Board:
    """/status: Now (waits on the owner), Running, Next, Landed."""
    now: list[Row] = []
    running: list[Row] = []
    following: list[Row] = []
    landed: list[Row] = []
    for goal, own in each_goal(world):
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
                why = f"after {why}" if why else commands_wait(goal)
                following.append(Row(goal.id, goal.id, f"{piece.number}. ", why, piece=piece.title))
            elif piece.stage is plan_rule.Stage.LANDED:
                row = Row(goal.id, piece.id, f"{piece.number}. ", goal.title, piece=piece.title)
                landed.append(row)
    now.extend(
        Row("", card.id, "General", asks_for(card))
        for card in (*general(world), *aside)
        if card.asks
    )
    fleet = state_of(world, "fleet", Fleet) or Fleet()
    machines = tuple(_machine_line(fleet, machine.name) for machine in fleet.machines)
    return Board(tuple(now), tuple(running), tuple(following), tuple(landed), machines)


def _left_asks(world: World, goal: Goal) -> Iterator[Row]:
    """A goal that is over may have asked for the project what another goal now waits for."""
    for ask in open_asks(world, goal):
        if ask.kind is AskKind.WHERE:
            continue  # about the goal itself
        yield Row(goal.id, ask.id, goal.title, asks_for(ask_card(world, ask)))


def _rows_of_session(
    goal: Goal,
    card: SessionCard | WorkerCard,
    now: list[Row],
    running: list[Row],
    following: list[Row],
) -> None:
    which, piece = "Lead", ""
    if isinstance(card, WorkerCard):
        which, piece = f"{card.number}. ", card.title
    title = f"{_short(goal.title)} · {which}"
    for wait in card.waits:
        if wait.what == YOUR_ANSWER:
            continue  # the card that asks has a row of its own
        said = f"{wait.said}: {wait.why}" if wait.ours else wait.said
        why = "" if wait.ours else wait.why
        row = Row(goal.id, card.id, title, said, wait.until, piece=piece, why=why)
        (now if wait.what in (YOUR_LINE, INTERRUPTED) else following).append(row)
    if card.doing and not card.waits:
        where = card.machine if isinstance(card, SessionCard) else card.where
        doing = "" if card.silence is not None else card.doing
        row = Row(goal.id, card.id, title, where, silence=card.silence, piece=piece, doing=doing)
        running.append(row)


SHORT = 30
PROJECT_ASKS = {
    "barred": "a key to let it in by",
    "bases": "the branch to start from",
    "failed": "it could not be read",
    "check": "how it is checked",
}


def asks_for(card: AnyCard) -> str:
    """What a card waits for, in a few words of ours; a name in them stands between quotes."""
    match card:
        case PlanCard():
            return f"a plan of {len(card.pieces)} to start"
        case PermissionCard():
            return f"{card.who} asks to use {in_quotes(card.tool, 60)}"
        case KeyedCard():
            return f"{card.who} asks to use a stored key"
        case QuestionCard():
            return f"{card.who} has a question"
        case ApproachCard():
            return f"{card.who} shows its approach"
        case CommandCard():
            return f"the project's {card.kind} to allow"
        case TrustCard():
            return "whether you trust what the repository brings"
        case ProjectCard():
            return f"project {card.name}: {PROJECT_ASKS.get(card.stage, 'your word')}"
        case ReviewCard():
            return "a review"
        case ShipCard():
            return "Push" if card.stage == "ready" else "Proceed"
        case FailureCard():
            return card.what
        case LoginCard(stage="needed"):
            return f"Account {card.account} is not signed in"
        case LoginCard():
            return f"a login of account {card.account}"
        case WorkerCard():
            return f"worker {card.number} failed"
        case LimitCard():
            return "whether to go on after a usage limit"
        case WhereCard(edited=True):
            return "whether your edit of the goal goes to its lead"
        case WhereCard():
            return f"where your line goes: “{_short(' '.join(card.text.split()))}”"
        case _:
            return "your word"


def _short(title: str) -> str:
    """A goal's name beside a piece's: both must be seen."""
    return title if len(title) <= SHORT else f"{title[: SHORT - 1].rstrip()}…"


def _machine_line(fleet: Fleet, name: str) -> str:
    machine = fleet.machine(name)
    if machine is None:
        return name
    runs = sum(slot.machine == name for slot in fleet.running)
    fence = "fenced" if machine.fenced else f"⚠ {in_quotes(machine.fence)}"
    state = fence if machine.up else f"down: {in_quotes(machine.why)}"
    if machine.paused:
        state = f"paused by you · {state}"
    return f"{name} · {runs} of {machine.max_runs} runs · {state}"
