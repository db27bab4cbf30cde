"""Node and runner die at the points of a run's life; `python -m tests.nodepoints` dies at all of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.nodepoints.__main__ import NOT_HERE

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(600)
def test_a_death_at_any_point_of_a_run_s_life_leaves_what_is_true_and_nothing_else() -> None:
    """BR-11, BR-47, BR-97: every other point of node and runner, some of the other processes'."""
    # In a process of its own: it forks, and is the parent of whatever loses its own.
    done = subprocess.run(
        [sys.executable, "-m", "tests.nodepoints", "--sample"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == NOT_HERE and not os.environ.get("CI"):
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 wrong" in done.stdout
    sys.stdout.write(done.stdout)
