"""What is said of a check that wanted a port of its machine's, where runs have a network of their own."""

import pytest

from engine.adapters import refused_port
from engine.adapters.reading import Output
from engine.node import folder
from engine.node.fence import OWN_NETWORK


@pytest.mark.parametrize(
    ("line", "port"),
    [
        (
            'connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused',
            5432,
        ),
        ("Error: connect ECONNREFUSED 127.0.0.1:6379", 6379),
        ("Error 111 connecting to localhost:6379. Connection refused.", 6379),
        ("dial tcp [::1]:9200: connect: connection refused", 9200),
    ],
)
def test_the_port_is_named_as_common_programs_print_it(line: str, port: int) -> None:
    assert f"refused port {port} of 127.0.0.1" in refused_port.hint(["before", line, "1 failed"])


@pytest.mark.parametrize(
    "line",
    [
        "connect to example.org port 443: Connection refused",
        "listening on 127.0.0.1:8080",
        "Connection refused",
        "refused: 127.0.0.1:99999",
    ],
)
def test_nothing_is_said_of_other_troubles(line: str) -> None:
    assert refused_port.hint([line]) == ""


@pytest.mark.parametrize(("note", "is_said"), [(OWN_NETWORK, True), ("a network all share", False)])
def test_a_failed_check_says_what_opens_a_port_only_where_it_was_shut(
    note: str, is_said: bool
) -> None:
    output = Output()
    said = [
        folder.line(1, "note", f"fenced: {note}"),
        folder.line(2, "out", "Error: connect ECONNREFUSED 127.0.0.1:6379"),
        folder.line(3, "exit", {"code": 1}),
    ]
    assert [output.take(line) for line in said] == [False, False, True]
    assert ("/projects ports" in output.verdict().summary) is is_said
