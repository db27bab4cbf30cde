"""Who commands here: the box's own owners and those they let in by a link; and whose goal is whose.

A goal's cards come to the owner who gave it; any other may look at all, and bring a goal into their own
chat. Neighbours: rules/owners.py decides, engine/pairing.py makes and judges the link, bot/owners.py shows it.
"""

from __future__ import annotations

from typing import Final

from engine import pairing
from engine.asker import asker
from engine.config import ConfigError, load
from engine.errors import Refused
from engine.requests.pins import OWNER, Pins
from engine.rules.events import GoalTaken, OwnerInvited, OwnerJoined, OwnerLeft
from engine.views import OwnerEntry

LINK_S: Final = 10 * 60.0
NAME_ROOM: Final = 40
JOINS: Final = "owner_joined"  # the one verb that is asked for by somebody who is no owner yet


class Owners(Pins):
    """Requests about owners."""

    async def invite_owner(self, pin: str = "", cause: str = "") -> dict[str, str]:
        """Make a one-time link for one more owner: {"verdict", "code"}; the code is shown once."""
        if wrong := await self._wrong_pin(pin, cause):
            return {"verdict": wrong, "wrong": "pin"}
        if not await self._loop.post(
            OWNER, OwnerInvited(by=who_asks(), by_guest=self._is_guest()), cause
        ):
            raise Refused("That link was made already. For another, tap Add again.")
        code = pairing.make(self._home, self._clock(), LINK_S)
        return {"verdict": "A link that is good once, for 10 minutes.", "code": code}

    async def owner_joined(
        self, owner: int, name: str, code: str, cause: str = ""
    ) -> dict[str, str]:
        """Somebody pressed a link: {"verdict"}; refused, for the log alone, where it is not good."""
        judged = pairing.judge(self._home, code, self._clock(), owner)
        if judged is not pairing.Judged.RIGHT:
            raise Refused(f"a link was pressed that is not good: {judged.value}")
        await self._loop.post(OWNER, OwnerJoined(owner=owner, name=quotable(name)), cause)
        pairing.forget(self._home)
        return {"verdict": "joined"}

    async def remove_owner(self, owner: int, cause: str = "") -> dict[str, str]:
        """Take an owner out who was let in by a link."""
        left = OwnerLeft(
            owner=owner,
            by=who_asks(),
            of_the_box=owner in self._of_the_box(),
            by_guest=self._is_guest(),
        )
        await self._loop.post(OWNER, left, cause)
        if self._owner().owners.invited_by == str(owner):
            pairing.forget(self._home)  # nobody comes in by the link of one who was taken out
        return {"verdict": "Removed: they are a stranger here from now on."}

    async def take_goal(self, goal: str, cause: str = "") -> dict[str, str]:
        """Have a goal's cards come into the chat of whoever asks."""
        whose = who_asks()
        if not whose.isdigit():
            raise Refused("Only from a chat can a goal be brought into it.")
        found = self._goal(goal)
        await self._loop.post(found.stream, GoalTaken(whose=whose), cause)
        return {"verdict": "It comes into this chat."}

    def owners(self) -> tuple[OwnerEntry, ...]:
        """Who commands, the box's own first; () where config.toml is not there to tell."""
        box = self._of_the_box()
        if not box:
            return ()
        own = [OwnerEntry(id=one, of_the_box=True) for one in box]
        joined = [one for one in self._owner().owners.joined if one.id not in box]
        return (*own, *(OwnerEntry(id=one.id, name=one.name, at=one.at) for one in joined))

    def no_owner(self, verb: str) -> bool:
        """Whether whoever asks was an owner once and is none now: the bot may not have heard yet."""
        who = who_asks()
        known = self.owners()
        return bool(
            verb != JOINS and known and who.isdigit() and int(who) not in {one.id for one in known}
        )

    def _is_guest(self) -> bool:
        who = who_asks()
        return who.isdigit() and int(who) not in self._of_the_box()

    def _of_the_box(self) -> tuple[int, ...]:
        try:
            return load(self._home).owner_ids
        except ConfigError:
            return ()


def who_asks() -> str:
    """Return the number of the owner who asks; "" where nobody is known to."""
    found = asker()
    return found.who if found is not None else ""


def quotable(name: str) -> str:
    """Return a name that somebody gave themself or a group, short, and unable to end a quote of ours."""
    return " ".join(name.replace("“", "'").replace("”", "'").split())[:NAME_ROOM]
