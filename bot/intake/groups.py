"""Secrets of several words: a wallet's phrase, codes for a lost phone, a seed in groups, a file's block.

Each is told by what it is called right before it, since its words alone are like any others. Pure.
Neighbours: shapes.py (keys of one word), bot/keys.py (the door).
"""

import re
from collections.abc import Iterator
from typing import Final

from bot.intake.judge import placeholder
from bot.intake.nearby import Near

_GAP: Final = r"(?:[^\w\n]|\bis\b|\bare\b|\bist\b){0,8}\n?[> \t]*[\"'`*]{0,3}"
_FORMS: Final = (
    (
        "SEED_PHRASE",
        re.compile(
            r"\b(?:seed|mnemonic|recovery|backup|secret|wallet)[ _-]?(?:phrase|words|mnemonic)?\b"
            rf"[^\n:=]{{0,30}}[:=]{_GAP}(?P<value>(?:[a-z]{{3,8}}[ \t]+){{11,23}}[a-z]{{3,8}})\b",
            re.IGNORECASE,
        ),
    ),
    (
        "APP_PASSWORD",
        re.compile(
            rf"\bpass(?:word|wort)s?\b[^\n:=]{{0,30}}[:=]?{_GAP}(?P<value>(?:[a-z]{{4}} ){{3}}[a-z]{{4}})(?![ \w])",
            re.IGNORECASE,
        ),
    ),
    (
        "TOTP_SECRET",
        re.compile(
            r"\b(?:2fa|totp|otp|mfa|authenticator|secret|setup key|seed)\b[^\n:=]{0,30}[:=]?"
            rf"{_GAP}(?P<value>(?:[a-z2-7]{{4}}[ -]){{3,15}}[a-z2-7]{{1,4}})\b",
            re.IGNORECASE,
        ),
    ),
)
_CODES: Final = re.compile(
    r"\b(?:recovery|backup|rescue|scratch|emergency)[ -]codes?\b[^\n:=]{0,30}[:=]?[^\w\n]{0,6}\n?"
    r"(?P<value>(?:[>\s,;*`\d.)-]{0,6}\b(?:[a-z0-9]{4,6}-[a-z0-9]{4,6}|[a-z0-9]{8,12})\b){1,20})",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"\b(?:[A-Za-z0-9]{4,6}-[A-Za-z0-9]{4,6}|[A-Za-z0-9]{8,12})\b")
_SECRET_FILE: Final = re.compile(r"^[> \t]*kind:[ \t]*[\"']?Secret\b", re.MULTILINE)
_DATA: Final = re.compile(r"^[> \t]*(?:data|stringData):[ \t]*$", re.MULTILINE)
_ENTRY: Final = re.compile(
    r"^[> \t]{2,}[\w.-]+:[ \t]*[\"']?(?P<value>[A-Za-z0-9+/=_.!@#%^*~-]{8,})[\"']?[ \t]*$",
    re.MULTILINE,
)
_KEY_FILE: Final = re.compile(
    r"\b(?:minisign|signify) (?:encrypted )?secret key\s+(?:> ?)?(?P<value>[A-Za-z0-9+/]{80,}={0,2})"
)
# base64 of "-----BEGIN", but not of a certificate or a public key
_PEM_IN_BASE64: Final = re.compile(
    r"(?<![A-Za-z0-9+/])(?P<value>LS0tLS1CRUdJTi(?!BDRVJUSUZJQ0FUR|BQVUJMSUMg)[A-Za-z0-9+/]{60,}={0,2})"
)


def grouped(text: str) -> Iterator[Near]:
    """Return the secrets in a text that are more than one word."""
    for name, form in _FORMS:
        for found in form.finditer(text):
            if name != "TOTP_SECRET" or re.search(r"[2-7]", found["value"]):
                yield Near(name, found["value"], *found.span("value"))
    for found in _CODES.finditer(text):
        for code in _CODE.finditer(found["value"]):
            if re.search(r"\d", code[0]) and not re.fullmatch(r"\d{4}-\d\d?", code[0]):
                start = found.start("value") + code.start()
                yield Near("RECOVERY_CODE", code[0], start, start + len(code[0]))
    for found in (*_KEY_FILE.finditer(text), *_PEM_IN_BASE64.finditer(text)):
        yield Near("PRIVATE_KEY", found["value"], *found.span("value"))
    yield from _cluster_secret(text)


def _cluster_secret(text: str) -> Iterator[Near]:
    """What stands under `data` of a Kubernetes secret: each value is one, or it would not stand there."""
    kinds = list(_SECRET_FILE.finditer(text))
    ends = [kind.start() for kind in kinds[1:]] + [len(text)]
    for kind, after in zip(kinds, ends, strict=False):
        stop = text.find("\n---", kind.end(), after)
        stop = after if stop < 0 else stop
        if (data := _DATA.search(text, kind.end(), stop)) is None:
            continue
        for found in _ENTRY.finditer(text, data.end(), stop):
            if not placeholder(found["value"]):
                yield Near("SECRET", found["value"], *found.span("value"))
