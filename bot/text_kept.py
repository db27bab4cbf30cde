"""What the list of the rules kept by Always says.

Pure wording; kept.py reads, and revokes.
"""

from collections.abc import Sequence
from datetime import tzinfo

from bot import text_rules
from bot.entities import Builder, visible
from bot.text_buttons import side_by_side
from bot.text_sheet import Button, Words
from engine.moments import clock
from engine.views import RuleView

PAGE = 8  # rules to a page: each may be a command of some lines


def listed(
    views: Sequence[RuleView], page: int = 0, zone: tzinfo | None = None, *, of_one: bool = False
) -> Words:
    """Return a page of what is kept, a button for each to take it back."""
    sheet = Builder()
    home = ((Button("← Project" if of_one else "← Settings", "back"),),)
    if not views:
        sheet.line("No rule is kept", "bold")
        sheet.line("Always on a permission's card keeps one: it is then answered without a card.")
        return Words(sheet.done(), home)
    last = (len(views) - 1) // PAGE
    page = min(page, last)
    shown = views[page * PAGE : (page + 1) * PAGE]
    sheet.line("Allowed by your rules", "bold")
    for view in shown:
        sheet.line().line(f"{view.number}. {text_rules.about(view)}")
        if view.rule.kind in ("command", "keyed"):
            sheet.add(visible(view.rule.command), "pre").line()
        since = f" · last at {clock(view.used_at, zone)}" if view.used and view.holds else ""
        sheet.line(f"{text_rules.used(view)}{since}", "italic")
    sheet.line().line("Revoke has it asked for again.")
    buttons = [Button(f"Revoke {view.number}", f"revoke-{view.number}") for view in shown]
    turns = [Button("← Earlier", f"page-{page - 1}")] if page else []
    turns += [Button("Later →", f"page-{page + 1}")] if page < last else []
    return Words(sheet.done(), side_by_side(buttons, 3) + side_by_side(turns, 2) + home)
