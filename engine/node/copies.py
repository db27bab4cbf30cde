"""The machine's copies of projects: bare repositories of ours that trees borrow objects from.

    copies/<project>.git            fetched from the hub commit by commit, never pruned
    copies/<project>.modules/       a store for each address its submodules come from

No agent can write here, so git runs plainly: from the hub without anybody's settings, for
submodules with the owner's own, since that is where credentials are. What names the submodules is
the base commit, which is the owner's: an address that an agent wrote is not followed.
Neighbour: engine/node/trees.py, which lays the trees.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import threading
import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

from engine.node import leftovers, points

LIMIT_S = 3600.0
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
_COMMIT = re.compile(r"^([0-9a-f]{40}|[0-9a-f]{64})$")
TAKEN = ("pool-", "making-", "gone-", "damaged-")
_TRANSIENT = ("could not resolve", "timed out", "connection refused", "connection reset", "hung up")

Fields = dict[str, Any]


class Failed(OSError):
    """It did not work this time; trying again may help."""


def refusal(sentence: str) -> Exception:
    """Return what serve.py answers as a "no". (Its module is too heavy for our short processes.)"""
    from engine.node.link import Refusal

    return Refusal(sentence)


# ---- git in the copies, which only we write

ENV = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "SSH_ASKPASS_REQUIRE": "never",
}
ALONE = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1"}
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.version=2",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "advice.detachedHead=false",
)
FETCH = (
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-prune",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
)


class Said(NamedTuple):
    """What a command printed and how it ended."""

    code: int
    out: bytes
    words: str


def git(
    at: str,
    *args: str,
    stdin: bytes = b"",
    config: Sequence[str] = (),
    env: dict[str, str] | None = None,
    fds: Sequence[int] = (),
) -> Said:
    """Run git in a repository of ours; what it starts gets `fds` too."""
    settings = [word for one in (*_SETTINGS, *config) for word in ("-c", one)]
    done = subprocess.run(
        ["git", *settings, "--git-dir", at, *args],
        input=stdin,
        capture_output=True,
        env={**os.environ, **ENV, **leftovers.MARKS, **(ALONE if env is None else env)},
        cwd="/",
        start_new_session=True,
        timeout=LIMIT_S,
        check=False,
        pass_fds=fds,
    )
    points.passed(f"git {args[0]} in a copy")
    return Said(done.returncode, done.stdout, text(done.stderr).strip())


def must(at: str, *args: str, **more: Any) -> Said:
    said = git(at, *args, **more)
    if said.code:
        raise Failed(f"git {args[0]} failed: {why(said.words)}")
    return said


def text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


def why(words: str) -> str:
    """Return git's own reason, an address's password taken out."""
    told = [line for line in words.splitlines() if line.strip() and not line.startswith("hint:")]
    return re.sub(r"(?<=://)[^/@\s']+@", "", "\n".join(told[-12:])) or "git said nothing"


# ---- copies


def update(home: str, args: Fields) -> Fields:
    """Make or complete the copy of a project so that it holds `commits`.

    hub      the path or address of the engine's clone
    base     the owner's own commit: submodules are fetched from the addresses it names, no others
    source   the address that relative submodule addresses start from
    """
    project, hub = name(args, "project"), string(args, "hub")
    commits = [commit_id(commit) for commit in args.get("commits", [])]
    base = commit_id(args["base"]) if args.get("base") else ""
    copy = path(home, project)
    with alone(copy):
        make_store(copy, commits[0] if commits else base)
        wanted = list(dict.fromkeys([*commits, *([base] if base else [])]))
        missing = [commit for commit in wanted if not kept(copy, commit)]
        if missing:
            fetch_commits(copy, hub, missing)
        if base:
            _Modules(home, project, string(args, "source", "")).bring(base, wanted)
    return {"copy": copy, "objects": os.path.join(copy, "objects"), "fetched": len(missing)}


def make_store(path: str, like: str) -> None:
    """Make an empty bare repository for commits whose ids are as long as `like`."""
    if os.path.isdir(path):
        return
    rough = f"{path}.{uuid.uuid4().hex}.new"
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    kind = "sha256" if len(like) == 64 else "sha1"
    must(rough, "init", "--quiet", "--bare", "--template=", f"--object-format={kind}", rough)
    for key, value in (("gc.auto", "0"), ("uploadpack.allowAnySHA1InWant", "true")):
        must(rough, "config", key, value)
    os.rename(rough, path)
    points.passed("copy made")


def kept(store: str, commit: str) -> bool:
    """Say whether a commit is there with all it needs: its ref is made when a fetch has ended.

    That the object is there proves nothing, since a fetch that was cut off may have left it.
    """
    return git(store, "rev-parse", "--quiet", "--verify", f"refs/at/{commit}").code == 0


def fetch_commits(
    store: str, url: str, commits: Sequence[str], serve: str = "", fds: Sequence[int] = ()
) -> None:
    """Fetch commits and note each as kept once all of it is there.

    serve   the command that serves them, in place of git here; `fds` are left open to it
    """
    here = "" if "://" in url else "git -c safe.directory=* upload-pack"
    served = [f"--upload-pack={serve or here}"] if serve or here else []
    said = git(
        store,
        *(*FETCH, *served, "--", url),
        *(f"+{commit}:refs/at/{commit}" for commit in commits),
        config=("protocol.file.allow=always",),
        env={},
        fds=fds,
    )
    if said.code:
        raise Failed(f"the project could not be copied: {why(said.words)}")


class _Modules:
    """A project's submodules: each address has a store of its own beside the copy."""

    def __init__(self, home: str, project: str, source: str) -> None:
        self._copy = path(home, project)
        self._folder = os.path.join(home, "copies", f"{project}.modules")
        self._source = source
        self._asked: set[tuple[str, str]] = set()

    def bring(self, base: str, commits: Sequence[str]) -> None:
        """Fetch what `base` names and, of its addresses, what the other commits need."""
        known: set[str] = set()
        self._walk(self._copy, base, self._source, known, grow=True)
        for commit in commits:
            self._walk(self._copy, commit, self._source, known, grow=False)

    def store(self, url: str) -> str:
        """Return where what is fetched from `url` lies."""
        digest = hashlib.sha256(url.encode("utf-8", "surrogateescape")).hexdigest()
        return os.path.join(self._folder, f"{digest[:20]}.git")

    def _walk(self, store: str, commit: str, source: str, known: set[str], grow: bool) -> None:
        for path, given, pinned in self.listed(store, commit):
            url = resolved(source, given)
            if grow:
                known.add(url)
            if url not in known or (url, pinned) in self._asked:
                continue
            self._asked.add((url, pinned))
            self._fetch(path, url, pinned)
            self._walk(self.store(url), pinned, url, known, grow)

    @staticmethod
    def listed(store: str, commit: str) -> list[tuple[str, str, str]]:
        """Return (path, address as given, commit) of each submodule at `commit`."""
        config = git(
            store, "config", "-z", f"--blob={commit}:.gitmodules", "--get-regexp", MODULE_KEYS
        )
        named = modules(config.out) if config.code == 0 else {}
        if not named:
            return []
        tree = must(store, "ls-tree", "-r", "-z", commit).out
        pinned = gitlinks(tree, 2)
        return [(path, url, pinned[path]) for path, (_, url) in named.items() if path in pinned]

    def _fetch(self, path: str, url: str, pinned: str) -> None:
        store = self.store(url)
        make_store(store, pinned)
        if kept(store, pinned):
            return
        # The owner's own git settings and credentials; git's own rule for what a submodule's
        # address may be (no path of this machine unless the owner allowed it).
        env = {"GIT_PROTOCOL_FROM_USER": "0"}
        said = git(store, *FETCH, "--", url, f"+{pinned}:refs/at/{pinned}", env=env)
        if said.code:  # some servers give out branches only
            said = git(store, *FETCH, "--", url, "+refs/heads/*:refs/heads/*", env=env)
            if said.code == 0:
                said = git(store, "update-ref", f"refs/at/{pinned}", pinned)
        if said.code:
            sentence = f"The submodule {path} ({url}) could not be fetched: {why(said.words)}"
            if any(mark in said.words.lower() for mark in _TRANSIENT):
                raise Failed(sentence)
            raise refusal(sentence)


MODULE_KEYS = r"^submodule\..*\.(path|url)$"


def modules(config: bytes) -> dict[str, tuple[str, str]]:
    """Return {path: (name, address)} from git config -z of a .gitmodules."""
    found: dict[str, dict[str, str]] = {}
    for entry in os.fsdecode(config).split("\0"):
        key, _, value = entry.partition("\n")
        name, _, what = key[len("submodule.") :].rpartition(".")
        if name:
            found.setdefault(name, {})[what] = value
    return {
        module["path"]: (name, module["url"])
        for name, module in found.items()
        if module.get("path") and module.get("url")
    }


def gitlinks(listing: bytes, column: int) -> dict[str, str]:
    """Return {path: commit} of the submodules in ls-tree (column 2) or ls-files -s (column 1)."""
    links = {}
    for entry in listing.split(b"\0"):
        about, _, path = entry.partition(b"\t")
        fields = about.split(b" ")
        if fields[0] == b"160000":
            links[os.fsdecode(path)] = fields[column].decode("ascii")
    return links


def resolved(source: str, url: str) -> str:
    """Return a submodule's address, a relative one from the address of what it is part of."""
    if not url.startswith(("./", "../")) or not source:
        return url
    base, rest = source.rstrip("/"), url
    while rest.startswith(("./", "../")):
        step, _, rest = rest.partition("/")
        if step == "..":
            head, slash, _ = base.rpartition("/")
            base = head if slash else base.rpartition(":")[0]
    return f"{base}/{rest}"


# ---- names and places


def string(args: Fields, key: str, default: str | None = None) -> str:
    value = args.get(key, default)
    if not isinstance(value, str) or "\0" in value or "\n" in value:
        raise refusal(f"{key} is missing, or no line of text.")
    return value


def name(args: Fields, key: str) -> str:
    value = args.get(key)
    if not isinstance(value, str) or not _NAME.match(value) or value.startswith(TAKEN):
        raise refusal(f"{value!r} cannot be the name of a {key}.")
    return value


def commit_id(value: object) -> str:
    if not isinstance(value, str) or not _COMMIT.match(value):
        raise refusal(f"{value!r} is no commit id.")
    return value


def path(home: str, project: str) -> str:
    """Return where a project's copy lies."""
    return os.path.join(home, "copies", f"{project}.git")


_locks: dict[str, threading.Lock] = {}


def alone(path: str) -> threading.Lock:
    """Return the lock of one copy, one tree or one pool: threads take turns there."""
    return _locks.setdefault(path, threading.Lock())
