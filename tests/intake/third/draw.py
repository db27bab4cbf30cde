"""Values in the shape of real keys, checksums too, from a seeded generator: nobody ever had one of them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import random
import string
import uuid
import zlib

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = DIGITS + UPPER + LOWER
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
BASE32 = UPPER + "234567"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


class Maker:
    """Draws what one kind needs, always in the same order."""

    def __init__(self, seed: str) -> None:
        self.luck = random.Random(seed)

    def of(self, letters: str, count: int) -> str:
        return "".join(self.luck.choice(letters) for _ in range(count))

    def raw(self, count: int) -> bytes:
        return bytes(self.luck.randrange(256) for _ in range(count))

    def hex(self, count: int) -> str:
        return self.of(HEX, count)

    def alnum(self, count: int) -> str:
        return self.of(ALNUM, count)

    def urlsafe(self, count: int) -> str:
        return self.luck.choice(ALNUM) + self.of(URLSAFE, count - 2) + self.luck.choice(ALNUM)

    def b64(self, count: int) -> str:
        return base64.b64encode(self.raw(count)).decode()

    def b64url(self, data: bytes) -> str:
        return base64.urlsafe_b64encode(data).decode().rstrip("=")

    def uuid(self) -> str:
        return str(uuid.UUID(bytes=self.raw(16), version=4))

    # ---- with a checksum

    def crc62(self, prefix: str, entropy: int = 30) -> str:
        """GitHub's and npm's: the last six are the CRC of what stands behind the prefix."""
        body = self.alnum(entropy)
        return prefix + body + _base62(zlib.crc32(body.encode()), 6)

    def matrix(self) -> str:
        name = base64.b64encode(self.luck.choice(("anna", "bot", "notify", "ci")).encode()).decode()
        body = f"syt_{name.rstrip('=')}_{self.of(string.ascii_letters, 20)}"
        return f"{body}_{_base62(zlib.crc32(body.encode()), 6)}"

    def crc_hex(self, body: str, upper: bool = False) -> str:
        said = f"{zlib.crc32(body.encode()):08x}"
        return said.upper() if upper else said

    def bech32(self, prefix: str, count: int) -> str:
        bits = "".join(f"{byte:08b}" for byte in self.raw(count))
        bits += "0" * (-len(bits) % 5)
        data = [int(bits[i : i + 5], 2) for i in range(0, len(bits), 5)]
        spread = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
        mod = _polymod(spread + data + [0] * 6) ^ 1
        data += [(mod >> 5 * (5 - i)) & 31 for i in range(6)]
        return prefix + "1" + "".join(BECH32[d] for d in data)

    def wif(self) -> str:
        data = b"\x80" + self.raw(32) + b"\x01"
        data += hashlib.sha256(hashlib.sha256(data).digest()).digest()[:4]
        number, text = int.from_bytes(data, "big"), ""
        while number:
            number, rest = divmod(number, 58)
            text = BASE58[rest] + text
        return text

    def jwt(self, **claims: object) -> str:
        head = self.b64url(
            json.dumps({"alg": "HS256", "typ": "JWT"}, separators=(",", ":")).encode()
        )
        about = {"sub": self.of(DIGITS, 10), "iat": 1_700_000_000 + self.luck.randrange(9_000_000)}
        body = self.b64url(json.dumps(about | claims, separators=(",", ":")).encode())
        signed = hmac.new(self.raw(32), f"{head}.{body}".encode(), "sha256").digest()
        return f"{head}.{body}.{self.b64url(signed)}"

    # ---- blocks

    def pem(self, kind: str, count: int, head: bytes = b"") -> str:
        text = base64.b64encode(head + self.raw(count - len(head))).decode()
        width = 70 if kind == "OPENSSH PRIVATE KEY" else 64
        lines = [text[i : i + width] for i in range(0, len(text), width)]
        return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"])

    def pgp(self) -> str:
        data = b"\x95\x03\x98\x04" + self.raw(500)
        crc = 0xB704CE
        for byte in data:
            crc ^= byte << 16
            for _ in range(8):
                crc <<= 1
                if crc & 0x1000000:
                    crc ^= 0x1864CFB
        text = base64.b64encode(data).decode()
        lines = [text[i : i + 64] for i in range(0, len(text), 64)]
        check = "=" + base64.b64encode((crc & 0xFFFFFF).to_bytes(3, "big")).decode()
        begin, end = (f"-----{word} PGP PRIVATE KEY BLOCK-----" for word in ("BEGIN", "END"))
        return "\n".join([begin, "", *lines, check, end])

    # ---- what people make up

    def password(self) -> str:
        """One that a manager made."""
        while True:
            made = self.of(ALNUM + "!#%+*?$-_=", self.luck.randrange(12, 21))
            kinds = (any(c in k for c in made) for k in (LOWER, UPPER, DIGITS, "!#%+*?$-_="))
            if all(kinds) and made[0] in ALNUM and made[-1] in ALNUM:
                return made

    def home_made(self) -> str:
        """One that a person made up."""
        words = (
            "Sommer",
            "tiger",
            "Kaffee",
            "blue",
            "Montreal",
            "Regen",
            "sunset",
            "zapato",
            "lapin",
            "Berg",
            "Fluss",
            "rocket",
            "Sonne",
            "naranja",
            "pepper",
            "Nebel",
            "turtle",
            "violin",
        )
        first, second = self.luck.sample(words, 2)
        number, sign = self.luck.randrange(10, 9999), self.luck.choice("!#?$%&*+")
        forms = (
            f"{first}{second}{number}{sign}",
            f"{first}{sign}{number}{second}",
            f"{first}-{second}-{number}{sign}",
            f"{first.capitalize()}{number}{sign}{second}",
        )
        return self.luck.choice(forms)

    def spaced(self) -> str:
        return " ".join(self.of(LOWER, 4) for _ in range(4))


def _base62(number: int, width: int) -> str:
    text = ""
    while number:
        number, rest = divmod(number, 62)
        text = ALNUM[rest] + text
    return text.rjust(width, "0")


def _polymod(values: list[int]) -> int:
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for i, g in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            check ^= g if (top >> i) & 1 else 0
    return check
