"""Commands that hold a key, run as an ordinary user in real fences; tells what each came to.

A process of its own that is the node to every run: as root the tests drop to another user here.
Started and judged by tests/node/test_keyed.py. Standard library only.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.node import fence, folder
from engine.node.runs import Runs

VALUE = "sk-test-Zq7/vW+92 kL"
PATIENCE_S = 60.0
LONG = f"sleep 1000.{os.getpid()}"  # nobody else's
PRINTS = """
printf '%s\\n' "$STRIPE_KEY"
printf '%s' "$STRIPE_KEY" | base64
printf 'user:%s' "$STRIPE_KEY" | base64 -w 9
printf '%s' "$STRIPE_KEY" | od -An -tx1
echo "$STRIPE_KEY" >&2
for part in 1 2 3; do printf '%s' "$STRIPE_KEY" | cut -c1-7 | tr -d '\\n'; sleep 0.05
  printf '%s\\n' "$STRIPE_KEY" | cut -c8-; done
echo "stdin: $(cat | wc -c)"
echo "fds: $(ls /proc/self/fd | tr '\\n' ' ')"
for of in environ cmdline; do tr '\\0' '\\n' </proc/1/$of | grep -cFe "$STRIPE_KEY"; done
"""
# What another fence of the same user's can see, of whatever process there is.
LOOKS = """
while [ ! -e stop ]; do cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'
  ls -l /proc/[0-9]*/fd 2>/dev/null; find / -xdev -type f -newer begun 2>/dev/null | head -50
  sleep 0.05; done
"""


PATHS = "bin::.:{tree}/bin:{tree}:/proc/self/cwd/bin:/usr/bin:/bin"


def plain_env() -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": os.path.expanduser("~"), "LANG": "C.UTF-8"}


def shadows(tree: Path) -> None:
    """Put programs into a tree that tell that they ran."""
    tree.joinpath("bin").mkdir()
    for name in ("bin/shadow", "shadow", "bin/printf", "printf"):
        tree.joinpath(name).write_text(f"#!/bin/sh\ntouch {tree}/shadow-ran\n")
        tree.joinpath(name).chmod(0o755)


class Stage:
    """A home with two trees, and a node over it."""

    def __init__(self, stage: str, probe: fence.Probe) -> None:
        self.home = f"{stage}/user/.local/state/quarterdeck"
        for name in ("own", "other"):
            os.makedirs(f"{self.home}/trees/{name}", exist_ok=True)
        self.runs = Runs(self.home, probe)

    def spec(self, run: str, script: str, tree: str = "own", **more: Any) -> dict[str, Any]:
        return {
            "run": run,
            "kind": "command",
            "argv": ["/bin/sh", "-c", script],
            "env": plain_env(),
            "scrub": True,
            "fence": {"tree": f"{self.home}/trees/{tree}"},
            **more,
        }

    def start(self, run: str, script: str, **more: Any) -> dict[str, Any]:
        return self.runs.start(self.spec(run, script, **more), {"STRIPE_KEY": VALUE})

    def ended(self, run: str) -> dict[str, Any]:
        """Wait for a run's end; as its node, see to what its runner left."""

        def look() -> Any:
            for gone in self.runs.reap():
                self.runs.finish(gone)
            return folder.read(f"{self.home}/runs/{run}/exit.json")

        return dict(wait_for(look, f"the end of {run}"))

    def spooled(self, run: str) -> list[list[Any]]:
        lines = Path(f"{self.home}/runs/{run}/out.jsonl").read_text("utf-8").splitlines()
        return [[line["k"], line["d"]] for line in map(json.loads, lines)]

    def child(self, run: str) -> dict[str, Any]:
        path = f"{self.home}/runs/{run}/child.json"
        return dict(wait_for(lambda: folder.read(path), f"the child of {run}"))


def wait_for(look: Callable[[], Any], what: str) -> Any:
    until = time.monotonic() + PATIENCE_S
    while not (found := look()):
        if time.monotonic() > until:
            sys.exit(f"{what} did not come")
        time.sleep(0.01)
    return found


def holds_value(data: bytes) -> bool:
    return VALUE.encode() in data or VALUE[:9].encode() in data


def seen_outside(stage: Stage, run: str) -> dict[str, bool]:
    """Whether the value stands where anybody of this user could read it, outside all fences."""
    child = stage.child(run)
    names = {"runner": child["runner"], "bwrap": child["pid"], "pid 1": child["child_pid"]}
    found = {}
    for name, pid in names.items():
        for part in ("environ", "cmdline"):
            found[f"{part} of its {name}"] = holds_value(Path(f"/proc/{pid}/{part}").read_bytes())
    return found


def files_with_it(stage: Stage) -> list[str]:
    walked = [os.path.join(at, name) for at, _, names in os.walk(stage.home) for name in names]
    return [
        path for path in walked if os.path.isfile(path) and holds_value(Path(path).read_bytes())
    ]


def play(folder_: str) -> dict[str, Any]:
    probe = fence.probe()
    if not probe.fenced:
        sys.exit(probe.describe())
    stage = Stage(folder_, probe)
    told: dict[str, Any] = {"value": VALUE}

    other = Path(stage.home, "trees/other")
    other.joinpath("begun").touch()
    look = stage.spec("looks", LOOKS, tree="other")
    stage.runs.start({**look, "scrub": False}, {})
    stage.child("looks")
    stage.start("prints", f"{PRINTS}\ntouch printed; while [ ! -e go ]; do sleep 0.05; done")
    tree = Path(stage.home, "trees/own")
    wait_for(tree.joinpath("printed").exists, "what it prints")
    told["outside"] = seen_outside(stage, "prints")
    told["before its end"] = stage.spooled("prints")
    time.sleep(0.3)  # some looks of the other's, while there is something to be seen
    tree.joinpath("go").touch()
    told["prints"] = [stage.ended("prints"), stage.spooled("prints")]
    other.joinpath("stop").touch()
    stage.ended("looks")
    told["other"] = [line for _, line in stage.spooled("looks")]

    stage.start("again", "echo x >> ran; exit 3")
    stage.ended("again")
    told["twice"] = [stage.start("again", "echo x >> ran; exit 3")["started"]]
    told["twice"].append(tree.joinpath("ran").read_text())

    stage.start("slow", "echo begun; sleep 1000", limit_s=0.5)
    told["slow"] = [stage.ended("slow"), stage.spooled("slow")]

    stage.start("stopped", f"{LONG} & setsid {LONG} & {LONG}")
    at_work = stage.child("stopped")
    stage.runs.end("stopped", 0.0)
    told["stopped"] = [
        stage.ended("stopped")["why"],
        os.path.exists(f"/proc/{at_work['child_pid']}"),
    ]

    stage.start("killed", 'echo "$STRIPE_KEY"; touch began; sleep 1000')
    wait_for(tree.joinpath("began").exists, "what is to be cut off")
    os.kill(stage.child("killed")["runner"], signal.SIGKILL)
    told["killed"] = [stage.ended("killed"), stage.spooled("killed")]
    told["killed again"] = stage.start("killed", "touch ran-again")["started"]
    told["ran again"] = tree.joinpath("ran-again").exists()

    stage.start("much", 'yes "$STRIPE_KEY" | head -n 1428571')
    told["much"] = [stage.ended("much"), len(str(stage.spooled("much")))]
    told["left out"] = [d for k, d in stage.spooled("much") if k == "out" and "left out" in d]

    shadows(tree)
    stage.start("plain", "", argv=["shadow"], env={**plain_env(), "PATH": PATHS.format(tree=tree)})
    told["plain"] = stage.ended("plain")["why"]
    stage.start("usual", "", argv=["printf", "usual"], env={**plain_env(), "PATH": f"bin::{tree}"})
    told["usual"] = [stage.ended("usual"), stage.spooled("usual")]
    told["shadow ran"] = tree.joinpath("shadow-ran").exists()
    stage.start("cores", "ulimit -Sc; ulimit -Hc")
    told["cores"] = [stage.ended("cores"), stage.spooled("cores")]

    stage.start("none", "true", argv=["/no/such/program"])
    told["none"] = stage.ended("none")

    loose = Stage(f"{folder_}/loose", fence.Probe(why="none was wanted"))
    loose.start("loose", 'touch ran; echo "$STRIPE_KEY"')
    told["loose"] = [loose.ended("loose"), Path(loose.home, "trees/own/ran").exists()]
    told["files"] = files_with_it(stage) + files_with_it(loose)
    told["processes"] = subprocess.run(
        ["pgrep", "-f", LONG], stdout=subprocess.PIPE, text=True, check=False
    ).stdout.split()
    return told


if __name__ == "__main__":
    print(json.dumps(play(sys.argv[1])))  # noqa: T201 - the test reads it
