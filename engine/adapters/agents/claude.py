"""Claude Code, driven headless: one process a turn, JSON lines both ways.

The prompt goes in as a line, never as an argument, so that a goal beginning with `-` stays text. Its
settings, hooks and MCP servers are ours alone (`--setting-sources ''`, `--strict-mcp-config`): what a
repository brings along is not started; what its owner trusts of it comes as a kit, by the same doors
(claude_brings.py). Neighbours: driver.py has the seam and the meanings,
engine/rules/modes.py what a mode allows, tests/real_agents/ tries all of it on the real command.
"""

from __future__ import annotations

import json
import math
import os.path
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from engine.adapters.agents.driver import (
    DESK,
    Asked,
    AskWithdrawn,
    Began,
    Busy,
    Ended,
    ErrorKind,
    Kit,
    Launch,
    Limit,
    Meaning,
    Memory,
    Request,
    Retrying,
    Said,
    Taken,
    Tool,
    ToolDone,
    TurnSpec,
    Unknown,
)
from engine.rules.modes import ASKED_ANYWAY, Mode, claude
from engine.rules.words import Question

_Json = dict[str, Any]

_BRIEF = 160  # characters of a one-line brief
_GIVEN = 300  # of what a tool is used with
_ERROR = 600  # characters kept of what a tool said went wrong
_RESULT = re.compile(r'"tool_use_id"\s*:\s*"([^"\\]{1,200})"')  # but no parent_tool_use_id
_STARTS = 8  # how often to look for JSON behind text that is none

# Lines that tell nothing a card, a rule or a reader of the transcript needs.
_QUIET: Final = frozenset(
    {
        "control_response",
        "stream_event",
        "tool_progress",
        "tool_use_summary",
        "system/compact_boundary",
        "system/hook_progress",
        "system/hook_response",
        "system/hook_started",
        "system/informational",
        "system/session_state_changed",
        "system/status",
        "system/task_notification",
        "system/task_progress",
        "system/task_started",
        "system/task_updated",
        "system/thinking_tokens",
        "system/ui_invalidate",
    }
)

_ENV: Final[dict[str, str]] = {
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",  # one prompt, one end
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "ENABLE_TOOL_SEARCH": "false",  # the desk's tools are shown at once, not looked up first
    "MCP_TIMEOUT": "30000",  # a busy machine starts the desk late; without it the turn is useless
}

_MODES: Final[dict[str, str]] = {"plan": "plan", "ask": "default", "edit": "acceptEdits"}

_TITLES: Final[dict[str, str]] = {
    "Bash": "Run a command",
    "Edit": "Change a file",
    "MultiEdit": "Change a file",
    "NotebookEdit": "Change a notebook",
    "Write": "Write a file",
    "Read": "Read a file outside its tree",
    "Glob": "List files outside its tree",
    "Grep": "Search files outside its tree",
    "WebFetch": "Fetch a web page",
    "WebSearch": "Search the web",
    "EnterPlanMode": "Plan before it changes anything",
}

# What it does while it waits for the owner.
_ASKING: Final[dict[str, str]] = {
    "AskUserQuestion": "asks you something",
    "ask_owner": "asks you something",
    "ExitPlanMode": "shows its approach",
}

# The agent's own words for what went wrong, on an assistant line or in the last text.
_ERRORS: Final[dict[str, ErrorKind]] = {
    "authentication_failed": "login",
    "authentication_error": "login",
    "permission_error": "login",
    "oauth_org_not_allowed": "login",
    "billing_error": "login",
    "model_not_found": "model",
    "not_found_error": "model",
}
_PHRASES: Final[tuple[tuple[str, ErrorKind], ...]] = (
    ("No conversation found", "resume"),
    ("is already in use", "exists"),
    ("Not logged in", "login"),
    ("Invalid API key", "login"),
    ("Failed to authenticate", "login"),
    ("Credit balance is too low", "login"),
)


class Claude:
    """Drives Claude Code."""

    name = "claude"
    tested_version = "2.1.332"
    login_file = ".credentials.json"

    def launch(self, spec: TurnSpec) -> Launch:
        """Return the process for one turn."""
        grant = claude(spec.role, spec.mode, DESK)
        argv = [
            *spec.command,
            "-p",
            "--input-format=stream-json",
            "--output-format=stream-json",
            "--verbose",
            "--permission-prompt-tool=stdio",
            f"--permission-mode={grant.flag}",
            "--setting-sources=",
            "--strict-mcp-config",
            f"--mcp-config={_mcp_servers(spec.desk_argv, spec.kit)}",
            f"--settings={_settings(spec.commands, spec.kit)}",
            f"--allowedTools={','.join(grant.allowed)}",
            f"--disallowedTools={','.join(grant.denied)}",
            f"--{'resume' if spec.resume else 'session-id'}={spec.session_id}",
        ]
        if spec.model:
            argv.append(f"--model={spec.model}")
        if spec.kit.plugin:
            argv.append(f"--plugin-dir={spec.kit.plugin}")
        if spec.files:
            argv.append(f"--add-dir={spec.files}")
        if spec.preface:
            argv.append(f"--append-system-prompt={spec.preface}")
        if spec.budget_usd > 0:
            argv.append(f"--max-budget-usd={spec.budget_usd:.4f}")
        env = spec.account_env | _ENV | {"CLAUDE_CONFIG_DIR": spec.config_dir, "TMPDIR": spec.tmp}
        return Launch(tuple(argv), env, (self.prompt(spec.prompt),))

    def read(self, line: str, memory: Memory) -> tuple[Meaning, ...]:
        """Return what one line means."""
        found, stray = _objects(line)
        meanings = [meaning for body in found for meaning in _meanings(body, memory)]
        if stray:
            meanings.insert(0, Unknown("text"))
        return tuple(meanings)

    def results_in(self, start: str) -> tuple[str, ...]:
        """Return the uses whose results begin there."""
        return tuple(_RESULT.findall(start))

    def last_words(self, stderr: str, code: int | None) -> Ended:
        """Return how a run ended that printed no result."""
        lines = [line.strip() for line in stderr.splitlines() if line.strip()]
        how = "was killed" if code is None or code < 0 else f"ended with exit code {code}"
        error = lines[-1] if lines else f"The agent {how} and said nothing."
        return Ended("", error, _kind_of_phrase(stderr) or "api", 0.0, is_empty=False)

    def version_warning(self, version: str) -> str:
        """Return a sentence for a version never tried."""
        if version in ("", self.tested_version):
            return ""
        return f"Claude Code {version} is here; {self.tested_version} is the one that was tried."

    def prompt(self, text: str) -> str:
        return json.dumps({"type": "user", "message": {"role": "user", "content": text}})

    def steer(self, text: str, key: str) -> str:
        said = {"role": "user", "content": text}
        return json.dumps({"type": "user", "uuid": key, "message": said})

    def allow(self, request: Request) -> str:
        return _decide(request, {"behavior": "allow", "updatedInput": _input(request)})

    def deny(self, request: Request, message: str) -> str:
        # An empty message would read as a fault of the host's.
        return _decide(request, {"behavior": "deny", "message": message or "Denied by the owner."})

    def answer(self, request: Request, answers: Mapping[str, str]) -> str:
        answered = _input(request) | {"answers": dict(answers)}
        return _decide(request, {"behavior": "allow", "updatedInput": answered})

    def approve(self, request: Request, mode: Mode) -> str:
        # Later than its start a process can be given no mode that goes further than edits.
        wanted = {
            "type": "setMode",
            "mode": _MODES.get(mode, "acceptEdits"),
            "destination": "session",
        }
        answer = {
            "behavior": "allow",
            "updatedInput": _input(request),
            "updatedPermissions": [wanted],
        }
        return _decide(request, answer)

    def send_back(self, request: Request, message: str) -> str:
        return self.deny(request, message or "The approach was sent back: think again.")

    def interrupt(self) -> str:
        return _control("interrupt")

    def end(self) -> str:
        return _control("end_session")


# ------------------------------------------------------------------------------- lines that go in


def _mcp_servers(desk_argv: tuple[str, ...], kit: Kit) -> str:
    servers = _dict(json.loads(kit.servers or "{}"))
    if desk_argv:
        desk = {"type": "stdio", "command": desk_argv[0], "args": list(desk_argv[1:])}
        servers = servers | {DESK: desk}
    return json.dumps({"mcpServers": servers})


def _settings(commands: tuple[str, ...], kit: Kit) -> str:
    # In a rule `*` stands for anything: such a command is asked for rather than widened.
    exact = [f"Bash({command})" for command in commands if "*" not in command]
    brought = _dict(json.loads(kit.settings or "{}"))
    rules = _dict(brought.get("permissions"))
    asked = [f"Bash({start}:*)" for start in ASKED_ANYWAY]
    return json.dumps(
        {
            "attribution": {"commit": "", "pr": ""},
            "cleanupPeriodDays": 3650,  # a session may wait long for its owner
            "hooks": _dict(brought.get("hooks")),
            "permissions": rules
            | {
                "allow": [*exact, *_list(rules.get("allow"))],
                "ask": [*asked, *_list(rules.get("ask"))],
            },
        }
    )


def _control(subtype: str) -> str:
    request = {"subtype": subtype}
    return json.dumps({"type": "control_request", "request_id": subtype, "request": request})


def _decide(request: Request, answer: _Json) -> str:
    response = {"subtype": "success", "request_id": request.request_id, "response": answer}
    return json.dumps({"type": "control_response", "response": response})


def _input(request: Request) -> _Json:
    return _dict(json.loads(request.input_json or "{}"))


# ------------------------------------------------------------------------------- lines that come out


def _objects(line: str) -> tuple[list[_Json], bool]:
    """Return the JSON objects in a line, and whether there was other text.

    A warning or a shell's greeting may stand before the first object, without a line's end between.
    """
    found: list[_Json] = []
    stray, at = False, 0
    for _ in range(_STARTS):
        start = line.find("{", at)
        stray = stray or bool(line[at : start if start >= 0 else None].strip())
        if start < 0:
            break
        try:
            body, at = json.JSONDecoder().raw_decode(line, start)
        except (ValueError, RecursionError):
            stray, at = True, start + 1
        else:
            found.append(_dict(body))
    return found, stray


def _meanings(line: _Json, memory: Memory) -> tuple[Meaning, ...]:
    kind = _str(line.get("type"))
    if kind == "system":
        kind = f"system/{_str(line.get('subtype'))}"
    if kind in _QUIET:
        return ()
    reader = _READERS.get(kind)
    return reader(line, memory) if reader else (Unknown(kind or "object"),)


def _init(line: _Json, memory: Memory) -> tuple[Meaning, ...]:
    memory.cwd = _str(line.get("cwd"))
    tools = {_str(tool) for tool in _list(line.get("tools"))}
    servers = [_dict(server) for server in _list(line.get("mcp_servers"))]
    return (
        Began(
            session_id=_str(line.get("session_id")),
            model=_str(line.get("model")),
            version=_str(line.get("claude_code_version")),
            tools_ok="AskUserQuestion" in tools,
            desk_ok=any(s.get("name") == DESK and s.get("status") == "connected" for s in servers),
        ),
    )


def _assistant(line: _Json, memory: Memory) -> tuple[Meaning, ...]:
    if line.get("error"):
        memory.error = _str(line.get("error"))
    meanings: list[Meaning] = list(
        _windows(_dict(_dict(line.get("api_error_params")).get("rate_limit_info")), memory)
    )
    content = _dict(line.get("message")).get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else _list(content)
    for block in map(_dict, blocks):
        meanings += _block(block, memory, by_subagent=bool(line.get("parent_tool_use_id")))
    return tuple(meanings)


def _block(block: _Json, memory: Memory, by_subagent: bool) -> tuple[Meaning, ...]:
    match _str(block.get("type")):
        case "text":
            text = _str(block.get("text"))
            return (Said(text),) if text.strip() and not by_subagent else ()
        case "tool_use" | "server_tool_use" as kind:
            name, given = _str(block.get("name")), _dict(block.get("input"))
            # A subagent's results are not told of, and a server's come as the model's own words.
            own = kind == "tool_use" and not by_subagent
            use = _str(block.get("id")) if own else ""
            brief = _brief(name, given, memory.cwd)
            timeout_s = (_number(given.get("timeout")) or 0.0) / 1000 if name == "Bash" else 0.0
            return (Tool(name, brief, use, _one_line(_detail(name, given), _GIVEN), timeout_s),)
        case "thinking" | "redacted_thinking":
            memory.has_thought = True
            return ()
        case other:
            return (Unknown(f"assistant/{other}"),)


def _lifecycle(line: _Json, _: Memory) -> tuple[Meaning, ...]:
    """Of what was said meanwhile: "queued", then "started" once it stands beside a tool's result."""
    key = _str(line.get("command_uuid"))
    return (Taken(key),) if key and line.get("state") in ("started", "completed") else ()


def _user(line: _Json, _: Memory) -> tuple[Meaning, ...]:
    """Return how the agent's tools went; what a subagent did is its own."""
    content = _list(_dict(line.get("message")).get("content"))
    results = [one for one in map(_dict, content) if one.get("type") == "tool_result"]
    if line.get("parent_tool_use_id"):
        return ()
    return tuple(
        ToolDone(_failure(one) if one.get("is_error") is True else "", _str(one.get("tool_use_id")))
        for one in results
    )


def _failure(result: _Json) -> str:
    content = result.get("content")
    blocks = [_str(_dict(one).get("text")) for one in _list(content)]
    words = content if isinstance(content, str) else "\n".join(blocks)
    return words.strip()[:_ERROR] or "it failed without a word"


def _control_request(line: _Json, _: Memory) -> tuple[Meaning, ...]:
    request = _dict(line.get("request"))
    if request.get("subtype") != "can_use_tool":
        return (Unknown(f"control_request/{_str(request.get('subtype'))}"),)
    request_id, tool = _str(line.get("request_id")), _str(request.get("tool_name"))
    given, use = _dict(request.get("input")), _str(request.get("tool_use_id"))
    stored = json.dumps(given)
    questions = _questions(given) if tool == "AskUserQuestion" else ()
    if questions:
        detail = _question_text(given)
        return (Asked(request_id, tool, stored, "question", "Question", detail, questions, use),)
    if tool == "ExitPlanMode":
        plan = _str(given.get("plan"))
        return (Asked(request_id, tool, stored, "approach", "Approach", plan, use=use),)
    title = _TITLES.get(tool) or (
        "Use a tool of an MCP server" if tool.startswith("mcp__") else "Use a tool"
    )
    detail = _detail(tool, given)
    return (Asked(request_id, tool, stored, "permission", title, detail, use=use),)


def _cancel(line: _Json, _: Memory) -> tuple[Meaning, ...]:
    return (AskWithdrawn(_str(line.get("request_id"))),)


def _rate_limit(line: _Json, memory: Memory) -> tuple[Meaning, ...]:
    return _windows(_dict(line.get("rate_limit_info")), memory)


def _windows(info: _Json, memory: Memory) -> tuple[Limit, ...]:
    """Return where each window stands that this tells of.

    A window may be refused while the turn goes on, paid for as overage: that is no limit to wait for.
    """
    overage = info.get("isUsingOverage") is True
    named = _str(info.get("rateLimitType"))
    windows = {name: _dict(window) for name, window in _dict(info.get("unifiedWindows")).items()}
    refused = info.get("status") == "rejected" and not overage
    if named or refused:
        known = {key: info[key] for key in ("resetsAt", "utilization", "status") if key in info}
        windows[named] = known | windows.get(named, {})
    limits = []
    for name, window in windows.items():
        rejected = window.get("status") == "rejected" and not overage
        utilization = _number(window.get("utilization"))
        resets_at = _number(window.get("resetsAt"))
        if rejected or utilization is not None or resets_at is not None:
            resets = None if resets_at is None else int(resets_at)
            limits.append(Limit(resets, name, utilization, rejected))
    if any(limit.rejected for limit in limits):
        memory.error = "rate_limit"
    return tuple(limits)


def _api_retry(line: _Json, _: Memory) -> tuple[Meaning, ...]:
    reason = _str(line.get("error")) or "unknown"
    status = _number(line.get("error_status"))
    if status is not None:
        reason = f"{reason} ({status:.0f})"
    attempt = int(_number(line.get("attempt")) or 0)
    return (Retrying(reason, attempt, (_number(line.get("retry_delay_ms")) or 0.0) / 1000),)


def _model_fallback(line: _Json, _: Memory) -> tuple[Meaning, ...]:
    wanted, taken = _str(line.get("original_model")), _str(line.get("fallback_model"))
    return (Retrying(f"{taken} stands in for {wanted}", 0, 0.0),)


def _permission_denied(line: _Json, _: Memory) -> tuple[Meaning, ...]:
    brief = f"not allowed: {_str(line.get('message'))}"
    return (Tool(_str(line.get("tool_name")), _one_line(brief)),)


def _background(line: _Json, _: Memory) -> tuple[Meaning, ...]:
    return (Busy(len(_list(line.get("tasks")))),)


def _result(line: _Json, memory: Memory) -> tuple[Meaning, ...]:
    text = _str(line.get("result"))
    subtype = _str(line.get("subtype"))
    # `subtype` says "success" of a refused login too; only the flag tells.
    failed = line.get("is_error") is True or subtype.startswith("error")
    errors = [_str(error) for error in _list(line.get("errors")) if isinstance(error, str)]
    words = text or "; ".join(errors) or subtype or "the turn failed"
    kind = _kind_of_end(line, words, memory) if failed else ""
    silent = not text.strip() and not memory.has_thought  # who only thought had nothing to say
    memory.error, memory.has_thought = "", False
    cost = _cost(line, memory)
    if not failed:
        return (Ended(text, "", "", cost, is_empty=silent),)
    if kind == "interrupted":
        words = "Interrupted."
    return (Ended("", words, kind, cost, is_empty=False),)


def _kind_of_end(line: _Json, words: str, memory: Memory) -> ErrorKind:
    reason, subtype = _str(line.get("terminal_reason")), _str(line.get("subtype"))
    if reason.startswith("aborted"):
        return "interrupted"
    if "budget" in subtype or "budget" in reason:
        return "budget"
    if "max_turns" in (reason, subtype.removeprefix("error_")):
        return "turns"
    status = line.get("api_error_status")
    if line.get("api_error") == "usage_limit_reached" or (
        status == 429 and memory.error == "rate_limit" and "limit" in words
    ):
        return "limit"
    if status in (401, 403):
        return "login"
    told = _ERRORS.get(_str(line.get("api_error_type"))) or _ERRORS.get(memory.error)
    return told or _kind_of_phrase(words) or "api"


def _kind_of_phrase(words: str) -> ErrorKind:
    return next((kind for phrase, kind in _PHRASES if phrase in words), "")


def _cost(line: _Json, memory: Memory) -> float:
    """Return what this turn cost: the total also counts all earlier turns of the session."""
    total = _number(line.get("total_cost_usd")) or 0.0
    before, memory.total_cost_usd = memory.total_cost_usd, total
    usage = line.get("model_usage_since_last_result")
    if isinstance(usage, dict):
        return sum(_number(_dict(one).get("costUSD")) or 0.0 for one in usage.values())
    return max(0.0, total - before)


_READERS: Final[dict[str, Callable[[_Json, Memory], tuple[Meaning, ...]]]] = {
    "assistant": _assistant,
    "command_lifecycle": _lifecycle,
    "control_cancel_request": _cancel,
    "control_request": _control_request,
    "rate_limit_event": _rate_limit,
    "result": _result,
    "system/api_retry": _api_retry,
    "system/background_tasks_changed": _background,
    "system/init": _init,
    "system/model_fallback": _model_fallback,
    "system/permission_denied": _permission_denied,
    "user": _user,
}


# ------------------------------------------------------------------------------- words for a person


def _detail(tool: str, given: _Json) -> str:
    """Return the whole of what is asked for: what is decided on is what was shown."""
    path = _str(given.get("file_path") or given.get("notebook_path") or given.get("path"))
    match tool:
        case "Bash":
            return _str(given.get("command"))
        case "Write":
            return f"{path}\n\n{_str(given.get('content'))}"
        case "Edit":
            old, new = _str(given.get("old_string")), _str(given.get("new_string"))
            every = " (everywhere)" if given.get("replace_all") is True else ""
            return f"{path}{every}\n\n{_marked('-', old)}\n{_marked('+', new)}"
        case "WebFetch":
            return _str(given.get("url"))
        case "WebSearch":
            return _str(given.get("query"))
        case _ if set(given) <= {"file_path", "notebook_path", "path"} and path:
            return path
        case _:
            return f"{tool}\n\n{json.dumps(given, indent=2, ensure_ascii=False)}"


def _marked(mark: str, text: str) -> str:
    return "\n".join(f"{mark} {line}" for line in text.split("\n"))


def _questions(given: _Json) -> tuple[Question, ...]:
    asked = [_dict(one) for one in _list(given.get("questions"))]
    return tuple(
        Question(
            text=_str(one.get("question")),
            header=_str(one.get("header")),
            options=tuple(_str(_dict(option).get("label")) for option in _list(one.get("options"))),
            multi=one.get("multiSelect") is True,
        )
        for one in asked
        if one.get("question")
    )


def _question_text(given: _Json) -> str:
    lines: list[str] = []
    for one in map(_dict, _list(given.get("questions"))):
        lines.append(_str(one.get("question")))
        for option in map(_dict, _list(one.get("options"))):
            label, why = _str(option.get("label")), _str(option.get("description"))
            lines.append(f"• {label}: {why}" if why else f"• {label}")
    return "\n".join(lines)


def _brief(tool: str, given: _Json, cwd: str) -> str:
    path = _str(given.get("file_path") or given.get("notebook_path") or given.get("path"))
    if path:
        inside = cwd and path.startswith(cwd.rstrip("/") + "/")
        path = os.path.relpath(path, cwd) if inside else os.path.basename(path)
    words = (
        given.get("description")
        or given.get("command")
        or path
        or given.get("pattern")
        or given.get("query")
        or given.get("url")
    )
    short = tool.removeprefix(f"mcp__{DESK}__")
    if short in _ASKING:
        return _ASKING[short]
    return _one_line(f"{short}: {words}" if words else short)


def _one_line(text: str, most: int = _BRIEF) -> str:
    line = " ".join(text[: 8 * most].split())
    return line if len(line) <= most else line[: most - 1] + "…"


# ------------------------------------------------------------------------------- values of any kind


def _dict(value: object) -> _Json:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _str(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e15 and math.isfinite(value) else None
