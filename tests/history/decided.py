"""What the ledger must say in the end: each decision once, nothing owed, nobody waited for in vain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from engine import board
from engine.rules import ask, fleet, landing, plan, ship
from engine.rules.events import (
    Answered,
    GoalOpened,
    GoalShipped,
    PieceLanded,
    ShipPushed,
)
from engine.rules.goal_state import Stage
from engine.rules.session_state import Session
from engine.views import ShipCard, WorkerCard
from tests.history.scene import Expected, Scene
from tests.simulation.invariants import answered_once, asks_of_nobody, cards_lag, owed_still

# Of what is no event (a stream set aside, what goes to the vault) there is no more than the row.
SIGNED = "SELECT cause FROM decisions WHERE cause <> '' AND stream <> ''"
ONCE_A_STREAM = (Answered, GoalOpened, GoalShipped, ShipPushed)


def of_ledger(scene: Scene, expected: Expected) -> Iterator[str]:
    for (word,) in scene.rows("PRAGMA integrity_check"):
        if word != "ok":
            yield f"the ledger is damaged: {word}"
    for stream, why in scene.rows("SELECT stream, why FROM broken"):
        yield f"{stream} was set aside: {why}"
    yield from owed_still(scene._file)
    yield from answered_once(scene.told)
    yield from _once(scene)
    yield from _counted(scene, expected)
    yield from _signed(scene)
    yield from asks_of_nobody(scene.states)
    yield from _at_rest(scene)
    yield from _cards(scene, expected)


def _once(scene: Scene) -> Iterator[str]:
    """One landing a piece, one answer an ask, one push a ship."""
    happened = scene.told.happened
    landed = Counter(item.event.piece for item in happened if isinstance(item.event, PieceLanded))
    yield from (f"{piece} landed {n} times" for piece, n in landed.items() if n > 1)
    for kind in ONCE_A_STREAM:
        streams = Counter(item.stream for item in happened if isinstance(item.event, kind))
        for stream, times in streams.items():
            if times > 1:
                yield f"{stream} has {kind.__name__} {times} times"


def _counted(scene: Scene, expected: Expected) -> Iterator[str]:
    counted = Counter(type(item.event).__name__ for item in scene.told.happened)
    for kind, times in expected.counted.items():
        if counted[kind] != times:
            yield f"the ledger has {kind} {counted[kind]} times, not {times}"
    yield from (f"the ledger has {kind}" for kind in expected.never if counted[kind])


def _signed(scene: Scene) -> Iterator[str]:
    """What an owner had decided on the phone has a row that says who, and no row is of nothing."""
    causes = [cause for (cause,) in scene.rows(SIGNED)]
    events = {cause for (cause,) in scene.rows("SELECT cause FROM events")}
    yield from (f"{cause} is a decision twice" for cause, n in Counter(causes).items() if n > 1)
    yield from (f"{cause} is a decision, and no event" for cause in set(causes) - events)
    unsigned = {cause for cause in events if cause.startswith("telegram:")} - set(causes)
    yield from (f"{cause} was decided by nobody" for cause in sorted(unsigned))


def _at_rest(scene: Scene) -> Iterator[str]:
    """Nobody works, waits or is asked."""
    for stream, state in scene.states.items():
        match state:
            case Session():
                if not state.final:
                    yield f"{stream} is not over"
                if state.live:
                    yield f"{stream} has a run still"
                if state.queue:
                    yield f"{stream} was never told: {state.queue}"
                if state.asks:
                    yield f"{stream} waits for {state.asks}"
            case ask.Ask():
                if state.stage not in (ask.Stage.ANSWERED, ask.Stage.WITHDRAWN):
                    yield f"{stream} is {state.stage}"
            case ship.Ship():
                if state.stage is not ship.Stage.SHIPPED:
                    yield f"{stream} is {state.stage}"
            case landing.Landing():
                if state.entries:
                    yield f"{stream} has entries still: {state.entries}"
            case fleet.Fleet():
                if state.running or state.wanting:
                    yield f"the fleet has {state.running} running, {state.wanting} wanting"
            case _:
                pass
    for goal in scene.goals:
        if goal.live:
            yield f"{goal.id} is neither shipped nor dropped"
        if goal.failure:
            yield f"{goal.id} failed: {goal.failure}"
        if goal.stage is not Stage.SHIPPED:
            continue
        for piece in (*goal.earlier, *goal.pieces):
            if piece.stage is not plan.Stage.LANDED:
                yield f"{goal.id} is shipped, and piece {piece.id} is {piece.stage}"
        shipped = scene.states.get(f"ship/{goal.id}")
        if isinstance(shipped, ship.Ship) and shipped.commit != goal.shipped:
            yield f"{goal.id} shipped {goal.shipped}, and its ship {shipped.commit}"


def _cards(scene: Scene, expected: Expected) -> Iterator[str]:
    """What the owner is shown last is what there is, and nothing asks any more."""
    if not scene.goals:
        return
    cards = board.everything(scene.states, lambda _run: "")
    yield from (f"card {card.id} asks still" for card in cards if card.asks)
    for card in cards:
        if isinstance(card, ShipCard) and card.decided != "Shipped":
            yield f"card {card.id} says {card.decided!r}"
    workers = sum(isinstance(card, WorkerCard) for card in cards)
    if expected.workers not in (None, workers):
        yield f"there are {workers} cards of workers, not {expected.workers}"
    if scene.shown is not None:
        yield from cards_lag(scene.states, scene.shown, lambda _run: "")
