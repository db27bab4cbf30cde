"""Buttons, and lines written to a card: judged by what was on the phone.

Neighbours: goals.py, for lines that belong to no card; engine/board/, which made the cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engine import board
from engine.asker import pressed
from engine.errors import Refused
from engine.night import zone_of
from engine.requests.aside import Aside
from engine.requests.goals import WITHOUT_WORDS, Goals
from engine.requests.logins import Logins
from engine.requests.pins import Pins
from engine.rules import ask as ask_rule
from engine.rules import news, steering
from engine.rules.events import (
    AccountFreed,
    Answered,
    AnyEvent,
    AskWithdrawn,
    GoalDropped,
    GoalResumed,
    GoalStopped,
    LoginCancelled,
    PieceRetried,
    PieceStopped,
    PlanDiscarded,
    PlanStarted,
    ProjectCheck,
    ProjectLeft,
    ProjectRetried,
    ReviewCorrected,
    SaidNow,
    ShipCalled,
    ShipCancelled,
    ShipProceeded,
    ShipPushed,
    TurnInterrupted,
)
from engine.rules.session_state import Session
from engine.rules.words import Attachment, Decision
from engine.views import (
    AnyCard,
    ApproachCard,
    CommandCard,
    Document,
    FailureCard,
    KeyedCard,
    LimitCard,
    LoginCard,
    PermissionCard,
    PlanCard,
    ProjectCard,
    QuestionCard,
    ReviewCard,
    SessionCard,
    ShipCard,
    TrustCard,
    WhereCard,
    WorkerCard,
    parted,
)

CHANGED = "This card changed since it was shown. Look at it again."
TAP_START = "Tap Start under the plan to start it. Any other line goes to its lead."
TWICE = "That takes a second tap, on the card: what it does cannot be undone."
NO_GO = "Tap its button, and confirm it there: a line gives no leave for this."
GONE = "That card is not there any more. /status shows what waits."

DECISIONS = {
    "allow": Decision.ALLOW,
    "allow_once": Decision.ALLOW,
    "always": Decision.ALLOW,
    "deny": Decision.DENY,
    "not_this": Decision.DENY,
    "approve": Decision.APPROVE,
    "send_back": Decision.SEND_BACK,
    "answer": Decision.ANSWER,
    "resume": Decision.ALLOW,
    "leave": Decision.DENY,
    "trust": Decision.ALLOW,
    "leave_off": Decision.DENY,
}
TRUST_SAID = {"trust": "Trusted", "leave_off": "Left off"}
LIMIT_SAID = {"resume": "Goes on", "leave": "Left: Resume goes on"}


class Taps(Goals, Aside, Logins, Pins):
    """Requests about cards."""

    async def hear(
        self,
        text: str,
        goal: str = "",
        card: str = "",
        by: str = "owner",
        cause: str = "",
        files: Sequence[Attachment] = (),
        line: str = "",
    ) -> dict[str, str]:
        """A line of the owner: an answer, to the session a card is about, to a lead, or a new goal."""
        shown = self._cards.get(card)
        sent = self._sent(files)
        if not text.strip():
            if not sent:
                raise Refused("That line is empty.")
            if not goal and (shown is None or not shown.goal):
                raise Refused(WITHOUT_WORDS)
            text = news.WORDLESS
        if isinstance(shown, WorkerCard):
            return await self._to_worker(shown, text, cause, sent, line)
        if isinstance(shown, QuestionCard) and "answer" in shown.buttons:
            # A line for after the turn would wait for the turn that waits for this very answer.
            verdict = await self._tapped(shown, "answer", text, cause, sent)
            return {"goal": shown.goal, "verdict": verdict}
        if isinstance(shown, ApproachCard) and "send_back" in shown.buttons:
            # Nor may words on an approach wait for the turn that waits for a word on it.
            verb, words = ("approve", "") if ask_rule.assents(text) else ("send_back", text)
            return {
                "goal": shown.goal,
                "verdict": await self._tapped(shown, verb, words, cause, sent),
            }
        if isinstance(shown, PlanCard) and "start" in shown.buttons and ask_rule.assents(text):
            raise Refused(TAP_START)
        if isinstance(shown, ProjectCard):
            if "another" not in shown.buttons:
                raise Refused("That card takes no words: tap one of its buttons.")
            return {"goal": "", "verdict": await self._tapped(shown, "another", text, cause)}
        if shown is not None and shown.goal:
            asked = self._loop.state(f"ask/{shown.id}")
            if isinstance(asked, ask_rule.Ask) and asked.teller.startswith("session/"):
                teller = asked.teller.partition("/")[2]
                return await self._to_session(teller, text, cause, sent, line)
            goal = shown.goal
        if goal:
            return await self._to_lead(goal, text, cause, sent, line)
        live = [found for found in board.goals(self.world()) if found.live]
        if not live:
            return await self.new_goal("", text, by, cause, files)
        options = [(f"New goal in {name}", f"project:{name}") for name in sorted(self._projects())]
        options += [(f"To: {found.title}", f"goal:{found.id}") for found in live]
        return await self._ask_where(text, tuple(options), cause, sent)

    async def tap(
        self,
        card: str,
        revision: str,
        verb: str,
        text: str = "",
        cause: str = "",
        files: Sequence[Attachment] = (),
        pin: str = "",
    ) -> dict[str, str]:
        """Do what a button says, if the card still is what was shown: {"verdict": words}.

        "wrong" is in it where the PIN was: then nothing was done, and it may be typed again.
        """
        shown = self._cards.get(card)
        if shown is None:
            raise Refused(GONE)
        verb, sure = parted(verb)
        if verb not in shown.buttons:
            if shown.decided:
                raise Refused(f"{shown.decided}{self._at(shown.decided_at)}.")
            raise Refused(CHANGED)
        if revision != shown.revision:
            raise Refused(CHANGED)
        if verb in shown.twice and not sure:
            raise Refused(TWICE)
        if verb in shown.pinned and (wrong := await self._wrong_pin(pin, cause)):
            return {"verdict": wrong, "wrong": "pin"}
        sent = self._sent(files)
        said = text if text.strip() or not sent else news.WORDLESS
        return {"verdict": await self._tapped(shown, verb, said, cause, sent)}

    async def _tapped(
        self,
        card: AnyCard,
        verb: str,
        text: str,
        cause: str,
        files: tuple[Attachment, ...] = (),
    ) -> str:
        pressed(card, verb)
        match card:
            case ReviewCard() if verb == "ship":
                called = ShipCalled(review=card.id, ship=await self._id("sh"))
                await self._loop.post(f"goal/{card.goal}", called, cause)
                return "Shipping"
            case ApproachCard() if verb == "stop":
                stream, stopped = self._stop_of(card)
                await self._loop.post(stream, stopped, cause)
                return "Stopped"
            case PermissionCard() if verb == "always":
                always = Answered(decision=Decision.ALLOW, always=True)
                await self._loop.post(f"ask/{card.id}", always, cause)
                return "Always allowed"
            case KeyedCard():
                decided = Answered(decision=DECISIONS[verb], always=verb == "always")
                await self._loop.post(f"ask/{card.id}", decided, cause)
                return "Always allowed" if decided.always else ask_rule.SAID[decided.decision]
            case PermissionCard() | CommandCard() | ApproachCard() | LimitCard() | TrustCard():
                answered = Answered(decision=DECISIONS[verb], text=text, files=files)
                await self._loop.post(f"ask/{card.id}", answered, cause)
                verdict = TRUST_SAID.get(verb, ask_rule.SAID[answered.decision])
                return LIMIT_SAID[verb] if isinstance(card, LimitCard) else verdict
            case QuestionCard():
                answer = _option(card.questions[len(card.answers)].options, verb) or text
                if card.stakes:
                    answer = _leave(card, verb, answer)
                event = Answered(
                    decision=Decision.ANSWER, text=answer, index=len(card.answers), files=files
                )
                await self._loop.post(f"ask/{card.id}", event, cause)
                return f"Answered: {answer.splitlines()[0]}"[:190]
            case WhereCard():
                return await self._where(card, verb, cause)
            case LoginCard() if verb in ("log_in", "again"):
                return (await self.log_in(card.account, cause))["verdict"]
            case FailureCard() if card.id.startswith(board.ASIDE):
                return await self._about_aside(card, verb)
            case ProjectCard():
                said, verdict = _about_project(card, verb, text)
                await self._loop.post(f"project/{card.name}", said, cause)
                return verdict
            case _:
                stream, said, verdict = self._event(card, verb, text, files)
                await self._loop.post(stream, said, cause)
                return verdict

    def _stop_of(self, card: ApproachCard) -> tuple[str, AnyEvent]:
        """What stops whoever showed its approach: its piece, or the goal where it was the lead."""
        goal = self._goal(card.goal)
        asked = self._loop.state(f"ask/{card.id}")
        session = asked.teller.partition("/")[2] if isinstance(asked, ask_rule.Ask) else ""
        piece = goal.piece_of(session)
        return goal.stream, PieceStopped(piece=piece.id) if piece else GoalStopped()

    def _at(self, when: float) -> str:
        there = zone_of(self._owner())
        return f" at {datetime.fromtimestamp(when, there):%H:%M}" if when else ""

    def _event(
        self, card: AnyCard, verb: str, text: str, files: tuple[Attachment, ...] = ()
    ) -> tuple[str, AnyEvent, str]:
        """The event a button is, its stream, and what the owner is told."""
        goal = f"goal/{card.goal}"
        ship = f"ship/{card.goal}"
        match card, verb:
            case LoginCard(), "retry":
                return "fleet", AccountFreed(name=card.account), "Goes on"
            case LoginCard(), "cancel":
                return "fleet", LoginCancelled(login=card.login), "Cancelled"
            case PlanCard(), "start":
                return goal, PlanStarted(plan=card.id, edits=card.edits), "Started"
            case PlanCard(), "discard":
                return goal, PlanDiscarded(plan=card.id), "Discarded"
            case ReviewCard(), "correct":
                corrected = ReviewCorrected(review=card.id, text=text, files=files)
                return goal, corrected, "The lead has it"
            case ReviewCard(), "drop":
                return goal, GoalDropped(), "Dropped"
            case ShipCard(), "proceed":
                return ship, ShipProceeded(), "On its way"
            case ShipCard(), "push":
                return ship, ShipPushed(), "Pushing"
            case ShipCard(), "cancel":
                return ship, ShipCancelled(), "Cancelled: nothing was pushed"
            case ((SessionCard() | WorkerCard()), ("interrupt" | "now")):
                return self._within_turn(card, verb)
            case SessionCard(), "drop":
                return goal, GoalDropped(), "Dropped"
            case ((SessionCard() | FailureCard()), "stop"):
                return goal, GoalStopped(), "Stopped: Resume goes on"
            case ((SessionCard() | FailureCard()), ("resume" | "retry")):
                return goal, GoalResumed(), "Goes on"
            case WorkerCard(), "stop":
                return goal, PieceStopped(piece=card.id), "Stopped for good; its lead is told"
            case WorkerCard(), "retry":
                return goal, PieceRetried(piece=card.id), "Tried again"
            case _:
                raise Refused(CHANGED)

    def _within_turn(self, card: SessionCard | WorkerCard, verb: str) -> tuple[str, AnyEvent, str]:
        """Interrupt, and Now: what becomes of the running turn, and of the lines that wait for it."""
        goal = self._goal(card.goal)
        name = self._worker(card) if isinstance(card, WorkerCard) else goal.session
        stream = f"session/{name}"
        found = self._loop.state(stream)
        session = found if isinstance(found, Session) else Session(id=name)
        if verb == "now" and steering.is_heard_at_once(session):
            return stream, SaidNow(), "It hears it with its next step"
        waits = session.queue or session.steered
        ended = "it goes on with your line" if waits else "it waits for a line from you"
        event = SaidNow() if verb == "now" else TurnInterrupted()
        return stream, event, f"Interrupted: {ended}"

    def _worker(self, card: WorkerCard) -> str:
        piece = self._goal(card.goal).piece(card.id)
        if piece is None:
            raise Refused(GONE)
        return piece.session

    async def _where(self, card: WhereCard, verb: str, cause: str) -> str:
        """The owner said where a line goes: settle the ask, then send it there."""
        if verb == "leave":
            await self._loop.post(f"ask/{card.id}", AskWithdrawn(why="you left it"), cause)
            return "Left: nothing was sent" if card.edited else "Left: nothing was started"
        ask = self._loop.state(f"ask/{card.id}")
        label = _option(card.options, verb)
        value = dict(ask.options).get(label, "") if isinstance(ask, ask_rule.Ask) else ""
        files = ask.files if isinstance(ask, ask_rule.Ask) else ()
        kind, _, name = value.partition(":")
        if kind == "edit":
            result = await self._to_lead(name, news.edited(card.text), f"{cause}.where")
        elif kind == "project":
            result = await self._open_goal(name, card.text, f"{cause}.where", files)
        else:
            result = await self._to_lead(name, card.text, f"{cause}.where", files)
        await self._loop.post(
            f"ask/{card.id}", Answered(decision=Decision.ANSWER, text=label), cause
        )
        return result["verdict"]

    async def document(self, card: str, what: str) -> Document:
        """A text too long for a card: "diff" of a review."""
        shown = self._cards.get(card)
        match shown, what:
            case ReviewCard(), "diff":
                goal = self._goal(shown.goal)
                head = goal.review.head or goal.head
                text = await self._hub.diff(goal.project, goal.base_commit, head)
                stats = f"{shown.commits} commits · {shown.files} files"
                return Document(
                    name=f"{goal.id}.diff", text=text or "No difference.", caption=stats
                )
            case _:
                raise Refused(GONE)


def _leave(card: QuestionCard, verb: str, answer: str) -> str:
    """What an agent that asked for leave is told: only a confirmed button gives it."""
    if verb == "allow":
        return news.LEAVE
    if verb == "deny":
        return news.NO_LEAVE
    if verb in card.twice:
        return f"{answer}\n{news.LEAVE_FOR}"
    if ask_rule.assents(answer):
        raise Refused(NO_GO)
    return f"{answer}\n{news.NO_LEAVE_YET}" if answer.strip() else answer


def _about_project(card: ProjectCard, verb: str, text: str) -> tuple[AnyEvent, str]:
    """The event a button of a repository's card is, and what the owner is told."""
    match verb:
        case "cancel":
            return ProjectLeft(), "Left: nothing was added"
        case "allow":
            return ProjectCheck(text=card.command), "It checks every goal's work"
        case "not_this":
            return ProjectCheck(text=""), "No check, then"
        case "another":
            if not text.strip():
                raise Refused("That line is empty. Tap Another… again and send the command.")
            return ProjectCheck(text=text), f"Checked with: {text.strip()}"[:190]
        case _:
            return ProjectRetried(base=_option(card.options, verb)), "Looking again"


def _option(options: Sequence[str], verb: str) -> str:
    """The option a button `option-2` stands for; "" if it is no such button."""
    _, _, index = verb.partition("option-")
    return options[int(index)] if index.isdigit() and int(index) < len(options) else ""
