"""The agent's tools: what is listed for whom, what passes, and both ways to call them.

The MCP half is driven by the official client; at the other end of the socket stands the test.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from engine.adapters import zipapp
from engine.node.desk import TOOLS, Tool, faults, schema

PYTHON = os.path.realpath(sys.executable)
LEAD = {tool.name: tool for tool in TOOLS["lead"]}
PIECE = {"title": "Orders page", "task": "Make it.", "size": "S"}
Json = dict[str, Any]


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return zipapp.build(tmp_path_factory.mktemp("node"))


class Runner:
    """The runner's side of the socket: keeps what is called, answers what it is told to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.calls: list[Json] = []
        self.answers: dict[str, Json | None] = {}  # by tool; None: hang up instead
        self.called = asyncio.Event()
        self._held: list[tuple[asyncio.StreamWriter, int]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            call = json.loads(line)
            self.calls.append({"tool": call["tool"], "args": call["args"]})
            self.called.set()
            if call["tool"] == "status":  # answered once another call was
                self._held.append((writer, call["id"]))
                continue
            answer = self.answers.get(call["tool"], {"text": "Noted."})
            if answer is None:
                break
            writer.write(json.dumps({"id": call["id"], **answer}).encode() + b"\n")
            for other, number in self._held:
                other.write(json.dumps({"id": number, "text": "All well."}).encode() + b"\n")
            self._held.clear()
        writer.close()


@pytest.fixture
async def runner(tmp_path: Path) -> AsyncIterator[Runner]:
    deep = tmp_path / ("a long way down " * 8)  # longer than a socket's path may be
    deep.mkdir()
    made = Runner(deep / "desk.sock")
    here = Path.cwd()
    os.chdir(deep)
    try:
        server = await asyncio.start_unix_server(made.serve, "desk.sock")
    finally:
        os.chdir(here)
    async with server:
        yield made


Desk = Callable[[str], AbstractAsyncContextManager[Client]]


@pytest.fixture
def desk(node: Path, runner: Runner) -> Desk:
    @asynccontextmanager
    async def open_desk(role: str) -> AsyncIterator[Client]:
        server = StdioServerParameters(
            command=PYTHON,
            args=["-I", "-S", str(node), "desk"],
            env={"QUARTERDECK_ROLE": role, "QUARTERDECK_DESK": str(runner.path)},
        )
        async with Client(stdio_client(server)) as client:
            yield client

    return open_desk


def text(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.parametrize("role", ["lead", "worker"])
async def test_the_official_client_sees_the_tools_of_the_role(desk: Desk, role: str) -> None:
    async with desk(role) as client:
        listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == [tool.name for tool in TOOLS[role]]
    for tool in listed:
        Draft202012Validator.check_schema(tool.input_schema)
        assert tool.description


def test_a_lead_has_what_it_leads_with_and_a_worker_what_it_works_with() -> None:
    assert sorted(LEAD) == [
        "answer",
        "ask_owner",
        "diff",
        "message_worker",
        "propose_plan",
        "put_for_review",
        "retry_piece",
        "run_with_secret",
        "secrets",
        "start_plan",
        "status",
        "stop_worker",
        "wake_me",
    ]
    assert [tool.name for tool in TOOLS["worker"]] == [
        "done",
        "ask_owner",
        "secrets",
        "run_with_secret",
    ]


async def test_a_call_reaches_the_runner_and_its_answer_the_agent(
    desk: Desk, runner: Runner
) -> None:
    runner.answers["propose_plan"] = {"text": "Put to the owner; end your turn. é"}
    runner.answers["start_plan"] = {"text": "There is no plan yet.", "error": True}
    plan = {"summary": "Two pages.", "pieces": [PIECE, {**PIECE, "after": [1], "model": None}]}
    async with desk("lead") as client:
        proposed = await client.call_tool("propose_plan", plan)
        started = await client.call_tool("start_plan", {})
    assert (text(proposed), proposed.is_error) == ("Put to the owner; end your turn. é", False)
    assert (text(started), started.is_error) == ("There is no plan yet.", True)
    assert [call["tool"] for call in runner.calls] == ["propose_plan", "start_plan"]
    assert runner.calls[0]["args"]["pieces"][0] == PIECE


async def test_a_call_that_waits_holds_up_no_other(desk: Desk, runner: Runner) -> None:
    async with desk("lead") as client:
        waiting = asyncio.create_task(client.call_tool("status", {}))
        await runner.called.wait()
        assert text(await client.call_tool("diff", {"piece": 1})) == "Noted."
        assert text(await waiting) == "All well."


async def test_a_mistake_is_one_sentence_and_goes_no_further(desk: Desk, runner: Runner) -> None:
    async with desk("worker") as client:
        wrong = await client.call_tool("ask_owner", {"question": "", "colour": "red"})
        foreign = await client.call_tool("propose_plan", {"summary": "x", "pieces": []})
    assert wrong.is_error
    assert "`question` is empty." in text(wrong)
    assert "`colour` is no argument" in text(wrong)
    assert foreign.is_error
    assert (
        text(foreign)
        == "There is no tool propose_plan; there are: done, ask_owner, secrets, run_with_secret."
    )
    assert runner.calls == []


async def test_a_desk_whose_runner_goes_says_so_and_finds_it_again(
    desk: Desk, runner: Runner
) -> None:
    async with desk("worker") as client:
        runner.answers["done"] = None
        gone = await client.call_tool("done", {})
        assert gone.is_error
        assert "being closed" in text(gone)
        runner.answers["done"] = {"text": "Noted: checked next."}
        assert text(await client.call_tool("done", {})) == "Noted: checked next."


async def raw(node: Path, given: bytes, *words: str, role: str = "worker") -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *(PYTHON, "-I", "-S", str(node), "desk", *words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"QUARTERDECK_ROLE": role},
    )
    out, err = await process.communicate(given)
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
async def test_each_version_of_the_handshake_is_agreed_to(node: Path, version: str) -> None:
    hello = {"id": 0, "method": "initialize", "params": {"protocolVersion": version}}
    _, out, _ = await raw(node, json.dumps(hello).encode() + b"\n")
    assert json.loads(out)["result"]["protocolVersion"] == version


async def test_junk_and_what_we_do_not_know_end_nothing(node: Path) -> None:
    lines = [
        b"junk",
        b"\xff\xfe",
        b"[]",
        b"3",
        b'{"method": "notifications/cancelled"}',
        b'{"id": 1, "method": "resources/list"}',
        b'{"id": 2, "method": "initialize", "params": {"protocolVersion": "2099-01-01"}}',
        b'[{"id": 3, "method": "ping"}]',
    ]
    code, out, _ = await raw(node, b"\n".join(lines) + b"\n")
    answers = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [a["error"]["code"] for a in answers if "error" in a] == [-32700, -32700, -32601]
    assert answers[-2]["result"]["protocolVersion"] == "2025-11-25"
    assert answers[-1] == {"jsonrpc": "2.0", "id": 3, "result": {}}


async def test_an_agent_without_mcp_calls_the_same_tools(node: Path, runner: Runner) -> None:
    plan = json.dumps({"summary": "One page.", "pieces": [PIECE]}).encode()
    words = ("propose-plan", "--json", "-", "--socket", str(runner.path))
    assert await raw(node, plan, *words, role="lead") == (0, "Noted.\n", "")
    assert runner.calls[0]["tool"] == "propose_plan"
    runner.answers["start_plan"] = {"text": "Not allowed here.", "error": True}
    start = ("start-plan", "--socket", str(runner.path))
    assert await raw(node, b"", *start, role="lead") == (1, "", "Not allowed here.\n")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (
            ("dance",),
            2,
            "There is no tool dance; there are: done, ask_owner, secrets, run_with_secret.",
        ),
        (("ask-owner",), 2, "`question` is missing: The question, complete in itself."),
        (("done", "--json", "{"), 2, "--json is not JSON"),
        (("done", "--role", "cook"), 2, "set QUARTERDECK_ROLE to one of lead, worker"),
        (("done", "--socket", "/nowhere"), 1, "being closed"),
    ],
)
async def test_a_wrong_command_says_what_is_right(
    node: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    returned, out, err = await raw(node, b"", *words)
    assert (returned, out) == (code, "")
    assert said in err


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("propose_plan", {"summary": "x", "pieces": []}, "`pieces` is empty."),
        ("propose_plan", {"summary": "x", "pieces": "[]"}, "`pieces` must be a list."),
        ("propose_plan", {"summary": "x", "pieces": ["a"]}, "`pieces[1]` must be an object."),
        (
            "propose_plan",
            {"summary": "x", "pieces": [{**PIECE, "size": "XL"}]},
            "`pieces[1].size` must be one of S, M, L.",
        ),
        (
            "propose_plan",
            {"summary": "x", "pieces": [PIECE, {**PIECE, "after": [3]}]},
            "`pieces[2].after` names 3: there is no such piece.",
        ),
        (
            "propose_plan",
            {"summary": "x", "pieces": [{**PIECE, "after": [1]}]},
            "`pieces[1].after` names 1: a piece cannot wait for itself.",
        ),
        (
            "propose_plan",
            {"summary": "x", "pieces": [{**PIECE, "after": [2]}, {**PIECE, "after": [1]}, PIECE]},
            "Pieces 1, 2 wait for each other, so none of them could start.",
        ),
        (
            "propose_plan",
            {"summary": "x", "pieces": [{**PIECE, "title": "t" * 101}]},
            "`pieces[1].title` is longer than 100 characters.",
        ),
        ("diff", {"piece": True}, "`piece` must be a whole number."),
        ("diff", {"piece": 0}, "`piece` is too small: 0."),
        ("diff", {"screenshots": []}, "`screenshots` is no argument here; there are: "),
        (
            "wake_me",
            {"why": "Look", "at": "07:30", "after_minutes": 5},
            "Say when: either `at` or `after_minutes`.",
        ),
        ("wake_me", {"why": "Look"}, "Say when: either `at` or `after_minutes`."),
        ("status", {"x": 1}, "`x` is no argument here; there are: none."),
        ("answer", {"ask": "a-1", "decision": "send_back"}, "`text` is missing: send_back needs"),
        ("ask_owner", {"question": "?", "kind": "spend"}, "`amount_usd` is missing"),
        ("message_worker", {"piece": 1, "text": "  "}, "`text` is empty."),
    ],
)
def test_each_fault_has_a_sentence(name: str, given: Json, said: str) -> None:
    found = faults(LEAD[name], given)
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        (
            "propose_plan",
            {"summary": "x", "pieces": [PIECE, {**PIECE, "after": [1], "agent": None}]},
        ),
        ("propose_plan", {"summary": "x", "pieces": [{**PIECE, "budget_usd": 2.5}]}),  # of old
        ("diff", {}),
        ("diff", {"piece": 2, "path": "src/orders.py"}),
        ("answer", {"ask": "a-1", "decision": "allow"}),
        ("ask_owner", {"question": "Blue?", "options": ["Yes", "No"], "kind": "question"}),
        ("ask_owner", {"question": "Buy it?", "kind": "spend", "amount_usd": 3.5}),
        ("wake_me", {"after_minutes": 30, "why": "Look at the build"}),
        ("wake_me", {"at": "07:30", "why": "Look at the build"}),
    ],
)
def test_what_is_right_passes(name: str, given: Json) -> None:
    assert faults(LEAD[name], given) == []


@pytest.mark.parametrize(
    "tool", {**LEAD, "done": TOOLS["worker"][0]}.values(), ids=lambda t: t.name
)
def test_nothing_is_offered_that_nobody_acts_on(tool: Tool) -> None:
    assert "budget" not in f"{tool.does} {json.dumps(schema(tool))}"


@pytest.mark.parametrize(
    "tool", {**LEAD, "done": TOOLS["worker"][0]}.values(), ids=lambda t: t.name
)
def test_what_is_shown_of_a_tool_is_what_is_judged(tool: Tool) -> None:
    shown = schema(tool)
    Draft202012Validator.check_schema(shown)
    assert '"required": true' not in json.dumps(shown)
    empty_is_right = faults(tool, {}) == []
    assert empty_is_right == Draft202012Validator(shown).is_valid({})
