"""The person at the phone who wants it all: presses what waits, each button once, and corrects once.

What they see is the chat alone. Neighbours: scenario.py (the owner without a bot), tests/soak/crew.py and
tests/walk/with_bot.py (whose phone it is).
"""

from __future__ import annotations

from bot.emulator import Message, Phone
from tests.engine.scenario import CORRECTION

YES = ("Allow", "Start", "Ship", "Proceed", "Push")
CUT_OFF = "Cut off: "
PATIENCE_S = 600.0


class Person:
    """Does one thing for each message that asks one."""

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._pressed: set[str] = set()
        self._corrected = False

    async def own(self) -> None:
        """Go on for as long as anybody asks."""
        while True:
            message, label = await self._phone.until(self._next_step, PATIENCE_S)
            if label:
                self._phone.tap(message, label)
            else:
                self._corrected = True
                self._phone.reply(message, CORRECTION)

    def _next_step(self) -> tuple[Message, str] | None:
        for message in self._phone.from_bot():
            if message.asks_for_reply and not self._corrected:
                return message, ""
            for button in message.buttons:
                wanted = button.label in YES
                if button.label == "Retry" and CUT_OFF in message.text:
                    wanted = (
                        True  # a check that was cut off twice in a row is the owner's to go on with
                    )
                if button.label == "Ship" and "Corrected once" not in message.text:
                    continue
                if button.label == "Correct…" and not self._corrected:
                    wanted = True
                if wanted and button.value not in self._pressed:
                    self._pressed.add(button.value)
                    return message, button.label
        return None
