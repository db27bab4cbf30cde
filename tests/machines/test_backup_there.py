"""A backup on another machine from the phone, over a real SSH server; and a new box made from that copy."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.emulator import Message
from engine import backups
from engine.paths import Home
from engine.rules.owner import Owner
from engine.setup import recovery_code
from tests.engine.chat import TOKEN, Chat, chatting
from tests.engine.test_cli import Run, run
from tests.machines.sshd import Sshd, sshd

__all__ = ("run",)

ACCOUNT = "a-name-that-stands-in-the-ledger"


@pytest.fixture
def nas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    (tmp_path / "client").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "client"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with sshd(tmp_path / "box") as machine:
        machine.let_in(tmp_path / "client")
        yield machine


async def added(chat: Chat, nas: Sshd) -> Message:
    offer = await chat.sent(f"/machines add nas {nas.text}", "Add nas?", label="Add")
    return await chat.tapped(offer, "Add", "nas", nas.text, label="Keep backups")


async def copied(chat: Chat, *, other_than: str = "") -> Owner:
    """Wait until a backup is there."""

    def is_there() -> bool:
        known = chat.engine._owner().copied
        return known is not None and known.name != other_than

    await chat.engine.loop.settle(until=is_there)
    return chat.engine._owner()


def there(nas: Sshd) -> list[Path]:
    return sorted((nas.node_home / "backups").iterdir())


async def test_a_box_goes_on_from_the_copy_on_another_machine(
    nas: Sshd, tmp_path: Path, run: Run
) -> None:
    """As docs/backup.md has it, step by step: scp from there, restore, the code."""
    async with asyncio.timeout(60), chatting(tmp_path / "old") as chat:
        code = recovery_code(chat.home)
        await chat.sent("/settings backup nas", "There is no machine nas")
        page = await added(chat, nas)
        await chat.engine.door.add_account(ACCOUNT, "rehearsal", cause="account")
        page = await chat.tapped(
            page, "Keep backups", "Each backup of this box", label="Stop backups"
        )
        await chat.until("nas has the newest backup now")
        owner = await copied(chat)
        assert owner.copied
        assert owner.copied.folder == str(nas.node_home / "backups")
        health = await chat.sent("/health", " here, ")
        assert " nas" in health.text
        assert "on this machine only" not in health.text
        (file,) = there(nas)
        assert ACCOUNT.encode() not in file.read_bytes()
        (here,) = backups.found(chat.home)
        assert file.name == f"{here.path.name}.sealed"

    nas.bashrc.write_text("")
    fetched = tmp_path / "fetched"
    fetched.mkdir()
    scp = shutil.which("scp")
    assert scp
    where = f"{nas.address.user}@127.0.0.1:.local/state/quarterdeck-node/*/backups/*.sealed"
    options = ("StrictHostKeyChecking=no", f"UserKnownHostsFile={tmp_path / 'known'}")
    key = tmp_path / "client/.ssh/id_ed25519"
    copying = subprocess.run(
        [scp, "-O", "-q", "-i", str(key), "-P", str(nas.port)]
        + [word for option in options for word in ("-o", option)]
        + [where, str(fetched)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert copying.returncode == 0, copying.stderr
    (copy,) = fetched.iterdir()
    token = tmp_path / "token"
    token.write_text(TOKEN)
    new = Home(tmp_path / "new/home")
    restore = ("restore", str(copy), "--home", str(new.root), "--token-file", str(token))
    without = await asyncio.to_thread(run, *restore, "--offline", "--without-keys")
    assert (without.code, new.root.exists()) == (1, False)
    assert "nothing of it can be read" in without.err
    done = await asyncio.to_thread(
        lambda: run(*restore, "--offline", "--recovery-file", "-", stdin=code)
    )
    assert (done.code, done.err) == (0, "")
    async with asyncio.timeout(60), chatting(tmp_path / "new") as chat:
        await chat.until("Restored from the backup of")
        assert [view.name for view in await chat.engine.door.account_views()] == [ACCOUNT]
        machines = await chat.engine.door.machines()
        assert [(view.name, view.keeps_backups) for view in machines][1:] == [("nas", True)]


async def test_a_machine_that_was_away_gets_it_when_it_is_back_and_a_full_one_says_so(
    nas: Sshd, tmp_path: Path
) -> None:
    async with asyncio.timeout(60), chatting(tmp_path) as chat:
        await added(chat, nas)
        await chat.sent("/settings backup nas", "there is no recovery code yet")
        recovery_code(chat.home)
        settings = await chat.sent("/settings", "Backup: none yet", label="Backup")
        page = await chat.tapped(settings, "Backup", "Where else shall backups lie?", label="nas")
        nas.away()
        await chat.engine.loop.settle(until=lambda: not _up(chat))
        page = await chat.tapped(page, "nas", "none on nas yet", label="✓ nas")
        nas.start()
        first = (await copied(chat)).copied
        assert first
        assert len(there(nas)) == 1

        # A disk that takes no more: the node there may write no file past a few bytes.
        begin = nas.folder / "begin"
        nas.away()
        await chat.engine.loop.settle(until=lambda: not _up(chat))
        begin.write_text(f"ulimit -f 1\n{begin.read_text()}")
        nas.start()
        await chat.engine.loop.settle(until=lambda: _up(chat))
        await asyncio.to_thread(chat.engine.nightly._made)
        chat.engine.elsewhere.wake.set()
        await chat.until("The backup was not copied to nas: there is no room for it on its disk")
        await chat.sent("/health", "Backup not copied: nas: there is no room")
        assert len(there(nas)) == 1, "and what was there stays, alone"

        machines = await chat.sent("/machines", "nas", label="nas")
        page = await chat.tapped(machines, "nas", nas.text, label="Remove")
        sure = await chat.tapped(page, "Remove", "Remove nas?", "No new backup goes there")
        assert "1 backup of this box too" in sure.text
        await chat.tapped(sure, "Remove", "Machines", "here", label="Add…")
        await chat.sent("/health", "nas is no machine of yours any more")
        assert len(there(nas)) == 1


def _up(chat: Chat) -> bool:
    fleet = chat.engine.door._fleet()
    machine = fleet.machine("nas")
    return machine is not None and machine.up
