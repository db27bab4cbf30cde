"""A project from the phone, at a forge that lets nobody in yet: a key of its own, up to the push.

The forge is a real sshd that runs git-shell alone, for whoever's key stands in its authorized_keys.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from engine.adapters.deploy_keys import host_of
from tests.engine.chat import chatting
from tests.fakes import git
from tests.machines.forge import GIT_ONLY, PARTS, Forge


async def test_a_forge_that_lets_nobody_in_is_reached_by_a_key_of_the_projects_own(
    forge: Forge, tmp_path: Path
) -> None:
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"parts": PARTS}))
    async with asyncio.timeout(180), chatting(tmp_path, scenario=str(scenario)) as chat:
        await chat.engine.door.add_account("main", "rehearsal", cause="account")
        barred = await chat.sent(
            f"/projects add shop {forge.address}", "A key is needed", label="Retry"
        )
        (public,) = [line for line in barred.text.splitlines() if line.startswith("ssh-ed25519")]
        assert "allowed to write" in barred.text
        assert "SHA256:" in barred.text

        again = await chat.tapped(barred, "Retry", "Permission denied", label="Retry")
        forge.let_in(public)
        bases = await chat.tapped(again, "Retry", "Which branch", label="develop")
        assert bases.labels == ["main", "develop", "Cancel"]
        check = await chat.tapped(bases, "main", "How is the project checked?", label="Allow")
        assert "make test" in check.text
        await chat.tapped(check, "Allow", "A project was added", "Check: make test (set by you)")

        chat.phone.send("/new shop Do the work")
        await chat.shipped()
        await chat.until("Shipped", "check: make test (set by you)")
        log = git(forge.repository, "log", "--no-merges", "--format=%s", "main")
        assert log.splitlines() == ["Do the work", "Open"]
        sure = await chat.sent("/projects remove shop", "Remove shop?", label="Remove")
        gone = await chat.tapped(sure, "Remove", "was not touched")
        assert "Take its key away on the other side" in gone.text
        assert await chat.engine.door.own_keys() == ()


async def test_a_key_that_may_only_read_is_said_at_once(forge: Forge, tmp_path: Path) -> None:
    begin = forge.server.folder / "begin"
    begin.write_text(f'case "$SSH_ORIGINAL_COMMAND" in git-receive*) exit 1;; esac\n{GIT_ONLY}')
    async with asyncio.timeout(60), chatting(tmp_path) as chat:
        barred = await chat.sent(
            f"/projects add shop {forge.address} main", "A key is needed", label="Retry"
        )
        (public,) = [line for line in barred.text.splitlines() if line.startswith("ssh-ed25519")]
        forge.let_in(public)
        await chat.tapped(barred, "Retry", "Push would be refused there", label="Allow")


async def test_a_host_that_shows_another_key_is_not_spoken_to_before_the_owner_says_so(
    forge: Forge, tmp_path: Path
) -> None:
    async with asyncio.timeout(60), chatting(tmp_path) as chat:
        barred = await chat.sent(
            f"/projects add shop {forge.address} main", "A key is needed", label="Retry"
        )
        (public,) = [line for line in barred.text.splitlines() if line.startswith("ssh-ed25519")]
        first = next(line for line in barred.text.splitlines() if line.startswith("SHA256:"))
        forge.let_in(public)
        forge.server.away()
        forge.server.new_host_key()
        forge.server.start()
        other = await chat.tapped(barred, "Retry", "shows another key", label="Retry")
        assert f"{first} was accepted" in other.text
        check = await chat.tapped(other, "Retry", "How is the project checked?", label="Allow")
        await chat.tapped(check, "Not this", "Check: none")

        forge.server.away()
        forge.server.new_host_key()
        forge.server.start()
        await chat.engine.door.add_account("main", "rehearsal", cause="account")
        await chat.sent("/new shop Do the work", "Its host shows a key that was not accepted")
        await chat.sent(f"/projects add shop {forge.address} main", "shows another key")


async def test_cancel_adds_nothing(forge: Forge, tmp_path: Path) -> None:
    async with asyncio.timeout(60), chatting(tmp_path) as chat:
        barred = await chat.sent(
            f"/projects add shop {forge.address}", "A key is needed", label="Cancel"
        )
        await chat.tapped(barred, "Cancel", "Left: nothing was added")
        assert await chat.engine.door.projects() == ()


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("git@forge.example:me/shop.git", "git@forge.example"),
        ("forge:shop.git", "forge"),
        ("ssh://git@forge.example:2222/me/shop.git", "git@forge.example:2222"),
        ("ssh://forge.example/me/shop.git", "forge.example"),
        ("https://forge.example/me/shop.git", ""),
        ("file:///srv/shop.git", ""),
        ("/srv/shop.git", ""),
    ],
)
def test_only_addresses_over_ssh_have_a_host_to_sign_in_at(url: str, host: str) -> None:
    assert host_of(url) == host
