"""The history checker is worth something only if it sees what is wrong: each thing is spoiled once.

One goal is played to its push, bot and all; what it left is copied, spoilt in one place, and judged.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import pytest

from bot import buttons
from bot.emulator import Message, Tap, Topic
from engine.codec import Codec
from engine.engine import RULES
from engine.lock import EngineLock
from engine.node import fence
from engine.rules.ask import Ask, Stage
from engine.rules.events import Answered, AnyEvent, PieceLanded
from tests.engine.scenario import PROJECT, World, expected, judge, lay, scene
from tests.fakes import git
from tests.history import Chat, faults
from tests.walk.with_bot import aboard

NEW = "the one that is not so"


@dataclass
class Left:
    """What a play left, to be spoilt."""

    world: World
    chat: Chat

    def found(self) -> list[str]:
        return faults(scene(self.world, self.chat), expected(self.world))

    def ledger(self, sql: str, *values: object) -> None:
        with closing(sqlite3.connect(self.world.home.engine_db)) as file, file:
            file.execute(sql, values)

    def bot(self, sql: str, *values: object) -> None:
        with closing(sqlite3.connect(self.world.home.bot_db)) as file, file:
            file.execute(sql, values)

    def message(self, *words: str) -> Message:
        return next(m for m in self.chat.messages if all(part in m.text for part in words))

    def instead(self, old: Message, *new: Message) -> None:
        kept = [one for one in self.chat.messages if one is not old]
        self.chat = replace(self.chat, messages=(*kept, *new))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Left:
    folder = tmp_path_factory.mktemp("played")
    (folder / "laid").mkdir()
    lay(folder / "laid")
    world = World(folder / "world", folder / "laid")

    async def play() -> Chat:
        async with aboard(world) as story:
            await story.play()
        return Chat.of(story.emulator)

    return Left(world, asyncio.run(play()))


@pytest.fixture
def left(played: Left, tmp_path: Path) -> Left:
    # The same places, in a copy: what stands in the chat names them.
    kept = tmp_path / "kept"
    shutil.copytree(played.world.folder, kept, symlinks=True)
    world = World.__new__(World)
    world.__dict__ |= played.world.__dict__
    return Left(world, played.chat)


@pytest.fixture(autouse=True)
def _put_back(played: Left, tmp_path: Path, left: Left) -> Iterator[None]:
    yield
    shutil.rmtree(played.world.folder)
    (tmp_path / "kept").rename(played.world.folder)


def test_a_story_told_in_peace_has_no_fault(left: Left) -> None:
    judge(left.world, left.chat)


# ---------------------------------------------------------------- what is spoilt


def _second_landing(left: Left) -> None:
    origin = left.world.origin
    again = git(origin, "rev-list", "--no-merges", "--skip=1", "-1", "main")
    tree = git(origin, "rev-parse", "main^{tree}")
    merge = git(origin, "commit-tree", tree, "-p", "main", "-p", again, "-m", "Land it again")
    git(origin, "update-ref", "refs/heads/main", merge)


def _doubled_push(left: Left) -> None:
    head = git(left.world.origin, "rev-parse", "main")
    git(left.world.origin, "update-ref", "refs/heads/main", "main~1")
    git(left.world.origin, "update-ref", "refs/heads/main", head)


def _lost_commit(left: Left) -> None:
    git(left.world.origin, "update-ref", "refs/heads/main", "main~1")


def _other_branch(left: Left) -> None:
    git(left.world.origin, "update-ref", "refs/heads/other", "main")


def _branch_left_in_hub(left: Left) -> None:
    hub = left.world.home.hub(PROJECT)
    taken = git(hub, "for-each-ref", "--format=%(objectname)", "refs/quarantine").split()[0]
    git(hub, "update-ref", "refs/heads/quarterdeck/g-1", taken)


def _git_lock(left: Left) -> None:
    (left.world.home.hub(PROJECT) / "refs/heads/main.lock").touch()


def _orphan_tree(left: Left) -> None:
    (left.world.home.trees / PROJECT / "s-9").mkdir(parents=True)


def _orphan_run(left: Left) -> None:
    (left.world.home.runs / "s-9-t1").mkdir()


def _rough_file(left: Left) -> None:
    (left.world.home.root / "config.toml.new").touch()


def _half_a_file(left: Left) -> None:
    (sketch,) = (left.world.home.root / "sessions").glob("s-1/files/*")
    half = sketch.read_bytes()[:100]
    sketch.chmod(0o600)  # it came to be read only
    sketch.write_bytes(half)


def _again(left: Left, kind: type[AnyEvent]) -> None:
    """Have the ledger hold an event twice."""
    stream, event = next((s, e) for s, e in left.world.events() if isinstance(e, kind))
    insert = "INSERT INTO events (stream, cause, at, body) VALUES (?, 'twice', 0, ?)"
    codec: Codec[AnyEvent] = Codec(AnyEvent)
    left.ledger(insert, stream, codec.dump(event))


def _piece_landed_again(left: Left) -> None:
    _again(left, PieceLanded)


def _decided_again(left: Left) -> None:
    _again(left, Answered)


def _unsigned(left: Left) -> None:
    left.ledger("DELETE FROM decisions WHERE n = (SELECT max(n) FROM decisions)")


def _signed_twice(left: Left) -> None:
    copy = "SELECT at, cause, stream, goal, body FROM decisions WHERE cause <> '' LIMIT 1"
    left.ledger(f"INSERT INTO decisions (at, cause, stream, goal, body) {copy}")


def _signed_for_nothing(left: Left) -> None:
    left.ledger("INSERT INTO decisions VALUES (NULL, 0, 'telegram:0', 'goal/g-1', 'g-1', '{}')")


def _owed(left: Left) -> None:
    pushes = [
        number
        for number, body in left.world.rows("SELECT id, body FROM effects")
        if b'"Push"' in bytes(body)
    ]
    left.ledger("UPDATE effects SET done_at = NULL WHERE id = ?", pushes[-1])


def _set_aside(left: Left) -> None:
    left.ledger("INSERT INTO broken VALUES ('goal/g-1', 'c', 'it broke', 0, 0)")


def _open_ask(left: Left) -> None:
    codec: Codec[Ask] = Codec(RULES["ask"].state_type)
    asks = [
        (stream, state)
        for stream, state in left.world.states().items()
        if isinstance(state, Ask) and state.teller.startswith("session/")
    ]
    stream, state = asks[0]
    opened = codec.dump(msgspec.structs.replace(state, stage=Stage.OPEN))
    left.ledger("UPDATE states SET body = ? WHERE stream = ?", opened, stream)


def _stale_card(left: Left) -> None:
    card = left.message("Worker 3", "Landed")
    left.instead(card, msgspec.structs.replace(card, text="Worker 3 · Orders tests\nat work"))


def _button_left(left: Left) -> None:
    card = left.message("Plan", "Order history in three pieces")
    data = buttons.encode("pl-1", "r", "start")
    markup = {"inline_keyboard": [[{"text": "Start", "callback_data": data}]]}
    left.instead(card, msgspec.structs.replace(card, markup=markup))


def _lost_line(left: Left) -> None:
    left.instead(left.message("The plan is with you."))


def _doubled_line(left: Left) -> None:
    line = left.message("The plan is with you.")
    left.instead(line, line, msgspec.structs.replace(line, id=999))


def _doubled_topic(left: Left) -> None:
    left.chat = replace(left.chat, topics=(*left.chat.topics, Topic(998, "Add order history")))


def _unsaid_line(left: Left) -> None:
    left.bot("INSERT INTO outbox (chat, priority, body) VALUES (42, 1, x'7b7d')")


def _unhandled_update(left: Left) -> None:
    left.bot("INSERT INTO inbox (update_id, at, sealed) VALUES (5, 0, x'00')")


def _unheard_update(left: Left) -> None:
    left.chat = replace(left.chat, updates=(*left.chat.updates, 5))


def _told_too_early(left: Left) -> None:
    data = buttons.encode("a-1", "r", "allow")
    tap = Tap("t", 42, 42, 13, data, 0.0, answered=True, answer="Allowed", update=5)
    left.chat = replace(left.chat, taps=(*left.chat.taps, tap))


SPOILT: dict[Callable[[Left], None], str] = {
    _second_landing: "a second time",
    _doubled_push: "main was pushed 3 times, not 1",
    _lost_commit: "origin.git has “Show the total” 0 times, not 1",
    _other_branch: "the remote has refs/heads/other",
    _branch_left_in_hub: "shop.git has refs/heads/quarterdeck/g-1 still",
    _git_lock: "a lock was left",
    _orphan_tree: "a tree was left: shop/s-9",
    _orphan_run: "run s-9-t1 was never ordered",
    _rough_file: "a rough file was left: config.toml.new",
    _half_a_file: "does not have sketch.jpg as it was sent",
    _piece_landed_again: "landed 2 times",
    _decided_again: "has Answered 2 times",
    _unsigned: "was decided by nobody",
    _signed_twice: "is a decision twice",
    _signed_for_nothing: "telegram:0 is a decision, and no event",
    _owed: "is owed Push still",
    _set_aside: "goal/g-1 was set aside: it broke",
    _open_ask: "is open, and session/",
    _stale_card: "is not as it was shown last",
    _button_left: "can be pressed, and is no card's: ['start']",
    _lost_line: "a line was never said: 'The plan is with you.'",
    _doubled_line: "nobody knows of message #999",
    _doubled_topic: "nobody knows of topic 998",
    _unsaid_line: "was never said: b'{}'",
    _unhandled_update: "update 5 was heard and never handled",
    _unheard_update: "update 5 was never heard",
    _told_too_early: "nothing of it was stored",
}


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda spoil: spoil.__name__.strip("_"))
def test_what_is_not_so_is_named(left: Left, spoil: Callable[[Left], None]) -> None:
    spoil(left)
    assert [fault for fault in left.found() if SPOILT[spoil] in fault], left.found()


def test_a_copy_that_may_be_there_may_not_be_pressed(left: Left) -> None:
    plan = left.message("Plan", "Order history in three pieces")
    data = buttons.encode("pl-1", "r", "start")
    markup = {"inline_keyboard": [[{"text": "Start", "callback_data": data}]]}
    copy = msgspec.structs.replace(plan, id=999)
    left.instead(plan, plan, copy)
    left.chat = replace(left.chat, unknown=1)
    assert left.found() == []
    left.instead(copy, msgspec.structs.replace(copy, markup=markup))
    assert any("#999" in fault and "can be pressed" in fault for fault in left.found())


def test_a_prompt_may_be_there_once_more_for_each_death(left: Left) -> None:
    prompt = left.message("What should be different?")
    left.instead(prompt, prompt, msgspec.structs.replace(prompt, id=999))
    left.bot(
        "INSERT INTO messages SELECT chat, 999, goal, card, prompt, at FROM messages"
        " WHERE message_id = ?",
        prompt.id,
    )
    assert [fault for fault in left.found() if "asked again: #" in fault]
    left.chat = replace(left.chat, copies=1)
    assert left.found() == []


def test_a_lock_that_is_held_is_named(left: Left) -> None:
    with EngineLock(left.world.home.engine_lock):
        assert [fault for fault in left.found() if "the engine's lock is held" in fault]


def test_a_process_that_lives_on_is_named(left: Left) -> None:
    run = left.world.home.runs / "s-1-t1"
    marks = {fence.MARK: run.name, fence.PLACE: fence.place(str(run))}
    orphan = subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"], **marks})
    try:
        assert f"process {orphan.pid} of a run lives on" in left.found()
    finally:
        orphan.kill()
        orphan.wait()
