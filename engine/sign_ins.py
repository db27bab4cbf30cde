"""Runs the logins that owners began on the phone, and tells the fleet what becomes of each.

    fleet.logins ─> one task each ─> login.start, login.wait … on its machine ─> LoginShown, LoginDone, LoginFailed
         └── gone: cancelled ─────> login.end

Nothing of it is owed: a login that this engine or its node died under ended with its machine's node, and is
said to be cut off; its owner begins another. A token goes from the node's answer into the vault before
anything tells of it. Neighbours: adapters/sign_in.py (each agent's way), rules/logins.py (where it stands),
requests/logins.py (begun, typed back, cancelled).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from engine.adapters import sign_in
from engine.adapters.machines import Machine, NodeRefused
from engine.errors import Refused, Unavailable
from engine.loop import Loop
from engine.rules import logins
from engine.rules.events import AnyEvent, LoginDone, LoginFailed, LoginShown
from engine.rules.fleet import Fleet
from engine.rules.logins import Login
from engine.rules.words import Account

log = logging.getLogger(__name__)

END_S = 5.0  # for a machine that may be away to be told

Keep = Callable[[str, str, str], Awaitable[None]]  # account, variable, value
Tidy = Callable[[Account], Awaitable[None]]


class SignIns:
    """Sees the logins through that are under way.

    keep   puts an account's secret into the vault
    tidy   forgets those that an account, as it was, is not signed in by any more
    """

    def __init__(self, loop: Loop, machines: Mapping[str, Machine], keep: Keep, tidy: Tidy) -> None:
        self._loop = loop
        self._machines = machines
        self._keep = keep
        self._tidy = tidy
        self._ended: set[str] = set()  # told of by us: what is left to do for them is done

    async def run(self) -> None:
        """Follow what is begun from now on, until cancelled."""
        changed = asyncio.Event()
        self._loop.watch(lambda stream: changed.set() if stream == "fleet" else None)
        for login in self._live():  # begun by an engine before this one
            await self._tell(LoginFailed(login=login.id, why=logins.CUT_OFF), login, "cut off")
        tasks: dict[str, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                changed.clear()
                live = {login.id: login for login in self._live()}
                for gone in tasks.keys() - live.keys():
                    task = tasks.pop(gone)
                    if gone not in self._ended:  # its owner gave it up
                        task.cancel()
                for name in live.keys() - tasks.keys():
                    tasks[name] = group.create_task(self._see(live[name]), name=f"login {name}")
                await changed.wait()

    def _live(self) -> list[Login]:
        return [login for login in self._fleet().logins if login.live]

    def _fleet(self) -> Fleet:
        fleet = self._loop.state("fleet")
        return fleet if isinstance(fleet, Fleet) else Fleet()

    async def _see(self, login: Login) -> None:
        account = self._fleet().account(login.account)
        machine = self._machines.get(login.machine)
        if account is None or machine is None:
            await self._fail(login, f"{login.machine} is not there any more")
            return
        try:
            await self._follow(login, account, machine)
        except (NodeRefused, Refused) as no:
            await self._fail(login, no.sentence)
        except Unavailable as away:
            log.info("login cut off id=%s: %s", login.id, away.sentence)
            await self._fail(login, logins.CUT_OFF)
        except asyncio.CancelledError:
            await self._end(login, machine)
            raise

    async def _follow(self, login: Login, account: Account, machine: Machine) -> None:
        about = await machine.hello()
        order = sign_in.order(account, about, login.machine)
        started = await machine.call("login.start", login=login.id, **order)
        seen = 0
        while True:
            told = await machine.call("login.wait", login=login.id, seen=seen)
            if told["over"]:
                await self._over(login, account, str(started["folder"]), told)
                return
            if told["n"] != seen:
                await self._show(login, account, told)
            seen = told["n"]

    async def _show(self, login: Login, account: Account, told: Mapping[str, Any]) -> None:
        link = sign_in.openable(str(told["link"]))
        shown = LoginShown(
            login=login.id,
            link=link,
            code=str(told["code"]),
            asks=bool(told["asks"]),
            strange=sign_in.is_strange(link, account),
        )
        await self._tell(shown, login, f"shown:{told['n']}")

    async def _over(
        self, login: Login, account: Account, folder: str, told: Mapping[str, Any]
    ) -> None:
        if told["why"]:
            await self._fail(login, str(told["why"]), str(told["words"]))
            return
        secret = sign_in.way_of(account).secret
        if logins.named(self._fleet().logins, login.id) is None:
            return  # cancelled: what it gave is for nobody
        if secret:
            await self._keep(account.name, secret, str(told["token"]))
        self._ended.add(login.id)
        done = LoginDone(login=login.id, secret=secret, config_dir="" if secret else folder)
        await self._tell(done, login, "done")
        await self._tidy(account)

    async def _fail(self, login: Login, why: str, words: str = "") -> None:
        await self._tell(LoginFailed(login=login.id, why=why, words=words), login, "failed")

    async def _tell(self, event: AnyEvent, login: Login, part: str) -> None:
        await self._loop.tell("fleet", event, f"login:{login.id}:{part}")

    async def _end(self, login: Login, machine: Machine) -> None:
        try:
            async with asyncio.timeout(END_S):
                await machine.call("login.end", login=login.id)
        except (TimeoutError, Unavailable, NodeRefused) as no:  # it ends with its node
            log.info("login not ended id=%s: %s", login.id, no)
