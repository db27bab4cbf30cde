"""The person at the demo's phone: an owner who corrects once and else says yes, or the keyboard's.

Both see the chat as lines of text: each message once, and again when it asks or was decided.
"""

import asyncio
import math
import sys
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial

from bot.emulator import Message, Phone

WISH = "Print a shopping list of what the pantry is short of."
GOAL = f"/new pantry {WISH}"
CORRECTION = "Say so when nothing is missing, instead of printing nothing."
CORRECT = "Correct…"
YES = ("Allow", "Start", "Ship", "Proceed", "Push")
BAD = ("Retry",)
SHIPPED = "Shipped"
ONLY_SHOWS = "Diff"
WAIT_S = 180.0
# A person reads what comes before they tap, and the chat has room for it meanwhile: until nothing
# new came for so long, at most so often.
READ_S = 1.2
LOOKS = 3


class WentWrong(Exception):
    """The rehearsal did not get to its end."""


class Reader:
    """Prints the chat as it grows."""

    def __init__(self, phone: Phone, put: Callable[[str], None]) -> None:
        self._phone = phone
        self._put = put
        self._shown: dict[int, tuple[str, list[str]]] = {}

    def read(self) -> None:
        """Print what is new, and what asks something else than before or asks nothing any more."""
        for message in self._phone.messages():
            shown = message.text.partition("\n")[0], message.labels
            before = self._shown.get(message.id)
            if before is None or _tells(*before, *shown):
                self._put(line(message))
            self._shown[message.id] = shown


def _tells(title: str, before: list[str], title_now: str, now: list[str]) -> bool:
    """Return whether a change is worth a second look: that of a worker that works on is not."""
    asked = [label for label in before if label in YES]
    asks = [label for label in now if label in YES]
    return asked != asks or (not now and (bool(before) or title != title_now))


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


async def play(phone: Phone, put: Callable[[str], None], read_s: float = READ_S) -> None:
    """Give the goal, correct what comes of it once, say yes to all else, and end with the push.

    raises  WentWrong when something failed on the way, or nothing more came
    """
    reader = Reader(phone, put)
    person = _Owner(phone, put)
    phone.send(GOAL)

    def next_step() -> Callable[[], None] | None:
        reader.read()
        return person.next_step()

    while True:
        try:
            step = await phone.until(next_step, WAIT_S)
        except TimeoutError:
            raise WentWrong(f"nothing more came for {WAIT_S:.0f} s") from None
        if step is _nothing:
            return
        for _ in range(LOOKS):
            seen = len(phone.messages())
            await asyncio.sleep(read_s)
            reader.read()
            if len(phone.messages()) == seen:
                break
        step()


def _nothing() -> None:
    """Be the step after the last."""


class _Owner:
    """Does one thing for each message that asks one."""

    def __init__(self, phone: Phone, put: Callable[[str], None]) -> None:
        self._phone = phone
        self._put = put
        self._done: set[tuple[int, str]] = set()
        self._corrected = False

    def next_step(self) -> Callable[[], None] | None:
        """Return what to press or to answer next, once something asks for it.

        raises  WentWrong when something failed
        """
        for message in self._phone.from_bot():
            if bad := [label for label in message.labels if label in BAD]:
                raise WentWrong(f"#{message.id} offers {bad[0]}: {message.text.splitlines()[0]}")
            if message.asks_for_reply and self._first(message.id, "reply"):
                return partial(self._answer, message)
            if label := self._wants(message):
                return partial(self._press, message, label)
        return _nothing if self._shipped() else None

    def _press(self, message: Message, label: str) -> None:
        self._put(f"You press [{label}] under #{message.id}")
        self._phone.tap(message, label)

    def _answer(self, message: Message) -> None:
        self._put(f"You answer #{message.id}")
        self._phone.reply(message, CORRECTION)

    def _shipped(self) -> bool:
        """Return whether it says so, and nothing is left that could be pressed."""
        said = self._phone.from_bot()
        left = {label for message in said for label in message.labels} - {ONLY_SHOWS}
        return not left and any(m.text.startswith(SHIPPED) for m in said)

    def _wants(self, message: Message) -> str:
        """Return the button to press on a message, if there is one not pressed before."""
        if CORRECT in message.labels and not self._corrected:
            self._corrected = True
            self._first(message.id, _data(message, "Ship"))
            return CORRECT
        for label in message.labels:
            if label in YES and self._first(message.id, _data(message, label)):
                return label
        return ""

    def _first(self, message: int, what: str) -> bool:
        if (message, what) in self._done:
            return False
        self._done.add((message, what))
        return True


def _data(message: Message, label: str) -> str:
    """Return a button's data, which tells a new question on the same message from the old one."""
    return next((button.value for button in message.buttons if button.label == label), "")


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
