"""The keys this box signs in with, from the phone and over a real SSH: in the vault, and nowhere else.

Each key is looked for at the forge's end too, while git is signed in by it: in the whole home, and in what
every process was started with. Neighbours: test_deploy_key.py (how a project comes to have one),
tests/engine/test_key_files.py (files of earlier releases), tests/adapters/test_key_agent.py.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
from pathlib import Path

import pytest

from engine import backup
from engine.adapters import keypair
from engine.adapters.deploy_keys import DeployKeys
from engine.adapters.own_keys import ANY, MACHINES, OwnKeys
from engine.engine import Engine
from engine.errors import KeyShut
from engine.setup import recovery_code
from tests.engine.chat import Chat, chatting
from tests.fakes import git
from tests.machines.forge import GIT_ONLY, PARTS, Forge
from tests.machines.sshd import Sshd, sshd

LOOK = """
grep -raslF -f {needle} {home} >> {found}
grep -alF -f {needle} /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null >> {found}
echo "$SSH_ORIGINAL_COMMAND" >> {looked}
"""


def telling(private: str) -> list[bytes]:
    """Return what a private key would be found by: its lines, and the secret itself."""
    raw = base64.b64decode("".join(private.splitlines()[1:-1]))
    public = base64.b64decode(keypair.public_line(private, "").split()[1])[-32:]
    at = raw.rindex(public) - 32  # the seed stands before its public half
    seed = raw[at : at + 32]
    lines = [line.encode() for line in private.splitlines()[2:4]]
    return [*lines, seed, seed.hex().encode(), base64.b64encode(seed).rstrip(b"=")]


def lying(folder: Path, private: str) -> list[str]:
    return [
        str(path)
        for path in folder.rglob("*")
        if path.is_file() and any(part in path.read_bytes() for part in telling(private))
    ]


async def added(chat: Chat, forge: Forge) -> str:
    """Add the forge's repository from the phone; return its key."""
    barred = await chat.sent(
        f"/projects add shop {forge.address} main", "A key is needed", label="Retry"
    )
    (public,) = [line for line in barred.text.splitlines() if line.startswith("ssh-ed25519")]
    forge.let_in(public)
    check = await chat.tapped(barred, "Retry", "How is the project checked?", label="Allow")
    await chat.tapped(check, "Not this", "Check: none")
    return await chat.engine.own.private("forge/shop", forge.address)


async def test_a_forges_key_is_nowhere_but_in_the_vault_while_it_is_used_backed_up_and_afterwards(
    forge: Forge, tmp_path: Path
) -> None:
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"parts": PARTS}))
    needle, found, looked = (forge.server.folder / name for name in ("needle", "found", "looked"))
    async with asyncio.timeout(180), chatting(tmp_path, scenario=str(scenario)) as chat:
        code = recovery_code(chat.home)
        await chat.engine.door.add_account("main", "rehearsal", cause="account")
        private = await added(chat, forge)
        needle.write_text("\n".join(private.splitlines()[2:4]) + "\n")
        look = LOOK.format(home=chat.home.root, needle=needle, found=found, looked=looked)
        (forge.server.folder / "begin").write_text(look + GIT_ONLY)
        planted = chat.home.logs / "planted"  # it would have been found
        planted.write_text(needle.read_text())

        await chat.sent(
            "/keys", "The vault has no key of yours", "Quarterdeck's own: shop's forge."
        )
        chat.phone.send("/new shop Do the work")
        await chat.shipped()
        assert "Do the work" in git(forge.repository, "log", "--format=%s", "main")
        assert "git-receive-pack" in looked.read_text()
        assert set(found.read_text().splitlines()) == {str(planted)}
        planted.unlink()
        file = await asyncio.to_thread(backup.take, chat.home)
        inside = gzip.decompress(file.read_bytes())
        assert not [part for part in telling(private) if part in inside]
        assert lying(chat.home.root, private) == []
        assert private.splitlines()[2] not in chat.phone.transcript()
    assert lying(tmp_path / "home", private) == []
    async with Engine(chat.home).running():
        assert lying(chat.home.root, private) == []
    assert list(chat.home.sockets.iterdir()) == []
    assert code


async def test_a_push_waits_while_its_key_does_not_open_and_goes_on_from_proceed(
    forge: Forge, tmp_path: Path
) -> None:
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"parts": PARTS}))
    async with asyncio.timeout(180), chatting(tmp_path, scenario=str(scenario)) as chat:
        await chat.engine.door.add_account("main", "rehearsal", cause="account")
        await added(chat, forge)
        database = chat.engine.door._of_vault()._database
        ((at,),) = await database.fetch("SELECT at FROM secrets WHERE name = 'forge/shop'")

        async def kept_at(when: float) -> None:
            await database.write(
                lambda c: c.execute("UPDATE secrets SET at = ? WHERE name = 'forge/shop'", (when,))
            )

        chat.phone.send("/new shop Do the work")
        plan = await chat.until("One piece", label="Start")
        review = await chat.tapped(plan, "Start", "It works", label="Ship")
        ship = await chat.tapped(review, "Ship", label="Proceed")
        ready = await chat.tapped(ship, "Proceed", label="Push")
        await kept_at(at + 1)
        waits = await chat.tapped(ready, "Push", "Nothing was sent", label="Proceed")
        assert "Bring the right vault.key back" in waits.text
        assert "projects add shop" in waits.text
        assert "✗" not in waits.text, "nothing failed: it was not tried"
        await chat.sent("/health", "Keys refused: forge/shop")
        await chat.sent("/keys", "shop's forge ⚠ cannot be opened")
        assert "Do the work" not in git(forge.repository, "log", "--format=%s", "main")

        await kept_at(at)
        again = await chat.tapped(waits, "Proceed", label="Push")
        await chat.tapped(again, "Push", "Shipped")
        assert "Do the work" in git(forge.repository, "log", "--format=%s", "main")


async def test_a_key_that_opens_no_more_is_replaced_when_its_project_is_added_again(
    forge: Forge, tmp_path: Path
) -> None:
    async with asyncio.timeout(120), chatting(tmp_path) as chat:
        before = await added(chat, forge)
        await chat.engine.door._of_vault()._database.write(
            lambda c: c.execute("UPDATE secrets SET at = 1 WHERE name = 'forge/shop'")
        )
        barred = await chat.sent(
            f"/projects add shop {forge.address} main", "A key is needed", label="Cancel"
        )
        assert keypair.public_line(before, "").strip() not in barred.text


async def test_without_the_vaults_key_it_is_said_what_to_bring_back(tmp_path: Path) -> None:
    url = "git@forge:shop.git"
    keys = DeployKeys(OwnKeys(None, lambda: 1.0), tmp_path / "deploy", tmp_path / "run")
    async with keys.signing_in("shop", url) as env:
        assert env == {}, "it never had one"
    keys.trust("shop", "ssh-ed25519 AAAA")
    with pytest.raises(KeyShut, match=r"^Nothing was sent: .* Bring secrets/vault.key back"):
        async with keys.signing_in("shop", url):
            pass
    async with keys.signing_in("shop", url, only_if_open=True) as env:
        assert env == {}


async def test_the_key_to_machines_is_nowhere_but_in_the_vault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "client").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "client"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with sshd(tmp_path / "box") as box:
        async with asyncio.timeout(120), chatting(tmp_path) as chat:
            await reached(chat, box)
            private = await chat.engine.own.private(MACHINES, ANY)
            await chat.sent("/keys", "Quarterdeck's own: your machines.")
            file = await asyncio.to_thread(backup.take, chat.home)
            inside = gzip.decompress(file.read_bytes())
            assert not [part for part in telling(private) if part in inside]
            assert lying(chat.home.root, private) == []
            assert not chat.home.machine_key.exists()
        assert lying(tmp_path / "home", private) == []
        assert lying(box.home, private) == [], "nor is any of it there"


async def reached(chat: Chat, box: Sshd) -> None:
    offer = await chat.sent(f"/machines add build-box {box.text}", "Add build-box?", label="Add")
    (public,) = [line for line in offer.text.splitlines() if line.startswith("ssh-ed25519")]
    (box.folder / "authorized_keys").write_text(f"{public}\n")
    await chat.tapped(offer, "Add", "build-box", box.text, label="Pause")


async def test_a_key_to_machines_that_does_not_open_is_said_and_no_other_put_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "client").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "client"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with sshd(tmp_path / "box") as box:
        async with asyncio.timeout(120), chatting(tmp_path) as chat:
            await reached(chat, box)
            database = chat.engine.door._of_vault()._database
            before = await database.fetch("SELECT body FROM secrets")
            await database.write(lambda c: c.execute("UPDATE secrets SET at = 1"))
            offer = await chat.sent(f"/machines add other {box.text}", "Add other?", label="Add")
            assert "Quarterdeck's own key cannot be shown: the vault does not open it" in offer.text
            assert "Bring the right vault.key back" in offer.text
            assert await database.fetch("SELECT body FROM secrets") == before
