"""What the owner asks for, done: each verb of engine/api.py as one method, and the views they see.

A request becomes one event of one stream (the rule says yes or no), a view is computed from the
streams' states (board.py). The door keeps the cards as last shown, so that a tap is judged by what
was on the phone, and tells the server which of them changed. Decides nothing itself. Neighbours:
api.py (the socket), loop.py (posts), adapters/hub.py (looks at what is added).
"""

from __future__ import annotations

import base64
import re
import shutil
import time
import zoneinfo
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec.structs import replace

from engine import alive, board, retention
from engine.adapters import known_hosts
from engine.adapters.hub import Hub
from engine.adapters.machines import Machine
from engine.adapters.runs import CHECK_LIMIT_S
from engine.codec import whole
from engine.errors import Refused, Unavailable
from engine.loop import NOTES, Loop
from engine.paths import Home
from engine.rules import ask as ask_rule
from engine.rules import session as session_rule
from engine.rules.events import (
    AccountAdded,
    AccountFreed,
    AccountRemoved,
    Answered,
    AnyEvent,
    Asked,
    AskWithdrawn,
    GoalDropped,
    GoalOpened,
    GoalResumed,
    GoalStopped,
    HeldAll,
    LinesLeft,
    MachineAdded,
    MachineRemoved,
    PieceRetried,
    PieceStopped,
    PlanDiscarded,
    PlanStarted,
    ProjectAdded,
    ProjectRemoved,
    Prompted,
    ReviewCorrected,
    SettingChanged,
    ShipCalled,
    ShipCancelled,
    ShipProceeded,
    ShipPushed,
    TurnInterrupted,
)
from engine.rules.fleet import Fleet
from engine.rules.goal_state import Goal
from engine.rules.owner import OFF, Owner
from engine.rules.plan import MAX_ATTEMPTS
from engine.rules.project import Project
from engine.rules.session import Session
from engine.rules.words import Account, AskKind, Decision
from engine.views import (
    AnyCard,
    ApproachCard,
    Board,
    CommandCard,
    Document,
    FailureCard,
    Note,
    OwnerView,
    PermissionCard,
    PlanCard,
    ProjectView,
    QuestionCard,
    ReviewCard,
    Row,
    SessionCard,
    ShipCard,
    WhereCard,
    WorkerCard,
)
from stores.ledger import Ledger
from stores.vault import NotOpened, Opener, Vault

ACCOUNT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
MACHINE = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
MOST_RUNS = 100
PROJECT = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
AGENTS = ("claude", "rehearsal")
MAX_GOAL = 100_000
# As /health tells them.
PATIENCE = {
    "a check": f"{CHECK_LIMIT_S / 60:.0f} min",
    "a turn held for your answer": f"{session_rule.HOLD_S / 60:.0f} min",
    "a silent turn": f"{session_rule.QUIET_S / 60:.0f} min",
    "attempts of a piece": str(MAX_ATTEMPTS),
}
CHANGED = "This card changed since it was shown. Look at it again."
GONE = "That card is not there any more. /status shows what waits."

DECISIONS = {
    "allow": Decision.ALLOW,
    "deny": Decision.DENY,
    "not_this": Decision.DENY,
    "approve": Decision.APPROVE,
    "send_back": Decision.SEND_BACK,
    "answer": Decision.ANSWER,
}


MakeSsh = Callable[[str, str, Callable[[], Sequence[str]]], Machine]  # name, address, host keys


class Shown(Protocol):
    """Where changed cards are told (engine/api.py's Server)."""

    def changed(self, card: AnyCard) -> None: ...

    def gone(self, card: str) -> None: ...

    def owner_changed(self, owner: OwnerView) -> None: ...

    def noted(self) -> None: ...


class Door:
    """The owner's requests and views."""

    def __init__(
        self,
        home: Home,
        loop: Loop,
        ledger: Ledger,
        hub: Hub,
        vault: Vault | None,
        opener: Opener | None,
        *,
        doing: Callable[[str], str] = lambda _run: "",
        heartbeat: Callable[[], str] = lambda: "",
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
        self._doing = doing
        self._heartbeat = heartbeat
        self._reached = machines if machines is not None else {}
        self._ssh = ssh
        self._clock = clock
        self._cards: dict[str, AnyCard] = {}
        self._of_goal: dict[str, set[str]] = {}  # ids of a goal's cards; "" = General
        self._streams: dict[str, set[str]] = {}  # a goal's streams
        self._machines: object = None  # as the fleet had them when cards were last made
        self._rests: object = None  # likewise
        self._shown: Shown | None = None

    # ------------------------------------------------------------ cards, kept current

    def open(self, shown: Shown | None = None) -> None:
        """Take the cards up as the states have them; from now on tell `shown` what changes."""
        world = self.world()
        for stream in world:
            self._streams.setdefault(board.goal_of(world, stream), set()).add(stream)
        self._cards = {card.id: card for card in board.everything(world, self._doing)}
        for card in self._cards.values():
            self._of_goal.setdefault(card.goal, set()).add(card.id)
        self._machines = self._fleet().machines
        self._rests = self._fleet().rests
        self._shown = shown
        self._loop.watch(self._on_change)

    def world(self) -> board.World:
        return self._loop.world()

    def cards(self) -> Iterable[AnyCard]:
        """Every card there is."""
        return list(self._cards.values())

    async def notes(self, after: int) -> Sequence[Note]:
        """The next lines for the owner past number `after`."""
        return [
            Note(
                n=row.n,
                goal=row.goal,
                kind=row.kind,
                text=row.text,
                who=row.who,
                sounds=row.sounds,
                at=row.at,
            )
            for row in await self._ledger.notes(after)
        ]

    def _on_change(self, stream: str) -> None:
        if stream == NOTES:
            if self._shown:
                self._shown.noted()
            return
        world = self.world()
        goal = board.goal_of(world, stream)
        self._streams.setdefault(goal, set()).add(stream)
        if goal:
            self._refresh(goal)
        elif stream.startswith("ask/"):
            self._show("", board.general(world))
        elif stream == "fleet":
            self._on_fleet(world)
        elif stream == "owner" and self._shown:
            self._shown.owner_changed(self.owner())

    def _on_fleet(self, world: board.World) -> None:
        fleet = self._fleet()
        if fleet.rests is not self._rests:
            self._rests = fleet.rests
            self._show("", board.general(world))
        if fleet.machines is not self._machines:
            self._machines = fleet.machines
            for live in board.goals(world):
                if live.live:
                    self._refresh(live.id)

    def _refresh(self, goal_id: str) -> None:
        """Make a goal's cards anew, from its own streams: the cost must not grow with age."""
        world = self.world()
        own = {stream: world[stream] for stream in self._streams.get(goal_id, ())}
        goal = own.get(f"goal/{goal_id}")
        if isinstance(goal, Goal):
            for beside in ("fleet", f"project/{goal.project}"):
                if beside in world:
                    own[beside] = world[beside]
        self._show(goal_id, board.cards(own, goal_id, self._doing))

    def on_doing(self, run: str) -> None:
        """An agent does something else now: its card follows."""
        session = self._loop.state(f"session/{run.rpartition('-t')[0]}")
        if isinstance(session, Session) and session.run == run:
            self._refresh(session.goal)

    def _show(self, goal: str, now: list[AnyCard]) -> None:
        ids = {card.id for card in now}
        before, self._of_goal[goal] = self._of_goal.get(goal, set()), ids
        for card_id in before - ids:
            del self._cards[card_id]
            if self._shown:
                self._shown.gone(card_id)
        for card in now:
            if self._cards.get(card.id) != card:
                self._cards[card.id] = card
                if self._shown:
                    self._shown.changed(card)

    # ------------------------------------------------------------ goals and lines

    async def new_goal(
        self, project: str, text: str, by: str = "owner", cause: str = ""
    ) -> dict[str, str]:
        """Open a goal: {"goal": id, "verdict": words}; without a project, ask which if not plain."""
        if not text.strip():
            raise Refused("Say what is wanted: /new project goal, or just write it.")
        if len(text) > MAX_GOAL:
            raise Refused(
                f"That goal has {len(text)} characters; {MAX_GOAL} is the most. Put the long part "
                "into a file of the repository and name it."
            )
        known = self._projects()
        if not known:
            raise Refused(
                "No project yet. Add one: /projects add NAME PATH_OR_URL, or on the box: "
                "quarterdeck project add NAME PATH_OR_URL"
            )
        if project and project not in known:
            raise Refused(f"There is no project {project}. There are: {', '.join(sorted(known))}.")
        if not project and len(known) > 1:
            options = tuple((f"New goal in {name}", f"project:{name}") for name in sorted(known))
            return await self._ask_where(text, options, cause)
        return await self._open_goal(project or next(iter(known)), text, cause)

    async def _open_goal(self, project: str, text: str, cause: str) -> dict[str, str]:
        account = self._default_account()
        goal = await self._id("g")
        opened = GoalOpened(
            project=project,
            text=text,
            session=await self._id("s"),
            base=self._projects()[project].base,
            account=account,
        )
        fresh = await self._loop.post(f"goal/{goal}", opened, cause)
        return {"goal": goal if fresh else "", "verdict": f"Started in {project}"}

    async def _ask_where(
        self, text: str, options: tuple[tuple[str, str], ...], cause: str
    ) -> dict[str, str]:
        asked = Asked(
            kind=AskKind.WHERE, goal="", teller="", title="", detail=text, options=options
        )
        await self._loop.post(f"ask/{await self._id('a')}", asked, cause)
        return {"goal": "", "verdict": "Where to? Tap one."}

    async def hear(
        self, text: str, goal: str = "", card: str = "", by: str = "owner", cause: str = ""
    ) -> dict[str, str]:
        """A line of the owner: an answer, to the session a card is about, to a lead, or a new goal."""
        if not text.strip():
            raise Refused("That line is empty.")
        shown = self._cards.get(card)
        if isinstance(shown, WorkerCard):
            return await self._to_worker(shown, text, cause)
        if isinstance(shown, QuestionCard) and "answer" in shown.buttons:
            # A line for after the turn would wait for the turn that waits for this very answer.
            return {"goal": shown.goal, "verdict": await self._tapped(shown, "answer", text, cause)}
        if shown is not None and shown.goal:
            asked = self._loop.state(f"ask/{shown.id}")
            if isinstance(asked, ask_rule.Ask) and asked.teller.startswith("session/"):
                return await self._to_session(asked.teller.partition("/")[2], text, cause)
            goal = shown.goal
        if goal:
            return await self._to_lead(goal, text, cause)
        live = [found for found in board.goals(self.world()) if found.live]
        if not live:
            return await self.new_goal("", text, by, cause)
        options = [(f"New goal in {name}", f"project:{name}") for name in sorted(self._projects())]
        options += [(f"To: {found.title}", f"goal:{found.id}") for found in live]
        return await self._ask_where(text, tuple(options), cause)

    async def _to_lead(self, goal_id: str, text: str, cause: str) -> dict[str, str]:
        goal = self._goal(goal_id)
        if not goal.live:
            raise Refused("That goal is over. Write in General, or /new, for another one.")
        return await self._to_session(goal.session, text, cause)

    async def _to_worker(self, card: WorkerCard, text: str, cause: str) -> dict[str, str]:
        goal = self._goal(card.goal)
        piece = next((p for p in (*goal.pieces, *goal.earlier) if p.id == card.id), None)
        if piece is None or not goal.live:
            raise Refused("That worker is not there any more.")
        session = self._loop.state(f"session/{piece.session}")
        if not isinstance(session, Session) or session.final:
            left = LinesLeft(session=piece.session, text=text)
            await self._loop.post(goal.stream, left, cause)
            return {"goal": goal.id, "verdict": "That worker has ended: its lead gets your line"}
        return await self._to_session(piece.session, text, cause)

    async def _to_session(self, session_id: str, text: str, cause: str) -> dict[str, str]:
        session = self._loop.state(f"session/{session_id}")
        busy = isinstance(session, Session) and session.stage is not session_rule.Stage.IDLE
        await self._loop.post(f"session/{session_id}", Prompted(text=text, source="owner"), cause)
        goal = session.goal if isinstance(session, Session) else ""
        return {"goal": goal, "verdict": "after this turn" if busy else "on it"}

    async def stop(self, goal: str = "", cause: str = "") -> dict[str, str]:
        """Stop a goal, or everything; what was said is kept."""
        return await self._hold(goal, cause, held=True)

    async def resume(self, goal: str = "", cause: str = "") -> dict[str, str]:
        """Let a stopped goal, or everything, go on."""
        return await self._hold(goal, cause, held=False)

    async def _hold(self, goal_id: str, cause: str, *, held: bool) -> dict[str, str]:
        event: AnyEvent = GoalStopped() if held else GoalResumed()
        word = "Stopped" if held else "Goes on"
        if goal_id:
            await self._loop.post(self._goal(goal_id).stream, event, cause)
            return {"goal": goal_id, "verdict": word}
        await self._loop.post("fleet", HeldAll(held=held), cause)
        count = 0
        for goal in board.goals(self.world()):
            if goal.live and goal.held != held:
                await self._loop.post(goal.stream, event, f"{cause}.{goal.id}")
                count += 1
        return {"goal": "", "verdict": f"{word}: {count} goal{'' if count == 1 else 's'}"}

    # ------------------------------------------------------------ taps

    async def tap(
        self, card: str, revision: str, verb: str, text: str = "", cause: str = ""
    ) -> dict[str, str]:
        """Do what a button says, if the card still is what was shown: {"verdict": words}."""
        shown = self._cards.get(card)
        if shown is None:
            raise Refused(GONE)
        if verb not in shown.buttons:
            if shown.decided:
                raise Refused(f"{shown.decided}{_at(shown.decided_at)}.")
            raise Refused(CHANGED)
        if revision != shown.revision:
            raise Refused(CHANGED)
        verdict = await self._tapped(shown, verb, text, cause)
        return {"verdict": verdict}

    async def _tapped(self, card: AnyCard, verb: str, text: str, cause: str) -> str:
        match card:
            case ReviewCard() if verb == "ship":
                called = ShipCalled(review=card.id, ship=await self._id("sh"))
                await self._loop.post(f"goal/{card.goal}", called, cause)
                return "Shipping"
            case PermissionCard() | CommandCard() | ApproachCard():
                return await self._decide(card.id, DECISIONS[verb], text, cause)
            case QuestionCard():
                answer = _option(card.questions[len(card.answers)].options, verb) or text
                event = Answered(decision=Decision.ANSWER, text=answer, index=len(card.answers))
                await self._loop.post(f"ask/{card.id}", event, cause)
                return f"Answered: {answer}"[:190]
            case WhereCard():
                return await self._where(card, verb, cause)
            case _:
                stream, said, verdict = self._event(card, verb, text)
                await self._loop.post(stream, said, cause)
                return verdict

    async def _decide(self, ask: str, decision: Decision, text: str, cause: str) -> str:
        await self._loop.post(f"ask/{ask}", Answered(decision=decision, text=text), cause)
        return ask_rule.SAID[decision]

    def _event(self, card: AnyCard, verb: str, text: str) -> tuple[str, AnyEvent, str]:
        """The event a button is, its stream, and what the owner is told."""
        goal = f"goal/{card.goal}"
        ship = f"ship/{card.goal}"
        match card, verb:
            case FailureCard(goal=""), "retry":
                return "fleet", AccountFreed(name=board.account_of(card)), "Goes on"
            case PlanCard(), "start":
                return goal, PlanStarted(plan=card.id), "Started"
            case PlanCard(), "discard":
                return goal, PlanDiscarded(plan=card.id), "Discarded"
            case ReviewCard(), "correct":
                return goal, ReviewCorrected(review=card.id, text=text), "The lead has it"
            case ReviewCard(), "drop":
                return goal, GoalDropped(), "Dropped"
            case ShipCard(), "proceed":
                return ship, ShipProceeded(), "On its way"
            case ShipCard(), "push":
                return ship, ShipPushed(), "Pushing"
            case ShipCard(), "cancel":
                return ship, ShipCancelled(), "Cancelled: nothing was pushed"
            case SessionCard(), "interrupt":
                lead = self._goal(card.goal).session
                return f"session/{lead}", TurnInterrupted(), "Interrupted"
            case SessionCard(), "drop":
                return goal, GoalDropped(), "Dropped"
            case ((SessionCard() | FailureCard()), "stop"):
                return goal, GoalStopped(), "Stopped"
            case ((SessionCard() | FailureCard()), ("resume" | "retry")):
                return goal, GoalResumed(), "Goes on"
            case WorkerCard(), "interrupt":
                return f"session/{self._worker(card)}", TurnInterrupted(), "Interrupted"
            case WorkerCard(), "stop":
                return goal, PieceStopped(piece=card.id), "Stopped"
            case WorkerCard(), "retry":
                return goal, PieceRetried(piece=card.id), "Tried again"
            case _:
                raise Refused(CHANGED)

    def _worker(self, card: WorkerCard) -> str:
        piece = self._goal(card.goal).piece(card.id)
        if piece is None:
            raise Refused(GONE)
        return piece.session

    async def _where(self, card: WhereCard, verb: str, cause: str) -> str:
        """The owner said where a line goes: settle the ask, then send it there."""
        if verb == "leave":
            await self._loop.post(f"ask/{card.id}", AskWithdrawn(why="you left it"), cause)
            return "Left: nothing was started"
        ask = self._loop.state(f"ask/{card.id}")
        label = _option(card.options, verb)
        value = dict(ask.options).get(label, "") if isinstance(ask, ask_rule.Ask) else ""
        kind, _, name = value.partition(":")
        if kind == "project":
            result = await self._open_goal(name, card.text, f"{cause}.where")
        else:
            result = await self._to_lead(name, card.text, f"{cause}.where")
        await self._loop.post(
            f"ask/{card.id}", Answered(decision=Decision.ANSWER, text=label), cause
        )
        return result["verdict"]

    async def document(self, card: str, what: str) -> Document:
        """A text too long for a card: "diff" of a review, "report" of a worker, "said"."""
        shown = self._cards.get(card)
        match shown, what:
            case ReviewCard(), "diff":
                goal = self._goal(shown.goal)
                head = goal.review.head or goal.head
                text = await self._hub.diff(goal.project, goal.base_commit, head)
                stats = f"{shown.commits} commits · {shown.files} files"
                return Document(
                    name=f"{goal.id}.diff", text=text or "No difference.", caption=stats
                )
            case WorkerCard(), _:
                text = "\n\n".join(part for part in (shown.said, shown.report) if part)
                return Document(name=f"{shown.id}.md", text=text or "Nothing said yet.")
            case _:
                raise Refused(GONE)

    # ------------------------------------------------------------ looking

    async def board(self) -> Board:
        return board.board(self.world(), self._doing)

    async def asks(self) -> tuple[Row, ...]:
        """What waits for the owner."""
        return (await self.board()).now

    async def health(self) -> dict[str, Any]:
        """How the box is: machines, what is set aside, disk, limits."""
        fleet = self._fleet()
        disk = shutil.disk_usage(self._home.root)
        return {
            "machines": list((await self.board()).machines),
            "broken": {stream: found.why for stream, found in self._loop.broken().items()},
            "disk_free_gb": round(disk.free / 1e9, 1),
            "running": len(fleet.running),
            "waiting": len(fleet.wanting),
            "held": fleet.held,
            "kept": retention.LIMITS,
            "patience": PATIENCE,
            "heartbeat": self._heartbeat() or "none",
            "accounts_at_rest": {rest.account: rest.reason for rest in fleet.rests},
            "limits": {machine.name: machine.max_runs for machine in fleet.machines},
        }

    # ------------------------------------------------------------ the owner's own settings

    def owner(self) -> OwnerView:
        """What the bot says things by."""
        found = self._loop.state("owner")
        owner = found if isinstance(found, Owner) else Owner()
        return OwnerView(zone=owner.zone, quiet=owner.quiet)

    async def settings(self) -> OwnerView:
        return replace(self.owner(), heartbeat=self._heartbeat())

    async def change_setting(self, name: str, value: str, cause: str = "") -> dict[str, str]:
        """Change one of quiet, zone, heartbeat: {"verdict": words}."""
        value = value.strip()
        if value.lower() not in OFF:
            value = _looked_over(name, value)
        await self._loop.post("owner", SettingChanged(name=name, value=value), cause)
        # A URL that is shown is looked up for a preview, which would be a beat of nobody's heart.
        shown = value if name != "heartbeat" or value.lower() in OFF else "kept to itself"
        return {"verdict": f"Kept: {name} {shown}."}

    # ------------------------------------------------------------ projects

    def _projects(self) -> dict[str, Project]:
        return {
            project.name: project
            for project in self._loop.states("project").values()
            if isinstance(project, Project) and project.known
        }

    async def projects(self) -> tuple[ProjectView, ...]:
        return tuple(
            ProjectView(
                name=project.name,
                source=project.source,
                base=project.base,
                push=project.push_url or f"branch quarterdeck/<goal> in {project.source}",
                commands=(
                    *(f"{c.kind}: {c.text} (allowed)" for c in project.allowed),
                    *(f"{c.kind}: {c.text} (not this)" for c in project.refused),
                ),
            )
            for project in sorted(self._projects().values(), key=lambda found: found.name)
        )

    async def add_project(
        self, name: str, source: str, base: str = "", cause: str = ""
    ) -> dict[str, Any]:
        """Take a repository in: {"name", "base", "push", "notes"}."""
        if not PROJECT.fullmatch(name):
            raise Refused(
                f"{name!r} cannot be a project's name: small letters, digits, dots and hyphens, "
                "at most 40, a letter or digit first."
            )
        try:
            found = await self._hub.inspect(source, base or None)
        except Unavailable as away:  # asked for ever, a mistyped address would hold up the chat
            raise Refused(f"{away.sentence}\nNothing was added.") from away
        added = ProjectAdded(source=found.source, push_url=found.push_url, base=found.base)
        await self._loop.post(f"project/{name}", added, cause)
        notes = list(found.notes)
        try:
            await self._hub.bring(name, found.source, found.base)
        except Unavailable as away:  # a goal brings it again before it begins
            notes.append(f"{away.sentence} It is read again with its first goal.")
        push = found.push_url or f"branch quarterdeck/<goal> in {found.source}"
        return {"name": name, "base": found.base, "push": push, "notes": notes}

    async def remove_project(self, name: str, cause: str = "") -> str:
        live = [g.title for g in board.goals(self.world()) if g.live and g.project == name]
        if live:
            raise Refused(f"Project {name} has goals that are not over: {', '.join(live)}.")
        await self._loop.post(f"project/{name}", ProjectRemoved(), cause)
        return "Its repository was not touched."

    # ------------------------------------------------------------ machines

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

    # ------------------------------------------------------------ accounts, secrets

    def _fleet(self) -> Fleet:
        fleet = self._loop.state("fleet")
        return fleet if isinstance(fleet, Fleet) else Fleet()

    def _default_account(self) -> Account:
        accounts = self._fleet().accounts
        if not accounts:
            raise Refused(
                "No account yet, so no agent can run. On the box: quarterdeck account add main "
                "--agent claude --secret-env CLAUDE_CODE_OAUTH_TOKEN"
            )
        return accounts[0]

    async def accounts(self) -> tuple[Account, ...]:
        return self._fleet().accounts

    async def add_account(
        self,
        name: str,
        agent: str,
        command: str = "",
        config_dir: str = "",
        env: Sequence[tuple[str, str]] = (),
        secret_env: Sequence[str] = (),
        cause: str = "",
    ) -> str:
        if not ACCOUNT.fullmatch(name):
            raise Refused(
                f"{whole(name)!r} cannot be an account's name: letters, digits, dots and hyphens, at "
                "most 40, a letter or digit first."
            )
        if agent not in AGENTS:
            raise Refused(f"No agent called {agent} can be driven yet: {', '.join(AGENTS)}.")
        account = Account(
            name=name,
            agent=agent,
            command=command,
            config_dir=config_dir,
            env=tuple((key, value) for key, value in env),
            secret_env=tuple(secret_env),
        )
        await self._loop.post("fleet", AccountAdded(account=account), cause)
        return name

    async def remove_account(self, name: str, cause: str = "") -> str:
        account = self._fleet().account(name)
        await self._loop.post("fleet", AccountRemoved(name=name), cause)
        for key in account.secret_env if account else ():
            await self._keys().forget(f"account/{name}/{key}")
        return name

    def _keys(self) -> Vault:
        if self._vault is None:
            raise Refused("There is no vault yet. Run `quarterdeck setup` first.")
        return self._vault

    def _open(self, sealed: bytes) -> bytes:
        if self._opener is None:
            raise Refused("There is no vault yet. Run `quarterdeck setup` first.")
        try:
            return self._opener.open(sealed)
        except NotOpened as no:
            raise Refused(str(no)) from no

    async def keep_secret(self, name: str, sealed: bytes | str, cause: str = "") -> dict[str, str]:
        """Keep what was sealed for us: {"name": where it is kept}."""
        body = base64.b64decode(sealed) if isinstance(sealed, str) else sealed
        value = self._open(body).decode("utf-8", "replace")
        kept = await self._keys().put(
            name, value, self._clock(), replace=name.startswith("account/")
        )
        return {"name": kept}

    async def unseal(self, sealed: bytes) -> bytes:
        """Open an update the bot sealed before it was last ended."""
        return self._open(sealed)

    async def secret(self, name: str) -> str:
        """A value of the vault, for a run that was given it by name."""
        value = await self._keys().get(name)
        if value is None:
            raise Refused(f"The vault holds no {name}: add the account again.")
        return value

    # ------------------------------------------------------------ small

    def _goal(self, goal_id: str) -> Goal:
        goal = self._loop.state(f"goal/{goal_id}")
        if not isinstance(goal, Goal):
            raise Refused(f"There is no goal {goal_id}. /status shows them.")
        return goal

    async def _id(self, kind: str) -> str:
        (number,) = await self._ledger.take(kind)
        return f"{kind}-{number}"


def _looked_over(name: str, value: str) -> str:
    """Refuse what only this machine can know to be no time zone, or no URL; spell a zone right."""
    if name == "zone":
        known = {zone.lower(): zone for zone in zoneinfo.available_timezones()}
        if not known:
            raise Refused("This box has no time zones. Install its package tzdata.")
        if value.lower() not in known:
            raise Refused(f"{whole(value)!r} is no time zone. One is, say, Europe/Berlin.")
        return known[value.lower()]
    if name == "heartbeat" and not alive.usable(value):
        raise Refused("The heartbeat needs a URL that begins with https:// or http://.")
    return value


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


def _option(options: Sequence[str], verb: str) -> str:
    """The option a button `option-2` stands for; "" if it is no such button."""
    _, _, index = verb.partition("option-")
    return options[int(index)] if index.isdigit() and int(index) < len(options) else ""


def _at(when: float) -> str:
    return time.strftime(" at %H:%M", time.localtime(when)) if when else ""
