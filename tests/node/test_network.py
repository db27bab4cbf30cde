"""A network of its own for each run: what it reaches, how it ends, and what is said where there is none.

The other half, tests/node/networked.py, runs as an ordinary user; as root the tests drop to one.
"""

from __future__ import annotations

import os
import shutil
import socket
from typing import Any

import pytest

from engine.node import network
from engine.node.fence import Probe
from tests.node.ordinary import told_by

pytestmark = pytest.mark.skipif(
    shutil.which("bwrap") is None and not os.environ.get("CI"),
    reason="unfenced: bubblewrap is not installed here",
)

OPEN = [
    "a port that was named",
    "a port that an address in its environment leads to",
    "the same by name",
]
SHUT = {
    "another port": {"ECONNREFUSED"},
    "another of the loopback addresses": {"ECONNREFUSED"},
    "the machine by its own address": {"ECONNREFUSED"},
    "the machine by its gateway's address": {"ECONNREFUSED", "EHOSTUNREACH", "ETIMEDOUT"},
    "a datagram port": {"ECONNREFUSED"},
    "a datagram port by the machine's own address": {"ECONNREFUSED"},
    "a cloud's metadata": {"ECONNREFUSED"},
    "another link-local address": {"ECONNREFUSED"},
    "a cloud's metadata by IPv6": {"ECONNREFUSED", "ENETUNREACH"},
    "a socket without a path": {"ECONNREFUSED", "EPERM"},
}


def told(what: str, before: str = "") -> dict[str, Any]:
    return not_shared(told_by("networked", before=before, tun=True, WHAT=what))


def not_shared(said: dict[str, Any]) -> dict[str, Any]:
    """Skip where pasta is missing or does not work, but not where a network of ours has a hole."""
    if "shares" in said:
        assert not os.environ.get("CI"), said["shares"]
        assert "leaks" not in said["shares"], said["shares"]
        pytest.skip(f"this machine's network is shared: {said['shares']}")
    return said


@pytest.fixture(scope="module")
def reached() -> dict[str, Any]:
    return told("reach")


@pytest.mark.parametrize("what", OPEN)
def test_in_a_network_of_its_own_a_run_reaches(reached: dict[str, Any], what: str) -> None:
    assert reached["said"]["own"][what] == "open"


@pytest.mark.parametrize(("what", "stopped_by"), SHUT.items())
def test_in_a_network_of_its_own_a_run_does_not_reach(
    reached: dict[str, Any], what: str, stopped_by: set[str]
) -> None:
    assert reached["said"]["own"][what] in stopped_by


@pytest.mark.parametrize(
    "what",
    [*OPEN, "another port", "the machine by its own address", "another of the loopback addresses"],
)
def test_in_the_machines_own_network_it_would(reached: dict[str, Any], what: str) -> None:
    assert reached["said"]["shared"][what] == "open"


def test_a_run_that_names_the_way_out_comes_no_farther() -> None:
    """By its interface, by a datagram's, or by a link-local address: routes are asked otherwise then."""
    told_ = told("strays")
    assert told_["said"].pop("from 169.254.169.254") == "169.254.169.254", "it never leaves"
    refused = {"ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH", "EADDRNOTAVAIL"}
    assert {name: how for name, how in told_["said"].items() if how not in refused} == {}
    assert told_["came"] == 0


def test_every_attempt_is_judged(reached: dict[str, Any]) -> None:
    assert sorted([*OPEN, *SHUT]) == sorted(reached["said"]["own"])


def test_within_it_a_run_is_who_it_was_and_sees_nobodys_sockets(reached: dict[str, Any]) -> None:
    user, group, _, none, names = reached["who"]["own"].split()
    assert [int(user), int(group)] == reached["who"]["us"]
    assert int(none, 16) == 0
    assert names == "2", "the heads of both lists"
    assert reached["line"].endswith("each run has a network of its own")


def test_a_run_ends_as_without_one_and_nothing_of_its_network_is_left() -> None:
    assert told("ends")["ends"] == [
        [0, False, True, 0],
        [3, False, True, 0],
        [137, True, True, 0],
        [4, False, True, 0],
    ]


def test_whoever_of_them_is_killed_all_is_gone() -> None:
    assert told("killed")["ends"] == {
        "pasta": [137, True, True, True],
        "the fence": [None, True, False, True],
        "pid 1 inside": [137, True, False, True],
        "by us": [137, True, False, True],
    }


def test_what_a_killed_runner_had_started_is_gone_with_its_network() -> None:
    """BR-51: nothing outlives its runner."""
    assert told("watch") == {"gone": True, "left": []}


def test_a_run_whose_network_is_killed_is_over_and_says_so() -> None:
    said = told("ordered")
    assert said["name"].startswith(("pasta", "passt"))
    lost, missing = said["ends"]
    assert lost == ["killed", "Its network ended from outside, and its fence was ended with it."]
    assert missing[0] == "not started"
    assert "no-such-thing" in missing[1]
    assert said["notes"] == ["fenced: each run has a network of its own", lost[1]]


def test_a_run_whose_network_cannot_be_made_does_not_start_in_another() -> None:
    assert told("refused")["error"].startswith("it got no network of its own: pasta ended")


def test_a_node_says_why_its_runs_share_the_machines_network() -> None:
    said = told_by("networked", WHAT="switched")
    network_, line = said["off"]
    assert not network_
    assert (
        "shares this machine's network: the file shared-network in its home asks for that" in line
    )
    assert "this machine's own network services" in line
    network_, line = said["without"]
    assert not network_
    assert "shares this machine's network: install passt" in line


# ---- names

# A network nobody shares, with a way out that leads nowhere and a resolver at a loopback address.
LONELY = """
exec unshare --map-root-user --net --mount sh -c '
ip link set lo up
ip link add out type veth peer name far
ip address add 203.0.113.2/24 dev out
ip link set out up
ip link set far up
ip route add default via 203.0.113.1 dev out
printf "search example\\nnameserver 127.0.0.53\\n" > "$0/resolv.conf"
mount --bind "$0/resolv.conf" "$(realpath /etc/resolv.conf)"
/usr/bin/python3 -c "$RESOLVER" & resolver=$!
unshare --user --map-user=64321 --map-group=64321 "$@"
kill $resolver
' "$0" "$@"
"""
RESOLVER = r"""
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours:
    ours.bind(("127.0.0.53", 53))
    while True:
        asked, whom = ours.recvfrom(2048)
        end = asked.index(b"\0", 12) + 5
        answer = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + bytes([203, 0, 113, 7])
        is_four = asked[end - 4 : end - 2] == b"\0\1"
        head = asked[:2] + b"\x81\x80\0\1" + (b"\0\1" if is_four else b"\0\0") + b"\0\0\0\0"
        ours.sendto(head + asked[12:end] + (answer if is_four else b""), whom)
"""


def test_names_are_found_though_the_resolver_is_at_a_loopback_address() -> None:
    asks = told_by("networked", before=LONELY, tun=True, WHAT="asks", RESOLVER=RESOLVER)
    said = not_shared(asks)
    assert said["names"] == ["203.0.113.7"]
    assert said["shown"] == ["search example", "nameserver 198.51.100.53"]


@pytest.mark.parametrize(
    ("servers", "shown", "asked"),
    [
        (["9.9.9.9", "2620:fe::fe"], "", []),
        (["127.0.0.53"], "nameserver 198.51.100.53\n", ["--dns-forward", "198.51.100.53"]),
        (["::1"], "nameserver 2001:db8::53\n", ["--dns-forward", "2001:db8::53"]),
        (["169.254.169.254"], "nameserver 198.51.100.53\n", ["--dns-forward", "198.51.100.53"]),
        (["168.63.129.16"], "nameserver 198.51.100.53\n", ["--dns-forward", "198.51.100.53"]),
        (
            ["9.9.9.9", "127.0.0.1"],
            "nameserver 198.51.100.53\n",
            ["--dns-forward", "198.51.100.53"],
        ),
        ([], "nameserver 198.51.100.53\n", ["--dns-forward", "198.51.100.53"]),
    ],
)
def test_a_resolver_that_cannot_be_asked_from_inside_is_stood_in_for(
    tmp_path: Any, servers: list[str], shown: str, asked: list[str]
) -> None:
    """At a loopback address, and where a cloud has it beside what is shut."""
    path = tmp_path / "resolv.conf"
    path.write_text("".join(f"nameserver {server}\n" for server in servers))
    assert network.resolver(str(path)) == (shown, asked)


def test_a_machine_without_a_resolvers_file_is_left_as_it_is(tmp_path: Any) -> None:
    assert network.resolver(str(tmp_path / "none")) == ("", [])


# ---- ports and addresses


@pytest.mark.parametrize(
    ("value", "ports"),
    [
        ("http://127.0.0.1:11434/v1", {11434}),
        ("http://localhost:8080", {8080}),
        ("HTTP://LOCALHOST", {80}),
        ("https://[::1]:8443/x", {8443}),
        ("postgres://me:word@localhost:5432/shop", {5432}),
        ("http://127.0.0.1:3128,http://localhost:3129", {3128, 3129}),
        ("https://api.example.org:443", set()),
        ("http://localhost.example.org:81", set()),
        ("http://127.0.0.1.example.org:81", set()),
        ("http://127.0.0.1:99999", set()),
        ("http://127.0.0.1:011434", set()),
        ("http://127.0.0.1:8080-x", set()),
        ("127.0.0.1:11434", {11434}),  # as OLLAMA_HOST has it
        ("localhost:5432", {5432}),
        ("see localhost:5432", set()),
    ],
)
def test_an_address_in_its_environment_names_a_port(value: str, ports: set[int]) -> None:
    assert network.named_in([value]) == ports


def test_a_pasta_that_is_gone_says_what_to_do(tmp_path: Any) -> None:
    with pytest.raises(OSError, match=r"does not start .*Install passt again, or restart"):
        network.begun(str(tmp_path / "pasta"), (), {})


def test_what_is_shut_is_metadata_and_this_machine() -> None:
    shut = network.shut()
    asked = ["169.254.169.254", "169.254.170.2", "fd00:ec2::254", "100.100.100.200"]
    for address in asked:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        packed = socket.inet_pton(family, address)
        assert any(net.holds(packed) for net in shut), address
    assert not any(net.holds(socket.inet_aton("9.9.9.9")) for net in shut)
    assert not any(net.holds(socket.inet_aton("127.0.0.1")) for net in shut)


def test_a_network_of_its_own_is_said_on_the_card_and_nothing_else_stays_open() -> None:
    probe = Probe(
        fenced=True, version=(0, 8, 0), nesting=True, metadata=True, network="/usr/bin/pasta"
    )
    assert probe.describe() == "fenced by bubblewrap 0.8.0; each run has a network of its own"
