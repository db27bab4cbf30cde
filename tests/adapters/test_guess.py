"""How a project is probably checked, read off its top folder at one commit."""

from pathlib import Path

import pytest

from engine.adapters import guess
from engine.adapters.hub import Hub
from tests.fakes import git


class Tree:
    """What lies in a commit's top folder."""

    def __init__(self, files: dict[str, str]) -> None:
        self._files = files

    async def listed(self, project: str, commit: str) -> tuple[str, ...]:
        return tuple(self._files)

    async def read_file(self, project: str, commit: str, path: str) -> bytes | None:
        return self._files[path].encode() if path in self._files else None


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"Makefile": "all:\n\ttrue\ntest: all\n\ttrue\n"}, "make test"),
        ({"Makefile": "check:\n", "package.json": '{"scripts": {"test": "x"}}'}, "make check"),
        ({"Makefile": "test := 3\ntests:\n"}, ""),
        ({"Makefile": "all:\n", "go.mod": ""}, "go test ./..."),
        ({"justfile": "test *args:\n  x\n"}, "just test"),
        ({"package.json": '{"scripts": {"test": "vitest"}}'}, "npm test"),
        ({"package.json": '{"scripts": {"test": "x"}}', "pnpm-lock.yaml": ""}, "pnpm test"),
        ({"package.json": '{"scripts": {"test": "echo Error: no test specified"}}'}, ""),
        ({"package.json": "{", "Cargo.toml": ""}, "cargo test"),
        ({"package.json": '["scripts"]'}, ""),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "python3 -m pytest"),
        ({"pyproject.toml": "[project]\n", "tests": ""}, "python3 -m pytest"),
        ({"pyproject.toml": "pytest\n", "uv.lock": ""}, "uv run pytest"),
        ({"tox.ini": "[testenv]\n"}, "tox"),
        ({"pyproject.toml": "[project]\n"}, ""),
        ({"README": "make test"}, ""),
        ({}, ""),
    ],
)
async def test_what_a_project_wrote_down_itself_counts_first(
    files: dict[str, str], command: str
) -> None:
    assert await guess.check(Tree(files), "shop", "0" * 40) == command


async def test_it_is_read_at_the_base_commit_and_not_from_any_branch(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    git(shop, "init", "-q", "-b", "main")
    (shop / "go.mod").write_text("module shop\n")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "Open")
    git(shop, "checkout", "-q", "-b", "other")
    (shop / "Makefile").write_text("test:\n\trm -rf /\n")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "Other")
    hub = Hub(tmp_path / "hub")
    commit = await hub.bring("shop", str(shop), "main")
    assert await guess.check(hub, "shop", commit) == "go test ./..."
