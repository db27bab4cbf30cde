"""The real Claude Code looks at a photo and a document the owner sent: both of them, and unasked.

Only the phone and the model are stand-ins; see quarterdeck.py.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

from engine.views import PermissionCard
from tests.bot.test_sent import png
from tests.real_agents.model_server import Call, Json, ModelServer, Part, Step
from tests.real_agents.quarterdeck import Quarterdeck
from tests.real_agents.script import LEAD, bash

pytestmark = pytest.mark.real_agent


def place(body: Json, what: str) -> str:
    """Where the prompt says that a file lies."""
    found = re.search(rf"{what} from the owner: ([^ ]+) \(", json.dumps(body["messages"]))
    assert found is not None
    return found[1]


def reads(body: Json) -> Step:
    return Call("Read", {"file_path": place(body, "Photo")})


def prints(body: Json) -> Step:
    return bash(f"head -c 24 {place(body, 'File')}")


async def test_it_reads_a_photo_and_a_document_without_asking(tmp_path: Path) -> None:
    parts = [
        Part(system=LEAD, prompt="Build this", steps=(reads, "I saw the photo.")),
        Part(system=LEAD, prompt="And that", steps=(prints, "I read the file.")),
    ]
    with ModelServer(parts) as api:
        async with Quarterdeck(tmp_path, api) as deck:
            deck.phone.photo(png(), caption="/new shop Build this")
            said = await deck.shown(lambda m: "I saw the photo." in m.text)
            shown = json.dumps([body["messages"] for body in api.requests])
            assert '"type": "image"' in shown
            assert base64.b64encode(png()).decode()[:40] in shown
            document = b"\0some bytes\0" + b"read me, I am a document" * 20_000
            deck.phone.document("data.bin", document[1:], caption="And that", reply_to=said.id)
            await deck.shown(lambda m: "I read the file." in m.text)
            assert "some bytes" in json.dumps(api.requests[-1]["messages"])
            assert deck.cards(PermissionCard) == []
