"""The engine put together: stores, rules, adapters, the loop between them, and the door.

    ledger ── loop ── performer ── hub, runs ── machines
                └──── door ─────── server (engine.sock)

Starting is recovering: what is owed is performed, every run somebody waits for is read on from where
it was left, cards are shown as the states have them. `running` is the whole engine as one block, for
__main__.py, for the demo and for tests; `unlocked` is a door for one request of the command line while
no engine runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from engine import restored
from engine.adapters import key_files, known_hosts
from engine.adapters.deploy_keys import DeployKeys
from engine.adapters.hub import Hub
from engine.adapters.kits import Kits
from engine.adapters.machines import Link, Local, Machine, NodeRefused
from engine.adapters.own_keys import ANY, MACHINES, OwnKeys
from engine.adapters.runs import CHECK_LIMIT_S, Runs
from engine.ahead import Ahead
from engine.alive import Alive
from engine.api import Server
from engine.calls import Desk
from engine.door import Door
from engine.elsewhere import Elsewhere
from engine.errors import NoRoom, StreamBroken, Unavailable
from engine.load import Loads
from engine.lock import EngineLock
from engine.loop import Loop, Rule
from engine.net import LastNet
from engine.nightly import Nightly, moment
from engine.paths import Home
from engine.perform import Performer, waited_for
from engine.retention import Retention
from engine.room import Room
from engine.rules import ask, fleet, goal, landing, owner, project, session, ship
from engine.rules.events import BackupOld, EngineAway, HomeRestored, MachineLost, MachineSeen
from engine.rules.goal_state import Goal
from engine.rules.project import Project
from engine.rules.session_state import Session
from engine.rules.starts import UNKNOWN
from engine.rules.words import HERE
from engine.sign_ins import SignIns
from stores.attached import Attached
from stores.database import Database, Unusable
from stores.ledger import Ledger
from stores.rotation import settle
from stores.sealing import has_key, master_key
from stores.unlogged import unlogged
from stores.vault import NotOpened, Opener, Vault

log = logging.getLogger(__name__)

RARELY_S = 20 * 3600.0  # away for so long, the day is said too
CUT_OFF_S = 20.0  # for a machine to say what became of a turn

RULES = {
    "ask": Rule("ask", ask.begin, ask.decide, ask.Ask),
    "fleet": Rule("fleet", fleet.begin, fleet.decide, fleet.Fleet),
    "goal": Rule("goal", goal.begin, goal.decide, Goal),
    "owner": Rule("owner", owner.begin, owner.decide, owner.Owner),
    "landing": Rule("landing", landing.begin, landing.decide, landing.Landing),
    "project": Rule("project", project.begin, project.decide, project.Project),
    "session": Rule("session", session.begin, session.decide, Session),
    "ship": Rule("ship", ship.begin, ship.decide, ship.Ship),
}


class Engine:
    """One engine over one home.

    machines   how machines are reached, by name; by default this one, through a pipe, and those
               the owner added, over SSH
    scenario   what rehearsal agents play, for accounts that name none
    clock      the time of day: what is stored, and what is due
    uptime     seconds that only grow: how long a run has been silent
    luck       a draw from [0, 1): how long to wait before a next try
    """

    def __init__(
        self,
        home: Home,
        *,
        machines: dict[str, Machine] | None = None,
        scenario: str = "",
        clock: Callable[[], float] = time.time,
        uptime: Callable[[], float] = time.monotonic,
        check_limit_s: float = CHECK_LIMIT_S,
        luck: Callable[[], float] = random.random,
    ) -> None:
        self.home = home.make()
        self._given = dict(machines or {})
        self._scenario = scenario
        self._clock = clock
        self._uptime = uptime
        self._check_limit_s = check_limit_s
        self._luck = luck
        self._born = uuid.uuid4().hex[:8]  # tells this engine's own news from an earlier one's
        self._greeted = 0
        self._reached: dict[str, Machine] = {}
        self._addresses: dict[str, str] = {}  # of those of them that are not this one
        self.room = Room(self.home.root)
        self.net = LastNet(self.home)
        self.own: OwnKeys
        self.loop: Loop
        self.door: Door
        self.runs: Runs
        self.server: Server
        self.retention: Retention
        self.alive: Alive
        self.loads: Loads
        self.ahead: Ahead
        self.nightly: Nightly
        self.elsewhere: Elsewhere
        self.sign_ins: SignIns
        self._at_start: list[Session] = []  # whose turn was under way
        self._restored = restored.read(self.home)

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[None]:
        """Open the stores and put everything together; nothing is performed yet."""
        self._miss_none()
        async with contextlib.AsyncExitStack() as stack:
            file = await stack.enter_async_context(self._file())
            ledger = await stack.enter_async_context(Ledger(file))
            vault, opener = await self._vault(stack)
            await self.net.open(vault)
            stack.enter_context(unlogged(self.net.clean))
            machines = self._reached = self._given.copy() or {HERE: Local(self.home.root)}
            self.own = OwnKeys(vault, self._clock)
            if opener is not None:
                await key_files.into_vault(self.home, self.own, opener.public)
            hub = self._hub()
            self.runs = Runs(
                self.home.root,
                machines,
                ledger,
                state=lambda stream: self.loop.state(stream),
                secret=lambda name: self.door.secret(name),
                keys=lambda names, project, machine, *, used: self.door.keyed(
                    names, project, machine, used=used
                ),
                identity=lambda name: hub.identity(self._source(name)),
                on_doing=lambda run: self.door.on_doing(run),
                scenario=self._scenario,
                uptime=self._uptime,
                clock=self._clock,
                check_limit_s=self._check_limit_s,
            )
            performer = Performer(
                hub,
                self.runs,
                machines,
                lambda: self.loop.world(),
                self._clock,
                owed_then=self._restored.effects if self._restored else 0,
            )
            self.loop = Loop(ledger, RULES, performer, clock=self._clock, luck=self._luck)
            self.door = Door(
                self.home,
                self.loop,
                ledger,
                hub,
                vault,
                opener,
                self.own,
                doing=self.runs.following.doing,
                heartbeat=lambda: self.alive.heard(),
                backups=lambda: self.nightly.health(),
                not_copied=lambda: self.elsewhere.trouble(),
                room_lacks=lambda: self.room.lacks(),
                holds_key=self.net.holds,
                machines=machines,
                ssh=self._ssh,
                clock=self._clock,
            )
            self.server = Server(
                self.home.engine_sock, self.door, room=self.room, clean=self.net.line
            )
            self.runs.post = self.loop.post
            self.runs.judged = performer.judged
            self.runs.kits = Kits(hub, lambda stream: self.loop.state(stream))
            self.loop.watch(self.runs.on_change)
            self.runs.calls = Desk(
                ledger, hub, self.loop.world, self._clock, keys=lambda: self.door.key_names()
            )
            self.alive = Alive(
                self.home.engine_alive, self._clock, away=self._was_away, url=self._heartbeat
            )
            self.retention = Retention(
                ledger, machines, self.loop.world, self._clock, Attached(self.home.attached)
            )
            self.nightly = Nightly(
                self.home,
                self._clock,
                zone=lambda: self._owner().zone,
                old=self._backup_old,
                made=lambda: self.elsewhere.wake.set(),
                elsewhere=lambda: self.elsewhere.health(),
            )
            self.elsewhere = Elsewhere(
                self.home,
                machines,
                self._clock,
                owner=self._owner,
                post=partial(self.loop.tell, "owner"),
                first=self.nightly.first,
                said=lambda at: moment(at, self._clock(), self._owner().zone),
            )
            self.loop.watch(self._may_be_copied)
            self.sign_ins = SignIns(
                self.loop, machines, self.door.keep_token, self.door.tidy_account
            )
            self.ahead = Ahead(self.loop, machines, self.runs.bring)
            self.loads = Loads(self.loop, machines, self._clock, self._born)
            self.room.told = self.loads.look_now
            await self.loop.open()
            self._reach()
            self._at_start = [
                found
                for found in self.loop.states("session").values()
                if isinstance(found, Session) and found.live
            ]
            await self.runs.following.open()
            try:
                yield
            finally:
                await asyncio.gather(*(machine.close() for machine in machines.values()))

    def _miss_none(self) -> None:
        """Begin no file anew in a home that had it."""
        lived = self.home.engine_alive.exists()
        files = [self.home.engine_db] if lived or self._restored is not None else []
        files += [self.home.vault_db] if lived and has_key(self.home) else []
        for path in files:
            if not path.exists():
                how = "an engine has lived here" if lived else "this home was made from a backup"
                raise Unusable(f"{path} is gone, and {how}.", lost=True)

    def _file(self) -> Database:
        return Database(self.home.engine_db, "ledger", room=self.room)

    def _hub(self) -> Hub:
        keys = DeployKeys(self.own, self.home.deploy_keys, self.home.sockets)
        return Hub(self.home.hubs, keys)

    async def _vault(self, stack: contextlib.AsyncExitStack) -> tuple[Vault | None, Opener | None]:
        if not has_key(self.home):
            return None, None
        database = Database(self.home.vault_db, "vault", secure_delete=True, room=self.room)
        await database.open()
        stack.push_async_callback(database.close)
        await settle(self.home, database)
        private = master_key(self.home)
        vault = Vault(database, private)
        return vault, Opener(private, await vault.retired())

    def _source(self, name: str) -> str:
        known = self.loop.state(f"project/{name}")
        return known.source if isinstance(known, Project) else ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The whole engine, until the block ends; runs go on without it."""
        with EngineLock(self.home.engine_lock):
            self._dial()
            async with self._open(), asyncio.TaskGroup() as group:
                self.door.open(self.server)
                tasks = [
                    group.create_task(self.server.run(), name="server"),
                    group.create_task(self.loop.run(), name="loop"),
                    group.create_task(self.door.tell(), name="cards"),
                    group.create_task(self.retention.run(), name="retention"),
                    group.create_task(self.alive.run(), name="alive"),
                    group.create_task(self.nightly.run(), name="nightly backup"),
                    group.create_task(self.elsewhere.run(), name="backup elsewhere"),
                    group.create_task(
                        self.runs.following.run(waited_for(self.loop.world())), name="followers"
                    ),
                    group.create_task(self._attend(), name="machines"),
                    group.create_task(self.loads.run(), name="loads"),
                    group.create_task(self.ahead.run(), name="trees made ahead"),
                    group.create_task(self.sign_ins.run(), name="logins"),
                ]
                try:
                    await self.server.listening.wait()
                    await self._say_restored()
                    yield
                finally:
                    for task in tasks:
                        task.cancel()

    def _dial(self) -> None:
        """Have the machines we were given greeted while the stores are opened."""
        for machine in self._given.values():
            if isinstance(link := getattr(machine, "link", None), Link):
                link.dial()

    @asynccontextmanager
    async def unlocked(self) -> AsyncIterator[None]:
        """The door alone, under the engine's lock, while no engine runs; what is owed stays owed."""
        with EngineLock(self.home.engine_lock):
            async with self.room.patience(), self._open():
                self.door.open()
                yield

    async def breathe(self) -> None:
        """Return once an event could be stored, or it is known that the disk takes none."""
        with contextlib.suppress(NoRoom):
            async with self.room.patience():
                await self.loop.breathe()

    def _owner(self) -> owner.Owner:
        found = self.loop.state("owner")
        return found if isinstance(found, owner.Owner) else owner.Owner()

    def _heartbeat(self) -> str:
        return self._owner().heartbeat

    async def _say_restored(self) -> None:
        """Tell the owner, once, from which moment on nothing is known here."""
        if self._restored is None or self._restored.told:
            return
        at, goals = self._restored.taken_at, self.loop.states("goal").values()
        event = HomeRestored(
            taken=_clock(at, self._owner().zone, day=True),
            goals=sum(isinstance(found, Goal) and found.live for found in goals),
        )
        await self.loop.tell("owner", event, f"restored:{self._box()}")
        restored.was_told(self.home)

    def _may_be_copied(self, stream: str) -> None:
        """Look again once another machine was chosen, or one is back."""
        if stream == "owner" or (stream == "fleet" and self._owner().backup_on):
            self.elsewhere.wake.set()

    async def _backup_old(self, since: float, why: str) -> None:
        """Tell the owner, once for each newest backup, that it is an old one."""
        old = BackupOld(since=_clock(since, self._owner().zone, day=True), why=why)
        await self.loop.tell("owner", old, f"backup old:{since:.0f}")

    async def _was_away(self, since: float, until: float) -> None:
        """Tell the owner that nobody lived here, if anything was to be done meanwhile."""
        goals = self.loop.states("goal").values()
        if not any(isinstance(found, Goal) and found.live for found in goals):
            return
        begun, self._at_start = self._at_start, []
        cut_off = sum(await asyncio.gather(*map(self._was_cut_off, begun)))
        zone = self._owner().zone
        day = until - since > RARELY_S
        away = EngineAway(
            since=_clock(since, zone, day=day), until=_clock(until, zone, day=day), cut_off=cut_off
        )
        await self.loop.tell("owner", away, f"away:{since:.0f}")

    async def _was_cut_off(self, found: Session) -> bool:
        machine = self._reached.get(found.machine)
        if machine is None:
            return False
        try:
            async with asyncio.timeout(CUT_OFF_S):
                states = (await machine.call("run.list", runs=[found.run]))["runs"]
        except (TimeoutError, Unavailable, NodeRefused):
            return False  # not known; the board says what becomes of it
        return any(
            not run["alive"] and (run["exit"] or {}).get("why", "cut off") == "cut off"
            for run in states
        )

    # ------------------------------------------------------------ machines

    def _added(self) -> dict[str, str]:
        """The machines the owner added, and where they are."""
        known = self.loop.state("fleet")
        machines = known.machines if isinstance(known, fleet.Fleet) else ()
        return {machine.name: machine.address for machine in machines if machine.address}

    def _reach(self) -> list[Machine]:
        """Have a link for each machine the owner added; return those that are to be let go."""
        added = self._added()
        gone = [name for name, at in self._addresses.items() if added.get(name) != at]
        left = [self._reached.pop(name) for name in gone]
        for name in added.keys() - self._reached.keys():
            keys = partial(known_hosts.trusted, self.home.known_hosts, name)
            self._reached[name] = self._ssh(name, added[name], keys)
        self._addresses = added
        return left

    def _ssh(self, name: str, address: str, keys: Callable[[], Sequence[str]]) -> Machine:
        from engine.adapters import ssh  # not loaded where no such machine is

        at = ssh.Address.read(address)
        return ssh.Ssh(name, at, self.home.root, box=self._box(), keys=keys, own=self._machine_key)

    async def _machine_key(self) -> str:
        try:
            return await self.own.private(MACHINES, ANY)
        except NotOpened as no:
            raise Unavailable(
                f"no key of this box's user is let in there, and of Quarterdeck's own {no.sentence}"
            ) from no

    def _box(self) -> str:
        """Return this box's name on other machines, drawn once."""
        if not self.home.box_id.exists():
            rough = self.home.box_id.with_suffix(".new")
            rough.write_text(uuid.uuid4().hex[:12], encoding="ascii")
            rough.rename(self.home.box_id)
        return self.home.box_id.read_text(encoding="ascii")

    async def _attend(self) -> None:
        """Keep a link to each machine there is, as the owner adds and removes them."""
        changed = asyncio.Event()
        self.loop.watch(lambda stream: changed.set() if stream == "fleet" else None)
        greeting: dict[str, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                changed.clear()
                for machine in self._reach():
                    greeting.pop(machine.name).cancel()
                    group.create_task(machine.close(), name=f"leave {machine.name}")
                for name in self._reached.keys() - greeting.keys():
                    greet = self._greet(name, self._reached[name])
                    greeting[name] = group.create_task(greet, name=f"greet {name}")
                await changed.wait()

    async def _greet(self, name: str, machine: Machine) -> None:
        """Tell the fleet what a machine is whenever its node answers, and when it stops answering."""
        changed = asyncio.Event()
        if isinstance(link := getattr(machine, "link", None), Link):
            link.changed.append(changed.set)
        self._greeted += 1  # the same name may be another machine by now, with epochs of its own
        news, lost, told = f"machine:{name}:{self._born}.{self._greeted}", 0, -1
        while True:
            changed.clear()
            try:
                about: dict[str, Any] = await machine.hello()
            except Unavailable as away:
                why = away.sentence.removeprefix(f"{name}: ")
                if self._thought_otherwise(name, why):
                    lost += 1
                    gone = MachineLost(machine=name, why=why)
                    await self.loop.tell("fleet", gone, f"{news}:lost:{lost}")
                await asyncio.sleep(1.0)
                continue
            if about["epoch"] == told:  # it was this link whose coming up we waited for
                await changed.wait()
                continue
            seen = MachineSeen(
                machine=name,
                fenced=bool(about["fenced"]),
                fence=str(about["why"]),
                agents=tuple(sorted(dict(about["agents"]).items())),
                cores=int(about.get("cores", 0)),
                free_mb=int(about.get("free_mb", UNKNOWN)),
                disk_free_mb=int(about.get("disk_free_mb", UNKNOWN)),
                disk_needs_mb=int(about.get("disk_needs_mb", 0)),
            )
            try:
                await self.loop.post("fleet", seen, f"{news}:{about['epoch']}")
            except StreamBroken:  # it is told once the owner had it go on
                await asyncio.sleep(1.0)
                continue
            told = about["epoch"]
            await changed.wait()

    def _thought_otherwise(self, name: str, why: str) -> bool:
        """Whether the fleet does not know yet that a machine is away, and why."""
        known = self.loop.state("fleet")
        machine = known.machine(name) if isinstance(known, fleet.Fleet) else None
        return machine is None or machine.up or machine.why != why


def _clock(at: float, zone: str, *, day: bool) -> str:
    when = datetime.fromtimestamp(at, ZoneInfo(zone) if zone else None)
    return when.strftime("%d %b %H:%M" if day else "%H:%M")


@asynccontextmanager
async def opened(home: Home) -> AsyncIterator[Door]:
    """The door of an engine opened for one request, while none is running."""
    engine = Engine(home)
    async with engine.unlocked():
        yield engine.door
