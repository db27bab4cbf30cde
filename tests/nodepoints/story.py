"""What is asked of a machine over a run's life, a step at a time, and what must be true after each.

    copy, ready, hand, make, setup, turn, warm, fresh, lead, never, keep, retain

Each step asks again whatever was not answered, and takes a run that was cut off up with another one, as
the engine does. It leaves no more behind than what lies there when nobody died.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.node import folder as run_folder
from engine.node.runs import code_folder
from tests.nodepoints.machine import Fault, Machine, Refused

BRANCH = "quarterdeck/worker-x"
TOKEN = "a-token"
LONG = run_folder.MAX_LINE + 7
TURNS = 6
DAY_S = 86_400.0

AGENT = r"""
import os, sys, _socket
def say(line):
    left = memoryview(line + b"\n")
    while left:
        left = left[os.write(1, left):]
os.posix_spawn("/bin/sleep", ["sleep", "1000"], os.environ, setsid=True)
with open(os.environ["STARTS"], "a") as starts:
    starts.write(os.environ["QUARTERDECK_RUN"] + "\n")
say(b"hello, " + os.environ.get("TOKEN", "nobody").encode())
say(b"caf\xe9")
say(b"x" * LONG)
say(b"heard " + sys.stdin.readline().strip().encode())
desk = _socket.socket(_socket.AF_UNIX)
os.chdir(os.path.dirname(os.environ["QUARTERDECK_DESK"]))
desk.connect("desk.sock")
desk.send(b'{"id": 1, "tool": "ask_owner", "args": {"question": "?"}}\n')
say(b"told " + desk.recv(65536).strip())
say(b"heard " + sys.stdin.readline().strip().encode())
""".replace("LONG", str(LONG))

ANSWER = {"id": 1, "text": "Blue.", "error": False}
SPOKEN = (
    f"hello, {TOKEN}",
    "caf\ufffd",
    "x" * run_folder.BLOB_START,
    "heard go on",
    f"told {json.dumps(ANSWER)}",
    "heard end",
)

# What may lie in the folder of a run that is over.
_OF_A_RUN = {
    "blobs", "child.json", "desk.sock", "exit.json", "in.jsonl", "lock", "out.jsonl",
    "out.jsonl.gz", "poke", "runner.err", "spec.json",
}  # fmt: skip
_ODD = re.compile(r"\.new|^gone-|^\.gone-|^making-|^damaged-|^tmp_|\.lock$")


class World:
    """One play of one step: the machine, and what is known from the steps before."""

    def __init__(self, machine: Machine, known: dict[str, str]) -> None:
        self.machine = machine
        self.known = known
        self.folder = machine.folder
        self.home = machine.home
        self.starts = machine.folder / "starts"
        self.ran: list[str] = []  # runs that came to an end of their own

    def ask(self, op: str, **arguments: Any) -> dict[str, Any]:
        return self.machine.ask(op, **arguments)

    # ---- runs

    def spec(self, run: str, argv: list[str], tree: str, **more: Any) -> dict[str, Any]:
        env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "STARTS": str(self.starts),
        }
        place = self.home / "sessions" / run.partition("-t")[0]
        view = {"tree": tree, "tmp": str(place / "tmp")}
        return {"run": run, "argv": argv, "env": env, "fence": view, **more}

    def begin(self, spec: dict[str, Any], secrets: dict[str, str] | None = None) -> None:
        """Start a run unless it was started before, and follow it."""
        run = spec["run"]
        while True:
            found = self.ask("run.list", runs=[run])["runs"]
            if not any(state["alive"] or state["exit"] is not None for state in found):
                self.ask("run.start", spec=spec, secrets=secrets or {})
            try:
                self.machine.follow(run)
            except Refused:
                continue
            return

    def ended(self, run: str) -> dict[str, Any]:
        """Read a run to its end; return how it ended, having judged all it said."""
        machine = self.machine
        machine.read(run, lambda lines: False)
        lines = machine.lines(run)
        exits = [line["d"] for line in lines if line["k"] == "exit"]
        must(len(exits) == 1, f"{run} ended {len(exits)} times")
        must(lines[-1]["k"] == "exit", f"{run} said something after its end")
        numbers = [line["n"] for line in lines]
        must(numbers == list(range(1, len(lines) + 1)), f"{run} has the lines {numbers}")
        path = self.home / "runs" / run
        must(bytes(machine.spools[run]) == (path / "out.jsonl").read_bytes(), "what was read of it")
        must(json.loads((path / "exit.json").read_text()) == exits[0], f"{run} ended in two ways")
        how: dict[str, Any] = exits[0]
        if how["why"] != "cut off":
            self.ran.append(run)
        return how

    def said(self, run: str) -> list[str]:
        return [line["d"] for line in self.machine.lines(run) if line["k"] in ("out", "err")]

    def command(self, name: str, script: str, tree: str, spoken: list[str]) -> str:
        """Run a command of the project's until it was not cut off; return the run's name."""
        for turn in range(1, TURNS):
            run = f"{name}-{turn}"
            script_in_full = f'echo "$QUARTERDECK_RUN" >> "$STARTS"; {script}'
            argv = ["/bin/sh", "-c", script_in_full]
            self.begin(self.spec(run, argv, tree, kind="command", limit_s=60))
            how = self.ended(run)
            said = self.said(run)
            must(said == spoken[: len(said)], f"{run} said {said}")
            if how["why"] == "cut off":
                continue
            must((how["code"], how["why"]) == (0, ""), f"{run} ended so: {how}")
            must(said == spoken, f"{run} said {said}")
            return run
        raise Fault(f"{name} was cut off again and again")


def must(true: bool, words: str) -> None:
    if not true:
        raise Fault(words)


# ---- the steps


def lay(folder: Path) -> dict[str, str]:
    """Make what lies around the machine: the hub, the owner's checkout, an account's login."""
    repo = folder / "repo"
    repo.mkdir()

    def git(*words: str) -> str:
        who = ("-c", "user.name=Q", "-c", "user.email=q@localhost", "-c", "init.defaultBranch=main")
        done = subprocess.run(
            ["git", *who, "-C", str(repo), *words], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    git("init", "-q")
    known = {}
    for name in ("first", "second"):
        (repo / name).write_text(name)
        git("add", "-A")
        git("commit", "-q", "-m", name)
        known[name] = git("rev-parse", "HEAD")
    git("clone", "-q", "--bare", str(repo), str(folder / "hub.git"))
    (repo / "node_modules").mkdir()
    (repo / "node_modules/pad.js").write_text("pad")
    (folder / "account").mkdir()
    (folder / "account/login.json").write_text("a login")
    (folder / "starts").touch()
    (folder / "home").mkdir(mode=0o700)
    return known


def copy(world: World) -> None:
    first, hub = world.known["first"], str(world.folder / "hub.git")
    world.ask("copy.update", project="shop", hub=hub, commits=[first], base=first)
    must(
        world.ask("copy.lacks", project="shop", commits=[first])["lacks"] == [], "the copy lacks it"
    )


def ready(world: World) -> None:
    made = world.ask("tree.ready", project="shop", commit=world.known["first"], count=1)
    must(made["free"] == 1, f"{made['free']} trees are free")


def hand(world: World) -> None:
    data = b"see the picture"
    for _ in range(TURNS):
        wanted = [{"name": "notes.txt", "size": len(data)}]
        if not world.ask("files.lacks", session="s-1", files=wanted)["lacks"]:
            break
        for offset in (0, 8):
            part = {
                "session": "s-1",
                "name": "notes.txt",
                "sha256": hashlib.sha256(data).hexdigest(),
                "size": len(data),
                "offset": offset,
                "data": base64.b64encode(data[offset : offset + 8]).decode(),
            }
            answer = world.machine.try_once("files.put", **part)
            if answer is None or "ok" not in answer:
                break  # the engine begins anew with what is lacking
    place = world.home / "sessions/s-1"
    must((place / "files/notes.txt").read_bytes() == data, "the file came otherwise")
    world.ask(
        "session.login", session="s-1", source=str(world.folder / "account"), name="login.json"
    )
    must((place / "config/login.json").read_text() == "a login", "the login came otherwise")


def make(world: World) -> None:
    known = world.known
    made = world.ask(
        "tree.make", project="shop", session="s-1", branch=BRANCH, commit=known["first"],
        name="Q", email="q@localhost",
    )  # fmt: skip
    must(made.get("note", "") == "", f"a sound tree: {made.get('note')}")
    known["tree"] = made["tree"]
    paths = ["node_modules"]
    filled = world.ask(
        "tree.fill", project="shop", session="s-1", paths=paths, source=str(world.folder / "repo")
    )
    must(filled["note"] == "", f"not all was copied: {filled['note']}")
    tree = Path(known["tree"])
    must((tree / "first").read_text() == "first", "the tree holds something else")
    must((tree / "node_modules/pad.js").read_text() == "pad", "what was copied is not there")
    must(not (tree / ".git/quarterdeck-copy").exists(), "half a copy is left")


def setup(world: World) -> None:
    script = "echo setting up; git commit -q --allow-empty -m work && echo made"
    world.command("s-1-t1-setup", script, world.known["tree"], ["setting up", "made"])
    world.ask("tree.set_up", project="shop", session="s-1")


def turn(world: World) -> None:
    machine = world.machine
    python = [os.path.realpath(sys.executable), "-I", "-S", "-c", AGENT]
    for number in range(1, TURNS):
        run = f"s-1-t{number}"
        spec = world.spec(run, python, world.known["tree"], kind="agent", desk=True, end_line="end")
        world.begin(spec, {"TOKEN": TOKEN})
        _talk(world, run)
        how = world.ended(run)
        said = world.said(run)
        said = [line for line in said if not line.startswith(("Traceback", " ", "BrokenPipe"))]
        must(said == list(SPOKEN[: len(said)]), f"{run} said {said}")
        if how["why"] == "cut off":
            continue
        must((how["code"], how["why"]) == (0, ""), f"{run} ended so: {how}")
        must(said == list(SPOKEN), f"{run} said {said}")
        bad = [line["d"] for line in machine.lines(run) if line.get("bad")]
        must(bad == [SPOKEN[1]], "what was no text is marked")
        _read_blob(world, run)
        return
    raise Fault("the turn was cut off again and again")


def _talk(world: World, run: str) -> None:
    """Say to an agent what it waits for, as far as it gets."""
    machine = world.machine

    def has(kind: str, words: str) -> Callable[[list[dict[str, Any]]], bool]:
        return lambda lines: any(
            line["k"] == kind and words in json.dumps(line["d"]) for line in lines
        )

    if not machine.read(run, lambda lines: any("blob" in line for line in lines)):
        return
    world.ask("run.input", run=run, key="1", kind="line", data="go on")
    if not machine.read(run, has("desk", "ask_owner")):
        return
    reply = {"call": "c1", "text": "Blue."}
    world.ask("run.input", run=run, key="desk-c1", kind="desk", data=reply)
    if not machine.read(run, has("out", "told")):
        return
    world.ask("run.end", run=run, grace_s=20.0)


def _read_blob(world: World, run: str) -> None:
    (marker,) = [line for line in world.machine.lines(run) if "blob" in line]
    part = world.ask("run.blob", run=run, name=marker["blob"], offset=LONG - 3, length=9)
    must(base64.b64decode(part["data"]) == b"xxx", "the long line came otherwise")
    must((marker["size"], part["size"]) == (LONG, LONG), "the long line is cut")


def warm(world: World) -> None:
    collected = world.ask(
        "tree.collect", project="shop", session="s-1", branch=BRANCH, base=world.known["first"]
    )
    must(collected["failure"] == "", f"its tree: {collected['failure']}")
    must(collected["commits"] >= 0 and bool(collected["head"]), "there is nothing to land")
    world.known["head"] = head = collected["head"]
    out = world.ask("tree.check_out", project="shop", session="s-1", commit=world.known["first"])
    world.command("check-p-1", "cat first && echo && git rev-parse HEAD", out["tree"],
                  ["first", world.known["first"]])  # fmt: skip
    back = world.ask("tree.check_back", project="shop", session="s-1")
    on = (Path(back["tree"]) / ".git/HEAD").read_text().strip()
    must(on == f"ref: refs/heads/{BRANCH}", f"the tree came back on {on}")
    again = world.ask(
        "tree.collect", project="shop", session="s-1", branch=BRANCH, base=world.known["first"]
    )
    must(again["head"] == head, "the check moved the worker's branch")


def fresh(world: World) -> None:
    commit = world.known["first"]
    made = world.ask("tree.fresh", project="shop", name="check-r-1", commit=commit)
    world.command("check-r-1", "cat first; echo; ls", made["tree"], ["first", "first"])
    world.ask("tree.remove", project="shop", name="check-r-1")
    must(not Path(made["tree"]).exists(), "the tree is there still")


def lead(world: World) -> None:
    known = world.known
    made = world.ask(
        "tree.make", project="shop", session="s-2", branch="", commit=known["first"],
        name="Q", email="q@localhost",
    )  # fmt: skip
    (Path(made["tree"]) / "stray").write_text("of the lead")
    commits = [known["second"]]
    hub = str(world.folder / "hub.git")
    world.ask("copy.update", project="shop", hub=hub, commits=commits, base=known["first"])
    world.ask("tree.move", project="shop", session="s-2", commit=known["second"])
    tree = Path(made["tree"])
    must(
        (tree / ".git/HEAD").read_text().strip() == known["second"], "the lead's tree is elsewhere"
    )
    must((tree / "second").exists(), "the lead's tree lacks a file")
    must(not (tree / "stray").exists(), "the lead's tree is not clean")


def never(world: World) -> None:
    world.ask("run.end", run="s-3-t1", grace_s=1.0)
    spec = world.spec("s-3-t1", ["/bin/sh", "-c", "echo $QUARTERDECK_RUN >> $STARTS"], "")
    world.begin(spec)
    how = world.ended("s-3-t1")
    must(how["why"] == "not started", f"a run that was never to start: {how}")
    must("before it started" in how["words"], f"why it never started: {how}")
    must("s-3-t1" not in world.starts.read_text(), "it was started all the same")
    world.ran.remove("s-3-t1")
    argv = ["/bin/sh", "-c", 'trap "" TERM HUP; echo $QUARTERDECK_RUN >> $STARTS; sleep 1000']
    world.begin(world.spec("s-4-t1", argv, "", kind="agent"))
    world.ask("run.kill", run="s-4-t1")
    how = world.ended("s-4-t1")
    # Where its runner had died before it, the kill came to a run that had not begun.
    begun = "s-4-t1" in world.starts.read_text()
    must(
        how["why"] in (("stopped", "cut off") if begun else ("stopped", "cut off", "not started")),
        f"a run that was killed: {how}",
    )
    if "s-4-t1" in world.ran:
        world.ran.remove("s-4-t1")


def keep(world: World) -> None:
    (Path(world.known["tree"]) / "unsaved").write_text("unsaved")
    kept = world.ask("tree.keep", project="shop", session="s-1")
    must(kept["rescue"] == "quarterdeck/rescue-s-1", f"unsaved work: {kept}")
    copied = ["git", "--git-dir", str(world.home / "copies/shop.git")]
    shown = subprocess.run(
        [*copied, "show", f"{kept['rescue']}:unsaved"], capture_output=True, text=True, check=False
    )
    must(shown.stdout == "unsaved", f"what was unsaved is not in {kept['rescue']}")
    world.ask("tree.keep", project="shop", session="s-2")
    trees = os.listdir(world.home / "trees/shop")
    must(not {"s-1", "s-2"} & set(trees), f"the trees are there still: {trees}")


def retain(world: World) -> None:
    runs = world.home / "runs"
    then = time.time() - 8 * DAY_S
    names = sorted(name for name in os.listdir(runs) if name.startswith(("s-1", "check")))
    for name in names:
        if (runs / name / "exit.json").exists():
            os.utime(runs / name / "exit.json", (then, then))
    order: dict[str, Any] = {"kept": ["s-2"], "packed_days": 7, "gone_days": 90}
    while world.ask("runs.retain", **order)["more"]:
        pass
    for name in names:
        left = set(os.listdir(runs / name))
        must("out.jsonl" not in left and "out.jsonl.gz" in left, f"{name} is not packed: {left}")
    world.ask("run.remove", run="s-4-t1")
    then = time.time() - 99 * DAY_S
    for name in names:
        os.utime(runs / name / "exit.json", (then, then))
    while world.ask("runs.retain", **order)["more"]:
        pass
    must(os.listdir(runs) == ["s-3-t1"], f"runs are there still: {os.listdir(runs)}")


STEPS: tuple[Callable[[World], None], ...] = (
    copy, ready, hand, make, setup, turn, warm, fresh, lead, never, keep, retain,
)  # fmt: skip


# ---- what must be true after any of them


def judge(world: World) -> None:
    """Raise Fault for what is left of a death, and for a run that was started twice."""
    started = world.starts.read_text().split()
    twice = sorted({run for run in started if started.count(run) > 1})
    must(not twice, f"started twice: {', '.join(twice)}")
    missing = [run for run in world.ran if run not in started]
    must(not missing, f"ended, and never started: {', '.join(missing)}")
    odd = sorted(_left(world.home))
    must(not odd, f"left behind: {', '.join(odd)}")
    said = (world.folder / "node.err").read_text()
    must(not said, f"the node said: {said}")


def _left(home: Path) -> list[str]:
    """Return what lies below the home and should not."""
    found = [str(path.relative_to(home)) for path in _ours(home) if _ODD.search(path.name)]
    found.remove("node.lock")
    runs = home / "runs"
    for run in runs.iterdir() if runs.exists() else ():
        found += [f"runs/{run.name}/{name}" for name in set(os.listdir(run)) - _OF_A_RUN]
        if not (run / "exit.json").exists():
            found.append(f"runs/{run.name} has no end")
        err = run / "runner.err"
        if err.exists() and err.stat().st_size:
            found.append(f"runs/{run.name}: {err.read_text()[-600:]}")
    return found


def _ours(home: Path) -> list[Path]:
    """Every path of ours: of a tree only its name, which is its agent's inside."""
    found = []
    for folder, names, files in os.walk(home):
        at = Path(folder)
        if at.parent.parent == home / "trees":
            names[:] = []
            continue
        found += [at / name for name in (*names, *files)]
    return found


CODE = code_folder()
