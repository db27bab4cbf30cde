"""What the card of an account's login says: why it needs one, the link to open, how it went.

Pure wording. The link and the code come from the agent's own program, so they are shown as what they are:
an address with its host named, and a code. Neighbours: text_card.py (the door), logins.py (what is asked).
"""

from __future__ import annotations

from urllib.parse import urlsplit

from bot.entities import Rich, one_line, tame
from bot.text_sheet import Sheet, capital, put, theirs
from engine.views import LoginCard

MINUTES = 15  # what a login is given (engine/adapters/sign_in.py)
TITLES = {
    "starting": "A login starts",
    "open": "Log in",
    "checking": "A login is checked",
    "failed": "A login failed",
}
CODE = (
    "When the page of {name} shows a code, paste it as a reply to this message. It is deleted from the "
    "chat at once, and typed into the login."
)
CODE_FIELD = "The code, and nothing else"
CODE_OF = "the code for {name}"  # how it is called where it is said that it was deleted
CODE_USED = (
    "That question is over: what you sent now was deleted and not used. Another code: Code… on the card, "
    "or Try again."
)
CODE_AS_TEXT = "Send the code as text, not as a file. What you sent was deleted."


def over(account: str) -> str:
    """What stands where a login's card was, link and all."""
    of = f" of {one_line(account, 40)}" if account else ""
    return (
        f"The login{of} is over: its link and code are good no more. /accounts shows how it stands."
    )


def title(card: LoginCard) -> str:
    return TITLES.get(card.stage, "An account needs a login")


def login(card: LoginCard, sheet: Sheet) -> None:
    sheet.line(f"{capital(one_line(card.agent, 30))} · {one_line(card.account, 40)}", "bold")
    match card.stage:
        case "needed":
            sheet.fact(theirs(card.why, 600))
            if "log_in" in card.buttons:
                sheet.line("Log in: its own login runs, and you get a link to open.")
            if "token" in card.buttons:
                sheet.line("Token: you have one, and paste it.")
        case "starting":
            sheet.line(f"It starts on {one_line(card.machine, 40)}. Its link comes here.")
        case "open":
            _open(card, sheet)
        case "checking":
            sheet.line("What you sent was typed in. Now it is its turn.")
        case _:
            why = theirs(capital(card.why).rstrip("."), 300)
            sheet.rich(put(why, ". Try again begins anew.")).line()
            sheet.foreign("Its last line:", Rich(tame(card.words)), "login.txt")


def _open(card: LoginCard, sheet: Sheet) -> None:
    if card.link:
        host = urlsplit(card.link).hostname or "?"
        sheet.line(f"Open this page of {one_line(host, 100)} and sign in:")
        sheet.line(one_line(card.link, 2000))
    if card.strange:
        sheet.line(
            f"⚠ {capital(one_line(card.agent, 30))} is not known to use that address. Be sure."
        )
    if card.code:
        sheet.add("Type there: ").add(one_line(card.code, 40), "code").line()
    if card.asks_back or card.types_back:
        sheet.line(
            "The code it shows you: paste it as a reply to my question below, or press Code…"
        )
    where = f"It runs on {one_line(card.machine, 40)}, in a fence that shows it nothing else"
    if card.unfenced:
        where = f"⚠ It runs on {one_line(card.machine, 40)} outside a fence"
    sheet.line(f"{where}, for {MINUTES} minutes at most.")
