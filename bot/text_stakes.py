"""What a request puts at stake, in one line each, and the two buttons of the second tap.

Pure wording, as text.py's. Names are the agent's own and stand quoted. Neighbours: text_asks.py puts the
lines on cards, taps.py shows the second tap; engine/rules/stakes.py is what finds them.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.masks import masked
from bot.text_buttons import option_words
from bot.text_sheet import Button, Sheet, Words
from engine.rules.unseen import in_quotes
from engine.views import AnyCard, QuestionCard, Stake, sure

BACK = "back"
STAYS = "cannot be undone"
ASKS = {
    "spend": "Leave to spend money?",
    "account": "Leave to open an account?",
    "irreversible": "Leave for what cannot be undone?",
}


def lines(stakes: Sequence[Stake], sheet: Sheet) -> None:
    """Say what cannot be undone, so that it is read before what is asked."""
    for stake in stakes:
        sheet.line(f"⚠ {line(stake)}", "bold")


def hidden(command: str, sheet: Sheet) -> None:
    """Say where the last net (masks.py) will have dots instead: two commands must not look alike unsaid."""
    if masked(command) != command:
        sheet.line("• part of it looks like a key and is hidden", "bold")


def line(stake: Stake) -> str:
    """Return what one stake is, ours but for the names in it."""
    names = [in_quotes(name, 80) for name in stake.names]
    first = names[0] if names else ""
    last = names[-1] if names else ""
    on = f" on {first}" if len(names) > 1 else ""
    match stake.what:
        case "force push":
            what = last if len(names) > 1 else "a branch"
            return f"Overwrites {what}{on or _on(first)}: what it replaces is gone for all"
        case "branch there":
            return f"Deletes branch {last}{on}: {STAYS}"
        case "tag there":
            return f"Deletes tag {last}{on}: {STAYS}"
        case "branch here":
            return f"Deletes branch {', '.join(names)}: commits that are nowhere else are lost"
        case "tag here":
            return f"Deletes tag {', '.join(names)}: {STAYS}"
        case "push":
            what = f" {last}" if len(names) > 1 else ""
            to = f" to {first}" if first else ""
            return f"Pushes{what}{to}, past Ship and its check: what is out {STAYS}"
        case "publishes":
            return f"Publishes ({first}): what others have fetched {STAYS}"
        case "mail":
            return f"Sends mail: {STAYS}"
        case "sends":
            to = f" to {last}" if len(names) > 1 else ""
            return f"Sends data out{to} ({first}): {STAYS}"
        case "cloud":
            return f"Changes a cloud ({first}): it may cost money, and {STAYS}"
        case "code host":
            return f"Changes things at the code host ({first}), seen by others: {STAYS}"
        case "data":
            return f"Deletes data ({first}): {STAYS}"
        case "disk":
            return f"Overwrites a disk ({first}): {STAYS}"
        case "files":
            return f"Deletes what may lie outside its tree ({first}): {STAYS}"
        case "files there":
            return f"Deletes files on another machine ({first}): {STAYS}"
        case "tree":
            return "Deletes the whole of its tree: work in it that is nowhere else is lost"
        case "statements":
            return (
                f"Runs statements that stand elsewhere ({first}): they may delete data, read them"
            )
        case "fetched":
            return "Runs what it fetches: nobody has read that, and it can do anything"
        case "tangled":
            return "Too long or too tangled to be judged: read it whole"
        case "account":
            return f"Opens an account ({first})"
        case "spends":
            return f"Spends money or speaks to where it is ({first})"
        case "tool":
            return f"{_TOOL[stake.peril]} by its name ({' of '.join(names)}): {STAYS}"
        case _:
            return _as_it_says(stake)


def _on(remote: str) -> str:
    return f" on {remote}" if remote else ""


_TOOL = {
    "spend": "A tool that spends",
    "account": "A tool that opens an account",
    "irreversible": "A tool that changes what is elsewhere",
}


def _as_it_says(stake: Stake) -> str:
    match stake.peril:
        case "spend":
            much = (
                f"${stake.amount_usd:,.2f}"
                if stake.amount_usd
                else "money, without saying how much"
            )
            return f"It wants to spend {much}"
        case "account":
            return "It wants an account opened"
        case _:
            return f"It says itself that this {STAYS}"


def asks(card: QuestionCard) -> str:
    """Return the first line of a question that asks for leave: ours, and the amount alone."""
    stake = card.stakes[0]
    if stake.peril == "spend" and stake.amount_usd:
        return f"Leave to spend ${stake.amount_usd:,.2f}?"
    return ASKS[stake.peril]


def second(card: AnyCard, verb: str, words: Words) -> Words:
    """Return the card as it stands after the first tap: the yes said whole, and the way back."""
    yes = Button(_yes(card, verb), sure(verb), "danger")
    return Words(words.rich, ((yes,), (Button("Back", BACK),)))


def _yes(card: AnyCard, verb: str) -> str:
    stakes: Sequence[Stake] = getattr(card, "stakes", ())
    what = "trust" if verb == "trust" else "allow"
    if isinstance(card, QuestionCard) and verb.startswith("option-"):
        what = option_words(card, verb)
    spends = next((one for one in stakes if one.peril == "spend"), None)
    if spends is not None:
        much = f" ${spends.amount_usd:,.2f}" if spends.amount_usd else " money"
        return f"Yes, {what}: spends{much}"
    if stakes and all(one.peril == "account" for one in stakes):
        return f"Yes, {what}: opens an account"
    return f"Yes, {what}: {STAYS}"
