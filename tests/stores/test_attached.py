"""Files kept by their hash: whole or not at all, private, and let go of when nobody names them."""

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stores.attached import Attached


def test_a_file_is_kept_by_its_hash_for_its_owner_only(tmp_path: Path) -> None:
    kept = Attached(tmp_path / "attached")
    digest = kept.keep(b"a photo")
    assert digest == hashlib.sha256(b"a photo").hexdigest()
    assert kept.read(digest) == b"a photo"
    assert kept.keep(b"a photo") == digest
    assert kept.path(digest).stat().st_mode & 0o777 == 0o600
    assert kept.path(digest).parent.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in (tmp_path / "attached").iterdir()] == [digest]


def test_the_same_file_kept_twice_at_once_is_whole(tmp_path: Path) -> None:
    kept, body = Attached(tmp_path), os.urandom(4_000_000)
    with ThreadPoolExecutor(8) as threads:
        (digest,) = set(threads.map(kept.keep, [body] * 16))
    assert kept.read(digest) == body
    assert [path.name for path in tmp_path.iterdir()] == [digest]


def test_what_is_damaged_counts_as_gone(tmp_path: Path) -> None:
    kept = Attached(tmp_path)
    digest = kept.keep(b"a photo")
    kept.path(digest).write_bytes(b"another")
    assert kept.read(digest) is None


def test_a_hash_is_no_path(tmp_path: Path) -> None:
    """BR-121."""
    for name in ("../secrets/bot-token", "", "AB" * 32):
        with pytest.raises(ValueError, match="no hash"):
            Attached(tmp_path).read(name)


def test_what_nobody_names_goes_after_a_day_and_what_a_goal_named_later(tmp_path: Path) -> None:
    kept = Attached(tmp_path)
    needed, named, neither = (kept.keep(word) for word in (b"1", b"2", b"3"))
    for digest in (needed, named, neither):
        os.utime(kept.path(digest), (1000, 1000))
    days = 86_400.0
    assert kept.retain({needed}, {named}, 1000 + 2 * days, 90 * days) == 1
    assert kept.read(neither) is None
    assert kept.touch(named)
    os.utime(kept.path(named), (1000, 1000))
    assert kept.retain({needed}, {named}, 1000 + 91 * days, 90 * days) == 1
    assert kept.read(needed) == b"1"
    assert not kept.touch(named)
