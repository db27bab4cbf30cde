"""A password somebody chose, a word and a number, is taken where a sentence says that it is one."""

import pytest

from bot import keys

TAKEN = """my password is swordfish99
the db password: hunter2
pw = monkey123
the password for staging is hunter22
das Passwort für die Datenbank ist sommer2024
mein Passwort lautet Katze77
la contraseña es manzana42
mot de passe : soleil99
пароль от базы: kotik777
wachtwoord is fiets123
DB_PASSWORD=hunter2
use password swordfish99 for the db
the wifi password is "blueberry7".
its password changed to monkey123, thanks
WordPress 的密码是 nebel2094
Grafanaのパスワードは kotori88 です
set the password to dragon2024"""
HEARD = """the password is checked in step2
my password is in the file notes2
password: required
password: password1
password: str
the password field is input2
password hashes use argon2
use password auth with oauth2
the password for user42 is wrong
password must have 8chars
is the password utf8?
pw = page2
pw = browser2.page
load(text, password=Ed25519PrivateKey)
cache key: Linux-node-988ee228f580f291fcc0e0696e88837cef173c35f17cf14d8a725ad4a12d0dd8
{"password": "required|min:12|confirmed"}
def login(user, password=default2):
tests pass on python3
the password is swordfish
password is 12 characters
what is the password for shop2?
password policy: min8"""


@pytest.mark.parametrize("text", TAKEN.splitlines())
def test_a_chosen_password_is_taken_where_it_is_said_to_be_one(text: str) -> None:
    (found,) = keys.find(text)
    assert found.value.isalnum()
    assert any(sign.isdigit() for sign in found.value)
    assert f"{{{{{found.name}}}}}" in keys.masked(text)


@pytest.mark.parametrize("text", HEARD.splitlines())
def test_what_only_speaks_of_passwords_is_heard(text: str) -> None:
    assert keys.find(text) == []
