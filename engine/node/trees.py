"""A tree of its own for each session, for each check and review: laid, read, saved, freed.

    trees/<project>/<session>       a clone that borrows the copy's objects; an agent's to write in
    trees/<project>/pool-<n>        one that is free: the next session gets it, emptied and reset

**A tree is not ours.** What lies in its .git (a hook, a filter, fsmonitor, an ssh command) is
whatever an agent put there, so git runs in a tree only inside a fence that shows that tree and
nothing else of ours, and no file in it is opened from outside. The copies it borrows from are ours:
engine/node/copies.py.

Each operation is one short script in one fence. serve.py calls `OPS` from its threads; a fence must
be started by a main thread, hence the small process between (`main` below). The same process, as
`upload-pack`, is the other end of the engine's `git fetch` of what a worker made.
"""

from __future__ import annotations

import json
import os
import queue
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Sequence
from typing import IO, Callable

from engine.node import copies, fence, leftovers, points, room, zygote
from engine.node.copies import Fields

DIRTY_SHOWN = 20
POOLED = 4
LIMIT_S = 900.0
EXCLUDED = "/.quarterdeck-run/"
RESCUE = "quarterdeck/rescue-"

_KEPT = 64 * 1024 * 1024  # bytes of output of a command in a tree
_CODE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_BEGIN = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from engine.node import trees; trees.main(sys.argv[1:])"
)
_BRANCH = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$")


# ---- git in a tree, which is an agent's

_GIT = """
set -eu
umask 022
git() {
    command git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.quotePath=false \
        -c core.fileMode=true -c gc.auto=0 -c protocol.allow=never -c protocol.file.allow=always \
        -c advice.detachedHead=false -c submodule.recurse=false "$@"
}
unlock() { find .git -name '*.lock' -type f -exec rm -f {} +; }
whole() {
    if [ ! -d .git ] || [ -L .git ]; then exit 7; fi
    unlock
    git rev-parse -q --verify 'HEAD^{commit}' >/dev/null || exit 7
}
back() {
    [ -f .git/quarterdeck-checking ] || return 0
    on=$(cat .git/quarterdeck-checking)
    git reset -q --hard
    git clean -q -ffd
    case $on in
        refs/heads/*) git checkout -q -f "${on#refs/heads/}" -- ;;
        *) git checkout -q -f --detach "$on" ;;
    esac
    rm -f .git/quarterdeck-checking
    modules
}
modules() { if [ -f .gitmodules ]; then printf modules; fi; }
"""
_DAMAGED = 7  # the exit code of `whole`


def fenced_git(
    view: fence.View, script: str, args: Sequence[str] = (), limit_s: float = LIMIT_S
) -> copies.Said:
    """Run a script of git commands in `view`'s tree, inside a fence where there can be one.

    In the script `git` runs without hooks and fsmonitor; `args` are $1, $2, ...
    """
    asked = {
        "argv": ["/bin/sh", "-c", _GIT + script, "sh", *args],
        "view": vars(view),
        "probe": vars(probe()),
        "limit_s": limit_s,
        "mark": f"tree-{uuid.uuid4().hex}",
        "place": leftovers.MARKS.get(fence.PLACE, ""),
    }
    with _file() as errors:
        code, out = _asked(asked, errors)
        errors.seek(0)
        words = copies.text(errors.read(64 * 1024)).strip()
    points.passed("git in a tree")
    if code < 0:  # ended from outside, and what it said is not what git found
        raise copies.Failed("what was at work in the tree was ended on the way")
    return copies.Said(code, out, words)


def _file() -> IO[bytes]:
    """Return a file without a name, in memory where that can be had: what tells of a full disk has room."""
    if sys.platform == "linux":
        return open(os.memfd_create("git"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def _asked(asked: Fields, errors: IO[bytes]) -> tuple[int, bytes]:
    """Have `_fenced` done by a process of its own, a forked one where that can be had."""
    forks = zygote.ready()
    done = _by_fork(forks, asked, errors) if forks is not None else None
    return _by_interpreter(asked, errors) if done is None else done


def _by_fork(forks: zygote.Zygote, asked: Fields, errors: IO[bytes]) -> tuple[int, bytes] | None:
    given, give = os.pipe()
    take, taken = os.pipe()
    ended: queue.SimpleQueue[int] = queue.SimpleQueue()

    def on_end(code: int) -> None:
        if code < 0:  # killed: what it leaves, where no fence ended with it, holds our output open
            fence.kill_marked(asked["mark"])
        ended.put(code)

    try:
        theirs = (given, taken, errors.fileno())
        forked = forks.fork(zygote.SCRIPT, ["fenced"], theirs, on_end)
    finally:
        os.close(given)
        os.close(taken)
    with open(give, "wb") as stdin, open(take, "rb") as stdout:
        if not forked:
            return None
        try:
            stdin.write(json.dumps({**asked, "asker": forks.pid}).encode())
            stdin.close()
        except BrokenPipeError:
            pass  # it has ended: its code tells
        out = stdout.read(_KEPT)
    return ended.get(), out


def _by_interpreter(asked: Fields, errors: IO[bytes]) -> tuple[int, bytes]:
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _BEGIN, _CODE, "fenced"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({**asked, "asker": os.getpid()}).encode())
        process.stdin.close()
        out = process.stdout.read(_KEPT)
        if len(out) == _KEPT:
            process.terminate()
        process.stdout.close()
    return process.returncode, out


def _in(view: fence.View, script: str, *args: str) -> bytes:
    said = fenced_git(view, script, args)
    if said.code:
        raise copies.Failed(copies.why(said.words))
    return said.out


_probed: list[fence.Probe] = []


def probe() -> fence.Probe:
    """Return what the fence of this machine is worth, looked at once by a process of its own."""
    if not _probed:
        told = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _BEGIN, _CODE, "probe"],
            capture_output=True,
            timeout=60,
            check=True,
        )
        _probed.append(_probe(json.loads(told.stdout)))
    return _probed[0]


def know(found: fence.Probe) -> None:
    """Take over what this process has found already."""
    _probed[:] = [found]


def _probe(fields: Fields) -> fence.Probe:
    return fence.Probe(**{**fields, "version": tuple(fields["version"])})


def view_of(home: str, project: str, tree: str, read_only: bool = False) -> fence.View:
    """Return what git may see in a tree: the tree, and what it borrows from."""
    return fence.View(
        home=home,
        tree=tree,
        read=(*_borrowed(home, project), *fence.toolchains(os.path.expanduser("~"))),
        network=False,
        tree_read_only=read_only,
    )


def _borrowed(home: str, project: str) -> tuple[str, ...]:
    """Return what of ours a tree needs to see."""
    objects = os.path.join(copies.path(home, project), "objects")
    modules = os.path.join(home, "copies", f"{project}.modules")
    return (objects, modules) if os.path.isdir(modules) else (objects,)


# ---- making trees

_LAY = """
branch=$1 commit=$2 objects=$3 name=$4 email=$5 format=$6 excluded=$7
reused=; [ -e .git ] && reused=yes
rm -rf .git
git init -q --template= --object-format="$format" .
mkdir -p .git/info
printf '%s\\n' "$objects" > .git/objects/info/alternates
printf '%s\\n' "$excluded" > .git/info/exclude
git config user.name "$name"
git config user.email "$email"
if [ -n "$branch" ]; then
    git symbolic-ref HEAD "refs/heads/$branch"
    git update-ref "refs/heads/$branch" "$commit"
else
    git update-ref --no-deref HEAD "$commit"
fi
if [ -n "$reused" ]; then
    # An index of our own: the old one could call a changed file unchanged. What really is
    # unchanged is found by reading it, which is cheaper than writing it.
    git read-tree "$commit"
    git ls-files -s | sed -n 's/^160000 [^\t]*\t//p' | while IFS= read -r path; do
        rm -rf -- "./$path"
    done
    git update-index -q --refresh >/dev/null 2>&1 || :
fi
git reset -q --hard "$commit"
if [ -n "$reused" ]; then git clean -q -ffdx; fi
modules
"""


def make(home: str, args: Fields) -> Fields:
    """Return the session's tree, made if there is none: `branch` at `commit`, or detached.

    A tree that is there is left as it is: the session's work is in it.
    """
    project, session = copies.name(args, "project"), copies.name(args, "session")
    branch = _branch(args.get("branch", ""))
    commit = copies.commit_id(args.get("commit"))
    who = (copies.string(args, "name"), copies.string(args, "email"))
    tree, note = _tree(home, project, session), ""
    with copies.alone(tree):
        if os.path.isdir(tree):
            said = fenced_git(view_of(home, project, tree), "whole; back")
            if said.code == 0:
                if said.out:
                    _fill(home, project, tree)
                return _made(home, project, tree, made=False)
            if said.code != _DAMAGED:
                raise copies.Failed(f"the tree could not be put back: {copies.why(said.words)}")
            note = _set_aside(tree, said)
        lay(home, project, tree, branch, commit, who)
    return {**_made(home, project, tree, made=True), "note": note}


def place(home: str, args: Fields) -> Fields:
    """Return where a session's tree is, that is in use just now; nothing is looked at in it."""
    project, session = copies.name(args, "project"), copies.name(args, "session")
    tree = _tree(home, project, session)
    if not os.path.isdir(tree):
        raise copies.Failed(f"{session} has no tree here")
    return _made(home, project, tree, made=False)


def make_fresh(home: str, args: Fields) -> Fields:
    """Return a tree nobody has worked in, detached at `commit`; an old one of the name goes."""
    project, name = copies.name(args, "project"), copies.name(args, "name")
    tree = _tree(home, project, name)
    with copies.alone(tree):
        _discard(tree)
        lay(home, project, tree, "", copies.commit_id(args.get("commit")), NOBODY, pooled=False)
    return _made(home, project, tree, made=True)


NOBODY = ("Quarterdeck", "quarterdeck@localhost")


def _made(home: str, project: str, tree: str, made: bool) -> Fields:
    """Return where a tree is, and what must be shown beside it for git to work there."""
    return {"tree": tree, "read": list(_borrowed(home, project)), "made": made}


def lay(
    home: str,
    project: str,
    tree: str,
    branch: str,
    commit: str,
    who: tuple[str, str],
    pooled: bool = True,
) -> None:
    """Put a tree together beside its place and move it there whole."""
    copy = copies.path(home, project)
    if not copies.kept(copy, commit):
        raise copies.Failed(f"{commit[:12]} is not in this machine's copy of {project} yet")
    rough = os.path.join(os.path.dirname(tree), f"making-{os.path.basename(tree)}")
    _discard(rough)
    reused = pooled and _from_pool(rough)
    if not reused:
        os.makedirs(rough, mode=0o700)
        points.passed("place of a tree made")
    kind = "sha256" if len(commit) == 64 else "sha1"
    objects = os.path.realpath(os.path.join(copy, "objects"))
    script = (branch, commit, objects, *who, kind, EXCLUDED)
    try:
        said = fenced_git(view_of(home, project, rough), _LAY, script)
        if said.code and reused:  # whatever the last agent left there, it can be had without
            _discard(rough)
            os.makedirs(rough, mode=0o700)
            said = fenced_git(view_of(home, project, rough), _LAY, script)
        if said.code:
            raise copies.Failed(f"the tree could not be made: {copies.why(said.words)}")
        if said.out:
            _fill(home, project, rough)
    except BaseException:
        _discard(rough)
        raise
    os.rename(rough, tree)
    points.passed("tree in place")


def _from_pool(rough: str) -> bool:
    """Take a free tree and put it at `rough`."""
    folder = os.path.dirname(rough)
    with copies.alone(folder):
        for name in free_trees(folder):
            os.rename(os.path.join(folder, name), rough)
            points.passed("tree taken from the pool")
            return True
    return False


def free_trees(folder: str) -> list[str]:
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(name for name in names if name.startswith("pool-"))


def _set_aside(tree: str, said: copies.Said) -> str:
    """Move a tree that git cannot use out of the way, and return what to say."""
    aside = os.path.join(
        os.path.dirname(tree), f"damaged-{os.path.basename(tree)}-{uuid.uuid4().hex[:8]}"
    )
    os.rename(tree, aside)
    points.passed("damaged tree set aside")
    why = copies.why(said.words) if said.words else "there is no commit to go on from"
    return f"Its tree was damaged ({why}); it is kept at {aside}."


def _discard(tree: str) -> None:
    """Remove a tree; what cannot be removed is moved away and left."""
    leftovers.remove(tree)


# ---- submodules

_LIST = """
cd "./$1"
[ -f .gitmodules ] || exit 0
git config -z -f .gitmodules --get-regexp "$2" || :
printf '\\000'
git ls-files -s -z
"""
_FILL = """
cd "./$1"
git config "submodule.$2.url" "$4"
git submodule --quiet update --init --force -- "$3"
"""


def _fill(home: str, project: str, tree: str) -> None:
    """Fill the submodules from their stores; one that has none is an error that names it."""
    modules = os.path.join(home, "copies", f"{project}.modules")
    view, todo = view_of(home, project, tree), ["."]
    stores = _stores(modules)
    while todo:
        inside = todo.pop()
        listing = _in(view, _LIST, inside, copies.MODULE_KEYS)
        config, _, index = listing.partition(b"\0\0")
        named, pinned = copies.modules(config), copies.gitlinks(index, 1)
        for path, (name, url) in named.items():
            if path not in pinned:
                continue
            store = stores(pinned[path])
            if not store:
                raise copies.refusal(
                    f"The submodule {path} ({url}) at {pinned[path][:12]} is not on this machine: "
                    "only addresses that the base branch names are fetched."
                )
            said = fenced_git(view, _FILL, (inside, name, path, store))
            if said.code:
                raise copies.Failed(
                    f"the submodule {path} could not be filled: {copies.why(said.words)}"
                )
            todo.append(os.path.join(inside, path))


def _stores(modules: str) -> Callable[[str], str]:
    """Return what finds the store that holds a commit; an address may be written in many ways."""

    def find(commit: str) -> str:
        names = sorted(os.listdir(modules)) if os.path.isdir(modules) else []
        for name in names:
            store = os.path.join(modules, name)
            if name.endswith(".git") and copies.kept(store, commit):
                return os.path.realpath(store)
        return ""

    return find


# ---- what a worker made

_COLLECT = """
head=$(git rev-parse -q --verify "refs/heads/$1^{commit}") || head=
on=$(git symbolic-ref -q HEAD) || on=
count=0 same=
if [ -n "$head" ]; then
    count=$(git rev-list --count "$2..$head")
    git diff --quiet --no-ext-diff --no-textconv "$2...$head" && same=yes || :
fi
busy=
for state in MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD rebase-merge rebase-apply; do
    if [ -e ".git/$state" ]; then busy=$state; fi
done
printf '%s\\000' "$head" "$on" "$count" "$same" "$busy"
git status --porcelain=v1 -z --no-renames --untracked-files=all --ignore-submodules=none
"""


def collect(home: str, args: Fields) -> Fields:
    """Return where the worker's branch stands: {head, commits, dirty, failure}.

    commits   0 as well when they change nothing: then there is nothing to land
    dirty     up to 20 paths that are changed or new and in no commit
    """
    project, tree = find(home, args)
    branch, base = _branch(args.get("branch")), copies.commit_id(args.get("base"))
    with copies.alone(tree):
        said = fenced_git(view_of(home, project, tree), _COLLECT, (branch, base))
    if said.code:
        return _collected(failure=f"its tree cannot be read: {copies.why(said.words)}")
    head, on, count, same, busy, *status = said.out.split(b"\0")
    dirty = [copies.text(entry[3:]) for entry in status if entry][:DIRTY_SHOWN]
    commits = 0 if same else int(count)
    return _collected(
        head.decode(), commits, dirty, _astray(branch, copies.text(on), bool(head), busy)
    )


def _collected(
    head: str = "", commits: int = 0, dirty: Sequence[str] = (), failure: str = ""
) -> Fields:
    return {"head": head, "commits": commits, "dirty": list(dirty), "failure": failure}


def _astray(branch: str, on: str, there: bool, busy: bytes) -> str:
    """Return why the tree is not where its work should be, or nothing."""
    if not there:
        return f"its branch {branch} is not there any more"
    if busy:
        what = (
            "rebase"
            if busy.startswith(b"rebase")
            else copies.text(busy).partition("_HEAD")[0].lower()
        )
        return f"a {what.replace('_', '-')} is not finished in its tree"
    if on != f"refs/heads/{branch}":
        where = f"on {on[len('refs/heads/') :]}" if on else "on no branch (a detached HEAD)"
        return f"its tree is {where} and not on {branch}"
    return ""


_CHECK_OUT = """
unlock
if [ -f .git/quarterdeck-checking ]; then
    git reset -q --hard
    git clean -q -ffd
else
    left=$(git status --porcelain --untracked-files=all --ignore-submodules=none)
    if [ -n "$left" ]; then
        printf 'not committed:\\n%s\\n' "$left" >&2
        exit 3
    fi
    git symbolic-ref -q HEAD > .git/quarterdeck-checking.new \\
        || git rev-parse HEAD > .git/quarterdeck-checking.new
    mv .git/quarterdeck-checking.new .git/quarterdeck-checking
fi
git checkout -q -f --detach "$1"
modules
"""


def check_out(home: str, args: Fields) -> Fields:
    """Put `commit` into the session's warm tree for a check; only if all it holds is committed.

    What a check that was cut off left there is thrown away: the work is in its branch.
    """
    project, tree = find(home, args)
    commit = copies.commit_id(args.get("commit"))
    with copies.alone(tree):
        said = fenced_git(view_of(home, project, tree), _CHECK_OUT, (commit,))
        if said.code == 3:
            raise copies.refusal(f"Its tree is not clean, {copies.why(said.words)}")
        if said.code:
            raise copies.Failed(
                f"the tree could not be put at {commit[:12]}: {copies.why(said.words)}"
            )
        if said.out:
            _fill(home, project, tree)
    return _made(home, project, tree, made=False)


def check_back(home: str, args: Fields) -> Fields:
    """Put the session's tree back to where it was before `check_out`; nothing if it is there."""
    project, tree = find(home, args)
    with copies.alone(tree):
        said = fenced_git(view_of(home, project, tree), "unlock; back")
        if said.code:
            raise copies.Failed(f"the tree could not be put back: {copies.why(said.words)}")
        if said.out:
            _fill(home, project, tree)
    return _made(home, project, tree, made=False)


# ---- saving, moving, freeing

_SAVE = """
whole
back >/dev/null
left=$(git status --porcelain --untracked-files=all)
head=$(git rev-parse -q --verify 'HEAD^{commit}') || head=
commit=$head
if [ -n "$left" ]; then
    GIT_INDEX_FILE=.git/quarterdeck-save
    export GIT_INDEX_FILE
    if [ -f .git/index ]; then cp .git/index "$GIT_INDEX_FILE"; fi
    git add -A --ignore-errors >/dev/null 2>&1 || :
    tree=$(git write-tree)
    commit=$(printf 'Unsaved work, kept\\n' | git commit-tree "$tree" ${head:+-p "$head"})
    rm -f "$GIT_INDEX_FILE"
    unset GIT_INDEX_FILE
fi
if [ -n "$left$2" ] && [ -n "$commit" ]; then git update-ref "refs/heads/$1" "$commit"; fi
printf '%s\\000%s' "$commit" "$left"
"""
_MOVE = """
unlock
git checkout -q -f --detach "$1"
git clean -q -ffd
modules
"""


def keep(home: str, args: Fields) -> Fields:
    """End a session's use of its tree: what is in no commit here goes to a branch, then it is free.

    Returns {"rescue": branch or "", "commit", "note"}; a session without a tree has nothing to keep.
    """
    project, session = copies.name(args, "project"), copies.name(args, "session")
    tree = _tree(home, project, session)
    with copies.alone(tree):
        if not os.path.isdir(tree):
            return _kept_before(home, project, session)
        said = fenced_git(view_of(home, project, tree), _SAVE, (f"{RESCUE}{session}", "clean too"))
        if said.code == _DAMAGED:
            return {"rescue": "", "commit": "", "note": _set_aside(tree, said)}
        branch, commit = _rescue(home, project, session, tree, said)
        _free(tree)
    return {"rescue": branch, "commit": commit, "note": ""}


def _kept_before(home: str, project: str, session: str) -> Fields:
    """Return what `keep` answered if it was done before and its answer did not arrive."""
    copy, branch = copies.path(home, project), f"{RESCUE}{session}"
    found = copies.git(copy, "rev-parse", "--quiet", "--verify", f"refs/heads/{branch}")
    if found.code:
        return {"rescue": "", "commit": "", "note": ""}
    return {"rescue": branch, "commit": copies.text(found.out).strip(), "note": ""}


def _rescue(home: str, project: str, session: str, tree: str, said: copies.Said) -> tuple[str, str]:
    """Take what was saved, and the copy does not have yet, into it on a branch of its own."""
    copy, branch = copies.path(home, project), f"{RESCUE}{session}"
    if said.code:
        raise copies.Failed(f"its unsaved work could not be kept: {copies.why(said.words)}")
    commit, _, left = copies.text(said.out).partition("\0")
    if not left and (not commit or _held(copy, commit)):
        return "", commit
    serve = shlex.join(upload_pack_command(sys.executable, home, project, session))
    with copies.alone(copy):
        ref = f"refs/heads/{branch}"
        fetched = copies.git(
            copy,
            *(*copies.FETCH, f"--upload-pack={serve}", "--", tree, f"+{ref}:{ref}"),
            config=("protocol.file.allow=always", "fetch.fsckObjects=true"),
        )
    if fetched.code:
        raise copies.Failed(f"its unsaved work could not be kept: {copies.why(fetched.words)}")
    return branch, commit


def _held(copy: str, commit: str) -> bool:
    """Say whether a commit is reachable from what the copy keeps."""
    said = copies.git(copy, "for-each-ref", "--count=1", f"--contains={commit}")
    return said.code == 0 and bool(said.out)


def _free(tree: str) -> None:
    """Put a tree into the pool, or away if that is full, or the disk nearly so."""
    folder = os.path.dirname(tree)
    with copies.alone(folder):
        if len(free_trees(folder)) < POOLED and not room.is_low(*room.free_mb(folder)):
            os.rename(tree, os.path.join(folder, f"pool-{uuid.uuid4().hex[:12]}"))
            points.passed("tree freed")
            return
    _discard(tree)


def move(home: str, args: Fields) -> Fields:
    """Put a lead's tree at `commit`, detached; what it had changed goes to a branch there first."""
    project, tree = find(home, args)
    commit = copies.commit_id(args.get("commit"))
    rescue = f"{RESCUE}{os.path.basename(tree)}"
    with copies.alone(tree):
        if not copies.kept(copies.path(home, project), commit):
            raise copies.Failed(f"{commit[:12]} is not in this machine's copy of {project} yet")
        view = view_of(home, project, tree)
        saved = _in(view, _SAVE, rescue, "").partition(b"\0")[2]
        if _in(view, _MOVE, commit):
            _fill(home, project, tree)
    return {**_made(home, project, tree, made=False), "rescue": rescue if saved else ""}


def remove(home: str, args: Fields) -> Fields:
    """Remove a tree made by `make_fresh`."""
    tree = _tree(home, copies.name(args, "project"), copies.name(args, "name"))
    with copies.alone(tree):
        _discard(tree)
    return {}


# ---- the process between a thread and a fence, and the other end of a fetch


def upload_pack_command(python: str, home: str, project: str, session: str) -> list[str]:
    """Return the command that serves a tree's commits on its standard input and output."""
    code = [python, "-I", "-S", "-c", _BEGIN, _CODE, "upload-pack"]
    return [*code, "--home", home, "--project", project, "--session", session]


def upload_pack(argv: Sequence[str]) -> int:
    """Serve one tree's commits to `git fetch`, from inside that tree's fence."""
    import argparse
    import pwd

    words = argparse.ArgumentParser(prog="upload-pack")
    for name in ("home", "project", "session"):
        words.add_argument(f"--{name}", required=True)
    words.add_argument("path", nargs="?", help="what git adds; the session tells which tree")
    given = words.parse_args(argv)
    if not os.path.isdir(os.path.expanduser("~")):  # whoever fetches gave us none
        os.environ["HOME"] = pwd.getpwuid(os.getuid()).pw_dir
    project, tree = find(given.home, vars(given))
    fence.harden()
    child = fence.launch(
        ["git", "upload-pack", "--strict", os.path.join(tree, ".git")],
        _environment(),
        view_of(given.home, project, tree, read_only=True),
        fence.probe(),
    )
    return child.wait().code or 0


def _environment() -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.path.expanduser("~"),
        "GIT_PROTOCOL": os.environ.get("GIT_PROTOCOL", "version=2"),
        "GIT_OPTIONAL_LOCKS": "0",
        fence.MARK: f"tree-{uuid.uuid4().hex}",
        **copies.ENV,
        **copies.ALONE,
    }


def _fenced() -> int:
    """Run what standard input asks for in a fence, for at most its time."""
    asked = json.load(sys.stdin)
    fields: Fields = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in asked["view"].items()
    }
    environment = {**_environment(), fence.MARK: asked["mark"]}
    if asked["place"]:
        environment[fence.PLACE] = asked["place"]
    if not zygote.end_with(asked["asker"]):  # the node has gone: the next one is at work here
        return 1
    fence.harden()
    points.passed("script about to be started")
    try:
        child = fence.launch(
            asked["argv"],
            environment,
            fence.View(**fields),
            _probe(asked["probe"]),
            stdin=subprocess.DEVNULL,
        )
    except (OSError, ValueError) as error:
        sys.stderr.write(f"no fence could be started: {error}\n")
        return 125
    points.passed("script started")
    late = threading.Timer(asked["limit_s"], child.kill)
    late.daemon = True
    late.start()
    end = child.wait()
    late.cancel()
    points.passed("script ended")
    if not child.fenced:  # what a planted command left running would hold our output open
        fence.kill_marked(environment[fence.MARK])
    if end.code is None:
        sys.stderr.write("it took too long, or its fence did not stand\n")
        return 124
    return end.code


def main(argv: Sequence[str]) -> None:
    """Do, as a process of its own, what needs a main thread."""
    if argv[0] == "probe":
        sys.stdout.write(json.dumps(vars(fence.probe())))
    elif argv[0] == "fenced":
        sys.exit(_fenced())
    elif argv[0] == "upload-pack":
        sys.exit(upload_pack(argv[1:]))


# ---- names and places


def _branch(value: object) -> str:
    if value == "":
        return ""
    if not isinstance(value, str) or not _BRANCH.match(value) or ".." in value:
        raise copies.refusal(f"{value!r} cannot be a branch.")
    return value


def _tree(home: str, project: str, name: str) -> str:
    return os.path.join(home, "trees", project, name)


def find(home: str, args: Fields) -> tuple[str, str]:
    """Return the project and the path of a session's tree; the project need not be given."""
    session = copies.name(args, "session")
    folder = os.path.join(home, "trees")
    known = os.listdir(folder) if os.path.isdir(folder) else []
    for project in [copies.name(args, "project")] if args.get("project") else sorted(known):
        tree = _tree(home, project, session)
        if os.path.isdir(tree):
            return project, tree
    raise copies.refusal(f"There is no tree of {session} on this machine.")


OPS: dict[str, Callable[[str, Fields], Fields]] = {
    "copy.update": copies.update,
    "tree.make": make,
    "tree.place": place,
    "tree.fresh": make_fresh,
    "tree.collect": collect,
    "tree.check_out": check_out,
    "tree.check_back": check_back,
    "tree.move": move,
    "tree.keep": keep,
    "tree.remove": remove,
}
