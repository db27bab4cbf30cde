"""config.toml: what is taken, and the sentence for what is not."""

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config import TELEGRAM, Config, ConfigError, check, load, owner_id, save
from engine.errors import Refused
from engine.paths import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").make()


def written(home: Home, text: str) -> Home:
    home.config.write_text(text, encoding="utf-8")
    return home


def test_what_is_saved_is_what_is_loaded(home: Home) -> None:
    config = Config(owner_ids=(42, 7), api_url="http://127.0.0.1:8081")
    save(home, config)
    assert load(home) == config
    assert stat.S_IMODE(home.config.stat().st_mode) == 0o600
    assert [path.name for path in home.root.iterdir() if path.name.startswith(".")] == []


def test_an_owner_is_all_that_must_be_said(home: Home) -> None:
    assert load(written(home, "owner_ids = [42]\n")) == Config(owner_ids=(42,), api_url=TELEGRAM)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "owner_ids = []",
        "owner_ids = 42",
        'owner_ids = ["42"]',
        'owner_ids = ["@somebody"]',
        "owner_ids = [0]",
        "owner_ids = [-42]",
        "owner_ids = [true]",
        "owner_ids = [4.0]",
        "owner_ids = [42, 0]",
    ],
)
def test_no_start_without_a_numeric_owner(home: Home, line: str) -> None:
    """BR-122: an empty allow-list must not mean that anybody commands."""
    with pytest.raises(ConfigError, match="at least one numeric Telegram user id"):
        load(written(home, line + "\n"))


def test_a_bot_that_waits_for_its_owner_says_so_in_as_many_words(home: Home) -> None:
    """BR-122: none at all is no empty list."""
    waits = Config(pairing=True, api_url="http://127.0.0.1:8081")
    save(home, waits)
    assert load(home) == waits
    for line in ("pairing = false", "owner_ids = []\npairing = true"):
        with pytest.raises(ConfigError, match="at least one numeric Telegram user id"):
            load(written(home, line + "\n"))
    with pytest.raises(ConfigError, match="`pairing` is true until"):
        load(written(home, "pairing = 1\n"))


@pytest.mark.parametrize("text", ["", " ", "0", "-1", "@me", "4 2", "4.2", "٤٢", "1e3"])
def test_an_owner_is_named_by_number(text: str) -> None:
    """BR-122: the same on the command line."""
    with pytest.raises(ConfigError, match="is not a Telegram user id"):
        owner_id(text)
    assert owner_id("42") == 42


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("owner_id", "did you mean `owner_ids`?"),
        ("owners", "did you mean `owner_ids`?"),
        ("apiurl", "did you mean `api_url`?"),
        ("token", "known keys: owner_ids, api_url, pairing."),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_right_one(
    home: Home, key: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        load(written(home, f"owner_ids = [42]\n{key} = 1\n"))
    assert str(refused.value) == f"{home.config}: there is no key `{key}`; {hint}"


@pytest.mark.parametrize(
    "address", ["api.telegram.org", "ftp://a", "http://", "http://a:b@c", "http://a/?token=1"]
)
def test_an_address_is_a_plain_http_one(address: str) -> None:
    with pytest.raises(ConfigError, match="`api_url` must be"):
        check({"owner_ids": [42], "api_url": address}, Path("config.toml"))


def test_a_missing_file_says_what_to_run(home: Home) -> None:
    with pytest.raises(ConfigError, match="Run `quarterdeck setup` first"):
        load(home)


def test_a_torn_file_is_refused_by_line(home: Home) -> None:
    with pytest.raises(ConfigError, match=r"is not TOML: .*line 1"):
        load(written(home, "owner_ids = 42]\n"))


def test_a_config_error_is_the_owners_to_mend() -> None:
    assert issubclass(ConfigError, Refused)


def test_a_config_cannot_be_changed_under_way() -> None:
    with pytest.raises(AttributeError):
        Config(owner_ids=(42,)).api_url = "http://elsewhere"  # type: ignore[misc]


@given(st.dictionaries(st.text(max_size=12), st.one_of(st.integers(), st.text(), st.booleans())))
def test_whatever_a_file_without_an_owner_holds_the_answer_is_a_sentence(
    found: dict[str, int | str | bool],
) -> None:
    with pytest.raises(ConfigError) as refused:
        check(dict(found), Path("config.toml"))
    assert refused.value.sentence.startswith("config.toml: ")
