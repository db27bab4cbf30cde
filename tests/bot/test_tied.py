"""What gives a value away besides its shape: the name it is tied to, its command, its group."""

import pytest

from bot import keys

PASSWORD = "Canyon" + "9162!"
HEX = "9f154f53" + "9059b0e219b0c2759c9d87" + "aa"


def _found(text: str) -> list[str]:
    return [key.value for key in keys.find(text)]


@pytest.mark.parametrize(
    "text",
    [
        "ENV SMTP_PASSWORD {}",
        "| SMTP_PASSWORD | {} |",
        "hasło do bazy: {}",
        "Das Passwort für den Server ist {}",
        "> can you send me the SMTP password? the build is red\n{}",
        "CREATE USER 'shop'@'%' IDENTIFIED BY '{}';",
        "docker login -u ci -p {} registry.example.org",
    ],
)
def test_a_password_is_found_by_its_name_or_command_and_keeps_the_mark_it_ends_with(
    text: str,
) -> None:
    assert _found(text.format(PASSWORD)) == [PASSWORD]


@pytest.mark.parametrize(
    "text",
    ["the Gitea token is {}.", "API token\n{}", "вот токен от Gitea: {}", "Gitea token → {}"],
)
def test_hex_right_behind_the_word_for_it_is_a_key(text: str) -> None:
    assert _found(text.format(HEX)) == [HEX]


@pytest.mark.parametrize(
    "text",
    [
        "arn:aws:secretsmanager:eu-central-1:050899136135:secret:app/violet-56PcJB",
        "postgres://postgres:postgres@localhost:5432/test",
        '{{"key": "SHOP-12", "etag": "{}"}}',
        "-----BEGIN PRIVATE KEY----- is the first line of such a file",
        "which commit broke the token refresh?\n{}",
    ],
)
def test_what_only_speaks_of_a_key_is_left_alone(text: str) -> None:
    assert _found(text.format(HEX)) == []


def test_codes_and_phrases_of_several_words_are_taken_out_whole() -> None:
    codes = ["3fa81-" + "b07c2", "9de41-" + "77f0a"]
    assert _found("recovery codes:\n" + "\n".join(codes)) == codes
    words = " ".join(["absorb", "about", "ability", "access"] * 3)
    assert _found(f"seed phrase: {words}") == [words]
