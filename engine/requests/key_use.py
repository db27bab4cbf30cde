"""Keys of the vault as commands are given them: which there are for a session, and their values for one run.

What signs an account in is never among them. Nobody asks for this over the socket: the values go to
engine/adapters/keyed.py, the names to engine/calls.py. Neighbours: keys.py (as their owner sees them).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Final

from engine.adapters.keyed import MOST_BYTES
from engine.errors import Refused
from engine.requests.inside import Inside
from engine.requests.keys import ACCOUNT
from engine.wanted_keys import STEERS, steers
from stores.vault import NotOpened, Secret, is_own

log = logging.getLogger(__name__)

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


class KeyUse(Inside):
    """What commands are given of the vault."""

    async def key_names(self) -> tuple[Secret, ...]:
        """Every key that some command may be given; no value."""
        if self._vault is None:
            return ()
        return tuple(kept for kept in await self._vault.listed() if is_variable(kept.name))

    async def keyed(
        self, names: Sequence[str], project: str, machine: str, *, used: bool
    ) -> dict[str, str]:
        """Return the values; `used` False: of those that still are there, whoever may use them."""
        found: dict[str, str] = {}
        for name in names:
            if used and steers(name):
                raise Refused(STEERS.format(name=name))
            try:
                value = await self._value(name, project, machine, used=used)
            except NotOpened as no:
                if used:
                    raise Refused(no.sentence) from no
                log.info("not looked for once more key=%s: it does not open", name)
                continue
            if value is not None:
                found[name] = value
            elif used:
                raise Refused(f"The vault holds no {name} any more: the owner forgot it.")
        return found

    async def _value(self, name: str, project: str, machine: str, *, used: bool) -> str | None:
        if self._vault is None or not is_variable(name):
            return None
        if not used:
            return await self._vault.get(name)
        value = await self._vault.use(name, self._clock(), project=project, machine=machine)
        if value is not None and ("\0" in value or len(value.encode()) > MOST_BYTES):
            raise Refused(f"{name} cannot be given to a command: it is too long, or no text.")
        return value


def is_variable(name: str) -> bool:
    """Whether a key's name can be that of a variable a command is given, and changes nothing else."""
    if name.startswith(ACCOUNT) or is_own(name) or not _VARIABLE.fullmatch(name):
        return False
    return not steers(name)
