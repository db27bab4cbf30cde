"""A command with a stored key, asked for by the real Claude Code: it never sees the value, nor does its model.

Only the phone and the model are stand-ins; see quarterdeck.py. The machine is fenced, whoever runs this.
"""

from __future__ import annotations

import json
import os
import shutil

import pytest

from stores.sealing import read_key, seal
from tests.engine.fenced import opened, staged
from tests.real_agents.model_server import ModelServer, Part, results_in
from tests.real_agents.quarterdeck import CLI, Quarterdeck, files_with
from tests.real_agents.script import LEAD, desk

VALUE = "sk_live_51HqPurple/Monkey+Dishwasher77"
pytestmark = [
    pytest.mark.real_agent,
    pytest.mark.skipif(
        shutil.which("bwrap") is None and not os.environ.get("CI"),
        reason="unfenced: bubblewrap is not installed here",
    ),
]


async def test_the_agent_asks_and_reads_what_the_command_printed_without_the_value(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    script = 'echo "the key is $STRIPE_KEY"; printf %s "$STRIPE_KEY" | base64'
    asks = desk(
        "run_with_secret",
        names=["STRIPE_KEY"],
        argv=["sh", "-c", script],
        why="To see that it works",
    )
    parts = [
        Part(system=LEAD, prompt="run_with_secret: exit 0", steps=("I have read it.",)),
        Part(system=LEAD, prompt="Rundown", steps=(desk("secrets"), asks, "I asked for it.")),
    ]
    cli = str(CLI.resolve())  # a link to it may lie where its fence shows nothing
    with staged() as (folder, machine), ModelServer(parts) as api:
        async with Quarterdeck(folder, api, machine=machine, command=cli) as deck:
            sealed = seal(read_key(deck.home.vault_pub), VALUE.encode())
            await deck.engine.door.keep_secret("STRIPE_KEY", sealed)
            opened(deck.home)
            deck.phone.send("/new shop Look whether the key works")
            await deck.press("Allow", "python3 -m unittest -q")
            card = await deck.press("Allow once", "STRIPE_KEY", "This command can read it.")
            assert "To see that it works" in card.text
            await deck.shown(lambda m: "I have read it." in m.text)
            told = "".join(json.dumps(body) for body in api.requests)
            listed = [one for body in api.requests for one in results_in(body)]
        assert any("- STRIPE_KEY: for everywhere" in text for text in listed)
        assert any("Put to the owner" in text for text in listed)
        assert "the key is {{STRIPE_KEY}}" in told
        for words in (VALUE, VALUE[8:30], "c2tfbGl2ZV81MUhxUHVycGxl"):
            assert words not in told
            assert words not in caplog.text
            assert files_with(words, folder) == []
