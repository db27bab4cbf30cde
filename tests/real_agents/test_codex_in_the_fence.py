"""The real Codex inside our fence, with its own sandbox off, nested read-only and nested for a workspace.

It has no driver yet; what its driver will have to ask for is settled in docs/decisions/0012 and held here.
The model is responses_server.py; tests/node/codex.py starts Codex by the machine's own way to start a run.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.node.ordinary import told_by
from tests.real_agents.quarterdeck import AGENTS
from tests.real_agents.responses_server import MODEL, ResponsesServer, add_file, run

pytestmark = pytest.mark.real_agent

PATIENCE_S = 240.0  # how long a slow machine may take for all of it

# npm's `codex` is a launcher in Node; this is what it starts.
FOUND = sorted(AGENTS.glob("codex/node_modules/@openai/codex-linux-*/vendor/*/bin/codex"))

BARE, EXTERNAL, WORKSPACE, LEAD = (
    "work with no sandbox of your own",
    "go on in somebody else's sandbox",
    "work in a sandbox of your own",
    "look, and change nothing",
)
COMMIT = "git add made.txt && git commit -q -m 'Made by Codex' && echo committed"
STEAL = (
    "cat ~/.ssh/id_ed25519 ~/.aws/credentials; cd ~/.local/state/quarterdeck;"
    " cat secrets/vault.key vault.sqlite3 {other}/secret"
)
STOLEN = 5  # files that are named there
FETCH = (
    "import socket\n"
    "try:\n    socket.create_connection(('127.0.0.1', {port}), 5); print('connected')\n"
    "except OSError as error: print('no network:', error.strerror)"
)


@dataclass
class Seen:
    """What the two agents and their model told."""

    worker: dict[str, Any]
    lead: dict[str, Any]
    trees: dict[str, list[str]]
    commits: list[str]
    outputs: dict[str, list[str]]  # what each call came to, as the model was told
    wrong: list[str]

    def commands_shown(self, prompt: str) -> int:
        """How many commands of a turn whoever drives Codex is told of."""
        items = (self.worker["turns"] | self.lead["turns"])[prompt]["items"]
        return sum(item["type"] == "commandExecution" for item in items)


@pytest.fixture(scope="module")
def seen() -> Seen:
    if not FOUND:
        if os.environ.get("CI"):
            pytest.fail("CI must try the real Codex, and it is not there: make agents")
        pytest.skip("no Codex under .agents/: run `make agents` to try it")
    with ResponsesServer({}) as api:
        connect = f'python3 -c "{FETCH.format(port=api.port)}"'
        done = "That is all."
        steal = STEAL.format(other="trees/s-2")
        api.script = {
            BARE: (
                run(f"echo hello > made.txt; {COMMIT}; echo x > $CODEX_HOME/note; {connect}"),
                run(steal),
                add_file("patched.txt", "hello"),
                done,
            ),
            EXTERNAL: (run("echo hello > more.txt; git add more.txt && echo staged"), done),
            WORKSPACE: (
                run(f"echo hello > inside.txt; cat inside.txt; {connect}"),
                run("git add -A"),
                run(f"echo x > $CODEX_HOME/note; {steal}"),
                add_file("patched-inside.txt", "hello"),
                done,
            ),
            LEAD: (
                run("cat secret; touch no.txt /tmp/no.txt $CODEX_HOME/no.txt"),
                run(connect),
                run(STEAL.format(other="trees/s-1")),
                add_file("patched.txt", "hello"),
                done,
            ),
        }
        told = told_by(
            "codex",
            PATIENCE_S,
            tun=True,
            at="/home" if os.geteuid() == 0 else str(Path.home()),
            PATH=os.defpath,
            TALK=json.dumps(
                {
                    "program": str(FOUND[0]),
                    "read": [str(FOUND[0].parents[1])],
                    "model": MODEL,
                    "url": api.url,
                    "worker": {
                        "danger-full-access": {
                            BARE: {},
                            EXTERNAL: {"sandboxPolicy": {"type": "externalSandbox"}},
                        },
                        "workspace-write": {WORKSPACE: {}},
                    },
                    "lead": {"read-only": {LEAD: {}}},
                }
            ),
        )
        if not told["nesting"]:
            if os.environ.get("CI"):
                pytest.fail("no sandbox can start inside a fence of this machine")
            pytest.skip("no sandbox can start inside a fence of this machine")
        return Seen(
            told["worker"],
            told["lead"],
            {"worker": told["tree"], "lead": told["lead's tree"]},
            told["commits"].splitlines(),
            api.outputs,
            api.wrong,
        )


def test_every_turn_ends_by_itself_with_nothing_asked_and_no_word_of_a_broken_sandbox(
    seen: Seen,
) -> None:
    turns = seen.worker["turns"] | seen.lead["turns"]
    assert {prompt: (turn["status"], turn["requests"]) for prompt, turn in turns.items()} == {
        prompt: ("completed", []) for prompt in (BARE, EXTERNAL, WORKSPACE, LEAD)
    }
    for agent in (seen.worker, seen.lead):
        assert agent["notes"][0].startswith("fenced: ")
        assert (agent["end"]["code"], agent["warnings"]) == (0, [])
        assert "sandbox is" not in "".join(agent["stderr"])
        assert "bwrap" not in "".join(agent["stderr"])
    assert seen.worker["stderr"] == []
    assert seen.wrong == []


def test_with_no_sandbox_of_its_own_it_works_commits_and_has_the_network(seen: Seen) -> None:
    worked, _, patched = seen.outputs[BARE]
    assert worked.splitlines()[-2:] == ["committed", "connected"]
    assert "Success" in patched
    assert seen.commits == ["Made by Codex", "first"]
    assert {"made.txt", "patched.txt"} < set(seen.trees["worker"])


def test_what_is_called_an_external_sandbox_is_the_same(seen: Seen) -> None:
    assert seen.outputs[EXTERNAL][0].endswith("staged\n")


def test_with_no_sandbox_of_its_own_every_command_is_shown(seen: Seen) -> None:
    assert seen.commands_shown(BARE) == 2


@pytest.mark.parametrize(("prompt", "step"), [(BARE, 1), (WORKSPACE, 2), (LEAD, 2)])
def test_nothing_outside_the_fence_can_be_read(seen: Seen, prompt: str, step: int) -> None:
    told = seen.outputs[prompt][step]
    assert told.count("cat: ") == STOLEN
    assert "\nsecret" not in told


def test_nested_for_a_workspace_it_writes_there_and_nowhere_else_with_the_network_shut(
    seen: Seen,
) -> None:
    worked, git, note, patched = seen.outputs[WORKSPACE]
    assert worked.splitlines()[-2:] == ["hello", "no network: Operation not permitted"]
    assert "Success" in patched
    assert {"inside.txt", "patched-inside.txt"} < set(seen.trees["worker"])
    assert ".git/index.lock': Read-only file system" in git
    assert "config/note: Read-only file system" in note


def test_a_lead_nested_read_only_reads_and_writes_nothing_even_where_our_fence_lets_it(
    seen: Seen,
) -> None:
    """Of the three places our fence itself keeps only the tree from a lead."""
    looked, network, _, patched = seen.outputs[LEAD]
    assert "\nsecret" in looked
    assert looked.count("Read-only file system") == 3
    assert network.endswith("no network: Operation not permitted\n")
    assert "writing is blocked by read-only sandbox" in patched
    assert seen.trees["lead"] == [".git", "secret"]
