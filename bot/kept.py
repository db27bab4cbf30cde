"""The panel of the rules kept by Always: what is allowed without a card, each with a way back.

    rules            of all projects: /settings rules, or its button on the owner's settings
    rules-p1a2b3c4d  of one project: the button on its own

text_kept.py words it; engine/rules/kept.py keeps the rules.
"""

import msgspec

from bot import text_kept
from bot.panels import At, Then, marked, verdict
from bot.settings_project import known
from bot.text import Words
from engine.views import RuleView


class KeptRules:
    """What the owner allowed for good, each with a way to take it back."""

    name = "rules"

    async def words(self, at: At) -> Words:
        names = [view.name for view in await known(at)] if at.about else []
        project = marked(at.about[1:], names) if at.about else ""
        found = msgspec.to_builtins(await at.ask("rules", project=project))
        views = msgspec.convert(found, list[RuleView])
        page = int(at.page) if at.page.isdigit() else 0
        return text_kept.listed(views, page, at.zone, of_one=bool(at.about))

    async def press(self, at: At, verb: str, line: str) -> Then:
        if verb == "back":
            return Then(panel=f"settings-{at.about}" if at.about else "settings")
        kind, _, number = verb.partition("-")
        if not number.isdigit():
            return Then(page=at.page)
        if kind == "page":
            return Then(page=number)
        said = verdict(await at.do("revoke_rule", number=int(number)))
        return Then(said=said, page=at.page)
