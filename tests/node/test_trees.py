"""Trees and copies on real repositories, by an ordinary user and inside real fences.

The operations run in a process of their own, as they do on a machine. As root the tests drop to an
ordinary user for it: a fence that root starts is none.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.adapters.hub import Hub
from engine.node import copies, trees
from tests.adapters import repositories

# What an agent left in a tree is harmless because git runs there inside a fence: without bubblewrap
# the machine says "unfenced", and there is nothing of this to try.
needs_a_fence = pytest.mark.skipif(
    shutil.which("bwrap") is None and not os.environ.get("CI"),
    reason="unfenced: bubblewrap is not installed here",
)
pytestmark = needs_a_fence

ORDINARY = 64322  # a user id nobody has; it needs no name
SOURCES = Path(__file__).parents[2]
OPERATE = """
import json, sys, threading
from engine.node import ahead, link, trees

def answer(line):
    asked = json.loads(line)
    try:
        reply = {"ok": {**trees.OPS, **ahead.OPS}[asked["op"]](asked["home"], asked["args"])}
    except link.Refusal as error:
        reply = {"no": str(error)}
    except OSError as error:
        reply = {"failed": str(error)}
    sys.stdout.write(json.dumps({"id": asked["id"], **reply}) + "\\n")
    sys.stdout.flush()

for line in sys.stdin:
    threading.Thread(target=answer, args=(line,)).start()
"""


class No(Exception):
    """The machine will not."""


class Machine:
    """A folder of an ordinary user's, and a process there that carries out operations."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.user = folder / "user"
        for path in (self.home / "hub", self.user, folder / "lib"):
            path.mkdir(parents=True)
        shutil.copytree(SOURCES / "engine/node", folder / "lib/engine/node")
        (folder / "lib/engine/__init__.py").touch()
        self.python = sys.executable
        self.who: dict[str, Any] = {}
        if os.geteuid() == 0:
            self.python = "/usr/bin/python3"  # ours may lie where only root can look
            self.who = {"user": ORDINARY, "group": ORDINARY, "extra_groups": []}
            for path in (folder, *folder.rglob("*")):
                os.chown(path, ORDINARY, ORDINARY)
        self.env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.user),
            "PYTHONPATH": f"{folder}/lib",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self._process: subprocess.Popen[str] | None = None
        self._asked = 0

    def run(self, *argv: str, cwd: Path | None = None, **env: str) -> str:
        """Run a command as the ordinary user."""
        done = subprocess.run(
            argv,
            env=self.env | repositories.PLAIN | env,
            cwd=cwd or self.folder,
            capture_output=True,
            check=False,
            **self.who,
        )
        assert done.returncode == 0, done.stderr.decode()
        return str(done.stdout.decode("utf-8", "surrogateescape")).strip()

    def git(self, at: str | Path, *args: str) -> str:
        return self.run("git", "-c", "protocol.file.allow=always", "-C", str(at), *args)

    def commit(self, at: str | Path, message: str, **files: str) -> str:
        """Write files (a__b is a/b) and commit everything."""
        for name, text in files.items():
            self.write(Path(at) / name.replace("__", "/"), text)
        self.git(at, "add", "-A")
        self.git(at, "commit", "-q", "--allow-empty", "-m", message)
        return self.git(at, "rev-parse", "HEAD")

    def write(self, path: Path, text: str, mode: str = "644") -> None:
        script = 'mkdir -p "$(dirname "$1")" && printf %s "$2" > "$1" && chmod "$3" "$1"'
        self.run("sh", "-c", script, "sh", str(path), text, mode)

    def repository(self, name: str) -> Path:
        path = self.folder / name
        self.run("git", "init", "-q", "-b", "main", str(path))
        self.commit(path, "first", a="1\n", b="b\n")
        return path

    def send(self, op: str, args: dict[str, Any]) -> None:
        if self._process is None:
            self._process = subprocess.Popen(
                [self.python, "-c", OPERATE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=self.env,
                cwd=self.folder,
                **self.who,
            )
        assert self._process.stdin is not None
        self._asked += 1
        asked = {"id": self._asked, "op": op, "home": str(self.home), "args": args}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        reply = json.loads(self._process.stdout.readline())
        if "no" in reply:
            raise No(reply["no"])
        if "failed" in reply:
            raise OSError(reply["failed"])
        told: dict[str, Any] = reply["ok"]
        return told

    def ask(self, op: str, **args: Any) -> dict[str, Any]:
        self.send(op, args)
        return self.answer()

    def end(self) -> None:
        if self._process is not None:
            self._process.communicate()


class Shop:
    """A project brought to a machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.repo = machine.repository("repo")
        self.base = machine.git(self.repo, "rev-parse", "HEAD")
        self.update(self.base)

    def update(self, *commits: str, **more: str) -> dict[str, Any]:
        return self.machine.ask(
            "copy.update", project="shop", hub=str(self.repo), commits=list(commits), **more
        )

    def make(self, session: str = "s-1", branch: str = "quarterdeck/worker-x", **more: str) -> Path:
        made = self.machine.ask(
            "tree.make",
            **{
                "project": "shop",
                "session": session,
                "branch": branch,
                "commit": self.base,
                "name": "Owner Ö",
                "email": "owner@example.org",
                **more,
            },
        )
        return Path(made["tree"])

    def collect(self, session: str = "s-1", branch: str = "quarterdeck/worker-x") -> dict[str, Any]:
        return self.machine.ask("tree.collect", session=session, branch=branch, base=self.base)


@pytest.fixture
def machine() -> Iterator[Machine]:
    with tempfile.TemporaryDirectory(prefix="quarterdeck-trees-") as folder:
        made = Machine(Path(folder))
        yield made
        made.end()


@pytest.fixture
def shop(machine: Machine) -> Shop:
    return Shop(machine)


def test_these_tests_run_in_a_fence(machine: Machine) -> None:
    code = "import sys; from engine.node import trees; sys.stdout.write(trees.probe().describe())"
    assert machine.run(machine.python, "-c", code).startswith("fenced")


# ---- copies


def test_a_copy_holds_the_commits_asked_for_and_fetches_them_once(shop: Shop) -> None:
    second = shop.machine.commit(shop.repo, "second", c="c")
    told = shop.update(shop.base, second)
    assert told["fetched"] == 1
    assert shop.update(shop.base, second)["fetched"] == 0
    assert shop.machine.git(told["copy"], "cat-file", "-t", second) == "commit"
    assert told["objects"] == f"{shop.machine.home}/copies/shop.git/objects"


def test_a_copy_is_never_tidied_away_under_the_trees(shop: Shop) -> None:
    copy = f"{shop.machine.home}/copies/shop.git"
    assert shop.machine.git(copy, "config", "gc.auto") == "0"


def test_a_commit_that_is_not_there_is_no_success(shop: Shop) -> None:
    with pytest.raises(OSError, match="could not be copied"):
        shop.update("1" * 40)
    with pytest.raises(OSError, match="is not in this machine's copy of shop yet"):
        shop.make(commit="1" * 40)


def test_a_fetch_that_was_cut_off_is_not_taken_for_a_whole_one(shop: Shop) -> None:
    second = shop.machine.commit(shop.repo, "second", c="c")
    copy = f"{shop.machine.home}/copies/shop.git"
    lone = shop.machine.run(
        *(
            "sh",
            "-c",
            'git -C "$1" cat-file commit "$3" | git -C "$2" hash-object -wt commit --stdin',
        ),
        *("sh", str(shop.repo), copy, second),
    )
    assert lone == second
    assert shop.update(second)["fetched"] == 1
    shop.make(commit=second)


@pytest.mark.parametrize(
    "args",
    [
        {"session": "../../x"},
        {"session": "pool-1"},
        {"project": ".."},
        {"branch": "-x"},
        {"branch": "a..b"},
        {"commit": "HEAD"},
        {"commit": "--help"},
        {"name": "two\nlines"},
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(shop: Shop, args: dict[str, str]) -> None:
    with pytest.raises(No):
        shop.make(**args)


# ---- making


def test_a_tree_is_on_its_branch_clean_and_borrows_its_objects(shop: Shop) -> None:
    """BR-89, BR-82."""
    tree = shop.make()
    git = shop.machine.git
    assert tree == shop.machine.home / "trees/shop/s-1"
    assert git(tree, "symbolic-ref", "HEAD") == "refs/heads/quarterdeck/worker-x"
    assert git(tree, "rev-parse", "HEAD") == shop.base
    assert git(tree, "status", "--porcelain") == ""
    assert git(tree, "count-objects") == "0 objects, 0 kilobytes"
    alternates = (tree / ".git/objects/info/alternates").read_text().strip()
    assert alternates == os.path.realpath(shop.machine.home / "copies/shop.git/objects")
    assert git(tree, "config", "user.name") == "Owner Ö"
    assert git(tree, "config", "user.email") == "owner@example.org"
    assert not (shop.machine.user / ".gitconfig").exists()
    (tree / ".quarterdeck-run").mkdir()
    (tree / ".quarterdeck-run/x").touch()
    assert git(tree, "status", "--porcelain") == ""


def test_a_commit_made_in_a_tree_bears_the_owners_name(shop: Shop) -> None:
    """BR-89."""
    tree = shop.make()
    shop.machine.write(tree / "c", "c")
    shop.machine.git(tree, "add", "-A")
    run = ["env", "-u", "GIT_AUTHOR_NAME", "-u", "GIT_AUTHOR_EMAIL"]
    run += ["-u", "GIT_COMMITTER_NAME", "-u", "GIT_COMMITTER_EMAIL"]
    shop.machine.run(*run, "git", "-C", str(tree), "commit", "-q", "-m", "c")
    assert shop.machine.git(tree, "show", "-s", "--format=%an <%ae>") == (
        "Owner Ö <owner@example.org>"
    )


def test_making_again_leaves_the_work_that_is_there(shop: Shop) -> None:
    tree = shop.make()
    made = shop.machine.commit(tree, "work", c="c")
    shop.machine.write(tree / "unsaved", "x")
    shop.machine.write(tree / ".git/index.lock", "")  # of a git that was killed
    assert shop.make() == tree
    assert shop.machine.git(tree, "rev-parse", "HEAD") == made
    assert shop.machine.git(tree, "status", "--porcelain") == "?? unsaved"
    assert not (tree / ".git/index.lock").exists()


def test_files_of_a_tree_have_the_rights_they_usually_have(shop: Shop) -> None:
    shop.machine.run("chmod", "755", str(shop.repo / "b"))
    base = shop.machine.commit(shop.repo, "b runs")
    shop.update(base)
    tree = shop.make(commit=base)
    assert [oct((tree / name).stat().st_mode & 0o777) for name in "ab"] == ["0o644", "0o755"]


def test_no_script_goes_on_in_a_tree_when_its_node_is_gone(shop: Shop) -> None:
    tree = shop.make()
    told = tree / "told"
    shop.machine.run("mkfifo", str(told))
    view = {"home": str(shop.machine.home), "tree": str(tree)}
    code = (
        "from engine.node import fence, trees; "
        f"trees.fenced_git(fence.View(**{view!r}), 'exec 3>told; sleep 600 & echo up >&3; wait')"
    )
    node = subprocess.Popen(
        [shop.machine.python, "-c", code], env=shop.machine.env, **shop.machine.who
    )
    with told.open() as heard:
        assert heard.readline() == "up\n"
        node.kill()
        node.wait()
        assert heard.read() == ""  # its end: nobody holds the other side any more


def test_a_lead_is_detached_at_its_commit(shop: Shop) -> None:
    tree = shop.make("s-9", branch="")
    assert (tree / ".git/HEAD").read_text().strip() == shop.base


def test_a_folder_deleted_by_hand_is_made_again(shop: Shop) -> None:
    """BR-72, BR-52."""
    tree = shop.make()
    shop.machine.run("rm", "-rf", str(tree))
    assert shop.make() == tree
    assert shop.machine.git(tree, "status", "--porcelain") == ""


def test_a_tree_git_cannot_use_is_kept_and_made_again(shop: Shop) -> None:
    """BR-72."""
    tree = shop.make()
    shop.machine.write(tree / "precious", "x")
    shop.machine.run("rm", "-rf", str(tree / ".git"))
    told = shop.machine.ask(
        "tree.make",
        **{"project": "shop", "session": "s-1", "branch": "quarterdeck/worker-x"},
        **{"commit": shop.base, "name": "n", "email": "e"},
    )
    assert "was damaged" in told["note"]
    assert (Path(told["note"].split(" kept at ")[1].rstrip(".")) / "precious").exists()
    assert shop.machine.git(tree, "status", "--porcelain") == ""


def test_names_with_spaces_and_other_letters_are_laid(machine: Machine) -> None:
    """BR-92."""
    repo = machine.repository("проект пробел")
    for name in ("café.py", "Äbc.txt", "two\nlines", "-x", '"q"'):
        machine.write(repo / name, "x\n")
    base = machine.commit(repo, "names")
    machine.ask("copy.update", project="p", hub=str(repo), commits=[base])
    made = machine.ask(
        "tree.make",
        **{"project": "p", "session": "s-1", "branch": "quarterdeck/worker-x", "commit": base},
        **{"name": "n", "email": "e"},
    )
    assert machine.git(made["tree"], "status", "--porcelain") == ""
    machine.write(Path(made["tree"]) / "новый файл", "x")
    told = machine.ask("tree.collect", session="s-1", branch="quarterdeck/worker-x", base=base)
    assert told["dirty"] == ["новый файл"]


# ---- pooling


def test_unsaved_work_goes_to_a_branch_and_the_tree_to_the_next(shop: Shop) -> None:
    """BR-81."""
    tree = shop.make()
    made = shop.machine.commit(tree, "work", c="c")
    shop.machine.write(tree / "a", "changed\n")
    shop.machine.write(tree / "new/file", "new\n")
    shop.machine.write(tree / ".git/info/exclude", "*.o\n")
    shop.machine.write(tree / "ignored.o", "o")
    kept = shop.machine.ask("tree.keep", project="shop", session="s-1")
    copy = shop.machine.home / "copies/shop.git"
    git = shop.machine.git
    assert kept["rescue"] == "quarterdeck/rescue-s-1"
    assert git(copy, "rev-parse", kept["rescue"]) == kept["commit"]
    assert git(copy, "rev-parse", f"{kept['rescue']}^") == made
    assert git(copy, "show", f"{kept['rescue']}:a") == "changed"
    assert git(copy, "show", f"{kept['rescue']}:new/file") == "new"
    assert not tree.exists()
    inode = next((shop.machine.home / "trees/shop").glob("pool-*")).stat().st_ino
    other = shop.make("s-2", branch="quarterdeck/worker-y")
    assert other.stat().st_ino == inode
    assert sorted(path.name for path in other.iterdir()) == [".git", "a", "b"]
    assert (other / "a").read_text() == "1\n"
    assert git(other, "status", "--porcelain", "--ignored") == ""
    assert git(other, "branch", "--format=%(refname)") == "refs/heads/quarterdeck/worker-y"
    again = shop.machine.ask("tree.keep", project="shop", session="s-1")
    assert again == kept  # as if the first answer had not arrived


def test_commits_nobody_collected_are_kept_too(shop: Shop) -> None:
    tree = shop.make()
    made = shop.machine.commit(tree, "work", c="c")
    kept = shop.machine.ask("tree.keep", project="shop", session="s-1")
    assert (kept["rescue"], kept["commit"]) == ("quarterdeck/rescue-s-1", made)


def test_a_tree_with_nothing_of_its_own_leaves_no_branch(shop: Shop) -> None:
    shop.make()
    assert shop.machine.ask("tree.keep", project="shop", session="s-1")["rescue"] == ""


def test_a_reused_tree_keeps_nothing_of_what_an_agent_left_in_git(shop: Shop) -> None:
    tree = shop.make()
    git = shop.machine.git
    shop.machine.write(tree / ".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n", "755")
    git(tree, "config", "core.sshCommand", "evil")
    git(tree, "config", "alias.status", "!evil")
    shop.machine.write(tree / "a", "hidden change\n")
    git(tree, "update-index", "--skip-worktree", "a")
    git(tree, "update-index", "--assume-unchanged", "b")
    shop.machine.write(tree / "b", "hidden too\n")
    shop.machine.write(tree / ".git/info/attributes", "* filter=evil\n")
    shop.machine.ask("tree.keep", project="shop", session="s-1")
    other = shop.make("s-2")
    assert (other / "a").read_text() == "1\n"
    assert (other / "b").read_text() == "b\n"
    assert not (other / ".git/hooks/pre-commit").exists()
    assert "evil" not in (other / ".git/config").read_text()
    assert not (other / ".git/info/attributes").exists()


def test_no_more_than_a_few_free_trees_are_kept(shop: Shop) -> None:
    for number in range(trees.POOLED + 1):
        shop.make(f"s-{number}")
    for number in range(trees.POOLED + 1):
        shop.machine.ask("tree.keep", project="shop", session=f"s-{number}")
    left = [path.name for path in (shop.machine.home / "trees/shop").iterdir()]
    assert len(left) == trees.POOLED
    assert all(name.startswith("pool-") for name in left)


def test_a_tree_whose_rights_were_taken_away_is_still_replaced(shop: Shop) -> None:
    tree = shop.make()
    shop.machine.run("sh", "-c", f"mkdir -p {tree}/x/y && touch {tree}/x/y/z && chmod 0 {tree}/x/y")
    shop.machine.ask("tree.keep", project="shop", session="s-1")
    other = shop.make("s-2")
    assert sorted(path.name for path in other.iterdir()) == [".git", "a", "b"]
    left = sorted(path.name for path in (shop.machine.home / "trees/shop").iterdir())
    assert left == ["s-2"]


# ---- collecting


def test_what_a_worker_made_is_counted(shop: Shop) -> None:
    tree = shop.make()
    shop.machine.commit(tree, "one", c="c")
    head = shop.machine.commit(tree, "two", d="d")
    assert shop.collect() == {"head": head, "commits": 2, "dirty": [], "failure": ""}


def test_what_is_in_no_commit_is_named_and_the_list_is_short(shop: Shop) -> None:
    """BR-87: the pre-commit hook failed, so HEAD stands where it was and the index does not."""
    tree = shop.make()
    shop.machine.write(tree / ".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n", "755")
    shop.machine.write(tree / "c", "c")
    shop.machine.git(tree, "add", "c")
    with pytest.raises(AssertionError):
        shop.machine.git(tree, "commit", "-q", "-m", "c")
    assert shop.collect() == {"head": shop.base, "commits": 0, "dirty": ["c"], "failure": ""}
    for number in range(30):
        shop.machine.write(tree / f"n{number}", "")
    assert len(shop.collect()["dirty"]) == trees.DIRTY_SHOWN


def test_a_mode_bit_is_a_change_and_an_ignored_file_is_none(shop: Shop) -> None:
    """BR-94."""
    tree = shop.make()
    shop.machine.git(tree, "config", "core.fileMode", "false")
    shop.machine.run("chmod", "755", str(tree / "a"))
    assert shop.collect()["dirty"] == ["a"]
    shop.machine.git(tree, "config", "core.fileMode", "true")
    shop.machine.commit(tree, "mode")
    assert (shop.collect()["commits"], shop.collect()["dirty"]) == (1, [])
    shop.machine.write(tree / ".git/info/exclude", "*.o\n")
    shop.machine.write(tree / "x.o", "o")
    assert shop.collect()["dirty"] == []


def test_commits_that_change_nothing_are_nothing_to_land(shop: Shop) -> None:
    """BR-94."""
    tree = shop.make()
    shop.machine.commit(tree, "there", c="c")
    shop.machine.run("rm", str(tree / "c"))
    shop.machine.commit(tree, "and back")
    assert shop.collect()["commits"] == 0


@pytest.mark.parametrize(
    ("script", "failure"),
    [
        ("git checkout -q -b other", "its tree is on other and not on quarterdeck/worker-x"),
        ("git checkout -q --detach", "its tree is on no branch"),
        ("git branch -m gone", "its branch quarterdeck/worker-x is not there any more"),
        (
            "git checkout -qb o && echo o >a && git commit -qam o && git checkout -q - "
            "&& echo w >a && git commit -qam w && ! git merge -q o",
            "a merge is not finished in its tree",
        ),
        ("rm -rf .git", "its tree cannot be read"),
        ("rm -rf .git && ln -s ../../../../user .git", "its tree cannot be read"),
        ("rm .git/index && mkdir .git/index", "its tree cannot be read"),
    ],
)
def test_a_tree_that_is_not_where_its_work_should_be_says_so(
    shop: Shop, script: str, failure: str
) -> None:
    tree = shop.make()
    shop.machine.run("sh", "-c", script, cwd=tree)
    assert failure in shop.collect()["failure"]


async def test_a_workers_commit_reaches_the_hub_from_inside_its_fence(shop: Shop) -> None:
    tree = shop.make()
    made = shop.machine.commit(tree, "work", c="c")
    hub = Hub(shop.machine.home / "hub")
    await hub.bring("shop", str(shop.repo), "main")
    serve = serving(shop)
    branch = "quarterdeck/worker-x"
    taken = await hub.collect("shop", "p-1", branch, serve, str(tree), made)
    assert (taken.commit, taken.failure) == (made, "")
    other = shop.machine.commit(tree, "more", d="d")
    taken = await hub.collect("shop", "p-2", branch, serve, str(tree), made)
    assert f"is at {other[:12]} now" in taken.failure


def serving(shop: Shop) -> list[str]:
    """Return the command with which the hub reads the tree of s-1, as the machine's user."""
    plain = trees.upload_pack_command(shop.machine.python, str(shop.machine.home), "shop", "s-1")
    plain[plain.index(str(SOURCES))] = str(shop.machine.folder / "lib")
    user = ["env", f"HOME={shop.machine.user}", *plain]
    if os.geteuid() != 0:
        return user
    ids = [f"--reuid={ORDINARY}", f"--regid={ORDINARY}"]
    return ["setpriv", *ids, "--clear-groups", "--inh-caps=-all", *user]


# ---- what an agent planted


PLANTS = {
    "core.fsmonitor": "{script}",
    "core.sshCommand": "{script}",
    "core.pager": "{script}",
    "core.editor": "{script}",
    "core.gitProxy": "{script}",
    "core.hooksPath": "{folder}",
    "uploadpack.packObjectsHook": "{script}",
    "diff.external": "{script}",
    "filter.evil.clean": "{script}",
    "filter.evil.smudge": "{script}",
    "filter.evil.process": "{script}",
    "diff.evil.textconv": "{script}",
    "merge.evil.driver": "{script}",
    "credential.helper": "{script}",
    "gpg.program": "{script}",
    "commit.gpgSign": "true",
    "alias.status": "!{script}",
    "submodule.recurse": "true",
    "remote.origin.url": "ext::{script}",
    "protocol.ext.allow": "always",
}
HOOKS = (
    *("post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-commit"),
    *("commit-msg", "prepare-commit-msg", "fsmonitor-watchman", "pre-auto-gc", "post-rewrite"),
)


async def test_nothing_an_agent_planted_in_git_runs_outside_its_fence(shop: Shop) -> None:
    tree, machine = shop.make(), shop.machine
    markers = [machine.folder / "marker", machine.home / "marker", machine.user / "marker"]
    made = machine.commit(tree, "work", c="c\n")
    inside = tree / ".git/planted"
    script = inside / "script"
    ran = "; ".join(f"touch {shlex.quote(str(path))} 2>/dev/null" for path in markers)
    machine.write(script, f"#!/bin/sh\ntouch {inside}/ran 2>/dev/null\n{ran}\ncat\n", "755")
    machine.run("mkdir", "-p", str(tree / ".git/hooks"))
    for hook in HOOKS:
        machine.run("cp", str(script), str(inside / hook))
        machine.run("cp", str(script), str(tree / ".git/hooks" / hook))
    for key, value in PLANTS.items():
        machine.git(tree, "config", key, value.format(script=script, folder=inside))
    machine.write(tree / ".git/info/attributes", "* filter=evil diff=evil merge=evil\n")
    machine.run("touch", "-d", "2001-01-01", str(tree / "a"), str(tree / "c"))
    assert [path for path in [*markers, inside / "ran"] if path.exists()] == []
    found = shop.collect()
    assert (found["head"], found["commits"]) == (made, 1)
    assert (inside / "ran").exists()  # it is live: a filter ran, inside
    hub = Hub(machine.home / "hub")
    await hub.bring("shop", str(shop.repo), "main")
    branch = "quarterdeck/worker-x"
    taken = await hub.collect("shop", "p-1", branch, serving(shop), str(tree), made)
    assert taken.commit == made
    machine.ask("tree.check_back", session="s-1")
    shop.make()
    machine.write(tree / "unsaved", "x")
    machine.ask("tree.keep", project="shop", session="s-1")
    assert [path for path in markers if path.exists()] == []


def test_a_link_in_place_of_git_leads_nowhere(shop: Shop) -> None:
    other = shop.machine.repository("others")
    before = (other / ".git/config").read_text()
    tree = shop.make()
    shop.machine.run("rm", "-rf", str(tree / ".git"))
    shop.machine.write(tree / ".git", f"gitdir: {other}/.git\n")
    assert "cannot be read" in shop.collect()["failure"]
    shop.machine.ask("tree.keep", project="shop", session="s-1")
    assert (other / ".git/config").read_text() == before
    assert shop.machine.git(other, "status", "--porcelain") == ""


def test_links_an_agent_left_are_not_written_through(shop: Shop) -> None:
    tree, victim = shop.make(), shop.machine.user / "victim"
    shop.machine.write(victim, "mine")
    for name in ("info/exclude", "config", "quarterdeck-checking", "quarterdeck-save"):
        shop.machine.run("ln", "-sf", str(victim), str(tree / ".git" / name))
    shop.machine.run(
        "sh", "-c", f"rm -rf {tree}/.git/objects/info; ln -s {victim} {tree}/.git/objects/info"
    )
    shop.machine.ask("tree.keep", project="shop", session="s-1")
    shop.make("s-2")
    assert victim.read_text() == "mine"


def test_what_runs_for_ever_in_a_tree_is_ended(shop: Shop) -> None:
    tree = shop.make()
    view = {"home": str(shop.machine.home), "tree": str(tree)}
    code = (
        "import sys, json; from engine.node import fence, trees; "
        f"said = trees.fenced_git(fence.View(**{view!r}), 'sleep 600 & sleep 600', limit_s=0.3); "
        "sys.stdout.write(json.dumps([said.code, said.words]))"
    )
    status, words = json.loads(shop.machine.run(shop.machine.python, "-c", code))
    assert status != 0
    assert "too long" in words or status == 137


# ---- checks


def test_a_merged_commit_is_checked_in_the_warm_tree_and_the_branch_comes_back(
    shop: Shop,
) -> None:
    tree = shop.make()
    shop.machine.write(tree / ".git/info/exclude", "build\n")
    mine = shop.machine.commit(tree, "work", c="c")
    shop.machine.write(tree / "build", "warm")
    merged = shop.machine.commit(shop.repo, "merged", d="d")
    shop.update(merged)
    checking = {"session": "s-1", "commit": merged}
    assert shop.machine.ask("tree.check_out", **checking)["tree"] == str(tree)
    assert (tree / "d").exists()
    assert (tree / "build").exists()
    shop.machine.write(tree / "a", "changed by the check")
    shop.machine.write(tree / "made", "by the check")
    shop.machine.ask("tree.check_out", **checking)  # the check was cut off and is made again
    assert (tree / "a").read_text() == "1\n"
    assert shop.machine.git(tree, "status", "--porcelain") == ""
    shop.machine.write(tree / "made", "by the check")
    for _ in range(2):
        (tree / ".git/index.lock").touch()  # of a git that was killed on the way
        shop.machine.ask("tree.check_back", session="s-1")
        assert shop.machine.git(tree, "rev-parse", "quarterdeck/worker-x", "HEAD") == (
            f"{mine}\n{mine}"
        )
        assert shop.collect() == {"head": mine, "commits": 1, "dirty": [], "failure": ""}
    assert (tree / "build").exists()


def test_a_tree_that_is_not_clean_is_not_checked(shop: Shop) -> None:
    tree = shop.make()
    shop.machine.write(tree / "unsaved", "x")
    with pytest.raises(No, match=r"not clean(.|\n)*unsaved"):
        shop.machine.ask("tree.check_out", session="s-1", commit=shop.base)
    assert (tree / "unsaved").exists()


def test_the_next_turn_finds_its_branch_after_a_check_that_was_cut_off(shop: Shop) -> None:
    tree = shop.make()
    mine = shop.machine.commit(tree, "work", c="c")
    shop.machine.ask("tree.check_out", session="s-1", commit=shop.base)
    shop.make()
    assert shop.machine.git(tree, "symbolic-ref", "HEAD") == "refs/heads/quarterdeck/worker-x"
    assert shop.machine.git(tree, "rev-parse", "HEAD") == mine


def test_a_fresh_tree_holds_the_commit_and_nothing_else(shop: Shop) -> None:
    shop.make("s-2")
    shop.machine.ask("tree.keep", project="shop", session="s-2")
    fresh = {"name": "check-r-1", "project": "shop", "commit": shop.base}
    tree = Path(shop.machine.ask("tree.fresh", **fresh)["tree"])
    shop.machine.write(tree / "left over", "x")
    assert Path(shop.machine.ask("tree.fresh", **fresh)["tree"]) == tree
    assert sorted(path.name for path in tree.iterdir()) == [".git", "a", "b"]
    assert shop.machine.git(tree, "rev-parse", "HEAD") == shop.base
    assert len(list(tree.parent.glob("pool-*"))) == 1
    for _ in range(2):
        shop.machine.ask("tree.remove", name="check-r-1", project="shop")
    assert not tree.exists()


def test_a_leads_tree_is_moved_to_the_new_head(shop: Shop) -> None:
    tree = shop.make("s-9", branch="")
    head = shop.machine.commit(shop.repo, "landed", d="d")
    shop.update(head)
    for _ in range(2):
        assert shop.machine.ask("tree.move", session="s-9", commit=head)["rescue"] == ""
        assert (tree / ".git/HEAD").read_text().strip() == head
        assert (tree / "d").exists()
    shop.machine.write(tree / "a", "a lead should not\n")
    told = shop.machine.ask("tree.move", session="s-9", commit=shop.base)
    assert told["rescue"] == "quarterdeck/rescue-s-9"
    assert shop.machine.git(tree, "show", f"{told['rescue']}:a") == "a lead should not"
    assert (tree / "a").read_text() == "1\n"
    assert not (tree / "d").exists()


def test_a_session_without_a_tree_is_said(shop: Shop) -> None:
    with pytest.raises(No, match="There is no tree of s-77 on this machine"):
        shop.machine.ask("tree.collect", session="s-77", branch="x", base=shop.base)


def test_many_trees_are_made_and_freed_at_once(shop: Shop) -> None:
    count = 6
    for step in ("tree.make", "tree.keep", "tree.make"):
        for number in range(count):
            args = {"project": "shop", "session": f"s-{number}"}
            if step == "tree.make":
                args |= {"branch": "quarterdeck/worker-x", "commit": shop.base}
                args |= {"name": "n", "email": "e"}
            shop.machine.send(step, args)
        for _ in range(count):
            shop.machine.answer()
    for number in range(count):
        tree = shop.machine.home / f"trees/shop/s-{number}"
        assert shop.machine.git(tree, "status", "--porcelain", "--ignored") == ""


# ---- submodules


def test_submodules_are_there_before_the_agent_is(machine: Machine) -> None:
    """BR-84."""
    machine.write(machine.user / ".gitconfig", '[protocol "file"]\n\tallow = always\n')
    machine.repository("inner")
    middle, repo = machine.repository("middle"), machine.repository("repo")
    machine.git(middle, "submodule", "--quiet", "add", "../inner", "deep er")
    machine.commit(middle, "inner")
    machine.git(repo, "submodule", "--quiet", "add", "../middle", "libs/middle")
    base = machine.commit(repo, "middle")
    told = {"project": "shop", "hub": str(repo), "commits": [base], "base": base}
    machine.ask("copy.update", **told, source=str(repo))
    args = {"project": "shop", "session": "s-1", "branch": "quarterdeck/worker-x"}
    args |= {"commit": base, "name": "n", "email": "e"}
    for session in ("s-1", "s-2"):
        tree = Path(machine.ask("tree.make", **{**args, "session": session})["tree"])
        assert (tree / "libs/middle/deep er/a").read_text() == "1\n"
        assert machine.git(tree, "status", "--porcelain") == ""
        assert machine.git(tree / "libs/middle", "rev-parse", "HEAD") == machine.git(
            middle, "rev-parse", "HEAD"
        )
        if session == "s-1":
            machine.ask("tree.keep", project="shop", session=session)
    machine.commit(middle, "newer", a="2\n")
    machine.git(repo / "libs/middle", "pull", "-q", "origin", "main")
    bumped = machine.commit(repo, "newer middle")
    machine.ask("copy.update", **{**told, "commits": [bumped]}, source=str(repo))
    machine.ask("tree.check_out", session="s-2", commit=bumped)
    assert (tree / "libs/middle/a").read_text() == "2\n"
    assert machine.git(tree, "status", "--porcelain") == ""
    machine.ask("tree.check_back", session="s-2")
    assert (tree / "libs/middle/a").read_text() == "1\n"
    assert machine.git(tree, "status", "--porcelain") == ""


def test_a_submodule_that_cannot_be_had_is_an_error_that_names_it(machine: Machine) -> None:
    """BR-84."""
    machine.write(machine.user / ".gitconfig", '[protocol "file"]\n\tallow = always\n')
    inner, repo = machine.repository("inner"), machine.repository("repo")
    machine.git(repo, "submodule", "--quiet", "add", str(inner), "corpus")
    base = machine.commit(repo, "corpus")
    machine.run("rm", "-rf", str(inner))
    told = {"project": "shop", "hub": str(repo), "commits": [base]}
    with pytest.raises(No, match=r"The submodule corpus .*inner. could not be fetched"):
        machine.ask("copy.update", **told, base=base)
    machine.ask("copy.update", **told)
    with pytest.raises(No, match=r"The submodule corpus .* is not on this machine"):
        machine.ask(
            "tree.make",
            **{"project": "shop", "session": "s-1", "branch": "", "commit": base},
            **{"name": "n", "email": "e"},
        )
    assert not (machine.home / "trees/shop/s-1").exists()


def test_an_address_only_an_agent_wrote_is_not_fetched(machine: Machine) -> None:
    machine.write(machine.user / ".gitconfig", '[protocol "file"]\n\tallow = always\n')
    private, repo = machine.repository("private"), machine.repository("repo")
    base = machine.git(repo, "rev-parse", "HEAD")
    machine.git(repo, "submodule", "--quiet", "add", str(private), "theirs")
    made = machine.commit(repo, "an agent's idea")
    machine.ask("copy.update", project="shop", hub=str(repo), commits=[made], base=base)
    assert not (machine.home / "copies/shop.modules").exists()


@pytest.mark.parametrize(
    ("source", "url", "whole"),
    [
        ("https://example.org/a/shop.git", "../lib.git", "https://example.org/a/lib.git"),
        ("https://example.org/a/shop.git", "../../b/lib", "https://example.org/b/lib"),
        ("git@example.org:a/shop.git", "../lib.git", "git@example.org:a/lib.git"),
        ("/srv/shop/", "./lib", "/srv/shop/lib"),
        ("/srv/shop", "https://example.org/lib", "https://example.org/lib"),
        ("", "../lib", "../lib"),
    ],
)
def test_a_relative_address_starts_where_the_project_came_from(
    source: str, url: str, whole: str
) -> None:
    assert copies.resolved(source, url) == whole


# ---- without a fence


def test_where_there_is_no_fence_the_trees_work_all_the_same(machine: Machine) -> None:
    tools = machine.folder / "bin"
    tools.mkdir()
    for name in ("git", "sh", "find", "sed", "rm", "mv", "cp", "cat", "mkdir", "env", "uname"):
        (tools / name).symlink_to(str(shutil.which(name)))
    full = machine.env["PATH"]
    shop_repo = machine.repository("repo")
    base = machine.git(shop_repo, "rev-parse", "HEAD")
    machine.env["PATH"] = str(tools)
    machine.ask("copy.update", project="shop", hub=str(shop_repo), commits=[base])
    args = {"project": "shop", "session": "s-1", "branch": "quarterdeck/worker-x"}
    made = machine.ask("tree.make", **args, commit=base, name="n", email="e")
    machine.env["PATH"] = full
    head = machine.commit(made["tree"], "work", c="c")
    found = machine.ask("tree.collect", session="s-1", branch="quarterdeck/worker-x", base=base)
    assert (found["head"], found["failure"]) == (head, "")
    assert machine.ask("tree.keep", project="shop", session="s-1")["commit"] == head


def test_one_lock_a_tree(tmp_path: Path) -> None:
    assert copies.alone(str(tmp_path)) is copies.alone(str(tmp_path))
    assert isinstance(copies.alone(str(tmp_path)), type(threading.Lock()))
