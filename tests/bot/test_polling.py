"""Polling goes on through whatever happens to it; what ends it is said. BR-41."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import bot.polling
import bot.token_file
from engine.errors import Refused
from tests.bot.stage import Stage, permission, session


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path) as stage:
        yield stage


async def test_it_goes_on_after_errors_of_every_kind(stage: Stage) -> None:
    """BR-41: a blip must not end it for good."""
    stage.emulator.faults.gateway("getUpdates", 502, done=False)
    stage.emulator.faults.cut("getUpdates", done=False)
    stage.emulator.faults.flood("getUpdates", retry_after=1)
    await stage.start_bot()
    stage.phone.send("still there?")
    await stage.asked()


async def test_a_second_poller_is_told_of_and_polling_goes_on(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BR-41: that may be a second instance, or a stolen token."""
    monkeypatch.setattr(bot.polling, "CONFLICT_S", 0.0)
    await stage.start_bot()
    for _ in range(2):
        await stage.emulator.updates.polled()
        assert stage.emulator.updates.interrupt()
    told = await stage.phone.wait_for(lambda m: "Somebody else takes" in m.text)
    assert not told.silent
    stage.phone.send("still there?")
    await stage.asked()


async def test_a_webhook_somebody_set_is_removed(stage: Stage) -> None:
    stage.emulator.faults.webhook = "https://elsewhere.example.org/"
    running = asyncio.create_task(stage.start_bot())
    await stage.phone.until(lambda: stage.emulator.calls_of("deleteWebhook"))
    stage.emulator.faults.webhook = ""
    stage.phone.send("still there?")
    await stage.asked()
    await running


async def test_a_revoked_token_is_said_on_the_box_and_another_one_is_taken_up(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is hammered meanwhile, nothing sent meanwhile is lost, and nobody starts it anew."""
    monkeypatch.setattr(bot.token_file, "LOOK_S", 0.01)
    await stage.start_bot()
    good, stage.emulator.token = stage.emulator.token, "7000000001:another"
    stage.emulator.updates.interrupt()
    stage.door.note("said meanwhile")
    await stage.until(stage.home.bot_trouble.exists)
    assert "@BotFather" in stage.home.bot_trouble.read_text()
    assert "@BotFather" in caplog.text
    assert good not in caplog.text
    stage.phone.send("still there?")
    calls = len(stage.emulator.calls)
    stage.home.bot_token.write_text("7000000001:yet-another")
    await stage.until(lambda: len(stage.emulator.calls) > calls)
    await asyncio.sleep(0.1)  # looked at ten times
    assert len(stage.emulator.calls) == calls + 1
    stage.home.bot_token.write_text(stage.emulator.token)
    await stage.asked()
    await stage.phone.wait_for(lambda m: "said meanwhile" in m.text)
    assert not stage.home.bot_trouble.exists()


async def test_a_token_telegram_was_wrong_about_is_tried_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot.token_file, "LOOK_S", 0.01)
    monkeypatch.setattr(bot.token_file, "SAME_AGAIN_S", 0.05)
    stage.emulator.faults.revoked = True
    running = asyncio.create_task(stage.start_bot())
    await stage.until(stage.home.bot_trouble.exists)
    stage.emulator.faults.revoked = False
    await running
    await stage.until(lambda: not stage.home.bot_trouble.exists())


async def test_while_it_waits_for_a_token_it_ends_when_told_to(stage: Stage) -> None:
    stage.emulator.faults.revoked = True
    running = asyncio.create_task(stage.start_bot())
    await stage.until(stage.home.bot_trouble.exists)
    await stage.stop_bot()
    running.cancel()
    await asyncio.wait([running])


async def test_without_token_key_or_config_it_says_what_to_do(stage: Stage) -> None:
    for path in (stage.home.bot_token, stage.home.vault_pub, stage.home.config):
        kept = path.read_bytes()
        path.unlink()
        with pytest.raises(Refused, match="quarterdeck setup"):
            await stage.start_bot()
        path.write_bytes(kept)


async def test_told_to_stop_it_says_what_it_has_and_ends(stage: Stage) -> None:
    """BR-11: the end does not cut a delivery."""
    await stage.start_bot()
    for number in range(3):
        stage.door.note(f"part {number}")
    await stage.phone.wait_for(lambda m: "part 0" in m.text)
    await stage.stop_bot()
    assert {f"part {n}" for n in range(3)} == {
        line for m in stage.phone.from_bot() for line in m.text.split("\n") if "part" in line
    }


async def test_cards_are_as_they_should_be_after_the_bot_was_away(stage: Stage) -> None:
    """BR-42, BR-22: what changed, went and came meanwhile."""
    stage.door.show(session(stage="building"))
    stage.door.show(permission("a-1"))
    stage.door.show(permission("a-2"))
    await stage.start_bot()
    await stage.phone.until(lambda: len(stage.phone.heard()) == 2)
    await stage.stop_bot()
    stage.door.show(session(stage="stopped", buttons=("resume",)))
    stage.door.remove("a-1")
    stage.door.show(permission("a-3"))
    stage.door.note("said meanwhile")
    await stage.start_bot()
    await stage.phone.wait_for(lambda m: "Stopped" in m.text and m.labels == ["Resume"])
    await stage.phone.wait_for(lambda m: "said meanwhile" in m.text)
    await stage.phone.until(
        lambda: len([m for m in stage.phone.from_bot() if "Allow" in m.labels]) == 2
    )
    await stage.stop_bot()
    await stage.start_bot()
    stage.phone.send("/status")
    await stage.phone.wait_for(lambda m: "Waits on you" in m.text)
    assert len(stage.phone.heard()) == 3
    assert len([m for m in stage.phone.from_bot() if "said meanwhile" in m.text]) == 1


async def test_a_decision_nobody_saw_before_it_was_settled_is_not_shown(stage: Stage) -> None:
    stage.door.show(permission(asks=False, decided="Allowed by its lead", buttons=()))
    stage.door.show(session())
    await stage.start_bot()
    await stage.phone.wait_for(lambda m: "Stop" in m.labels)
    assert len(stage.phone.from_bot()) == 1


async def test_the_engine_may_come_and_go(stage: Stage) -> None:
    stage.door.show(session())
    await stage.start_bot()
    await stage.phone.wait_for(lambda m: "Stop" in m.labels)
    await stage.stop_engine()
    stage.door.shown.clear()
    stage.door.show(session("g-2", title="Another"))
    await stage.start_engine()
    await stage.phone.wait_for(lambda m: "Another" in m.text)
    await stage.phone.until(lambda: [m for m in stage.phone.from_bot() if not m.labels])


async def test_as_a_process_it_starts_polls_and_ends_on_sigterm(stage: Stage) -> None:
    """BR-44: in order, and soon."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bot"],
        env={**os.environ, "QUARTERDECK_HOME": str(stage.home.root)},
        cwd=Path(__file__).parents[2],
        stderr=subprocess.PIPE,
    )
    try:
        stage.phone.send("hello")
        await stage.asked()
    finally:
        process.send_signal(signal.SIGTERM)
        _, errors = await asyncio.to_thread(process.communicate, timeout=20)
    assert process.returncode == 0, errors
    assert b"Traceback" not in errors


async def test_a_process_that_cannot_start_says_why_and_ends_with_1(tmp_path: Path) -> None:
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "bot"],
        env={**os.environ, "QUARTERDECK_HOME": str(tmp_path)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert b"quarterdeck setup" in done.stderr
    assert b"Traceback" not in done.stderr


async def test_once_the_owner_writes_again_nothing_waits_for_a_block_to_end(stage: Stage) -> None:
    stage.phone.block()
    stage.door.show(session())
    await stage.start_bot()
    await stage.phone.until(lambda: [c for c in stage.emulator.calls if c.code == 403])
    stage.phone.unblock()
    stage.phone.send("/status")
    await stage.phone.wait_for(lambda m: "Stop" in m.labels)
