"""`quarterdeck demo`, and a goal played on its page from the first word to the push.

By taps and typing alone: nothing here speaks to the emulator or to the engine. test_goal.py looks at
how it ends, scripts/pictures.py takes its pictures on the way.
"""

import asyncio
import signal
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from tests.browser.chromium import Failed
from tests.browser.screen import Screen

NAMED = "The phone: "
CORRECTION = "Say so when nothing is missing, instead of printing nothing."
ASKED_FOR = "What should be different?"
WISH = "Print a shopping list of what the pantry is short of."
STEP_S = 120.0

# What its card says, and the button to press on it.
STEPS = (
    ("Allow the project's check?", "Allow"),
    ("A plan waits for your go", "Start"),
    ("Allow a command?", "Allow"),
    ("Ready for your review", "Correct…"),
    ("Corrected once", "Ship"),
    ("Proceed gets it ready", "Proceed"),
    ("Ready to push", "Push"),
)

Watch = Callable[[str], Awaitable[None]]


@asynccontextmanager
async def demo() -> AsyncIterator[tuple[Process, str]]:
    """Run the demo as an owner does; give it and its page's address, and end it by Ctrl-C."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "engine.cli", "demo"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        # As a terminal starts it: what runs in the background of a script ignores Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    draining = None
    try:
        page = await _page(process.stdout)
        draining = asyncio.create_task(process.stdout.read())
        yield process, page
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        await process.wait()
        if draining is not None:
            await draining


async def _page(printed: asyncio.StreamReader) -> str:
    """Return the page's address, which the demo prints once it is there."""
    said = ""
    async for line in printed:
        said += line.decode()
        if line.decode().startswith(NAMED):
            return line.decode().removeprefix(NAMED).strip()
    raise Failed(f"the demo ended before it showed a phone:\n{said}")


async def give(phone: Screen) -> None:
    """Write the goal in General and follow the first notification into its topic."""
    await phone.write(WISH)
    await phone.tap("#banner", wait_s=STEP_S)


async def press(phone: Screen, card: str, label: str) -> None:
    """Press a button of the newest card that says so, once it is there."""
    number = await phone.until(card_with(card, label), STEP_S)
    await phone.tap(f"#{number} .key", label)


async def correct(phone: Screen) -> None:
    """Answer the message that asks for a line; it has opened the reply field by itself."""
    await phone.until(f"document.querySelector('#about')?.innerText.includes({ASKED_FOR!r})")
    await phone.write(CORRECTION)


def card_with(card: str, label: str) -> str:
    """Return a look for the id of the newest message with these words and this button."""
    return f"""[...document.querySelectorAll("#messages li")].filter((one) =>
        one.innerText.includes({card!r}) &&
        [...one.querySelectorAll(".key")].some((key) => key.innerText === {label!r})).at(-1)?.id"""


async def play(phone: Screen, watch: Watch) -> None:
    """Correct once and else say yes; `watch` is told each card's words before its button is pressed."""
    await give(phone)
    for card, label in STEPS:
        await phone.until(card_with(card, label), STEP_S)
        await watch(card)
        await press(phone, card, label)
        if label == "Correct…":
            await correct(phone)
