"""The private keys this box signs in with, kept in the vault beside the owner's and apart from them.

    forge/<project>   scope forge/<address>: a forge takes a key for one repository, and so do we
    machines/key      scope machines/any: one for all computers of the owner's

No run and no session gets one (stores/vault.py: OWN), /keys only names them, and the last net takes them out
of all that is shown. Neighbours: keypair.py makes them, deploy_keys.py and ssh.py sign in, key_files.py
brings those of earlier releases here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from engine.adapters import keypair
from stores.vault import NotOpened, Vault

MACHINES: Final = "machines/key"
ANY: Final = "any"

NO_VAULT: Final = (
    "the vault's own key is not there. Bring secrets/vault.key back, or have systemd give it, and start "
    "Quarterdeck again"
)
NOT_THIS_KEY: Final = (
    "the vault does not open it: another vault.key is in place, or it was changed on disk. Bring the right "
    "vault.key back and start Quarterdeck again"
)


def forge(project: str) -> str:
    """Return the name of a project's key."""
    return f"forge/{project}"


class OwnKeys:
    """All of a box's own keys.

    vault   None while there is no key to it
    """

    def __init__(self, vault: Vault | None, clock: Callable[[], float]) -> None:
        self._vault = vault
        self._clock = clock
        self._making = asyncio.Lock()  # two who ask at once are shown the same key

    async def private(self, name: str, where: str) -> str:
        """Return the key of that name if it is for there, "" if there is none.

        raises  NotOpened: it cannot be had just now; the sentence says why, and what to do
        """
        if self._vault is None:
            raise NotOpened(NO_VAULT)
        if await self._vault.scope(name) != _scope(name, where):
            return ""
        try:
            return await self._vault.get(name) or ""
        except NotOpened as no:
            raise NotOpened(NOT_THIS_KEY) from no

    async def has(self, name: str, where: str) -> bool:
        """Return whether there is such a key, and it opens."""
        try:
            return bool(await self.private(name, where))
        except NotOpened:
            return False

    async def make(self, name: str, where: str, comment: str) -> str:
        """Return the key's public line; one is made if there is none for this place.

        raises  NotOpened: what is there does not open, or there is no vault to keep it in
        """
        async with self._making:
            private = await self.private(name, where)
            if not private and self._vault is not None:
                await self._vault.forget(name)  # one for another place
                private, scope = keypair.made(), _scope(name, where)
                await self._vault.put(name, private, self._clock(), scope=scope, replace=True)
            return keypair.public_line(private, comment)

    async def keep(self, name: str, where: str, private: str) -> None:
        """Keep a key that was made elsewhere, in the place of what is there."""
        if self._vault is None:
            raise NotOpened(NO_VAULT)
        scope, there = _scope(name, where), await self._vault.scope(name)
        _, _, place = there.partition("/")
        await self.private(name, place)  # one that does not open is not covered up
        await self._vault.put(name, private, self._clock(), scope=scope, replace=True)
        if await self._vault.scope(name) != scope:  # the same key, for another place
            await self._vault.move(name, scope)

    async def forget(self, name: str) -> bool:
        """Throw a key away; return whether there was one."""
        return self._vault is not None and await self._vault.forget(name)


def _scope(name: str, where: str) -> str:
    return f"{name.partition('/')[0]}/{where}"
