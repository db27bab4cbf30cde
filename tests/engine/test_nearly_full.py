"""A disk that fills up, as the owner sees it on the phone: with bot, engine and a real node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bot.full_disk
from engine.adapters.machines import Local
from tests.engine.chat import Chat, chatting
from tests.engine.phone import PIECE, lead, plan
from tests.fakes import git
from tests.small_disk import SmallDisk, alone, small_disk


class Filling(Local):
    """This machine, whose word about its disk alone is made up."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.free_mb = 50_000

    async def hello(self) -> dict[str, Any]:
        return {**await super().hello(), **self._told()}

    async def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        found = await super().call(op, **arguments)
        return {**found, **self._told()} if op in ("load", "disk.tidy") else found

    def _told(self) -> dict[str, Any]:
        return {"disk_free_mb": self.free_mb, "disk_needs_mb": 1000}


def repository(folder: Path) -> Path:
    path = folder / "shop"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    git(path, "commit", "-q", "--allow-empty", "-m", "A shop")
    return path


def scenario(folder: Path) -> str:
    path = folder / "scenario.json"
    path.write_text(json.dumps({"parts": lead(plan(PIECE))}))
    return str(path)


async def ready(chat: Chat, folder: Path) -> None:
    await chat.engine.door.add_project("shop", str(repository(folder)), cause="project")
    await chat.engine.door.add_account("main", "rehearsal", cause="account")


def said(chat: Chat, part: str) -> int:
    return sum(part in message.text for message in chat.phone.from_bot())


async def test_work_waits_for_room_with_one_message_and_goes_on_by_itself(tmp_path: Path) -> None:
    machine = Filling(tmp_path / "home")
    async with chatting(tmp_path, scenario=scenario(tmp_path), machine=machine) as chat:
        await ready(chat, tmp_path)
        pooled = chat.home.root / "trees/shop/pool-1"
        pooled.mkdir(parents=True)
        chat.home.backups.mkdir()
        (chat.home.backups / "one").write_bytes(bytes(3_000_000))
        machine.free_mb = 400
        chat.engine.loads.look_now()
        notice = await chat.until("The box's disk is nearly full: 0.4 GB free", "backups (3 MB)")
        assert not notice.silent
        assert not pooled.exists()
        chat.phone.send("/new shop Add a page")
        await chat.until("here: disk nearly full (0.4 GB free)", label="Stop")
        health = await chat.sent("/health", "Not all is well")
        assert "Disk nearly full: here 0.4 GB free, new work waits for 1.1 GB" in health.text
        machine.free_mb = 30_000
        again = await chat.until("There is room on the box's disk again (30.0 GB free)")
        assert again.silent
        await chat.until(PIECE["title"], label="Start")
        assert said(chat, "disk is nearly full") == 1


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk", 24_000) as disk:
        yield disk


async def test_what_is_asked_of_a_full_box_is_done_once_when_there_is_room(
    tmp_path: Path, disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot.full_disk, "AGAIN_S", 0.2)
    # It is small; that it is nearly full is another matter.
    machine = Filling(disk.root / "home")
    async with chatting(disk.root, scenario=scenario(tmp_path), machine=machine) as chat:
        await ready(chat, tmp_path)
        await chat.sent("/status", "Nothing waits on you")
        disk.fill()
        chat.phone.send("/new shop Add a page")
        await chat.until("The box's disk is full")
        disk.free()
        await chat.until(PIECE["title"], label="Start")
        assert len(chat.engine.loop.states("goal")) == 1
        assert chat.engine.loop.broken() == {}
        assert said(chat, "disk is full") <= 2  # by the bot, by the engine


async def test_a_full_disk_is_told_in_a_quiet_hour_too(
    disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot.full_disk, "AGAIN_S", 0.2)
    monkeypatch.setattr(bot.full_disk, "LOOK_S", 0.2)
    async with chatting(disk.root, machine=Filling(disk.root / "home")) as chat:
        await chat.sent("/status", "Nothing waits on you")
        disk.fill(200)
        notice = await chat.until("The box's disk is full")
        assert not notice.silent
        disk.free()
        await chat.until("There is room on the box's disk again")


def test_played_in_a_namespace_where_nobody_else_may_mount() -> None:
    alone(__file__)
