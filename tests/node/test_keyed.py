"""A command that holds a key, in its own fence: who can see the value, what is kept of it, how it ends.

As root the tests drop to an ordinary user, whose fences these are.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest

from tests.node.ordinary import told_by

pytestmark = pytest.mark.skipif(
    shutil.which("bwrap") is None and not os.environ.get("CI"),
    reason="unfenced: bubblewrap is not installed here",
)

Told = dict[str, Any]


@pytest.fixture(scope="module")
def told() -> Told:
    """What every command came to (tests/node/keyed.py)."""
    return told_by("keyed")


def printed(told: Told, run: str) -> list[str]:
    return [line for kind, line in told[run][1] if kind == "out"]


def test_the_value_is_the_command_s_alone_and_out_of_all_it_prints(told: Told) -> None:
    how, _ = told["prints"]
    assert (how["code"], how["why"]) == (0, "")
    lines = printed(told, "prints")
    assert lines[0] == "{{STRIPE_KEY}}"
    assert lines[1].startswith("{{STRIPE_KEY}}")
    assert lines.count("{{STRIPE_KEY}}") >= 5
    text = "\n".join(lines)
    assert "stdin: 0" in lines
    assert "fds: 0 1 2 3 " in lines  # 3: of ls itself
    assert lines[-2:] == ["0", "0"]  # its fence's own process has neither in its environment
    assert told["value"][:5] not in text
    assert "73 6b 2d" not in text  # od


def test_nothing_it_prints_is_stored_before_it_is_over(told: Told) -> None:
    assert [kind for kind, _ in told["before its end"]] == ["note"]


def test_no_other_fence_sees_it_and_outside_only_the_command_has_it(told: Told) -> None:
    """bubblewrap and the runner, which the same user can look into, have it in no environment."""
    assert told["other"], "the other fence has looked round"
    assert not [line for line in told["other"] if told["value"][:9] in line]
    assert len(told["outside"]) == 6
    assert not any(told["outside"].values()), told["outside"]


def test_no_file_of_the_node_s_holds_it(told: Told) -> None:
    assert told["files"] == []


def test_it_never_runs_twice_whatever_is_ordered(told: Told) -> None:
    assert told["twice"] == [False, "x\n"]
    assert (told["killed again"], told["ran again"]) == (False, False)


def test_it_is_ended_at_its_limit_and_that_is_said(told: Told) -> None:
    how, lines = told["slow"]
    assert how["why"] == "limit"
    assert ["out", "begun"] in lines
    assert ["note", "Ended: it ran longer than 0.5 seconds."] in lines


def test_it_is_ended_with_all_it_started(told: Told) -> None:
    assert told["stopped"] == ["stopped", False]
    assert told["processes"] == []


def test_with_its_runner_it_is_cut_off_and_what_it_printed_is_lost_not_leaked(told: Told) -> None:
    how, lines = told["killed"]
    assert how["why"] == "cut off"
    assert [kind for kind, _ in lines] == ["note", "exit"]


def test_of_much_output_both_ends_are_kept_and_what_was_left_out_is_said(told: Told) -> None:
    how, size = told["much"]
    assert how["why"] == ""
    assert size < 600_000
    (said,) = told["left out"]
    assert int(said.removeprefix("[").partition(" ")[0]) > 28_000_000


def test_a_program_that_is_not_there_is_said(told: Told) -> None:
    assert told["none"]["code"] == 1 or "no/such/program" in told["none"]["words"]


def test_without_a_fence_it_does_not_run(told: Told) -> None:
    how, ran = told["loose"]
    assert how["why"] == "not started"
    assert "within a fence only" in how["words"]
    assert not ran


def test_a_plain_name_never_runs_the_tree_s_own_file(told: Told) -> None:
    """Though the machine's PATH names folders by where one stands, or the tree's."""
    assert told["shadow ran"] is False
    assert printed(told, "usual") == ["usual"]


def test_it_leaves_no_core_dump_with_the_key_in_it(told: Told) -> None:
    assert printed(told, "cores") == ["0", "0"]
