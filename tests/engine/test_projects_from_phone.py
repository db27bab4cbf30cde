"""Repositories added from the phone, by path and by address: what is asked, and every no with a way on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from engine.rules.project import Project
from stores.database import Database
from tests.engine.chat import Chat, chatting
from tests.fakes import git

KEY = "ghp_Zx81kQpLmN0vT7yWc2RfJ5hUgB9dEaS4iOoP"


def project(chat: Chat) -> Project:
    found = chat.engine.loop.state("project/shop")
    assert isinstance(found, Project)
    return found


@asynccontextmanager
async def locked() -> AsyncIterator[str]:
    """A web server that lets nobody in; yields its address."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b'HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="x"\r\nContent-Length: 0\r\n'
            b"Connection: close\r\n\r\n"
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_a_folder_is_added_once_its_branch_and_check_were_said(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    async with asyncio.timeout(60), chatting(tmp_path) as chat:
        failed = await chat.sent(f"/projects add shop {shop}", "could not be read", label="Retry")
        assert f"There is nothing at {shop}" in failed.text

        shop.mkdir()
        git(shop, "init", "-q", "-b", "main")
        (shop / "go.mod").write_text("module shop\n")
        git(shop, "add", "-A")
        git(shop, "commit", "-q", "-m", "Open")
        git(shop, "checkout", "-q", "-b", "work")
        bases = await chat.tapped(failed, "Retry", "Which branch", label="work")
        assert bases.labels == ["work", "main", "Cancel"]
        check = await chat.tapped(bases, "main", "go test ./...", label="Another…")
        assert "Its checkout is on work; agents start from main." in check.text
        assert "project shop: how it is checked" in (await chat.sent("/asks", "decision")).text
        prompt = await chat.tapped(check, "Another…", "Which command checks it?")
        chat.phone.reply(prompt, "go vet ./...")
        await chat.until("A project was added", "Check: go vet ./... (set by you)")
        assert (project(chat).base, project(chat).check) == ("main", "go vet ./...")

        listed = await chat.sent("/projects", "check: go vet ./... (set by you)", label="shop")
        await chat.tapped(listed, "shop", "New goals start from main", label="Check…")
        listed = await chat.sent("/projects", "Add one:", label="Add…")
        prompt = await chat.tapped(listed, "Add…", "What is it called")
        chat.phone.reply(prompt, f"other {tmp_path}/none")
        other = await chat.until("could not be read", "other", label="Cancel")
        await chat.tapped(other, "Cancel", "nothing was added")
        (asked,) = chat.phone.send("/settings shop")
        panel = await chat.until("check, set by you", label="Check…", after=asked.id)
        prompt = await chat.tapped(panel, "Check…", "none for none")
        chat.phone.reply(prompt, "make check")
        await chat.until("1. check, set by you", "make check")
        await chat.until("are checked by it", after=panel.id)
        await chat.sent("/projects check shop true", "are checked by it")
        assert project(chat).check == "true"
        await chat.sent("/projects check shop", "no check of yours any more")
        assert project(chat).check == ""

        prompt = await chat.tapped(panel, "Ports…", "Which ports of their machine's 127.0.0.1")
        chat.phone.reply(prompt, "6379, 5432")
        await chat.until("Runs reach 127.0.0.1 at: 5432, 6379")
        await chat.sent("/projects ports shop postgres", "Say ports as numbers from 1 to 65535")
        assert project(chat).ports == (5432, 6379)
        await chat.sent("/projects ports shop 5432", "reach port 5432 of their machine's 127.0.0.1")
        assert project(chat).ports == (5432,)
        await chat.sent("/projects ports shop none", "reach no port of their machine")
        assert project(chat).ports == ()


async def test_a_web_address_that_asks_for_a_login_is_answered_with_its_ssh_address(
    tmp_path: Path,
) -> None:
    async with asyncio.timeout(60), locked() as address, chatting(tmp_path) as chat:
        failed = await chat.sent(
            f"/projects add shop {address}/me/shop.git", "asks for a login", label="Retry"
        )
        assert "git@127.0.0.1:me/shop.git" in failed.text
        await chat.tapped(failed, "Cancel", "Left: nothing was added")


async def test_an_address_with_a_password_is_not_kept(tmp_path: Path) -> None:
    async with asyncio.timeout(60), chatting(tmp_path) as chat:
        await chat.sent("/projects add shop https://tok@forge.example/shop.git", "holds a password")
        assert chat.engine.loop.state("project/shop") is None


async def test_a_password_in_a_refused_address_is_not_kept_either(tmp_path: Path) -> None:
    async with asyncio.timeout(60), chatting(tmp_path) as chat:
        line = "/projects add shop https://me:hunter2hunter2@forge.example/shop.git"
        await chat.sent(line, "holds a password")
        await chat.until("Not kept, and deleted from the chat.")
        async with Database(chat.home.vault_db, "vault") as database:
            assert await database.fetch("SELECT name FROM secrets") == []


async def test_only_an_answer_to_our_question_is_an_address_whatever_words_it_replies_to(
    tmp_path: Path,
) -> None:
    async with asyncio.timeout(60), chatting(tmp_path) as chat:
        usage = await chat.sent("/projects add", "/projects add NAME")
        chat.phone.reply(usage, f"use {KEY}")
        await chat.until("Stored as GITHUB_TOKEN")
        chat.phone.send("/projects")
        panel = await chat.until("project", label="Add…")
        chat.phone.tap(panel, "Add…")
        asked = await chat.until("Reply", after=panel.id)
        chat.phone.reply(asked, "shop https://me:hunter2hunter2@forge.example/shop.git")
        await chat.until("Not kept, and deleted from the chat.")
        async with Database(chat.home.vault_db, "vault") as database:
            assert len(await database.fetch("SELECT name FROM secrets")) == 1
