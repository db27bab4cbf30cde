"""A machine that is there for the test, and a client it lets in."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machines.forge import Forge
from tests.machines.sshd import SSHD, Sshd, sshd


def pytest_runtest_setup() -> None:
    """No sshd, no machine to reach: said where a person runs the tests, a failure where CI does."""
    if SSHD is None and not os.environ.get("CI"):
        pytest.skip("openssh-server is not installed here")


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    """A machine that lets us in; HOME is the client's."""
    client = tmp_path / "client"
    client.mkdir()
    monkeypatch.setenv("HOME", str(client))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with sshd(tmp_path / "box") as machine:
        machine.let_in(client)
        yield machine


@pytest.fixture
def forge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Forge]:
    """A forge that lets nobody in yet; HOME has no key and no configuration."""
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "forge"
    folder.mkdir()
    with sshd(folder / "box") as server:
        yield Forge(folder, server)
