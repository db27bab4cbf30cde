"""A key after it came: given by name at a prompt, called otherwise, or found to be no secret after all.

    typed at /keys, Add ─> add_key          a message held one ─> kept ─> rename_key | no_secret | forget_key
                                            its rest, in the next one ─> kept ─> join_keys

What is renamed or was no secret is told to the session that heard of it by its name; nothing is told twice.
Neighbours: keys.py (listed, given a scope, forgotten), accounts.py (pasted ones kept), bot/key_panel.py.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from functools import cached_property
from typing import Final

from engine import board
from engine.codec import whole
from engine.errors import Refused
from engine.requests.accounts import Accounts
from engine.requests.key_use import is_variable
from engine.requests.keys import Keys
from engine.requests.taps import Taps
from engine.rules import ask as ask_rule
from engine.rules import news
from engine.rules.owner import LOCKED
from engine.views import KeyView, WorkerCard
from stores.vault import NotOpened

NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{1,39}")
SHORTEST: Final = 4
# After that a key is not given back: whoever holds the phone may be another.
WITHIN_S: Final = 86_400.0
NOT_A_NAME: Final = (
    "A key's name is 2 to 40 letters, digits and _, a letter first: STRIPE_KEY. Nothing was kept."
)


class GivenKeys(Taps, Accounts, Keys):
    """Requests about keys that came by the phone."""

    @cached_property
    def _one_key(self) -> asyncio.Lock:
        """What is looked at before it is changed must still be so when it is."""
        return asyncio.Lock()

    async def may_add_key(self, name: str) -> dict[str, str]:
        """Refuse what cannot be a key's name: {"name": as it would be kept, "scope", "known"}."""
        if self._owner().locked_at:
            raise Refused(LOCKED)
        new = _tidy(name)
        known = await self._named(new)
        return {
            "name": new,
            "scope": known.scope if known else "",
            "known": str(known.version) if known else "",
        }

    async def add_key(
        self, name: str, scope: str, sealed: bytes | str, fresh: bool = False, cause: str = ""
    ) -> dict[str, str]:
        """Keep what was typed under the name it was asked for: {"verdict": words, "name", "scope"}.

        fresh   no key is changed by it: where another has that name, it takes the next that is free
        """
        new = _tidy(name)
        self._there(scope)
        body = base64.b64decode(sealed) if isinstance(sealed, str) else sealed
        value = self._open(body).decode("utf-8", "replace")
        if len(value) < SHORTEST:
            raise Refused(
                f"{SHORTEST} characters are the least: one so short would be taken out of every text."
            )
        vault = self._of_vault()
        new = await self._into_vault(new, value, cause, replace=not fresh, scope=scope)
        if await vault.scope(new) != scope:
            await vault.move(new, scope)
        return {"verdict": "", "name": new, "scope": scope}

    async def rename_key(
        self, name: str, new: str, goal: str = "", card: str = "", cause: str = ""
    ) -> dict[str, str]:
        """Call a key otherwise, and tell the session that knows it: {"verdict": words, "name"}."""
        after = _tidy(new)
        async with self._one_key:
            known, other = await self._named(name), await self._named(after)
            ours = await self._ledger.decided(cause)  # asked again, perhaps after it was done
            if known is None and not (ours and other):
                raise Refused(f"The vault holds no {whole(name)}. /keys lists what it holds.")
            self._is_free(known)
            if known is not None and (other is not None or after == name):
                raise Refused(f"There is a key named {after} already: take another name.")
            await self._decided(f"{name} in the vault is named {after}", cause)
            await self._end_rules_of(name, cause)
            try:
                await self._of_vault().rename(name, after)
            except NotOpened as no:
                raise Refused(no.sentence) from no
        goal = goal or ("" if card else self._heard_by(name))
        told = await self._tell(goal, card, news.key_renamed(name, after), f"{cause}.told")
        also = " Its session is told." if told else ""
        return {"verdict": f"{name} is called {after} now.{also}", "name": after}

    async def join_keys(self, name: str, rest: str, cause: str = "") -> dict[str, str]:
        """Put the rest of a key that came in two messages behind its first half: {"verdict": words}."""
        async with self._one_key:
            known, other = await self._named(name), await self._named(rest)
            said = f"{name} is one key now: what came in two messages is joined."
            if known is not None and other is None and await self._ledger.decided(cause):
                return {"verdict": said}  # asked again, after it was done
            if known is None or other is None:
                gone = whole(name if known is None else rest)
                raise Refused(f"The vault holds no {gone} any more: send the whole key once more.")
            for one in (known, other):
                self._is_free(one)
            vault = self._of_vault()
            try:
                first, last = await vault.get(name) or "", await vault.get(rest) or ""
            except NotOpened as no:
                raise Refused(no.sentence) from no
            before = await self._ledger.decided(cause) and first.endswith(last)
            await self._decided(f"{rest} in the vault is joined to {name}", cause)
            await self._end_rules_of(rest, cause)
            if not before:
                await vault.put(name, first + last, self._clock(), replace=True)
            await vault.forget(rest)
        return {"verdict": said}

    async def no_secret(
        self, name: str, goal: str = "", card: str = "", cause: str = ""
    ) -> dict[str, str]:
        """Forget what was no secret, and give it to its session: {"verdict": words, "digest"}.

        digest   of the text, so that it is not taken for a secret again; "" if this was done before
        """
        async with self._one_key:
            value = await self._unused(name, cause)
            digest = hashlib.sha256(value.encode()).hexdigest() if value else ""
            goal = goal or ("" if card else self._heard_by(name))
            told = await self._tell(goal, card, news.no_secret(name, value), f"{cause}.told")
            await self._decided(f"no secret, and forgotten in the vault: {name}", cause)
            await self._end_rules_of(name, cause)
            await self._of_vault().forget(name)
        said = (
            "Its session has the text now, as it was."
            if told
            else "No session waits for it: send the text again where it belongs, and it is heard."
        )
        return {"verdict": f"{name} was no secret: it is forgotten. {said}", "digest": digest}

    async def _unused(self, name: str, cause: str) -> str:
        """Return what a key stands for that nobody used; "" where it was forgotten for this cause."""
        known = await self._named(name)
        if known is None:
            if await self._ledger.decided(cause):
                return ""
            raise Refused(f"The vault holds no {whole(name)} any more.")
        self._is_free(known)
        if known.used_at:
            raise Refused(
                f"{name} was used by a command already: it stays a secret. Forget it, or not."
            )
        if self._clock() - known.kept_at > WITHIN_S:
            raise Refused(
                f"{name} was stored more than a day ago: forget it, and send the text again."
            )
        try:
            return await self._of_vault().get(name) or ""
        except NotOpened as no:
            raise Refused(no.sentence) from no

    async def _named(self, name: str) -> KeyView | None:
        return next((view for view in await self.keys() if view.name == name), None)

    def _is_free(self, known: KeyView | None) -> None:
        if known is not None and known.account:
            raise Refused(f"{known.name} signs account {known.account} in: see /accounts.")

    def _heard_by(self, name: str) -> str:
        """Return the one live goal in whose words a name stands, or in a line sent to it; "" for none.

        For what was written where no session is spoken to: which it was for came out only then.
        """
        mark = f"{{{{{name}}}}}"
        live = {found.id: found for found in board.goals(self.world()) if found.live}
        found = {goal.id for goal in live.values() if mark in goal.text}
        for asked in self._loop.states("ask").values():
            if isinstance(asked, ask_rule.Ask) and mark in asked.detail and not asked.goal:
                kind, _, goal = dict(asked.options).get(asked.text, "").partition(":")
                found |= {goal} & set(live) if kind == "goal" else set()
        return found.pop() if len(found) == 1 else ""

    async def _tell(self, goal: str, card: str, text: str, cause: str) -> bool:
        """Say something to the session that a message was for; return whether one has it."""
        if await self._ledger.knows(cause):
            return True
        shown = self._cards.get(card)
        asked = self._loop.state(f"ask/{card}") if card else None
        try:
            if isinstance(shown, WorkerCard):
                await self._to_worker(shown, text, cause)
            elif isinstance(asked, ask_rule.Ask) and asked.teller.startswith("session/"):
                await self._to_session(asked.teller.partition("/")[2], text, cause)
            elif goal or (shown is not None and shown.goal):
                await self._to_lead(goal or (shown.goal if shown else ""), text, cause)
            else:
                return False
        except Refused:
            return False  # it is over: what was asked for is done all the same
        return True


def _tidy(name: str) -> str:
    found = name.strip().removeprefix("{{").removesuffix("}}").strip()
    if not NAME.fullmatch(found):
        raise Refused(NOT_A_NAME)
    if not is_variable(found.upper()):
        raise Refused(f"No command could be given a key called {found.upper()}: take another name.")
    return found.upper()
