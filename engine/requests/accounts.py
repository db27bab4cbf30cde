"""Accounts, who pays for the agents' turns, and the vault their secrets lie in.

Neighbours: stores/vault.py keeps, rules/fleet.py decides.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence

from engine.codec import whole
from engine.errors import Refused
from engine.requests.inside import Inside
from engine.rules.events import AccountAdded, AccountRemoved
from engine.rules.words import Account
from stores.vault import NotOpened, Vault

ACCOUNT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
AGENTS = ("claude", "rehearsal")


class Accounts(Inside):
    """Requests about accounts and secrets."""

    async def accounts(self) -> tuple[Account, ...]:
        return self._fleet().accounts

    async def add_account(
        self,
        name: str,
        agent: str,
        command: str = "",
        config_dir: str = "",
        env: Sequence[tuple[str, str]] = (),
        secret_env: Sequence[str] = (),
        cause: str = "",
    ) -> str:
        if not ACCOUNT.fullmatch(name):
            raise Refused(
                f"{whole(name)!r} cannot be an account's name: letters, digits, dots and hyphens, at "
                "most 40, a letter or digit first."
            )
        if agent not in AGENTS:
            raise Refused(f"No agent called {agent} can be driven yet: {', '.join(AGENTS)}.")
        account = Account(
            name=name,
            agent=agent,
            command=command,
            config_dir=config_dir,
            env=tuple((key, value) for key, value in env),
            secret_env=tuple(secret_env),
        )
        await self._loop.post("fleet", AccountAdded(account=account), cause)
        return name

    async def remove_account(self, name: str, cause: str = "") -> str:
        account = self._fleet().account(name)
        await self._loop.post("fleet", AccountRemoved(name=name), cause)
        for key in account.secret_env if account else ():
            await self._keys().forget(f"account/{name}/{key}")
        return name

    def _keys(self) -> Vault:
        if self._vault is None:
            raise Refused("There is no vault yet. Run `quarterdeck setup` first.")
        return self._vault

    def _open(self, sealed: bytes) -> bytes:
        if self._opener is None:
            raise Refused("There is no vault yet. Run `quarterdeck setup` first.")
        try:
            return self._opener.open(sealed)
        except NotOpened as no:
            raise Refused(str(no)) from no

    async def keep_secret(self, name: str, sealed: bytes | str, cause: str = "") -> dict[str, str]:
        """Keep what was sealed for us: {"name": where it is kept}."""
        body = base64.b64decode(sealed) if isinstance(sealed, str) else sealed
        value = self._open(body).decode("utf-8", "replace")
        kept = await self._keys().put(
            name, value, self._clock(), replace=name.startswith("account/")
        )
        return {"name": kept}

    async def unseal(self, sealed: bytes) -> bytes:
        """Open an update the bot sealed before it was last ended."""
        return self._open(sealed)

    async def secret(self, name: str) -> str:
        """A value of the vault, for a run that was given it by name."""
        value = await self._keys().get(name)
        if value is None:
            raise Refused(f"The vault holds no {name}: add the account again.")
        return value
