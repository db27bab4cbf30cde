"""Panels about who commands here: the owners, and a goal that is in another one's chat.

    owners ─> Add: a one-time link, shown once    Remove…    Groups ─> groups    Bring here: a goal ─> take-g-3

Neighbours: text_owners.py words them, engine/requests/owners.py does what is said, pin_pad.py asks for the
PIN before a link is made, group_panel.py is about groups, cards.py brings a goal's cards into the other chat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from bot import text_owners
from bot.panels import At, Then, marked, verdict
from bot.pin_pad import Pad, PinPad
from bot.text import LOCKED, Words
from engine.api import asked_by
from engine.errors import Refused
from engine.views import OwnerEntry, OwnerView, SessionCard


class OwnersPanel:
    """Who commands. `link`: the address that a code is pressed by."""

    name = "owners"

    def __init__(self, pads: PinPad, link: Callable[[str], str]) -> None:
        self._pads = pads
        self._link = link

    async def words(self, at: At) -> Words:
        owners = (await _owner(at)).owners
        if at.page.startswith("r"):
            return text_owners.removing(_one(owners, at.page[1:]), asked_by())
        me = asked_by()
        first = str(owners[0].id) if owners else ""
        others = [
            card
            for card in at.live()
            if isinstance(card, SessionCard) and not card.decided and (card.whose or first) != me
        ]
        return text_owners.listed(owners, others if len(owners) > 1 else [], me)

    async def press(self, at: At, verb: str, line: str) -> Then:
        kind, _, about = verb.partition("-")
        match kind:
            case "settings" | "groups":
                return Then(panel=kind)
            case "add" if (await _owner(at)).locked:
                return Then(said=LOCKED, alert=True)  # before the PIN is asked for
            case "add" if (await _owner(at)).pin:
                pad = Pad(text_owners.REASON, ("pin",), self._invite, back=self.name)
                return Then(panel=self._pads.open(pad, at.now))
            case "add":
                return Then(closed=verdict(await self._invite(at, {})), panel=self.name)
            case "remove":
                return Then(page=f"r{about}")
            case "gone":
                one = _one((await _owner(at)).owners, at.page[1:])
                return Then(said=verdict(await at.do("remove_owner", owner=one.id)))
            case "take":
                return Then(panel=f"take-{about}")
            case _:
                return Then()

    async def _invite(self, at: At, answers: dict[str, str]) -> Any:
        made = await at.do("invite_owner", pin=answers.get("pin", ""))
        if not isinstance(made, dict) or made.get("wrong"):
            return made
        return {"verdict": text_owners.LINK.format(self._link(made["code"]))}


class Take:
    """A goal that another owner has the cards of."""

    name = "take"

    async def words(self, at: At) -> Words:
        card = at.card(at.about)
        if not isinstance(card, SessionCard):
            raise Refused(text_owners.NO_MORE)
        owners = (await _owner(at)).owners
        whose = card.whose or (str(owners[0].id) if owners else "")
        known = next((one for one in owners if str(one.id) == whose), None)
        return text_owners.taking(card, text_owners.called(known, whose))

    async def press(self, at: At, verb: str, line: str) -> Then:
        if verb != "bring":
            return Then(closed=text_owners.LEFT)
        return Then(closed=verdict(await at.do("take_goal", goal=at.about)))


async def _owner(at: At) -> OwnerView:
    return msgspec.convert(msgspec.to_builtins(await at.ask("settings")), OwnerView)


def _one(owners: tuple[OwnerEntry, ...], found: str) -> OwnerEntry:
    number = marked(found, [str(one.id) for one in owners])
    return next(one for one in owners if str(one.id) == number)
