"""What the last net takes out of a text, in which forms, and what it leaves."""

import base64
import json
import re
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.scrub import SHORTEST, Net, is_telling

VALUE = "zK4+q7/Vw9=TrX2m"
ODD = 'p"w\\d\u00e4 7\n9x/%q'


@pytest.mark.parametrize("value", [VALUE, ODD, "correct-horse-battery", "two words 4"])
@pytest.mark.parametrize(
    "printed",
    [
        str,
        json.dumps,
        repr,
        quote,
        lambda value: quote(value, safe=""),
        lambda value: re.sub("%..", lambda sign: sign[0].lower(), quote(value, safe="")),
        lambda value: json.dumps({"said": json.dumps(value)}),
        lambda value: value.encode().hex(),
        lambda value: base64.b64encode(value.encode()).decode(),
        lambda value: base64.b64encode(f"user:{value}".encode()).decode(),
        lambda value: base64.urlsafe_b64encode(f"me:{value}@".encode()).decode(),
    ],
)
def test_a_value_is_taken_out_in_each_form_in_which_it_is_printed(
    value: str, printed: object
) -> None:
    assert callable(printed)
    said = Net([("SHOP_KEY", value)]).clean(f"It is {printed(value)}, as it seems.")
    assert "{{SHOP_KEY}}" in said
    assert said.startswith("It is ")
    assert said.endswith(", as it seems.")
    assert value not in said


def test_a_line_of_a_key_of_many_lines_is_taken_out_and_what_is_around_it_is_not() -> None:
    lines = ["-----BEGIN PRIVATE KEY-----", "MIIEvQ" + "aB3" * 18, "qQ9/x+" * 10, "-----END"]
    net = Net([("PEM", "\n".join(lines))])
    assert net.clean(f"> {lines[2]}") == "> {{PEM}}"
    assert net.clean(lines[0]) == lines[0]


@pytest.mark.parametrize(
    "value", ["hunter2", "password", "POSTGRES", "20261130", "1764495600000", "aaaaaaaaaa"]
)
def test_what_would_blank_ordinary_text_is_left_alone(value: str) -> None:
    assert not is_telling(value)
    assert Net([("WORD", value)]).clean(f"the {value} here") == f"the {value} here"


def test_the_longer_of_two_values_is_taken_out_whole() -> None:
    net = Net([("SHORT", "abc123xyz"), ("LONG", "abc123xyz-and-more")])
    assert net.clean("abc123xyz-and-more abc123xyz") == "{{LONG}} {{SHORT}}"


@given(
    before=st.text(max_size=40),
    after=st.text(max_size=40),
    value=st.text(min_size=SHORTEST, max_size=40),
)
def test_no_value_is_missed_wherever_it_stands(before: str, after: str, value: str) -> None:
    value = value.strip()
    if is_telling(value):
        assert Net([("K", value)]).held(before + value + after)


def test_a_line_of_json_stays_one_and_what_names_things_stays_as_it_is() -> None:
    line = json.dumps({"card": {"id": VALUE, "text": [f"a {VALUE}", 7, None], VALUE: 1.5}}).encode()
    clean = Net([("K", VALUE)]).clean_line(line, frozenset({"id", "card"}))
    assert json.loads(clean) == {"card": {"id": VALUE, "text": ["a {{K}}", 7, None], "{{K}}": 1.5}}
    assert Net([("K", "another-value")]).clean_line(line) == line
