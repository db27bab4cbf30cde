"""What of a repository Claude Code would take by itself, and how our launch gives what is trusted.

    .claude/settings.json          hooks, permission rules; all else in it is ours to set
    .claude/agents commands skills text for the model; the tools they would be allowed are left out
    .mcp.json                      MCP servers

Our launch lets none of it through (claude.py). What the owner trusted is handed over by the same doors
as our own settings, never by naming the tree as a source: a worker that changes these files in its tree
changes nothing. Files that a hook or a server names are run from a copy of the base commit's, and a
command that cannot be followed for certain (claude_commands.py) stays off. A hook before a tool may stop it, but what
it allows is taken out of its answer (engine/node/hook.py): that is the owner's to say.

Pure. Neighbours: engine/rules/brought.py (what the owner decides about), engine/adapters/kits.py (reads
the files, lays the copy).
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from engine.adapters.agents import claude_commands
from engine.adapters.agents.claude_commands import Word
from engine.adapters.agents.driver import DESK
from engine.rules import always
from engine.rules.brought import Off
from engine.rules.words import AlwaysRule, BroughtItem

FOLDER: Final = ".claude"
SETTINGS: Final = f"{FOLDER}/settings.json"
OWN: Final = f"{FOLDER}/settings.local.json"  # a person's, that should not be in git at all
SERVERS: Final = ".mcp.json"
PLUGIN: Final = "project"  # agents, skills and commands are named after it: project:deploy

LONGEST: Final = 4000  # characters of one command
MOST_NAMED: Final = 100  # words of its commands that may be files outside .claude
_HOOK_KEYS: Final = {"type", "command", "timeout", "statusMessage", "async", "once", "if"}
_EVENTS: Final = frozenset(
    {
        "Notification",
        "PostCompact",
        "PostToolUse",
        "PostToolUseFailure",
        "PreCompact",
        "PreToolUse",
        "SessionEnd",
        "SessionStart",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "UserPromptSubmit",
    }
)
_JUDGED: Final = "PreToolUse"
_STDIO: Final = {"type", "command", "args", "env"}
_REMOTE: Final = {"type", "url", "headers"}
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_VARIABLE: Final = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_TEXTS: Final = {"agents": "agent", "commands": "command", "skills": "skill"}
# What of a text's head says what it is; the rest would give it tools, hooks and servers.
_HEAD: Final = frozenset(
    {"name", "description", "argument-hint", "tools", "color", "disable-model-invocation"}
)

_Json = dict[str, Any]


class Brings(Struct, frozen=True, kw_only=True):
    """What was found, as data: `items` is what the owner is shown, the rest is what is handed over."""

    items: tuple[BroughtItem, ...] = ()
    hooks: dict[str, list[_Json]] = {}  # event -> groups, commands as they stand in the repository
    servers: dict[str, _Json] = {}
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()


def named(settings: bytes, servers: bytes) -> tuple[str, ...]:
    """Return what in the commands may be a file outside .claude; whether it is one, git knows."""
    names: dict[str, None] = {}
    commands = [
        claude_commands.line(str(hook["command"]))
        for _, _, hook in _hooks(_read(settings))
        if _plain(hook)
    ]
    for name, server in _dict(_read(servers).get("mcpServers")).items():
        config, _ = _server(name, _dict(server))
        if "command" in config:
            commands.append(claude_commands.argv([config["command"], *config["args"]]))
    for command in commands:
        more = dict.fromkeys(filter(_outside, claude_commands.candidates(command or ())))
        if len(names | more) <= MOST_NAMED:
            names |= more
    return tuple(names)


def _outside(path: str) -> bool:
    return path != SERVERS and not path.startswith(f"{FOLDER}/")


def found(settings: bytes, servers: bytes, laid: Collection[str]) -> Brings:
    """Return what these files bring.

    laid   the paths of all files there will be a copy of
    """
    read, known = _read(settings), set(named(settings, servers))
    items: list[BroughtItem] = []
    hooks: dict[str, list[_Json]] = {}
    for event, matcher, hook in _hooks(read):
        text, why = str(hook.get("command") or hook.get("prompt") or hook.get("url") or ""), ""
        if event not in _EVENTS:
            why = Off.DECIDES if event == "PermissionRequest" else Off.UNKNOWN
        elif not _plain(hook):
            why = Off.UNKNOWN
        elif not _followed(claude_commands.line(text), laid, known):
            why = Off.TANGLED
        else:
            hooks.setdefault(event, []).append({"matcher": matcher, "hooks": [hook]})
        items.append(BroughtItem("hook", f"{event} {matcher}".strip(), text, why))
    given: dict[str, _Json] = {}
    for name, server in _dict(_read(servers).get("mcpServers")).items():
        config, why = _server(name, _dict(server))
        if "command" in config:
            words = claude_commands.argv([config["command"], *config["args"]])
            steered = any(map(claude_commands.steers, config["env"]))
            if steered or not _followed(words, laid, known):
                config, why = {}, Off.TANGLED
        if config:
            given[name] = config
        items.append(BroughtItem("server", name[:200], _server_text(_dict(server)), why))
    rules = {kind: list(_rules(read, kind)) for kind in ("allow", "deny", "ask")}
    for kind, of_kind in rules.items():
        items += [BroughtItem(kind, rule[:LONGEST], "", why) for rule, why in of_kind]
    items += _texts(laid)
    ours = sorted(set(read) - {"hooks", "permissions", "$schema"})
    ours += [f"permissions.{k}" for k in sorted(_dict(read.get("permissions"))) if k not in rules]
    items += [BroughtItem("setting", name[:200], "", Off.OURS) for name in ours]
    good = {kind: tuple(rule for rule, why in rules[kind] if not why) for kind in rules}
    return Brings(items=tuple(items), hooks=hooks, servers=given, **good)


# ------------------------------------------------------------------------------- handing over


def settings(brings: Brings, laid: Collection[str], root: str, judge: Sequence[str]) -> _Json:
    """Return the settings a launch takes in: hooks and rules.

    root    where the copy lies
    judge   what runs a hook before a tool, and takes out of its answer what it may not say
    """
    hooks: dict[str, list[_Json]] = {}
    for event, groups in brings.hooks.items():
        for group in groups:
            (hook,) = group["hooks"]
            command = _relaid(hook["command"], laid, root)
            if event == _JUDGED:
                command = shlex.join([*judge, command])
            put = {"hooks": [hook | {"command": command}]}
            if group["matcher"]:
                put["matcher"] = group["matcher"]
            hooks.setdefault(event, []).append(put)
    rules = {"allow": brings.allow, "deny": brings.deny, "ask": brings.ask}
    return {"hooks": hooks, "permissions": {kind: list(rules[kind]) for kind in rules}}


def servers(brings: Brings, laid: Collection[str], root: str) -> _Json:
    """Return the MCP servers a launch starts beside the desk."""
    put: _Json = {}
    for name, server in brings.servers.items():
        put[name] = dict(server)
        if "command" in server:
            words = [server["command"], *server["args"]]
            command, *args = claude_commands.relaid_words(words, laid, root)
            put[name] |= {"command": command, "args": args}
    return put


def plugin(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a folder that agents, commands and skills are loaded from; {} for none."""
    put: dict[str, bytes] = {}
    for path, body in files.items():
        kind = _text_kind(path)
        if kind:
            is_head = path.endswith(".md") and (kind != "skill" or path.endswith("/SKILL.md"))
            put[path.removeprefix(f"{FOLDER}/")] = _bare(body) if is_head else body
    if put:
        put[".claude-plugin/plugin.json"] = json.dumps({"name": PLUGIN}).encode()
    return put


# ------------------------------------------------------------------------------- parts of it


def _hooks(read: _Json) -> Iterator[tuple[str, str, _Json]]:
    """Every hook by its event and matcher; none where the repository itself turned them off."""
    if read.get("disableAllHooks") is True:
        return
    for event, groups in _dict(read.get("hooks")).items():
        for group in map(_dict, _list(groups)):
            matcher = group.get("matcher", "")
            for hook in map(_dict, _list(group.get("hooks"))):
                yield event[:60], matcher[:300] if isinstance(matcher, str) else "", hook


def _plain(hook: _Json) -> bool:
    command = hook.get("command")
    return (
        hook.get("type") == "command"
        and isinstance(command, str)
        and 0 < len(command) <= LONGEST
        and "\0" not in command
        and set(hook) <= _HOOK_KEYS
    )


def _followed(
    command: Sequence[Sequence[Word]] | None, laid: Collection[str], known: Collection[str]
) -> bool:
    """Whether every file of the repository that it names is run from the copy."""
    if command is None:
        return False
    outside = filter(_outside, claude_commands.candidates(command))
    return all(path in known for path in outside) and claude_commands.followed(command, laid)


def _relaid(text: str, laid: Collection[str], root: str) -> str:
    """Return a hook's command with the project's own files named where the copy of them lies."""
    return claude_commands.relaid(text, claude_commands.line(text) or (), laid, root)


def _server(name: str, given: _Json) -> tuple[_Json, str]:
    """Return a server as it can be given, or why it stays off."""
    if not _NAME.fullmatch(name) or name.lower() == DESK:
        return {}, Off.OURS if name.lower() == DESK else Off.UNKNOWN
    kind = given.get("type", "stdio" if "command" in given else "")
    try:
        if kind == "stdio" and set(given) <= _STDIO:
            words = [_text(given.get("command")), *map(_text, _list(given.get("args", [])))]
            env = {key: _text(value) for key, value in _dict(given.get("env")).items()}
            command, *args = map(_expanded, words)
            env = {key: _expanded(value) for key, value in env.items()}
            return {"type": "stdio", "command": command, "args": args, "env": env}, ""
        if kind in ("http", "sse") and set(given) <= _REMOTE:
            headers = {
                key: _expanded(_text(value)) for key, value in _dict(given.get("headers")).items()
            }
            url = _expanded(_text(given.get("url")))
            return {"type": kind, "url": url, "headers": headers}, ""
    except KeyError:
        return {}, Off.NEEDS
    except TypeError:
        pass
    return {}, Off.UNKNOWN


def _server_text(given: _Json) -> str:
    """All there is of a server, as its owner may read it."""
    words = [str(given.get("command") or ""), *map(str, _list(given.get("args")))]
    env = [f"{key}={value}" for key, value in _dict(given.get("env")).items()]
    headers = [f"{key}: {value}" for key, value in _dict(given.get("headers")).items()]
    line = shlex.join(words) if words[0] else str(given.get("url") or "")
    return "\n".join([line, *env, *headers])[:LONGEST]


def _expanded(text: str) -> str:
    """Put defaults in; KeyError for a variable that sessions do not have."""

    def value(at: re.Match[str]) -> str:
        name, default = at[1], at[2]
        if name == "CLAUDE_PROJECT_DIR":
            return "."  # where a server is started
        if default is None:
            raise KeyError(name)
        return default

    put = _VARIABLE.sub(value, text)
    if "${" in put:
        raise KeyError(text)
    return put


def _rules(read: _Json, kind: str) -> Iterator[tuple[str, str]]:
    """Every permission rule of a kind, and why it stays off."""
    for rule in _list(_dict(read.get("permissions")).get(kind)):
        if not isinstance(rule, str) or not 0 < len(rule) <= LONGEST:
            continue
        if rule.startswith("mcp__") and (DESK in rule.lower() or "*" in rule):
            yield rule, Off.OURS
        elif kind == "allow":
            yield rule, "" if _kept_by_always(rule) else Off.WIDE
        else:
            yield rule, ""


def _kept_by_always(rule: str) -> bool:
    """Whether the owner could allow as much by Always: no rule of a repository goes further."""
    if "*" in rule:
        return False
    if rule.startswith("Bash(") and rule.endswith(")"):
        given = json.dumps({"command": rule[5:-1]})
        return isinstance(always.rule("Bash", given), AlwaysRule)
    return rule.startswith("mcp__") and isinstance(always.rule(rule, ""), AlwaysRule)


def _text_kind(path: str) -> str:
    parts = path.split("/")
    return _TEXTS.get(parts[1], "") if len(parts) > 2 and parts[0] == FOLDER else ""


def _texts(laid: Iterable[str]) -> list[BroughtItem]:
    """Agents, commands and skills, by their names."""
    items = []
    for path in sorted(laid):
        kind, inner = _text_kind(path), path.split("/")[2:]
        if kind == "skill" and len(inner) == 2 and inner[1] == "SKILL.md":
            items.append(BroughtItem(kind, inner[0]))
        elif kind in ("agent", "command") and path.endswith(".md"):
            items.append(BroughtItem(kind, "/".join(inner).removesuffix(".md")))
    return items


def _bare(body: bytes) -> bytes:
    """Return a text with a head that gives it nothing: no tools allowed, no hooks, no servers."""
    text = body.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    if not text.startswith("---\n"):
        return text.encode()
    head, ended, rest = text[4:].partition("\n---")
    if not ended:
        return text[4:].encode()
    kept: list[str] = []
    keeps = False
    for line in head.split("\n"):
        key = re.match(r"([A-Za-z-]+)[ ]*:", line)
        if key or not line[:1].isspace():
            keeps = bool(key) and key is not None and key[1] in _HEAD
        if keeps:
            kept.append(line)
    return "\n".join(["---", *kept, f"---{rest}"]).encode()


# ------------------------------------------------------------------------------- values of any kind


def _read(body: bytes) -> _Json:
    try:
        read = json.loads(body.decode("utf-8-sig"))
        json.dumps(read, ensure_ascii=False).encode()  # half a character is none we could keep
        return _dict(read)
    except (ValueError, RecursionError):
        return {}


def _dict(value: object) -> _Json:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    if not isinstance(value, str) or "\0" in value or len(value) > LONGEST:
        raise TypeError
    return value
