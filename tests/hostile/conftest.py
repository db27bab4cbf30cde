"""For all tests here: their nodes' code is compiled once (tests/compiled.py)."""

from collections.abc import Iterator

import pytest

from tests.compiled import compiled_once


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> Iterator[None]:
    with compiled_once():
        yield
