"""Passwords as people choose them: a word and a number, told in a sentence that says that this is the password.

    my password is swordfish99      das WLAN-Passwort lautet Katze77      пароль от базы: kotik777
    DB_PASSWORD=hunter2             use password blueberry7 for the db    pw = monkey123

Nothing about such a value tells it from a name (`step2`, `sha256`, `user42`): so it must end its clause right behind
the word, and be none of what is numbered or spelt with a number otherwise. A bare word is never taken. Pure.
Neighbours: tied.py and nearby.py (values that look made), judge.py (placeholders), bot/keys.py (the door).
"""

import re
from collections.abc import Iterator
from typing import Final

from bot.intake.judge import placeholder, stands_for
from bot.intake.nearby import Near

_NOUN: Final = (
    r"(?:passwords?|passwd|passphrase|passcode|passwort|kennwort|has[lł]o|contrase[nñ]a|mot de passe|senha|"
    r"wachtwoord|lösenord|passord|adgangskode|heslo|salasana|parola|jelszó|şifre|пароль|pwd|pw)"
)
_NAMED: Final = rf"(?<![\w.@/-])(?P<before>(?:[A-Z][A-Z0-9]*_)*)(?:\w{{2,12}}-)?{_NOUN}"
_SPACELESS: Final = "(?P<before>)(?:密码|密碼|パスワード|비밀번호)"
_OF: Final = (
    r"(?: (?:for|of|to|on|at|für|vom|von|zum|der|des|für|для|от|к|de|del|da|do|van|voor|till|pour|per|na|dla) "
    r"[^\s:=.,?!]{1,20}(?: [^\s:=.,?!]{1,20}){0,2}?)?"
)
_IS: Final = (
    r"[ \t]*(?:[:=\uff1a]|[ \t](?:is now|is still|is|was|are|ist|lautet|es|est|é|jest|это|är|er|je)[ \t]|"
    r"[ \t]*(?:是|为|は|는|은)[ \t]*|[ \t](?:is )?(?:set |changed |reset )?(?:to|zu|auf)[ \t])[ \t]*(?::[ \t]*)?"
)
_VALUE: Final = r"[\"'`*«„“]{0,3}(?P<value>[^\W_][\w!@#$%^&*+~-]{4,38}[\w!@#$%^&*+~])[\"'`*»”]{0,3}"
_ENDS: Final = (
    r"(?=[.!,;)]*[ \t]*(?:\n|\Z)|[.,;!] |[ \t]+(?:for|on|at|für|auf|para|pour|для)[ \t]|[ \t]*です)"
)
_FORMS: Final = (
    re.compile(rf"{_NAMED}{_OF}{_IS}{_VALUE}{_ENDS}", re.IGNORECASE),
    re.compile(rf"{_NAMED}{_OF}[ \t]+{_VALUE}{_ENDS}", re.IGNORECASE),
    re.compile(rf"{_SPACELESS}{_IS}{_VALUE}{_ENDS}"),
)
_CHOSEN: Final = re.compile(r"(?P<word>[^\W\d_]{3,})[-!@#$%^&*+~]?\d{1,6}[!@#$%^&*+~]{0,3}")
_MIXED: Final = re.compile(r"(?=.*\d.*[^\W\d_])(?=.*[^\W\d_].*\d)[\w!@#$%^&*+~-]{8,}")
_TOLD_WITH_NUMBERS: Final = (
    "step phase part page user test input field line level version password passwd pass pwd secret key token admin "
    "root param arg item value option type file note notes row col column node host server client app api sha sha256 "
    "utf base oauth bcrypt argon scrypt python node http https ipv tls ssl aes rsa ed day week month year chapter table "
    "figure issue ticket task piece box machine worker run round try attempt rule case example sample form method "
    "group team env stage stages dev prod staging section sheet slot port channel number nr vault login account "
    "name var foo bar baz wrong right old new last next str string int uint float char bit bits byte bytes pbkdf hash digest md salt keepass ntlm "
    "wpa wep basic digest layer layers model mode plan variant attempt appendix screen window tab button"
)
_NUMBERED: Final = frozenset(_TOLD_WITH_NUMBERS.split())


def chosen(text: str) -> Iterator[Near]:
    """Return the values of a text that it says are passwords, and that a person may have chosen."""
    for form in _FORMS:
        for found in form.finditer(text):
            if _may_be_one(found["value"]):
                name = found["before"] + "PASSWORD"
                yield Near(name, found["value"], *found.span("value"))


def _may_be_one(value: str) -> bool:
    if len(value) < 6 or placeholder(value) or stands_for(value):
        return False
    word = _CHOSEN.fullmatch(value)
    if word is not None:
        return word["word"].lower() not in _NUMBERED
    return _MIXED.fullmatch(value) is not None and not re.match(r"[\d-]+[a-z]{0,2}\Z", value)
