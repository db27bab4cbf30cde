"""The settings panels: the owner's own, one lead's, one project's, each in a message of its own.

    settings            the owner's: /settings in General
    settings-g-3        that lead's: /settings in its topic, or as a reply to its card
    settings-p1a2b3c4d  that project's: /settings shop, or its button on the owner's

A page a thing; what a button sets is one call of the engine, whose rules say what is possible.
text_settings.py words them, settings_lead.py and settings_project.py are the other two.
"""

import time
from collections.abc import Callable

import msgspec

from bot import text_settings, zones
from bot.panels import At, Then, marked, verdict
from bot.settings_lead import LeadPanel
from bot.settings_project import ProjectPanel, known
from bot.text import Words
from engine.views import OwnerView

NAMES = ("quiet", "zone", "heartbeat", "limit", "reserve", "mode", "go", "model", "backup")
OF_LEADS = ("limit", "mode", "go", "model")  # what in a session's topic is set for that one
TYPED = {
    "quiet": text_settings.QUIET,
    "zone": text_settings.ZONE,
    "heartbeat": text_settings.HEARTBEAT,
    "reserve": text_settings.RESERVE,
    "model": text_settings.MODEL,
}


class Settings:
    """All of them: which one is meant stands in the panel's id."""

    name = "settings"
    opens_on = "settings"  # the button of a session's card, whose id is its goal's

    def __init__(
        self, *, wall: Callable[[], float] = time.time, here: Callable[[], str] = zones.here
    ) -> None:
        self._owner = OwnerPanel(wall, here)
        self._lead = LeadPanel()
        self._project = ProjectPanel()

    async def words(self, at: At) -> Words:
        return await self._meant(at).words(at)

    async def press(self, at: At, verb: str, line: str) -> Then:
        return await self._meant(at).press(at, verb, line)

    def _meant(self, at: At) -> "OwnerPanel | LeadPanel | ProjectPanel":
        if at.about.startswith("g-"):
            return self._lead
        return self._project if at.about else self._owner


class OwnerPanel:
    """The owner's own settings, and how new goals begin.

    wall   Unix seconds: zones are told apart by what their clocks show
    """

    def __init__(self, wall: Callable[[], float], here: Callable[[], str]) -> None:
        self._wall = wall
        self._here = here

    async def words(self, at: At) -> Words:
        owner = await self._read(at)
        match at.page:
            case "quiet":
                return text_settings.quiet(owner)
            case "zone" | "first":
                first = at.page == "first"
                return text_settings.zone(owner, self._here(), self._wall(), first=first)
            case "heartbeat":
                return text_settings.heartbeat(owner)
            case "limit":
                return text_settings.limit(owner.after_limit)
            case "reserve":
                return text_settings.reserve(owner)
            case "backup":
                return text_settings.backup(owner)
            case "mode":
                return text_settings.mode(owner.mode, owner.modes)
            case "go":
                return text_settings.go(owner.go)
            case "model":
                return text_settings.model(owner.model, owner.models, text_settings.FOR_NEW_GOALS)
            case _:
                return text_settings.owner(owner, [view.name for view in await known(at)])

    async def _read(self, at: At) -> OwnerView:
        return msgspec.convert(msgspec.to_builtins(await at.ask("settings")), OwnerView)

    async def press(self, at: At, verb: str, line: str) -> Then:
        if verb in NAMES:
            return Then(page=verb)
        kind, _, value = verb.partition("-")
        if verb in ("rules", "pin", "owners"):
            return Then(panel=verb)
        if kind == "project":
            return Then(panel=f"settings-p{value}")
        if at.page == "first":
            return await self._first(at, kind, value, line)
        if at.page not in NAMES:
            return Then()
        match kind:
            case "type" if at.page in TYPED:
                if not line:
                    return Then(prompt=TYPED[at.page])
                value = line
            case "off":
                value = "off"
            case "zone":
                value = marked(value, (self._here(), *text_settings.ZONES))
            case "model" if value != "off":
                owner = await self._read(at)
                value = marked(value, (owner.model, *owner.models))
            case "on":
                value = marked(value, (await self._read(at)).backup_places)
            case "at" | "limit" | "reserve" | "mode" | "go" | "model":
                pass
            case _:
                return Then()
        said = verdict(await at.do("change_setting", name=at.page, value=value))
        return Then(said=said, page="backup" if at.page == "backup" else "")

    async def _first(self, at: At, kind: str, value: str, line: str) -> Then:
        """The time zone asked for at the first /start: then the question is over."""
        if kind == "type" and not line:
            return Then(prompt=text_settings.ZONE)
        if kind == "zone":
            line = marked(value, (self._here(), *text_settings.ZONES))
        elif kind != "type":
            return Then(page=at.page)
        await at.do("change_setting", name="zone", value=line)
        zone = (await self._read(at)).zone
        return Then(closed=text_settings.kept_zone(zone, self._wall()))
