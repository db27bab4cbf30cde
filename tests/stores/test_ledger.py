"""The ledger over a real file: what goes in together, and what a death leaves behind."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stores.database import Database
from stores.ledger import (
    NOTES_AT_ONCE,
    BrokenStream,
    Decision,
    Entry,
    Ids,
    Ledger,
    NoteRow,
    Owed,
    Step,
)


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    async with Database(tmp_path / "engine.sqlite3", "ledger") as file, Ledger(file) as ledger:
        yield ledger


def step(
    cause: str, stream: str = "goal/g-1", state: bytes | None = b"s", *effects: bytes, at: float = 1
) -> Step:
    return Step(stream, cause, at, b"e", state, tuple((body, 0.0) for body in effects))


async def commit(
    ledger: Ledger,
    *steps: Step,
    done: tuple[int, float] | None = None,
    position: tuple[str, int] | None = None,
) -> Ids:
    """Store one entry; return its ids."""
    found = await ledger.commit([Entry(steps, done, position)])
    assert found is not None
    return found[0]


async def test_an_event_its_state_and_its_effects_go_in_together(ledger: Ledger) -> None:
    assert await commit(ledger, step("a", "goal/g-1", b"s1", b"x", b"y")) == [[1, 2]]
    assert await ledger.states() == {"goal/g-1": b"s1"}
    assert await ledger.owed() == [
        Owed(1, "goal/g-1", b"x", 0.0, 0, 0),
        Owed(2, "goal/g-1", b"y", 0.0, 0, 0),
    ]


async def test_a_known_cause_changes_nothing_but_moves_the_position(ledger: Ledger) -> None:
    await commit(ledger, step("a", "goal/g-1", b"s1", b"x"))
    assert await commit(ledger, step("a", "goal/g-1", b"s2", b"y"), position=("r-1", 9)) is None
    assert await ledger.states() == {"goal/g-1": b"s1"}
    assert len(await ledger.owed()) == 1
    assert await ledger.positions() == {"r-1": 9}


async def test_steps_go_in_all_or_none(ledger: Ledger) -> None:
    await commit(ledger, step("b"))
    with pytest.raises(sqlite3.IntegrityError):
        await commit(ledger, step("a", "goal/g-2", b"s", b"x"), step("b"))
    assert not await ledger.knows("a")
    assert list(await ledger.states()) == ["goal/g-1"]
    assert await ledger.owed() == []


async def test_one_that_is_known_has_all_beside_it_wait(ledger: Ledger) -> None:
    await commit(ledger, step("a"))
    new = Entry([step("b", "goal/g-2")], position=("r-1", 9))
    assert await ledger.commit([new, Entry([step("a")], position=("r-2", 9))]) is None
    assert await ledger.commit([new, new]) is None
    assert set(await ledger.states()) == {"goal/g-1"}
    assert await ledger.positions() == {}
    assert await ledger.commit([new, Entry([step("c", "goal/g-3", b"s", b"x")])]) == [[[]], [[1]]]
    assert await ledger.positions() == {"r-1": 9}


async def test_an_effect_ends_in_the_commit_of_what_came_of_it(ledger: Ledger) -> None:
    await commit(ledger, step("a", "goal/g-1", b"s", b"x"))
    await commit(ledger, step("effect:1.0", "goal/g-1", b"s", b"y"), done=(1, 5.0))
    assert [owed.id for owed in await ledger.owed()] == [2]
    await commit(ledger, done=(2, 6.0))
    assert await ledger.owed() == []


async def test_an_effects_id_is_never_used_again(ledger: Ledger) -> None:
    await commit(ledger, step("a", "goal/g-1", b"s", b"x"))
    await ledger.done(1, at=1.0)
    await ledger.retain(before=100.0)
    assert await commit(ledger, step("b", "goal/g-1", b"s", b"x")) == [[2]]


async def test_tries_and_deaths_of_an_effect_are_told_apart(ledger: Ledger) -> None:
    await commit(ledger, step("a", "goal/g-1", b"s", b"x"))
    await ledger.tried(1)
    await ledger.tried(1)
    assert [(o.tries, o.deaths) for o in await ledger.owed()] == [(0, 2)]
    await ledger.spare([1])
    assert [(o.tries, o.deaths) for o in await ledger.owed()] == [(0, 1)]
    await ledger.postpone(1, due_at=9.0)
    assert await ledger.owed() == [Owed(1, "goal/g-1", b"x", 9.0, 1, 0)]


async def test_a_note_is_kept_once_and_ends_its_effect(ledger: Ledger) -> None:
    await commit(ledger, step("a", "goal/g-1", b"s", b"x"))
    for text in ("first", "again"):
        await ledger.note(1, goal="g-1", kind="news", text=text, who="", sounds=True, at=4.0)
    (note,) = await ledger.notes(0)
    assert (note.text, note.sounds) == ("first", True)
    assert await ledger.notes(note.n) == []
    assert await ledger.owed() == []


async def test_notes_are_the_same_from_memory_and_from_the_file(tmp_path: Path) -> None:
    count = NOTES_AT_ONCE + 20

    async def pages(ledger: Ledger) -> list[str]:
        found: list[NoteRow] = []
        while more := await ledger.notes(found[-1].n if found else 0):
            assert len(more) <= NOTES_AT_ONCE
            found += more
        return [note.text for note in found]

    async with Database(tmp_path / "engine.sqlite3", "ledger") as file, Ledger(file) as ledger:
        for effect in range(1, count + 1):
            await ledger.note(
                effect, goal="g-1", kind="news", text=str(effect), who="", sounds=False, at=4.0
            )
        told = await pages(ledger)
        last = await ledger.notes(count - 1)
    assert told == [str(effect) for effect in range(1, count + 1)]
    async with Database(tmp_path / "engine.sqlite3", "ledger") as file, Ledger(file) as ledger:
        assert await pages(ledger) == told
        assert await ledger.notes(count - 1) == last
        await ledger.retain(5.0)
        assert await ledger.notes(0) == []


async def test_numbers_are_taken_once_and_counted_for_each_kind(tmp_path: Path) -> None:
    taken: list[int] = []
    for _ in range(2):
        async with Database(tmp_path / "e.sqlite3", "ledger") as file, Ledger(file) as ledger:
            taken += await ledger.take("g")
            taken += await ledger.take("g", 3)
            assert (await ledger.take("a"))[0] in (1, 2)
    assert taken == [1, 2, 3, 4, 5, 6, 7, 8]


async def test_what_is_old_goes_and_what_is_owed_stays(ledger: Ledger) -> None:
    await commit(ledger, step("old", "goal/g-1", b"s", b"done", b"owed", at=10))
    await ledger.done(1, at=10.0)
    await commit(ledger, step("new", at=200))
    await ledger.retain(before=100.0)
    assert [event.cause for event in await ledger.history("goal/g-1")] == ["new"]
    assert [owed.body for owed in await ledger.owed()] == [b"owed"]
    assert list(await ledger.states()) == ["goal/g-1"]


def decided(cause: str, goal: str = "g-1", at: float = 1) -> Step:
    return Step(f"goal/{goal}", cause, at, b"e", b"s", (), Decision(goal, cause.encode()))


async def test_a_decision_goes_in_with_its_event_and_never_twice(ledger: Ledger) -> None:
    await commit(ledger, decided("a"))
    assert await commit(ledger, decided("a")) is None
    with pytest.raises(sqlite3.IntegrityError):
        await commit(ledger, decided("b", "g-2"), step("a"))
    (row,) = await ledger.decisions(0.0)
    assert (row.n, row.at, row.cause, row.goal, row.body) == (1, 1.0, "a", "g-1", b"a")
    aside = BrokenStream("goal/g-1", "x", "it died", 7.0, dropped=True)
    await ledger.set_aside(aside, Decision("g-1", b"left"))
    await ledger.mend("goal/g-1", 8.0, Decision("g-1", b"again"))
    assert [row.body for row in await ledger.decisions(5.0)] == [b"left", b"again"]


async def test_decisions_are_paged_by_goal_and_outlive_their_events(ledger: Ledger) -> None:
    for number in range(7):
        await commit(ledger, decided(f"c-{number}", f"g-{number % 2}", at=number))
    first = await ledger.decisions(1.0, "g-1", most=2)
    assert [row.cause for row in first] == ["c-1", "c-3"]
    rest = await ledger.decisions(1.0, "g-1", first[-1].n, most=2)
    assert [row.cause for row in rest] == ["c-5"]
    await ledger.retain(100.0, 3.0)
    assert await ledger.history("goal/g-1") == []
    assert [row.at for row in await ledger.decisions(0.0)] == [3.0, 4.0, 5.0, 6.0]


async def lives(path: Path, *, mark: bytes | None = None) -> dict[str, str]:
    async with Database(path, "ledger") as file:
        if mark is not None:
            path.with_name(path.name + "-trying").write_bytes(mark)
        async with Ledger(file) as ledger:
            return ledger.killers(1)


async def die_deciding(path: Path, cause: str) -> None:
    async with Database(path, "ledger") as file, Ledger(file) as ledger:
        ledger.begin_try("goal/g-1", cause)


async def test_a_death_while_deciding_is_that_events_own(tmp_path: Path) -> None:
    path = tmp_path / "engine.sqlite3"
    for deaths in (1, 2):
        await die_deciding(path, "telegram:1")
        async with Database(path, "ledger") as file, Ledger(file) as ledger:
            assert ledger.killers(deaths) == {"telegram:1": "goal/g-1"}
            assert ledger.killers(deaths + 1) == {}


async def test_a_death_after_deciding_is_nobodys(tmp_path: Path) -> None:
    path = tmp_path / "engine.sqlite3"
    async with Database(path, "ledger") as file, Ledger(file) as ledger:
        ledger.begin_try("goal/g-1", "telegram:1")
        ledger.end_try()
    assert await lives(path) == {}


async def test_a_death_is_counted_once_however_often_the_start_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "engine.sqlite3"
    slot = b'[7, "goal/g-1", "telegram:1"]\n'
    for _ in range(3):
        async with Database(path, "ledger") as file:
            path.with_name(path.name + "-trying").write_bytes(slot)
            async with Ledger(file) as ledger:
                assert ledger.killers(2) == {}
                assert ledger.killers(1) == {"telegram:1": "goal/g-1"}


async def test_an_event_that_went_in_after_a_death_is_forgiven(tmp_path: Path) -> None:
    path = tmp_path / "engine.sqlite3"
    await die_deciding(path, "telegram:1")
    async with Database(path, "ledger") as file, Ledger(file) as ledger:
        await commit(ledger, step("telegram:1"))
        assert ledger.killers(1) == {}
    assert await lives(path) == {}


async def test_a_repeat_of_what_is_in_the_log_cannot_count_as_a_death(tmp_path: Path) -> None:
    path = tmp_path / "engine.sqlite3"
    async with Database(path, "ledger") as file, Ledger(file) as ledger:
        await commit(ledger, step("telegram:1"))
    await die_deciding(path, "telegram:1")
    assert await lives(path) == {}


@pytest.mark.parametrize(
    "torn", [b"", b"\x00" * 512, b'[1, "goal/g-1", "tele', b"\xff\xfe\n", b"[1]\n", b'{"a":1}\n']
)
async def test_a_torn_mark_is_nobodys_death(tmp_path: Path, torn: bytes) -> None:
    assert await lives(tmp_path / "engine.sqlite3", mark=torn) == {}


async def test_a_broken_stream_is_remembered_until_it_is_mended(tmp_path: Path) -> None:
    path = tmp_path / "engine.sqlite3"
    aside = BrokenStream("goal/g-1", "telegram:1", "ended us twice", 5.0)
    await die_deciding(path, "telegram:1")
    async with Database(path, "ledger") as file, Ledger(file) as ledger:
        await ledger.set_aside(aside)
    async with Database(path, "ledger") as file, Ledger(file) as ledger:
        assert await ledger.broken() == {"goal/g-1": aside}
        await ledger.mend("goal/g-1")
        assert ledger.killers(1) == {}
    async with Database(path, "ledger") as file, Ledger(file) as ledger:
        assert await ledger.broken() == {}
        assert ledger.killers(1) == {}
