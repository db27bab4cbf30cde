"""What /keys says: the vault's names, never a value.

Pure wording; key_panel.py reads and asks. Neighbour: text_fleet.py, which says what an account signs in by.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import tzinfo

from bot.entities import Builder, one_line
from bot.panels import Question, mark
from bot.text_buttons import LONG_LABEL, SHORT_LABEL, side_by_side
from bot.text_sheet import Button, Words, count
from engine.moments import gone_by
from engine.views import KeyView

Rows = tuple[tuple[Button, ...], ...]

PANEL = "keys"
PAGE = 8
LIST = Button("← Keys", "list")
ADD = Button("Add…", "add")
NO_SECRET = Button("It was no secret", "was_no_secret")
NAMELESS = "SECRET"  # what a value is called whose look says nothing
RECOVERY = (
    "That is your recovery code: it opens every backup. Nobody here asks for it; it was deleted and not "
    "kept. It was in Telegram's cloud for a moment: to be safe, make another at the box: quarterdeck key recovery."
)
NO_NAME = (
    "What you typed is no name: it is deleted and not kept, since it may have been the key itself."
)
NOT_KEPT = "What you sent held a key: it is deleted from the chat, and nothing was done with it. Send it again then."
NEW_NAME = Question("What is it called from now on? Reply to this message.", "STRIPE_KEY")
OVER = "That question is over: what you sent is deleted, and not kept. /keys asks anew."
AS_TEXT = "Send the value as text. What you sent is deleted, and was not kept."
APART = "Kept apart: it is a key of its own."
OVER_ALREADY = "That question is over. /keys asks anew."
CANCELLED = "Cancelled: nothing was kept. What you write is heard again."
UNANSWERED = "Not answered in time: nothing was kept here."
ASKED_ANEW = "Asked for another one: nothing was kept here."
BACK = Button("← Back", "back")


def listed(
    views: Sequence[KeyView],
    page: int = 0,
    zone: tzinfo | None = None,
    now: float = 0.0,
    own: Sequence[KeyView] = (),
) -> Words:
    """Return a page of what the vault keeps, a button for each of the owner's."""
    sheet = Builder()
    if not views:
        sheet.line("The vault is empty" if not own else "The vault has no key of yours", "bold")
        sheet.line("Paste a key here: it is sealed, deleted from the chat and kept by its name.")
        sheet.line("Add… takes whatever you write next as a secret, however it looks.")
        _own(own, sheet)
        return Words(sheet.done(), ((ADD,),))
    last = (len(views) - 1) // PAGE
    page = min(page, last)
    shown = views[page * PAGE : (page + 1) * PAGE]
    sheet.line(f"{count(len(views), 'key')} in the vault", "bold")
    for view in shown:
        sheet.line().line(one_line(view.name, 80), "bold").line(_standing(view, zone, now))
    _own(own, sheet)
    sheet.line().line("No value is ever shown.", "italic")
    buttons = [Button(brief(view.name), f"key-{mark(view.name)}") for view in shown]
    beside = 2 if all(len(button.label) <= SHORT_LABEL for button in buttons) else 1
    turns = [Button("← Earlier", f"page-{page - 1}")] if page else []
    turns += [Button("Later →", f"page-{page + 1}")] if page < last else []
    return Words(sheet.done(), (*side_by_side(buttons, beside), *side_by_side(turns, 2), (ADD,)))


def _own(views: Sequence[KeyView], sheet: Builder) -> None:
    """Name what Quarterdeck itself signs in with: no agent is given it, and nothing is to be done."""
    if views:
        named = [
            f"{one_line(_of(v.name), 60)}{' ⚠ cannot be opened' * bool(v.refused)}" for v in views
        ]
        sheet.line().line(f"Quarterdeck's own: {', '.join(named)}.")


def _of(name: str) -> str:
    kind, _, project = name.partition("/")
    return f"{project}'s forge" if kind == "forge" else "your machines"


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


def brief_where(scope: str) -> str:
    """Return the same for a button."""
    kind, _, name = scope.partition("/")
    return f"{kind} {brief(name, LONG_LABEL - 16)} only" if scope else "everywhere"


def brief(name: str, room: int = LONG_LABEL - 2) -> str:
    """Return a name for a button: too long, it is cut between two words, and its last one stays."""
    whole = one_line(name, 200)
    if len(whole) <= room:
        return whole
    last = re.split(r"[_\-. ]", whole)[-1]
    last = last if len(last) <= room // 2 else ""
    head = whole[: room - 1 - len(last)]
    between = max(head.rfind(sign) for sign in "_-. ")
    return f"{head[: between + 1] if between > 0 else head}…{last}"


def page_of(names: Sequence[str]) -> str:
    """Return the page of the message that says what was stored."""
    return f"K{mark(names[0])}" if len(names) == 1 else "M"


def stored(names: Sequence[str], scopes: Sequence[str], rest_of: str = "") -> Words:
    """Say what a message held, and that it is gone from the chat; `rest_of`: the key it may belong to."""
    shown = [one_line(name, 80) for name in names]
    sheet = Builder().line(f"Stored as {' and '.join(shown)}; deleted from the chat.")
    if len(set(scopes)) == 1:
        sheet.line(f"May be used {where(scopes[0])}, each time you allow it.")
    else:
        for name, scope in zip(shown, scopes, strict=True):
            sheet.line(f"{name}: may be used {where(scope)}, each time you allow it.")
    if len(names) > 1:
        each = [Button(brief(name), f"key-{mark(name)}") for name in names]
        return Words(sheet.done(), side_by_side(each[:40], 1))
    first = _join(rest_of, sheet) if rest_of else ()
    return Words(sheet.done(), (*first, (NO_SECRET,), *_CHANGES))


def _join(whole: str, sheet: Builder) -> Rows:
    """Ask whether a key is the rest of another."""
    name = one_line(whole, 40)
    sheet.line(f"The rest of {name}? Join puts it behind what {name} stands for.", "bold")
    return ((Button("Join", "join"), Button("Keep apart", "apart")),)


def asking(name: str, version: int, scope: str, known: Sequence[str], minutes: int) -> Words:
    """Ask for a value: whatever comes next is it."""
    of = f"the value of {one_line(name, 80)}" if name else "or paste the key"
    sheet = Builder().line(f"Type {of}", "bold")
    sheet.line(
        "Whatever you write here next is the secret, however it looks: it is sealed and deleted, and no "
        f"agent sees it. A command like /stop stays one. Open for {minutes} minutes."
    )
    if not name:
        sheet.line(
            f"It is called {NAMELESS}, or by its kind where that shows; Rename… comes right after."
        )
    if version:
        sheet.line(f"There is one of that name: this becomes its version {version + 1}.")
    sheet.line(f"May be used {where(scope)}.")
    buttons = [
        Button(f"{'✓ ' if one == scope else ''}{brief_where(one)}", f"at-{mark(one)}")
        for one in known
    ]
    cancel = (Button("Cancel", "cancel"),)
    return Words(sheet.done(), (*side_by_side(buttons[:40], 2), cancel))


def once_more(name: str, why: str) -> Words:
    sheet = Builder().line(one_line(why, 300))
    sheet.line(f"What you write here next is {_value_of(name)}.")
    return Words(sheet.done(), ((Button("Cancel", "cancel"),),))


def _value_of(name: str) -> str:
    return f"the value of {one_line(name, 80)}" if name else "the key"


def given(name: str) -> str:
    return f"{one_line(name, 80)} was given, and is sealed."


def too_late(name: str, minutes: int) -> str:
    return (
        f"{'No value of ' + one_line(name, 80) if name else 'No key'} came within {minutes} minutes, so nothing was kept. What you "
        "write is heard again; /keys asks anew."
    )


def really_plain(name: str) -> Words:
    """Ask once more before what looks like a known kind of key is handed to an agent."""
    sheet = Builder().line(f"Hand on what {one_line(name, 80)} stands for?", "bold")
    sheet.line(
        "It has the shape of a real key. Its session would read it in clear, and so its model."
    )
    hand = Button("Hand it on in clear", "clear", "danger")
    return Words(sheet.done(), ((hand,), (BACK,)))


def one(
    view: KeyView,
    zone: tzinfo | None = None,
    now: float = 0.0,
    *,
    alone: bool = False,
    maybe_none: bool = False,
    rest_of: str = "",
) -> Words:
    """Show one key, all but its value.

    alone       in the message that said it was stored: no list is around it
    maybe_none  it may be said to be no secret
    rest_of     the key it may belong to
    """
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
    rows = [] if alone else [(LIST,)]
    if view.refused:
        return Words(sheet.done(), ((Button("Forget…", "forget", "danger"),), *rows))
    first = list(_join(rest_of, sheet)) if rest_of else []
    first += [(NO_SECRET,)] if maybe_none and not view.used_at else []
    return Words(sheet.done(), (*first, *_MORE, *rows))


_CHANGES = (
    (Button("Where…", "scope"), Button("Rename…", "rename")),
    (Button("Forget…", "forget", "danger"),),
)
_MORE = (_CHANGES[0], (Button("New value…", "value"), *_CHANGES[1]))


def scopes(view: KeyView, known: Sequence[str]) -> Words:
    """Ask where a key may be used."""
    sheet = Builder().line(f"Where may {one_line(view.name, 80)} be used?", "bold")
    sheet.line(f"Now: {where(view.scope)}")
    buttons = [
        Button(f"{'✓ ' if scope == view.scope else ''}{brief_where(scope)}", f"at-{mark(scope)}")
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
