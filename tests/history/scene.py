"""Where the evidence of a play lies, and what its story was to come to.

Neighbours: `judge_history` (the package's door) hands both to decided.py, repositories.py, left.py and
shown.py, each of which yields a sentence for everything that is not so.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from bot.emulator import Emulator, Message, Tap, Topic
from engine.codec import Codec
from engine.engine import RULES
from engine.loop import Rule
from engine.paths import Home
from engine.rules.goal_state import Goal
from engine.views import AnyCard
from tests.simulation.invariants import History


@dataclass(frozen=True, kw_only=True)
class Chat:
    """What stands in the owner's chat, and what they did there.

    messages   of both sides, as they stand now
    topics     the chat's, if it has any
    taps       every button that was pressed
    updates    the ids of all that was sent and pressed
    copies     how many prompts may be there once more: one for each death (or silence) that came
               between a send and our note of it, since a prompt cannot be looked for
    unknown    how many other messages may be: those of a chat in which nothing was known yet
    """

    messages: Sequence[Message]
    topics: Sequence[Topic] = ()
    taps: Sequence[Tap] = ()
    updates: Sequence[int] = ()
    copies: int = 0
    unknown: int = 0

    @classmethod
    def of(cls, emulator: Emulator, *, copies: int = 0) -> Chat:
        """Return what an emulated Telegram shows its owner."""
        phone = emulator.phone
        return cls(
            messages=phone.messages(),
            topics=phone.topics(),
            taps=phone.taps(),
            updates=tuple(emulator.updates.made),
            copies=copies,
        )


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One play's files and chat; what is None is not asked about.

    ledger   the engine's file; `rules` decided what is in it
    hubs     the folder of bare clones only we write
    remote   the bare repository that is pushed to
    home     the folder with trees, runs, locks; its runs' processes
    bot_db   the bot's file
    shown    the cards as the engine told them last
    """

    ledger: Path | None = None
    rules: Mapping[str, Rule] = field(default_factory=lambda: RULES)
    hubs: Path | None = None
    remote: Path | None = None
    home: Home | None = None
    bot_db: Path | None = None
    chat: Chat | None = None
    shown: Sequence[AnyCard] | None = None

    @cached_property
    def told(self) -> History:
        """All that was decided, oldest first."""
        history = History(self._file)
        history.read_on()
        return history

    @cached_property
    def states(self) -> dict[str, Any]:
        """Where every stream stands, by the ledger's file."""
        codecs: dict[str, Codec[Any]] = {
            prefix: Codec(rule.state_type) for prefix, rule in self.rules.items()
        }
        rows = self.rows("SELECT stream, body FROM states")
        return {stream: codecs[stream.partition("/")[0]].load(body) for stream, body in rows}

    @property
    def goals(self) -> list[Goal]:
        return [state for state in self.states.values() if isinstance(state, Goal)]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Ask the ledger."""
        return self._file.execute(sql).fetchall()

    @cached_property
    def _file(self) -> sqlite3.Connection:
        assert self.ledger is not None, "this play has no ledger"
        # Not made by looking: an empty file would be none of the play's.
        return sqlite3.connect(f"file:{self.ledger}?mode=rw", uri=True)

    @contextmanager
    def looked_at(self) -> Iterator[None]:
        """Let go of the files at the end of the block."""
        try:
            yield
        finally:
            if "_file" in self.__dict__:
                self._file.close()


@dataclass(frozen=True)
class Span:
    """Commits that are to be in a repository: each of these subjects once, and no other.

    where         "base..branch"
    first_parent  what entered the branch itself, in this order; else any order, merges aside
    """

    repository: Path
    where: str
    subjects: Sequence[str]
    first_parent: bool = False


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What a story comes to, whatever happened on the way.

    counted   how often the ledger holds a kind of event
    never     kinds of events that it never holds
    spans     commits, by where they are to be
    pushes    how often the base branch of the remote was moved
    files     what was added to it, path by path
    taken     commits of workers that the hubs took in; None: any
    workers   cards of workers; None: any
    said      lines that are in the chat, each once
    sent      files the owner sent along, as the lead is to have them
    """

    counted: Mapping[str, int] = field(default_factory=dict)
    never: Sequence[str] = ("GaveUp",)
    spans: Sequence[Span] = ()
    base: str = "main"
    pushes: int = 1
    files: Mapping[str, str] = field(default_factory=dict)
    taken: int | None = None
    workers: int | None = None
    said: Sequence[str] = ()
    sent: Mapping[str, bytes] = field(default_factory=dict)


def rows_of(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """Ask one file one thing."""
    with closing(sqlite3.connect(f"file:{path}?mode=rw", uri=True)) as connection:
        return connection.execute(sql).fetchall()
