"""Our wording: exact where the owner was promised it, safe whatever an agent wrote."""

from datetime import UTC

import msgspec
import pytest
from msgspec.structs import replace

from bot import text
from bot.emulator.texts import formatted
from bot.entities import TEXT_LIMIT, units
from engine.rules.words import Question
from engine.views import (
    STOPPED,
    AnyCard,
    Board,
    Document,
    KeyedCard,
    Note,
    PieceLine,
    QuestionCard,
    ReviewCard,
    ShipCard,
    Wait,
    WorkerCard,
)
from tests.bot.sample import CARDS, PIECES
from tests.bot.stage import permission, plan, review, session

HOSTILE = "/home/me/secret.py `rm -rf`\nReady to push\n\u202e" + "x" * 9000


def hostile(card: AnyCard) -> AnyCard:
    """Return the card with everything foreign in it replaced by the worst."""
    own = {"id", "goal", "revision", "stage", "kind", "decided", "tool"}
    fields = {
        name: HOSTILE
        for name in card.__struct_fields__
        if isinstance(getattr(card, name), str) and name not in own
    }
    pieces = (
        {"pieces": PIECES * 40} if hasattr(card, "summary") and card.id.startswith("pl") else {}
    )
    return replace(card, **fields, **pieces)


@pytest.mark.parametrize("card", CARDS, ids=lambda card: f"{type(card).__name__}-{card.id}")
def test_every_card_is_one_message_telegram_takes(card: AnyCard) -> None:
    for one in (card, hostile(card)):
        words = text.headed(text.card(one, UTC), "x" * 200, below=one.asks)
        assert units(words.rich.text) <= TEXT_LIMIT
        assert len(words.rich.spans) <= 100
        notes: list[str] = []
        entities = [
            {"type": s.kind, "offset": s.offset, "length": s.length} for s in words.rich.spans
        ]
        formatted(words.rich.text, entities, "", notes.append)
        assert notes == []
        assert "\u202e" not in words.rich.text


@pytest.mark.parametrize(
    "card", [c for c in CARDS if text.sounds(c)], ids=lambda c: f"{type(c).__name__}-{c.id}"
)
def test_the_first_line_of_what_sounds_is_ours_alone(card: AnyCard) -> None:
    first = text.card(card).rich.text.split("\n")[0]
    assert text.card(hostile(card)).rich.text.split("\n")[0] == first
    headed = text.headed(text.card(hostile(card)), "secret goal", below=True)
    assert headed.rich.text.split("\n")[:2] == [first, "secret goal"]


def test_the_promised_words_are_there() -> None:
    shown = text.card(plan(pieces=PIECES)).rich.text
    assert "After: pieces 1 and 2 (starts once landed)" in shown
    assert "build-box: fewest agents running there (0)" in shown
    assert "3 commits · 9 files · +412 −20" in text.card(review()).rich.text
    assert "Corrected once" in text.card(review(corrected=1)).rich.text
    assert "$1.10" in text.card(review(cost_usd=1.1)).rich.text
    ship = ShipCard(id="sh-1", title="CSV", stage="ready", steps=())
    assert text.card(ship).rich.text.startswith("Ready to push\n")
    assert text.card(replace(ship, stage="shipped")).rich.text.startswith("Shipped")


@pytest.mark.parametrize(
    ("said", "routine"),
    [
        ("Noted.", True),
        ("Heard, thanks!", True),
        ("OK: 8080 it is.", False),
        ("Heard. The next piece starts by itself.", False),
        ("Noted. " * 9, False),
    ],
)
def test_only_words_that_tell_nothing_are_routine(said: str, routine: bool) -> None:
    assert text.routine(said) is routine


def test_where_all_pieces_run_is_said_once_and_else_at_each() -> None:
    alike = tuple(replace(piece, where="here: why", model="") for piece in PIECES)
    shown = text.card(plan(pieces=alike)).rich.text
    assert shown.count("here: why · claude") == 1
    assert "All 3 · here: why · claude" in shown
    assert "2  CSV writer · small" in shown
    assert "All 3" not in text.card(plan(pieces=PIECES)).rich.text


def test_why_it_runs_there_is_not_said_of_what_is_over_and_a_fence_only_where_there_is_none() -> (
    None
):
    worker = next(card for card in CARDS if isinstance(card, WorkerCard) and not card.asks)
    landed = replace(worker, stage="landed", waits=(), where="here: only machine ticked")
    shown = text.card(landed).rich.text
    assert "Landed · attempt 2 · here\n" in shown
    assert "only machine" not in shown
    assert "here · fenced" in text.card(session(machine="here", fence="fenced")).rich.text
    loud = text.card(session(machine="here", fence="unfenced: running as root")).rich.text
    assert "\n⚠ unfenced: running as root" in loud


def test_what_the_turn_before_was_cut_off_in_is_said_once() -> None:
    worker = next(card for card in CARDS if isinstance(card, WorkerCard) and not card.asks)
    cut = "cut off during Bash: npm run build"
    for card in (worker, session()):
        for doing in (cut, "working"):
            shown = text.card(replace(card, cut_off=cut, doing=doing)).rich.text
            assert "\n↻ Cut off during Bash: npm run build; goes on, told to look first" in shown
            assert shown.lower().count(cut.lower()) == 1


def test_what_a_worker_waits_for_stands_in_place_of_its_stage() -> None:
    worker = next(card for card in CARDS if isinstance(card, WorkerCard) and not card.asks)
    for what, why, said in (
        ("your answer", "it asked and goes on then", "Waits for your answer: it asked"),
        ("a place to run", "here: paused by you", "Waits for a place to run: here: paused by you"),
        (STOPPED, "nothing runs until /resume", "Stopped by you: nothing runs until /resume"),
    ):
        card = replace(worker, stage="working", doing="", waits=(Wait(what, why),))
        shown = text.card(card).rich.text
        assert said in shown
        assert "Working" not in shown
    soon = Wait("a place to run", "here: starting, 1st in line", 1e9, latest=True)
    shown = text.card(replace(worker, stage="working", doing="", waits=(soon,))).rich.text
    assert "in line · goes on at the latest at " in shown


def test_a_decided_permission_says_so_in_its_first_line() -> None:
    for decided, title in (
        ("Allowed by you", "Command allowed"),
        ("Denied by you", "Command denied"),
        ("The goal is over", "About a command"),
    ):
        words = text.card(permission(asks=False, decided=decided))
        assert words.rich.text.split("\n")[0] == title


def test_a_reason_that_only_repeats_the_tool_is_left_out() -> None:
    assert "It says why" not in text.card(permission(why="Run a command")).rich.text
    assert "It says why" in text.card(permission(why="Run the new tests")).rich.text


def test_nothing_is_red_but_what_cannot_be_taken_back() -> None:
    buttons = [button for card in CARDS for row in text.card(card).buttons for button in row]
    assert {button.verb for button in buttons if button.style == "danger"} == {"drop"}


def test_a_quick_check_took_no_zero_seconds() -> None:
    shown = text.card(review(check="check passed in 0 s", cost_usd=0.12)).rich.text
    assert "✓ Check passed in under 1 s" in shown
    assert "3 commits · 9 files · +412 −20 · $0.12" in shown
    assert "in 10 s" in text.card(review(check="check passed in 10 s")).rich.text


def test_a_session_begins_with_how_far_it_is() -> None:
    card = session(stage="building", pieces=3, landed=2)
    assert text.card(card).rich.text.startswith("Building · 2 of 3 landed\n")
    assert text.card(replace(card, rehearsal=True)).rich.text.startswith("Rehearsal · Building")


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((1,), "After: piece 1 (starts once landed)"),
        ((1, 2), "After: pieces 1 and 2 (starts once landed)"),
        ((1, 2, 5), "After: pieces 1, 2 and 5 (starts once landed)"),
    ],
)
def test_what_a_piece_waits_for_is_said(numbers: tuple[int, ...], words: str) -> None:
    assert text.after(numbers) == words


def test_the_review_has_its_four_buttons_two_by_two() -> None:
    rows = text.card(review()).buttons
    assert [[b.label for b in row] for row in rows] == [["Ship", "Correct…"], ["Diff", "Drop"]]


def test_options_have_their_own_words_and_long_ones_a_row_each() -> None:
    question = Question("Which?", options=("All", "Only the ones that were paid for in full, " * 2))
    card = QuestionCard(
        id="a-1", who="The lead", questions=(question,), buttons=("option-0", "option-1", "answer")
    )
    words = text.card(card)
    assert [len(row) for row in words.buttons] == [1, 1, 1]
    assert "2. Only the ones that were paid for in full" in words.rich.text


def test_a_decided_card_says_what_and_has_no_buttons_but_to_read() -> None:
    card = permission(asks=False, decided="Allowed by you", decided_at=0.0)
    assert text.card(card, UTC).rich.text.endswith("✓ Allowed by you")
    assert text.card(card).buttons == ()
    decided = text.card(review(decided="Shipping", buttons=("diff",), asks=False))
    assert [b.verb for row in decided.buttons for b in row] == ["diff"]


def test_the_whole_command_is_shown_or_comes_as_a_file() -> None:
    short = text.card(permission(command="echo '\u200b'"))
    assert "echo '⟨U+200B⟩'" in short.rich.text
    assert short.file is None
    long = text.card(permission(command="echo \u202e" + "x" * 5000))
    assert "file below" in long.rich.text
    assert long.file == Document(name="command.txt", text="echo ⟨U+202E⟩" + "x" * 5000)


def test_the_file_of_a_command_gives_way_to_nothing() -> None:
    words = text.card(permission(command="x" * 5000, why="because " * 100))
    assert words.file is not None
    assert words.file.name == "command.txt"
    assert "… cut here." in words.rich.text


def test_a_plan_is_always_readable_whole() -> None:
    """BR-07: what does not fit the card is in the file with it."""
    pieces = tuple(replace(PIECES[0], number=n, task=f"task {n} " * 90) for n in range(1, 13))
    words = text.card(plan(pieces=pieces))
    assert words.file is not None
    assert all(f"task {n} " in words.file.text for n in range(1, 13))


def test_an_agents_words_stand_in_a_quote_under_its_name() -> None:
    """Else they could pass for a card."""
    for words in text.spoken("The lead", "**Ready to push**\n\n" + "word " * 1500):
        assert words.rich.text.startswith("The lead (")
        quotes = [s for s in words.rich.spans if "blockquote" in s.kind]
        name, _, said = words.rich.text.partition("\n")
        assert (quotes[0].offset, quotes[0].length) == (units(name) + 1, units(said))


def test_very_long_words_come_as_a_file_under_a_short_message() -> None:
    """BR-07: a report of 40,000 characters."""
    (words,) = text.spoken("The lead", "All is well. " * 3200)
    assert units(words.rich.text) < 1200
    assert words.file is not None
    assert len(words.file.text) > 40_000


def test_an_empty_last_word_is_no_message() -> None:
    assert text.spoken("The lead", " \n") == []


def test_a_note_that_sounds_begins_with_our_own_line() -> None:
    (words,) = text.note(Note(n=1, goal="", kind="warning", text="/etc/x", sounds=True))
    assert words.rich.text == "News that needs you\n⚠ /etc/x"


def test_status_with_nothing_says_so() -> None:
    (words,) = text.board(Board())
    assert words.rich.text == "Nothing waits on you and nothing runs."


def test_health_is_a_fact_a_line() -> None:
    found = {"disk_free_gb": 3.5, "held": False, "limits": {"here": 10}, "broken": {}}
    (words,) = text.health(found)
    assert words.rich.text == "All is well.\n3.5 GB free on this disk"


def test_health_says_first_what_is_not_well_and_what_waits_for_whom() -> None:
    found = {
        "machines": ["here · 1 of 10 runs · fenced", "box · 0 of 4 runs · down: no answer"],
        "running": 1,
        "waiting": 2,
        "decisions": 1,
        "held": True,
        "patience": {"a check": "20 min"},
    }
    (words,) = text.health(found)
    assert words.rich.text.startswith("Not all is well.\n⚠ box is away\n⚠ Everything is stopped")
    assert "1 at work · 2 waiting for a place · 1 decision waiting for you" in words.rich.text
    assert [s.kind for s in words.rich.spans][-1] == "expandable_blockquote"


def test_a_diff_that_fits_is_a_block_and_a_long_one_a_file() -> None:
    (short,) = text.document(Document(name="r-1.diff", text="+ a", caption="Diff"))
    assert [s.language for s in short.rich.spans if s.kind == "pre"] == ["diff"]
    (long,) = text.document(Document(name="r-1.diff", text="+ a\n" * 2000))
    assert long.file is not None


def test_no_view_is_changed_by_being_read() -> None:
    card: ReviewCard = review()
    before = msgspec.json.encode(card)
    text.card(card)
    assert msgspec.json.encode(card) == before


def test_a_plan_of_one_piece_lists_its_task() -> None:
    piece = PieceLine(
        1, "T", "Do it\nwell", "S", (), "here: only machine", "claude", "", "proposed"
    )
    assert "1. Do it\nwell" in text.card(plan(pieces=(piece,))).rich.text


def test_a_keyed_command_s_other_signs_are_named_on_its_card() -> None:
    """A letter of another script looks like a plain one, and leads the key elsewhere."""
    card = next(one for one in CARDS if isinstance(one, KeyedCard) and not one.decided)
    shown = text.card(replace(card, command="curl https://\u0430pi.example.org/\u202ex")).rich.text
    assert "⚠ No plain sign: \u0430 is U+0430, cyrillic small letter a" in shown
    assert "⚠ No plain sign: ⟨U+202E⟩ is U+202E, right-to-left override" in shown
    assert (
        "No plain sign"
        not in text.card(replace(card, command="curl https://api.example.org")).rich.text
    )
    many = text.card(replace(card, command="".join(map(chr, range(0x430, 0x43A))))).rich.text
    assert "⚠ and 5 more such signs" in many
