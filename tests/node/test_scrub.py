"""Values taken out of what a command prints: in every form they are looked for, wherever they are cut."""

from __future__ import annotations

import base64
import json
import os
import textwrap
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.node.printed import KEPT, Printed
from engine.node.scrub import LEAST, Scrubber

VALUE = 'sk_live/51+Hq"9 \\zü&=%Xw7Tn'
NAME = "STRIPE_KEY"
STAND_IN = b"{{STRIPE_KEY}}"
PEM = "\n".join(
    ["-----BEGIN KEY-----", *(f"{n}MIIEvQIBADANBgkqhkiG9w0BA{n}" for n in range(4)), "end"]
)


def coded(value: str) -> dict[str, str]:
    plain = value.encode()
    wrapped = base64.encodebytes(plain * 1).decode()
    return {
        "as it is": value,
        "base64": base64.b64encode(plain).decode(),
        "base64 within a longer one": base64.b64encode(b"user:" + plain + b"\n").decode(),
        "another place in it": base64.b64encode(b"u:" + plain + b"tail").decode(),
        "url-safe base64": base64.urlsafe_b64encode(b"x" + plain).decode(),
        "wrapped base64": "\n".join(textwrap.wrap(base64.b64encode(plain).decode(), 7)),
        "base64 of the library": wrapped,
        "hexadecimal": plain.hex(),
        "capitals": plain.hex().upper(),
        "with colons": plain.hex(":"),
        "wrapped": "\n".join(textwrap.wrap(plain.hex(), 11)),
        "as C would have it": "".join(f"\\x{byte:02x}" for byte in plain),
        "percent": quote(value, safe=""),
        "percent, small": quote(value, safe="").replace("%2F", "%2f").replace("%5C", "%5c"),
        "a form's": quote_plus(value),
        "every character": "".join(f"%{byte:02X}" for byte in plain),
        "JSON": json.dumps({"key": value}),
        "JSON as it is": json.dumps({"key": value}, ensure_ascii=False),
        "folded": "\n".join(value[at : at + 5] for at in range(0, len(value), 5)),
        "coloured": value[:4] + "\x1b[01;31m\x1b[K" + value[4:] + "\x1b[m",
        "UTF-16": value.encode("utf-16-le").decode("latin-1") if value.isascii() else value,
    }


@pytest.mark.parametrize("value", [VALUE, PEM, "hunter2hunter2", "a-b-c-1:2:3"], ids=range(4))
@pytest.mark.parametrize("form", coded(VALUE))
def test_a_value_is_found_in_each_form(form: str, value: str) -> None:
    text = f"before {coded(value)[form]} after"
    clean = Scrubber({NAME: value}).clean(text.encode())
    assert STAND_IN in clean
    assert clean.startswith(b"before ")
    assert clean.endswith(b" after") or form == "another place in it"
    for part in (value, value[4:-4], base64.b64encode(value.encode()).decode()[4:-8]):
        assert part.encode() not in clean


def test_each_line_of_a_long_value_is_found_by_itself() -> None:
    line = PEM.splitlines()[2]
    assert Scrubber({"PEM": PEM}).words(f"> {line} <") == "> {{PEM}} <"


def test_text_without_a_value_is_left_byte_for_byte() -> None:
    scrubber = Scrubber({NAME: VALUE, "SHORT": "q7"})
    data = bytes(range(256)).replace(b"q7", b"") * 3
    assert scrubber.clean(data) == data
    assert scrubber.words("half a pair \ud800") == "half a pair \ud800"
    assert scrubber.words("q7!") == "{{SHORT}}!"


def test_of_two_values_the_longer_one_is_named() -> None:
    scrubber = Scrubber({"SHORT": "password", "LONG": "password-of-mine"})
    assert scrubber.words("password-of-mine, password") == "{{LONG}}, {{SHORT}}"


values = st.text(st.characters(codec="utf-8"), min_size=LEAST, max_size=60).filter(
    lambda value: len(value.strip()) >= LEAST and "{" not in value
)


@settings(max_examples=150, deadline=None)
@given(values, st.text(max_size=30), st.text(max_size=30))
def test_no_value_is_left_whatever_stands_round_it(value: str, before: str, after: str) -> None:
    scrubber = Scrubber({"K": value})
    for shown in (value, base64.b64encode(f"{before}{value}{after}".encode()).decode()):
        text = f"{before}{shown}{after}" if shown is value else shown
        clean = scrubber.clean(text.encode())
        assert shown.encode() not in clean or shown.encode() in b"{{K}}"


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_a_value_is_found_across_whatever_pieces_it_comes_in(size: int) -> None:
    data = (f"line\n{VALUE}\n" + base64.encodebytes(VALUE.encode() * 9).decode()).encode()
    lines, printed, give = piped()
    for at in range(0, len(data), size):
        os.write(give, data[at : at + size])
        assert printed.read()
    os.close(give)
    assert not printed.read()
    text = "\n".join(lines)
    assert lines[0] == "line"
    assert VALUE[3:9] not in text
    assert base64.b64encode(VALUE.encode()).decode()[4:20] not in text


@pytest.mark.parametrize("cut", range(0, 60, 3))
def test_no_half_value_stands_where_something_was_left_out(cut: int) -> None:
    """The beginning and the end are kept; a value that the cut runs through is in neither."""
    lines, printed, give = piped()
    edge = printed._kept
    data = b"." * (edge - cut) + VALUE.encode() + b"." * (2 * KEPT)
    data += b"." * cut + VALUE.encode() + b"." * (edge - 40)
    for at in range(0, len(data), 30_000):
        os.write(give, data[at : at + 30_000])
        printed.read()
    os.close(give)
    assert not printed.read()
    text = "".join(lines)
    assert "bytes left out here]" in text
    assert len(text) < 3 * KEPT
    assert VALUE[:5] not in text
    assert VALUE[-5:] not in text


def test_a_line_without_an_end_is_spooled_in_parts(tmp_path: Path) -> None:
    lines, printed, give = piped()
    os.write(give, b"x" * 60_000)
    printed.read()
    os.write(give, b"x" * 60_000)
    printed.read()
    os.close(give)
    printed.read()
    assert [len(line) for line in lines] == [65536, 120_000 - 65536]


def piped() -> tuple[list[str], Printed, int]:
    lines: list[str] = []
    take, give = os.pipe()
    os.set_blocking(take, False)
    return lines, Printed(take, Scrubber({NAME: VALUE}), lambda _, line: lines.append(line)), give
