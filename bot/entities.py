"""Text with formatting, as Telegram counts it: a builder, a splitter, and the taming of foreign text.

Offsets and lengths are UTF-16 units throughout; a parse mode is never used, so nothing an agent
writes can be markup. text_sheet.py builds our wording with `Builder`; outbox.py sends what comes out.
"""

import re
import unicodedata

from msgspec import Struct

from engine.rules import unseen

TEXT_LIMIT = 4096
CAPTION_LIMIT = 1024
# Telegram keeps the first hundred entities and drops the rest without a word.
MOST_SPANS = 90

ZWJ = "\u200d"
# Zero width or blank although they are letters, marks or symbols to Unicode.
UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


class Span(Struct, frozen=True):
    """One formatted stretch: bold, italic, code, pre, blockquote, expandable_blockquote, text_link."""

    kind: str
    offset: int
    length: int
    language: str = ""
    url: str = ""


class Rich(Struct, frozen=True):
    """A text and its spans, which lie inside it and never start or end within a surrogate pair."""

    text: str
    spans: tuple[Span, ...] = ()


def units(text: str) -> int:
    """Return the length as Telegram counts it."""
    return len(text) + sum(char > "\uffff" for char in text)


class Builder:
    """Puts a text together; each piece names how it looks."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._spans: list[Span] = []
        self._at = 0

    def add(self, text: str, *kinds: str, language: str = "") -> "Builder":
        """Append `text`, formatted as all of `kinds`."""
        if text:
            size = units(text)
            self._spans += [Span(kind, self._at, size, language) for kind in kinds]
            self._parts.append(text)
            self._at += size
        return self

    def line(self, text: str = "", *kinds: str) -> "Builder":
        """Append `text` and end the line; the line end is not formatted."""
        return self.add(text, *kinds).add("\n")

    def rich(self, rich: Rich, *kinds: str) -> "Builder":
        """Append a text that has spans of its own, the whole formatted as `kinds`."""
        self._spans += [Span(kind, self._at, units(rich.text)) for kind in kinds if rich.text]
        self._spans += [_moved(span, self._at) for span in rich.spans]
        self._parts.append(rich.text)
        self._at += units(rich.text)
        return self

    @property
    def size(self) -> int:
        return self._at

    def done(self) -> Rich:
        """Return what was built, without blank ends."""
        return trimmed(self.whole())

    def whole(self) -> Rich:
        """Return what was built, as it is."""
        return Rich("".join(self._parts), tuple(self._spans))


def _moved(span: Span, by: int) -> Span:
    return Span(span.kind, span.offset + by, span.length, span.language, span.url)


def trimmed(rich: Rich) -> Rich:
    """Cut blank ends off, as the server would, so that two equal texts stay equal."""
    body = rich.text.rstrip()
    lead = len(body) - len(body.lstrip("\n"))
    start, end = lead, units(body)
    spans = [_clipped(span, start, end) for span in rich.spans]
    return Rich(body[lead:], tuple(span for span in spans if span is not None))


def _clipped(span: Span, start: int, end: int) -> Span | None:
    """Return the part of a span within [start, end), counted from `start`."""
    first, last = max(span.offset, start), min(span.offset + span.length, end)
    if last <= first:
        return None
    return Span(span.kind, first - start, last - first, span.language, span.url)


def cut(rich: Rich, start: int, end: int) -> Rich:
    """Return the part within [start, end), in units; both must lie between characters."""
    raw = rich.text.encode("utf-16-le", "surrogatepass")
    text = raw[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")
    spans = (_clipped(span, start, end) for span in rich.spans)
    return Rich(text, tuple(span for span in spans if span is not None))


# ---------------------------------------------------------------- splitting


def split(rich: Rich, limit: int = TEXT_LIMIT, most_spans: int = MOST_SPANS) -> list[Rich]:
    """Return parts of at most `limit` units, each complete in itself.

    Every style open at a cut is closed there and opened again behind it, `pre` with its language.
    Cuts fall on a blank line, a line end or a space where one is near, and never inside what is
    seen as one character. Blank parts are left out.
    """
    at = _positions(rich.text)
    parts: list[Rich] = []
    start = 0
    for cut in _cuts(rich, at, limit, most_spans):
        text = rich.text[start:cut]
        if text.strip():
            spans = (_clipped(span, at[start], at[cut]) for span in rich.spans)
            parts.append(trimmed(Rich(text, tuple(span for span in spans if span is not None))))
        start = cut
    return parts


def _positions(text: str) -> list[int]:
    """Return the UTF-16 offset of each code point, and of the end."""
    at = [0]
    for char in text:
        at.append(at[-1] + (2 if char > "\uffff" else 1))
    return at


def _cuts(rich: Rich, at: list[int], limit: int, most_spans: int) -> list[int]:
    """Return where parts end, in code points; the last one is the text's end."""
    cuts: list[int] = []
    start, size = 0, len(rich.text)
    ordered = sorted(rich.spans, key=lambda span: span.offset)
    while start < size:
        end = start
        while end < size and at[end + 1] - at[start] <= limit:
            end += 1
        end = _with_few_spans(ordered, at, start, end, most_spans)
        if end < size:
            end = _good_cut(rich.text, start, end)
        cuts.append(end)
        start = end
    return cuts


def _with_few_spans(ordered: list[Span], at: list[int], start: int, end: int, most: int) -> int:
    """Return `end`, or earlier where the next span would be one too many."""
    inside = [s for s in ordered if s.offset < at[end] and s.offset + s.length > at[start]]
    if len(inside) <= most or inside[most].offset <= at[start]:
        return end
    return next(i for i in range(start + 1, end + 1) if at[i] >= inside[most].offset)


def _good_cut(text: str, start: int, end: int) -> int:
    half = start + (end - start) // 2
    for mark in ("\n\n", "\n", " "):
        found = text.rfind(mark, half, end)
        if found > start:
            return found + len(mark)
    for cut in range(end, max(start, end - 64), -1):
        if not _joined(text, cut):
            return cut
    return end


def _joined(text: str, cut: int) -> bool:
    """Return whether the characters on both sides of `cut` are seen as one."""
    before, after = text[cut - 1], text[cut]
    if before == ZWJ or after == ZWJ or unicodedata.category(after) in {"Mn", "Me", "Mc"}:
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True  # a skin tone, a tag of a flag
    if before == "\r" and after == "\n":
        return True
    flags = 0
    while flags < cut and "\U0001f1e6" <= text[cut - 1 - flags] <= "\U0001f1ff":
        flags += 1
    return flags % 2 == 1 and "\U0001f1e6" <= after <= "\U0001f1ff"


# ---------------------------------------------------------------- foreign text


def visible(text: str) -> str:
    """Return `text` with every character that could hide or reorder something spelled out.

    For what the owner decides on: control characters become their pictures (␛), bidirectional,
    zero-width and odd blank characters their numbers (⟨U+202E⟩). Line ends and tabs stay.
    """
    return "".join(map(_seen, text))


def _seen(char: str) -> str:
    if char in "\n\t" or " " <= char <= "~":
        return char
    if char < " ":
        return chr(0x2400 + ord(char))
    if char == "\x7f":
        return "\u2421"
    kind = unicodedata.category(char)
    hidden = kind in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"} or char in UNSEEN
    if hidden or "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef":
        return f"⟨U+{ord(char):04X}⟩"
    return char


def tame(text: str) -> str:
    """Return foreign prose without what could break our cards: controls go, what nobody sees is shown.

    Joiners and marks that scripts and emoji need stay as they are; marks by the dozen are left out.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    text = re.sub("[\u2028\u2029]", "\n", text)
    text = re.sub("[\x00-\x09\x0b-\x1f\x7f-\x9f]", "", text)
    return unseen.shown(re.sub("[\ud800-\udfff]", "\ufffd", text))


# As the server finds them: a slash and a word, which a tap sends in the reader's name.
_COMMAND = re.compile(r"(?<![\w/<>])/(?=[A-Za-z0-9_]{1,64}(?:@\w{3,32})?(?![\w/<>]))")
SLASH = "\N{DIVISION SLASH}"


def unlinked(text: str) -> str:
    """Return foreign text in which nothing is a command to tap; as long as it was."""
    return _COMMAND.sub(SLASH, text)


def unlinked_rich(rich: Rich) -> Rich:
    """Return it so; what stands as code is no command anyway, and stays as it is."""
    if (plain := unlinked(rich.text)) == rich.text:
        return rich
    at = _positions(rich.text)
    code = [(s.offset, s.offset + s.length) for s in rich.spans if s.kind in {"code", "pre"}]
    chars = (
        old if any(start <= at[n] < end for start, end in code) else new
        for n, (old, new) in enumerate(zip(rich.text, plain, strict=True))
    )
    return Rich("".join(chars), rich.spans)


def one_line(text: str, most: int = 120) -> str:
    """Return foreign text as one tame line of at most `most` characters."""
    line = " ".join(tame(text).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def said_line(text: str, most: int = 120) -> str:
    """Return an agent's or a repository's words so, for a line of ours: nothing in it can be tapped."""
    return unlinked(one_line(text, most))


def markdown(text: str) -> Rich:
    """Return an agent's Markdown as text and spans; beside a link's words stands where it leads."""
    # Imported when first needed: a bot that restarts in a blink has nothing to convert yet.
    import telegramify_markdown
    from telegramify_markdown import RenderConfig

    config = RenderConfig.isolated()
    symbol = config.markdown_symbol
    for name in ("heading_level_1", "heading_level_2", "heading_level_3", "heading_level_4"):
        setattr(symbol, name, "")
    symbol.unordered_list_item = "•"
    # A formula is rare in what coding agents say; a backslash in a path is not, nor are a shell's names.
    given = tame(text).replace(_DOLLAR, "\ufffd").replace("$", _DOLLAR)
    plain, found = telegramify_markdown.convert(given, latex_escape=False, config=config)
    plain = plain.replace(_DOLLAR, "$")
    spans = [
        Span(one.type, one.offset, one.length, _dollars(one.language), _dollars(one.url))
        for one in found
        if one.type in _KEPT or one.type == "text_link"
    ]
    return unlinked_rich(_with_addresses(_whole(trimmed(Rich(plain, tuple(spans))))))


_DOLLAR = "\ufdd0"  # stands for one while Markdown is read; no character, so no text has it


def _dollars(text: str | None) -> str:
    return (text or "").replace(_DOLLAR, "$")


_KEPT = frozenset({"bold", "italic", "underline", "strikethrough", "spoiler", "code", "pre"})


def _with_addresses(rich: Rich) -> Rich:
    """Write each link's address behind its words: what is tapped is what was read."""
    for link in sorted((s for s in rich.spans if s.kind == "text_link"), key=lambda s: -s.offset):
        end = link.offset + link.length
        before, behind = cut(rich, 0, end), cut(rich, end, units(rich.text))
        words = cut(rich, link.offset, end).text
        told = "" if words in {link.url, link.url.rstrip("/")} else f" ({tame(link.url)})"
        rich = Builder().rich(before).add(told).rich(behind).whole()
    return Rich(rich.text, tuple(span for span in rich.spans if span.kind != "text_link"))


def _whole(rich: Rich) -> Rich:
    """Drop spans that lie wrong: outside the text or within a surrogate pair."""
    places = set(_positions(rich.text))
    kept = [s for s in rich.spans if s.offset in places and s.offset + s.length in places]
    return Rich(rich.text, tuple(kept))
