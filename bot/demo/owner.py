"""The person at the demo's phone: an owner who says yes to everything, or the one at the keyboard.

Both see the chat as lines of text, each message once and again when its buttons change.
"""

import asyncio
import math
import sys
import threading
from collections.abc import AsyncIterator, Callable

from bot.emulator import Message, Phone

WISH = "Print a shopping list of what the pantry is short of."
GOAL = f"/new pantry {WISH}"
YES = ("Allow", "Start", "Ship", "Proceed", "Push")
BAD = ("Retry",)
SHIPPED = "Shipped"
WAIT_S = 180.0


class WentWrong(Exception):
    """The rehearsal did not get to its end."""


class Reader:
    """Prints the chat as it grows."""

    def __init__(self, phone: Phone, put: Callable[[str], None]) -> None:
        self._phone = phone
        self._put = put
        self._shown: dict[int, tuple[str, ...]] = {}

    def read(self) -> None:
        """Print what is new: messages, and those whose buttons are others now."""
        for message in self._phone.messages():
            shown = tuple(message.labels)
            if self._shown.get(message.id) != shown:
                self._shown[message.id] = shown
                self._put(line(message))


def line(message: Message) -> str:
    """Return a message as text, its buttons in brackets below it."""
    who = "Bot" if message.from_bot else "You"
    body = message.text or ", ".join(message.service)
    if message.file is not None:
        body = f"[{message.file.name}] {body}".rstrip()
    first, *rest = body.splitlines() or [""]
    lines = [f"#{message.id} {who}: {first}", *(f"    {text}".rstrip() for text in rest)]
    lines += ["    " + " ".join(f"[{button.label}]" for button in row) for row in message.rows]
    return "\n".join(lines)


async def play(phone: Phone, put: Callable[[str], None]) -> None:
    """Give the goal, say yes to what is asked, and return once it is shipped.

    raises  WentWrong when something failed on the way, or nothing more came
    """
    reader = Reader(phone, put)
    pressed: set[tuple[int, str, str]] = set()
    phone.send(GOAL)

    def next_step() -> tuple[Message, str] | None:
        reader.read()
        for message in phone.from_bot():
            if bad := [label for label in message.labels if label in BAD]:
                raise WentWrong(f"#{message.id} offers {bad[0]}: {message.text.splitlines()[0]}")
            for label in YES:
                # The button's own data tells a new question on the same message from the old one.
                data = next((b.value for b in message.buttons if b.label == label), None)
                if data is not None and (message.id, label, data) not in pressed:
                    pressed.add((message.id, label, data))
                    return message, label
            if SHIPPED in message.text and not message.labels:
                return message, ""
        return None

    while True:
        try:
            message, label = await phone.until(next_step, WAIT_S)
        except TimeoutError:
            raise WentWrong(f"nothing more came for {WAIT_S:.0f} s") from None
        if not label:
            return
        put(f"You press [{label}] under #{message.id}")
        phone.tap(message, label)


async def converse(phone: Phone, put: Callable[[str], None]) -> None:
    """Be the phone of whoever sits at the keyboard, for as long as the demo runs.

    The end of their input ends nothing: the page is the other phone in the same chat.
    """
    reader = Reader(phone, put)
    put("A rehearsal: nothing here costs anything or leaves this machine.")
    put(f"There, or here, write what you would send, such as: {GOAL}")
    put("Here a button is pressed with its message's number and its words: #12 Start")
    put("Ctrl-C ends it.")

    async def watch() -> None:
        def look() -> bool:
            reader.read()
            return False

        await phone.until(look, math.inf)

    watching = asyncio.create_task(watch())
    try:
        async for text in typed():
            try:
                act(phone, text)
            except LookupError as error:
                put(str(error))
        await watching
    finally:
        watching.cancel()


def act(phone: Phone, text: str) -> None:
    """Send a line, or press the button that `#12 Start` names."""
    number, _, label = text.removeprefix("#").partition(" ")
    if text.startswith("#") and number.isdigit() and label:
        phone.tap(int(number), label.strip())
    elif text.strip():
        phone.send(text)


async def typed() -> AsyncIterator[str]:
    """Yield the keyboard's lines without holding the loop up, whatever the input is."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str] = asyncio.Queue()

    def read() -> None:
        for text in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, text)
        loop.call_soon_threadsafe(lines.put_nowait, "")

    # A daemon: Ctrl-C must not wait for one more line.
    threading.Thread(target=read, daemon=True).start()
    while text := await lines.get():
        yield text.rstrip("\n")
