"""Git, as far as the engine can tell: commits are names, and what they hold is a set of changes.

`Git` is the truth and survives; `SimHub` is the engine's hand on it and dies with the engine. What
lands and what arrives at the remote is noted here, where it happens, and judged at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from engine.adapters.browse import Entry
from engine.adapters.hub import Hub, MergeOutcome, PushOutcome, Quarantined, Taken
from engine.adapters.sources import Source
from engine.errors import Unavailable
from engine.rules.words import Stats
from tests.simulation.disk import Disk

SETTINGS = b"[worktree]\ncheck = 'make test'\n"
SETTINGS_PATH = ".quarterdeck/settings.toml"
SOURCE = "/shop"
REMOTE = "/shop.git"
BASE = "b" * 40


@dataclass
class Git:
    """The owner's repository, the hub and the remote."""

    luck: Random
    checked: bool  # whether the project names a check
    past: dict[str, frozenset[str]] = field(default_factory=lambda: {BASE: frozenset([BASE])})
    red: set[str] = field(default_factory=set)
    passed: set[str] = field(default_factory=set)  # commits a check was green on, by the truth
    heads: dict[str, str] = field(default_factory=dict)
    remote: str = BASE
    joined: dict[tuple[str, str], str] = field(default_factory=dict)  # "" = they conflict
    landings: list[tuple[str, str, str]] = field(default_factory=list)  # branch, commit, onto
    pushes: list[str] = field(default_factory=list)
    is_checked: Callable[[str], bool] = lambda _goal: False  # whether its owner allowed a check
    allowed: dict[str, str] = field(default_factory=dict)  # commits the owner said Push to, of whom
    faults: list[str] = field(default_factory=list)
    trouble: float = 0.0  # how often it does not answer
    red_share: float = 0.0
    conflict_share: float = 0.0
    _count: int = 0

    def commit(self, onto: str, also: str = "") -> str:
        """Make a commit, or a merge, and draw whether its check will be green."""
        self._count += 1
        name = f"{'b' if also else 'c'}{self._count:039x}"
        self.past[name] = self.past[onto] | self.past.get(also, frozenset()) | {name}
        if self.luck.random() < self.red_share:
            self.red.add(name)
        return name

    def join(self, onto: str, commit: str) -> str:
        """Join two commits, always with the same outcome; "" where they conflict."""
        if onto in self.past[commit]:
            return commit
        if (onto, commit) not in self.joined:
            clash = self.luck.random() < self.conflict_share
            self.joined[onto, commit] = "" if clash else self.commit(onto, also=commit)
        return self.joined[onto, commit]

    def land(self, branch: str, commit: str, onto: str) -> None:
        """Move a lead's branch, if it still is where the merge was made for."""
        if self.heads[branch] != onto:
            return
        if self.is_checked(branch.partition("/")[2]) and commit not in self.passed:
            self.faults.append(f"{commit} lands though no check of that very tree passed")
        if commit in self.past[onto]:
            self.faults.append(f"{commit} lands twice")
        self.heads[branch] = commit
        self.landings.append((branch, commit, onto))

    def push(self, commit: str) -> None:
        if self.is_checked(self.allowed.get(commit, "")) and commit not in self.passed:
            self.faults.append(f"{commit} is pushed though no check of that very tree passed")
        if commit not in self.allowed:
            self.faults.append(f"{commit} is pushed before the owner said Push")
        self.remote = commit
        self.pushes.append(commit)

    def remote_moves(self) -> None:
        self.remote = self.commit(self.remote)


class SimHub(Hub):
    """What engine/adapters/hub.py does, as fast as it can be written down."""

    def __init__(self, root: Path, git: Git, disk: Disk) -> None:
        super().__init__(root)
        self._git = git
        self._disk = disk

    async def _at(self, what: str, *, over: bool = False) -> None:
        """Take a while, at a point where the engine may die or git may not answer."""
        self._disk.boundary(f"{'after' if over else 'before'} hub {what}")
        await asyncio.sleep(self._git.luck.random() * 0.5)
        self._disk.boundary(f"{'past' if over else 'at'} hub {what}")
        if self._git.luck.random() < self._git.trouble:
            raise Unavailable(f"git did not answer {what}")

    async def inspect(self, source: str, base: str | None, project: str = "") -> Source:
        return Source(SOURCE, True, "main", REMOTE, push_branch_only=False)

    async def identity(self, source: str) -> tuple[str, str]:
        return "A worker", "worker@localhost"

    async def bring(self, project: str, source: str, base: str) -> str:
        await self._at("bring")
        return BASE

    async def begin(self, project: str, goal: str, base_commit: str, title: str) -> str:
        await self._at("begin")
        branch = f"quarterdeck/{goal}"
        self._git.heads.setdefault(branch, base_commit)
        return branch

    async def below(self, project: str, commit: str, *paths: str) -> list[Entry]:
        return []

    async def read_file(self, project: str, commit: str, path: str) -> bytes | None:
        return SETTINGS if self._git.checked and path == SETTINGS_PATH else None

    async def listed(self, project: str, commit: str) -> tuple[str, ...]:
        return ()

    async def collect(
        self,
        project: str,
        piece: str,
        branch: str,
        upload_pack: Sequence[str],
        tree_path: str,
        commit: str,
    ) -> Quarantined:
        await self._at("collect")
        return Quarantined(commit)

    async def merge(self, project: str, branch: str, commit: str, message: str) -> MergeOutcome:
        await self._at("merge")
        onto = self._git.heads[branch]
        if commit in self._git.past[onto]:
            return MergeOutcome(onto, onto, failure="nothing to land", contained=True)
        joined = self._git.join(onto, commit)
        if not joined:
            return MergeOutcome("", onto, conflict_paths=("a.py",), failure="conflict in a.py")
        return MergeOutcome(joined, onto)

    async def land(self, project: str, branch: str, commit: str, onto: str) -> bool:
        await self._at("land")
        self._git.land(branch, commit, onto)
        await self._at("land", over=True)
        return self._git.heads[branch] == commit

    async def tidy(self, project: str, branch: str, landed_in: str) -> bool:
        await self._at("tidy")
        return True

    async def head(self, project: str, branch: str) -> str:
        return self._git.heads[branch]

    async def stats(self, project: str, base: str, head: str) -> Stats:
        await self._at("stats")
        more = self._git.past.get(head, frozenset()) - self._git.past.get(base, frozenset())
        return Stats(len(more), len(more), len(more), 0)

    async def diff(self, project: str, base: str, head: str, path: str | None = None) -> str:
        return "a diff"

    async def risks(self, project: str, base: str, head: str) -> tuple[str, ...]:
        return ()

    async def take_remote(
        self, project: str, push_url: str, branch: str, head: str, message: str
    ) -> Taken:
        await self._at("take_remote")
        remote = self._git.remote
        if remote in self._git.past[head] or head in self._git.past[remote]:
            return Taken(remote, head)
        joined = self._git.join(remote, head)
        if not joined:
            return Taken(remote, "", moved=True, conflict_paths=("a.py",))
        return Taken(remote, joined, moved=True)

    async def push(
        self, project: str, push_url: str, branch: str, commit: str, expected: str
    ) -> PushOutcome:
        await self._at("push")
        git = self._git
        if commit not in git.past[git.remote] and git.remote == expected:
            git.push(commit)
        await self._at("push", over=True)
        landed = commit in git.past[git.remote]
        return PushOutcome(landed, "main", moved=not landed)
