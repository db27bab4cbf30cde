"""A node of its own process, spoken to over its pipes as the engine would, and as it would not."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from engine.node import folder
from engine.node.follow import Watcher
from engine.node.link import PROTOCOL, Channel
from engine.node.runs import code_folder
from tests.node.reading import ended, gone, lines, said, until

PYTHON = os.path.realpath(sys.executable)
PATH = os.environ.get("PATH", os.defpath)


class Node:
    """A running node, and one question at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        self.process = process
        self.stdin = process.stdin
        self.channel = Channel(process.stdout, process.stdin)
        self.pushes: list[dict[str, Any]] = []
        self.takes = True  # acknowledge what is pushed
        self._early: dict[int, dict[str, Any]] = {}
        self._count = 0

    async def ask(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Return the whole answer, whether yes or no."""
        self._count += 1
        number = self._count
        await self.channel.send({"id": number, "op": op, "args": arguments})
        while number not in self._early:
            await self._receive()
        return self._early.pop(number)

    async def hello(self, epoch: int | None) -> dict[str, Any]:
        answer = await self.ask("hello", protocol=PROTOCOL, epoch=epoch)
        hello: dict[str, Any] = answer["ok"]
        return hello

    async def pushed(self, enough: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        while not self.pushes or not enough(self.pushes):
            await self._receive()
        return self.pushes

    async def _receive(self) -> None:
        messages = await self.channel.receive()
        assert messages is not None, "the node has ended"
        for message in messages:
            if "push" in message:
                self.pushes.append(message)
                if self.takes and "no" not in message:
                    taken = {"follow": message["follow"], "offset": message["end"]}
                    await self.channel.send({"op": "run.ack", "args": taken})
            else:
                self._early[message["id"]] = message


Open = Callable[..., Awaitable[Node]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
async def open_node(home: Path) -> AsyncIterator[Open]:
    begin = "import sys;sys.path.insert(0,sys.argv[1]);from engine.node.__main__ import main"
    opened: list[Node] = []

    async def open_one(first: str = "pass") -> Node:
        process = await asyncio.create_subprocess_exec(
            *(PYTHON, "-I", "-S", "-c", f"{begin};{first};main(sys.argv[2:])"),
            *(code_folder(), "serve", "--home", str(home)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": PATH, "HOME": os.path.expanduser("~")},
        )
        opened.append(Node(process))
        return opened[-1]

    yield open_one
    last = await open_one()  # one that may write whatever became of the others
    epoch = (await last.hello(None))["epoch"] + 1
    assert (await last.hello(epoch))["writes"]
    for state in (await last.ask("run.list"))["ok"]["runs"]:
        if state["alive"]:
            await last.ask("run.kill", run=state["run"])
    for node in opened:
        node.channel.close()
        await node.process.wait()
        # Its pipes are closed by the loop's next turns, before the loop itself is.
        node.process._transport.close()  # type: ignore[attr-defined]
        await asyncio.sleep(0)


@pytest.fixture
def run() -> str:
    return f"r-{uuid.uuid4().hex[:12]}"


def shell(run: str, script: str, **more: Any) -> dict[str, Any]:
    env = {"PATH": PATH, "HOME": os.path.expanduser("~")}
    return {"run": run, "argv": ["/bin/sh", "-c", script], "env": env, **more}


def data(pushes: list[dict[str, Any]]) -> str:
    return "".join(push["data"] for push in pushes)


def out(pushes: list[dict[str, Any]], kind: str = "out") -> list[Any]:
    spooled = [json.loads(line) for line in data(pushes).splitlines()]
    return [line["d"] for line in spooled if line["k"] == kind]


async def test_a_node_says_what_it_is(open_node: Open, home: Path) -> None:
    node = await open_node()
    hello = await node.hello(1)
    assert (hello["writes"], hello["epoch"], hello["protocol"]) == (True, 1, PROTOCOL)
    assert hello["root"] == (os.geteuid() == 0)
    assert hello["fenced"] or hello["why"].startswith("unfenced: ")
    assert not (hello["root"] and hello["fenced"])
    assert hello["git"].startswith("git version")
    title = Path(f"/proc/{node.process.pid}/cmdline").read_bytes()
    assert title.startswith(b"quarterdeck-node ")


async def test_the_second_node_of_one_epoch_is_refused_by_the_lock(open_node: Open) -> None:
    first, second = await open_node(), await open_node()
    assert (await first.hello(3))["writes"]
    refused = await second.hello(3)
    assert not refused["writes"]
    assert f"process {first.process.pid}" in refused["may_not"]
    assert (await first.ask("run.start", spec=shell("r-x", "true")))["ok"]["started"]


async def test_a_node_of_an_older_epoch_reads_and_never_writes(open_node: Open, run: str) -> None:
    older, newer = await open_node(), await open_node()
    assert (await older.hello(3))["writes"]
    await older.ask("run.start", spec=shell(run, "echo here; cat"))
    assert (await newer.hello(4))["writes"]
    orders: list[tuple[str, dict[str, Any]]] = [
        ("run.start", {"spec": shell("r-other", "true")}),
        ("run.input", {"run": run, "key": "1", "kind": "line", "data": "x"}),
        ("run.end", {"run": run}),
        ("run.kill", {"run": run}),
        ("run.remove", {"run": run}),
    ]
    for op, arguments in orders:
        assert "may only read" in (await older.ask(op, **arguments))["no"]
    assert not (await older.hello(3))["writes"]
    assert (await older.ask("run.list", runs=[run]))["ok"]["runs"][0]["alive"]
    await older.ask("run.follow", runs=[[run, 0, 1]])
    assert out(await older.pushed(lambda pushes: "here" in data(pushes))) == ["here"]
    await newer.ask("run.end", run=run, grace_s=5)
    await older.pushed(lambda pushes: pushes[-1]["over"])


async def test_without_a_hello_nothing_is_written(open_node: Open, run: str) -> None:
    node = await open_node()
    assert "may only read" in (await node.ask("run.start", spec=shell(run, "true")))["no"]
    assert (await node.ask("run.list"))["ok"] == {"runs": []}


async def test_runs_outlive_a_killed_node_and_the_next_one_reads_on(
    open_node: Open, home: Path, run: str
) -> None:
    """BR-97."""
    first = await open_node()
    await first.hello(1)
    script = "echo one; read line; echo heard $line; read line; echo heard $line"
    await first.ask("run.start", spec=shell(run, script))
    await first.ask("run.follow", runs=[[run, 0, 1]])
    await first.pushed(lambda pushes: "one" in data(pushes))
    first.process.send_signal(signal.SIGKILL)
    await first.process.wait()
    assert folder.alive(str(home / "runs" / run))
    second = await open_node()
    await second.hello(2)
    await second.ask("run.input", run=run, key="k1", kind="line", data="again")
    await second.ask("run.input", run=run, key="k1", kind="line", data="again")
    await second.ask("run.input", run=run, key="k2", kind="line", data="more")
    await second.ask("run.follow", runs=[[run, first.pushes[-1]["end"], 1]])
    await second.pushed(lambda pushes: pushes[-1]["over"])
    whole = first.pushes + second.pushes
    assert out(whole) == ["one", "heard again", "heard more"]
    assert data(whole).encode() == (home / "runs" / run / "out.jsonl").read_bytes()


async def test_an_inbox_written_by_a_node_that_fell_before_it_could_wake_the_runner(
    open_node: Open, home: Path, run: str
) -> None:
    node = await open_node()
    await node.hello(1)
    await node.ask("run.start", spec=shell(run, "read line; echo heard $line"))
    path = home / "runs" / run
    until(lambda: folder.read(str(path / "child.json")))
    node.process.kill()
    await node.process.wait()
    folder.append(str(path), "in.jsonl", b'{"n": "1", "k": "line", "d": "late"}\n')
    await (await open_node()).hello(2)
    assert ended(path)["code"] == 0
    assert said(path) == ["heard late"]


async def test_one_who_waits_for_a_change_can_be_ended_at_the_moment_of_one(home: Path) -> None:
    watcher = Watcher()
    watch = watcher.watch(str(home))

    async def wait_for_ever() -> None:
        while True:
            await watcher.wait(watch)
            watch.changed.clear()

    waiting = asyncio.create_task(wait_for_ever())
    for _ in range(3):
        await asyncio.sleep(0)
    watch.changed.set()
    waiting.cancel()
    done, _ = await asyncio.wait([waiting], timeout=2)
    watcher.close()
    assert done


async def test_a_node_ends_with_its_link_even_as_a_newer_one_comes(
    open_node: Open, home: Path
) -> None:
    node = await open_node()
    await node.hello(1)
    node.process.send_signal(signal.SIGSTOP)  # so that it finds both at once
    (home / "node.epoch").write_bytes(b"2")
    node.stdin.close()
    node.process.send_signal(signal.SIGCONT)
    async with asyncio.timeout(20):
        assert await node.process.wait() == 0


async def test_a_runner_killed_under_us_is_cut_off_and_said_to_be(
    open_node: Open, home: Path, run: str
) -> None:
    node = await open_node()
    await node.hello(1)
    await node.ask("run.start", spec=shell(run, "echo here; sleep 1000"))
    await node.ask("run.follow", runs=[[run, 0, 1]])
    await node.pushed(lambda pushes: "here" in data(pushes))
    child = folder.read(str(home / "runs" / run / "child.json"))
    assert child is not None
    os.kill(child["runner"], signal.SIGKILL)
    await node.pushed(lambda pushes: pushes[-1]["over"])
    assert out(node.pushes, "exit")[0]["why"] == "cut off"


async def test_a_runner_killed_while_no_node_was_there_is_found_by_the_next(
    open_node: Open, home: Path, run: str
) -> None:
    node = await open_node()
    await node.hello(1)
    await node.ask("run.start", spec=shell(run, "echo here; sleep 1000"))
    path = home / "runs" / run
    child = until(lambda: folder.read(str(path / "child.json")))
    node.process.kill()
    await node.process.wait()
    os.kill(child["runner"], signal.SIGKILL)
    await (await open_node()).hello(2)
    assert ended(path)["why"] == "cut off"


TAKING_OVER = """
import errno, os, time
from engine.node import leftovers
def take_over(home):
    while os.path.exists(home + "/wait"):
        time.sleep(0.01)
    if os.path.exists(home + "/full"):
        raise OSError(errno.ENOSPC, "no space")
    open(home + "/taken-over", "w").close()
    return []
leftovers.take_over = take_over
"""


async def test_what_runs_have_printed_is_told_at_once_and_what_a_fallen_node_left_goes_before_any_order(
    open_node: Open, home: Path, run: str
) -> None:
    first = await open_node()
    await first.hello(1)
    await first.ask("run.start", spec=shell(run, "echo here; read line; echo heard $line"))
    until(lambda: said(home / "runs" / run) == ["here"])
    first.process.kill()
    await first.process.wait()
    (home / "wait").touch()
    node = await open_node(f"exec({TAKING_OVER!r})")
    assert (await node.hello(2))["writes"]
    order = {"run": run, "key": "k1", "kind": "line", "data": "again"}
    await node.channel.send({"id": 1000, "op": "run.input", "args": order})
    await node.ask("run.follow", runs=[[run, 0, 1]])
    await node.pushed(lambda pushes: "here" in data(pushes))
    assert not (home / "runs" / run / "in.jsonl").exists()
    (home / "wait").unlink()
    await node.pushed(lambda pushes: "heard again" in data(pushes))
    assert (home / "taken-over").exists()


async def test_what_a_fallen_node_left_is_dealt_with_though_nothing_is_ordered(
    open_node: Open, home: Path
) -> None:
    node = await open_node(f"exec({TAKING_OVER!r})")
    await node.hello(1)
    until((home / "taken-over").exists)


async def test_an_order_waits_for_room_to_deal_with_what_a_fallen_node_left(
    open_node: Open, home: Path, run: str
) -> None:
    (home / "full").touch()
    node = await open_node(f"exec({TAKING_OVER!r})")
    await node.hello(1)
    await node.ask("run.follow", runs=[])  # so that it tries by itself as well
    assert (await node.ask("run.start", spec=shell(run, "echo here")))["full"]
    assert not (home / "runs" / run).exists()
    (home / "full").unlink()
    assert (await node.ask("run.start", spec=shell(run, "echo here")))["ok"]["started"]
    assert ended(home / "runs" / run)["code"] == 0


async def test_a_stopped_runner_is_no_reason_to_wait_for_ever(
    open_node: Open, home: Path, run: str
) -> None:
    node = await open_node()
    await node.hello(1)
    await node.ask("run.start", spec=shell(run, "cat"))
    child = until(lambda: folder.read(str(home / "runs" / run / "child.json")))
    os.kill(child["runner"], signal.SIGSTOP)
    answer = await node.ask("run.kill", run=run)
    assert answer["ok"]["exit"]["why"] == "cut off"


SOON = "import engine.node.serve as serve;serve.STUCK_S=0.05"


async def stuck(node: Node, home: Path, run: str) -> dict[str, Any]:
    """A run whose agent lives on under a runner that a signal stopped; return what is noted of it."""
    await node.ask("run.start", spec=shell(run, "echo up; read never"))
    path = home / "runs" / run
    until(lambda: said(path) == ["up"])
    child: dict[str, Any] = until(lambda: folder.read(str(path / "child.json")))
    os.kill(child["runner"], signal.SIGSTOP)
    return child


async def test_an_end_that_a_stopped_runner_does_not_hear_is_carried_out_past_its_grace(
    open_node: Open, home: Path, run: str
) -> None:
    """As for a hung run, for Stop and behind an interrupt: an end that was said comes."""
    node = await open_node(SOON)
    await node.hello(1)
    child = await stuck(node, home, run)
    for grace_s in (3600.0, 0.0, 0.0):  # the most pressing counts, however often it comes
        assert (await node.ask("run.end", run=run, grace_s=grace_s))["ok"]["alive"]
    await node.ask("run.follow", runs=[[run, 0, 1]])
    async with asyncio.timeout(60):
        await node.pushed(lambda pushes: pushes[-1]["over"])
    (how,) = out(node.pushes, "exit")
    assert (how["why"], how["signal"]) == ("stopped", None)
    assert gone(child["runner"])
    assert gone(child["pid"])


async def test_an_end_that_was_ordered_of_a_node_that_fell_is_carried_out_by_the_next(
    open_node: Open, home: Path, run: str
) -> None:
    first = await open_node()
    await first.hello(1)
    child = await stuck(first, home, run)
    await first.ask("run.end", run=run, grace_s=0.0)
    first.process.kill()
    await first.process.wait()
    await (await open_node(f"{SOON};serve._GRACE_S=0.05")).hello(2)
    assert ended(home / "runs" / run)["why"] == "stopped"
    assert gone(child["pid"])


async def test_an_end_that_comes_within_its_grace_is_the_agents_own(
    open_node: Open, home: Path, run: str
) -> None:
    node = await open_node(SOON)
    await node.hello(1)
    await node.ask("run.start", spec=shell(run, "echo up; read never; echo bye"))
    until(lambda: said(home / "runs" / run) == ["up"])
    await node.ask("run.end", run=run, grace_s=30.0)
    how = ended(home / "runs" / run)
    assert (how["why"], how["code"]) == ("", 0)
    assert said(home / "runs" / run) == ["up", "bye"]


async def test_a_look_at_a_run_whose_notes_were_spoilt_ends_no_node(
    open_node: Open, home: Path, run: str
) -> None:
    """An unfenced agent can write there, and a disk can lose what was written."""
    node = await open_node()
    await node.hello(1)
    await node.ask("run.start", spec=shell(run, "cat"))
    path = home / "runs" / run / "child.json"
    child = until(lambda: folder.read(str(path)))
    for spoilt in SPOILT:
        path.write_text(spoilt)
        assert "spooled" in (await node.ask("run.pulse", run=run))["ok"]
    path.write_text(json.dumps(child))


SPOILT = (
    *('{"fenced": true, "child_pid": "x"}', '{"fenced": true, "child_pid": [1]}', "[1]", "{"),
    *('{"fenced": true, "child_pid": 1e400}', '{"runner": {}, "runner_started": ""}'),
    *('{"runner": 99999999999999999999, "runner_started": "x"}', '{"runner": -1}'),
)


async def test_an_offset_past_the_end_is_noted_and_read_on_from(
    open_node: Open, home: Path, run: str
) -> None:
    node = await open_node()
    await node.hello(1)
    await node.ask("run.start", spec=shell(run, "read line; echo $line"))
    await node.ask("run.follow", runs=[[run, 10**9, 1]])
    await node.pushed(lambda pushes: "Cut off" in data(pushes))
    await node.ask("run.input", run=run, key="1", kind="line", data="goes on")
    await node.pushed(lambda pushes: pushes[-1]["over"])
    assert "goes on" in out(node.pushes)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(b"\0" * 5000, id="NULs at the end"),
        pytest.param(b'{"n":3,"t":1.0,"k":"out","d":"to', id="half a line"),
        pytest.param(b'{"n":3,"t":1.0,"k":"out","d":"{}"}'[:-1] + b"}", id="half a line like one"),
        pytest.param(b"junk\n" * 3, id="junk"),
        pytest.param(b"\0" * 20_000_000, id="many NULs"),
    ],
)
async def test_a_damaged_spool_is_a_note_and_an_end(
    open_node: Open, home: Path, run: str, damage: bytes
) -> None:
    path = home / "runs" / run
    path.mkdir(parents=True)
    (path / "out.jsonl").write_bytes(folder.line(1, "out", "sound") + damage)
    node = await open_node()
    await node.hello(1)
    await node.ask("run.follow", runs=[[run, 0, 1]])
    await node.pushed(lambda pushes: pushes[-1]["over"])
    shown = [json.loads(line) for line in data(node.pushes).splitlines()]
    assert shown[0]["k"] == "out"
    assert {line["k"] for line in shown[1:-1]} == {"note"}
    assert (shown[-1]["k"], shown[-1]["d"]["why"]) == ("exit", "cut off")


async def test_a_noisy_run_waits_for_its_reader_and_holds_up_nobody(
    open_node: Open, home: Path, run: str
) -> None:
    node = await open_node()
    node.takes = False
    await node.hello(1)
    line = "z" * 1000
    script = f"for i in $(seq 12000); do echo {line}; done; echo $$; read x"
    await node.ask("run.start", spec=shell(run, script))
    await node.ask("run.follow", runs=[[run, 0, 1]])
    path = home / "runs" / run
    spool = path / "out.jsonl"
    until(lambda: spool.exists() and spool.stat().st_size > 12_500_000, 60)
    await node.ask("run.start", spec=shell(f"{run}b", "echo quick"))
    await node.ask("run.follow", runs=[[f"{run}b", 0, 2]])
    await node.pushed(lambda pushes: any(p["run"] == f"{run}b" and p["over"] for p in pushes))
    size = spool.stat().st_size
    end = max(push["end"] for push in node.pushes if push["run"] == run)
    assert end < 8_000_000
    while end < size:
        await node.channel.send({"op": "run.ack", "args": {"follow": 1, "offset": end}})
        seen = len(node.pushes)
        end = (await node.pushed(lambda pushes, seen=seen: len(pushes) > seen))[-1]["end"]  # type: ignore[misc]
    assert out([push for push in node.pushes if push["run"] == run]).count(line) == 12_000


async def test_large_messages_go_both_ways(open_node: Open, home: Path, run: str) -> None:
    node = await open_node()
    await node.hello(1)
    text = "à la carte " * 300_000
    await node.ask("run.start", spec=shell(run, "cat", first_lines=[text]))
    await node.ask("run.follow", runs=[[run, 0, 1]])
    await node.pushed(lambda pushes: '"blob"' in data(pushes))
    answer = await node.ask("run.blob", run=run, name="1", offset=0, length=3_000_000)
    assert answer["ok"]["size"] == len(text.encode())
    assert len(answer["ok"]["data"]) == 4_000_000


async def test_the_end_of_a_spool_is_read_in_whole_lines(
    open_node: Open, home: Path, run: str
) -> None:
    node = await open_node()
    await node.hello(1)
    await node.ask("run.start", spec=shell(run, "seq -f 'line %g' 5000"))
    until(lambda: folder.ended(str(home / "runs" / run)))
    answer = (await node.ask("run.tail", run=run, length=4000))["ok"]
    entries = [json.loads(line) for line in answer["data"].splitlines()]
    said = [entry["d"] for entry in entries if entry["k"] == "out"]
    assert said == [f"line {n}" for n in range(5001 - len(said), 5001)]
    assert len(said) > 20
    assert answer["start"] > 0
    assert answer["now"] >= entries[-1]["t"]
    whole = (await node.ask("run.tail", run=run, length=4_000_000))["ok"]
    assert whole["start"] == 0
    assert whole["data"].count("\n") > 5000


@pytest.mark.parametrize(
    ("op", "arguments", "words"),
    [
        ("run.dance", {}, "knows no"),
        ("run.start", {"spec": {"run": "../out", "argv": ["true"]}}, "no name of a run"),
        ("run.start", {"spec": {"run": "r-1"}}, "argv"),
        ("run.start", {}, "spec"),
        ("run.list", {"colour": "red"}, "colour"),
        ("run.input", {"run": "r-none", "key": "1", "kind": "line", "data": ""}, "no run r-none"),
        ("run.blob", {"run": "r-none", "name": "1", "offset": 0, "length": 9}, "no run r-none"),
        ("run.tail", {"run": "r-none", "length": 9}, "no run r-none"),
        ("hello", {"protocol": 99}, "protocol"),
    ],
)
async def test_a_wrong_order_gets_a_no_in_words(
    open_node: Open, op: str, arguments: dict[str, Any], words: str
) -> None:
    node = await open_node()
    await node.hello(1)
    assert words in (await node.ask(op, **arguments))["no"]


async def test_runs_are_followed_together_and_one_that_is_not_there_is_said_to_be(
    open_node: Open, home: Path, run: str
) -> None:
    node = await open_node()
    await node.hello(1)
    await node.ask("run.start", spec=shell(run, "echo one; echo two"))
    until(lambda: folder.ended(str(home / "runs" / run)))
    spool = (home / "runs" / run / "out.jsonl").read_bytes()
    first = spool.index(b"\n", spool.index(b'"one"')) + 1
    await node.channel.send(
        {"op": "run.follow", "args": {"runs": [[run, 0, 1], ["r-none", 0, 2], [run, first, 3]]}}
    )
    pushes = await node.pushed(lambda all_of: sum(bool(one.get("over")) for one in all_of) == 2)
    assert [one["no"] for one in pushes if one["follow"] == 2] == [
        "There is no run r-none on this machine."
    ]
    for number, lines_told in ((1, ["one", "two"]), (3, ["two"])):
        assert out([one for one in pushes if one["follow"] == number]) == lines_told


async def test_a_run_going_on_is_not_removed_and_one_that_is_over_is(
    open_node: Open, home: Path, run: str
) -> None:
    node = await open_node()
    await node.hello(1)
    await node.ask("run.start", spec=shell(run, "cat"))
    assert "still going on" in (await node.ask("run.remove", run=run))["no"]
    await node.ask("run.kill", run=run)
    assert (await node.ask("run.remove", run=run))["ok"] == {"run": run}
    assert not (home / "runs" / run).exists()


async def test_junk_on_the_link_ends_the_node_and_no_run(
    open_node: Open, home: Path, run: str
) -> None:
    node = await open_node()
    await node.hello(1)
    await node.ask("run.start", spec=shell(run, "cat"))
    until(lambda: lines(home / "runs" / run) or folder.alive(str(home / "runs" / run)))
    node.stdin.write(b"GET / HTTP/1.1\r\n\r\n")
    assert await node.process.wait() == 0
    assert folder.alive(str(home / "runs" / run))
