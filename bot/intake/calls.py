"""Keys that a line of code hands over without naming them: the place in the call says what they are.

    api.New("…")    new Client('…')    smtp.login("user", "…")    auth=("user", "…")    pyotp.TOTP('…')
    login for Grafana: admin / …

Pure. Neighbours: commands.py (command lines, statements), tied.py (what is named), judge.py.
"""

import re
from collections.abc import Iterator
from typing import Final

from bot.intake.judge import HEX, UUID, by_chance, made, password, placeholder
from bot.intake.nearby import Near

# The first thing a client is made with. Hashes and ids are given to other calls than these.
_CLIENT: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z_.:\\]{0,60}?(?:Client|Api|API|Sdk|SDK|Authenticator|Credentials?|TokenAuth|"
    r"ApiKey|APIKey|TokenCredential|KeyCredential|Bearer|BearerAuth|BearerToken|client|api|bearer|sdk|with_token|"
    r"from_token|with_api_key|set_token|setToken|setApiKey|SetAuthToken|WithToken|WithAPIKey|authenticate)"
    r"(?:[.:]{1,2}(?:New|new|create|init|connect|login|build))?|[a-z]\w{1,20}\.(?:New|NewClient|login|configure|"
    r"initialize|init|auth|authenticate|setup))\(\s*(?P<q>[\"'`])(?P<value>[A-Za-z0-9+/_.~:=-]{20,})(?P=q)\s*[,)]"
)
_QUOTED: Final = (
    r"(?P<q>[\"'`])[^\"'`\n]{1,60}(?P=q)\s*,\s*(?P<r>[\"'`])(?P<value>[^\"'`\s]{6,})(?P=r)\s*[,)\]]"
)
_PAIR: Final = re.compile(
    r"(?:\b(?:log_?in|sign_?in|authenticate|basic_?auth|set_?basic_?auth|http_?basic_?auth|digest_?auth|"
    r"httpdigestauth|setcredentials|credentials|usernamepasswordcredentials|passwordauthentication|"
    r"plain_?credentials|userpass|auth_?basic|plainauth|with_?basic_?auth|set_?auth|add_password)"
    rf"|\bauth\s*[=:]\s*)[(\[]\s*(?:[\"'`]{{2}}\s*,\s*)?{_QUOTED}",
    re.IGNORECASE,
)
_LOGIN: Final = re.compile(
    r"\b(?:log[ -]?in|wlan|wi-?fi|sign[ -]in|credentials?|creds|access|zugang(?:sdaten)?|anmeldung|identifiants?|acc[eè]s|"
    r"acceso|accesso|acesso|inlog(?:gegevens)?|logowanie|dost[eę]p|giriş|доступ|логин|вход|user(?:name)?|benutzer|"
    r"usuario|utente|utilisateur)\b[^\n:=]{0,40}[:=][ \t]*[\"'`*]{0,2}(?P<user>[\w.+@-]{2,60})[\"'`*]{0,2}"
    r"[ \t]*(?:[/|,]|[ \t]-|->|:)[ \t]*[\"'`*]{0,2}(?P<value>[^\s\"'`<>]{8,64})",
    re.IGNORECASE,
)
_ONE_TIME: Final = re.compile(
    r"(?:\b(?:H?TOTP|HOTP|oathtool|otplib|speakeasy|pyotp|rotp|2fa|mfa|authenticator|totp\w*|otp)\b)"
    r"[^\n]{0,60}?[\s'\"`(=:](?P<value>(?=[A-Z]*[2-7])[A-Z2-7]{16,64}=*)(?![A-Za-z0-9])",
    re.IGNORECASE,
)


def called(text: str) -> Iterator[Near]:
    """Return what is handed over where only a key or a password is."""
    for found in _CLIENT.finditer(text):
        value = found["value"]
        plain = (HEX.fullmatch(value) or UUID.fullmatch(value)) is not None
        if (made(value, 24) if plain else by_chance(value)) and "://" not in value:
            yield _near(found, "TOKEN", value)
    for form in (_PAIR, _LOGIN):
        for found in form.finditer(text):
            value = found["value"].rstrip(".,;:)") if form is _LOGIN else found["value"]
            if password(value, said=form is _LOGIN) and not placeholder(value):
                yield _near(found, "PASSWORD", value)
    for found in _ONE_TIME.finditer(text):
        value = found["value"]
        if value.isupper() and not placeholder(value):
            yield _near(found, "TOTP_SECRET", value)


def _near(found: re.Match[str], name: str, value: str) -> Near:
    return Near(name, value, found.start("value"), found.start("value") + len(value))
