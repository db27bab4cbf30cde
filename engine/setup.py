"""The first words between this machine, a bot and its owner: what `quarterdeck setup` does.

Leaves a home with a config, a bot token, the vault's two keys and a recovery code for them, and is safe
to repeat: keys that are there stay, since what they sealed could be opened by no others. Asking the person is cli.py's.
"""

import json
import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from engine.config import Config, ConfigError, load, save, write_private
from engine.errors import Refused, Unavailable
from engine.paths import Home

TOKEN = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{1,100}")
ANSWER_S = 15.0
SOCKET_MAX = 107  # bytes a Linux socket's path may have; macOS takes 103


@dataclass(frozen=True)
class Bot:
    """What Telegram says of the bot a token belongs to."""

    name: str
    topics: bool  # private-chat topics are switched on, so that each goal can have one


def token(text: str) -> str:
    """Return the bot token that `text` holds. Never says it back."""
    found = text.strip()
    if not TOKEN.fullmatch(found):
        raise Refused(
            "That is no bot token. It looks like 123456789:AAH4…, in one line; @BotFather gives "
            "you one with /newbot, or shows an existing one with /mybots."
        )
    return found


def ask_telegram(api_url: str, bot_token: str) -> Bot:
    """Call getMe once.

    raises  Refused when the service does not know the token, Unavailable when there is no answer
    """
    host = urlsplit(api_url).netloc
    # The address holds the token: it must appear in no message, so errors are told by their reason.
    request = urllib.request.Request(f"{api_url}/bot{bot_token}/getMe", method="POST", data=b"")
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_S) as response:
            found = json.load(response)["result"]
    except urllib.error.HTTPError as error:
        error.close()  # it is an answer too, with a socket of its own
        if error.code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND}:
            raise Refused(
                f"{host} does not know this bot token. Copy it again from @BotFather, or "
                "revoke it there and take the new one."
            ) from None
        raise Unavailable(f"{host} answered {error.code} {error.reason}; try again.") from None
    except (OSError, ValueError, KeyError) as error:
        reason = getattr(error, "reason", error)
        raise Unavailable(
            f"No answer from {host} ({reason}). Is this machine online? "
            "`setup --offline` goes on without asking."
        ) from None
    return Bot(f"@{found.get('username', '?')}", bool(found.get("has_topics_enabled", False)))


def owners(home: Home) -> tuple[int, ...]:
    """Return who commands already: a token that is replaced changes nothing about that."""
    try:
        return load(home).owner_ids
    except ConfigError:
        return ()


def fits(home: Home) -> None:
    """Refuse a home whose socket nobody could open."""
    if len(bytes(home.engine_sock)) > SOCKET_MAX:
        raise Refused(
            f"{home.root} is too long a path for a socket to lie in. Set QUARTERDECK_HOME to a "
            f"shorter one ({SOCKET_MAX - len('/engine.sock')} bytes at most)."
        )


def write(home: Home, config: Config, bot_token: str) -> None:
    """Make the home and put config, token and keys into it."""
    from stores.sealing import NotOpened, create_keys

    fits(home)
    home.make()
    try:
        create_keys(home)
    except NotOpened as error:
        raise Refused(error.sentence) from error
    write_private(home.bot_token, bot_token + "\n")
    save(home, config)  # last: with a config there, everything else is there too


def recovery_code(home: Home, *, anew: bool = False) -> str:
    """Return a new recovery code, "" if there is one already; `anew`: in its place.

    The only moment it is known here: what stays is the vault's key as the code opens it.
    """
    from stores.recovery import close, new_code
    from stores.sealing import NotOpened, master_key, write_key

    if home.recovery.exists() and not anew:
        return ""
    code = new_code()
    try:
        write_key(home.recovery, close(code, master_key(home)))
    except NotOpened as error:
        raise Refused(error.sentence) from error
    return code
