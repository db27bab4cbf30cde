"""Telegram's side of everything: the one place where the world changes.

methods.py, messages.py and topics.py act on it for the bot, phone.py for people. Each
change ends in `changed`, which wakes whoever waits for the phone to show something.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from bot.emulator import view
from bot.emulator.faults import Faults
from bot.emulator.flood import Flood
from bot.emulator.refusal import bad, forbidden
from bot.emulator.updates import Updates
from bot.emulator.world import SERVICE, Chat, File, Message, Stored, User, World

OWNER_NAME = "Owner"


class Cloud:
    """One bot's Telegram.

    threaded             private chats have topics (the bot's Threaded Mode)
    users_create_topics  what people write outside every topic opens a new one
    notes                what the real server forgives in silence; a test wants it empty
    clock                seconds; judges ages, expiry and flood limits
    """

    def __init__(
        self,
        bot_id: int,
        owner_id: int,
        *,
        threaded: bool,
        users_create_topics: bool,
        clock: Callable[[], float],
        state: Path | None = None,
    ) -> None:
        self.threaded = threaded
        self.users_create_topics = users_create_topics
        self.clock = clock
        self.notes: list[str] = []
        self.typing: dict[tuple[int, int | None], tuple[str, float]] = {}
        self.faults = Faults()
        self.flood = Flood()
        self.revision = 0
        self._state = state
        self._watchers: list[asyncio.Future[None]] = []
        self.world = self._load(bot_id)
        self.updates = Updates(self.world, clock, self.changed)
        self.person(owner_id, OWNER_NAME)
        self.private_chat(owner_id)

    def _load(self, bot_id: int) -> World:
        if self._state is not None and self._state.exists():
            return msgspec.json.decode(self._state.read_bytes(), type=World)
        return World(User(bot_id, "Quarterdeck", "quarterdeck_bot", is_bot=True))

    def save(self) -> None:
        """Write the world to its file, if it has one."""
        if self._state is None:
            return
        beside = self._state.with_name(f"{self._state.name}.new")
        beside.write_bytes(msgspec.json.encode(self.world))
        os.replace(beside, self._state)

    @property
    def now(self) -> int:
        return int(self.clock())

    def note(self, what: str) -> None:
        """Remember something the server puts right without an error."""
        self.notes.append(what)

    # --- who waits ---

    def changed(self) -> None:
        """Tell the watchers that the world is another, and save it."""
        self.revision += 1
        self.wake()
        self.save()

    def wake(self) -> None:
        """Let the watchers look again."""
        watchers, self._watchers = self._watchers, []
        for watcher in watchers:
            if not watcher.done():
                watcher.set_result(None)

    @contextlib.contextmanager
    def watching(self) -> Iterator[asyncio.Future[None]]:
        """Give a future that the next change fulfils."""
        watcher = asyncio.get_running_loop().create_future()
        self._watchers.append(watcher)
        try:
            yield watcher
        finally:
            with contextlib.suppress(ValueError):
                self._watchers.remove(watcher)

    # --- people and places ---

    def person(self, user_id: int, name: str = "") -> User:
        """Return a person, made known on first use."""
        users = self.world.users
        if user_id not in users:
            users[user_id] = User(user_id, name or f"Stranger {user_id}")
        return users[user_id]

    def private_chat(self, user_id: int) -> Chat:
        """Return a person's chat with the bot, opened on first use."""
        self.person(user_id)
        chats = self.world.chats
        if user_id not in chats:
            chats[user_id] = Chat(user_id, "private", members=[user_id])
        return chats[user_id]

    def chat_for_bot(self, chat_id: int | str) -> Chat:
        """Return a chat the bot may act in.

        raises  Refusal with the reason why it may not
        """
        place = self.world.chats.get(chat_id) if isinstance(chat_id, int) else None
        if place is None:
            if chat_id in self.world.users:
                raise forbidden("bot can't initiate conversation with a user")
            raise bad("chat not found")
        if place.migrated_to:
            raise bad(
                "group chat was upgraded to a supergroup chat", migrate_to_chat_id=place.migrated_to
            )
        match place.bot_status:
            case "kicked" if place.private:
                raise forbidden("bot was blocked by the user")
            case "kicked":
                raise forbidden(f"bot was kicked from the {place.kind} chat")
            case "left":
                raise forbidden(f"bot is not a member of the {place.kind} chat")
        return place

    def set_bot_status(self, place: Chat, status: str, by: int) -> None:
        """Change the bot's membership and tell it so."""
        before, place.bot_status = place.bot_status, status
        self.updates.add(
            "my_chat_member",
            {
                "chat": view.chat(self.world, place),
                "from": view.user(self.person(by)),
                "date": self.now,
                "old_chat_member": view.bot_membership(self.world, before),
                "new_chat_member": view.bot_membership(self.world, status),
            },
        )

    # --- messages and files ---

    def next_message_id(self, place: Chat) -> int:
        """Return a fresh message id: supergroups count alone, all else together."""
        if place.kind == "supergroup":
            number, place.next_message = place.next_message, place.next_message + 1
        else:
            number = self.world.next_private
            self.world.next_private += 1
        return number

    def post(self, place: Chat, **content: Any) -> Message:
        """Add a message to a chat and return it."""
        said = Message(id=self.next_message_id(place), chat_id=place.id, date=self.now, **content)
        place.messages[said.id] = said
        self.changed()
        return said

    def serve(self, place: Chat, sender: int, service: dict[str, Any], **content: Any) -> Message:
        """Add a service line, by a person or the bot."""
        return self.post(
            place,
            sender=sender,
            from_bot=sender == self.world.bot.id,
            kind=SERVICE,
            service=service,
            silent=True,
            **content,
        )

    def replace(self, said: Message, **content: Any) -> Message:
        """Put a changed message in the place of the old one."""
        after = msgspec.structs.replace(said, **content)
        self.world.chats[said.chat_id].messages[said.id] = after
        self.changed()
        return after

    def remove(self, place: Chat, message_ids: list[int]) -> None:
        """Take messages away on both sides."""
        for message_id in message_ids:
            place.messages.pop(message_id, None)
            if message_id in place.pinned:
                place.pinned.remove(message_id)
        self.changed()

    def keep_file(
        self, kind: str, name: str, mime: str, data: bytes, size: tuple[int, int] = (0, 0)
    ) -> File:
        """Store bytes under a new file_id."""
        number = self.world.next_file
        self.world.next_file += 1
        kept = File(f"F{number:08d}", kind, name, mime, len(data), *size)
        self.world.files[kept.id] = Stored(kept, data)
        return kept

    def stored(self, file_id: str) -> Stored | None:
        """Return a file by its id, a photo by the id of any of its sizes."""
        return self.world.files.get(file_id.removesuffix("-s"))
