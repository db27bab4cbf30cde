"""The owner at the phone: random but sensible, then patient.

Presses what a card offers by what was shown, late and twice too, writes lines, changes settings. All of
it goes through the real door and is asked for again until it was answered, as the bot does.
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

from engine import board
from engine.door import Door
from engine.rules.events import MachineAdded
from engine.rules.goal_state import Goal
from engine.rules.session_state import Session, Stage
from engine.rules.ship import Ship
from engine.views import (
    AnyCard,
    PlanCard,
    QuestionCard,
    SessionCard,
    ShipCard,
    WhereCard,
    Why,
    WorkerCard,
    sure,
)
from tests.rules.outside import BACKWARD, FORWARD, SETTINGS
from tests.simulation.box import Box
from tests.simulation.repositories import Git

PROJECT = "shop"
ACCOUNT = "main"
NO_END_MIN = 180
WORDS = {"correct": "Not so", "answer": "Both", "send_back": "Not so"}
PATIENT = (*("start", "allow", "approve", "option-0", "answer", "retry", "resume", "ship"),)
EVERYWHERE = (
    *(("reserve", "off"), ("reserve", "20"), ("after_limit", "ask"), ("after_limit", "go on")),
    *(("quiet", "22:00-07:00"), ("go", "auto"), ("go", "ask")),
)
Tap = tuple[AnyCard, str]


class Owner:
    """Who decides."""

    def __init__(self, box: Box, git: Git, luck: Random) -> None:
        self.said: dict[str, str] = {}  # what was answered yes to, by its cause
        self._box = box
        self._git = git
        self._luck = luck
        self._count = 0
        self._taps: list[tuple[Tap, str]] = []

    # ------------------------------------------------------------ the way in

    async def _do(self, what: str, verb: Any, cause: str = "") -> str:
        """Ask for something; return what came of it."""
        if not cause:
            self._count += 1
            cause = f"update:{self._count}"

        async def request(door: Door) -> None:
            await verb(door, cause)

        no = await self._box.ask(request)
        if not no:
            self.said[cause] = what
        return f"{what}: {no or 'yes'}"

    async def begin(self) -> None:
        await self._do("add project", lambda d, c: d.add_project(PROJECT, "/shop", cause=c))
        await self._do("add account", lambda d, c: d.add_account(ACCOUNT, "rehearsal", cause=c))

    async def add_machine(self, name: str, places: int) -> None:
        """Past the first visit over SSH, which is not part of this."""
        added = MachineAdded(machine=name, address=f"dev@{name}", max_runs=places)
        await self._do(f"add {name}", lambda d, c: d._loop.post("fleet", added, c))

    async def tick(self, machine: str) -> None:
        for goal in board.goals(self._box.world):
            name = goal.id
            await self._do(
                f"tick {machine}",
                lambda d, c, name=name: d.change_setting("tick", machine, name, cause=c),
            )

    async def new_goal(self, text: str) -> str:
        return await self._do("new goal", lambda d, c: d.new_goal(PROJECT, text, cause=c))

    # ------------------------------------------------------------ taps

    def cards(self) -> list[AnyCard]:
        engine = self._box.engine
        return list(engine.door.cards()) if engine is not None else []

    def offered(self, verbs: set[str] | tuple[str, ...]) -> list[Tap]:
        return [(card, verb) for card in self.cards() for verb in card.buttons if verb in verbs]

    async def tap(self, tap: Tap, cause: str = "") -> str:
        card, verb = tap
        if isinstance(card, ShipCard) and verb == "push":
            ship = self._box.world.get(f"ship/{card.goal}")
            if isinstance(ship, Ship):
                self._git.allowed[ship.commit] = card.goal
        text = WORDS.get(verb, "")
        pressed = sure(verb) if verb in card.twice else verb
        press = partial(_press, card=card.id, revision=card.revision, verb=pressed, text=text)
        self._count += not cause
        cause = cause or f"update:{self._count}"
        self._taps.append((tap, cause))
        return await self._do(f"{verb} on {card.id}", press, cause)

    async def forward(self) -> str:
        return await self._any(self.offered(FORWARD - {"correct"}))

    async def correct(self) -> str:
        return await self._any(self.offered({"correct"}))

    async def backward(self) -> str:
        return await self._any(self.offered(BACKWARD))

    async def drop(self) -> str:
        return await self._any(self.offered({"drop"}))

    async def always(self) -> str:
        return await self._any(self.offered({"always"}))

    async def _any(self, taps: list[Tap]) -> str:
        return await self.tap(self._luck.choice(taps)) if taps else ""

    async def twice(self) -> str:
        """The same update comes again."""
        if not self._taps:
            return ""
        tap, cause = self._luck.choice(self._taps[-4:])
        return f"again, {await self.tap(tap, cause)}"

    async def stale(self) -> str:
        """A button of long ago is pressed."""
        if not self._taps:
            return ""
        (card, verb), _ = self._luck.choice(self._taps)
        return f"late, {await self.tap((card, verb))}"

    # ------------------------------------------------------------ the rest

    async def write(self) -> str:
        cards = [c for c in self.cards() if isinstance(c, SessionCard | QuestionCard) and c.goal]
        if not cards:
            return ""
        card = self._luck.choice(cards)
        text = f"Line {self._count}"
        return await self._do(
            f"line to {card.id}", lambda d, c: d.hear(text, card.goal, card.id, cause=c)
        )

    async def hold(self) -> str:
        fleet = self._box.world.get("fleet")
        if fleet is not None and fleet.held:
            return await self._do("resume all", lambda d, c: d.resume(cause=c))
        return await self._do("stop all", lambda d, c: d.stop(cause=c))

    async def set(self) -> str:
        goals = [goal for goal in board.goals(self._box.world) if goal.live]
        if goals and self._luck.random() < 0.6:
            goal, (name, value) = self._luck.choice(goals), self._luck.choice(SETTINGS)
            return await self._do(
                f"set {name} {value}",
                lambda d, c: d.change_setting(name, value, goal.id, cause=c),
            )
        name, value = self._luck.choice(EVERYWHERE)
        return await self._do(
            f"set {name} {value}", lambda d, c: d.change_setting(name, value, cause=c)
        )

    async def change(self) -> str:
        plans = [c for c in self.cards() if isinstance(c, PlanCard) and "change" in c.buttons]
        if not plans:
            return ""
        plan = self._luck.choice(plans)
        return await self._do(
            f"drop a piece of {plan.id}",
            lambda d, c: d.change_plan(plan.id, plan.revision, 1, "drop", cause=c),
        )

    # ------------------------------------------------------------ patient

    async def patient(self) -> list[str]:
        """Press whatever brings things on; with nothing to press, ask each idle lead to go on."""
        done: list[str] = []
        fleet = self._box.world.get("fleet")
        if fleet is not None and fleet.held:
            done.append(await self.hold())
        offered = self.offered((*PATIENT, "proceed", "push"))
        offered += [tap for tap in self.offered({"interrupt"}) if _has_no_end(tap[0])]
        done += [await self.tap(tap) for tap in offered if tap[0] in self.cards()]
        done += [
            await self._do("leave it", partial(_press_card, card=card, verb="leave"))
            for card in self.cards()
            if isinstance(card, WhereCard) and "leave" in card.buttons
        ]
        return done

    async def nudge(self) -> list[str]:
        said: list[str] = []
        for goal in board.goals(self._box.world):
            lead = self._box.world.get(f"session/{goal.session}")
            idle = isinstance(lead, Session) and lead.stage is Stage.IDLE
            if isinstance(goal, Goal) and goal.live and idle:
                name = goal.id
                said.append(
                    await self._do(
                        f"go on to {name}",
                        lambda d, c, name=name: d.hear("Go on", name, cause=c),
                    )
                )
        return said


def _has_no_end(card: AnyCard) -> bool:
    """Whether a card shows an agent that waits for something for longer than anybody would."""
    if not isinstance(card, SessionCard | WorkerCard) or card.silence is None:
        return False
    return card.silence.why is Why.TOOL and card.silence.minutes >= NO_END_MIN


async def _press(door: Door, cause: str, *, card: str, revision: str, verb: str, text: str) -> None:
    await door.tap(card, revision, verb, text, cause=cause)


async def _press_card(door: Door, cause: str, *, card: AnyCard, verb: str) -> None:
    await door.tap(card.id, card.revision, verb, cause=cause)
