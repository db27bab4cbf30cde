"""A file back on request: out of git's tree at one commit, unchanged, and never anything else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.adapters.browse import Entry
from engine.errors import Refused
from engine.views import FoundFile, WorkerCard
from stores.attached import Attached
from tests.engine.phone import PIECE, Phone, good_worker, held, lead, plan, worker, write
from tests.fakes import git

PICTURE = bytes(range(256)) * 40
TOKEN = "7000000003:AAa-token-that-must-never-be-sent-anywhere"


def furnished(phone: Phone) -> Path:
    """A repository with one of everything."""
    path = phone.repository(remote=True)
    for name, words in (
        ("docs/plan.md", "# The plan\n"),
        ("web/docs/plan.md", "# Another\n"),
        ("docs/Notes für März.md", "März\n"),
        (".env", "A=1\n"),
        ("a/.env", "A=1\n"),
        ("holds.txt", f"x {TOKEN.partition(':')[2]} y\n"),
        ("vaulted.txt", "the-vaults-own-value\n"),
        ("empty.txt", ""),
    ):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(words)
    (path / "logo.bin").write_bytes(PICTURE)
    os.symlink(".env", path / "linked")
    os.symlink("/etc/passwd", path / "docs/outside")
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "Furnish")
    return path


def content(phone: Phone, found: FoundFile) -> bytes | None:
    assert found.document is not None
    return Attached(phone.home.attached).read(found.document.held)


async def planned(phone: Phone) -> str:
    """A goal whose lead waits for the owner, over a furnished repository."""
    await phone.agent(*lead(plan(PIECE)), good_worker())
    goal = await phone.goal(await phone.project(furnished(phone)))
    phone.will(goal, "plan")
    await phone.until(lambda: bool(phone.state(goal).pieces), "a plan")
    return goal


async def test_a_file_comes_unchanged_whatever_it_holds(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        goal = await planned(phone)
        found = await phone.door.file("docs/plan.md", goal=goal)
        assert content(phone, found) == b"# The plan\n"
        assert found.document is not None
        assert found.document.name == "plan.md"
        assert found.document.caption == f"docs/plan.md · {found.where}"
        assert phone.state(goal).branch in found.where
        assert content(phone, await phone.door.file("logo.bin", goal=goal)) == PICTURE
        named = await phone.door.file("Notes für März.md", goal=goal)
        assert named.path == "docs/Notes für März.md"
        empty = await phone.door.file("empty.txt", goal=goal)
        assert empty.document is not None
        assert empty.document.size == 0


async def test_a_name_that_is_not_there_is_answered_with_what_is_near(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        goal = await planned(phone)
        found = await phone.door.file("plan.md", goal=goal)
        assert found.document is None
        assert found.near == ("docs/plan.md", "web/docs/plan.md")
        assert (await phone.door.file("doc/plan.md.", goal=goal)).near == found.near
        assert (await phone.door.file("zzz.zz", goal=goal)).near == ()
        assert (await phone.door.file(".ENV", goal=goal)).near == (), "it would be refused"


async def test_a_folder_is_listed(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        goal = await planned(phone)
        found = await phone.door.file("docs/", goal=goal)
        assert found.path == "docs"
        assert found.folder == (
            "Notes für März.md  6 bytes",
            "outside  (link)",
            "plan.md  11 bytes",
        )
        top = await phone.door.file("", goal=goal)
        assert top.folder[:3] == ("a/", "docs/", "web/")


async def test_what_may_not_be_sent_is_refused_with_the_reason(tmp_path: Path) -> None:
    """BR-121: nothing of the machine, no secret by name or by value, no link's target."""
    async with held(tmp_path) as phone:
        phone.home.bot_token.write_text(TOKEN)
        vault = phone.door._keys()
        await vault.put("SHOP_KEY", "the-vaults-own-value", 0.0)
        goal = await planned(phone)
        for path, why in (
            ("../x", r"leads out of the branch"),
            ("/etc/passwd", "not shown here"),
            (".env", "a name for secrets"),
            ("a/.env", "a name for secrets"),
            ("linked", "Links are not followed"),
            ("docs/outside", "is a link to /etc/passwd"),
            ("holds.txt", "holds the bot's token"),
            ("vaulted.txt", "holds SHOP_KEY"),
        ):
            with pytest.raises(Refused, match=why):
                await phone.door.file(path, goal=goal)
        assert list(phone.home.attached.iterdir()) == []


async def test_a_workers_card_gives_its_last_commit_and_a_shipped_goal_what_was_shipped(
    tmp_path: Path,
) -> None:
    async with held(tmp_path) as phone:
        busy = [step for n in range(3000) for step in ({"say": f"Line {n}"}, {"pause_s": 0.4})]
        steps = [write("work.txt", "first\n"), {"commit": "Begin"}, *busy]
        await phone.agent(*lead(plan(PIECE)), worker(*steps, turn=1), good_worker())
        goal = await phone.goal(await phone.project(furnished(phone)))
        phone.will(goal)
        card = await phone.card(goal, WorkerCard, lambda card: "Line" in card.doing)
        with pytest.raises(Refused, match="has brought no commit in yet"):
            await phone.door.file("work.txt", goal=goal, card=card.id)
        assert (await phone.door.file("work.txt", goal=goal)).document is None
        await phone.door.hear("Finish", goal=goal, card=card.id, cause=phone.cause())
        (card,) = phone.of(goal, WorkerCard)
        await phone.tap(card, "interrupt")
        await phone.shipped(goal)
        found = await phone.door.file("work.txt", goal=goal, card=card.id)
        assert content(phone, found) == b"x\n"
        assert "quarterdeck/worker-" in found.where
        assert content(phone, await phone.door.file("work.txt", goal=goal)) == b"x\n"


async def test_what_telegram_would_not_take_is_said_before_it_is_read(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        goal = await planned(phone)
        big = Entry("100644", "0" * 40, 61_000_000, "film.mov")
        with pytest.raises(Refused, match="has 61 MB; Telegram takes 50 MB"):
            await phone.door._read(phone.state(goal).project, big, "main")
