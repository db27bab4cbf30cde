"""The owner's PIN as it is set, changed, taken away and judged.

What was typed is never kept, logged or written down: it is compared with its slow hash and let go of.
Neighbours: rules/pin.py (how many wrong ones are taken), engine/pins.py (the hash), taps.py (buttons
that take it), bot/pin_pad.py (where it is typed).
"""

from __future__ import annotations

import asyncio
from typing import Final

from engine import pins
from engine.asker import BOX, asker
from engine.errors import Refused
from engine.requests.inside import Inside
from engine.rules import pin as pin_rule
from engine.rules.events import PinOff, PinRight, PinSet, PinTried, PinWrong

FIRST: Final = "That takes the PIN: tap it again, and type it on the pad."
NONE_SET: Final = "No PIN is set."
SET: Final = "PIN set: it is asked for before a push, before a key is used, and before what cannot be undone."
OFF: Final = "PIN off: what took it takes a tap again."
OWNER: Final = "owner"


class Pins(Inside):
    """Requests about the PIN."""

    async def pin_may_be(self, pin: str = "") -> str:
        """Refuse what set_pin would, before it is typed a second time."""
        pins.checked(pin)
        return ""

    async def set_pin(self, pin: str, old: str = "", cause: str = "") -> dict[str, str]:
        """Set it, or with the old one another: {"verdict": words}; "wrong" where the old one is."""
        pins.checked(pin)
        if self._owner().pin.kept and (wrong := await self._wrong_pin(old, cause)):
            return {"verdict": wrong, "wrong": "pin"}
        salted = await asyncio.to_thread(pins.salted, pin)
        await self._loop.post(OWNER, PinSet(salted=salted), cause)
        return {"verdict": SET}

    async def pin_off(self, pin: str = "", cause: str = "") -> dict[str, str]:
        """Take it away; at the box whoever has forgotten it may."""
        if not self._owner().pin.kept and not await self._ledger.knows(cause):
            raise Refused(NONE_SET)
        who = asker()
        at_box = who is not None and who.who == BOX
        if not at_box and (wrong := await self._wrong_pin(pin, cause)):
            return {"verdict": wrong, "wrong": "pin"}
        await self._loop.post(OWNER, PinOff(at_box=at_box), cause)
        return {"verdict": OFF}

    async def _wrong_pin(self, pin: str, cause: str) -> str:
        """Judge what was typed: "" where it is right or none is set, else what the owner is told.

        The try is counted first: an engine that dies over it has counted a wrong one.
        """
        kept = self._owner().pin.kept
        if not kept:
            return ""
        if not pin:
            raise Refused(FIRST)
        await self._loop.post(OWNER, PinTried(), f"{cause}.pin")
        if await asyncio.to_thread(pins.fits, kept, pin):
            await self._loop.post(OWNER, PinRight(), f"{cause}.right")
            return ""
        await self._loop.post(OWNER, PinWrong(), f"{cause}.wrong")
        now = self._owner()
        if now.locked_at:
            return "Wrong PIN. Everything is locked now: quarterdeck unlock at the box."
        shut = pin_rule.shut_s(now.pin, self._clock())
        if shut > 0:
            raise Refused(f"Wrong PIN. {pin_rule.SHUT.format(pin_rule.in_words(shut))}")
        left = pin_rule.left(now.pin)
        return f"Wrong PIN. {left} {'try' if left == 1 else 'tries'} left."
