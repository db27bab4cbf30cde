"""A scripted stand-in for the Messages API on 127.0.0.1, so that a real agent can be run with no account.

A script is a list of parts. A request belongs to the first part whose words stand in it: `prompt` in the
text the turn answers, `system` in the instructions. The part's next step is the one after as many
answers as the turn already has; nothing else is counted, so a repeated request gets the same answer
again, and an agent that was killed and resumed finds its place by what it sends.

    with ModelServer([Part(prompt="fix it", steps=(Call("Bash", {"command": "make"}), "Fixed."))]) as api:
        api.env()        # what points Claude Code at it
        api.requests     # every body it was sent

Used by test_cli_contract.py and by whatever plays a whole goal with real agents.
"""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, TypeAlias

from tests.real_agents.served import Served

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """The model uses a tool, perhaps after a few words."""

    name: str
    input: Json
    words: str = ""


@dataclass(frozen=True)
class Refuse:
    """The API answers with an error; after `times` of it, with `then`."""

    status: int
    kind: str
    message: str
    headers: tuple[tuple[str, str], ...] = ()
    times: int = 1_000
    then: Step = "Recovered."


@dataclass(frozen=True)
class Cut:
    """The stream breaks off in the middle of these words; the next time it answers `then`."""

    words: str
    then: Step = "Recovered."


@dataclass
class Hold:
    """The stream begins, and goes on with `then` once `release` is set; never, if it is not."""

    words: str = "Working "
    then: str | Call = "done."
    reached: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)


Step: TypeAlias = "str | Call | Refuse | Cut | Hold | Callable[[Json], Step]"


@dataclass(frozen=True)
class Part:
    """What the model does in the turns it fits."""

    steps: tuple[Step, ...]
    prompt: str = ""
    system: str = ""


def usage_limit(resets_at: int, window: str = "five_hour") -> Refuse:
    """Return the refusal of a subscription whose window is used up."""
    short = {"five_hour": "5h", "seven_day": "7d"}[window]
    return Refuse(
        429,
        "rate_limit_error",
        "This request would exceed your account's rate limit. Please try again later.",
        (
            ("anthropic-ratelimit-unified-status", "rejected"),
            ("anthropic-ratelimit-unified-reset", str(resets_at)),
            ("anthropic-ratelimit-unified-representative-claim", window),
            ("anthropic-ratelimit-unified-overage-status", "rejected"),
            ("anthropic-ratelimit-unified-overage-disabled-reason", "org_level_disabled"),
            (f"anthropic-ratelimit-unified-{short}-status", "rejected"),
            (f"anthropic-ratelimit-unified-{short}-utilization", "1.0"),
            (f"anthropic-ratelimit-unified-{short}-reset", str(resets_at)),
        ),
    )


LOGIN_EXPIRED = Refuse(401, "authentication_error", "OAuth token has expired.")
OVERLOADED = Refuse(529, "overloaded_error", "Overloaded", times=1)


def plan_file(body: Json) -> str:
    """Return the path the agent told the model to write its plan to."""
    found = re.search(r"/[^\s\"'`]*/plans/[\w-]+\.md", json.dumps(body, ensure_ascii=False))
    if found is None:
        raise LookupError("the request names no plan file")
    return found.group()


def tree_of(body: Json) -> str:
    """Return the folder the agent works in, as it told the model: tools want absolute paths."""
    found = re.search(r"Primary working directory: ([^\n]+)", _system_text(body))
    if found is None:
        raise LookupError("the request names no working directory")
    return found.group(1)


# The agent's own line to the model after a broken stream; not a prompt.
_CONTINUED = "Your response above was cut off"

# What it puts beside a prompt or a result by itself.
_BESIDE = ("<system-reminder>", "The user sent a new message while you were working")


def prompt_of(body: Json) -> tuple[str, int]:
    """Return the text the running turn answers, and how many answers it already has."""
    messages = [one for one in body.get("messages", []) if one.get("role") in ("user", "assistant")]
    answers = 0
    for message in reversed(messages):
        if message["role"] == "assistant":
            answers += 1
            continue
        text = _prompt_text(message["content"])
        if text and not text.startswith(_CONTINUED):
            return text, answers
    return "", answers


def _prompt_text(content: str | list[Json]) -> str:
    """Return a message's text, if it is a prompt: not the agent's reminders, nor a tool's result.

    After a turn that broke off behind a tool the next prompt comes in one message with the result.
    """
    if isinstance(content, str):
        return content
    texts = [str(block.get("text", "")) for block in content if block.get("type") == "text"]
    return "\n".join(text for text in texts if not text.lstrip().startswith(_BESIDE))


def _system_text(body: Json) -> str:
    parts = [body.get("system", "")]
    parts += [one["content"] for one in body.get("messages", []) if one["role"] == "system"]
    return "\n".join(text for part in parts for text in _texts(part))


def _texts(content: str | list[Json]) -> list[str]:
    return [content] if isinstance(content, str) else [str(one.get("text", "")) for one in content]


class ModelServer(Served):
    """Serves a script until the `with` ends."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = list(parts)
        self.requests: list[Json] = []
        self.headers: list[dict[str, str]] = []
        self.fetched: list[str] = []  # what was asked for with GET: by an agent's own command
        self.gate = threading.Event()  # cleared, what is asked for with GET waits
        self.gate.set()
        self._given: Counter[tuple[int, int]] = Counter()
        self._lock = threading.Lock()
        super().__init__(_handler(self))

    def env(self, token: str = "not-a-token") -> dict[str, str]:
        """Return the environment of an account of this server."""
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "CLAUDE_CODE_OAUTH_TOKEN": token,
            "CLAUDE_CODE_MAX_RETRIES": "2",
        }

    def prompts(self) -> list[str]:
        """Return the text each request answered, as sent."""
        return [prompt_of(body)[0] for body in self.requests]

    def step(self, body: Json, headers: dict[str, str]) -> str | Call | Refuse | Cut | Hold:
        """Return what the script has for this request."""
        prompt, answers = prompt_of(body)
        system = _system_text(body)
        with self._lock:
            self.requests.append(body)
            self.headers.append(headers)
            for number, part in enumerate(self.parts):
                if part.prompt in prompt and part.system in system:
                    step = part.steps[answers] if answers < len(part.steps) else "Nothing is left."
                    return self._settled(step, body, (number, answers))
        return f"The model's script has no part for this: {prompt[:200]}"

    def _settled(
        self, step: Step, body: Json, place: tuple[int, int]
    ) -> str | Call | Refuse | Cut | Hold:
        while callable(step):
            step = step(body)
        times = step.times if isinstance(step, Refuse) else 1
        if isinstance(step, Refuse | Cut) and self._given[place] >= times:
            return self._settled(step.then, body, (-1 - place[0], place[1]))
        self._given[place] += 1
        return step


def results_in(body: Json) -> list[str]:
    """Return what each tool of the running turn came to, as the model was told it."""
    found: list[str] = []
    for message in body["messages"]:
        if message["role"] != "user":
            continue
        if _prompt_text(message["content"]):
            found.clear()
        if isinstance(message["content"], list):
            blocks = [one for one in message["content"] if one.get("type") == "tool_result"]
            found += ["\n".join(_texts(block.get("content") or "")) for block in blocks]
    return found


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            server.fetched.append(self.path)
            server.gate.wait()
            self._json(200, {"in stock": 3})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if "count_tokens" in self.path:
                self._json(200, {"input_tokens": 10})
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            step = server.step(body, headers)
            if isinstance(step, Refuse):
                error = {"type": step.kind, "message": step.message}
                self._json(step.status, {"type": "error", "error": error}, step.headers)
            elif not body.get("stream"):
                self._json(200, _message(step, str(body.get("model"))))
            else:
                self._stream(step, str(body.get("model")))

        def _json(self, status: int, body: Json, headers: tuple[tuple[str, str], ...] = ()) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            for name, value in (*headers, ("content-type", "application/json")):
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, step: str | Call | Cut | Hold, model: str) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            try:
                for event in _events(step, model):
                    data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
                    self.wfile.write(data.encode())
                    self.wfile.flush()
            except (BrokenPipeError, ConnectionResetError):
                return  # the agent was interrupted or killed

        def log_message(self, format: str, *args: object) -> None:
            return

    return Handler


def _message(step: str | Call | Cut | Hold, model: str) -> Json:
    content = [block for block, _ in _blocks(step)]
    return _head(model) | {"content": content, "stop_reason": "end_turn"}


def _head(model: str) -> Json:
    return {
        "id": f"msg_{uuid.uuid4().hex[:20]}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 10,
            "cache_creation_input_tokens": 200,
            "cache_read_input_tokens": 1000,
            "output_tokens": 1,
        },
    }


def _blocks(step: str | Call | Cut | Hold) -> list[tuple[Json, list[Json]]]:
    """Return each content block as it begins and the deltas that fill it."""
    words = step if isinstance(step, str) else step.words
    blocks: list[tuple[Json, list[Json]]] = []
    if words:
        half = len(words) // 2
        deltas = [{"type": "text_delta", "text": part} for part in (words[:half], words[half:])]
        blocks.append(({"type": "text", "text": ""}, deltas))
    if isinstance(step, Call):
        start = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:18]}", "name": step.name}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(step.input)}
        blocks.append((start | {"input": {}}, [delta]))
    return blocks


def _events(step: str | Call | Cut | Hold, model: str) -> Iterator[Json]:
    yield {"type": "message_start", "message": _head(model)}
    for index, (start, deltas) in enumerate(_blocks(step)):
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        if isinstance(step, Cut):
            return
        if isinstance(step, Hold):
            step.reached.set()
            step.release.wait()
            if isinstance(step.then, Call):
                yield {"type": "content_block_stop", "index": index}
                yield from _called(step.then, index + 1)
                return
            delta = {"type": "text_delta", "text": step.then}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield from _end("tool_use" if isinstance(step, Call) else "end_turn")


def _called(call: Call, first: int) -> Iterator[Json]:
    """Go on with a tool's call behind what was said already."""
    for index, (start, deltas) in enumerate(_blocks(call), first):
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield from _end("tool_use")


def _end(reason: str) -> Iterator[Json]:
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 30},
    }
    yield {"type": "message_stop"}
