import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.emulator.refusal import Refusal
from bot.emulator.texts import Entity, cut, formatted, inside, is_blank, units


def silent(note: str) -> None:
    raise AssertionError(note)


def bold(offset: int, length: int) -> Entity:
    return {"type": "bold", "offset": offset, "length": length}


def test_lengths_count_utf16_units() -> None:
    """BR-04"""
    assert units("a") == 1
    assert units("😀") == 2
    assert units("🧑‍🚀") == 5


def test_a_text_is_trimmed_and_its_entities_follow() -> None:
    text, entities = formatted(" \n bold and more \n", [bold(3, 4)], "", silent)
    assert text == "bold and more"
    assert entities == [bold(0, 4)]


def test_an_entity_ends_where_the_trimmed_text_does() -> None:
    assert formatted("bold \n", [bold(0, 6)], "", silent) == ("bold", [bold(0, 4)])


def test_an_indent_inside_a_leading_code_block_is_kept() -> None:
    pre = {"type": "pre", "offset": 0, "length": 8}
    assert formatted("  indent", [pre], "", silent) == ("  indent", [pre])


def test_carriage_returns_and_direction_overrides_vanish_and_tabs_become_spaces() -> None:
    text, entities = formatted("a\r\n\u202eb\tc", [bold(4, 1)], "", silent)
    assert text == "a\nb c"
    assert inside(text, entities[0]) == "b"


def test_an_entity_that_starts_inside_a_surrogate_pair_is_an_error() -> None:
    with pytest.raises(Refusal, match="begins in a middle of a UTF-16 symbol at byte offset 4"):
        formatted("😀b", [bold(1, 2)], "", silent)


def test_an_entity_that_ends_inside_a_surrogate_pair_is_an_error() -> None:
    with pytest.raises(Refusal, match="UTF-16 offset 0 ends in a middle of a UTF-16 symbol"):
        formatted("😀b", [bold(0, 1)], "", silent)


def test_an_entity_past_the_end_is_an_error() -> None:
    with pytest.raises(Refusal, match="ends after the end of the text at UTF-16 offset 2"):
        formatted("x", [bold(0, 2)], "", silent)


def test_code_holds_no_other_entity() -> None:
    notes: list[str] = []
    code = {"type": "code", "offset": 2, "length": 3}
    _, entities = formatted("a code b", [bold(0, 4), code], "", notes.append)
    assert entities == [bold(0, 2), code]
    assert len(notes) == 1


def test_a_quote_may_hold_code() -> None:
    quote = {"type": "blockquote", "offset": 0, "length": 8}
    code = {"type": "code", "offset": 2, "length": 4}
    assert formatted("a code b", [quote, code], "", silent)[1] == [quote, code]


def test_entities_over_a_hundred_are_dropped_without_an_error() -> None:
    notes: list[str] = []
    wanted = [bold(2 * i, 1) for i in range(120)]
    _, entities = formatted("x " * 120, wanted, "", notes.append)
    assert entities == wanted[:100]
    assert notes == ["20 entities over 100 are dropped"]


@st.composite
def drafts(draw: st.DrawFn) -> tuple[str, list[Entity]]:
    """Return a text and entities that begin and end between its characters."""
    source = draw(st.text(st.sampled_from("ab \n\r\t😀\u202e/#@"), min_size=1, max_size=10))
    edges = st.integers(0, len(source)).map(lambda count: units(source[:count]))
    entities: list[Entity] = []
    for kind in draw(st.lists(st.sampled_from(["bold", "italic", "code", "pre", "blockquote"]))):
        start, end = sorted([draw(edges), draw(edges)])
        entities.append({"type": kind, "offset": start, "length": end - start})
    return source, entities


@given(drafts())
def test_what_is_kept_lies_in_the_text_and_code_stands_alone(
    draft: tuple[str, list[Entity]],
) -> None:
    text, entities = formatted(*draft, "", lambda note: None)
    spans = [(e["type"], e["offset"], e["offset"] + e["length"]) for e in entities]
    for entity, (kind, start, end) in zip(entities, spans, strict=True):
        assert 0 <= start < end <= units(text)
        inside(text, entity)  # a cut pair does not decode
        if kind in ("code", "pre"):
            others = [s for s in spans if s != (kind, start, end) and s[0] != "blockquote"]
            assert not [s for s in others if s[1] < end and start < s[2]]


def test_links_commands_mentions_and_hashtags_are_marked_up_by_themselves() -> None:
    text, entities = formatted(
        "see https://a.example/x. /ship @someone #fix #123", None, "", silent
    )
    assert [(e["type"], inside(text, e)) for e in entities] == [
        ("url", "https://a.example/x"),
        ("bot_command", "/ship"),
        ("mention", "@someone"),
        ("hashtag", "#fix"),
    ]


def test_nothing_is_marked_up_inside_code() -> None:
    code = {"type": "pre", "offset": 0, "length": 10}
    assert formatted("/ship #fix", [code], "", silent)[1] == [code]


def test_html_becomes_entities() -> None:
    text, entities = formatted(
        '<b>a</b> &lt;<i>😀</i> <a href="https://a.example">l</a>'
        '<pre><code class="language-diff">+x</code></pre>'
        "<blockquote expandable>q</blockquote>",
        None,
        "HTML",
        silent,
    )
    assert text == "a <😀 l+xq"
    assert entities == [
        bold(0, 1),
        {"type": "italic", "offset": 3, "length": 2},
        {"type": "text_link", "offset": 6, "length": 1, "url": "https://a.example"},
        {"type": "pre", "offset": 7, "length": 2, "language": "diff"},
        {"type": "expandable_blockquote", "offset": 9, "length": 1},
    ]


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("é <task>", 'Unsupported start tag "task" at byte offset 3'),
        ("<b>x", 'Can\'t find end tag corresponding to start tag "b"'),
        ("<b><i>x</b>", 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("x <b", "Unclosed start tag at byte offset 2"),
    ],
)
def test_broken_html_is_refused_in_the_servers_words(source: str, complaint: str) -> None:
    with pytest.raises(Refusal) as refused:
        formatted(source, None, "HTML", silent)
    assert refused.value.description == f"Bad Request: can't parse entities: {complaint}"


def test_markdown_is_refused() -> None:
    """BR-02"""
    with pytest.raises(Refusal, match="can't parse entities"):
        formatted("*x*", None, "MarkdownV2", silent)


def test_a_long_text_is_cut_as_the_app_cuts_it() -> None:
    """BR-06"""
    typed = "😀" * 2049
    assert [units(part) for part in cut(typed)] == [4096, 2]
    assert "".join(cut(typed)) == typed


def test_invisible_characters_alone_make_no_message() -> None:
    assert is_blank(" \u200b\n")
    assert not is_blank("x")
