"""A scripted stand-in for the Responses API on 127.0.0.1, so that the real Codex can be run with no account.

A script has the steps of each prompt. A request's step is the one after as many calls as it carries
behind the last prompt it knows, so a repeated request gets the same answer. Whatever is not as the API
takes it (another path, no stream, a call without its output) is refused and kept in `wrong`, which a
test holds empty.

    with ResponsesServer({"build it": (run("make"), "Built.")}) as api:
        api.url          # the provider's base_url
        api.outputs      # prompt -> what each of its calls came to, as the model was told

The Messages API's is model_server.py. Used by test_codex_in_the_fence.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any, TypeAlias

from tests.real_agents.served import Served

Json: TypeAlias = dict[str, Any]

MODEL = "gpt-5.5"  # is offered exec_command and apply_patch by name
_CALLS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
_USAGE = {
    "input_tokens": 1000,
    "input_tokens_details": {"cached_tokens": 400},
    "output_tokens": 50,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 1050,
}


@dataclass(frozen=True)
class Use:
    """The model uses a tool: with JSON, or with a text of its own where the tool takes that."""

    name: str
    given: Json | str


Step: TypeAlias = "str | Use"


def run(command: str) -> Use:
    return Use("exec_command", {"cmd": command, "yield_time_ms": 20_000})


def add_file(path: str, line: str) -> Use:
    return Use("apply_patch", f"*** Begin Patch\n*** Add File: {path}\n+{line}\n*** End Patch\n")


class Wrong(ValueError):
    """A request that the API would not take; the text says why."""


class ResponsesServer(Served):
    """Serves a script until the `with` ends."""

    def __init__(self, script: Mapping[str, tuple[Step, ...]]) -> None:
        self.script = dict(script)
        self.outputs: dict[str, list[str]] = {}
        self.wrong: list[str] = []
        self.fetched: list[str] = []  # what was asked for with GET: by an agent's own command
        super().__init__(_handler(self))

    @property
    def url(self) -> str:
        return f"{super().url}/v1"

    def answer(self, body: Json) -> tuple[Step, int]:
        """Return what the model does next, and the number of the step; raises Wrong."""
        for name, value in (("model", MODEL), ("stream", True), ("store", False)):
            if body.get(name) != value:
                raise Wrong(f"{name} is {body.get(name)!r}")
        prompt, outputs = self._judged(body.get("input"))
        offered = {tool.get("name") for tool in body.get("tools") or ()}
        steps = (*self.script[prompt], "Nothing is left.")
        step = steps[min(len(outputs), len(steps) - 1)]
        if isinstance(step, Use) and step.name not in offered:
            raise Wrong(f"{step.name} is not offered, but {sorted(map(str, offered))}")
        self.outputs[prompt] = outputs
        return step, len(outputs)

    def _judged(self, items: object) -> tuple[str, list[str]]:
        """Return the last prompt of the script, and what the calls behind it came to."""
        if not isinstance(items, list):
            raise Wrong("input is no list")
        prompt, outputs, open_calls = "", list[str](), dict[str, str]()
        for item in items:
            kind = item.get("type")
            if kind == "message":
                texts = [part.get("text") for part in item.get("content") or ()]
                if item.get("role") == "user" and (known := self.script.keys() & set(texts)):
                    prompt, outputs = known.pop(), []
            elif kind in _CALLS:
                open_calls[item["call_id"]] = _CALLS[kind]
            elif kind in _CALLS.values():
                if open_calls.pop(item["call_id"], "") != kind:
                    raise Wrong(f"an output with no call: {item}")
                outputs.append(_text(item["output"]))
        if open_calls:
            raise Wrong(f"calls with no output: {sorted(open_calls)}")
        if not prompt:
            raise Wrong("no prompt of the script")
        return prompt, outputs


def _text(output: object) -> str:
    """Return what a call came to, which is a text or a list of parts."""
    if isinstance(output, list):
        return "\n".join(str(part.get("text", "")) for part in output)
    return str(output)


def _handler(server: ResponsesServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            server.fetched.append(self.path)
            self._json(200, {"in stock": 3})

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["content-length"]))
            try:
                if self.path != "/v1/responses":
                    raise Wrong(f"no such path: {self.path}")
                step, number = server.answer(json.loads(data))
            except ValueError as error:
                server.wrong.append(str(error))
                self._json(400, {"error": {"type": "invalid_request_error", "message": str(error)}})
                return
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            for event in _events(step, number):
                line = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
                self.wfile.write(line.encode())

        def _json(self, status: int, body: Json) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            return

    return Handler


def _events(step: Step, number: int) -> Iterator[Json]:
    head = {"id": f"resp_{number}", "object": "response", "model": MODEL, "output": []}
    yield {"type": "response.created", "response": head | {"status": "in_progress"}}
    item = _item(step, number)
    empty: Json = {"content": []} if isinstance(step, str) else {}
    yield {"type": "response.output_item.added", "output_index": 0, "item": item | empty}
    if isinstance(step, str):
        place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        yield {"type": "response.output_text.delta", **place, "delta": step}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    done = {"status": "completed", "output": [item], "usage": _USAGE}
    yield {"type": "response.completed", "response": head | done}


def _item(step: Step, number: int) -> Json:
    if isinstance(step, str):
        content = [{"type": "output_text", "text": step, "annotations": []}]
        return {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    call = {"name": step.name, "call_id": f"call_{number}", "status": "completed"}
    if isinstance(step.given, str):
        return {"type": "custom_tool_call", "id": f"ctc_{number}", **call, "input": step.given}
    arguments = json.dumps(step.given)
    return {"type": "function_call", "id": f"fc_{number}", **call, "arguments": arguments}
