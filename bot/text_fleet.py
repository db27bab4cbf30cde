"""What the panels of machines and accounts say.

Pure wording, as text.py's; fleet.py reads, and does what a button says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Any

from bot import text_usage
from bot.entities import Builder, Rich, one_line, said_line
from bot.panels import Question, mark
from bot.text_buttons import side_by_side
from bot.text_sheet import Button, Words, count, labelled, promise, put, theirs
from engine.views import AccountView, MachineView, OfferView

BACK = Button("← Back", "list")
ADD = Button("Add…", "add")
MACHINE_USAGE = "Say /machines add NAME USER@HOST[:PORT], or /machines remove NAME."
ACCOUNT_USAGE = (
    "Say /accounts add NAME AGENT, as in /accounts add main claude, or /accounts remove NAME."
)
MACHINE = Question(
    "What is it called, and where is it? Reply to this message.", "build-box dev@build-box"
)
ACCOUNT = Question("What is it called, and for which agent? Reply to this message.", "main claude")
RUNS = Question("How many agents at once, at most? Reply to this message.", "4")
NO_NUMBER = "Send a number, as in 4."
TOKEN = (
    "Paste the token of account {name} ({agent}) as a reply to this message. It is deleted from the "
    "chat and goes to the vault. For Claude: `claude setup-token` makes one, or use an API key."
)
TOKEN_OF = "the token of {name}"  # how it is called where it is said that it was deleted
TOKEN_FIELD = "The token, and nothing else"
TOKEN_USED = (
    "That question was answered already; what you sent now was deleted and not kept. For another "
    "token: /accounts, the account, New token…"
)
TOKEN_AS_TEXT = "Send the token as text, not as a file. What you sent was deleted."


# ---------------------------------------------------------------- machines


def machines(views: Sequence[MachineView], offers: Sequence[OfferView]) -> Words:
    """List the computers: a button leads to each."""
    sheet = Builder().line("Machines", "bold")
    for view in views:
        sheet.add(one_line(view.name, 40), "bold")
        sheet.rich(put(" · ", _state(view.state, 120), _runs(view))).line()
        sheet.rich(_fence(view)).line()
        for login in view.logins:
            sheet.rich(labelled(login, 100)).line()
        if not view.agents and view.address and view.up:
            sheet.line("no agent found there")
    for offer in offers:
        sheet.line(f"{one_line(offer.name, 40)} waits for your Add")
    buttons = [Button(one_line(view.name, 30), f"m{mark(view.name)}") for view in views]
    waiting = [Button(f"{one_line(o.name, 24)}: Add?", f"o{mark(o.name)}") for o in offers]
    return Words(sheet.done(), (*side_by_side([*buttons, *waiting], 2), (ADD,)))


def _state(state: str, room: int) -> Rich:
    return labelled(state, room) if ": " in state else Rich(said_line(state, room))


def _runs(view: MachineView) -> str:
    return f" · {view.runs} of {view.max_runs} runs"


def _fence(view: MachineView, room: int = 120) -> Rich:
    if not view.fence:
        return Rich("not seen yet")
    return theirs(view.fence, room) if view.fenced else put("⚠ ", theirs(view.fence, room))


def machine(view: MachineView) -> Words:
    """Show one computer whole."""
    sheet = Builder().line(one_line(view.name, 40), "bold")
    sheet.line(one_line(view.address, 100) or "This box itself.")
    sheet.rich(put(_state(_capital(view.state), 400), _runs(view))).line()
    sheet.rich(_fence(view, 300)).line()
    for login in view.logins:
        sheet.rich(labelled(login, 100)).line()
    if view.paused:
        sheet.line("Nothing new starts there; what runs goes on.")
    if view.keeps_backups:
        sheet.line(f"Each backup of this box goes there too; {view.backups or 'none'} there now.")
    elif view.backups:
        sheet.line(f"{count(view.backups, 'backup')} of this box lie there.")
    pause = Button("Resume", "resume") if view.paused else Button("Pause", "pause")
    buttons = [pause, Button("Check", "check")]
    keep = (
        Button("Stop backups", "unkeep") if view.keeps_backups else Button("Keep backups", "keep")
    )
    own = []
    if view.address:
        own = [Button("Runs…", "runs"), keep, Button("Remove", "remove", "danger")]
    return Words(sheet.done(), side_by_side([*buttons, *own, BACK], 3))


def checked(name: str, about: Mapping[str, Any]) -> Words:
    """Show what a machine's node says of itself just now."""
    sheet = Builder().line(f"{one_line(name, 40)} answers", "bold")
    system = theirs(f"{about['system']}, Python {about['python']}", 90)
    sheet.rich(put("It runs ", system)).line()
    git = theirs(str(about["git"] or ""), 60)
    none = "git is missing: install it there, nothing works without"
    sheet.rich(put("Git: ", git) if git.text else Rich(none)).line()
    sheet.rich(put("Fence: ", theirs(str(about["why"]), 200))).line()
    agents = theirs(", ".join(one_line(str(agent), 30) for agent in about["agents"]), 300)
    sheet.rich(put("Agents: ", agents if agents.text else "none found there")).line()
    sheet.line(f"Disk: {about['disk_free_gb']} GB free")
    sheet.add(one_line(str(about["home"]), 200), "code").line()
    return Words(sheet.done(), ((Button("Check", "check"), Button("← Back", "back")),))


def removing(view: MachineView) -> Words:
    sheet = Builder().line(f"Remove {one_line(view.name, 40)}?", "bold")
    sheet.line("No agent goes there any more. What lies there stays.")
    if view.backups:
        sheet.line(
            f"{count(view.backups, 'backup')} of this box too, closed by your recovery code, in"
        )
        sheet.add(one_line(view.backups_in, 200), "code").line()
    if view.keeps_backups:
        sheet.line("No new backup goes there then: /settings, Backup chooses another machine.")
    return Words(sheet.done(), ((Button("Remove", "gone", "danger"), Button("← Back", "back")),))


def offer(found: OfferView) -> Words:
    """Put a computer that was looked at to the owner: its host key, and the key it must let in."""
    sheet = Builder()
    if found.expected:
        sheet.line("⚠ It shows another host key than the one you accepted", "bold")
    else:
        sheet.line(f"Add {one_line(found.name, 40)}?", "bold")
    sheet.add(one_line(found.name, 40)).add(" · ").add(one_line(found.address, 100), "code").line()
    if found.expected:
        sheet.add(one_line(found.expected, 80), "code").line(" was accepted")
        sheet.add(one_line(found.fingerprint, 80), "code").line(" is shown now")
        sheet.line("If it was not set up anew, somebody may be standing between: Cancel.")
    else:
        sheet.line("1. It shows the host key")
        sheet.add(one_line(found.fingerprint, 80), "code").line()
        sheet.line("Compare it there:")
        sheet.add("ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub", "pre").line()
        _let_in(found, sheet)
    sheet.line("Add accepts that host key, signs in and looks. It needs Python 3.9 and git there.")
    buttons = (Button("Add", "take", "success"), Button("Cancel", "leave"))
    return Words(sheet.done(), (buttons,))


def _let_in(found: OfferView, sheet: Builder) -> None:
    if found.no_key:
        sheet.line("2. This box's user must be let in there: ssh-copy-id does that.")
        sheet.line(f"Quarterdeck's own key cannot be shown: {one_line(found.no_key, 300)}.")
        return
    sheet.line("2. If this box's user may not sign in there yet, put this line into")
    sheet.add("~/.ssh/authorized_keys", "code").line(" there:")
    sheet.add(one_line(found.public, 400), "pre").line()


# ---------------------------------------------------------------- accounts


def accounts(views: Sequence[AccountView], zone: tzinfo | None, now: float = 0.0) -> Words:
    """List who pays: a button leads to each."""
    sheet = Builder().line("Accounts", "bold")
    for view in views:
        used = text_usage.fullest(view.usage)
        agent = one_line(view.agent, 30)
        sheet.add(one_line(view.name, 40), "bold").line(f" · {agent}{f' · {used}' if used else ''}")
        sheet.line(_rest(view, zone, now))
    if not views:
        sheet.line("None yet, so no agent can run.")
    buttons = [Button(one_line(view.name, 30), f"a{mark(view.name)}") for view in views]
    return Words(sheet.done(), (*side_by_side(buttons, 2), (ADD,)))


def _rest(view: AccountView, zone: tzinfo | None, now: float) -> str:
    if view.signed_out:
        return "⚠ signed out: Log in, or a new token, signs it in again"
    if view.until:
        return f"rests until {promise(view.until, zone, now)}: its plan's usage limit"
    if view.untried:
        return "new goals take it · not tried yet" if view.first else "not tried yet"
    return "new goals take it" if view.first else "ready"


def account(view: AccountView, zone: tzinfo | None, now: float = 0.0) -> Words:
    """Show one account; its secrets by name alone."""
    sheet = Builder().line(one_line(view.name, 40), "bold")
    sheet.line(f"For {one_line(view.agent, 30)} · {_rest(view, zone, now)}")
    for used in view.usage:
        sheet.line(f"Used: {text_usage.one(used)}")
    if view.reserve:
        sheet.line(f"You keep {view.reserve} % of each: /settings, Reserve")
    if view.secrets:
        names = ", ".join(one_line(name, 40) for name in view.secrets)
        sheet.line(f"In the vault: {names}")
    if view.config_dir:
        sheet.add("Its login lies in ").add(one_line(view.config_dir, 200), "code").line()
    if view.command:
        sheet.add("Runs ").add(one_line(view.command, 200), "code").line()
    buttons = [Button("Log in", "log_in")] if view.logs_in else []
    buttons += [] if view.agent == "rehearsal" else [Button("New token…", "token")]
    buttons += [Button("Remove", "remove", "danger")]
    return Words(sheet.done(), (tuple(buttons), (BACK,)))


def removing_account(name: str) -> Words:
    sheet = Builder().line(f"Remove account {one_line(name, 40)}?", "bold")
    sheet.line("Its token is forgotten. Agents at work end their turn; nothing new starts with it.")
    return Words(sheet.done(), ((Button("Remove", "gone", "danger"), Button("← Back", "back")),))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
