"""A sample of each path's calls is died at, and has no room; `python -m tests.strace` takes them all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOT_HERE = 3
EVERY = {"accept": 41, "land": 47, "ship": 59, "follow": 31, "send": 13, "keep": 3}


def walked(*arguments: str) -> str:
    """Walk in a process of its own: one that waits for whatever child ends is no company for pytest."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.strace", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == NOT_HERE and not os.environ.get("CI"):
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("path", EVERY)
def test_a_death_before_any_call_loses_and_doubles_nothing(path: str) -> None:
    told = walked("--path", path, "--every", str(EVERY[path]), "--first", "4")
    assert f"{path}: " in told
    assert " 0 deaths" not in told


@pytest.mark.parametrize("path", EVERY)
def test_a_disk_that_is_full_from_any_call_on_spoils_nothing(path: str) -> None:
    every, first = ("90", "45") if EVERY[path] > 3 else ("3", "2")  # it makes few calls
    told = walked("--path", path, "--every", every, "--first", first, "--full")
    assert " 0 no room" not in told


def test_what_is_answered_too_early_is_seen() -> None:
    """The walk is worth something only if it finds what is wrong."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.strace.too_early"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == NOT_HERE and not os.environ.get("CI"):
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
