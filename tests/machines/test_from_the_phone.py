"""A computer added, paused, looked at and removed from the phone, over a real SSH server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.node import fence, own_network
from engine.rules.fleet import Fleet, Machine
from tests.engine.chat import Chat, chatting
from tests.machines.sshd import Sshd, sshd


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    """A machine that lets nobody in yet."""
    (tmp_path / "client").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "client"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with sshd(tmp_path / "box") as machine:
        yield machine


async def added(chat: Chat, box: Sshd) -> None:
    offer = await chat.sent(f"/machines add build-box {box.text}", "Add build-box?", label="Add")
    (public,) = [line for line in offer.text.splitlines() if line.startswith("ssh-ed25519")]
    (box.folder / "authorized_keys").write_text(f"{public}\n")
    await chat.tapped(offer, "Add", "build-box", box.text, label="Pause")


async def test_a_machine_is_added_with_a_key_of_ours_paused_checked_and_removed(
    box: Sshd, tmp_path: Path
) -> None:
    """BR-99: first contact shows the fingerprint."""
    async with asyncio.timeout(120), chatting(tmp_path) as chat:
        offer = await chat.sent(f"/machines add build-box {box.text}", "Add build-box?")
        assert "SHA256:" in offer.text
        tap = chat.phone.tap(offer, "Add")
        refused = await chat.until("Add build-box?", label="Add")
        await chat.phone.until(lambda: tap.answer or tap.alert)
        assert "does not let us in" in tap.answer
        assert not (box.home / ".local").exists()

        (public,) = [line for line in offer.text.splitlines() if line.startswith("ssh-ed25519")]
        (box.folder / "authorized_keys").write_text(f"{public}\n")
        page = await chat.tapped(refused, "Add", "build-box", box.text, label="Pause")
        paused = await chat.tapped(page, "Pause", "Paused", label="Resume")
        await chat.sent("/status", "build-box · 0 of 4 runs · paused by you")
        page = await chat.tapped(paused, "Resume", box.text, label="Pause")
        prompt = await chat.tapped(page, "Runs…", "How many agents at once")
        chat.phone.reply(prompt, "2")
        page = await chat.until(box.text, "0 of 2 runs", label="Pause")
        checked = await chat.tapped(page, "Check", "build-box answers", "Disk:")
        page = await chat.tapped(checked, "← Back", box.text, label="Pause")
        sure = await chat.tapped(page, "Remove", "Remove build-box?")
        left = await chat.tapped(sure, "Remove", "Machines", "here", label="Add…")
        assert "build-box" not in left.text


async def test_a_machine_that_shows_another_key_is_refused_with_both_and_may_be_accepted_anew(
    box: Sshd, tmp_path: Path
) -> None:
    async with asyncio.timeout(120), chatting(tmp_path) as chat:
        await added(chat, box)
        box.away()
        box.new_host_key()
        box.start()
        await chat.engine.loop.settle(until=lambda: "is shown now" in _state(chat))
        assert _state(chat).count("SHA256:") == 2
        offer = await chat.sent(
            f"/machines add build-box {box.text}", "another host key", "was accepted", label="Add"
        )
        await chat.tapped(offer, "Add", "build-box", box.text, label="Pause")
        await chat.engine.loop.settle(until=lambda: _state(chat) == "up")
        again = await chat.sent(f"/machines add build-box {box.text}", "is there already")
        assert "Add" not in again.labels


def _machine(chat: Chat, name: str) -> Machine:
    fleet = chat.engine.loop.state("fleet")
    assert isinstance(fleet, Fleet)
    machine = fleet.machine(name)
    assert machine is not None
    return machine


def _state(chat: Chat) -> str:
    machine = _machine(chat, "build-box")
    return "up" if machine.up else machine.why


async def test_what_cannot_be_a_machine_is_said_so(tmp_path: Path) -> None:
    async with asyncio.timeout(60), chatting(tmp_path) as chat:
        await chat.sent("/machines add A! dev@box", "cannot be a machine's name")
        await chat.sent("/machines add a dev@-oX=y", "is no address of a machine")
        await chat.sent("/machines add a", "Say /machines add NAME")
        panel = await chat.sent("/machines", "here", label="Add…")
        prompt = await chat.tapped(panel, "Add…", "Reply to this message")
        chat.phone.reply(prompt, "nothing")
        await chat.until("Say /machines add NAME USER@HOST")


async def test_a_machines_page_says_whole_what_its_fence_is_worth_and_leaves_open(
    tmp_path: Path,
) -> None:
    async with asyncio.timeout(60), chatting(tmp_path) as chat:
        loop = chat.engine.loop
        await loop.settle(until=lambda: bool(loop.state("fleet")) and _machine(chat, "here").up)
        panel = await chat.sent("/machines", "here", label="here")
        found = own_network.tried(fence.probe(), str(chat.home.root))
        await chat.tapped(panel, "here", "This box itself.", found.describe())
