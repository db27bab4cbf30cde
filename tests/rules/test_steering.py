"""Now: what waits for the turn's end is said within it, or opens the next one at once."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine import board
from engine.adapters.agents import DRIVERS
from engine.adapters.agents.driver import Steers
from engine.errors import Refused
from engine.rules.effects import CloseRun, InterruptRun, StartRun, SteerRun
from engine.rules.events import (
    GaveUp,
    HoldOver,
    LimitReached,
    LineTaken,
    Prompted,
    RunExited,
    SaidNow,
    SessionNamed,
    SessionStopped,
    TurnEnded,
    TurnInterrupted,
    TurnOver,
)
from engine.rules.plan import Stage as PieceStage
from engine.rules.session_state import Stage
from engine.rules.steering import STEERABLE
from engine.rules.words import Account, Attachment, TurnError
from engine.views import SessionCard, WorkerCard
from tests.rules.test_session import ME, me, permission, running, told
from tests.rules.world import World, draft, started

LINE = Prompted(text="Use commas", source="owner")
NEWS = Prompted(text="[Quarterdeck] Piece 1 landed", source="news")


def said_now(*, taken: bool = False) -> tuple[World, StartRun, SteerRun]:
    world, start = running()
    world.post(ME, NEWS)
    world.post(ME, LINE)
    world.post(ME, SaidNow())
    steer = world.take(SteerRun)
    if taken:
        world.post(ME, LineTaken(run=start.run, key=steer.key))
    return world, start, steer


def end(world: World, start: StartRun, kind: TurnError = TurnError.NONE) -> None:
    world.post(ME, TurnEnded(run=start.run, kind=kind, error="no" if kind else ""))
    world.post(ME, RunExited(run=start.run))


def test_now_says_the_owners_lines_in_the_turn_and_leaves_news_for_its_end() -> None:
    world, start, steer = said_now()
    assert (steer.run, steer.text) == (start.run, "Use commas")
    assert [line.text for line in me(world).queue] == [NEWS.text]
    assert me(world).stage is Stage.RUNNING
    assert not world.owes(InterruptRun)


def test_what_the_agent_read_is_not_said_again() -> None:
    world, start, _ = said_now(taken=True)
    end(world, start)
    assert world.take(StartRun).prompt == NEWS.text


@pytest.mark.parametrize("kind", [TurnError.NONE, TurnError.INTERRUPTED])
def test_what_the_agent_did_not_get_to_opens_the_next_turn(kind: TurnError) -> None:
    world, start, steer = said_now()
    end(world, start, kind)
    assert "Use commas" in world.take(StartRun).prompt
    assert told(world, TurnOver) == []  # so it is no attempt, and pauses nothing
    world.post(ME, LineTaken(run=start.run, key=steer.key))  # too late: it is in the next turn
    assert me(world).steered == ()


def test_a_line_taken_after_the_turns_end_is_said_in_the_next_turn() -> None:
    """The agent begins one more turn by itself then, which is ended with the run."""
    world, start, steer = said_now()
    world.post(ME, TurnEnded(run=start.run))
    world.post(ME, LineTaken(run=start.run, key=steer.key))
    world.post(ME, RunExited(run=start.run))
    assert "Use commas" in world.take(StartRun).prompt


def interrupted() -> tuple[World, StartRun, SteerRun]:
    world, start, steer = said_now()
    world.post(ME, TurnInterrupted())
    world.take(InterruptRun)
    world.post(ME, TurnEnded(run=start.run, kind=TurnError.INTERRUPTED, error="no", cost_usd=0.5))
    return world, start, steer


def test_a_line_an_interrupted_agent_goes_on_with_by_itself_is_heard_once() -> None:
    """The lines of such a run in their order: result, the line "started", init, result."""
    world, start, steer = interrupted()
    assert not world.owes(CloseRun)
    world.post(ME, LineTaken(run=start.run, key=steer.key))
    world.post(ME, SessionNamed(run=start.run, agent_session="x"))
    world.post(ME, HoldOver(what="interrupt", run=start.run))
    assert not world.owes(CloseRun)
    assert told(world, TurnOver) == []
    world.post(ME, TurnEnded(run=start.run, cost_usd=0.5))
    assert world.owes(CloseRun)
    world.post(ME, RunExited(run=start.run))
    assert world.take(StartRun).prompt == NEWS.text
    assert me(world).cost_usd == 1.0


def test_one_that_does_not_go_on_by_itself_is_ended_and_told_in_its_next_turn() -> None:
    world, start, _ = interrupted()
    world.post(ME, HoldOver(what="interrupt", run=start.run))
    assert world.take(CloseRun).grace_s == 0.0
    world.post(ME, RunExited(run=start.run))
    prompt = world.take(StartRun).prompt
    assert prompt.count("Use commas") == 1
    assert "cut off" not in prompt


def test_a_second_interrupt_ends_a_turn_that_it_went_on_with() -> None:
    world, start, steer = interrupted()
    world.post(ME, LineTaken(run=start.run, key=steer.key))
    world.post(ME, TurnInterrupted())
    assert world.owes(InterruptRun)
    end(world, start, TurnError.INTERRUPTED)
    assert "Use commas" not in world.take(StartRun).prompt


def test_stopped_meanwhile_it_rests_with_the_line_kept() -> None:
    world, start, _ = interrupted()
    world.post(ME, SessionStopped(why="stopped by you"))
    world.post(ME, RunExited(run=start.run))
    assert "Use commas" in [line.text for line in me(world).queue]
    assert not me(world).ended_early


def test_cut_off_before_it_was_read_it_is_said_again_and_after_that_not() -> None:
    for taken in (False, True):
        world, start, _ = said_now(taken=taken)
        world.post(ME, RunExited(run=start.run))
        assert ("Use commas" in world.take(StartRun).prompt) is not taken


def test_a_stopped_session_keeps_what_was_not_read() -> None:
    world, start, _ = said_now()
    world.post(ME, SessionStopped(why="stopped by you"))
    world.post(ME, RunExited(run=start.run))
    assert "Use commas" in [line.text for line in me(world).queue]


def test_a_machine_that_could_not_be_told_gives_the_line_back() -> None:
    world, start, _ = said_now()
    world.post(ME, GaveUp(effect="SteerRun", why="no", about=start.run))
    assert [line.text for line in me(world).queue] == ["Use commas", NEWS.text]


def test_an_agent_that_hears_nothing_meanwhile_is_interrupted_and_told_at_once() -> None:
    world, start = running()
    world.states[ME] = replace(me(world), account=Account("other", "another"))
    world.post(ME, LINE)
    world.post(ME, SaidNow())
    assert world.take(InterruptRun).run == start.run
    end(world, start, TurnError.INTERRUPTED)
    assert world.take(StartRun).prompt == "Use commas"
    assert told(world, TurnOver) == []


def test_one_that_waits_for_an_answer_is_interrupted_too() -> None:
    world, start = running()
    world.post(ME, permission(start.run))
    world.post(ME, LINE)
    world.post(ME, SaidNow())
    assert world.owes(InterruptRun)
    assert not world.owes(SteerRun)


def test_a_line_with_a_file_brings_the_file_into_the_turn() -> None:
    world, _ = running()
    file = Attachment("a.png", "a" * 64, 10)
    world.post(ME, replace(LINE, files=(file,)))
    world.post(ME, SaidNow())
    (steer,) = world.owes(SteerRun)
    assert steer.files == (file,)
    assert steer.text == f"{LINE.text}\n(sent with this: {file.place})"


def test_now_has_nothing_to_do_without_a_line_or_a_turn() -> None:
    world, start = running()
    with pytest.raises(Refused, match="your line already"):
        world.post(ME, SaidNow())
    world.post(ME, LINE)
    world.post(ME, TurnInterrupted())
    with pytest.raises(Refused, match="opens its next turn"):
        world.post(ME, SaidNow())
    world.post(ME, LimitReached(run=start.run, resets_at=0.0))
    end(world, start, TurnError.INTERRUPTED)
    with pytest.raises(Refused, match="Nothing is running"):
        world.post(ME, SaidNow())


def test_the_rule_and_the_drivers_agree_on_who_hears_a_line_in_a_turn() -> None:
    assert {name for name, driver in DRIVERS.items() if isinstance(driver, Steers)} == STEERABLE


# ---------------------------------------------------------------- what the cards say


def at_work() -> tuple[World, StartRun]:
    world = started(draft("Orders page"))
    world.turn("I wait.")  # the lead's
    return world, world.begin_turn()


def worker(world: World) -> WorkerCard:
    card = world.card("p-1")
    assert isinstance(card, WorkerCard)
    return card


def test_the_card_offers_now_while_a_line_waits_and_a_worker_is_not_paused_by_it() -> None:
    world, start = at_work()
    assert worker(world).buttons == ("interrupt", "peek", "stop")
    stream = f"session/{start.session}"
    world.post(stream, LINE)
    assert worker(world).buttons == ("now", "interrupt", "peek", "stop")
    world.post(stream, SaidNow())
    card = worker(world)
    assert (card.queued, card.steered) == (0, 1)
    assert "now" not in card.buttons
    world.end_turn(start, kind=TurnError.INTERRUPTED)
    piece = world.states["goal/g-1"].pieces[0]
    assert (piece.stage, piece.attempt) == (PieceStage.WORKING, 1)
    assert world.take(StartRun).prompt == "Use commas"


def test_an_interrupted_worker_waits_for_a_line_or_retry() -> None:
    world, start = at_work()
    world.post(f"session/{start.session}", TurnInterrupted())
    world.end_turn(start, kind=TurnError.INTERRUPTED)
    (wait,) = worker(world).waits
    assert (
        f"{wait.what}: {wait.why}" == "interrupted by you: it waits for a line from you, or Retry"
    )
    assert "retry" in worker(world).buttons


def test_an_interrupted_lead_says_what_goes_on_without_it() -> None:
    world, _ = at_work()
    lead = world.states["goal/g-1"].session
    world.post(f"session/{lead}", LINE)
    turn = world.begin_turn()
    world.post(f"session/{lead}", TurnInterrupted())
    world.end_turn(turn, kind=TurnError.INTERRUPTED)
    card = world.card("g-1")
    assert isinstance(card, SessionCard)
    (wait,) = card.waits
    said = "interrupted by you: it waits for a line from you, or its workers' news"
    assert f"{wait.what}: {wait.why}" == said
    rows = board.board(world.states, lambda _run: "").now
    assert any(row.text.startswith("interrupted by you: it waits for") for row in rows)
    world.post(f"session/{lead}", LINE)
    card = world.card("g-1")
    assert isinstance(card, SessionCard)
    assert not [wait for wait in card.waits if wait.what == "Interrupted"]


def test_one_that_is_only_just_beginning_is_let_begin_first() -> None:
    world, start = running(named=False)
    world.post(ME, LINE)
    with pytest.raises(Refused, match="only just beginning"):
        world.post(ME, SaidNow())
    world.post(ME, SessionNamed(run=start.run, agent_session=start.agent_session))
    world.post(ME, SaidNow())
    assert world.owes(SteerRun)


def test_interrupted_before_it_took_the_turn_up_it_is_told_its_task_with_the_next_line() -> None:
    world, start = running(named=False)
    world.post(ME, TurnInterrupted())
    end(world, start, TurnError.INTERRUPTED)
    assert me(world).stage is Stage.IDLE
    assert not world.owes(StartRun)
    world.post(ME, LINE)
    prompt = world.take(StartRun).prompt
    assert "Build it" in prompt
    assert prompt.endswith("Use commas")


def test_news_still_wakes_one_that_was_interrupted_before_it_took_its_turn_up() -> None:
    world, start = running(named=False)
    world.post(ME, TurnInterrupted())
    end(world, start, TurnError.INTERRUPTED)
    world.post(ME, replace(NEWS, wait_s=20.0))
    world.pass_time(30)
    prompt = world.take(StartRun).prompt
    assert "Build it" in prompt
    assert NEWS.text in prompt
