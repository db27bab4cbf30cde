"""What the hubs and the remote must hold in the end: each piece once, pushed once, nothing beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import CalledProcessError

from engine.rules.goal_state import Stage
from tests.fakes import git
from tests.history.scene import Expected, Scene, Span

# Git writes HEAD's own log once the branch has moved, so that dying there leaves a push that is done and this
# lock. It is not ours; it goes with the next push it stands in the way of (engine/adapters/hub.py).
HEAD_LOCK = "HEAD.lock"


def of_repositories(scene: Scene, expected: Expected) -> Iterator[str]:
    for span in expected.spans:
        yield from _commits(span)
        yield from _landed_again(span)
    if scene.remote is not None:
        yield from _whole(scene.remote, spared=HEAD_LOCK)
        yield from _remote(scene, scene.remote, expected)
    if scene.hubs is not None:
        for hub in sorted(scene.hubs.glob("*.git")):
            yield from _whole(hub)
            if scene.ledger is not None:
                yield from _tidied(scene, hub, expected)


def _whole(repository: Path, spared: str = "") -> Iterator[str]:
    locks = (lock for lock in repository.rglob("*.lock") if lock.name != spared)
    yield from (f"a lock was left: {lock}" for lock in locks)
    try:
        git(repository, "fsck", "--strict", "--connectivity-only")
    except CalledProcessError as fault:
        yield f"{repository.name} is damaged: {fault.stderr}"


def _commits(span: Span) -> Iterator[str]:
    how = ("--first-parent", "--reverse") if span.first_parent else ("--no-merges",)
    found = git(span.repository, "log", *how, "--format=%s", span.where).splitlines()
    there, wanted = Counter(found), Counter(span.subjects)
    for subject in wanted | there:
        if there[subject] != wanted[subject]:
            times = f"{there[subject]} times, not {wanted[subject]}"
            yield f"{span.repository.name} has “{subject}” {times}, in {span.where}"
    if span.first_parent and there == wanted and found != list(span.subjects):
        yield f"{span.repository.name} has them in another order: {found}"


def _landed_again(span: Span) -> Iterator[str]:
    """No merge takes in what was in before: that is how a second landing of a piece shows."""
    for line in git(span.repository, "log", "--merges", "--format=%H %P", span.where).splitlines():
        merge, onto, *taken = line.split()
        for commit in taken:
            if _has(span.repository, onto, commit):
                yield f"{span.repository.name}: {merge[:12]} lands {commit[:12]} a second time"


def _has(repository: Path, branch: str, commit: str) -> bool:
    return git(repository, "merge-base", branch, commit) == commit


def _remote(scene: Scene, remote: Path, expected: Expected) -> Iterator[str]:
    branch = f"refs/heads/{expected.base}"
    moves = _moves(remote / "logs" / branch)
    if len(moves) != expected.pushes:
        short = [f"{old[:12]} → {new[:12]}" for old, new in moves]
        yield f"{expected.base} was pushed {len(moves)} times, not {expected.pushes}: {short}"
    for ref in git(remote, "for-each-ref", "--format=%(refname)").splitlines():
        if ref != branch:
            yield f"the remote has {ref}, which nobody asked for"
    head = git(remote, "rev-parse", branch)
    shipped = [goal for goal in scene.goals if goal.stage is Stage.SHIPPED] if scene.ledger else []
    if shipped and head not in [goal.shipped for goal in shipped]:
        yield f"{expected.base} is at {head[:12]}, and no goal shipped that"
    for path, text in expected.files.items():
        try:
            found = git(remote, "show", f"{branch}:{path}")
        except CalledProcessError:
            yield f"{path} is not in {expected.base}"
            continue
        if found != text.strip():
            yield f"{path} in {expected.base} is {found!r}"


def _moves(log: Path) -> Sequence[tuple[str, str]]:
    """Return how a branch was moved, by its log.

    git writes the log first: a move that was cut off and made again stands there twice.
    """
    lines = log.read_text().splitlines() if log.exists() else []
    pairs = [(old, new) for old, new, *_ in (line.split() for line in lines)]
    return list(dict.fromkeys(pairs))


def _tidied(scene: Scene, hub: Path, expected: Expected) -> Iterator[str]:
    """Once its goals are over, all of a hub lies in what was shipped and in what workers handed in."""
    if any(goal.live for goal in scene.goals) or not scene.goals:
        return
    for ref in git(hub, "for-each-ref", "--format=%(refname)", "refs/heads").splitlines():
        yield f"{hub.name} has {ref} still"
    taken = git(hub, "for-each-ref", "--format=%(objectname)", "refs/quarantine").splitlines()
    for commit, times in Counter(taken).items():
        if times > 1:
            yield f"{hub.name} took {commit[:12]} in {times} times"
    if expected.taken not in (None, len(taken)):
        yield f"{hub.name} took in {len(taken)} commits, not {expected.taken}"
