"""The bot between a real emulated Bot API and a real engine socket, with a small engine behind it.

The door here is a fake that does something: it keeps goals, cards, notes and secrets, and knows a
cause again, as the engine does. The bot is the real one (`bot.app.main`) on files under `tmp_path`.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

from msgspec.structs import replace

from bot.app import main
from bot.emulator import Emulator, Phone, Tap
from engine import config
from engine.api import Server
from engine.asker import Asker, asker
from engine.config import Config
from engine.errors import Refused, Unavailable
from engine.paths import Home
from engine.views import (
    AnyCard,
    Attachment,
    Board,
    Document,
    FoundFile,
    Note,
    OwnerView,
    Peek,
    PermissionCard,
    PlanCard,
    ProjectView,
    ReviewCard,
    Row,
    RuleView,
    SessionCard,
)
from stores.database import Database
from stores.sealing import NotOpened, Opener, read_key
from stores.vault import Vault, create_keys

TOKEN = "7000000001:AAtest-token-that-must-never-be-in-a-log-x"
OWNER = 42
STRANGER = 666


class FakeDoor:
    """An engine small enough to read: what the bot asks of it changes its cards."""

    def __init__(self, opener: Opener, vault: Vault) -> None:
        self.shown: dict[str, AnyCard] = {}
        self.said: list[Note] = []
        self.asked: list[tuple[str, dict[str, Any]]] = []  # what took effect, once a cause
        self.server: Server | None = None
        self.owned = OwnerView()
        self.kept: list[RuleView] = []  # rules
        self.listed_for = ""  # the project whose rules were looked at last
        self.away = False
        self.refuses = ""  # what a setting is refused with
        self.opens = ""  # the goal that the next ones are given as
        self.missing = ""  # what is away of what is to be shown
        self.peeks = 0
        self.rewords = "Its lead begins with the new words."
        self.waiting: set[str] = set()  # lines that no session has heard yet
        self.hears = True  # at once: no line can be edited any more
        self.slow: asyncio.Event | None = None
        self.wished: list[tuple[str, str, str]] = []  # paths asked for, of which goal and card
        self.tree: dict[str, FoundFile] = {}  # what is at a path
        self._opener = opener
        self._vault = vault
        self._causes: dict[str, object] = {}
        self.repeats = 0  # how often something was asked again under a known cause
        self.askers: list[Asker | None] = []  # on whose behalf, for each of `asked`

    # ---- what follows the changes

    def owner(self) -> OwnerView:
        return self.owned

    def owns(self, owned: OwnerView) -> None:
        self.owned = owned
        if self.server:
            self.server.owner_changed(owned)

    def cards(self) -> Iterable[AnyCard]:
        return list(self.shown.values())

    async def permits(self, verb: str, cause: str) -> None:
        pass

    async def notes(self, after: int) -> Sequence[Note]:
        return [note for note in self.said if note.n > after]

    def show(self, card: AnyCard) -> AnyCard:
        self.shown[card.id] = card
        if self.server:
            self.server.changed(card)
        return card

    def remove(self, card: str) -> None:
        del self.shown[card]
        if self.server:
            self.server.gone(card)

    def note(self, text: str, goal: str = "g-1", kind: str = "words", **more: Any) -> None:
        self.said.append(Note(n=len(self.said) + 1, goal=goal, kind=kind, text=text, **more))
        if self.server:
            self.server.noted()

    # ---- verbs

    async def new_goal(
        self, project: str, text: str, by: str, cause: str, files: tuple[Attachment, ...] = ()
    ) -> object:
        opened = {"goal": self.opens, "title": "Add CSV", "verdict": "Started in shop"}
        given = {"project": project, "text": text, **_along(files)}
        return await self._once(cause, "new_goal", given, opened if self.opens else None)

    async def hear(
        self,
        text: str,
        goal: str,
        card: str,
        by: str,
        cause: str,
        files: tuple[Attachment, ...] = (),
        line: str = "",
    ) -> object:
        given = {"text": text, "goal": goal, "card": card, **_along(files)}
        self.waiting.add(line)
        return await self._once(cause, "hear", given)

    async def tap(
        self,
        card: str,
        revision: str,
        verb: str,
        text: str,
        cause: str,
        files: tuple[Attachment, ...] = (),
        pin: str = "",
    ) -> object:
        if cause in self._causes:
            return self._causes[cause]
        if self.slow is not None:
            await self.slow.wait()
        found = self.shown.get(card)
        if found is None or verb not in found.buttons:
            raise Refused("Already answered at 23:40.")
        if revision != found.revision:
            raise Refused("This has changed since: look again.")
        result = await self._once(
            cause,
            "tap",
            {"card": card, "verb": verb, "text": text, **_along(files)},
            {"verdict": f"Done: {verb} it"},
        )
        self.show(replace(found, buttons=(), asks=False, decided=f"{verb} by you", decided_at=1e9))
        return result

    async def document(self, card: str, what: str) -> Document:
        return Document(name=f"{card}.{what}", text="+ a line\n" * 900, caption="The diff")

    async def reword_goal(self, goal: str, text: str, cause: str) -> object:
        told = {"verdict": self.rewords}
        return await self._once(cause, "reword_goal", {"goal": goal, "text": text}, told)

    async def reword_line(self, line: str, text: str, cause: str) -> object:
        if self.hears or line not in self.waiting:
            raise Refused("It was heard already.")
        told = {"verdict": "It will hear the new words."}
        return await self._once(cause, "reword_line", {"text": text}, told)

    async def peek(self, card: str) -> Peek:
        if self.missing:
            raise Unavailable(self.missing)
        self.peeks += 1
        lines = tuple(f"line {n} of {self.peeks}" for n in range(20))
        return Peek(
            who="The lead", goal="g-1", running=True, doing="Bash: pytest", doing_s=130, lines=lines
        )

    async def file(self, path: str, goal: str, card: str) -> FoundFile:
        self.wished.append((path, goal, card))
        return self.tree.get(path, FoundFile(where="main at 1a2b3c4"))

    async def stop(self, goal: str, cause: str) -> object:
        return await self._once(cause, "stop", {"goal": goal}, {"verdict": "Stopped"})

    async def resume(self, goal: str, cause: str) -> object:
        return await self._once(cause, "resume", {"goal": goal})

    async def board(self) -> Board:
        waiting = [Row(c.goal, c.id, "Orders", type(c).__name__) for c in self.cards() if c.asks]
        return Board(now=tuple(waiting), machines=("here · fenced · 0 of 10 runs",))

    async def projects(self) -> list[ProjectView]:
        return [ProjectView(name="shop", source="/srv/shop", base="main", push="")]

    async def want_project(self, name: str, source: str, base: str, cause: str) -> object:
        asked = {"name": name, "source": source, "base": base}
        return await self._once(cause, "want_project", asked, {"verdict": "on it"})

    async def accounts(self) -> list[str]:
        return ["main"]

    async def health(self) -> dict[str, object]:
        return {"engine": "well", "runs": 0}

    async def settings(self) -> OwnerView:
        return self.owned

    async def change_setting(self, name: str, value: str, cause: str, goal: str = "") -> object:
        told = {"verdict": f"Kept: {name} {value}."}
        self._must_be_here()
        if self.refuses:
            raise Refused(self.refuses)
        self.owned = owned_with(self.owned, name, value)
        return await self._once(cause, "change_setting", {"name": name, "value": value}, told)

    async def rules(self, project: str) -> list[RuleView]:
        self.listed_for = project
        return self.kept

    async def revoke_rule(self, number: int, cause: str) -> object:
        self._must_be_here()
        if number not in [view.number for view in self.kept]:
            raise Refused(f"There is no rule {number} any more.")
        self.kept = [view for view in self.kept if view.number != number]
        told = {"verdict": "Revoked: it is asked for again."}
        return await self._once(cause, "revoke_rule", {"number": number}, told)

    async def keep_secret(self, name: str, sealed: bytes, cause: str, instead: bool = False) -> str:
        self._must_be_here()
        return await self._vault.put(name, self._opener.open(sealed).decode(), 0.0, replace=instead)

    async def may_add_account(self, name: str, agent: str) -> None:
        self._must_be_here()

    async def want_account(self, name: str, agent: str, cause: str) -> object:
        return {"there": True, "verdict": f"Account {name} is there already."}

    async def sign_in(self, name: str, agent: str, sealed: bytes, cause: str) -> object:
        self._must_be_here()
        await self._vault.put(name, self._opener.open(sealed).decode(), 0.0)
        asked = {"name": name, "agent": agent}
        return await self._once(cause, "sign_in", asked, {"verdict": "Account main is added."})

    async def unseal(self, sealed: bytes) -> bytes:
        self._must_be_here()
        try:
            return self._opener.open(sealed)
        except NotOpened as error:
            raise Refused(error.sentence) from None

    async def _once(
        self, cause: str, verb: str, args: dict[str, Any], result: object = None
    ) -> object:
        self._must_be_here()
        self.repeats += cause in self._causes
        if cause not in self._causes:
            self._causes[cause] = result
            self.asked.append((verb, args))
            self.askers.append(asker())
        return self._causes[cause]

    def _must_be_here(self) -> None:
        if self.away:
            raise Unavailable("The engine is away.")


def owned_with(owned: OwnerView, name: str, value: str) -> OwnerView:
    """What the owner has once they set something; hours are whole here."""
    if name == "quiet" and value != "off":
        start, end = (int(hour) * 60 for hour in value.split("-"))
        return replace(owned, quiet=(start, end))
    return replace(owned, **{name: {"quiet": None}.get(name, "") if value == "off" else value})


def _along(files: tuple[Attachment, ...]) -> dict[str, Any]:
    """What came with the words, where anything did."""
    return {"files": files} if files else {}


class Stage:
    """Everything a test of the bot needs, on real files and sockets."""

    def __init__(self, folder: Path, **emulator: Any) -> None:
        self.home = Home(folder / "home").make()
        self.emulator = Emulator(token=TOKEN, owner_id=OWNER, **{"flood": False, **emulator})
        self.door: FakeDoor
        self.vault: Vault
        self._database = Database(self.home.vault_db, "vault", secure_delete=True)
        self._serving: asyncio.Task[None] | None = None
        self._bot: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    @property
    def phone(self) -> Phone:
        return self.emulator.phone

    async def __aenter__(self) -> Self:
        await self.emulator.start()
        create_keys(self.home)
        config.save(self.home, Config(owner_ids=(OWNER,), api_url=self.emulator.url))
        self.home.bot_token.write_text(TOKEN)
        await self._database.open()
        private = read_key(self.home.vault_key)
        self.vault = Vault(self._database, private)
        self.door = FakeDoor(Opener(private), self.vault)
        await self.start_engine()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill_bot()
        await self.stop_engine()
        await self._database.close()
        await self.emulator.stop()

    async def start_engine(self) -> None:
        server = Server(self.home.engine_sock, self.door)
        self.door.server = server
        self._serving = asyncio.create_task(server.run())
        await server.listening.wait()

    async def stop_engine(self) -> None:
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.wait([self._serving])
            self._serving, self.door.server = None, None

    async def start_bot(self) -> None:
        """Start the bot and wait until it polls."""
        self._stop = asyncio.Event()
        self._bot = asyncio.create_task(main(self.home, self._stop))
        polled = asyncio.create_task(self.emulator.updates.polled())
        await asyncio.wait([self._bot, polled], return_when=asyncio.FIRST_COMPLETED)
        polled.cancel()
        if self._bot.done():
            await self._bot

    async def stop_bot(self) -> None:
        """End the bot as SIGTERM does."""
        self._stop.set()
        if self._bot is not None:
            await self._bot
            self._bot = None

    async def kill_bot(self) -> BaseException | None:
        """End the bot at once, wherever it is; return what it had died of, if it had."""
        bot, self._bot = self._bot, None
        if bot is None:
            return None
        bot.cancel()
        await asyncio.wait([bot])
        return None if bot.cancelled() else bot.exception()

    async def asked(self, count: int = 1) -> list[tuple[str, dict[str, Any]]]:
        """Return what the engine was asked for, once there is so much of it."""
        async with asyncio.timeout(10):
            while len(self.door.asked) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        return self.door.asked

    async def answered_or_dead(self, tap: Tap) -> None:
        """Wait until a tap was answered, or the bot died of it."""
        await self.until(lambda: tap.answered or self._bot is None or self._bot.done())
        if self._bot is not None and self._bot.done():
            await self._bot

    async def until(self, fact: Callable[[], object]) -> None:
        """Wait for something that shows neither on the phone nor at the door."""
        async with asyncio.timeout(10):
            while not fact():
                if self._bot is not None and self._bot.done():
                    await self._bot
                await asyncio.sleep(0.01)

    def raw(self) -> bytes:
        """Return all bytes of all files of the home, the vault's own file aside or not at all."""
        return b"".join(p.read_bytes() for p in self.home.root.rglob("*") if p.is_file())


# ---------------------------------------------------------------- cards to show


def session(goal: str = "g-1", **more: Any) -> SessionCard:
    given = {
        "project": "shop",
        "title": "Add CSV export to orders",
        "text": "Add CSV export to orders",
        "stage": "planning",
        "agent": "claude",
        "model": "opus",
        "mode": "edit",
        "machine": "here",
        "fence": "fenced",
        "base": "main",
        "branch": "quarterdeck/csv-export",
        "revision": "s1",
        "buttons": ("stop",),
    }
    return SessionCard(id=goal, goal=goal, **{**given, **more})


def permission(card: str = "a-1", command: str = "make test", **more: Any) -> PermissionCard:
    given = {
        "goal": "g-1",
        "who": "Worker 2 “Orders page”",
        "tool": "Bash",
        "revision": "p1",
        "asks": True,
        "buttons": ("allow", "deny"),
    }
    return PermissionCard(id=card, command=command, **{**given, **more})


def plan(card: str = "pl-1", **more: Any) -> PlanCard:
    given: dict[str, Any] = {
        "goal": "g-1",
        "summary": "Two pieces.",
        "pieces": (),
        "revision": "pl1",
        "asks": True,
        "buttons": ("start", "change", "discard"),
    }
    return PlanCard(id=card, **{**given, **more})


def review(card: str = "r-1", **more: Any) -> ReviewCard:
    given: dict[str, Any] = {
        "goal": "g-1",
        "title": "Add CSV export to orders",
        "summary": "The export works.",
        "commits": 3,
        "files": 9,
        "added": 412,
        "removed": 20,
        "check": "check passed: 3 s",
        "check_passed": True,
        "revision": "r1",
        "asks": True,
        "buttons": ("ship", "correct", "diff", "drop"),
    }
    return ReviewCard(id=card, **{**given, **more})
