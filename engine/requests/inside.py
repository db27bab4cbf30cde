"""What every request works with: the loop, the stores, the adapters, and what is looked up often.

The base of the classes beside it. Neighbour: engine/door.py, which is all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from engine import audit, board
from engine.adapters.hub import Hub
from engine.adapters.machines import Machine
from engine.adapters.own_keys import OwnKeys
from engine.asker import asker
from engine.errors import Refused
from engine.loop import Loop
from engine.paths import Home
from engine.rules.fleet import Fleet
from engine.rules.goal_state import Goal
from engine.rules.owner import Owner
from engine.rules.project import Project
from engine.rules.words import Account
from engine.shown import Cards
from stores.ledger import Ledger
from stores.vault import Opener, Vault

MakeSsh = Callable[[str, str, Callable[[], Sequence[str]]], Machine]  # name, address, host keys


class Inside:
    """What the owner's requests share."""

    def __init__(
        self,
        home: Home,
        loop: Loop,
        ledger: Ledger,
        hub: Hub,
        vault: Vault | None,
        opener: Opener | None,
        own: OwnKeys,
        *,
        doing: Callable[[str], str] = lambda _run: "",
        heartbeat: Callable[[], str] = lambda: "",
        backups: Callable[[], str] = lambda: "",
        not_copied: Callable[[], str] = lambda: "",
        room_lacks: Callable[[], str] = lambda: "",
        holds_key: Callable[[bytes], bool] = lambda _data: False,
        machines: Mapping[str, Machine] | None = None,
        ssh: MakeSsh | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._home = home
        self._loop = loop
        self._ledger = ledger
        self._hub = hub
        self._vault = vault
        self._opener = opener
        self._own = own
        self._doing = doing
        self._heartbeat = heartbeat
        self._backups = backups
        self._not_copied = not_copied
        self._room_lacks = room_lacks
        self._holds_key = holds_key
        self._reached = machines if machines is not None else {}
        self._ssh = ssh
        self._clock = clock
        self._cards = Cards(loop, doing)

    def world(self) -> board.World:
        return self._loop.world()

    def _projects(self) -> dict[str, Project]:
        return {
            project.name: project
            for project in self._loop.states("project").values()
            if isinstance(project, Project) and project.known
        }

    def _fleet(self) -> Fleet:
        fleet = self._loop.state("fleet")
        return fleet if isinstance(fleet, Fleet) else Fleet()

    def _owner(self) -> Owner:
        found = self._loop.state("owner")
        return found if isinstance(found, Owner) else Owner()

    def _default_account(self) -> Account:
        accounts = self._fleet().accounts
        if not accounts:
            raise Refused(
                "No account yet, so no agent can run. Say /accounts add main claude, or on the box: "
                "quarterdeck account add main --agent claude --secret-env CLAUDE_CODE_OAUTH_TOKEN"
            )
        return accounts[0]

    def _goal(self, goal_id: str) -> Goal:
        goal = self._loop.state(f"goal/{goal_id}")
        if not isinstance(goal, Goal):
            raise Refused(f"There is no goal {goal_id}. /status shows them.")
        return goal

    async def _decided(self, verdict: str, cause: str) -> None:
        """Write down a decision that is no event, before it is carried out: the vault is another file."""
        decision = audit.of_vault(asker(), verdict)
        if decision is not None:
            await self._ledger.decide(self._clock(), cause, decision)

    async def _id(self, kind: str) -> str:
        (number,) = await self._ledger.take(kind)
        return f"{kind}-{number}"
