"""The panel of the keys the vault keeps: what each is for, and a way to have it forgotten.

    keys ─> all of them ─> one ─> Where…, Forget?       pages: a number, k…, s…, f…

A page is a letter and the mark of a name (panels.py). text_keys.py words it; engine/requests/keys.py does
what is said. No value is ever here: a key is given by pasting it, and comes back to nobody.
"""

from __future__ import annotations

import msgspec

from bot import text_keys
from bot.panels import At, Then, mark, marked, verdict
from bot.text import Words
from engine.views import KeyView, MachineView, ProjectView


class KeyPanel:
    """What the vault keeps."""

    name = "keys"

    async def words(self, at: At) -> Words:
        views = await _views(at)
        if not at.page or at.page.isdigit():
            return text_keys.listed(views, int(at.page or 0), at.zone, at.now)
        view = _one(at, views)
        if at.page[0] == "f":
            return text_keys.forgetting(view)
        if at.page[0] == "s":
            return text_keys.scopes(view, await _scopes(at))
        return text_keys.one(view, at.zone, at.now)

    async def press(self, at: At, verb: str, line: str) -> Then:
        kind, _, about = verb.partition("-")
        match kind:
            case "list":
                return Then()
            case "page":
                return Then(page=about)
            case "key":
                return Then(page=f"k{about}")
            case "back" | "forget" | "scope":
                return Then(page={"back": "k", "forget": "f", "scope": "s"}[kind] + at.page[1:])
            case "gone":
                name = _one(at, await _views(at)).name
                return Then(said=verdict(await at.do("forget_key", name=name)))
            case "at":
                name = _one(at, await _views(at)).name
                scope = marked(about, await _scopes(at))
                said = verdict(await at.do("scope_key", name=name, scope=scope))
                return Then(said=said, page=f"k{at.page[1:]}")
            case _:
                return Then(page=at.page)


async def _views(at: At) -> list[KeyView]:
    return msgspec.convert(msgspec.to_builtins(await at.ask("keys")), list[KeyView])


def _one(at: At, views: list[KeyView]) -> KeyView:
    name = marked(at.page[1:], [view.name for view in views])
    return next(view for view in views if view.name == name)


async def _scopes(at: At) -> list[str]:
    """Return every scope there could be, everywhere first."""
    projects = msgspec.convert(msgspec.to_builtins(await at.ask("projects")), list[ProjectView])
    machines = msgspec.convert(msgspec.to_builtins(await at.ask("machines")), list[MachineView])
    there = [f"project/{view.name}" for view in projects]
    return ["", *there, *(f"machine/{view.name}" for view in machines)]


def page_of(name: str) -> str:
    """Return the page on which a key is looked at."""
    return f"k{mark(name)}"
