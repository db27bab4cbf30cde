"""Always with the real Claude Code: the same command is answered by the rule, until it is revoked.

Only the phone and the model are stand-ins; see quarterdeck.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real_agents.model_server import ModelServer, Part
from tests.real_agents.quarterdeck import Quarterdeck
from tests.real_agents.script import LEAD, bash

pytestmark = pytest.mark.real_agent

LINT = "make lint"


async def test_a_rule_answers_the_agent_and_asks_again_once_revoked(tmp_path: Path) -> None:
    parts = [
        Part(system=LEAD, prompt="Once more", steps=(bash(LINT), "Looked at once more.")),
        Part(system=LEAD, prompt="Rundown", steps=(bash(LINT), bash(LINT), "Looked at it twice.")),
        Part(system=LEAD, steps=("Noted.",)),
    ]
    with ModelServer(parts) as api:
        async with Quarterdeck(tmp_path, api) as deck:
            deck.phone.send("/new shop Add a cart")
            card = await deck.shown(lambda m: "Always" in m.labels)
            assert LINT in card.text
            assert "Always keeps: exactly this command, in shop" in card.text
            await deck.press("Always")
            await deck.shown(lambda m: "Looked at it twice." in m.text)
            done = await deck.shown(lambda m: "Always allowed by you" in m.text)
            assert done.labels == []

            deck.phone.send("/settings rules")
            page = await deck.shown(lambda m: "Allowed by your rules" in m.text)
            assert "used once" in page.text
            (revoke,) = [label for label in page.labels if label.startswith("Revoke")]
            await deck.press(revoke)
            await deck.shown(lambda m: "No rule is kept" in m.text)

            deck.phone.reply(done, "Once more")
            await deck.shown(lambda m: "Always" in m.labels and LINT in m.text)
            await deck.press("Deny")
            await deck.shown(lambda m: "Looked at once more." in m.text)
