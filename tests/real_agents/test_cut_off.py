"""The real Claude Code killed in the middle of a turn: what it takes up again, and what its model is told.

Killed in the middle of a tool: test_bad_days.py. Only the phone and the model are stand-ins; see
quarterdeck.py. What the rules make of it is tried in tests/rules/test_cut_off.py.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from engine.rules.session_state import Session, Stage
from tests.real_agents.model_server import Hold, ModelServer, Part, prompt_of
from tests.real_agents.quarterdeck import Quarterdeck
from tests.real_agents.script import LEAD, bash

pytestmark = pytest.mark.real_agent

GOAL = "Add a cart that forgets nothing"


async def streams(deck: Quarterdeck, hold: Hold) -> Session:
    """Give the goal, and wait until its lead's model is in the middle of an answer."""
    deck.phone.send(f"/new shop {GOAL}")
    await deck.until(hold.reached.is_set)
    await deck.until(lambda: deck.sessions()[0].named)
    return deck.sessions()[0]


async def test_a_lead_whose_runner_dies_in_the_middle_of_a_stream_goes_on_with_a_note(
    tmp_path: Path,
) -> None:
    """BR-42, BR-49: half an answer is no answer, and what was done before it is not done again."""
    hold, later = Hold("I was about to "), Hold("I go ", "on.")
    script = [
        Part(system=LEAD, prompt="was cut off", steps=(later,)),
        Part(system=LEAD, prompt=GOAL, steps=(bash("git status"), hold)),
    ]
    with ModelServer(script) as api:
        async with Quarterdeck(tmp_path, api) as deck:
            before = await streams(deck, hold)
            child = json.loads((deck.home.runs / before.run / "child.json").read_text())
            os.kill(child["runner"], signal.SIGKILL)
            await deck.shown(lambda m: "Cut off after Bash: a step; goes on" in m.text)
            later.release.set()
            await deck.shown(lambda m: "I go on." in m.text)
            (after,) = deck.sessions()
            assert (after.agent_session, after.turn) == (before.agent_session, 2)
        resumed = api.requests[-1]
        note, _ = prompt_of(resumed)
        assert "No tool was under way; the last you had done was `Bash: a step`" in note
        assert "git status" in str(resumed["messages"]), "the conversation goes on"
        assert str(resumed["messages"]).count(GOAL) in (1, 2), "cut off early it is said once more"
        hold.release.set()


async def test_a_lead_killed_too_early_for_its_conversation_begins_anew_with_all_of_its_goal(
    tmp_path: Path,
) -> None:
    """BR-59: neither resumed for ever, nor failed."""
    hold = Hold("I was about to ")
    script = [
        Part(system=LEAD, prompt="could not be reopened", steps=("I begin anew.",)),
        Part(system=LEAD, prompt=GOAL, steps=(hold,)),
    ]
    with ModelServer(script) as api:
        async with Quarterdeck(tmp_path, api) as deck:
            before = await streams(deck, hold)
            os.kill(deck.agent_of(before.run)[0], signal.SIGKILL)
            await deck.until(lambda: deck.sessions()[0].stage is Stage.PARKED)
            kept = deck.home.root / "sessions" / before.id / "config/projects"
            for transcript in kept.rglob(f"{before.agent_session}.jsonl"):
                transcript.unlink()  # it is written a moment after its first word: not always in time
            await deck.press("Resume")
            await deck.shown(lambda m: "I begin anew." in m.text)
            assert not [m for m in deck.phone.heard() if "Retry" in m.labels]
            (after,) = deck.sessions()
            assert after.agent_session != before.agent_session
        assert prompt_of(api.requests[-1])[0].count(GOAL) == 1
        hold.release.set()
