"""The bot's own file (bot.sqlite3): where each card is shown, what is still to be said, what was heard.

Each public method is one transaction. Those that end the handling of an update, or the queueing of a
note, take along what has to be said because of it, so that neither can happen without the other.
Bodies are bytes here; bot/outbox.py knows what is in them, bot/inbox.py what is in a sealed update.
The file is database.py's, opened with `secure_delete`.
"""

import sqlite3
from collections.abc import Callable, Collection, Sequence
from typing import Literal

from msgspec import Struct

from stores.database import Database, Row

# Telegram keeps an update for a day; we know a handled one again for twice that.
HANDLED_S = 2 * 86400
MESSAGES_S = 90 * 86400
NO_TOPIC = -1


class Shown(Struct, frozen=True):
    """One card's message. `shown`, `filed`: hashes of what stands there and of the file under it."""

    card: str
    goal: str
    chat: int
    thread: int
    message_id: int
    revision: str
    shown: str
    filed: str = ""
    asked: bool = False
    live: bool = False
    at: float = 0.0


class Line(Struct, frozen=True):
    """Something to be said once."""

    id: int
    chat: int
    priority: int
    body: bytes


class Entry(Struct, frozen=True):
    """An update that was heard and is not handled yet; `lives`: starts that found it so."""

    update_id: int
    at: float
    joined: int | None
    lives: int
    sealed: bytes


class Told(Struct, frozen=True):
    """What a message of ours was about, for a reply to it."""

    goal: str
    card: str
    prompt: bytes | None


class Prompted(Struct, frozen=True):
    """A message of ours that asked for a reply."""

    message_id: int
    goal: str
    prompt: bytes
    at: float


class Topic(Struct, frozen=True):
    """A goal's topic; thread 0 while it is being made, NO_TOPIC where there is none to be had."""

    goal: str
    title: str
    thread: int


Queued = tuple[int, int, bytes]  # chat, priority, body


class CardStore:
    """All that the bot keeps.

    then   in the methods that queue lines: called with them once they are committed
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    # ---- cards

    async def shown(self) -> dict[str, Shown]:
        """Return where every card stands."""
        rows = await self._database.fetch(
            "SELECT card, goal, chat, thread, message_id, revision, shown, filed, asked, live, at"
            " FROM cards"
        )
        return {row[0]: _shown(row) for row in rows}

    async def keep_shown(
        self,
        shown: Shown,
        queue: Sequence[Queued] = (),
        then: Callable[[list[Line]], None] | None = None,
    ) -> None:
        """Remember what a card's message shows now, and queue what follows from it."""

        def work(connection: sqlite3.Connection) -> list[Line]:
            connection.execute(
                "INSERT OR REPLACE INTO cards (card, goal, chat, thread, message_id, revision,"
                " shown, filed, asked, live, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    shown.card,
                    shown.goal,
                    shown.chat,
                    shown.thread,
                    shown.message_id,
                    shown.revision,
                    shown.shown,
                    shown.filed,
                    int(shown.asked),
                    int(shown.live),
                    shown.at,
                ),
            )
            _sent(connection, shown.chat, shown.card)
            _told(
                connection,
                shown.chat,
                shown.message_id,
                Told(shown.goal, shown.card, None),
                shown.at,
            )
            return _queue(connection, queue)

        await self._database.write(work, what=f"card shown {shown.card}", then=then)

    async def forget_shown(self, card: str) -> None:
        await self._database.write(
            lambda c: c.execute("DELETE FROM cards WHERE card = ?", (card,)), what="card forgotten"
        )

    # ---- what is still to be said

    async def lines(self) -> list[Line]:
        """Return everything not yet said, in the order it was queued."""
        rows = await self._database.fetch("SELECT id, chat, priority, body FROM outbox ORDER BY id")
        return [Line(*row) for row in rows]

    async def queue(
        self, queue: Sequence[Queued], then: Callable[[list[Line]], None] | None = None
    ) -> None:
        await self._database.write(lambda c: _queue(c, queue), what="line queued", then=then)

    async def said(
        self,
        line: int,
        chat: int = 0,
        message_id: int = 0,
        told: Told | None = None,
        at: float = 0.0,
        queue: Sequence[Queued] = (),
        then: Callable[[list[Line]], None] | None = None,
        also: Sequence[int] = (),
        copies: Sequence[int] = (),
    ) -> None:
        """Take a line off the queue, remember which message it became, and queue what follows.

        also     lines that were said in the same message
        copies   messages that may be the same, sent before and never answered
        """

        def work(connection: sqlite3.Connection) -> list[Line]:
            connection.executemany(
                "DELETE FROM outbox WHERE id = ?", [(one,) for one in (line, *also)]
            )
            _sent(connection, chat, *(str(one) for one in (line, *also)))
            if told is not None:
                _told(connection, chat, message_id, told, at)
                for copy in copies:
                    _told(connection, chat, copy, told, at, known="IGNORE")
            return _queue(connection, queue)

        await self._database.write(work, what=f"line said {line}", then=then)

    async def keep_told(self, chat: int, message_id: int, told: Told, at: float) -> None:
        """Remember what a message was about that is not ours: the one a goal was given in."""
        await self._database.write(
            lambda c: _told(c, chat, message_id, told, at), what="message of a goal"
        )

    async def newest(self, chat: int, most: int = 50) -> list[int]:
        """Return the newest messages we know of in a chat."""
        rows = await self._database.fetch(
            "SELECT message_id FROM messages WHERE chat = ? ORDER BY message_id DESC LIMIT ?",
            (chat, most),
        )
        return [int(row[0]) for row in rows]

    async def sending(self, chat: int, key: str, after: int, beside: Collection[str] = ()) -> None:
        """Note what is about to be sent, and the newest message before it: in case we die of it.

        beside   what else may have been sent; nothing but these and this is from now on
        """
        kept = {_sending(chat, one) for one in (key, *beside)}

        def work(connection: sqlite3.Connection) -> None:
            for name, _ in _sends(connection, chat):
                if name not in kept:
                    connection.execute("DELETE FROM facts WHERE name = ?", (name,))
            _keep_fact(connection, _sending(chat, key), str(after))

        await self._database.write(work, what=f"sending {key}", durable=False)

    async def not_sent(self, chat: int, key: str) -> None:
        """Forget that this was about to be sent: it is nowhere, and not wanted any more."""
        await self._database.write(lambda c: _sent(c, chat, key), what=f"not sent {key}")

    async def sends(self, chat: int) -> dict[str, int]:
        """Return what was sent, as far as anybody knows, with the newest message before it."""
        prefix = _sending(chat, "")
        rows = await self._database.fetch(_SENDS, (prefix, prefix + "\U0010ffff"))
        return {str(name)[len(prefix) :]: int(value) for name, value in rows}

    async def told(self, chat: int, message_id: int) -> Told | None:
        """Return what a message of ours was about."""
        rows = await self._database.fetch(
            "SELECT goal, card, prompt FROM messages WHERE chat = ? AND message_id = ?",
            (chat, message_id),
        )
        return Told(*rows[0]) if rows else None

    async def prompts(
        self, verbs: Sequence[str], since: float, chat: int = 0, most: int = 300
    ) -> list[tuple[int, Prompted]]:
        """Return the messages that asked for a reply of these kinds, each with its chat, newest first.

        most   of the newest messages of a chat that are looked at; all, where no chat is named
        """
        marks = ",".join("?" * len(verbs))
        among = (
            "(SELECT * FROM messages WHERE chat = ? ORDER BY message_id DESC LIMIT ?)"
            if chat
            else "messages"
        )
        rows = await self._database.fetch(
            f"SELECT chat, message_id, goal, prompt, at FROM {among} WHERE at >= ? AND prompt IS NOT NULL"
            f" AND json_extract(CAST(prompt AS TEXT), '$.verb') IN ({marks}) ORDER BY message_id DESC",
            (*((chat, most) if chat else ()), since, *verbs),
        )
        return [(there, Prompted(*rest)) for there, *rest in rows]

    async def prompted(self, chat: int, message_id: int = 0) -> Prompted | None:
        """Return the prompt a message is, or the newest one of a chat."""
        rows = await self._database.fetch(
            "SELECT message_id, goal, prompt, at FROM messages WHERE chat = ?"
            " AND prompt IS NOT NULL AND ? IN (0, message_id) ORDER BY message_id DESC LIMIT 1",
            (chat, message_id),
        )
        return Prompted(*rows[0]) if rows else None

    # ---- what was heard

    async def hear(self, entries: Sequence[tuple[int, bytes]], at: float) -> list[int]:
        """Keep sealed updates; return the ids of those that are new."""

        def work(connection: sqlite3.Connection) -> list[int]:
            fresh = []
            for update_id, sealed in entries:
                if connection.execute(
                    "SELECT 1 FROM handled WHERE update_id = ?", (update_id,)
                ).fetchone():
                    continue
                added = connection.execute(
                    "INSERT OR IGNORE INTO inbox (update_id, at, sealed) VALUES (?, ?, ?)",
                    (update_id, at, sealed),
                )
                if added.rowcount:
                    fresh.append(update_id)
            return fresh

        newest = max((update_id for update_id, _ in entries), default=0)
        return await self._database.write(work, what=f"heard {newest}")

    async def left_over(self) -> list[Entry]:
        """Return what an earlier start left unhandled, and count this start before it is tried."""

        def work(connection: sqlite3.Connection) -> list[Entry]:
            connection.execute("UPDATE inbox SET lives = lives + 1")
            rows = connection.execute(
                "SELECT update_id, at, joined, lives, sealed FROM inbox ORDER BY update_id"
            )
            return [Entry(*row) for row in rows]

        return await self._database.write(work, what="left over")

    async def join(self, updates: Sequence[int]) -> None:
        """Settle that these updates are one message, before anybody acts on it."""
        await self._database.write(
            lambda c: c.executemany(
                "UPDATE inbox SET joined = ? WHERE update_id = ?",
                [(updates[0], update) for update in updates],
            ),
            what="joined",
        )

    async def handled(
        self,
        updates: Sequence[int],
        at: float,
        queue: Sequence[Queued] = (),
        then: Callable[[list[Line]], None] | None = None,
    ) -> None:
        """Drop updates, know their ids again, and queue the answers: together or not at all."""

        def work(connection: sqlite3.Connection) -> list[Line]:
            for update in updates:
                connection.execute("DELETE FROM inbox WHERE update_id = ?", (update,))
                connection.execute("INSERT OR IGNORE INTO handled VALUES (?, ?)", (update, at))
            return _queue(connection, queue)

        await self._database.write(work, what=f"handled {updates[0]}", then=then)

    # ---- topics and facts

    async def topics(self, chat: int) -> dict[str, Topic]:
        rows = await self._database.fetch(
            "SELECT goal, title, thread FROM topics WHERE chat = ?", (chat,)
        )
        return {row[0]: Topic(*row) for row in rows}

    async def keep_topic(self, chat: int, topic: Topic) -> None:
        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO topics (goal, chat, title, thread) VALUES (?, ?, ?, ?)",
                (topic.goal, chat, topic.title, topic.thread),
            )
            if topic.thread:
                _sent(connection, chat, f"topic {topic.goal}")

        await self._database.write(work, what=f"topic {topic.goal}")

    async def last_note(self) -> int:
        """Return the number of the last note queued."""
        return int(await self.fact("last note") or 0)

    async def note_queued(
        self, number: int, queue: Sequence[Queued], then: Callable[[list[Line]], None]
    ) -> None:
        """Queue a note's messages, once: a number already passed adds nothing."""

        def work(connection: sqlite3.Connection) -> list[Line]:
            if number <= int(_fact(connection, "last note") or 0):
                return []
            _keep_fact(connection, "last note", str(number))
            return _queue(connection, queue)

        await self._database.write(work, what=f"note queued {number}", then=then)

    async def keep_fact(self, name: str, value: str) -> None:
        await self._database.write(lambda c: _keep_fact(c, name, value), what=f"fact {name}")

    async def fact(self, name: str) -> str:
        rows = await self._database.fetch("SELECT value FROM facts WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else ""

    async def named_facts(self, prefix: str) -> dict[str, str]:
        """Return the facts whose names begin so, by what follows in them."""
        rows = await self._database.fetch(
            "SELECT name, value FROM facts WHERE substr(name, 1, ?) = ?", (len(prefix), prefix)
        )
        return {str(name)[len(prefix) :]: str(value) for name, value in rows}

    async def facts(self, prefix: str) -> int:
        """Return how many facts' names begin so."""
        rows = await self._database.fetch(
            "SELECT count(*) FROM facts WHERE substr(name, 1, ?) = ?", (len(prefix), prefix)
        )
        return int(rows[0][0])

    async def first(
        self,
        name: str,
        queue: Sequence[Queued] = (),
        then: Callable[[list[Line]], None] | None = None,
        value: str = "1",
    ) -> bool:
        """Note that something happened; only the first time with this value, queue what is said of it."""

        def work(connection: sqlite3.Connection) -> tuple[bool, list[Line]]:
            if _fact(connection, name) == value:
                return False, []
            _keep_fact(connection, name, value)
            return True, _queue(connection, queue)

        new, lines = await self._database.write(work, what="fact")
        if then is not None:
            then(lines)
        return new

    async def prune(self, now: float) -> None:
        """Forget what is too old to be asked about again."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM handled WHERE at < ?", (now - HANDLED_S,))
            connection.execute(
                "DELETE FROM messages WHERE at < ? AND card NOT IN (SELECT card FROM cards)",
                (now - MESSAGES_S,),
            )
            connection.execute("DELETE FROM cards WHERE at < ? AND live = 0", (now - MESSAGES_S,))

        await self._database.write(work, what="prune", durable=False)


def _shown(row: Row) -> Shown:
    card, goal, chat, thread, message_id, revision, shown, filed, asked, live, at = row
    return Shown(
        card=card,
        goal=goal,
        chat=chat,
        thread=thread,
        message_id=message_id,
        revision=revision,
        shown=shown,
        filed=filed,
        asked=bool(asked),
        live=bool(live),
        at=at,
    )


def _queue(connection: sqlite3.Connection, queue: Sequence[Queued]) -> list[Line]:
    lines = []
    for chat, priority, body in queue:
        added = connection.execute(
            "INSERT INTO outbox (chat, priority, body) VALUES (?, ?, ?)", (chat, priority, body)
        )
        lines.append(Line(added.lastrowid or 0, chat, priority, body))
    return lines


def _told(
    connection: sqlite3.Connection,
    chat: int,
    message_id: int,
    told: Told,
    at: float,
    *,
    known: Literal["REPLACE", "IGNORE"] = "REPLACE",
) -> None:
    connection.execute(
        f"INSERT OR {known} INTO messages (chat, message_id, goal, card, prompt, at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (chat, message_id, told.goal, told.card, told.prompt, at),
    )


def _sending(chat: int, key: str) -> str:
    return f"sending {chat} {key}"


_SENDS = "SELECT name, value FROM facts WHERE name >= ? AND name < ?"


def _sends(connection: sqlite3.Connection, chat: int) -> list[tuple[str, str]]:
    prefix = _sending(chat, "")
    return connection.execute(_SENDS, (prefix, prefix + "\U0010ffff")).fetchall()


def _sent(connection: sqlite3.Connection, chat: int, *keys: str) -> None:
    """Forget that these were about to be sent: it is known what came of it."""
    connection.executemany(
        "DELETE FROM facts WHERE name = ?", [(_sending(chat, key),) for key in keys]
    )


def _fact(connection: sqlite3.Connection, name: str) -> str:
    row = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return str(row[0]) if row else ""


def _keep_fact(connection: sqlite3.Connection, name: str, value: str) -> None:
    connection.execute(
        "INSERT INTO facts (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )
