"""What in a change deserves a second look."""

from __future__ import annotations

from engine.rules.risks import marks


def test_ordinary_code_carries_no_mark() -> None:
    assert marks(["src/orders.py", "docs/README.md", "tests/test_orders.py"]) == ()


def test_each_kind_of_risk_is_named_with_its_paths() -> None:
    touched = [
        ".quarterdeck/settings.toml",
        ".github/workflows/ci.yml",
        "web/package-lock.json",
        "conftest.py",
        ".husky/pre-commit",
        ".claude/settings.json",
        "api/AGENTS.md",
        ".gitmodules",
    ]
    assert marks(touched, ["data"]) == (
        "changes the project's settings: .quarterdeck/settings.toml",
        "changes CI: .github/workflows/ci.yml",
        "changes how tests run: conftest.py",
        "changes locked dependencies: web/package-lock.json",
        "changes git's hooks or attributes: .husky/pre-commit",
        "changes what agents are told or allowed: .claude/settings.json, api/AGENTS.md",
        "changes submodules: .gitmodules",
        "adds or changes symbolic links: data",
    )


def test_many_paths_of_one_kind_are_counted() -> None:
    assert marks([f".github/workflows/{n}.yml" for n in range(5)]) == (
        "changes CI: .github/workflows/0.yml, .github/workflows/1.yml, "
        ".github/workflows/2.yml and 2 more",
    )
