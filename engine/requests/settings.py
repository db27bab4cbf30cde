"""Settings: what the owner set for themself, for one lead, for a project; looked at and changed.

Neighbours: rules/owner.py, rules/goal_settings.py and rules/project.py decide; bot/settings*.py are the
panels that ask.
"""

from __future__ import annotations

import zoneinfo

from msgspec.structs import replace

from engine import alive, board
from engine.codec import whole
from engine.elsewhere import NO_CODE
from engine.errors import Refused, Unavailable
from engine.requests.groups import Groups
from engine.requests.now_set import now_set
from engine.rules import goal_settings, models, reserve
from engine.rules.events import (
    AfterLimitChosen,
    CommandChanged,
    GoalChanged,
    ProjectRebased,
    ReserveSet,
    SettingChanged,
)
from engine.rules.modes import MODES, UNFENCED
from engine.rules.owner import OFF
from engine.rules.words import BROUGHT, HERE, Command
from engine.views import LeadSettings, OwnerView, Ticked

SAID = {
    "mode": "Mode {}, from the next turn.",
    "model": "Model {}, from the next turn.",
    "tick": "{} is ticked.",
    "untick": "{} is not ticked any more.",
}
RESERVED = "Kept: {} % of every usage window is yours. New workers wait where less is left."
NO_RESERVE = "No reserve: new workers may use all of an account."
LIMIT = ("limit", "after_limit")
GOES = {
    "ask": "You start each plan.",
    "auto": "The lead may start its plans by itself.",
}


class Settings(Groups):
    """Requests about settings."""

    # ------------------------------------------------------------ the owner's own

    def owner(self) -> OwnerView:
        """What the bot says things by."""
        owner = self._owner()
        return OwnerView(
            zone=owner.zone,
            quiet=owner.quiet,
            after_limit=owner.after_limit,
            locked=bool(owner.locked_at),
            pin=bool(owner.pin.kept),
            owners=self.owners(),
            groups=self.groups(),
        )

    async def settings(self) -> OwnerView:
        """All the owner set, and what there is to choose."""
        owner = self._owner()
        accounts = self._fleet().accounts
        return replace(
            self.owner(),
            heartbeat=self._heartbeat(),
            mode=owner.mode,
            go=owner.go,
            model=owner.model,
            modes=MODES if self._fenced() else UNFENCED,
            models=models.KNOWN.get(accounts[0].agent, ()) if accounts else (),
            reserve=self._fleet().reserve,
            backup=self._backups(),
            backup_on=owner.backup_on,
            backup_why=self._not_copied(),
            backup_places=tuple(m.name for m in self._fleet().machines if m.address),
            backup_unfenced=tuple(
                m.name for m in self._fleet().machines if m.address and m.up and not m.fenced
            ),
        )

    async def change_setting(
        self, name: str, value: str, goal: str = "", cause: str = ""
    ) -> dict[str, str]:
        """Change one of the owner's settings, or with `goal` one of that lead's: {"verdict": words}."""
        value = value.strip()
        if goal:
            return await self.change_lead(goal, name, value, cause)
        if name == "reserve":
            return await self._keep_back(value, cause)
        if name == "mode":
            goal_settings.checked_mode(value, self._names(), self._fenced())
        elif name == "backup":
            self._may_keep_backups(value)
        elif value.lower() not in OFF:
            value = _looked_over(name, value)
        await self._loop.post("owner", SettingChanged(name=name, value=value), cause)
        # A heartbeat's URL is never shown: its preview would be a beat of nobody's heart.
        return {"verdict": now_set(name, self._owner(), self._heartbeat(), self._clock())}

    def _may_keep_backups(self, value: str) -> None:
        """Refuse what is no machine for a second copy, and copies that nobody could open."""
        if value.lower() in OFF or value == self._owner().backup_on:
            return
        if value == HERE:
            raise Refused("Backups lie on this machine already: name another one.")
        if value not in self._names():
            raise Refused(
                f"There is no machine {whole(value)}. /machines lists them, and adds one."
            )
        if not self._home.recovery.exists():
            raise Refused(NO_CODE)

    async def _keep_back(self, value: str, cause: str) -> dict[str, str]:
        """Set the reserve: it is the fleet that acts on it."""
        await self._loop.post("fleet", ReserveSet(value=value), cause)
        percent = reserve.chosen(value)
        return {"verdict": RESERVED.format(percent) if percent else NO_RESERVE}

    # ------------------------------------------------------------ one lead's

    async def lead_settings(self, goal: str) -> LeadSettings:
        """What is set for a lead, and what there is to choose."""
        found = self._goal(goal)
        ticked = [
            m for m in self._fleet().machines if not found.machines or m.name in found.machines
        ]
        return LeadSettings(
            goal=found.id,
            title=found.title,
            project=found.project,
            mode=found.mode,
            modes=MODES if any(machine.fenced for machine in ticked) else UNFENCED,
            go=found.go,
            model=found.model,
            models=models.KNOWN.get(found.account.agent, ()),
            machines=tuple(
                Ticked(machine.name, machine in ticked, machine.fenced, machine.up)
                for machine in self._fleet().machines
            ),
            after_limit=found.after_limit,
            default_limit=self._owner().after_limit,
            over="" if found.live else "That goal is over.",
        )

    async def change_lead(
        self, goal: str, what: str, value: str, cause: str = ""
    ) -> dict[str, str]:
        """Set something for a lead: {"verdict": words}."""
        value = value.strip()
        if what in LIMIT:
            how = "" if value.lower() in OFF else value
            await self._loop.post(self._goal(goal).stream, AfterLimitChosen(how=how), cause)
            return {"verdict": f"Kept for this goal: limit {how or 'as by default'}."}
        changed = GoalChanged(what=what, value=value, known=self._names(), fenced=self._fenced())
        await self._loop.post(self._goal(goal).stream, changed, cause)
        if what == "go":
            return {"verdict": GOES[value]}
        shown = value if models.named(value) or what != "model" else "of the agent's own choice"
        return {"verdict": SAID[what].format(shown)}

    def _names(self) -> tuple[str, ...]:
        return tuple(machine.name for machine in self._fleet().machines)

    def _fenced(self) -> tuple[str, ...]:
        return tuple(machine.name for machine in self._fleet().machines if machine.fenced)

    # ------------------------------------------------------------ a project's

    async def change_base(self, name: str, base: str, cause: str = "") -> dict[str, str]:
        """Have new goals of a project start from another branch: {"verdict": words}."""
        project = self._projects().get(name)
        if project is None:
            raise Refused(f"There is no project {name}. /projects lists them.")
        try:
            found = await self._hub.inspect(project.source, base.strip())
            await self._hub.bring(name, project.source, found.base)
        except Unavailable as away:  # asked for ever, it would hold up the chat
            raise Refused(f"{away.sentence}\nNothing was changed.") from away
        await self._loop.post(f"project/{name}", ProjectRebased(base=found.base), cause)
        return {"verdict": f"New goals in {name} start from {found.base}."}

    async def change_command(
        self, name: str, kind: str, text: str, allowed: bool | None, cause: str = ""
    ) -> dict[str, str]:
        """Give another word on a command that was decided; None: it is asked anew."""
        under_way = tuple(
            goal.id for goal in board.goals(self.world()) if goal.live and goal.project == name
        )
        changed = CommandChanged(command=Command(kind, text), allowed=allowed, goals=under_way)
        await self._loop.post(f"project/{name}", changed, cause)
        if kind == BROUGHT and allowed is False:
            return {"verdict": "Taken back: no session has it from its next turn on."}
        if allowed is None:
            return {"verdict": "Forgotten: the next goal that needs it asks."}
        return {"verdict": "Allowed from now on." if allowed else "Not run any more."}


def _looked_over(name: str, value: str) -> str:
    """Refuse what only this machine can know to be no time zone, or no URL; spell a zone right."""
    if name == "zone":
        known = {zone.lower(): zone for zone in zoneinfo.available_timezones()}
        if not known:
            raise Refused("This box has no time zones. Install its package tzdata.")
        if value.lower() not in known:
            raise Refused(f"{whole(value)!r} is no time zone. One is, say, Europe/Berlin.")
        return known[value.lower()]
    if name == "heartbeat" and not alive.usable(value):
        raise Refused("The heartbeat needs a URL that begins with https:// or http://.")
    return value
