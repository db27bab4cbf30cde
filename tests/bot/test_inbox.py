"""Nothing an owner sends is lost, nothing is done twice: killed anywhere, redelivered, reordered."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import stores.database
from engine.api import Client, WentAway
from tests.bot.stage import Stage, permission, session

NEVER = 10**6
# How many there are depends on how many updates come with one poll.
SURE_WRITES = 18
MOST_WRITES = 26


class Crash(BaseException):
    """What a kill looks like from inside: nothing of ours may catch it."""


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path) as stage:
        yield stage


@pytest.fixture
def dies() -> Iterator[Callable[[int], asyncio.Event]]:
    """Return a function that makes the bot die at its k-th write from now; its event says it did."""
    calm = stores.database.boundary

    def at(k: int) -> asyncio.Event:
        count, died = itertools.count(), asyncio.Event()

        def boundary(what: str) -> None:
            # The secrets are the engine's to write, and it does not die here.
            if what.partition(" ")[2] not in {"secret", "forget"} and next(count) == k:
                died.set()
                raise Crash(what)

        stores.database.boundary = boundary
        return died

    yield at
    stores.database.boundary = calm


async def evening(stage: Stage) -> None:
    """Everything the owner does, before the bot has seen any of it."""
    stage.phone.send("/new shop Add CSV export")
    stage.phone.send("x" * 5000 + " the end")
    stage.phone.send("Use commas")


async def settled(stage: Stage) -> None:
    """Let the bot run until there is nothing to hear and nothing to say, then stop it."""
    await stage.start_bot()
    await stage.until(lambda: len(stage.door.asked) >= 3)
    await stage.stop_bot()


WANTED = [
    ("new_goal", {"project": "shop", "text": "Add CSV export"}),
    ("hear", {"text": "x" * 5000 + " the end", "goal": "", "card": ""}),
    ("hear", {"text": "Use commas", "goal": "", "card": ""}),
]


@pytest.mark.parametrize("k", range(MOST_WRITES))
async def test_killed_at_any_write_every_message_takes_effect_once(
    stage: Stage, dies: Callable[[int], asyncio.Event], k: int
) -> None:
    """BR-37: between receipt and confirmation too."""
    await evening(stage)
    died = dies(k)
    with suppress(Crash, BaseExceptionGroup):
        await settled(stage)
    await stage.kill_bot()
    assert died.is_set() or k >= SURE_WRITES, "it did not die there: count the writes anew"
    dies(NEVER)
    await settled(stage)
    assert sorted(map(str, stage.door.asked)) == sorted(map(str, WANTED))
    left = await left_in(stage)
    assert left == ([], [])


async def left_in(stage: Stage) -> tuple[list[object], list[object]]:
    async with stores.database.Database(stage.home.bot_db, "bot") as database:
        rows: list[object] = [*await database.fetch("SELECT update_id FROM inbox")]
        lines: list[object] = [*await database.fetch("SELECT id FROM outbox")]
    return rows, lines


async def test_a_tap_survives_a_kill_and_decides_once(
    stage: Stage, dies: Callable[[int], asyncio.Event]
) -> None:
    """BR-14, BR-16."""
    stage.door.show(session())
    stage.door.show(permission())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Allow" in m.labels)
    await stage.stop_bot()
    for k in range(6):
        stage.door.show(permission(f"a-{k + 2}", revision=f"p{k}"))
        tap = stage.phone.tap(card.id, data=f"c:a-{k + 2}:p{k}:allow")
        dies(k)
        with suppress(Crash, BaseExceptionGroup):
            await stage.start_bot()
            await stage.answered_or_dead(tap)
        await stage.kill_bot()
        dies(NEVER)
        await stage.start_bot()
        await stage.until(lambda k=k: len(stage.door.asked) == k + 1)  # type: ignore[misc]
        await stage.stop_bot()
    assert len(stage.door.asked) == 6


async def test_redelivered_updates_do_nothing(stage: Stage) -> None:
    """BR-37, BR-39."""
    await stage.start_bot()
    stage.phone.send("/new shop one")
    await stage.asked()
    await stage.phone.until(lambda: stage.emulator.updates.count() == 0)
    stage.emulator.updates.repeat(1)
    stage.phone.send("/stop all")
    await stage.asked(2)
    await stage.stop_bot()
    assert [verb for verb, _ in stage.door.asked] == ["new_goal", "stop"]
    assert stage.door.repeats == 0


async def test_what_is_sent_while_the_bot_is_down_is_done_once_each(stage: Stage) -> None:
    for number in range(5):
        stage.phone.send(f"line {number}")
    await stage.start_bot()
    asked = await stage.asked(5)
    assert [args["text"] for _, args in asked] == [f"line {number}" for number in range(5)]


async def test_what_else_is_away_is_named_once_and_what_waits_for_it_is_done_later(
    stage: Stage,
) -> None:
    await stage.start_bot()
    stage.door.away = True  # its socket answers, and says what is missing
    for number in range(3):
        stage.phone.send(f"/new shop goal {number}")
    told = await stage.phone.wait_for(lambda m: "is away" in m.text)
    assert told.text == "The engine is away. What you sent is kept, and tried again by itself."
    stage.door.away = False
    assert len(await stage.asked(3)) == 3
    assert len([m for m in stage.phone.from_bot() if "is away" in m.text]) == 1


async def test_while_the_engine_is_away_all_is_kept_and_then_done(stage: Stage) -> None:
    await stage.stop_engine()
    await stage.start_bot()
    stage.phone.send("line 1")
    stage.phone.send("line 2")
    await stage.phone.until(lambda: stage.emulator.updates.count() == 0)
    await stage.kill_bot()
    await stage.start_bot()
    stage.phone.send("line 3")
    await stage.phone.until(lambda: stage.emulator.updates.count() == 0)
    await stage.start_engine()
    asked = await stage.asked(3)
    assert [args["text"] for _, args in asked] == ["line 1", "line 2", "line 3"]


async def test_a_tap_overtakes_no_line_written_before_it(stage: Stage) -> None:
    """A long line waits for more of it to come; the tap after it still takes effect after it."""
    stage.door.show(session())
    stage.door.show(permission())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Allow" in m.labels)
    stage.phone.send("x" * 4050)
    stage.phone.tap(card.id, "Allow")
    asked = await stage.asked(2)
    assert [verb for verb, _ in asked] == ["hear", "tap"]


async def test_a_long_text_cut_by_the_app_is_one_message(stage: Stage) -> None:
    """BR-06: 10,000 characters."""
    said = "".join(f"word{number} " for number in range(1200)).strip()
    await stage.start_bot()
    stage.phone.send("first")
    stage.phone.send(said)
    stage.phone.send("/status")
    asked = await stage.asked(2)
    assert [args["text"] for _, args in asked] == ["first", said]


async def test_albums_are_one_message(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.document("a.txt", b"alpha", caption="Both files", album="7")
    stage.phone.document("b.txt", b"beta", album="7")
    ((verb, args),) = await stage.asked()
    assert verb == "hear"
    assert args["text"] == "Both files\n\n[file a.txt]\nalpha\n\n[file b.txt]\nbeta"


async def test_two_ordinary_messages_are_two(stage: Stage) -> None:
    """BR-06 the other way: nothing is joined or replaced that was not cut."""
    await stage.start_bot()
    stage.phone.send("first")
    stage.phone.send("second")
    asked = await stage.asked(2)
    assert [args["text"] for _, args in asked] == ["first", "second"]


async def test_an_update_that_ends_us_time_and_again_is_given_up(stage: Stage) -> None:
    stage.phone.send("poison")
    await stage.stop_engine()
    for _ in range(5):
        await stage.start_bot()
        await stage.phone.until(lambda: stage.emulator.updates.count() == 0)
        await stage.kill_bot()
    await stage.start_engine()
    await stage.start_bot()
    told = await stage.phone.wait_for(lambda m: "Whether it was done is not known" in m.text)
    assert told.silent
    assert stage.door.asked == []


async def test_a_line_the_engine_ends_over_each_time_is_let_go_with_a_sentence(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that ends the engine must not be put to it for ever; what comes after is done."""
    asked = Client.call

    async def call(self: Client, verb: str, /, cause: str = "", **args: object) -> object:
        if args.get("text") == "poison":
            raise WentAway("The engine went away before it answered.")
        return await asked(self, verb, cause, **args)

    monkeypatch.setattr(Client, "call", call)
    monkeypatch.setattr("bot.inbox.BACK_OFF_S", (0.0, 0.0, 0.0, 0.0))
    await stage.start_bot()
    stage.phone.send("poison")
    await stage.phone.wait_for(lambda m: m.text.startswith("The engine ended each time"))
    stage.phone.send("line 2")
    assert [args["text"] for _, args in await stage.asked()] == ["line 2"]


async def test_only_the_engine_can_open_what_waits_in_the_inbox(stage: Stage) -> None:
    await stage.stop_engine()
    await stage.start_bot()
    stage.phone.send("the words of a secret plan")
    await stage.phone.until(lambda: stage.emulator.updates.count() == 0)
    await stage.kill_bot()
    assert b"secret plan" not in stage.raw()


async def test_a_join_that_was_settled_is_not_joined_with_more_after_a_kill(stage: Stage) -> None:
    """Else the later message would vanish behind the first one's cause."""
    await stage.stop_engine()
    await stage.start_bot()
    stage.phone.send("x" * 4090)
    await stage.phone.until(lambda: stage.emulator.updates.count() == 0)
    await asyncio.sleep(1.0)  # the quiet time itself is what is tried here
    await stage.kill_bot()
    stage.phone.send("a second thought")
    await stage.start_engine()
    await stage.start_bot()
    asked = await stage.asked(2)
    assert [args["text"] for _, args in asked] == ["x" * 4090, "a second thought"]


@pytest.mark.parametrize("k", range(0, 26, 2))
async def test_killed_at_any_write_while_speaking_nothing_stays_unsaid(
    stage: Stage, dies: Callable[[int], asyncio.Event], k: int
) -> None:
    """One duplicate at most: of what was being sent when we died."""
    stage.door.show(session())
    stage.door.show(permission("a-1"))
    stage.door.note("the last words")
    stage.door.note("and the news", kind="news")

    def all_there() -> bool:
        shown = stage.phone.from_bot()
        words = {message.text.split("\n")[-1] for message in shown}
        labels = {label for message in shown for label in message.labels}
        return words >= {"the last words", "and the news"} and labels >= {"Stop", "Allow"}

    dies(k)
    with suppress(Crash, BaseExceptionGroup):
        await stage.start_bot()
        await stage.until(all_there)
        await stage.stop_bot()
    await stage.kill_bot()
    dies(NEVER)
    await stage.start_bot()
    await stage.until(all_there)
    await stage.stop_bot()
    assert 4 <= len(stage.phone.from_bot()) <= 5
    assert await left_in(stage) == ([], [])
