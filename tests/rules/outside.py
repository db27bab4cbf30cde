"""An outside that does what outsides do, in any order: agents, git, checks, clocks and the owner.

`Outside(world).step(n)` takes the move a number picks among those that are possible just then. Runs
end well, badly, cut off or at a limit; merges conflict, heads move, checks go red or cannot be run;
orders are given up; the owner taps whatever a card offers, twice too; facts come late and again. What
streams tell each other is on its way until a move delivers it, as in the real loop. `rest` lets the
outside be kind and time pass until nothing is left to do.

promises.py judges what happened and what is seen. Neighbours: world.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec.structs import replace

from engine import board
from engine.errors import Refused
from engine.rules.effects import (
    AfterLimit,
    AnyEffect,
    Check,
    CloseRun,
    Collect,
    Judge,
    Land,
    Merge,
    Push,
    ReadBase,
    RunKeyed,
    StartRun,
    TakeRemote,
    Watch,
)
from engine.rules.events import (
    AccountFreed,
    AccountUsed,
    AfterLimitChosen,
    Answered,
    AnyEvent,
    AskRaised,
    BaseChecked,
    BaseRead,
    Checked,
    GaveUp,
    GoalChanged,
    GoalDropped,
    GoalOpened,
    GoalResumed,
    GoalStopped,
    HeldAll,
    KeyedOver,
    Landed,
    LimitReached,
    LineTaken,
    MachineLoad,
    MachineSeen,
    Merged,
    PieceCollected,
    PieceRetried,
    PieceStopped,
    PlanChanged,
    PlanDiscarded,
    PlanProposed,
    PlanStarted,
    ProjectAdded,
    Prompted,
    PushDone,
    RequestWithdrawn,
    ReserveSet,
    ReviewCorrected,
    ReviewJudged,
    ReviewPut,
    RunExited,
    RunQuiet,
    RunRefused,
    RunStarted,
    SaidNow,
    SessionNamed,
    ShipCalled,
    ShipCancelled,
    ShipChecked,
    ShipProceeded,
    ShipPushed,
    ShipTaken,
    TurnEnded,
    TurnInterrupted,
    WorkerDone,
    WorkerMessaged,
)
from engine.rules.goal_state import PlanStage, ReviewStage
from engine.rules.keyed_rule import TOOL, Wanted
from engine.rules.reserve import UNTOLD
from engine.rules.session_state import Session, Stage
from engine.rules.words import (
    AskKind,
    CheckVerdict,
    Collected,
    Decision,
    PieceDraft,
    Question,
    Role,
    Stats,
    TurnError,
)
from engine.views import (
    AnyCard,
    ApproachCard,
    CommandCard,
    FailureCard,
    KeyedCard,
    LimitCard,
    LoginCard,
    PermissionCard,
    PlanCard,
    QuestionCard,
    ReviewCard,
    SessionCard,
    ShipCard,
    TrustCard,
    WorkerCard,
)
from tests.rules.promises import silent
from tests.rules.world import ACCOUNT, CHECK, World, draft

Move = Callable[[], None]

PLENTY_MB = 20_000
PASSED = CheckVerdict(passed=True, summary="passed")
RED = CheckVerdict(passed=False, summary="exit 1", report="1 failed")
UNJUDGED = CheckVerdict(passed=False, ran=False, failure="killed")
VERDICTS = (PASSED, RED, UNJUDGED)
ENDS = (
    TurnError.NONE,
    TurnError.AGENT,
    TurnError.API,
    TurnError.LIMIT,
    TurnError.LOGIN,
    TurnError.RESUME,
)
# Facts that may come late and again; what an effect led to comes once, with the effect's end.
REPEATED = (
    RunStarted
    | RunExited
    | RunRefused
    | TurnEnded
    | SessionNamed
    | LimitReached
    | Merged
    | Checked
    | Landed
    | ShipChecked
    | ReviewJudged
    | BaseRead
    | BaseChecked
)
TAPS: dict[tuple[type[AnyCard], str], Callable[[str], AnyEvent]] = {
    (PlanCard, "start"): lambda card: PlanStarted(plan=card),
    (PlanCard, "change"): lambda card: PlanChanged(plan=card, piece=1, what="drop"),
    (PlanCard, "discard"): lambda card: PlanDiscarded(plan=card),
    (ReviewCard, "ship"): lambda card: ShipCalled(review=card),
    (ReviewCard, "correct"): lambda card: ReviewCorrected(review=card, text="Not so"),
    (ReviewCard, "drop"): lambda _: GoalDropped(),
    (ShipCard, "proceed"): lambda _: ShipProceeded(),
    (ShipCard, "push"): lambda _: ShipPushed(),
    (ShipCard, "cancel"): lambda _: ShipCancelled(),
    (SessionCard, "interrupt"): lambda _: TurnInterrupted(),
    (SessionCard, "now"): lambda _: SaidNow(),
    (SessionCard, "stop"): lambda _: GoalStopped(),
    (SessionCard, "resume"): lambda _: GoalResumed(),
    (SessionCard, "drop"): lambda _: GoalDropped(),
    (FailureCard, "stop"): lambda _: GoalStopped(),
    (FailureCard, "retry"): lambda _: GoalResumed(),
    (LoginCard, "retry"): lambda _: AccountFreed(name=""),
    (WorkerCard, "interrupt"): lambda _: TurnInterrupted(),
    (WorkerCard, "now"): lambda _: SaidNow(),
    (WorkerCard, "stop"): lambda card: PieceStopped(piece=card),
    (WorkerCard, "retry"): lambda card: PieceRetried(piece=card),
    (PermissionCard, "allow"): lambda _: Answered(decision=Decision.ALLOW),
    (PermissionCard, "always"): lambda _: Answered(decision=Decision.ALLOW, always=True),
    (PermissionCard, "deny"): lambda _: Answered(decision=Decision.DENY),
    (KeyedCard, "allow_once"): lambda _: Answered(decision=Decision.ALLOW),
    (KeyedCard, "always"): lambda _: Answered(decision=Decision.ALLOW, always=True),
    (KeyedCard, "deny"): lambda _: Answered(decision=Decision.DENY),
    (CommandCard, "allow"): lambda _: Answered(decision=Decision.ALLOW),
    (CommandCard, "not_this"): lambda _: Answered(decision=Decision.DENY),
    (TrustCard, "trust"): lambda _: Answered(decision=Decision.ALLOW),
    (TrustCard, "leave_off"): lambda _: Answered(decision=Decision.DENY),
    (ApproachCard, "approve"): lambda _: Answered(decision=Decision.APPROVE),
    (ApproachCard, "send_back"): lambda _: Answered(decision=Decision.SEND_BACK, text="Not so"),
    (LimitCard, "resume"): lambda _: Answered(decision=Decision.ALLOW),
    (LimitCard, "leave"): lambda _: Answered(decision=Decision.DENY),
    (QuestionCard, "option-0"): lambda _: Answered(decision=Decision.ANSWER, text="Euro"),
    (QuestionCard, "answer"): lambda _: Answered(decision=Decision.ANSWER, text="Both"),
}

FORWARD = {
    *("start", "allow", "approve", "option-0", "answer", "retry", "resume", "correct"),
    *("ship", "proceed", "push"),
}

YES = {"start", "allow", "ship", "proceed", "push"}
SETTINGS = (
    *(("go", "ask"), ("go", "auto"), ("mode", "plan"), ("mode", "full"), ("model", "strong")),
    *(("model", "off"), ("untick", "here")),
)
BACKWARD = {"leave", "stop", "discard", "deny", "not_this", "send_back", "cancel", "interrupt"}
THEMES = (
    *("", "orders fail", "agents differ", "checks fail", "owner stops", "owner writes"),
    *("time", "again", "heads move", "machines", "limits end", "owner sets", "agents ask"),
    "windows fill",
)


# What agents ask to run: one that Always keeps comes often, one that it never does.
COMMANDS = ('{"command": "make lint"}', '{"command": "make lint"}', '{"command": "git push"}')


class Outside:
    """Everything the rules do not decide."""

    def __init__(
        self,
        *,
        goals: int = 1,
        check: bool = True,
        go: str = "ask",
        drops: bool = False,
        theme: str = "",
        cores: int = 0,
        after_limit: str = "go on",
        reserve: str = "off",
    ) -> None:
        self._drops = drops
        self._theme = theme
        self.world = World(patient=True)
        self.commands = (CHECK,) if check else ()
        self.alive: dict[str, StartRun] = {}
        self.ended: set[str] = set()  # runs whose agent said so
        self.named: set[str] = set()
        self.unseen: set[str] = set()  # alive, though the order to start them was given up
        self.requests: dict[str, list[str]] = {}  # open, by run
        self.checks: list[tuple[str, Check]] = []
        self.judging: list[Judge] = []
        self.keyed: list[tuple[str, RunKeyed]] = []
        self.heads: dict[str, str] = {}  # of lead branches, in the hub
        self.remote = "b0"
        self.calls: list[str] = []
        self.taps: list[tuple[str, AnyEvent]] = []
        self.asked: set[str] = set()
        self._number = 0
        self.world.after_limit = after_limit
        here = MachineSeen(
            machine="here", fenced=True, fence="fenced", cores=cores, free_mb=PLENTY_MB
        )
        self.world.post("fleet", here)
        self.world.post("fleet", ReserveSet(value=reserve))
        if reserve != "off":
            nearly = AccountUsed(name="main", window="five_hour", percent=84, resets_at=5000.0)
            self.world.post("fleet", nearly)
        self.world.post(
            "project/shop", ProjectAdded(source="/shop", push_url="/shop.git", base="main")
        )
        for n in range(1, goals + 1):
            opened = GoalOpened(
                project="shop",
                text="Add orders",
                session=f"s-{n * 100}",
                base="main",
                account=ACCOUNT,
                go=go,
            )
            self.world.post(f"goal/g-{n}", opened)
            self.heads[f"g-{n}"] = "b0"

    # ------------------------------------------------------------ moves

    def step(self, number: int) -> None:
        """Take one of the possible moves: the smaller the number, the more usual the move."""
        offered = [
            (weight * 8 if kind == self._theme else weight, moves)
            for kind, weight, moves in self._offers()
            if moves
        ]
        drawn = number % sum(weight for weight, _ in offered)
        for weight, moves in offered:
            if drawn < weight:
                moves[number // 100 % len(moves)]()
                break
            drawn -= weight
        if number % 4:
            self.world.settle()  # else what was told is still on its way when the next thing happens

    def _offers(self) -> Iterator[tuple[str, int, list[Move]]]:
        """All that may happen next, by kind; without weights nothing would ever get far.

        Kinds with a name are a story's theme now and then: what is rare by itself meets itself.
        """
        orders = list(self._orders())
        verdicts = list(self._verdicts())
        taps = list(self._taps())
        yield "", 30, [self._delivery(sender) for sender in self.world.told]
        yield "", 20, [ways[0] for ways in orders]
        yield "", 12, [move for run in self.seen for move in self._usual(run)]
        yield "", 8, [ways[0] for ways in verdicts]
        yield "", 8, [move for verb, move in taps if verb in FORWARD]
        yield "orders fail", 3, [move for ways in orders for move in ways[1:]]
        yield "agents differ", 4, [move for run in self.seen for move in self._unusual(run)]
        yield "checks fail", 3, [move for ways in verdicts for move in ways[1:]]
        yield "owner stops", 2, [move for verb, move in taps if verb in BACKWARD]
        yield "owner writes", 2, list(self._lines())
        yield "time", 2, [self._time(30.0), self._time(1000.0), self._time(4000.0)]
        yield "again", 2, [self._again, self._tap_again]
        yield "heads move", 2, [*map(self._head_moves, self.heads), self._remote_moves]
        yield "machines", 1, [self._memory(700), self._memory(2_000), self._memory(PLENTY_MB)]
        yield "limits end", 1, [self._choose(how) for how in ("", "go on", "ask", "morning")]
        yield "windows fill", 1, [self._try("fleet", event) for event in self._uses()]
        yield "owner sets", 1, [self._set(goal, *what) for goal in self.heads for what in SETTINGS]
        yield "agents ask", 1, [*self._permissions(), *(m for verb, m in taps if verb == "always")]
        yield "", 1, [self._hold_all]
        yield "", 1, [move for verb, move in taps if verb == "drop" and self._drops]

    @property
    def seen(self) -> list[str]:
        return [run for run in self.alive if run not in self.unseen]

    def next(self) -> int:
        self._number += 1
        return self._number

    def _try(self, stream: str, event: AnyEvent) -> Move:
        """A request: the rule may say no."""

        def move() -> None:
            with suppress(Refused):
                self.world.post(stream, event)

        return move

    def _delivery(self, sender: str) -> Move:
        return lambda: self.world.deliver(sender)

    def _time(self, seconds: float) -> Move:
        return lambda: self.world.pass_time(seconds)

    def _again(self) -> None:
        """A fact comes once more."""
        past = [item for item in self.world.history if isinstance(item.event, REPEATED)]
        if past:
            item = past[len(self.world.history) % len(past)]
            self.world.post(item.stream, item.event)

    def _tap_again(self) -> None:
        if self.taps:
            self._try(*self.taps[-1 - self._number % min(3, len(self.taps))])()

    def _set(self, goal: str, what: str, value: str) -> Move:
        changed = GoalChanged(what=what, value=value, known=("here",), fenced=("here",))
        return self._try(f"goal/{goal}", changed)

    def _hold_all(self) -> None:
        self.world.post("fleet", HeldAll(held=not self.world.states["fleet"].held))

    def _memory(self, free_mb: int) -> Move:
        return self._try("fleet", MachineLoad(machine="here", free_mb=free_mb))

    def _uses(self) -> Iterator[AnyEvent]:
        """Agents tell of their account's windows, more or less of it; the owner changes their mind."""
        for share in (50, 84, 97, UNTOLD):
            for lasts in (0.0, 600.0, 4000.0):
                resets_at = self.world.now + lasts if lasts else 0.0
                for window in ("five_hour", "seven_day"):
                    told = AccountUsed(name="main", window=window, percent=share)
                    yield replace(told, resets_at=resets_at)
        yield from (ReserveSet(value=value) for value in ("off", "10", "20", "20", "60"))

    def _choose(self, how: str) -> Move:
        return self._try(next(iter(self._goals())), AfterLimitChosen(how=how))

    def _goals(self) -> Iterator[str]:
        return (stream for stream in self.world.states if stream.startswith("goal/"))

    def _head_moves(self, goal: str) -> Move:
        def move() -> None:
            self.heads[goal] = f"doc{self.next()}"

        return move

    def _remote_moves(self) -> None:
        self.remote = f"r{self.next()}"

    def _limit_over(self, effect: AfterLimit, morning_at: float = 0.0) -> None:
        self.world.morning_at = morning_at
        over = self.world.limit_over(effect)
        self.world.post(over.stream, over.event)

    # ------------------------------------------------------------ what is owed

    def _orders(self) -> Iterator[list[Move]]:
        """A stream's orders are carried out one at a time, in order; for each the ways it may go."""
        begun = set()
        for stream, effect in self.world.owed:
            if effect.due_at > self.world.now or stream in begun:
                continue
            begun.add(stream)
            item = (stream, effect)
            yield [self._carried_out(item, act) for act in self._ways(stream, effect)]

    def _carried_out(self, item: tuple[str, AnyEffect], act: Move) -> Move:
        def move() -> None:
            self.world.owed.remove(item)
            act()

        return move

    def _ways(self, stream: str, effect: AnyEffect) -> Iterator[Move]:
        """How an order may go, the best first."""
        post = self.world.post
        goal = getattr(effect, "goal", "")
        match effect:
            case StartRun(run=run):
                yield lambda: self._start(stream, effect)
                yield lambda: post(stream, RunRefused(run=run, why="no such agent"))
            case CloseRun(run=run):
                yield lambda: self._close(run)
            case AfterLimit():
                yield lambda: self._limit_over(effect)
                yield lambda: self._limit_over(effect, self.world.now + 5000.0)
            case Watch(run=run):
                yield lambda: post(stream, RunQuiet(run=run, silent_s=0.0))
                yield lambda: post(stream, RunQuiet(run=run, silent_s=3600.0))
            case ReadBase():
                asks = tuple(f"a-{self.next()}" for _ in self.commands)
                read = BaseRead(
                    base_commit="b0",
                    branch=f"quarterdeck/{goal}",
                    commands=self.commands,
                    asks=asks,
                )
                yield lambda: post(stream, read)
            case Collect(piece=piece):
                head = f"c{self.next()}"
                for found in (
                    Collected(head=head, commits=1),
                    Collected(head=head, commits=1),
                    Collected(head="b0"),
                    Collected(head=head, commits=1, dirty=("a.py",)),
                    Collected(failure="no such branch"),
                ):
                    yield lambda found=found: post(  # type: ignore[misc]
                        stream, PieceCollected(piece=piece, found=found)
                    )
            case Merge(piece=piece, commit=commit):
                onto = self.heads[goal]
                yield lambda: post(
                    stream, Merged(piece=piece, commit=f"{onto}+{commit}", onto=onto)
                )
                yield lambda: post(
                    stream,
                    Merged(piece=piece, commit="", onto=onto, failure="conflict", conflict=True),
                )
            case Land():
                yield lambda: self._land(effect)
            case TakeRemote(base_commit=base_commit, head=head):
                moved = self.remote != base_commit
                taken = ShipTaken(
                    remote_head=self.remote,
                    commit=f"{self.remote}+{head}" if moved else head,
                    moved=moved,
                )
                yield lambda: post(stream, taken)
                yield lambda: post(stream, ShipTaken(remote_head="", commit="", failure="away"))
                clash = replace(taken, commit="", failure="main moved: a.py", conflict=True)
                yield lambda: post(stream, clash)
            case Push():
                yield lambda: self._push(stream, effect)
                no = PushDone(commit=effect.commit, where="", landed=False, words="protected")
                yield lambda: post(stream, no)
            case Check():
                yield lambda: self.checks.append((stream, effect))
            case RunKeyed():
                yield lambda: self.keyed.append((stream, effect))
                over = KeyedOver(ask=effect.ask, how="did not run", output="Gone.", began=False)
                yield lambda: post(stream, over)
            case Judge():
                yield lambda: self.judging.append(effect)
            case _:
                yield lambda: None
        about = next((v for k in ("run", "piece", "review") if (v := getattr(effect, k, ""))), "")
        gave_up = GaveUp(effect=type(effect).__name__, why="it did not answer", about=about)
        if isinstance(effect, StartRun):
            # It may have got there all the same.
            yield lambda: self._start_unseen(stream, effect, gave_up)
        # Given up after an hour without an answer: a second hour just then is left out.
        if not isinstance(effect, Push) and getattr(effect, "run", "") not in self.unseen:
            yield lambda: post(stream, gave_up)

    def _start(self, stream: str, effect: StartRun) -> None:
        self._live(effect)
        self.world.post(stream, RunStarted(run=effect.run))

    def _start_unseen(self, stream: str, effect: StartRun, gave_up: GaveUp) -> None:
        self._live(effect)
        self.unseen.add(effect.run)
        self.world.post(stream, gave_up)

    def _live(self, effect: StartRun) -> None:
        beside = [run for run, start in self.alive.items() if start.session == effect.session]
        assert not beside, f"{effect.run} starts beside {beside}"
        self.alive[effect.run] = effect

    def _close(self, run: str) -> None:
        """Asked to end: an agent does, and its process with it."""
        if run in self.alive:
            self._exit(run, "asked to")
        for stream, order in [one for one in self.keyed if one[1].run == run]:
            self._end_keyed(stream, order, "stopped after 1 s")
        self.checks = [
            (stream, check) for stream, check in self.checks if check.run != run
        ]  # a check that is ended says nothing any more that anybody waits for

    def _land(self, effect: Land) -> None:
        moved = self.heads[effect.goal] != effect.onto
        if not moved:
            self.heads[effect.goal] = effect.commit
        landed = Landed(
            piece=effect.piece,
            commit=effect.commit,
            head=self.heads[effect.goal],
            moved=moved,
        )
        self.world.post(f"landing/{effect.goal}", landed)

    def _push(self, stream: str, effect: Push) -> None:
        landed = self.remote == effect.expected
        if landed:
            self.remote = effect.commit
        done = PushDone(commit=effect.commit, where="main", landed=landed, moved=not landed)
        self.world.post(stream, done)

    def _verdicts(self) -> Iterator[list[Move]]:
        for stream, check in self.checks:
            yield [partial(self._judge_check, stream, check, verdict) for verdict in VERDICTS]
        for stream, order in self.keyed:
            ways = ("exit 0 after 3 s", "exit 1 after 3 s", "cut off")
            yield [partial(self._end_keyed, stream, order, how) for how in ways]
        for judge in self.judging:
            yield [partial(self._judge_review, judge, verdict) for verdict in VERDICTS]

    def _judge_check(self, stream: str, check: Check, verdict: CheckVerdict) -> None:
        self.checks.remove((stream, check))
        event: AnyEvent
        if stream.startswith("landing/"):
            event = Checked(piece=check.about, commit=check.commit, verdict=verdict)
        elif stream.startswith("ship/"):
            event = ShipChecked(commit=check.commit, verdict=verdict)
        else:
            event = BaseChecked(verdict=verdict)
        self.world.post(stream, event)

    def _end_keyed(self, stream: str, order: RunKeyed, how: str) -> None:
        self.keyed.remove((stream, order))
        self.world.post(stream, KeyedOver(ask=order.ask, how=how, output="12 orders"))

    def _judge_review(self, judge: Judge, verdict: CheckVerdict) -> None:
        self.judging.remove(judge)
        judged = ReviewJudged(
            review=judge.review, head=judge.head, stats=Stats(1, 1, 1, 1), verdict=verdict
        )
        self.world.post(f"goal/{judge.goal}", judged)

    # ------------------------------------------------------------ agents

    def _usual(self, run: str) -> Iterator[Move]:
        """What an agent does if all goes well."""
        start = self.alive[run]
        goal = self.world.states[f"goal/{start.goal}"]
        if run in self.ended:
            yield partial(self._exit, run, "")
        elif run not in self.named:
            yield partial(self.name, run)
        elif self.waits(run):
            return
        elif start.role is Role.LEAD and goal.plan_stage is PlanStage.NONE:
            yield self._propose(start, draft("One"))
            yield self._propose(start, draft("One"), draft("Two", 1))
        elif start.role is Role.LEAD and not goal.at_work and goal.head != goal.base_commit:
            yield partial(self.end, run, TurnError.NONE)
            if goal.review.stage in (ReviewStage.NONE, ReviewStage.HANDED_BACK):
                yield self._put(start)
        else:
            yield partial(self.end, run, TurnError.NONE)

    def _unusual(self, run: str) -> Iterator[Move]:
        start = self.alive[run]
        yield partial(self._exit, run, "cut off")
        if run in self.ended:
            return
        yield from (partial(self.end, run, kind) for kind in ENDS)
        if run not in self.named:
            return
        kinds = (AskKind.PERMISSION, AskKind.QUESTION, AskKind.KEY)
        yield from (self._ask(run, kind) for kind in kinds)
        for request in self.requests.get(run, []):
            withdrawn = RequestWithdrawn(run=run, request=request)
            yield partial(self.world.post, f"session/{start.session}", withdrawn)
        for steered in self.world.states[f"session/{start.session}"].steered:
            taken = LineTaken(run=run, key=steered.key)
            yield partial(self.world.post, f"session/{start.session}", taken)
        yield from self._calls_of(start)

    def _permissions(self) -> Iterator[Move]:
        for run in self.seen:
            if run in self.named and run not in self.ended and not self.waits(run):
                yield self._ask(run, AskKind.PERMISSION)

    def name(self, run: str) -> None:
        start = self.alive[run]
        self.named.add(run)
        named = SessionNamed(run=run, agent_session=start.agent_session)
        self.world.post(f"session/{start.session}", named)

    def end(self, run: str, kind: TurnError) -> None:
        start = self.alive[run]
        self.ended.add(run)
        if kind is TurnError.LIMIT:
            limit = LimitReached(run=run, resets_at=self.world.now + 1800)
            self.world.post(f"session/{start.session}", limit)
        error = "" if kind is TurnError.NONE else f"it failed: {kind}"
        over = TurnEnded(run=run, text="Done.", error=error, kind=kind, cost_usd=0.01)
        self.world.post(f"session/{start.session}", over)

    def _exit(self, run: str, why: str) -> None:
        start = self.alive.pop(run)
        self.world.post(f"session/{start.session}", RunExited(run=run, why=why))

    def _call(self, run: str) -> str:
        call = f"{run}#{self.next()}"
        self.calls.append(call)
        return call

    def _ask(self, run: str, kind: AskKind) -> Move:
        def move() -> None:
            held = kind is AskKind.PERMISSION
            request = f"req-{self.next()}" if held else ""
            if held:
                self.requests.setdefault(run, []).append(request)
            asked = AskRaised(
                run=run,
                ask=f"a-{self.next()}",
                request=request,
                kind=kind,
                title="Which?",
                detail="Which?",
                tool={AskKind.PERMISSION: "Bash", AskKind.KEY: TOOL}.get(kind, ""),
                input_json=self._given(kind),
                questions=(Question("Which?", options=("Euro", "Pound")),)
                if kind is AskKind.QUESTION
                else (),
                call="" if held else self._call(run),
            )
            self.world.post(f"session/{self.alive[run].session}", asked)

        return move

    def _given(self, kind: AskKind) -> str:
        if kind is AskKind.KEY:
            return Wanted(("KEY",), ("report", f"{self.next() % 2}")).packed
        return COMMANDS[self.next() % len(COMMANDS)] if kind is AskKind.PERMISSION else ""

    def _propose(self, start: StartRun, *drafts: PieceDraft) -> Move:
        def move() -> None:
            proposed = PlanProposed(
                plan=f"pl-{self.next()}",
                summary="Do it",
                pieces=drafts,
                call=self._call(start.run),
                piece_ids=tuple(f"p-{self.next()}" for _ in drafts),
                session_ids=tuple(f"s-{self.next() + 1000}" for _ in drafts),
            )
            self.world.post(f"goal/{start.goal}", proposed)

        return move

    def _put(self, start: StartRun) -> Move:
        def move() -> None:
            review, ship = f"r-{self.next()}", f"sh-{self.next()}"
            call = self._call(start.run)
            put = ReviewPut(review=review, ship=ship, summary="Done", call=call)
            self.world.post(f"goal/{start.goal}", put)

        return move

    def _calls_of(self, start: StartRun) -> Iterator[Move]:
        """What may be called by the desk at any time, sense or not."""

        def call(event: AnyEvent) -> Move:
            def move() -> None:
                said: Any = replace(event, call=self._call(start.run))
                self.world.post(f"goal/{start.goal}", said)

            return move

        if start.role is Role.WORKER:
            yield call(WorkerDone(session=start.session, summary="Built"))
            return
        yield self._propose(start, draft("One"), draft("Two"))
        yield call(PlanStarted(plan="", by="lead"))
        yield self._put(start)
        yield call(WorkerMessaged(piece="1", text="Hurry"))
        for number in ("1", "2"):
            yield call(PieceRetried(piece=number, model="strong"))
            yield call(PieceStopped(piece=number))

    # ------------------------------------------------------------ the owner

    def _taps(self) -> Iterator[tuple[str, Move]]:
        for card in board.everything(self.world.states, silent):
            for verb in card.buttons:
                if (kind := (type(card), verb)) in TAPS:
                    yield verb, self._tap(card, TAPS[kind](card.id))

    def _lines(self) -> Iterator[Move]:
        for stream, state in self.world.states.items():
            if isinstance(state, Session) and state.stage is not Stage.NEW and not state.final:
                yield self._try(stream, Prompted(text=f"Line {self.next()}", source="owner"))

    def _tap(self, card: AnyCard, event: AnyEvent) -> Move:
        stream = f"goal/{card.goal}"
        match card, event:
            case LoginCard(), _:
                stream, event = "fleet", AccountFreed(name=card.account)
            case ShipCard(), _:
                stream = f"ship/{card.goal}"
            case SessionCard(), TurnInterrupted() | SaidNow():
                stream = f"session/{self.world.states[stream].session}"
            case WorkerCard(), TurnInterrupted() | SaidNow():
                pieces = (*self.world.states[stream].pieces, *self.world.states[stream].earlier)
                stream = next(f"session/{p.session}" for p in pieces if p.id == card.id)
            case QuestionCard(), Answered():
                stream, event = f"ask/{card.id}", replace(event, index=len(card.answers))
            case _, Answered():
                stream = f"ask/{card.id}"

        def move() -> None:
            self.taps.append((stream, event))
            self._try(stream, event)()

        return move

    # ------------------------------------------------------------ a kind outside

    def lead_in(self, moves: int) -> None:
        """Let all go well for a while, the owner saying yes, so that a story can begin anywhere."""
        for _ in range(moves):
            self.world.settle()
            kind = [ways[0] for ways in self._orders()]
            kind += [ways[0] for ways in self._verdicts()]
            kind += [move for run in self.seen for move in self._usual(run)][-1:]
            kind += [move for verb, move in self._taps() if verb in YES]
            if not kind:
                return
            kind[0]()
        self.world.settle()

    def rest(self, limit: int = 2000) -> None:
        """Let all go well until nothing is left to do, as far as that is nobody's decision."""
        for _ in range(limit):
            if not self._kindly():
                return
        raise AssertionError(f"it never comes to rest: {self.world.names()}, {self.alive.keys()}")

    def _kindly(self) -> bool:
        world = self.world
        if world.told:
            world.deliver(next(iter(world.told)))
        elif ways := next(self._orders(), None):
            ways[0]()
        elif self.checks:
            self._judge_check(*self.checks[0], PASSED)
        elif self.judging:
            self._judge_review(self.judging[0], PASSED)
        elif self.keyed:
            self._end_keyed(*self.keyed[0], "exit 0 after 3 s")
        elif run := next((run for run in self.seen if run in self.ended), ""):
            self._exit(run, "")
        elif run := next((run for run in self.seen if not self.waits(run)), ""):
            self.end(run, TurnError.NONE)
        elif signed_out := [rest for rest in world.states["fleet"].rests if rest.signed_out]:
            world.post("fleet", AccountFreed(name=signed_out[0].account))
        elif world.states["fleet"].held:
            world.post("fleet", HeldAll(held=False))
        elif world.states["fleet"].machines[0].free_mb < PLENTY_MB:
            self._memory(PLENTY_MB)()
        elif due := [due for due, _, _ in world.later] + [
            effect.due_at for _, effect in world.owed if effect.due_at > world.now
        ]:
            world.pass_time(min(due) - world.now)
        else:
            return False
        return True

    def waits(self, run: str) -> bool:
        """A request of the run's is open: its agent does nothing else."""
        session = self.world.states[f"session/{self.alive[run].session}"]
        return any(ask.request and not ask.parked for ask in session.asks)
