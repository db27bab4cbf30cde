"""The PIN's pad: a message with a button for each digit, and the page of the settings that sets one.

    a button that takes the PIN ─> pad ─ digits, OK ─> the engine judges ─> done | "2 tries left" | shut
    /settings, PIN ─> set, change, off ─> pad, once for each thing it asks

What a digit's button carries is drawn by lot for each pad and known to this process alone: neither a log,
nor the audit, nor what Telegram sends along with a tap says a digit. What was typed lives in memory, for
five minutes; a pad of before a restart is over and says so. Neighbours: taps.py opens it, text_pin.py
words it, engine/requests/pins.py judges.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from bot import text_pin
from bot.panels import At, Then, verdict
from bot.text import LOCKED, Words
from engine.api import saw
from engine.errors import Refused
from engine.views import AnyCard, OwnerView, sure

LASTS_S = 300.0
MOST_PADS = 20
LENGTHS = (4, 8)
Act = Callable[[At, dict[str, str]], Awaitable[Any]]


@dataclass
class Pad:
    """One pad that is open: what it asks, in turn, and what of it was typed."""

    reason: str
    asks: tuple[str, ...]
    act: Act
    shown: str = ""  # what stood on the card whose button asked for it
    back: str = ""  # the panel whose button did
    keys: dict[str, str] = field(default_factory=dict)  # a digit -> what its button carries
    typed: str = ""
    answers: dict[str, str] = field(default_factory=dict)
    heard: set[str] = field(default_factory=set)  # taps that were taken: each comes once
    told: str = ""
    at: float = 0.0
    judging: str = ""  # the OK that is judged: another meanwhile is a tap too many

    @property
    def stage(self) -> str:
        return self.asks[min(len(self.answers), len(self.asks) - 1)]

    def again(self, told: str = "") -> None:
        self.typed, self.told = "", told
        self.answers.clear()


class PinPad:
    """All pads that are open, and the page that opens some."""

    name = "pin"

    def __init__(self) -> None:
        self._pads: dict[str, Pad] = {}

    # ------------------------------------------------------------ opened by

    def for_card(self, card: AnyCard, verb: str, shown: str, now: float) -> str:
        """Open one for a card's button, as it stands at this revision; return the panel's id."""

        async def act(at: At, answers: dict[str, str]) -> Any:
            saw(shown)
            return await at.do(
                "tap",
                card=card.id,
                revision=card.revision,
                verb=sure(verb) if verb in card.twice else verb,
                pin=answers["pin"],
            )

        return self.open(Pad(text_pin.reason(card), ("pin",), act, shown), now)

    def open(self, pad: Pad, now: float) -> str:
        """Open a pad; return the panel's id."""
        drawn: set[str] = set()
        while len(drawn) < 10:
            drawn.add(f"k{secrets.token_hex(4)}")
        # By lot, not by the order in which they were drawn.
        pad.keys = dict(
            zip("0123456789", secrets.SystemRandom().sample(sorted(drawn), 10), strict=True)
        )
        pad.at = now
        while len(self._pads) >= MOST_PADS:
            self._pads.pop(next(iter(self._pads)))
        name = secrets.token_hex(4)
        self._pads[name] = pad
        return f"{self.name}-{name}"

    # ------------------------------------------------------------ as a panel

    async def words(self, at: At) -> Words:
        if not at.about:
            owner = msgspec.convert(msgspec.to_builtins(await at.ask("settings")), OwnerView)
            return text_pin.menu(owner.pin)
        pad = self._pad(at)
        return text_pin.pad(pad.reason, pad.stage, len(pad.typed), pad.keys, pad.told)

    async def press(self, at: At, verb: str, line: str) -> Then:
        if not at.about:
            return await self._menu(at, verb)
        try:
            pad = self._pad(at)
        except Refused as over:
            return Then(said=over.sentence, alert=True, closed=over.sentence)
        pad.at = at.now
        match verb:
            case text_pin.CANCEL:
                return self._close(at, text_pin.CANCELLED)
            case text_pin.OK:
                return await self._ok(at, pad)
            case _ if at.cause not in pad.heard and not pad.judging:
                pad.heard.add(at.cause)
                pad.told = ""
                digit = next((d for d, key in pad.keys.items() if key == verb), "")
                pad.typed = pad.typed[:-1] if verb == text_pin.ERASE else pad.typed + digit
                pad.typed = pad.typed[: LENGTHS[1]]
        return Then(said="●" * len(pad.typed))

    async def _menu(self, at: At, verb: str) -> Then:
        owner = msgspec.convert(msgspec.to_builtins(await at.ask("settings")), OwnerView)
        if owner.locked and verb in ("set", "change", "off"):
            return Then(said=LOCKED, alert=True)  # before the PIN is asked for
        match verb:
            case "settings":
                return Then(panel="settings")
            case "set":
                pad = Pad("For all owners of this box", ("new", "again"), _set, back=self.name)
            case "change":
                pad = Pad(
                    "For all owners of this box", ("old", "new", "again"), _set, back=self.name
                )
            case "off":
                pad = Pad("To take it away", ("old",), _off, back=self.name)
            case _:
                return Then()
        return Then(panel=self.open(pad, at.now))

    async def _ok(self, at: At, pad: Pad) -> Then:
        """Take what was typed for one thing; judged once all is there. Unavailable: pressed again."""
        if pad.judging not in ("", at.cause):
            return Then()
        if pad.typed:
            if not LENGTHS[0] <= len(pad.typed) <= LENGTHS[1]:
                return Then(said=text_pin.SHORT, alert=True)
            if pad.stage == "new" and (unfit := await _unfit(at, pad.typed)):
                pad.typed, pad.told = "", unfit
                return Then(said=unfit, alert=True)
            pad.answers[pad.stage] = pad.typed
            pad.typed, pad.told = "", ""
        if len(pad.answers) < len(pad.asks):
            return Then()
        answers = dict(pad.answers)
        if answers.get("again", "") != answers.get("new", ""):
            pad.again(text_pin.DIFFER)
            return Then(said=text_pin.DIFFER, alert=True)
        pad.judging = at.cause
        try:
            result = await pad.act(at, answers)
        except Refused as refusal:
            return self._close(at, refusal.sentence, alert=True)
        said, pad.judging = verdict(result), ""
        if isinstance(result, dict) and result.get("wrong"):
            pad.again(said)
            return Then(said=said, alert=True)
        return self._close(at, said)

    def _close(self, at: At, said: str, *, alert: bool = False) -> Then:
        pad = self._pads.pop(at.about, None)
        return Then(said=said, alert=alert, closed=said, panel=pad.back if pad else "")

    def _pad(self, at: At) -> Pad:
        pad = self._pads.get(at.about)
        if pad is None or not -LASTS_S < at.now - pad.at < LASTS_S:
            self._pads.pop(at.about, None)
            raise Refused(text_pin.OVER)
        return pad


async def _unfit(at: At, pin: str) -> str:
    """Return why no PIN may be this one, "" where it may."""
    try:
        await at.ask("pin_may_be", pin=pin)
    except Refused as refusal:
        return refusal.sentence
    return ""


async def _set(at: At, answers: dict[str, str]) -> Any:
    return await at.do("set_pin", pin=answers["new"], old=answers.get("old", ""))


async def _off(at: At, answers: dict[str, str]) -> Any:
    return await at.do("pin_off", pin=answers["old"])
