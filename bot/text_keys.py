"""What /keys says: the vault's names, never a value.

Pure wording; key_panel.py reads and asks. Neighbour: text_fleet.py, which says what an account signs in by.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from bot.entities import Builder, one_line
from bot.panels import mark
from bot.text_buttons import side_by_side
from bot.text_sheet import Button, Words, count
from engine.moments import gone_by
from engine.views import KeyView

PAGE = 8
LIST = Button("← Keys", "list")
BACK = Button("← Back", "back")


def listed(
    views: Sequence[KeyView], page: int = 0, zone: tzinfo | None = None, now: float = 0.0
) -> Words:
    """Return a page of what the vault keeps, a button for each."""
    sheet = Builder()
    if not views:
        sheet.line("The vault is empty", "bold")
        sheet.line("Paste a key here: it is sealed, deleted from the chat and kept by its name.")
        return Words(sheet.done())
    last = (len(views) - 1) // PAGE
    page = min(page, last)
    shown = views[page * PAGE : (page + 1) * PAGE]
    sheet.line(f"{count(len(views), 'key')} in the vault", "bold")
    for view in shown:
        sheet.line().line(one_line(view.name, 80), "bold").line(_standing(view, zone, now))
    sheet.line().line("No value is ever shown.", "italic")
    buttons = [Button(one_line(view.name, 28), f"key-{mark(view.name)}") for view in shown]
    turns = [Button("← Earlier", f"page-{page - 1}")] if page else []
    turns += [Button("Later →", f"page-{page + 1}")] if page < last else []
    return Words(sheet.done(), side_by_side(buttons, 2) + side_by_side(turns, 2))


def _standing(view: KeyView, zone: tzinfo | None, now: float) -> str:
    if view.refused:
        return "⚠ cannot be opened"
    used = f"used {gone_by(view.used_at, now, zone)}" if view.used_at else "never used"
    odd = " · ⚠ an older value is damaged" if view.damaged else ""
    return f"{where(view.scope)} · version {view.version} · {used}{odd}"


def where(scope: str) -> str:
    """Return where a key may be used."""
    kind, _, name = scope.partition("/")
    return f"{kind} {one_line(name, 60)} only" if scope else "everywhere"


def one(view: KeyView, zone: tzinfo | None = None, now: float = 0.0) -> Words:
    """Show one key, all but its value."""
    sheet = Builder().line(one_line(view.name, 80), "bold")
    if view.refused:
        sheet.line(f"⚠ {one_line(view.refused, 300)}")
    else:
        sheet.line(f"Where: {where(view.scope)}")
        sheet.line(f"Version {view.version}, kept {gone_by(view.kept_at, now, zone)}")
        used = gone_by(view.used_at, now, zone) if view.used_at else "never"
        sheet.line(f"Last used: {used}")
    if view.versions > 1:
        sheet.line(f"{count(view.versions - 1, 'older value')} kept until you forget it")
    if view.damaged:
        damaged = ", ".join(map(str, view.damaged))
        sheet.line(f"⚠ Changed on disk, and never used: version {damaged}")
    if view.account:
        sheet.line(f"Signs account {one_line(view.account, 40)} in: /accounts")
        return Words(sheet.done(), ((LIST,),))
    first = () if view.refused else (Button("Where…", "scope"),)
    return Words(sheet.done(), ((*first, Button("Forget…", "forget", "danger")), (LIST,)))


def scopes(view: KeyView, known: Sequence[str]) -> Words:
    """Ask where a key may be used."""
    sheet = Builder().line(f"Where may {one_line(view.name, 80)} be used?", "bold")
    sheet.line(f"Now: {where(view.scope)}")
    buttons = [
        Button(f"{'✓ ' if scope == view.scope else ''}{where(scope)}"[:40], f"at-{mark(scope)}")
        for scope in known
    ]
    return Words(sheet.done(), (*side_by_side(buttons[:40], 2), (BACK,)))


def forgetting(view: KeyView) -> Words:
    """Ask once more before a key is gone."""
    sheet = Builder().line(f"Forget {one_line(view.name, 80)}?", "bold")
    values = count(max(view.versions, 1), "value")
    sheet.line(f"{values} overwritten on the disk. Backups from before still hold it, closed.")
    sheet.line("What needs it fails until you paste it again.")
    return Words(sheet.done(), ((Button("Forget", "gone", "danger"), BACK),))
