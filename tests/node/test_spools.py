"""What a disk, or an agent without a fence, did to a spool: nobody falls, and later lines are still read.

A spool is spoiled in generated ways, followed to its end as a node follows it, and read as the engine
reads it: SPOOLS of them here, thousands by `python -m tests.nodepoints.spools`, which is a part of `make soak`.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from engine.adapters import spool, tail
from engine.adapters.agents import DRIVERS
from engine.adapters.following import Followed
from engine.adapters.reading import Output, Turn
from engine.node import fence, folder, follow
from engine.node.link import Refusal
from engine.node.runs import Runs
from engine.rules.events import AnyEvent, RunExited
from engine.rules.session_state import Session
from engine.rules.words import Account

SPOOLS = 200
RUN = "s-1-t1"
SECRET = "of another run"
FIXTURE = Path(__file__).parents[1] / "fixtures/claude/plain.jsonl"
EXIT = {"code": 0, "signal": None, "why": "", "words": "", "at": 9.0}

Spoil = Callable[[bytes], bytes]


def printed() -> list[bytes]:
    """A run's lines as its runner wrote them: an agent's real ones, an error, a call, the end."""
    said = [line for line in FIXTURE.read_text(encoding="utf-8").splitlines() if line]
    texts = [*said[:6], "plain words", *said[-2:]]
    lines = [folder.line(number, "out", text) for number, text in enumerate(texts, start=1)]
    more: list[tuple[str, object]] = [
        ("err", "oops – é"),
        ("desk", {"call": "c1", "tool": "status", "args": {}}),
        ("exit", EXIT),
    ]
    lines += [folder.line(len(lines) + n, kind, d) for n, (kind, d) in enumerate(more, start=1)]
    return lines


LINES = printed()
WHOLE = b"".join(LINES)

# A number no spool reaches: what is counted on from it would be damage as well.
FAR = b'{"n": 1' + b"0" * 400 + b"}\n"
FAR_END = b'{"n": 1' + b"0" * 400 + b', "t": 1.0, "k": "exit", "d": {}}\n'

# ---- ways to be spoiled

_at = st.floats(0, 1)


def _over(at: float, junk: bytes) -> Spoil:
    def spoil(data: bytes) -> bytes:
        start = int(at * len(data))
        return data[:start] + junk + data[start + len(junk) :]

    return spoil


def _between(at: float, junk: bytes) -> Spoil:
    return lambda data: data[: int(at * len(data))] + junk + data[int(at * len(data)) :]


def _cut(at: float) -> Spoil:
    return lambda data: data[: int(at * len(data))]


def _without(at: float, size: int) -> Spoil:
    return lambda data: data[: int(at * len(data))] + data[int(at * len(data)) + size :]


_odd = st.one_of(
    st.none(), st.booleans(), st.floats(), st.text(), st.integers(), st.lists(st.integers()),
    st.dictionaries(st.text(), st.text()), st.just(10**400), st.just("\ud800"),
)  # fmt: skip
_fields = st.dictionaries(
    st.sampled_from(["n", "t", "k", "d", "blob", "size", "bad", "lost"]),
    st.one_of(_odd, st.sampled_from(["out", "err", "desk", "note", "exit"])),
)
_likeness = _fields.map(lambda fields: json.dumps({"n": 3, **fields}).encode() + b"\n")

_ways: st.SearchStrategy[Spoil] = st.one_of(
    st.builds(_cut, _at),
    st.builds(_over, _at, st.sampled_from([b"\0" * 4096, b"\0" * 7, b"\n", b"\r", b'{"n":'])),
    st.builds(_over, _at, st.binary(min_size=1, max_size=64)),
    st.builds(_between, _at, st.binary(min_size=1, max_size=300)),
    st.builds(_between, _at, _likeness),
    st.builds(_between, _at, st.sampled_from([b"\xff\xfe\n", b"[" * 3000 + b"\n", b'{"n":1}\n'])),
    st.builds(_without, _at, st.integers(1, 5000)),
)


# ---- reading it to its end


def follow_to_the_end(home: Path, offset: int = 0) -> list[bytes]:
    """Follow the run as a node does, with nobody there who writes; return the lines it pushes."""
    runs = Runs(str(home), fence.Probe(why="not asked for here"))
    pushed: list[dict[str, Any]] = []
    follower = follow.Follower(str(home / "runs" / RUN), RUN, 1, offset)

    async def push(message: dict[str, Any]) -> None:
        follower.take(message["end"])
        pushed.append(message)
        assert len(pushed) < 1000, "it never comes to an end"

    async def look(run: str) -> None:
        runs.finish(run)

    async def read() -> None:
        watcher = follow.Watcher()
        try:
            async with asyncio.timeout(20):
                await follower.follow(watcher, push, look)
        finally:
            watcher.close()

    asyncio.run(read())
    assert pushed[-1]["over"]
    assert [m["offset"] for m in pushed[1:]] == [m["end"] for m in pushed[:-1]]
    data = "".join(message["data"] for message in pushed).encode("utf-8")
    assert not data or data.endswith(b"\n")
    return data.split(b"\n")[:-1]


class Heard:
    """What an agent's turn tells the engine, kept."""

    def __init__(self, home: Path) -> None:
        self._there = Runs(str(home), fence.Probe(why="not asked for here"))
        self.events: list[AnyEvent] = []
        self.damage = spool.Damage()
        self.following = self

    async def post(self, stream: str, event: AnyEvent, cause: str, **more: Any) -> bool:
        self.events.append(event)
        return True

    def machine(self, name: str) -> Heard:
        return self

    async def call(self, op: str, run: str, length: int) -> dict[str, Any]:
        assert op == "run.tail"
        return self._there.tail(run, length)

    async def blob(self, followed: Followed, name: str, size: int) -> str:
        return ""

    async def new_id(self, kind: str) -> str:
        return f"{kind}-1"

    async def calls(self, *call: Any) -> str:
        return "Fine."

    async def nothing(self, *told: Any) -> None:
        return None

    note_use = note_drift = feed = reply = nothing

    async def note_damage(self, followed: Followed, damage: spool.Damage, cause: str) -> None:
        self.damage = damage

    def session(self, name: str) -> Session:
        return Session(id="s-1", run=RUN, account=Account(name="main", agent="claude"))

    def now(self) -> float:
        return 10.0

    def is_fenced(self, machine: str) -> bool:
        return True

    def agents_on(self, machine: str) -> int:
        return 1

    def answer_to(self, call: str) -> str:
        return "It went well."

    def __getattr__(self, name: str) -> Any:  # what a turn does is of no interest here
        return lambda *told, **more: None


def read_as_engine(home: Path, lines: Sequence[bytes]) -> Heard:
    """Read the lines as a check, as a turn and for a Peek; none of them may fall."""
    check = Output()
    for line in lines:
        if check.take(line):
            break
    check.verdict()
    tail.seen(DRIVERS["claude"], b"\n".join(lines).decode("utf-8", "replace"))
    heard = Heard(home)
    followed = Followed(run=RUN, stream="session/s-1", session="s-1", agent="claude")
    turn = Turn(cast(Any, heard), followed, DRIVERS["claude"])

    async def read() -> None:
        for line in lines:
            if await turn.read(line, (RUN, 0)):
                return
        raise AssertionError("the run has no end")

    asyncio.run(read())
    assert isinstance(heard.events[-1], RunExited)
    return heard


def laid(folder_of: Path, data: bytes, *, is_over: bool) -> Path:
    path = folder_of / "runs" / RUN
    path.mkdir(parents=True, exist_ok=True)
    (path / "out.jsonl").write_bytes(data)
    if is_over:
        folder.write(str(path / "exit.json"), EXIT)
    return path


@example(ways=[_cut(0.0), _between(0.0, FAR)], is_over=False, read_to=0.0)
@example(ways=[_cut(0.0), _between(0.0, FAR_END)], is_over=False, read_to=0.0)
@settings(
    max_examples=SPOOLS, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)
@given(ways=st.lists(_ways, min_size=1, max_size=3), is_over=st.booleans(), read_to=_at)
def test_whatever_happens_to_a_spool_all_sound_lines_are_read_and_the_run_ends(
    ways: list[Spoil], is_over: bool, read_to: float
) -> None:
    data = WHOLE
    for spoil in ways:
        data = spoil(data)
    sound = [line for line in data.split(b"\n")[:-1] if line + b"\n" in LINES]
    with tempfile.TemporaryDirectory(prefix="quarterdeck-spool-") as home:
        laid(Path(home), data, is_over=is_over)
        lines = follow_to_the_end(Path(home))
        assert [line for line in lines if line in sound] == sound
        heard = read_as_engine(Path(home), lines)
        whole = lines[: 1 + next(n for n, line in enumerate(lines) if _is_end(line))]
        lost = [line for line in whole if spool.entry(line) is None or b'"lost":' in line]
        assert (heard.damage.lines > 0) >= bool([line for line in lost if b'"k":"out"' not in line])
        # Read on from anywhere, as after a restart, it comes to its end as well.
        assert any(map(_is_end, follow_to_the_end(Path(home), int(read_to * len(data))))) or (
            _is_end(data[: int(read_to * len(data))].rpartition(b"\n")[0].rpartition(b"\n")[2])
        )


def _is_end(line: bytes) -> bool:
    found = spool.entry(line)
    return found is not None and found["k"] == "exit" and isinstance(found.get("d"), dict)


# ---- what an agent without a fence could lay in the place of our files


def _link(path: Path, elsewhere: Path) -> None:
    path.symlink_to(elsewhere)


def _folder(path: Path, elsewhere: Path) -> None:
    path.mkdir()
    (path / "in it").touch()


def _pipe(path: Path, elsewhere: Path) -> None:
    os.mkfifo(path)


LAYS = pytest.mark.parametrize("lay", [_link, _folder, _pipe])


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A file that no run may have us read or write."""
    path = tmp_path / "elsewhere"
    path.write_bytes(folder.line(1, "out", SECRET))
    return path


@LAYS
@pytest.mark.parametrize("is_over", [True, False])
def test_a_spool_in_whose_place_something_else_lies_is_an_end_with_a_word(
    tmp_path: Path, elsewhere: Path, lay: Callable[[Path, Path], None], is_over: bool
) -> None:
    before = elsewhere.read_bytes()
    path = laid(tmp_path, WHOLE, is_over=is_over)
    (path / "out.jsonl").unlink()
    lay(path / "out.jsonl", elsewhere)
    runs = Runs(str(tmp_path), fence.Probe(why="not asked for here"))
    assert SECRET not in runs.tail(RUN, 1000)["data"]
    lines = follow_to_the_end(tmp_path)
    assert SECRET.encode() not in b"".join(lines)
    assert read_as_engine(tmp_path, lines).events
    assert elsewhere.read_bytes() == before


@LAYS
@pytest.mark.parametrize("name", ["exit.json", "exit.json.new", "child.json", "lock", "poke"])
def test_whatever_lies_in_the_place_of_a_file_of_ours_the_run_is_ended_and_nothing_else_touched(
    tmp_path: Path, elsewhere: Path, lay: Callable[[Path, Path], None], name: str
) -> None:
    before = elsewhere.read_bytes()
    path = laid(tmp_path, b"".join(LINES[:-1]), is_over=False)
    lay(path / name, elsewhere)
    lines = follow_to_the_end(tmp_path)
    assert json.loads(lines[-1])["d"]["why"] == "cut off"
    assert (folder.ended(str(path)) or {})["why"] == "cut off"
    folder.poke(str(path))
    assert elsewhere.read_bytes() == before


@LAYS
def test_a_long_line_is_read_from_its_own_run_only(
    tmp_path: Path, elsewhere: Path, lay: Callable[[Path, Path], None]
) -> None:
    path = laid(tmp_path, WHOLE, is_over=True)
    (path / "blobs").mkdir()
    lay(path / "blobs/1", elsewhere)
    runs = Runs(str(tmp_path), fence.Probe(why="not asked for here"))
    with pytest.raises(Refusal, match="no blob 1"):
        runs.blob(RUN, "1", 0, 1000)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/2").write_text(SECRET)
    (path / "blobs").rename(path / "before")
    (path / "blobs").symlink_to(tmp_path / "other")
    with pytest.raises(Refusal, match="no blob 2"):
        runs.blob(RUN, "2", 0, 1000)


def test_a_run_whose_folder_is_a_link_is_no_run(tmp_path: Path) -> None:
    laid(tmp_path / "other", WHOLE, is_over=True)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / RUN).symlink_to(tmp_path / "other/runs" / RUN)
    runs = Runs(str(tmp_path), fence.Probe(why="not asked for here"))
    with pytest.raises(Refusal, match="no run"):
        runs.tail(RUN, 1000)
    assert runs.state(RUN)["exit"] is None


# ---- one of each, in words


@pytest.mark.parametrize(
    "junk",
    [
        pytest.param(b"x" * 50_000_000 + b"\n", id="a line of 50 MB"),
        pytest.param(b"\0" * 50_000_000, id="50 MB of NULs, and no line's end"),
    ],
)
def test_what_is_no_line_of_ours_is_passed_over_and_counted(tmp_path: Path, junk: bytes) -> None:
    laid(tmp_path, b"".join([LINES[0], junk, *LINES[1:]]), is_over=True)
    lines = follow_to_the_end(tmp_path)
    after = LINES[2:] if not junk.endswith(b"\n") else LINES[1:]  # the next one is part of it
    sound = [line for line in lines if line + b"\n" in LINES]
    assert [line + b"\n" for line in sound] == [LINES[0], *after]
    damage = read_as_engine(tmp_path, lines).damage
    assert damage.size == len(WHOLE) + len(junk) - sum(len(line) + 1 for line in sound)


def test_a_file_that_became_shorter_is_read_on_from_its_new_end(tmp_path: Path) -> None:
    path = laid(tmp_path, b"".join(LINES[:2]), is_over=False)
    read = len(WHOLE)
    with (path / "out.jsonl").open("ab") as file:
        file.writelines(LINES[-1:])
    lines = follow_to_the_end(tmp_path, read)
    assert json.loads(lines[0])["lost"] == read - len(b"".join([*LINES[:2], LINES[-1]]))
    assert _is_end(lines[-1])


def test_a_run_whose_last_lines_were_lost_still_says_how_it_ended(tmp_path: Path) -> None:
    laid(tmp_path, b"".join(LINES[:-1]), is_over=True)
    *_, note, end = follow_to_the_end(tmp_path)
    assert "the end of what it printed was lost" in json.loads(note)["d"]
    assert json.loads(end)["d"] == EXIT


@pytest.mark.parametrize(
    "line",
    [
        b'{"n":1,"t":1,"k":"out","d":"x","blob":"1","size":"big"}',
        b'{"n":1,"t":"late","k":"out","d":"x"}',
        b'{"n":1,"t":NaN,"k":"out","d":"x"}',
        b'{"n":1,"t":1e999,"k":"out","d":"x"}',
        b'{"n":true,"t":1,"k":"out","d":"x"}',
        b'{"n":1,"t":1,"k":["out"],"d":"x"}',
        b'{"n":1,"t":1,"k":"out","d":"\\ud800"}',
        b'{"n":1,"t":1' + b"0" * 400 + b',"k":"out","d":"x"}',
        b"[" * 5000,
        b"\xff",
        b"null",
    ],
)
def test_what_only_looks_like_a_line_is_none(line: bytes) -> None:
    assert spool.entry(line) is None
