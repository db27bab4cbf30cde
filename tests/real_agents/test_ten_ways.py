"""A key sent in ten ways, with the real Claude Code: neither it, nor its model, nor any file has it. BR-119.

Only the phone and the model are stand-ins; see quarterdeck.py. What the ways are is tests/engine/ten_ways.py;
that a planted key is found there is test_ten_ways.py beside it.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from engine import backup
from tests.engine import ten_ways
from tests.engine.everywhere import in_bytes, pieces
from tests.real_agents.model_server import ModelServer, Part
from tests.real_agents.quarterdeck import Quarterdeck
from tests.real_agents.script import LEAD, desk

pytestmark = pytest.mark.real_agent


async def test_neither_the_agent_nor_its_model_nor_any_file_has_a_key_sent_in_ten_ways(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    keys = ten_ways.made(2)
    asks = desk("ask_owner", question=ten_ways.QUESTION)
    parts = [
        Part(system=LEAD, prompt="Rundown", steps=(asks, "I asked the owner.")),
        Part(system=LEAD, prompt="make publish", steps=("I have heard all of it.",)),
        Part(system=LEAD, steps=("Heard.",)),
    ]
    with ModelServer(parts) as api:
        async with Quarterdeck(tmp_path, api) as deck:
            owner = ten_ways.Owner(deck.phone, deck.shown, keys)
            await owner.goal()
            await owner.rest()
            await deck.shown(lambda m: "I have heard all of it." in m.text)
            kept = {value for _, value in await deck.engine.door._of_vault().values()}
            backup.take(deck.home)
        told = json.dumps(api.requests)
        seen = (told, json.dumps(api.headers), *api.fetched)
        assert kept >= set(keys.values())
        assert ten_ways.found(tmp_path, keys, deck.emulator, caplog.text, *seen) == []
    for word in ("tonight", "that of", "settings", "look", "I mean", "make publish"):
        assert word in told, "the model was told what stood around the keys"
    assert told.count("{{GITHUB_TOKEN") >= len(keys)
    planted = told.replace("make publish", f"make publish {keys['code']}")
    assert in_bytes(planted.encode(), pieces(keys["code"])) != []
