"""One run from its start to its exit, with a real process at each end.

As an ordinary user these runs are fenced; as root, where no fence can be had, they are not.
"""

import base64
import hashlib
import json
import os
import signal
import socket
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.node import fence, folder
from engine.node.runner import KEPT
from engine.node.runs import Runs, code_folder
from tests.node.reading import ended, gone, lines, said, until

PATH = os.environ.get("PATH", os.defpath)
PYTHON = os.path.realpath(sys.executable)


@pytest.fixture(scope="module")
def probe() -> fence.Probe:
    return fence.probe()


@pytest.fixture
def runs(tmp_path: Path, probe: fence.Probe) -> Iterator[Runs]:
    home = tmp_path / "home"
    (home / "trees" / "shop").mkdir(parents=True)
    made = Runs(str(home), probe)
    yield made
    for state in made.states():
        if state["alive"]:
            made.kill(state["run"])
    until(lambda: not made._started or (made.reap() == [] and not made._started))


@pytest.fixture
def run() -> str:
    """An id nobody else on this machine uses: processes are ended by it."""
    return f"r-{uuid.uuid4().hex[:12]}"


def start(runs: Runs, run: str, argv: list[str], **more: Any) -> Path:
    """Start a run in the tree and return its folder."""
    home = Path(runs.path("x")).parent.parent
    spec: dict[str, Any] = {
        "run": run,
        "kind": "agent",
        "argv": argv,
        "env": {"PATH": PATH, "HOME": os.path.expanduser("~"), "LANG": "C.UTF-8"},
        "fence": {"tree": str(home / "trees" / "shop")},
    }
    secrets = more.pop("secrets", None)
    spec["env"] = {**spec["env"], **more.pop("env", {})}
    runs.start({**spec, **more}, secrets)
    return Path(runs.path(run))


def shell(runs: Runs, run: str, script: str, **more: Any) -> Path:
    return start(runs, run, ["/bin/sh", "-c", script], **more)


def test_what_a_run_says_is_on_disk_while_it_still_runs(runs: Runs, run: str) -> None:
    """BR-11."""
    path = shell(runs, run, "echo result; echo oops >&2; read line; echo heard $line")
    until(lambda: said(path) == ["result"] and said(path, "err") == ["oops"])
    assert folder.alive(str(path))
    runs.input(run, "1", "line", "go on")
    assert ended(path)["code"] == 0
    assert said(path) == ["result", "heard go on"]
    assert [line["n"] for line in lines(path)] == list(range(1, len(lines(path)) + 1))
    until(lambda: not folder.alive(str(path)))


def test_first_lines_are_fed_before_any_other_and_the_folder_is_private(
    runs: Runs, run: str
) -> None:
    path = shell(runs, run, "cat", first_lines=['{"a": "é"}', "two"])
    runs.input(run, "1", "line", "three")
    until(lambda: said(path) == ['{"a": "é"}', "two", "three"])
    assert path.stat().st_mode & 0o777 == 0o700
    runs.end(run, 5)
    assert ended(path)["code"] == 0


def test_a_line_of_200_mb_passes_through_little_memory(runs: Runs, run: str) -> None:
    size = 200_000_000
    path = shell(runs, run, f"head -c {size} /dev/zero | tr '\\0' x; echo; echo after; read x")
    until(lambda: said(path)[1:] == ["after"], 120)
    marker = lines(path)[-2]
    assert (marker["size"], marker["blob"], marker["d"]) == (size, "1", "x" * folder.BLOB_START)
    assert (path / "blobs" / "1").stat().st_size == size
    part = runs.blob(run, "1", size - 3, 10)
    assert (base64.b64decode(part["data"]), part["size"]) == (b"xxx", size)
    child = json.loads((path / "child.json").read_text())
    status = Path(f"/proc/{child['runner']}/status").read_text()
    peak_kb = int(status.partition("VmHWM:")[2].split()[0])
    assert peak_kb < 60_000
    runs.input(run, "1", "line", "bye")
    assert ended(path)["code"] == 0


def test_a_line_just_too_long_leaves_its_neighbours_alone(runs: Runs, run: str) -> None:
    long = folder.MAX_LINE + 1
    script = f"echo before; head -c {long} /dev/zero | tr '\\0' y; echo; echo between; printf last"
    path = shell(runs, run, script)
    assert ended(path)["code"] == 0
    assert [d[:7] for d in said(path)] == ["before", "y" * 7, "between", "last"]
    assert (path / "blobs" / "1").stat().st_size == long


def test_output_that_is_no_text_is_kept_as_far_as_it_goes(runs: Runs, run: str) -> None:
    path = shell(runs, run, r"printf 'caf\303\251\nhalf \303\nnul \000 here\n\n\377'")
    assert ended(path)["code"] == 0
    spooled = [line for line in lines(path) if line["k"] == "out"]
    assert [line["d"] for line in spooled] == ["café", "half �", "nul \0 here", "", "�"]
    assert [line.get("bad", 0) for line in spooled] == [0, 1, 0, 0, 1]


def test_an_input_counts_once_however_often_it_is_written(runs: Runs, run: str) -> None:
    """BR-69."""
    path = shell(runs, run, "cat")
    for key in ("1", "2", "1", "2", "3"):
        runs.input(run, key, "line", f"line {key}")
    until(lambda: len(said(path)) == 3)
    # A node killed while it wrote leaves half an entry; the next one repeats the whole.
    with (path / "in.jsonl").open("ab") as inbox:
        inbox.write(b'{"n": "4", "k": "line", "d": "lin')
    Runs(str(path.parent.parent), runs.probe).input(run, "4", "line", "line 4")
    until(lambda: len(said(path)) == 4)
    runs.end(run, 5)
    ended(path)
    assert said(path) == ["line 1", "line 2", "line 3", "line 4"]


def test_much_input_reaches_a_slow_reader_whole_and_in_order(runs: Runs, run: str) -> None:
    """BR-101."""
    path = shell(runs, run, "read go; sha256sum; wc -l < /dev/null")
    text = "".join(f"{n:07d} " for n in range(200_000))
    for number in range(6):
        runs.input(run, str(number), "line", text)
    runs.end(run, 30)
    assert ended(path)["code"] == 0
    rest = (text + "\n").encode() * 5
    assert said(path)[0] == hashlib.sha256(rest).hexdigest() + "  -"


def test_the_agent_may_end_its_own_way_before_its_fence_is_ended(runs: Runs, run: str) -> None:
    script = "while read line; do echo got $line; done; echo bye; exit 7"
    path = shell(runs, run, script, end_line="end_session")
    until(lambda: folder.read(str(path / "child.json")))
    runs.end(run, 30)
    assert ended(path)["code"] == 7
    assert said(path) == ["got end_session", "bye"]


def test_what_will_not_end_is_ended_with_all_it_started(runs: Runs, run: str) -> None:
    script = "trap '' TERM HUP; setsid sh -c 'echo $$; sleep 1000' & while :; do sleep 1; done"
    path = shell(runs, run, script)
    until(lambda: said(path))
    child = json.loads((path / "child.json").read_text())
    runs.end(run, 0.2)
    how = ended(path)
    assert (how["why"], how["signal"]) == ("stopped", signal.SIGKILL)
    until(lambda: gone(child["pid"]))
    assert fence.kill_marked(run) == 0


def test_a_term_to_the_runner_ends_its_run_the_same_way(runs: Runs, run: str) -> None:
    path = shell(runs, run, "cat; echo bye", grace_s=30)
    child = until(lambda: folder.read(str(path / "child.json")))
    os.kill(child["runner"], signal.SIGTERM)
    assert ended(path)["code"] == 0
    assert said(path) == ["bye"]


def test_a_check_is_one_stream_of_lines_and_ends_at_its_limit(runs: Runs, run: str) -> None:
    script = "echo one; echo two >&2; setsid sleep 1000 & echo three; wait"
    path = shell(runs, run, script, kind="command", limit_s=0.5)
    how = ended(path)
    assert how["why"] == "limit"
    assert said(path) == ["one", "two", "three"]
    assert any("longer than 0.5 seconds" in note for note in said(path, "note"))
    assert fence.kill_marked(run) == 0


def test_a_check_reads_nothing_and_tells_its_exit_code(runs: Runs, run: str) -> None:
    path = shell(runs, run, "cat; exit 4", kind="command")
    how = ended(path)
    assert (how["code"], how["signal"], how["why"]) == (4, None, "")


def test_a_run_that_prints_without_end_is_ended(runs: Runs, run: str) -> None:
    path = shell(runs, run, "yes word", kind="command", max_output=200_000)
    assert ended(path)["why"] == "too much output"
    assert (path / "out.jsonl").stat().st_size < 40_000_000


def test_what_the_command_leaves_running_is_ended_with_it(runs: Runs, run: str) -> None:
    path = shell(runs, run, "setsid sleep 1000 & echo done")
    assert ended(path)["code"] == 0
    assert said(path) == ["done"]
    assert fence.kill_marked(run) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs a kernel that hands orphans on")
def test_what_emptied_its_environment_is_ended_with_it_without_a_fence(
    runs: Runs, run: str
) -> None:
    runs.probe = fence.Probe(False, "not asked for")
    orphaned = "env -i setsid sh -c 'echo $$; echo > told; exec >&- 2>&-; sleep 1000' &"
    path = shell(runs, run, f"mkfifo told; {orphaned} read _ < told; echo done")
    assert ended(path)["code"] == 0
    orphan, done = said(path)
    assert done == "done"
    assert not Path(f"/proc/{orphan}").exists()


@pytest.mark.parametrize("kind", ["agent", "command"])
def test_a_program_that_is_not_there_is_said_to_be_missing(runs: Runs, run: str, kind: str) -> None:
    path = start(runs, run, ["no-such-agent", "--version"], kind=kind)
    how = ended(path)
    assert (how["code"], how["why"]) == (None, "not started")
    assert "no-such-agent" in how["words"]
    assert how["words"] in said(path, "note")


def test_a_view_that_must_not_be_had_is_no_start(runs: Runs, run: str, probe: fence.Probe) -> None:
    path = start(runs, run, ["true"], fence={"tree": "/nowhere/at/all"})
    how = ended(path)
    assert how["why"] == "not started"
    assert "/nowhere/at/all" in how["words"]


def test_processes_can_be_told_by_their_titles_and_marks(runs: Runs, run: str) -> None:
    path = shell(runs, run, "echo $QUARTERDECK_RUN; cat")
    until(lambda: said(path) == [run])
    child = json.loads((path / "child.json").read_text())
    title = Path(f"/proc/{child['runner']}/cmdline").read_bytes()
    assert title.split(b"\0")[0] == f"quarterdeck-runner {run}".encode()
    assert os.getsid(child["runner"]) == child["runner"]


def test_a_run_has_the_environment_it_was_given_and_no_more(
    runs: Runs, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BR-102."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "somebody-else-s")
    path = start(runs, run, ["env"], env={"A": "b c"}, secrets={"TOKEN": "t0p"})
    assert ended(path)["code"] == 0
    shown = dict(line.split("=", 1) for line in said(path))
    assert {n: shown[n] for n in ("A", "TOKEN", "QUARTERDECK_RUN")} == {
        "A": "b c",
        "TOKEN": "t0p",
        "QUARTERDECK_RUN": run,
    }
    assert shown.keys() - {"A", "TOKEN", "QUARTERDECK_RUN", "PATH", "HOME", "LANG"} <= {
        "PWD",
        "QUARTERDECK_PLACE",
    }


def test_a_secret_of_a_run_is_in_no_file(runs: Runs, run: str) -> None:
    path = shell(runs, run, "test -n $TOKEN && echo there", secrets={"TOKEN": "s3cr3t-value"})
    assert ended(path)["code"] == 0
    kept = [file for file in path.rglob("*") if file.is_file()]
    assert len(kept) >= 4
    assert [file for file in kept if b"s3cr3t-value" in file.read_bytes()] == []


def test_the_same_start_twice_starts_one_run(runs: Runs, run: str) -> None:
    path = shell(runs, run, "echo once; cat")
    until(lambda: said(path))
    for other in (runs, Runs(str(path.parent.parent), runs.probe)):
        again = other.start({"run": run, "argv": ["echo", "twice"]})
        assert (again["started"], again["alive"]) == (False, True)
    runs.end(run, 5)
    ended(path)
    assert runs.start({"run": run, "argv": ["echo", "twice"]})["exit"]["code"] == 0
    assert said(path) == ["once"]


def test_a_run_prepared_by_a_node_that_died_is_started_by_the_next(runs: Runs, run: str) -> None:
    spec = {"run": run, "kind": "command", "argv": ["echo", "late"], "env": {"PATH": PATH}}
    runs._prepare(runs.path(run), spec)
    assert runs.unfinished() == []
    assert runs.start(spec)["started"]
    assert ended(Path(runs.path(run)))["code"] == 0
    assert said(Path(runs.path(run))) == ["late"]


def test_a_run_ended_before_it_started_never_starts(runs: Runs, run: str) -> None:
    runs.end(run)
    again = runs.start({"run": run, "argv": ["echo", "no"]})
    assert (again["started"], again["alive"]) == (False, False)
    assert again["exit"]["why"] == "not started"
    assert said(Path(runs.path(run))) == []


def test_a_run_that_was_prepared_only_and_then_ended_never_starts(runs: Runs, run: str) -> None:
    spec = {"run": run, "kind": "command", "argv": ["echo", "no"], "env": {"PATH": PATH}}
    runs._prepare(runs.path(run), spec)
    assert runs.end(run)["exit"]["why"] == "not started"
    assert not runs.start(spec)["started"]
    assert [line["k"] for line in lines(Path(runs.path(run)))] == ["exit"]


def test_an_agent_whose_node_fell_before_it_handed_the_token_over_is_not_started(
    runs: Runs, run: str
) -> None:
    """Started without, it would seem to be signed out."""
    spec = {"run": run, "argv": ["touch", "here"], "env": {"PATH": PATH}, "fence": {}}
    runs._prepare(runs.path(run), spec)
    path = Path(runs.path(run))
    lock = folder.lock(str(path))
    assert lock is not None
    given, give = os.pipe()
    os.close(give)
    said = os.open(path / "runner.err", os.O_WRONLY | os.O_CREAT, 0o600)
    process = runs._begin(str(path), (given, said, lock))
    for handle in (given, said, lock):
        os.close(handle)
    how = ended(path)
    process.wait(20)
    assert (how["why"], "pid" in how) == ("cut off", False)
    assert "node that started it fell" in how["words"]
    assert (path / "runner.err").read_text() == ""


def test_a_killed_runner_leaves_nothing_running_and_its_end_is_written_once(
    runs: Runs, run: str
) -> None:
    path = shell(runs, run, "setsid sh -c 'echo $$; sleep 1000' & cat")
    until(lambda: said(path))
    child = json.loads((path / "child.json").read_text())
    os.kill(child["runner"], signal.SIGKILL)
    until(lambda: not folder.alive(str(path)))
    later = Runs(str(path.parent.parent), runs.probe)
    assert later.unfinished() == [run]
    for _ in range(2):
        later.finish(run)
    assert ended(path)["why"] == "cut off"
    assert [line["k"] for line in lines(path)].count("exit") == 1
    assert later.unfinished() == []
    assert fence.kill_marked(run) == 0
    until(lambda: gone(child["pid"]))


def test_a_pid_that_has_changed_hands_is_left_alone(runs: Runs, run: str, tmp_path: Path) -> None:
    """BR-47, BR-64."""
    path = shell(runs, run, "cat")
    child = until(lambda: folder.read(str(path / "child.json")))
    os.kill(child["runner"], signal.SIGKILL)
    until(lambda: not folder.alive(str(path)))
    fence.kill_marked(run)
    bystander = os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "1000")
    try:
        folder.write(str(path / "child.json"), {**child, "pid": bystander, "child_pid": bystander})
        runs.finish(run)
        assert ended(path)["why"] == "cut off"
        assert not gone(bystander)
    finally:
        os.kill(bystander, signal.SIGKILL)
        os.waitpid(bystander, 0)


def test_another_quarterdeck_s_run_of_the_same_id_is_left_alone(
    runs: Runs, run: str, tmp_path: Path
) -> None:
    """BR-64."""
    (tmp_path / "other" / "trees" / "shop").mkdir(parents=True)
    other = Runs(str(tmp_path / "other"), runs.probe)
    theirs, ours = (shell(each, run, "setsid sleep 1000 & cat") for each in (other, runs))
    children = [until(lambda p=path: folder.read(str(p / "child.json"))) for path in (theirs, ours)]  # type: ignore[misc]
    try:
        os.kill(children[1]["runner"], signal.SIGKILL)
        until(lambda: not folder.alive(str(ours)))
        runs.finish(run)
        assert ended(ours)["why"] == "cut off"
        assert not gone(children[0]["pid"])
        assert folder.alive(str(theirs))
    finally:
        other.kill(run)
        until(other.reap)


def test_an_end_that_was_spooled_but_not_written_beside_is_taken_over(runs: Runs, run: str) -> None:
    path = shell(runs, run, "exit 3", kind="command")
    how = ended(path)
    until(lambda: not folder.alive(str(path)))
    (path / "exit.json").unlink()
    runs.finish(run)
    assert ended(path) == how


# ---- the desk's socket


def desk(path: Path) -> socket.socket:
    """Connect to a run's desk from outside, as the node's machine sees it."""
    made = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(path)
    try:
        made.connect("desk.sock")
    finally:
        os.chdir(here)
    return made


def ask(connection: socket.socket, number: int, tool: str, **arguments: Any) -> None:
    call = {"id": number, "tool": tool, "args": arguments}
    connection.sendall(json.dumps(call).encode() + b"\n")


def hear(connection: socket.socket, answers: int = 1) -> list[dict[str, Any]]:
    """Return the next answers at the desk."""
    connection.settimeout(20)
    data = b""
    while data.count(b"\n") < answers:
        data += connection.recv(65536)
    return [json.loads(line) for line in data.splitlines()]


def test_a_desk_call_goes_into_the_spool_and_its_reply_comes_back(runs: Runs, run: str) -> None:
    path = shell(runs, run, "cat", desk=True)
    until(lambda: folder.read(str(path / "child.json")))
    with desk(path) as connection:
        ask(connection, 7, "status")
        ask(connection, 8, "diff", piece=2)
        until(lambda: len(said(path, "desk")) == 2)
        assert said(path, "desk") == [
            {"call": "c1", "tool": "status", "args": {}},
            {"call": "c2", "tool": "diff", "args": {"piece": 2}},
        ]
        runs.input(run, "1", "desk", {"call": "c2", "text": "+ é" * 100_000})
        runs.input(run, "2", "desk", {"call": "c1", "text": "no such", "error": True})
        assert hear(connection, 2) == [
            {"id": 8, "text": "+ é" * 100_000, "error": False},
            {"id": 7, "text": "no such", "error": True},
        ]


def test_a_desk_call_made_while_nobody_answers_is_kept(runs: Runs, run: str) -> None:
    path = shell(runs, run, "cat", desk=True, call_s=0.2)
    until(lambda: folder.read(str(path / "child.json")))
    with desk(path) as connection:
        ask(connection, 1, "done", summary="all of it")
        assert hear(connection) == [{"id": 1, "text": KEPT, "error": False}]
        runs.input(run, "1", "desk", {"call": "c1", "text": "It landed."})
        until(lambda: len(said(path, "desk")) == 3)
    assert said(path, "desk") == [
        {"call": "c1", "tool": "done", "args": {"summary": "all of it"}},
        {"call": "c1", "kept": True},
        {"call": "c1", "late": True},
    ]


def test_a_desk_call_nested_too_deep_is_turned_down_and_never_spooled(runs: Runs, run: str) -> None:
    """How deep may be read is one number, not what is left of the reader's stack."""
    path = shell(runs, run, "cat", desk=True)
    until(lambda: folder.read(str(path / "child.json")))
    deep = "[" * (folder.MAX_NESTED + 1) + "]" * (folder.MAX_NESTED + 1)
    with desk(path) as connection:
        connection.sendall(f'{{"id": 1, "tool": "done", "args": {{"x": {deep}}}}}\n'.encode())
        (answer,) = hear(connection)
        assert "too deep" in answer["text"]
        assert answer["error"]
    assert said(path, "desk") == []


def test_a_reply_to_one_who_has_left_is_late(runs: Runs, run: str) -> None:
    path = shell(runs, run, "cat", desk=True)
    until(lambda: folder.read(str(path / "child.json")))
    with desk(path) as connection:
        ask(connection, 1, "status")
        until(lambda: said(path, "desk"))
    with desk(path) as other:  # once this one is answered the first is known to be gone
        other.sendall(b"junk\n")
        assert hear(other)[0]["error"]
    runs.input(run, "1", "desk", {"call": "c1", "text": "fine"})
    until(lambda: said(path, "desk")[1:] == [{"call": "c1", "late": True}])


@pytest.mark.parametrize(
    "junk", [b"[1]\n", b'{"id": 1}\n', b'{"tool": 3, "args": {}}\n', b"\xff\xfe\n"]
)
def test_junk_at_the_desk_is_answered_and_spools_nothing(runs: Runs, run: str, junk: bytes) -> None:
    path = shell(runs, run, "cat", desk=True)
    until(lambda: folder.read(str(path / "child.json")))
    with desk(path) as connection:
        connection.sendall(junk)
        assert hear(connection)[0]["error"]
    assert said(path, "desk") == []


def test_an_agent_reaches_its_desk_from_where_it_runs(runs: Runs, run: str) -> None:
    script = (
        f'exec {PYTHON} -I -S -c "import sys; sys.path.insert(0, sys.argv[1]); '
        f'from engine.node.desk import main; main(sys.argv[2:])" {code_folder()} '
        """ask-owner --json '{"question": "Which colour?"}'"""
    )
    path = shell(runs, run, script, desk=True, env={"QUARTERDECK_ROLE": "worker"})
    until(lambda: said(path, "desk") or said(path, "err"))
    assert said(path, "desk") == [
        {"call": "c1", "tool": "ask_owner", "args": {"question": "Which colour?"}}
    ]
    runs.input(run, "1", "desk", {"call": "c1", "text": "Asked the owner; end your turn."})
    assert ended(path)["code"] == 0
    assert said(path) == ["Asked the owner; end your turn."]


def test_a_run_that_printed_since_it_was_judged_is_not_ended(runs: Runs, run: str) -> None:
    """BR-67: what hung may ask its owner at that very moment."""
    path = shell(runs, run, "echo up; read go; echo asks; read answer; echo heard")
    until(lambda: said(path) == ["up"])
    judged = (path / "out.jsonl").stat().st_size
    runs.input(run, "1", "line", "go")
    until(lambda: said(path) == ["up", "asks"])
    assert runs.end(run, 0.0, unless_past=judged)["went_on"]
    runs.input(run, "2", "line", "yes")
    assert ended(path)["why"] == ""
    assert "went_on" not in runs.end(run, 0.0, unless_past=judged), "it is over"


def test_a_run_that_printed_nothing_since_is_ended_once_however_often_asked(
    runs: Runs, run: str
) -> None:
    path = shell(runs, run, "trap 'echo bye' TERM; echo up; while :; do sleep 0.05; done")
    until(lambda: said(path) == ["up"])
    judged = (path / "out.jsonl").stat().st_size
    assert "went_on" not in runs.end(run, 0.0, unless_past=judged)
    ended(path)
    assert "went_on" not in runs.end(run, 0.0, unless_past=judged)
