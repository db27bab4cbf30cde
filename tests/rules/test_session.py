"""One conversation with an agent: its queue, its turns and its one writer."""

from __future__ import annotations

import pytest

from engine.errors import Refused
from engine.rules import news
from engine.rules.asking import HOLD_S
from engine.rules.effects import (
    AnswerRun,
    CloseRun,
    Collect,
    InterruptRun,
    ReplyDesk,
    Say,
    StartRun,
    Tell,
    Watch,
)
from engine.rules.events import (
    Answered,
    AskHeldOut,
    AskRaised,
    AskSettled,
    GaveUp,
    HoldOver,
    LimitReached,
    LinesLeft,
    MachineSeen,
    Prompted,
    RequestWithdrawn,
    RunExited,
    RunQuiet,
    RunRefused,
    RunStarted,
    SessionNamed,
    SessionOpened,
    SessionResumed,
    SessionStopped,
    TreeBack,
    TurnEnded,
    TurnInterrupted,
    TurnOver,
)
from engine.rules.session_state import Session, Stage
from engine.rules.silence import LOOKS_S, QUIET_S, SHOWN_S
from engine.rules.turn_ends import MAX_CUT_OFFS
from engine.rules.words import AskKind, Decision, OpenTool, Question, Role, TurnError
from tests.rules.world import ACCOUNT, World

LEAD, WORKER = Role.LEAD, Role.WORKER
ME = "session/s-9"
SEEN = MachineSeen(machine="here", fenced=True, fence="fenced")
STOP = SessionStopped(why="stopped by you")


def alone(role: Role = WORKER, *, goal: str = "Build it") -> World:
    """A world with one session in it, whose goal hears and does nothing."""
    world = World()
    world.post("fleet", SEEN)
    opened = SessionOpened(
        goal="g-9",
        role=role,
        project="shop",
        account=ACCOUNT,
        model="small",
        mode="edit",
        branch="quarterdeck/worker-one",
        commit="b0",
        preface="You are it.",
        prompt=goal,
        number=1,
        title="One",
    )
    world.post(ME, opened)
    return world


def me(world: World) -> Session:
    state = world.states[ME]
    assert isinstance(state, Session)
    return state


def running(role: Role = WORKER, *, named: bool = True) -> tuple[World, StartRun]:
    world = alone(role)
    start = world.take(StartRun)
    world.post(ME, RunStarted(run=start.run))
    if named:
        world.post(ME, SessionNamed(run=start.run, agent_session=start.agent_session))
    return world, start


def told(world: World, kind: type[TurnOver] | type[LinesLeft]) -> list[TurnOver | LinesLeft]:
    """What the goal heard from it."""
    return [
        effect.event
        for item in world.history
        if item.stream == ME
        for effect in item.effects
        if isinstance(effect, Tell) and isinstance(effect.event, kind)
    ]


def permission(run: str, ask: str = "a-1", request: str = "req-1") -> AskRaised:
    return AskRaised(
        run=run,
        ask=ask,
        request=request,
        kind=AskKind.PERMISSION,
        title="Delete the build",
        detail="rm -r build",
        tool="Bash",
        input_json='{"command":"rm -r build"}',
    )


def question(run: str, ask: str = "a-1") -> AskRaised:
    return AskRaised(
        run=run,
        ask=ask,
        request="",
        kind=AskKind.QUESTION,
        title="Which currency?",
        detail="Which currency?",
        questions=(Question("Which currency?"),),
        call=f"{run}#c1",
    )


def line(text: str) -> Prompted:
    return Prompted(text=text, source="owner")


# ---------------------------------------------------------------- turns and lines


def test_lines_that_arrive_during_a_turn_wait_and_are_taken_together() -> None:
    world, start = running()
    world.post(ME, line("Use tabs"))
    world.post(ME, Prompted(text="[Quarterdeck] Landed.", source="news"))
    assert world.owes(StartRun) == []
    world.end_turn(start)
    prompt = world.take(StartRun).prompt
    assert prompt == "[From the owner]\nUse tabs\n\n[Quarterdeck] Landed."
    assert told(world, TurnOver) == []  # the turn that took them up has yet to end


def test_a_line_while_the_last_process_still_closes_waits_for_its_exit() -> None:
    """BR-51: never a second writer of one conversation."""
    world, start = running()
    world.post(ME, TurnEnded(run=start.run, text="Done."))
    assert me(world).stage is Stage.CLOSING
    world.post(ME, line("One more thing"))
    assert world.owes(StartRun) == []
    world.post(ME, RunExited(run=start.run))
    again = world.take(StartRun)
    assert (again.run, again.resume, again.prompt) == ("s-9-t2", True, "One more thing")
    assert again.agent_session == start.agent_session


def test_a_line_that_came_before_the_session_was_opened_is_kept_behind_its_goal() -> None:
    world = World()
    world.post("fleet", SEEN)
    world.post(ME, line("And hurry"))
    opened = SessionOpened(
        goal="g-9",
        role=LEAD,
        project="shop",
        account=ACCOUNT,
        model="",
        mode="edit",
        branch="b",
        commit="b0",
        preface="",
        prompt="Build it",
    )
    world.post(ME, opened)
    assert world.take(StartRun).prompt == "Build it\n\n[From the owner]\nAnd hurry"


def test_late_facts_of_an_earlier_run_change_nothing() -> None:
    world, start = running()
    world.post(ME, line("Again"))
    world.end_turn(start)
    before = me(world)
    for late in (
        RunExited(run=start.run),
        TurnEnded(run=start.run, error="x", kind=TurnError.AGENT),
        RunStarted(run=start.run),
        RunRefused(run=start.run, why="x"),
        RunQuiet(run=start.run, silent_s=9999.0),
        GaveUp(effect="StartRun", why="x", about=start.run),
    ):
        world.post(ME, late)
        assert me(world) == before


def test_a_workers_finished_turn_is_told_and_its_tree_left_alone_until_it_is_back() -> None:
    world, start = running()
    world.end_turn(start, "Built.")
    assert [over.text for over in told(world, TurnOver) if isinstance(over, TurnOver)] == ["Built."]
    world.post(ME, line("And the docs"))
    assert world.owes(StartRun) == []
    world.post(ME, TreeBack())
    assert world.take(StartRun).prompt == "And the docs"


def test_a_leads_last_words_are_said_silently() -> None:
    world, start = running(LEAD)
    world.end_turn(start, "I have planned it.")
    assert world.said == [Say(goal="g-9", kind="words", text="I have planned it.", who="The lead")]


@pytest.mark.parametrize("kind", [TurnError.NONE, TurnError.LIMIT])
def test_a_turns_end_is_believed_before_its_process_is_gone(kind: TurnError) -> None:
    """BR-11: a child of the agent's may keep the process for minutes."""
    world, start = running(LEAD)
    world.post(ME, TurnEnded(run=start.run, text="I have planned it.", kind=kind))
    assert (me(world).stage, me(world).said) == (Stage.CLOSING, "I have planned it.")
    assert [said.text for said in world.said] == ["I have planned it."] * (kind is TurnError.NONE)
    heard = list(world.said)
    world.post(ME, RunExited(run=start.run))
    assert world.said == heard, "said once"


def test_a_model_asked_for_with_a_line_is_the_next_turns() -> None:
    world, start = running()
    world.post(ME, Prompted(text="Try again", source="news", model="strong"))
    world.end_turn(start)
    assert (start.model, world.take(StartRun).model) == ("small", "strong")


# ---------------------------------------------------------------- ends that are none


def test_what_an_agent_never_took_up_is_said_again_after_a_cut_off() -> None:
    """BR-59: an earlier turn's word does not stand for this one's."""
    world, start = running()
    world.post(ME, line("Use tabs"))
    world.end_turn(start)
    second = world.take(StartRun)
    world.post(ME, RunStarted(run=second.run))
    world.post(ME, RunExited(run=second.run, why="killed"))
    third = world.take(StartRun)
    assert third.prompt.startswith("[From the owner]\nUse tabs")
    assert "cut off (killed)" in third.prompt


def test_what_an_agent_took_up_is_not_said_twice_after_a_cut_off() -> None:
    world, start = running()
    world.post(ME, RunExited(run=start.run, why="killed"))
    again = world.take(StartRun)
    assert again.resume
    assert "Build it" not in again.prompt
    assert "cut off (killed)" in again.prompt


def test_a_conversation_that_never_began_is_not_resumed() -> None:
    """BR-59."""
    world, start = running(named=False)
    world.post(ME, RunExited(run=start.run))
    again = world.take(StartRun)
    assert not again.resume
    assert again.prompt.startswith("Build it")


def test_an_agent_that_keeps_dying_is_given_up_and_its_lines_kept() -> None:
    """BR-42, BR-54."""
    world = alone()
    for _ in range(MAX_CUT_OFFS + 1):
        start = world.take(StartRun)
        world.post(ME, RunStarted(run=start.run))
        world.post(ME, RunExited(run=start.run))
    assert world.owes(StartRun) == []
    assert me(world).stage is Stage.FAILED
    (over,) = told(world, TurnOver)
    assert isinstance(over, TurnOver)
    assert over.kind is TurnError.CUT_OFF
    world.post(ME, SessionResumed())
    assert world.take(StartRun).prompt.startswith("Build it")


def test_silence_is_ended_and_the_conversation_kept() -> None:
    """BR-49: a time-out is no lost conversation."""
    world, start = running()
    world.take(Watch)
    world.post(ME, RunQuiet(run=start.run, silent_s=QUIET_S))
    assert world.take(CloseRun).grace_s == 0.0
    world.post(ME, RunExited(run=start.run))
    again = world.take(StartRun)
    assert (again.resume, again.agent_session) == (True, start.agent_session)
    assert "silent for long" in again.prompt


def test_silence_from_the_very_start_is_ended_and_the_task_said_again() -> None:
    """BR-67: it never even took the turn up."""
    world, start = running(named=False)
    watch = world.take(Watch)
    assert watch.due_at == world.now + SHOWN_S
    world.post(ME, RunQuiet(run=start.run, silent_s=QUIET_S - 60))
    assert world.owes(CloseRun) == []
    assert world.take(Watch).due_at == world.now + 60
    world.post(ME, RunQuiet(run=start.run, silent_s=QUIET_S))
    assert world.take(CloseRun).grace_s == 0.0
    world.post(ME, RunExited(run=start.run))
    again = world.take(StartRun).prompt
    assert "Build it" in again
    assert "silent for long" in again


def test_what_a_silent_agent_has_open_is_known_until_its_run_is_over() -> None:
    world, start = running()
    make = OpenTool("t1", "Bash", "Bash: make", "make", since=900.0)
    world.post(ME, RunQuiet(run=start.run, silent_s=QUIET_S - 60, tools=(make,)))
    assert me(world).tools == (make,)
    world.post(ME, RunExited(run=start.run, why="killed"))
    assert me(world).tools == ()


def test_a_run_that_waits_for_the_owner_is_not_silent() -> None:
    """BR-67: not while a permission is open."""
    world, start = running()
    world.take(Watch)
    world.post(ME, permission(start.run))
    world.post(ME, RunQuiet(run=start.run, silent_s=9 * QUIET_S))
    assert world.owes(CloseRun) == []
    assert world.take(Watch).due_at == world.now + LOOKS_S


def test_a_forgotten_conversation_begins_anew_with_all_it_was_told_first() -> None:
    world, start = running()
    world.post(ME, line("Use tabs"))
    world.end_turn(start)
    second = world.take(StartRun)
    world.post(ME, RunStarted(run=second.run))
    world.end_turn(second, error="No conversation found", kind=TurnError.RESUME)
    third = world.take(StartRun)
    assert not third.resume
    assert third.agent_session != start.agent_session
    assert news.FORGOTTEN in third.prompt
    assert third.prompt.index("Build it") < third.prompt.index("[From the owner]\nUse tabs")


def test_an_agent_that_can_begin_no_conversation_is_given_up() -> None:
    world = alone()
    for _ in range(MAX_CUT_OFFS + 1):
        start = world.take(StartRun)
        world.post(ME, RunStarted(run=start.run))
        world.end_turn(start, error="is already in use", kind=TurnError.RESUME)
    assert world.owes(StartRun) == []
    assert me(world).stage is Stage.FAILED


def test_a_run_that_could_not_be_started_keeps_its_lines_for_retry() -> None:
    """BR-54."""
    world = alone()
    start = world.take(StartRun)
    world.post(ME, RunRefused(run=start.run, why="claude is not installed"))
    assert (me(world).stage, me(world).why) == (Stage.FAILED, "claude is not installed")
    assert world.states["fleet"].running == ()
    world.post(ME, Prompted(text="Landed.", source="news"))
    assert world.owes(StartRun) == []
    world.post(ME, line("Try now"))
    assert world.take(StartRun).prompt.startswith("Build it")


def test_a_start_that_was_given_up_can_not_begin_late() -> None:
    """BR-51."""
    world = alone()
    start = world.take(StartRun)
    world.post(ME, GaveUp(effect="StartRun", why="no answer", about=start.run))
    assert world.take(CloseRun).run == start.run
    assert me(world).stage is Stage.FAILED


def test_an_order_to_end_a_run_that_was_given_up_is_given_again() -> None:
    world, start = running()
    world.post(ME, TurnEnded(run=start.run))
    world.take(CloseRun)
    world.post(ME, GaveUp(effect="CloseRun", why="no answer", about=start.run))
    again = world.take(CloseRun)
    assert (again.run, again.due_at) == (start.run, world.now + 60.0)


# ---------------------------------------------------------------- limits


def limited(world: World, start: StartRun) -> None:
    world.post(ME, LimitReached(run=start.run, resets_at=world.now + 600))
    world.end_turn(start, error="limit", kind=TurnError.LIMIT)


def test_a_limit_parks_until_a_minute_past_its_reset() -> None:
    world, start = running()
    limited(world, start)
    assert (me(world).stage, me(world).parked_until) == (Stage.PARKED, world.now + 660)
    world.pass_time(659)
    assert world.owes(StartRun) == []
    world.pass_time(1)
    assert world.take(StartRun).prompt == news.LIMIT_OVER


def test_a_turn_refused_before_it_was_taken_up_is_said_again_after_the_limit() -> None:
    world, start = running(named=False)
    limited(world, start)
    world.pass_time(660)
    assert world.take(StartRun).prompt == "Build it"


def test_a_limit_then_a_stop_then_a_resume_goes_on_once() -> None:
    world, start = running()
    limited(world, start)
    world.post(ME, STOP)
    world.pass_time(700)
    assert world.owes(StartRun) == []
    world.post(ME, SessionResumed())
    assert world.take(StartRun).prompt == news.LIMIT_OVER
    world.pass_time(5000)
    assert world.owes(StartRun) == []


def test_the_end_of_an_earlier_limit_does_not_end_a_later_one() -> None:
    world, start = running()
    limited(world, start)
    world.post(ME, HoldOver(what="limit", run="s-9-t0"))
    assert me(world).stage is Stage.PARKED


# ---------------------------------------------------------------- asks


def test_an_answer_goes_to_the_run_that_waits_for_it() -> None:
    """BR-14: by what is stored, nothing else."""
    world, start = running()
    world.post(ME, permission(start.run))
    world.post("ask/a-1", Answered(decision=Decision.ALLOW))
    answer = world.take(AnswerRun)
    assert (answer.run, answer.request, answer.kind) == (start.run, "req-1", "allow")


def test_each_of_several_requests_is_asked_and_answered() -> None:
    """BR-22."""
    world, start = running()
    for number in (1, 2, 3, 4):
        world.post(ME, permission(start.run, f"a-{number}", f"req-{number}"))
    for number in (3, 1, 4, 2):
        world.post(f"ask/a-{number}", Answered(decision=Decision.DENY))
    requests = [answer.request for answer in world.owes(AnswerRun)]
    assert requests == ["req-3", "req-1", "req-4", "req-2"]


def test_a_request_is_asked_once_however_often_it_is_read() -> None:
    world, start = running()
    world.post(ME, permission(start.run))
    world.post(ME, permission(start.run))
    assert len(me(world).asks) == 1


def test_an_unanswered_permission_is_denied_to_its_run_and_opens_the_next_turn() -> None:
    """BR-24."""
    world, start = running()
    world.post(ME, permission(start.run))
    world.pass_time(HOLD_S)
    denied = world.take(AnswerRun)
    assert (denied.kind, denied.text) == ("deny", news.ASKED_THE_OWNER)
    world.end_turn(start)
    world.post("ask/a-1", Answered(decision=Decision.ALLOW))
    again = world.begin_turn()
    assert "allowed what you asked for" in again.prompt
    world.post(ME, permission(again.run, "a-2", "req-2"))
    assert world.take(AnswerRun).kind == "allow"  # it was allowed already, and only this once
    world.post(ME, permission(again.run, "a-3", "req-3"))
    assert world.owes(AnswerRun) == []


def test_a_request_that_was_answered_is_not_withdrawn_by_its_number() -> None:
    """Agents count their requests anew in each run."""
    world, start = running()
    world.post(ME, permission(start.run))
    world.post("ask/a-1", AskHeldOut())
    world.post(ME, RequestWithdrawn(run=start.run, request="req-1"))
    assert [ask.ask for ask in me(world).asks] == ["a-1"]
    world.post(ME, permission(start.run, "a-2", "req-2"))
    world.post(ME, RequestWithdrawn(run=start.run, request="req-2"))
    with pytest.raises(Refused, match="took it back"):
        world.post("ask/a-2", Answered(decision=Decision.ALLOW))


def test_a_cut_off_withdraws_what_its_run_waited_for() -> None:
    world, start = running()
    world.post(ME, permission(start.run))
    world.post(ME, RunExited(run=start.run))
    with pytest.raises(Refused, match="turn ended"):
        world.post("ask/a-1", Answered(decision=Decision.ALLOW))


def test_an_answer_that_crosses_the_turns_end_is_said_all_the_same() -> None:
    world, start = running()
    asked = AskRaised(
        run=start.run,
        ask="a-1",
        request="req-1",
        kind=AskKind.QUESTION,
        title="Which?",
        detail="Which?",
        questions=(Question("Which?"),),
    )
    world.post(ME, asked)
    world.post(ME, TurnEnded(run=start.run))
    settled = AskSettled(
        ask="a-1", decision=Decision.ANSWER, text="Euro", answers=(("Which?", "Euro"),)
    )
    world.post(ME, settled)
    world.post(ME, RunExited(run=start.run))
    assert "Q: Which?\nA: Euro" in world.take(StartRun).prompt


def test_every_question_by_the_desk_is_answered_at_once_even_one_that_comes_too_late() -> None:
    world, start = running()
    world.post(ME, question(start.run))
    assert world.take(ReplyDesk) == ReplyDesk(call="s-9-t1#c1", text=news.ASKED_THE_OWNER)
    world.post(ME, STOP)
    world.post(ME, question(start.run, "a-2"))
    assert world.take(ReplyDesk).is_error
    assert "ask/a-2" not in world.states
    world.post(ME, RunExited(run=start.run))
    world.post(ME, question("s-9-t0", "a-3"))
    assert world.take(ReplyDesk).is_error


def test_a_stop_that_may_be_taken_back_leaves_a_question_of_the_desk_open() -> None:
    world, start = running(LEAD)
    world.post(ME, question(start.run))
    world.end_turn(start)
    world.post(ME, STOP)
    world.post("ask/a-1", Answered(decision=Decision.ANSWER, text="Euro"))
    assert world.owes(StartRun) == []
    world.post(ME, SessionResumed())
    assert "A: Euro" in world.take(StartRun).prompt


def test_a_session_stopped_for_good_needs_no_answer_any_more() -> None:
    world, start = running()
    world.post(ME, question(start.run))
    world.post(ME, SessionStopped(why="dropped", final=True))
    with pytest.raises(Refused, match="the session was stopped"):
        world.post("ask/a-1", Answered(decision=Decision.ANSWER, text="Euro"))


# ---------------------------------------------------------------- the owner's hand


def test_a_stop_while_starting_waits_for_the_process_and_starts_nothing() -> None:
    world = alone()
    start = world.take(StartRun)
    world.post(ME, STOP)
    assert world.take(CloseRun).run == start.run
    world.post(ME, RunStarted(run=start.run))
    world.post(ME, RunExited(run=start.run))
    assert me(world).stage is Stage.HELD
    world.post(ME, line("Hello?"))
    assert world.owes(StartRun) == []
    world.post(ME, SessionResumed())
    assert world.take(StartRun).prompt.startswith("Build it")


def test_a_stop_while_it_waits_for_a_place_gives_the_place_back() -> None:
    world = World()
    world.post(
        ME,
        SessionOpened(
            goal="g-9",
            role=LEAD,
            project="shop",
            account=ACCOUNT,
            model="",
            mode="edit",
            branch="b",
            commit="b0",
            preface="",
            prompt="Build it",
        ),
    )
    assert me(world).stage is Stage.WANTING
    world.post(ME, STOP)
    world.post("fleet", SEEN)
    assert world.owes(StartRun) == []
    fleet = world.states["fleet"]
    assert (fleet.running, fleet.wanting) == ((), ())


def test_a_stop_taken_back_before_the_process_ended_goes_on_by_itself() -> None:
    world, start = running()
    world.post(ME, STOP)
    world.post(ME, SessionResumed())
    assert world.owes(StartRun) == []
    world.post(ME, RunExited(run=start.run))
    assert world.take(StartRun).prompt == news.CARRY_ON


def test_stopped_again_it_stays_stopped() -> None:
    world, start = running()
    for event in (STOP, SessionResumed(), STOP, RunExited(run=start.run)):
        world.post(ME, event)
    assert me(world).stage is Stage.HELD


def test_a_turn_that_had_ended_when_it_was_stopped_counts() -> None:
    world, start = running()
    world.post(ME, TurnEnded(run=start.run, text="Built."))
    world.post(ME, STOP)
    world.post(ME, RunExited(run=start.run))
    assert len(told(world, TurnOver)) == 1
    world.post(ME, SessionResumed())
    assert me(world).stage is Stage.GIVEN
    assert world.owes(StartRun) == []


def test_resuming_pays_for_no_turn_where_nothing_is_left_to_say() -> None:
    world, start = running(LEAD)
    world.end_turn(start)
    world.post(ME, STOP)
    world.post(ME, SessionResumed())
    assert me(world).stage is Stage.IDLE
    assert world.owes(StartRun) == []


def test_what_failed_waits_for_its_own_retry_when_all_goes_on() -> None:
    world = alone()
    start = world.take(StartRun)
    world.post(ME, RunRefused(run=start.run, why="no such agent"))
    world.post(ME, STOP)
    world.post(ME, SessionResumed(again=False))
    assert world.owes(StartRun) == []
    assert me(world).stage is Stage.FAILED
    world.post(ME, SessionResumed())
    assert world.take(StartRun).prompt == "Build it"


def test_lines_a_worker_never_took_up_go_to_its_goal_when_it_ends_for_good() -> None:
    world, start = running()
    world.end_turn(start)
    world.post(ME, line("Use tabs"))
    world.post(ME, SessionStopped(why="landed", final=True))
    world.post(ME, line("And hurry"))
    assert told(world, LinesLeft) == [
        LinesLeft(session="s-9", text="Use tabs"),
        LinesLeft(session="s-9", text="And hurry"),
    ]
    world.post(ME, SessionResumed())
    assert world.owes(StartRun) == []


def test_an_interrupt_ends_the_turn_and_is_asked_for_once() -> None:
    """BR-16."""
    world, start = running()
    world.post(ME, TurnInterrupted())
    with pytest.raises(Refused, match="already"):
        world.post(ME, TurnInterrupted())
    assert len(world.owes(InterruptRun)) == 1
    world.pass_time(15)  # it did not listen
    assert world.take(CloseRun).grace_s == 0.0
    world.post(ME, RunExited(run=start.run))
    (over,) = told(world, TurnOver)
    assert isinstance(over, TurnOver)
    assert over.kind is TurnError.INTERRUPTED
    with pytest.raises(Refused, match="Nothing is running"):
        world.post(ME, TurnInterrupted())


def test_a_line_behind_an_interrupt_opens_the_next_turn() -> None:
    world, start = running()
    world.post(ME, TurnInterrupted())
    world.post(ME, line("Rather this"))
    world.end_turn(start, error="interrupted", kind=TurnError.INTERRUPTED)
    assert world.take(StartRun).prompt == "Rather this"
    assert world.owes(Collect) == []
