"""A machine that is there for the test, and a client it lets in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machines.sshd import Sshd, sshd


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
