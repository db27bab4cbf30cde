"""Groups that an owner allows, in words: the list, the link, and the few lines a group hears.

Pure wording, as text.py's. A group's title is whatever its members call it: quoted, and the number beside
it. What is said in a group are these lines alone, and the names of goals where an owner asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from bot import text_board
from bot.entities import Builder, said_line
from bot.panels import mark
from bot.text_sheet import Button, Words
from engine.rules.unseen import in_quotes
from engine.views import Board, GroupEntry

ROOM = 40
REASON = "To allow a group"
LINK = (
    "Open this link and choose the group to put me in; it works once, for 10 minutes, for an owner "
    "alone, and is shown only here:\n{}\nSpeak there as yourself: who writes as the group is not heard. All "
    "owners are told."
)
NO_CODE = (
    "I left the group you put me in: its code did not come from you in time. It comes by itself where you "
    "open the link and choose the group there, as yourself and not as the group. /settings, Owners, Groups "
    "makes another link."
)
TURNED_AWAY = "I left that group: {}"
NOT_YOURS = "Only the owners of this box decide here."
NOT_HERE = "Nothing is decided in a group: open our private chat."
HEARD = (
    "The owners are heard here: /new and a goal, /status, /asks, /lock. Cards and all else are in our "
    "private chat: {}"
)
GIVEN = "Given. Its cards come to your private chat: {}"
EMPTY = "Say it in one message: /new and the goal."
LOCKED = "Locked. All else is in our private chat: {}"
ELSEWHERE = "That is for our private chat: {}"
REFUSED = "Not done. Why stands in our private chat: {}"
MORE = "More is in our private chat: {}"


def called(group: GroupEntry) -> str:
    return in_quotes(said_line(group.title, ROOM), ROOM) if group.title else f"Group {group.id}"


def listed(groups: Sequence[GroupEntry]) -> Words:
    sheet = Builder().line("Groups", "bold")
    for group in groups:
        sheet.line(f"• {called(group)} · {group.id}" if group.title else f"• {called(group)}")
    if not groups:
        sheet.line("None: I leave every group that I am put in.")
    sheet.line(
        "In a group only owners are heard: /new, /status, /asks, /lock. Nothing is decided there; cards, "
        "keys, links and the PIN stay in private chats. To delete a key that is pasted there I must be "
        "its administrator."
    )
    rows = [(Button("Allow a group", "add"),)]
    rows += [(Button(f"Take away {called(one)}", f"take-{mark(str(one.id))}"),) for one in groups]
    return Words(sheet.done(), (*rows, (Button("Back", "owners"),)))


def taking(group: GroupEntry) -> Words:
    sheet = Builder().line(f"Take {called(group)} away?", "bold")
    sheet.line("I leave it, and nobody is heard there. Goals that were given there go on.")
    return Words(sheet.done(), ((Button("Take away", "gone", "danger"), Button("Keep", "list")),))


def board(board: Board, link: str, *, only_asks: bool) -> list[Words]:
    """Return /status or /asks for a group: the names of goals and pieces, and no button."""
    plain = replace(
        board,
        now=tuple(replace(row, text="", card="") for row in board.now),
        running=tuple(replace(row, text="", silence=None) for row in board.running),
        next=tuple(replace(row, text="") for row in board.next),
        landed=tuple(replace(row, text="") for row in board.landed),
        machines=(),
    )
    shown = text_board.asks(plain.now) if only_asks else text_board.board(plain)
    *before, last = [Words(words.rich) for words in shown]
    more = Builder().rich(last.rich).line().line(MORE.format(link))
    return [*before, Words(more.done())]
