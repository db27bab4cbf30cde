"""Computers of the owner's: looked at, taken in, let go.

Neighbours: adapters/ssh.py goes there, rules/fleet.py decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine.adapters import known_hosts
from engine.adapters.own_keys import ANY, MACHINES
from engine.errors import Refused, Unavailable, ended
from engine.node.link import PROTOCOL
from engine.requests.inside import Inside
from engine.rules.events import (
    MachineAdded,
    MachineOffered,
    MachinePaused,
    MachineRemoved,
    OfferLeft,
)
from engine.rules.fleet import NOT_YET, Fleet, Machine
from engine.rules.owner import Copied, Owner
from engine.rules.rests import resting
from engine.rules.session_state import Session
from engine.views import MachineView, OfferView
from stores.vault import NotOpened

MACHINE = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
MOST_RUNS = 100


class Machines(Inside):
    """Requests about machines."""

    async def machines(self) -> tuple[MachineView, ...]:
        """Every machine: where it is, whether it is up, what runs there and how it is fenced."""
        fleet, owner = self._fleet(), self._owner()
        return tuple(
            MachineView(
                name=machine.name,
                address=machine.address,
                state=_state(machine),
                up=machine.up,
                paused=machine.paused,
                runs=sum(slot.machine == machine.name for slot in fleet.running),
                max_runs=machine.max_runs,
                fence=machine.fence,
                fenced=machine.fenced,
                agents=tuple(name for name, _ in machine.agents),
                logins=tuple(_login(fleet, name) for name, _ in machine.agents),
                keeps_backups=machine.name == owner.backup_on,
                backups=copied.kept if (copied := _copied(owner, machine.name)) else 0,
                backups_in=copied.folder if copied else "",
            )
            for machine in fleet.machines
        )

    async def look_at_machine(self, address: str) -> dict[str, str]:
        """Return the host key an address shows and its fingerprint; nothing is kept or sent."""
        from engine.adapters import ssh

        try:
            key = await ssh.look(ssh.Address.read(address))
        except Unavailable as away:
            raise Refused(f"{ended(away.sentence)} Nothing was added.") from away
        return {"key": key, "fingerprint": ssh.fingerprint(key)}

    async def add_machine(
        self, name: str, address: str, max_runs: int = 4, fingerprint: str = "", cause: str = ""
    ) -> dict[str, Any]:
        """Take a computer in whose host key was accepted, once its node answers; return its word.

        A machine that is there already gets another number of runs.
        """
        _may_be(name, max_runs)
        about: dict[str, Any] = {}
        if fingerprint or self._fleet().machine(name) is None:
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
            raise Refused(f"{ended(away.sentence)} Nothing was added.") from away
        finally:
            await machine.close()

    async def check_machine(self, name: str) -> dict[str, Any]:
        """Return what a machine's node says of itself just now."""
        machine = self._reached.get(name)
        if machine is None:
            raise Refused(
                f"There is no machine {name}. /machines shows them, or on the box: quarterdeck "
                "machine list"
            )
        try:
            return _told(await machine.call("hello", protocol=PROTOCOL))  # as it is now
        except Unavailable as away:
            raise Refused(away.sentence) from away

    async def pause_machine(self, name: str, paused: bool, cause: str = "") -> dict[str, str]:
        """Have a machine take no new runs, or take them again; what runs there goes on."""
        await self._loop.post("fleet", MachinePaused(machine=name, paused=paused), cause)
        return {"verdict": "Paused: nothing new starts there" if paused else "Takes runs again"}

    # ------------------------------------------------------------ from the phone

    async def offer_machine(
        self, name: str, address: str, max_runs: int = 4, cause: str = ""
    ) -> dict[str, str]:
        """Look at a computer and keep what it showed until the owner says Add; nothing is sent."""
        _may_be(name, max_runs)
        shown = await self.look_at_machine(address)
        from engine.adapters import ssh

        trusted = [
            ssh.fingerprint(key) for key in known_hosts.trusted(self._home.known_hosts, name)
        ]
        expected = "" if shown["fingerprint"] in trusted else "".join(trusted[:1])
        known = self._fleet().machine(name)
        offered = MachineOffered(
            machine=name,
            address=address,
            max_runs=known.max_runs if known else max_runs,
            fingerprint=shown["fingerprint"],
            expected=expected,
        )
        await self._loop.post("fleet", offered, cause)
        return {"name": name}

    async def offers(self) -> tuple[OfferView, ...]:
        """What was looked at and waits for Add."""
        offers = self._fleet().offers
        if not offers:
            return ()
        line = no_key = ""
        try:
            line = await self._own.make(MACHINES, ANY, "quarterdeck")
        except NotOpened as no:
            no_key = no.sentence
        return tuple(
            OfferView(
                name=offer.name,
                address=offer.address,
                max_runs=offer.max_runs,
                fingerprint=offer.fingerprint,
                expected=offer.expected,
                public=line,
                no_key=no_key,
            )
            for offer in offers
        )

    async def take_machine(self, name: str, cause: str = "") -> dict[str, Any]:
        """Add what was offered, with the host key it showed then."""
        offer = self._fleet().offer(name)
        if offer is None:
            if self._fleet().machine(name) is not None:
                return {"verdict": f"{name} is added"}
            raise Refused(f"Nothing waits to be added as {name}. Say /machines add again.")
        about = await self.add_machine(
            name, offer.address, offer.max_runs, offer.fingerprint, cause
        )
        return {"verdict": f"{name} is added", "about": about}

    async def leave_machine(self, name: str, cause: str = "") -> dict[str, str]:
        """Do not add it after all."""
        await self._loop.post("fleet", OfferLeft(machine=name), cause)
        return {"verdict": f"{name} was not added"}

    # ------------------------------------------------------------ gone

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


def _may_be(name: str, max_runs: int) -> None:
    if not MACHINE.fullmatch(name):
        raise Refused(
            f"{name!r} cannot be a machine's name: small letters, digits and hyphens, at most "
            "40, a letter or digit first."
        )
    if not 1 <= max_runs <= MOST_RUNS:
        raise Refused(f"A machine takes 1 to {MOST_RUNS} runs at once, not {max_runs}.")


def _state(machine: Machine) -> str:
    state = "up" if machine.up else f"down: {machine.why}"
    if machine.why == NOT_YET:
        state = "being reached for the first time"
    return f"paused, {state}" if machine.paused else state


def _copied(owner: Owner, name: str) -> Copied | None:
    """Return what of our backups lies on a machine, as far as we brought it there."""
    copied = owner.copied
    return copied if copied is not None and copied.machine == name else None


def _login(fleet: Fleet, agent: str) -> str:
    """Who signs an agent in, and whether that works."""
    accounts = [account.name for account in fleet.accounts if account.agent == agent]
    if not accounts:
        return f"{agent}: no account for it"
    out = [name for name in accounts if (rest := resting(fleet.rests, name)) and rest.signed_out]
    if len(out) == len(accounts):
        return f"{agent}: not signed in (account {out[0]})"
    return f"{agent}: signed in by account {next(name for name in accounts if name not in out)}"


def _told(about: Mapping[str, Any]) -> dict[str, Any]:
    """What of a node's word about its machine the owner wants to know."""
    shown = ("fenced", "why", "system", "python", "git", "root", "home")
    told = {key: about[key] for key in shown}
    disk = {"disk_free_gb": round(int(about.get("disk_free_mb", 0)) / 1000, 1)}
    return told | disk | {"agents": sorted(about["agents"])}


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
