"""The hub: one bare clone a project, written by the engine alone; no folder here is ever an agent's.

    hub/<project>.git
      refs/source/<base>              the owner's branch as it was last brought
      refs/heads/quarterdeck/...      lead branches: what pieces land in
      refs/quarantine/<piece>/<id>    a worker's commit, taken and not yet judged
      refs/remote/<base>              a remote's branch, fetched to ship

A landing is merge-tree, commit-tree, and update-ref with the old value: no checkout that could be
on the wrong branch, the same cost at any size, and the same commit id each time it is made. Every
method may be repeated: it finds the work done. Neighbours: git.py runs the processes, sources.py
judges what the owner named, engine/node/trees.py holds the other end of `collect`.
"""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.adapters import browse, sources
from engine.adapters.browse import Entry
from engine.adapters.deploy_keys import DeployKeys
from engine.adapters.git import LIMIT_S, LONG_S, Answer, git, shown, without_password
from engine.adapters.own_keys import OwnKeys
from engine.adapters.sources import Source, is_final, is_local
from engine.errors import Broken, Refused, Unavailable
from engine.rules import names, risks
from engine.rules.words import Stats

DIFF_BYTES = 8 * 1024 * 1024
FILE_BYTES = 16 * 1024 * 1024
STALE_LOCK_S = 60.0  # ours are held for milliseconds; an older one is a dead process's
NAME, EMAIL = sources.NOBODY
OTHER_HOST_KEY = (
    "Its host shows a key that was not accepted. To see it, add it again: /projects add NAME"
)

_COMMIT = re.compile(r"^([0-9a-f]{40}|[0-9a-f]{64})$")
_LOCK = re.compile(r"Unable to create '(?P<path>[^\n]+(?<!/index)\.lock)': File exists")
_FETCH: Final = (
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-prune",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-recurse-submodules",
    "--no-show-forced-updates",
)
_DIFF: Final = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none")
# Old but harmless faults in the history of many repositories; in new commits they stay errors.
_OLD_FAULTS: Final = tuple(
    f"fetch.fsck.{fault}=ignore"
    for fault in (
        "badTimezone",
        "missingEmail",
        "missingNameBeforeEmail",
        "missingSpaceBeforeDate",
        "missingSpaceBeforeEmail",
        "zeroPaddedDate",
        "zeroPaddedFilemode",
    )
)
# What says that the objects themselves are no good, and not the road they came by.
_BAD_OBJECTS = ("fsck error", "did not send all necessary objects", "shallow update", "bad tree")


@dataclass(frozen=True)
class MergeOutcome:
    """A lead branch's head and a piece's commit made one; nothing has moved."""

    commit: str  # what would land; "" = it cannot
    onto: str
    conflict_paths: tuple[str, ...] = ()
    failure: str = ""  # why it cannot land, git's words for a conflict
    contained: bool = False  # all of it is in the branch already: nothing to land


@dataclass(frozen=True)
class Quarantined:
    """A worker's commit, taken into the hub, or why it was not."""

    commit: str
    failure: str = ""


@dataclass(frozen=True)
class Taken:
    """What would be pushed, now that the remote was looked at."""

    remote_head: str  # "" = the branch is not there yet
    commit: str  # "" = it cannot be joined
    moved: bool = False  # the remote had more: `commit` is a new one, to be checked again
    failure: str = ""
    conflict_paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class PushOutcome:
    """How the remote stands after a push, by its own word."""

    landed: bool
    where: str
    moved: bool = False  # somebody else was faster
    words: str = ""  # the remote's, when it refused


class Hub:
    """All of a home's bare clones."""

    def __init__(self, home_hub: Path, keys: DeployKeys | None = None) -> None:
        """Take where they lie, and the keys that projects are reached with."""
        self._root = home_hub
        self.keys = keys or DeployKeys(
            OwnKeys(None, time.time), home_hub.with_name("deploy"), home_hub.with_name("run")
        )
        self._access = self.keys.signing_in
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    def path(self, project: str) -> Path:
        """Return where the project's clone lies; machines fetch their copies from it."""
        if not project or "/" in project or project.startswith(("-", ".")):
            raise Broken(f"{project!r} is no project's name")
        return self._root / f"{project}.git"

    # ---- what the owner named

    async def inspect(self, source: str, base: str | None, project: str = "") -> Source:
        """Return what can be worked with; raises Refused for what cannot."""
        async with self._access(project, source, only_if_open=True) as env:
            return await sources.inspect(source, base, env)

    async def identity(self, source: str) -> tuple[str, str]:
        """Return the name and address a session's commits are made with."""
        return await sources.identity(source)

    async def bring(self, project: str, source: str, base: str) -> str:
        """Take the owner's branch as it stands into the hub, and return its commit."""
        async with self._alone(project, "bring"):
            hub = await self._made(project)
            ref = f"refs/source/{base}"
            spec = f"+refs/heads/{base}:{ref}"
            async with self._access(project, source) as env:
                answer = await self._fetch(hub, source, spec, config=_OLD_FAULTS, env=env)
                if "mismatched algorithms" in answer.words:
                    await asyncio.to_thread(shutil.rmtree, hub)
                    hub = await self._made(project, object_format="sha256")
                    answer = await self._fetch(hub, source, spec, config=_OLD_FAULTS, env=env)
            if answer.code:
                raise self._not_brought(source, base, answer)
            return await self._id(hub, ref)

    def _not_brought(self, source: str, base: str, answer: Answer) -> Refused | Unavailable:
        source = without_password(source)
        if "couldn't find remote ref" in answer.words:
            return Refused(f"{source} has no branch {base} any more.")
        sentence = f"{base} could not be read from {source}. git says: {answer.why}"
        if "host key verification failed" in answer.words.lower():
            sentence += f"\n{OTHER_HOST_KEY} {source}"
        return Refused(sentence) if is_final(answer.words) else Unavailable(sentence)

    async def begin(self, project: str, goal: str, base_commit: str, title: str) -> str:
        """Make the goal's lead branch at `base_commit` and return its name; once, however often."""
        hub = self.path(project)
        async with self._alone(project, "move"):
            refs = [f"refs/heads/{names.PREFIX}{goal}{end}" for end in ("", "-*")]
            found = await git("for-each-ref", "--format=%(refname)", *refs, at=hub)
            if found.out:
                return found.line.splitlines()[0].removeprefix("refs/heads/")
            branch = names.lead_branch(goal, title)
            await self._update(hub, branch, _id(base_commit), "0" * len(base_commit))
            return branch

    async def read_file(self, project: str, commit: str, path: str) -> bytes | None:
        """Return a file's content at a commit; None for what is no regular file there."""
        hub = self.path(project)
        listed = await git("ls-tree", "-z", _id(commit), "--", path, at=hub)
        mode, _, rest = listed.out.decode("utf-8", "surrogateescape").partition(" ")
        if mode not in ("100644", "100755"):
            return None
        blob = rest.partition(" ")[2].partition("\t")[0]
        return (await git("cat-file", "blob", blob, at=hub, keep=FILE_BYTES)).out

    async def listed(self, project: str, commit: str) -> tuple[str, ...]:
        """Return the names in a commit's top folder, printable."""
        answer = await git("ls-tree", "-z", "--name-only", _id(commit), at=self.path(project))
        return tuple(shown(name) for name in answer.out.split(b"\0") if name)

    async def below(self, project: str, commit: str, *paths: str) -> list[Entry]:
        """Return all that lies at these paths of a commit, and below them."""
        return await browse.listing(self.path(project), _id(commit), *paths)

    async def contents(self, project: str, entries: Sequence[Entry]) -> dict[str, bytes]:
        """Return the bytes of files by their paths."""
        return await browse.contents(self.path(project), entries)

    # ---- landing

    async def collect(
        self,
        project: str,
        piece: str,
        branch: str,
        upload_pack: Sequence[str],
        tree_path: str,
        expected_commit: str,
    ) -> Quarantined:
        """Take the one commit a worker's branch ends in, if it is the one that was announced.

        upload_pack   the command that serves the tree's objects from inside its fence; nothing
                      of ours ever runs in the tree itself
        """
        if not branch.startswith(names.WORKER_PREFIX):
            raise Broken(f"{branch!r} is no worker's branch")
        hub, expected = self.path(project), _id(expected_commit)
        ref = f"refs/quarantine/{piece}/{expected}"
        if await self._find(hub, ref) == expected:
            return Quarantined(expected)
        answer = await self._fetch(
            hub, tree_path, f"+refs/heads/{branch}:{ref}", upload_pack=shlex.join(upload_pack)
        )
        got = await self._find(hub, ref)
        if got == expected:
            return Quarantined(expected)
        if got:
            await git("update-ref", "-d", ref, at=hub)
            return Quarantined(
                "", f"{branch} is at {got[:12]} now and not at {expected[:12]}, as was said"
            )
        if "couldn't find remote ref" in answer.words:
            return Quarantined("", f"{branch} is not there any more")
        if any(mark in answer.words.lower() for mark in _BAD_OBJECTS):
            return Quarantined("", f"its commits are damaged. git says: {answer.why}")
        raise Unavailable(f"{branch} could not be taken from its machine: {answer.why}")

    async def merge(self, project: str, branch: str, commit: str, message: str) -> MergeOutcome:
        """Join `commit` with the head of lead branch `branch`; the same two give the same one."""
        hub = self.path(project)
        return await self._join(hub, f"refs/heads/{branch}", _id(commit), message, branch)

    async def _join(
        self, hub: Path, onto_ref: str, commit: str, message: str, branch: str
    ) -> MergeOutcome:
        onto = await self._head(hub, onto_ref)
        # All that can be asked at once is, whether it will be needed or not: each is a process.
        pair, joined, dates = await asyncio.gather(
            git("rev-parse", f"{onto}^{{commit}}...{commit}^{{commit}}", at=hub),
            git(
                *("merge-tree", "--write-tree", "-z", "--name-only", "--messages", onto, commit),
                at=hub,
                ok=None,
            ),
            git("log", "--no-walk", "--format=%ct", onto, commit, at=hub),
        )
        commit, onto, *bases = pair.line.split()
        if f"^{commit}" in bases:
            why = f"there is nothing to land: {branch} has all of it already"
            return MergeOutcome(onto, onto, failure=why, contained=True)
        if f"^{onto}" in bases:
            return MergeOutcome(commit, onto)
        if not bases:
            return MergeOutcome("", onto, failure=f"it shares no history with {branch}")
        if joined.code == 1:
            paths, said = _conflict(joined.out)
            return MergeOutcome("", onto, paths, said)
        if joined.code:
            raise Unavailable(f"git merge-tree failed: {joined.why}")
        tree = joined.out.partition(b"\0")[0].decode("ascii")
        date = max(int(line) for line in dates.line.split())
        made = await git(
            *("commit-tree", tree, "-p", onto, "-p", commit, "-F", "-"),
            at=hub,
            env=_signature(date),
            stdin=_message(message),
        )
        return MergeOutcome(made.line, onto)

    async def _head(self, hub: Path, ref: str) -> str:
        """Return the commit a ref or an id names; a ref just written is a file of ours."""
        if _COMMIT.match(ref):
            return ref
        return _loose(hub, ref) or (await git("rev-parse", f"{ref}^{{commit}}", at=hub)).line

    async def land(self, project: str, branch: str, commit: str, onto: str) -> bool:
        """Move the lead branch from `onto` to `commit`; False if it is at neither."""
        hub = self.path(project)
        async with self._alone(project, "move"):
            return await self._update(hub, branch, _id(commit), _id(onto))

    async def tidy(self, project: str, branch: str, landed_in: str) -> bool:
        """Delete a branch whose commits are all in `landed_in`; False: they are not, it stays."""
        hub = self.path(project)
        async with self._alone(project, "move"):
            head = await self._find(hub, f"refs/heads/{branch}")
            if not head:
                return True
            target = _rev(landed_in)
            if not await self._find(hub, target) or not await self._contains(hub, target, head):
                return False
            await git("update-ref", "-d", f"refs/heads/{branch}", head, at=hub)
            return True

    # ---- what is shown of a change

    async def head(self, project: str, branch: str) -> str:
        """Return the commit a lead branch is at; "" if there is no such branch."""
        return await self._find(self.path(project), f"refs/heads/{branch}")

    async def stats(self, project: str, base: str, head: str) -> Stats:
        """Count commits without merges in base..head, files and lines of base...head."""
        hub, old, new = self.path(project), _rev(base), _rev(head)
        counted, lines = await asyncio.gather(
            git("rev-list", "--count", "--no-merges", f"{old}..{new}", at=hub),
            git(*_DIFF, "--numstat", "-z", "-M", f"{old}...{new}", at=hub),
        )
        return Stats(int(counted.line), *_numbers(lines.out))

    async def diff(self, project: str, base: str, head: str, path: str | None = None) -> str:
        """Return the change of base...head as text, of one path if given; cut at 8 MiB."""
        span = f"{_rev(base)}...{_rev(head)}"
        only = ["--", f":(literal,top){path}"] if path else []
        answer = await git(*_DIFF, "-M", span, *only, at=self.path(project), keep=DIFF_BYTES)
        text = shown(answer.out)
        return f"{text}\n… cut here: the rest is too long to show\n" if answer.cut else text

    async def changed(self, project: str, base: str, head: str) -> tuple[str, ...]:
        """Return the paths base...head touches, old and new names, printable."""
        return tuple(path for path, _ in await self._raw(project, base, head))

    async def risks(self, project: str, base: str, head: str) -> tuple[str, ...]:
        """Return a line for each thing in base...head that deserves a second look."""
        raw = await self._raw(project, base, head)
        return risks.marks(
            (path for path, _ in raw), [path for path, mode in raw if mode == "120000"]
        )

    async def _raw(self, project: str, base: str, head: str) -> list[tuple[str, str]]:
        span = f"{_rev(base)}...{_rev(head)}"
        answer = await git(*_DIFF, "--raw", "-z", "--no-renames", span, at=self.path(project))
        fields = answer.out.split(b"\0")
        return [
            (shown(path), about.split(b" ")[1].decode("ascii"))
            for about, path in zip(fields[::2], fields[1::2], strict=False)
        ]

    # ---- shipping

    async def remote_head(self, project: str, push_url: str, branch: str) -> str:
        """Return the commit a remote's branch is at, "" if it is not there."""
        ref = f"refs/heads/{branch}"
        answer = await self._ask(project, push_url, "ls-remote", *_served(push_url), to=ref)
        if answer.code:
            where = without_password(push_url)
            sentence = f"{where} could not be read. git says: {answer.why}"
            raise Refused(sentence) if is_final(answer.words) else Unavailable(sentence)
        for line in answer.out.decode("utf-8", "surrogateescape").splitlines():
            commit, _, name = line.partition("\t")
            if name == ref:
                return commit
        return ""

    async def may_push(self, project: str, push_url: str, branch: str, commit: str) -> str:
        """Ask the remote whether it would take a push, and send nothing; return its no, "" for yes."""
        words = ("push", "--dry-run", "--porcelain", "--no-verify", "--no-signed")
        answer = await self._ask(project, push_url, *words, to=f"{_id(commit)}:refs/heads/{branch}")
        return answer.why if answer.code else ""

    async def take_remote(
        self, project: str, push_url: str, base: str, head: str, message: str
    ) -> Taken:
        """Look at the remote's branch and join what it has beyond `head`; nothing is pushed."""
        hub, head = self.path(project), _id(head)
        async with self._alone(project, "remote"):
            seen = await self._remote(project, push_url, base)
        if not seen or await self._contains(hub, head, seen):
            return Taken(seen, head)
        made = await self._join(hub, seen, head, message, base)
        if made.contained:
            return Taken(seen, head)  # pushed before, and others went on from there
        if not made.commit:
            return Taken(seen, "", True, made.failure, made.conflict_paths)
        return Taken(seen, made.commit, moved=True)

    async def push(
        self, project: str, push_url: str, branch: str, commit: str, expected: str
    ) -> PushOutcome:
        """Push one commit to one branch, if that is still at `expected`; then read it back.

        expected   what `remote_head` said of this very branch; "" = it is not there
        """
        hub, commit = self.path(project), _id(commit)
        where = f"branch {branch} at {without_password(push_url)}"
        async with self._alone(project, "remote"):
            seen = await self._remote(project, push_url, branch)
            if seen and await self._contains(hub, seen, commit):
                return PushOutcome(True, where)
            if seen != expected:
                return PushOutcome(False, where, moved=True)
            if expected and not await self._contains(hub, commit, expected):
                why = f"it would drop commits of {branch}: {expected[:12]} is not in it"
                return PushOutcome(False, where, words=why)
            ref = f"refs/heads/{branch}"
            answer = await self._sent(project, push_url, commit, ref, expected)
            after = await self.remote_head(project, push_url, branch)
        if after == commit:
            return PushOutcome(True, where)
        if after != expected:
            return PushOutcome(False, where, moved=True)
        if answer.code == 0:
            return PushOutcome(False, where, words="the remote said yes and did not move")
        return PushOutcome(False, where, words=_refusal(answer))

    async def _sent(
        self, project: str, push_url: str, commit: str, ref: str, expected: str
    ) -> Answer:
        # A push that died here with the other end may have left two locks there: HEAD's, the branch's.
        for _ in range(3):
            answer = await self._ask(
                *(project, push_url),
                *("push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags"),
                *(f"--force-with-lease={ref}:{expected}", "--recurse-submodules=no"),
                to=f"{commit}:{ref}",
                limit_s=LONG_S,
            )
            there = Path(push_url.removeprefix("file://"))
            if not (is_local(push_url) and self._unlocked(there, answer)):
                break
        return answer

    async def _remote(self, project: str, url: str, branch: str) -> str:
        """Return the remote branch's head with its commits in the hub, "" if it is not there."""
        seen = await self.remote_head(project, url, branch)
        if not seen:
            return ""
        ref = f"refs/remote/{branch}"
        hub = self.path(project)
        if await self._find(hub, ref) == seen:
            return seen  # the ref is made when a fetch has ended; an object alone proves nothing
        spec = f"+refs/heads/{branch}:{ref}"
        async with self._access(project, url) as env:
            answer = await self._fetch(hub, url, spec, config=_OLD_FAULTS, env=env)
        if answer.code:
            raise self._not_brought(url, branch, answer)
        return await self._id(hub, ref)

    # ---- below

    def _alone(self, project: str, what: str) -> asyncio.Lock:
        """Return the lock for one kind of work in a project: a slow remote holds up no landing."""
        return self._locks.setdefault((project, what), asyncio.Lock())

    async def _made(self, project: str, object_format: str = "sha1") -> Path:
        """Return the project's clone, made empty if there is none."""
        hub = self.path(project)
        if hub.is_dir():
            return hub
        rough = hub.with_suffix(".making")
        await asyncio.to_thread(shutil.rmtree, rough, ignore_errors=True)
        rough.mkdir(mode=0o700, parents=True)
        await git(
            *("init", "--quiet", "--bare", "--template=", f"--object-format={object_format}"),
            *("--initial-branch=nothing", str(rough)),
        )
        # Machines ask for a commit by its id, whatever branch it is on.
        await git("config", "uploadpack.allowAnySHA1InWant", "true", at=rough)
        rough.rename(hub)
        return hub

    async def _ask(
        self, project: str, url: str, *words: str, to: str, limit_s: float = LIMIT_S
    ) -> Answer:
        """Have git speak with a project's remote, signed in as that wants; `to`: of which refs."""
        async with self._access(project, url) as env:
            return await git(
                *(*words, "--", url, to),
                at=self.path(project),
                remote=True,
                local=is_local(url),
                env=env,
                ok=None,
                limit_s=limit_s,
            )

    async def _fetch(
        self,
        hub: Path,
        url: str,
        spec: str,
        *,
        config: Sequence[str] = (),
        upload_pack: str = "",
        env: Mapping[str, str] | None = None,
    ) -> Answer:
        served = [f"--upload-pack={upload_pack}"] if upload_pack else _served(url)
        for _ in range(2):
            answer = await git(
                *(*_FETCH, *served, "--", url, spec),
                at=hub,
                remote=True,
                local=is_local(url),
                config=config,
                env=env,
                ok=None,
                limit_s=LONG_S,
            )
            if not self._unlocked(hub, answer):
                break
        return answer

    async def _update(self, hub: Path, branch: str, new: str, old: str) -> bool:
        """Swap a branch from `old` to `new`; True as well if it is there already."""
        ref = f"refs/heads/{branch}"
        for _ in range(2):
            answer = await git("update-ref", ref, new, old, at=hub, ok=None)
            if not self._unlocked(hub, answer):
                break
        if answer.code == 0:
            return True
        now = await self._find(hub, ref)
        if now == new:
            return True
        if now == old or (not now and not old.strip("0")):
            raise Unavailable(f"{branch} could not be moved: {answer.why}")
        return False

    def _unlocked(self, at: Path, answer: Answer) -> bool:
        """Take away the lock on a ref that a process which died left in our way; True: try again."""
        held = _LOCK.search(answer.words) if answer.code else None
        if held is None:
            return False
        path = Path(held["path"])
        with suppress(FileNotFoundError):
            if not path.is_relative_to(at) or time.time() - path.stat().st_mtime < STALE_LOCK_S:
                return False
            path.unlink()
        return True

    async def _find(self, hub: Path, rev: str) -> str:
        """Return the id of what `rev` names, "" if nothing."""
        answer = await git("rev-parse", "--quiet", "--verify", rev, at=hub, ok=(0, 1, 128))
        return answer.line if answer.code == 0 else ""

    async def _id(self, hub: Path, ref: str) -> str:
        found = await self._find(hub, f"{ref}^{{commit}}")
        if not found:
            raise Broken(f"{hub} has lost {ref}")
        return found

    async def _contains(self, hub: Path, whole: str, part: str) -> bool:
        answer = await git("merge-base", "--is-ancestor", part, whole, at=hub, ok=(0, 1))
        return answer.code == 0


def _id(commit: str) -> str:
    """Return `commit` if it is written as a whole id, and nothing else."""
    if not _COMMIT.match(commit):
        raise Broken(f"{commit!r} is no commit id")
    return commit


def _rev(name: str) -> str:
    """Return what git calls a commit id or a branch of the hub."""
    return name if _COMMIT.match(name) else f"refs/heads/{name}"


def _served(url: str) -> list[str]:
    """Return how a repository of this machine is read: whoever owns it, the owner named it."""
    return ["--upload-pack=git -c safe.directory=* upload-pack"] if is_local(url) else []


def _signature(date: int) -> dict[str, str]:
    """Return who made a merge and when: no clock, so that it has the same id when made again."""
    return {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", NAME), ("EMAIL", EMAIL), ("DATE", f"@{date} +0000"))
    }


def _message(text: str) -> bytes:
    return text.replace("\0", "").strip().encode("utf-8", "backslashreplace") + b"\n"


def _conflict(out: bytes) -> tuple[tuple[str, ...], str]:
    """Return the paths and the words of a merge-tree -z that found a conflict."""
    fields = iter(out.split(b"\0"))
    next(fields, None)  # the tree with the marks of the conflict in it
    paths = []
    for field in fields:
        if not field:
            break
        paths.append(shown(field))
    said = [text for kind, text in _messages(fields) if kind.startswith("CONFLICT")]
    return tuple(dict.fromkeys(paths)), "\n".join(said) or "it conflicts"


def _messages(fields: Iterator[bytes]) -> Iterator[tuple[str, str]]:
    """Yield (kind, words): each message is a count, that many paths, its kind, its words."""
    for count in fields:
        if not count.strip().isdigit():
            return
        for _ in range(int(count)):
            next(fields, None)
        yield shown(next(fields, b"")), shown(next(fields, b"")).strip()


def _loose(hub: Path, ref: str) -> str:
    """Return the commit that the file of a ref holds; "" if it is packed, or there is none."""
    try:
        held = (hub / ref).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return held if _COMMIT.match(held) else ""


def _numbers(out: bytes) -> tuple[int, int, int]:
    """Return (files, lines added, lines removed) of a diff --numstat -z."""
    files = added = removed = 0
    fields = iter(out.split(b"\0"))
    for field in fields:
        plus, _, rest = field.partition(b"\t")
        minus, _, path = rest.partition(b"\t")
        if not minus:
            continue
        files += 1
        added += int(plus) if plus.isdigit() else 0  # "-" for what is no text
        removed += int(minus) if minus.isdigit() else 0
        if not path:  # renamed: the old and the new name follow on their own
            next(fields, None)
            next(fields, None)
    return files, added, removed


def _refusal(answer: Answer) -> str:
    """Return the remote's words: the reason on its line of the report, and what it printed."""
    report = [line.split("\t")[-1] for line in shown(answer.out).splitlines() if line[:1] == "!"]
    said = [
        line.removeprefix("remote:").strip()
        for line in answer.words.splitlines()
        if line.startswith("remote:") and line.removeprefix("remote:").strip()
    ]
    return "\n".join([*report, *said]) or answer.why
