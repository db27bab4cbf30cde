"""The desk: what a lead or worker asks of us -> an event for a rule, or an answer at once.

What changes something is an event (the rule decides, and answers by the effect ReplyDesk); what only
reads is answered here. The tools and their arguments are listed in engine/node/desk.py, which looks
the arguments over before they leave the agent; here they are looked over again, since a fence's
inside is nobody to trust. Neighbours: engine/adapters/runs.py brings the calls, board/rows.py the status.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct

from engine import board, history, wanted_keys
from engine.adapters.hub import Hub
from engine.codec import whole
from engine.moments import to_come
from engine.night import zone_of
from engine.rules import ask as ask_rule
from engine.rules import estimates, fenced, fleet, news, plan
from engine.rules.events import (
    Answered,
    AnyEvent,
    AskRaised,
    PieceRetried,
    PieceStopped,
    PlanProposed,
    PlanStarted,
    ReviewPut,
    WakeAsked,
    WorkerDone,
    WorkerMessaged,
)
from engine.rules.goal_state import Goal
from engine.rules.keyed_rule import TOOL, Wanted
from engine.rules.session_state import Session
from engine.rules.words import HERE, AskKind, Decision, Peril, PieceDraft, Question, Role, Stake
from stores.ledger import Ledger
from stores.vault import Secret

MAX_NUMBER = 2**53
MAX_WAKE_MIN = 7 * 24 * 60
MAX_WHY = 500  # characters of what an agent wants to be woken for
MAX_OPTIONS = 8  # buttons under a question; more is said in words
DIFF_SHOWN = 60_000  # characters of a diff an agent is handed

Events = Sequence[tuple[str, AnyEvent]]
Arguments = Mapping[str, Any]


class _ProposePlan(Struct, forbid_unknown_fields=True):
    summary: str
    pieces: tuple[PieceDraft, ...]


class _Piece(Struct, forbid_unknown_fields=True):
    piece: int
    text: str = ""
    why: str = ""
    model: str = ""
    note: str = ""


class _Diff(Struct, forbid_unknown_fields=True):
    piece: int = 0
    path: str = ""


class _Review(Struct, forbid_unknown_fields=True):
    summary: str


class _Done(Struct, forbid_unknown_fields=True):
    summary: str = ""


class _AskOwner(Struct, forbid_unknown_fields=True):
    question: str
    options: tuple[str, ...] = ()
    kind: str = "question"
    amount_usd: float = 0.0


class _Answer(Struct, forbid_unknown_fields=True):
    ask: str
    decision: str
    text: str = ""


class _WakeMe(Struct, forbid_unknown_fields=True):
    why: str
    after_minutes: int = 0
    at: str = ""


class _RunWithSecret(Struct, forbid_unknown_fields=True):
    names: tuple[str, ...]
    argv: tuple[str, ...]
    why: str


class _Nothing(Struct):
    pass


LEADS = {
    "propose_plan": _ProposePlan,
    "start_plan": _Nothing,
    "status": _Nothing,
    "diff": _Diff,
    "message_worker": _Piece,
    "stop_worker": _Piece,
    "retry_piece": _Piece,
    "put_for_review": _Review,
    "wake_me": _WakeMe,
    "answer": _Answer,
}
EITHER = {"ask_owner": _AskOwner, "secrets": _Nothing, "run_with_secret": _RunWithSecret}
LEADS |= EITHER
WORKERS = {"done": _Done, **EITHER}


async def _no_keys() -> tuple[Secret, ...]:
    return ()


class Desk:
    """Answers the calls of every session's desk."""

    def __init__(
        self,
        ledger: Ledger,
        hub: Hub,
        world: Callable[[], board.World],
        clock: Callable[[], float] = time.time,
        *,
        keys: Callable[[], Awaitable[tuple[Secret, ...]]] = _no_keys,
    ) -> None:
        self._keys = keys
        self._ledger = ledger
        self._hub = hub
        self._world = world
        self._clock = clock

    async def __call__(
        self, session: Session, call: str, tool: str, arguments: dict[str, Any]
    ) -> Events | str:
        """Return the events a call is, each for its stream, or the words that answer it."""
        tools = LEADS if session.role is Role.LEAD else WORKERS
        shape = tools.get(tool)
        if shape is None:
            return f"There is no tool {tool} for you. Yours: {', '.join(tools)}."
        try:
            odd = _odd(arguments)
        except RecursionError:
            odd = "brackets within brackets, too deep to be read."
        if odd:
            return f"{tool}: {odd}"
        try:
            asked: Any = msgspec.convert(arguments, shape)
        except msgspec.ValidationError as error:
            return f"{tool}: {error}"
        if isinstance(asked, _AskOwner) and (wrong := _unaskable(asked)):
            return f"{tool}: {wrong}"
        goal = self._world().get(f"goal/{session.goal}")
        if not isinstance(goal, Goal):
            return "Your goal is not there any more; end your turn."
        return await self._carry(session, goal, call, tool, asked)

    async def _carry(
        self, session: Session, goal: Goal, call: str, tool: str, asked: Any
    ) -> Events | str:
        to = goal.stream
        match tool:
            case "propose_plan":
                if wrong := self._no_machine(asked) or self._no_account(goal, asked):
                    return wrong
                return [(to, await self._plan(goal, asked, call))]
            case "start_plan":
                return [(to, PlanStarted(plan=goal.plan, by="lead", call=call))]
            case "status":
                return self._status(goal)
            case "diff":
                return await self._diff(goal, asked)
            case "message_worker":
                told = WorkerMessaged(piece=str(asked.piece), text=asked.text, call=call)
                return [(to, told)]
            case "stop_worker":
                return [(to, PieceStopped(piece=str(asked.piece), why=asked.why, call=call))]
            case "retry_piece":
                again = PieceRetried(
                    piece=str(asked.piece), model=asked.model, note=asked.note, call=call
                )
                return [(to, again)]
            case "put_for_review":
                review = await self._id("r")
                ship = await self._id("sh")
                return [(to, ReviewPut(review=review, ship=ship, summary=asked.summary, call=call))]
            case "done":
                return [(to, WorkerDone(session=session.id, summary=asked.summary, call=call))]
            case "answer":
                return self._answer(goal, asked)
            case "wake_me":
                return self._wake(session, asked, call)
            case "secrets":
                return wanted_keys.listed(await self._keys(), session)
            case "run_with_secret":
                return await self._with_keys(session, asked, call)
            case _:
                return [(session.stream, await self._ask(session, asked, call))]

    async def _with_keys(self, session: Session, asked: _RunWithSecret, call: str) -> Events | str:
        machine = self._fleet().machine(session.machine or HERE)
        wrong = wanted_keys.wrong(
            asked.names,
            asked.argv,
            asked.why,
            await self._keys(),
            session,
            fenced=machine is not None and machine.fenced,
        )
        if wrong:
            return f"run_with_secret: {wrong}"
        wanted = Wanted(asked.names, asked.argv)
        raised = AskRaised(
            run=session.run,
            ask=await self._id("a"),
            request="",
            kind=AskKind.KEY,
            title=asked.why.strip(),
            detail=wanted.command,
            tool=TOOL,
            input_json=wanted.packed,
            call=call,
        )
        return [(session.stream, raised)]

    def _fleet(self) -> fleet.Fleet:
        known = self._world().get("fleet")
        return known if isinstance(known, fleet.Fleet) else fleet.Fleet()

    def _machines(self) -> tuple[fleet.Machine, ...]:
        return self._fleet().machines

    def _no_machine(self, asked: _ProposePlan) -> str:
        """Say which piece names a machine there is none of, or ""."""
        names = [machine.name for machine in self._machines()]
        for number, piece in enumerate(asked.pieces, start=1):
            if piece.machine and piece.machine not in names:
                return (
                    f"Piece {number} names the machine {piece.machine}, and there is none. There "
                    f"are: {', '.join(names)}. Name none, and it runs where fewest agents do."
                )
        return ""

    def _no_account(self, goal: Goal, asked: _ProposePlan) -> str:
        """Say which piece names an agent that no account drives, or ""."""
        known = tuple(dict.fromkeys((goal.account.agent, *fleet.reach(self._fleet()).agents)))
        for number, piece in enumerate(asked.pieces, start=1):
            if piece.agent and piece.agent not in known:
                return (
                    f"Piece {number} names the agent {piece.agent}, and no account drives it. "
                    f"There are: {', '.join(known)}. Name none, and it has yours."
                )
        return ""

    async def _id(self, kind: str) -> str:
        (number,) = await self._ledger.take(kind)
        return f"{kind}-{number}"

    async def _plan(self, goal: Goal, asked: _ProposePlan, call: str) -> PlanProposed:
        landed = tuple(history.landed(self._world(), goal.account.agent))
        count = len(asked.pieces)
        pieces = await self._ledger.take("p", max(count, 1))
        sessions = await self._ledger.take("s", max(count, 1))
        return PlanProposed(
            plan=await self._id("pl"),
            summary=asked.summary,
            pieces=asked.pieces,
            call=call,
            piece_ids=tuple(f"p-{number}" for number in pieces[:count]),
            session_ids=tuple(f"s-{number}" for number in sessions[:count]),
            estimates=estimates.by_size(landed, goal.project),
            reach=fleet.reach(self._fleet()),
        )

    async def _ask(self, session: Session, asked: _AskOwner, call: str) -> AskRaised:
        kinds = {
            "spend": "wants to spend money",
            "account": "needs an account",
            "irreversible": "wants to do what cannot be undone",
        }
        header = kinds.get(asked.kind, "")
        stakes: tuple[Stake, ...] = ()
        if asked.kind in list(Peril):
            stakes = (Stake(Peril(asked.kind), amount_usd=asked.amount_usd),)
        question = Question(asked.question, header=header, options=asked.options)
        return AskRaised(
            run=session.run,
            ask=await self._id("a"),
            request="",
            kind=AskKind.QUESTION,
            title=asked.question,
            detail=asked.question,
            questions=(question,),
            call=call,
            stakes=stakes,
        )

    def _wake(self, session: Session, asked: _WakeMe, call: str) -> Events | str:
        zone = zone_of(self._world().get("owner"))
        now = datetime.fromtimestamp(self._clock(), zone)
        if asked.at:
            try:
                on_the_clock = datetime.strptime(asked.at.strip(), "%H:%M").time()
            except ValueError:
                return "wake_me: `at` is a time of day by the owner's clock, like 07:30."
            due = datetime.combine(now.date(), on_the_clock, zone)
            if due.timestamp() <= now.timestamp():
                due = datetime.combine(now.date() + timedelta(days=1), on_the_clock, zone)
        elif 1 <= asked.after_minutes <= MAX_WAKE_MIN:
            due = datetime.fromtimestamp(now.timestamp() + asked.after_minutes * 60, zone)
        else:
            return "wake_me: say when, by `at` or by `after_minutes`, at most a week from now."
        wake = WakeAsked(
            due_at=due.timestamp(),
            clock=to_come(due.timestamp(), now.timestamp(), zone),
            why=asked.why[:MAX_WHY],
            call=call,
        )
        return [(session.stream, wake)]

    def _answer(self, goal: Goal, asked: _Answer) -> Events | str:
        """A lead may answer its own workers' questions; all else is the owner's alone."""
        ask = self._world().get(f"ask/{asked.ask}")
        if not isinstance(ask, ask_rule.Ask) or ask.goal != goal.id:
            return f"There is no ask {asked.ask} among your workers."
        if ask.teller == f"session/{goal.session}":
            return "That is your own question: the owner answers it."
        if asked.decision == "pass_on":
            return "It is with the owner."
        if asked.decision != "answer" or ask.kind is not AskKind.QUESTION or ask.stakes:
            return "Only the owner decides that; it is with them."
        event = Answered(decision=Decision.ANSWER, by=news.LEAD, text=asked.text)
        return [(f"ask/{asked.ask}", event)]

    def _status(self, goal: Goal) -> str:
        """Where everything stands, as plain lines."""
        lines = [
            f"goal {goal.id}: {goal.stage.value if goal.stage else 'new'}, branch {goal.branch}"
        ]
        changes = news.plan_changes(goal.as_proposed, goal.pieces)
        changed = f", changed by the owner: {changes}" if changes else ""
        lines.append(f"plan: {goal.plan_stage.value}{changed}")
        for piece in goal.pieces:
            waits = plan.waits_for(piece, goal.pieces) if piece.stage is plan.Stage.WAITING else ""
            after = f", waits for {waits}" if waits else ""
            why = f": {fenced.reason(piece.why)}" if piece.why else ""
            lines.append(
                f'{piece.number}. "{fenced.name(piece.title)}" {piece.stage.value}, attempt {piece.attempt}'
                f"{after}{why}"
            )
        for machine in self._machines() if len(self._machines()) > 1 else ():
            state = "up" if machine.up else f"down: {fenced.reason(machine.why)}"
            lines.append(f"machine {machine.name}: {state}")
        for stream, ask in self._world().items():
            if (
                stream.startswith("ask/")
                and isinstance(ask, ask_rule.Ask)
                and ask.goal == goal.id
                and ask.stage is ask_rule.Stage.OPEN
            ):
                lines.append(
                    f"waits for the owner: {ask.id} {ask.kind.value} of {fenced.line(ask.who)}"
                )
        review = goal.review
        if review.id:
            lines.append(f"review {review.id}: {review.stage.value}")
        return "\n".join(lines)

    async def _diff(self, goal: Goal, asked: _Diff) -> str:
        base, head = goal.base_commit, goal.head
        if asked.piece:
            piece = next((piece for piece in goal.pieces if piece.number == asked.piece), None)
            if piece is None or not piece.commit:
                return f"Piece {asked.piece} has brought no commit in yet."
            base, head = piece.base, piece.commit
        text = await self._hub.diff(goal.project, base, head, asked.path or None)
        if not text:
            return "No difference."
        cut = "\nIt is cut there: ask for one `path` at a time." if len(text) > DIFF_SHOWN else ""
        return f"{fenced.whole(text[:DIFF_SHOWN], 'diff')}{cut}"


def _unaskable(asked: _AskOwner) -> str:
    if asked.kind not in ("question", *Peril):
        return f"there is no kind {asked.kind}. There are: {', '.join(('question', *Peril))}."
    if asked.amount_usd < 0 or (asked.amount_usd and asked.kind != Peril.SPEND):
        return "amount_usd is how much would be spent: above 0, and of kind spend alone."
    if not asked.question.strip():
        return "there is no question in it."
    if len(asked.options) > MAX_OPTIONS or not all(option.strip() for option in asked.options):
        return f"give at most {MAX_OPTIONS} options, none of them empty."
    return ""


def _odd(value: object) -> str:
    """Say what in a call's arguments nothing of ours can hold; "" if all of it can be held."""
    match value:
        case str() if "\0" in value or whole(value) != value:
            return "its text holds what is no character (NUL, or half a surrogate pair)."
        case bool():
            return ""
        case int() if abs(value) > MAX_NUMBER:
            return "a number in it is too large."
        case float() if not math.isfinite(value):
            return "a number in it is none."
        case dict():
            return _odd([*value, *value.values()])
        case list():
            return next((odd for one in value if (odd := _odd(one))), "")
        case _:
            return ""
