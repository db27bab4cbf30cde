"""What a machine lets go of, and what it never does."""

from __future__ import annotations

import gzip
import os
import time
from pathlib import Path
from typing import Any

import pytest

from engine.node import folder
from engine.node.link import Refusal
from engine.node.retain import retain

DAY_S = 86_400.0


def run(home: Path, name: str, ended_days_ago: float | None) -> Path:
    """A run's folder as its runner left it."""
    path = home / "runs" / name
    path.mkdir(parents=True)
    folder.append(str(path), "out.jsonl", folder.line(1, "out", "a line " * 50))
    if ended_days_ago is not None:
        folder.close(str(path), {"code": 0, "why": ""})
        age(path / "exit.json", ended_days_ago)
    return path


def age(path: Path, days: float) -> None:
    then = time.time() - days * DAY_S
    os.utime(path, (then, then))


def tidied(home: Path, *kept: str) -> dict[str, Any]:
    return retain(str(home), {"kept": list(kept), "packed_days": 7, "gone_days": 90})


def test_output_is_compressed_after_a_week_and_reads_the_same(tmp_path: Path) -> None:
    path = run(tmp_path, "s-1-t1", 8)
    before = (path / "out.jsonl").read_bytes()
    assert tidied(tmp_path) == {"packed": 1, "removed": 0, "more": False}
    assert gzip.decompress((path / "out.jsonl.gz").read_bytes()) == before
    assert sorted(os.listdir(path)) == ["exit.json", "out.jsonl.gz"]
    assert tidied(tmp_path) == {"packed": 0, "removed": 0, "more": False}


def test_a_run_goes_after_ninety_days_packed_or_not(tmp_path: Path) -> None:
    packed, bare = run(tmp_path, "s-1-t1", 8), run(tmp_path, "check-p-3-ab12", 91)
    tidied(tmp_path)
    age(packed / "exit.json", 91)
    assert tidied(tmp_path)["removed"] == 1
    assert not packed.exists()
    assert not bare.exists()


def test_what_is_young_needed_or_without_an_end_is_left_as_it_is(tmp_path: Path) -> None:
    """A session that is needed stands for its runs, and for no other's of a longer number."""
    young, endless = run(tmp_path, "s-1-t1", 6), run(tmp_path, "s-2-t1", None)
    needed, waited_for = run(tmp_path, "s-3-t9", 400), run(tmp_path, "check-r-1-cd34", 400)
    other = run(tmp_path, "s-31-t1", 400)
    assert tidied(tmp_path, "s-3", "check-r-1-cd34") == {"packed": 0, "removed": 1, "more": False}
    assert all((path / "out.jsonl").exists() for path in (young, endless, needed, waited_for))
    assert not other.exists()


def test_a_session_that_is_over_leaves_no_login_behind(tmp_path: Path) -> None:
    for name in ("s-1", "s-2"):
        config = tmp_path / "sessions" / name / "config"
        config.mkdir(parents=True)
        (config / ".credentials.json").write_text("a login")
        age(config.parent, 8)
    assert tidied(tmp_path, "s-2")["removed"] == 1
    assert os.listdir(tmp_path / "sessions") == ["s-2"]


def test_a_link_an_agent_laid_leads_to_nothing_that_is_removed(tmp_path: Path) -> None:
    mine = tmp_path / "of-the-owner"
    mine.mkdir()
    (mine / "letter").write_text("mine")
    over = tmp_path / "sessions" / "s-1"
    over.mkdir(parents=True)
    (over / "config").symlink_to(mine)
    (tmp_path / "sessions" / "s-9").symlink_to(mine)
    age(over, 8)
    tidied(tmp_path)
    assert not over.exists()
    assert (mine / "letter").read_text() == "mine"


@pytest.mark.parametrize(
    "wrong", [{"kept": "s-1"}, {"kept": [""]}, {"gone_days": 0}, {"packed_days": "7"}]
)
def test_an_order_that_would_remove_too_much_is_refused(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    with pytest.raises(Refusal):
        retain(str(tmp_path), {"kept": [], "packed_days": 7, "gone_days": 90, **wrong})
