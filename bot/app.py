"""The bot process wired together: one poll loop, one inbox, one outbox, one follower of changes.

    Telegram ─ poll ─> inbox ─> requests ─> engine.sock
    Telegram <─ outbox <─ cards <─ changes ─┘

The poll loop is our own (polling.py): an update is confirmed only once it is on disk. An unexpected error ends the process; systemd starts it again, and
starting is recovering. `main` also runs inside another program (the demo).
"""

import asyncio
import contextlib
import fcntl
import logging
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import httpx
import telegram
from telegram.error import InvalidToken, TelegramError

from bot import logins, text, text_owners, token_file
from bot.answers import Answers
from bot.cards import Cards
from bot.delivery import Flooded, outcome, quietly
from bot.full_disk import FullDisk
from bot.groups import Groups
from bot.inbox import Inbox
from bot.morning import Morning
from bot.outbox import Outbox
from bot.pace import BACK_OFF_S
from bot.pairing import Pairing
from bot.polling import Polling
from bot.redact import redacted
from bot.reminders import Reminders
from bot.requests import Requests
from bot.unsaid import Say, Weight
from engine import config, pairing
from engine.api import Asker, Client, on_behalf_of
from engine.errors import Refused, Unavailable
from engine.paths import Home
from stores.attached import Attached
from stores.cards import CardStore
from stores.database import Database
from stores.sealing import NotOpened, read_key

log = logging.getLogger(__name__)

DRAIN_S = 4.0  # of the five seconds in which the process ends (__main__.py)
DAY_S = 86_400.0


async def main(home: Home, stop: asyncio.Event | None = None) -> None:
    """Run the bot until `stop` is set or this is cancelled.

    raises  Refused with a sentence when it cannot start; a token that Telegram refuses is waited out
    """
    with _alone(home):
        await _main(home, stop or asyncio.Event())


@contextlib.contextmanager
def _alone(home: Home) -> Iterator[None]:
    """Hold the kernel's lock on the home's bot: two would put every card into the chat twice."""
    with home.bot_lock.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused("Another bot already runs on this home. Stop it first.") from None
        yield


async def _main(home: Home, stop: asyncio.Event) -> None:
    try:
        public = read_key(home.vault_pub)
    except NotOpened as error:
        raise Refused(error.sentence) from None
    while True:
        token = token_file.read(home)
        with redacted(token):
            try:
                await _signed_in_with(token, home, public, stop)
            except (InvalidToken, ExceptionGroup) as error:
                # Not `except*`: what is raised in one comes out wrapped in another group.
                if isinstance(error, ExceptionGroup) and error.subgroup(InvalidToken) is None:
                    raise
            else:
                return
        if not await token_file.another(home, stop):
            return


async def _signed_in_with(token: str, home: Home, public: bytes, stop: asyncio.Event) -> None:
    """Run until `stop`; raises InvalidToken, alone or in a group, when Telegram refuses the token."""
    settings = config.load(home)
    bot, line = _client(token, settings.api_url)
    disk = FullDisk(bot)
    disk.owner = next(iter(settings.owner_ids), 0)
    async with Database(home.bot_db, "bot", secure_delete=True, room=disk) as database:
        if not settings.owner_ids:
            if not await Pairing(bot, home).run(stop):
                return
            settings = config.load(home)
        disk.owner = settings.owner_ids[0]
        store = CardStore(database)
        app = App(
            bot,
            line,
            store,
            Client(home.engine_sock),
            settings,
            public,
            Attached(home.attached),
            signed_in=lambda: token_file.signed_in(home),
            invites=home.pairing.exists,
            group_link=lambda: pairing.open_until(home.group_code, time.time()),
            watch_disk=lambda: disk.watch(home.root, store),
        )
        await app.run(stop)


class App:
    """What the process is made of. `line`: the bot's own connection for polls."""

    def __init__(
        self,
        bot: telegram.Bot,
        line: Answers,
        store: CardStore,
        engine: Client,
        settings: config.Config,
        public: bytes,
        attached: Attached,
        *,
        signed_in: Callable[[], None] = lambda: None,
        invites: Callable[[], bool] = lambda: False,
        group_link: Callable[[], float] = lambda: 0.0,
        watch_disk: Callable[[], Coroutine[Any, Any, None]] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._now_signed_in = signed_in
        self._invites = invites
        self._watch_disk = watch_disk
        owners = list(settings.owner_ids)  # one list for all: who joins or leaves is in it at once
        self.bot = bot
        self.store = store
        self.engine = engine
        self.owners = owners
        self.clock = clock
        self.outbox = Outbox(bot, store, owners, attached=attached, clock=clock)
        self.groups = Groups(bot, store, engine, self.outbox, owners, open_until=group_link)
        self.cards = Cards(self.outbox, store, owners[0], owners=owners, groups=self.groups.told)
        self.reminders = Reminders(self.outbox, store, self.cards)
        self.requests = Requests(
            bot,
            engine,
            self.outbox,
            store,
            self.cards,
            self.groups,
            public=public,
            attached=attached,
        )
        self.inbox = Inbox(
            store,
            self.outbox,
            engine,
            self.requests.handle,
            owners=owners,
            public=public,
            groups=self.groups,
            let_in=self._let_in,
        )
        self.morning = Morning(
            self.outbox, store, engine, self.cards.chat_of_row, zone=lambda: self.cards.zone
        )
        self.polling = Polling(bot, line, store, self.inbox.receive, self._tell)

    async def run(self, stop: asyncio.Event) -> None:
        """Start, run until `stop`, drain."""
        try:
            if not await self._signed_in(stop):
                return
            await self.store.prune(time.time())
            await self.groups.open()
            await self.cards.open()  # before the outbox: it tells who commands
            await self.outbox.open()
            async with self.engine, asyncio.TaskGroup() as tasks:
                polling = tasks.create_task(self._polled(), name="poll")
                running = [
                    tasks.create_task(self.inbox.run(), name="inbox"),
                    tasks.create_task(self.outbox.run(), name="outbox"),
                    tasks.create_task(self.cards.follow(self.engine), name="changes"),
                    tasks.create_task(self.groups.run(), name="groups"),
                    tasks.create_task(self.morning.run(), name="morning"),
                    tasks.create_task(self.reminders.run(), name="reminders"),
                    tasks.create_task(self.requests.sealed.run(), name="sealed prompts"),
                    tasks.create_task(
                        logins.close_over(self.cards, self.requests.sealed), name="logins"
                    ),
                    tasks.create_task(self._name_commands(), name="commands"),
                    tasks.create_task(forget_daily(self.store), name="forget"),
                ]
                if self._watch_disk is not None:
                    running.append(tasks.create_task(self._watch_disk(), name="disk"))
                await stop.wait()
                polling.cancel()
                await self._drained()
                for task in running:
                    task.cancel()
        finally:
            await self.bot.shutdown()

    async def _signed_in(self, stop: asyncio.Event) -> bool:
        """Ask Telegram who we are; wait for the network if need be. False: told to stop first."""
        tries = 0
        while True:
            try:
                await self.bot.initialize()
            except InvalidToken:
                raise
            except TelegramError as error:
                tries += 1
                log.warning("not signed in why=%s", type(error).__name__)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_wait_s(error, tries)):
                        await stop.wait()
                        return False
            else:
                break
        self._now_signed_in()
        self.outbox.topics = bool(self.bot.bot.has_topics_enabled)
        return True

    async def _drained(self) -> None:
        """Let what is under way end, but not for long: the rest is on disk."""
        try:
            async with asyncio.timeout(DRAIN_S):
                while not (self.inbox.idle() and self.outbox.idle()):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
        except TimeoutError:
            log.info("stopped before all was said; it is kept")

    # ---- what is heard

    async def _polled(self) -> None:
        await self.inbox.ready.wait()
        await self.polling.run()

    async def _name_commands(self) -> None:
        """Offer the commands in the owners' chats; strangers are shown none, nor who is one now."""
        commands = [telegram.BotCommand(name, what) for name, what in text.COMMANDS]
        offered: set[int] = set()
        while True:
            self.cards.others.clear()
            for owner in set(self.owners) - offered:
                scope = telegram.BotCommandScopeChat(owner)
                await quietly(self.bot.set_my_commands(commands, scope=scope))
            for owner in offered - set(self.owners):
                scope = telegram.BotCommandScopeChat(owner)
                await quietly(self.bot.delete_my_commands(scope=scope))
            offered = set(self.owners)
            await self.cards.others.wait()

    async def _let_in(self, update_id: int, who: int, code: str, name: str) -> bool:
        """Return whether somebody pressed the link that an owner asked for; all else is silence."""
        if not self._invites():
            return False
        cause = f"telegram:{update_id}"
        try:
            with on_behalf_of(Asker(who=str(who), through="a one-time link", verb="start")):
                await self.engine.call("owner_joined", cause, owner=who, name=name, code=code)
        except (Refused, Unavailable) as no:
            log.warning("somebody pressed a link and was not let in: %s", no)
            return False
        if who not in self.owners:
            self.owners.append(who)
            self.cards.others.set()
        await self.outbox.say(who, Weight.ANSWER, Say(words=text.said(text_owners.JOINED)))
        return True

    async def _tell(self, sentence: str, sounds: bool) -> None:
        weight = Weight.DECISION if sounds else Weight.ANSWER
        await self.outbox.say(self.owners[0], weight, Say(words=text.said(sentence), sounds=sounds))


def _client(token: str, api_url: str) -> tuple[telegram.Bot, Answers]:
    """Return a client, and the connection of its own that it has for polling."""
    trusted = {
        "verify": httpx.create_ssl_context()
    }  # read once: it takes longer than all else here
    line = Answers(connection_pool_size=2, read_timeout=15.0, httpx_kwargs=trusted)
    bot = telegram.Bot(
        token,
        base_url=f"{api_url}/bot",
        base_file_url=f"{api_url}/file/bot",
        request=Answers(
            connection_pool_size=16, read_timeout=20.0, connect_timeout=10.0, httpx_kwargs=trusted
        ),
        get_updates_request=line,
    )
    return bot, line


def _wait_s(error: Exception, tries: int) -> float:
    if isinstance(error, TelegramError):
        found = outcome(error)
        if isinstance(found, Flooded):
            return found.wait_s
    return BACK_OFF_S[min(tries, 5) - 1]


async def forget_daily(store: CardStore) -> None:
    """Have what is too old forgotten by a process that runs for months, too."""
    while True:
        await asyncio.sleep(DAY_S)
        await store.prune(time.time())
