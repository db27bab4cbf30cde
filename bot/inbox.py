"""Everything an owner sends, kept before it is confirmed, until it is done.

    update -> gate -> sealed -> on disk -> confirmed -> handled -> gone

An update may hold a pasted key that nobody has looked for yet, so it is sealed with the vault's
public key before its first write: on disk it can be opened by the engine alone, which it is asked
for after a restart. On the usual path the clear text never leaves this process's memory.

One lane per chat and topic keeps the order of what was written there; a tap has a lane of its own,
and waits for what was written before it, but not for long. Long messages that the app has cut, albums, and
the halves of a key (two_goes.py) are joined first, and the join is settled on disk before anybody acts on
it. What is done with a message is requests.py's.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from bot import text, text_groups, two_goes
from bot.entities import units
from bot.gate import (
    Allowed,
    Ignored,
    Left,
    Moved,
    Onlooker,
    Stranger,
    Verdict,
    admit,
    pressed_start,
)
from bot.groups import Groups
from bot.outbox import Outbox
from bot.pace import BACK_OFF_S
from bot.unsaid import Item, Say, Weight, packed
from engine.api import Missing, WentAway
from engine.errors import Refused, Unavailable
from stores.cards import CardStore, Entry
from stores.sealing import seal

log = logging.getLogger(__name__)

QUIET_S = 0.7
LONG_UNITS = 4000
JOIN_WITHIN_S = 3
TAP_WAITS_S = 0.8  # for a line that was written before it
MOST_LIVES = 3
MOST_ENDS = 4  # of the engine, over one message
ENDED_IT = (
    "The engine ended each time it was asked for this, so it was let go. `quarterdeck doctor` and its "
    "log say why; the rest goes on."
)
GIVEN_UP = (
    "The bot ended several times before it was done with what you sent at {at}, so that was let go. "
    "Whether it was done is not known: look, and send it again if not."
)
NOT_OPENED = "What you sent at {at} could not be done. Please send it again."
STRANGERS_TOLD = 5


class Arrived(Struct, frozen=True):
    """One update of an owner's, in clear."""

    update_id: int
    raw: dict[str, Any]
    by: Allowed

    @property
    def body(self) -> dict[str, Any]:
        found: dict[str, Any] = self.raw[self.by.kind]
        return found


class _Batch(Struct, frozen=True):
    """One message in a lane; `settled`: all its parts are here, no other may join."""

    parts: tuple[Arrived, ...]
    settled: bool = False


class Reply(Struct, frozen=True):
    """What has to be said because of a message: queued with the end of its handling.

    aside   what its sender alone hears, in their private chat
    """

    items: tuple[Item, ...] = ()
    weight: Weight = Weight.ANSWER
    aside: tuple[Item, ...] = ()


# Acts on one message, in its parts; raises Unavailable to be asked again.
Handle: TypeAlias = Callable[[Sequence[Arrived]], Awaitable[Reply]]
# Told who pressed which code, and their name: whether they command from now on.
LetIn: TypeAlias = Callable[[int, int, str, str], Awaitable[bool]]
Lane: TypeAlias = tuple[int | str, int]


class Unsealer(Protocol):
    """The part of the engine's client needed here."""

    async def call(self, verb: str, /, cause: str = "", **args: Any) -> Any: ...


class Inbox:
    """Takes updates in and hands them on, once each.

    public   the vault's public key
    owners   as it stands at each update: who joins or leaves is in it at once
    let_in   asked of a stranger's /start CODE: who is let in by it is none
    groups   those that are allowed, and what becomes of the others
    """

    def __init__(
        self,
        store: CardStore,
        outbox: Outbox,
        engine: Unsealer,
        handle: Handle,
        *,
        owners: Sequence[int],
        public: bytes,
        groups: Groups,
        quiet_s: float = QUIET_S,
        let_in: LetIn | None = None,
        hold_s: float = two_goes.HOLD_S,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._outbox = outbox
        self._engine = engine
        self._handle = handle
        self._owners = owners
        self._public = public
        self._groups = groups
        self._quiet_s = quiet_s
        self._let_in = let_in
        self._hold_s = hold_s
        self._wall = wall
        self._written: dict[int | str, dict[int, asyncio.Event]] = {}  # lines not yet acted on
        self._lanes: dict[Lane, asyncio.Queue[_Batch]] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self.ready = asyncio.Event()  # before it, nothing may be received
        self._recovered = asyncio.Event()
        self._engine_down = False
        self._missing = ""  # what else was last told to be away
        self._open = 0
        self._later: list[_Batch] = []  # came while what is older was still being opened

    async def receive(self, updates: Sequence[dict[str, Any]]) -> None:
        """Keep what is ours to hear; once this returns the updates may be confirmed."""
        admitted: list[Arrived] = []
        moved = await self._moved(updates)
        for update in updates:
            if update.get("update_id") in moved:
                continue
            verdict = self._admit(update)
            match verdict:
                case Allowed():
                    admitted.append(Arrived(int(update["update_id"]), update, verdict))
                case Stranger():
                    if not await self._joins(update):
                        await self._stranger(verdict)
                case Onlooker(tap):
                    self._groups.answer(tap, text_groups.NOT_YOURS)
                case Left():
                    await self._groups.left(int(update["update_id"]), verdict)
                case Ignored(why):
                    log.info("ignored update=%s why=%s", update.get("update_id"), why)
        if not admitted:
            return
        sealed = [
            (one.update_id, seal(self._public, msgspec.json.encode(one.raw))) for one in admitted
        ]
        fresh = set(await self._store.hear(sealed, self._wall()))
        for one in admitted:
            if one.update_id in fresh:
                fresh.discard(one.update_id)
                self._dispatch(one)

    def _admit(self, update: dict[str, Any]) -> Verdict:
        return admit(update, frozenset(self._owners), frozenset(self._groups.chats))

    async def _moved(self, updates: Sequence[dict[str, Any]]) -> set[int]:
        """Hear first of groups that go by another number now: what comes under it is from there."""
        found: set[int] = set()
        for update in updates:
            verdict = self._admit(update)
            if isinstance(verdict, Moved):
                found.add(int(update["update_id"]))
                await self._groups.moved(int(update["update_id"]), verdict)
        return found

    async def run(self) -> None:
        """Hand on what arrives, and first what an earlier start left over; until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            await self._recover()
            self._recovered.set()
            for batch in self._later:
                self._hand_on(batch)
            await asyncio.Event().wait()

    def idle(self) -> bool:
        """Return whether nothing is being handled and nothing waits to be."""
        return self._recovered.is_set() and self._open == 0

    # ---- lanes

    def _dispatch(self, one: Arrived) -> None:
        self._open += 1
        self._outbox.alive(one.by.chat, _message_id(one))
        if one.by.kind == "callback_query" or self._recovered.is_set():
            self._hand_on(_Batch((one,)))
        else:
            self._later.append(_Batch((one,)))

    def _hand_on(self, batch: "_Batch") -> None:
        first = batch.parts[0]
        if first.by.kind == "callback_query":
            before = list(self._written.get(first.by.chat, {}).values())
            self._spawn(self._tapped(batch.parts, before))
            return
        written = self._written.setdefault(first.by.chat, {})
        for one in batch.parts:
            written[one.update_id] = asyncio.Event()
        lane: Lane = (first.by.chat, _thread(first.body))
        queue = self._lanes.get(lane)
        if queue is None:
            queue = self._lanes[lane] = asyncio.Queue()
            self._spawn(self._work(queue))
        queue.put_nowait(batch)

    def _spawn(self, work: Awaitable[None]) -> None:
        if self._tasks is None:
            raise RuntimeError("the inbox is not running")
        self._tasks.create_task(_awaited(work))

    async def _work(self, queue: "asyncio.Queue[_Batch]") -> None:
        ahead: _Batch | None = None
        while True:
            batch = ahead or await queue.get()
            ahead = None
            parts = list(batch.parts)
            if not batch.settled and self._more_in_s(parts):
                while ahead is None and (more_in_s := self._more_in_s(parts)):
                    try:
                        async with asyncio.timeout(more_in_s):
                            found = await queue.get()
                    except TimeoutError:
                        break
                    if found.settled or not _belongs(parts, found.parts[0]):
                        ahead = found
                    else:
                        parts += found.parts
                parts.sort(key=_sent_order)
                await self._store.join([one.update_id for one in parts])
            await self._act(parts)

    def _more_in_s(self, parts: Sequence[Arrived]) -> float:
        """Return how long the rest of a message may take; 0: this is all."""
        if _goes_on(parts):
            return self._quiet_s
        return self._hold_s if _is_half(parts) else 0.0

    async def _tapped(self, parts: Sequence[Arrived], before: list[asyncio.Event]) -> None:
        """A tap overtakes no line written before it (a correction, then Ship), within reason."""
        try:
            async with asyncio.timeout(TAP_WAITS_S):
                for one in before:
                    await one.wait()
        except TimeoutError:
            log.info("tap update=%d goes ahead of a line", parts[0].update_id)
        await self._act(parts)

    async def _act(self, parts: Sequence[Arrived]) -> None:
        """Have one message handled, however long the engine is away; then let it go."""
        tries = ends = 0
        while True:
            try:
                reply = await self._handle(parts)
            except WentAway as error:
                ends += 1
                log.error("the engine ended over update=%d ends=%d", parts[0].update_id, ends)
                if ends >= MOST_ENDS:
                    reply = Reply(aside=(Say(words=text.said(ENDED_IT)),))
                    break
                await asyncio.sleep(error.retry_after_s or BACK_OFF_S[min(ends, 4) - 1])
            except Unavailable as error:
                tries += 1
                log.warning("not handled update=%d why=%s", parts[0].update_id, error.sentence)
                if tries == 3:
                    await self._waits_for(parts[0].by.owner, error)
                await asyncio.sleep(error.retry_after_s or BACK_OFF_S[min(tries, 4) - 1])
            else:
                break
        self._engine_down = False
        if tries:
            self._missing = ""
        for one in parts:
            if (done := self._written.get(one.by.chat, {}).pop(one.update_id, None)) is not None:
                done.set()
        queue = packed(parts[0].by.chat, reply.weight, reply.items)
        queue += packed(parts[0].by.owner, reply.weight, reply.aside)
        ids = [one.update_id for one in parts]
        await self._store.handled(ids, self._wall(), queue, self._outbox.take_up)
        self._open -= len(parts)

    async def _waits_for(self, chat: int, error: Unavailable) -> None:
        """Say once what is away: the engine, or what it waits for itself."""
        if isinstance(error, Missing):
            if self._missing == error.sentence:
                return
            self._missing = error.sentence
            what = error.sentence.rstrip(".")
            sentence = f"{what}. What you sent is kept, and tried again by itself."
            await self._outbox.say(chat, Weight.ANSWER, Say(words=text.said(sentence)))
        elif not self._engine_down:
            self._engine_down = True
            words = text.said(
                "The engine does not answer. What you sent is kept, and done once it is back."
            )
            await self._outbox.say(chat, Weight.ANSWER, Say(words=words))

    # ---- after a restart

    async def _recover(self) -> None:
        entries = await self._store.left_over()
        self.ready.set()
        opened = [found for entry in entries if (found := await self._opened(entry)) is not None]
        joined: dict[int, list[Arrived]] = {}
        for entry, one in opened:
            self._open += 1
            self._outbox.alive(one.by.chat, _message_id(one))
            joined.setdefault(entry.joined or entry.update_id, []).append(one)
        settled = {entry.joined for entry, _ in opened}
        for first, parts in joined.items():
            self._hand_on(_Batch(tuple(sorted(parts, key=_sent_order)), settled=first in settled))

    async def _opened(self, entry: Entry) -> tuple[Entry, Arrived] | None:
        """Have the engine open one update; give up on what ended us time and again."""
        if entry.lives > MOST_LIVES:
            log.error("given up update=%d lives=%d", entry.update_id, entry.lives)
            await self._give_up(entry, GIVEN_UP)
            return None
        try:
            raw = msgspec.json.decode(await self._unsealed(entry.sealed), type=dict[str, Any])
        except Refused as refusal:
            log.error("not opened update=%d why=%s", entry.update_id, refusal.sentence)
            await self._give_up(entry, NOT_OPENED)
            return None
        by = self._admit(raw)
        if not isinstance(by, Allowed):  # no owner any more
            await self._store.handled([entry.update_id], self._wall())
            return None
        return entry, Arrived(entry.update_id, raw, by)

    async def _unsealed(self, sealed: bytes) -> bytes:
        tries = 0
        while True:
            try:
                found = await self._engine.call("unseal", sealed=sealed)
            except Unavailable as error:
                tries += 1
                await asyncio.sleep(error.retry_after_s or BACK_OFF_S[min(tries, 4) - 1])
            else:
                return bytes(found)

    async def _give_up(self, entry: Entry, sentence: str) -> None:
        words = text.said(sentence.format(at=text.clock(entry.at)))
        queue = packed(self._owners[0], Weight.ANSWER, [Say(words=words)])
        await self._store.handled([entry.update_id], self._wall(), queue, self._outbox.take_up)

    # ---- strangers

    async def _joins(self, update: dict[str, Any]) -> bool:
        """Return whether somebody pressed a link by which an owner lets them in."""
        pressed = pressed_start(update) if self._let_in is not None else None
        if pressed is None or self._let_in is None:
            return False
        name = str(update["message"]["from"].get("first_name") or "")
        who, code = pressed
        return await self._let_in(int(update["update_id"]), who, code, name)

    async def _stranger(self, found: Stranger) -> None:
        """Answer nothing; tell the owner once of each, and of few."""
        if found.leave and found.chat:
            await self._groups.put_in(found.chat, found.who)
        if not found.who or found.who in self._owners:
            return
        if await self._store.facts("stranger ") >= STRANGERS_TOLD:
            return
        words = text.said(
            f"Somebody else wrote to this bot (Telegram id {found.who}). It was ignored; from this "
            "id you will hear no more."
        )
        queue = packed(self._owners[0], Weight.WORDS, [Say(words=words)])
        await self._store.first(f"stranger {found.who}", queue, self._outbox.take_up)


def _thread(body: dict[str, Any]) -> int:
    """Return the topic a message stands in; a reply thread is none."""
    return int(body.get("message_thread_id") or 0) if body.get("is_topic_message") else 0


def _message_id(one: Arrived) -> int:
    """Return the message it is; 0 for a tap: that is on one of ours, which may be one we look for."""
    return 0 if one.by.kind == "callback_query" else int(one.body.get("message_id") or 0)


def _sent_order(one: Arrived) -> int:
    return int(one.body.get("message_id", 0))


def _goes_on(parts: Sequence[Arrived]) -> bool:
    """Return whether a message like the last part may have more to come."""
    body = parts[-1].body
    if parts[-1].by.kind != "message":
        return False
    return bool(body.get("media_group_id")) or units(str(body.get("text") or "")) >= LONG_UNITS


def _is_half(parts: Sequence[Arrived]) -> bool:
    """Return whether a message ends in so little of a key that the next one tells what it is."""
    texts = [str(one.body.get("text") or "") for one in parts]
    return parts[-1].by.kind == "message" and two_goes.waits(two_goes.joined(texts))


def _belongs(parts: Sequence[Arrived], found: Arrived) -> bool:
    """Return whether the app cut `found` off from what is before it."""
    last, body = parts[-1].body, found.body
    if found.by.kind != "message" or found.by.owner != parts[-1].by.owner:
        return False
    if last.get("media_group_id") or body.get("media_group_id"):
        return bool(last.get("media_group_id") == body.get("media_group_id"))
    between_s = abs(int(body.get("date", 0)) - int(last.get("date", 0)))
    plain = isinstance(body.get("text"), str) and not body["text"].startswith("/")
    if not plain or found.by.quoted != parts[-1].by.quoted:
        return False
    if between_s <= JOIN_WITHIN_S and _goes_on(parts):
        return True
    if between_s > two_goes.HOLD_S or not _is_half(parts):
        return False
    return two_goes.together(two_goes.joined(in_order(parts)), body["text"]) is not None


async def _awaited(work: Awaitable[None]) -> None:
    await work


def in_order(parts: Iterable[Arrived]) -> list[str]:
    """Return the texts and captions of a message's parts."""
    return [str(one.body.get("text") or one.body.get("caption") or "") for one in parts]
