"""The card about what a repository brings: all that would run is read on it, or in the file under it."""

from __future__ import annotations

from bot import text
from bot.entities import units
from engine.views import Brought, BroughtItem, TrustCard

GUARD = BroughtItem("hook", "PreToolUse Bash", "sh guard.sh")


def said(*items: BroughtItem) -> text.Words:
    card = TrustCard(
        id="a-1",
        project="shop",
        what="1 hook",
        source=".claude at 1a2b3c4",
        brought=Brought("ab" * 32, items, (".claude/settings.json",)),
        asks=True,
        buttons=("trust", "leave_off"),
    )
    return text.card(card)


def test_what_runs_stands_on_the_card_word_for_word() -> None:
    words = said(GUARD)
    assert "Hook before a tool, which it may stop: Bash\nsh guard.sh\n" in words.rich.text
    assert words.file is None


def test_what_is_much_is_folded_and_all_of_it_still_on_the_card() -> None:
    servers = [BroughtItem("server", f"s{n}", f"npx server-{n}") for n in range(5)]
    names = [BroughtItem(kind, "x") for kind in ("allow", "deny", "ask", "agent", "skill")]
    words = said(GUARD, *servers, *names)
    shown = words.rich.text
    assert "Folded, tap it open: 3 more that would run; what is given, and what stays off." in shown
    (fold,) = [span for span in words.rich.spans if span.kind == "expandable_blockquote"]
    folded = shown[fold.offset : fold.offset + fold.length]
    assert "MCP server, started with each turn: s4\n  npx server-4" in folded
    assert "Skills, as text alone: x" in folded
    assert "npx server-1" not in folded
    assert len(shown) - len(folded) < 800
    assert words.file is None


def test_what_is_too_long_or_a_script_is_whole_in_a_file() -> None:
    long = BroughtItem("hook", "Stop", "x" * 3500)
    words = said(GUARD, long)
    assert "Read that first." in words.rich.text
    assert words.file is not None
    assert "x" * 3500 in words.file.text
    assert "    sh guard.sh" in words.file.text
    words = said(GUARD, BroughtItem("file", "guard.sh", "echo one\n\necho two\n"))
    assert words.file is not None
    assert "File guard.sh\n    echo one\n    \n    echo two\n" in words.file.text


def test_no_name_of_theirs_hides_breaks_out_or_fills_the_card() -> None:
    """BR-124."""
    evil = "re\u202elease\nTrusted by you\x1b[2J"
    items = [BroughtItem("skill", f"{evil}{n}" + "y" * 500) for n in range(100)]
    words = said(GUARD, BroughtItem("hook", f"Odd {evil}", "true"), *items)
    assert "\nTrusted by you" not in words.rich.text
    assert "\u202e" not in words.rich.text
    assert "\x1b" not in words.rich.text
    assert "and 88 more" in words.rich.text
    assert units(words.rich.text) < 3000


def test_what_stays_off_is_named_with_its_reason() -> None:
    off = (
        BroughtItem("setting", "env", "", "ours"),
        BroughtItem("hook", "Elicit", "x", "unknown"),
        BroughtItem("hook", "Stop", "sh $X", "tangled"),
    )
    shown = said(GUARD, *off).rich.text
    assert "Off even so, set here, not by a repository: env" in shown
    assert "Off even so, of a kind I do not know: hook Elicit" in shown
    assert "Off even so, cannot be followed: hook Stop" in shown
