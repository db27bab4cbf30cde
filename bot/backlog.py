"""When too much waits to be said, one message says it, and not thirty or hundreds.

Thirty goals that end their turns in one second would have their last words come for half a minute, one a
second: where more than a few goals speak at once, a line tells what each said.

After a day without Telegram every session has words waiting. One a second they would come for minutes and
bury what needs the owner. Decisions and answers are no part of this: they have cards, or were asked for.
Pure. Neighbours: lane_lines.py asks with all that waits, text_away.py has the wording.
"""

from collections.abc import Iterable, Mapping

from bot import text
from bot.entities import units
from bot.text_away import digest
from bot.text_together import together
from bot.unsaid import Item, Say, Weight
from stores.cards import Line

MOST = 40  # messages that still come one by one
FEW = 5  # goals whose words do


def gathered(
    waiting: Iterable[tuple[Line, Item]], titles: Mapping[str, str]
) -> tuple[list[int], Say] | None:
    """Return the lines that go into one digest, and the digest; None while there are few."""
    late = [
        (line.id, item)
        for line, item in waiting
        if isinstance(item, Say) and line.priority == Weight.WORDS and _only_tells(item)
    ]
    if len(late) <= MOST or _messages([item for _, item in late]) <= MOST:
        return None
    told: dict[str, list[str]] = {}
    for _, item in late:
        told.setdefault(item.goal, []).append(item.words.rich.text)
    by_title = [(titles.get(goal, goal), texts) for goal, texts in told.items()]
    return [one for one, _ in late], Say(words=digest(by_title))


def at_once(
    waiting: Iterable[tuple[Line, Item]],
    titles: Mapping[str, str],
    *,
    apart: bool = False,
    after: int = 0,
) -> tuple[list[int], Say] | None:
    """Return the lines of many goals that one message tells, and that message; None while few wait.

    apart   each goal has its topic, in which its own words still come
    after   lines up to this one were told so before
    """
    late = [
        (line.id, item)
        for line, item in waiting
        if isinstance(item, Say)
        and line.priority == Weight.WORDS
        and line.id > after
        and item.goal
        and _only_tells(item)
    ]
    told: dict[str, list[str]] = {}
    for _, item in late:
        text_of = item.words.rich.text
        said = text_of.partition("\n")[2] if item.speaker else text_of  # not whose words it is
        told.setdefault(item.goal, []).append(said)
    if len(told) <= FEW:
        return None
    by_title = [(titles.get(goal, goal), texts) for goal, texts in told.items()]
    return [one for one, _ in late], Say(words=together(by_title, apart=apart))


def _only_tells(item: Say) -> bool:
    """Return whether nobody asked for this and nobody need act on it."""
    return not (item.sounds or item.card or item.prompt or item.reply_to or item.instead)


def _messages(says: Iterable[Say]) -> int:
    """Return how many messages they would be, with those of one speaker joined."""
    room: dict[tuple[str, str], int] = {}
    count = 0
    for said in says:
        key = (said.goal, said.speaker)
        left = room.get(key, -1) - units(said.words.rich.text)
        if not said.speaker or left < 0:
            count += 1
            left = text.ROOM - units(said.words.rich.text)
        room[key] = left
    return count
