"""What Always keeps, in words: on a permission's card, and in the list of what is kept.

Pure. text_asks.py puts these lines into messages; the rules are engine/rules/always.py's.
"""

from bot.entities import one_line
from engine.views import KeyedCard, PermissionCard, RuleView

NEVER = {
    "long": "it is too long to be read at a glance",
    "shell": "only the shell knows what it does when it runs",
    "unknown": "not a command I know to be safe to repeat",
    "no_read": "its name does not say that it only reads",
    "anything": "it can run whatever it is handed",
    "option": "one of its options may run what agents can change",
    "handed": "it is handed a file that agents can change",
    "prints": "it can print the key itself",
    "signs": "it has other than plain letters and signs",
    "file": "it runs a file that agents can change",
    "stays": "it may do what cannot be taken back",
    "keys": "it is about keys or passwords",
    "site": "it is no plain public host over https",
}


def offered(card: PermissionCard | KeyedCard) -> str:
    """Return the line that says what Always would keep, or why it is not offered; "" for neither."""
    if card.rule is not None:
        return f"Always keeps: {_what(card, 'exactly this command')}."
    why = NEVER.get(card.never, "")
    return f"No Always: {why}." if why else ""


def kept(card: PermissionCard | KeyedCard) -> str:
    """Return what was kept, once the owner said Always; "" otherwise."""
    if card.rule is None or not card.decided.lower().startswith("always"):
        return ""
    return f"Kept: {_what(card, 'exactly this command')}. /settings rules takes it back."


def used(view: RuleView) -> str:
    """Return how often a rule has answered, and whether it still does."""
    if not view.holds:
        return "answers no more: it is asked for each time now"
    times = {0: "not used yet", 1: "used once", 2: "used twice"}
    return times.get(view.used, f"used {view.used} times")


def about(view: RuleView) -> str:
    """Return what a rule in the list is about, but for a command's own text."""
    return _what(view, "exactly")


def _what(of: PermissionCard | KeyedCard | RuleView, command: str) -> str:
    rule = of.rule
    if rule is None:
        return ""
    what = command
    if rule.kind == "site":
        what = f"reading pages of {one_line(rule.text, 100)}"
    elif rule.kind == "tool":
        _, server, tool = rule.text.split("__", 2)
        what = f"the tool {one_line(tool, 60)} of {one_line(server, 60)}, whatever it is given"
    elif rule.kind == "keyed":
        what = f"{command} with {one_line(', '.join(rule.keys), 200)}"
    beyond = ", unfenced too" if rule.unfenced else ""
    return f"{what}, in {one_line(of.project, 40)}{beyond}"
