"""Seeded characters: what a secret is assembled from when it is asked for.

A pattern is a text with holes: `{A24}` is 24 letters and digits, `{h32}` is 32 hex digits, and so
on by ALPHABETS; `{uuid}`, `{pass}` and `{jwt}` are what they say. A file of patterns holds nothing
that a scanner of this repository could take for a key.
"""

import base64
import json
import re
import string
from random import Random

_URL = string.ascii_letters + string.digits + "-_"
ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "a": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "B": string.ascii_letters + string.digits + "+/",
    "b": _URL,
    "d": string.digits,
    "l": string.ascii_lowercase,
    "L": string.ascii_uppercase,
    "T": string.ascii_uppercase + "234567",
    "t": string.ascii_lowercase + "234567",
    "C": string.ascii_letters,
    "q": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
    "Q": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "5": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
}
_HOLE = re.compile(r"\{(?:([A-Za-z5])(\d+)|(uuid|pass|jwt|word))\}")
_WORDS = (
    "copper", "lantern", "otter", "violet", "harbor", "pickle", "saddle", "meadow", "thunder",
    "walnut", "ribbon", "falcon", "marble", "cactus", "pepper", "turtle", "anchor", "biscuit",
    "canyon", "domino", "ember", "fiddle", "goblin", "hazel", "igloo", "jungle", "kettle",
    "lagoon", "mitten", "noodle", "orchid", "parrot", "quartz", "rocket", "sunset", "tulip",
    "urchin", "vortex",
)  # fmt: skip


def run(rng: Random, alphabet: str, length: int) -> str:
    """Return `length` characters of an alphabet of ALPHABETS."""
    return "".join(rng.choices(ALPHABETS[alphabet], k=length))


def fill(rng: Random, pattern: str) -> str:
    """Return the pattern with each of its holes filled."""

    def hole(found: re.Match[str]) -> str:
        alphabet, length, named = found.groups()
        if named:
            return {"uuid": uuid, "pass": password, "jwt": jwt, "word": word}[named](rng)
        return run(rng, alphabet, int(length))

    return _HOLE.sub(hole, pattern)


def word(rng: Random) -> str:
    """Return a word of the dictionary."""
    return rng.choice(_WORDS)


def uuid(rng: Random) -> str:
    """Return a random uuid, version 4."""
    h = run(rng, "h", 30)
    return f"{h[:8]}-{h[8:12]}-4{h[12:15]}-{rng.choice('89ab')}{h[15:18]}-{h[18:30]}"


def password(rng: Random) -> str:
    """Return a password as people and password managers make them; safe inside a URL or quotes."""
    match rng.randrange(5):
        case 0:
            return word(rng).capitalize() + run(rng, "d", 4) + rng.choice("!*.")
        case 1:
            return "-".join(word(rng) for _ in range(4)) + run(rng, "d", 2)
        case 2:
            return run(rng, "A", rng.randrange(14, 25))
        case 3:
            return word(rng).replace("o", "0").replace("e", "3").capitalize() + (
                "_" + run(rng, "A", 3) + run(rng, "d", 3) + "!"
            )
        case _:
            marks = "".join(rng.choices("!*-_.~", k=3))
            mixed = list(run(rng, "A", 13) + marks)
            rng.shuffle(mixed)
            return run(rng, "C", 1) + "".join(mixed) + run(rng, "A", 1)


def b64(raw: bytes) -> str:
    """Return base64 as files hold it."""
    return base64.b64encode(raw).decode()


def jwt(rng: Random, **claims: str) -> str:
    """Return a signed token of three parts."""

    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    body = claims or {"sub": run(rng, "d", 10), "role": word(rng)}
    return ".".join(
        (part({"alg": "HS256", "typ": "JWT"}), part({**body, "iat": 17e8}), run(rng, "b", 43))
    )
