"""Ten real Claude Code sessions at once on two cores: staggered, said, and all ten land.

Only the phone and the model are stand-ins; see quarterdeck.py. Each worker's model keeps it in its turn
until all ten are there, so that ten agents do live at one time.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from engine.rules.fleet import Fleet
from engine.views import SessionCard, ShipCard, WorkerCard
from tests.real_agents.model_server import Hold, ModelServer, Part
from tests.real_agents.quarterdeck import Quarterdeck, git
from tests.real_agents.script import LEAD, WORKER, commit, desk, piece, plan, write

pytestmark = pytest.mark.real_agent

TEN = 10
CORES = 2
LIMIT_S = 360.0
NAMES = [f"Page {chr(ord('A') + n)}" for n in range(TEN)]


@pytest.fixture(autouse=True)
def _on_two_cores() -> Iterator[None]:
    """Whatever the machine has; the node and its agents inherit it."""
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(sorted(every)[:CORES]))
    yield
    os.sched_setaffinity(0, every)


def script(holds: list[Hold]) -> list[Part]:
    lead = (plan("Ten pages.", *(piece(name) for name in NAMES)), "The plan is with you.")
    review = (desk("put_for_review", summary="All ten pages are there."), "It is with you.")
    parts = [
        Part(system=LEAD, prompt="Rundown", steps=lead),
        Part(system=LEAD, prompt="Every piece of the plan has landed", steps=review),
        Part(system=LEAD, steps=("Noted.",)),
    ]
    for name, hold in zip(NAMES, holds, strict=True):
        file = name.lower().replace(" ", "_")
        steps = (hold, write(f"{file}.py", f"NAME = {name!r}\n"), commit(f"Add {name}"), "Done.")
        parts.append(Part(system=WORKER, prompt=f'"{name}"', steps=steps))
    return parts


def fetch(url: str) -> str:
    """A setup that takes as long as the test wants."""
    return f"""python3 -c "import urllib.request as r; r.urlopen('{url}/ready')\""""


class Starts:
    """The most runs that the fleet has had starting."""

    def __init__(self, deck: Quarterdeck) -> None:
        self.most = 0
        self._loop = deck.engine.loop
        self._loop.watch(self._look)

    def _look(self, stream: str) -> None:
        fleet = self._loop.state("fleet") if stream == "fleet" else None
        if isinstance(fleet, Fleet):
            self.most = max(self.most, sum(slot.starting for slot in fleet.running))


async def test_ten_agents_at_once_start_in_turn_and_all_land(tmp_path: Path) -> None:
    """Mission: ten sessions on a mini PC; BR-44, BR-66."""
    release = threading.Event()
    look = desk("status")
    holds = [Hold(then=look, release=release) for _ in range(TEN)]
    async with asyncio.timeout(LIMIT_S):
        with ModelServer(script(holds)) as api:
            try:
                await play(tmp_path, api, holds, release)
            finally:
                api.gate.set()
                release.set()


async def play(
    tmp_path: Path, api: ModelServer, holds: list[Hold], release: threading.Event
) -> None:
    async with Quarterdeck(tmp_path, api) as deck:
        settings = deck.shop / ".quarterdeck/settings.toml"
        settings.write_text(settings.read_text() + f"setup = '''{fetch(api.url)}'''\n")
        git(deck.shop, "commit", "-q", "-a", "-m", "Set trees up")
        starts = Starts(deck)
        # Its setup asks a service of the machine's, which is out of reach in a network of its own.
        deck.phone.send(f"/projects ports shop {urlsplit(api.url).port}")
        await deck.shown(lambda m: "of their machine's 127.0.0.1" in m.text)
        deck.phone.send("/new shop Ten pages, please")
        await deck.press("Allow", "Allow the project's setup?")
        await deck.press("Allow", "Allow the project's check?")
        await deck.shown(lambda m: "passes on main" in m.text)

        api.gate.clear()  # who starts now is in its setup
        await deck.press("Start", NAMES[0])
        for place in ("1st", "2nd", "3rd"):
            words = f"a place to run: here: starting, {place} in line"
            await deck.shown(lambda m, words=words: words in m.text)  # type: ignore[misc]
        deck.phone.send("/status")
        await deck.shown(lambda m: m.text.count("here: starting, ") >= TEN - CORES)
        assert starts.most == CORES
        api.gate.set()

        await deck.until(lambda: all(hold.reached.is_set() for hold in holds))
        workers = [session for session in deck.sessions() if session.piece]
        pids = {deck.agent_of(session.run)[0] for session in workers}
        assert len(pids) == TEN
        for pid in pids:  # when memory is gone, they go before the engine and the bot
            assert int(Path(f"/proc/{pid}/oom_score_adj").read_text()) >= 500
        release.set()

        review = await deck.press("Ship", "All ten pages are there.")
        await deck.press("Proceed", after=review.id)
        await deck.press("Push", "Ready to push")
        await deck.shown(lambda m: "Shipped" in m.text.split("\n")[:2])

        assert starts.most == CORES
        cards = deck.cards(WorkerCard)
        assert {(card.stage, card.attempt, card.failure) for card in cards} == {("landed", 1, "")}
        assert len(cards) == TEN
        assert all(session.cut_offs == 0 for session in deck.sessions())
        (goal,) = deck.cards(SessionCard)
        assert (goal.landed, goal.pieces) == (TEN, TEN)
        assert deck.emulator.notes == []
        (shipped,) = deck.cards(ShipCard)
    assert not any("was cut off" in prompt for prompt in api.prompts())
    origin = tmp_path / "origin.git"
    assert git(origin, "rev-parse", "main") == shipped.commit
    subjects = git(origin, "log", "--no-merges", "--format=%s", "main").split("\n")
    assert sorted(subjects) == sorted(
        ["Open the shop", "Set trees up", *(f"Add {name}" for name in NAMES)]
    )
