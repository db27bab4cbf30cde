"""Each kind of stake that a command can have is said in words of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import text_stakes
from engine import views
from engine.rules import stakes

TABLE = Path(__file__).parents[1] / "rules" / "stakes.txt"


def first_of_each_kind() -> dict[str, str]:
    told = [line.split(" | ", 1) for line in TABLE.read_text().splitlines() if " | " in line]
    return {what: command for what, command in reversed(told) if what[0] not in "-#"}


@pytest.mark.parametrize(("what", "command"), first_of_each_kind().items())
def test_a_stake_is_said_in_words_and_holds_no_hole(what: str, command: str) -> None:
    found = stakes.of_command(command.replace("\\n", "\n"))[0]
    shown = views.Stake(found.peril, found.what, found.names, found.amount_usd)
    line = text_stakes.line(shown)
    assert "says itself" not in line
    assert line.isprintable()
    assert found.what == what


def test_what_a_variable_stands_for_is_named_by_it() -> None:
    (found,) = stakes.of_command("psql -c $STATEMENT")
    assert found.names == ("$STATEMENT",)
