"""What must hold of the whole engine, one function for each; those of the rules are in tests/rules/.

    of_rules   after every step, by what was decided so far
    always     after every step, by what is true outside
    quiet      whenever nothing is on its way between streams and nothing is being done
    at_rest    once the outside was kind, the owner patient, and time had passed

Left open until there are budgets: what is spent and promised never passes what the owner gave.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from engine import board
from engine.codec import Codec
from engine.engine import RULES
from engine.rules import starts
from engine.rules.ask import Ask
from engine.rules.ask import Stage as AskStage
from engine.rules.effects import AnyEffect, CloseRun, ReplyDesk, Tell, Watch
from engine.rules.events import AnyEvent
from engine.rules.fleet import Fleet
from engine.rules.goal_state import Goal, Stage
from engine.rules.session_state import Session
from engine.rules.session_state import Stage as SessionStage
from engine.rules.silence import IDLE_TOOL_S
from engine.views import AnyCard
from tests.rules.promises import broken_promises, unfinished, unreasoned_waits
from tests.rules.world import Happened
from tests.simulation.machine import SimMachine
from tests.simulation.repositories import Git

World = Mapping[str, Any]

UNSEEN_S = 30 * 60.0
UNTOLD_S = IDLE_TOOL_S + 30 * 60.0


class History:
    """What was decided, read on from the ledger's own file."""

    def __init__(self, file: sqlite3.Connection) -> None:
        self.happened: list[Happened] = []
        self.causes: list[str] = []
        self._file = file
        self._read = 0
        self._events: Codec[AnyEvent] = Codec(AnyEvent)
        self._effects: Codec[AnyEffect] = Codec(AnyEffect)

    def read_on(self) -> Sequence[Happened]:
        """Return what is new."""
        rows = self._file.execute(
            "SELECT n, stream, cause, body FROM events WHERE n > ? ORDER BY n", (self._read,)
        ).fetchall()
        new: list[Happened] = []
        for n, stream, cause, body in rows:
            effects = self._file.execute(
                "SELECT body FROM effects WHERE n = ? ORDER BY id", (n,)
            ).fetchall()
            decoded = tuple(self._effects.load(effect) for (effect,) in effects)
            new.append(Happened(stream, self._events.load(body), decoded))
            self.causes.append(cause)
            self._read = n
        self.happened += new
        return new

    def states(self) -> dict[str, Any]:
        """Where every stream stands, by the file alone."""
        codecs: dict[str, Codec[Any]] = {
            prefix: Codec(rule.state_type) for prefix, rule in RULES.items()
        }
        rows = self._file.execute("SELECT stream, body FROM states").fetchall()
        return {stream: codecs[stream.partition("/")[0]].load(body) for stream, body in rows}


def of_rules(history: History, world: World) -> Iterator[str]:
    yield from broken_promises(history.happened, world)
    yield from answered_once(history)


def always(git: Git, machines: Iterable[SimMachine], world: World) -> Iterator[str]:
    yield from git.faults
    yield from places_kept(machines, world)
    yield from starts_apart(world)
    yield from pushed_once(git)


def quiet(world: World, shown: Iterable[AnyCard], doing: board.Doing) -> Iterator[str]:
    yield from unreasoned_waits(world)
    yield from asks_of_nobody(world)
    yield from cards_lag(world, shown, doing)


def at_rest(history: History, world: World) -> Iterator[str]:
    yield from of_rules(history, world)
    yield from unfinished(world)
    yield from goals_left(world)
    yield from remembered(history, world)


# ---------------------------------------------------------------- always


def places_kept(machines: Iterable[SimMachine], world: World) -> Iterator[str]:
    """No machine runs more agents than it has places, by the fleet's word and by its own."""
    fleet = world.get("fleet")
    if not isinstance(fleet, Fleet):
        return
    for machine in machines:
        known = fleet.machine(machine.name)
        if known is None:
            continue
        placed = sum(slot.machine == machine.name for slot in fleet.running)
        alive = len(machine.alive())
        if max(placed, alive) > known.max_runs:
            yield f"{machine.name} has {known.max_runs} places, {placed} are given, {alive} run"


def starts_apart(world: World) -> Iterator[str]:
    """No more runs are starting on a machine than it has cores."""
    fleet = world.get("fleet")
    if not isinstance(fleet, Fleet):
        return
    for machine in fleet.machines:
        starting = sum(s.starting and s.machine == machine.name for s in fleet.running)
        if starting and not starts.may_start(machine.cores, starting - 1):
            yield f"{starting} runs start at once on {machine.name}, of {machine.cores} cores"


def answered_once(history: History) -> Iterator[str]:
    """No call of an agent's desk is answered twice."""
    told = (effect for item in history.happened for effect in item.effects)
    replies = Counter(effect.call for effect in told if isinstance(effect, ReplyDesk))
    yield from (f"{call} was answered {n} times" for call, n in replies.items() if n > 1)


def pushed_once(git: Git) -> Iterator[str]:
    for commit in set(git.pushes):
        if (times := git.pushes.count(commit)) > 1:
            yield f"{commit} was pushed {times} times"


def ended_asking(history: History, machines: Iterable[SimMachine]) -> Iterator[str]:
    """No run is ended for its silence while it waits for its owner's answer."""
    hung = {
        effect.run
        for item in history.happened
        for effect in item.effects
        if isinstance(effect, CloseRun) and effect.unless_past
    }
    ended = (run for machine in machines for run in machine.ended_asking)
    yield from (f"{run} was ended for its silence, and had asked" for run in ended if run in hung)


def silent_for_ever(
    machines: Iterable[SimMachine], world: World, late_s: float, began_at: float
) -> Iterator[str]:
    """While all is kind: what prints nothing is ended, or its card says why, or its owner was told.

    late_s     by how much what is due may be late
    began_at   when this life of the engine did: lines read once more count as heard
    """
    for machine in machines:
        for run in machine.alive():
            session = world.get(f"session/{run.tree}")
            if not isinstance(session, Session) or session.run != run.id or session.asks:
                continue
            silent_s = machine.now - run.last_at - late_s
            shown = session.silence
            if session.stage is not SessionStage.RUNNING or silent_s < UNSEEN_S:
                continue
            if shown is None:
                yield f"{run.id} has been silent for {silent_s / 60:.0f} min, and its card is too"
            elif min(silent_s, machine.now - began_at) > UNTOLD_S and not shown.told:
                yield f"{run.id} has been silent for {silent_s / 3600:.1f} h, and nobody was told"


# ---------------------------------------------------------------- when nothing is on its way


def asks_of_nobody(world: World) -> Iterator[str]:
    """Nothing is asked for a session that is over, or for a goal that is."""
    for stream, ask in world.items():
        if not isinstance(ask, Ask) or ask.stage is not AskStage.OPEN:
            continue
        teller, goal = world.get(ask.teller), world.get(f"goal/{ask.goal}")
        if isinstance(teller, Session) and teller.final:
            yield f"{stream} is open, and {ask.teller} is over"
        alone = not ask.teller.startswith("project/")  # what a project asks may be of use to others
        if alone and isinstance(goal, Goal) and not goal.live:
            yield f"{stream} is open, and goal {goal.id} is over"


def cards_lag(world: World, shown: Iterable[AnyCard], doing: board.Doing) -> Iterator[str]:
    """What the owner was shown is what would be shown now."""
    now = {card.id: card for card in board.everything(world, doing)}
    seen = {card.id: card for card in shown}
    yield from (f"card {name} is shown no more" for name in now.keys() - seen.keys())
    yield from (f"card {name} is shown still" for name in seen.keys() - now.keys())
    for name in now.keys() & seen.keys():
        if now[name] != seen[name]:
            yield f"card {name} is not as shown: {now[name]} was {seen[name]}"


# ---------------------------------------------------------------- at rest


def goals_left(world: World) -> Iterator[str]:
    for goal in board.goals(world):
        if goal.live:
            plan, review = goal.plan_stage, goal.review.stage
            lead = world.get(f"session/{goal.session}")
            where = f"plan {plan}, review {review}, lead {getattr(lead, 'stage', None)}"
            yield f"{goal.id} is neither shipped nor dropped: {where}"
        elif goal.stage is Stage.SHIPPED and not goal.shipped:
            yield f"{goal.id} is shipped, and nothing of it is"


def remembered(history: History, world: World) -> Iterator[str]:
    """The file tells what memory has."""
    stored = history.states()
    yield from (f"{s} is stored otherwise" for s in world if stored.get(s) != world[s])


def owed_still(file: sqlite3.Connection) -> Iterator[str]:
    """Nothing is owed but wakes of a time to come."""
    codec: Codec[AnyEffect] = Codec(AnyEffect)
    rows = file.execute("SELECT body, due_at, stream FROM effects WHERE done_at IS NULL").fetchall()
    for body, due_at, stream in rows:
        effect = codec.load(body)
        if not (isinstance(effect, Watch | Tell) and due_at):
            yield f"{stream} is owed {type(effect).__name__} still"


def runs_left(machines: Iterable[SimMachine], world: World) -> Iterator[str]:
    """Nothing runs of a session that is over for good."""
    for machine in machines:
        for run in machine.alive():
            session = world.get(f"session/{run.tree}")
            if isinstance(session, Session) and session.final:
                yield f"{run.id} runs on, and its session is over"


def lines_lost(history: History, machines: Iterable[SimMachine]) -> Iterator[str]:
    """Of a run that was read to its end, each beginning and end of a turn was heard."""
    heard = {cause.rpartition(".")[0] for cause in history.causes if cause.startswith("run:")}
    for machine in machines:
        for run in machine.runs.values():
            if not run.is_agent or f"run:{run.id}:{len(run.lines)}" not in heard:
                continue
            for number, line in enumerate(run.lines, 1):
                told = b'"init' in line.replace(b"\\", b"") or b'"result' in line.replace(
                    b"\\", b""
                )
                if told and f"run:{run.id}:{number}" not in heard:
                    yield f"line {number} of {run.id} was never heard"


def kept(history: History, said: Mapping[str, str]) -> Iterator[str]:
    """Whatever was answered yes to is in the ledger, once.

    said   by cause what the owner asked for
    """
    for cause, what in said.items():
        times = sum(
            known == cause or known.startswith(f"{cause}.") for known in set(history.causes)
        )
        if not times:
            yield f"{what} ({cause}) was answered yes to, and is nowhere"
