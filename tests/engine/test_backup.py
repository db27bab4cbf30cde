"""A box is lost, and another goes on from its backup: goals with real git, agents and machines.

Neighbours: test_restore.py (what is no backup, codes, damaged files), tests/stores/test_recovery.py.
"""

from __future__ import annotations

import asyncio
import gzip
import stat
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from engine import backup, config
from engine.adapters import keypair
from engine.adapters.own_keys import ANY, MACHINES
from engine.config import Config
from engine.engine import Engine
from engine.paths import Home
from engine.restore import AHEAD, unpacked
from engine.rules.session_state import Stage
from engine.setup import recovery_code
from engine.views import PlanCard, ShipCard
from tests.engine.chat import chatting
from tests.engine.phone import PIECE, Phone, good_worker, held, lead, plan, words, worker, write
from tests.fakes import git

TOKEN = "7000000002:AAanother-token-that-must-never-be-in-a-backup"
SECRET = "sk-ant-api03-a-secret-of-the-vault"
DEPLOY, MACHINE = keypair.made(), keypair.made()


def set_up(home: Home) -> str:
    """Make a home what `setup` makes of it; return its recovery code."""
    config.save(home, Config(owner_ids=(42,)))
    home.bot_token.write_text(TOKEN)
    return recovery_code(home)


def restored(file: Path, code: str, folder: Path) -> Home:
    home = Home(folder / "home")
    with unpacked(file, home) as found:
        assert found.finish(TOKEN, found.key(code)) == ()
    return home


@asynccontextmanager
async def elsewhere(folder: Path) -> AsyncIterator[Phone]:
    """The same owner's phone, later: Telegram never gives a number twice."""
    async with held(folder) as phone:
        phone._count = 1000
        yield phone


async def told(phone: Phone) -> str:
    """The lines of General."""
    return "\n".join(note.text for note in await phone.door.notes(0) if not note.goal)


async def test_a_goal_at_work_goes_on_from_a_backup_taken_meanwhile(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    async with held(old) as phone:
        code = set_up(phone.home)
        waits = worker(write("a.txt"), {"wait_for": ".git/go"}, {"commit": "Do it"})
        planning, reviewing, noting = lead(plan(PIECE))
        # Its first turn there is the review.
        agent = await phone.agent(reviewing, planning, noting, waits)
        goal = await phone.goal(await phone.project(check="true", remote=True), willing=True)
        await phone.until(
            lambda: (
                [session.stage for session in phone.engine.loop.states("session").values()]
                == [Stage.IDLE, Stage.RUNNING]
            ),
            "the worker to be at work, and it alone",
        )
        file = await asyncio.to_thread(backup.take, phone.home)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        await phone.door.stop(cause="the box is lost")
    home = restored(file, code, new)
    scenario = old / f"{agent}.json"
    scenario.write_text(scenario.read_text().replace('{"wait_for": ".git/go"}, ', ""))
    for hub in home.hubs.glob("*.git"):
        subprocess.run(("git", "-C", hub, "fsck", "--strict"), check=True, capture_output=True)
    async with elsewhere(new) as phone:
        phone.will(goal)
        card = await phone.shipped(goal)
        assert "✓ push" in words(card)
        said = await told(phone)
        assert "Restored from the backup of" in said
        assert "1 goal goes on from there" in said
        another = await phone.goal(phone.state(goal).project, "Something else")
        assert int(another.removeprefix("g-")) > AHEAD, "no number is used by both boxes"
    async with held(new) as phone:
        assert (await told(phone)).count("Restored from") == 1, "it is said once"


async def test_what_both_boxes_owed_is_pushed_once(tmp_path: Path) -> None:
    """The push was decided when the backup was taken; the old box lives on and does it."""
    old, new = tmp_path / "old", tmp_path / "new"
    async with held(old) as phone:
        code = set_up(phone.home)
        await phone.agent(*lead(plan(PIECE)), good_worker())
        repository = phone.repository(check="true", remote=True)
        goal = await phone.goal(await phone.project(repository))
        phone.will(goal, until="ship")
        going = await phone.card(goal, ShipCard, lambda card: card.stage == "proceed")
        await phone.tap(going, "proceed")
        card = await phone.card(goal, ShipCard, lambda card: card.stage == "ready")
    engine = Engine(Home(old / "home"))
    async with engine.unlocked():
        await engine.door.tap(card.id, card.revision, "push", cause="tap")
    file = backup.take(engine.home)
    async with elsewhere(old) as phone:
        phone.will(goal)
        await phone.shipped(goal)
    origin = repository.with_name(f"{repository.name}-origin.git")
    pushed = git(origin, "rev-parse", "main")

    restored(file, code, new)
    async with elsewhere(new) as phone:
        await phone.door.resume(goal, cause=phone.cause())
        await phone.until(lambda: not phone.state(goal).held, "the goal to go on")
        back = await phone.card(goal, ShipCard, lambda card: card.stage == "failed")
        assert "whether it arrived there is not known" in words(back).lower()
        assert "backup" in words(back)
        said = await phone.tap(back, "proceed")
        assert said == "On its way"
        phone.will(goal)
        await phone.shipped(goal)
    assert git(origin, "rev-parse", "main") == pushed


async def test_a_backup_holds_no_secret_in_clear_and_a_restored_home_has_them_all(
    tmp_path: Path,
) -> None:
    async with held(tmp_path / "old") as phone:
        code = set_up(phone.home)
        await phone.door.add_account("main", "claude", cause="a", secret_env=["KEY"])
        vault = phone.door._vault
        assert vault is not None
        await vault.put("account/main/KEY", SECRET, 1.0)
        await phone.engine.own.keep("forge/shop", "git@host:shop.git", DEPLOY)
        # As an earlier release left it: a file, which the next start takes in.
        phone.home.machine_key.write_text(MACHINE)
        private = phone.home.vault_key.read_bytes()
        file = await asyncio.to_thread(backup.take, phone.home)
    inside = gzip.decompress(file.read_bytes())
    lines = [*DEPLOY.splitlines()[2:4], *MACHINE.splitlines()[2:4]]
    for secret in (TOKEN, SECRET, *lines, code, code.replace("-", "")):
        assert secret.encode() not in inside
    assert private not in inside

    home = restored(file, code, tmp_path / "new")
    assert home.machine_key.read_text() == MACHINE
    for path in home.root.rglob("*"):
        shut = path.is_dir() or not stat.S_IMODE(path.stat().st_mode) & 0o077
        assert shut or path == home.vault_pub, f"{path} is open to others"
    async with held(tmp_path / "new") as phone:
        assert await phone.door.secret("account/main/KEY") == SECRET
        assert await phone.engine.own.private("forge/shop", "git@host:shop.git") == DEPLOY
        assert await phone.engine.own.private(MACHINES, ANY) == MACHINE
        assert not phone.home.machine_key.exists()
        assert not [card for card in phone.door.cards() if isinstance(card, PlanCard)]


async def test_the_owner_reads_on_the_phone_from_when_on_nothing_is_known(tmp_path: Path) -> None:
    """The chat of the first box, its backup, and the same chat with the second."""
    async with chatting(tmp_path / "old") as chat:
        code = recovery_code(chat.home)
        await chat.sent("/settings zone Asia/Tokyo", "for you (Asia/Tokyo)")
        file = await asyncio.to_thread(backup.take, chat.home, clock=lambda: 1_795_970_000.0)
    restored(file, code, tmp_path / "new")
    async with chatting(tmp_path / "new") as chat:
        notice = await chat.until("Restored from the backup of 30 Nov 01:33")
        assert "look at what was pushed since" in notice.text
        assert chat.phone.transcript().count("Restored from the backup") == 1
