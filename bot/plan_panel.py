"""Change… on a plan card: a panel that drops, resizes, moves and orders its pieces before Start.

    which piece? -> one piece -> its model, agent, machine, order, or dropping it

A page says which piece and what of it, and at which revision of the plan it was shown: a change by
another hand in between is refused by the engine, and the panel shows how things are. text_plan.py
words it; engine/rules/changing.py decides.
"""

import re

import msgspec
from msgspec import Struct

from bot import text_plan
from bot.panels import At, Then, marked
from bot.text import NOT_THERE, Words
from engine.errors import Refused
from engine.views import PieceChoice, PlanChoices

TOPICS = {"model": "m", "agent": "a", "machine": "c", "after": "w", "drop": "d"}
WHAT = {letter: what for what, letter in TOPICS.items()}


class Page(Struct, frozen=True):
    """Where in the panel the owner is: the first page has no piece, a piece's own no topic."""

    revision: str = ""
    piece: int = 0
    topic: str = ""

    @classmethod
    def read(cls, page: str) -> "Page":
        found = re.fullmatch(r"([0-9a-z]{8})(\d{1,4})([a-z]?)", page)
        return cls(found[1], int(found[2]), found[3]) if found else cls()

    def __str__(self) -> str:
        return f"{self.revision}{self.piece}{self.topic}" if self.piece else ""


class PlanPanel:
    """One plan's pieces, each to be changed."""

    name = "plan"
    opens_on = "change"

    async def words(self, at: At) -> Words:
        now = await _choices(at)
        if now.over:
            raise Refused(text_plan.over(now))
        page = Page.read(at.page)
        choice = _piece(now, page.piece)
        if choice is None:
            return text_plan.pieces(now)
        match WHAT.get(page.topic):
            case "model":
                return text_plan.model(now, choice)
            case "agent":
                return text_plan.agent(now, choice)
            case "machine":
                return text_plan.machine(now, choice)
            case "after":
                return text_plan.order(now, choice)
            case "drop":
                return text_plan.drop(now, choice)
            case _:
                return text_plan.piece(now, choice)

    async def press(self, at: At, verb: str, line: str) -> Then:
        now, page = await _choices(at), Page.read(at.page)
        if now.over:
            return Then(closed=text_plan.over(now))
        kind, _, value = verb.partition("-")
        match kind:
            case "done":
                return Then(closed=text_plan.CLOSED)
            case "back":
                up = Page(now.revision, page.piece) if page.topic else Page()
                return Then(page=str(up))
            case "p":
                return Then(page=str(Page(now.revision, _number(value))))
            case _ if verb in TOPICS:
                return Then(page=str(Page(now.revision, page.piece, TOPICS[verb])))
            case "type" if not line and page.revision == now.revision:
                return Then(prompt=text_plan.MODEL)
        try:
            return await self._changed(at, now, page, kind, line or value)
        except Refused as refusal:
            if line:
                raise
            fresh = Page((await _choices(at)).revision, page.piece, page.topic)
            return Then(said=refusal.sentence, alert=True, page=str(fresh))

    async def _changed(self, at: At, now: PlanChoices, page: Page, kind: str, value: str) -> Then:
        """Have the engine change the piece; the panel then shows it, or what is left without it."""
        what, after = WHAT.get(page.topic, ""), tuple[int, ...]()
        match kind:
            case "size":
                what, value = "size", value.upper()
            case "gone":
                what, value = "drop", ""
            case "none":
                value = ""
            case "is":
                value = marked(value, _names(now, page))
            case "w":
                what, after, value = "after", _toggled(now, page, _number(value)), ""
            case "type" if value:
                what = "model"
            case _:
                raise Refused(text_plan.CHANGED)
        done = await at.do(
            "change_plan",
            plan=at.about,
            revision=page.revision,
            piece=page.piece,
            what=what,
            value=value,
            after=after,
        )
        topic = page.topic if kind == "w" else ""
        return Then(page=str(Page(str(done["revision"]), page.piece, topic)))


async def _choices(at: At) -> PlanChoices:
    found = await at.ask("plan_choices", plan=at.about)
    return msgspec.convert(msgspec.to_builtins(found), PlanChoices)


def _piece(now: PlanChoices, number: int) -> PieceChoice | None:
    return next((choice for choice in now.pieces if choice.line.number == number), None)


def _number(value: str) -> int:
    return int(value) if value.isdecimal() else 0


def _names(now: PlanChoices, page: Page) -> tuple[str, ...]:
    """What a button of a page may stand for."""
    choice = _piece(now, page.piece)
    if choice is None:
        return ()
    if page.topic == TOPICS["model"]:
        return (*now.models.get(choice.line.agent, ()), choice.line.model)
    return now.agents if page.topic == TOPICS["agent"] else now.machines


def _toggled(now: PlanChoices, page: Page, number: int) -> tuple[int, ...]:
    """What the piece waits for once `number` is ticked, or no more."""
    choice = _piece(now, page.piece)
    if choice is None:
        raise Refused(NOT_THERE)
    return tuple(sorted({*choice.line.after} ^ {number}))
