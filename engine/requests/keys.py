"""The keys the vault keeps, as their owner looks after them: listed, given a scope, forgotten; no value is told.

Neighbours: stores/vault.py keeps them, accounts.py gives runs theirs, bot/key_panel.py shows this.
"""

from __future__ import annotations

from engine.codec import whole
from engine.errors import Refused
from engine.requests.inside import Inside
from engine.rules.events import KeyForgotten
from engine.views import KeyView
from stores.vault import NotOpened, Vault, in_words, is_own

ACCOUNT = "account/"


class Keys(Inside):
    """Requests about what the vault keeps."""

    async def keys(self) -> tuple[KeyView, ...]:
        """Every name, and how it stands with it; Quarterdeck's own keys are not among them."""
        return tuple(view for view in await self._all_keys() if not is_own(view.name))

    async def own_keys(self) -> tuple[KeyView, ...]:
        """What Quarterdeck itself signs in with, at forges and at machines."""
        return tuple(view for view in await self._all_keys() if is_own(view.name))

    async def _all_keys(self) -> tuple[KeyView, ...]:
        if self._vault is None:
            return ()
        return tuple(
            KeyView(
                name=kept.name,
                scope=kept.scope,
                version=kept.version,
                versions=kept.versions,
                kept_at=kept.at,
                used_at=kept.used,
                refused=kept.refused,
                damaged=kept.damaged,
                account=self._account_of(kept.name),
            )
            for kept in await self._vault.listed()
        )

    async def scope_key(self, name: str, scope: str, cause: str = "") -> dict[str, str]:
        """Say where a key may be used from now on: {"verdict": words}."""
        if account := self._account_of(name):
            raise Refused(f"{name} signs account {account} in: it goes wherever that is used.")
        _not_ours(name)
        self._there(scope)
        try:
            found = await self._of_vault().move(name, scope)
        except NotOpened as no:
            raise Refused(no.sentence) from no
        if not found:
            raise Refused(f"The vault holds no {whole(name)}. /keys lists what it holds.")
        said = f"for {in_words(scope)} only" if scope else "for everywhere"
        await self._decided(f"{name} in the vault is {said}", cause)  # a repeat finds it moved
        return {"verdict": f"{name} is {said}."}

    async def forget_key(self, name: str, cause: str = "") -> dict[str, str]:
        """Delete a key with all its versions: {"verdict": words}."""
        if account := self._account_of(name):
            raise Refused(
                f"{name} signs account {account} in: give it a new token, or remove it, in /accounts."
            )
        _not_ours(name)
        await self._decided(f"forgotten in the vault: {name}", cause)
        await self._end_rules_of(name, cause)
        # A repeat finds it gone, and that is what was asked for.
        await self._of_vault().forget(name)
        return {"verdict": f"{whole(name)} is forgotten, with every value it had."}

    async def _end_rules_of(self, name: str, cause: str) -> None:
        """Have no rule of any project hand a later key of that name out."""
        for project in self._projects().values():
            if any(name in one.rule.keys for one in project.rules.kept):
                gone = KeyForgotten(name=name)
                once = f"{cause}.{project.name}" if cause else ""
                await self._loop.post(f"project/{project.name}", gone, once)

    async def refused_keys(self) -> dict[str, str]:
        """What cannot be opened, by name, for /health."""
        return {
            view.name: view.refused or f"older value {', '.join(map(str, view.damaged))} is damaged"
            for view in await self._all_keys()
            if view.refused or view.damaged
        }

    def _account_of(self, name: str) -> str:
        """Return the account a name signs in; "": none there is."""
        return next(
            (
                account.name
                for account in self._fleet().accounts
                for key in account.secret_env
                if name == f"{ACCOUNT}{account.name}/{key}"
            ),
            "",
        )

    def _there(self, scope: str) -> None:
        kind, _, name = scope.partition("/")
        known = {
            "": [""],
            "project": list(self._projects()),
            "machine": [machine.name for machine in self._fleet().machines],
        }
        if name not in known.get(kind, ()):
            raise Refused(
                f"There is no {whole(in_words(scope))}: /projects and /machines list them."
            )

    def _of_vault(self) -> Vault:
        if self._vault is None:
            raise Refused("There is no vault yet. Run `quarterdeck setup` first.")
        return self._vault


def _not_ours(name: str) -> None:
    if is_own(name):
        raise Refused(
            f"{whole(name)} is a key of Quarterdeck's own: it goes with its project, or stays with the box."
        )
