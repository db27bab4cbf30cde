"""`quarterdeck machine`: added with open eyes, listed, looked at, removed; with no engine running."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.adapters import ssh
from engine.paths import Home
from tests.engine.test_cli import TOKEN, Run, run
from tests.machines.sshd import Sshd

__all__ = ("run",)  # its fixture, taken over


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> Home:
    monkeypatch.setenv("QUARTERDECK_HOME", str(tmp_path / "q"))
    monkeypatch.setenv("COLUMNS", "200")
    run("setup", "--token-file", "-", "--owner", "42", "--offline", "--yes", stdin=TOKEN)
    return Home(tmp_path / "q")


@pytest.fixture
def fingerprint(there: Sshd) -> str:
    return ssh.fingerprint((there.folder / "host_key.pub").read_text())


def test_a_machine_is_added_once_its_key_was_accepted(
    run: Run, home: Home, there: Sshd, fingerprint: str
) -> None:
    """BR-99: first contact shows the fingerprint, and nothing is sent before it is accepted."""
    shown = run("machine", "add", "build-box", there.text)
    assert shown.code == 1
    assert f"shows the host key {fingerprint}" in shown.err
    assert shown.err.rstrip().endswith(f"add --accept-fingerprint {fingerprint}")
    assert not (there.home / ".local").exists()
    wrong = run("machine", "add", "build-box", there.text, "--accept-fingerprint", "SHA256:x")
    assert f"shows the host key {fingerprint}, not SHA256:x. Nothing was added" in wrong.err
    added = run(
        *("machine", "add", "build-box", there.text, "--max-runs", "2"),
        *("--accept-fingerprint", fingerprint),
    )
    assert added.code == 0, added.err
    assert added.out.startswith("Added build-box: 2 agents at once, at most.\nSystem   Linux")
    assert str(there.node_home) in added.out
    assert home.known_hosts.stat().st_mode & 0o777 == 0o600
    rows = json.loads(run("machine", "list", "--json").out)
    assert [(row["name"], row["address"], row["max_runs"]) for row in rows] == [
        ("here", "", 10),
        ("build-box", there.text, 2),
    ]
    checked = run("machine", "check", "build-box")
    assert checked.out.startswith("build-box answers.\nSystem   Linux")
    again = run("machine", "add", "build-box", there.text, "--max-runs", "3")
    assert again.out == "Added build-box: 3 agents at once, at most.\n"
    assert run("machine", "pause", "build-box").out == "Paused: nothing new starts there\n"
    assert "paused, " in json.loads(run("machine", "list", "--json").out)[1]["state"]
    assert run("machine", "resume", "build-box").out == "Takes runs again\n"
    removed = run("machine", "remove", "build-box")
    assert removed.out.startswith("Removed build-box. What lies there stays")
    assert home.known_hosts.read_text() == ""
    assert "no machine build-box" in run("machine", "check", "build-box").err


def test_what_cannot_be_added_says_why_and_leaves_nothing(
    run: Run, home: Home, there: Sshd, fingerprint: str
) -> None:
    accept = ("--accept-fingerprint", fingerprint)
    assert "no address of a machine" in run("machine", "add", "a", "dev@-oX=y", *accept).err
    assert "cannot be a machine's name" in run("machine", "add", "A B", there.text, *accept).err
    assert "1 to 100 runs" in run("machine", "add", "a", there.text, "--max-runs", "0").err
    (there.folder / "authorized_keys").write_text("")
    kept_out = run("machine", "add", "a", there.text, *accept)
    assert "does not let us in" in kept_out.err
    assert kept_out.err.rstrip().endswith("Nothing was added.")
    there.away()
    assert "refuses connections" in run("machine", "add", "a", there.text, *accept).err
    assert [row["name"] for row in json.loads(run("machine", "list", "--json").out)] == ["here"]
    assert not home.known_hosts.exists()


def test_a_machine_set_up_anew_is_not_spoken_to(
    run: Run, home: Home, there: Sshd, fingerprint: str
) -> None:
    run("machine", "add", "build-box", there.text, "--accept-fingerprint", fingerprint)
    there.away()
    there.new_host_key()
    there.start()
    checked = run("machine", "check", "build-box")
    assert checked.code == 1
    assert "shows another host key than the one you accepted" in checked.err
