"""What Telegram says of groups, kept until the engine knows it: also while that is away, or old news come."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import telegram

from bot import text, text_groups
from bot.emulator import Emulator
from bot.gate import Left, Moved
from bot.groups import GRACE_S, Groups
from bot.outbox import Outbox
from engine.errors import Unavailable
from engine.requests.owners import quotable
from engine.views import GroupEntry, Note
from stores.cards import CardStore
from stores.database import Database
from tests.bot.stage import OWNER, TOKEN
from tests.crash import Crash

BASIC, SUPER, OTHER = -5_000_001, -1_002_000_000_001, -1_002_000_000_009


class Engine:
    """Away as long as it is told to be; then it notes what it is asked."""

    def __init__(self) -> None:
        self.away = True
        self.asked: list[tuple[str, str, dict[str, Any]]] = []

    async def call(self, verb: str, /, cause: str = "", **args: Any) -> Any:
        if self.away:
            raise Unavailable("away")
        self.asked.append((verb, cause, args))


class World:
    def __init__(self, bot: telegram.Bot, store: CardStore) -> None:
        self.bot = bot
        self.store = store
        self.engine = Engine()
        self.now = 1000.0
        self.link = 0.0

    async def groups(self, *allowed: int) -> Groups:
        """The groups as a bot that was just started has them."""
        outbox = Outbox(self.bot, self.store, [OWNER])
        made = Groups(
            self.bot,
            self.store,
            self.engine,
            outbox,
            [OWNER],
            open_until=lambda: self.link,
            wall=lambda: self.now,
        )
        await made.open()
        made.told(allowed)
        return made

    async def lines(self) -> list[int]:
        return [line.chat for line in await self.store.lines()]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with (
        Emulator(token=TOKEN, owner_id=OWNER, flood=False) as emulator,
        Database(tmp_path / "bot.sqlite3", "bot") as database,
        telegram.Bot(TOKEN, base_url=f"{emulator.url}/bot") as bot,
    ):
        yield World(bot, CardStore(database))


async def test_what_happened_while_the_engine_is_away_is_told_it_once_it_is_back(
    world: World,
) -> None:
    before = await world.groups(BASIC, OTHER)
    await before.left(7, Left(OTHER))
    await before.moved(8, Moved(BASIC, SUPER))
    assert await before.settled() is not None  # later
    after = await world.groups(BASIC, OTHER)  # as the engine still sees it
    assert after.chats == [SUPER]
    world.engine.away = False
    assert await after.settled() is None
    assert sorted(world.engine.asked) == [
        ("group_left", "telegram:7", {"chat": OTHER}),
        ("group_moved", "telegram:8", {"chat": BASIC, "to": SUPER}),
    ]
    assert await (await world.groups(SUPER)).settled() is None
    assert len(world.engine.asked) == 2


async def test_a_wait_for_a_code_outlives_the_bot_and_ends(world: World) -> None:
    world.link = 1600.0
    before = await world.groups()
    await before.put_in(BASIC, OWNER)
    after = await world.groups()
    assert await after.settled() == 600.0 + GRACE_S
    world.now = world.link + GRACE_S
    assert await after.settled() is None
    assert await world.lines() == [OWNER]
    again = await world.groups()
    assert await again.settled() is None
    assert await world.lines() == [OWNER]


async def test_a_bot_that_dies_as_it_leaves_a_group_leaves_it_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.link = 1600.0
    before = await world.groups()
    await before.put_in(BASIC, OWNER)
    world.now = world.link + GRACE_S
    left: list[int] = []

    async def dying(_bot: object, chat: int) -> None:
        left.append(chat)
        if len(left) == 1:
            raise Crash("as it leaves")

    monkeypatch.setattr(telegram.Bot, "leave_chat", dying)
    with pytest.raises(Crash):
        await before.settled()
    after = await world.groups()
    assert await after.settled() is None
    assert left == [BASIC, BASIC]


async def test_a_group_that_waits_for_its_code_is_kept_once_it_is_allowed(world: World) -> None:
    world.link = 1600.0
    groups = await world.groups()
    await groups.put_in(BASIC, OWNER)
    groups.told([BASIC])
    assert (groups.chats, await groups.settled()) == ([BASIC], None)
    assert await world.lines() == []


async def test_a_new_number_that_is_heard_of_late_is_waited_for(world: World) -> None:
    groups = await world.groups(BASIC)
    await groups.put_in(SUPER, 666)
    assert await groups.settled() == GRACE_S
    await groups.moved(8, Moved(BASIC, SUPER))
    world.engine.away = False
    await groups.settled()
    assert groups.chats == [SUPER]
    await groups.put_in(OTHER, 666)  # none is left that could become one
    assert await groups.settled() is None


def test_a_group_s_title_is_no_command_to_tap() -> None:
    words = text_groups.listed([GroupEntry(id=BASIC, title="Crew /lock")])
    assert ("/lock" in words.rich.text.partition("In a group")[0], "Crew" in words.rich.text) == (
        False,
        True,
    )
    title = quotable("Crew” /lock “")
    told = Note(n=1, goal="", kind="warning", text=f"Heard in “{title}”. /settings takes it away.")
    (shown,) = text.note(told)
    assert ("/lock" in shown.rich.text, "/settings" in shown.rich.text) == (False, True)
