"""For the tests with real agents: they are run, or it is said aloud why not."""

from __future__ import annotations

import os

import pytest

from tests.real_agents.quarterdeck import CLI


@pytest.fixture(autouse=True)
def _the_cli_is_there() -> None:
    """Skip with a reason on a person's machine; in CI nothing else shows the wire is still ours."""
    if CLI.exists():
        return
    if os.environ.get("CI"):
        pytest.fail(f"CI must try the real agents, and {CLI} is not there: make agents")
    pytest.skip("no Claude Code under .agents/: run `make agents` to try it")
