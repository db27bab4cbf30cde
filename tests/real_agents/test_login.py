"""The real agents' own logins, run from the phone; the server they sign in at is ours.

Claude's goes the whole way: phone, bot, engine, node, `claude setup-token`, and the work that waited for it.
Codex has no driver yet: its login is tried at the terminal it will be run at.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from engine.adapters import sign_in
from engine.node import fence
from engine.node.sign_in import SignIns
from engine.rules.words import HERE, Account
from tests.real_agents import sign_in_server
from tests.real_agents.model_server import LOGIN_EXPIRED, ModelServer, Part, Step
from tests.real_agents.quarterdeck import AGENTS, CLI, PATIENCE_S, Quarterdeck, files_with
from tests.real_agents.script import LEAD
from tests.real_agents.sign_in_server import TOKEN, USER_CODE, Codex, SignInServer, certify

pytestmark = pytest.mark.real_agent
CODEX = AGENTS / "codex/node_modules/.bin/codex"


def lead(step: Step) -> list[Part]:
    return [
        Part(system=LEAD, prompt="Rundown", steps=(step,)),
        Part(system=LEAD, steps=("Noted.",)),
    ]


async def test_claude_signs_itself_in_from_the_phone_and_the_goal_that_waited_goes_on(
    tmp_path: Path,
) -> None:
    """BR-54."""
    agent = tmp_path / "agent"  # shown in the fence, with the authority beside it
    agent.mkdir()
    (agent / "claude").symlink_to(CLI)
    certify(agent)
    with (
        SignInServer(sign_in_server.claude, agent) as server,
        ModelServer(lead(LOGIN_EXPIRED)) as api,
    ):
        async with Quarterdeck(tmp_path, api, command=str(agent / "claude")) as deck:
            env = {k: v for k, v in api.env().items() if k != "CLAUDE_CODE_OAUTH_TOKEN"}
            env |= {
                "HTTPS_PROXY": server.url,
                "NO_PROXY": "127.0.0.1",  # where the model is
                "NODE_EXTRA_CA_CERTS": str(agent / "ca.pem"),
            }
            await deck.engine.door.add_account(
                "main",
                "claude",
                command=str(agent / "claude"),
                env=tuple(env.items()),
                secret_env=("CLAUDE_CODE_OAUTH_TOKEN",),
                cause="with a proxy",
            )
            deck.phone.send("/new shop Add a cart")
            card = await deck.press("Log in", "Claude · main")
            api.parts[:] = lead("I am signed in again.")

            link = await typed_back(deck, "a-bad-code", card.id)
            assert "claude.com" in link
            card = await deck.shown(lambda m: "Try again" in m.labels)
            assert "That code wasn't accepted" in card.text
            asked = deck.phone.messages()[-1].id
            await deck.press("Try again")
            assert await typed_back(deck, "the-good-code", asked) != link

            await deck.shown(lambda m: "Account main is signed in." in m.text)
            await deck.shown(lambda m: "I am signed in again." in m.text)
            assert api.headers[-1]["authorization"] == f"Bearer {TOKEN}"
            assert TOKEN not in deck.phone.transcript()
            assert "the-good-code" not in deck.phone.transcript()
        for words in (TOKEN, TOKEN[13:50], "the-good-code", "a-bad-code"):
            assert files_with(words, deck.home.root) == []


async def typed_back(deck: Quarterdeck, code: str, after: int) -> str:
    """Send the code of the page that the card's link opens; return the link."""
    prompt = await deck.phone.wait_for(lambda m: m.asks_for_reply, PATIENCE_S, after=after)
    card = await deck.shown(lambda m: "Code…" in m.labels and "state=" in m.text)
    link = re.search(r"https://\S+", card.text)
    assert link is not None
    state = link[0].partition("state=")[2].partition("&")[0]
    deck.phone.reply(prompt, f"{code}#{state}")
    return link[0]


@pytest.mark.skipif(
    not CODEX.exists() and not os.environ.get("CI"),
    reason="no Codex under .agents/: run `make agents`",
)
async def test_codex_signs_itself_in_by_a_device_code(tmp_path: Path) -> None:
    issuer = Codex()
    home = tmp_path / "home"
    home.mkdir()
    with SignInServer(issuer) as server:
        account = Account(name="work", agent="codex", command=str(CODEX))
        about = {"path": os.environ["PATH"], "toolchains": [], "agents": {}, "home": str(home)}
        order = sign_in.order(account, about, HERE)
        order["argv"] += ["--experimental_issuer", server.url]
        sign_ins = SignIns(str(home), fence.Probe)
        folder = Path(str(sign_ins.start("l-1", **order)["folder"]))
        assert folder == home / "accounts/work"
        seen = 0
        told: dict[str, Any] = {"over": False, "code": ""}
        async with asyncio.timeout(PATIENCE_S):
            while not told["code"]:
                told = await sign_ins.wait("l-1", seen)
                seen = told["n"]
            assert told["code"] == USER_CODE
            assert told["link"] == f"{server.url}/codex/device"
            issuer.typed.set()
            while not told["over"]:
                told = await sign_ins.wait("l-1", seen)
                seen = told["n"]
        assert (told["why"], told["words"]) == ("", "")
        assert json.loads((folder / "auth.json").read_text())["tokens"]["refresh_token"] == "rt-1"
        await sign_ins.close(PATIENCE_S)
