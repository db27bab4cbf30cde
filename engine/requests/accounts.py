"""Accounts, who pays for the agents' turns, and the vault their secrets lie in.

Neighbours: stores/vault.py keeps, rules/fleet.py decides.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from engine.codec import whole
from engine.errors import Refused, Unavailable
from engine.requests.inside import Inside
from engine.rules import reserve
from engine.rules.events import AccountAdded, AccountRemoved
from engine.rules.logins import can_begin, types_back
from engine.rules.rests import resting
from engine.rules.words import HERE, Account
from engine.views import AccountView, UsageView
from stores.vault import NotOpened, Vault, in_words, is_own

log = logging.getLogger(__name__)

ACCOUNT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
AGENTS = ("claude", "rehearsal")
SHORTEST_TOKEN = 8
NO_TOKEN = "That is too short for a token, and was not kept. Ask for it again: /accounts"
ODD = "It does not look like a token of Anthropic's; if agents are not let in, give another."


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
        login_command: str = "",
        cause: str = "",
    ) -> dict[str, Any]:
        """Keep an account; one of that name is replaced: {"name", "replaced", "verdict"}."""
        await self.may_add_account(name, agent)
        account = Account(
            name=name,
            agent=agent,
            command=command,
            config_dir=config_dir,
            env=tuple((key, value) for key, value in env),
            secret_env=tuple(secret_env),
            login_command=login_command,
        )
        return await self._keep(account, cause)

    async def may_add_account(self, name: str, agent: str) -> None:
        """Refuse what cannot be an account, before a secret is asked for."""
        if not ACCOUNT.fullmatch(name):
            raise Refused(
                f"{whole(name)!r} cannot be an account's name: letters, digits, dots and hyphens, at "
                "most 40, a letter or digit first."
            )
        if agent not in AGENTS:
            raise Refused(f"No agent called {whole(agent)} can be driven yet: {', '.join(AGENTS)}.")

    async def _keep(self, account: Account, cause: str) -> dict[str, Any]:
        before = self._fleet().account(account.name)
        fresh = await self._loop.post("fleet", AccountAdded(account=account), cause)
        if before is None or not fresh:
            said = f"Account {account.name} is added, for {account.agent}."
            return {"name": account.name, "replaced": False, "verdict": said}
        for key in set(before.secret_env) - set(account.secret_env):
            await self._keys().forget(_kept_as(account.name, key))
        said = f"Account {account.name} was there, for {before.agent}: it is replaced."
        if before.agent == account.agent:
            said = f"Account {account.name} was there: it is replaced. What waits for it goes on."
        return {"name": account.name, "replaced": True, "verdict": said}

    async def sign_in(
        self, name: str, agent: str, sealed: bytes | str, cause: str = ""
    ) -> dict[str, Any]:
        """Keep an account with the token that was sealed for us; of one there is, only that changes."""
        await self.may_add_account(name, agent)
        body = base64.b64decode(sealed) if isinstance(sealed, str) else sealed
        token = "".join(self._open(body).decode("utf-8", "replace").split())
        if len(token) < SHORTEST_TOKEN:
            raise Refused(NO_TOKEN)
        key, odd = _variable(token)
        await self._keys().put(_kept_as(name, key), token, self._clock(), replace=True)
        known = self._fleet().account(name)
        if known is None or known.agent != agent:
            known = Account(name=name, agent=agent)
        kept = await self._keep(replace(known, secret_env=(key,), config_dir=""), cause)
        return kept | {"verdict": f"{kept['verdict']} {odd}".strip()}

    async def account_views(self) -> tuple[AccountView, ...]:
        """Every account, and whether it can be used just now."""
        fleet = self._fleet()
        return tuple(
            AccountView(
                name=account.name,
                agent=account.agent,
                command=account.command,
                config_dir=account.config_dir,
                secrets=account.secret_env,
                first=number == 0,
                until=rest.until if rest else 0.0,
                why=rest.reason if rest else "",
                signed_out=bool(rest and rest.signed_out),
                untried=account.name in dict(fleet.untried),
                logs_in=can_begin(account),
                types_back=types_back(account),
                usage=self._usage(account.name),
                reserve=fleet.reserve,
            )
            for number, account in enumerate(fleet.accounts)
            for rest in (resting(fleet.rests, account.name),)
        )

    def _usage(self, account: str) -> tuple[UsageView, ...]:
        """What is known of an account's windows just now."""
        now = reserve.known(self._fleet().windows, account, self._clock())
        fullest_first = sorted(now, key=lambda window: -window.percent)
        return tuple(UsageView(w.name, w.percent, w.clock) for w in fullest_first)

    async def remove_account(self, name: str, cause: str = "") -> dict[str, str]:
        account = self._fleet().account(name)
        await self._loop.post("fleet", AccountRemoved(name=name), cause)
        for key in account.secret_env if account else ():
            await self._keys().forget(_kept_as(name, key))
        await self._forget_folder(name)
        return {"name": name, "verdict": f"Account {name} is removed, its token is forgotten."}

    async def _forget_folder(self, name: str) -> None:
        """Remove what a login of the account left here; what its owner named stays."""
        machine = self._reached.get(HERE)
        if machine is None or not (self._home.root / "accounts" / name).is_dir():
            return
        try:
            await machine.call("login.forget", account=name)
        except (Unavailable, Refused) as no:
            log.warning("login of a removed account left account=%s: %s", name, no)

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

    @cached_property
    def _one_name(self) -> asyncio.Lock:
        """What a key is to be called is written down before it is kept, and must still be free then."""
        return asyncio.Lock()

    async def keep_secret(
        self, name: str, sealed: bytes | str, instead: bool = False, cause: str = ""
    ) -> dict[str, str]:
        """Keep what was sealed for us: {"name": what it is kept as, "scope": where it may be used}."""
        body = base64.b64decode(sealed) if isinstance(sealed, str) else sealed
        value = self._open(body).decode("utf-8", "replace")
        if is_own(name):
            raise Refused(f"{whole(name)} is a name of Quarterdeck's own keys: take another.")
        again = instead or name.startswith("account/")
        kept = await self._into_vault(name, value, cause, replace=again)
        return {"name": kept, "scope": await self._keys().scope(kept)}

    async def _into_vault(
        self, name: str, value: str, cause: str, *, replace: bool, scope: str | None = None
    ) -> str:
        """Keep a value; return the name it has: without `replace`, the next one that is free.

        scope   where it may be used, and said so; None leaves that as it is
        """
        vault, there = self._keys(), "" if scope is None else f", {in_words(scope)}"
        async with self._one_name:
            try:
                free = await vault.name_for(name, value, replace=replace)
            except NotOpened as no:
                raise Refused(no.sentence) from no
            await self._decided(f"kept in the vault: {free}{there}", cause)
            return await vault.put(free, value, self._clock(), scope=scope or "", replace=replace)

    async def unseal(self, sealed: bytes) -> bytes:
        """Open an update the bot sealed before it was last ended."""
        return self._open(sealed)

    async def secret(self, name: str) -> str:
        """A value of the vault, for a run that was given it by name."""
        try:
            value = await self._keys().use(name, self._clock())
        except NotOpened as no:
            raise Refused(no.sentence) from no
        if value is None:
            raise Refused(f"The vault holds no {name}: add the account again.")
        return value


def _kept_as(account: str, key: str) -> str:
    return f"account/{account}/{key}"


def _variable(token: str) -> tuple[str, str]:
    """Return the variable a token goes into, by its shape, and what to say if that is a guess."""
    if token.startswith("sk-ant-oat"):
        return "CLAUDE_CODE_OAUTH_TOKEN", ""
    if token.startswith("sk-ant-"):
        return "ANTHROPIC_API_KEY", ""
    return "CLAUDE_CODE_OAUTH_TOKEN", ODD
