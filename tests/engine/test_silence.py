"""Silent agents through the whole engine, with real nodes and processes: what is shown, who is ended, who not."""

from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from engine.codec import Codec
from engine.rules import silence
from engine.rules.events import AnyEvent, RunQuiet
from engine.rules.session_state import Session, Stage
from engine.rules.turn_ends import MAX_CUT_OFFS
from engine.rules.words import Why
from engine.views import FailureCard, PermissionCard, PlanCard
from tests.engine.phone import PIECE, Phone, Step, held, labels, lead, pid_of, plan, waits, words

SLEEPS = "sleep 271"


async def at_work(phone: Phone, *steps: Step, until: str = "I look.") -> tuple[str, str]:
    """A goal whose lead says that it looks, and plays these steps; return both ids."""
    await phone.agent(*lead({"say": "I look."}, *steps))
    goal = await phone.goal(await phone.project(), willing=True)
    await phone.until(lambda: until in waits(phone, goal), "the lead to be at work")
    return goal, phone.state(goal).session


def lives(command: str) -> bool:
    with suppress(AssertionError):
        return pid_of([command]) > 0
    return False


async def looked(phone: Phone, name: str, after_s: float) -> Session:
    """Let so much time pass in silence, and wait for what is made of it."""
    before = looks(phone, name)
    phone.later(after_s)
    await phone.until(lambda: looks(phone, name) > before, "a look at the silence")
    return phone.session(name)


def looks(phone: Phone, name: str) -> int:
    """How often its silence was looked at."""
    codec: Codec[AnyEvent] = Codec(AnyEvent)
    with closing(sqlite3.connect(phone.home.engine_db)) as connection:
        rows = connection.execute(
            "SELECT body FROM events WHERE stream = ?", (f"session/{name}",)
        ).fetchall()
    return sum(isinstance(codec.load(body), RunQuiet) for (body,) in rows)


async def test_a_long_tool_is_shown_waited_for_and_told_of_and_the_owner_ends_it(
    tmp_path: Path,
) -> None:
    async with held(tmp_path) as phone:
        goal, name = await at_work(phone, {"run": SLEEPS}, until="Bash")
        await phone.until(lambda: lives(SLEEPS), "the tool's process")
        session = await looked(phone, name, silence.SHOWN_S + 60)
        assert session.silence is not None
        assert f"silent 3+ min: runs “{SLEEPS}” since " in waits(phone, goal)
        (row,) = (await phone.door.board()).running
        assert row.silence is not None
        for _ in range(4):
            session = await looked(phone, name, silence.QUIET_S)
            assert session.silence is not None
            assert session.silence.why is Why.TOOL
        assert f"silent 1+ h: runs “{SLEEPS}”" in waits(phone, goal)
        await looked(phone, name, silence.IDLE_TOOL_S)
        said = await phone.noted(goal, "without a word or a sign of life")
        assert said.endswith("Nothing is ended unasked.")
        session = phone.session(name)
        assert (session.stage, session.turn, session.cut_offs) == (Stage.RUNNING, 1, 0)
        (card,) = [card for card in phone.door.cards() if card.id == goal]
        await phone.tap(card, "interrupt")
        await phone.until(lambda: phone.session(name).stage is Stage.IDLE, "the turn to be over")
        assert phone.session(name).silence is None


async def test_nothing_is_ended_while_the_owner_is_asked_and_the_answer_is_heard(
    tmp_path: Path,
) -> None:
    """BR-67: not while a permission is open, however long."""
    async with held(tmp_path) as phone:
        asks = {"permission": {"tool": "WebFetch", "input": {"url": "http://127.0.0.1:1/"}}}
        await phone.agent(*lead({"say": "I look."}, asks, plan(PIECE)))
        goal = await phone.goal(await phone.project())
        card = await phone.card(goal, PermissionCard)
        name = phone.state(goal).session
        for _ in range(3):
            session = await looked(phone, name, 9 * 60.0)
            assert (session.stage, len(session.asks)) == (Stage.RUNNING, 1)
        await phone.tap(card, "allow")
        await phone.card(goal, PlanCard)
        assert (phone.session(name).turn, phone.session(name).cut_offs) == (1, 0)


async def test_a_try_that_is_to_come_is_shown_with_its_time_and_waited_for(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        retry = {"retry": {"status": 529, "attempt": 2, "wait_s": 3600}}
        goal, name = await at_work(phone, retry, {"hang": True}, until="waits for its model")
        for after_s in (silence.SHOWN_S + 1, silence.QUIET_S, silence.QUIET_S):
            session = await looked(phone, name, after_s)
            assert session.silence is not None
            assert session.silence.why is Why.NETWORK
        assert "its model does not answer (“overloaded (529)”), tries again at " in waits(
            phone, goal
        )
        assert session.stage is Stage.RUNNING


async def test_one_that_never_says_a_word_is_ended_and_its_task_said_again(tmp_path: Path) -> None:
    """BR-67: silence from the very start."""
    async with held(tmp_path) as phone:
        await phone.command("#!/bin/sh\nexec sleep 300\n")
        goal = await phone.goal(await phone.project(), "Add orders to the shop")
        name = phone.state(goal).session
        runs = phone.home.root / "runs"
        await phone.until(lambda: any(runs.glob("*/child.json")), "its process")
        session = await looked(phone, name, silence.SHOWN_S + 1)
        assert session.silence is not None
        assert session.silence.why is Why.MODEL
        await looked(phone, name, silence.QUIET_S)
        await phone.until(lambda: is_in(phone, name, 2), "its second turn")
        heard = phone.heard(name)
        assert heard.count("Add orders to the shop") == 2
        assert "had been silent for long and was ended" in heard


async def test_a_stopped_agent_is_told_of_and_goes_on_when_it_is_let(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        wait = {"wait_for": ".go", "timeout_s": 600}
        goal, name = await at_work(phone, wait, {"say": "On I go."}, plan(PIECE))
        agent = pid_of(["rehearse", phone.session(name).agent_session])
        os.kill(agent, signal.SIGSTOP)
        try:
            await looked(phone, name, silence.SHOWN_S + 1)
            await phone.noted(goal, "a signal from outside stopped one of its processes")
            session = await looked(phone, name, 3 * silence.QUIET_S)
            assert (session.stage, session.ending) == (Stage.RUNNING, "")
            assert "Interrupt ends its turn" in waits(phone, goal)
        finally:
            os.kill(agent, signal.SIGCONT)
        (phone.home.root / "trees" / phone.state(goal).project / name / ".go").touch()
        await phone.card(goal, PlanCard)
        assert phone.session(name).silence is None


async def test_one_that_hangs_each_time_is_given_up_and_its_card_asks(tmp_path: Path) -> None:
    """BR-67, BR-54: not restarted for ever; and nothing that was said is lost."""
    async with held(tmp_path) as phone:
        await phone.agent({"role": "lead", "steps": [{"say": "I look."}, {"hang": "deaf"}]})
        goal = await phone.goal(await phone.project(), "Add orders")
        name = phone.state(goal).session
        for turn in range(1, MAX_CUT_OFFS + 2):
            await phone.until(
                lambda turn=turn: is_in(phone, name, turn) and "I look." in waits(phone, goal),  # type: ignore[misc]
                f"turn {turn}",
            )
            await looked(phone, name, silence.SHOWN_S + 1)
            await looked(phone, name, silence.QUIET_S)
            await phone.until(lambda turn=turn: not is_in(phone, name, turn), "its end")  # type: ignore[misc]
        card = await phone.card(goal, FailureCard)
        assert labels(card) == ["Retry", "Stop"]
        assert "without finishing a turn (it had been silent for long)" in words(card)
        assert phone.session(name).turn == MAX_CUT_OFFS + 1


def is_in(phone: Phone, name: str, turn: int) -> bool:
    session = phone.session(name)
    return session.stage is Stage.RUNNING and session.turn == turn
