"""Values that only the words around them give away: `.env` lines, headers, addresses, "the password is".

A name that says secret takes any value that looks made by a machine; a looser word (key) asks for
more. Hashes, ids, paths and code stand near such words too; they are told by their own form. Pure.
Neighbours: shapes.py (keys that can be told by themselves), bot/keys.py (the door).
"""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from msgspec import Struct

from bot.intake.judge import HEX, odd, only_words, placeholder, random, tidy

_VALUE: Final = r"[A-Za-z0-9+/_.~=!@#$%^&*:,?|;-]"
_STRONG: Final = r"(?:api|access|secret|private|auth|signing|encryption|account)[_ -]?keys?|tokens?|secrets?|credentials?|bearer|dsn"
_PASS: Final = r"passwords?|passwd|passphrase|passwort|pwd|pass"
_WORD: Final = rf"(?:{_STRONG}|{_PASS}|key|(?<=[_-])pat(?![a-z]))"
# A name of code or of a settings file, from the word in it: API_KEY=…, "apiKey": "…", token := '…'
_NAMED: Final = re.compile(
    rf"(?P<word>{_WORD}[A-Z0-9_]{{0,12}})"
    r"[\"'`*]{0,3}[ \t]*(?:=>|:=|=|:|[ \t](?=[\"'`]))[ \t]*[\"'`*]{0,3}(?:(?:Bearer|Basic|token)[ \t]+)?"
    rf"(?P<value>{_VALUE}{{6,}})(?P<after>[ \t]*[(\[{{]?)",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(r"[A-Za-z0-9_.-]{0,50}\Z")
# Prose: "the api key for the shop is …", "token (staging): …", and what stands before: "… is our api key"
_SAID: Final = re.compile(rf"\b(?:{_STRONG}|{_PASS}|key)\b", re.IGNORECASE)
_RUN: Final = re.compile(rf"(?<![A-Za-z0-9/@._#-])(?P<value>{_VALUE}{{12,}})")
# No key: name=value, name:value, a public key of ssh.
_LABEL: Final = re.compile(r"-*[A-Za-z][A-Za-z0-9_-]*[=:](?=[^=:])|AAAA[A-Z]3Nza")
_IS_THE: Final = re.compile(
    rf"(?<!\S)[\"'`*]*(?P<value>[A-Za-z0-9+/_.~=-]{{16,}})[\"'`*]*,? (?:is|as|for|=) (?:the|my|our|an?|its) "
    rf"(?:[\w-]+ ){{0,3}}(?:{_STRONG}|{_PASS}|key)\b",
    re.IGNORECASE,
)
NEXT_FIELD: Final = re.compile(r"[&;]\w+=.*")  # of a form, behind a value
NAMED_HASH: Final = re.compile(r"(?:[A-Za-z0-9.]+[-_])+[0-9a-f]{32,64}")  # of a cache, a list
AHEAD: Final = 80  # characters behind a word that what it speaks of stands within

_WORDED: Final = re.compile(
    rf"\b(?P<name>{_PASS}|passcode)\b(?: for [\w .-]{{1,30}}?)?(?: is|:| =)[ \t]*[\"'`*]{{0,3}}(?P<value>{_VALUE}{{8,}})",
    re.IGNORECASE,
)
_HEADER: Final = re.compile(
    r"\b(?:Bearer|Basic|token|ApiKey|Token)[ \t]+(?P<value>[A-Za-z0-9+/_.~=-]{20,})"
)
_FLAG: Final = re.compile(
    rf"(?:^|\s)--?(?P<name>(?:[a-z]+-)*(?:{_STRONG}|{_PASS}))[ =][\"']?(?P<value>{_VALUE}{{8,}})",
    re.M,
)
_USER: Final = re.compile(rf"\s(?:-u|--user)[ =]?[\"']?[\w.@+-]{{0,60}}:(?P<value>{_VALUE}{{6,}})")
_NETRC: Final = re.compile(rf"\blogin[ \t]+\S+[ \t\n]+password[ \t]+(?P<value>{_VALUE}{{6,}})")
_ADDRESS: Final = re.compile(r"://[^/\s:@\"']*:(?P<value>[^/\s@\"'<>{}$]{6,})@(?=[\w\[])")
_SIGNED: Final = re.compile(
    r"[?&](?:sig|signature|X-Amz-Signature)=(?P<value>[A-Za-z0-9%+/=_-]{32,})"
)
_REGISTRY: Final = re.compile(r"\"auth\"\s*:\s*\"(?P<value>[A-Za-z0-9+/]{16,}={0,2})\"")

_NO_SECRET: Final = re.compile(
    r"public|cache|primary|foreign|sort|partition|page|cursor|csrf|idempot|lock|routing|row|translation|"
    r"i18n|keyboard|monkey|turkey|hotkey|max_?tokens?|token_?(?:count|limit|type|usage|url|id)|compass|bypass|"
    r"fingerprint|secrets?manager|ssh.?key|host.?key|map|index|tree|surrogate",
    re.IGNORECASE,
)


IN_ADDRESS: Final = re.compile(r"\barn:[\w:/-]*\Z")  # of a secret, and not the secret
# A key to a cache or a table opens nothing: "restored from key: …", "clé de cache : …".
_OPENS_NOTHING: Final = re.compile(
    r"\b(?:cache[ds]?|caching|restored?|cach[ée]|zwischenspeicher|primary|foreign|partition|idempotency|"
    r"кэша?|кеша?|étrang[eè]re|primaire|primaria|dedupe?|lookup|map)\b",
    re.IGNORECASE,
)
_KEYS: Final = re.compile(
    r"keys?|cl[ée]s?|clave|chave|chiave|sleutel|schlüssel|ключ\w*|klucz\w*", re.IGNORECASE
)


class Near(Struct, frozen=True):
    """One value and what the words before it call it ("" where they do not)."""

    name: str
    value: str
    start: int
    end: int


def near(text: str) -> Iterator[Near]:
    """Return the values in a text that the words around them give away."""
    yield from _always(text)
    for found in _NAMED.finditer(text):
        before = _BEFORE.search(text, max(0, found.start() - 50), found.start())
        name = (before[0] if before else "") + found["word"]
        if re.search(
            r"(?i)(?:public|ssh|host) \Z", text[max(0, found.start() - 8) : found.start()]
        ):
            continue
        if IN_ADDRESS.search(text, max(0, found.start() - 120), found.start()):
            continue
        if names_no_secret(text, found.start(), found.end("word")):
            continue
        value = NEXT_FIELD.sub("", tidy(found["value"]))
        if _assigned(name, value, found["after"]):
            yield _near(found, name)
    for form in (_FLAG, _WORDED):
        for found in form.finditer(text):
            if not _NO_SECRET.search(found["name"]) and odd(tidy(found["value"])):
                yield _near(found, found["name"])
    yield from _said(text)


def _said(text: str) -> Iterator[Near]:
    """What stands in a sentence that speaks of a key."""
    for found in _IS_THE.finditer(text):
        if random(found["value"]):
            yield _near(found, "")
    for word in _SAID.finditer(text):
        end = word.end() + AHEAD
        breaks = [at for at in range(word.end(), min(end, len(text))) if text[at] == "\n"]
        if breaks:  # the next line belongs to it only after a colon
            colon = (
                text[breaks[0] - 1] == ":"
                and text[breaks[0] - 2] != ")"
                and breaks[0] - word.end() < 30
            )
            end = breaks[min(1, len(breaks) - 1)] if colon and len(breaks) > 1 else breaks[0]
            end = word.end() + AHEAD if colon and len(breaks) == 1 else end
        if _NO_SECRET.search(text[max(0, word.start() - 14) : word.end()]):
            continue
        if IN_ADDRESS.search(text, max(0, word.start() - 120), word.start()):
            continue
        if names_no_secret(text, word.start(), word.end()):
            continue
        for found in _RUN.finditer(text, word.end(), min(len(text), end + 200)):
            if (
                found.start() < end
                and not _LABEL.match(found["value"])
                and random(tidy(found["value"]))
                and not (word[0].lower() == "key" and _hashed(tidy(found["value"])))
            ):
                yield _near(found, word[0])


def _hashed(value: str) -> bool:
    return bool(HEX.fullmatch(value) or NAMED_HASH.fullmatch(value))


def _always(text: str) -> Iterator[Near]:
    """What stands where nothing but a secret stands."""
    for form, name in ((_ADDRESS, "PASSWORD"), (_NETRC, "PASSWORD"), (_USER, "PASSWORD")):
        for found in form.finditer(text):
            if not placeholder(found["value"]):
                yield _near(found, name)
    for form, name in ((_SIGNED, "SIGNATURE"), (_REGISTRY, "REGISTRY_AUTH"), (_HEADER, "TOKEN")):
        for found in form.finditer(text):
            if random(unquote(found["value"]), hashes=True):
                yield _near(found, name)


def names_no_secret(text: str, start: int, end: int) -> bool:
    """Return whether a bare word for a key, at this place, is that of a cache or a table."""
    if not _KEYS.fullmatch(text, start, end) or text[start - 1 : start] in ("_", "-"):
        return False
    line = text.rfind("\n", 0, start) + 1
    return _OPENS_NOTHING.search(text[max(line, start - 40) : end + 12]) is not None


def _near(found: re.Match[str], name: str) -> Near:
    value = NEXT_FIELD.sub("", tidy(found["value"]))
    start = found.start("value")
    return Near(name, value, start, start + len(value))


def _assigned(name: str, value: str, after: str) -> bool:
    if _NO_SECRET.search(name) or after.strip() or len(value) < 6:
        return False
    loose = re.search(r"(?:key|pat|pass)$", name, re.IGNORECASE) and not re.search(
        rf"(?:{_STRONG}|password)$", name, re.IGNORECASE
    )
    shouted = bool(re.fullmatch(r"[A-Z][A-Z0-9_]*", name))
    if re.search(rf"(?:{_PASS})$", name, re.IGNORECASE):
        return odd(value) or (shouted and "_" in name and len(value) >= 8 and only_words(value))
    if loose and NAMED_HASH.fullmatch(value):
        return False
    if loose and not shouted:
        return len(value) >= 20 and random(value)
    return len(value) >= 12 and random(value, hashes=True)
