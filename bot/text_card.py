"""A card as one message: its first line, what it says, its buttons.

Pure wording, as text.py's. The first line of what sounds is ours alone (no code, path or foreign
text: lock screens show it). Neighbours: text_session.py, text_plan_card.py, text_asks.py,
text_review.py, text_trust.py and text_places.py say what is on each kind of card.
"""

from __future__ import annotations

from datetime import tzinfo

from bot import text_keyed, text_login, text_places, text_stakes, text_trust
from bot.entities import (
    Builder,
    Rich,
    cut,
    markdown,
    one_line,
    said_line,
    split,
    tame,
    units,
    unlinked,
)
from bot.text_asks import command, listed, permission, question
from bot.text_buttons import label, rows, side_by_side
from bot.text_plan_card import plan
from bot.text_review import review, ship
from bot.text_session import session, session_stage, worker
from bot.text_sheet import (
    COMMAND_ROOM,
    HEADING,
    ROOM,
    Button,
    Sheet,
    Words,
    capital,
    dots,
    printed,
    theirs,
)
from engine.moments import clock
from engine.views import (
    AnyCard,
    ApproachCard,
    Card,
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
    SessionCard,
    ShipCard,
    TrustCard,
    WhereCard,
    WorkerCard,
)

CARD_UNSHOWN = "This card cannot be shown: the log says why."
SAFE = frozenset({"stop", "interrupt", "peek", "resume"})
VERDICTS = frozenset({"allowed", "denied", "expired"})


def sounds(card: Card) -> bool:
    """Return whether this card's first showing may make a sound.

    What follows the owner's own tap or line at once (a shipping step, "which one?") stays quiet.
    """
    if isinstance(card, WhereCard):
        return False
    if isinstance(card, ShipCard):
        return card.asks and card.stage == "failed"
    if isinstance(card, ProjectCard):
        return card.asks and card.late
    return card.asks


def card(card: AnyCard, zone: tzinfo | None = None, now: float = 0.0) -> Words:
    """Return the card as one message; times are in `zone`, None being this machine's, seen from `now`."""
    sheet = Sheet()
    sheet.add(first_line(card), "bold")
    if isinstance(card, WorkerCard) and not card.asks:
        sheet.add(" · ", "bold").rich(theirs(card.title, HEADING))
    sheet.line()
    _body(card, sheet, zone, now)
    if card.decided:
        when = f" · {clock(card.decided_at, zone)}" if card.decided_at else ""
        sheet.line(f"✓ {said_line(card.decided)}{when}", "bold")
    if isinstance(card, KeyedCard):
        sheet.fact(text_keyed.outcome(card))
    rich = sheet.done()
    if units(rich.text) > ROOM:
        rich = split(rich, ROOM)[0]
    # Once decided, the file it had is above already.
    return Words(rich, rows(card), None if card.decided else sheet.file)


def in_place_of(card: AnyCard) -> Words:
    """Return what stands where a card cannot be worded: what needs no reading may be pressed."""
    safe = [Button(label(verb), verb) for verb in card.buttons if verb in SAFE]
    return Words(Rich(CARD_UNSHOWN), () if card.decided else side_by_side(safe, 3))


def headed(words: Words, name: str, *, below: bool) -> Words:
    """Return the message with the goal's name, where no topic tells which goal it is about.

    below   under the first line, which sounds and so must stay ours; else on top
    """
    first, _, _ = words.rich.text.partition("\n")
    at = units(first) + 1 if below and units(first) < units(words.rich.text) else 0
    sheet = Builder()
    sheet.rich(cut(words.rich, 0, at))
    sheet.line(one_line(name, HEADING), *([] if below else ["bold"]))
    sheet.rich(cut(words.rich, at, units(words.rich.text)))
    return Words(sheet.done(), words.buttons, words.file)


def first_line(card: AnyCard) -> str:
    match card:
        case SessionCard():
            return dots("Rehearsal" if card.rehearsal else "", session_stage(card))
        case PlanCard():
            return "A plan waits for your go" if card.asks else "Plan"
        case WorkerCard(asks=True):
            return f"Worker {card.number} needs you"
        case WorkerCard():
            return f"Worker {card.number}"
        case PermissionCard():
            what = "command" if card.tool in {"", "Bash", "shell"} else "tool"
            return f"Allow a {what}?" if card.asks else _settled(what, card.decided)
        case QuestionCard(asks=True) if card.stakes:
            return text_stakes.asks(card)
        case KeyedCard():
            if card.asks:
                return "Use a stored key in a command?"
            return _settled("command with a key", card.decided)
        case QuestionCard():
            what = "A question" if len(card.questions) == 1 else "Questions"
            return f"{what} for you" if card.asks else what
        case ApproachCard():
            return "A worker shows its approach" if card.asks else "An approach"
        case CommandCard(kind="copy"):
            return "Copy folders into each worker's tree?" if card.asks else "Folders to copy"
        case CommandCard():
            kind = f"the project's {one_line(card.kind, 20)}"
            return f"Allow {kind}?" if card.asks else capital(kind)
        case TrustCard():
            asks = "Trust what the repository brings for agents?"
            return asks if card.asks else "What the repository brings for agents"
        case LimitCard():
            return "A usage limit is over: go on?" if card.asks else "After a usage limit"
        case WhereCard(edited=True):
            asks = "Your edit goes to the lead as a correction?"
            return asks if card.asks else "You edited the goal"
        case WhereCard():
            return "Which one is this for?" if card.asks else "You were asked which one"
        case ProjectCard():
            return text_places.PROJECT_TITLES.get(card.stage, "A project")
        case ReviewCard():
            return "Ready for your review" if card.asks else "Review"
        case ShipCard():
            return _SHIP_TITLES.get(card.stage, "Ship")
        case LoginCard():
            return text_login.title(card)
        case FailureCard():
            return "Something failed and needs you" if card.asks else "Something failed"


_SHIP_TITLES = {
    "ready": "Ready to push",
    "pushing": "Pushing",
    "shipped": "Shipped",
    "cancelled": "Not pushed",
    "handed back": "Not pushed: it conflicts",
    "failed": "Shipping failed",
}


def _body(card: AnyCard, sheet: Sheet, zone: tzinfo | None, now: float) -> None:
    match card:
        case SessionCard():
            session(card, sheet, zone, now)
        case PlanCard():
            plan(card, sheet)
        case WorkerCard():
            worker(card, sheet, zone, now)
        case PermissionCard():
            permission(card, sheet)
        case KeyedCard():
            text_keyed.keyed(card, sheet)
        case QuestionCard():
            question(card, sheet)
        case ApproachCard():
            sheet.line(said_line(card.who))
            sheet.foreign("It means to:", markdown(card.text), "approach.md", COMMAND_ROOM)
            if card.asks:
                sheet.line("Nothing is written before you approve.")
        case CommandCard():
            command(card, sheet)
        case TrustCard():
            text_trust.trust(card, sheet)
        case LimitCard():
            sheet.line(f"Account {one_line(card.account, 60)} may be used again.")
            if card.asks:
                sheet.line("Resume: sessions go on, one after the other. Leave it: all rest.")
        case WhereCard(edited=True):
            sheet.foreign("The goal reads now:", Rich(tame(card.text)), "goal.txt")
            if card.asks:
                sheet.line("It has begun with the first version. Nothing is sent before you tap.")
        case WhereCard():
            sheet.foreign("You wrote:", Rich(tame(card.text)), "your-words.txt")
            names = ", ".join(one_line(name, 40) for name in card.files)
            sheet.fact(f"With it: {names}" if names else "")
            listed(card.options, sheet)
        case ProjectCard():
            text_places.project(card, sheet)
        case ReviewCard():
            review(card, sheet)
        case ShipCard():
            ship(card, sheet)
        case LoginCard():
            text_login.login(card, sheet)
        case FailureCard():
            sheet.line(said_line(card.what, 200))
            why = Rich(unlinked(tame(card.why).strip()))
            sheet.rich(why, "blockquote").line()  # it may quote an agent, git or a provider
            printed(card.report, sheet)


def _settled(what: str, decided: str) -> str:
    """Return "Command allowed", as far as what was decided begins with such a word."""
    verdict = decided.lower().removeprefix("always ").partition(" ")[0]
    return capital(f"{what} {verdict}" if verdict in VERDICTS else f"about a {what}")
