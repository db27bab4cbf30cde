"""A turn that was cut off goes on with a note of how far it had got, and with all it may have lost."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.board import doing
from engine.rules import killed
from engine.rules.cut_off import EARLY_S
from engine.rules.effects import StartRun
from engine.rules.events import (
    Prompted,
    RunExited,
    RunStarted,
    SessionNamed,
    SessionResumed,
    TurnEnded,
    TurnInterrupted,
)
from engine.rules.session_state import Session, Stage
from engine.rules.turn_ends import MAX_CUT_OFFS
from engine.rules.words import LeftOff, OpenTool, TurnError
from tests.rules.test_session import ME, STOP, me, permission, running
from tests.rules.world import World

BUILD = OpenTool("t1", "Bash", "Bash: Build it", "npm run build", since=820.0)
LATE = EARLY_S + 1
GONE = "Cut off: the process that kept it is gone."


def cut(world: World, start: StartRun, left: LeftOff | None, **more: int) -> None:
    world.post(ME, RunExited(run=start.run, why=GONE, left=left, **more))


def again(world: World) -> StartRun:
    start = world.take(StartRun)
    world.post(ME, RunStarted(run=start.run))
    world.post(ME, SessionNamed(run=start.run, agent_session=start.agent_session))
    return start


def shown(world: World) -> str:
    return doing.cut_off_line(me(world))


def test_the_note_names_the_tool_that_was_open_its_input_and_since_when() -> None:
    world, start = running()
    cut(world, start, LeftOff(tools=(BUILD,), went_s=LATE))
    prompt = world.take(StartRun).prompt
    assert "- Bash, with `npm run build`, begun 3 min before that was seen." in prompt
    assert "Its result is not known: look whether it took effect before you repeat it." in prompt
    assert "Build it" not in prompt, "what it was given is in its conversation"


def test_a_tool_that_waited_for_its_owner_is_said_not_to_have_run() -> None:
    world, start = running()
    world.post(ME, replace(permission(start.run), use="t2"))
    waits = OpenTool("t2", "Bash", "Bash: rm", "rm -r build", since=990.0)
    cut(world, start, LeftOff(tools=(BUILD, waits), went_s=LATE))
    note = world.take(StartRun).prompt.split("\n")
    assert [line for line in note if line.startswith("- ")] == [
        "- Bash, with `npm run build`, begun 3 min before that was seen. Its result is not known: "
        "look whether it took effect before you repeat it.",
        "- Bash, with `rm -r build`, begun 10 s before that was seen. It waited for the owner's "
        "answer and has not run.",
    ]


def test_with_nothing_open_the_note_tells_what_was_done_and_said_last() -> None:
    world, start = running()
    cut(world, start, LeftOff(done="Edit: a.py", said="Now the `tests`.", went_s=LATE))
    prompt = world.take(StartRun).prompt
    assert "No tool was under way; the last you had done was `Edit: a.py`, and" in prompt
    assert "the last you had said was `Now the 'tests'.`." in prompt


def test_of_more_open_tools_than_are_named_the_note_says_how_many() -> None:
    world, start = running()
    cut(world, start, LeftOff(tools=(BUILD, BUILD), more=3, went_s=LATE))
    assert shown(world) == "cut off during Bash: Build it and 4 more"
    prompt = world.take(StartRun).prompt
    assert "- 3 more, begun before these and not named here. What became of them" in prompt


@pytest.mark.parametrize("tools", [(), (BUILD,)])
def test_what_was_too_long_to_be_read_is_said_not_to_be_known(tools: tuple[OpenTool, ...]) -> None:
    world, start = running()
    cut(world, start, LeftOff(tools=tools, done="Edit: a.py", unread=2, went_s=LATE))
    prompt = world.take(StartRun).prompt
    assert "2 lines of that turn's output could not be read for length: a tool may" in prompt
    assert "No tool was under way" not in prompt


@pytest.mark.parametrize(("went_s", "count"), [(EARLY_S / 2, 1), (LATE, 0), (None, 0)])
def test_a_turn_cut_off_as_it_began_is_given_all_of_it_once_more(
    went_s: float | None, count: int
) -> None:
    """BR-59: what an agent took up it has not yet put on disk."""
    world, start = running()
    world.post(ME, Prompted(text="Use tabs", source="owner"))
    world.end_turn(start)
    second = again(world)
    cut(world, second, LeftOff(went_s=went_s))
    prompt = world.take(StartRun).prompt
    assert prompt.count("Use tabs") == count
    assert ("to be done once" in prompt) == bool(count)


def test_a_first_turn_killed_too_early_for_its_conversation_begins_anew_with_its_whole_brief() -> (
    None
):
    """BR-59, BR-49: neither resumed for ever, nor failed, nor told its brief twice."""
    world, start = running()
    cut(world, start, LeftOff(tools=(BUILD,), went_s=0.01))
    second = world.take(StartRun)
    assert second.resume
    world.post(ME, RunStarted(run=second.run))
    world.end_turn(second, error="No conversation found", kind=TurnError.RESUME)
    third = world.take(StartRun)
    assert (third.resume, me(world).stage) == (False, Stage.STARTING)
    assert third.agent_session != start.agent_session
    assert third.prompt.count("Build it") == 1
    assert "npm run build" in third.prompt


def test_the_owner_sees_what_it_was_cut_off_in_until_the_next_turn_ends() -> None:
    world, start = running()
    cut(world, start, LeftOff(tools=(BUILD, BUILD), went_s=LATE))
    assert shown(world) == "cut off during Bash: Build it and 1 more"
    second = again(world)
    assert shown(world) == "cut off during Bash: Build it and 1 more"
    assert doing.session_doing({}, me(world), lambda _run: "") == shown(world)
    world.end_turn(second)
    assert shown(world) == ""


def test_with_nothing_open_the_owner_sees_after_what() -> None:
    world, start = running()
    cut(world, start, LeftOff(done="Edit: a.py", went_s=LATE))
    assert shown(world) == "cut off after Edit: a.py"


def test_what_a_killed_agent_had_open_stands_beside_the_signal() -> None:
    """BR-66."""
    world, start = running()
    cut(world, start, LeftOff(tools=(BUILD,), went_s=LATE), signal=9, beside=1)
    why = "killed by signal 9 during Bash: Build it, perhaps for want of memory: 1 agent ran there"
    assert (me(world).stage, me(world).why) == (Stage.PARKED, why)
    assert killed.rests(me(world))
    world.pass_time(killed.PAUSE_S)
    assert "`npm run build`" in world.take(StartRun).prompt


def test_a_session_given_up_says_what_it_was_at_the_last_time() -> None:
    """BR-42."""
    world, start = running()
    for _ in range(MAX_CUT_OFFS):
        cut(world, start, LeftOff(tools=(BUILD,), went_s=LATE))
        start = again(world)
    cut(world, start, LeftOff(tools=(BUILD,), went_s=LATE))
    assert me(world).stage is Stage.FAILED
    assert ", the last time during Bash: Build it (" in me(world).why
    assert shown(world) == ""


def test_an_end_of_an_older_release_says_what_it_can() -> None:
    world, start = running()
    cut(world, start, None)
    assert isinstance(me(world), Session)
    assert f"cut off ({GONE})" in world.take(StartRun).prompt


def test_a_turn_whose_process_does_not_end_says_so_while_it_is_seen_out() -> None:
    """BR-51: the next turn waits, and the card says for what."""
    world, start = running()
    world.post(ME, TurnEnded(run=start.run, text="Done."))
    stuck = "waits: process 7 (dd) was killed and does not end; nothing starts beside it"
    assert me(world).stage is Stage.CLOSING
    assert doing.session_doing({}, me(world), lambda _run: stuck) == stuck
    assert doing.session_doing({}, me(world), lambda _run: "Bash: make") == "ending its turn"


def test_a_turn_that_failed_in_the_middle_of_a_tool_is_tried_again_behind_a_note() -> None:
    world, start = running()
    crashed = "TypeError: cannot read `null`\n    at main"
    world.post(ME, TurnEnded(run=start.run, error=crashed, kind=TurnError.API))
    world.post(ME, RunExited(run=start.run, code=1, left=LeftOff(tools=(BUILD,), went_s=LATE)))
    assert me(world).stage is Stage.FAILED
    world.post(ME, SessionResumed())
    prompt = world.take(StartRun).prompt
    assert prompt.startswith("[Quarterdeck] Your last turn was cut off (TypeError: cannot read")
    assert prompt.index("with `npm run build`") < prompt.rindex("Build it")


@pytest.mark.parametrize("how", ["interrupted", "stopped"])
def test_an_agent_that_was_ended_since_it_did_not_hear_is_told_what_was_open(how: str) -> None:
    world, start = running()
    world.post(ME, TurnInterrupted() if how == "interrupted" else STOP)
    world.post(ME, RunExited(run=start.run, left=LeftOff(tools=(BUILD,), went_s=LATE)))
    assert world.owes(StartRun) == [], "it rests"
    go_on = Prompted(text="Go on", source="owner") if how == "interrupted" else SessionResumed()
    world.post(ME, go_on)
    prompt = world.take(StartRun).prompt
    assert prompt.startswith("[Quarterdeck] Your last turn was cut off (it was told to end")
    assert "with `npm run build`" in prompt


def test_a_session_that_is_over_for_good_keeps_no_note() -> None:
    world, start = running()
    world.post(ME, replace(STOP, final=True))
    world.post(ME, RunExited(run=start.run, left=LeftOff(tools=(BUILD,), went_s=LATE)))
    assert [line.source for line in me(world).queue] == ["goal"]
