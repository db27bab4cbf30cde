"""Ten ways in which an owner may send a key, each with a key of its own; and whether it is anywhere after.

Neighbours: everywhere.py (looks for them), test_ten_ways.py (with the rehearsal agent), and that of
tests/real_agents (with a real one).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

from bot.emulator import Emulator, Message, Phone
from tests.engine.everywhere import in_bytes, pieces, within
from tests.intake import planted

WAYS = (
    "a goal",
    "an answer",
    "a text",
    "a caption",
    "a document",
    "a file name",
    "an edited message",
    "a reply",
    "two messages",
    "two messages, the first large",
    "code",
)
QUESTION = "Which account pays for it?"
Shown = Callable[[Callable[[Message], object]], Awaitable[Message]]


def made(seed: int = 1) -> dict[str, str]:
    """Return a key for each way."""
    chance = Random(seed)
    return {way: planted.key("github", chance) for way in WAYS}


class Owner:
    """Sends each of the keys in its way, and waits until the message is gone."""

    def __init__(self, phone: Phone, shown: Shown, keys: dict[str, str]) -> None:
        self.phone = phone
        self.shown = shown
        self.keys = keys

    async def goal(self) -> None:
        await self._gone(
            *self.phone.send(f"/new shop Publish it with {self.keys['a goal']} tonight")
        )

    async def rest(self) -> None:
        """Send all others: first the answer to a question of the lead's, then lines for it."""
        card = await self.shown(lambda m: QUESTION in m.text and "Answer…" in m.labels)
        self.phone.tap(card, "Answer…")
        prompt = await self.shown(lambda m: m.asks_for_reply and m.id > card.id)
        await self._gone(*self.phone.reply(prompt, f"that of {self.keys['an answer']}"))
        phone, keys = self.phone, self.keys
        await self._gone(*phone.send(f"Use {keys['a text']} too"))
        where = await self.shown(lambda m: any(label.startswith("To: ") for label in m.labels))
        phone.tap(where, next(label for label in where.labels if label.startswith("To: ")))
        await self._gone(
            phone.document("a.bin", b"\0\1\2" * 99, caption=keys["a caption"], reply_to=card.id)
        )
        env = f"PORT=1\nGITHUB_TOKEN={keys['a document']}\n".encode()
        await self._gone(phone.document(".env", env, caption="settings", reply_to=card.id))
        name = f"{keys['a file name']}.txt"
        await self._gone(phone.document(name, b"hello", caption="look", reply_to=card.id))
        (line,) = phone.send("and soon", reply_to=card.id)
        phone.edit(line.id, f"and soon, with {keys['an edited message']}")
        await self._gone(line)
        await self._gone(*phone.send(f"with {keys['a reply']} I mean", reply_to=card.id))
        for way, cut in (("two messages", 11), ("two messages, the first large", 27)):
            first, second = keys[way][:cut], keys[way][cut:]
            halves = [*phone.send(f"take {first}", reply_to=card.id), *phone.send(second)]
            await self._gone(*halves)
        code = f"```sh\nexport GITHUB_TOKEN='{keys['code']}'\nmake publish\n```"
        await self._gone(*phone.send(code, reply_to=card.id))

    async def _gone(self, *sent: Message) -> None:
        for message in sent:
            await self.phone.until(lambda message=message: self.phone.message(message.id) is None)  # type: ignore[misc]


def found(folder: Path, keys: dict[str, str], emulator: Emulator, *written: str) -> list[str]:
    """Return where some of the keys are: on the disk, in the chat and what the bot asked for, in these."""
    said = "\n".join(str(message) for message in emulator.phone.messages())
    asked = "\n".join(str(call.params) for call in emulator.calls)
    spoken = "\n".join((said, emulator.phone.transcript(), asked, *written)).encode()
    words = [piece for key in keys.values() for piece in pieces(key)]
    return [
        *within(folder, words),
        *(f"said or logged: {form}" for form in in_bytes(spoken, words)),
    ]
