"""What a new owner reads first: that they command, and what to do next. Pure wording, as text.py's."""

from bot.entities import Builder
from bot.text_sheet import Words

TOO_LATE = (
    "That link is no good any more: it works once, for 15 minutes. On the box, quarterdeck setup "
    "--pair prints a new one."
)
TRIED = (
    "Too many wrong codes came from this account of yours, so its link does not count. On the box, "
    "quarterdeck setup --pair prints a new one."
)


FIRST_STEPS = "Give a goal: /new, or just write it here. /help lists what can be said."


def welcome(*, projects: bool, accounts: bool) -> Words:
    """Return the answer to /start: the next step is the first thing that is missing."""
    sheet = Builder().line("You command this box; nobody else is answered.", "bold")
    if not accounts:
        sheet.line().line("Next, say which agent works for you:")
        sheet.line("/accounts add main claude")
    if not projects:
        sheet.line().line("Then add a project:" if not accounts else "Next, add a project:")
        sheet.line("/projects add NAME PATH_OR_URL")
    if projects and accounts:
        sheet.line().line("Give a goal: /new, or just write it here. A lead plans it first.")
    sheet.line().line("/help lists what can be said.")
    return Words(sheet.done())
