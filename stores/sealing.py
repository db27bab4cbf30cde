"""The sealed box: anybody with the public key can close it, only the private key opens it.

A pasted key is closed into one before it is first written anywhere (bot/inbox.py); the engine,
which alone reads the private half, opens it into the vault (vault.py). Ephemeral X25519, HKDF and
ChaCha20-Poly1305; each box has a key of its own, so the nonce may be constant.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

MARK = b"qd1"
KEY_BYTES = 32
GIVEN = "vault.key"  # the name of systemd's credential
_NONCE = bytes(12)


class NotOpened(Exception):
    """What was sealed or stored cannot be read with this key; the sentence says what to do."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class KeyFiles(Protocol):
    """Where the two halves lie; engine/paths.py's Home is one."""

    @property
    def vault_key(self) -> Path: ...
    @property
    def vault_pub(self) -> Path: ...


def create_keys(home: KeyFiles) -> None:
    """Make the pair once, the private half readable by its owner only; never replaces a key."""
    if given_key() is None and not home.vault_key.exists():
        if home.vault_pub.exists():
            raise NotOpened(
                f"{home.vault_pub} is there without its {home.vault_key.name}: a new key would open "
                "nothing the vault holds. Bring the key back, or have systemd give it (docs/service.md)."
            )
        _write(home.vault_key, X25519PrivateKey.generate().private_bytes_raw(), 0o600)
    write_public(home, master_key(home))


def write_public(home: KeyFiles, private: bytes) -> None:
    """Write the half that anybody may have."""
    _write(home.vault_pub, Opener(private).public, 0o644)


def given_key() -> Path | None:
    """Return the key that systemd gives this process as a credential, if it does."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY", "")
    path = Path(folder, GIVEN)
    return path if folder and path.exists() else None


def has_key(home: KeyFiles) -> bool:
    """Return whether there is a private half for this process to read."""
    return given_key() is not None or home.vault_key.exists()


def master_key(home: KeyFiles) -> bytes:
    """Return the private half: systemd's credential, else the file.

    raises  NotOpened when there is none, it is no key, or the two are not the same
    """
    given = given_key()
    if given is None:
        return read_key(home.vault_key)
    key = read_key(given)
    if home.vault_key.exists() and read_key(home.vault_key) != key:
        raise NotOpened(
            f"systemd gives another key than lies in {home.vault_key}: take away the one the vault was "
            "not closed with."
        )
    return key


def read_key(path: Path) -> bytes:
    """Return a key file's bytes.

    raises  NotOpened when it is missing or not a key
    """
    try:
        key = path.read_bytes()
    except OSError as error:
        raise NotOpened(
            f"{path} cannot be read ({error.strerror}): run `quarterdeck setup`."
        ) from None
    if len(key) != KEY_BYTES:
        raise NotOpened(f"{path} is not a key of the vault: bring back the one from your backup.")
    return key


def seal(public: bytes, plain: bytes) -> bytes:
    """Return `plain` closed for whoever holds the private half of `public`."""
    once = X25519PrivateKey.generate()
    shared = once.exchange(X25519PublicKey.from_public_bytes(public))
    head = once.public_key().public_bytes_raw()
    return MARK + head + _cipher(shared, head + public).encrypt(_NONCE, plain, MARK)


class Opener:
    """Holds the private half, and earlier ones: what was sealed for those opens as well."""

    def __init__(self, private: bytes, earlier: Sequence[bytes] = ()) -> None:
        self._earlier = [Opener(one) for one in earlier]
        self._private = X25519PrivateKey.from_private_bytes(private)
        self.public = self._private.public_key().public_bytes_raw()

    def open(self, sealed: bytes) -> bytes:
        """Return what was sealed.

        raises  NotOpened when it was sealed for another key, or was changed
        """
        head, body = sealed[len(MARK) : len(MARK) + KEY_BYTES], sealed[len(MARK) + KEY_BYTES :]
        try:
            if not sealed.startswith(MARK):
                raise ValueError("no sealed box")
            shared = self._private.exchange(X25519PublicKey.from_public_bytes(head))
            return _cipher(shared, head + self.public).decrypt(_NONCE, body, MARK)
        except (InvalidTag, ValueError):
            for one in self._earlier:
                with suppress(NotOpened):
                    return one.open(sealed)
            raise NotOpened(
                "This was sealed for another vault key or has been changed; it cannot be opened."
            ) from None

    def derive(self, purpose: bytes) -> bytes:
        """Return a key for one purpose, the same one each time."""
        return HKDF(SHA256(), KEY_BYTES, None, purpose).derive(self._private.private_bytes_raw())


def _cipher(shared: bytes, salt: bytes) -> ChaCha20Poly1305:
    return ChaCha20Poly1305(HKDF(SHA256(), KEY_BYTES, salt, b"sealed box").derive(shared))


def write_key(path: Path, content: bytes) -> None:
    """Write a file that its owner alone reads, whole or not at all."""
    _write(path, content, 0o600)


def _write(path: Path, content: bytes, mode: int) -> None:
    """Write a file by one rename, so that a half-written key is never found."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.{os.getpid()}")
    half.unlink(missing_ok=True)
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    half.replace(path)
