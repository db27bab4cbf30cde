"""A whole goal on the phone page: the real demo, engine, bot and git behind it."""

import re
from pathlib import Path

from bot.demo import sample
from tests.browser import goal
from tests.browser.screen import Screen


async def enlarge(phone: Screen, plan: str) -> None:
    """Make a piece large by the plan's own panel, and wait until the plan says so too."""
    steps = (
        (plan, "Change…"),
        ("which piece?", "3 · Print the list"),
        ("3 · Print the list", "Large"),
        ("large", "Done"),
    )
    for words, label in steps:
        await goal.press(phone, words, label)
    await phone.until(goal.card_with("Changed by you", "Start"), goal.STEP_S)


async def test_a_goal_goes_to_its_push_by_taps_and_typing_alone(phone: Screen) -> None:
    asked = []

    async def watch(card: str) -> None:
        asked.append(card)
        if card == "A plan waits for your go":
            await enlarge(phone, card)

    async with goal.demo() as (process, page):
        await phone.open(page)
        await goal.play(phone, watch)
        shipped = """[...document.querySelectorAll(".bubble")].map((one) => one.innerText)
            .find((text) => text.includes("Shipped: branch"))"""
        said = await phone.until(shipped, goal.STEP_S)
        found = re.search(r"Shipped: branch (\S+) at (\S+)", said)
        assert found is not None
        branch, remote = found.groups()
        pushed = sample.git(Path(remote), "log", "--format=%s", branch).splitlines()
        assert "Print the list" in pushed
        assert asked == [card for card, _ in goal.STEPS]
        assert process.returncode is None
    assert process.returncode == 130
    assert not Path(remote).exists()
