"""Keys that say of themselves what they are once they are read: by a checksum, or by what is closed in them.

    5Kb8…, K…, L…, 6P…      a wallet's key: base58 with a checksum
    S…  s…                  others of that sort: base32 with a CRC, base58 in an order of its own
    Basic dXNlcjpwYXNz      a name and a password in base64
    eyJhIjoi…               JSON in base64, with a field that holds a secret

A word of the same letters fails the sum, so these need no word beside them. Pure. Neighbour: shapes.py.
"""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator
from typing import Final

from bot.intake.judge import placeholder
from bot.intake.nearby import Near

_BITCOIN: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_RIPPLE: Final = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
_EDGE: Final = "(?<![A-Za-z0-9])"
_END: Final = "(?![A-Za-z0-9])"
_SUMMED: Final = (
    (
        re.compile(
            rf"{_EDGE}(?:[59KLcT69QV][1-9A-HJ-NP-Za-km-z]{{50,51}}|6P[1-9A-HJ-NP-Za-km-z]{{56}}){_END}"
        ),
        _BITCOIN,
    ),
    (re.compile(rf"{_EDGE}(?:[yzt]prv|edsk)[1-9A-HJ-NP-Za-km-z]{{48,108}}{_END}"), _BITCOIN),
    (re.compile(rf"{_EDGE}s[1-9A-HJ-NP-Za-km-z]{{27,30}}{_END}"), _RIPPLE),
)
_STELLAR: Final = re.compile(rf"{_EDGE}S[A-Z2-7]{{55}}{_END}")
_BASIC: Final = re.compile(
    r"\bBasic[ \t]+(?P<value>[A-Za-z0-9+/_-]{8,}={0,2})(?![A-Za-z0-9])", re.I
)
_JSON: Final = re.compile(rf"{_EDGE}eyJ[A-Za-z0-9+/_-]{{40,4000}}={{0,2}}(?![A-Za-z0-9.])")
_SECRET_FIELD: Final = re.compile(
    r"(?i)(?:secret|token|password|passwd|private_?key|api_?key|access_?key|credential)s?\Z"
)
_TUNNEL: Final = frozenset("ats")  # account, tunnel, secret


def read(text: str) -> Iterator[Near]:
    """Return what tells itself to be a secret when it is read."""
    for form, order in _SUMMED:
        for found in form.finditer(text):
            if _sums_up(found[0], order):
                yield Near("WALLET_KEY", found[0], *found.span())
    for found in _STELLAR.finditer(text):
        raw = base64.b32decode(found[0])
        if binascii.crc_hqx(raw[:-2], 0) == int.from_bytes(raw[-2:], "little"):
            yield Near("WALLET_KEY", found[0], *found.span())
    for found in _BASIC.finditer(text):
        if _name_and_password(found["value"]):
            yield Near("BASIC_AUTH", found["value"], *found.span("value"))
    for found in _JSON.finditer(text):
        if _holds_a_secret(found[0]):
            yield Near("TOKEN", found[0], *found.span())


def _sums_up(value: str, order: str) -> bool:
    """Return whether base58 ends in the first four bytes of its double SHA-256."""
    number = 0
    for letter in value:
        number = number * 58 + order.index(letter)
    raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
    raw = b"\0" * (len(value) - len(value.lstrip(order[0]))) + raw
    return hashlib.sha256(hashlib.sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]


def _opened(value: str) -> str:
    """Return what base64 holds, "" where that is no text."""
    plain = value.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        text = base64.b64decode(plain + "=" * (-len(plain) % 4)).decode()
    except ValueError:
        return ""
    return text if text.isprintable() else ""


def _name_and_password(value: str) -> bool:
    name, _, secret = _opened(value).partition(":")
    return (len(secret) >= 4 or (len(name) >= 16 and not secret)) and not placeholder(
        secret or name
    )


def _holds_a_secret(value: str) -> bool:
    try:
        inside = json.loads(_opened(value) or "null")
    except ValueError:
        return False
    if not isinstance(inside, dict):
        return False
    return inside.keys() >= _TUNNEL or any(
        _SECRET_FIELD.search(str(field))
        and isinstance(held, str)
        and len(held) >= 8
        and not placeholder(held)
        for field, held in inside.items()
    )
