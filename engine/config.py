"""config.toml: only what is needed to start. All the phone can change is ledger state instead.

    api_url = "https://api.telegram.org"
    owner_ids = [42]         # or, until somebody pressed the pairing link: pairing = true

Never a secret (those lie in secrets/), never a path (those are paths.py's). A mistake here is the
owner's to mend, so every complaint is a sentence that says which line to change and to what.
"""

import difflib
import os
import tomllib
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from engine.errors import Refused
from engine.paths import Home

TELEGRAM = "https://api.telegram.org"
NO_OWNER = (
    "`owner_ids` must list at least one numeric Telegram user id, such as "
    "owner_ids = [123456789]. Nobody commands without it, so nothing starts."
)


class ConfigError(Refused):
    """config.toml says something we will not start with."""


class Config(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What both processes must know before they can ask the ledger anything."""

    # Numeric ids and at least one: an empty list once meant that anybody could command. None at all
    # goes only with `pairing`, and then the bot hears nothing but a code made on this machine.
    owner_ids: Annotated[tuple[Annotated[int, Meta(gt=0)], ...], Meta(min_length=1)] = ()
    api_url: str = TELEGRAM
    pairing: bool = False


def load(home: Home) -> Config:
    """Read config.toml.

    raises  ConfigError with a sentence an owner can act on
    """
    try:
        text = home.config.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(
            f"There is no {home.config}. Run `quarterdeck setup` first, or set QUARTERDECK_HOME "
            "to the folder of an existing one."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{home.config} cannot be read: {error}") from error
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{home.config} is not TOML: {error}") from error
    return check(found, home.config)


def check(found: dict[str, Any], where: Path) -> Config:
    """Return the config a table holds, or refuse it with a sentence that names `where`."""
    known = list(Config.__struct_fields__)
    for key in found:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.4)
            hint = f"did you mean `{near[0]}`?" if near else f"known keys: {', '.join(known)}."
            raise ConfigError(f"{where}: there is no key `{key}`; {hint}")
    try:
        config = msgspec.convert(found, Config)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {_sentence(error)}") from error
    if not config.owner_ids and not config.pairing:
        raise ConfigError(f"{where}: {NO_OWNER}")
    if why := _not_plain(config.api_url):
        raise ConfigError(f"{where}: `api_url` {why}.")
    return msgspec.structs.replace(config, api_url=config.api_url.rstrip("/"))


def _not_plain(address: str) -> str:
    """Return what is wrong with an address; "" if nothing is."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "must be an address"
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return "must be an http:// or https:// address"
    if parts.username or parts.query or parts.fragment:
        return "must be a bare address, with nothing secret in it"
    return ""


def save(home: Home, config: Config) -> None:
    """Write config.toml whole or not at all, readable by its owner only."""
    owners = ", ".join(str(owner) for owner in config.owner_ids)
    text = (
        "# Only what Quarterdeck needs to start; all else is set from the phone.\n"
        f'api_url = "{config.api_url}"\n'
    ) + (f"owner_ids = [{owners}]\n" if config.owner_ids else "pairing = true\n")
    whose = {"owner_ids": list(config.owner_ids)} if config.owner_ids else {"pairing": True}
    if tomllib.loads(text) != {"api_url": config.api_url, **whose}:
        raise ConfigError(f"`api_url` cannot be written down: {config.api_url!r}")
    write_private(home.config, text)


def write_private(path: Path, text: str) -> None:
    """Put `text` in a 0600 file by one rename, so that no reader ever sees half of it."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    half.unlink(missing_ok=True)
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    half.replace(path)


def owner_id(text: str) -> int:
    """Return the numeric Telegram id that `text` spells; a @name is not one."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ConfigError(
            f"`{text}` is not a Telegram user id. It is a number such as 123456789; a bot like "
            "@userinfobot tells you yours."
        )
    return int(text)


def _sentence(error: msgspec.ValidationError) -> str:
    if "`$.api_url`" in str(error):
        return "`api_url` must be an http:// or https:// address."
    if "`$.pairing`" in str(error):
        return "`pairing` is true until somebody pressed the pairing link; else it is left out."
    return NO_OWNER
