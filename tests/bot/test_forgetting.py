"""What the bot's file forgets while the bot runs on, its timers run by a clock that is set."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.app import DAY_S, forget_daily
from stores.cards import CardStore
from stores.database import Database
from tests.soak.aboard import Clock, Loop


def test_a_bot_that_is_never_restarted_forgets_what_it_handled_long_ago(tmp_path: Path) -> None:
    clock = Clock(tmp_path / "clock")

    async def story() -> None:
        async with Database(tmp_path / "bot.sqlite3", "bot") as database:
            await database.write(lambda file: file.execute("INSERT INTO handled VALUES (1, 0)"))
            forgetting = asyncio.create_task(forget_daily(CardStore(database)))
            await asyncio.sleep(0)
            clock.ahead_s += DAY_S - 60
            assert await _handled(database) == 1
            clock.ahead_s += 60
            async with asyncio.timeout(20):
                while await _handled(database):  # noqa: ASYNC110 - a file tells nobody
                    await asyncio.sleep(0.01)
            forgetting.cancel()

    with asyncio.Runner(loop_factory=lambda: Loop(clock)) as runner:
        runner.run(story())


async def _handled(database: Database) -> int:
    return len(await database.fetch("SELECT 1 FROM handled"))
