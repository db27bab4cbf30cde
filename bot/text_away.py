"""What the owner is told about the times when Telegram and we did not hear each other, or could not work.

Neighbours: polling.py knows how long it was, full_disk.py when there is no room, text.py is the door to all other wording.
"""

from collections.abc import Sequence

from bot.entities import Builder, one_line
from bot.text_sheet import HEADING, Words
from engine.views import Document

MOST_NAMED = 12
MESSAGES_S = 86_400  # Telegram keeps them so long for a bot that does not come
TAPS_S = 150

SECOND_POLLER = (
    "⚠ Somebody else takes this bot's updates.\nEither a second Quarterdeck runs with the same token, or "
    "the token was stolen. If you know of no second one: revoke it at @BotFather and run quarterdeck setup."
)

DISK_FULL = (
    "⚠ The box's disk is full.\nAgents cannot save their work and I cannot keep what you write: make room "
    "there. What you send now waits at Telegram, for a day at most, and is done once there is room."
)
DISK_READ_ONLY = (
    "⚠ The box's disk became read-only, as it does after a fault.\nAgents cannot save their work and I "
    "cannot keep what you write: look at the disk there, and start the box again. What you send now waits "
    "at Telegram, for a day at most."
)
ROOM_AGAIN = "There is room on the box's disk again. What waited is being done now."
MOVED = "This stands further down now."
NO_ROOM = "The box's disk is full"


def heard_again(away_s: float) -> str:
    """Return what is said once polls come through again."""
    return f"Nothing from Telegram reached me for {_span(away_s)}. {_lost(away_s)}"


def back(away_s: float) -> str:
    """Return what is said after a start, when the last poll was long ago."""
    return f"I was away for {_span(away_s)}. {_lost(away_s)}"


def clock_off(off_s: float) -> str:
    """Return what is said of a box whose clock is wrong; `off_s` > 0: it is ahead."""
    way = "ahead of" if off_s > 0 else "behind"
    return (
        f"⚠ The box's clock is {_span(abs(off_s))} {way} Telegram's. Quiet hours and all times here go by "
        "it. On the box, `timedatectl set-ntp true` sets it right."
    )


def digest(told: Sequence[tuple[str, Sequence[str]]]) -> Words:
    """Return one message in place of very many; `told`: each goal's title and its messages."""
    count = sum(len(texts) for _, texts in told)
    sheet = Builder()
    sheet.line(f"{count} messages waited to reach you", "bold")
    sheet.line("All of them are in the file, in their order. What needs you has a card of its own.")
    for title, texts in told[:MOST_NAMED]:
        sheet.line(f"{one_line(title, HEADING) or 'Quarterdeck'}: {len(texts)}")
    if len(told) > MOST_NAMED:
        sheet.line(f"… and {len(told) - MOST_NAMED} more")
    parts = [
        "\n\n".join((f"# {one_line(title, HEADING) or 'Quarterdeck'}", *texts))
        for title, texts in told
    ]
    return Words(sheet.done(), file=Document(name="waited.md", text="\n\n".join(parts) + "\n"))


def _lost(away_s: float) -> str:
    """Return what becomes of what was sent meanwhile."""
    said = "What you wrote meanwhile is being done now."
    if away_s > MESSAGES_S:
        said = (
            "Telegram keeps a message for a day: what you wrote in the last day is being done now, what "
            "you wrote before that is lost. Please send it again."
        )
    if away_s > TAPS_S:
        said += (
            " Of the buttons you pressed Telegram keeps nothing: press again what still has them."
        )
    return said


def _span(seconds: float) -> str:
    for size, name in ((86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} seconds"
