"""Where a command that holds a key may find its program."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.node.programs import safe_path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    made = tmp_path / "home/trees/s-1"
    (made / "bin").mkdir(parents=True)
    (made / "bin/report").touch()
    (tmp_path / "outside").mkdir()
    return made


def test_folders_named_by_where_one_stands_are_left_out(tree: Path) -> None:
    given = ":bin:.:../x:/usr/bin::/proc/self/cwd:/dev/../proc/self/cwd:~/bin"
    assert safe_path(given, "report", (str(tree),)) == "/usr/bin"


def test_folders_within_the_tree_or_the_home_are_left_out(tree: Path, tmp_path: Path) -> None:
    away = (str(tree), str(tmp_path / "home"))
    given = f"{tree}/bin:{tree}:{tmp_path}/home:{tmp_path}/outside/../home/trees:/usr/bin"
    assert safe_path(given, "report", away) == "/usr/bin"


def test_a_link_into_the_tree_is_not_followed(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tree / "bin")
    (tmp_path / "outside/report").symlink_to(tree / "bin/report")
    given = f"{tmp_path}/link:{tmp_path}/outside:/usr/bin"
    assert safe_path(given, "report", (str(tree),)) == "/usr/bin"
    assert safe_path(given, "other", (str(tree),)) == f"{tmp_path}/outside:/usr/bin"


def test_where_nothing_is_left_the_usual_folders_are_searched(tree: Path) -> None:
    assert safe_path("bin:", "report", (str(tree),)) == "/bin:/usr/bin"


def test_a_program_given_by_its_path_is_not_looked_for(tree: Path) -> None:
    for program in (f"{tree}/bin/report", "./bin/report"):
        assert safe_path("bin:/usr/bin", program, (str(tree),)) == "/usr/bin"
