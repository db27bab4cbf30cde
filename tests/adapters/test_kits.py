"""What a repository brings, found at commits of a real hub, and asked about by hash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.adapters import kits
from engine.adapters.hub import Hub
from engine.adapters.kits import Asked, Kits
from engine.rules import brought
from engine.rules.effects import StartRun
from engine.rules.goal_state import CommandState, Goal
from engine.rules.project import Project
from engine.rules.words import Account, Brought, BroughtItem, Command, Role
from tests.adapters.repositories import commit, git, repository

GUARD = ".claude/hooks/guard.sh"
HOOKS = json.dumps(
    {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": f"sh {GUARD}"}]}]}}
)
FILES: dict[str, str | None] = {".claude/settings.json": HOOKS, GUARD: "echo one\n"}


class Shop:
    """A repository and the hub that has it."""

    def __init__(self, folder: Path, files: dict[str, str | None]) -> None:
        self.repo = repository(folder / "shop", {"README.md": "hello\n", **files})
        self.hub = Hub(folder / "hub")
        self.base = ""

    async def asked(self, files: dict[str, str | None] | None = None) -> Asked:
        if files is not None:
            commit(self.repo, "more", files)
        self.base = await self.hub.bring("shop", str(self.repo), "main")
        return await kits.read(self.hub, "shop", self.base)

    async def found(self, files: dict[str, str | None] | None = None) -> Brought:
        told = brought.told((await self.asked(files)).command)
        assert told is not None
        return told


async def test_a_repository_that_brings_nothing_asks_for_nothing(tmp_path: Path) -> None:
    assert await Shop(tmp_path, {}).asked() == Asked(None)


async def test_what_could_never_be_given_is_not_asked_about(tmp_path: Path) -> None:
    only = json.dumps({"env": {"A": "b"}, "permissions": {"allow": ["Bash(npm:*)"]}})
    assert await Shop(tmp_path, {".claude/settings.json": only}).asked() == Asked(None)


async def test_what_runs_is_told_with_the_scripts_it_starts(tmp_path: Path) -> None:
    told = await Shop(tmp_path, FILES).found()
    assert [(item.kind, item.text) for item in told.items] == [
        ("hook", f"sh {GUARD}"),
        ("file", "echo one\n"),
        ("file", HOOKS),
    ]
    assert told.files == (GUARD, ".claude/settings.json")
    assert brought.counted(told) == "1 hook"


def hooks(*commands: str) -> str:
    of_one = [{"type": "command", "command": command} for command in commands]
    return json.dumps({"hooks": {"Stop": [{"hooks": of_one}]}})


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("bash hook", "hook"),
        ("./hook", "hook"),
        ('bash "scripts/my hook.sh"', "scripts/my hook.sh"),
        ("bash scripts/a,b.sh", "scripts/a,b.sh"),
        ("bash scripts//x.sh", "scripts/x.sh"),
        ("bash scripts/./x.sh", "scripts/x.sh"),
        ("bash scripts/../x.sh", "x.sh"),
        ("bash $PWD/scripts/x.sh", "scripts/x.sh"),
        ('bash "$CLAUDE_PROJECT_DIR/scripts/x.sh" --fast', "scripts/x.sh"),
        ('"${CLAUDE_PROJECT_DIR}"/scripts/x.sh 2>/dev/null || true', "scripts/x.sh"),
        ("jq -r '.tool_input.file_path' | xargs python3 -u scripts/x.py", "scripts/x.py"),
        ("make -f M", "M"),
        ("bash -euo pipefail hook", "hook"),
        ("npx eslint --config=lint/c.js", "lint/c.js"),
    ],
)
async def test_a_file_named_by_plain_words_is_hashed_shown_and_run_from_the_copy(
    tmp_path: Path, command: str, path: str
) -> None:
    files: dict[str, str | None] = {".claude/settings.json": hooks(command), path: "its body\n"}
    shop = Shop(tmp_path, files)
    asked = (await shop.asked()).command
    told = brought.told(asked)
    assert asked is not None
    assert told is not None
    assert path in told.files
    assert BroughtItem("file", path, "its body\n") in told.items
    settings, node = await given(shop, asked, (asked,))
    assert f"/home/q/kit/1/tree/{path}" in settings
    assert f"tree/{path}" in node.sent


@pytest.mark.parametrize(
    "command",
    [
        'bash scripts/"x.sh"',
        "bash .clau''de/x.sh",
        "cd scripts && sh x.sh",
        "cd .clau?e && sh x.sh",
        "sh<scripts/x.sh",
        "cat scripts/x.sh | sh",
        "echo scripts/x.sh | xargs sh",
        "bash '$CLAUDE_PROJECT_DIR'/scripts/x.sh",
        "bash $HERE/scripts/x.sh",
        "bash $(echo scripts/x.sh)",
        'bash "${CLAUDE_PROJECT_DIR:-$(sh scripts/x.sh)}"',
        "eval bash scripts/x.sh",
        "sh -c scripts/x.sh",
        "env sh -c 'scripts/x.sh'",
        "python3 -m hookmod",
        "python3 -c 'import hookmod'",
        "node ./hook",
        "bash gone.sh",
        "./gone",
        "timeout 5 ./gone",
        "PATH=. x",
        "env PATH=. x",
        "make -fM",
        "make SHELL=./hook.js",
        "make SHELL=./gone",
        "bash --init-file=hook.js gone.sh",
        "bash scripts/*.sh",
        "bash scripts/x.{sh,py}",
        "[[ 'a[$(sh hookmod.py)]' -eq 0 ]]",
        "git -c alias.x='!sh hookmod' x",
        "(bash scripts/x.sh)",
        "bash scripts/x.sh &",
        "cat " + " ".join(f"d{n}" for n in range(120)) + "; bash scripts/x.sh",
    ],
)
async def test_a_command_that_cannot_be_followed_for_certain_stays_off_and_that_is_said(
    tmp_path: Path, command: str
) -> None:
    rest = {"scripts/x.sh": "x\n", "hookmod.py": "x\n", "hook.js": "x\n", "M": "x\n"}
    shop = Shop(tmp_path, {".claude/settings.json": hooks(command), **rest})
    asked = await shop.asked()
    assert asked.command is None
    assert "cannot be followed: hook Stop." in asked.note


@pytest.mark.parametrize(
    "command",
    [
        "npm run lint",
        "npx prettier --check src",
        "make fmt; git diff --stat",
        "jq -r '.tool_input.command' >/dev/null 2>&1",
        "jq -r .cwd | xargs -n1 prettier --write",
        "if [ -f README.md ]; then echo 'Read README.md first'; fi",
    ],
)
async def test_a_plain_program_is_given_as_it_stands(tmp_path: Path, command: str) -> None:
    shop = Shop(tmp_path, {".claude/settings.json": hooks(command), "lint": "x\n", "src/a": "\n"})
    told = await shop.found()
    assert [(i.text, i.why) for i in told.items if i.kind == "hook"] == [(command, "")]


async def test_what_a_script_may_start_is_shown_whole_too(tmp_path: Path) -> None:
    long, lib = "# x\n" * 5000 + "the end\n", ".claude/hooks/lib.sh"
    skill = ".claude/skills/a/SKILL.md"
    told = await Shop(tmp_path, {**FILES, GUARD: long, lib: "lib\n", skill: "Do.\n"}).found()
    shown = {item.name: item.text for item in told.items if item.kind == "file"}
    assert shown == {".claude/settings.json": HOOKS, GUARD: long, lib: "lib\n", skill: "Do.\n"}


@pytest.mark.parametrize(
    ("body", "why"),
    [("a\0b", "no text that could be shown"), ("x" * 70_000, "more than 64 KiB to read")],
)
async def test_what_cannot_be_shown_whole_stays_off(tmp_path: Path, body: str, why: str) -> None:
    command, note = await Shop(tmp_path, {**FILES, ".claude/hooks/b": body}).asked()
    assert command is None
    assert why in note


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"README.md": "other\n"}, True),
        ({".claude/settings.local.json": HOOKS}, True),
        ({GUARD: "echo two\n"}, False),
        ({".claude/hooks/helper.sh": "true\n"}, False),
        ({".claude/skills/x/SKILL.md": "x\n"}, False),
        ({".mcp.json": '{"mcpServers": {}}'}, False),
    ],
)
async def test_only_a_change_of_its_own_files_is_another_thing(
    tmp_path: Path, change: dict[str, str | None], same: bool
) -> None:
    shop = Shop(tmp_path, FILES)
    before = await shop.asked()
    assert (await shop.asked(change) == before) is same


async def test_a_script_that_becomes_one_to_run_is_another_thing(tmp_path: Path) -> None:
    shop = Shop(tmp_path, FILES)
    before = await shop.found()
    git(shop.repo, "update-index", "--chmod=+x", GUARD)
    git(shop.repo, "commit", "-q", "-m", "run")
    git(shop.repo, "checkout", "-q", "-f")
    assert (await shop.found()).digest != before.digest


async def test_a_script_outside_that_a_server_names_is_part_of_it(tmp_path: Path) -> None:
    servers = {"mcpServers": {"words": {"command": "python3", "args": ["tools/words.py"]}}}
    shop = Shop(tmp_path, {".mcp.json": json.dumps(servers), "tools/words.py": "print(1)\n"})
    before = await shop.found()
    assert before.files == (".mcp.json", "tools/words.py")
    assert (await shop.found({"tools/words.py": "print(2)\n"})).digest != before.digest


async def test_no_link_is_followed(tmp_path: Path) -> None:
    shop = Shop(tmp_path, {"elsewhere/settings.json": HOOKS})
    (shop.repo / ".claude").symlink_to("elsewhere")
    assert await shop.asked({}) == Asked(None)


async def test_more_than_can_be_looked_over_stays_off_and_that_is_said(tmp_path: Path) -> None:
    shop = Shop(tmp_path, {**FILES, ".claude/big": "x" * 600_000})
    command, note = await shop.asked()
    assert command is None
    assert "stays off: its files are larger than 512 KiB" in note


class Node:
    """A machine that keeps what it is sent."""

    def __init__(self) -> None:
        self.sent: dict[str, Any] = {}

    async def call(self, op: str, **given: Any) -> dict[str, Any]:
        assert op == "kit.lay"
        if given["files"]:
            self.sent = {file["path"]: file for file in given["files"]}
        return {"folder": "/home/q/kit/1", "there": bool(self.sent)}


def turn(agent: str = "claude") -> StartRun:
    return StartRun(
        run="s-1-t1",
        session="s-1",
        goal="g-1",
        role=Role.WORKER,
        project="shop",
        account=Account("main", agent),
        model="",
        mode="edit",
        machine="here",
        branch="b",
        commit="c",
        preface="",
        prompt="go",
        agent_session="u",
        resume=False,
    )


async def given(
    shop: Shop, asked: Command, allowed: tuple[Command, ...], base: str = "", agent: str = "claude"
) -> tuple[str, Node]:
    goal = Goal(
        id="g-1",
        project="shop",
        base_commit=base or shop.base,
        commands=(CommandState(asked),),
    )
    states = {"goal/g-1": goal, "project/shop": Project(name="shop", allowed=allowed)}
    node = Node()
    about = {"desk": ["python3", "node.pyz", "desk"], "fenced": True}
    kit = await Kits(shop.hub, states.get)(node, turn(agent), about)  # type: ignore[arg-type]
    return kit.settings, node


async def test_a_turn_is_given_what_is_trusted_and_nothing_else(tmp_path: Path) -> None:
    shop = Shop(tmp_path, FILES)
    command = (await shop.asked()).command
    assert command is not None
    settings, node = await given(shop, command, (command,))
    assert f"sh /home/q/kit/1/tree/{GUARD}" in settings
    assert set(node.sent) == {f"tree/{GUARD}", "tree/.claude/settings.json", "digest"}
    for allowed in ((), (Command("check", "make test"),)):
        settings, node = await given(shop, command, allowed)
        assert (settings, node.sent) == ("", {}), "not asked, or taken back since"
    assert (await given(shop, command, (command,), agent="rehearsal"))[0] == ""


async def test_other_files_than_those_trusted_are_never_given(tmp_path: Path) -> None:
    shop = Shop(tmp_path, FILES)
    command = (await shop.asked()).command
    assert command is not None
    await shop.asked({GUARD: "echo two\n"})
    settings, node = await given(shop, command, (command,), base=shop.base)
    assert (settings, node.sent) == ("", {})
