"""The desk: the tools an agent has for its work with us, whichever agent it is.

    agent ── MCP on stdio ──> desk ── unix socket ──> runner ──> spool ──> engine
          or a command: desk propose-plan --json -

Which tools there are depends on the role (QUARTERDECK_ROLE or --role). Arguments are looked over
here, so that a mistake costs the agent one sentence and not a turn; what the words mean is decided
by the engine. A reply that is long in coming is cut short by the runner: no call waits longer than
twenty seconds.

engine/node/runner.py holds the socket; the tools' meaning is in engine/rules.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

NAME = "quarterdeck"
SOCKET = "/run/desk.sock"
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # of MCP, newest first

_READ = 64 * 1024
_CALL_S = 25.0  # the runner answers within 20; this is for one that cannot
_CLOSED = "The desk does not answer: this run is being closed. End your turn."

Json = dict[str, Any]


# ---- the tools


class Tool(NamedTuple):
    """One thing an agent may ask of us."""

    name: str
    does: str
    arguments: Json  # name -> JSON schema; "required" is taken off before it is shown


def _text(does: str, required: bool = True) -> Json:
    return {"type": "string", "description": does, "minLength": 1, "required": required}


_PIECE = {"type": "integer", "description": "The piece's number in the plan.", "minimum": 1}
_PLAN_PIECE: Json = {
    "title": {**_text("A few words; the branch and the card bear them."), "maxLength": 100},
    "task": _text(
        "All its worker needs to know: it sees the code and this text, not your conversation. "
        "Say what must be true when it is done, which files matter, what to leave alone."
    ),
    "size": {
        "type": "string",
        "enum": ["S", "M", "L"],
        "description": "S under an hour of careful work, M half a day, L more. Prefer S and M.",
        "required": True,
    },
    "after": {
        "type": "array",
        "items": {"type": "integer", "minimum": 1},
        "description": "Numbers of the pieces that must have landed before this one starts.",
    },
    "machine": _text("Only if it must run on a certain machine.", required=False),
    "agent": _text("Only if it must be a certain agent.", required=False),
    "model": _text("Only if it must be a certain model.", required=False),
}
# Of a piece, offered by an earlier version and meaning nothing now: a plan that has it is not refused.
_LET_BE = ("budget_usd",)

PROPOSE_PLAN = Tool(
    "propose_plan",
    "Put your plan to the owner: the pieces, numbered from 1 in this order. Pieces that do not wait "
    "for each other run at once, so cut where files do not overlap. Replaces a plan not yet "
    "started. Then end your turn; the go comes as a message.",
    {
        "summary": _text("Two or three sentences for the owner: what will be there, and how."),
        "pieces": {
            "type": "array",
            "minItems": 1,
            "maxItems": 40,
            "items": {"type": "object", "properties": _PLAN_PIECE},
            "description": "The pieces of work, each landed on its own.",
            "required": True,
        },
    },
)
ASK_OWNER = Tool(
    "ask_owner",
    "Ask the owner what only the owner can decide. Returns at once; end your turn, the answer comes "
    "as your next message. Ask for nothing you can find out or decide yourself.",
    {
        "question": _text("The question, complete in itself."),
        "options": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": 60},
            "maxItems": 8,
            "description": "Answers to choose from by button; free text is possible anyway.",
        },
        "kind": {
            "type": "string",
            "enum": ["question", "spend", "account", "irreversible"],
            "description": "What it is about; spend, account and irreversible wait for a yes.",
        },
        "amount_usd": {
            "type": "number",
            "exclusiveMinimum": 0,
            "description": "For kind spend: how much.",
        },
    },
)
DONE = Tool(
    "done",
    "Say that your piece is finished and committed. It is checked, then landed. End your turn after "
    "it.",
    {"summary": _text("What you did and what the lead should know, briefly.", required=False)},
)
SECRETS = Tool(
    "secrets",
    "The owner's stored keys that you may ask for: their names and where each may be used, never a value.",
    {},
)
RUN_WITH_SECRET = Tool(
    "run_with_secret",
    "Ask the owner to run one command that needs stored keys. It gets each value in the variable of the "
    "key's name, in your tree, in a fence of its own, its input closed, for ten minutes at most. Returns "
    "at once; end your turn: what it printed comes as your next message, the values taken out.",
    {
        "names": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": 100},
            "minItems": 1,
            "maxItems": 10,
            "description": "Names of the keys it needs, as `secrets` lists them.",
            "required": True,
        },
        "argv": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "maxItems": 1000,
            "description": "The program and each argument by itself; no shell reads it.",
            "required": True,
        },
        "why": _text("What for, in a sentence or two; the owner decides by it."),
    },
)
TOOLS: dict[str, tuple[Tool, ...]] = {
    "lead": (
        PROPOSE_PLAN,
        Tool(
            "start_plan",
            "Start the plan without the owner's button, where this goal allows it.",
            {},
        ),
        Tool(
            "status",
            "Where things stand: pieces, workers, what waits for what.",
            {},
        ),
        Tool(
            "diff",
            "The changes of one piece, or of your whole branch against its base.",
            {
                "piece": _PIECE,
                "path": _text("Only this file or folder.", required=False),
            },
        ),
        Tool(
            "message_worker",
            "Tell the worker of a piece something; it gets it word for word.",
            {"piece": {**_PIECE, "required": True}, "text": _text("The message.")},
        ),
        Tool(
            "stop_worker",
            "End the worker of a piece. What it has committed is kept.",
            {"piece": {**_PIECE, "required": True}, "why": _text("Why, for the owner.")},
        ),
        Tool(
            "retry_piece",
            "Try a piece again that has not landed.",
            {
                "piece": {**_PIECE, "required": True},
                "model": _text("Another model than before.", required=False),
                "note": _text("What to do differently this time.", required=False),
            },
        ),
        Tool(
            "put_for_review",
            "Put the whole to the owner once every piece has landed and you have looked it over. "
            "The check runs on your branch, then the owner ships, corrects or drops it.",
            {"summary": _text("What is there now and how to see it, for someone on a phone.")},
        ),
        ASK_OWNER,
        SECRETS,
        RUN_WITH_SECRET,
        Tool(
            "wake_me",
            "Be spoken to again later, at `at` or after `after_minutes`, to look at something that "
            "takes its time outside. What your workers do you hear anyway. Then end your turn.",
            {
                "after_minutes": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "In so many minutes, at most a week.",
                },
                "at": _text("At this time by the owner's clock, e.g. 07:30.", required=False),
                "why": _text("What for; it is what you will be told."),
            },
        ),
        Tool(
            "answer",
            "Answer what one of your workers asks, where that was left to you.",
            {
                "ask": _text("The ask's id as printed, e.g. a-5."),
                "decision": {
                    "type": "string",
                    "enum": ["allow", "deny", "approve", "send_back", "answer", "pass_on"],
                    "description": "allow or deny a permission; approve or send back an approach; "
                    "answer a question; pass it on to the owner.",
                    "required": True,
                },
                "text": _text("The answer, or what to change.", required=False),
            },
        ),
    ),
    "worker": (DONE, ASK_OWNER, SECRETS, RUN_WITH_SECRET),
}


def schema(tool: Tool) -> Json:
    """Return the JSON schema of a tool's arguments."""
    return _object(tool.arguments)


def _object(properties: Json) -> Json:
    shown: Json = {}
    for name, rule in properties.items():
        shown[name] = {key: value for key, value in rule.items() if key != "required"}
        items = rule.get("items")
        if isinstance(items, dict) and "properties" in items:
            shown[name]["items"] = _object(items["properties"])
    required = [name for name, rule in properties.items() if rule.get("required")]
    made: Json = {"type": "object", "properties": shown, "additionalProperties": False}
    return {**made, "required": required} if required else made


# ---- looking arguments over


def faults(tool: Tool, given: Json) -> list[str]:
    """Return what is wrong with a call's arguments, a sentence each; nothing if it may go."""
    found = list(_object_faults(tool.arguments, given, ""))
    if not found and tool.name == "propose_plan":
        found += _order_faults(given["pieces"])
    if not found and given.get("decision") in ("send_back", "answer") and not given.get("text"):
        found.append(f"`text` is missing: {given['decision']} needs words.")
    times = [name for name in ("at", "after_minutes") if given.get(name) is not None]
    if not found and tool.name == "wake_me" and len(times) != 1:
        found.append("Say when: either `at` or `after_minutes`.")
    if not found and given.get("kind") == "spend" and "amount_usd" not in given:
        found.append("`amount_usd` is missing: say how much is to be spent.")
    return found


def _object_faults(rules: Json, given: Json, where: str) -> Iterator[str]:
    for name in given:
        if name not in rules and not (rules is _PLAN_PIECE and name in _LET_BE):
            known = ", ".join(f"`{rule}`" for rule in rules) or "none"
            yield f"`{where}{name}` is no argument here; there are: {known}."
    for name, rule in rules.items():
        if given.get(name) is not None:
            yield from _value_faults(rule, given[name], where + name)
        elif rule.get("required"):
            yield f"`{where}{name}` is missing: {rule['description']}"


_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "text"),
    "integer": ((int,), "a whole number"),
    "number": ((int, float), "a number"),
    "array": ((list,), "a list"),
    "object": ((dict,), "an object"),
}


def _value_faults(rule: Json, value: Any, where: str) -> Iterator[str]:
    kinds, word = _KINDS[rule["type"]]
    if not isinstance(value, kinds) or isinstance(value, bool):
        yield f"`{where}` must be {word}."
    elif "enum" in rule and value not in rule["enum"]:
        yield f"`{where}` must be one of {', '.join(rule['enum'])}."
    elif isinstance(value, str):
        if len(value.strip()) < rule.get("minLength", 0):
            yield f"`{where}` is empty."
        elif len(value) > rule.get("maxLength", len(value)):
            yield f"`{where}` is longer than {rule['maxLength']} characters."
    elif isinstance(value, list):
        yield from _list_faults(rule, value, where)
    elif isinstance(value, dict):
        yield from _object_faults(rule["properties"], value, f"{where}.")
    else:
        yield from _number_faults(rule, float(str(value)), where)


def _number_faults(rule: Json, value: float, where: str) -> Iterator[str]:
    if value < rule.get("minimum", value) or ("exclusiveMinimum" in rule and value <= 0):
        yield f"`{where}` is too small: {value:g}."


def _list_faults(rule: Json, value: list[Any], where: str) -> Iterator[str]:
    if len(value) < rule.get("minItems", 0):
        yield f"`{where}` is empty."
    if len(value) > rule.get("maxItems", len(value)):
        yield f"`{where}` holds more than {rule['maxItems']}."
    for number, item in enumerate(value, 1):
        yield from _value_faults(rule["items"], item, f"{where}[{number}]")


def _order_faults(pieces: list[Json]) -> list[str]:
    """Return what is wrong with the order of a plan's pieces."""
    waits = {number: set(piece.get("after") or ()) for number, piece in enumerate(pieces, 1)}
    found = [
        f"`pieces[{number}].after` names {other}: "
        + ("a piece cannot wait for itself." if other == number else "there is no such piece.")
        for number, others in waits.items()
        for other in sorted(others)
        if other == number or other not in waits
    ]
    while not found and waits:
        ready = {number for number, others in waits.items() if not others & waits.keys()}
        if not ready:
            those = ", ".join(map(str, sorted(waits)))
            found.append(f"Pieces {those} wait for each other, so none of them could start.")
        waits = {number: others for number, others in waits.items() if number not in ready}
    return found


# ---- the runner's end


class Line:
    """The connection to the runner: calls out, replies in, in any order."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.socket: socket.socket | None = None
        self._rest = b""

    def ask(self, number: int, tool: str, arguments: Json) -> bool:
        """Send a call; False if nobody is there."""
        line = json.dumps({"id": number, "tool": tool, "args": arguments}).encode("ascii") + b"\n"
        try:
            if self.socket is None:
                self.socket = connect(self.path)
            self.socket.sendall(line)
        except OSError:
            self.close()
            return False
        return True

    def replies(self) -> list[Json] | None:
        """Return what has come in, or None if the connection ended."""
        assert self.socket is not None
        try:
            data = self.socket.recv(_READ)
        except OSError:
            data = b""
        if not data:
            self.close()
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def close(self) -> None:
        """Let go of the connection."""
        if self.socket is not None:
            self.socket.close()
        self.socket, self._rest = None, b""


def connect(path: str) -> socket.socket:
    """Return a connection to a unix socket, however long its path is."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if len(os.fsencode(path)) < 100:
            made.connect(path)
            return made
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir(os.path.dirname(path))
            made.connect(os.path.basename(path))
        finally:
            os.fchdir(here)
            os.close(here)
    except OSError:
        made.close()
        raise
    return made


# ---- as an MCP server


class Server:
    """JSON-RPC on standard input and output."""

    def __init__(self, tools: tuple[Tool, ...], line: Line) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._line = line
        self._count = 0
        self._open: dict[int, tuple[Any, float]] = {}  # our number -> their id, until when

    def serve(self) -> None:
        """Answer until standard input ends."""
        rest = b""
        while True:
            watched: list[Any] = [0]
            if self._line.socket is not None:
                watched.append(self._line.socket)
            soonest = min((until for _, until in self._open.values()), default=None)
            left = None if soonest is None else max(0.0, soonest - time.monotonic())
            ready, _, _ = select.select(watched, [], [], left)
            self._give_up()
            if self._line.socket is not None and self._line.socket in ready:
                self._hear()
            if 0 in ready:
                data = os.read(0, _READ)
                if not data:
                    return
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self._take(line)

    def _hear(self) -> None:
        replies = self._line.replies()
        if replies is None:
            for number in list(self._open):
                self._reply(number, _CLOSED, True)
            return
        for reply in replies:
            self._reply(reply.get("id"), str(reply.get("text")), bool(reply.get("error")))

    def _give_up(self) -> None:
        now = time.monotonic()
        for number in [number for number, (_, until) in self._open.items() if until <= now]:
            self._reply(number, _CLOSED, True)

    def _reply(self, number: Any, text: str, error: bool) -> None:
        their_id, _ = self._open.pop(number, (None, 0.0))
        if their_id is not None:
            self._say(their_id, said(text, error))

    def _take(self, line: bytes) -> None:
        try:
            asked = json.loads(line)
        except ValueError:
            if line.strip():
                self._write({"id": None, "error": {"code": -32700, "message": "not JSON"}})
            return
        for one in asked if isinstance(asked, list) else [asked]:
            if isinstance(one, dict) and one.get("id") is not None and "method" in one:
                self._answer(one["id"], str(one["method"]), one.get("params") or {})

    def _answer(self, their_id: Any, method: str, params: Json) -> None:
        if method == "initialize":
            wanted = params.get("protocolVersion")
            self._say(
                their_id,
                {
                    "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": NAME, "version": "1"},
                },
            )
        elif method == "ping":
            self._say(their_id, {})
        elif method == "tools/list":
            self._say(their_id, {"tools": [_listed(tool) for tool in self._tools.values()]})
        elif method == "tools/call":
            self._call(their_id, str(params.get("name")), params.get("arguments") or {})
        else:
            error = {"code": -32601, "message": f"no method {method}"}
            self._write({"id": their_id, "error": error})

    def _call(self, their_id: Any, name: str, arguments: Any) -> None:
        wrong = wrongs(self._tools, name, arguments)
        if wrong:
            self._say(their_id, said(wrong, True))
            return
        self._count += 1
        if self._line.ask(self._count, name, _given(arguments)):
            self._open[self._count] = (their_id, time.monotonic() + _CALL_S)
        else:
            self._say(their_id, said(_CLOSED, True))

    def _say(self, their_id: Any, result: Json) -> None:
        self._write({"id": their_id, "result": result})

    def _write(self, message: Json) -> None:
        data = memoryview(json.dumps({"jsonrpc": "2.0", **message}).encode("ascii") + b"\n")
        while data:
            data = data[os.write(1, data) :]


def said(text: str, error: bool) -> Json:
    """Return a tool's result as MCP has it."""
    return {"content": [{"type": "text", "text": text}], "isError": error}


def wrongs(tools: dict[str, Tool], name: str, arguments: Any) -> str:
    """Return what is wrong with a call, as one text; empty if it may go."""
    if name not in tools:
        return f"There is no tool {name}; there are: {', '.join(tools)}."
    if not isinstance(arguments, dict):
        return "The arguments must be an object."
    return "\n".join(faults(tools[name], arguments))


def _given(arguments: Json) -> Json:
    return {name: value for name, value in arguments.items() if value is not None}


def _listed(tool: Tool) -> Json:
    return {"name": tool.name, "description": tool.does, "inputSchema": schema(tool)}


# ---- as a command


def _command(tools: dict[str, Tool], line: Line, word: str, arguments: Json) -> int:
    name = word.replace("-", "_")
    wrong = wrongs(tools, name, arguments)
    if wrong:
        print(wrong, file=sys.stderr)
        return 2
    if not line.ask(1, name, _given(arguments)):
        print(_CLOSED, file=sys.stderr)
        return 1
    assert line.socket is not None
    line.socket.settimeout(_CALL_S)
    while (replies := line.replies()) is not None:
        for reply in replies:
            print(reply.get("text"), file=sys.stderr if reply.get("error") else sys.stdout)
            return 1 if reply.get("error") else 0
    print(_CLOSED, file=sys.stderr)
    return 1


def main(argv: list[str]) -> None:
    """Serve MCP on standard input, or make one call and print its answer."""
    import argparse

    words = argparse.ArgumentParser(prog="desk", description="Call one tool, or serve them all.")
    words.add_argument("tool", nargs="?", help="the tool, e.g. propose-plan; without it: MCP")
    words.add_argument("--json", default="{}", help="its arguments, or - to read them")
    words.add_argument("--role", default=os.environ.get("QUARTERDECK_ROLE", ""))
    words.add_argument("--socket", default=os.environ.get("QUARTERDECK_DESK", SOCKET))
    given = words.parse_args(argv)
    if given.role not in TOOLS:
        words.error(f"no role: set QUARTERDECK_ROLE to one of {', '.join(TOOLS)}")
    tools = TOOLS[given.role]
    line = Line(given.socket)
    if given.tool is None:
        Server(tools, line).serve()
        return
    text = sys.stdin.read() if given.json == "-" else given.json
    try:
        arguments = json.loads(text)
    except ValueError as error:
        words.error(f"--json is not JSON: {error}")
    sys.exit(_command({tool.name: tool for tool in tools}, line, given.tool, arguments))
