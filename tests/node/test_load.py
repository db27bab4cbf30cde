"""What a machine tells of its cores and memory, and who goes first when that is gone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.node import load

MEMINFO = "MemTotal:       24683772 kB\nMemFree:         1234 kB\nMemAvailable:    2000000 kB\n"
ASKS = (
    "from engine.node import load; load.give_up_first(); load.give_up_first();"
    "print(open('/proc/self/oom_score_adj').read())"
)


def test_what_can_be_had_is_told_and_not_what_is_free(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text(MEMINFO)
    assert load.free_mb(str(tmp_path / "meminfo")) == 2048


def test_where_nothing_tells_it_is_unknown(tmp_path: Path) -> None:
    assert load.free_mb(str(tmp_path / "none")) == load.UNKNOWN
    (tmp_path / "meminfo").write_text("MemTotal: 1 kB\n")
    assert load.free_mb(str(tmp_path / "meminfo")) == load.UNKNOWN


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no cores can be left out here")
def test_only_the_cores_that_we_may_use_are_counted() -> None:
    asks = (
        "import os; from engine.node import load; "
        "os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1]); print(load.cores())"
    )
    told = subprocess.run([sys.executable, "-c", asks], capture_output=True, check=True)
    assert told.stdout.split() == [b"1"]


@pytest.mark.skipif(not Path("/proc/self/oom_score_adj").exists(), reason="no Linux")
def test_what_a_run_starts_is_ended_before_others_are() -> None:
    """BR-44."""
    told = subprocess.run([sys.executable, "-c", ASKS], capture_output=True, check=True)
    assert int(told.stdout) >= load.GIVEN_UP_FIRST
