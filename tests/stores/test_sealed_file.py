"""Files closed for another disk: nothing shows, nothing is left out, the code alone opens them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stores.recovery import close, new_code
from stores.sealed_file import PART, PROOF, Closing, Head, head, opened
from stores.sealing import KEY_BYTES, NotOpened, Opener

CODE = new_code()
PRIVATE = bytes(range(KEY_BYTES))


def closing(file: Path) -> Closing:
    return Closing(file, public=Opener(PRIVATE).public, recovery=close(CODE, PRIVATE))


def closed(folder: Path, body: bytes) -> Path:
    plain, shut = folder / "plain", folder / "shut"
    plain.write_bytes(body)
    one = closing(plain)
    shut.write_bytes(b"".join(one.piece(n) for n in range(len(one.starts()))))
    assert shut.stat().st_size == one.size
    return shut


def head_of(file: Path) -> Head:
    found = head(file)
    assert found is not None
    return found


@pytest.mark.parametrize("size", [0, 1, PART - 1, PART, PART + 1, 2 * PART])
def test_what_was_closed_is_opened_by_the_code_alone(tmp_path: Path, size: int) -> None:
    body = os.urandom(size)
    file = closed(tmp_path, body)
    assert head_of(file).private(CODE.lower()) == PRIVATE
    with opened(file, PRIVATE) as source:
        assert source.read() == body
    for wrong in (lambda: head_of(file).private(new_code()), lambda: opened(file, os.urandom(32))):
        with pytest.raises(NotOpened):
            wrong()


def test_nothing_of_it_shows(tmp_path: Path) -> None:
    body = b"the owner's own words, again and again. " * 50_000
    assert b"own words" not in closed(tmp_path, body).read_bytes()


def test_a_piece_closed_twice_is_the_same_and_another_closing_is_not(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(os.urandom(PART + 5))
    one, other = closing(plain), closing(plain)
    assert [one.piece(n) for n in range(3)] == [one.piece(n) for n in range(3)]
    assert one.piece(2) != other.piece(2)
    assert one.name != other.name


def _turned(body: bytes) -> bytes:
    return body[:-5] + bytes((body[-5] ^ 1,)) + body[-4:]


def _head_turned(body: bytes) -> bytes:
    return body[:30] + bytes((body[30] ^ 1,)) + body[31:]


def _without_last(body: bytes) -> bytes:
    return body[: -(PROOF + 7)]


def _swapped(body: bytes) -> bytes:
    first, second = (
        slice(-2 * (PART + PROOF) - PROOF - 7 + n * (PART + PROOF), None) for n in (0, 1)
    )
    one, two = body[first][: PART + PROOF], body[second][: PART + PROOF]
    return body[: first.start] + two + one + body[-(PROOF + 7) :]


@pytest.mark.parametrize(
    "spoil", [_turned, _head_turned, _without_last, _swapped, lambda body: body[:1000]]
)
def test_a_bit_a_part_or_an_order_that_is_not_as_it_was_is_found(
    tmp_path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    file = closed(tmp_path, os.urandom(2 * PART + 7))
    file.write_bytes(spoil(file.read_bytes()))
    with pytest.raises(NotOpened), opened(file, PRIVATE) as source:
        source.read()


def test_other_files_are_not_closed_ones(tmp_path: Path) -> None:
    file = tmp_path / "plain"
    assert head(file) is None
    file.write_bytes(b"\x1f\x8b a plain backup")
    assert head(file) is None
