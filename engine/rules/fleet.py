"""Machines, their places for runs, and accounts: the scarce things no session may take by itself.

A session asks for a place (`SlotWanted`), is told where it runs and why (`Placed`) or why it waits
(`Queued`), and gives the place back (`SlotFreed`). First come, first served, machine by machine: on
the one it names, else where fewest agents run of those that are up and have its agent. Few start at
once (starts.py), and runs of an account that rests wait whatever is free (rests.py); when a limit is
over they leave the line and ask anew, if their owner wants that (after_limit.py). New workers wait
where the owner's share of an account is touched (reserve.py). Pure. Neighbours: session.py asks;
engine/requests/ adds accounts and machines.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules import damage, disks, drift, logins, reserve, starts
from engine.rules.damage import Damage
from engine.rules.disks import Disk
from engine.rules.drift import Drift
from engine.rules.effects import AnyEffect, Say, Tell
from engine.rules.events import (
    AccountAdded,
    AccountFreed,
    AccountRemoved,
    AccountRested,
    AccountUsed,
    FleetEvent,
    HeldAll,
    HoldOver,
    LinesUnknown,
    LoginBegun,
    LoginCancelled,
    LoginDone,
    LoginFailed,
    LoginShown,
    LoginTyped,
    MachineAdded,
    MachineLoad,
    MachineLost,
    MachineOffered,
    MachinePaused,
    MachineRemoved,
    MachineSeen,
    OfferLeft,
    Placed,
    Queued,
    ReserveSet,
    RestOver,
    RunUp,
    SlotFreed,
    SlotTicked,
    SlotWanted,
    SpoolDamaged,
    StartOver,
    WindowOver,
)
from engine.rules.logins import Logins
from engine.rules.reserve import Window, Windows
from engine.rules.rests import Rest, over, rested, resting, without
from engine.rules.words import HERE, Account, Kept, Reach

MAX_RUNS = 10
NOT_YET = "its node has not answered yet"
REHEARSAL = "rehearsal"  # its agent comes with our node


class Machine(Struct, frozen=True, kw_only=True):
    """One machine as its node last described it."""

    name: str
    address: str = ""  # user@host:port; "" = this machine
    up: bool = False
    why: str = NOT_YET
    fenced: bool = False
    fence: str = ""  # how it is, in words; "": its node has not answered yet
    agents: tuple[tuple[str, str], ...] = ()
    max_runs: int = MAX_RUNS
    paused: bool = False  # takes no new runs
    cores: int = 0  # 0: not told
    free_mb: int = starts.UNKNOWN  # memory that can be had
    told_at: float = 0.0  # when that was so
    disk: Disk = Disk()

    def has(self, agent: str) -> bool:
        """Whether an agent can run there; of this machine each account says itself."""
        return self.name == HERE or agent in ("", REHEARSAL, *dict(self.agents))


class Offer(Struct, frozen=True, kw_only=True):
    """A computer that was looked at and is not added yet."""

    name: str
    address: str
    max_runs: int
    fingerprint: str
    expected: str = ""


class Slot(Struct, frozen=True):
    """A run that has, or wants, a place; `machine` "" = any."""

    run: str
    teller: str
    machine: str
    told: str = ""  # the reason it was last given for waiting
    account: str = ""
    until: float = 0.0  # what it was last told of the end of its wait
    why: str = ""  # of the machine it names
    agent: str = ""
    starting: bool = False
    placed_at: float = 0.0
    timed: bool = False  # somebody waits for its start to be over, or too long
    machines: tuple[str, ...] = ()  # ticked; () = any
    fresh: bool = False  # a worker that never ran
    careful: bool = False  # starts only where memory is known to be free


class Fleet(Struct, frozen=True, tag=True, kw_only=True):
    """Who runs where, who waits, and which accounts there are."""

    machines: tuple[Machine, ...] = (Machine(name=HERE),)
    running: tuple[Slot, ...] = ()
    wanting: tuple[Slot, ...] = ()
    accounts: tuple[Account, ...] = ()
    rests: tuple[Rest, ...] = ()  # of accounts
    held: bool = False
    offers: tuple[Offer, ...] = ()
    windows: Windows = ()  # of accounts, as agents told of them
    reserve: int = 0  # per cent of each that the owner keeps
    untried: tuple[tuple[str, float], ...] = ()  # accounts no turn was taken up with, since when
    drifts: tuple[Drift, ...] = ()  # versions of agents that say what we do not know
    damages: tuple[Damage, ...] = ()  # machines that lost some of what was printed there
    logins: Logins = ()  # the last try of each account, until it is signed in

    def machine(self, name: str) -> Machine | None:
        return next((machine for machine in self.machines if machine.name == name), None)

    def offer(self, name: str) -> Offer | None:
        return next((offer for offer in self.offers if offer.name == name), None)

    def account(self, name: str) -> Account | None:
        return next((account for account in self.accounts if account.name == name), None)


def reach(now: Fleet) -> Reach:
    """What there is to choose from when work is given a place and an agent."""
    agents = tuple(dict.fromkeys(account.agent for account in now.accounts))
    machines = tuple(
        (machine.name, tuple(agent for agent in agents if machine.has(agent)))
        for machine in now.machines
    )
    return Reach(machines, now.accounts)


def begin(_name: str) -> Fleet:
    return Fleet()


def decide(now: Fleet, event: FleetEvent) -> tuple[Fleet, tuple[AnyEffect, ...]]:
    """Return who runs where after `event`, and whom to tell."""
    match event:
        case SlotWanted(run=run) if _has(now, run):
            return now, ()
        case SlotTicked():
            return _grant(_ticked_anew(now, event), event.at)
        case SlotWanted():
            slot = Slot(
                event.run,
                event.teller,
                event.machine,
                account=event.account,
                why=event.why,
                agent=event.agent,
                machines=event.machines,
                fresh=event.fresh,
                careful=event.careful,
            )
            return _grant(replace(now, wanting=(*now.wanting, slot)), event.at)
        case SlotFreed(run=run):
            left = replace(
                now,
                untried=_still_untried(now, event),
                running=tuple(slot for slot in now.running if slot.run != run),
                wanting=tuple(slot for slot in now.wanting if slot.run != run),
            )
            return _grant(left, event.at)
        case RunUp(run=run) | StartOver(run=run):
            running = tuple(
                replace(slot, starting=False) if slot.run == run else slot for slot in now.running
            )
            return _grant(replace(now, running=running), event.at)
        case MachineAdded():
            return _grant(_added(now, event), event.at)
        case MachineOffered():
            return _offered(now, event), ()
        case OfferLeft(machine=name):
            return replace(now, offers=_other_offers(now, name)), ()
        case MachinePaused(machine=name, paused=paused):
            known = now.machine(name)
            if known is None:
                raise Refused(_NO_MACHINE.format(name))
            return _grant(_with(now, replace(known, paused=paused)), event.at)
        case MachineRemoved(machine=name):
            return _grant(_removed(now, name), event.at)
        case MachineSeen():
            return _and_say(*_seen(now, event), event.at)
        case MachineLoad():
            return _and_say(*_loaded(now, event), event.at)
        case MachineLost(machine=name, why=why):
            machines = tuple(
                replace(machine, up=False, why=why) if machine.name == name else machine
                for machine in now.machines
            )
            return _grant(replace(now, machines=machines), event.at)
        case HeldAll(held=held):
            # Who lets all go on wants it now, whatever a provider said.
            rests = now.rests if held else tuple(rest for rest in now.rests if rest.signed_out)
            return _grant(replace(now, held=held, rests=rests), event.at)
        case AccountAdded(account=account):
            kept = tuple(known for known in now.accounts if known.name != account.name)
            left = _forgotten(now, account.name)  # another login may be another subscription
            since = () if account.agent == REHEARSAL else ((account.name, event.at),)
            left = replace(left, untried=(*left.untried, *since))
            if not event.signed_in:
                left = replace(left, rests=(*left.rests, _no_login(account.name, event.at)))
            return _grant(replace(left, accounts=(*kept, account)), event.at)
        case AccountRemoved(name=name) if now.account(name) is None:
            raise Refused(_NO_ACCOUNT.format(name))
        case AccountRemoved(name=name):
            kept = tuple(known for known in now.accounts if known.name != name)
            return _grant(replace(_forgotten(now, name), accounts=kept), event.at)
        case AccountRested():
            rests, wake = rested(now.rests, event)
            after, told = _grant(replace(now, rests=rests), event.at)
            return after, (*wake, *told)
        case RestOver():
            return _rest_over(now, event)
        case AccountUsed():
            return _grant(replace(now, windows=reserve.told(now.windows, event)), event.at)
        case LinesUnknown():
            drifts, said = drift.noted(now.drifts, event)
            return replace(now, drifts=drifts), tuple(said)
        case SpoolDamaged():
            damages, said = damage.noted(now.damages, event)
            return replace(now, damages=damages), tuple(said)
        case WindowOver():
            return _grant(now, event.at)
        case ReserveSet(value=value):
            return _grant(replace(now, reserve=reserve.chosen(value)), event.at)
        case AccountFreed(name=name) if resting(now.rests, name) is None:
            raise Refused(f"Account {name} does not wait for you any more.")
        case AccountFreed(name=name):
            left = replace(now, logins=logins.without(now.logins, name))
            return _grant(replace(left, rests=without(now.rests, name)), event.at)
        case LoginBegun(account=name) if now.account(name) is None:
            raise Refused(_NO_ACCOUNT.format(name))
        case LoginBegun() | LoginShown() | LoginTyped() | LoginFailed() | LoginCancelled():
            return replace(now, logins=logins.after(now.logins, event)), ()
        case LoginDone():
            return _signed_in(now, event)
        case _:
            return now, ()


def looked_at(now: Fleet) -> tuple[str, ...]:
    """The machines whose memory counts just now: something starts there, or waits for it."""
    return tuple(
        machine.name
        for machine in now.machines
        if machine.up
        and machine.cores
        and (
            any(slot.starting and slot.machine == machine.name for slot in now.running)
            or any(_waits_for_memory(slot, machine) for slot in now.wanting)
        )
    )


def short_of_room(now: Fleet) -> tuple[str, ...]:
    """The machines whose disk is nearly full."""
    return tuple(machine.name for machine in now.machines if machine.up and machine.disk.low)


def _waits_for_memory(slot: Slot, machine: Machine) -> bool:
    reasons = (f"{machine.name}: {starts.MEMORY}", f"{machine.name}: {starts.LOOKED_AT}")
    return slot.told.startswith(reasons)


def _has(now: Fleet, run: str) -> bool:
    return any(slot.run == run for slot in (*now.running, *now.wanting))


def _forgotten(now: Fleet, account: str) -> Fleet:
    """Know nothing any more of how an account stood."""
    return replace(
        now,
        rests=without(now.rests, account),
        windows=reserve.without(now.windows, account),
        untried=tuple(one for one in now.untried if one[0] != account),
        logins=logins.without(now.logins, account),
    )


def _no_login(account: str, at: float) -> Rest:
    return Rest(account=account, why=logins.NO_LOGIN, at=at)


def _signed_in(now: Fleet, event: LoginDone) -> tuple[Fleet, tuple[AnyEffect, ...]]:
    """Have an account go on with the login its owner just made."""
    login = logins.named(now.logins, event.login)
    account = now.account(login.account) if login else None
    if account is None:
        return now, ()
    mended = logins.signed_in(account, event.secret, event.config_dir)
    left = _forgotten(now, account.name)
    left = replace(
        left,
        accounts=tuple(mended if one.name == mended.name else one for one in now.accounts),
        untried=(*left.untried, (mended.name, event.at)),
    )
    after, effects = _grant(left, event.at)
    waited = any(slot.account == account.name for slot in now.wanting)
    goes_on = " What waited for it goes on." if waited else ""
    said = f"Account {account.name} is signed in.{goes_on}"
    return after, (Say(goal="", kind="news", text=said), *effects)


def _still_untried(now: Fleet, event: SlotFreed) -> tuple[tuple[str, float], ...]:
    """The accounts still untried after a turn: its account's login is good, if it is that one still."""
    slot = next((slot for slot in now.running if slot.run == event.run), None)
    if slot is None or not event.let_in:
        return now.untried
    return tuple(
        (name, since)
        for name, since in now.untried
        if name != slot.account or slot.placed_at < since
    )


def _ticked_anew(now: Fleet, event: SlotTicked) -> Fleet:
    """Hear that a run may go elsewhere, if it waits still; it keeps its turn."""
    wanting = tuple(
        replace(slot, machine=event.machine, machines=event.machines)
        if slot.run == event.run
        else slot
        for slot in now.wanting
    )
    return replace(now, wanting=wanting)


def _may_go(slot: Slot, machine: Machine) -> bool:
    if slot.machine:
        return slot.machine == machine.name
    ticked = not slot.machines or machine.name in slot.machines
    return ticked and machine.has(slot.agent)


def _nowhere(slot: Slot) -> str:
    if slot.machine or not slot.machines:
        return f"{slot.machine or slot.agent}: no such machine"
    ticked = " and ".join(slot.machines)
    return f"{ticked}: no {slot.agent} there; /settings in its topic ticks other machines"


_NO_ACCOUNT = (
    "There is no account {}. /accounts shows them, or on the box: quarterdeck account list"
)
_NO_MACHINE = (
    "There is no machine {}. /machines shows them, or on the box: quarterdeck machine list"
)


def _named(now: Fleet, event: MachineAdded | MachineOffered) -> Machine | None:
    """Return the machine that has this name already; it must be at this address."""
    if event.machine == HERE:
        raise Refused('"here" is this machine, and always there. Choose another name.')
    known = now.machine(event.machine)
    if known is not None and known.address != event.address:
        raise Refused(
            f"Machine {known.name} is {known.address} already. Choose another name, or remove it "
            f"first: /machines, or on the box: quarterdeck machine remove {known.name}"
        )
    return known


def _added(now: Fleet, event: MachineAdded) -> Fleet:
    known = _named(now, event) or Machine(name=event.machine, address=event.address)
    added = replace(known, max_runs=event.max_runs)
    return _with(replace(now, offers=_other_offers(now, added.name)), added)


def _offered(now: Fleet, event: MachineOffered) -> Fleet:
    if _named(now, event) is not None and not event.expected:
        raise Refused(f"Machine {event.machine} is there already: /machines shows it.")
    offer = Offer(
        name=event.machine,
        address=event.address,
        max_runs=event.max_runs,
        fingerprint=event.fingerprint,
        expected=event.expected,
    )
    return replace(now, offers=(*_other_offers(now, event.machine), offer))


def _other_offers(now: Fleet, name: str) -> tuple[Offer, ...]:
    return tuple(offer for offer in now.offers if offer.name != name)


def _removed(now: Fleet, name: str) -> Fleet:
    if name == HERE:
        raise Refused('"here" is this machine and cannot be removed.')
    if now.machine(name) is None:
        raise Refused(_NO_MACHINE.format(name))
    if runs := sum(slot.machine == name for slot in (*now.running, *now.wanting)):
        agents = "an agent" if runs == 1 else f"{runs} agents"
        raise Refused(f"{name} has {agents} at work. Let that end, or stop it first.")
    return replace(now, machines=tuple(other for other in now.machines if other.name != name))


def _with(now: Fleet, machine: Machine) -> Fleet:
    if now.machine(machine.name) is None:
        return replace(now, machines=(*now.machines, machine))
    machines = tuple(machine if other.name == machine.name else other for other in now.machines)
    return replace(now, machines=machines)


def _loaded(now: Fleet, event: MachineLoad) -> tuple[Fleet, tuple[AnyEffect, ...]]:
    known = now.machine(event.machine)
    if known is None:
        return now, ()
    told = Disk(event.disk_free_mb, event.disk_needs_mb, ours=event.ours)
    disk, said = disks.noted(known.disk, known.name, told, tidied=event.tidied)
    loaded = replace(known, free_mb=event.free_mb, told_at=event.at, disk=disk)
    return _with(now, loaded), said


def _and_say(
    now: Fleet, said: tuple[AnyEffect, ...], at: float
) -> tuple[Fleet, tuple[AnyEffect, ...]]:
    after, effects = _grant(now, at)
    return after, (*said, *effects)


def _seen(now: Fleet, event: MachineSeen) -> tuple[Fleet, tuple[AnyEffect, ...]]:
    known = now.machine(event.machine)
    if known is None and event.machine != HERE:
        return now, ()  # removed meanwhile
    known = known or Machine(name=event.machine)
    told = Disk(event.disk_free_mb, event.disk_needs_mb)
    disk, said = disks.noted(known.disk, known.name, told)
    seen = replace(
        known,
        up=True,
        why="",
        fenced=event.fenced,
        fence=event.fence,
        agents=event.agents,
        cores=event.cores,
        free_mb=event.free_mb,
        told_at=event.at,
        disk=disk,
    )
    return _with(now, seen), said


def _rest_over(now: Fleet, event: RestOver) -> tuple[Fleet, tuple[AnyEffect, ...]]:
    """End a limit's rest: whether what waited for it goes on is its goal's to say, so it asks anew."""
    rests = over(now.rests, event)
    if rests == now.rests:
        return now, ()
    waited = [slot for slot in now.wanting if slot.account == event.name]
    left = tuple(slot for slot in now.wanting if slot.account != event.name)
    after, effects = _grant(replace(now, rests=rests, wanting=left), event.at)
    told = (Tell(stream=slot.teller, event=HoldOver(what="limit", run=slot.run)) for slot in waited)
    return after, (*told, *effects)


def _grant(now: Fleet, at: float) -> tuple[Fleet, tuple[AnyEffect, ...]]:
    """Give every place that is free to those who waited longest; tell the others why they wait."""
    running = list(now.running)
    wanting: list[Slot] = []
    effects: list[AnyEffect] = []
    line: dict[str, int] = {}  # how many wait for a start, by machine
    for slot in now.wanting:
        machine, why = _place(now, slot, running, line, at)
        if machine:
            taken = replace(slot, machine=machine, told="", until=0.0, starting=True, placed_at=at)
            running.append(taken)
            placed = Placed(run=slot.run, machine=machine, why=why)
            effects.append(Tell(stream=slot.teller, event=placed))
            continue
        until, kept = _until(now, slot, at)
        if starts.is_in_line(why):
            until = _starts_by(why.partition(":")[0], running, line)
        is_new = (why, until) != (slot.told, slot.until)
        if is_new and kept and not any(_waits_as_long(other, slot, until) for other in wanting):
            over = WindowOver(name=slot.account)
            effects.append(Tell(stream="fleet", event=over, due_at=until))
        wanting.append(replace(slot, told=why, until=until))
        if is_new:
            queued = Queued(run=slot.run, why=why, until=until, kept=kept)
            effects.append(Tell(stream=slot.teller, event=queued))
    timed, wakes = _timed(running, line)
    after = replace(now, running=timed, wanting=tuple(wanting))
    return after, (*effects, *wakes)


def _until(now: Fleet, slot: Slot, at: float) -> tuple[float, Kept | None]:
    """Return when a run's wait ends, if that is known, and what of its account the owner keeps."""
    if now.held:
        return 0.0, None
    if rest := resting(now.rests, slot.account):
        return rest.until, None
    window = _touched(now, slot, at)
    return (window.until, reserve.kept(window, now.reserve)) if window else (0.0, None)


def _starts_by(machine: str, running: list[Slot], line: dict[str, int]) -> float:
    """Return when the last in a machine's line starts at the latest."""
    began = [slot.placed_at for slot in running if slot.machine == machine and slot.starting]
    return starts.latest(line[machine], began)


def _waits_as_long(other: Slot, slot: Slot, until: float) -> bool:
    return other.fresh and (other.account, other.until) == (slot.account, until)


def _touched(now: Fleet, slot: Slot, at: float) -> Window | None:
    """Return the window a run waits for: what has begun goes on whatever is used."""
    return reserve.past(now.windows, slot.account, now.reserve, at) if slot.fresh else None


def _timed(
    running: list[Slot], line: dict[str, int]
) -> tuple[tuple[Slot, ...], tuple[AnyEffect, ...]]:
    """Give every start that somebody waits for an end."""
    slots: list[Slot] = []
    wakes: list[AnyEffect] = []
    for slot in running:
        if slot.starting and not slot.timed and line.get(slot.machine):
            slot = replace(slot, timed=True)
            late = StartOver(run=slot.run)
            wakes.append(Tell(stream="fleet", event=late, due_at=slot.placed_at + starts.START_S))
        slots.append(slot)
    return tuple(slots), tuple(wakes)


def _place(
    now: Fleet, slot: Slot, running: list[Slot], line: dict[str, int], at: float
) -> tuple[str, str]:
    """Return the machine for a run and why it is that one, or "" and why it waits."""
    if now.held:
        return "", "everything is stopped: /resume all goes on"
    if rest := resting(now.rests, slot.account):
        return "", rest.reason
    if window := _touched(now, slot, at):
        return "", reserve.reason(reserve.kept(window, now.reserve))
    ticked = [machine for machine in now.machines if _may_go(slot, machine)]
    if not ticked:
        return "", _nowhere(slot)
    counts = {
        machine.name: sum(taken.machine == machine.name for taken in running) for machine in ticked
    }
    able = [
        machine
        for machine in ticked
        if machine.up and not machine.paused and counts[machine.name] < machine.max_runs
    ]
    if not able:
        return "", _unable(ticked)
    waits = {
        machine.name: _waits_there(machine, running, line, at, careful=slot.careful)
        for machine in able
    }
    best = min(able, key=lambda machine: (bool(waits[machine.name]), counts[machine.name]))
    if waits[best.name]:
        line[best.name] = line.get(best.name, 0) + 1
        return "", f"{best.name}: {waits[best.name]}"
    if len(now.machines) == 1 or (not slot.machine and len(slot.machines) == 1):
        return best.name, f"{best.name}: only machine ticked"
    if slot.machine:
        return best.name, f"{best.name}: {slot.why or 'named'}"
    if len(ticked) == 1:
        return best.name, f"{best.name}: only machine with {slot.agent}"
    return best.name, f"{best.name}: fewest agents running there ({counts[best.name]})"


def _unable(ticked: list[Machine]) -> str:
    """Why none of these takes a run: one that is only full may have a place soonest."""
    first = min(ticked, key=lambda machine: machine.paused)
    if first.paused:
        return f"{first.name}: paused by you; /machines resumes it"
    full = f"all {first.max_runs} places are taken"
    return f"{first.name}: {full if first.up else first.why}"


def _waits_there(
    machine: Machine, running: list[Slot], line: dict[str, int], at: float, *, careful: bool
) -> str:
    """Why a run with a place on a machine cannot start there yet, or nothing."""
    there = [slot for slot in running if slot.machine == machine.name]
    starting = sum(slot.starting for slot in there)
    age_s = at - machine.told_at
    if machine.disk.low:
        return disks.nearly_full(machine.disk)
    told = bool(machine.cores) and machine.free_mb != starts.UNKNOWN
    if careful and told:
        if age_s > starts.FRESH_S:
            return starts.LOOKED_AT
        if starts.is_short(machine.free_mb, age_s, starting, max(1, len(there))):
            return starts.nearly_full(starts.left_mb(machine.free_mb, starting))
    if told and starting and age_s > starts.FRESH_S:  # nobody starts beside it on an old number
        return starts.LOOKED_AT
    if starts.is_short(machine.free_mb, age_s, starting, len(there)):
        return starts.nearly_full(starts.left_mb(machine.free_mb, starting))
    if not starts.may_start(machine.cores, starting):
        return starts.in_line(line.get(machine.name, 0) + 1, starting)
    return ""
