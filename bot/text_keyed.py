"""What the card of a command says that is to be given stored keys.

Pure wording, as text.py's. Its end is shown whatever its length: what a long command does often stands
there. Neighbours: text_asks.py (other asks), text_rules.py (what Always keeps), text_card.py.
"""

from __future__ import annotations

import unicodedata

from bot import text_rules, text_stakes
from bot.entities import Rich, cut, one_line, said_line, tame, units, visible
from bot.text_sheet import COMMAND_ROOM, Sheet, dots
from engine.views import Document, KeyedCard

FIRST, LAST = 1500, 1000  # units shown of a command that does not fit
MOST_SIGNS = 5  # named of those that are no plain ones


def keyed(card: KeyedCard, sheet: Sheet) -> None:
    where = one_line(card.machine, 60)
    sheet.fact(dots(said_line(card.who), where, "" if not card.fenced else "fenced"))
    if not card.fenced:
        sheet.line("⚠ unfenced: it is refused there", "bold")
    names = ", ".join(one_line(name, 100) for name in card.names)
    text_stakes.lines(card.stakes, sheet)
    one = len(card.names) == 1
    sheet.add("Key: " if one else "Keys: ").line(names, "bold")
    text_stakes.hidden(visible(card.command), sheet)
    _command(card.command, sheet)
    _signs(card.command, sheet)
    if card.asks:
        sheet.line(f"This command can read {'it' if one else 'them'}.", "bold")
    sheet.foreign("It says why:", Rich(tame(card.why).strip()), "why.txt", 400)
    if card.asks:
        sheet.fact(text_rules.offered(card))
        again = " It asks once more." if card.stakes else ""
        sheet.line(
            f"Allow once runs it now; what it prints goes to the agent without the value.{again}"
        )
    sheet.fact(text_rules.kept(card))


def outcome(card: KeyedCard) -> str:
    """Return how it went, said below that it was allowed; "" where that is not known."""
    how = said_line(card.outcome, 200)
    if how.startswith("did not run"):
        return "✗ It did not run. Its agent was told why."
    return f"✓ It ran: {how}" if how.startswith("exit 0 ") else f"✗ It failed: {how}" if how else ""


def _command(whole: str, sheet: Sheet) -> None:
    shown = visible(whole)
    length = units(shown)
    if length <= COMMAND_ROOM:
        sheet.add(shown, "pre").line()
        return
    sheet.file = Document(name="command.txt", text=shown)
    rich = Rich(shown)
    sheet.add(cut(rich, 0, FIRST).text, "pre").line()
    sheet.line(f"… {length - FIRST - LAST} more characters, then it ends:", "bold")
    sheet.add(cut(rich, length - LAST, length).text, "pre").line()
    sheet.line("The whole of it is in the file below. Read that first.")


def _signs(whole: str, sheet: Sheet) -> None:
    """Name what is no plain letter: one of another script may look like one, and lead elsewhere."""
    found = sorted({sign for sign in whole if not " " <= sign <= "~" and sign not in "\n\t"})
    for sign in found[:MOST_SIGNS]:
        name = unicodedata.name(sign, "a control sign").lower()
        sheet.line(f"⚠ No plain sign: {visible(sign)} is U+{ord(sign):04X}, {name}", "bold")
    if len(found) > MOST_SIGNS:
        sheet.line(f"⚠ and {len(found) - MOST_SIGNS} more such signs", "bold")
