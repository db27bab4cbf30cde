"""What many goals say at once, in one message: a line for each, under its name.

Pure. Neighbours: backlog.py says when, text_away.py does the same for what waited a day.
"""

from collections.abc import Sequence

from bot.entities import Builder, Rich, one_line, units
from bot.text_sheet import ROOM, Words, put, theirs
from engine.views import Document

NAMED = 40  # goals that have a line
TITLE = 40
MOST = (160, 80, 40, 16, 0)  # characters of what each said: the first that fits is taken

REPLY = "To answer one, reply to its card."
WHOLE_BELOW = "All they said is in the file below."
WHOLE_THERE = "Each comes whole in its topic as well."

Told = Sequence[tuple[str, Sequence[str]]]  # a goal's title, and what was said in it, oldest first


def together(told: Told, *, apart: bool) -> Words:
    """Return the message.

    apart   all of it still comes in the goals' own topics
    """
    for most in MOST:
        rich = _told(told, most, apart=apart)
        if units(rich.text) <= ROOM:
            break
    file = None if apart or _all_shown(told, most) else _file(told)
    return Words(rich, file=file)


def _told(told: Told, most: int, *, apart: bool) -> Rich:
    sheet = Builder()
    sheet.line(f"{len(told)} goals have something to say", "bold")
    for title, texts in told[:NAMED]:
        sheet.add(one_line(title, TITLE), "bold")
        sheet.rich(put(": ", theirs(texts[-1], most)) if most else Rich("")).line()
    if len(told) > NAMED:
        sheet.line(f"… and {len(told) - NAMED} more")
    if apart:
        sheet.line(WHOLE_THERE)
    else:
        sheet.line(REPLY if _all_shown(told, most) else f"{WHOLE_BELOW} {REPLY}")
    return sheet.done()


def _all_shown(told: Told, most: int) -> bool:
    one_each = len(told) <= NAMED and all(len(texts) == 1 for _, texts in told)
    return one_each and all(len(" ".join(texts[0].split())) <= most for _, texts in told)


def _file(told: Told) -> Document:
    parts = ["\n\n".join((f"# {one_line(title, TITLE)}", *texts)) for title, texts in told]
    return Document(name="said.md", text="\n\n".join(parts) + "\n")
