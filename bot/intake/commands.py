"""Secrets that a command, a statement or a file's form gives away: there is a place where nothing else stands.

    mysql -pSECRET    docker login -p SECRET    IDENTIFIED BY 'SECRET'    //host/:_auth=SECRET
    host:5432:db:user:SECRET    https://hooks.example.com/…/SECRET    WIFI:S:home;P:SECRET;;

Pure. Neighbours: judge.py (no placeholder is taken for one), tied.py (names and what belongs to them).
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from bot.intake.judge import made, password, placeholder
from bot.intake.nearby import Near

_V: Final = r"[\"']?(?P<value>(?![$%<{*-])[^\s\"'`<>|;]{6,})"
_Q: Final = r"(?P<q>[\"'])(?P<value>(?![$%<{*])[^\"'\s]{6,})(?P=q)"

# Each with the words one of which is in every text it can be found in: most texts have none of them.
_PASSWORD_FORMS: Final = (
    (
        "mysql mariadb mycli",
        rf"\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump|mycli)\b[^\n|;]{{0,120}}?\s-p{_V}",
    ),
    ("sshpass", rf"\bsshpass\s+-p\s*{_V}"),
    (
        "login",
        rf"\b(?:docker|podman|helm|skopeo|buildah|oc|az|nerdctl|crane|oras|cf|ibmcloud)\b[^\n|;]{{0,80}}?\blogin\b"
        rf"[^\n|;]{{0,120}}?\s(?:-p|--password)[ =]{_V}",
    ),
    (
        "redis-cli valkey-cli",
        rf"\b(?:redis-cli|valkey-cli)\b[^\n|;]{{0,120}}?\s(?:-a|--pass)\s+{_V}",
    ),
    ("ldap", rf"\bldap(?:search|add|modify|delete|whoami|passwd)\b[^\n|;]{{0,200}}?\s-w\s+{_V}"),
    (
        "sqlcmd bcp mosquitto zip ipmitool",
        rf"\b(?:sqlcmd|bcp|mosquitto_pub|mosquitto_sub|zip|unzip|ipmitool)\b[^\n|;]{{0,200}}?\s-P\s+{_V}",
    ),
    (
        "mongo influx cqlsh rabbitmqadmin",
        rf"\b(?:mongo|mongosh|mongodump|mongorestore|influx|cqlsh|rabbitmqadmin)\b[^\n|;]{{0,200}}?\s-p\s+{_V}",
    ),
    ("7z rar", rf"\b(?:7z|7za|rar|unrar)\s+\w[^\n|;]{{0,80}}?\s-p{_V}"),
    ("htpasswd", rf"\bhtpasswd\s+-\w*b\w*\s+\S+\s+\S+\s+{_V}"),
    ("lftp smbclient", rf"\b(?:lftp|smbclient)\b[^\n|;]{{0,120}}?\s-[uU]\s+[\w.\\-]+[,%:]{_V}"),
    ("pass:", rf"-pass(?:in|out)?\s+pass:{_V}"),
    (
        "chpasswd",
        r"\becho\s+(?:-n\s+)?[\"']?[\w.-]+:(?P<value>(?![$%<{])[^\s\"'`|]{6,})[\"']?\s*\|\s*(?:sudo\s+)?chpasswd",
    ),
    ("net use", rf"\bnet\s+use\s+\S+\s+\\\\\S+\s+{_V}\s+/user:"),
    ("identified", rf"\bidentified\s+(?:with\s+\w+\s+)?by\s+(?:password\s+)?{_Q}"),
    ("password", rf"\b(?:user|role|login)\b[^\n;]{{1,80}}?\bpassword\s*=?\s*{_Q}"),
    ("set password", rf"\bset\s+password\b[^\n;]{{0,60}}?[=(]\s*{_Q}"),
    ("convertto-securestring", rf"\bConvertTo-SecureString\s+(?:-String\s+)?{_Q}"),
    ("networkcredential", rf"\bNetworkCredential\([^,\n]{{1,60}},\s*{_Q}"),
    (
        "pdo mysqli mysql_connect",
        rf"\b(?:PDO|mysqli|mysqli_connect|mysql_connect)\((?:[^,\n]{{1,120}},\s*){{2}}{_Q}",
    ),
    ("getconnection", rf"\bgetConnection\([^,\n]{{1,120}},\s*[^,\n]{{1,40}},\s*{_Q}"),
    (
        "requirepass masterauth remote_password bindpw rootpw",
        rf"\b(?:requirepass|masterauth|remote_password|bindpw|rootpw)[ \t]+{_V}",
    ),
    (
        " * ",
        r"^[ \t>]*[\w.@*-]+[ \t]+\*[ \t]+\"?(?P<value>(?![$%<{*])[^\s\"]{6,})\"?[ \t]+(?:\*|[\d.]+)[ \t]*$",
    ),
    (
        ":",
        r"^[ \t>]*[\w.*-]+:(?:\d{2,5}|\*):[\w*-]+:[\w.*-]+:(?P<value>(?![$%<{*])[^\s:]{6,})[ \t]*$",
    ),
    ("jdbc:oracle", r"\bjdbc:oracle:\w+:[\w.-]{1,40}/(?P<value>(?![$%<{*])[^\s/@\"']{6,})@"),
    ("sqlplus", r"\bsqlplus\s+(?:-\w+\s+)*[\w.-]{1,40}/(?P<value>(?![$%<{*])[^\s/@\"']{6,})@"),
    ("wifi:", r"\bWIFI:(?:[TSHR]:[^;]*;)*P:(?P<value>[^;\s]{6,});"),
    ("wpa_passphrase", rf"\bwpa_passphrase\s+\S+\s+{_V}"),
    ("login", rf"\blogin[ \t]+\S+\s[> \t]*password[ \t]+{_V}"),
    ("<pass", r"<Pass(?:word)?(?:\s+\w+=\"[^\"]*\")?>(?P<value>(?![$%{*])[^<\s]{6,})</"),
    ("userpwd", r"\buserPWD=\"(?P<value>[^\"\s]{6,})\""),
)
_MADE_FORMS: Final = (
    (
        "?",
        r"[?&](?:api_?key|apikey|key|token|auth|access_token|auth_token|refresh_token|client_secret|secret|sig|code|"
        r"x-amz-signature|x-goog-signature|password|pwd)=(?P<value>[A-Za-z0-9%+/_.~-]{16,}=*)",
    ),
    (
        "config",
        r"\b(?:aws configure set|git config(?: --\w+)*|npm config set|composer config(?: --\w+)*|heroku config:set|"
        rf"pulumi config set(?: --\w+)*|poetry config)\s+[\w./:-]*(?:key|token|secret|pass(?:word)?|auth)[\w.-]*[ =]{_V}",
    ),
    (
        "akia asia",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}[\"']?\s*[,;:|/\s]\s*[\"']?(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    ("set-cookie", r"\bset-cookie:\s*[\w.-]{1,40}=(?P<value>[A-Za-z0-9%+/_.~-]{24,})"),
    (
        "cookie",
        r"\bcookie:[^\n]{0,300}?\b(?:\w{0,20}sess\w{0,12}|sid|connect\.sid|\w{0,12}token|\w{0,12}auth\w{0,6}|jwt|"
        r"remember_me)=(?P<value>[A-Za-z0-9%+/_.~-]{16,})",
    ),
    (
        "authorization",
        r"\bauthorization[\"']?\s*[:,=]\s*[\"'`]?(?:[a-z][\w-]{1,23}[ =]\s*)?(?:token=)?[\"']?"
        r"(?P<value>[A-Za-z0-9+/_.~=:-]{12,})",
    ),
    (
        "key token secret auth",
        r"^\s*[\"']?(?:[\w-]{0,20}-)?(?:api-?key|auth(?:-?token|orization)?|token|secret|access-token)[\"']?:\s+[\"']?"
        r"(?P<value>[A-Za-z0-9+/_.~=-]{16,})[\"']?\s*$",
    ),
    ('"auth"', r"\"auth\"\s*:\s*\"(?P<value>[A-Za-z0-9+/]{16,}={0,2})\""),
    ('"kty"', r"\"kty\"[^}]{0,600}?\"d\"\s*:\s*\"(?P<value>[A-Za-z0-9_-]{20,})\""),
    # An address whose last part lets in whoever knows it.
    (
        "://",
        r"https?://[\w.-]*(?:hooks?|webhooks?|maker|outlook|alchemy|infura|quiknode|ankr|logic|pipedream|ifttt|zapier|"
        r"integromat|make|n8n|discordapp|chat\.googleapis)[\w.-]*/(?:[\w./@-]*/)?(?P<value>[A-Za-z0-9_-]{20,})/?(?![\w/])",
    ),
    (
        "://",
        r"https?://[^\s/]+/(?:[\w./-]*/)?(?:hooks?|webhooks?|incoming|with/key|trigger|rpc)/(?:[\w./@-]*/)?"
        r"(?P<value>[A-Za-z0-9_-]{16,})/?(?![\w/])",
    ),
    (
        "hooks.zapier .make.com",
        r"https?://(?:hooks\.zapier\.com/hooks/catch|hook\.\w+\.make\.com)/(?:\d+/)?(?P<value>[a-z0-9]{6,})/?",
    ),
    ("/bot", r"/bot(?P<value>\d{6,12}:[A-Za-z0-9_-]{35})(?![A-Za-z0-9_-])"),
    ("otpauth", r"\botpauth://[^\s\"]{0,200}?[?&]secret=(?P<value>[A-Z2-7]{16,}=*)"),
)


def _read(forms: Iterable[tuple[str, str]]) -> tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]:
    flags = re.IGNORECASE | re.MULTILINE
    one_word = {" * ", "net use", "set password"}
    return tuple(
        ((words,) if words in one_word else tuple(words.split()), re.compile(form, flags))
        for words, form in forms
    )


_PASSWORDS: Final = _read(_PASSWORD_FORMS)  # whatever stands there is the password
_MADE: Final = _read(_MADE_FORMS)  # there a machine's work is a secret, anything else is not
_WHOLE: Final = re.compile(r"zapier|otpauth|AKIA|ASIA|sig|kty|\"auth\"|/bot", re.IGNORECASE)


def commanded(text: str) -> Iterator[Near]:
    """Return what stands in the secret's place of a command, a statement, a header or an address."""
    small = text.lower()
    for words, form in _PASSWORDS:
        if not any(word in small for word in words):
            continue
        for found in form.finditer(text):
            if not placeholder(found["value"]) and _chosen(found["value"]):
                yield _near(found, "PASSWORD")
    for words, form in _MADE:
        if not any(word in small for word in words):
            continue
        for found in form.finditer(text):
            value = found["value"]
            if made(value, 12) or (_WHOLE.search(found[0]) and not placeholder(value)):
                yield _near(found, "TOKEN")


def _chosen(value: str) -> bool:
    """Return whether a word was chosen as a password: one of the dictionary may be an option's argument."""
    return (
        password(value)
        or made(value, 8)
        or not re.fullmatch(r"[A-Z]?[a-z]+(?:[-_./:][a-z0-9]+)*|[A-Z_]+", value)
    )


def _near(found: re.Match[str], name: str) -> Near:
    value = found["value"].rstrip(",")
    return Near(name, value, found.start("value"), found.start("value") + len(value))
