"""What stands on buttons, in which colour, and how they are laid out.

Pure wording, as text.py's; buttons.py makes the data a button carries.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot import lookalikes
from bot.entities import one_line
from bot.text_sheet import Button, capital
from engine.views import AnyCard, ProjectCard, QuestionCard, WhereCard

LABELS = {
    "again": "Try again",
    "allow": "Allow",
    "allow_once": "Allow once",
    "always": "Always",
    "another": "Another…",
    "answer": "Answer…",
    "approve": "Approve",
    "cancel": "Cancel",
    "change": "Change…",
    "code": "Code…",
    "correct": "Correct…",
    "deny": "Deny",
    "diff": "Diff",
    "discard": "Discard",
    "drop": "Drop",
    "forget": "Forget",
    "install": "Install",
    "interrupt": "Interrupt",
    "leave": "Leave it",
    "leave_off": "Leave off",
    "log_in": "Log in",
    "move": "Move…",
    "not_this": "Not this",
    "now": "Now",
    "park": "Park",
    "pause": "Pause",
    "peek": "Peek",
    "proceed": "Proceed",
    "push": "Push",
    "rename": "Rename",
    "resume": "Resume",
    "retry": "Retry",
    "send_back": "Send back…",
    "ship": "Ship",
    "start": "Start",
    "stop": "Stop",
    "stop_all": "Stop all",
    "token": "Token…",
    "trust": "Trust",
    "was_no_secret": "It was no secret",
}
STUCK = ("peek", "interrupt")
GREEN = frozenset({"again", "allow", "allow_once", "approve", "log_in", "push", "ship", "start"})
# What may still be pressed once all is decided: it only shows something.
READING = frozenset({"diff", "peek"})
RED = frozenset({"drop", "stop_all"})
# What a phone shows of a label before it cuts: a whole row, and one of several beside each other.
LONG_LABEL = 40
SHORT_LABEL = 12


def rows(card: AnyCard) -> tuple[tuple[Button, ...], ...]:
    """Return the keyboard: options first, side by side where they are short."""
    options: list[Button] = []
    plain: list[Button] = []
    for verb in card.buttons:
        if card.decided and verb not in READING:
            continue
        if verb.startswith("option-"):
            options.append(Button(option_words(card, verb), verb))
        else:
            plain.append(Button(label(verb), verb, _style(verb)))
    brief = all(len(button.label) <= SHORT_LABEL for button in options)
    return side_by_side(options, 3 if brief else 1) + side_by_side(plain, 3)


def ways_out(card: AnyCard) -> tuple[tuple[Button, ...], ...]:
    """Return what can be done about an agent that is stuck, under the line that tells of it."""
    return side_by_side([Button(label(verb), verb) for verb in STUCK if verb in card.buttons], 2)


def side_by_side(buttons: Sequence[Button], most: int) -> tuple[tuple[Button, ...], ...]:
    """Return rows of at most so many buttons."""
    width = 2 if most > 2 and len(buttons) == 4 else most
    return tuple(tuple(buttons[at : at + width]) for at in range(0, len(buttons), width))


def label(verb: str) -> str:
    return LABELS.get(verb) or capital(verb.replace("_", " "))


def _style(verb: str) -> str:
    return "success" if verb in GREEN else "danger" if verb in RED else ""


def option_words(card: AnyCard, verb: str) -> str:
    """An option's own words; an agent's, or a branch's name, could be those of a button of ours."""
    words = one_line(_option(card, verb), LONG_LABEL)
    return (
        lookalikes.quoted(words, LABELS.values())
        if isinstance(card, QuestionCard | ProjectCard)
        else words
    )


def _option(card: AnyCard, verb: str) -> str:
    number = int(verb.removeprefix("option-"))
    options: Sequence[str] = ()
    if isinstance(card, WhereCard | ProjectCard):
        options = card.options
    elif isinstance(card, QuestionCard) and len(card.answers) < len(card.questions):
        options = card.questions[len(card.answers)].options
    return (options[number].strip() if number < len(options) else "") or f"Option {number + 1}"
