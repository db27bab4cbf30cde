"""One machine over a real SSH server: arriving, working, being cut off, and what goes wrong."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from engine.adapters import ssh
from engine.adapters.ssh import Address, Ssh
from engine.errors import Refused, Unavailable, Unreachable
from tests.adapters.test_machines import Reader, shell
from tests.fakes import git
from tests.machines.sshd import Sshd, kill
from tests.node.reading import gone, until

BOX = "b0x"


async def reach(there: Sshd, home: Path, **more: Any) -> Ssh:
    keys = more.pop("keys", None) or [await ssh.look(there.address)]
    home.mkdir(exist_ok=True)
    return Ssh("build-box", there.address, home, box=BOX, keys=lambda: keys, **more)


@pytest.fixture
async def machine(there: Sshd, tmp_path: Path) -> AsyncIterator[Ssh]:
    made = await reach(there, tmp_path / "home")
    yield made
    for state in (await made.call("run.list"))["runs"]:
        if state["alive"]:
            await made.call("run.kill", run=state["run"])
    await made.close()


@pytest.fixture
def run() -> str:
    return f"r-{uuid.uuid4().hex[:12]}"


async def test_the_node_arrives_once_and_answers_past_a_banner(
    machine: Ssh, there: Sshd, tmp_path: Path
) -> None:
    """BR-61."""
    about = await machine.hello()
    assert about["home"] == str(there.node_home)
    assert about["user_home"] == str(there.home)
    assert there.node_home.name == BOX
    (sent,) = (there.node_home / "node").glob("*.pyz")
    when = sent.stat().st_mtime_ns
    again = await reach(there, tmp_path / "home")
    assert (await again.hello())["epoch"] > about["epoch"]
    assert sent.stat().st_mtime_ns == when
    await again.close()


async def test_what_a_start_up_file_exports_reaches_neither_node_nor_run(
    machine: Ssh, there: Sshd, run: str
) -> None:
    """BR-102."""
    await machine.hello()
    node = int((there.node_home / "node.lock").read_text())
    assert b"leaked-key" not in Path(f"/proc/{node}/environ").read_bytes()
    await machine.call("run.start", spec=shell(run, "env", kind="command"))
    reader = Reader(machine, run)
    await reader.task
    assert not [line for line in reader.out if "leaked" in line or "odd" in line]
    assert [line for line in reader.out if line.startswith("PATH=")]


async def test_a_cut_link_loses_and_doubles_no_line(machine: Ssh, there: Sshd, run: str) -> None:
    """BR-96, BR-97."""
    script = "i=0; while read a; do i=$((i+1)); for j in 1 2 3 4 5; do echo $i.$j; done; done"
    await machine.call("run.start", spec=shell(run, script))
    reader = Reader(machine, run)
    count = 0
    for _ in range(3):
        for _ in range(20):
            count += 1
            await _until_taken(machine, run, str(count))
        there.cut()
    await reader.has(f"{count}.5")
    await _until_done(machine, "run.end", run=run, grace_s=20)  # the last cut may only show now
    await reader.task
    assert reader.out == [f"{i}.{j}" for i in range(1, count + 1) for j in range(1, 6)]
    assert reader.raw == (there.node_home / "runs" / run / "out.jsonl").read_bytes()


async def _until_taken(machine: Ssh, run: str, key: str) -> None:
    await _until_done(machine, "run.input", run=run, key=key, kind="line", data="x")


async def _until_done(machine: Ssh, op: str, **arguments: object) -> None:
    """Order it again until a link carried it, as the engine's loop does."""
    while True:
        try:
            await machine.call(op, **arguments)
            return
        except Unreachable:
            await asyncio.sleep(0.01)


async def test_a_link_on_which_nothing_comes_is_given_up_and_made_again(
    there: Sshd, tmp_path: Path, run: str
) -> None:
    """BR-96: nothing tells of a pulled cable but silence."""
    machine = await reach(there, tmp_path / "home", keepalive_s=0.1)
    await machine.call("run.start", spec=shell(run, "echo one; read a; echo two"))
    reader = Reader(machine, run)
    await reader.has("one")
    down = asyncio.Event()
    whys: list[str] = []

    def heard() -> None:
        if not machine.link.up:
            whys.append(machine.link.why_down)
            down.set()

    machine.link.changed.append(heard)
    frozen = there.sessions()
    kill(frozen, signal.SIGSTOP)
    await down.wait()
    assert "the connection to it was lost" in whys[0]
    await _until_taken(machine, run, "1")
    await reader.task
    assert reader.out == ["one", "two"]
    kill(frozen)
    await machine.close()


async def test_what_lives_of_a_silent_run_there_is_seen(machine: Ssh, run: str) -> None:
    """BR-67."""
    await machine.call("run.start", spec=shell(run, "sleep 300 & echo up; read a"))
    reader = Reader(machine, run)
    await reader.has("up")
    seen = await machine.call("run.pulse", run=run)
    assert (seen["others"], seen["stopped"]) == (1, "")
    assert seen["spooled"] == len(reader.raw)
    await machine.call("run.kill", run=run)
    await reader.task


async def test_closing_ends_the_node_there_and_leaves_its_runs(
    there: Sshd, tmp_path: Path, run: str
) -> None:
    machine = await reach(there, tmp_path / "home")
    await machine.call("run.start", spec=shell(run, "echo here; read a; echo bye"))
    reader = Reader(machine, run)
    await reader.has("here")
    node = int((there.node_home / "node.lock").read_text())
    await machine.close()
    with pytest.raises(Unavailable):
        await reader.task
    until(lambda: gone(node))
    later = await reach(there, tmp_path / "home")
    await later.call("run.input", run=run, key="1", kind="line", data="")
    rest = Reader(later, run, reader.offset)
    await rest.task
    assert rest.out == ["bye"]
    await later.close()


async def test_an_address_means_what_it_means_to_ssh(there: Sshd, tmp_path: Path) -> None:
    """BR-99: a name, port, user and key from ~/.ssh/config, and a host to jump over."""
    folder = tmp_path / "client/.ssh"
    (folder / "id_ed25519").rename(folder / "other key")
    user, port = there.address.user, there.port
    (folder / "config").write_text(
        f'Host *\n  User {user}\n  Port {port}\n  IdentityFile "~/.ssh/other key"\n'
        "Host build-box\n  HostName 127.0.0.1\n  ProxyJump 127.0.0.1\n"
    )
    host_key = (there.folder / "host_key.pub").read_text()
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {host_key}")
    address = Address.read("build-box")
    key = await ssh.look(address)
    assert key.split()[:2] == host_key.split()[:2]
    machine = Ssh("build-box", address, tmp_path, box=BOX, keys=lambda: [key])
    assert (await machine.hello())["home"] == str(there.node_home)
    await machine.close()


async def test_a_long_line_arrives_whole(machine: Ssh, run: str) -> None:
    """BR-101."""
    spec = shell(run, 'read line; printf %s "$line" | cksum')
    await machine.call("run.start", spec=spec)
    await machine.call("run.input", run=run, key="1", kind="line", data="é" * 1_000_000)
    reader = Reader(machine, run)
    await reader.task
    sent = subprocess.run(
        ["cksum"], input=("é" * 1_000_000).encode(), capture_output=True, check=True
    )
    assert reader.out == [sent.stdout.decode().strip()]


# ---------------------------------------------------------------- commits


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """A clone of ours with one commit; machines may ask for any by its id."""
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q", "-b", "main")
    (work / "README").write_text("A shop\n")
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "A shop")
    git(tmp_path, "clone", "-q", "--bare", str(work), "hub.git")
    git(tmp_path / "hub.git", "config", "uploadpack.allowAnySHA1InWant", "true")
    return tmp_path / "hub.git"


async def _tree(machine: Ssh, commit: str) -> dict[str, Any]:
    return await machine.call(
        "tree.make",
        project="shop",
        session="s-1",
        branch="quarterdeck/worker-a",
        commit=commit,
        name="A worker",
        email="worker@localhost",
    )


async def test_commits_travel_there_and_back(machine: Ssh, hub: Path, there: Sshd) -> None:
    """M02: and only what is missing travels."""
    commit = git(hub, "rev-parse", "main")
    await asyncio.gather(*(machine.bring("shop", hub, [commit]) for _ in range(2)))
    made = await _tree(machine, commit)
    tree = Path(made["tree"])
    assert (tree / "README").read_text() == "A shop\n"
    assert not (there.node_home / "copies/shop.git/objects/info/alternates").exists()
    (tree / "page.py").write_text("PAGE = ''\n")
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "A page")
    head = git(tree, "rev-parse", "HEAD")
    async with machine.serving("shop", "s-1") as (serve, path):
        assert path == str(tree)
        fetch = await asyncio.create_subprocess_exec(
            *("git", "--git-dir", str(hub), "fetch", "-q", f"--upload-pack={' '.join(serve)}"),
            *(path, "+refs/heads/quarterdeck/worker-a:refs/quarantine/p-1"),
        )
        assert await fetch.wait() == 0
        (socket,) = Path(serve[-1]).parent.iterdir()
    assert not socket.exists()
    assert git(hub, "rev-parse", "refs/quarantine/p-1") == head
    await machine.bring("shop", hub, [head])
    assert (await machine.call("copy.lacks", project="shop", commits=[head]))["lacks"] == []


async def test_a_commit_the_hub_does_not_have_is_said_to_be_missing(
    machine: Ssh, hub: Path
) -> None:
    with pytest.raises(Unavailable, match=r"build-box: the project could not be copied: .*not our"):
        await machine.bring("shop", hub, ["1" * 40])


async def test_commits_are_brought_again_after_a_cut(machine: Ssh, hub: Path, there: Sshd) -> None:
    await machine.hello()
    there.away()
    with pytest.raises(Unreachable):
        await machine.bring("shop", hub, [git(hub, "rev-parse", "main")])
    there.start()
    commit = git(hub, "rev-parse", "main")
    while True:
        try:
            await machine.bring("shop", hub, [commit])
            break
        except Unreachable:
            await asyncio.sleep(0.01)
    assert (await _tree(machine, commit))["made"]


# ---------------------------------------------------------------- what goes wrong


async def why(machine: Ssh) -> str:
    with pytest.raises(Unreachable) as away:
        await machine.hello()
    await machine.close()
    return away.value.sentence


async def test_a_machine_that_refuses_says_so(there: Sshd, tmp_path: Path) -> None:
    machine = await reach(there, tmp_path / "home")
    there.away()
    assert await why(machine) == (
        f"build-box: 127.0.0.1:{there.port} refuses connections: is its SSH server running?"
    )


async def test_another_host_key_is_not_spoken_to(there: Sshd, tmp_path: Path) -> None:
    machine = await reach(there, tmp_path / "home")
    there.away()
    there.new_host_key()
    there.start()
    said = await why(machine)
    assert said.startswith("build-box: 127.0.0.1 shows another host key than the one you accepted")
    assert not (there.home / ".local").exists()


async def test_a_key_nobody_accepted_is_not_spoken_to(there: Sshd, tmp_path: Path) -> None:
    machine = Ssh("build-box", there.address, tmp_path, box=BOX, keys=lambda: [])
    assert "its host key was never accepted" in await why(machine)


async def test_a_machine_that_does_not_let_us_in_says_what_mends_it(
    there: Sshd, tmp_path: Path
) -> None:
    machine = await reach(there, tmp_path / "home")
    (there.folder / "authorized_keys").write_text("")
    assert "does not let us in. Put the key that /machines add shows" in await why(machine)


async def test_a_machine_without_python_is_told_what_it_lacks(
    there: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    there.bashrc.write_text(f"PATH={nothing}\n")
    machine = await reach(there, tmp_path / "home")
    monkeypatch.setattr(ssh, "PYTHONS", ("python3", "python3.11"))
    assert "no Python 3.9 or newer is there: install python3" in await why(machine)


async def test_a_shell_that_ends_at_once_is_quoted(there: Sshd, tmp_path: Path) -> None:
    there.bashrc.write_text("echo hello\necho This account is closed >&2\nexit 1\n")
    machine = await reach(there, tmp_path / "home")
    assert await why(machine) == (
        "build-box: its shell did not let us begin: This account is closed"
    )


async def test_a_full_or_closed_home_there_is_quoted(there: Sshd, tmp_path: Path) -> None:
    there.bashrc.write_text("export QUARTERDECK_NODE_HOME=/proc/nowhere\n")
    machine = await reach(there, tmp_path / "home")
    assert "/proc/nowhere" in await why(machine)


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("dev@build-box", Address("dev", "build-box", 0)),
        ("dev@build-box:2222", Address("dev", "build-box", 2222)),
        ("build-box", Address("", "build-box", 0)),
        ("dev@[::1]:22", Address("dev", "::1", 22)),
    ],
)
def test_an_address_is_read_as_ssh_reads_it(text: str, means: Address) -> None:
    assert Address.read(text) == means


@pytest.mark.parametrize(
    "text", ["", "dev@", "-oProxyCommand=x", "dev@-x", "a b", "dev@box:99999", "dev@box:22:22"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="no address of a machine"):
        Address.read(text)
