"""Which texts hold a key, and what is left of them without it."""

import pytest

from bot.keys import find, only_handed_over, only_keys, replaced

B = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

KEYS = {
    "ANTHROPIC_API_KEY": f"sk-ant-api03-{B}",
    "OPENAI_API_KEY": f"sk-proj-{B}",
    "GITHUB_TOKEN": f"ghp_{B[:36]}",
    "AWS_ACCESS_KEY_ID": "AKIA" + "QX7RV2MPLT9ZB4KD",
    "GOOGLE_API_KEY": f"AIza{B[:35]}",
    "SLACK_TOKEN": "xoxb-1234567890-abcdefghij",
    "STRIPE_API_KEY": f"sk_live_{B[:24]}",
    "TELEGRAM_BOT_TOKEN": f"123456789:{B[:35]}",
    "HF_TOKEN": f"hf_{B[:34]}",
    "NPM_TOKEN": f"npm_{B[:36]}",
    "PYPI_TOKEN": f"pypi-{B}",
    "JWT": f"eyJ{B[:20]}.eyJ{B[:20]}.{B[:30]}",
    "GITLAB_TOKEN": f"glpat-{B[:20]}",
    "PRIVATE_KEY": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNza\n-----END OPENSSH PRIVATE KEY-----",
}


@pytest.mark.parametrize("name", KEYS)
def test_a_providers_key_is_found_wherever_it_stands(name: str) -> None:
    value = KEYS[name]
    for said in (value, f"use {value}, please", f"({value})", f"\n`{value}`\n"):
        assert [(key.name, key.value) for key in find(said)] == [(name, value)]


def test_a_name_given_to_it_is_kept() -> None:
    (key,) = find(f'export MY_BOT_KEY="sk-ant-{B}"')
    assert key.name == "MY_BOT_KEY"
    (key,) = find(f"the key: sk-ant-{B}")
    assert key.name == "ANTHROPIC_API_KEY"


def test_a_value_assigned_to_a_telling_name_counts_when_it_looks_made_by_a_machine() -> None:
    (key,) = find("DATABASE_PASSWORD=q8f7Z2m1p0Lx9wKv")
    assert (key.name, key.value) == ("DATABASE_PASSWORD", "q8f7Z2m1p0Lx9wKv")
    assert find("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY1")


def test_a_password_in_an_address_is_taken_out_of_it() -> None:
    said = "/projects add shop https://me:hunter2hunter@git.example.org/shop.git"
    keys = find(said)
    assert replaced(said, keys, lambda key: key.name) == (
        "/projects add shop https://me:{{PASSWORD}}@git.example.org/shop.git"
    )


@pytest.mark.parametrize(
    "said",
    [
        "Rename the API_KEY setting to api_token everywhere",
        "add a password field to the form: type=password, name=password",
        "the sk-learn-like-interface-of-the-estimators is wrong",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b broke it",
        "see https://example.org:8080/path and http://a:b@c",
        "token = get_token_from_environment()",
    ],
)
def test_ordinary_words_about_keys_are_left_alone(said: str) -> None:
    assert find(said) == []


def test_a_private_key_cut_off_counts_up_to_the_end() -> None:
    said = "here:\n-----BEGIN RSA PRIVATE KEY-----\nMIIEow"
    (key,) = find(said)
    assert said[key.start :] == key.value


def test_what_is_left_of_a_bare_key_says_nothing() -> None:
    for said in ("{{A}}", "A={{A}}", "export A='{{A}}'\nB={{B}}\n"):
        assert only_keys(said)
    for said in ("use {{A}} for the deploy", "hello", ""):
        assert not only_keys(said)


def test_what_only_hands_a_key_over_is_told_from_what_asks_for_something() -> None:
    for said in ("Here is my new API key: {{A}}", "the key {{A}}, please keep it", "{{A}}"):
        assert only_handed_over(said)
    for said in ("use {{A}} here", "{{A}} for the shop", "is {{A}} the key of staging?", "hi"):
        assert not only_handed_over(said)


@pytest.mark.timeout(20)
def test_long_runs_of_letters_beside_a_telling_word_take_no_time() -> None:
    """Words that could be split in many ways once held the bot up for good."""
    for said in ("token=" + "abcdefgh" * 400 + "Q%", "the secret " + "ABCDEFgh" * 400 + "x1_"):
        find(said)
