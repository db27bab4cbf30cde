"""The heart: an event is decided, stored with what follows from it, and only then acted on.

    post ──> rule.decide ──> one commit: event, state, effects owed ──> perform ──> events ──┐
     ^                                                                                       │
     └───────────────────────────────────────────────────────────────────────────────────────┘

What comes of an effect goes in together with the effect's own end, so a result counts once or the
effect is performed again under the same id. What is posted while something is stored waits, and is then
decided in its order and stored as one. Opening is recovering: what is owed is performed.

Each stream has two lanes. What it says (`Tell`, `Say`) goes out in order and at once; what it does
goes out in order behind it, one at a time, and an effect the outside did not answer holds back those
after it. An effect due later is in no lane until then. One timer waits for the earliest.

An event whose deciding ends the process is tried once more; the second time its stream is set aside
as broken, and the rest goes on. So is a stream that ended it three times of late, whatever the events. An effect that keeps ending the process is given up.

Neighbours: rules/ decides, stores/ledger.py stores, the performer given in acts, api/ posts.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
import random
import time
from bisect import insort
from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final, Protocol

import msgspec

from engine import audit, pauses
from engine.asker import Asker, asker
from engine.codec import Codec
from engine.errors import (
    AccountResting,
    Broken,
    NoRoom,
    Refused,
    StreamBroken,
    Unavailable,
    Unreachable,
)
from engine.node import room
from engine.room import FULL
from engine.rules import retry
from engine.rules.effects import AnyEffect, Say, Tell
from engine.rules.events import AnyEvent, GaveUp
from stores import database
from stores.ledger import GAVE_UP, BrokenStream, Decision, Entry, Ids, Ledger, Owed, Step

log = logging.getLogger(__name__)

MAX_EVENT_DEATHS: Final = 2
MAX_STREAM_DEATHS: Final = 3  # of whatever causes, within so long
DEATHS_TOGETHER_S: Final = 3600.0
MAX_EFFECT_DEATHS: Final = 5
SPARE_S: Final = 2.0
MAX_TOGETHER: Final = 64  # posts that share a commit
# A wall clock may jump (sleep, a corrected time), the loop's own timer does not notice.
LOOK_AGAIN_S: Final = 30.0
# The longest a machine that is back goes without what is owed to it.
REACH_AGAIN_S: Final = 5.0


# What watchers are called with when a line for the owner was noted.
NOTES: Final = "notes"

# Where an effect names what it is about, the plainest name first.
SUBJECTS: Final = ("run", "piece", "review", "call", "session", "branch", "project", "goal")


@dataclass(frozen=True, slots=True)
class Rule:
    """How one kind of stream is decided: streams `<prefix>/<name>`, or `<prefix>` alone."""

    prefix: str
    begin: Callable[[str], Any]  # a stream's name -> its first state
    decide: Callable[[Any, Any], tuple[Any, tuple[AnyEffect, ...]]]
    state_type: Any  # a tagged struct, or a union of them


class Perform(Protocol):
    """Acts for us. Idempotent by `effect_id`; raises Unavailable to be called again."""

    async def __call__(
        self, effect_id: int, stream: str, effect: AnyEffect
    ) -> Sequence[tuple[str, AnyEvent]]:
        """Return the events that came of it, each with its stream."""
        ...


@dataclass(slots=True)
class _Debt:
    """An effect owed, decoded."""

    id: int
    stream: str
    effect: AnyEffect
    due_at: float
    tries: int = 0
    deaths: int = 0
    waiting: bool = False  # in its lane, and holding it back until due_at
    most_s: float = inf  # a pause between tries that is our own
    aways: int = 0  # in a row, and never too many: see errors.Unreachable, errors.NoRoom

    @property
    def name(self) -> str:
        return type(self.effect).__name__

    @property
    def talks(self) -> bool:
        return isinstance(self.effect, Tell | Say)


@dataclass(eq=False, slots=True)
class _Lane:
    """The effects of one stream that wait for their turn, oldest first."""

    talks: bool
    ready: list[_Debt] = field(default_factory=list)
    busy: bool = False


@dataclass(eq=False, slots=True)
class _Posted:
    """Events that are stored as one, with how far a run was read or the effect they came of."""

    items: Sequence[tuple[str, AnyEvent, str]]
    position: tuple[str, int] | None = None
    done: _Debt | None = None
    who: Asker | None = None
    decided: list[tuple[Step, tuple[AnyEffect, ...]]] = field(default_factory=list)
    is_new: bool = True
    no: Refused | StreamBroken | None = None

    @property
    def kinds(self) -> str:
        return " ".join(f"{type(event).__name__} {stream}" for stream, event, _ in self.items)

    def entry(self, now: float) -> Entry:
        """Return what the ledger is to store."""
        done = None if self.done is None else (self.done.id, now)
        return Entry([step for step, _ in self.decided], done, self.position)


class Loop:
    """Posts events and performs effects over one ledger.

    max_parallel   effects performed at once, over all streams; what streams say does not count
    """

    def __init__(
        self,
        ledger: Ledger,
        rules: dict[str, Rule],
        perform: Perform,
        *,
        clock: Callable[[], float] = time.time,
        luck: Callable[[], float] = random.random,
        max_parallel: int = 16,
    ) -> None:
        self._ledger = ledger
        self._rules = rules
        self._perform = perform
        self._clock = clock
        self._luck = luck
        self._max_parallel = max_parallel
        self._events: Codec[AnyEvent] = Codec(AnyEvent)
        self._effects: Codec[AnyEffect] = Codec(AnyEffect)
        self._codecs: dict[str, Codec[Any]] = {
            prefix: Codec(rule.state_type) for prefix, rule in rules.items()
        }
        self._turn = asyncio.Lock()
        self._posted: dict[_Posted, None] = {}  # what waits to be stored, oldest first
        self._storing: asyncio.Event | None = None  # somebody stores what waits; set at its end
        self._fallen = False
        self._states: dict[str, Any] = {}
        self._broken: dict[str, BrokenStream] = {}
        self._unreadable: dict[str, str] = {}  # streams, and why this release cannot read them
        self._listeners: list[Callable[[str], None]] = []

        self._lanes: dict[tuple[str, bool], _Lane] = {}
        self._startable: dict[_Lane, None] = {}  # in the order they became so
        self._later: list[tuple[float, int, _Debt]] = []
        self._seen = 0.0  # the clock, when we last looked at what is due
        self._parked: dict[str, list[_Debt]] = {}  # until that stream is mended or dropped
        self._trying: set[int] = set()
        self._performing = 0
        self._acting = 0
        self._nudge = asyncio.Event()
        self._ended = False
        self._waiters: list[asyncio.Future[None]] = []

    # ------------------------------------------------------------ opening

    async def open(self) -> None:
        """Take up where the ledger stands. Nothing is performed before `run`."""
        self._broken = await self._ledger.broken()
        for cause, stream in self._ledger.killers(MAX_EVENT_DEATHS).items():
            if stream not in self._broken:
                await self._set_aside(stream, cause, f"deciding {cause} ended the engine twice")
        for stream, cause in self._ledger.deadly(MAX_STREAM_DEATHS, DEATHS_TOGETHER_S).items():
            if stream not in self._broken:
                why = f"deciding {cause}, after others like it, ended the engine again and again"
                await self._set_aside(stream, cause, why)
        for stream, body in (await self._ledger.states()).items():
            self._read_state(stream, body)
        for owed in await self._ledger.owed():
            self._read_effect(owed)

    def _read_state(self, stream: str, body: bytes) -> None:
        try:
            self._states[stream] = self._codec(stream).load(body)
        except Broken as fault:
            self._set_unread_aside(stream, fault)

    def _read_effect(self, owed: Owed) -> None:
        try:
            effect = self._effects.load(owed.body)
        except Broken as fault:
            self._set_unread_aside(owed.stream, fault)
            return
        debt = _Debt(owed.id, owed.stream, effect, owed.due_at, owed.tries, owed.deaths)
        self._admit(debt, again=True)

    def _set_unread_aside(self, stream: str, fault: Broken) -> None:
        # Not stored: the next release may well read it.
        log.error("unreadable stream=%s: %s", stream, fault)
        self._unreadable[stream] = str(fault)
        self._broken.setdefault(stream, BrokenStream(stream, "", str(fault), self._clock()))

    # ------------------------------------------------------------ events in

    async def post(
        self,
        stream: str,
        event: AnyEvent,
        cause: str,
        *,
        position: tuple[str, int] | None = None,
    ) -> bool:
        """Decide an event and store what follows. Return False if its cause is known: nothing new.

        cause      unique for ever; the same thing posted again carries the same one
        position   how far a run has been read with this event
        raises     Refused, from the rule: nothing is stored. StreamBroken: later, perhaps
        """
        return await self.post_all([(stream, event, cause)], position=position)

    async def tell(self, stream: str, event: AnyEvent, cause: str) -> bool:
        """Post a fact that whoever knows it holds on to no longer: a stream set aside misses it."""
        try:
            return await self.post(stream, event, cause)
        except StreamBroken as aside:
            log.info("not told event=%s: %s", type(event).__name__, aside.sentence)
            return False

    async def post_all(
        self,
        items: Sequence[tuple[str, AnyEvent, str]],
        *,
        position: tuple[str, int] | None = None,
    ) -> bool:
        """Post several (stream, event, cause) as one: all are stored or none is.

        What is read from one line belongs together: a position stored with the first of several
        would have the others forgotten by a death in between.
        """
        try:
            return await self._store(_Posted(items, position, who=asker()))
        except Refused:
            # Said yes to before, a repeat must not hear no.
            if not await self._ledger.knows(items[0][2]):
                raise
            if position is not None:
                await self._ledger.set_position(*position)
            return False
        finally:
            self._tell_waiters()

    async def _store(self, posted: _Posted) -> bool:
        """Have it decided and stored, with all that came up meanwhile; return whether it was new.

        A commit costs the same for one as for many. Whoever comes first stores what all the others wait
        for, who are woken together and find theirs done; and it lets those come who were woken with it.
        """
        self._posted[posted] = None
        try:
            while posted in self._posted:
                if self._storing is not None:
                    await self._storing.wait()
                    continue
                self._storing = over = asyncio.Event()
                try:
                    async with self._turn:
                        await asyncio.sleep(0)
                        while posted in self._posted:
                            await self._store_together(list(self._posted)[:MAX_TOGETHER])
                finally:
                    self._storing = None
                    over.set()
        finally:
            self._posted.pop(posted, None)
        if posted.no is not None:
            raise posted.no
        return posted.is_new

    async def _store_together(self, all_posted: Sequence[_Posted]) -> None:
        if await self._commit(all_posted):
            return
        for posted in all_posted:
            if posted in self._posted:  # nobody has given up waiting for it
                await self._commit([posted])

    async def _commit(self, all_posted: Sequence[_Posted]) -> bool:
        """Decide each and store all as one; False: one is known, and several do not go together."""
        now = self._clock()
        decided, standing = self._decide_all(all_posted, now)
        if not decided:
            return True

        def stored(ids: list[Ids]) -> None:
            for posted, new in zip(decided, ids, strict=True):
                posted.is_new = new is not None
                self._posted.pop(posted, None)
                if new is not None:
                    self._owe(posted, new)
            if None not in ids:
                self._states |= standing
                streams = [step.stream for posted in decided for step, _ in posted.decided]
                for stream in dict.fromkeys(streams):
                    self._changed(stream)

        ids = await self._ledger.commit(
            [posted.entry(now) for posted in decided],
            what=f"commit {' '.join(posted.kinds for posted in decided)}",
            then=stored,
        )
        return ids is not None

    def _decide_all(
        self, all_posted: Sequence[_Posted], now: float
    ) -> tuple[list[_Posted], dict[str, Any]]:
        """Return those that were not refused, and where their streams stand after them."""
        decided: list[_Posted] = []
        standing: dict[str, Any] = {}
        for posted in all_posted:
            own: ChainMap[str, Any] = ChainMap({}, standing, self._states)
            try:
                posted.decided = [self._decide(posted, *item, now, own) for item in posted.items]
            except (Refused, StreamBroken) as no:
                posted.no = no
                self._posted.pop(posted, None)
            else:
                standing |= own.maps[0]
                decided.append(posted)
        self._ledger.end_try()
        return decided, standing

    def _owe(self, posted: _Posted, ids: list[list[int]]) -> None:
        for (step, effects), effect_ids in zip(posted.decided, ids, strict=True):
            for effect, effect_id in zip(effects, effect_ids, strict=True):
                self._admit(_Debt(effect_id, step.stream, effect, effect.due_at))

    def _decide(
        self,
        posted: _Posted,
        stream: str,
        event: AnyEvent,
        cause: str,
        now: float,
        standing: MutableMapping[str, Any],
    ) -> tuple[Step, tuple[AnyEffect, ...]]:
        if self._fallen:
            raise Broken("an event could not be decided; the engine is on its way down")
        if event.at == 0:
            event = msgspec.structs.replace(event, at=now)
        event = self._events.storable(event)
        told = self._events.dump(event)
        aside = self._broken.get(stream)
        if aside is not None and not aside.dropped:
            raise StreamBroken(stream, aside.why)
        if aside is not None:
            return Step(stream, cause, event.at, told, None), ()

        before = standing.get(stream)
        self._ledger.begin_try(stream, cause)
        try:
            audit.check(posted.who, event, standing.get(audit.OWNER))
            rule = self._rule(stream)
            if before is None:
                before = rule.begin(_name(stream))
            after, effects = rule.decide(before, event)
            decision = audit.record(posted.who, stream, event, before, after, effects)
            owed = tuple((self._effects.dump(effect), effect.due_at) for effect in effects)
            stays = after is before and stream in standing
            body = None if stays else self._codec(stream).dump(after)
        except Refused as no:
            if posted.done is None:
                raise
            # From a stream, not from the owner: nobody is there to hear it.
            log.warning("refused stream=%s cause=%s: %s", stream, cause, no.sentence)
            return Step(stream, cause, event.at, told, None), ()
        except BaseException:
            self._fallen = True  # the try stays noted, so that the next start counts this death
            raise
        if not stays:
            standing[stream] = after
        return Step(stream, cause, event.at, told, body, owed, decision), effects

    # ------------------------------------------------------------ looking

    async def breathe(self) -> None:
        """Return once an event could be stored: what is stuck does not breathe."""
        async with self._turn:
            pass

    def state(self, stream: str) -> Any:
        """Return where a stream stands, None if nothing ever happened to it."""
        return self._states.get(stream)

    def world(self) -> Mapping[str, Any]:
        """Return where every stream stands, by its name; to be read, and read at once."""
        return self._states

    def states(self, prefix: str) -> dict[str, Any]:
        """Return where all streams of one kind stand."""
        return {s: state for s, state in self._states.items() if s.split("/", 1)[0] == prefix}

    def broken(self) -> dict[str, BrokenStream]:
        """Return the streams set aside."""
        return dict(self._broken)

    async def given_up(self, since: float) -> list[tuple[str, GaveUp]]:
        """Return what was given up since then, each with its stream, the newest first."""
        found = [
            (row.stream, self._events.load(row.body)) for row in await self._ledger.given_up(since)
        ]
        return [(stream, event) for stream, event in found if isinstance(event, GaveUp)]

    def watch(self, listener: Callable[[str], None]) -> None:
        """Have `listener` called with the stream after each commit, NOTES after a noted line.

        It must be quick and may read states; it is called between two steps of the loop.
        """
        self._listeners.append(listener)

    def _changed(self, stream: str) -> None:
        for listener in self._listeners:
            listener(stream)
        self._tell_waiters()

    # ------------------------------------------------------------ streams set aside

    async def _set_aside(
        self,
        stream: str,
        cause: str,
        why: str,
        *,
        dropped: bool = False,
        decision: Decision | None = None,
    ) -> None:
        aside = BrokenStream(stream, cause, why, self._clock(), dropped)
        await self._ledger.set_aside(aside, decision)
        self._broken[stream] = aside

    async def retry_stream(self, stream: str) -> None:
        """Let a broken stream decide again. Raises Refused if it is not broken, or still is."""
        async with self._turn:
            if stream not in self._broken:
                raise Refused(f"{stream} is not set aside.")
            if stream in self._unreadable:
                raise Refused(
                    f"{stream} cannot go on in this release: {self._unreadable[stream]}. "
                    "Update Quarterdeck, or leave it."
                )
            who = asker()
            audit.check(who, None, self._states.get(audit.OWNER))
            decision = audit.of_aside(who, stream, "Retry", self._states.get(stream))
            await self._ledger.mend(stream, self._clock(), decision)
            del self._broken[stream]
            self._unpark(stream)
            self._changed(stream)

    async def drop_stream(self, stream: str) -> None:
        """Let a broken stream go: its events are logged from now on and change nothing."""
        async with self._turn:
            aside = self._broken.get(stream)
            if aside is None:
                raise Refused(f"{stream} is not set aside.")
            who = asker()
            audit.check(who, None, self._states.get(audit.OWNER))
            decision = audit.of_aside(who, stream, "Leave it", self._states.get(stream))
            await self._set_aside(stream, aside.cause, aside.why, dropped=True, decision=decision)
            self._unpark(stream)
            self._changed(stream)

    def _unpark(self, stream: str) -> None:
        for debt in self._parked.pop(stream, []):
            self._admit(debt)

    # ------------------------------------------------------------ effects out

    async def run(self) -> None:
        """Perform what is owed until cancelled. What nobody expected ends it: let it crash."""
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    self._nudge.clear()
                    self._start_all(group)
                    self._tell_waiters()
                    await self._rest()
        finally:
            self._ended = True
            self._tell_waiters()
            if self._trying:
                with suppress(TimeoutError):  # for want of room; a death more does no harm
                    async with asyncio.timeout(SPARE_S):
                        await self._ledger.spare(sorted(self._trying))

    def wake(self) -> None:
        """Look again at what is due: the clock was set."""
        self._nudge.set()

    async def settle(self, *, until: Callable[[], bool] | None = None) -> None:
        """Return once nothing is due, nothing is being performed and `until()`, if given, is true.

        raises   Broken when the loop has ended and none of that can come any more
        """
        self.wake()
        while not (self._is_quiet() and (until is None or until())):
            if self._ended:
                raise Broken("the loop has ended")
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter

    def _is_quiet(self) -> bool:
        due = self._later and self._later[0][0] <= self._clock()
        at_work = self._performing or self._startable or self._turn.locked() or self._posted
        return not (due or at_work or self._nudge.is_set())

    def _tell_waiters(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def _rest(self) -> None:
        """Sleep until something is owed or the earliest is due."""
        if not self._later:
            await self._nudge.wait()
            return
        left_s = max(0.0, self._later[0][0] - self._clock())
        try:
            async with asyncio.timeout(min(left_s, LOOK_AGAIN_S)):
                await self._nudge.wait()
        except TimeoutError:
            pass

    def _admit(self, debt: _Debt, *, again: bool = False) -> None:
        """Put an effect into its lane, or among the later ones.

        again   it comes from the ledger: postponed there, it still holds back its lane
        """
        now = self._clock()
        later = debt.due_at > now
        if later:
            debt.due_at = _bounded(debt, now)
            heapq.heappush(self._later, (debt.due_at, debt.id, debt))
        debt.waiting = later and again and debt.tries > 0 and not debt.talks
        if not later or debt.waiting:
            lane = self._lane(debt)
            insort(lane.ready, debt, key=lambda d: d.id)
            self._startable[lane] = None
        self._nudge.set()

    def _lane(self, debt: _Debt) -> _Lane:
        return self._lanes.setdefault((debt.stream, debt.talks), _Lane(debt.talks))

    def _start_all(self, group: asyncio.TaskGroup) -> None:
        """Start what is due and has its turn."""
        now = self._clock()
        if now < self._seen:  # set back: what waits for minutes waits no days
            for _, _, debt in self._later:
                debt.due_at = _bounded(debt, now)
            self._later = [(debt.due_at, debt.id, debt) for _, _, debt in self._later]
            heapq.heapify(self._later)
        self._seen = now
        while self._later and self._later[0][0] <= now:
            _, _, debt = heapq.heappop(self._later)
            debt.due_at = 0.0  # due once is due, should the clock go back
            if debt.waiting:
                debt.waiting = False
                self._startable[self._lane(debt)] = None
            else:
                self._admit(debt)
        # What is said first: it must not wait for the noting of what is about to be done.
        for lane in sorted(self._startable, key=lambda lane: not lane.talks):
            if lane.busy or not lane.ready or lane.ready[0].waiting:
                del self._startable[lane]
            elif lane.talks or self._acting < self._max_parallel:
                del self._startable[lane]
                self._start(group, lane)

    def _start(self, group: asyncio.TaskGroup, lane: _Lane) -> None:
        lane.busy = True
        self._performing += 1
        self._acting += not lane.talks
        group.create_task(self._carry_out(lane, lane.ready.pop(0)))

    async def _carry_out(self, lane: _Lane, debt: _Debt) -> None:
        try:
            await self._settle_debt(debt)
        except StreamBroken as broken:
            if debt.id in self._trying:
                self._trying.discard(debt.id)
                await self._ledger.spare([debt.id])
            self._parked.setdefault(broken.stream, []).append(debt)
        lane.busy = False
        self._performing -= 1
        self._acting -= not lane.talks
        if lane.ready:
            self._startable[lane] = None
        self._nudge.set()

    async def _settle_debt(self, debt: _Debt) -> None:
        match debt.effect:
            case Tell(stream=to, event=event):
                await self._results(debt, [(to, event)], f"effect:{debt.id}")
            case Say() as said:
                await self._note(debt, said)
            case _ if debt.deaths >= MAX_EFFECT_DEATHS:
                await self._give_up(debt, f"the engine ended {debt.deaths} times while doing it")
            case _:
                await self._act(debt)

    async def _act(self, debt: _Debt) -> None:
        # A cancelled try is no death of the effect's making; a crash of another's is none either.
        self._trying.add(debt.id)
        await self._ledger.tried(debt.id)
        what = f"{debt.name} {debt.id}"
        database.boundary(f"before {what}")
        try:
            events = await self._perform(debt.id, debt.stream, debt.effect)
        except StreamBroken:
            raise
        except Unavailable as away:
            await self._postpone(debt, away)
        except asyncio.CancelledError:
            raise
        except OSError as fault:
            if fault.errno not in room.TAKES_NOTHING:
                self._trying.discard(debt.id)
                raise
            await self._postpone(debt, NoRoom(FULL))
        except BaseException:
            self._trying.discard(debt.id)
            raise
        else:
            database.boundary(f"after {what}")
            await self._results(debt, events)
        self._trying.discard(debt.id)

    async def _results(
        self, debt: _Debt, events: Sequence[tuple[str, AnyEvent]], cause: str = ""
    ) -> None:
        items = [
            (stream, event, cause or f"effect:{debt.id}.{i}")
            for i, (stream, event) in enumerate(events)
        ]
        await self._store(_Posted(items, done=debt))

    async def _note(self, debt: _Debt, said: Say) -> None:
        await self._ledger.note(
            debt.id,
            goal=said.goal,
            kind=said.kind,
            text=said.text,
            who=said.who,
            sounds=said.sounds,
            at=self._clock(),
        )
        self._changed(NOTES)

    async def _postpone(self, debt: _Debt, away: Unavailable) -> None:
        now = self._clock()
        if isinstance(away, Unreachable | NoRoom):
            debt.aways += 1
            debt.deaths = 0
            await self._ledger.answered(debt.id)
            tries = min(debt.aways, retry.MAX_TRIES)
            debt.most_s = retry.wait_s(tries, self._luck(), REACH_AGAIN_S) or 0.0
            debt.due_at = now + debt.most_s
            self._admit(debt, again=True)
            return
        debt.tries += 1
        debt.aways = 0
        wait_s = retry.wait_s(debt.tries, self._luck())
        if wait_s is None:
            await self._give_up(debt, away.sentence)
            return
        asked_s = _asked_for_s(away, now)
        debt.due_at = now + max(wait_s, asked_s)
        debt.most_s = wait_s if asked_s <= wait_s else inf
        debt.deaths = 0
        await self._ledger.postpone(debt.id, debt.due_at)
        log.info(
            "postponed effect=%s id=%d wait_s=%.0f: %s",
            debt.name,
            debt.id,
            debt.due_at - now,
            away.sentence,
        )
        self._admit(debt, again=True)

    async def _give_up(self, debt: _Debt, why: str) -> None:
        log.warning("gave up effect=%s id=%d: %s", debt.name, debt.id, why)
        event = GaveUp(effect=debt.name, why=why, about=_subject(debt.effect))
        await self._results(debt, [(debt.stream, event)], f"effect:{debt.id}{GAVE_UP}")

    # ------------------------------------------------------------ rules

    def _rule(self, stream: str) -> Rule:
        rule = self._rules.get(stream.split("/", 1)[0])
        if rule is None:
            raise Broken(f"no rule decides about stream {stream!r}")
        return rule

    def _codec(self, stream: str) -> Codec[Any]:
        return self._codecs[self._rule(stream).prefix]


def _name(stream: str) -> str:
    return stream.partition("/")[2]


def _subject(effect: AnyEffect) -> str:
    named = (getattr(effect, subject, "") for subject in SUBJECTS)
    return next((str(name) for name in named if name), "")


def _bounded(debt: _Debt, now: float) -> float:
    """Return when a debt that waits is due, by a clock that may have been set back."""
    most_s = debt.most_s if debt.tries or debt.aways else pauses.at_most_s(debt.effect)
    return min(debt.due_at, now + most_s)


def _asked_for_s(away: Unavailable, now: float) -> float:
    """Return how long the outside itself asked us to stay away."""
    if isinstance(away, AccountResting) and away.until is not None:
        return away.until - now
    return away.retry_after_s or 0.0
