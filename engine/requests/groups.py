"""Groups that an owner allows: the link for it, what becomes of it, and what Telegram tells of one.

Neighbours: rules/groups.py decides, owners.py does the same for owners, engine/pairing.py makes and judges
the code, bot/groups.py hears what happens in Telegram.
"""

from __future__ import annotations

from engine import pairing
from engine.errors import Refused
from engine.requests.owners import LINK_S, Owners, quotable, who_asks
from engine.requests.pins import OWNER
from engine.rules.events import GroupAllowed, GroupInvited, GroupLeft, GroupMoved, GroupTaken
from engine.views import GroupEntry

NOT_GOOD = {
    pairing.Judged.WRONG: "The code of that link is none of mine, or was used already.",
    pairing.Judged.LATE: "That link is too old: it is good for 10 minutes.",
    pairing.Judged.TRIED: "Too many wrong codes came from you: that link does not count.",
}
ANOTHER = "/settings, Owners, Groups makes another."


class Groups(Owners):
    """Requests about groups."""

    async def invite_group(self, pin: str = "", cause: str = "") -> dict[str, str]:
        """Make a one-time link that allows a group: {"verdict", "code"}; the code is shown once."""
        if wrong := await self._wrong_pin(pin, cause):
            return {"verdict": wrong, "wrong": "pin"}
        if not await self._loop.post(OWNER, GroupInvited(by=who_asks()), cause):
            raise Refused("That link was made already. For another, tap it again.")
        code = pairing.make(self._home, self._clock(), LINK_S, at=self._home.group_code)
        return {"verdict": "A link that is good once, for 10 minutes.", "code": code}

    async def group_allowed(
        self, chat: int, title: str, code: str, cause: str = ""
    ) -> dict[str, str]:
        """An owner sent the link's code in a group: {"verdict"}; refused where it is not good."""
        by = who_asks()
        if not by.isdigit():
            raise Refused("Only an owner's own message allows a group.")
        if chat not in {one.id for one in self.groups()}:
            at, now = self._home.group_code, self._clock()
            judged = pairing.judge(self._home, code, now, int(by), at=at)
            if judged is not pairing.Judged.RIGHT:
                raise Refused(f"{NOT_GOOD[judged]} {ANOTHER}")
            allowed = GroupAllowed(chat=chat, title=quotable(title), by=by)
            await self._loop.post(OWNER, allowed, cause)
            pairing.forget(self._home, at=at)
        return {"verdict": "allowed"}

    async def take_group(self, chat: int, cause: str = "") -> dict[str, str]:
        """Allow a group no more."""
        await self._loop.post(OWNER, GroupTaken(chat=chat, by=who_asks()), cause)
        return {"verdict": "Taken away: I leave it, and hear nobody there."}

    async def group_left(self, chat: int, cause: str = "") -> dict[str, str]:
        """Telegram says that we are in a group no more."""
        await self._loop.post(OWNER, GroupLeft(chat=chat), cause)
        return {"verdict": "noted"}

    async def group_moved(self, chat: int, to: int, cause: str = "") -> dict[str, str]:
        """Telegram says that a group goes by another number."""
        await self._loop.post(OWNER, GroupMoved(chat=chat, to=to), cause)
        return {"verdict": "noted"}

    def groups(self) -> tuple[GroupEntry, ...]:
        """The groups where owners are heard."""
        return tuple(
            GroupEntry(id=one.id, title=one.title, by=one.by)
            for one in self._owner().groups.allowed
        )
