"""A copy of what a repository brings, laid beside a session."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from engine.node import kits
from engine.node.link import Refusal

DIGEST = "ab" * 32


def file(path: str, body: bytes = b"true\n", **more: Any) -> dict[str, Any]:
    return {"path": path, "data": base64.b64encode(body).decode(), **more}


def lay(home: Path, *files: dict[str, Any], **more: Any) -> dict[str, Any]:
    return kits.lay(str(home), {"session": "s-1", "digest": DIGEST, "files": list(files)} | more)


def test_it_is_there_once_it_was_laid_and_is_not_laid_again(tmp_path: Path) -> None:
    assert lay(tmp_path)["there"] is False
    laid = lay(tmp_path, file("tree/a/run.sh", runs=True), file("tree/b"))
    folder = Path(laid["folder"])
    assert laid["there"]
    assert (folder / "tree/a/run.sh").stat().st_mode & 0o777 == 0o500
    assert (folder / "tree/b").stat().st_mode & 0o777 == 0o400
    assert lay(tmp_path, file("tree/b", b"other")) == laid
    assert lay(tmp_path) == laid
    assert (folder / "tree/b").read_bytes() == b"true\n"


def test_what_broke_off_half_way_begins_anew(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="no path in a kit"):
        lay(tmp_path, file("tree/a"), file("../b"))
    assert lay(tmp_path)["there"] is False
    assert lay(tmp_path, file("tree/a"))["there"]


@pytest.mark.parametrize("path", ["/etc/x", "a/../../b", "a//b", "", ".", "a\0b"])
def test_nothing_is_written_elsewhere(tmp_path: Path, path: str) -> None:
    with pytest.raises(Refusal):
        lay(tmp_path, file(path))


@pytest.mark.parametrize(
    "more", [{"session": "../s-1"}, {"session": ""}, {"digest": "ab"}, {"digest": "../" * 22}]
)
def test_a_session_or_digest_that_is_none_is_refused(tmp_path: Path, more: dict[str, Any]) -> None:
    with pytest.raises(Refusal):
        lay(tmp_path, file("a"), **more)
