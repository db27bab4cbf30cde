"""A session gets its account's login, and nothing an agent lays in the way leads elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.node.link import Refusal
from engine.node.login import hand

NAME = ".credentials.json"


@pytest.fixture
def account(tmp_path: Path) -> Path:
    folder = tmp_path / "account"
    folder.mkdir()
    (folder / NAME).write_text("first")
    return folder


def handed(tmp_path: Path, account: Path) -> dict[str, object]:
    return hand(str(tmp_path / "home"), {"session": "s-1", "source": str(account), "name": NAME})


def copy(tmp_path: Path) -> Path:
    return tmp_path / "home/sessions/s-1/config" / NAME


def test_a_session_gets_that_one_file_readable_by_its_user_only(
    tmp_path: Path, account: Path
) -> None:
    (account / "history.jsonl").write_text("what the owner said elsewhere")
    assert handed(tmp_path, account) == {"copied": True}
    assert copy(tmp_path).read_text() == "first"
    assert copy(tmp_path).stat().st_mode & 0o777 == 0o600
    assert os.listdir(copy(tmp_path).parent) == [NAME]


def test_a_login_its_agent_renewed_stays_until_the_owner_signs_in_again(
    tmp_path: Path, account: Path
) -> None:
    handed(tmp_path, account)
    copy(tmp_path).write_text("renewed")
    later = copy(tmp_path).stat().st_mtime
    assert handed(tmp_path, account) == {"copied": False}
    (account / NAME).write_text("second")
    os.utime(account / NAME, (later + 5, later + 5))
    assert handed(tmp_path, account) == {"copied": True}
    assert copy(tmp_path).read_text() == "second"


@pytest.mark.parametrize("name", [NAME, f"{NAME}.new"])
def test_a_link_in_its_place_is_not_followed(tmp_path: Path, account: Path, name: str) -> None:
    elsewhere = tmp_path / "of-the-owner"
    elsewhere.write_text("mine")
    copy(tmp_path).parent.mkdir(parents=True)
    (copy(tmp_path).parent / name).symlink_to(elsewhere)
    handed(tmp_path, account)
    assert elsewhere.read_text() == "mine"
    assert not copy(tmp_path).is_symlink()
    assert copy(tmp_path).read_text() == "first"


def test_an_account_that_never_signed_in_is_said_so(tmp_path: Path, account: Path) -> None:
    (account / NAME).unlink()
    with pytest.raises(Refusal, match=r"There is no login at .*: sign in"):
        handed(tmp_path, account)


@pytest.mark.parametrize(("session", "name"), [("../s-1", NAME), ("s-1", "../../x"), ("", "")])
def test_names_that_lead_elsewhere_are_refused(
    tmp_path: Path, account: Path, session: str, name: str
) -> None:
    with pytest.raises(Refusal, match="is no session"):
        hand(str(tmp_path), {"session": session, "source": str(account), "name": name})
