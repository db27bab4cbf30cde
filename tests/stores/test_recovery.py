"""The recovery code, as properties: the right one opens, any other is refused with a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.recovery import LETTERS, close, new_code, open_with
from stores.sealing import KEY_BYTES, NotOpened

keys = st.binary(min_size=KEY_BYTES, max_size=KEY_BYTES)
CODE = new_code()
PLACES = [at for at, sign in enumerate(CODE) if sign != "-"]


@given(keys)
def test_a_code_opens_what_it_closed_however_it_is_typed(key: bytes) -> None:
    code = new_code()
    closed = close(code, key)
    spelled = code.replace("0", "o").replace("1", "l")
    for typed in (code, code.lower(), code.replace("-", " "), f" {spelled}\n"):
        assert open_with(typed, closed) == key
    assert key not in closed
    assert closed != close(code, key)


@given(keys, st.sampled_from(PLACES), st.sampled_from(LETTERS))
def test_one_wrong_letter_opens_nothing(key: bytes, at: int, letter: str) -> None:
    if CODE[at] == letter:
        return
    wrong = CODE[:at] + letter + CODE[at + 1 :]
    with pytest.raises(NotOpened):
        open_with(wrong, close(CODE, key))


@given(st.text())
def test_what_is_no_code_is_refused_with_a_sentence(typed: str) -> None:
    with pytest.raises(NotOpened, match=r"no recovery code|does not open"):
        open_with(typed, close(CODE, bytes(KEY_BYTES)))


@given(keys)
def test_another_boxs_code_is_told_from_a_slip(key: bytes) -> None:
    with pytest.raises(NotOpened, match="does not open this backup"):
        open_with(new_code(), close(new_code(), key))


@given(keys, st.data())
def test_a_damaged_closed_key_is_refused(key: bytes, data: st.DataObject) -> None:
    closed = bytearray(close(CODE, key))
    at = data.draw(st.integers(0, len(closed) - 1))
    closed[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(NotOpened):
        open_with(CODE, bytes(closed))
    with pytest.raises(NotOpened):
        open_with(CODE, bytes(closed[:at]))
