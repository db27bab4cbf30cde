"""Why a run is silent: each kind, its edges, and that only a hung one is ended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules import silence
from engine.rules.effects import AnswerRun, CloseRun, StartRun, Watch
from engine.rules.events import (
    AskParked,
    AskSettled,
    GaveUp,
    LimitReached,
    RunBusy,
    RunExited,
    RunHeard,
    RunQuiet,
    RunWentOn,
    SessionStopped,
    TurnEnded,
    TurnInterrupted,
    TurnOver,
)
from engine.rules.session_state import Session, Stage
from engine.rules.silence import (
    BUSY_TOOL_S,
    IDLE_TOOL_S,
    LEFT_BEHIND_S,
    LOOK_S,
    LOOKS_S,
    QUIET_S,
    RETRY_MOST_S,
    SHOWN_S,
)
from engine.rules.turn_ends import MAX_CUT_OFFS
from engine.rules.words import Decision, OpenTool, Pulse, Retry, Role, TurnError, Why
from tests.rules.test_session import ME, me, permission, question, running, told
from tests.rules.world import World

IDLE = Pulse(others=0, cpu_s=0.0, over_s=300.0)
SLEEPS = Pulse(others=1, youngest_s=600.0, cpu_s=0.0, over_s=300.0)
BURNS = Pulse(others=1, youngest_s=600.0, busiest="node", cpu_s=200.0, over_s=300.0)
LONG = 4 * QUIET_S


def tool(world: World, age_s: float, timeout_s: float = 0.0) -> OpenTool:
    return OpenTool("t1", "Bash", "Bash: npm test", "npm test", world.now - age_s, timeout_s)


def is_silent(world: World, start: StartRun, silent_s: float, **seen: object) -> Session:
    world.post(ME, RunQuiet(run=start.run, silent_s=silent_s, **seen))  # type: ignore[arg-type]
    return me(world)


def why(world: World, start: StartRun, silent_s: float, **seen: object) -> Why | None:
    shown = is_silent(world, start, silent_s, **seen).silence
    return shown.why if shown is not None else None


def warned(world: World) -> list[str]:
    return [said.text for said in world.said if said.kind in ("warning", "stuck")]


# ---------------------------------------------------------------- hung


@pytest.mark.parametrize("pulse", [IDLE, None], ids=["nothing runs", "it cannot be seen"])
def test_what_waits_for_nothing_is_ended_after_a_quarter_of_an_hour(pulse: Pulse | None) -> None:
    """BR-67: it hangs after a tool's result, or before its first."""
    world, start = running()
    assert why(world, start, QUIET_S - 1, pulse=pulse) is Why.MODEL
    assert world.owes(CloseRun) == []
    assert why(world, start, QUIET_S, pulse=pulse) is Why.HUNG
    assert world.take(CloseRun).grace_s == 0.0
    (words,) = warned(world)
    assert words == (
        "Worker 1 “One” was silent for 15 min and nothing of it ran: it is ended, and goes on "
        "with a note."
    )
    world.post(ME, RunExited(run=start.run))
    assert "silent for long" in world.take(StartRun).prompt
    assert me(world).silence is None


def test_what_it_uses_is_known_from_the_second_look_on_and_nothing_is_ended_before() -> None:
    world, start = running()
    first = Pulse(others=0, cpu_s=0.0, over_s=0.0)
    assert why(world, start, LONG, pulse=first) is Why.MODEL
    assert world.owes(CloseRun) == []
    assert why(world, start, LONG + LOOKS_S, pulse=IDLE) is Why.HUNG


def test_a_process_left_behind_by_an_earlier_tool_only_delays_it() -> None:
    """A server that an agent once started sleeps on; the agent itself waits for nothing."""
    world, start = running()
    assert why(world, start, LEFT_BEHIND_S - 1, pulse=SLEEPS) is Why.MODEL
    assert why(world, start, LEFT_BEHIND_S, pulse=SLEEPS) is Why.HUNG
    assert len(world.owes(CloseRun)) == 1


@pytest.mark.parametrize("event", [RunWentOn, GaveUp])
def test_one_that_printed_just_as_it_was_to_be_ended_goes_on_and_is_judged_anew(
    event: type[RunWentOn] | type[GaveUp],
) -> None:
    world, start = running()
    is_silent(world, start, QUIET_S, pulse=IDLE, spooled=77)
    assert world.take(CloseRun).unless_past == 77
    world.owed.clear()
    world.post(ME, permission(start.run))
    went_on = RunWentOn(run=start.run)
    gave_up = GaveUp(effect="CloseRun", why="no", about=start.run)
    world.post(ME, went_on if event is RunWentOn else gave_up)
    assert (me(world).stage, me(world).ending) == (Stage.RUNNING, TurnError.NONE)
    assert len(me(world).asks) == 1
    assert world.take(Watch).due_at == world.now + SHOWN_S
    world.post(ME, RunExited(run=start.run, code=-1, why="Cut off"))
    assert "silent" not in world.take(StartRun).prompt


def test_one_that_is_being_ended_is_judged_no_more() -> None:
    world, start = running()
    is_silent(world, start, QUIET_S, pulse=IDLE)
    world.owed.clear()
    is_silent(world, start, LONG, pulse=IDLE)
    assert world.owed == []


@pytest.mark.parametrize("event", [SessionStopped(why="stopped by you"), TurnInterrupted()])
def test_one_that_its_owner_ends_is_not_ended_for_its_silence_too(
    event: SessionStopped | TurnInterrupted,
) -> None:
    world, start = running()
    world.post(ME, event)
    world.owed.clear()
    is_silent(world, start, LONG, pulse=IDLE)
    assert world.owes(CloseRun) == []
    assert len(world.owes(Watch)) == 1
    assert warned(world) == []


def test_one_that_hangs_again_and_again_is_given_up_and_waits_for_retry() -> None:
    world, start = running()
    for n in range(MAX_CUT_OFFS + 1):
        assert why(world, start, QUIET_S, pulse=IDLE) is Why.HUNG, n
        world.owed.clear()
        world.post(ME, RunExited(run=start.run, code=-1))
        if n < MAX_CUT_OFFS:
            start = world.begin_turn()
    assert (me(world).stage, world.owes(StartRun)) == (Stage.FAILED, [])
    (over,) = told(world, TurnOver)
    assert isinstance(over, TurnOver)
    assert over.kind is TurnError.CUT_OFF


# ---------------------------------------------------------------- the owner


@pytest.mark.parametrize("asked", [permission, question])
def test_nothing_is_ended_while_its_owner_is_asked(asked: object) -> None:
    """BR-67: not while a permission is open."""
    assert callable(asked)
    world, start = running()
    world.post(ME, asked(start.run))
    for silent_s in (QUIET_S, LONG, 20 * LONG):
        assert why(world, start, silent_s, pulse=IDLE) is Why.OWNER
    assert world.owes(CloseRun) == []
    assert warned(world) == []


def test_an_answer_on_its_way_is_given_time_to_be_heard() -> None:
    """The look was on its way when the owner answered: it was silent for that answer."""
    world, start = running()
    world.post(ME, permission(start.run))
    world.pass_time(QUIET_S)
    world.post(ME, AskSettled(ask="a-1", decision=Decision.ALLOW))
    assert len(world.owes(AnswerRun)) == 1
    assert why(world, start, QUIET_S, pulse=IDLE) is None
    assert world.owes(CloseRun) == []
    world.pass_time(QUIET_S - 1)
    is_silent(world, start, 4 * LONG, pulse=IDLE)
    assert world.owes(CloseRun) == []
    world.pass_time(1)
    assert why(world, start, 4 * LONG, pulse=IDLE) is Why.HUNG


def test_a_parked_request_is_asked_still_and_its_answer_opens_the_next_turn() -> None:
    world, start = running()
    world.post(ME, permission(start.run))
    world.post(ME, AskParked(ask="a-1"))
    world.pass_time(QUIET_S)
    assert why(world, start, LONG, pulse=IDLE) is Why.OWNER
    assert world.owes(CloseRun) == []
    world.post(ME, AskSettled(ask="a-1", decision=Decision.ALLOW))
    assert why(world, start, LONG, pulse=IDLE) is Why.HUNG
    world.post(ME, RunExited(run=start.run, code=-1))
    prompt = world.take(StartRun).prompt
    assert "silent for long" in prompt
    assert "The owner allowed what you asked for" in prompt


# ---------------------------------------------------------------- a tool


def test_a_tool_whose_process_lives_is_waited_for_and_shown_with_its_age() -> None:
    world, start = running()
    session = is_silent(world, start, 12 * 60, tools=(tool(world, 14 * 60),), pulse=SLEEPS)
    shown = silence.shows(session)
    assert shown is not None
    assert (shown.why, shown.what, shown.minutes) == (Why.TOOL, "npm test", 10)
    assert shown.begun - shown.since == 2 * 60
    for silent_s in (QUIET_S, LONG):
        is_silent(world, start, silent_s, tools=(tool(world, silent_s),), pulse=SLEEPS)
    assert world.owes(CloseRun) == []


def test_a_tool_that_works_without_a_process_we_know_is_waited_for() -> None:
    world, start = running()
    busy = Pulse(others=0, busiest="claude", cpu_s=30.0, over_s=300.0)
    assert why(world, start, LONG, tools=(tool(world, LONG),), pulse=busy) is Why.TOOL


def test_a_tool_of_which_nothing_lives_hangs() -> None:
    """Its process is gone, and the agent never took its result."""
    world, start = running()
    assert why(world, start, QUIET_S - 1, tools=(tool(world, QUIET_S - 1),), pulse=IDLE) is Why.TOOL
    assert why(world, start, QUIET_S, tools=(tool(world, QUIET_S),), pulse=IDLE) is Why.HUNG


def test_a_server_of_an_earlier_tool_is_not_the_open_tools_process() -> None:
    world, start = running()
    older = Pulse(others=1, youngest_s=LONG + 600.0, over_s=300.0)
    assert why(world, start, LONG, tools=(tool(world, LONG),), pulse=older) is Why.HUNG


def test_a_tool_is_given_the_time_its_agent_gave_it() -> None:
    world, start = running()
    hour = (tool(world, LONG - 1, timeout_s=LONG),)
    assert why(world, start, LONG - 1, tools=hour, pulse=IDLE) is Why.TOOL
    world.pass_time(1)
    assert why(world, start, LONG, tools=hour, pulse=IDLE) is Why.HUNG


def test_a_tool_without_end_is_told_of_once_and_not_ended() -> None:
    world, start = running()
    for silent_s in (IDLE_TOOL_S - 1, IDLE_TOOL_S, 3 * IDLE_TOOL_S):
        is_silent(world, start, silent_s, tools=(tool(world, silent_s),), pulse=SLEEPS)
    (words,) = warned(world)
    assert words == (
        "Worker 1 “One” has waited 2 h for a tool, without a word or a sign of life. Nothing is "
        "ended unasked."
    )
    assert world.owes(CloseRun) == []
    assert len(world.owes(Watch)) == 4, "one each, and that of its start"


def test_a_tool_that_works_has_longer() -> None:
    world, start = running()
    for silent_s in (IDLE_TOOL_S, BUSY_TOOL_S - 1):
        is_silent(world, start, silent_s, tools=(tool(world, silent_s),), pulse=BURNS)
    assert warned(world) == []
    is_silent(world, start, BUSY_TOOL_S, tools=(tool(world, BUSY_TOOL_S),), pulse=BURNS)
    assert "has waited 8 h for a tool, without a word." in warned(world)[0]


# ---------------------------------------------------------------- network, tasks, limit, signal


def test_a_try_that_is_to_come_is_waited_for() -> None:
    world, start = running()
    until = world.now + 2 * LONG
    session = is_silent(world, start, LONG, retry=Retry("overloaded", until), pulse=IDLE)
    assert session.silence is not None
    assert (session.silence.why, session.silence.what) == (Why.NETWORK, "overloaded")
    assert session.silence.until == until
    world.pass_time(2 * LONG + QUIET_S - 1)
    retry = Retry("overloaded", until)
    assert why(world, start, 3 * LONG, retry=retry, pulse=IDLE) is Why.NETWORK
    world.pass_time(1)
    assert why(world, start, 3 * LONG, retry=retry, pulse=IDLE) is Why.HUNG


def test_its_owner_is_told_once_of_a_service_that_does_not_answer_for_hours() -> None:
    world, start = running()
    for silent_s in (IDLE_TOOL_S - 1, IDLE_TOOL_S, 2 * IDLE_TOOL_S, 20 * IDLE_TOOL_S):
        retry = Retry("overloaded", world.now + 60)
        assert why(world, start, silent_s, retry=retry, pulse=IDLE) is Why.NETWORK
    (words,) = warned(world)
    assert words == (
        "Worker 1 “One” has waited 2 h for its model's service, which does not answer. Nothing is "
        "ended unasked."
    )
    assert world.owes(CloseRun) == []


@pytest.mark.parametrize("in_s", [RETRY_MOST_S + 1, 1e9, float("inf"), float("nan")])
def test_a_try_that_is_said_to_be_years_off_is_none_to_wait_for(in_s: float) -> None:
    world, start = running()
    retry = Retry("overloaded", world.now + in_s)
    assert why(world, start, QUIET_S, retry=retry, pulse=IDLE) is Why.HUNG


def test_a_stopped_process_that_was_left_behind_is_no_sign_of_life() -> None:
    world, start = running()
    halted = Pulse(others=1, youngest_s=600.0, over_s=300.0, halted=1)
    assert why(world, start, QUIET_S - 1, pulse=halted) is Why.MODEL
    assert why(world, start, QUIET_S, pulse=halted) is Why.HUNG


def test_a_stopped_process_of_an_open_tool_is_waited_for_like_one_that_sleeps() -> None:
    world, start = running()
    halted = Pulse(others=1, youngest_s=600.0, over_s=300.0, halted=1)
    assert why(world, start, LONG, tools=(tool(world, LONG),), pulse=halted) is Why.TOOL


@pytest.mark.parametrize("pulse", [IDLE, SLEEPS, None])
def test_tasks_of_its_own_are_waited_for(pulse: Pulse | None) -> None:
    """BR-71: behind its turn, and within it."""
    world, start = running(Role.LEAD)
    world.post(ME, RunBusy(run=start.run, tasks=1))
    assert why(world, start, LONG, pulse=pulse) is Why.TASKS
    world.post(ME, TurnEnded(run=start.run, text="It looks around."))
    assert why(world, start, 2 * LONG, pulse=pulse) is Why.TASKS
    assert world.owes(CloseRun) == []


def test_what_works_behind_it_unannounced_is_waited_for_and_told_of() -> None:
    world, start = running()
    session = is_silent(world, start, LONG, pulse=BURNS)
    assert session.silence is not None
    assert (session.silence.why, session.silence.what) == (Why.TASKS, "node")
    is_silent(world, start, BUSY_TOOL_S, pulse=BURNS)
    assert "has waited 8 h for tasks of its own" in warned(world)[0]
    assert world.owes(CloseRun) == []


def test_a_limit_that_its_agent_waits_out_itself_is_one() -> None:
    world, start = running()
    world.post(ME, LimitReached(run=start.run, resets_at=world.now + LONG))
    session = is_silent(world, start, LONG, pulse=IDLE)
    assert session.silence is not None
    assert (session.silence.why, session.silence.until) == (Why.LIMIT, world.now + LONG)


def test_what_a_signal_stopped_is_told_of_at_once_and_only_once() -> None:
    world, start = running()
    stopped = Pulse(others=0, over_s=60.0, stopped="claude")
    for silent_s in (SHOWN_S, QUIET_S, LONG):
        assert why(world, start, silent_s, pulse=stopped) is Why.STOPPED
    (words,) = warned(world)
    assert "does not go on: a signal from outside stopped one of its processes" in words
    assert world.owes(CloseRun) == []


# ---------------------------------------------------------------- what is shown, and when


def test_a_short_silence_is_none_and_the_next_look_comes_when_it_would_be_long() -> None:
    world, start = running()
    world.take(Watch)
    assert is_silent(world, start, 10.0).silence is None
    assert world.take(Watch).due_at == world.now + SHOWN_S - 10.0
    is_silent(world, start, SHOWN_S - 1)
    assert world.take(Watch).due_at == world.now + LOOK_S


def test_the_card_changes_in_coarse_steps_only() -> None:
    world, start = running()
    shown = set()
    for minutes in range(3, 3 * 60):
        session = is_silent(
            world, start, minutes * 60, tools=(tool(world, minutes * 60),), pulse=SLEEPS
        )
        shown.add(silence.shows(session))
        world.pass_time(60)
    assert {one.minutes for one in shown if one} == {3, 5, 10, 15, 20, 30, 45, 60, 90, 120}
    assert len(shown) == 10


def test_a_line_ends_it_at_once() -> None:
    world, start = running()
    assert why(world, start, QUIET_S - 60, pulse=IDLE) is Why.MODEL
    world.post(ME, RunHeard(run=start.run))
    assert me(world).silence is None
    world.post(ME, RunHeard(run="s-9-t0"))


def test_what_stops_shows_no_silence() -> None:
    world, start = running()
    is_silent(world, start, QUIET_S - 60, pulse=IDLE)
    world.post(ME, SessionStopped(why="stopped by you"))
    assert silence.shows(me(world)) is None


SEEN = st.builds(
    Pulse,
    others=st.integers(0, 2),
    youngest_s=st.sampled_from([0.0, 60.0, 9000.0]),
    cpu_s=st.sampled_from([0.0, 0.1, 50.0]),
    over_s=st.sampled_from([0.0, 60.0, 300.0]),
    stopped=st.sampled_from(["", "claude"]),
)
STEPS = st.tuples(
    st.sampled_from([60.0, 300.0, QUIET_S, LONG]),
    st.sampled_from(["", "ask", "answer", "park", "busy", "end", "limit", "exit"]),
    st.one_of(st.none(), SEEN),
    st.booleans(),
)


@given(st.lists(STEPS, max_size=20))
def test_whatever_is_seen_no_run_is_ended_for_silence_while_something_is_asked(
    steps: list[tuple[float, str, Pulse | None, bool]],
) -> None:
    world, start = running()
    silent_s, asks = 0.0, 0
    for passed_s, what, pulse, has_tool in steps:
        world.pass_time(passed_s)
        silent_s += passed_s
        before = me(world)
        world.owed.clear()
        tools = (tool(world, silent_s),) if has_tool else ()
        world.post(ME, RunQuiet(run=start.run, silent_s=silent_s, tools=tools, pulse=pulse))
        if closed := world.owes(CloseRun):
            assert not before.asks
            assert world.now - before.answered_at >= QUIET_S
            assert len(closed) == 1
            return
        live = before.stage is Stage.RUNNING and before.ending is TurnError.NONE
        assert not live or len(world.owes(Watch)) == 1, "and it is looked at again"
        match what:
            case "ask":
                asks += 1
                world.post(ME, permission(start.run, f"a-{asks}", f"req-{asks}"))
                silent_s = 0.0
            case "answer" if me(world).asks:
                first = me(world).asks[0].ask
                world.post(ME, AskSettled(ask=first, decision=Decision.DENY))
            case "park" if me(world).asks:
                world.post(ME, AskParked(ask=me(world).asks[0].ask))
            case "busy":
                world.post(ME, RunBusy(run=start.run, tasks=1))
            case "limit":
                world.post(ME, LimitReached(run=start.run, resets_at=world.now + 600.0))
            case _:
                pass
