"""One goal from the owner's words to the push, built by the real Claude Code.

Only the phone and the model are stand-ins; see quarterdeck.py. The model's script is below: what it
says is made up, what the agents then do (files, commits, desk calls, questions) is done for real.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.views import CommandCard, PermissionCard, ReviewCard, SessionCard, ShipCard, WorkerCard
from tests.real_agents.model_server import (
    Call,
    Json,
    ModelServer,
    Part,
    Step,
    results_in,
    tree_of,
)
from tests.real_agents.quarterdeck import BOT_TOKEN, TOKEN, Quarterdeck, files_with, git
from tests.real_agents.script import LEAD, WORKER, bash, commit, desk, piece, plan, write

pytestmark = pytest.mark.real_agent

GOAL = "Add an order history.\n\nEach order with its date, newest first."
QUESTION = "Where should the page be linked?"
WHERE = {
    "question": QUESTION,
    "header": "Link",
    "multiSelect": False,
    "options": [
        {"label": "In the menu", "description": "seen by all"},
        {"label": "In the footer", "description": ""},
    ],
}
# Everything an agent's process may hold when it starts.
ALLOWED = {
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_MAX_RETRIES",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
    "ENABLE_TOOL_SEARCH",
    "HOME",
    "LANG",
    "MCP_TIMEOUT",
    "PATH",
    "QUARTERDECK_DESK",
    "QUARTERDECK_PLACE",
    "QUARTERDECK_ROLE",
    "QUARTERDECK_RUN",
    "SHELL",
    "TERM",
    "TMPDIR",
}


def fetch(url: str) -> str:
    code = f"import urllib.request as r; print(r.urlopen('{url}').read().decode())"
    return f'python3 -c "{code}"'


def read_readme(body: Json) -> Step:
    return Call("Read", {"file_path": f"{tree_of(body)}/README.md"})


def page_as_answered(body: Json) -> Step:
    """The page says what the owner answered in this turn."""
    said = next(text for text in results_in(body) if QUESTION in text)
    where = "menu" if '"In the menu"' in said else "nowhere"
    return Call(
        "Write", {"file_path": f"{tree_of(body)}/page.py", "content": f"LINK = '{where}'\n"}
    )


def script(stock: str) -> list[Part]:
    """All the model does on the way, by who is asked and what it is asked."""
    proposal = plan(
        "Order history in three pieces.",
        piece("Orders endpoint"),
        piece("Orders page"),
        piece("Tests", 1, 2),
    )
    correction = plan("The total too.", piece("Order total"))
    tests = "import orders\nimport test_shop\n\n\nclass Orders(test_shop.Shop):\n    pass\n"
    return [
        Part(
            system=LEAD,
            prompt="Rundown",
            steps=(
                read_readme,
                write("wrong.txt", "a lead does not write\n"),
                bash("touch wrong.txt"),
                proposal,
                "The plan is with you.",
            ),
        ),
        Part(
            system=LEAD,
            prompt="asks for a correction",
            steps=(correction, "The correction is planned."),
        ),
        Part(
            system=LEAD,
            prompt="Every piece of the plan has landed",
            steps=(
                desk("diff"),
                desk("put_for_review", summary="The order history works."),
                "It is with you.",
            ),
        ),
        Part(system=LEAD, steps=("Noted.",)),
        Part(
            system=WORKER,
            prompt="Orders endpoint",
            steps=(
                write("orders.py", "def orders():\n    return []\n"),
                bash(fetch(stock)),
                commit("Add the orders endpoint"),
                desk("done", summary="The endpoint is there."),
                "Done.",
            ),
        ),
        Part(
            system=WORKER,
            prompt='number 2, "Orders page"',
            steps=(
                Call("AskUserQuestion", {"questions": [WHERE]}),
                page_as_answered,
                desk("ask_owner", question="Which currency?", options=["Euro", "Pound"]),
                "I asked.",
            ),
        ),
        Part(
            system=WORKER,
            prompt="A: Pound",
            steps=(commit("Add the orders page in pounds"), "The page is there."),
        ),
        Part(
            system=WORKER,
            prompt='"Tests"',
            steps=(
                write("test_orders.py", tests),
                bash("python3 -m unittest -q"),
                commit("Test the orders"),
                desk("done"),
                "Tested.",
            ),
        ),
        Part(
            system=WORKER,
            prompt='"Order total"',
            steps=(write("total.py", "TOTAL = 0\n"), commit("Show the total"), "Shown."),
        ),
    ]


async def test_a_goal_goes_to_its_push_with_the_real_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """BR-102, and every hand of the owner on the way."""
    caplog.set_level("INFO")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-api03-billed-by-mistake")
    monkeypatch.setenv("A_SECRET_OF_THE_OWNER", "which no agent may see")
    with ModelServer([]) as api:
        api.parts += script(f"{api.url}/stock")
        async with Quarterdeck(tmp_path, api) as deck:
            ordinary = os.geteuid() != 0
            deck.phone.send(f"/new shop {GOAL}")
            await deck.press("Allow", "python3 -m unittest -q")
            # Allowed by mistake, a lead's command still finds its tree read-only.
            await deck.press("Allow" if ordinary else "Deny", "touch wrong.txt")
            await deck.press("Start", "Orders page")

            asked = await deck.shown(lambda m: "Allow" in m.labels and "/stock" in m.text)
            await deck.shown(lambda m: "In the footer" in m.labels)
            (worker,) = [s for s in deck.sessions() if s.title == "Orders endpoint"]
            _, env = deck.agent_of(worker.run)
            assert set(env) - {"PWD"} == ALLOWED
            assert env["CLAUDE_CODE_OAUTH_TOKEN"] == TOKEN
            await deck.phone.answered(deck.phone.tap(asked, "Allow"))
            await deck.press("In the menu")
            await deck.press("Pound", "Which currency?")

            await deck.press("Ship", "The order history works.")
            await deck.press("Cancel")
            await deck.say("Correct…", "Show the total in the last column", "order history works")
            review = await deck.press("Ship", "Corrected once")
            await deck.press("Proceed", after=review.id)
            await deck.press("Push", "Ready to push")
            await deck.shown(lambda m: "Shipped" in m.text.split("\n")[:2])

            (goal,) = deck.cards(SessionCard)
            assert goal.text == GOAL
            assert ("unfenced" not in goal.fence) == ordinary, goal.fence
            (shipped,) = deck.cards(ShipCard)
            assert {card.fenced for card in deck.cards(PermissionCard)} == {ordinary}
            assert [card.command for card in deck.cards(CommandCard)] == ["python3 -m unittest -q"]
            assert [card.corrected for card in deck.cards(ReviewCard)] == [1]
            assert {(card.stage, card.attempt) for card in deck.cards(WorkerCard)} == {
                ("landed", 1)
            }
            assert deck.emulator.notes == []
        assert api.fetched == ["/stock"]
        lead = [one for body in api.requests for one in results_in(body)]
    assert any("No such tool available: Write" in text for text in lead)
    if ordinary:
        assert any("Read-only file system" in text for text in lead)
    origin = tmp_path / "origin.git"
    assert git(origin, "rev-parse", "main") == shipped.commit
    subjects = git(origin, "log", "--no-merges", "--format=%s", "main").split("\n")
    assert sorted(subjects) == [
        "Add the orders endpoint",
        "Add the orders page in pounds",
        "Open the shop",
        "Show the total",
        "Test the orders",
    ]
    assert git(origin, "show", "main:page.py") == "LINK = 'menu'"
    assert "wrong.txt" not in git(origin, "ls-tree", "--name-only", "main")
    for secret, kept in ((TOKEN, []), (BOT_TOKEN, [tmp_path / "home/secrets/bot-token"])):
        assert secret not in caplog.text
        assert files_with(secret, tmp_path) == kept
