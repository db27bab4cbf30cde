"""The fence, tried from the inside, from the outside, and where it cannot be had.

As root the tests drop to an ordinary user for what starts a fence: one that root starts is none.
"""

from __future__ import annotations

import dataclasses
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.node import fence
from engine.node.fence import Probe, RefusedPath, View, arguments

ORDINARY = 64321  # a user id nobody has; it needs no name
PATIENCE_S = 30
NAME = "quarterdeck проект é "  # BR-92: paths are bytes to the kernel, and hold spaces
SOURCES = Path(__file__).parents[2]
# A machine without bubblewrap runs everything unfenced and says so; there is no fence to try there.
pytestmark = pytest.mark.skipif(
    shutil.which("bwrap") is None and not os.environ.get("CI"),
    reason="unfenced: bubblewrap is not installed here",
)

PROBE = Probe(fenced=True, bwrap="/usr/bin/bwrap", version=(0, 8, 0))


class Stage:
    """A folder that belongs to an ordinary user, and a way to run things there as that user."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        needed = ("engine/node/fence.py", "engine/node/metadata.py")
        for name in (*needed, "tests/node/outside.py", "tests/node/inside.py"):
            copy = folder / "lib" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCES / name, copy)
        self.python = sys.executable
        self.who: dict[str, Any] = {}
        if os.geteuid() == 0:
            self.python = "/usr/bin/python3"  # ours may lie where only root can look
            self.who = {"user": ORDINARY, "group": ORDINARY, "extra_groups": []}
            for path in (folder, *folder.rglob("*")):
                os.chown(path, ORDINARY, ORDINARY)

    def start(self, what: str, stderr: int | None = None, /, **env: str) -> subprocess.Popen[str]:
        path = os.environ.get("PATH", os.defpath)
        environment = {"PATH": path, "HOME": f"{self.folder}/user", "LANG": "C.UTF-8"}
        environment["PYTHONPATH"] = f"{self.folder}/lib"
        return subprocess.Popen(
            [self.python, "-B", "-m", "tests.node.outside", what, str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env=environment | env,
            cwd=self.folder,
            **self.who,
        )

    def tell(self, what: str, words: str = "", **env: str) -> dict[str, Any]:
        """Run to the end and return what it said."""
        with self.start(what, None, **env) as started:
            said, _ = started.communicate(words, timeout=PATIENCE_S)
        assert started.returncode == 0, "an ordinary user could not run the test's other half"
        told: dict[str, Any] = json.loads(said)
        return told


@pytest.fixture
def stage() -> Iterator[Stage]:
    with tempfile.TemporaryDirectory(prefix=NAME) as folder:
        yield Stage(Path(folder))


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """What one run in a fence got at, having tried everything in tests/node/inside.py."""
    with tempfile.TemporaryDirectory(prefix=NAME) as folder:
        told = Stage(Path(folder)).tell("attack")
    return told


# ---- from the inside


@pytest.mark.parametrize(
    ("attempt", "stopped_by"),
    [
        ("read the vault key", "ENOENT"),
        ("read the ledger", "ENOENT"),
        ("connect to the engine", "ENOENT"),
        ("list a sibling's run folder", "ENOENT"),
        ("read a sibling's tree", "ENOENT"),
        ("list all trees", ["s-1"]),
        ("read an ssh key", "ENOENT"),
        ("read other files of the home", "ENOENT"),
        ("read root's home", "ENOENT"),
        ("read the passwords", "EACCES"),
        ("write a ref of the hub", "ENOENT"),
        ("plant a hook in the hub", "ENOENT"),
        ("make a folder in our home", "EROFS"),
        ("write a borrowed object", "EROFS"),
        ("write the system", "EROFS"),
        ("write the root folder", "EROFS"),
        ("write a toolchain", "EROFS"),
        ("read a sibling's environment by pid", "ENOENT"),
        ("find a sibling's environment", []),
        ("find the starter's environment", []),
        ("signal a sibling", "ESRCH"),
        ("signal the starter", "ESRCH"),
        ("use an inherited descriptor", [0, 1, 2]),
        ("search the keyring", "EPERM"),
        ("load a program into the kernel", "EPERM"),
        ("open a ring past the filter", "ENOSYS"),
        ("reach the hypervisor", "EAFNOSUPPORT"),
        ("set the core pattern", "EACCES"),
        ("open a terminal", "ENXIO"),
        ("see a disk", []),
        ("see a bus or an agent socket", ["desk.sock"]),
        ("gain privileges", "1"),
        ("hold capabilities", "0000000000000000"),
    ],
)
def test_from_the_inside_a_run_cannot(told: dict[str, Any], attempt: str, stopped_by: Any) -> None:
    assert told["said"][attempt] == stopped_by


def test_from_the_inside_a_run_cannot_uncover_our_home(told: dict[str, Any]) -> None:
    """EINVAL: the cover is locked; EPERM: this machine lets no namespace be made inside."""
    assert told["said"]["uncover our home"] in ("EINVAL", "EPERM")


def test_from_the_inside_a_run_cannot_press_a_key_of_the_kernels(told: dict[str, Any]) -> None:
    """ENOENT: a kernel built without that key."""
    assert told["said"]["press a key of the kernel's"] in ("EACCES", "EROFS", "ENOENT")


def test_abstract_sockets_are_shut_where_the_kernel_can(told: dict[str, Any]) -> None:
    shut = told["probe"]["scope"]
    assert told["said"]["connect to an abstract socket"] == ("EPERM" if shut else "connected")


@pytest.mark.parametrize(
    ("need", "got"),
    [
        ("write the tree", "written"),
        ("write the temporary folder", "written"),
        ("write the config", "written"),
        ("write a cache", "written"),
        ("write its own home", "written"),
        ("read a toolchain", "read #!/bin/sh\necho tool\n"),
        ("connect to the desk", "connected"),
        ("commit in the tree", "0"),
        ("see the certificates", os.path.isdir("/etc/ssl")),
        ("use the usual sockets", "opened lo 127.0.0.1"),
        ("use shared memory", "written"),
        (
            "keep its environment",
            "HOME LANG LD_BIND_NOW PATH PYTHONDONTWRITEBYTECODE PYTHONPATH QUARTERDECK_RUN TMPDIR",
        ),
    ],
)
def test_from_the_inside_a_run_can(told: dict[str, Any], need: str, got: Any) -> None:
    assert told["said"][need] == got


def test_a_run_starts_in_its_tree_under_the_path_it_has_outside(told: dict[str, Any]) -> None:
    assert told["said"]["start in the tree"] == told["place"]["tree"]


def test_outside_stands_what_was_to_be_kept_and_nothing_else(told: dict[str, Any]) -> None:
    assert told["end"] == [0, False]
    assert told["outside"] == {
        "sibling lives": True,
        "hub": True,
        "in the tree": True,
        "in the temporary folder": True,
        "in the config": True,
        "in the cache": True,
        "in the user's home": False,
        "commits": 2,
    }


# ---- living and dying


def everything_gone(read: int) -> bool:
    """Wait until nobody holds the other end of this pipe: the processes of the run did."""
    ended = select.poll()
    ended.register(read, select.POLLIN)
    try:
        return bool(ended.poll(PATIENCE_S * 1000)) and os.read(read, 1) == b""
    finally:
        os.close(read)


@pytest.mark.parametrize("whom", ["the fence", "the runner", "pid 1 inside"])
def test_a_fence_ends_with_its_setsid_children_when_killed(stage: Stage, whom: str) -> None:
    read, write = os.pipe()
    with stage.start("hold", write, FENCED="yes", MARKED="r-1") as runner:
        os.close(write)
        assert runner.stdout is not None
        run = json.loads(runner.stdout.readline())
        assert run["child_pid"] > 1
        pids = {"the fence": run["pid"], "the runner": runner.pid, "pid 1 inside": run["child_pid"]}
        os.kill(pids[whom], signal.SIGKILL)
        if whom != "the runner":
            out, _ = runner.communicate("\n", timeout=PATIENCE_S)
            assert json.loads(out)["end"] == [137 if whom == "pid 1 inside" else None, True]
    assert everything_gone(read)


@pytest.mark.parametrize(("last", "code"), [("exit 3", 3), ("kill -9 $$", 137)])
def test_nothing_of_a_fence_is_left_once_its_end_is_told(
    stage: Stage, last: str, code: int
) -> None:
    """BR-51: a session's next turn starts on that end, beside whatever would still be writing."""
    told = stage.tell("leave", MARKED=f"r-{uuid.uuid4().hex}", LAST=last)
    assert told == {"end": [code, code > 128], "left": 0}


def test_a_later_node_ends_a_fence_only_by_the_process_it_was_told_of(stage: Stage) -> None:
    """BR-47, BR-64: a pid is no proof; the time it began, in this boot, is."""
    read, write = os.pipe()
    with stage.start("hold", write, FENCED="yes", MARKED="r-1") as runner:
        os.close(write)
        assert runner.stdout is not None
        run = json.loads(runner.stdout.readline())
        pid, began = run["child_pid"], run["start_time"]
        boot, _, ticks = began.partition(":")
        assert fence.kill_tree(pid, f"{boot}:{int(ticks) + 1}")  # that one is gone long since
        assert fence.kill_tree(pid, f"an-earlier-boot:{ticks}")
        assert fence.start_time(pid) == began
        assert fence.kill_tree(pid, began)
        runner.communicate("\n", timeout=PATIENCE_S)
    assert everything_gone(read)
    assert fence.kill_tree(pid, began)


def test_kill_tree_touches_nothing_it_was_not_told_of() -> None:
    assert not fence.kill_tree(0, "boot:1")
    assert not fence.kill_tree(1, fence.start_time(1))
    assert not fence.kill_tree(os.getpid(), "")


def test_the_runner_can_end_its_own_fence(stage: Stage) -> None:
    read, write = os.pipe()
    with stage.start("hold", write, FENCED="yes", MARKED="r-1", KILL="yes") as runner:
        os.close(write)
        out, _ = runner.communicate("\n", timeout=PATIENCE_S)
    assert json.loads(out.splitlines()[-1]) == {"end": [137, True], "ran": True}
    assert everything_gone(read)


def test_an_unfenced_run_is_ended_by_its_mark_and_no_other_is(stage: Stage) -> None:
    """BR-64: only what we can prove we started; another run's mark may begin with ours."""
    read, write = os.pipe()
    bystander = subprocess.Popen(["sleep", "600"], env={**os.environ, fence.MARK: "r-abc1"})
    with bystander, stage.start("hold", write, FENCED="no", MARKED="r-abc") as runner:
        os.close(write)
        assert runner.stdout is not None
        runner.stdout.readline()
        assert fence.kill_marked("r-abc") >= 4
        out, _ = runner.communicate("\n", timeout=PATIENCE_S)
        assert json.loads(out) == {"end": [137, True], "ran": True}
        assert everything_gone(read)
        assert bystander.poll() is None
        bystander.kill()


def test_no_mark_ends_nothing() -> None:
    with pytest.raises(ValueError, match="no run named"):
        fence.kill_marked("")


def test_a_command_is_told_from_a_fence_that_failed(stage: Stage) -> None:
    def ended(*argv: str, **more: Any) -> dict[str, Any]:
        shutil.rmtree(stage.folder / "user", ignore_errors=True)
        shutil.rmtree(stage.folder / "seed", ignore_errors=True)
        return stage.tell("one", json.dumps({"argv": argv, **more}))

    assert ended("sh", "-c", "echo hi; exit 1") == {"end": [1, False], "ran": True, "said": "hi\n"}
    assert ended("sh", "-c", "kill -9 $$")["end"] == [137, True]
    missing = ended("no-such-command")
    assert (missing["end"], missing["ran"]) == ([None, False], False)
    assert "no-such-command" in missing["said"]
    ending = "trap 'exit 43' TERM; echo up; while :; do sleep 0.1; done"
    assert ended("sh", "-c", ending, signal=signal.SIGTERM)["end"] == [43, False]


def test_what_a_view_leaves_out_is_not_to_be_had(stage: Stage) -> None:
    script = (
        "ls /sys/class/net 2>&1; cat /proc/net/dev | wc -l; echo x > stray; echo $?; ls -A /tmp"
    )
    asked = {"argv": ["sh", "-c", script], "view": {"network": False, "tree_read_only": True}}
    said = stage.tell("one", json.dumps(asked))["said"]
    assert "Read-only file system" in said
    assert "\n3\n" in said  # two lines of head and the loopback of its own


def test_what_the_owner_sent_can_be_read_and_not_written(stage: Stage) -> None:
    home = stage.folder / "user/.local/state/quarterdeck"
    files = home / "sessions/s-1/files"
    files.mkdir(parents=True)
    (files / "0a1b2c3d-photo.jpg").write_text("a photo")
    for path in (stage.folder / "user").rglob("*"):
        os.chown(path, stage.who.get("user", -1), -1)
    os.chown(stage.folder / "user", stage.who.get("user", -1), -1)
    script = 'cd "$1" && cat *; echo x >> *; touch new; rm -f *; cat *'
    asked = {"argv": ["sh", "-c", script, "look", str(files)], "view": {"files": str(files)}}
    said = stage.tell("one", json.dumps(asked))["said"]
    assert said.count("a photo") == 2, said
    assert said.count("Read-only file system") >= 2, said
    assert (files / "0a1b2c3d-photo.jpg").read_text() == "a photo"


def test_our_home_stays_hidden_in_a_folder_that_is_shown(stage: Stage) -> None:
    data = stage.folder / "data"
    (data / "quarterdeck/secrets").mkdir(parents=True)
    (data / "quarterdeck/secrets/vault.key").write_text("vault-secret")
    (data / "notes").write_text("notes")
    for path in (data, *data.rglob("*")):
        os.chown(path, stage.who.get("user", -1), -1)
    view = {"home": f"{data}/quarterdeck", "read": [str(data)], "caches": [], "config_dir": ""}
    view |= {"tmp": "", "tree": ""}
    script = "cat notes; ls -A quarterdeck; touch quarterdeck/x"
    argv = ["env", f"--chdir={data}", "sh", "-c", script]
    said = stage.tell("one", json.dumps({"argv": argv, "view": view}))["said"]
    assert said.startswith("notes")
    assert "secrets" not in said
    assert "Read-only" in said


def test_a_fence_is_not_started_from_a_thread_that_may_end() -> None:
    caught: list[str] = []

    def elsewhere() -> None:
        try:
            fence.launch(["true"], {}, View(home="/nowhere"), PROBE)
        except RuntimeError as error:
            caught.append(str(error))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert "main thread" in caught[0]


# ---- what it is said to be worth


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Probe(scope=True), "this machine's own network services stay reachable"),
        (
            Probe(scope=True, metadata=True),
            "this machine's own network services and a cloud's metadata stay reachable",
        ),
        (
            Probe(metadata=True),
            "abstract sockets (kernel older than 6.12), this machine's own network services "
            "and a cloud's metadata stay reachable",
        ),
    ],
)
def test_what_stays_open_is_named(found: Probe, said: str) -> None:
    line = dataclasses.replace(found, fenced=True, nesting=True, version=(0, 8, 0)).describe()
    assert line == f"fenced by bubblewrap 0.8.0; {said}"


# ---- where there is no fence


def test_an_ordinary_user_has_a_fence_here(stage: Stage) -> None:
    told = stage.tell("look")
    assert told["probe"]["fenced"], told["line"]
    assert told["line"].startswith("fenced by bubblewrap ")


def test_root_is_unfenced_and_told_what_to_do(stage: Stage) -> None:
    as_root = ["bwrap", "--unshare-user", "--uid", "0", "--gid", "0", "--bind", "/", "/"]
    as_root += ["--dev-bind", "/dev", "/dev", stage.python, "-B", "-m", "tests.node.outside"]
    said = subprocess.check_output(
        [*as_root, "look", str(stage.folder)],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{stage.folder}/lib"},
        cwd=stage.folder,
        text=True,
        **stage.who,
    )
    line = json.loads(said)["line"]
    assert line.startswith("unfenced: running as root")
    assert "start the node as an ordinary user" in line


def test_without_bubblewrap_the_machine_is_unfenced_and_says_what_to_install(stage: Stage) -> None:
    line = stage.tell("look", PATH="")["line"]
    assert line.startswith("unfenced: bubblewrap is not installed")
    assert "apt-get install bubblewrap" in line


def test_a_bubblewrap_that_fails_is_quoted(stage: Stage) -> None:
    stand_in = stage.folder / "bin/bwrap"
    stand_in.parent.mkdir()
    stand_in.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo bubblewrap 0.9.0 && exit\n'
        "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1\n"
    )
    stand_in.chmod(0o755)
    line = stage.tell("look", PATH=f"{stand_in.parent}:/usr/bin:/bin")["line"]
    assert line.startswith("unfenced: a trial fence did not start: bwrap: setting up uid map")


def test_a_bubblewrap_too_old_is_unfenced(stage: Stage) -> None:
    stand_in = stage.folder / "bin/bwrap"
    stand_in.parent.mkdir()
    stand_in.write_text("#!/bin/sh\necho bubblewrap 0.3.3\n")
    stand_in.chmod(0o755)
    assert "too old" in stage.tell("look", PATH=f"{stand_in.parent}:/usr/bin:/bin")["line"]


def test_an_unfenced_command_runs_in_its_tree_with_just_its_environment(tmp_path: Path) -> None:
    run = fence.launch(
        ["/bin/sh", "-c", "pwd; /usr/bin/env"],
        {fence.MARK: "r-7"},
        View(home=str(tmp_path / "home"), tree=str(tmp_path)),
        Probe(why="for this test"),
        stdout=subprocess.PIPE,
    )
    assert run.stdout is not None
    said = run.stdout.read().decode().splitlines()
    assert run.wait() == (0, False)
    assert said[0] == str(tmp_path)
    assert {line.split("=")[0] for line in said[1:]} <= {fence.MARK, "PWD", "OLDPWD", "SHLVL", "_"}
    run.stdout.close()


# ---- the arguments


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A user's folder with a home of ours in it: user/, home/."""
    for name in ("user/.ssh", "user/.npm", "home/trees/s-1", "home/tmp/s-1", "home/secrets"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path.resolve()


def made(place: Path, **changes: Any) -> list[str]:
    view = View(home=f"{place}/home", tree=f"{place}/home/trees/s-1")
    return arguments(dataclasses.replace(view, **changes), PROBE, f"{place}/user")


def test_a_link_a_run_planted_is_refused(place: Path) -> None:
    (place / "home/trees/s-1/cache").symlink_to(place / "user/.ssh")
    with pytest.raises(RefusedPath, match="is a link inside"):
        made(place, caches=(f"{place}/home/trees/s-1/cache",))


def test_a_link_below_a_cache_is_refused(place: Path) -> None:
    (place / "user/.npm/deep").symlink_to(place / "user/.ssh")
    with pytest.raises(RefusedPath, match="is a link inside"):
        made(place, caches=(f"{place}/user/.npm",), read=(f"{place}/user/.npm/deep/x/..",))


def test_a_tree_that_is_a_link_is_refused(place: Path) -> None:
    (place / "home/trees/s-2").symlink_to(place / "user")
    with pytest.raises(RefusedPath, match="is a link inside"):
        made(place, tree=f"{place}/home/trees/s-2")


def test_a_link_in_a_kept_temporary_folder_cannot_move_a_mount(place: Path) -> None:
    """A mount point in /tmp is made in the session's own folder, where a run may have written."""
    top = place.parts[2]
    if place.parts[1] != "tmp":
        pytest.fail("the test's folder must be in /tmp for this test")
    (place / "home/tmp/s-1" / top).symlink_to("/oldroot")
    with pytest.raises(RefusedPath, match="holds a link in place of"):
        made(place, tmp=f"{place}/home/tmp/s-1")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("{place}/user", "would show the whole of"),
        ("{place}", "would show the whole of"),
        ("/", "would show the whole of"),
        ("{place}/home", "would show the whole of"),
        ("{place}/home/trees", "holds what no run may see"),
        ("{place}/home/secrets/deep", "holds what no run may see"),
        ("{place}/user/missing", "does not exist"),
        ("/proc/1", "is the kernel's"),
        ("user/.npm", "is not an absolute path"),
    ],
)
@pytest.mark.parametrize("how", ["read", "write", "caches"])
def test_a_path_is_refused_that_shows_too_much(place: Path, path: str, why: str, how: str) -> None:
    (place / "home/secrets/deep").mkdir()
    with pytest.raises(RefusedPath, match=why):
        made(place, **{how: (path.format(place=place),)})


def test_only_a_socket_is_shown_as_one(place: Path) -> None:
    (place / "home/runs/r-1").mkdir(parents=True)
    path = f"{place}/home/runs/r-1/desk.sock"
    with socket.socket(socket.AF_UNIX) as real:
        real.bind(path)
        assert path in made(place, sockets=((path, "/run/desk.sock"),))
        with pytest.raises(RefusedPath, match="is not in /run"):
            made(place, sockets=((path, "/run/../etc/passwd"),))
    os.unlink(path)
    os.symlink("/run/docker.sock", path)
    with pytest.raises(RefusedPath, match="is a link inside"):
        made(place, sockets=((path, "/run/desk.sock"),))


def test_our_own_socket_is_never_shown(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as engine:
        engine.bind(f"{place}/home/engine.sock")
        with pytest.raises(RefusedPath, match="holds what no run may see"):
            made(place, sockets=((f"{place}/home/engine.sock", "/run/engine.sock"),))


def test_a_home_reached_by_the_owners_own_link_has_both_its_paths(place: Path) -> None:
    (place / "disk").mkdir()
    (place / "disk/work").mkdir()
    (place / "user/work").symlink_to("../disk/work")
    words = " ".join(made(place, read=(f"{place}/user/work",)))
    assert f"--ro-bind {place}/disk/work {place}/disk/work" in words
    assert f"--symlink ../disk/work {place}/user/work" in words


def test_the_deeper_mount_comes_later_and_the_covers_are_closed_last(place: Path) -> None:
    words = made(place, tmp=f"{place}/home/tmp/s-1", read=(f"{place}/home/trees/s-1",))
    tree = words.index(f"{place}/home/trees/s-1")
    assert words.index("/tmp") < words.index(f"{place}/home") < tree
    assert words[-6:] == [
        *("--remount-ro", f"{place}/home"),
        *("--remount-ro", "/"),
        *("--chdir", f"{place}/home/trees/s-1"),
    ]
    assert words[tree - 1] == "--bind"  # named twice: the later kind wins


def test_a_user_whose_home_is_ours_may_still_write_a_private_one(place: Path) -> None:
    words = made(place, tree="", home=f"{place}/user")
    assert words.count(f"{place}/user") == 1


def test_an_older_bubblewrap_is_not_asked_for_sizes(place: Path) -> None:
    view = View(home=f"{place}/home")
    assert "--size" in arguments(view, PROBE, f"{place}/user")
    older = dataclasses.replace(PROBE, version=(0, 6, 1))
    assert "--size" not in arguments(view, older, f"{place}/user")


def test_the_whole_file_system_is_never_bound(place: Path) -> None:
    words = made(place)
    bound = {words[at + 1] for at, word in enumerate(words) if "bind" in word}
    assert not bound & {"/", "/home", "/root", "/run", "/var", "/tmp", "/sys", "/proc", "/dev"}


def test_the_filter_is_whole_instructions() -> None:
    program = fence.seccomp()
    assert len(program) % 8 == 0
    assert len(program) < 8 * 64


def test_only_folders_that_exist_count_as_toolchains(tmp_path: Path) -> None:
    (tmp_path / ".pyenv").mkdir()
    (tmp_path / ".ssh").mkdir()
    assert fence.toolchains(str(tmp_path)) == (f"{tmp_path}/.pyenv",)
