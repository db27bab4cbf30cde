"""docs/reliability.md and docs/security.md name only what there is: files, modules, tests, targets of make."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = "\n".join(
    (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("reliability.md", "security.md")
)
CODE = re.findall(r"`([^`\n]+)`", PAGE) + re.findall(r"^    (\S.*)$", PAGE, re.MULTILINE)
PATHS = sorted({found for code in CODE for found in re.findall(r"(?:tests|docs)/[\w./-]+", code)})
MODULES = sorted({found for code in CODE for found in re.findall(r"python -m ([\w.]+)", code)})
TARGETS = sorted({found for code in CODE for found in re.findall(r"\bmake (\w+)", code)})
NAMED = sorted({found for code in CODE for found in re.findall(r"\b(test_\w+)(?!\w|\.py)", code)})
LINKS = sorted(set(re.findall(r"\]\(([^)#]+)\)", PAGE)))


def test_the_page_names_enough_to_be_worth_this() -> None:
    assert len(PATHS) > 20
    assert len(MODULES) > 3


@pytest.mark.parametrize("path", PATHS)
def test_a_file_it_names_is_there(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("module", MODULES)
def test_a_module_it_has_one_run_is_there(module: str) -> None:
    assert importlib.util.find_spec(module) is not None


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_it_has_one_make_is_there(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", NAMED)
def test_a_test_it_calls_by_its_name_is_there(name: str) -> None:
    files = (ROOT / "tests").rglob("*.py")
    assert any(re.search(rf"def {name}\(", file.read_text(encoding="utf-8")) for file in files)


@pytest.mark.parametrize("link", LINKS)
def test_a_page_it_leads_to_is_there(link: str) -> None:
    assert (ROOT / "docs" / link).exists()
