"""The other half of a test, as an ordinary user: fences are that user's, and root would see too much.

A module of this folder is run with a folder of its own; it prints what came of it, as JSON. Where the tests
run as root it is a user nobody has, with a copy of what it imports and the system's Python, since ours may lie
where only root can look. Used by test_attempts.py, test_keyed.py, test_network.py, test_sign_in.py and
tests/real_agents/test_codex_in_the_fence.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ORDINARY = 64321  # a user id nobody has; it needs no name
PATIENCE_S = 120.0
SOURCES = Path(__file__).parents[2]
IMPORTED = (
    "engine/__init__.py",
    "engine/node/*.py",
    "tests/__init__.py",
    "tests/login_program.py",
    "tests/node/*.py",
)


# As root we show the other half a tun that ordinary users may open, as nearly every machine has it:
# in mounts of its own, so that this machine's stays as it is. $1: its folder, $2: what runs as whom.
_WITH_TUN = """
[ -e /dev/net/tun ] && mknod -m 666 "$1/tun" c 10 200 && mount --bind "$1/tun" /dev/net/tun
shift
exec "$@"
"""


def with_tun(argv: list[str], stage: str) -> list[str]:
    """Return the command that runs `argv` as the ordinary user, where that one may open a tun."""
    who = ["setpriv", f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups"]
    return ["unshare", "--mount", "sh", "-c", _WITH_TUN, "sh", stage, *who, *argv]


def told_by(
    module: str,
    patience_s: float = PATIENCE_S,
    before: str = "",
    tun: bool = False,
    at: str = "",
    **environment: str,
) -> dict[str, Any]:
    """Return what a module printed; `{stage}` in the environment stands for its folder.

    tun      it may open one, and so have networks of its own, if anybody on this machine can
    at       where that folder is made: where temporary files are, unless it is named
    before   a shell script that ends by `exec "$@"`, which starts it; $0 is its folder
    """
    python, who = sys.executable, dict[str, Any]()
    prefix = f"quarterdeck-{module.replace('_', '-')}-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=at or None) as stage:
        for path in (path for form in IMPORTED for path in SOURCES.glob(form)):
            copy = Path(stage, "lib", path.relative_to(SOURCES))
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        Path(stage, "user").mkdir()
        if os.geteuid() == 0:
            python = "/usr/bin/python3"
            who = {"user": ORDINARY, "group": ORDINARY, "extra_groups": []}
            for path in (Path(stage), *Path(stage).rglob("*")):
                os.chown(path, ORDINARY, ORDINARY)
        env = {
            "PATH": os.defpath,
            "HOME": "{stage}/user",
            "PYTHONPATH": "{stage}/lib",
        } | environment
        argv = [python, "-B", "-m", f"tests.node.{module}", stage]
        argv = ["sh", "-c", before, stage, *argv] if before else argv
        if tun and os.geteuid() == 0:
            argv, who = with_tun(argv, stage), {}
        done = subprocess.run(
            argv,
            stdout=subprocess.PIPE,
            text=True,
            env={name: value.replace("{stage}", stage) for name, value in env.items()},
            cwd=stage,
            timeout=patience_s,
            **who,
        )
    assert done.returncode == 0, "an ordinary user could not run the test's other half"
    found: dict[str, Any] = json.loads(done.stdout)
    return found
