"""The person's side: what a thumb can do, and what the eye sees.

A test holds one of these for the owner; `as_user` lets a stranger act in the same call.
Nothing here asks the clock how long something took: waits end when the chat changes.
control.py offers the same to other processes.
"""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from bot.emulator import topics, view
from bot.emulator.cloud import Cloud
from bot.emulator.keyboards import Button
from bot.emulator.messages import picture_size
from bot.emulator.texts import cut, formatted
from bot.emulator.world import OTHERS, SERVICE, Chat, File, Message, Tap, Topic

T = TypeVar("T")
WAIT_S = 10.0
ALBUM_MOST = 10


class Phone:
    """The owner's Telegram. `chat_id` left out means the private chat with the bot.

    clipboard   what the last copy button copied
    """

    def __init__(self, cloud: Cloud, owner_id: int) -> None:
        self.owner = owner_id
        self.clipboard = ""
        self._cloud = cloud

    # --- seeing ---

    def messages(self, chat_id: int | None = None, thread: int | None = None) -> list[Message]:
        """Return what the chat shows, oldest first; with `thread`, one topic of it."""
        shown = list(self._chat(chat_id).messages.values())
        return shown if thread is None else [m for m in shown if m.thread == thread]

    def from_bot(self, chat_id: int | None = None, thread: int | None = None) -> list[Message]:
        """Return the bot's own messages, without service lines."""
        shown = self.messages(chat_id, thread)
        return [m for m in shown if m.from_bot and m.kind != SERVICE]

    def message(self, message_id: int, chat_id: int | None = None) -> Message | None:
        """Return one message as it stands now, None if it is gone."""
        return self._chat(chat_id).messages.get(message_id)

    def heard(self, chat_id: int | None = None) -> list[Message]:
        """Return the bot's messages that made a sound."""
        return [m for m in self.from_bot(chat_id) if not m.silent]

    def topics(self, chat_id: int | None = None) -> list[Topic]:
        """Return the chat's topics in the order they were made."""
        return list(self._chat(chat_id).topics.values())

    def topic(self, name: str, chat_id: int | None = None) -> Topic:
        """Return the topic of that name."""
        named = [topic for topic in self.topics(chat_id) if topic.name == name]
        if not named:
            known = ", ".join(repr(topic.name) for topic in self.topics(chat_id))
            raise LookupError(f"no topic {name!r}; there are: {known or 'none'}")
        return named[-1]

    def pinned(self, chat_id: int | None = None) -> list[Message]:
        """Return the pinned messages, the newest pin last."""
        place = self._chat(chat_id)
        return [place.messages[number] for number in place.pinned]

    def typing(self, chat_id: int | None = None, thread: int | None = None) -> str:
        """Return the status the chat's head shows ("typing"), or nothing."""
        what, until = self._cloud.typing.get((chat_id or self.owner, thread), ("", 0.0))
        return what if self._cloud.clock() < until else ""

    def commands(self, chat_id: int | None = None) -> list[str]:
        """Return the names in the command menu of a chat."""
        return [command["command"] for command in self.menu(chat_id)]

    def menu(self, chat_id: int | None = None) -> list[dict[str, str]]:
        """Return the command menu of a chat: the narrowest scope that was set."""
        place = self._chat(chat_id)
        every = "all_private_chats" if place.private else "all_group_chats"
        sets = {str(s.scope.get("chat_id", s.scope["type"])): s for s in self._cloud.world.commands}
        for scope in (str(place.id), every, "default"):
            if scope in sets:
                return sets[scope].commands
        return []

    def file(self, message: Message) -> bytes:
        """Return the bytes of a message's document or photo."""
        if message.file is None:
            raise LookupError("the message has no file")
        return self._cloud.world.files[message.file.id].data

    def transcript(self, chat_id: int | None = None) -> str:
        """Return the chat as text: who said what, under which buttons."""
        return "\n".join(self._line(message) for message in self.messages(chat_id))

    def _line(self, message: Message) -> str:
        who = self._cloud.world.bot.first_name if message.from_bot else f"{message.sender}"
        if message.sender == self.owner and not message.from_bot:
            who = "You"
        place = self._chat(message.chat_id)
        topic = place.topics.get(message.thread or 0)
        body = message.text or ", ".join(message.service)
        if message.file is not None:
            body = f"[{message.kind} {message.file.name}] {body}".rstrip()
        marks = " (edited)" if message.edited else ""
        lines = [f"#{message.id} {who}{f' in {topic.name}' if topic else ''}{marks}: {body}"]
        lines += ["    " + " ".join(f"[{button.label}]" for button in row) for row in message.rows]
        return "\n".join(lines)

    # --- waiting ---

    async def wait_for(
        self,
        predicate: Callable[[Message], object],
        timeout: float = WAIT_S,  # noqa: ASYNC109 - a test reads better so
        chat_id: int | None = None,
        thread: int | None = None,
        after: int = 0,
    ) -> Message:
        """Return the newest of the bot's messages that fits, as soon as there is one.

        after   only messages with a higher id count
        raises  TimeoutError with the chat's transcript
        """

        def newest() -> Message | None:
            shown = reversed(self.from_bot(chat_id, thread))
            return next((m for m in shown if m.id > after and predicate(m)), None)

        return await self.until(newest, timeout)

    async def until(self, fact: Callable[[], T | None], timeout: float = WAIT_S) -> T:  # noqa: ASYNC109
        """Return what `fact` gives, looked at again after each change, once it is true."""
        try:
            async with asyncio.timeout(timeout):
                while True:
                    with self._cloud.watching() as change:
                        found = fact()
                        if found:
                            return found
                        await change
        except TimeoutError:
            chat = self.transcript() or "(nothing)"
            raise TimeoutError(f"waited {timeout:g} s in vain; the chat shows:\n{chat}") from None

    async def answered(self, tap: Tap, timeout: float = WAIT_S) -> Tap:  # noqa: ASYNC109
        """Return the tap once the bot has answered it."""
        return await self.until(lambda: tap if tap.answered else None, timeout)

    # --- speaking ---

    def send(
        self,
        text: str,
        *,
        chat_id: int | None = None,
        thread: int | None = None,
        reply_to: int | None = None,
        quote: str = "",
        as_user: int | None = None,
        forwarded_from: str = "",
        anonymous: bool = False,
    ) -> list[Message]:
        """Send a text; the app cuts what is over 4096 units into several messages."""
        return [
            self._say(
                chat_id,
                as_user,
                text=part,
                thread=thread,
                reply_to=reply_to,
                quote=quote,
                forwarded_from=forwarded_from,
                anonymous=anonymous,
            )
            for part in cut(text)
        ]

    def reply(self, message: Message, text: str, *, as_user: int | None = None) -> list[Message]:
        """Answer a message, in the topic it stands in."""
        return self.send(
            text,
            chat_id=message.chat_id,
            thread=message.thread if message.in_topic else None,
            reply_to=message.id,
            as_user=as_user,
        )

    def document(
        self,
        name: str,
        data: bytes,
        *,
        caption: str = "",
        mime: str = "application/octet-stream",
        chat_id: int | None = None,
        thread: int | None = None,
        reply_to: int | None = None,
        album: str = "",
        as_user: int | None = None,
        forwarded_from: str = "",
    ) -> Message:
        """Send a file."""
        kept = self._cloud.keep_file("document", name, mime, data)
        return self._file(kept, chat_id, as_user, caption, thread, reply_to, album, forwarded_from)

    def photo(
        self,
        data: bytes,
        *,
        caption: str = "",
        chat_id: int | None = None,
        thread: int | None = None,
        reply_to: int | None = None,
        album: str = "",
        as_user: int | None = None,
        forwarded_from: str = "",
    ) -> Message:
        """Send a picture (PNG or JPEG)."""
        size = picture_size(data)
        kept = self._cloud.keep_file("photo", "photo.jpg", "image/jpeg", data, size)
        return self._file(kept, chat_id, as_user, caption, thread, reply_to, album, forwarded_from)

    def other(
        self,
        kind: str,
        *,
        caption: str = "",
        thread: int | None = None,
        reply_to: int | None = None,
        album: str = "",
    ) -> Message:
        """Send what is neither text nor file: a kind of OTHERS."""
        if kind not in OTHERS:
            raise LookupError(f"no kind {kind!r}; there are: {', '.join(OTHERS)}")
        return self._say(
            None, None, kind=kind, text=caption, thread=thread, reply_to=reply_to, album=album
        )

    def _file(
        self,
        kept: File,
        chat_id: int | None,
        as_user: int | None,
        caption: str,
        thread: int | None,
        reply_to: int | None,
        album: str,
        forwarded_from: str,
    ) -> Message:
        together = [m for m in self.messages(chat_id) if album and m.album == album]
        if len(together) >= ALBUM_MOST or any(m.kind != kept.kind for m in together):
            raise LookupError("an album holds up to ten of one kind")
        return self._say(
            chat_id,
            as_user,
            kind=kept.kind,
            file=kept,
            text=caption,
            thread=thread,
            reply_to=reply_to,
            album=album,
            forwarded_from=forwarded_from,
        )

    def edit(self, message_id: int, text: str, *, chat_id: int | None = None) -> Message:
        """Change one's own message."""
        said = self._must(message_id, chat_id)
        if said.from_bot:
            raise LookupError("only one's own messages can be edited")
        tidy, entities = formatted(text, None, "", self._cloud.note)
        after = self._cloud.replace(said, text=tidy, entities=entities, edited_at=self._cloud.now)
        self._tell("edited_message", after)
        return after

    def delete(self, message_id: int, *, chat_id: int | None = None) -> None:
        """Delete a message on both sides. The bot is not told."""
        self._cloud.remove(self._chat(chat_id), [self._must(message_id, chat_id).id])

    def react(self, message_id: int, emoji: str, *, chat_id: int | None = None) -> None:
        """Set the owner's reaction; an empty one takes it back."""
        said = self._must(message_id, chat_id)
        before = said.reactions.get(self.owner, "")
        others = {who: what for who, what in said.reactions.items() if who != self.owner}
        own = {self.owner: emoji} if emoji else {}
        self._cloud.replace(said, reactions=others | own)
        world = self._cloud.world
        self._cloud.updates.add(
            "message_reaction",
            {
                "chat": view.chat(world, self._chat(chat_id)),
                "message_id": message_id,
                "user": view.user(world.users[self.owner]),
                "date": self._cloud.now,
                "old_reaction": [{"type": "emoji", "emoji": before}] if before else [],
                "new_reaction": [{"type": "emoji", "emoji": emoji}] if emoji else [],
            },
        )

    # --- tapping ---

    def tap(
        self,
        message: Message | int,
        label: str | None = None,
        *,
        data: str | None = None,
        chat_id: int | None = None,
        as_user: int | None = None,
    ) -> Tap:
        """Press the button of that label, as it stands now.

        data    press with these bytes in place of a button's: what a changed app can do,
                on a message that is gone too
        raises  LookupError naming the buttons there are
        """
        if isinstance(message, Message):
            message_id, chat_id = message.id, message.chat_id
        else:
            message_id = message
        if data is None:
            data = self._press(self._must(message_id, chat_id), label or "").value
        cloud = self._cloud
        user = cloud.person(as_user or self.owner).id
        number = cloud.world.next_tap
        cloud.world.next_tap += 1
        tap = Tap(
            str(4_000_000_000_000 + number),
            user,
            self._chat(chat_id).id,
            message_id,
            data,
            cloud.clock(),
        )
        cloud.world.taps[tap.id] = tap
        body = view.callback_query(cloud.world, tap, tap.at)
        tap.update = cloud.updates.add("callback_query", body) or 0
        return tap

    def taps(self) -> list[Tap]:
        """Return every button that was pressed, oldest first."""
        return list(self._cloud.world.taps.values())

    def copy(self, message: Message, label: str) -> str:
        """Press a copy button and return what it copied."""
        self.clipboard = self._press(self._must(message.id, message.chat_id), label).value
        return self.clipboard

    def _press(self, said: Message, label: str) -> Button:
        found = [button for button in said.buttons if button.label == label]
        if len(found) != 1:
            known = ", ".join(repr(name) for name in said.labels) or "none"
            raise LookupError(f"{len(found)} buttons {label!r} on #{said.id}; there are: {known}")
        if found[0].kind not in ("callback_data", "copy_text"):
            raise LookupError(f"button {label!r} is of kind {found[0].kind}: it sends nothing")
        return found[0]

    # --- chats and topics ---

    def start(self, payload: str = "", *, as_user: int | None = None) -> Message:
        """Press Start, as a deep link does with a payload."""
        return self.send(f"/start {payload}".strip(), as_user=as_user)[0]

    def create_topic(self, name: str, *, chat_id: int | None = None) -> int:
        """Make a topic and return its id."""
        place = self._chat(chat_id)
        if not topics.has_topics(self._cloud, place):
            raise LookupError("the chat has no topics")
        topic = topics.open_topic(self._cloud, place, self.owner, name)
        self._tell("message", place.messages[topic.id])
        return topic.id

    def rename_topic(self, thread: int, name: str, *, chat_id: int | None = None) -> None:
        """Call a topic otherwise, by hand."""
        place = self._chat(chat_id)
        topic = place.topics[thread]
        if name == topic.name:
            raise LookupError(f"the topic is called {name!r} already")
        topic.name = name
        line = {"forum_topic_edited": {"name": name}}
        said = self._cloud.serve(place, self.owner, line, thread=thread, in_topic=True)
        self._tell("message", said)

    def delete_topic(self, thread: int, *, chat_id: int | None = None) -> None:
        """Delete a topic and all in it. The bot is not told."""
        place = self._chat(chat_id)
        topics.remove(self._cloud, place, place.topics[thread])

    def close_topic(self, thread: int, *, chat_id: int) -> None:
        """Close a topic of a group."""
        place = self._chat(chat_id)
        place.topics[thread].closed = True
        line = {"forum_topic_closed": dict[str, Any]()}
        said = self._cloud.serve(place, self.owner, line, thread=thread, in_topic=True)
        self._tell("message", said)

    def block(self) -> None:
        """Block the bot."""
        self._cloud.set_bot_status(self._chat(None), "kicked", self.owner)

    def unblock(self) -> None:
        """Let the bot write again."""
        self._cloud.set_bot_status(self._chat(None), "member", self.owner)

    def create_group(
        self,
        title: str,
        *,
        forum: bool = False,
        admin: bool = True,
        members: tuple[int, ...] = (),
        by: int | None = None,
    ) -> int:
        """Make a group with the bot in it and return its id; a forum is a supergroup."""
        world = self._cloud.world
        number, world.next_group = world.next_group, world.next_group + 1
        creator = self._cloud.person(by or self.owner).id
        chat_id = -1_002_000_000_000 - number if forum else -5_000_000 - number
        people = [creator, *(self._cloud.person(member).id for member in members)]
        place = Chat(
            chat_id,
            "supergroup" if forum else "group",
            title,
            forum=forum,
            bot_status="left",
            members=people,
        )
        world.chats[chat_id] = place
        self._cloud.set_bot_status(place, "administrator" if admin else "member", creator)
        return chat_id

    def open_group_link(
        self,
        code: str,
        title: str,
        *,
        by: int | None = None,
        members: tuple[int, ...] = (),
        admin: bool = True,
    ) -> int:
        """Open a startgroup link and choose a group: the bot is in it first, then hears the code."""
        chat_id = self.create_group(title, by=by, members=members, admin=admin)
        self.send_code(chat_id, code, as_user=by)
        return chat_id

    def send_code(
        self, chat_id: int, code: str, *, as_user: int | None = None, anonymous: bool = False
    ) -> Message:
        """Send what the app sends into a group after a startgroup link put the bot there."""
        line = f"/start@{self._cloud.world.bot.username} {code}"
        return self.send(line, chat_id=chat_id, as_user=as_user, anonymous=anonymous)[0]

    def remove_bot(self, chat_id: int) -> None:
        """Throw the bot out of a group."""
        self._cloud.set_bot_status(self._chat(chat_id), "kicked", self.owner)

    def upgrade_group(self, chat_id: int, *, forum: bool = False) -> int:
        """Turn a basic group into a supergroup, as switching topics on does."""
        old = self._chat(chat_id)
        world = self._cloud.world
        number, world.next_group = world.next_group, world.next_group + 1
        new = Chat(
            -1_002_000_000_000 - number,
            "supergroup",
            old.title,
            forum=forum,
            bot_status=old.bot_status,
            members=old.members,
        )
        world.chats[new.id] = new
        said = self._cloud.serve(old, self.owner, {"migrate_to_chat_id": new.id})
        old.migrated_to = new.id
        self._tell("message", said)
        return new.id

    # --- inside ---

    def _chat(self, chat_id: int | None) -> Chat:
        if chat_id is None:
            return self._cloud.private_chat(self.owner)
        return self._cloud.world.chats[chat_id]

    def _must(self, message_id: int, chat_id: int | None) -> Message:
        said = self.message(message_id, chat_id)
        if said is None:
            raise LookupError(f"no message #{message_id} in the chat")
        return said

    def _say(
        self,
        chat_id: int | None,
        as_user: int | None,
        *,
        text: str,
        thread: int | None,
        **content: Any,
    ) -> Message:
        sender = self._cloud.person(as_user or self.owner).id
        # Somebody else's private chat with the bot is not the owner's.
        place = self._chat(chat_id) if chat_id else self._cloud.private_chat(sender)
        if place.private and place.bot_status == "kicked":
            raise LookupError("the bot is blocked; unblock it first")
        tidy, entities = formatted(text, None, "", self._cloud.note)
        thread, in_topic = self._thread(place, sender, thread, content.get("reply_to"), tidy)
        said = self._cloud.post(
            place,
            sender=sender,
            from_bot=False,
            text=tidy,
            entities=entities,
            thread=thread,
            in_topic=in_topic,
            **content,
        )
        if self._reaches_bot(place, said):
            self._tell("message", said)
        return said

    def _thread(
        self, place: Chat, sender: int, thread: int | None, reply_to: int | None, text: str
    ) -> tuple[int | None, bool]:
        """Return where a person's message lands: in a topic, a reply thread, or neither."""
        if thread is not None:
            if thread not in place.topics:
                raise LookupError(f"no topic {thread} in the chat")
            return thread, True
        original = place.messages.get(reply_to) if reply_to is not None else None
        if original is not None and original.in_topic:
            return original.thread, True
        if original is not None and place.kind == "supergroup":
            return original.thread or original.id, False
        if place.private and self._cloud.threaded and self._cloud.users_create_topics:
            name = " ".join(text.split())[:32] or "New chat"
            topic = topics.open_topic(self._cloud, place, sender, name, implicit=True)
            self._tell("message", place.messages[topic.id])
            return topic.id, True
        return None, False

    def _reaches_bot(self, place: Chat, said: Message) -> bool:
        """Return whether privacy mode lets the bot see it."""
        if place.private or place.bot_is_admin:
            return True
        if place.bot_status != "member":
            return False
        original = place.messages.get(said.reply_to or 0)
        named = f"@{self._cloud.world.bot.username}" in said.text
        return said.text.startswith("/") or named or (original is not None and original.from_bot)

    def _tell(self, kind: str, said: Message) -> None:
        self._cloud.updates.add(kind, view.message(self._cloud.world, said))
