"""Views into words: all our wording, and nothing but wording.

    card(view)      one message kept current: text, buttons, perhaps a file beside it
    note(view)      one or more messages, shown once
    board(view) …   answers to commands

Pure. Written for a phone late in the evening: the decision first, its reason beside it, what happens
next said. The first line of what sounds is ours alone (no code, path or foreign text: lock screens
show it); what agents and repositories wrote stands in a quote or a code block under the speaker's
name, so that it cannot pass for a card. The goal's name is put on by
outbox.py, which knows whether there is a topic to tell it.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, tzinfo

from msgspec import Struct

from bot import lookalikes, text_estimate, text_live, text_places, text_rules
from bot.entities import (
    TEXT_LIMIT,
    Builder,
    Rich,
    cut,
    markdown,
    one_line,
    split,
    tame,
    units,
    visible,
)
from bot.text_estimate import money
from engine.views import (
    AnyCard,
    ApproachCard,
    Board,
    Card,
    CommandCard,
    Document,
    FailureCard,
    LimitCard,
    Note,
    PermissionCard,
    PieceLine,
    PlanCard,
    ProjectCard,
    ProjectView,
    QuestionCard,
    ReviewCard,
    Row,
    SessionCard,
    ShipCard,
    Wait,
    WhereCard,
    WorkerCard,
)

LABELS = {
    "allow": "Allow",
    "always": "Always",
    "another": "Another…",
    "answer": "Answer…",
    "approve": "Approve",
    "cancel": "Cancel",
    "change": "Change…",
    "correct": "Correct…",
    "deny": "Deny",
    "diff": "Diff",
    "discard": "Discard",
    "drop": "Drop",
    "forget": "Forget",
    "install": "Install",
    "interrupt": "Interrupt",
    "leave": "Leave it",
    "move": "Move…",
    "not_this": "Not this",
    "now": "Now",
    "park": "Park",
    "pause": "Pause",
    "peek": "Peek",
    "proceed": "Proceed",
    "push": "Push",
    "rename": "Rename",
    "resume": "Resume",
    "retry": "Retry",
    "send_back": "Send back…",
    "ship": "Ship",
    "start": "Start",
    "stop": "Stop",
    "stop_all": "Stop all",
    "trust": "Trust",
    "was_no_secret": "It was no secret",
}
GREEN = frozenset({"allow", "approve", "push", "ship", "start"})
# What may still be pressed once all is decided: it only shows something.
READING = frozenset({"diff", "peek"})
RED = frozenset({"drop", "stop_all"})

# What a phone shows of a label before it cuts: a whole row, and one of several beside each other.
LONG_LABEL = 40
SHORT_LABEL = 12
HEADING = 60
QUOTE_ROOM = 900
COMMAND_ROOM = 3000
OPEN_QUOTE = 350  # longer quotes are folded
MOST_MESSAGES = 3
# Room is left for the goal's name, which is put on where there are no topics.
ROOM = TEXT_LIMIT - 2 * HEADING
# Stages in which a worker rests and plain code is busy with what it made.
TAKEN_IN = frozenset({"collecting", "landing"})
VERDICTS = frozenset({"allowed", "denied", "expired"})
SIZES = {"S": "small", "M": "medium", "L": "large"}
MINUS = "\N{MINUS SIGN}"


class Button(Struct, frozen=True):
    """A label and the verb it stands for; buttons.py makes the data it carries."""

    label: str
    verb: str
    style: str = ""  # success, danger


class Words(Struct, frozen=True):
    """One message: what is written, what can be pressed, and a file that belongs under it."""

    rich: Rich
    buttons: tuple[tuple[Button, ...], ...] = ()
    file: Document | None = None


class _Sheet(Builder):
    """A message being written; what does not fit goes into one file beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.file: Document | None = None

    def fact(self, text: str, *kinds: str) -> None:
        """Write a line, if there is anything to write."""
        if text:
            self.line(text, *kinds)

    def foreign(self, label: str, said: Rich, name: str, room: int = QUOTE_ROOM) -> None:
        """Quote somebody who is not us; whole in a file where it does not fit."""
        if not said.text:
            return
        self.line(label, "italic")
        shown, more = said, ""
        if units(said.text) > room:
            shown, more = split(said, room)[0], "… cut here."
            if self.file is None:  # one that is there already weighs more: the command itself
                self.file = Document(name=name, text=said.text)
                more = "… the rest is in the file below."
        kind = "blockquote" if units(shown.text) <= OPEN_QUOTE else "expandable_blockquote"
        self.rich(shown, kind).line()
        self.fact(more)


# ---------------------------------------------------------------- cards


def sounds(card: Card) -> bool:
    """Return whether this card's first showing may make a sound.

    What follows the owner's own tap or line at once (a shipping step, "which one?") stays quiet.
    """
    if isinstance(card, WhereCard):
        return False
    if isinstance(card, ShipCard):
        return card.asks and card.stage == "failed"
    if isinstance(card, ProjectCard):
        return card.asks and card.late
    return card.asks


def card(card: AnyCard, zone: tzinfo | None = None) -> Words:
    """Return the card as one message; times are in `zone`, None being this machine's."""
    sheet = _Sheet()
    sheet.line(_first_line(card), "bold")
    _body(card, sheet, zone)
    if card.decided:
        when = f" · {clock(card.decided_at, zone)}" if card.decided_at else ""
        sheet.line(f"✓ {one_line(card.decided)}{when}", "bold")
    rich = sheet.done()
    if units(rich.text) > ROOM:
        rich = split(rich, ROOM)[0]
    # Once decided, the file it had is above already.
    return Words(rich, _rows(card), None if card.decided else sheet.file)


def headed(words: Words, name: str, *, below: bool) -> Words:
    """Return the message with the goal's name, where no topic tells which goal it is about.

    below   under the first line, which sounds and so must stay ours; else on top
    """
    first, _, _ = words.rich.text.partition("\n")
    at = units(first) + 1 if below and units(first) < units(words.rich.text) else 0
    sheet = Builder()
    sheet.rich(cut(words.rich, 0, at))
    sheet.line(one_line(name, HEADING), *([] if below else ["bold"]))
    sheet.rich(cut(words.rich, at, units(words.rich.text)))
    return Words(sheet.done(), words.buttons, words.file)


def _first_line(card: AnyCard) -> str:
    match card:
        case SessionCard():
            return _dots("Rehearsal" if card.rehearsal else "", _session_stage(card))
        case PlanCard():
            return "A plan waits for your go" if card.asks else "Plan"
        case WorkerCard(asks=True):
            return f"Worker {card.number} needs you"
        case WorkerCard():
            return f"Worker {card.number} · {one_line(card.title, HEADING)}"
        case PermissionCard():
            what = "command" if card.tool in {"", "Bash", "shell"} else "tool"
            return f"Allow a {what}?" if card.asks else _settled(what, card.decided)
        case QuestionCard():
            what = "A question" if len(card.questions) == 1 else "Questions"
            return f"{what} for you" if card.asks else what
        case ApproachCard():
            return "A worker shows its approach" if card.asks else "An approach"
        case CommandCard():
            kind = f"the project's {one_line(card.kind, 20)}"
            return f"Allow {kind}?" if card.asks else _capital(kind)
        case LimitCard():
            return "A usage limit is over: go on?" if card.asks else "After a usage limit"
        case WhereCard(edited=True):
            asks = "Your edit goes to the lead as a correction?"
            return asks if card.asks else "You edited the goal"
        case WhereCard():
            return "Which one is this for?" if card.asks else "You were asked which one"
        case ProjectCard():
            return text_places.PROJECT_TITLES.get(card.stage, "A project")
        case ReviewCard():
            return "Ready for your review" if card.asks else "Review"
        case ShipCard():
            return _SHIP_TITLES.get(card.stage, "Ship")
        case FailureCard():
            return "Something failed and needs you" if card.asks else "Something failed"


_SHIP_TITLES = {
    "ready": "Ready to push",
    "pushing": "Pushing",
    "shipped": "Shipped",
    "cancelled": "Not pushed",
    "handed back": "Not pushed: it conflicts",
    "failed": "Shipping failed",
}


def _body(card: AnyCard, sheet: _Sheet, zone: tzinfo | None) -> None:
    match card:
        case SessionCard():
            _session(card, sheet, zone)
        case PlanCard():
            _plan(card, sheet)
        case WorkerCard():
            _worker(card, sheet, zone)
        case PermissionCard():
            _permission(card, sheet)
        case QuestionCard():
            _question(card, sheet)
        case ApproachCard():
            sheet.line(one_line(card.who))
            sheet.foreign("It means to:", markdown(card.text), "approach.md", COMMAND_ROOM)
            if card.asks:
                sheet.line("Nothing is written before you approve.")
        case CommandCard():
            _command(card, sheet)
        case LimitCard():
            sheet.line(f"Account {one_line(card.account, 60)} may be used again.")
            if card.asks:
                sheet.line("Resume: sessions go on, one after the other. Leave it: all rest.")
        case WhereCard(edited=True):
            sheet.foreign("The goal reads now:", Rich(tame(card.text)), "goal.txt")
            if card.asks:
                sheet.line("It has begun with the first version. Nothing is sent before you tap.")
        case WhereCard():
            sheet.foreign("You wrote:", Rich(tame(card.text)), "your-words.txt")
            names = ", ".join(one_line(name, 40) for name in card.files)
            sheet.fact(f"With it: {names}" if names else "")
            _listed(card.options, sheet)
        case ProjectCard():
            text_places.project(card, sheet)
        case ReviewCard():
            _review(card, sheet)
        case ShipCard():
            _ship(card, sheet)
        case FailureCard():
            sheet.line(one_line(card.what, 200)).line(tame(card.why))
            _report(card.report, sheet)


def _settled(what: str, decided: str) -> str:
    """Return "Command allowed", as far as what was decided begins with such a word."""
    verdict = decided.lower().removeprefix("always ").partition(" ")[0]
    return _capital(f"{what} {verdict}" if verdict in VERDICTS else f"about a {what}")


def _session_stage(card: SessionCard) -> str:
    landed = f"{card.landed} of {card.pieces} landed" if card.pieces else ""
    return _dots(_capital(card.stage), landed)


def _session(card: SessionCard, sheet: _Sheet, zone: tzinfo | None) -> None:
    if card.doing != card.stage:
        sheet.fact(one_line(card.doing, 160), "italic")
    _waits(card.waits, sheet, zone)
    for line in text_live.progress(card):
        sheet.line(line)
    branch = f" → {one_line(card.branch, 40)}" if card.branch else ""
    sheet.fact(_dots(card.project, f"{card.base}{branch}"))
    if card.check:
        sheet.line(one_line(card.check, 160))
    sheet.fact(_dots(_agent(card.agent, card.model), card.mode, card.machine))
    sheet.fact(f"Next workers only on {', '.join(card.machines)}" if card.machines else "")
    sheet.fact(one_line(card.fence, 80))
    sent = f"{_count(card.files, 'file')} of yours" if card.files else ""
    sheet.fact(_dots(money(card.cost_usd), text_live.lines_to_come(card), sent))


def _plan(card: PlanCard, sheet: _Sheet) -> None:
    sheet.foreign("The lead:", markdown(card.summary), "plan.md", 700)
    places = {_place(piece) for piece in card.pieces}
    same = len(card.pieces) > 1 and len(places) == 1
    sheet.fact(_dots(f"All {len(card.pieces)}", places.pop()) if same else "")
    shown = 0
    for piece in card.pieces:
        if sheet.size > ROOM - 700:
            break
        _piece(piece, sheet, placed=same)
        shown += 1
    if card.asks or card.estimate:
        sheet.line(text_estimate.whole(card.estimate, len(card.pieces)))
    if card.changed and not card.decided:
        sheet.line("Changed by you: the lead hears so at Start.")
    if card.decided and shown == len(card.pieces):
        return
    tasks = "\n\n".join(f"{p.number}. {tame(p.task).strip()}" for p in card.pieces)
    if shown == len(card.pieces) and sheet.size + units(tasks) < ROOM - 200:
        sheet.line("The tasks, in the lead's words:", "italic")
        sheet.add(tasks, "expandable_blockquote").line()
    else:
        sheet.file = Document(name="plan.md", text=_whole_plan(card))
        more = (
            f"{len(card.pieces) - shown} more pieces, and the"
            if shown < len(card.pieces)
            else "The"
        )
        sheet.line(f"{more} tasks are in the file below.")
    if card.asks:
        sheet.line("Nothing is written before Start.")


def _place(piece: PieceLine) -> str:
    return _dots(one_line(piece.where, 100), _agent(piece.agent, piece.model))


def _piece(piece: PieceLine, sheet: _Sheet, *, placed: bool) -> None:
    """List a piece; `placed`: where it runs was said for all of them."""
    sheet.add(f"{piece.number}  {one_line(piece.title, 80)}", "bold")
    stage = "" if piece.stage in {"", "proposed"} else piece.stage
    sheet.line(f" · {_dots(_size(piece), stage, text_estimate.about(piece.cost_usd))}")
    if not placed:
        sheet.fact(_place(piece))
    if piece.after:
        sheet.line(after(piece.after))


def _size(piece: PieceLine) -> str:
    return SIZES.get(piece.size, piece.size)


def after(numbers: Sequence[int]) -> str:
    """Return "After: pieces 1 and 2 (starts once landed)"."""
    *head, last = [str(number) for number in numbers]
    which = f"pieces {', '.join(head)} and {last}" if head else f"piece {last}"
    return f"After: {which} (starts once landed)"


def _whole_plan(card: PlanCard) -> str:
    parts = [f"# Plan\n\n{tame(card.summary).strip()}"]
    for piece in card.pieces:
        facts = [_size(piece), tame(piece.where), _agent(piece.agent, piece.model)]
        lines = [f"## {piece.number}. {one_line(piece.title)}", _dots(*facts)]
        lines += [after(piece.after)] if piece.after else []
        parts.append("\n".join(lines) + f"\n\n{tame(piece.task).strip()}")
    return "\n\n".join(parts) + "\n"


def _worker(card: WorkerCard, sheet: _Sheet, zone: tzinfo | None) -> None:
    if card.asks:
        sheet.line(one_line(card.title, HEADING))
    attempt = f"attempt {card.attempt}" if card.attempt > 1 else ""
    stage, doing = card.stage, "" if card.doing == card.stage else card.doing
    if stage in TAKEN_IN and doing:  # ours, not the agent's: one line says it
        stage, doing = doing, ""
    sheet.fact(_dots(_capital(stage), attempt, one_line(card.where)))
    sheet.fact(one_line(doing, 160), "italic")
    _waits(card.waits, sheet, zone)
    if card.uncopied:
        sheet.line(f"⚠ Not copied into its tree: {one_line(card.uncopied, 200)}")
    if card.failure:
        sheet.line(one_line(card.failure, 400))
    _report(card.report, sheet)
    sheet.foreign("Its last words:", markdown(card.said), "last-words.md")
    sheet.fact(
        _dots(_agent(card.agent, card.model), money(card.cost_usd), text_live.lines_to_come(card))
    )


def _permission(card: PermissionCard, sheet: _Sheet) -> None:
    sheet.fact(_dots(one_line(card.who), one_line(card.tool, 60)))
    where = one_line(card.machine, 60)
    if card.fenced:
        sheet.line(f"{where} · fenced")
    else:
        sheet.line(f"⚠ {where} · unfenced: it can touch all that this user can", "bold")
    command = visible(card.command)
    if units(command) <= COMMAND_ROOM:
        sheet.add(command, "pre").line()
    else:
        sheet.file = Document(name="command.txt", text=command)
        sheet.line("Too long for a card: the whole of it is in the file below. Read that first.")
    why = tame(card.why).strip()
    if why.lower() not in {"run a command", f"use {card.tool}".lower(), card.tool.lower()}:
        sheet.foreign("It says why:", Rich(why), "why.txt", 400)
    if card.asks:
        sheet.fact(text_rules.offered(card))
        sheet.line("Allow runs it this once. Deny tells it no.")
    sheet.fact(text_rules.kept(card))


def _question(card: QuestionCard, sheet: _Sheet) -> None:
    sheet.line(one_line(card.who))
    for question, answer in zip(card.questions, card.answers, strict=False):
        sheet.line(f"{one_line(question.header or question.text, 80)}: {one_line(answer)}")
    if len(card.answers) >= len(card.questions):
        return
    number = len(card.answers)
    question = card.questions[number]
    label = f"It asks ({number + 1} of {len(card.questions)}):" if len(card.questions) > 1 else ""
    sheet.foreign(label or "It asks:", markdown(question.text), "question.md", COMMAND_ROOM)
    _listed(question.options, sheet)


def _listed(options: Sequence[str], sheet: _Sheet) -> None:
    """Spell the options out where a button's label would cut them."""
    if any(len(option) > LONG_LABEL for option in options):
        for number, option in enumerate(options, 1):
            sheet.add(f"{number}. ").add(one_line(option, 300), "italic").line()


def _command(card: CommandCard, sheet: _Sheet) -> None:
    sheet.fact(_dots(one_line(card.project), one_line(card.source)))
    command = visible(card.command)
    if units(command) <= COMMAND_ROOM:
        sheet.add(command, "pre").line()
    else:
        sheet.file = Document(name=f"{card.kind}.txt", text=command)
        sheet.line("Too long for a card: the whole of it is in the file below. Read that first.")
    if card.asks:
        sheet.line("Asked once for exactly this; again when it changes.")


def _review(card: ReviewCard, sheet: _Sheet) -> None:
    size = stats(card.commits, card.files, card.added, card.removed)
    sheet.line(_dots(size, money(card.cost_usd)))
    if card.check:
        mark = "✓ " if card.check_passed else "✗ " if "fail" in card.check else ""
        check = _capital(one_line(card.check, 160))
        sheet.line(mark + re.sub(r"\b(in|after) 0 s\b", r"\1 under 1 s", check))
    for risk in card.risks:
        sheet.line(f"⚠ {one_line(risk, 160)}")
    sheet.fact(corrected(card.corrected))
    sheet.foreign("The lead:", markdown(card.summary), "summary.md", 1500)
    if card.pieces:
        sheet.line("Landed: " + "; ".join(one_line(title, 60) for title in card.pieces[:12]))
    if not card.check_passed:
        _report(card.report, sheet)
    if card.asks:
        sheet.line("Ship pushes nothing yet: Push comes last.")


def stats(commits: int, files: int, added: int, removed: int) -> str:
    """Return the size of a change: commits, files, lines added and removed."""
    lines = f"+{added} {MINUS}{removed}"
    return f"{_count(commits, 'commit')} · {_count(files, 'file')} · {lines}"


def corrected(times: int) -> str:
    """Return "Corrected once", or nothing."""
    return {0: "", 1: "Corrected once", 2: "Corrected twice"}.get(times, f"Corrected {times} times")


def _ship(card: ShipCard, sheet: _Sheet) -> None:
    marks = {"done": "✓", "doing": "…", "failed": "✗"}
    for step in card.steps:
        sheet.line(f"{marks.get(step.state, '○')} {one_line(step.text, 160)}")
    to = "At" if card.stage == "shipped" else "To"
    if card.target:
        sheet.add(f"{to}: {one_line(card.target, 200)}")
        if card.commit:
            sheet.add(" · ").add(one_line(card.commit[:7]), "code")
        sheet.line()
    sheet.fact(_capital(tame(card.why).strip()))
    label = "The check says:" if card.speaker == "check" else "The other side says:"
    sheet.foreign(label, Rich(tame(card.words).strip()), "answer.txt")
    if card.merge_hint:
        sheet.line("To merge it:").add(visible(card.merge_hint), "pre").line()
    match card.stage:
        case "proceed":
            sheet.line("Proceed gets it ready. Nothing is pushed yet.")
        case "ready":
            sheet.line("Push sends exactly this commit. Cancel sends nothing.")


def _report(report: str, sheet: _Sheet) -> None:
    """The last lines of what a command printed; whole in a file where they do not fit."""
    if not report.strip():
        return
    text = tame(report).strip("\n")
    if units(text) > 1000:
        sheet.file = Document(name="report.txt", text=text)
        text = _tail(text, 700)
    sheet.line("What it printed last:", "italic").add(text, "pre").line()


def _tail(text: str, room: int) -> str:
    """Return the last whole lines that fit, or the end of the last one."""
    lines: list[str] = []
    for line in reversed(text.split("\n")):
        if units("\n".join([line, *lines])) > room:
            break
        lines.insert(0, line)
    return "\n".join(lines) or f"…{text[-room // 2 :]}"


def _waits(waits: Iterable[Wait], sheet: _Sheet, zone: tzinfo | None) -> None:
    for wait in waits:
        until = f" · goes on at {clock(wait.until, zone)}" if wait.until else ""
        sheet.line(f"{one_line(wait.what)}: {one_line(wait.why, 200)}{until}")


def _rows(card: AnyCard) -> tuple[tuple[Button, ...], ...]:
    """Return the keyboard: options first, side by side where they are short."""
    options: list[Button] = []
    plain: list[Button] = []
    for verb in card.buttons:
        if card.decided and verb not in READING:
            continue
        if verb.startswith("option-"):
            options.append(Button(_option_label(card, verb), verb))
        else:
            plain.append(Button(label(verb), verb, _style(verb)))
    brief = all(len(button.label) <= SHORT_LABEL for button in options)
    return side_by_side(options, 3 if brief else 1) + side_by_side(plain, 3)


def side_by_side(buttons: Sequence[Button], most: int) -> tuple[tuple[Button, ...], ...]:
    """Return rows of at most so many buttons."""
    width = 2 if most > 2 and len(buttons) == 4 else most
    return tuple(tuple(buttons[at : at + width]) for at in range(0, len(buttons), width))


def label(verb: str) -> str:
    return LABELS.get(verb) or _capital(verb.replace("_", " "))


def _style(verb: str) -> str:
    return "success" if verb in GREEN else "danger" if verb in RED else ""


def _option_label(card: AnyCard, verb: str) -> str:
    """An option's own words; an agent's could be those of a button of ours."""
    words = one_line(_option(card, verb), LONG_LABEL)
    return lookalikes.quoted(words, LABELS.values()) if isinstance(card, QuestionCard) else words


def _option(card: AnyCard, verb: str) -> str:
    number = int(verb.removeprefix("option-"))
    options: Sequence[str] = ()
    if isinstance(card, WhereCard | ProjectCard):
        options = card.options
    elif isinstance(card, QuestionCard) and len(card.answers) < len(card.questions):
        options = card.questions[len(card.answers)].options
    return (options[number].strip() if number < len(options) else "") or f"Option {number + 1}"


# ---------------------------------------------------------------- notes, files, answers


def note(note: Note) -> list[Words]:
    """Return a note as messages to be sent once, in order."""
    if note.kind == "words":
        return spoken(note.who or "An agent", note.text)
    sheet = Builder()
    if note.sounds:
        sheet.line("News that needs you", "bold")
    mark = "⚠ " if note.kind == "warning" else ""
    sheet.add(mark).add(tame(note.text).strip())
    return _parts(sheet)


def spoken(who: str, said: str) -> list[Words]:
    """Return an agent's words, each message under its name and within a quote."""
    text = markdown(said)
    if not text.text:
        return []
    parts = split(text, ROOM - 100)
    file = None
    if len(parts) > MOST_MESSAGES:
        file = Document(name="words.md", text=tame(said))
        parts = split(text, QUOTE_ROOM)[:1]
    messages = []
    for number, part in enumerate(parts, 1):
        sheet = Builder()
        count = f" ({number} of {len(parts)})" if len(parts) > 1 else ""
        sheet.line(f"{one_line(who, HEADING)}{count}:", "italic")
        kind = "expandable_blockquote" if units(part.text) > QUOTE_ROOM else "blockquote"
        sheet.rich(part, kind).line()
        if file:
            sheet.line("… all of it is in the file below.")
        messages.append(Words(sheet.done(), file=file))
    return messages


# What a lead answers to news when it has nothing to add.
_ROUTINE = re.compile(
    r"acknowledged|got it|heard|noted|ok|okay|standing by|thank you|thanks|understood|waiting"
)
ROUTINE_UNITS = 40


def routine(said: str) -> bool:
    """Return whether words only say that they were heard; any other word in them is a message."""
    parts = [part.strip() for part in re.split(r"[.,;!…\n]+", said.lower())]
    brief = units(said) <= ROUTINE_UNITS
    return brief and all(_ROUTINE.fullmatch(part) for part in parts if part)


def joined(messages: Sequence[Words]) -> Words:
    """Return one speaker's messages as one, the name once and a quote for each."""
    sheet, last = Builder(), ""
    for words in messages:
        name, _, _ = words.rich.text.partition("\n")
        at = units(name) + 1 if name == last else 0
        sheet.rich(cut(words.rich, at, units(words.rich.text))).line()
        last = name
    file = next((words.file for words in messages if words.file), None)
    return Words(sheet.done(), file=file)


def board(board: Board, zone: tzinfo | None = None) -> list[Words]:
    """Return /status: what waits on the owner, runs, comes next, has landed."""
    sheet = Builder()
    parts = {
        "Waits on you": board.now,
        "Running": board.running,
        "Next": board.next,
        "Landed": board.landed[:10],
    }
    for title, rows in parts.items():
        if rows:
            sheet.line(title, "bold")
            for row in rows:
                _row(row, sheet, zone)
            sheet.line()
    if not sheet.size:
        sheet.line("Nothing waits on you and nothing runs.").line()
    for machine in board.machines:
        sheet.line(one_line(machine, 160))
    return _parts(sheet)


def _row(row: Row, sheet: Builder, zone: tzinfo | None) -> None:
    until = f" · {clock(row.until, zone)}" if row.until else ""
    sheet.line(f"• {_dots(one_line(row.title, HEADING), one_line(row.text, 160))}{until}")


def asks(rows: Sequence[Row], zone: tzinfo | None = None) -> list[Words]:
    """Return /asks: only what waits on the owner."""
    sheet = Builder()
    if not rows:
        sheet.line("Nothing waits on you.")
    else:
        sheet.line(f"{_count(len(rows), 'decision')} {_wait(len(rows))} on you", "bold")
        for row in rows:
            _row(row, sheet, zone)
    return _parts(sheet)


def catch_up(rows: Sequence[Row], zone: tzinfo | None = None) -> list[Words]:
    """Return what is said when quiet hours are over and something waits."""
    sheet = Builder()
    waits = f"{_count(len(rows), 'decision')} {_wait(len(rows))} on you"
    sheet.line(f"Quiet hours are over: {waits}", "bold")
    for row in rows:
        _row(row, sheet, zone)
    return _parts(sheet)


def reminder(cards: Sequence[AnyCard], zone: tzinfo | None = None) -> Words:
    """Return that decisions still wait, in our words alone: it sounds."""
    still = "still waits" if len(cards) == 1 else "still wait"
    sheet = Builder().line(f"{_count(len(cards), 'decision')} {still} on you", "bold")
    for card in cards[:20]:
        since = f" · since {clock(card.at, zone)}" if card.at else ""
        sheet.line(f"• {_first_line(card)}{since}")
    return Words(sheet.done())


def projects(views: Sequence[ProjectView]) -> list[Words]:
    """Return /projects."""
    sheet = Builder()
    for view in views:
        sheet.add(one_line(view.name, HEADING), "bold").line(f" · {one_line(view.base)}")
        sheet.add(one_line(view.source, 200), "code").line()
        if view.push and view.push != view.source:
            sheet.add("pushes to ").add(one_line(view.push, 200), "code").line()
        for command in view.commands:
            sheet.line(one_line(command, 160))
    if not views:
        sheet.line("No project yet.")
    sheet.line().line("Add one: /projects add NAME URL_OR_PATH")
    return _parts(sheet)


def health(found: dict[str, object]) -> list[Words]:
    """Return /health: what the engine says of itself, a fact a line."""
    sheet = Builder().line("Health", "bold")
    for name, value in found.items():
        sheet.line(f"{_capital(name.replace('_', ' '))}: {one_line(_plainly(value), 300)}")
    return _parts(sheet)


def _plainly(value: object) -> str:
    if isinstance(value, dict):
        value = [f"{name} {_plainly(one)}" for name, one in value.items()]
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value)) or "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def document(document: Document) -> list[Words]:
    """Return a text somebody asked for: in a block where it fits, else as a file."""
    text = tame(document.text).strip("\n")
    sheet = Builder()
    sheet.line(one_line(document.caption or document.name, 200), "italic")
    if not text.strip():
        return [Words(sheet.line("It is empty.").done())]
    if units(text) > COMMAND_ROOM:
        return [Words(sheet.done(), file=document)]
    language = document.name.rpartition(".")[2] if document.name.endswith(".diff") else ""
    return [Words(sheet.add(text, "pre", language=language).done())]


def said(sentence: str) -> Words:
    """Return one sentence of ours as a message."""
    return Words(split(Builder().add(tame(sentence)).done(), ROOM)[0])


def _parts(sheet: Builder) -> list[Words]:
    return [Words(part) for part in split(sheet.done(), ROOM)]


NOT_THERE = "That is not there any more. Look at it again."
ANSWER_NONE = "Nobody hears a reply to this. Tap a button there, or write without replying."
PROMPTS = {
    "correct": ("What should be different? Reply to this message.", "It goes to the lead"),
    "another": (
        "Which command checks it? Reply to this message.",
        "As you would type it in its folder",
    ),
    "answer": ("Your answer? Reply to this message.", "It goes to who asked"),
    "send_back": ("What should it do otherwise? Reply to this message.", "It goes to the worker"),
    "new": ("What is the goal? Reply to this message.", "A lead plans it first"),
}

HELP = """\
Give a goal: /new, or just write it here. A lead plans it and waits for your Start.

/status  what waits on you, runs, comes next
/asks  only what waits on you
/file  a file of this session: /file docs/plan.md
/projects  list; /projects add NAME URL_OR_PATH
/machines  list; /machines add NAME USER@HOST
/accounts  list; /accounts add NAME claude
/stop  in a session, or /stop all
/resume  in a session, or /resume all
/settings  yours; in a session: its mode, model, machines; or /settings PROJECT
/settings rules  what Always allows: take it back
/health  is all well?

Reply to a card or write in its topic to speak to that session; photos and documents sent along reach \
its agent. It hears you after its turn, or at once with Now on its card. Interrupt ends a turn, Stop all \
of it until Resume. A key you paste is sealed and \
deleted from the chat before any agent sees it."""

COMMANDS = (
    ("new", "Give a goal: /new [project] [goal]"),
    ("status", "What waits on you, what runs"),
    ("asks", "Only what waits on you"),
    ("projects", "List projects, or add one"),
    ("file", "A file of this session: /file docs/plan.md"),
    ("machines", "Computers agents run on, or add one"),
    ("accounts", "Who pays for agents, or add one"),
    ("stop", "Stop this session, or: /stop all"),
    ("resume", "Go on with it, or: /resume all"),
    ("settings", "Yours; in a session: its own; or of a project"),
    ("health", "Is all well?"),
    ("help", "What can be said here"),
)


# ---------------------------------------------------------------- small words


def clock(at: float, zone: tzinfo | None = None) -> str:
    """Return HH:MM in the owner's time."""
    return datetime.fromtimestamp(at, zone).strftime("%H:%M")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _wait(number: int) -> str:
    return "waits" if number == 1 else "wait"


def _agent(agent: str, model: str) -> str:
    return one_line(agent if model in {"", agent} else f"{agent} {model}", 60)


def _dots(*parts: str) -> str:
    return " · ".join(one_line(part, 160) for part in parts if part)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
