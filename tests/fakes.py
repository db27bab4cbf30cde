"""The outside, played in this process and on disk: a machine that needs no node and no agent.

`FakeMachine` answers what engine/node/serve.py answers, for as much as a goal needs. Its runs are
folders, as real ones are, so that they outlive the engine that started them: an agent goes as far as
it can each time something is put into its inbox, plays a scenario like engine/node/rehearse.py, and
makes real commits in a real clone. Nothing here waits, and nothing here can be half done.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from engine.adapters.machines import Chunk, NodeRefused
from engine.node import files, rehearse
from engine.node.link import PROTOCOL

Fields = dict[str, Any]

# What stands where the node's Python would: git adds the tree's path as the last word.
UPLOAD_PACK = """#!/bin/sh
for tree; do :; done
exec git upload-pack --strict "$tree/.git"
"""
NOBODY = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "A worker",
    "GIT_AUTHOR_EMAIL": "worker@localhost",
    "GIT_COMMITTER_NAME": "A worker",
    "GIT_COMMITTER_EMAIL": "worker@localhost",
}


def git(folder: Path, *arguments: str) -> str:
    """Run git as nobody in particular, blind to the person's own settings."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=NOBODY, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


class FakeMachine:
    """A machine whose runs are played by whoever asks for them."""

    def __init__(self, home: Path, scenario: Path, name: str = "here") -> None:
        self.name = name
        self._home = home
        self._parts = rehearse.load(str(scenario))
        self._changed: list[asyncio.Event] = []
        self._ops: dict[str, Callable[..., Fields]] = {
            "copy.update": lambda **_: {},
            "tree.ready": lambda **_: {"free": 0, "made": False},
            "tree.make": self._make,
            "tree.move": self._move,
            "tree.keep": self._keep,
            "tree.collect": self._collect,
            "tree.check_out": self._check_out,
            "tree.check_back": self._check_back,
            "tree.fresh": self._fresh,
            "tree.remove": self._remove,
            "files.lacks": lambda **given: files.lacks(str(self._home), given),
            "files.put": lambda **given: files.put(str(self._home), given),
            "run.start": self._start,
            "run.input": self._input,
            "run.end": self._end,
            "run.list": self._list,
            "run.pulse": self._pulse,
            "run.alone": lambda **_: {"left": []},
            "run.tail": self._tail,
            "runs.retain": lambda **_: {"packed": 0, "removed": 0, "more": False},
        }
        self._hello: Fields = {}

    # ------------------------------------------------------------ the link

    async def hello(self) -> Fields:
        if not self._hello:
            self._hello = self._about()
        return self._hello

    def _about(self) -> Fields:
        epoch = self._home / "node.epoch"
        number = int(epoch.read_text()) + 1 if epoch.exists() else 1
        epoch.write_text(str(number))
        serve = self._home / "upload-pack"
        if not serve.exists():
            serve.write_text(UPLOAD_PACK)
            serve.chmod(0o755)
        return {
            "protocol": PROTOCOL,
            "epoch": number,
            "fenced": True,
            "why": "fake",
            "agents": {},
            "home": str(self._home),
            "user_home": "/nonexistent",
            "path": os.environ["PATH"],
            "toolchains": [],
            "desk": [str(serve)],
            "rehearse": ["rehearse"],
        }

    async def call(self, op: str, **arguments: Any) -> Fields:
        await asyncio.sleep(0)  # a real one lets others have their turn
        answer = self._ops[op](**arguments)
        await asyncio.sleep(0)
        return answer

    async def bring(
        self, project: str, hub: Path, commits: Sequence[str], base: str = "", source: str = ""
    ) -> None:
        await self.call("copy.update")

    @asynccontextmanager
    async def serving(self, project: str, session: str) -> AsyncIterator[tuple[Sequence[str], str]]:
        command = [*(await self.hello())["desk"], "--session", session]
        yield command, str(self._tree(project, session))

    async def follow(self, run: str, offset: int) -> AsyncIterator[Chunk]:
        changed = asyncio.Event()
        self._changed.append(changed)
        try:
            folder = self._existing(run)
            while True:
                changed.clear()
                over = (folder / "exit.json").exists()
                data = (folder / "out.jsonl").read_bytes()[offset:]
                if data:
                    offset += len(data)
                    yield Chunk(data.split(b"\n")[:-1], offset)
                elif over:
                    return
                else:
                    await changed.wait()
        finally:
            self._changed.remove(changed)

    async def close(self) -> None:
        pass

    def power_cut(self) -> None:
        """End all that runs, as the node finds it when there is power again."""
        for folder in (self._home / "runs").iterdir():
            if not (folder / "exit.json").exists():
                _exit(folder, None, "cut off")

    def _tell(self) -> None:
        for changed in self._changed:
            changed.set()

    # ------------------------------------------------------------ trees

    def _tree(self, project: str, name: str) -> Path:
        return self._home / "trees" / project / name

    def _hub(self, project: str) -> Path:
        return self._home / "hub" / f"{project}.git"

    def _make(self, *, project: str, session: str, branch: str, commit: str, **_: Any) -> Fields:
        tree = self._tree(project, session)
        made = not tree.exists()
        if made:
            inside = tree / ".git"
            for folder in ("objects/info", "refs/heads"):
                (inside / folder).mkdir(parents=True)
            objects = self._hub(project) / "objects"
            (inside / "objects/info/alternates").write_text(f"{objects}\n")
            (inside / "config").write_text("[core]\n\trepositoryformatversion = 0\n")
            (inside / "HEAD").write_text(f"ref: refs/heads/{branch}\n" if branch else commit)
            if branch:
                git(tree, "update-ref", f"refs/heads/{branch}", commit)
                git(tree, "reset", "-q", "--hard")
        return {"tree": str(tree), "read": [], "made": made, "note": ""}

    def _move(self, *, project: str, session: str, commit: str) -> Fields:
        (self._tree(project, session) / ".git/HEAD").write_text(commit)
        return {"rescue": ""}

    def _keep(self, *, project: str, session: str) -> Fields:
        shutil.rmtree(self._tree(project, session), ignore_errors=True)
        return {"rescue": "", "commit": "", "note": ""}

    def _collect(self, *, project: str, session: str, branch: str, base: str) -> Fields:
        tree = self._existing_tree(project, session)
        head = git(tree, "rev-parse", f"refs/heads/{branch}")
        dirty = (tree / ".git/checking").exists()
        return {
            "head": head,
            "commits": int(head != base),
            "dirty": ["being checked"] if dirty else [],
            "failure": "",
        }

    def _existing_tree(self, project: str, session: str) -> Path:
        tree = self._tree(project, session)
        if not tree.exists():
            raise NodeRefused(f"There is no tree of {session} on this machine.")
        return tree

    def _check_out(self, *, project: str, session: str, commit: str) -> Fields:
        tree = self._existing_tree(project, session)
        (tree / ".git/checking").write_text(commit)
        return {"tree": str(tree), "read": [], "made": False}

    def _check_back(self, *, project: str, session: str) -> Fields:
        (self._existing_tree(project, session) / ".git/checking").unlink(missing_ok=True)
        return {}

    def _fresh(self, *, project: str, name: str, commit: str) -> Fields:
        tree = self._tree(project, name)
        shutil.rmtree(tree, ignore_errors=True)
        (tree / ".git").mkdir(parents=True)
        (tree / ".git/checking").write_text(commit)
        return {"tree": str(tree), "read": [], "made": True}

    def _remove(self, *, project: str, name: str) -> Fields:
        shutil.rmtree(self._tree(project, name), ignore_errors=True)
        return {}

    # ------------------------------------------------------------ runs

    def _existing(self, run: str) -> Path:
        folder = self._home / "runs" / run
        if not folder.is_dir():
            raise NodeRefused(f"There is no run {run} on this machine.")
        return folder

    def _state(self, folder: Path) -> Fields:
        over = folder / "exit.json"
        how = json.loads(over.read_text()) if over.exists() else None
        return {"run": folder.name, "alive": how is None, "exit": how}

    def _list(self, *, runs: list[str]) -> Fields:
        folders = [self._home / "runs" / run for run in runs]
        return {"runs": [self._state(folder) for folder in folders if folder.is_dir()]}

    def _pulse(self, *, run: str) -> Fields:
        spooled = (self._existing(run) / "out.jsonl").stat().st_size
        return {"spooled": spooled, "silent_s": 0.0}

    def _tail(self, *, run: str, length: int) -> Fields:
        data = (self._existing(run) / "out.jsonl").read_text()
        return {"data": data, "start": 0, "now": 0.0}

    def _start(self, *, spec: Fields, secrets: dict[str, str] | None = None) -> Fields:
        folder = self._home / "runs" / str(spec["run"])
        if folder.is_dir():
            return {**self._state(folder), "started": False}
        folder.mkdir(parents=True)
        (folder / "spec.json").write_text(json.dumps(spec))
        if spec["kind"] == "command":
            _check(folder, spec)
        else:
            _Played(self._home, folder, self._parts).go_on()
        self._tell()
        return {**self._state(folder), "started": True}

    def _input(self, *, run: str, key: str, kind: str, data: Any) -> Fields:
        folder = self._existing(run)
        if not (folder / "exit.json").exists():
            inbox = folder / "in.jsonl"
            seen = inbox.read_text().splitlines() if inbox.exists() else []
            if key not in [json.loads(line)["n"] for line in seen]:
                with inbox.open("a") as file:
                    file.write(json.dumps({"n": key, "k": kind, "d": data}) + "\n")
                _Played(self._home, folder, self._parts).go_on()
                self._tell()
        return self._state(folder)

    def _end(self, *, run: str, grace_s: float | None = None, unless_past: int = 0) -> Fields:
        folder = self._home / "runs" / run
        if not folder.is_dir():
            folder.mkdir(parents=True)
            _exit(folder, None, "not started")
        elif not (folder / "exit.json").exists():
            over = bool(_Played(self._home, folder, self._parts).state["over"])
            _exit(folder, 0 if over else None, "" if over else "killed")
        self._tell()
        return self._state(folder)


def _put(folder: Path, kind: str, said: object) -> None:
    spool = folder / "out.jsonl"
    with spool.open("ab") as file:
        number = spool.read_bytes().count(b"\n") + 1
        line = json.dumps({"n": number, "t": 0.0, "k": kind, "d": said})
        file.write(line.encode() + b"\n")


def _exit(folder: Path, code: int | None, why: str) -> None:
    how = {"code": code, "signal": None, "why": why, "words": ""}
    _put(folder, "exit", how)
    (folder / "exit.json").write_text(json.dumps(how))


def _check(folder: Path, spec: Fields) -> None:
    """Run a command where the checked commit's files would be."""
    tree = Path(spec["fence"]["tree"])
    if spec["run"].startswith("check-") and not (tree / ".git/checking").exists():
        raise NodeRefused("A check runs in a tree that was readied for it.")
    done = subprocess.run(spec["argv"], cwd=tree, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        _put(folder, "out", line)
    _exit(folder, done.returncode, "")


class _Played:
    """One agent's turn: the scenario's steps, as far as nobody has to be waited for."""

    def __init__(self, home: Path, folder: Path, parts: list[Fields]) -> None:
        self._folder = folder
        self._spec: Fields = json.loads((folder / "spec.json").read_text())
        self._role = self._spec["env"]["QUARTERDECK_ROLE"]
        self._file = folder / "agent.json"
        if self._file.exists():
            self.state: Fields = json.loads(self._file.read_text())
        else:
            self.state = self._begin(home, parts)

    def _begin(self, home: Path, parts: list[Fields]) -> Fields:
        """Take the prompt up, as a turn of the conversation the flags name."""
        (conversation,) = [
            word.partition("=")[2]
            for word in self._spec["argv"]
            if word.startswith(("--session-id=", "--resume="))
        ]
        log = home / "conversations" / f"{conversation}.json"
        log.parent.mkdir(exist_ok=True)
        prompt = json.loads(self._spec["first_lines"][0])["message"]["content"]
        text = prompt if isinstance(prompt, str) else "\n".join(part["text"] for part in prompt)
        said: list[str] = json.loads(log.read_text()) if log.exists() else []
        said.append(text)
        log.write_text(json.dumps(said))
        steps = next(
            part["steps"]
            for part in parts
            if rehearse.fits(part, self._role, said[0], text, len(said))
        )
        servers = [{"name": "quarterdeck", "status": "connected"}]
        self._line(type="system", subtype="init", session_id=conversation, mcp_servers=servers)
        return {"steps": steps, "at": 0, "asked": False, "over": False, "said": ""}

    def _line(self, **fields: object) -> None:
        _put(self._folder, "out", json.dumps(fields))

    def go_on(self) -> None:
        """Play on until something has to be waited for, or the turn is over."""
        state = self.state
        while state["at"] < len(state["steps"]) and self._step(state["steps"][state["at"]]):
            state["at"] += 1
            state["asked"] = False
        if state["at"] == len(state["steps"]) and not state["over"]:
            state["over"] = True
            end = {"subtype": "success", "is_error": False, "terminal_reason": "completed"}
            self._line(type="result", result=state["said"], total_cost_usd=0.01, **end)
        self._file.write_text(json.dumps(state))

    def _step(self, step: Fields) -> bool:
        """Do one step; false: its answer is not there yet."""
        match rehearse.verb_of(step):
            case "say":
                self.state["said"] = step["say"]
                block = {"type": "text", "text": step["say"]}
                self._line(type="assistant", message={"content": [block]})
            case "write":
                (self._tree / step["write"]["path"]).write_text(step["write"]["text"])
            case "commit":
                git(self._tree, "add", "-A")
                git(self._tree, "commit", "-q", "-m", step["commit"])
            case "desk":
                return self._ask_desk(step)
            case "permission":
                return self._ask_owner(step["permission"])
            case "hang":
                return False
            case "limit":
                info = {"status": "rejected", "rateLimitType": "five_hour"}
                info["resetsAt"] = step["limit"]["resets_at"]
                self._line(type="rate_limit_event", rate_limit_info=info)
                return self._refused("You've hit your limit", api_error="usage_limit_reached")
            case "api_error":
                status = step["api_error"]["status"]
                return self._refused(step["api_error"]["text"], api_error_status=status)
            case verb:
                raise ValueError(f"a fake agent cannot {verb}")
        return True

    def _refused(self, text: str, **more: object) -> bool:
        """End the turn as the model's service wants it ended."""
        self.state |= {"at": len(self.state["steps"]), "over": True}
        end = {"subtype": "success", "is_error": True, "terminal_reason": "api_error"}
        self._line(type="result", result=text, total_cost_usd=0.01, **end, **more)
        return False

    @property
    def _tree(self) -> Path:
        return Path(self._spec["fence"]["tree"])

    def _ask_desk(self, step: Fields) -> bool:
        call = f"c{self.state['at']}"
        if not self.state["asked"]:
            self.state["asked"] = True
            args = step.get("with", {})
            _put(self._folder, "desk", {"call": call, "tool": step["desk"], "args": args})
        return any(entry["k"] == "desk" and entry["d"]["call"] == call for entry in self._inbox())

    def _ask_owner(self, what: Fields) -> bool:
        request_id = f"q{self.state['at']}"
        if not self.state["asked"]:
            self.state["asked"] = True
            request = {"subtype": "can_use_tool", "tool_name": what["tool"], "input": what["input"]}
            self._line(type="control_request", request_id=request_id, request=request)
        answers = [json.loads(entry["d"]) for entry in self._inbox() if entry["k"] == "line"]
        return any(answer.get("response", {}).get("request_id") == request_id for answer in answers)

    def _inbox(self) -> list[Fields]:
        inbox = self._folder / "in.jsonl"
        lines = inbox.read_text().splitlines() if inbox.exists() else []
        return [json.loads(line) for line in lines]
