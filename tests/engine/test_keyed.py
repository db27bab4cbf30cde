"""A command with a stored key, from the phone: asked for, decided, run in a fence, its output scrubbed.

Real bot, engine, vault, node and fence; Telegram is emulated, the agent rehearses. Afterwards the value is
looked for in every file there is.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from bot.emulator import Message
from engine import wanted_keys
from engine.adapters import keyed
from engine.adapters.following import Followed
from engine.adapters.machines import Machine
from engine.engine import Engine
from engine.node.folder import line
from engine.perform import Performer
from engine.rules.effects import RunKeyed
from engine.rules.events import GaveUp
from engine.rules.kept import Kept
from engine.rules.project import Project
from engine.rules.session_state import Session
from engine.views import KeyedCard
from stores.sealing import seal
from tests.engine.chat import Chat, chatting
from tests.engine.fenced import Here, Ordinary, opened, runs_of, staged
from tests.engine.phone import LIMIT_S, Phone, Step, desk, held, lead, plan, worker
from tests.fakes import git

VALUE = "sk_live_51HqPurple/Monkey+Dishwasher77"
CODED = base64.b64encode(VALUE.encode()).decode()
PRINTS = 'echo "it is $STRIPE_KEY"; printf %s "$STRIPE_KEY" | base64 -w 10; echo "$STRIPE_KEY" >&2'
KNOWN = ["date", "-u"]
pytestmark = pytest.mark.skipif(
    shutil.which("bwrap") is None and not os.environ.get("CI"),
    reason="unfenced: bubblewrap is not installed here",
)


def asks(argv: list[str], *names: str, why: str = "To see the balance", **step: Any) -> Step:
    asked = desk("run_with_secret", names=list(names or ("STRIPE_KEY",)), argv=argv, why=why)
    return {**asked, **step}


def parts(*steps: Step, later: Sequence[Step] = ()) -> list[Step]:
    """A worker that plays these in its turns, and says what it heard in the others."""
    return [
        *lead(plan({"title": "The balance"})),
        worker(*steps, {"say": "I asked."}, turn=1),
        worker(*later, {"say": "I heard: {prompt}"}, turn=2),
        worker({"say": "I heard: {prompt}"}),
    ]


class Deck:
    """One owner's box with a fenced machine."""

    def __init__(self, folder: Path, chat: Chat) -> None:
        self.folder = folder
        self.chat = chat

    @property
    def engine(self) -> Engine:
        return self.chat.engine

    def worker(self) -> Session:
        found = self.engine.loop.state("session/s-2")
        assert isinstance(found, Session)
        return found

    def rules(self) -> tuple[Kept, ...]:
        found = self.engine.loop.state("project/shop")
        assert isinstance(found, Project)
        return found.rules.kept

    async def until(self, true: Callable[[], object], what: str) -> None:
        """Wait for something to be so: looked for at each commit, and for what is none, often."""
        changed = asyncio.Event()
        self.engine.loop.watch(lambda _stream: changed.set())
        try:
            async with asyncio.timeout(LIMIT_S):
                while not true():
                    changed.clear()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(changed.wait(), 0.1)
        except TimeoutError as late:
            late.add_note(f"waited for {what}\n{self.chat.phone.transcript()}")
            raise

    async def heard(self, words: str) -> str:
        """Wait until the worker is told something; return all that its runs were given."""

        await self.until(lambda: words in prompts(self.folder), words)
        return prompts(self.folder)


def prompts(folder: Path) -> str:
    """All that the worker was given, as its runs' orders hold it."""
    orders = sorted(runs_of(folder).glob("s-2-t*/spec.json"))
    lines = [line for path in orders for line in json.loads(path.read_text())["first_lines"]]
    return "\n".join(str(json.loads(line)["message"]["content"]) for line in lines)


@asynccontextmanager
async def decked(*steps: Step, scope: str = "", later: Sequence[Step] = ()) -> AsyncIterator[Deck]:
    with staged() as (folder, machine):
        repository, scenario = folder / "shop", folder / "scenario.json"
        repository.mkdir()
        git(repository, "init", "-q", "-b", "main")
        (repository / "README").write_text("A shop\n")
        git(repository, "add", "-A")
        git(repository, "commit", "-q", "-m", "Open")
        scenario.write_text(json.dumps({"parts": parts(*steps, later=later)}))
        async with chatting(folder, scenario=str(scenario), machine=machine) as chat:
            door = chat.engine.door
            public = chat.home.vault_pub.read_bytes()
            await door.keep_secret("STRIPE_KEY", seal(public, VALUE.encode()), cause="key")
            if scope:
                await door.scope_key("STRIPE_KEY", scope, cause="scope")
            await door.add_project("shop", str(repository), cause="project")
            await door.add_account("main", "rehearsal", cause="account")
            opened(chat.home)
            yield Deck(folder, chat)
            (folder / "transcript").write_text(chat.phone.transcript())
        assert found(folder, VALUE, CODED[:20], VALUE[9:25]) == []


def found(folder: Path, *words: str) -> list[str]:
    """The files that hold one of these: databases, journals, spools, orders, logs, the chat."""
    return [
        f"{path.relative_to(folder)}: {word[:6]}…"
        for path in folder.rglob("*")
        if path.is_file()
        for word in words
        if word.encode() in path.read_bytes()
    ]


async def begun(deck: Deck, *words: str) -> Message:
    """Give a goal, start its plan, and wait for the card."""
    deck.chat.phone.send("/new shop What is the balance?")
    start = await deck.chat.until("A plan waits for your go", label="Start")
    return await deck.chat.tapped(start, "Start", "Use a stored key in a command?", *words)


async def test_a_command_runs_with_a_key_once_the_owner_allowed_it_and_its_value_is_nowhere(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Promise 4."""
    caplog.set_level("INFO")
    async with decked(
        desk("secrets", expect="- STRIPE_KEY: for everywhere"), asks(["sh", "-c", PRINTS])
    ) as deck:
        card = await begun(deck, "Worker 1 “The balance”", "STRIPE_KEY")
        assert "This command can read it." in card.text
        assert 'sh -c \'echo "it is $STRIPE_KEY"' in card.text
        assert "To see the balance" in card.text
        assert "here · fenced" in card.text
        assert "No Always: it can run whatever it is handed." in card.text
        assert card.labels == ["Allow once", "Deny"]
        assert not list(runs_of(deck.folder).glob("*-key-*"))
        await deck.engine.door.set_ports("shop", "5432", cause="ports")
        told = await deck.chat.tapped(
            card, "Allow once", "Command with a key allowed", "It ran: exit 0"
        )
        (order,) = runs_of(deck.folder).glob("*-key-*/spec.json")
        assert json.loads(order.read_text())["fence"]["ports"] == [5432]
        assert "Allowed by you" in told.text
        heard = await deck.heard("run_with_secret: exit 0 after")
        assert "it is {{STRIPE_KEY}}\n{{STRIPE_KEY}}" in heard
        assert heard.count("{{STRIPE_KEY}}") == 3
        assert VALUE[8:30] not in caplog.text
        (key,) = await deck.engine.door.keys()
        assert key.used_at
        decided = [row.verdict for row in await deck.engine.door.audit() if "STRIPE" in row.verdict]
        assert any("Answered" in verdict and "sh -c" in verdict for verdict in decided)


async def test_what_sends_data_out_takes_a_second_tap() -> None:
    sends = ["curl", "-sS", "-m", "1", "-X", "POST", "https://box.invalid/charges"]
    async with decked(asks(sends)) as deck:
        card = await begun(deck, "⚠ Sends data out to “box.invalid”", "It asks once more.")
        assert card.labels == ["Allow once", "Deny"]
        yes = "Yes, allow: cannot be undone"
        second = await deck.chat.tapped(card, "Allow once", "STRIPE_KEY", label=yes)
        assert not deck.worker().keyed
        assert not list(runs_of(deck.folder).glob("*-key-*"))
        await deck.chat.tapped(second, yes, "Command with a key allowed")
        await deck.heard("run_with_secret: exit ")
        failed = await deck.chat.until("✓ Allowed by you", "✗ It failed: exit ")
        assert failed.text.splitlines()[-1].startswith("✗ It failed: exit ")


async def test_denied_it_does_not_run() -> None:
    async with decked(asks(["sh", "-c", "touch ran"])) as deck:
        card = await begun(deck)
        await deck.chat.tapped(card, "Deny", "Command with a key denied")
        assert "denied what you asked for (To see the balance)" in await deck.heard("denied")
        assert not list(runs_of(deck.folder).glob("*-key-*"))
        assert (await deck.engine.door.keys())[0].used_at == 0


async def test_always_answers_the_same_again_till_the_key_is_forgotten() -> None:
    again = [asks(KNOWN), asks(KNOWN, expect="that very command is with the owner")]
    async with decked(*again, later=[asks(KNOWN)]) as deck:
        card = await begun(deck, "Always keeps: exactly this command with STRIPE_KEY, in shop.")
        assert card.labels == ["Allow once", "Always", "Deny"]
        await deck.chat.tapped(card, "Always", "Kept: exactly this command with STRIPE_KEY")
        await deck.heard("run_with_secret: exit 0 after")
        await deck.chat.sent("/settings rules", "exactly with STRIPE_KEY, in shop", "date -u")
        await deck.until(
            lambda: prompts(deck.folder).count("run_with_secret: exit 0 after") == 2,
            "the second, which nobody was asked about",
        )
        assert len(list(deck.folder.rglob("*-key-*/exit.json"))) == 2
        told = "Used STRIPE_KEY for “date -u” on here (Always): exit 0 after"
        assert (await deck.chat.until(told)).silent
        assert [ask.stage for ask in deck.engine.loop.states("ask").values()] == ["answered"]
        decided = [row.verdict for row in await deck.engine.door.audit() if row.who == "your rule"]
        assert decided == ["Allowed run_with_secret: date -u with STRIPE_KEY"]

        second = seal(deck.chat.home.vault_pub.read_bytes(), b"another-value-of-it-99")
        await deck.engine.door.keep_secret("STRIPE_KEY", second, instead=True, cause="second")
        assert len(deck.rules()) == 1
        await deck.engine.door.forget_key("STRIPE_KEY", cause="forget")
        assert deck.rules() == ()


BAD = [
    (asks(["curl"], "NO_KEY"), "there is no key 'NO_KEY' for you; there are: STRIPE_KEY."),
    (asks(["curl"], "HTTPS_PROXY"), "no command is given a key under it"),
    (asks([" "]), "`argv` is empty"),
    (
        asks(["curl -sS https://example.org"]),
        'give the program and each argument by itself, like ["curl"',
    ),
    (
        asks(["curl", "-H", "X: {{STRIPE_KEY}}"]),
        "the command finds the value in its variable STRIPE_KEY",
    ),
    (asks(["STRIPE_KEY=1", "curl"]), "must be the program"),
    (asks(["curl"], "STRIPE_KEY", "STRIPE_KEY"), "has a key twice"),
    (asks(["curl", "x" * 30_000]), "put it into a file of your tree"),
]


async def test_what_cannot_be_put_is_answered_in_a_sentence_and_no_card_comes() -> None:
    steps = [{**step, "expect": words} for step, words in BAD]
    async with decked(*steps, asks(["true"], why="The last one")) as deck:
        await begun(deck, "The last one")
        assert len(deck.engine.loop.states("ask")) == 1


async def test_a_key_for_elsewhere_is_not_to_be_had_here() -> None:
    where = "machine/here"
    asked = asks(["true"], expect="")
    async with decked(asked, scope=where) as deck:
        card = await begun(deck)
        (folder,) = [deck.folder]
        elsewhere = (folder / "other").with_suffix("")
        elsewhere.mkdir()
        git(elsewhere, "init", "-q", "-b", "main")
        git(elsewhere, "commit", "-q", "--allow-empty", "-m", "Open")
        await deck.engine.door.add_project("other", str(elsewhere), cause="other")
        # It was for here when it was asked for, and is not when it is allowed.
        await deck.engine.door.scope_key("STRIPE_KEY", "project/other", cause="moved")
        deck.chat.phone.tap(card, "Allow once")
        heard = await deck.heard("it did not run")
        assert "The secret STRIPE_KEY is for project other only" in heard
        assert not list(runs_of(folder).glob("*-key-*"))


async def test_a_stop_ends_it_with_all_it_started() -> None:
    async with decked(asks(["sh", "-c", "touch began; setsid sleep 997 & sleep 997"])) as deck:
        card = await begun(deck)
        deck.chat.phone.tap(card, "Allow once")
        await deck.until(lambda: list(deck.folder.rglob("began")), "the command to begin")
        (run,) = runs_of(deck.folder).glob("*-key-*")
        await deck.engine.door.stop("", cause="stopped")
        await deck.until((run / "exit.json").exists, "its end")
        assert json.loads((run / "exit.json").read_text())["why"] == "stopped"
        await deck.until(lambda: not deck.worker().keyed, "the session to hear of it")


# ---------------------------------------------------------------- whatever dies

ONCE = "echo x >> ran; while [ ! -e go ]; do sleep 0.05; done; echo over"


async def asked(phone: Phone) -> str:
    """Have a worker ask for a command that waits for a file; return the goal."""
    public = phone.home.vault_pub.read_bytes()
    await phone.door.keep_secret("STRIPE_KEY", seal(public, VALUE.encode()), cause="key")
    await phone.agent(*parts(asks(["sh", "-c", ONCE])))
    project = await phone.project()
    opened(phone.home)
    return await phone.goal(project, willing=True)


async def under_way(phone: Phone) -> Path:
    """Have it asked for, and allow it; return what it has written."""
    goal = await asked(phone)
    await phone.tap(await phone.card(goal, KeyedCard), "allow_once")
    await phone.until(lambda: bool(list(phone.folder.rglob("ran"))), "the command to begin")
    (ran,) = phone.folder.rglob("ran")
    return ran


async def told(phone: Phone, words: str) -> None:
    await phone.until(lambda: words in prompts(phone.folder), words)


async def test_an_engine_that_is_gone_meanwhile_runs_it_no_second_time_and_tells_its_session() -> (
    None
):
    """BR-51."""
    with staged() as (folder, machine):
        async with held(folder, machine=machine) as phone:
            ran = await under_way(phone)
            phone.stays = True
        async with held(folder, machine=another(folder), after=phone) as again:
            ran.with_name("go").touch()
            await told(again, "run_with_secret: exit 0 after")
            assert ran.read_text() == "x\n"


async def test_a_node_that_is_killed_meanwhile_changes_nothing() -> None:
    with staged() as (folder, machine):
        async with held(folder, machine=machine) as phone:
            ran = await under_way(phone)
            assert machine.pid
            os.kill(machine.pid, signal.SIGKILL)
            ran.with_name("go").touch()
            await told(phone, "run_with_secret: exit 0 after")
            assert ran.read_text() == "x\n"


async def test_with_its_runner_it_is_cut_off_and_an_order_that_comes_again_starts_nothing() -> None:
    with staged() as (folder, machine):
        async with held(folder, machine=machine) as phone:
            ran = await under_way(phone)
            (run,) = runs_of(folder).glob("*-key-*")
            child = json.loads((run / "child.json").read_text())
            os.kill(child["runner"], signal.SIGKILL)
            await told(phone, "whether it ran to its end is not known")
            assert "ask again if it is still needed" in prompts(folder)
            order = RunKeyed(
                run=run.name,
                session="s-2",
                project=phone.session("s-2").project,
                ask=run.name.removeprefix("s-2-key-"),
                names=("STRIPE_KEY",),
                argv=("sh", "-c", ONCE),
                read_only=False,
                allowed_at=phone.clock(),
            )
            assert await keyed.start(phone.engine.runs, order, "here") == []
            assert ran.read_text() == "x\n"


async def test_what_was_stopped_or_is_long_past_does_not_begin_once_its_machine_is_back() -> None:
    for stop in (True, False):
        with staged() as (folder, machine):
            async with held(folder, machine=machine) as phone:
                goal = await asked(phone)
                card = await phone.card(goal, KeyedCard)
                machine.leave()
                await phone.tap(card, "allow_once")
                await phone.until(lambda: bool(phone.session("s-2").keyed), "the order")
                if stop:
                    await phone.door.stop(cause=phone.cause())
                else:
                    phone.later(4000)
                machine.away = False
                phone.engine.loop.wake()
                await phone.until(lambda: not phone.session("s-2").keyed, "its session to hear")
                assert not list(folder.rglob("ran"))
                if not stop:
                    await told(phone, "away for over an hour after it was allowed")


async def test_what_was_owed_when_a_backup_was_taken_is_not_run_by_who_is_restored_from_it() -> (
    None
):
    with staged() as (folder, machine):
        async with held(folder, machine=machine) as phone:
            engine = phone.engine
            performer = Performer(engine.door._hub, engine.runs, {}, engine.loop.world, owed_then=7)
            order = RunKeyed(
                run="s-2-key-a-1",
                session="s-2",
                project="shop",
                ask="a-1",
                names=("STRIPE_KEY",),
                argv=("true",),
                read_only=False,
                allowed_at=0.0,
            )
            ((stream, event),) = await performer(7, "session/s-2", order)
            assert stream == "session/s-2"
            assert isinstance(event, GaveUp)
            assert event.about == "s-2-key-a-1"


async def test_what_a_machine_left_in_it_is_taken_out_before_it_is_stored(tmp_path: Path) -> None:
    """A node may be an older one, or lie: the engine looks through what it is told once more."""
    async with held(tmp_path) as phone:
        public = phone.home.vault_pub.read_bytes()
        await phone.door.keep_secret("STRIPE_KEY", seal(public, VALUE.encode()), cause="key")
        read = Followed(
            run="s-9-key-a-9",
            stream="session/s-9",
            project="shop",
            about="a-9",
            keys=("STRIPE_KEY", "GONE_KEY"),
        )
        reader = keyed.Keyed(phone.engine.runs, read)
        how = {"code": 0, "signal": None, "why": "", "words": ""}
        lines = [
            line(1, "note", "fenced: nothing"),
            line(2, "out", f"it is {VALUE}"),
            *(line(3, "out", CODED[at : at + 9]) for at in range(0, len(CODED), 9)),
            line(9, "exit", how),
        ]
        over = [await reader.read(raw, ("s-9-key-a-9", 0)) for raw in lines]
        assert over == [False] * (len(lines) - 1) + [True]
    assert found(tmp_path, VALUE, CODED[:9], VALUE[9:25]) == []
    assert found(tmp_path, "it is {{STRIPE_KEY}}") != []


def test_an_unfenced_machine_takes_no_key() -> None:
    said = wanted_keys.wrong(("K",), ("true",), "x", (), Session(id="s-1"), fenced=False)
    assert "unfenced machines take no secret" in said


def another(folder: Path) -> Machine:
    return Ordinary(folder) if os.geteuid() == 0 else Here(folder / "home")
