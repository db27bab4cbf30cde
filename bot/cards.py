"""One message per card, kept as its view is: follows the engine's changes and says what to show.

    a new card      sent; with a sound only when it needs the owner
    a changed one   edited, the newest change wins
    a decided one   edited once more: what was decided, no buttons
    a gone one      its buttons go
    a note          said once
    what the owner set: quiet hours for the outbox, the zone of all times

Knows no Telegram: outbox.py does the sending, text.py the words, engine.api brings the changes.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
from msgspec.structs import replace

from bot import text, text_buttons, text_live, text_login, text_owners
from bot.outbox import Outbox
from bot.quiet import Quiet
from bot.text import Words
from bot.unsaid import Say, Wanted, Weight, packed
from bot.wordless import wordless
from engine.api import Change, Gone, Ready
from engine.views import (
    AnyCard,
    ApproachCard,
    CommandCard,
    KeyedCard,
    LimitCard,
    LoginCard,
    Note,
    OwnerEntry,
    OwnerView,
    PermissionCard,
    QuestionCard,
    Row,
    SessionCard,
    ShipCard,
    TrustCard,
    WhereCard,
    WorkerCard,
)
from stores.cards import CardStore

ASKS = (
    PermissionCard,
    KeyedCard,
    QuestionCard,
    ApproachCard,
    CommandCard,
    TrustCard,
    LimitCard,
    WhereCard,
)
STALE_S = 86400.0
NOTE_UNSHOWN = "A line for you cannot be shown: the log says why."
LOGIN = "login-"  # what the cards of logins begin with (engine/board/login_card.py)
OWNER = "owner"  # the fact that keeps what the owner set


class Changes(Protocol):
    """The one thing needed of engine.api.Client here."""

    def changes(self, notes_after: int) -> AsyncIterator[Change]: ...


class Cards:
    """What the engine says is to be seen now.

    chat     where cards go whose owner is not known, or none any more: the first owner's
    owners   who commands: kept as the engine tells it, for all that go by it
    groups   told which are allowed
    """

    def __init__(
        self,
        outbox: Outbox,
        store: CardStore,
        chat: int,
        zone: tzinfo | None = None,
        owners: list[int] | None = None,
        groups: Callable[[Sequence[int]], None] = lambda _: None,
    ) -> None:
        self.live: dict[str, AnyCard] = {}
        self._outbox = outbox
        self._store = store
        self._chat = chat
        self.owners = [chat] if owners is None else owners
        self._of_the_box = tuple(self.owners)
        self._groups = groups
        self._names: dict[int, OwnerEntry] = {}
        self.others = asyncio.Event()  # other owners than before
        self.zone = zone
        self.locked = False
        self.pin = False  # one is set, and asked for
        self.logins_over: asyncio.Queue[Callable[[str], bool]] = asyncio.Queue()  # of accounts
        self._since_connected: set[str] = set()
        self._owner_told = False
        self._unshown: set[str] = set()

    async def open(self) -> None:
        """Go by what the owner had set when we last ran, until the engine tells."""
        kept = await self._store.fact(OWNER)
        if kept:
            self._set(msgspec.json.decode(kept, type=OwnerView))

    async def follow(self, engine: Changes) -> None:
        """Take every change up, for as long as there are any."""
        async for change in engine.changes(notes_after=await self._store.last_note()):
            await self.take(change)

    async def take(self, change: Change) -> None:
        """Take one change up."""
        match change:
            case Note():
                await self._note(change)
            case OwnerView():
                await self._own(change)
            case Gone():
                self._gone(change.id, self.live.pop(change.id, None))
            case Ready():
                if not self._owner_told:
                    await self._own(OwnerView())  # told only where there is something to tell
                self._settle()
            case _:
                await self._show(change)

    async def _own(self, owner: OwnerView) -> None:
        self._owner_told = True
        before = list(self.owners)
        self._set(owner)
        if before != self.owners:
            for card in list(self.live.values()):  # those of one who left come to the first
                await self._show(card)
        await self._store.keep_fact(OWNER, msgspec.json.encode(owner).decode())

    def _set(self, owner: OwnerView) -> None:
        try:
            self.zone = ZoneInfo(owner.zone) if owner.zone else None
        except ZoneInfoNotFoundError:  # this machine's data lost it
            self.zone = None
        known = {one.id: one for one in owner.owners} or dict.fromkeys(self._of_the_box)
        self._names = {number: one for number, one in known.items() if one is not None}
        if list(known) != self.owners:
            self.owners[:] = list(known)
            self.others.set()
        self._groups([one.id for one in owner.groups])
        self.locked = owner.locked
        self.pin = owner.pin
        self._outbox.quiet = Quiet(*owner.quiet, self.zone) if owner.quiet else None

    @property
    def in_topics(self) -> bool:
        """Whether each goal is shown in a topic of its own."""
        return self._outbox.topics

    def goal_of(self, card: str) -> str:
        found = self.live.get(card)
        return found.goal if found else ""

    def chat_of(self, card: AnyCard) -> int:
        """Return the chat a card belongs in: that of the owner whose goal it is about."""
        session = self.live.get(card.goal)
        whose = card.whose or (session.whose if session is not None else "")
        chat = int(whose) if whose.isdigit() else self._chat
        return chat if chat in self.owners else self._chat

    def chat_of_row(self, row: Row) -> int:
        """Return the chat of the owner on whom a row of the board waits."""
        card = self.live.get(row.card) or self.live.get(row.goal)
        return self.chat_of(card) if card is not None else self._chat

    def called(self, owner: int) -> str:
        """Return an owner for a sentence."""
        return text_owners.called(self._names.get(owner), str(owner))

    def _gone(self, card_id: str, card: AnyCard | None) -> None:
        """Have nothing to be pressed any more; of a login's card its link goes too."""
        if not card_id.startswith(LOGIN):
            self._outbox.strip(card_id)
            return
        account = card.account if isinstance(card, LoginCard) else ""
        self._outbox.strip(card_id, text.said(text_login.over(account)))
        if account:
            self.logins_over.put_nowait(lambda name: name == account)

    async def _show(self, card: AnyCard) -> None:
        before = self.live.get(card.id)
        if _ended(before, card):
            account = card.account if isinstance(card, LoginCard) else ""
            self.logins_over.put_nowait(lambda name: name == account)
        self.live[card.id] = card
        await self._show_one(card)
        if isinstance(card, SessionCard) and before is not None and before.whose != card.whose:
            for other in list(self.live.values()):
                if other.goal == card.goal and other.id != card.id:
                    await self._show_one(other)

    async def _show_one(self, card: AnyCard) -> None:
        shown, chat = self._outbox.shown.get(card.id), self.chat_of(card)
        if shown is not None and shown.chat != chat and not card.decided and len(self.owners) > 1:
            await self._outbox.moved(card.id, text.said(text_owners.moved(self.called(chat))))
        self._since_connected.add(card.id)
        if self._stale(card):
            return
        if isinstance(card, SessionCard):
            with wordless(f"the topic of {card.id}", self._unshown):
                title = text_live.topic_title(card)
                self._outbox.call(card.id, card.title, title, chat)
        self._outbox.show(self._wanted(card))

    def _wanted(self, card: AnyCard) -> Wanted:
        return Wanted(
            card=card.id,
            goal=card.goal,
            chat=self.chat_of(card),
            words=self.words(card),
            revision=card.revision,
            asks=card.asks,
            sounds=text.sounds(card),
            weight=self._weight(card),
            since=card.held_since if isinstance(card, CommandCard) else 0.0,
        )

    def words(self, card: AnyCard) -> Words:
        """Return what a card says now; one that no wording foresaw says that, and holds up no other."""
        with wordless(f"card {card.id} of {type(card).__name__}", self._unshown):
            return text.card(card, self.zone, self._outbox.wall())
        return text.in_place_of(card)

    def again(self, card_id: str) -> bool:
        """Show a card once more, in silence, where one looks now: its older message goes."""
        card = self.live.get(card_id)
        if card is None:
            return False
        now = self._outbox.wall()
        wanted = replace(self._wanted(card), sounds=False, weight=Weight.ANSWER, since=now)
        self._outbox.show(wanted)
        return True

    def _stale(self, card: AnyCard) -> bool:
        """Return whether a card never shown has nothing to say any more: it was settled unseen."""
        if not card.decided or card.id in self._outbox.shown or card.id in self._outbox.perhaps():
            return False
        if isinstance(card, ASKS):
            return True
        return self._outbox.wall() - max(card.at, card.decided_at) > STALE_S

    def _weight(self, card: AnyCard) -> Weight:
        shown = self._outbox.shown.get(card.id)
        if isinstance(card, WhereCard):
            return Weight.ANSWER  # it follows its owner's own line, and what is said of its keys
        if card.asks and (shown is None or shown.revision != card.revision):
            return Weight.DECISION
        acts = set(card.buttons) - text.READING
        if isinstance(card, WorkerCard) and (shown is None or (shown.live and not acts)):
            return Weight.WORDS  # nobody's tap: it comes in turn with what is said
        if shown is None or (shown.live and not card.buttons) or shown.asked != card.asks:
            return Weight.ANSWER  # new here, or just decided: the owner is looking at it
        if card.decided or isinstance(card, ShipCard | CommandCard | TrustCard):
            return Weight.ANSWER  # what became of their tap
        return Weight.PROGRESS

    def _settle(self) -> None:
        """All that lives has been told: what was shown before and was not told is gone."""
        for card in set(self.live) - self._since_connected:
            del self.live[card]
        for card, shown in list(self._outbox.shown.items()):
            if shown.live and card not in self.live:
                self._gone(card, None)
        for card in self._outbox.perhaps() - self._outbox.shown.keys() - self.live.keys():
            self._outbox.strip(card)
        self._since_connected.clear()
        logins = [one for one in self.live.values() if isinstance(one, LoginCard)]
        runs = {one.account for one in logins if one.runs}
        self.logins_over.put_nowait(lambda name: name not in runs)

    async def _note(self, note: Note) -> None:
        says = [Say(words=text.said(NOTE_UNSHOWN), goal=note.goal, sounds=note.sounds)]
        with wordless(f"note {note.n}"):
            says = self._says(note)
        weight = Weight.DECISION if note.sounds else Weight.WORDS
        session = self.live.get(note.goal)
        chats = [self.chat_of(session)] if session is not None else self.owners
        if note.goal and session is None:
            chats = [self._chat]
        queue = [line for chat in chats for line in packed(chat, weight, says)]
        await self._store.note_queued(note.n, queue, self._outbox.take_up)

    def _says(self, note: Note) -> list[Say]:
        spoken = note.kind == "words" and note.goal and not note.sounds
        says = [
            Say(
                words=words,
                goal=note.goal,
                sounds=note.sounds and number == 0,
                speaker=(note.who or "An agent") if spoken else "",
                routine=text.routine(note.text),
            )
            for number, words in enumerate(text.note(note))
        ]
        if note.kind == "stuck" and (card := self.live.get(note.who)) is not None:
            ways = replace(says[-1].words, buttons=text_buttons.ways_out(card))
            says[-1] = replace(says[-1], words=ways, card=card.id, revision=card.revision)
        return says


def _ended(before: AnyCard | None, now: AnyCard) -> bool:
    """Whether a login was under way, and is not any more."""
    if not isinstance(before, LoginCard) or not isinstance(now, LoginCard):
        return False
    return before.runs and not now.runs
