"""Computers of the owner's: looked at, taken in, let go.

Neighbours: adapters/ssh.py goes there, rules/fleet.py decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine.adapters import known_hosts
from engine.errors import Refused, Unavailable
from engine.requests.inside import Inside
from engine.rules.events import MachineAdded, MachineRemoved
from engine.rules.session_state import Session

MACHINE = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
MOST_RUNS = 100


class Machines(Inside):
    """Requests about machines."""

    async def machines(self) -> tuple[dict[str, Any], ...]:
        """Every machine: where it is, whether it is up, what runs there and how it is fenced."""
        fleet = self._fleet()
        return tuple(
            {
                "name": machine.name,
                "address": machine.address,
                "state": "up" if machine.up else f"down: {machine.why}",
                "runs": sum(slot.machine == machine.name for slot in fleet.running),
                "max_runs": machine.max_runs,
                "fence": machine.fence,
                "agents": [name for name, _ in machine.agents],
            }
            for machine in fleet.machines
        )

    async def look_at_machine(self, address: str) -> dict[str, str]:
        """Return the host key an address shows and its fingerprint; nothing is kept or sent."""
        from engine.adapters import ssh

        try:
            key = await ssh.look(ssh.Address.read(address))
        except Unavailable as away:
            raise Refused(f"{away.sentence}. Nothing was added.") from away
        return {"key": key, "fingerprint": ssh.fingerprint(key)}

    async def add_machine(
        self, name: str, address: str, max_runs: int = 4, fingerprint: str = "", cause: str = ""
    ) -> dict[str, Any]:
        """Take a computer in whose host key was accepted, once its node answers; return its word.

        A machine that is there already gets another number of runs.
        """
        if not MACHINE.fullmatch(name):
            raise Refused(
                f"{name!r} cannot be a machine's name: small letters, digits and hyphens, at most "
                "40, a letter or digit first."
            )
        if not 1 <= max_runs <= MOST_RUNS:
            raise Refused(f"A machine takes 1 to {MOST_RUNS} runs at once, not {max_runs}.")
        about: dict[str, Any] = {}
        if self._fleet().machine(name) is None:
            shown = await self.look_at_machine(address)
            if shown["fingerprint"] != fingerprint:
                raise Refused(_not_accepted(address, shown["fingerprint"], fingerprint))
            about = await self._first_visit(name, address, shown["key"])
            known_hosts.trust(self._home.known_hosts, name, shown["key"])
        added = MachineAdded(machine=name, address=address, max_runs=max_runs)
        await self._loop.post("fleet", added, cause)
        return about

    async def _first_visit(self, name: str, address: str, key: str) -> dict[str, Any]:
        """Go there once, so that only what works is added."""
        if self._ssh is None:
            raise Refused("No machine can be added here.")
        machine = self._ssh(name, address, lambda: [key])
        try:
            return _told(await machine.hello())
        except Unavailable as away:
            raise Refused(f"{away.sentence}. Nothing was added.") from away
        finally:
            await machine.close()

    async def check_machine(self, name: str) -> dict[str, Any]:
        """Return what a machine's node says of itself just now."""
        machine = self._reached.get(name)
        if machine is None:
            raise Refused(f"There is no machine {name}. quarterdeck machine list shows them.")
        return _told(await machine.hello())

    async def remove_machine(self, name: str, cause: str = "") -> str:
        """Forget a machine; what lies there stays."""
        for found in self._loop.states("session").values():
            if isinstance(found, Session) and found.machine == name and not found.final:
                goal = self._goal(found.goal)
                if goal.live:
                    raise Refused(f'{name} holds work of "{goal.title}" that is not over.')
        await self._loop.post("fleet", MachineRemoved(machine=name), cause)
        known_hosts.forget(self._home.known_hosts, name)
        return "What lies there stays: its folder is ~/.local/state/quarterdeck-node."


def _told(about: Mapping[str, Any]) -> dict[str, Any]:
    """What of a node's word about its machine the owner wants to know."""
    shown = ("fenced", "why", "system", "python", "git", "root", "home")
    return {key: about[key] for key in shown} | {"agents": sorted(about["agents"])}


def _not_accepted(address: str, shown: str, accepted: str) -> str:
    if accepted:
        return (
            f"{address} shows the host key {shown}, not {accepted}. Nothing was added: either the "
            "fingerprint was mistyped, or somebody stands between."
        )
    return (
        f"{address} shows the host key {shown}. Compare it there with: ssh-keygen -lf "
        f"/etc/ssh/ssh_host_ed25519_key.pub. If it is the same, add --accept-fingerprint {shown}"
    )
