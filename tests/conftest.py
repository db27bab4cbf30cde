"""For all tests: what a test must not inherit from the machine it runs on."""

import os

import pytest


@pytest.fixture(autouse=True)
def no_home_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that forgets to name its home must not find the owner's own Quarterdeck."""
    for name in [name for name in os.environ if name.startswith("QUARTERDECK_")]:
        monkeypatch.delenv(name)
