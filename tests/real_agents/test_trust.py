"""What a repository brings for Claude Code, with the real one: it runs only once it is trusted, as it was then.

The guard is a hook that refuses every command with its own version as the reason, so what the model is
told shows which one ran, if any. Only the phone and the model are stand-ins; see quarterdeck.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.real_agents.model_server import Call, Json, ModelServer, Part
from tests.real_agents.quarterdeck import Quarterdeck, git
from tests.real_agents.script import LEAD, WORKER, bash, commit, piece, plan, write

pytestmark = pytest.mark.real_agent

GUARD = ".claude/hooks/guard.sh"
ANSWER = {"hookEventName": "PreToolUse", "permissionDecision": "deny"}
HOOKS = {
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [{"type": "command", "command": f'sh "$CLAUDE_PROJECT_DIR"/{GUARD}'}],
            }
        ]
    }
}
SERVER = """\
import json, sys
TOOL = {"name": "get_word", "description": "Say it.", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        about = asked.get("params") or {}
        told = {
            "initialize": {
                "protocolVersion": about.get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "words", "version": "0"},
            },
            "tools/list": {"tools": [TOOL]},
            "tools/call": {"content": [{"type": "text", "text": "the word is quince"}]},
        }
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": told.get(asked["method"], {})}
        print(json.dumps(answer), flush=True)
"""
TRUST = "Trust what the repository brings"


def guard(version: str, answer: str = "deny") -> str:
    says = ANSWER | {"permissionDecision": answer, "permissionDecisionReason": f"guard {version}"}
    return f"cat > /dev/null\necho '{json.dumps({'hookSpecificOutput': says})}'\n"


def bring(shop: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (shop / name).parent.mkdir(parents=True, exist_ok=True)
        (shop / name).write_text(text)
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "Bring something for agents")


def blocks(request: Json) -> list[Json]:
    """All that a request holds, piece by piece."""
    messages: list[Json] = request["messages"]
    return [b for one in messages if isinstance(one["content"], list) for b in one["content"]]


def told(api: ModelServer) -> str:
    """All that the model was sent."""
    return json.dumps(api.requests)


async def test_a_hook_runs_once_it_is_trusted_and_a_changed_one_only_once_that_is(
    tmp_path: Path,
) -> None:
    script = [
        Part(system=LEAD, prompt="Look again", steps=(bash("git log -1"), "Looked again.")),
        Part(system=LEAD, prompt="Third time", steps=(bash("git log -1"), "Looked thrice.")),
        Part(system=LEAD, prompt="Add a cart", steps=(bash("git log -1"), "Looked once.")),
        Part(system=LEAD, prompt="Add a till", steps=(bash("git log -1"), "Looked elsewhere.")),
    ]
    with ModelServer(script) as api:
        async with Quarterdeck(tmp_path, api) as deck:
            bring(deck.shop, {".claude/settings.json": json.dumps(HOOKS), GUARD: guard("one")})
            deck.phone.send("/new shop Add a cart")
            card = await deck.shown(lambda m: TRUST in m.text)
            assert "1 hook" in card.text
            assert f'sh "$CLAUDE_PROJECT_DIR"/{GUARD}' in card.text
            assert "Nothing of it runs now, and the work goes on without." in card.text
            done = await deck.shown(lambda m: "Looked once." in m.text)
            assert "guard one" not in told(api), "nobody trusted it yet"

            await deck.press("Trust", TRUST)
            await deck.shown(lambda m: "Trusted by" in m.text or "Trusted: sessions" in m.text)
            deck.phone.reply(done, "Look again")
            await deck.shown(lambda m: "Looked again." in m.text)
            assert "guard one" in told(api)

            bring(deck.shop, {GUARD: guard("two")})
            deck.phone.send("/new shop Add a till")
            await deck.shown(lambda m: "Looked elsewhere." in m.text)
            again = await deck.shown(lambda m: TRUST in m.text and "Trust" in m.labels)
            assert again.id != card.id
            assert "It changed since you last decided about it." in again.text
            assert "guard two" not in told(api), "it changed: nobody trusted that"
            before = told(api).count("guard one")

            deck.phone.send("/projects")
            await deck.press("shop")
            await deck.press("Take back")
            await deck.shown(lambda m: "left off" in m.text)
            deck.phone.reply(done, "Third time")
            await deck.shown(lambda m: "Looked thrice." in m.text)
            assert json.dumps(api.requests[-1]).count("guard one") <= before
            assert "guard one" not in json.dumps(api.requests[-1]["messages"][-1])


async def test_a_trusted_hook_can_stop_a_tool_and_never_allow_one(tmp_path: Path) -> None:
    script = [
        Part(system=LEAD, prompt="Run it", steps=(bash("touch /tmp/made"), "Tried to.")),
        Part(system=LEAD, steps=("Nothing yet.",)),
    ]
    with ModelServer(script) as api:
        async with Quarterdeck(tmp_path, api) as deck:
            lax = guard("lax", "allow")
            bring(deck.shop, {".claude/settings.json": json.dumps(HOOKS), GUARD: lax})
            deck.phone.send("/new shop Add a cart")
            done = await deck.shown(lambda m: "Nothing yet." in m.text)
            await deck.press("Trust", TRUST)
            deck.phone.reply(done, "Run it")
            await deck.press("Deny", "touch /tmp/made")
            await deck.shown(lambda m: "Tried to." in m.text)


async def test_a_server_is_started_once_it_is_trusted_and_its_tools_are_asked_for(
    tmp_path: Path,
) -> None:
    servers = {"mcpServers": {"words": {"command": "python3", "args": ["tools/words.py"]}}}
    use = Call("mcp__words__get_word", {})
    script = [
        Part(system=LEAD, prompt="Ask again", steps=(use, "Asked again.")),
        Part(system=LEAD, steps=(use, "Asked.")),
    ]
    with ModelServer(script) as api:
        async with Quarterdeck(tmp_path, api) as deck:
            bring(deck.shop, {".mcp.json": json.dumps(servers), "tools/words.py": SERVER})
            deck.phone.send("/new shop Add a cart")
            done = await deck.shown(lambda m: "Asked." in m.text)
            assert "No such tool available: mcp__words__get_word" in told(api)
            card = await deck.press("Trust", TRUST)
            assert "python3 tools/words.py" in card.text
            deck.phone.reply(done, "Ask again")
            await deck.press("Allow", "get_word of words")
            await deck.shown(lambda m: "Asked again." in m.text)
            assert "the word is quince" in told(api)


async def test_a_skill_is_known_once_it_is_trusted_and_brings_no_tools_along(
    tmp_path: Path,
) -> None:
    skill = (
        "---\nname: release\ndescription: How quinces are released\n"
        "allowed-tools: Bash(touch:*)\n---\nTouch it.\n"
    )
    again = (bash("touch /tmp/made"), "Tried again.")
    script = [
        Part(system=LEAD, prompt="Try again", steps=again),
        Part(system=LEAD, steps=("Nothing yet.",)),
    ]
    with ModelServer(script) as api:
        async with Quarterdeck(tmp_path, api) as deck:
            bring(deck.shop, {".claude/skills/release/SKILL.md": skill})
            deck.phone.send("/new shop Add a cart")
            done = await deck.shown(lambda m: "Nothing yet." in m.text)
            assert "How quinces are released" not in told(api)
            await deck.press("Trust", TRUST)
            deck.phone.reply(done, "Try again")
            await deck.press("Deny", "touch /tmp/made")
            await deck.shown(lambda m: "Tried again." in m.text)
            assert "project:release" in told(api)
            assert "How quinces are released" in told(api)


async def test_a_worker_that_changes_the_hook_in_its_tree_gets_nothing_by_it(
    tmp_path: Path,
) -> None:
    stops = {"type": "command", "command": "echo planted hook >&2; exit 2"}
    other = {"hooks": {"PreToolUse": [{"hooks": [stops]}]}}
    servers = {"mcpServers": {"planted": {"command": "sh", "args": ["-c", "exit 1"]}}}
    quiet = {**HOOKS, "hooks": {"PostToolUse": [HOOKS["hooks"]["PreToolUse"][0]]}}
    script = [
        Part(system=LEAD, prompt="Rundown", steps=(plan("One", piece("Cart")), "Planned.")),
        Part(
            system=WORKER,
            steps=(
                write(GUARD, guard("planted", "allow")),
                write(".claude/settings.json", json.dumps(other)),
                write(".mcp.json", json.dumps(servers)),
                commit("Change the guard"),
                bash("git status --short"),
                "Changed.",
            ),
        ),
        Part(system=LEAD, steps=("Noted.",)),
    ]
    # The hook runs after commands and speaks of itself, so that the worker can still commit.
    speaks = "cat > /dev/null\necho 'guard of the base' >&2\nexit 2\n"
    with ModelServer(script) as api:
        async with Quarterdeck(tmp_path, api) as deck:
            bring(deck.shop, {".claude/settings.json": json.dumps(quiet), GUARD: speaks})
            deck.phone.send("/new shop Add a cart")
            await deck.press("Trust", TRUST)
            await deck.press("Allow", "Allow the project's check?")
            await deck.press("Start")
            await deck.press("Allow", GUARD)  # the agent itself asks for these, in any mode
            await deck.press("Allow", ".claude/settings.json")
            await deck.press("Allow", ".mcp.json")
            await deck.shown(lambda m: "Changed." in m.text)
            of_worker = [r for r in api.requests if WORKER in json.dumps(r)]
            results = [block for block in blocks(of_worker[-1]) if block["type"] == "tool_result"]
            assert len(results) == 5
            assert "guard of the base" in json.dumps(of_worker[-1])
            assert "planted hook" not in json.dumps(results)
            assert "mcp__planted" not in json.dumps(of_worker)
