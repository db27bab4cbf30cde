"""One project's settings panel: its base, its commands as decided (each can be taken back), its end.

Part of settings.py. A project's name is too long for a button, so its mark stands in the panel's id.
"""

import msgspec

from bot import text_settings
from bot.panels import At, Then, mark, marked, verdict
from bot.text import Words
from engine.views import ProjectView

NONE = ("none", "off", "-")
LISTED = "l"  # the page of who came from the list of all, and goes back to it
HOMES = {True: "← Projects", False: "← Settings"}
WORDS = {"allow": True, "refuse": False, "forget": None}


def panel_of(project: str) -> str:
    """Return the id of a project's panel."""
    return f"settings-p{mark(project)}"


async def known(at: At) -> list[ProjectView]:
    """Return all projects there are."""
    found = await at.ask("projects")
    return msgspec.convert(msgspec.to_builtins(found), list[ProjectView])


class ProjectPanel:
    """Panels `settings-p<mark of its name>`."""

    async def words(self, at: At) -> Words:
        view = await _read(at)
        if at.page.endswith("remove"):
            return text_settings.removing(view)
        return text_settings.project(view, home=HOMES[at.page == LISTED])

    async def press(self, at: At, verb: str, line: str) -> Then:
        listed = at.page.startswith(LISTED)
        page = LISTED if listed else ""
        if verb == "remove":
            return Then(page=f"{page}remove")
        if verb == "back" and at.page.endswith("remove"):
            return Then(page=page)
        if verb == "back":
            return Then(panel="projects" if listed else "settings")
        if verb == "rules":
            return Then(panel=f"rules-{at.about}")
        what, _, which = verb.partition("-")
        if what not in ("remove", "base", "check", "ports", *WORDS):
            return Then()
        if what == "ports" and not line:
            return Then(prompt=text_settings.PORTS)
        if what == "check" and not line:
            return Then(prompt=text_settings.CHECK)
        if what == "base" and not line:
            return Then(prompt=text_settings.BASE)
        view = await _read(at)
        if what == "remove":
            gone = verdict(await at.do("remove_project", name=view.name))
            return Then(closed=text_settings.removed(view.name, gone))
        if what == "check":
            text = "" if line.strip().lower() in NONE else line
            return Then(
                said=verdict(await at.do("set_check", name=view.name, text=text)), page=page
            )
        if what == "ports":
            return Then(
                said=verdict(await at.do("set_ports", name=view.name, text=line)), page=page
            )
        if what == "base":
            return Then(
                said=verdict(await at.do("change_base", name=view.name, base=line)), page=page
            )
        chosen = marked(which, map(text_settings.command_name, view.decided))
        kind, _, text = chosen.partition("\0")
        done = await at.do(
            "change_command", name=view.name, kind=kind, text=text, allowed=WORDS[what]
        )
        return Then(said=verdict(done), page=page)


async def _read(at: At) -> ProjectView:
    views = {view.name: view for view in await known(at)}
    return views[marked(at.about[1:], views)]
