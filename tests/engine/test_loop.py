"""The loop over a real ledger: nothing is lost, nothing counts twice, and what breaks is set aside."""

from __future__ import annotations

import asyncio
import errno
import itertools
import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from time import time
from typing import Any

import pytest

from engine.codec import Codec
from engine.errors import AccountResting, Broken, Refused, StreamBroken, Unavailable, Unreachable
from engine.lock import EngineLock
from engine.loop import (
    MAX_EFFECT_DEATHS,
    MAX_STREAM_DEATHS,
    NOTES,
    REACH_AGAIN_S,
    Rule,
)
from engine.rules.effects import (
    AnyEffect,
    InterruptRun,
    ReplyDesk,
    Say,
    Tell,
    TidyBranch,
    Watch,
)
from engine.rules.events import (
    AnyEvent,
    GoalDropped,
    GoalOpened,
    GoalStopped,
    RetryDue,
)
from engine.rules.retry import MAX_TRIES
from stores.database import Database
from tests.crash import boundaries, play_until_death, walk
from tests.engine.toy import (
    PIECES,
    RULES,
    Clock,
    Engine,
    Goal,
    World,
    decide_goal,
    engine,
    opened,
)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "world")


def owing(*effects: AnyEffect) -> dict[str, Rule]:
    """Rules whose goal owes these effects once it is opened."""

    def decide(now: Goal, event: AnyEvent) -> tuple[Goal, tuple[AnyEffect, ...]]:
        if isinstance(event, GoalOpened):
            return now, effects
        return decide_goal(now, event)

    return RULES | {"goal": Rule("goal", Goal, decide, Goal)}


# ---------------------------------------------------------------- events in


async def test_a_goal_is_played_to_its_end(world: World) -> None:
    async with engine(world) as e:
        assert await e.loop.post("goal/g-1", opened(), "telegram:1")
        await e.loop.settle()
        assert e.loop.state("goal/g-1") == Goal("g-1", landed=PIECES, shipped=1)
        assert await e.ledger.owed() == []
        assert [note.text for note in await e.ledger.notes(0)] == ["p-1 landed", "p-2 landed"]
    assert world.lines(world.main) == list(PIECES)
    assert world.lines(world.remote) == ["end"]


async def test_a_redelivered_event_does_nothing(world: World) -> None:
    """BR-16, BR-37."""
    async with engine(world) as e:
        assert await e.loop.post("goal/g-1", opened(), "telegram:1")
        await e.loop.settle()
        assert not await e.loop.post("goal/g-1", opened(), "telegram:1")
        await e.loop.settle()
    async with engine(world) as e:
        assert not await e.loop.post("goal/g-1", opened(), "telegram:1")
        await e.loop.settle()
        assert e.loop.state("goal/g-1") == Goal("g-1", landed=PIECES, shipped=1)
    assert world.lines(world.remote) == ["end"]


async def test_many_repeats_at_once_count_once(world: World) -> None:
    """BR-16."""
    async with engine(world) as e:
        due = RetryDue(piece="p-1")
        said = await asyncio.gather(*(e.loop.post("goal/g-1", due, "telegram:1") for _ in range(5)))
        assert sorted(said) == [False, False, False, False, True]
        assert e.loop.state("goal/g-1").heard == ("p-1",)


async def test_a_refused_request_leaves_no_trace_and_may_come_again(world: World) -> None:
    async with engine(world) as e:
        for _ in range(3):
            with pytest.raises(Refused, match="never started"):
                await e.loop.post("goal/g-1", GoalStopped(), "telegram:1")
        assert e.loop.state("goal/g-1") is None
        assert await e.ledger.history("goal/g-1") == []
    async with engine(world) as e:
        assert e.loop.broken() == {}


async def test_a_repeat_of_what_was_accepted_never_hears_no(world: World) -> None:
    async with engine(world) as e:
        assert await e.loop.post("goal/g-1", RetryDue(piece="p-1"), "telegram:1")
        assert not await e.loop.post("goal/g-1", GoalStopped(), "telegram:1", position=("r-1", 7))
        assert await e.ledger.positions() == {"r-1": 7}


async def test_an_event_is_stamped_when_it_is_posted_unless_it_brings_its_time(
    world: World,
) -> None:
    async with engine(world, clock=Clock(77.0)) as e:
        await e.loop.post("goal/g-1", RetryDue(piece="now"), "a")
        await e.loop.post("goal/g-1", RetryDue(piece="then", at=5.0), "b")
        events: Codec[AnyEvent] = Codec(AnyEvent)
        logged = [events.load(one.body) for one in await e.ledger.history("goal/g-1")]
    assert logged == [RetryDue(piece="now", at=77.0), RetryDue(piece="then", at=5.0)]


async def test_a_position_moves_with_its_event_and_with_a_known_one_too(world: World) -> None:
    async with engine(world) as e:
        await e.loop.post("goal/g-1", RetryDue(piece="p"), "run:r-1:10", position=("r-1", 10))
        assert await e.ledger.positions() == {"r-1": 10}
        await e.loop.post("goal/g-1", RetryDue(piece="p"), "run:r-1:10", position=("r-1", 20))
        assert await e.ledger.positions() == {"r-1": 20}


async def test_what_one_line_tells_is_stored_as_one_with_its_position(world: World) -> None:
    items: list[tuple[str, AnyEvent, str]] = [
        ("goal/g-1", RetryDue(piece="one"), "run:r-1:7.0"),
        ("goal/g-1", RetryDue(piece="two"), "run:r-1:7.1"),
        ("goal/g-2", RetryDue(piece="three"), "run:r-1:7.2"),
    ]
    async with engine(world) as e:
        assert await e.loop.post_all(items, position=("r-1", 70))
        assert not await e.loop.post_all(items, position=("r-1", 80))
        assert await e.loop.post_all([], position=("r-1", 90))
        with pytest.raises(Refused):
            await e.loop.post_all(
                [("goal/g-3", RetryDue(piece="x"), "a"), ("goal/g-3", GoalStopped(), "b")]
            )
        assert e.loop.state("goal/g-1").heard == ("one", "two")
        assert e.loop.state("goal/g-2").heard == ("three",)
        assert e.loop.state("goal/g-3") is None
        assert await e.ledger.positions() == {"r-1": 90}


RUNS = tuple(f"r-{number}" for number in range(20))


async def say_all(e: Engine, number: int = 1) -> list[bool]:
    """Post a line of each run at once, with where it was read to."""
    return await asyncio.gather(
        *(
            e.loop.post("goal/g-1", RetryDue(piece=run), f"run:{run}:{number}", position=(run, 7))
            for run in RUNS
        )
    )


async def test_what_comes_at_once_or_while_one_is_stored_is_stored_as_one(world: World) -> None:
    def commits() -> int:
        return sum(name.startswith("before commit") for name in passed.names)

    with boundaries() as passed:
        async with engine(world, running=False) as e:
            first = asyncio.create_task(say_all(e))
            while not commits():  # noqa: ASYNC110
                await asyncio.sleep(0)
            assert await say_all(e, number=2) == await first == [True] * len(RUNS)
            assert e.loop.state("goal/g-1").heard == RUNS + RUNS
    assert commits() == 2
    async with engine(world, running=False) as e:
        assert e.loop.state("goal/g-1").heard == RUNS + RUNS
        assert await e.ledger.positions() == dict.fromkeys(RUNS, 7)


async def test_one_of_many_that_is_refused_or_known_is_so_alone(world: World) -> None:
    async with engine(world, running=False) as e:
        await e.loop.post("goal/g-1", RetryDue(piece="old"), "run:r-3:1")
        said, (stopped,) = await asyncio.gather(
            say_all(e),
            asyncio.gather(e.loop.post("goal/g-1", GoalStopped(), "no"), return_exceptions=True),
        )
        assert said == [run != "r-3" for run in RUNS]
        assert isinstance(stopped, Refused)
        assert e.loop.state("goal/g-1").heard == ("old", *(run for run in RUNS if run != "r-3"))
        assert await e.ledger.positions() == dict.fromkeys(RUNS, 7)


async def test_what_is_stored_together_dies_together(tmp_path: Path) -> None:
    """BR-37: a line counts once, wherever the engine died while it was stored among others."""

    async def play(world: World) -> None:
        async with engine(world, running=False) as e:
            stored = len(e.loop.state("goal/g-1").heard) if e.loop.state("goal/g-1") else 0
            assert len(await e.ledger.positions()) == stored
            await say_all(e)

    def judge(world: World) -> None:
        with closing(sqlite3.connect(world.ledger)) as file:
            (body,) = file.execute("SELECT body FROM states").fetchone()
            assert sorted(Codec[Goal](Goal).load(body).heard) == sorted(RUNS)
            assert file.execute("SELECT count(*) FROM events").fetchone() == (len(RUNS),)

    worlds = (World(tmp_path / str(n)) for n in itertools.count())
    await walk(lambda: next(worlds), play, judge)


async def test_watchers_hear_of_each_commit_and_each_note(world: World) -> None:
    heard: list[str] = []
    async with engine(world) as e:
        e.loop.watch(heard.append)
        await e.loop.post("goal/g-1", opened(), "telegram:1")
        await e.loop.settle()
        assert set(e.loop.states("landing")) == {"landing/g-1"}
    assert heard[0] == "goal/g-1"
    assert heard.count(NOTES) == 2
    assert set(heard) == {"goal/g-1", "landing/g-1", NOTES}


async def test_a_post_cancelled_half_way_is_whole_or_nothing(world: World) -> None:
    async with engine(world, running=False) as e:
        for steps in range(12):
            due = RetryDue(piece=str(steps))
            task = asyncio.create_task(e.loop.post("goal/g-1", due, f"c:{steps}"))
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        state = e.loop.state("goal/g-1")
        logged = await e.ledger.history("goal/g-1")
        assert len(state.heard if state else ()) == len(logged)
        kept = state
    async with engine(world, running=False) as e:
        assert e.loop.state("goal/g-1") == kept


# ---------------------------------------------------------------- effects out


class Outside:
    """An outside whose answers are told to it; each call waits for `open` if there is one."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.away: dict[str, Unavailable] = {}
        self.held: dict[str, asyncio.Event] = {}
        self.now: set[str] = set()
        self.changed = asyncio.Event()

    async def when(self, true: Callable[[], bool]) -> None:
        """Return once `true()`, looked at again at each call and whenever `changed` is set."""
        while not true():
            self.changed.clear()
            await self.changed.wait()

    async def __call__(
        self, effect_id: int, stream: str, effect: AnyEffect
    ) -> Sequence[tuple[str, AnyEvent]]:
        name = str(getattr(effect, "branch", "") or getattr(effect, "run", ""))
        self.calls.append(name)
        self.now.add(name)
        self.changed.set()
        try:
            if name in self.held:
                await self.held[name].wait()
            if name in self.away:
                raise self.away[name]
        finally:
            self.now.discard(name)
        return [(stream, RetryDue(piece=name))]


def tidy(branch: str, due_at: float = 0.0) -> TidyBranch:
    return TidyBranch(project="shop", branch=branch, landed_in="main", due_at=due_at)


async def open_goal(e: Engine, goal: str = "g-1") -> None:
    await e.loop.post(f"goal/{goal}", opened(), f"telegram:{goal}")


async def had_every_chance(e: Engine) -> None:
    """Return when whatever could have started has: what it must write first goes by one thread."""
    for _ in range(20):
        await e.ledger.knows("nothing")


async def test_effects_of_one_stream_are_performed_in_order_one_at_a_time(world: World) -> None:
    outside = Outside()
    outside.held["a"] = asyncio.Event()
    rules = owing(tidy("a"), tidy("b"), tidy("c"))
    async with engine(world, perform=outside, rules=rules) as e:
        await open_goal(e)
        await outside.when(lambda: bool(outside.calls))
        await e.loop.post("goal/g-1", opened(), "telegram:again")
        await had_every_chance(e)
        assert outside.calls == ["a"]
        outside.held["a"].set()
        await e.loop.settle()
    assert outside.calls == ["a", "b", "c", "a", "b", "c"]


async def test_streams_do_not_wait_for_each_other_up_to_a_bound(world: World) -> None:
    outside = Outside()
    outside.held["a"] = asyncio.Event()
    async with engine(world, perform=outside, rules=owing(tidy("a")), max_parallel=2) as e:
        for goal in ("g-1", "g-2", "g-3"):
            await open_goal(e, goal)
        await outside.when(lambda: len(outside.calls) == 2)
        await had_every_chance(e)
        assert outside.calls == ["a", "a"]
        outside.held["a"].set()
        await e.loop.settle()
    assert outside.calls == ["a", "a", "a"]


async def test_an_effect_the_outside_did_not_answer_is_tried_again_under_its_id(
    world: World,
) -> None:
    ids: list[int] = []

    async def perform(
        effect_id: int, stream: str, effect: AnyEffect
    ) -> Sequence[tuple[str, AnyEvent]]:
        ids.append(effect_id)
        if len(ids) < 3:
            raise Unavailable("the remote did not answer")
        return []

    async with engine(world, perform=perform, rules=owing(tidy("a"))) as e:
        await open_goal(e)
        await e.loop.settle()
        assert len(ids) == 1
        await e.pass_time(0.4)
        assert len(ids) == 1
        await e.pass_time(0.1)
        assert len(ids) == 2
        (owed,) = await e.ledger.owed()
        assert (owed.tries, owed.deaths, owed.due_at) == (2, 0, 1001.5)
    async with engine(world, perform=perform, rules=owing(tidy("a")), clock=Clock(1001.0)) as e:
        await e.loop.settle()
        assert len(ids) == 2
        await e.pass_time(0.5)
        assert await e.ledger.owed() == []
    assert ids == [1, 1, 1]


async def test_a_failed_effect_holds_back_what_its_stream_does_but_not_what_it_says(
    world: World,
) -> None:
    outside = Outside()
    outside.away["a"] = Unavailable("the remote did not answer")
    said = Say(goal="g-1", kind="news", text="on its way")
    told = Tell(stream="goal/g-9", event=RetryDue(piece="told"))
    rules = owing(tidy("a"), tidy("b"), said, told)
    async with engine(world, perform=outside, rules=rules) as e:
        await open_goal(e)
        await e.loop.settle()
        assert outside.calls == ["a"]
        assert e.loop.state("goal/g-9").heard == ("told",)
        assert len(await e.ledger.notes(0)) == 1
    async with engine(world, perform=outside, rules=rules) as e:
        await e.loop.settle()
        assert outside.calls == ["a"]  # the order holds over a restart
        del outside.away["a"]
        await e.pass_time(10)
    assert outside.calls == ["a", "a", "b"]


async def test_a_long_effect_does_not_hold_back_what_its_stream_says(world: World) -> None:
    outside = Outside()
    outside.held["a"] = asyncio.Event()
    rules = owing(tidy("a"), Tell(stream="goal/g-9", event=RetryDue(piece="told")))
    async with engine(world, perform=outside, rules=rules) as e:
        e.loop.watch(lambda stream: outside.changed.set())
        await open_goal(e)
        await outside.when(lambda: outside.now == {"a"} and e.loop.state("goal/g-9") is not None)
        outside.held["a"].set()
        await e.loop.settle()


async def test_an_effect_due_later_is_in_nobodys_way_and_comes_in_its_time(world: World) -> None:
    outside = Outside()
    wake = Tell(stream="goal/g-1", event=RetryDue(piece="wake"), due_at=1_060.0)
    rules = owing(Watch(run="watch", session="s-1", due_at=1_030.0), tidy("a"), wake, tidy("b"))
    async with engine(world, perform=outside, rules=rules) as e:
        await open_goal(e)
        await e.loop.settle()
        assert outside.calls == ["a", "b"]
        await e.pass_time(29)
        assert outside.calls == ["a", "b"]
        await e.pass_time(1)
        assert outside.calls == ["a", "b", "watch"]
    async with engine(world, perform=outside, rules=rules, clock=Clock(1_700.0)) as e:
        await e.loop.settle()
        assert e.loop.state("goal/g-1").heard == ("a", "b", "watch", "wake")
    async with engine(world, perform=outside, rules=rules, clock=Clock(1_800.0)) as e:
        await e.loop.settle()
        assert e.loop.state("goal/g-1").heard == ("a", "b", "watch", "wake")


async def test_the_timer_wakes_by_itself(world: World) -> None:
    """The real clock, this once: an effect due in a moment comes without anybody's call."""
    wake = Tell(stream="goal/g-1", event=RetryDue(piece="wake"), due_at=time() + 0.05)
    async with engine(world, rules=owing(wake), clock=time) as e:
        await open_goal(e)
        await e.loop.settle(until=lambda: bool(e.loop.state("goal/g-1").heard))


async def test_a_clock_set_back_holds_nothing_that_was_due(world: World) -> None:
    outside = Outside()
    rules = owing(tidy("a", due_at=1_010.0), tidy("b", due_at=1_010.0))
    async with engine(world, perform=outside, rules=rules) as e:
        outside.held["a"] = asyncio.Event()
        await open_goal(e)
        e.clock.now = 1_010.0
        e.loop.wake()
        await outside.when(lambda: bool(outside.now))
        e.clock.now = 0.0
        outside.held["a"].set()
        await e.loop.settle()
    assert outside.calls == ["a", "b"]


async def test_after_the_last_try_the_stream_hears_why(world: World) -> None:
    outside = Outside()
    outside.away["r-7"] = Unavailable("build-box did not answer")
    rules = owing(InterruptRun(run="r-7"), tidy("next"))
    async with engine(world, perform=outside, rules=rules) as e:
        await open_goal(e)
        for _ in range(MAX_TRIES + 2):
            await e.pass_time(10_000)
        heard = e.loop.state("goal/g-1").heard
    assert outside.calls == ["r-7"] * (MAX_TRIES + 1) + ["next"]
    assert heard == ("InterruptRun r-7: build-box did not answer", "next")


async def test_what_is_owed_to_a_machine_out_of_reach_waits_for_it(world: World) -> None:
    """BR-96: a link may be down all night; what the owner said meanwhile is still to be done."""
    outside = Outside()
    outside.away["r-7"] = Unreachable("build-box: the connection to it was lost")
    rules = owing(InterruptRun(run="r-7"))
    async with engine(world, perform=outside, rules=rules) as e:
        await open_goal(e)
        for _ in range(MAX_TRIES * 3):
            await e.pass_time(REACH_AGAIN_S)
        assert len(outside.calls) > MAX_TRIES * 2
        del outside.away["r-7"]
        await e.pass_time(REACH_AGAIN_S)
        assert e.loop.state("goal/g-1").heard == ("r-7",)


async def test_no_try_at_a_machine_out_of_reach_counts_as_a_death(world: World) -> None:
    """Else an engine that is started again after a bad night gives up all that is owed there."""
    outside = Outside()
    outside.away["r-7"] = Unreachable("build-box: the connection to it was lost")
    rules = owing(InterruptRun(run="r-7"))
    async with engine(world, perform=outside, rules=rules) as e:
        await open_goal(e)
        for _ in range(MAX_EFFECT_DEATHS * 2):
            await e.pass_time(REACH_AGAIN_S)
        (owed,) = await e.ledger.owed()
        assert owed.deaths == 0
    del outside.away["r-7"]
    async with engine(world, perform=outside, rules=rules) as e:
        await e.loop.settle()
        assert e.loop.state("goal/g-1").heard == ("r-7",)


@pytest.mark.parametrize(
    "away",
    [
        Unavailable("too many requests", retry_after_s=300.0),
        AccountResting("the plan's limit", "main", until=1_300.0),
    ],
)
async def test_the_outsides_own_wish_for_a_pause_is_kept(world: World, away: Unavailable) -> None:
    outside = Outside()
    outside.away["a"] = away
    async with engine(world, perform=outside, rules=owing(tidy("a"))) as e:
        await open_goal(e)
        await e.loop.settle()
        await e.pass_time(299)
        assert outside.calls == ["a"]
        await e.pass_time(1)
        assert outside.calls == ["a", "a"]


async def test_what_a_stream_is_told_may_be_refused_and_is_then_only_logged(world: World) -> None:
    rules = owing(Tell(stream="goal/g-9", event=GoalStopped()))
    async with engine(world, rules=rules) as e:
        await open_goal(e)
        await e.loop.settle()
        assert len(await e.ledger.history("goal/g-9")) == 1
        assert await e.ledger.owed() == []


async def test_all_that_comes_of_one_effect_is_stored_as_one(world: World) -> None:
    async def perform(
        effect_id: int, stream: str, effect: AnyEffect
    ) -> Sequence[tuple[str, AnyEvent]]:
        return [
            ("goal/g-1", RetryDue(piece="one")),
            ("goal/g-1", RetryDue(piece="two")),
            ("goal/g-2", RetryDue(piece="three")),
        ]

    async def play(world: World) -> None:
        async with engine(world, perform=perform, rules=owing(tidy("a"))) as e:
            await open_goal(e)
            await e.loop.settle()

    names = await walk(
        lambda: World(world.folder / str(next(numbers))),
        play,
        lambda world: None,
    )
    assert sum(name.startswith("before commit") for name in names) == 2


numbers = itertools.count()


# ---------------------------------------------------------------- what breaks


async def test_an_unexpected_exception_in_performing_ends_the_loop(world: World) -> None:
    async def perform(effect_id: int, stream: str, effect: AnyEffect) -> Any:
        raise ZeroDivisionError

    async def play() -> None:
        async with engine(world, perform=perform, rules=owing(tidy("a"))) as e:
            await open_goal(e)
            await e.loop.settle()

    with pytest.raises(BaseExceptionGroup) as ended:
        await play()
    assert ended.value.subgroup(ZeroDivisionError) is not None


async def live_and_die(world: World, outside: Any, rules: dict[str, Rule]) -> tuple[str, ...]:
    """Run until all is quiet or the engine ends; return what the goal has heard."""
    try:
        async with engine(world, perform=outside, rules=rules) as e:
            await open_goal(e)
            await e.loop.settle()
            return tuple(e.loop.state("goal/g-1").heard)
    except* (ZeroDivisionError, Broken):
        pass
    return ("ended",)


async def test_an_effect_that_keeps_ending_the_engine_is_given_up(world: World) -> None:
    rules = owing(ReplyDesk(call="r-1#2", text="no"), tidy("next"))

    async def perform(effect_id: int, stream: str, effect: AnyEffect) -> Any:
        if isinstance(effect, ReplyDesk):
            raise ZeroDivisionError
        return [(stream, RetryDue(piece="next"))]

    lives = [await live_and_die(world, perform, rules) for _ in range(MAX_EFFECT_DEATHS + 1)]
    assert lives[:-1] == [("ended",)] * MAX_EFFECT_DEATHS
    assert lives[-1] == (
        f"ReplyDesk r-1#2: the engine ended {MAX_EFFECT_DEATHS} times while doing it",
        "next",
    )


async def test_an_effect_that_finds_no_room_is_put_off_and_no_death(world: World) -> None:
    room = [OSError(errno.ENOSPC, "No space left on device")]

    async def perform(effect_id: int, stream: str, effect: AnyEffect) -> Any:
        if room:
            raise room.pop()
        return [(stream, RetryDue(piece="done"))]

    async with engine(world, perform=perform, rules=owing(tidy("a"))) as e:
        await open_goal(e)
        await e.loop.settle()
        (owed,) = await e.ledger.owed()
        assert (owed.tries, owed.deaths) == (0, 0)  # however often: it waits for room, not for luck
        await e.pass_time(60.0)
        assert e.loop.state("goal/g-1").heard == ("done",)


async def test_restarting_the_engine_is_no_death_of_what_it_was_doing(world: World) -> None:
    outside = Outside()
    outside.held["a"] = asyncio.Event()
    rules = owing(tidy("a"))
    for life in range(MAX_EFFECT_DEATHS + 3):
        async with engine(world, perform=outside, rules=rules) as e:
            await open_goal(e)
            await outside.when(lambda life=life: len(outside.calls) > life)  # type: ignore[misc]
    async with engine(world, perform=outside, rules=rules) as e:
        outside.held["a"].set()
        await e.loop.settle()
        assert e.loop.state("goal/g-1").heard == ("a",)


async def post_and_die(world: World, stream: str, cause: str) -> None:
    async def post() -> None:
        async with engine(world, running=False) as e:
            await e.loop.post(stream, GoalDropped(), cause)

    with pytest.raises(ZeroDivisionError):
        await post()


async def test_an_event_that_ended_the_engine_twice_sets_its_stream_aside_and_no_other(
    world: World,
) -> None:
    await post_and_die(world, "goal/g-1", "telegram:1")
    async with engine(world, running=False) as e:
        assert e.loop.broken() == {}
    await post_and_die(world, "goal/g-1", "telegram:1")
    async with engine(world, rules=owing(Tell(stream="goal/g-1", event=RetryDue(piece="x")))) as e:
        assert list(e.loop.broken()) == ["goal/g-1"]
        with pytest.raises(StreamBroken, match=r"goal/g-1 is set aside: deciding telegram:1"):
            await e.loop.post("goal/g-1", RetryDue(piece="y"), "telegram:2")
        await open_goal(e, "g-2")
        await e.loop.settle()
        assert e.loop.state("goal/g-2") is not None
        assert len(await e.ledger.owed()) == 1  # what g-1 is told waits for it


async def test_deaths_of_two_causes_do_not_add_up(world: World) -> None:
    for cause in ("telegram:1", "telegram:2"):
        await post_and_die(world, "goal/g-1", cause)
    async with engine(world, running=False) as e:
        assert e.loop.broken() == {}


async def test_a_stream_that_ended_the_engine_three_times_of_late_is_set_aside_whatever_the_causes(
    world: World,
) -> None:
    """A machine is greeted under another cause in each life, and would end each of them."""
    for life in range(MAX_STREAM_DEATHS):
        async with engine(world, running=False) as e:
            assert e.loop.broken() == {}
        await post_and_die(world, "goal/g-1", f"seen:{life}")
    async with engine(world, running=False) as e:
        assert "again and again" in e.loop.broken()["goal/g-1"].why
        await e.loop.retry_stream("goal/g-1")
    async with engine(world, running=False) as e:
        assert e.loop.broken() == {}


async def test_after_an_event_could_not_be_decided_nothing_more_is_stored(world: World) -> None:
    """Else another post would hide whose death it was, and go on from a state half thought."""
    async with engine(world, running=False) as e:
        with pytest.raises(ZeroDivisionError):
            await e.loop.post("goal/g-1", GoalDropped(), "telegram:1")
        with pytest.raises(Broken, match="on its way down"):
            await e.loop.post("goal/g-2", RetryDue(piece="x"), "telegram:2")
        assert await e.ledger.history("goal/g-2") == []


TOLD = Tell(stream="goal/g-1", event=RetryDue(piece="told"))


async def broken_goal_with_news_waiting(world: World) -> None:
    for _ in range(2):
        await post_and_die(world, "goal/g-1", "telegram:1")
    async with engine(world, rules=owing(TOLD)) as e:
        await open_goal(e, "g-2")
        await e.loop.settle()
        (owed,) = await e.ledger.owed()
        assert (owed.tries, owed.deaths) == (0, 0)


async def test_what_an_act_has_to_tell_a_broken_stream_waits_and_is_no_death(
    world: World,
) -> None:
    for _ in range(2):
        await post_and_die(world, "goal/g-1", "telegram:1")
    acts = itertools.count(1)

    async def perform(effect_id: int, stream: str, effect: AnyEffect) -> Any:
        return [("goal/g-1", RetryDue(piece=f"act {next(acts)}"))]

    for _ in range(MAX_EFFECT_DEATHS + 1):
        async with engine(world, perform=perform, rules=owing(tidy("a"))) as e:
            await open_goal(e, "g-2")
            await e.loop.settle()
            (owed,) = await e.ledger.owed()
            assert (owed.tries, owed.deaths) == (0, 0)
    async with engine(world, perform=perform, rules=owing(tidy("a"))) as e:
        await e.loop.retry_stream("goal/g-1")
        await e.loop.settle()
        assert len(e.loop.state("goal/g-1").heard) == 1


async def test_retrying_a_broken_stream_hands_it_all_that_waited(world: World) -> None:
    await broken_goal_with_news_waiting(world)
    async with engine(world) as e:
        await e.loop.settle()
        await e.loop.retry_stream("goal/g-1")
        await e.loop.settle()
        assert e.loop.state("goal/g-1").heard == ("told",)
    async with engine(world) as e:
        assert e.loop.broken() == {}
        with pytest.raises(Refused, match="not set aside"):
            await e.loop.retry_stream("goal/g-1")


async def test_dropping_a_broken_stream_logs_its_events_and_changes_nothing(world: World) -> None:
    await broken_goal_with_news_waiting(world)
    async with engine(world) as e:
        await e.loop.drop_stream("goal/g-1")
        await e.loop.settle()
        assert await e.ledger.owed() == []
    async with engine(world) as e:
        assert await e.loop.post("goal/g-1", GoalDropped(), "telegram:1")
        assert e.loop.state("goal/g-1") is None
        assert len(await e.ledger.history("goal/g-1")) == 2
        assert e.loop.broken()["goal/g-1"].dropped


async def test_a_state_this_release_cannot_read_sets_its_stream_aside(world: World) -> None:
    async with engine(world) as e:
        await e.loop.post("goal/g-1", RetryDue(piece="a"), "a")
        await e.loop.post("goal/g-2", RetryDue(piece="b"), "b")
    async with Database(world.ledger, "ledger") as file, file.transaction() as tx:
        sql = "UPDATE states SET body = ? WHERE stream = 'goal/g-1'"
        await tx.execute(sql, (b'{"type":"GoalOfTomorrow"}',))
    async with engine(world) as e:
        with pytest.raises(StreamBroken, match="GoalOfTomorrow"):
            await e.loop.post("goal/g-1", RetryDue(piece="c"), "c")
        with pytest.raises(Refused, match="Update Quarterdeck, or leave it"):
            await e.loop.retry_stream("goal/g-1")
        assert e.loop.state("goal/g-2").heard == ("b",)


async def test_an_effect_for_a_stream_nobody_decides_does_not_end_the_engine_for_ever(
    world: World,
) -> None:
    rules = owing(Tell(stream="nobody/x", event=RetryDue(piece="x")), tidy("next"))

    async def life() -> bool:
        try:
            async with engine(world, perform=Outside(), rules=rules) as e:
                await open_goal(e)
                await e.loop.settle()
                return True
        except* Broken:
            pass
        return False

    assert [await life() for _ in range(3)] == [False, False, True]


# ---------------------------------------------------------------- dying anywhere


async def play(world: World) -> None:
    async with engine(world) as e:
        await open_goal(e)
        await e.loop.settle()


def judge(world: World) -> None:
    assert world.lines(world.main) == list(PIECES)
    assert world.lines(world.remote) == ["end"]
    with closing(sqlite3.connect(world.ledger)) as file:
        (body,) = file.execute("SELECT body FROM states WHERE stream = 'goal/g-1'").fetchone()
        assert Codec[Goal](Goal).load(body) == Goal("g-1", landed=PIECES, shipped=1)
        notes = [text for (text,) in file.execute("SELECT text FROM notes ORDER BY n")]
        assert notes == ["p-1 landed", "p-2 landed"]
        assert file.execute("SELECT id FROM effects WHERE done_at IS NULL").fetchall() == []
        assert file.execute("SELECT count(*) FROM events").fetchone() == (10,)


async def test_the_end_is_the_same_wherever_the_engine_dies(tmp_path: Path) -> None:
    """BR-37: a death before and after every commit and every act, then a start over its files."""
    worlds = (World(tmp_path / str(n)) for n in itertools.count())
    names = await walk(lambda: next(worlds), play, judge)
    assert len(names) > 40
    assert {"before Push", "after Push"} <= {name.rsplit(" ", 1)[0] for name in names}


async def test_the_end_is_the_same_after_two_deaths(tmp_path: Path) -> None:
    worlds = (World(tmp_path / str(n)) for n in itertools.count())

    async def play_and_die_again(world: World) -> None:
        if world.ledger.exists():
            await play_until_death(play(world), 5)
        await play(world)

    await walk(lambda: next(worlds), play_and_die_again, judge, points=lambda n: range(1, n + 1, 3))


async def test_the_walk_finds_an_act_that_counts_twice(tmp_path: Path) -> None:
    """The walk itself: a push that does not look whether it was made is caught by it."""

    class Careless(World):
        def add_once(self, path: Path, line: str) -> None:
            with path.open("a") as file:
                file.write(f"{line}\n")

    worlds = (Careless(tmp_path / str(n)) for n in itertools.count())
    with pytest.raises(AssertionError) as caught:
        await walk(lambda: next(worlds), play, judge)
    assert "died at boundary" in caught.value.__notes__[0]


KILLED_AT = """
import asyncio, os, pathlib, signal, sys
from stores import database
from tests.engine.test_loop import play
from tests.engine.toy import World

left = int(sys.argv[2])

def boundary(name):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

database.boundary = boundary
asyncio.run(play(World(pathlib.Path(sys.argv[1]))))
"""


@pytest.mark.parametrize("point", [2, 9, 23, 38])
async def test_a_real_kill_is_survived_too(tmp_path: Path, point: int) -> None:
    folder = tmp_path / "world"
    killed = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED_AT, str(folder), str(point), cwd=ROOT
    )
    assert await killed.wait() == -signal.SIGKILL
    world = World(folder)
    await play(world)
    judge(world)


FULL_AT = """
import asyncio, pathlib, resource, signal, sys
from engine.rules.events import RetryDue
from tests.engine.toy import World, engine

async def fill(world):
    async with engine(world, running=False) as e:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        room = int(sys.argv[2])
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        for number in range(10_000):
            await e.loop.post("goal/g-1", RetryDue(piece=str(number)), f"c:{number}")
            print(number, flush=True)

asyncio.run(fill(World(pathlib.Path(sys.argv[1]))))
"""


@pytest.mark.parametrize("room", [400_000, 700_000])
async def test_a_full_disk_ends_the_engine_and_loses_nothing_it_had_said_yes_to(
    tmp_path: Path, room: int
) -> None:
    folder = tmp_path / "world"
    filling = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", FULL_AT, str(folder), str(room)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await filling.communicate()
    assert filling.returncode == 1
    assert b"OperationalError" in err
    said_yes_to = [line.decode() for line in out.splitlines()]
    assert len(said_yes_to) > 10
    async with engine(World(folder)) as e:  # there is room again
        heard = list(e.loop.state("goal/g-1").heard)
        assert heard[: len(said_yes_to)] == said_yes_to
        assert len(heard) <= len(said_yes_to) + 1
        assert e.loop.broken() == {}
        assert await e.loop.post("goal/g-1", RetryDue(piece="on"), f"c:{len(heard)}")


# ---------------------------------------------------------------- one engine


HOLD = """
import pathlib, sys
from engine.lock import EngineLock
with EngineLock(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


async def test_a_second_engine_is_refused_by_the_kernel_and_told_who_runs(tmp_path: Path) -> None:
    """BR-47: a lock of the kernel's, so a killed holder or a pid used again keeps nobody out."""
    path = tmp_path / "engine.lock"
    path.write_text("1\n")  # alive, and no engine
    holder = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", HOLD, str(path)),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"held\n"
    with pytest.raises(Refused, match=rf"process {holder.pid}\)"), EngineLock(path):
        pass
    holder.kill()
    await holder.wait()
    with EngineLock(path):
        assert path.read_text() == f"{os.getpid()}\n"
