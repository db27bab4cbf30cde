"""The panel about groups: which are allowed, the link that allows one, and how one is taken away.

    owners ─> groups ─> Allow a group: a one-time link, shown once    Take away…

Neighbours: text_groups.py words it, engine/requests/groups.py does what is said, pin_pad.py asks for the PIN
before a link is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from bot import text_groups
from bot.panels import At, Then, marked, verdict
from bot.pin_pad import Pad, PinPad
from bot.text import LOCKED, Words
from engine.views import GroupEntry, OwnerView


class GroupPanel:
    """Where owners are heard. `link`: the address that puts us into a group, with a code."""

    name = "groups"

    def __init__(self, pads: PinPad, link: Callable[[str], str]) -> None:
        self._pads = pads
        self._link = link

    async def words(self, at: At) -> Words:
        groups = (await _owner(at)).groups
        if at.page.startswith("t"):
            return text_groups.taking(_one(groups, at.page[1:]))
        return text_groups.listed(groups)

    async def press(self, at: At, verb: str, line: str) -> Then:
        kind, _, about = verb.partition("-")
        match kind:
            case "owners":
                return Then(panel="owners")
            case "add" if (await _owner(at)).locked:
                return Then(said=LOCKED, alert=True)  # before the PIN is asked for
            case "add" if (await _owner(at)).pin:
                pad = Pad(text_groups.REASON, ("pin",), self._invite, back=self.name)
                return Then(panel=self._pads.open(pad, at.now))
            case "add":
                return Then(closed=verdict(await self._invite(at, {})), panel=self.name)
            case "take":
                return Then(page=f"t{about}")
            case "gone":
                one = _one((await _owner(at)).groups, at.page[1:])
                return Then(said=verdict(await at.do("take_group", chat=one.id)))
            case _:
                return Then()

    async def _invite(self, at: At, answers: dict[str, str]) -> Any:
        made = await at.do("invite_group", pin=answers.get("pin", ""))
        if not isinstance(made, dict) or made.get("wrong"):
            return made
        return {"verdict": text_groups.LINK.format(self._link(made["code"]))}


async def _owner(at: At) -> OwnerView:
    return msgspec.convert(msgspec.to_builtins(await at.ask("settings")), OwnerView)


def _one(groups: tuple[GroupEntry, ...], found: str) -> GroupEntry:
    number = marked(found, [str(one.id) for one in groups])
    return next(one for one in groups if str(one.id) == number)
