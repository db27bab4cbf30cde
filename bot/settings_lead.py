"""One lead's settings panel: mode, who starts its plans, model, where its next workers may run.

Part of settings.py. The engine's rule (engine/rules/goal_settings.py) says what is possible.
"""

import msgspec

from bot import text_settings
from bot.panels import At, Then, marked, verdict
from bot.text import Words
from engine.errors import Refused
from engine.views import LeadSettings

PAGES = ("mode", "go", "model", "limit", "machines")


class LeadPanel:
    """Panels `settings-<goal>`."""

    async def words(self, at: At) -> Words:
        lead = await _read(at)
        if lead.over:
            raise Refused(lead.over)
        match at.page:
            case "mode":
                unfenced = [m.name for m in lead.machines if m.ticked and not m.fenced]
                return text_settings.mode(lead.mode, lead.modes, unfenced)
            case "go":
                return text_settings.go(lead.go)
            case "model":
                return text_settings.model(lead.model, lead.models, text_settings.FOR_THIS_LEAD)
            case "limit":
                return text_settings.limit(lead.after_limit, lead.default_limit)
            case "machines":
                return text_settings.machines(lead)
            case _:
                return text_settings.lead(lead)

    async def press(self, at: At, verb: str, line: str) -> Then:
        if verb in PAGES:
            return Then(page=verb)
        what, _, value = verb.partition("-")
        page = ""
        match what:
            case "type" if at.page == "model":
                if not line:
                    return Then(prompt=text_settings.MODEL)
                what, value = "model", line
            case "mode" | "go" | "limit":
                pass
            case "model" if value != "off":
                lead = await _read(at)
                value = marked(value, (lead.model, *lead.models))
            case "model":
                pass
            case "tick" | "untick":
                value = marked(value, [machine.name for machine in (await _read(at)).machines])
                page = "machines"  # several are ticked in a row
            case _:
                return Then()
        done = await at.do("change_lead", goal=at.about, what=what, value=value)
        return Then(said=verdict(done), page=page)


async def _read(at: At) -> LeadSettings:
    found = await at.ask("lead_settings", goal=at.about)
    return msgspec.convert(msgspec.to_builtins(found), LeadSettings)
