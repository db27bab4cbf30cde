"""Views into words: the door to our wording, and nothing but wording behind it.

    card(view)      one message kept current: text, buttons, perhaps a file beside it
    note(view)      one or more messages, shown once
    board(view) …   answers to commands

Pure. Written for a phone late in the evening: the decision first, its reason beside it, what happens
next said. A text_*.py for each subject; text_sheet.py is what all of them are written with, and the
panels' (settings, plan, fleet …) are asked for by their own names. The goal's name is put on by
outbox.py, which knows whether there is a topic to tell it.
"""

from bot.text_board import asks, board, catch_up, projects, reminder
from bot.text_buttons import LABELS, READING, label, side_by_side
from bot.text_card import card, headed, in_place_of, sounds
from bot.text_health import health
from bot.text_help import (
    AGAIN,
    AGAIN_FIELD,
    ANSWER_NONE,
    COMMANDS,
    HELP,
    KEY_IN_TOPIC,
    LOCKED,
    NO_COMMAND,
    NOT_THERE,
    ONLY_THERE,
    PROMPTS,
)
from bot.text_plan_card import after
from bot.text_said import document, joined, note, routine, said, spoken, topic_of
from bot.text_sheet import HEADING, ROOM, Button, Words
from engine.moments import clock

__all__ = [
    "AGAIN",
    "AGAIN_FIELD",
    "ANSWER_NONE",
    "COMMANDS",
    "HEADING",
    "HELP",
    "KEY_IN_TOPIC",
    "LABELS",
    "LOCKED",
    "NOT_THERE",
    "NO_COMMAND",
    "ONLY_THERE",
    "PROMPTS",
    "READING",
    "ROOM",
    "Button",
    "Words",
    "after",
    "asks",
    "board",
    "card",
    "catch_up",
    "clock",
    "document",
    "headed",
    "health",
    "in_place_of",
    "joined",
    "label",
    "note",
    "projects",
    "reminder",
    "routine",
    "said",
    "side_by_side",
    "sounds",
    "spoken",
    "topic_of",
]
