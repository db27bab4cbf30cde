"""All that a worker gone bad may try from inside its fence, an attempt a line, and what stops it.

The run is one as the engine orders it, with a second session's beside it (tests/node/grounds.py).
Each attempt (tests/node/attempts.py) is made once more without a fence: so it is shown that it is
ours that stops it, wherever nothing else would. As root the tests drop to an ordinary user.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest

from tests.node.attempts import GOT, NONE
from tests.node.ordinary import told_by

PATIENCE_S = 120
pytestmark = pytest.mark.skipif(
    shutil.which("bwrap") is None and not os.environ.get("CI"),
    reason="unfenced: bubblewrap is not installed here",
)

GONE = {"ENOENT"}  # it does not exist inside
CLOSED = {"EROFS"}
UNSEEN = {"ESRCH"}  # no such process inside
REFUSED = {"EPERM", "EACCES"}
NOT_THERE_OR_REFUSED = GONE | CLOSED | REFUSED  # by what kernel and machine have of it
# Written to a home or a /tmp that is the run's own: outside nothing of it is to be found.
OF_ITS_OWN = {GOT + "written"}
OURS, ANYWAY = True, False  # whether it is the fence that stops it, or another thing would too

ATTEMPTS = [
    # read
    ("read an ssh key", GONE, OURS),
    ("read a cloud's credentials", GONE, OURS),
    ("read a registry's login", GONE, OURS),
    ("read git's stored passwords", GONE, OURS),
    ("read the shell's history", GONE, OURS),
    ("read the owner's repository", GONE, OURS),
    ("read the vault's key", GONE, OURS),
    ("read the bot's token", GONE, OURS),
    ("read the vault", GONE, OURS),
    ("read the ledger", GONE, OURS),
    ("read the bot's file", GONE, OURS),
    ("list our home's runs", GONE, OURS),
    ("read another session's tree", GONE, OURS),
    ("read another session's spool", GONE, OURS),
    ("read another session's login", GONE, OURS),
    ("read another session's temporary files", GONE, OURS),
    ("read a file in the machine's /tmp", GONE, OURS),
    ("read a file in the machine's /dev/shm", GONE, OURS),
    ("read another's shared memory", {"EINVAL"}, OURS),
    ("read another run's environment", GONE, OURS),
    ("read the node's environment", GONE, OURS),
    ("find another run's token in any process", {NONE}, OURS),
    ("find the node's secrets in any process", {NONE}, OURS),
    ("find the way to an agent or a bus in its environment", {NONE}, OURS),
    ("read the runner's memory", GONE, ANYWAY),
    ("look through the node's root", GONE, OURS),
    ("look through the runner's descriptors", GONE, OURS),
    ("use an inherited descriptor", {NONE}, OURS),
    ("open a file by its handle", REFUSED, ANYWAY),
    ("search the keyring", REFUSED, ANYWAY),
    ("read the passwords", REFUSED, ANYWAY),
    ("read the kernel's log", GONE, ANYWAY),
    ("read the machine's memory", GONE, ANYWAY),
    ("see a disk, a camera or a virtual machine", {NONE}, ANYWAY),
    # write
    ("plant a hook in the hub", CLOSED, OURS),
    ("change the hub's config", CLOSED, OURS),
    ("move a branch of the hub", CLOSED, OURS),
    ("write an object it borrows", CLOSED, OURS),
    ("plant a hook in the owner's repository", OF_ITS_OWN, OURS),
    ("change the config of the owner's repository", OF_ITS_OWN, OURS),
    ("let itself in by an authorized key", OF_ITS_OWN, OURS),
    ("change the shell's profile", OF_ITS_OWN, OURS),
    ("change git's config for all", OF_ITS_OWN, OURS),
    ("leave a service of the user's", OF_ITS_OWN, OURS),
    ("have itself started at login", OF_ITS_OWN, OURS),
    ("put a program in the user's path", CLOSED, OURS),
    ("leave a job for cron", CLOSED, ANYWAY),
    ("leave a job for the system's cron", CLOSED, ANYWAY),
    ("write a system program", CLOSED, ANYWAY),
    ("change our own code", CLOSED, OURS),
    ("change what the owner sent", CLOSED, OURS),
    ("change a hook its owner trusted", CLOSED, OURS),
    ("read what another session was given", GONE, OURS),
    ("write how its own run ended", CLOSED, OURS),
    ("name another process as its child", CLOSED, OURS),
    ("change its own orders", CLOSED, OURS),
    ("write into its own spool", CLOSED, OURS),
    ("write into another's spool", CLOSED, OURS),
    ("speak as the owner in another's inbox", CLOSED, OURS),
    ("make up a run", CLOSED, OURS),
    ("write into another session's tree", CLOSED, OURS),
    ("write into the machine's /tmp", OF_ITS_OWN, OURS),
    ("set the core pattern", CLOSED | REFUSED, ANYWAY),
    ("press a key of the kernel's", NOT_THERE_OR_REFUSED, ANYWAY),
    ("move itself to another control group", NOT_THERE_OR_REFUSED, ANYWAY),
    ("make a disk", REFUSED, ANYWAY),
    # signal
    ("signal the node", UNSEEN, OURS),
    ("signal its own runner", UNSEEN, OURS),
    ("signal another's runner", UNSEEN, OURS),
    ("signal another session's agent", UNSEEN, OURS),
    ("hold the node by a handle", UNSEEN, OURS),
    ("trace the node", UNSEEN | REFUSED, ANYWAY),
    ("trace its own runner", UNSEEN | REFUSED, ANYWAY),
    ("trace another session's agent", UNSEEN | REFUSED, ANYWAY),
    # connect
    ("connect to the engine", GONE, OURS),
    ("connect to another machine's link", GONE, OURS),
    ("connect to another session's desk", GONE, OURS),
    ("ask the ssh agent to sign", GONE, OURS),
    ("have the engine sign in at a forge", GONE, OURS),
    ("ride on an open ssh connection", GONE, OURS),
    ("ask the gpg agent to sign", GONE, OURS),
    ("start a container by docker", GONE, ANYWAY),
    ("start a container by a docker of the user's", GONE, OURS),
    ("call on the system's bus", GONE, ANYWAY),
    ("call on the user's bus", GONE, ANYWAY),
    ("call on a bus in /tmp", GONE, OURS),
    ("have the user's service manager start it outside", GONE, ANYWAY),
    ("have the system's service manager start it outside", GONE, ANYWAY),
    ("look at the screen by X11", GONE, OURS),
    ("look at the screen by Wayland", GONE, ANYWAY),
    ("type into a tmux", GONE, OURS),
    ("type into a screen", GONE, OURS),
    ("reach the hypervisor", {"EAFNOSUPPORT"}, ANYWAY),
    ("reach a device by Bluetooth", {"EAFNOSUPPORT"}, ANYWAY),
    ("reach a device on a car's bus", {"EAFNOSUPPORT"}, ANYWAY),
    ("use the kernel's own ciphers", {"EAFNOSUPPORT"}, ANYWAY),
    ("listen to the network's packets", {"EAFNOSUPPORT"}, ANYWAY),
    ("forge a network packet", REFUSED, ANYWAY),
    ("type into a terminal", {NONE}, ANYWAY),
    # rise
    ("become root", {"EINVAL", "EPERM"}, ANYWAY),
    ("be lifted by a program with its owner's rights", {NONE}, ANYWAY),
    ("hold capabilities", {NONE}, ANYWAY),
    ("mount over the system", REFUSED, ANYWAY),
    ("uncover our home, in a namespace of its own", {"EINVAL", "ENOSPC", *REFUSED}, ANYWAY),
    ("make the system writable, in a namespace of its own", {"ENOSPC", *REFUSED}, ANYWAY),
    ("make a toolchain writable, in a namespace of its own", {"ENOSPC", *REFUSED}, ANYWAY),
    ("make a disk, in a namespace of its own", {"ENOSPC", *REFUSED}, ANYWAY),
    ("listen to packets, in a namespace of its own", {"EAFNOSUPPORT", *REFUSED}, ANYWAY),
    ("set the core pattern, in a namespace of its own", {"EROFS", "ENOSPC", *REFUSED}, ANYWAY),
    ("enter the node's files", GONE, ANYWAY),
    ("enter the node's user namespace", GONE, ANYWAY),
    ("load a program into the kernel", REFUSED, ANYWAY),
    ("load a module into the kernel", REFUSED, ANYWAY),
]
# What comes through as something, and must count as no more than it is; judged by the spools.
FORGED = (
    "speak at its desk as another session",
    "slip a second line into its desk call",
    "print what looks like its own end",
    "print what looks like a call of its desk",
)
# What the fence leaves open where the machine cannot close it, and the words that say so.
OPEN = {
    "connect to an abstract socket": "abstract sockets",
    "reach a service of this machine's own": "this machine's own network services",
    "reach one by this machine's own address": "this machine's own network services",
    "reach one by the gateway's address": "this machine's own network services",
    "send a datagram to a service of this machine's own": "this machine's own network services",
    "send one by this machine's own address": "this machine's own network services",
    "reach a cloud's metadata": "a cloud's metadata",
    "reach a cloud's metadata by IPv6": "a cloud's metadata",
}

Told = dict[str, Any]


@pytest.fixture(scope="module")
def told() -> Told:
    """What a worker got at that tried everything, what the same got at loose, and what was left."""
    return told_by(
        "grounds",
        PATIENCE_S,
        tun=True,
        PATH=os.environ.get("PATH", os.defpath),
        STARTER="starter-secret",
        SSH_AUTH_SOCK="{stage}/none",
        DISPLAY=":0",
    )


@pytest.mark.parametrize(
    ("attempt", "stopped_by"), [pytest.param(a, s, id=a) for a, s, _ in ATTEMPTS]
)
def test_a_worker_cannot(told: Told, attempt: str, stopped_by: set[str]) -> None:
    assert told["inside"][attempt] in stopped_by


@pytest.mark.parametrize("attempt", [a for a, _, stopped in ATTEMPTS if stopped is OURS])
def test_without_the_fence_it_could(told: Told, attempt: str) -> None:
    assert told["outside"][attempt].startswith(GOT)


def test_nothing_outside_the_workers_own_places_has_changed_and_the_others_live(told: Told) -> None:
    assert told["changed"] == []
    assert told["lives"] == [True, True]
    assert [line["k"] for line in told["other"]] == ["note"]  # ours, as it began


def test_what_a_worker_says_counts_as_its_own_words_and_no_more(told: Told) -> None:
    """Its desk's calls bear no name but their own; what it prints is output, whatever it looks like."""
    assert all(told["inside"][name].startswith(GOT) for name in FORGED)
    calls = [line["d"] for line in told["own"] if line["k"] == "desk" and "tool" in line["d"]]
    assert [sorted(call) for call in calls] == [["args", "call", "tool"]] * 2
    assert [call["call"] for call in calls] == ["c1", "c2"]
    assert [line["k"] for line in told["own"]].count("exit") == 1
    assert told["own"][-1]["k"] == "exit"
    assert told["own"][-1]["d"]["words"] == ""
    assert [line["n"] for line in told["own"]] == list(range(1, len(told["own"]) + 1))


@pytest.mark.parametrize("words", sorted(set(OPEN.values())))
def test_what_stays_open_is_said_on_the_machines_card_and_as_a_run_begins(
    told: Told, words: str
) -> None:
    """A cloud's metadata is spoken of only where there may be any: not on a computer of one's own."""
    reached = any(told["inside"][name].startswith(GOT) for name in OPEN if OPEN[name] == words)
    stays_open = reached and (told["may be a cloud's"] or "cloud" not in words)
    noted = [line["d"] for line in told["own"] if line["k"] == "note"]
    assert stays_open == (words in told["probe"])
    assert stays_open == any(words in note for note in noted)


@pytest.mark.parametrize("attempt", OPEN)
def test_in_a_network_of_its_own_nothing_of_this_stays_open(told: Told, attempt: str) -> None:
    if not told["own network"]:
        assert not os.environ.get("CI"), told["probe"]
        assert "leaks" not in told["probe"], told["probe"]
        pytest.skip(told["probe"])
    assert not told["inside"][attempt].startswith(GOT)


@pytest.mark.parametrize("attempt", [one for one in OPEN if "cloud" not in one])
def test_without_the_fence_it_would(told: Told, attempt: str) -> None:
    if "gateway" not in attempt:  # that is this machine to a run in a network of its own at most
        assert told["outside"][attempt].startswith(GOT)


def test_every_attempt_is_judged(told: Told) -> None:
    names = [*(name for name, _, _ in ATTEMPTS), *FORGED, *OPEN]
    assert sorted(names) == sorted(told["inside"])
    assert len(ATTEMPTS) >= 40
