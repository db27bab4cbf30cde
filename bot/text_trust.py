"""What the card says by which the owner is asked to trust what a repository brings for its agents.

Whatever would run stands word for word, quoted, each under what makes it run; what does not fit is whole
in a file. Pure wording, as text.py's. Neighbours: engine/rules/brought.py (what stays off, and why),
text_settings.py (where it is taken back).
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent

from bot import text_stakes
from bot.entities import one_line, units, visible
from bot.text_sheet import Sheet, capital, dots
from engine.views import Brought, BroughtItem, Document, TrustCard

ROOM = 2000  # of a card, for all that would run together
EVENTS = {
    "Notification": "when it would notify you",
    "PostCompact": "after its memory is condensed",
    "PostToolUse": "after a tool",
    "PostToolUseFailure": "after a tool that failed",
    "PreCompact": "before its memory is condensed",
    "PreToolUse": "before a tool, which it may stop",
    "SessionEnd": "as a turn's process ends",
    "SessionStart": "as a turn's process starts",
    "Stop": "when it would end its turn",
    "SubagentStart": "as a helper of it starts",
    "SubagentStop": "as a helper of it ends",
    "UserPromptSubmit": "as it is given a line",
}
RUN = ("hook", "server")
RULES = {
    "allow": "Never asked for",
    "deny": "Refused",
    "ask": "Always asked for",
}
TEXTS = {
    "agent": "Agents, as text alone",
    "skill": "Skills, as text alone",
    "command": "Commands, as text alone",
}
WHY_OFF = {
    "decides": "it would answer in your place",
    "wide": "it allows more than Always would",
    "ours": "set here, not by a repository",
    "needs": "it wants a value that sessions do not have",
    "tangled": "cannot be followed",
    "unknown": "of a kind I do not know",
}
MOST_NAMES = 12
MOST_OPEN = 3  # of a kind; the rest is folded, and still on the card


def trust(card: TrustCard, sheet: Sheet) -> None:
    sheet.fact(dots(one_line(card.project, 60), card.what, one_line(card.source)))
    text_stakes.lines(card.stakes, sheet)
    whole = in_full(card.brought)
    runs = [i for i in card.brought.items if i.kind in RUN and i.text and not i.why]
    scripts = [item for item in card.brought.items if item.kind == "file"]
    blocks = [(*_label(item), visible(item.text)) for item in runs]
    more, folded = blocks[MOST_OPEN:], list[str]()
    if sum(units(part) for block in blocks for part in block) <= ROOM:
        for label, name, text in blocks[:MOST_OPEN]:
            _line(sheet, label, name).add(text, "pre").line()
        folded += [
            f"{label} {name}".rstrip() + f"\n{indent(text, '  ')}" for label, name, text in more
        ]
    else:
        sheet.file = Document(name="brought.txt", text=whole)
        sheet.line("Too long for a card: the whole of it is in the file below. Read that first.")
    rest = _rest(card.brought)
    if len(rest) <= MOST_OPEN:
        for label, names in rest:
            _line(sheet, f"{label}:", names)
    else:
        folded += [f"{label}: {names}" for label, names in rest]
    if folded:
        runs_too = f"{len(more)} more that would run" if more and sheet.file is None else ""
        others = "what is given, and what stays off" if len(rest) > MOST_OPEN else ""
        what = "; ".join(part for part in (runs_too, others) if part)
        sheet.line(f"Folded, tap it open: {what}.", "italic")
        sheet.add("\n".join(folded), "expandable_blockquote").line()
    if scripts and sheet.file is None:
        sheet.file = Document(name="brought.txt", text=whole)
        sheet.line("Its files are whole in the file below: scripts may start one another.")
    if card.changed and card.asks:
        sheet.line("It changed since you last decided about it.", "bold")
    sheet.line(f"Of files with the hash {card.brought.digest[:12]}.")
    if card.asks:
        _offered(card, sheet)


def _offered(card: TrustCard, sheet: Sheet) -> None:
    sheet.line("Nothing of it runs now, and the work goes on without.", "bold")
    sheet.line(
        "Trust: each session has it from its next turn, unasked, just as these files are now."
        " When they change it is off, and I ask again. What a hook starts of the project's "
        "own code is as the work has it."
    )
    if card.unfenced:
        names = ", ".join(one_line(name, 40) for name in card.unfenced[:5])
        sheet.line(f"⚠ No fence on {names}: there it can touch all that this user can.", "bold")


def _line(sheet: Sheet, label: str, name: str) -> Sheet:
    """Write our words, then theirs, which never look like ours."""
    sheet.add(label)
    if name:
        sheet.add(" ").add(name, "code")
    sheet.line()
    return sheet


def _label(item: BroughtItem) -> tuple[str, str]:
    """What makes it run, and its name or the tools it is about."""
    name = visible(one_line(item.name, 120))
    if item.kind == "server":
        return "MCP server, started with each turn:", name
    event, _, matcher = name.partition(" ")
    return f"Hook {EVENTS[event]}:" if event in EVENTS else "Hook:", matcher


def _rest(brought: Brought) -> list[tuple[str, str]]:
    """What is given and runs nothing by itself, then what stays off."""
    given = [item for item in brought.items if not item.why]
    lines = [
        (words, _names([item.name for item in given if item.kind == kind]))
        for kind, words in (RULES | TEXTS).items()
    ]
    for why, words in WHY_OFF.items():
        off = [item for item in brought.items if item.why == why]
        names = [f"hook {item.name}" if item.kind == "hook" else item.name for item in off]
        lines.append((f"Off even so, {words}", _names(names)))
    return [(label, names) for label, names in lines if names]


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(visible(one_line(name, 60)) for name in names[:MOST_NAMES])
    more = len(names) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def in_full(brought: Brought) -> str:
    """Return all of it as a text, for a file."""
    parts = []
    for item in brought.items:
        why = f" (off even so: {WHY_OFF.get(item.why, item.why)})" if item.why else ""
        head = f"{capital(item.kind)} {visible(one_line(item.name, 300))}"
        # Theirs stands in by four, so that no line of it passes for one of ours.
        parts.append("\n".join([f"{head}{why}", indent(visible(item.text), "    ", bool)]).rstrip())
    files = "\n".join(map(visible, brought.files))
    return "\n\n".join([*parts, f"Files, with the hash {brought.digest}:\n{files}"]) + "\n"
