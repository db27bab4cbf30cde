"""The demo's repository and what its agents do to it, without engine or bot."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from bot.demo import sample
from engine.node import rehearse

SCENARIO = Path(sample.__file__).with_name("goal.json")


def parts(role: str) -> list[dict[str, Any]]:
    every = json.loads(SCENARIO.read_text(encoding="utf-8"))["parts"]
    return [part for part in every if part.get("role") == role]


def check(repository: Path) -> None:
    command = sample.CHECK.replace("python3", sys.executable)
    subprocess.run(command, shell=True, cwd=repository, check=True, capture_output=True)


def play(repository: Path, steps: list[dict[str, Any]]) -> None:
    for step in steps:
        if "write" in step:
            (repository / step["write"]["path"]).write_text(step["write"]["text"], encoding="utf-8")
        elif "edit" in step:
            path = repository / step["edit"]["path"]
            before = path.read_text(encoding="utf-8")
            assert step["edit"]["old"] in before
            path.write_text(
                before.replace(step["edit"]["old"], step["edit"]["new"]), encoding="utf-8"
            )
        elif "run" in step:
            said = subprocess.run(
                step["run"].replace("python3", sys.executable),
                shell=True, cwd=repository, check=True, capture_output=True, text=True,
            )  # fmt: skip
            assert step["expect"] in said.stdout


def test_the_sample_is_green_and_pushed(tmp_path: Path) -> None:
    repository, remote = sample.make(tmp_path)
    check(repository)
    assert sample.git(repository, "status", "--porcelain", "--ignored=no") == ""
    assert sample.git(remote, "rev-parse", sample.BASE) == sample.git(repository, "rev-parse", "@")


def test_every_piece_leaves_the_check_green(tmp_path: Path) -> None:
    repository, _ = sample.make(tmp_path)
    workers = parts("worker")
    assert len(workers) == 4
    for part in workers:
        play(repository, part["steps"])
        check(repository)


def test_the_rehearsal_agent_can_read_the_scenario() -> None:
    assert len(rehearse.load(str(SCENARIO))) == len(parts("lead")) + len(parts("worker"))


def test_every_piece_of_a_plan_has_a_worker_that_plays_it() -> None:
    steps = [step for part in parts("lead") for step in part["steps"]]
    plans = [step["with"] for step in steps if step.get("desk") == "propose_plan"]
    assert [len(plan["pieces"]) for plan in plans] == [3, 1]
    for piece in [piece for plan in plans for piece in plan["pieces"]]:
        assert [part for part in parts("worker") if part["session"] in piece["task"]], piece
