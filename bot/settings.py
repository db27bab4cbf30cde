"""The settings panels: what the owner set for themself, changed by buttons or a typed value.

    /settings -> the page of all -> a page of each -> one call of the engine -> the page of all

text_settings.py words them; the engine's rules (engine/rules/owner.py) say what is possible.
"""

import time
from collections.abc import Callable

import msgspec

from bot import text_settings, zones
from bot.panels import At, Then, marked, verdict
from bot.text import Words
from engine.views import OwnerView

PAGES = ("quiet", "zone", "heartbeat")
TYPED = {
    "quiet": text_settings.QUIET,
    "zone": text_settings.ZONE,
    "heartbeat": text_settings.HEARTBEAT,
}


class OwnerSettings:
    """The owner's own settings.

    wall   Unix seconds: zones are told apart by what their clocks show
    """

    name = "settings"

    def __init__(
        self, *, wall: Callable[[], float] = time.time, here: Callable[[], str] = zones.here
    ) -> None:
        self._wall = wall
        self._here = here

    async def words(self, at: At) -> Words:
        owner = msgspec.convert(msgspec.to_builtins(await at.ask("settings")), OwnerView)
        match at.page:
            case "quiet":
                return text_settings.quiet(owner)
            case "zone":
                return text_settings.zone(owner, self._here(), self._wall())
            case "heartbeat":
                return text_settings.heartbeat(owner)
            case _:
                return text_settings.owner(owner)

    async def press(self, at: At, verb: str, line: str) -> Then:
        if verb in PAGES:
            return Then(page=verb)
        if at.page not in PAGES:
            return Then()
        if verb == "type" and not line:
            return Then(prompt=TYPED[at.page])
        kind, _, value = verb.partition("-")
        match kind:
            case "type":
                value = line
            case "off":
                value = "off"
            case "zone":
                value = marked(value, (self._here(), *text_settings.ZONES))
            case "at":
                pass
            case _:
                return Then()
        return Then(said=verdict(await at.do("change_setting", name=at.page, value=value)))
