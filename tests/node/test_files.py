"""What the owner sent, laid into a session's folder on its machine."""

import base64
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from engine.node import files
from engine.node.link import Refusal

BODY = os.urandom(3000)


def given(name: str = "0a1b2c3d-photo.jpg", **other: Any) -> dict[str, Any]:
    about = {
        "session": "s-1",
        "name": name,
        "sha256": hashlib.sha256(BODY).hexdigest(),
        "size": len(BODY),
    }
    return about | other


def part(start: int, end: int) -> dict[str, Any]:
    return {"offset": start, "data": base64.b64encode(BODY[start:end]).decode()}


def test_a_file_is_there_once_all_its_parts_are_and_cannot_be_written(tmp_path: Path) -> None:
    home = str(tmp_path)
    wanted = {"session": "s-1", "files": [given()]}
    assert files.lacks(home, wanted) == {"lacks": ["0a1b2c3d-photo.jpg"]}
    assert files.put(home, given(**part(0, 2000))) == {"done": False}
    assert files.lacks(home, wanted) == {"lacks": ["0a1b2c3d-photo.jpg"]}
    assert files.put(home, given(**part(2000, 3000))) == {"done": True}
    assert files.lacks(home, wanted) == {"lacks": []}
    there = tmp_path / "sessions/s-1/files/0a1b2c3d-photo.jpg"
    assert there.read_bytes() == BODY
    assert there.stat().st_mode & 0o777 == 0o400


def test_what_broke_off_half_way_begins_anew(tmp_path: Path) -> None:
    home = str(tmp_path)
    files.put(home, given(**part(0, 2000)))
    with pytest.raises(Refusal, match="begin anew"):
        files.put(home, given(**part(1000, 3000)))
    files.put(home, given(**part(0, 1000)))
    assert files.put(home, given(**part(1000, 3000))) == {"done": True}


def test_what_is_not_what_was_sent_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="did not arrive as it was sent"):
        files.put(str(tmp_path), given(sha256="00" * 32, **part(0, 3000)))
    assert list((tmp_path / "sessions/s-1/files").iterdir()) == []


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a\0b", "x" * 251])
def test_a_name_that_is_a_path_is_refused(tmp_path: Path, name: str) -> None:
    """BR-121."""
    with pytest.raises(Refusal, match="no name"):
        files.put(str(tmp_path), given(name, **part(0, 3000)))
    with pytest.raises(Refusal, match="no session"):
        files.lacks(str(tmp_path), given(session="../s-1", files=[]))


def test_a_link_laid_in_its_way_is_not_followed(tmp_path: Path) -> None:
    home = str(tmp_path)
    files.lacks(home, {"session": "s-1", "files": []})
    folder = tmp_path / "sessions/s-1/files"
    (tmp_path / "precious").write_text("kept")
    (folder / ".0a1b2c3d-photo.jpg.new").symlink_to(tmp_path / "precious")
    (folder / "0a1b2c3d-photo.jpg").symlink_to(tmp_path / "precious")
    assert files.put(home, given(**part(0, 3000))) == {"done": True}
    assert (tmp_path / "precious").read_text() == "kept"
    assert (folder / "0a1b2c3d-photo.jpg").read_bytes() == BODY
