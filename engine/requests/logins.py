"""Logins from the phone: begun, answered with what was typed, cancelled.

What was typed is opened here and goes straight to the terminal that waits for it: no event, no log, no
file holds it. So it is noted as typed only once the terminal has it. Asked again, its node knows whether it
was; a node or an engine that died has ended the login, which is said. Neighbours: rules/logins.py decides, engine/sign_ins.py follows, accounts.py has the vault.
"""

from __future__ import annotations

import base64
import contextlib
import logging

from engine.adapters import sign_in
from engine.adapters.machines import NodeRefused
from engine.errors import Refused
from engine.requests.accounts import Accounts
from engine.rules import logins
from engine.rules.events import AccountAdded, LoginBegun, LoginTyped
from engine.rules.logins import Login
from engine.rules.words import Account

log = logging.getLogger(__name__)

SHOWN = "Starting: the link comes on this card"
TYPED = "Typed in. Its card says how it went."
TAKEN = "A code was typed in already; this one was not. The card says how it goes."
LONGEST = 4000  # characters that a terminal takes in a line: engine/node/sign_in.py
TOO_LONG = f"A code is one line of at most {LONGEST} characters: nothing was typed in."
THERE = "Account {} is there already: give it another token, or press Log in under /accounts."


class Logins(Accounts):
    """Requests about how accounts are signed in."""

    async def want_account(self, name: str, agent: str, cause: str = "") -> dict[str, object]:
        """Add an account that its owner is still to sign in: {"verdict", "there"}."""
        await self.may_add_account(name, agent)
        known = self._fleet().account(name)
        if known is not None and known.agent == agent and not await self._ledger.knows(cause):
            return {"there": True, "verdict": THERE.format(name)}
        added = AccountAdded(account=Account(name=name, agent=agent), signed_in=False)
        await self._loop.post("fleet", added, cause)
        await self._forget_unnamed(known, name)
        return {"there": False, "verdict": f"Account {name} is added. Its card asks for a login."}

    async def log_in(self, name: str, cause: str = "") -> dict[str, str]:
        """Have an account's own login run: {"verdict": words}."""
        account = self._fleet().account(name)
        if account is None:
            raise Refused(f"There is no account {name}. /accounts shows them.")
        machines = {known.name: (known.up, dict(known.agents)) for known in self._fleet().machines}
        machine = sign_in.machine_for(account, machines)
        begun = LoginBegun(account=name, login=await self._id("l"), machine=machine)
        await self._loop.post("fleet", begun, cause)
        return {"verdict": SHOWN}

    async def answer_login(self, name: str, sealed: bytes | str, cause: str = "") -> dict[str, str]:
        """Type what was sealed for us into an account's login: {"verdict": words}."""
        if await self._ledger.knows(cause):
            return {"verdict": TYPED}
        login, account = logins.of(self._fleet().logins, name), self._fleet().account(name)
        if login is None or account is None or not login.live:
            return {"verdict": logins.NOT_TYPED}
        if login.stage is logins.Stage.CHECKING:
            return {"verdict": TAKEN}
        body = base64.b64decode(sealed) if isinstance(sealed, str) else sealed
        typed = self._open(body).decode("utf-8", "replace").strip()
        if len(typed) > LONGEST or not typed.isprintable():
            raise Refused(TOO_LONG)  # as its machine would
        if not sign_in.is_answer(account, typed):
            raise Refused(sign_in.way_of(account).wrong or "That is empty.")
        if not await self._type(login, typed, cause):
            return {"verdict": logins.NOT_TYPED}
        with contextlib.suppress(Refused):  # locked just now: it was typed all the same
            await self._loop.tell("fleet", LoginTyped(login=login.id), cause)
        return {"verdict": TYPED}

    async def _type(self, login: Login, typed: str, cause: str) -> bool:
        """Return whether its terminal has it; not, where that is gone. Raises Unavailable."""
        machine = self._reached.get(login.machine)
        if machine is None:
            return False
        try:
            await machine.call("login.type", login=login.id, line=typed, once=cause)
        except NodeRefused as no:  # our engine or its node was another one when it began
            log.info("not typed in login=%s: %s", login.id, no.sentence)
            return False
        return True

    async def keep_token(self, account: str, variable: str, token: str) -> None:
        """Keep what a login handed out."""
        await self._keys().put(f"account/{account}/{variable}", token, self._clock(), replace=True)

    async def _forget_unnamed(self, before: Account | None, name: str) -> None:
        """Forget what signed an account in before, and does no more."""
        now = self._fleet().account(name)
        for key in set(before.secret_env if before else ()) - set(now.secret_env if now else ()):
            await self._keys().forget(f"account/{name}/{key}")

    async def tidy_account(self, before: Account) -> None:
        """Forget what a login took the place of."""
        await self._forget_unnamed(before, before.name)
