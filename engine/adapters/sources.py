"""What the owner named as a project's source, looked at before anything is taken from it.

A path is one of the owner's own repositories: read, never written, its checkout least of all. An
address is asked with ls-remote. What cannot be worked with is refused in a sentence that says what
to do; what the owner should know goes into `notes`. Neighbour: engine/adapters/hub.py, which takes
the commits.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.adapters.git import Answer, git, without_password
from engine.codec import whole
from engine.errors import Refused, Unavailable

SHOWN_BRANCHES = 8
NOBODY: Final = ("Quarterdeck", "quarterdeck@localhost")

_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*://")
_SCP = re.compile(r"^[^/\\:\s]+:(?!:)")  # host:path, and not a remote helper's name::
_WITH_PASSWORD = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*://[^/@\s]*:[^/@\s]+@")
_TOKEN_AS_USER = re.compile(r"^https?://[^/@\s]+@")
_NOT_LET_IN = (
    "permission denied",
    "host key verification failed",
    "could not read from remote repository",
    "repository not found",
    "access denied",
    "authentication failed",
    "could not read username",
    "could not read password",
    "terminal prompts disabled",
    "error: 403",
)
_NO_USE_ASKING_AGAIN = (
    "authentication failed",
    "permission denied",
    "could not read username",
    "could not read password",
    "terminal prompts disabled",
    "host key verification failed",
    "repository not found",
    "does not appear to be a git repository",
    "not found",
    "error: 403",
    "access denied",
    "is not allowed",
    "not supported",
)


@dataclass(frozen=True)
class Source:
    """A repository that can be worked with."""

    source: str  # the path of its top folder, or its address
    is_path: bool
    base: str
    push_url: str  # "" = the repository itself
    push_branch_only: bool  # Push makes branch quarterdeck/<goal> there and touches no other
    notes: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()


class NoAccess(Refused):
    """The other side does not let us in, or we did not believe that it is who it should be."""


class NoBase(Refused):
    """It is not said which branch to work from; one of `branches`."""

    def __init__(self, sentence: str, branches: list[str]) -> None:
        super().__init__(sentence)
        self.branches = tuple(branches)


def is_address(source: str) -> bool:
    """Say whether git would reach `source` over a network (or a file:// address)."""
    return bool(_SCHEME.match(source) or _SCP.match(source))


def is_local(source: str) -> bool:
    """Say whether `source` lies on this machine."""
    return source.startswith("file://") or not is_address(source)


def is_final(words: str) -> bool:
    """Say whether git's words mean that asking again will not help."""
    return any(mark in words.lower() for mark in _NO_USE_ASKING_AGAIN)


def named(source: str) -> str:
    """Return what the owner named, if it may be kept: no password in it, nothing git takes for more."""
    source = source.strip()
    if not source or source.startswith("-") or "\0" in source or "\n" in source:
        raise Refused("Give the folder of a git repository, or its address.")
    if whole(source) != source:
        raise Refused(f"{whole(source)} is no UTF-8, so no card could show it: rename the folder.")
    if _WITH_PASSWORD.match(source) or _TOKEN_AS_USER.match(source):
        raise Refused(
            f"That address holds a password or token. Give it as {without_password(source)} and "
            "let git's credential helper, or SSH, sign in."
        )
    return source


def spelt(source: str) -> str:
    """Return a source as it is kept: a path whole, an address as it stands."""
    if is_address(source):
        return source
    return str(Path(os.path.expanduser(source)).absolute())


async def inspect(source: str, base: str | None, env: Mapping[str, str] | None = None) -> Source:
    """Return what `source` is; raises Refused for what cannot be worked with.

    env   how git signs in at an address, where that is not the box's own way
    """
    source = named(source)
    path = _on_disk(source)
    if path is not None:
        return await _folder(path, base)
    if is_address(source):
        return await _address(source, base, env or {})
    raise Refused(
        f"There is nothing at {source}. Give the folder of a git repository, or its address."
    )


def _on_disk(source: str) -> Path | None:
    """Return the path `source` is on this machine, or None if there is nothing."""
    path = Path(os.path.expanduser(source)).absolute()
    try:
        path.stat()
    except PermissionError as error:
        raise Refused(
            f"{path} may not be read by the user we run as. Let that user read it, or give another."
        ) from error
    except OSError:  # too long a name, for one
        return None
    return path


def _same(path: Path, other: Path) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)


def _from_top(top: Path, url: str) -> str:
    """Return where a remote given as a path lies: git reads it from the top folder."""
    return os.path.realpath(os.path.join(top, os.path.expanduser(url)))


async def identity(source: str) -> tuple[str, str]:
    """Return the name and address commits in this project are made with: the owner's own."""
    if is_address(source):
        at: tuple[str, ...] = ()
    else:
        at = ("-C", source)
    answers = [
        await git(*at, "config", "--get", key, remote=True, config=_TRUST, ok=None)
        for key in ("user.name", "user.email")
    ]
    name, email = (answer.line for answer in answers)
    return (name, email) if name and email else NOBODY


# ---- an address

_TRUST = ("safe.directory=*",)  # the owner named it, whoever owns the files


async def _address(source: str, base: str | None, env: Mapping[str, str]) -> Source:
    answer = await git(
        *("ls-remote", "--symref", "--", source, "HEAD", "refs/heads/*"),
        remote=True,
        local=is_local(source),
        env=env,
        ok=None,
    )
    if answer.code:
        _unreachable(source, answer)
    head, branches = _advertised(answer)
    if not branches:
        raise Refused(f"{source} is empty. Push a first commit to it, then add it again.")
    wanted = base or head
    if wanted is None or wanted not in branches:
        what = f"has no branch {base}" if base else "names no default branch"
        listed = _some(branches)
        raise NoBase(f"{source} {what}. Name one of its branches with --base: {listed}.", branches)
    return Source(source, False, wanted, source, False, branches=tuple(branches))


def _unreachable(source: str, answer: Answer) -> None:
    sentence = f"{source} could not be read. git says: {answer.why}"
    if any(mark in answer.words.lower() for mark in _NOT_LET_IN):
        hint = f"Try `git ls-remote {source}` as the user we run as"
        if not source.startswith("http"):
            hint += ", or add it from the chat, which makes a key for it: /projects add"
        raise NoAccess(f"{sentence}\n{hint}.")
    if is_final(answer.words):
        raise Refused(f"{sentence}\nTry `git ls-remote {source}` as the user we run as.")
    raise Unavailable(sentence)


def _advertised(answer: Answer) -> tuple[str | None, list[str]]:
    """Return the default branch and all branches of an ls-remote --symref."""
    head: str | None = None
    branches: list[str] = []
    for line in answer.out.decode("utf-8", "surrogateescape").splitlines():
        value, _, name = line.partition("\t")
        if value.startswith("ref: refs/heads/") and name == "HEAD":
            head = value.removeprefix("ref: refs/heads/")
        elif name.startswith("refs/heads/"):
            branches.append(name.removeprefix("refs/heads/"))
    return head, branches


def _some(branches: list[str]) -> str:
    shown = ", ".join(branches[:SHOWN_BRANCHES])
    more = len(branches) - SHOWN_BRANCHES
    text = shown if more <= 0 else f"{shown} and {more} more"
    return text.encode("utf-8", "backslashreplace").decode()


# ---- a folder


async def _folder(path: Path, base: str | None) -> Source:
    top = await _top(path)
    await _whole(top)
    branches = await _branches(top)
    on = await _try(top, "symbolic-ref", "-q", "--short", "HEAD")
    if not branches:
        raise Refused(f"{top} has no commit yet. Make a first one, then add it again.")
    if base is None and not on:
        raise NoBase(
            f"{top} is on no branch (its HEAD is detached). Name the branch to work from with "
            f"--base: {_some(branches)}.",
            branches,
        )
    wanted = base or on
    if wanted not in branches:
        given = base is not None
        raise NoBase(await _no_such_branch(top, wanted, branches, given=given), branches)
    push_url, said = await _origin(top)
    notes = [note for note in (said, *await _notes(top, wanted, on)) if note]
    kept = tuple(branches)
    return Source(str(top), True, wanted, push_url, not push_url, tuple(notes), kept)


async def _top(path: Path) -> Path:
    """Return the repository's own folder; a folder somewhere inside one is refused."""
    inside = await _ask(path, "rev-parse", "--is-bare-repository", "--absolute-git-dir", ok=None)
    if inside.code:
        if "not a git repository" in inside.words or "cannot change to" in inside.words:
            raise Refused(
                f"{path} is no git repository. Run `git init` there and commit, or give another."
            )
        raise Refused(f"{path} cannot be read as a git repository. git says: {inside.why}")
    bare, _, git_dir = os.fsdecode(inside.out).rstrip("\n").partition("\n")
    if bare == "true":
        top = Path(git_dir)
    else:
        shown = await _ask(path, "rev-parse", "--show-toplevel", ok=None)
        if shown.code:
            raise Refused(f"{path} is a repository's inner folder. Give the folder above it.")
        top = Path(os.fsdecode(shown.out).rstrip("\n"))
    if not _same(path, top):
        raise Refused(f"{path} lies inside the repository {top}. Give that folder instead.")
    return top


async def _whole(top: Path) -> None:
    shallow = await _ask(top, "rev-parse", "--is-shallow-repository")
    if shallow.line == "true":
        raise Refused(
            f"{top} is a shallow clone. Run `git fetch --unshallow` there, then add it again."
        )
    if await _try(top, "config", "--get", "extensions.partialClone"):
        raise Refused(f"{top} is a partial clone. Clone it whole, or give its address instead.")


async def _branches(top: Path) -> list[str]:
    answer = await _ask(top, "for-each-ref", "--format=%(refname)", "refs/heads")
    names = answer.out.decode("utf-8", "surrogateescape").splitlines()
    return [name.removeprefix("refs/heads/") for name in names]


async def _no_such_branch(top: Path, wanted: str, branches: list[str], *, given: bool) -> str:
    if not given:
        return (
            f"{top} is on branch {wanted}, which has no commit yet. Name another with --base: "
            f"{_some(branches)}."
        )
    remote = f"refs/remotes/origin/{wanted}"
    if await _try(top, "rev-parse", "-q", "--verify", remote):
        return (
            f"{top} has branch {wanted} only at its origin. Run `git branch {wanted} "
            f"origin/{wanted}` there, then add it again."
        )
    return f"{top} has no branch {wanted}. Its branches are {_some(branches)}."


async def _origin(top: Path) -> tuple[str, str]:
    """Return where Push goes ("": nowhere but the repository itself) and what to say of it."""
    urls = (await _try(top, "remote", "get-url", "--push", "--all", "origin")).splitlines()
    if not urls:
        return "", (
            "It has no remote named origin: Push makes a branch quarterdeck/<goal> in it, "
            "for you to merge."
        )
    url, said = urls[0], ""
    if len(urls) > 1:
        said = "Its origin has several push addresses: only the first is used."
    if _WITH_PASSWORD.match(url):
        url = without_password(url)
        said = (
            "Its origin's address holds a password, which we do not keep: "
            "Push signs in by git's credential helper."
        )
    if is_local(url) and not url.startswith("file://"):
        url = _from_top(top, url)
    return url, said


async def _notes(top: Path, base: str, on: str) -> list[str]:
    return [
        await _dirty(top),
        "" if on == base else f"Its checkout is on {on or 'no branch'}; agents start from {base}.",
        await _origin_ahead(top, base),
        await _not_at_origin(top, base),
        await _hooks(top),
        await _submodules(top, base),
    ]


async def _dirty(top: Path) -> str:
    answer = await _ask(top, "status", "--porcelain", "-z", ok=None, keep=4096)
    if answer.code or not answer.out:
        return ""
    return "Its checkout has changes that are not committed: agents do not see them."


async def _origin_ahead(top: Path, base: str) -> str:
    commits = await _commits(top, f"refs/heads/{base}..refs/remotes/origin/{base}")
    if not commits:
        return ""
    return f"origin's {base} is {commits} ahead of yours; agents start from yours as it stands."


async def _not_at_origin(top: Path, base: str) -> str:
    commits = await _commits(top, f"refs/remotes/origin/{base}..refs/heads/{base}")
    if not commits:
        return ""
    return f"Your {base} is {commits} ahead of origin's: Push sends that too."


async def _commits(top: Path, between: str) -> str:
    """Return how many commits that is, in words; "" for none, or where there is no such branch."""
    count = await _try(top, "rev-list", "--count", between)
    if count in ("", "0"):
        return ""
    return "1 commit" if count == "1" else f"{count} commits"


async def _hooks(top: Path) -> str:
    path = await _try(top, "config", "--local", "--get", "core.hooksPath")
    if not path:
        return ""
    return (
        f"Its git hooks ({path}) are inactive in agents' trees until the setup command installs "
        "them; the check runs all the same."
    )


async def _submodules(top: Path, base: str) -> str:
    listed = await _try(top, "ls-tree", "--name-only", f"refs/heads/{base}", "--", ".gitmodules")
    return "It has submodules: each tree gets them before its agent starts." if listed else ""


async def _ask(
    top: Path, *args: str, ok: tuple[int, ...] | None = (0,), keep: int = 1024 * 1024
) -> Answer:
    return await git("-C", str(top), *args, remote=True, config=_TRUST, ok=ok, keep=keep)


async def _try(top: Path, *args: str) -> str:
    """Return what git says, or nothing if it says no."""
    answer = await _ask(top, *args, ok=None)
    return "" if answer.code else answer.line
