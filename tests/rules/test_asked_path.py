"""A path the owner asks for: what is one, what holds secrets, and what was perhaps meant."""

import pytest

from engine.errors import Refused
from engine.rules import asked_path

PATHS = ("README.md", "docs/plan.md", "docs/img/plan.png", "web/docs/plan.md", "src/orders.py")


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ("docs/plan.md", "docs/plan.md"),
        ("`docs/plan.md`", "docs/plan.md"),
        ("./docs//plan.md", "docs/plan.md"),
        ("docs/", "docs"),
        ("", ""),
        (".", ""),
        ("a…b.md", "a…b.md"),
    ],
)
def test_a_path_is_named_from_the_top_of_the_branch(asked: str, path: str) -> None:
    assert asked_path.tidy(asked) == path


@pytest.mark.parametrize(
    "asked",
    [
        "../x",
        "docs/../../x",
        "/etc/passwd",
        "~/.ssh/id_rsa",
        "C:\\boot.ini",
        "\\\\host",
        "a\0b",
        "x" * 1001,
    ],
)
def test_what_leads_out_of_the_branch_is_refused(asked: str) -> None:
    """BR-121."""
    with pytest.raises(Refused):
        asked_path.tidy(asked)


@pytest.mark.parametrize(
    "path",
    [".env", "a/.env", "b/.ENV.local", "keys/server.pem", ".ssh/id_ed25519", ".npmrc", "x.p12"],
)
def test_a_name_for_secrets_is_known_as_one(path: str) -> None:
    """BR-121."""
    assert asked_path.is_secret(path)


@pytest.mark.parametrize(
    "path", [".env.example", "environment.md", "pem.py", "src/keys.py", "a.keynote"]
)
def test_a_name_that_only_looks_like_it_is_none(path: str) -> None:
    assert not asked_path.is_secret(path)


def test_what_was_perhaps_meant_comes_likeliest_and_shallowest_first() -> None:
    assert asked_path.near("plan.md", PATHS) == ("docs/plan.md", "web/docs/plan.md")
    assert asked_path.near("doc/plan.md", PATHS) == ("docs/plan.md", "web/docs/plan.md")
    assert asked_path.near("order.py", PATHS) == ("src/orders.py",)
    assert asked_path.near("raedme.md", PATHS) == ("README.md",)
    assert asked_path.near("zzz", PATHS) == ()


def test_a_bare_name_means_a_file_only_where_it_is_the_only_one() -> None:
    assert asked_path.only_one("orders.py", PATHS) == "src/orders.py"
    assert asked_path.only_one("plan.md", PATHS) == ""
    assert asked_path.only_one("lan.md", PATHS) == ""
