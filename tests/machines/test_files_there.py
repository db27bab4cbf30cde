"""What the owner sent, brought to a session on another machine over a real SSH server."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from engine.adapters import handing
from engine.errors import Unavailable
from engine.rules.words import Attachment
from stores.attached import Attached
from tests.machines.sshd import Sshd
from tests.machines.test_ssh import reach


async def test_a_file_arrives_whole_though_the_link_is_cut_on_the_way(
    there: Sshd, tmp_path: Path
) -> None:
    kept = Attached(tmp_path / "attached")
    body = os.urandom(6 * 1024 * 1024 + 11)
    photo = Attachment("photo.jpg", kept.keep(body), len(body), "photo")
    gone = Attachment("old.txt", "0" * 64, 3)
    machine = await reach(there, tmp_path / "home")
    await machine.hello()
    folder = there.node_home / "sessions/s-1/files"
    bringing = asyncio.create_task(handing.bring(machine, "s-1", (photo, gone), kept))
    while not list(folder.glob(".*.new")):  # noqa: ASYNC110 - files tell nobody
        await asyncio.sleep(0.005)
    there.away()
    with pytest.raises(Unavailable):
        await bringing
    assert not list(folder.glob("[!.]*"))
    there.start()
    async with asyncio.timeout(30):
        while True:
            try:
                assert await handing.bring(machine, "s-1", (photo, gone), kept) == {gone.place}
                break
            except Unavailable:
                await asyncio.sleep(0.05)
    (arrived,) = folder.iterdir()
    assert arrived.name == photo.place
    assert arrived.read_bytes() == body
    await machine.close()
