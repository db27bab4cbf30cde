"""The bot's file: each method one transaction, and nothing in clear that was sealed."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stores.cards import NO_TOPIC, CardStore, Line, Shown, Told, Topic
from stores.database import Database

SHOWN = Shown(
    card="a-1",
    goal="g-1",
    chat=42,
    thread=7,
    message_id=11,
    revision="r1",
    shown="h1",
    filed="f1",
    asked=True,
    live=True,
    at=5.0,
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[CardStore]:
    async with Database(tmp_path / "bot.sqlite3", "bot", secure_delete=True) as database:
        yield CardStore(database)


async def test_a_card_is_kept_as_it_stands_with_what_follows_from_it(store: CardStore) -> None:
    taken: list[Line] = []
    await store.keep_shown(SHOWN, [(42, 1, b"file")], taken.extend)
    assert await store.shown() == {"a-1": SHOWN}
    assert await store.lines() == taken == [Line(1, 42, 1, b"file")]
    assert await store.told(42, 11) == Told("g-1", "a-1", None)


async def test_a_line_said_becomes_the_message_it_is(store: CardStore) -> None:
    await store.queue([(42, 1, b"prompt")])
    (line,) = await store.lines()
    await store.said(line.id, 42, 12, Told("g-1", "", b"what for"), 5.0, [(42, 1, b"next")])
    assert [one.body for one in await store.lines()] == [b"next"]
    assert await store.told(42, 12) == Told("g-1", "", b"what for")
    assert await store.told(42, 13) is None


async def test_an_update_is_heard_once_and_known_again_when_handled(store: CardStore) -> None:
    """BR-37."""
    assert await store.hear([(1, b"one"), (2, b"two")], 5.0) == [1, 2]
    assert await store.hear([(2, b"two"), (3, b"three")], 6.0) == [3]
    await store.handled([1, 2], 7.0, [(42, 1, b"answer")])
    assert await store.hear([(1, b"one"), (2, b"two"), (3, b"three")], 8.0) == []
    assert [entry.update_id for entry in await store.left_over()] == [3]
    assert [line.body for line in await store.lines()] == [b"answer"]


async def test_a_start_is_counted_before_what_it_finds_is_tried(store: CardStore) -> None:
    await store.hear([(1, b"one")], 5.0)
    assert [(await store.left_over())[0].lives for _ in range(3)] == [1, 2, 3]


async def test_a_settled_join_is_known_after_a_restart(store: CardStore) -> None:
    await store.hear([(1, b"one"), (2, b"two"), (3, b"three")], 5.0)
    await store.join([1, 2])
    assert [entry.joined for entry in await store.left_over()] == [1, 1, None]


async def test_a_note_is_queued_once_whatever_comes_again(store: CardStore) -> None:
    taken: list[Line] = []
    for number in (1, 2, 2, 1, 3):
        await store.note_queued(number, [(42, 2, b"note %d" % number)], taken.extend)
    assert await store.last_note() == 3
    assert [line.body for line in await store.lines()] == [b"note 1", b"note 2", b"note 3"]
    assert len(taken) == 3


async def test_a_first_time_is_one_and_is_said_once(store: CardStore) -> None:
    taken: list[Line] = []
    assert await store.first("stranger 666", [(42, 2, b"told")], taken.extend)
    assert not await store.first("stranger 666", [(42, 2, b"told")], taken.extend)
    assert len(await store.lines()) == len(taken) == 1
    assert await store.facts("stranger ") == 1
    assert await store.facts("other") == 0


async def test_topics_are_kept_for_each_chat(store: CardStore) -> None:
    await store.keep_topic(42, Topic("g-1", "CSV", 0))
    await store.keep_topic(42, Topic("g-1", "CSV", 7))
    await store.keep_topic(43, Topic("g-1", "CSV", NO_TOPIC))
    assert await store.topics(42) == {"g-1": Topic("g-1", "CSV", 7)}
    assert await store.topics(43) == {"g-1": Topic("g-1", "CSV", NO_TOPIC)}


async def test_what_is_old_and_over_is_forgotten_and_what_lives_is_not(store: CardStore) -> None:
    await store.keep_shown(SHOWN)
    await store.hear([(1, b"one")], 5.0)
    await store.handled([1], 5.0)
    await store.prune(5.0 + 400 * 86400)
    assert await store.shown() == {"a-1": SHOWN}
    assert await store.told(42, 11) is not None
    assert await store.hear([(1, b"one")], 9.0) == [1]
