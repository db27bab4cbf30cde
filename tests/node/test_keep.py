"""Backups as a machine keeps them: whole or nameless, seven of them, and never the last of its room."""

from __future__ import annotations

import base64
import hashlib
import os
import resource
import signal
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engine.node import keep
from engine.node.link import Refusal

SENDING = "0123456789abcdef"


NOW = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()


def name(day: int, year: int = 2026) -> str:
    return f"quarterdeck-{year}11{day:02d}T023000Z-nightly.tar.gz.sealed"


class Sent:
    """A backup and the way it is sent."""

    def __init__(
        self, home: Path, body: bytes, *, day: int = 1, sending: str = SENDING, year: int = 2026
    ) -> None:
        self.home = str(home)
        self.body = body
        self.about: dict[str, Any] = {"name": name(day, year), "sending": sending}
        self.path = home / "backups" / name(day, year)

    def begin(self) -> int:
        return int(keep.begin(self.home, {"size": len(self.body), **self.about})["at"])

    def put(self, start: int, end: int) -> int:
        data = base64.b64encode(self.body[start:end]).decode()
        return int(keep.put(self.home, {"offset": start, "data": data, **self.about})["at"])

    def finish(self, sha256: str = "", kept: int = 7) -> dict[str, Any]:
        digest = sha256 or hashlib.sha256(self.body).hexdigest()
        asked = {"size": len(self.body), "sha256": digest, "keep": kept, "now": NOW, **self.about}
        return keep.finish(self.home, asked)

    def whole(self) -> dict[str, Any]:
        self.begin()
        self.put(0, len(self.body))
        return self.finish()


def listed(home: Path) -> list[str]:
    return list(keep.listed(str(home), {})["files"])


def test_it_has_its_name_only_once_it_was_read_back_whole(tmp_path: Path) -> None:
    sent = Sent(tmp_path, os.urandom(5000))
    assert sent.begin() == 0
    assert sent.put(0, 3000) == 3000
    assert (listed(tmp_path), sent.path.exists()) == ([], False)
    with pytest.raises(Refusal, match="did not arrive as it was sent"):
        sent.finish()
    assert list(sent.path.parent.iterdir()) == []
    sent.put(0, 5000)
    done = sent.finish()
    assert done["sha256"] == hashlib.sha256(sent.body).hexdigest()
    assert (done["size"], done["kept"]) == (5000, 1)
    assert sent.path.read_bytes() == sent.body
    assert sent.path.stat().st_mode & 0o777 == 0o600
    assert sent.finish() == done, "its answer was lost, and it is asked for again"


def test_a_sending_goes_on_where_it_broke_and_another_begins_anew(tmp_path: Path) -> None:
    sent = Sent(tmp_path, os.urandom(5000))
    sent.begin()
    sent.put(0, 3000)
    assert sent.begin() == 3000
    assert sent.put(4000, 5000) == 3000, "a gap is not taken"
    assert sent.put(2000, 4000) == 4000, "what is sent twice counts once"
    other = Sent(tmp_path, os.urandom(100), sending="f" * 16)
    assert other.begin() == 0
    assert sent.begin() == 0, "the other took its place"


def test_seven_stay_and_never_does_a_newer_one_push_out_itself(tmp_path: Path) -> None:
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / "notes.txt").write_text("not ours")
    for day in range(1, 11):
        Sent(tmp_path, b"x" * day, day=day).whole()
    assert listed(tmp_path) == [name(day) for day in range(4, 11)]
    Sent(tmp_path, b"a clock that was set back", day=1).whole()
    assert listed(tmp_path) == [name(day) for day in (1, *range(5, 11))]
    assert (tmp_path / "backups" / "notes.txt").exists()


def test_what_has_no_room_is_refused_before_it_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keep, "SPARE_BYTES", 10**18)
    with pytest.raises(Refusal, match="there is no room for it on its disk"):
        Sent(tmp_path, b"x").begin()


@pytest.fixture
def small_files() -> Iterator[None]:
    """A disk that takes no more than some bytes of a file."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    heard = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, heard)


@pytest.mark.usefixtures("small_files")
def test_what_fills_the_disk_is_refused_and_gives_the_room_back(tmp_path: Path) -> None:
    sent = Sent(tmp_path, os.urandom(9000))
    sent.begin()
    sent.put(0, 4000)
    with pytest.raises(Refusal, match="there is no room for it"):
        sent.put(4000, 9000)
    assert list(sent.path.parent.iterdir()) == []


def test_a_folder_that_takes_nothing_says_so(tmp_path: Path) -> None:
    (tmp_path / "backups").write_text("a file, where the folder should be")
    with pytest.raises(Refusal, match="takes no backup"):
        Sent(tmp_path, b"x").begin()


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "../../.ssh/authorized_keys"},
        {"name": "quarterdeck-20261101T023000Z.tar.gz"},
        {"sending": "../../x"},
    ],
)
def test_no_other_file_is_ever_named(tmp_path: Path, wrong: dict[str, str]) -> None:
    sent = Sent(tmp_path, b"x")
    sent.about |= wrong
    for do in (sent.begin, lambda: sent.put(0, 1), sent.finish):
        with pytest.raises(Refusal, match="is no"):
            do()
    assert list(tmp_path.iterdir()) == []


def test_names_ahead_of_now_let_none_go_that_is_true_and_are_seven_themselves(
    tmp_path: Path,
) -> None:
    for day in range(1, 10):
        Sent(tmp_path, b"of a wrong clock", day=day, year=2027).whole()
    for day in range(1, 10):
        Sent(tmp_path, b"true", day=day).whole()
    true = [name(day) for day in range(3, 10)]
    assert listed(tmp_path) == [*true, *(name(day, 2027) for day in range(3, 10))]
