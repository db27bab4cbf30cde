"""What is told of a silent run: only when asked for, only once all it printed was read, after a start too."""

from __future__ import annotations

from typing import Any, cast

import pytest

from engine.adapters import silent
from engine.adapters.following import Following
from engine.adapters.machines import Machine, NodeRefused
from engine.errors import Unavailable
from engine.rules.silence import QUIET_S, SHOWN_S
from engine.rules.words import LeftOff, OpenTool, Pulse
from stores.ledger import Ledger

RUN = "s-1-t1"
TOOLS = (OpenTool("t1", "Bash", "Bash: make"),)
SEEN = {
    **{"spooled": 10, "silent_s": 5.0, "others": 1, "youngest_s": 3.0, "busiest": "make"},
    **{"cpu_s": 1.5, "over_s": 60.0, "stopped": ""},
}


class Box:
    """A machine that answers what it is told to, and counts how often it was asked."""

    def __init__(self, answer: dict[str, Any] | Exception) -> None:
        self.answer = answer
        self.asked = 0

    async def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        assert (op, arguments) == ("run.pulse", {"run": RUN})
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Known:
    """Runs whose lines are read up to 10."""

    def __init__(self, silent_s: float | None) -> None:
        self.now = 1000.0
        self.following = Following(
            cast(Ledger, None),
            machine=lambda _: cast(Machine, None),
            reader=lambda _: cast(Any, None),
            on_doing=lambda _: None,
            uptime=lambda: self.now,
        )
        self.following._read[RUN] = 10
        if silent_s is not None:
            self.following.hear_anew(RUN)
            self.now += silent_s

    async def left_off(self, run: str) -> LeftOff:
        return LeftOff(tools=TOOLS)


async def test_a_machine_is_not_asked_about_a_run_that_speaks() -> None:
    box = Box(SEEN)
    told = await silent.look(Known(SHOWN_S - 1), cast(Machine, box), RUN)
    assert (told.silent_s, told.pulse, box.asked) == (SHOWN_S - 1, None, 0)


async def test_what_lives_of_a_silent_run_is_told_with_what_it_has_open() -> None:
    told = await silent.look(Known(SHOWN_S), cast(Machine, Box(SEEN)), RUN)
    assert (told.silent_s, told.tools, told.spooled) == (SHOWN_S, TOOLS, 10)
    assert told.pulse == Pulse(1, 3.0, "make", 1.5, 60.0)


async def test_after_a_start_its_silence_is_as_long_as_it_was() -> None:
    """BR-67: a start of ours must not give a hung run another quarter of an hour, each time."""
    box = Box(SEEN | {"silent_s": QUIET_S})
    told = await silent.look(Known(None), cast(Machine, box), RUN)
    assert (told.silent_s, box.asked) == (QUIET_S, 1)


async def test_a_clock_that_is_set_makes_no_silence_of_one_we_have_heard_longer() -> None:
    """A machine that sleeps, or whose clock is set, tells of an hour in which nobody was silent."""
    box = cast(Machine, Box(SEEN | {"silent_s": 3600.0}))
    known = Known(SHOWN_S)
    assert (await silent.look(known, box, RUN)).silent_s == SHOWN_S
    silent.link_is_silent(known, RUN)
    known.now += SHOWN_S + 1
    assert (await silent.look(known, box, RUN)).silent_s == SHOWN_S + 1


async def test_a_link_that_was_down_after_a_start_is_not_taken_for_a_word_of_the_run() -> None:
    known = Known(None)
    silent.link_is_silent(known, RUN)
    known.now += SHOWN_S
    box = cast(Machine, Box(SEEN | {"silent_s": QUIET_S}))
    assert (await silent.look(known, box, RUN)).silent_s == QUIET_S


async def test_a_machine_that_cannot_tell_what_lives_tells_how_long_at_least() -> None:
    box = Box({"spooled": 10, "silent_s": 0.0})
    told = await silent.look(Known(QUIET_S), cast(Machine, box), RUN)
    assert (told.silent_s, told.pulse) == (QUIET_S, None)


@pytest.mark.parametrize(
    "answer",
    [SEEN | {"spooled": 11}, Unavailable("box: away"), NodeRefused("There is no such run.")],
    ids=["lines are on their way", "it does not answer", "it knows no such run"],
)
async def test_what_may_be_on_its_way_ends_the_silence(answer: Any) -> None:
    known = Known(4 * QUIET_S)
    told = await silent.look(known, cast(Machine, Box(answer)), RUN)
    assert (told.silent_s, known.following.silent_s(RUN)) == (0.0, 0.0)
