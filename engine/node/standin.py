"""Claude Code's side of the wire, with no model behind it.

What a host sees of an agent: lines in and out, questions before it may act, a conversation on disk that a
later process takes up again, a desk reached by MCP. What it does in a turn is for whoever gives it a
`perform`; rehearse.py plays a scenario. Nothing of it is sure to be as strict or as kind as the real
one: tests/real_agents/ tries that.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import threading
import uuid
from typing import Any, Callable, NoReturn

Json = dict[str, Any]

VERSION = "rehearsal"
MODEL = "rehearsal"
DESK = "quarterdeck"
TICK_S = 0.02
IDLE_S = 60.0
CENT = 0.01

EDITORS = ("Write", "Edit")
READERS = re.compile(
    r"(ls|cat|pwd|echo|head|tail|grep|wc|true|test|diff|sort|cd"
    r"|git (status|log|diff|show|branch|rev-parse|ls-files))(\s|$)"
)
FILERS = re.compile(r"(touch|mkdir|mv|cp|rm|rmdir|sed)(\s|$)")


# -------------------------------------------------------------------------------------- session


class Session:
    """The conversation on disk, so that a later process can go on with it."""

    def __init__(self, session_id: str, path: str) -> None:
        self.id = session_id
        self.path = path
        self.prompts: list[str] = []
        self.kept: dict[str, str] = {}
        self.cost_usd = 0.0

    @classmethod
    def new(cls, session_id: str, config_dir: str, tree: str) -> Session:
        folder = os.path.join(config_dir, "projects", re.sub(r"[^A-Za-z0-9]", "-", tree))
        os.makedirs(folder, mode=0o700, exist_ok=True)
        return cls(session_id, os.path.join(folder, f"{session_id}.jsonl"))

    def read(self) -> None:
        with open(self.path, encoding="utf-8") as file:
            for line in file:
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue  # torn by a crash
                if entry.get("type") == "user":
                    self.prompts.append(entry["text"])
                self.kept.update(entry.get("kept", {}))
                self.cost_usd = entry.get("cost_usd", self.cost_usd)

    def keep(self, name: str, words: str) -> None:
        self.kept[name] = words
        self.add({"type": "kept", "kept": {name: words}})

    def add(self, entry: Json) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())


def find_session(session_id: str, config_dir: str) -> str | None:
    root = os.path.join(config_dir, "projects")
    for folder in sorted(os.listdir(root)) if os.path.isdir(root) else []:
        path = os.path.join(root, folder, f"{session_id}.jsonl")
        if os.path.exists(path):
            return path
    return None


# ----------------------------------------------------------------------------------------- desk


class Desk:
    """An MCP client of one server on stdio; its answers come in by the agent's queue."""

    def __init__(self, command: list[str], inbox: queue.Queue[tuple[str, Any]], tree: str) -> None:
        self.tools: list[str] = []
        self.inbox = inbox
        self.ids = 0
        self.process = subprocess.Popen(
            command, cwd=tree, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(ValueError):
                self.inbox.put(("desk", json.loads(line)))
        self.inbox.put(("desk_gone", self.process))

    def send(self, method: str, params: Json) -> int:
        self.ids += 1
        self._write({"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params})
        return self.ids

    def notify(self, method: str) -> None:
        self._write({"jsonrpc": "2.0", "method": method})

    def _write(self, message: Json) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # told by desk_gone
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


# ---------------------------------------------------------------------------------------- agent


class Failed(Exception):
    """The turn ends as an error, with this sentence."""


class Interrupted(Exception):
    """The host asked for the end of the turn."""


class Over(Exception):
    """The host asked for the end of the process."""


class TurnOver(Exception):
    """The turn has printed its own end."""


class Agent:
    """One process: turn after turn until its input ends."""

    def __init__(
        self,
        flags: argparse.Namespace,
        session: Session,
        tree: str,
        perform: Callable[[Agent], None],
    ) -> None:
        settings = json.loads(flags.settings or "{}")
        self.flags = flags
        self.session = session
        self.tree = tree
        self.perform = perform
        self.role = os.environ.get("QUARTERDECK_ROLE", "")
        self.mode = flags.permission_mode
        self.allowed = split_rules(flags.allowedTools)
        self.allowed += settings.get("permissions", {}).get("allow", [])
        self.denied = split_rules(flags.disallowedTools)
        self.inbox: queue.Queue[tuple[str, Any]] = queue.Queue()
        self.told: list[tuple[str, str]] = []  # prompts not taken up yet, each with its id
        self.meanwhile: list[str] = []  # ids of those read in the middle of this turn
        self.desk: Desk | None = None
        self.eof = False
        self.code = 0
        self.ids = 0
        self.prompt = ""
        self.last = ""
        self.cost = CENT

    # ------------------------------------------------------------------------------ the host

    def listen(self) -> None:
        for raw in sys.stdin.buffer:
            self.inbox.put(("in", raw))
        self.inbox.put(("eof", None))

    def put(self, line: Json) -> None:
        text = json.dumps(line | {"session_id": self.session.id, "uuid": self.new_id()})
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def new_id(self) -> str:
        self.ids += 1
        space = uuid.UUID(self.session.id)
        return str(uuid.uuid5(space, f"{len(self.session.prompts)}.{self.ids}"))

    def hear(self, wait_s: float = TICK_S) -> tuple[str, Any]:
        """Return the next thing that is not ours to answer at once; ("", None) after `wait_s`."""
        try:
            kind, body = self.inbox.get(timeout=wait_s)
        except queue.Empty:
            return "", None
        if kind == "eof":
            self.eof = True
        if kind == "in":
            return self._take(body)
        return kind, body

    def _take(self, raw: bytes) -> tuple[str, Any]:
        try:
            line = json.loads(raw)
        except ValueError:
            count = len(raw.strip())
            sys.stderr.write(f"Error parsing streaming input line (type=unknown, {count} chars)\n")
            self.leave(1)
        kind = line.get("type")
        if kind == "user":
            said = line.get("uuid", "")
            self.told.append((text_of(line["message"]["content"]), said))
            self.lifecycle(said, "queued")
        elif kind == "control_request":
            self._obey(line["request_id"], line["request"])
        elif kind == "control_response":
            return "answer", line["response"]
        return "", None

    def _obey(self, request_id: str, request: Json) -> None:
        subtype = request.get("subtype")
        known: dict[str, Json] = {
            "interrupt": {"still_queued": []},
            "end_session": {},
            "initialize": {"commands": []},
            "set_permission_mode": {"mode": request.get("mode")},
        }
        answer: Json = {"subtype": "success", "request_id": request_id}
        if subtype in known:
            answer["response"] = known[subtype]
        else:
            answer["subtype"] = "error"
            answer["error"] = f"Unsupported control request subtype: {subtype}"
        self.put({"type": "control_response", "response": answer})
        if subtype == "interrupt":
            raise Interrupted
        if subtype == "end_session":
            raise Over
        if subtype == "set_permission_mode":
            self.mode = request["mode"]

    # ------------------------------------------------------------------------------ turns

    def live(self) -> NoReturn:
        """Take turns until the input ends."""
        threading.Thread(target=self.listen, daemon=True).start()
        while True:
            # An interrupt between turns finds nothing to end.
            with contextlib.suppress(Interrupted):
                self.take_turn()

    def take_turn(self) -> None:
        try:
            while not self.told and not self.eof:
                self.hear(IDLE_S)
            if self.told:
                prompt = "\n".join(text for text, _ in self.told)
                for _, said in self.told:
                    self.lifecycle(said, "started")
                self.told = []
                self.turn(prompt)
                return
        except Over:
            pass
        self.leave(self.code)

    def turn(self, prompt: str) -> None:
        self.prompt, self.last, self.cost = prompt, "", CENT
        self.session.prompts.append(prompt)
        self.session.add({"type": "user", "text": prompt})
        try:
            if self.desk is None:
                self.open_desk()
            self.init()
            self.perform(self)
            self.end()
        except TurnOver:
            return
        except Interrupted:
            self.end(subtype="error_during_execution", reason="aborted_tools")
        except Over:
            self.end(subtype="error_during_execution", reason="aborted_tools")
            raise
        except Failed as sentence:
            self.end(str(sentence), reason="api_error", error=True)

    # ------------------------------------------------------------------------------ lines out

    def init(self) -> None:
        tools = ["AskUserQuestion", "Bash", "Edit", "ExitPlanMode", "Read", "Write"]
        desk = self.desk
        names = [f"mcp__{DESK}__{tool}" for tool in desk.tools] if desk else []
        status = "connected" if names else "failed"
        servers = [{"name": DESK, "status": status}] if self.desk_command() else []
        self.put(
            {
                "type": "system",
                "subtype": "init",
                "cwd": self.tree,
                "tools": [tool for tool in tools if tool not in self.denied] + names,
                "mcp_servers": servers,
                "model": MODEL,
                "permissionMode": self.mode,
                "claude_code_version": VERSION,
            }
        )

    def block(self, block: Json) -> None:
        message = {"role": "assistant", "model": MODEL, "content": [block]}
        self.put({"type": "assistant", "message": message, "parent_tool_use_id": None})

    def say(self, text: str) -> None:
        self.last = text
        self.session.add({"type": "assistant", "text": text})
        self.block({"type": "text", "text": text})

    def use(self, tool: str, given: Json) -> str:
        use_id = f"toolu_{self.new_id()}"
        self.block({"type": "tool_use", "id": use_id, "name": tool, "input": given})
        return use_id

    def done(self, use_id: str, words: str, error: bool = False) -> None:
        """Give the tool's result; what the host said meanwhile is read beside it."""
        for text, said in self.told:
            words += f"\n\nThe user sent a new message while you were working:\n{text}"
            self.meanwhile.append(said)
        result = {"type": "tool_result", "tool_use_id": use_id, "content": words, "is_error": error}
        self.put({"type": "user", "message": {"role": "user", "content": [result]}})
        for _, said in self.told:
            self.lifecycle(said, "started")
        self.told = []

    def lifecycle(self, said: str, state: str) -> None:
        """Tell what becomes of a message that came with an id."""
        if said:
            self.put({"type": "command_lifecycle", "command_uuid": said, "state": state})

    def end(
        self,
        text: str | None = None,
        subtype: str = "success",
        reason: str = "completed",
        error: bool = False,
        more: Json | None = None,
    ) -> None:
        """Print the result; the exit code is the last one's."""
        failed = error or subtype != "success"
        self.code = 1 if failed else 0
        self.session.cost_usd += self.cost
        self.session.add({"type": "turn", "cost_usd": self.session.cost_usd})
        line: Json = {
            "type": "result",
            "subtype": subtype,
            "is_error": failed,
            "terminal_reason": reason,
            "num_turns": 1,
            "total_cost_usd": self.session.cost_usd,
            "model_usage_since_last_result": {MODEL: {"costUSD": self.cost}},
            "permission_denials": [],
            "api_error_status": None,
        }
        if subtype == "success":
            line["result"] = self.last if text is None else text
        else:
            line["errors"] = ["The turn was interrupted."]
        for said in self.meanwhile:
            self.lifecycle(said, "completed")
        self.meanwhile = []
        self.put(line | (more or {}))
        self.cost = 0.0

    def synthetic(self, text: str, more: Json) -> None:
        message = {
            "role": "assistant",
            "model": "<synthetic>",
            "usage": None,
            "content": [{"type": "text", "text": text}],
        }
        self.put({"type": "assistant", "message": message, "is_api_error_message": True, **more})

    # ------------------------------------------------------------------------------ asking

    def decide(self, tool: str, given: Json) -> str:
        """Return "allow", "ask", or why it is refused unasked."""
        if tool in self.denied:
            return f"No such tool available: {tool}. {tool} is disabled for this session."
        if self.mode == "bypassPermissions" or self.ruled(tool, given):
            return "allow"
        if tool in ("AskUserQuestion", "ExitPlanMode"):
            return "ask"
        if tool in EDITORS and self.mode in ("acceptEdits", "auto"):
            inside = os.path.realpath(given["file_path"]).startswith(self.tree + os.sep)
            return "allow" if inside else "ask"
        if tool == "Bash" and self.mode == "auto":
            return "allow"
        if tool == "Bash" and self.mode == "plan":
            return "This session only plans, so Bash was not run."
        return "ask"

    def ruled(self, tool: str, given: Json) -> bool:
        if tool != "Bash":
            return any(tool == rule or tool.startswith(f"{rule}__") for rule in self.allowed)
        command = given["command"]
        if f"Bash({command})" in self.allowed:
            return True
        prefixes = [rule[5:-3] for rule in self.allowed if re.fullmatch(r"Bash\(.*:\*\)", rule)]
        edits = self.mode == "acceptEdits"
        if re.search(r"[`]|\$\(", command) or (">" in command and not edits):
            return False
        return all(
            READERS.match(part)
            or any(part == prefix or part.startswith(f"{prefix} ") for prefix in prefixes)
            or (edits and FILERS.match(part))
            for part in commands_of(command)
        )

    def ask(self, tool: str, given: Json, use_id: str) -> Json:
        """Ask the host, and return its answer."""
        request_id = self.new_id()
        request = {
            "subtype": "can_use_tool",
            "tool_name": tool,
            "display_name": tool,
            "input": given,
            "tool_use_id": use_id,
        }
        self.put({"type": "control_request", "request_id": request_id, "request": request})
        try:
            while True:
                kind, answer = self.hear()
                if kind == "answer" and answer.get("request_id") == request_id:
                    return dict(answer.get("response") or {"behavior": "deny", "message": "error"})
                if self.eof:
                    words = "Tool permission stream closed before response received"
                    return {"behavior": "deny", "message": words}
        except (Interrupted, Over):
            self.put({"type": "control_cancel_request", "request_id": request_id})
            raise

    def attempt(self, tool: str, given: Json) -> tuple[str, Json | None, str]:
        """Use a tool as far as it is allowed.

        returns  its id; the input to go on with, or None and the words of the refusal
        """
        use_id = self.use(tool, given)
        verdict = self.decide(tool, given)
        answer: Json = {"behavior": "allow"}
        if verdict == "ask":
            answer = self.ask(tool, given, use_id)
        elif verdict != "allow":
            answer = {"behavior": "deny", "message": verdict}
        if answer.get("behavior") == "allow":
            for update in answer.get("updatedPermissions", []):
                self.set_mode(update.get("mode", self.mode))
            return use_id, answer.get("updatedInput") or given, ""
        words = str(answer.get("message", ""))
        self.done(use_id, words, error=True)
        if answer.get("interrupt"):
            raise Interrupted
        return use_id, None, words

    def set_mode(self, mode: str) -> None:
        self.mode = mode
        line = {"type": "system", "subtype": "status", "status": None, "permissionMode": mode}
        self.put(line)

    # ------------------------------------------------------------------------------ the desk

    def desk_command(self) -> list[str]:
        servers = json.loads(self.flags.mcp_config or "{}").get("mcpServers", {})
        server = servers.get(DESK)
        return [server["command"], *server.get("args", [])] if server else []

    def open_desk(self) -> None:
        command = self.desk_command()
        if not command:
            return
        try:
            self.desk = Desk(command, self.inbox, self.tree)
        except OSError:
            return  # said by the status in init
        who = {"name": "rehearsal", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who}
        if self.call_desk("initialize", hello) is None:
            return
        self.desk.notify("notifications/initialized")
        tools = (self.call_desk("tools/list", {}) or {}).get("tools", [])
        self.desk.tools = [tool["name"] for tool in tools]

    def call_desk(self, method: str, params: Json) -> Json | None:
        """Return the desk's answer; None if it is gone."""
        if self.desk is None:
            return None
        wanted = self.desk.send(method, params)
        while True:
            kind, body = self.hear()
            if kind == "desk" and body.get("id") == wanted:
                if "error" in body:
                    text = str(body["error"].get("message"))
                    return {"isError": True, "content": [{"type": "text", "text": text}]}
                return dict(body["result"])
            if kind == "desk_gone" and body is self.desk.process:
                self.desk.close()
                self.desk = None
                return None

    def leave(self, code: int) -> NoReturn:
        if self.desk is not None:
            self.desk.close()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # a thread still reads stdin


def run(agent: Agent, command: str) -> tuple[int, str]:
    """Run a command in a session of its own, ended with the turn."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", command],
        cwd=agent.tree,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )

    def wait() -> None:
        output = process.communicate()[0].decode("utf-8", "replace")
        agent.inbox.put(("ran", (process, output.strip())))

    threading.Thread(target=wait, daemon=True).start()
    try:
        while True:
            kind, ran = agent.hear()
            if kind == "ran" and ran[0] is process:
                return process.returncode, ran[1]
    except (Interrupted, Over):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content if block.get("type") == "text")


def split_rules(rules: str) -> list[str]:
    """Split at commas and spaces outside brackets."""
    return re.findall(r"(?:[^\s,(]|\([^)]*\))+", rules or "")


def commands_of(command: str) -> list[str]:
    """Return the single commands of a line; quoted text stays in its command."""
    tokens = shlex.shlex(command, posix=True, punctuation_chars=";&|")
    tokens.whitespace_split = True
    parts: list[list[str]] = [[]]
    try:
        for token in tokens:
            if set(token) <= set(";&|"):
                parts.append([])
            else:
                parts[-1].append(token)
    except ValueError:
        return [command]  # unbalanced quotes: the shell's own affair
    return [" ".join(part) for part in parts if part]


def config_dir() -> str:
    return os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="rehearse", allow_abbrev=False, description=__doc__)
    parser.add_argument("words", nargs="*")
    for name in ("-p", "--print", "--verbose", "--strict-mcp-config", "--version"):
        parser.add_argument(name, action="store_true")
    for name in ("input-format", "output-format", "permission-prompt-tool", "setting-sources"):
        parser.add_argument(f"--{name}")
    for name in ("mcp-config", "settings", "allowedTools", "disallowedTools", "session-id"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--add-dir", action="append", default=[])
    for name in ("resume", "model", "append-system-prompt", "max-budget-usd", "scenario"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--permission-mode", default="default")
    return parser.parse_args(argv)


def open_agent(perform: Callable[[Agent], None]) -> Agent | int:
    """Return the agent the flags ask for, or the exit code of what they asked for instead."""
    flags = parse(sys.argv[1:])
    if flags.version:
        print(f"{VERSION} (a scripted stand-in for Claude Code)")
        return 0
    if flags.words[-2:] == ["auth", "status"]:
        print(json.dumps({"loggedIn": True, "authMethod": "none", "apiProvider": "rehearsal"}))
        return 0
    tree = os.path.realpath(os.getcwd())
    session_id = flags.resume or flags.session_id or str(uuid.uuid4())
    found = find_session(session_id, config_dir())
    if flags.resume and found is None:
        return no_conversation(session_id)
    if found is not None and not flags.resume:
        print(f"Error: Session ID {session_id} is already in use.", file=sys.stderr)
        return 1
    if found is None:
        session = Session.new(session_id, config_dir(), tree)
    else:
        session = Session(session_id, found)
        session.read()
    return Agent(flags, session, tree, perform)


def no_conversation(session_id: str) -> int:
    words = f"No conversation found with session ID: {session_id}"
    line = {
        "type": "result",
        "subtype": "error_during_execution",
        "is_error": True,
        "num_turns": 0,
        "errors": [words],
        "session_id": session_id,
        "total_cost_usd": 0,
    }
    print(json.dumps(line), flush=True)
    print(words, file=sys.stderr)
    return 1
