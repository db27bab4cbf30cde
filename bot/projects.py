"""The panel of all projects: a button leads to each one's settings, another adds one.

settings_project.py is what a button leads to; a repository that is added gets a card of its own, which
the engine keeps (engine/rules/adding.py).
"""

from __future__ import annotations

from msgspec.structs import replace

from bot import text, text_places, text_settings
from bot.entities import one_line
from bot.panels import At, Then, mark, marked
from bot.settings_project import LISTED, known, panel_of
from bot.text import Button, Words, side_by_side
from engine.errors import Refused


def wanted(line: str) -> dict[str, str]:
    """Return what is asked of the engine for `NAME PATH_OR_URL [BASE]`."""
    match line.split():
        case [name, source]:
            return {"name": name, "source": source, "base": ""}
        case [name, source, base]:
            return {"name": name, "source": source, "base": base}
        case _:
            raise Refused(text_places.PROJECTS_USAGE)


class Projects:
    """All repositories the owner gave us."""

    name = "projects"

    async def words(self, at: At) -> Words:
        views = await known(at)
        buttons = [Button(one_line(view.name, 30), f"p-{mark(view.name)}") for view in views]
        rows = (*side_by_side(buttons, 2), (Button("Add…", "add"),))
        return replace(text.projects(views)[0], buttons=rows)

    async def press(self, at: At, verb: str, line: str) -> Then:
        what, _, which = verb.partition("-")
        if what == "add" and not line:
            return Then(prompt=text_settings.PROJECT)
        if what == "add":
            await at.do("want_project", **wanted(line))
            return Then()
        if what == "p":
            name = marked(which, [view.name for view in await known(at)])
            return Then(panel=panel_of(name), page=LISTED)
        return Then()
