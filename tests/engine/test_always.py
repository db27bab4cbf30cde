"""Always, from the phone: the same command is not asked for again, until its rule is revoked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bot.kept import KeptRules
from bot.panels import At
from engine.errors import Refused
from engine.rules.ask import Ask
from engine.views import PermissionCard, WorkerCard
from tests.engine.phone import (
    PIECE,
    Phone,
    Step,
    held,
    labels,
    lead,
    plan,
    words,
    worker,
    write,
)

LINT = "make lint"


@pytest.fixture
async def phone(tmp_path: Path) -> AsyncIterator[Phone]:
    async with held(tmp_path) as phone:
        yield phone


def asks(command: str) -> Step:
    given = {"command": command, "description": "Look it over"}
    return {"permission": {"tool": "Bash", "input": given}}


def asking_worker(*commands: str, file: str = "work.txt", **where: str) -> Step:
    steps = [asks(command) for command in commands]
    return worker(*steps, write(file), {"commit": "Do the work"}, {"say": "Done."}, **where)


async def given(phone: Phone, project: str, *commands: str) -> str:
    """Give a goal whose worker asks for these commands; return its id."""
    await phone.agent(*lead(plan(PIECE)), asking_worker(*commands))
    goal = await phone.goal(project)
    phone.will(goal, "permission")
    return goal


def asks_for(command: str) -> Callable[[PermissionCard], bool]:
    return lambda card: card.asks and command in words(card)


def asked(phone: Phone) -> list[str]:
    """The commands that the owner was ever asked for, in this engine's life."""
    found = phone.engine.loop.states("ask").values()
    return [ask.detail for ask in found if isinstance(ask, Ask) and ask.tool == "Bash"]


async def landed(phone: Phone, goal: str) -> None:
    await phone.card(goal, WorkerCard, lambda card: card.stage == "landed")


async def listed(phone: Phone) -> str:
    """What /settings rules shows."""
    page = await KeptRules().words(At(engine=Calls(phone)))
    return page.rich.text


class Calls:
    """The door as the bot calls it."""

    def __init__(self, phone: Phone) -> None:
        self._door = phone.door

    async def call(self, verb: str, /, cause: str = "", **args: object) -> object:
        method = getattr(self._door, verb)
        return await (method(**args, cause=cause) if cause else method(**args))


async def test_what_is_always_allowed_is_not_asked_again_until_it_is_revoked(phone: Phone) -> None:
    project = await phone.project()
    goal = await given(phone, project, LINT, LINT, "make docs")
    card = await phone.card(goal, PermissionCard)
    assert labels(card) == ["Allow", "Always", "Deny"]
    assert f"Always keeps: exactly this command, in {project}" in words(card)
    assert await phone.tap(card, "always") == "Always allowed"

    other = await phone.card(goal, PermissionCard, lambda card: card.asks and card.id != "a-1")
    assert "make docs" in words(other)
    (done,) = [card for card in phone.of(goal, PermissionCard) if card.decided]
    assert "Command allowed" in words(done)
    assert "Always allowed by you" in words(done)
    await phone.tap(other, "allow")
    await landed(phone, goal)
    assert asked(phone) == [LINT, "make docs"]

    page = await listed(phone)
    assert LINT in page
    assert "used once" in page
    number = int(done.id.removeprefix("a-"))
    assert f"{number}. exactly, in {project}" in page
    for _ in range(2):  # a tap that comes again says so again
        said = await phone.door.revoke_rule(number, cause="tap")
        assert said == {"verdict": "Revoked: it is asked for again."}
    assert "No rule is kept" in await listed(phone)
    with pytest.raises(Refused, match="no such rule"):
        await phone.door.revoke_rule(number, cause=phone.cause())

    again = await given(phone, project, LINT)
    assert LINT in words(await phone.card(again, PermissionCard))


async def test_a_rule_outlives_a_restart_and_holds_in_its_project_alone(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        project = await phone.project()
        goal = await given(phone, project, LINT)
        await phone.tap(await phone.card(goal, PermissionCard), "always")
        await landed(phone, goal)
    async with held(tmp_path) as phone:
        for _ in range(200):
            phone.number()  # what the first life used up
        await phone.door.resume(cause=phone.cause())
        goal = await given(phone, project, LINT)
        await landed(phone, goal)
        assert asked(phone) == [LINT]
        elsewhere = await given(phone, await phone.project(), LINT)
        assert LINT in words(await phone.card(elsewhere, PermissionCard))


async def test_a_rule_does_not_answer_its_command_behind_a_program_that_is_not_known(
    phone: Phone,
) -> None:
    goal = await given(phone, await phone.project(), LINT, f"prlimit {LINT}")
    await phone.tap(await phone.card(goal, PermissionCard), "always")
    card = await phone.card(goal, PermissionCard, lambda card: card.asks and card.id != "a-1")
    assert labels(card) == ["Allow", "Deny"]
    assert "No Always: not a command I know to be safe to repeat." in words(card)
    await phone.tap(card, "allow")
    await landed(phone, goal)


async def test_a_worker_s_card_says_that_it_waits_for_your_answer(phone: Phone) -> None:
    """BR-22: each permission has a card, and its worker's status says that one is open."""
    goal = await given(phone, await phone.project(), "git push")
    card = await phone.card(goal, PermissionCard)
    assert labels(card) == ["Allow", "Deny"]
    assert "No Always: it may do what cannot be taken back." in words(card)
    (working,) = phone.of(goal, WorkerCard)
    assert "your answer" in words(working)
    assert "Bash" not in words(working)
    board = await phone.door.board()
    assert [row.card for row in board.now] == [card.id]
    assert not [row for row in board.next if "your answer" in row.text]


async def test_each_of_four_in_a_row_and_of_three_at_once_has_a_card_of_its_own(
    phone: Phone,
) -> None:
    """BR-22: three workers who ask at the same time, one of whom asked four times before."""
    row = [f"curl https://example.org/{n}" for n in range(4)]
    last = [f"git push origin {name}" for name in ("one", "two", "three")]
    pieces = [{"title": f"Part {n}"} for n in range(3)]
    commands = [[*row, last[0]], [last[1]], [last[2]]]
    await phone.agent(
        *lead(plan(*pieces)),
        *(
            asking_worker(*wanted, file=f"{n}.txt", prompt=f"Part {n}")
            for n, wanted in enumerate(commands)
        ),
    )
    goal = await phone.goal(await phone.project())
    phone.will(goal, "permission")
    for number, command in enumerate(row):
        card = await phone.card(goal, PermissionCard, asks_for(command))
        await phone.tap(card, "allow" if number % 2 else "deny")
    await phone.until(lambda: set(last) <= set(asked(phone)), "all three to ask")
    cards = [card for card in phone.of(goal, PermissionCard) if card.asks]
    assert sorted(
        command for command in last for card in cards if command in words(card)
    ) == sorted(last)
    assert len(cards) == 3
    assert all("your answer" in words(card) for card in phone.of(goal, WorkerCard))
    for card in cards:
        await phone.tap(card, "allow")
    await phone.until(
        lambda: all(card.stage == "landed" for card in phone.of(goal, WorkerCard)), "all to land"
    )
