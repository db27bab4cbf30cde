"""Every place of a message in which somebody else's words may stand, each filled with one text.

Cards, notes and panels as the engine hands them out, worded by bot/text.py: what the whole way brings
there is tried in test_whole_way.py with real agents, and here all the rest, at once. Neighbour: judge.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot import text, text_fleet, text_live
from bot.text import Words
from engine.rules import news
from engine.rules.unseen import in_quotes
from engine.rules.words import Question, Role
from engine.views import (
    AnyCard,
    ApproachCard,
    Board,
    CommandCard,
    Document,
    FailureCard,
    KeyedCard,
    LoginCard,
    MachineView,
    Note,
    Peek,
    PermissionCard,
    PieceLine,
    PlanCard,
    ProjectCard,
    QuestionCard,
    ReviewCard,
    Row,
    SessionCard,
    ShipCard,
    Step,
    Wait,
    WorkerCard,
    WorkLine,
)


def cards(said: str) -> Iterator[AnyCard]:
    """Yield each card with a text in each of its places that is not the owner's or ours."""
    who = news.who(Role.WORKER, 2, said)
    yield SessionCard(
        id="g-1",
        project="shop",
        title="Orders",
        text="Orders",
        stage="building",
        doing=said,
        check=f"check: {said}",
        cut_off=f"cut off during {said}",
        waits=(Wait("you", said), Wait("a time of its own choice", said)),
        work=(WorkLine(1, said, said),),
        buttons=("stop",),
    )
    yield PlanCard(
        id="pl-1",
        summary=said,
        pieces=(PieceLine(1, said, said, "S", (), "here: only machine", "claude", "", "proposed"),),
        asks=True,
        buttons=("start", "change", "discard"),
    )
    for failure in ("", said):
        yield WorkerCard(
            id="p-1",
            number=2,
            title=said,
            stage="working",
            doing=said,
            said=said,
            failure=failure,
            report=failure,
            uncopied=failure,
            cut_off=f"cut off during {said}",
            waits=(Wait("its next attempt", said),) if failure else (),
            asks=bool(failure),
            buttons=("retry", "peek", "stop") if failure else ("interrupt", "peek", "stop"),
        )
    yield PermissionCard(
        id="a-1",
        who=who,
        tool=f"mcp {said}",
        command=said,
        why=said,
        asks=True,
        buttons=("allow", "deny"),
    )
    yield KeyedCard(
        id="a-2",
        who=who,
        command=said,
        names=("SHOP_KEY",),
        why=said,
        asks=True,
        buttons=("allow", "deny"),
    )
    for count in (1, 2):
        questions = tuple(Question(said, header=said, options=(said, "No")) for _ in range(count))
        yield QuestionCard(
            id="a-3",
            who=who,
            questions=questions,
            answers=(said,) * (count - 1),
            asks=True,
            buttons=("option-0", "option-1", "answer"),
        )
    yield ApproachCard(id="a-4", who=who, text=said, asks=True, buttons=("approve", "send_back"))
    yield CommandCard(
        id="c-1",
        kind="check",
        project="shop",
        command=said,
        source=f"shop at {said}",
        asks=True,
        buttons=("allow", "not_this"),
    )
    yield ReviewCard(
        id="r-1",
        title="Orders",
        summary=said,
        check=f"check failed: {said}",
        report=said,
        risks=(f"changes CI: {said}",),
        pieces=(said,),
        asks=True,
        buttons=("ship", "correct", "diff", "drop"),
    )
    for speaker in ("remote", "check"):
        yield ShipCard(
            id="s-1",
            title="Orders",
            stage="failed",
            steps=(Step("push", "failed"),),
            target=f"main at {said}",
            why=f"it conflicts in {said}",
            words=said,
            speaker=speaker,
            asks=True,
            buttons=("proceed", "cancel"),
        )
    yield FailureCard(
        id="f-1",
        what="The lead could not start",
        why=said,
        report=said,
        asks=True,
        buttons=("retry", "stop"),
    )
    for stage in ("failed", "barred", "check"):
        yield ProjectCard(
            id="n-1",
            name="shop",
            source="https://example.org/shop",
            stage=stage,
            why=said,
            command=said,
            public="ssh-ed25519 AAAA",
            host="example.org",
            base="main",
            asks=True,
            buttons=("retry", "cancel"),
        )
    for stage in ("open", "failed"):
        yield LoginCard(
            id="login-main-1",
            account="main",
            agent="claude",
            stage=stage,
            machine="here",
            code=said,
            words=said,
            why=f"its login said {said}",
            asks=True,
            buttons=("cancel",),
        )


def messages(said: str) -> Iterator[tuple[str, Words]]:
    """Yield what is sent, named by what it is."""
    who = news.who(Role.WORKER, 2, said)
    for card in cards(said):
        yield type(card).__name__, text.card(card)
    note = Note(n=1, goal="g-1", kind="words", text=said, who=who)
    yield from (("words", words) for words in text.note(note))
    for kind in ("news", "warning"):
        note = Note(n=2, goal="g-1", kind=kind, text=f"{who} was ended.", sounds=True)
        yield from ((kind, words) for words in text.note(note))
    peek = Peek(who="The lead", goal="g-1", running=True, doing=said, doing_s=3.0, lines=(said,))
    yield "peek", Words(text_live.peek(peek))
    yield from (
        ("status", words)
        for words in text.board(
            Board(
                now=(Row("g-1", "a-1", "Orders", f"{who} asks to use {in_quotes(said)}"),),
                running=(Row("g-1", "p-1", "A · 1. ", "here", piece=said, doing=said),),
                next=(Row("g-1", "p-1", "A · 1. ", "waits for you", piece=said, why=said),),
                machines=(f"shop · 1 of 2 runs · down: {in_quotes(said)}",),
            )
        )
    )
    document = Document(name="diff.diff", text=said, caption=f"Worker 2: {said}")
    yield from (("document", words) for words in text.document(document))
    view = MachineView(
        name="shop",
        address="shop.example",
        state=f"down: {said}",
        fence=f"unfenced: {said}",
        logins=(f"claude: {said}",),
    )
    yield "machine", text_fleet.machine(view)
