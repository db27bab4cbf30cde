"""The last net over all the engine hands out or logs: the values its vault holds, and the bot's token.

    vault ── changed ──> Net ── line ──> api/server.py: every answer, card and note
                          └──── clean ─> every log record, and the traceback it dies with

The bot has no key to the vault, so what it is told must be clean already; its own door is bot/masks.py.
Neighbours: stores/scrub.py (what is found, and in which forms), stores/unlogged.py (logs).
"""

from __future__ import annotations

from typing import Final

from engine.paths import Home
from stores.scrub import Net
from stores.vault import Vault

BOT_TOKEN: Final = "the bot's token"
# What a tap or a reader names things by: not text, and to be heard again as it was told.
NAMES: Final = frozenset({"id", "card", "goal", "revision", "held", "cause"})


class LastNet:
    """What is known to be secret now; nothing, until it is opened."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._net = Net()

    async def open(self, vault: Vault | None) -> None:
        """Know all that a vault holds, from now on and whenever that changes."""

        async def learn() -> None:
            values = await vault.values() if vault is not None else []
            self._net = Net([*values, *self._token()])

        await learn()
        if vault is not None:
            vault.on_change = learn

    def _token(self) -> list[tuple[str, str]]:
        try:
            token = self._home.bot_token.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return []
        return [(BOT_TOKEN, token), (BOT_TOKEN, token.partition(":")[2])]

    def clean(self, text: str) -> str:
        """Return a text without them."""
        return self._net.clean(text)

    def line(self, line: bytes) -> bytes:
        """Return a line of the socket without them."""
        return self._net.clean_line(line, NAMES)

    def holds(self, data: bytes) -> bool:
        """Return whether a file holds one of them in some form."""
        return bool(self._net.held(data.decode("utf-8", "replace")))
