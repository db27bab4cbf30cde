"""What waits to be said: lines, each said once, and cards as they are wanted now.

Lines are kept on disk until Telegram has them, in the form that `packed` gives them. Neighbours:
outbox.py keeps what waits, lane.py says it.
"""

from collections.abc import Iterable
from enum import IntEnum
from typing import TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bot.text import Words
from engine.views import Attachment, Document
from stores.cards import Queued


class Weight(IntEnum):
    """What goes first where not everything can go at once."""

    DECISION = 0
    ANSWER = 1
    WORDS = 2
    PROGRESS = 3


# A new question that sounds, and what becomes of one that was answered, go before all else.
HEARD, SETTLED = -2.0, -1.0


class Prompt(Struct, frozen=True):
    """What a reply to one of our prompts is for: a verb of a card, or a new goal.

    message   the panel's that is to show what came of it (panels.py)
    used      the update that answered it, where only one answer is taken (sealed_prompt.py)
    """

    verb: str
    card: str = ""
    revision: str = ""
    project: str = ""
    message: int = 0
    files: tuple[Attachment, ...] = ()  # came with what was asked about
    used: int = 0


class Say(Struct, frozen=True, tag=True, kw_only=True):
    """A message, said once; `sounds` only for what needs the owner.

    revision  of the card or page that its buttons belong to
    speaker   whose words these are: those that wait are joined
    routine   tells nothing that the cards do not: left out once something newer was shown
    instead   a name: the last message of that name is deleted once this one is there
    """

    words: Words
    goal: str = ""
    card: str = ""
    revision: str = ""
    sounds: bool = False
    reply_to: int = 0
    prompt: Prompt | None = None
    placeholder: str = ""
    speaker: str = ""
    routine: bool = False
    instead: str = ""


class Edit(Struct, frozen=True, tag=True, kw_only=True):
    """What a message that is there says from now on: of several that wait, the newest.

    below   its goal's name, where it is told, stands under the first line
    """

    message_id: int
    words: Words
    goal: str = ""
    card: str = ""
    revision: str = ""
    below: bool = False


class File(Struct, frozen=True, tag=True, kw_only=True):
    """A document under what was said."""

    document: Document
    goal: str = ""
    card: str = ""


class Delete(Struct, frozen=True, tag=True, kw_only=True):
    """A message to be deleted; with `names`, one that held those secrets: then it is said.

    kept   whether they are in the vault: not what stood in an address that is refused anyway
    where  the scope of each, where its owner may now do something about them
    tell   the chat where it is said; 0: where the message was
    rest_of  the key that it may have held the rest of
    """

    message_id: int
    names: tuple[str, ...] = ()
    goal: str = ""
    kept: bool = True
    where: tuple[str, ...] = ()
    tell: int = 0
    rest_of: str = ""


class React(Struct, frozen=True, tag=True, kw_only=True):
    """The cheapest receipt there is."""

    message_id: int
    emoji: str = "👀"


Item: TypeAlias = Say | Edit | File | Delete | React

encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(Item).decode


class Wanted(Struct, frozen=True, kw_only=True):
    """A card as it should be shown now; `words` None: only take its buttons away.

    since   a message of it from before then is too far up: it is shown anew, in silence
    """

    card: str
    goal: str
    chat: int
    words: Words | None
    revision: str = ""
    asks: bool = False
    sounds: bool = False
    weight: Weight = Weight.PROGRESS
    since: float = 0.0


def packed(chat: int, weight: Weight, items: Iterable[Item]) -> list[Queued]:
    """Return the lines to queue; a file in a message's words becomes a line of its own."""
    queue: list[Queued] = []
    for item in items:
        if isinstance(item, Say) and item.words.file is not None:
            below = File(document=item.words.file, goal=item.goal, card=item.card)
            item = replace(item, words=replace(item.words, file=None))
            queue += [(chat, weight, encode(item)), (chat, weight, encode(below))]
        else:
            queue.append((chat, weight, encode(item)))
    return queue
