"""For all tests: what a test must not inherit from the machine it runs on, and which begin first."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes is the machine's affair, and what else it does.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

HERE = Path(__file__).parent

# Files with few tests that each take long begin. What is left over for the end are thousands of tests of a
# moment each: so no worker waits for another's last file.
FIRST = (
    "engine/test_bot_walk.py",
    "engine/test_crash_walk.py",
    "test_history.py",
    "strace",
    "simulation",
)
LAST = ("bot", "adapters", "stores", "rules")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the tests; `--no-loadscope-reorder` has xdist keep to it."""
    items.sort(key=lambda item: _turn(item.path.relative_to(HERE).as_posix()))


def _turn(path: str) -> int:
    room = path.partition("/")[0]
    first = next((turn for turn, name in enumerate(FIRST) if path.startswith(name)), len(FIRST))
    return first + (1 + LAST.index(room) if room in LAST else 0)


@pytest.fixture(autouse=True)
def no_home_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that forgets to name its home must not find the owner's own Quarterdeck."""
    for name in [name for name in os.environ if name.startswith("QUARTERDECK_")]:
        monkeypatch.delenv(name)
