"""Whether a value was made by a machine, or made up to be a password: what no person writes otherwise.

Hashes, ids, paths and code look so too; they are told by their own form. Pure. Neighbours: nearby.py
and tied.py, which know how close a value stands to a word that speaks of a key.
"""

import math
import re
from collections import Counter
from typing import Final

_PLACEHOLDER: Final = re.compile(
    r"x{4,}|(?-i:EXAMPLE(?:KEY)?\Z)|\*{3,}|\.{3}|<|(?<![A-Z0-9])(?:change_?me|your[_-]|example|placeholder|redacted|dummy|todo)|(?-i:\$\{|^\$\w|\$\(|\$[A-Z][A-Z_]{2,})|(?<![A-Za-z0-9])%[A-Za-z_]\w+%(?![0-9A-F]{2})|"
    r"\{\{|\?:|\\|A-Za-z|a-z0-9|A-Z0-9|process\.env|os\.environ|getenv|secrets\.|vars\.|config\.|settings\.|self\.|this\.|args\.|req\.",
    re.IGNORECASE,
)
UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
HEX: Final = re.compile(r"(?:0x)?[0-9a-f]+", re.IGNORECASE)
_HASH: Final = re.compile(r"(?:sha(?:1|256|384|512)|md5|h1)[-:=]", re.IGNORECASE)
_PATH: Final = re.compile(
    r"(?:[~.]{0,2}/)?(?:[A-Za-z0-9_.@-]+/)+[A-Za-z0-9_.@-]*|[\w-]+\.[a-z]{1,5}(?::\d+)?"
)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d|v?\d+\.\d+(?:\.\d+)*|\d{1,2}:\d\d")
_CODE: Final = re.compile(
    r"[A-Za-z_][A-Za-z_]*(?:[._-][A-Za-z_]+)*\d{0,3}"
)  # words joined: my_token_2
_SLUG: Final = re.compile(
    r"[a-z]+\d{0,4}(?:[-_./:][a-z0-9]{1,12})*|(?:[A-Z][a-z]+\d{0,2}){2,}|[A-Z]+(?:_[A-Z0-9]+)+"
)
# The whole value, and nothing of its own: what examples and tests hold in a password's place.
_STAND_IN: Final = re.compile(
    r"pass(?:word|wd|phrase)?\d{0,3}|secret|token|user|admin|root|guest|test(?:ing)?|postgres|mysql|mongo|redis|"
    r"hidden|none|null|true|false|string|required|optional|replace[_-]?me|replace[_-]this.*|fill[_-]?me|enter.*here|"
    r"(?:my|some|the|new|old|wrong|right|fake|test|sample|demo)[_-]?(?:api[_-]?)?(?:password|secret|token|key)\d{0,3}|"
    r"(?-i:(?=.*(?:KEY|TOKEN|SECRET|PASS|USER|YOUR|HERE|VALUE))[A-Z]{2,20}(?:_[A-Z0-9]{1,20})*)|"
    r"(.)\1*",
    re.IGNORECASE,
)
_VERSION: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T_-][\d:.+Z-]*)?|v?\d+(?:\.\d+)+(?:[-+._]?[a-z]{0,8}\d{0,4})*|\d{1,2}:\d\d.*",
    re.IGNORECASE,
)
_PUBLIC: Final = re.compile(
    r"AAAA[A-Z]3Nza|age1|pk_(?:live|test|prod|sandbox)_|pk-lf-|pk\.eyJ|sb_publishable_|phc_|npub1|[xyz]pub"
)
_FINGERPRINT: Final = re.compile(r"(?:[0-9A-F]{2}:){5}", re.IGNORECASE)
_LABEL: Final = re.compile(r"(?:[A-Z][A-Z0-9_]{2,30}|[a-z_]{2,20})[=:](?=[^=:])")
_PHRASE: Final = re.compile(r"(?:[A-Za-z]{3,10}[-_.]){3,7}[A-Za-z]{3,10}[-_.]?\d{0,4}")
# What a build's cache is kept under: words, and the hash of what it was made from.
_CACHED: Final = re.compile(r"[A-Za-z]\w*(?:-[A-Za-z0-9_.]{1,20})*-(?:[0-9a-f]{40}|[0-9a-f]{64})")
_RULES: Final = re.compile(r"[a-z_]+(?:[|,][a-z_]+(?::[\w,]+)?)+")  # required|min:12
_NAMES: Final = re.compile(r"[A-Z]+(?:_[A-Z]+)+(?:&.*)?")  # ACCESS_TOKEN, where it is to stand
_TYPE: Final = re.compile(
    r"[A-Z][a-z]+\d*(?:[A-Z][a-z]+\d{0,2})*[A-Z][a-z]{2,}"
)  # Ed25519PrivateKey
_YEARED: Final = re.compile(r"[A-Z][a-z]{3,}\d{4,}")  # Winter2023: so people make one up
HEX_HASHES: Final = (7, 8, 12, 40, 64, 96, 128)


_WORDS: Final = re.compile(
    r"(?:[A-Z]?[a-z]{2,}+|[A-Z]{2,}+|[0-9]{1,4}+|[+-][A-Za-z][0-9]{1,2}|[._,:/@|+-])++"
)


def tidy(value: str) -> str:
    """Leave out what ends a sentence or a line of code."""
    return value.rstrip(".,;:!?*|" if not value.endswith("==") else ",;")


def only_words(value: str) -> bool:
    """A password of mere words counts only in a settings line, where nothing else would stand."""
    return not (
        placeholder(value) or _PATH.fullmatch(value) or re.search(r"(?i)pass|secret", value)
    ) and bool(re.fullmatch(r"[a-zA-Z-]+", value))


def odd(value: str) -> bool:
    """A password somebody made up: letters and digits or signs mixed, and no code."""
    if len(value) < 8 or no_secret(value) or UUID.fullmatch(value):
        return False
    letters, digits = re.search(r"[A-Za-z]", value), re.search(r"[0-9]", value)
    signs = re.search(r"[!@#$%^&*?~+]", value)
    if not letters or not (digits or signs):
        return False
    return bool(signs) or not _CODE.fullmatch(value) or (len(value) >= 12 and bool(digits))


def random(value: str, *, hashes: bool = False) -> bool:
    """Return whether a machine made this; `hashes`: hex of a hash's length and ids count too."""
    if len(value) < 12 or no_secret(value):
        return False
    if UUID.fullmatch(value):
        return hashes
    if HEX.fullmatch(value):
        return (hashes or len(value.removeprefix("0x")) not in HEX_HASHES) and (
            len(value) >= 24 and bool(re.search(r"[a-fA-F]", value)) and entropy(value) >= 2.8
        )
    if not (re.search(r"[A-Za-z]", value) and re.search(r"[0-9]", value)):
        mixed = re.search(r"[a-z]", value) and re.search(r"[A-Z]", value)
        return (
            bool(mixed) and len(value) >= 24 and entropy(value) >= 4 and not _SLUG.fullmatch(value)
        )
    if (_SLUG.fullmatch(value) and not _dense(value)) or _WORDS.fullmatch(value):
        return False
    return entropy(value) >= 3.0 and len(set(value)) >= 8


def no_secret(value: str) -> bool:
    plain = value.strip("\"'`").rstrip("=")
    return bool(
        stands_for(plain)
        or _PLACEHOLDER.search(plain)
        or _HASH.match(plain)
        or _PUBLIC.match(plain)
        or _STAND_IN.fullmatch(plain)
        or _DATE.match(plain)
        or "://" in plain
        or re.search(r"[:=]{2}|->|=>|&&|\|\||\.\w+\.[a-z]+$|^[./~]", plain)
        or (_PATH.fullmatch(plain) and all(map(_written, plain.strip("/").split("/"))))
        or (re.fullmatch(r"[A-Za-z_.]+\d{0,2}", plain) and not _tossed(plain))
    )


def _tossed(value: str) -> bool:
    """Return whether cases change as they do by chance, never in words."""
    return len(re.findall(r"[a-z][A-Z]", value)) * 6 >= len(value) >= 16


def _written(part: str) -> bool:
    """Return whether a part of a path is one that people give a name."""
    return bool(_WORDS.fullmatch(part) or re.fullmatch(r"[a-z0-9_.@-]*", part)) and not _dense(part)


def _dense(value: str) -> bool:
    """Return whether digits stand all through it, as they never do in a name."""
    return len(value) >= 12 and len(re.findall(r"[A-Za-z][0-9]|[0-9][A-Za-z]", value)) * 6 >= len(
        value
    )


def entropy(value: str) -> float:
    """Return the bits a character carries, by how often each occurs."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


def placeholder(value: str) -> bool:
    """Return whether a value only says what is to stand there: `changeme`, `<your-key>`, `$TOKEN`."""
    return bool(_PLACEHOLDER.search(value) or _STAND_IN.fullmatch(value))


def made(value: str, least: int = 12) -> bool:
    """Return whether a machine made a value that stands right beside a word for keys.

    So close to the word, a hash's hex digits and an id count: many a provider's keys look like that.
    """
    core = value.rstrip("=").removeprefix("base64:")
    if len(core) < least or placeholder(core) or _other(core):
        return False
    if UUID.match(core) and len(core) <= 40:
        return True
    if HEX.fullmatch(core):
        return len(core) >= 20 and _mixed(core) and entropy(core) >= 2.6
    if not re.search(r"[0-9]", core):
        return len(core) >= 16 and (_tossed(core) or _unspoken(core) or _jumbled(core))
    if not re.search(r"[A-Za-z]", core):
        return False
    if _WORDS.fullmatch(core) and not (_dense(core) or _unspoken(core) or _jumbled(core)):
        return False
    return entropy(core) >= 3.0 and len(set(core)) >= 8


def by_chance(value: str) -> bool:
    """Return whether a value of twenty characters or more is neither words, an id nor hex, whatever is beside it."""
    if len(value) < 20 or not made(value, 20) or UUID.match(value) or HEX.fullmatch(value):
        return False
    if re.match(
        r"[a-z]{2,8}_|[A-Za-z]+-[a-z]+-|sha\d|[\w-]+\.[a-z]{2,4}(?:\.|/|\Z)|\d{4}-\d\d", value
    ):
        return False  # an id with its kind before it, a name with a hash, a host
    if not re.search(r"[0-9]", value):
        return _tossed(value)
    return _dense(value) or _jumbled(value) or _tossed(value)


def public(value: str) -> bool:
    """Return whether a value is made to be shown: a publishable key, a public one."""
    return _PUBLIC.match(value) is not None


def password(value: str, *, said: bool = False) -> bool:
    """Return whether somebody made a value up to be a password; `said`: it stands in a sentence."""
    if len(value) < 8 or placeholder(value) or _other(value):
        return False
    if phrase(value) or _tossed(value) or (len(value) >= 12 and _jumbled(value)):
        return True
    if UUID.fullmatch(value):
        return True
    signs = re.search(r"[!@#$%^&*?~+]", value) and re.search(r"[0-9]", value)
    if said and not signs and _WORDS.fullmatch(value) and not _YEARED.fullmatch(value):
        return made(value, 8)
    return odd(value)


def phrase(value: str) -> bool:
    """Return whether a value is a passphrase: four words or more, and mostly a number behind them."""
    return bool(_PHRASE.fullmatch(value))


def stands_for(value: str) -> bool:
    """Return whether a value says what it is for: a cache's key, rules for a field, a name to fill in, a type."""
    return any(form.fullmatch(value) for form in (_CACHED, _RULES, _NAMES, _TYPE))


def _other(core: str) -> bool:
    """Return whether a value is plainly something else: an address, a path, a hash, code, a date."""
    return bool(
        stands_for(core)
        or "://" in core
        or _HASH.match(core)
        or _VERSION.fullmatch(core)
        or _PUBLIC.match(core)
        or _LABEL.match(core)
        or _FINGERPRINT.match(core)
        or re.search(r"[:=]{2}|->|=>|&&|\|\||\.\w+\.[a-z]+$|^[~.]?/[a-z]+/|^--", core)
        or re.fullmatch(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", core)
        or (_PATH.fullmatch(core) and all(map(_written, core.strip("/").split("/"))))
    )


def _mixed(core: str) -> bool:
    return bool(re.search(r"[A-Fa-f]", core) and re.search(r"[0-9]", core))


def _unspoken(value: str) -> bool:
    """Return whether letters stand together that no tongue says together."""
    if re.search(r"[bcdfghjklmnpqrstvwxz]{6,}|[BCDFGHJKLMNPQRSTVWXZ]{6,}", value):
        return True
    letters = re.findall(r"[A-Za-z]", value)
    spoken = re.findall(r"[aeiouyAEIOUY]", value)
    return len(letters) >= 12 and len(spoken) * 5 < len(letters) and not re.search(r"[-_.]", value)


def _jumbled(value: str) -> bool:
    """Return whether letters, cases and digits change too often for words set side by side."""
    signs = len(re.findall(r"[^A-Za-z0-9]", value))
    if signs and len(value) < 24 * signs:
        return False
    pieces = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", value)
    digits = sum(piece.isdigit() for piece in pieces)
    mixed = re.search(r"[a-z]", value) and re.search(r"[A-Z]", value)
    if mixed and len(pieces) * (4 if len(value) >= 16 else 3) >= len(value):
        return True
    return digits >= 2 and (len(pieces) >= 5 or len(value) >= 28)
