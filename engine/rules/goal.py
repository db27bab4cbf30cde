"""One goal from the owner's words to the push: its lead, plan, pieces, attempts and review.

    OPENING -> PLANNING -> BUILDING -> REVIEW -> SHIPPING -> SHIPPED        any -> DROPPED
                  ^            ^          |          |
                  +------------+-correct--+--cancel--+

Only this stream decides about the plan and the attempts. Sessions tell it how turns end, the landing
what landed, the ship what was pushed. Desk calls carry `call`, and every one is answered. Pure.
Neighbours: plan.py (pieces), session.py, landing.py, ship.py, news.py (all wording to agents).
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules import names, news, plan, roles
from engine.rules.effects import (
    Check,
    Collect,
    Effect,
    Judge,
    KeepTree,
    ReadBase,
    ReplyDesk,
    Tell,
    TidyBranch,
)
from engine.rules.events import (
    BaseChecked,
    BaseRead,
    CommandSettled,
    CommandWanted,
    GaveUp,
    GoalDropped,
    GoalEvent,
    GoalOpened,
    GoalResumed,
    GoalShipped,
    GoalStopped,
    LandingCalled,
    LandingDropped,
    LinesLeft,
    PieceCollected,
    PieceLanded,
    PieceRetried,
    PieceReturned,
    PieceStopped,
    PlanDiscarded,
    PlanProposed,
    PlanStarted,
    Prompted,
    RetryDue,
    ReviewCorrected,
    ReviewJudged,
    ReviewPut,
    SessionOpened,
    SessionResumed,
    SessionStopped,
    ShipCalled,
    ShipFailed,
    ShipOpened,
    TreeBack,
    TreeMoved,
    TurnOver,
    WorkerDone,
    WorkerMessaged,
)
from engine.rules.plan import Piece
from engine.rules.words import Account, CheckVerdict, Command, Role, Stats, TurnError

MAX_RED_REVIEWS = 2  # handed back to the lead; the next is put to the owner, without Ship
RETRY_PAUSE_S = 20.0
TITLE_LENGTH = 60


class Stage(StrEnum):
    OPENING = "opening"
    PLANNING = "planning"
    BUILDING = "building"
    REVIEW = "review"
    SHIPPING = "shipping"
    SHIPPED = "shipped"
    DROPPED = "dropped"


class PlanStage(StrEnum):
    NONE = "none"
    PROPOSED = "proposed"
    STARTED = "started"
    DISCARDED = "discarded"


class ReviewStage(StrEnum):
    NONE = "none"
    JUDGING = "judging"
    OPEN = "open"
    HANDED_BACK = "handed back"  # red: the lead mends it first
    CORRECTED = "corrected"
    SHIPPING = "shipping"
    SHIPPED = "shipped"
    DROPPED = "dropped"


class Review(Struct, frozen=True, kw_only=True):
    """The whole, put to the owner."""

    id: str = ""
    ship: str = ""
    stage: ReviewStage = ReviewStage.NONE
    summary: str = ""
    head: str = ""
    stats: Stats = Stats()
    verdict: CheckVerdict = CheckVerdict(passed=False, ran=False)
    risks: tuple[str, ...] = ()
    put_at: float = 0.0
    decided_at: float = 0.0


class CommandState(Struct, frozen=True):
    """A command of the settings, and the owner's word on it (None: not yet)."""

    command: Command
    allowed: bool | None = None


class Goal(Struct, frozen=True, tag=True, kw_only=True):
    """Where one goal stands."""

    id: str
    stage: Stage | None = None
    held: bool = False  # /stop: nothing of it runs until /resume
    project: str = ""
    text: str = ""
    title: str = ""
    base: str = ""
    base_commit: str = ""
    branch: str = ""
    head: str = ""
    account: Account = Account("", "")
    model: str = ""
    mode: str = "edit"
    go: str = "ask"
    session: str = ""
    commands: tuple[CommandState, ...] = ()
    settings_from: str = ""
    base_verdict: CheckVerdict | None = None
    plan: str = ""
    plan_stage: PlanStage = PlanStage.NONE
    plan_summary: str = ""
    plan_by: str = ""
    plan_at: float = 0.0  # proposed, then decided
    pieces: tuple[Piece, ...] = ()
    earlier: tuple[Piece, ...] = ()  # of plans before this one
    review: Review = Review()
    correcting: bool = False  # the next plan starts at once: Correct… is also the go
    corrected: int = 0
    red_reviews: int = 0
    failure: str = ""  # what the owner must mend, with Retry
    failure_kind: TurnError = TurnError.NONE
    failed_at: float = 0.0
    opened_at: float = 0.0
    shipped: str = ""
    where: str = ""

    @property
    def stream(self) -> str:
        return f"goal/{self.id}"

    @property
    def live(self) -> bool:
        return self.stage not in (None, Stage.SHIPPED, Stage.DROPPED)

    def command(self, kind: str) -> str:
        """The allowed command of a kind, or ""."""
        return next(
            (c.command.text for c in self.commands if c.command.kind == kind and c.allowed), ""
        )

    @property
    def settled(self) -> bool:
        """Every command has the owner's word."""
        return all(c.allowed is not None for c in self.commands)

    def piece(self, piece_id: str) -> Piece | None:
        return next((piece for piece in self.pieces if piece.id == piece_id), None)

    def piece_of(self, session: str) -> Piece | None:
        return next((piece for piece in self.pieces if piece.session == session), None)


Step = tuple[Goal, tuple[Effect, ...]]


def begin(name: str) -> Goal:
    return Goal(id=name)


def decide(now: Goal, event: GoalEvent) -> Step:
    """Return where the goal stands after `event`, and what must now be done about it."""
    match event:
        case GoalOpened() if now.stage is None:
            return _open(now, event)
        case BaseRead() if now.stage is Stage.OPENING:
            return _base_read(now, event)
        case CommandSettled() if now.live:
            return _command_settled(now, event)
        case BaseChecked(verdict=verdict) if now.live and now.base_verdict is None:
            checked = replace(now, base_verdict=verdict)
            return checked, (_to_lead(now, news.base_checked(now.base, verdict)),)
        case TurnOver():
            return _turn_over(now, event)
        case LinesLeft(session=session, text=text):
            piece = now.piece_of(session)
            if piece is None or not now.live:
                return now, ()
            told = news.from_owner_to_worker(piece.number, piece.title, text)
            return now, (_to_lead(now, told),)
        case GoalDropped() if now.live:
            return _drop(now, event.at)
        case GoalStopped() if now.live:
            return _hold(now, held=True)
        case GoalResumed() if now.live:
            return _hold(now, held=False)
        case GoalDropped() | GoalStopped() | GoalResumed():
            raise Refused("That goal is over.")
        case GaveUp(effect="ReadBase", why=why) if now.stage is Stage.OPENING:
            return replace(now, failure=why, failed_at=event.at), ()
        case _ if not now.live:
            return _too_late(now, event)
        case PlanProposed() | PlanStarted() | PlanDiscarded():
            return _of_plan(now, event)
        case ReviewPut() | ReviewJudged() | ReviewCorrected() | ShipCalled():
            return _of_review(now, event)
        case GoalShipped() | ShipFailed():
            return _of_ship(now, event)
        case _:
            return _of_piece(now, event)


def _too_late(now: Goal, event: GoalEvent) -> Step:
    """Answer what comes after the end; facts change nothing."""
    call = getattr(event, "call", "")
    if call:
        return now, _error(call, "This goal is over; end your turn.")
    if isinstance(event, PlanStarted | PlanDiscarded | ReviewCorrected | ShipCalled):
        raise Refused("That goal is over.")
    if isinstance(event, PieceRetried | PieceStopped):
        raise Refused("That goal is over.")
    return now, ()


# ---------------------------------------------------------------- opening


def short_title(text: str) -> str:
    """A goal's name: its first line, cut between words."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "goal")
    if len(line) <= TITLE_LENGTH:
        return line
    cut = line[: TITLE_LENGTH - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def _open(now: Goal, event: GoalOpened) -> Step:
    title = short_title(event.text)
    opened = replace(
        now,
        stage=Stage.OPENING,
        project=event.project,
        text=event.text,
        title=title,
        base=event.base,
        account=event.account,
        model=event.model,
        mode=event.mode,
        go=event.go,
        session=event.session,
        opened_at=event.at,
    )
    return opened, (_read_base(opened),)


def _read_base(now: Goal) -> ReadBase:
    return ReadBase(goal=now.id, project=now.project, base=now.base, title=now.title)


def _base_read(now: Goal, event: BaseRead) -> Step:
    """The base is known: ask about its commands and start the lead, which need not wait for them."""
    read = replace(
        now,
        stage=Stage.PLANNING,
        base_commit=event.base_commit,
        head=event.base_commit,
        branch=event.branch,
        commands=tuple(CommandState(command) for command in event.commands),
        settings_from=event.settings_from,
        failure="",
    )
    wanted = tuple(
        Tell(
            stream=f"project/{now.project}",
            event=CommandWanted(goal=now.id, command=command, ask=ask),
        )
        for command, ask in zip(event.commands, event.asks, strict=True)
    )
    checks = tuple(
        f"{command.kind}: `{command.text}` (waits for the owner's word)"
        for command in event.commands
    )
    prompt = roles.rundown(
        project=now.project,
        branch=event.branch,
        base=now.base,
        base_commit=event.base_commit,
        checks=checks,
        note=event.note,
        goal=now.text,
    )
    lead = SessionOpened(
        goal=now.id,
        role=Role.LEAD,
        project=now.project,
        account=now.account,
        model=now.model,
        mode=now.mode,
        branch=event.branch,
        commit=event.base_commit,
        preface=roles.LEAD,
        prompt=prompt,
        title=now.title,
    )
    return read, (*wanted, Tell(stream=f"session/{now.session}", event=lead))


def _command_settled(now: Goal, event: CommandSettled) -> Step:
    commands = tuple(
        replace(known, allowed=event.allowed) if known.command == event.command else known
        for known in now.commands
    )
    settled = replace(now, commands=commands)
    effects: list[Effect] = []
    check = settled.command("check")
    if settled.settled and check and not now.settled:
        effects.append(_check_base(settled, check))
    after, started = _start_ready(settled)
    return after, (*effects, *started)


def _check_base(now: Goal, check: str) -> Check:
    return Check(
        run=f"check-{now.id}-{now.base_commit[:12]}-base",
        project=now.project,
        commit=now.base_commit,
        command=check,
        setup=now.command("setup"),
        teller=now.stream,
        about="base",
    )


# ---------------------------------------------------------------- plan


def _of_plan(now: Goal, event: PlanProposed | PlanStarted | PlanDiscarded) -> Step:
    match event:
        case PlanProposed():
            return _propose(now, event)
        case PlanStarted(call=call) if call:
            return _start_by_lead(now, event)
        case PlanStarted(plan=plan_id) if _is_proposed(now, plan_id):
            return _start_plan(now, "owner", event.at)
        case PlanDiscarded(plan=plan_id) if _is_proposed(now, plan_id):
            discarded = replace(now, plan_stage=PlanStage.DISCARDED, plan_at=event.at)
            return discarded, (_to_lead(now, news.plan_discarded()),)
        case _:
            raise Refused(_plan_already(now, event.plan))


def _is_proposed(now: Goal, plan_id: str) -> bool:
    return now.plan == plan_id and now.plan_stage is PlanStage.PROPOSED


def _plan_already(now: Goal, plan_id: str) -> str:
    if now.plan != plan_id:
        return "That plan was replaced by a newer one."
    return f"That plan is already {now.plan_stage.value}."


def _propose(now: Goal, event: PlanProposed) -> Step:
    wrong = plan.fault(event.pieces) or _under_way(now)
    if wrong:
        return now, _error(event.call, wrong)
    taken = {piece.branch for piece in (*now.pieces, *now.earlier)}
    pieces = []
    for number, draft in enumerate(event.pieces, start=1):
        branch = names.worker_branch(draft.title, event.piece_ids[number - 1], taken)
        taken.add(branch)
        pieces.append(
            Piece(
                id=event.piece_ids[number - 1],
                session=event.session_ids[number - 1],
                number=number,
                title=draft.title.strip(),
                task=draft.task,
                size=draft.size,
                after=draft.after,
                branch=branch,
                agent=draft.agent or now.account.agent,
                model=draft.model or now.model,
                machine=draft.machine,
            )
        )
    proposed = replace(
        now,
        stage=Stage.PLANNING if now.stage is Stage.PLANNING else Stage.BUILDING,
        plan=event.plan,
        plan_stage=PlanStage.PROPOSED,
        plan_summary=event.summary,
        plan_at=event.at,
        pieces=tuple(pieces),
        earlier=(*now.earlier, *(piece for piece in now.pieces if piece.opened)),
    )
    if now.correcting:
        started, effects = _start_plan(proposed, "correction", event.at)
        reply = "Started at once: the owner's correction is the go. End your turn."
        return started, (*_reply(event.call, reply), *effects)
    reply = "Put to the owner. End your turn: you hear when it is started, or not."
    if now.go == "auto":
        reply = "Kept. You may start it yourself with start_plan."
    return proposed, _reply(event.call, reply)


def _under_way(now: Goal) -> str:
    """Say why a new plan cannot take this one's place, or ""."""
    if now.plan_stage is not PlanStage.STARTED:
        return ""
    open_pieces = tuple(piece.number for piece in now.pieces if piece.stage in plan.OPEN)
    if not open_pieces:
        return ""
    return (
        f"The plan you have is under way: {plan.numbers(open_pieces)} not landed yet. Wait for "
        "the news, or stop what you no longer want with stop_worker."
    )


def _start_by_lead(now: Goal, event: PlanStarted) -> Step:
    if now.plan_stage is not PlanStage.PROPOSED:
        return now, _error(event.call, "There is no plan to start: propose one first.")
    if now.go != "auto":
        said = "The owner starts this plan. End your turn; you hear when it is started."
        return now, _error(event.call, said)
    started, effects = _start_plan(now, "lead", event.at)
    return started, (*_reply(event.call, "Started."), *effects)


def _start_plan(now: Goal, by: str, at: float) -> Step:
    """Let every piece wait for its turn, and start those that need not wait."""
    started = replace(
        now,
        stage=Stage.BUILDING,
        plan_stage=PlanStage.STARTED,
        plan_by=by,
        plan_at=at,
        correcting=False,
        pieces=tuple(replace(piece, stage=plan.Stage.WAITING) for piece in now.pieces),
    )
    told = () if by == "correction" else (_to_lead(now, news.plan_started(by, len(now.pieces))),)
    after, effects = _start_ready(started)
    return after, (*told, *effects)


def _start_ready(now: Goal) -> Step:
    """Start the pieces that wait for nothing; none before the owner's word on the commands."""
    if now.held or not now.settled or now.plan_stage is not PlanStage.STARTED:
        return now, ()
    effects = []
    for piece in plan.ready(now.pieces):
        working = replace(piece, stage=plan.Stage.WORKING, opened=True, base=now.head)
        now = _with(now, working)
        effects.append(_open_worker(now, working))
    return now, tuple(effects)


def _open_worker(now: Goal, piece: Piece) -> Tell:
    opened = SessionOpened(
        goal=now.id,
        role=Role.WORKER,
        project=now.project,
        account=now.account,
        model=piece.model,
        mode=now.mode,
        branch=piece.branch,
        commit=now.head,
        preface=roles.worker(piece.branch, now.command("check")),
        prompt=roles.task(piece.number, piece.title, piece.task),
        piece=piece.id,
        number=piece.number,
        title=piece.title,
        machine=piece.machine,
    )
    return Tell(stream=f"session/{piece.session}", event=opened)


# ---------------------------------------------------------------- pieces


def _of_piece(now: Goal, event: GoalEvent) -> Step:
    match event:
        case WorkerDone(session=session, summary=summary, call=call):
            piece = now.piece_of(session)
            done = _with(now, replace(piece, summary=summary)) if piece else now
            return done, _reply(call, "Noted. End your turn: your branch is checked then.")
        case PieceCollected(piece=piece_id, found=found):
            piece = now.piece(piece_id)
            if piece is None or piece.stage is not plan.Stage.COLLECTING:
                return now, ()
            return _collected(now, piece, found.head, event)
        case PieceLanded(piece=piece_id):
            piece = now.piece(piece_id)
            return _landed(now, piece, event) if piece else (now, ())
        case PieceReturned(piece=piece_id):
            piece = now.piece(piece_id)
            if piece is None or piece.stage is not plan.Stage.LANDING:
                return now, ()
            return _returned(now, piece, event)
        case RetryDue(piece=piece_id):
            piece = now.piece(piece_id)
            if piece is None or piece.stage is not plan.Stage.WORKING or now.held:
                return now, ()
            return now, (Tell(stream=f"session/{piece.session}", event=SessionResumed()),)
        case PieceRetried():
            return _retry(now, event)
        case PieceStopped():
            return _stop_piece(now, event)
        case WorkerMessaged():
            return _message(now, event)
        case GaveUp(effect="Collect", about=piece_id, why=why):
            piece = now.piece(piece_id)
            if piece is None or piece.stage is not plan.Stage.COLLECTING:
                return now, ()
            return _give_up(now, piece, why, "")
        case GaveUp(effect="Judge", why=why) if now.review.stage is ReviewStage.JUDGING:
            verdict = CheckVerdict(passed=False, failure=why)
            return _hand_back(now, replace(now.review, verdict=verdict))
        case _:
            return now, ()


def _with(now: Goal, piece: Piece) -> Goal:
    pieces = tuple(piece if other.id == piece.id else other for other in now.pieces)
    return replace(now, pieces=pieces)


def _turn_over(now: Goal, event: TurnOver) -> Step:
    if event.session == now.session:
        return _lead_over(now, event)
    piece = now.piece_of(event.session)
    if piece is None or not now.live or piece.stage in (plan.Stage.LANDED, plan.Stage.STOPPED):
        return now, ()
    match event.kind:
        case TurnError.NONE:
            collecting = _with(now, replace(piece, stage=plan.Stage.COLLECTING, why=""))
            return collecting, (_collect(now, piece),)
        case TurnError.INTERRUPTED:
            return _with(now, replace(piece, stage=plan.Stage.PAUSED, why="interrupted")), ()
        case TurnError.LIMIT:
            return now, (_to_lead(now, f"{_name(piece)} {event.error}; it goes on by itself."),)
        case TurnError.AGENT | TurnError.API:
            return _broken(now, piece, event.error, event.at)
        case _:
            return _give_up(now, piece, event.error, "")


def _lead_over(now: Goal, event: TurnOver) -> Step:
    if event.kind in (TurnError.NONE, TurnError.INTERRUPTED, TurnError.LIMIT):
        return replace(now, failure="", failure_kind=TurnError.NONE), ()
    failed = replace(now, failure=event.error, failure_kind=event.kind, failed_at=event.at)
    return failed, ()


def _collect(now: Goal, piece: Piece) -> Collect:
    return Collect(
        goal=now.id,
        project=now.project,
        piece=piece.id,
        session=piece.session,
        branch=piece.branch,
        base=piece.base,
    )


def _collected(now: Goal, piece: Piece, head: str, event: PieceCollected) -> Step:
    found = event.found
    if found.failure:
        return _give_up(now, piece, found.failure, "")
    if found.dirty:
        listed = "\n".join(found.dirty)
        why = "it left changes uncommitted: commit what belongs to the piece, discard the rest"
        return _attempt(now, piece, why, listed)
    if not found.commits:
        return _attempt(now, piece, "it made no commit, so there is nothing to land", "")
    landing = replace(piece, stage=plan.Stage.LANDING, commit=head, why="", report="")
    called = LandingCalled(
        piece=piece.id,
        session=piece.session,
        branch=piece.branch,
        commit=head,
        title=piece.title,
        project=now.project,
        check=now.command("check"),
        setup=now.command("setup"),
    )
    return _with(now, landing), (Tell(stream=f"landing/{now.id}", event=called),)


def _name(piece: Piece) -> str:
    return f'Piece {piece.number} "{piece.title}"'


def _landed(now: Goal, piece: Piece, event: PieceLanded) -> Step:
    landed = replace(piece, stage=plan.Stage.LANDED, commit=event.commit, why="", report="")
    now = replace(_with(now, landed), head=event.head)
    lines = [news.landed(piece.number, piece.title, piece.branch, event.checked)]
    if all(other.stage is plan.Stage.LANDED for other in now.pieces):
        lines.append(news.all_landed(event.head))
    after, started = _start_ready(now)
    over = SessionStopped(why="landed", final=True)
    return after, (
        Tell(stream=f"session/{now.session}", event=TreeMoved(commit=event.head)),
        _to_lead(now, news.to_lead("\n".join(lines))),
        Tell(stream=f"session/{piece.session}", event=over),
        KeepTree(session=piece.session, project=now.project),
        *started,
    )


def _returned(now: Goal, piece: Piece, event: PieceReturned) -> Step:
    if event.broken:
        return _give_up(now, piece, event.why, event.report)
    moved = Tell(stream=f"session/{piece.session}", event=TreeMoved(commit=now.head))
    if event.conflict and not piece.conflicts:
        again = replace(piece, stage=plan.Stage.WORKING, conflicts=1, why=event.why)
        told = _prompt(piece, news.conflict(event.why, now.head))
        return _with(now, again), (moved, told, _give_back(piece))
    if event.conflict:
        why = f"{event.why}. Merge {now.head[:12]} into your branch and resolve"
        after, effects = _attempt(now, piece, why, event.report)
        return after, (moved, *effects)
    return _attempt(now, piece, event.why, event.report)


def _attempt(now: Goal, piece: Piece, why: str, report: str) -> Step:
    """A turn that ended by itself with nothing that could land: again, three times in all."""
    told = news.to_lead(news.piece_failed(piece.number, piece.title, why, report, piece.attempt))
    if piece.attempt >= plan.MAX_ATTEMPTS:
        return _give_up(now, piece, f"{why}, in {plan.MAX_ATTEMPTS} attempts", report)
    again = replace(
        piece, stage=plan.Stage.WORKING, attempt=piece.attempt + 1, why=why, report=report
    )
    prompt = _prompt(piece, news.try_again(why, report, again.attempt))
    return _with(now, again), (_to_lead(now, told), prompt, _give_back(piece))


def _broken(now: Goal, piece: Piece, why: str, at: float) -> Step:
    """The agent itself broke: an attempt too, and the next is after a pause."""
    if piece.attempt >= plan.MAX_ATTEMPTS:
        return _give_up(now, piece, f"{why}, in {plan.MAX_ATTEMPTS} attempts", "")
    told = news.to_lead(news.piece_failed(piece.number, piece.title, why, "", piece.attempt))
    again = replace(piece, stage=plan.Stage.WORKING, attempt=piece.attempt + 1, why=why)
    due_at = at + RETRY_PAUSE_S * piece.attempt
    wake = Tell(stream=now.stream, event=RetryDue(piece=piece.id), due_at=due_at)
    return _with(now, again), (_to_lead(now, told), wake)


def _give_up(now: Goal, piece: Piece, why: str, report: str) -> Step:
    """Leave it to the owner (Retry, Stop) and tell the lead; its session takes lines again."""
    failed = replace(piece, stage=plan.Stage.FAILED, why=why, report=report)
    told = news.to_lead(news.piece_given_up(piece.number, piece.title, why, report))
    return _with(now, failed), (_to_lead(now, told), _give_back(piece))


def _give_back(piece: Piece) -> Tell:
    return Tell(stream=f"session/{piece.session}", event=TreeBack())


def _prompt(piece: Piece, text: str, source: str = "news") -> Tell:
    event = Prompted(text=text, source=source)
    return Tell(stream=f"session/{piece.session}", event=event)


def _asked_for(now: Goal, piece_id: str, call: str) -> tuple[Piece | None, str]:
    """Find a piece by id, or by its number as a lead names it; else a sentence."""
    piece = now.piece(piece_id)
    if piece is None and call:
        piece = next((p for p in now.pieces if str(p.number) == piece_id), None)
    wrong = "" if piece else f"There is no piece {piece_id} in the current plan."
    return piece, wrong


def _retry(now: Goal, event: PieceRetried) -> Step:
    piece, wrong = _asked_for(now, event.piece, event.call)
    if piece is not None and piece.stage not in (
        plan.Stage.FAILED,
        plan.Stage.PAUSED,
        plan.Stage.STOPPED,
    ):
        wrong = f"Piece {piece.number} is {piece.stage.value}: there is nothing to retry."
    if piece is not None and piece.stage is plan.Stage.STOPPED and piece.opened:
        wrong = f"Piece {piece.number} was stopped for good: plan it anew."
    if wrong or piece is None:
        return _refuse(now, event.call, wrong)
    again = replace(
        piece,
        stage=plan.Stage.WORKING if piece.opened else plan.Stage.WAITING,
        attempt=1,
        why="",
        report="",
        model=event.model or piece.model,
    )
    if not piece.opened:
        after, started = _start_ready(_with(now, again))
        return after, (*_reply(event.call, "Tried again."), *started)
    note = event.note or f"Try again. What went wrong: {piece.why}"
    return _with(now, again), (
        *_reply(event.call, "Tried again."),
        _prompt(piece, f"[Quarterdeck] {note}"),
        Tell(stream=f"session/{piece.session}", event=SessionResumed()),
    )


def _stop_piece(now: Goal, event: PieceStopped) -> Step:
    piece, wrong = _asked_for(now, event.piece, event.call)
    if piece is not None and piece.stage in (plan.Stage.LANDED, plan.Stage.STOPPED):
        wrong = f"Piece {piece.number} is already {piece.stage.value}."
    if wrong or piece is None:
        return _refuse(now, event.call, wrong)
    by = "its lead" if event.call else "you"
    stopped = replace(piece, stage=plan.Stage.STOPPED, why=event.why or f"stopped by {by}")
    effects: list[Effect] = [*_reply(event.call, "Stopped.")]
    if piece.opened:
        over = SessionStopped(why=stopped.why, final=True)
        effects += [
            Tell(stream=f"landing/{now.id}", event=LandingDropped(piece=piece.id)),
            Tell(stream=f"session/{piece.session}", event=over),
            KeepTree(session=piece.session, project=now.project),
        ]
    if not event.call:
        effects.append(_to_lead(now, news.to_lead(f"{_name(piece)}: stopped by the owner.")))
    return _with(now, stopped), tuple(effects)


def _message(now: Goal, event: WorkerMessaged) -> Step:
    piece, wrong = _asked_for(now, event.piece, event.call)
    if piece is not None and (not piece.opened or piece.stage is plan.Stage.LANDED):
        wrong = f"Piece {piece.number} is {piece.stage.value}: no worker is there to hear you."
    if wrong or piece is None:
        return _refuse(now, event.call, wrong)
    said = _prompt(piece, news.from_lead(event.text), source="lead")
    return now, (said, *_reply(event.call, "Passed on; it reads it after its running turn."))


def _refuse(now: Goal, call: str, wrong: str) -> Step:
    if call:
        return now, _error(call, wrong)
    raise Refused(wrong)


# ---------------------------------------------------------------- review and ship


def _of_review(now: Goal, event: ReviewPut | ReviewJudged | ReviewCorrected | ShipCalled) -> Step:
    review = now.review
    match event:
        case ReviewPut():
            return _put(now, event)
        case ReviewJudged(review=review_id) if (
            review.id == review_id and review.stage is ReviewStage.JUDGING
        ):
            return _judged(now, event)
        case ReviewJudged():
            return now, ()
        case ReviewCorrected(review=review_id) | ShipCalled(review=review_id) if (
            review.id != review_id or review.stage is not ReviewStage.OPEN
        ):
            raise Refused(_review_already(now, review_id))
        case ReviewCorrected(text=text) if not text.strip():
            raise Refused("The correction is empty: write what should be different.")
        case ReviewCorrected(text=text):
            corrected = replace(
                now,
                review=replace(review, stage=ReviewStage.CORRECTED, decided_at=event.at),
                stage=Stage.BUILDING,
                correcting=True,
                corrected=now.corrected + 1,
                red_reviews=0,
            )
            return corrected, (_to_lead(now, news.corrected(text)),)
        case ShipCalled() if not review.verdict.passed:
            raise Refused("Its check failed, so it cannot ship: Correct… or Drop.")
        case _:
            return _ship(now, event.at)


def _review_already(now: Goal, review_id: str) -> str:
    if now.review.id != review_id:
        return "That review was replaced by a newer one."
    return f"That review is already {now.review.stage.value}."


def _put(now: Goal, event: ReviewPut) -> Step:
    wrong = ""
    active = tuple(piece.number for piece in now.pieces if piece.stage in plan.ACTIVE)
    waiting = tuple(p.number for p in now.pieces if p.stage is plan.Stage.WAITING)
    if now.head == now.base_commit:
        wrong = "Nothing has landed in your branch yet, so there is nothing to review."
    elif active:
        wrong = f"Not yet: {plan.numbers(active)} still under way. You hear when they landed."
    elif waiting:
        wrong = f"Not yet: {plan.numbers(waiting)} not started. Stop what is not wanted first."
    elif now.review.stage is ReviewStage.SHIPPING:
        wrong = "The owner is shipping your last review just now."
    elif now.review.stage is ReviewStage.JUDGING:
        wrong = "Your review is being checked already; end your turn."
    if wrong:
        return now, _error(event.call, wrong)
    review = Review(
        id=event.review,
        ship=event.ship,
        stage=ReviewStage.JUDGING,
        summary=event.summary,
        put_at=event.at,
    )
    judge = Judge(
        goal=now.id,
        project=now.project,
        review=event.review,
        base_commit=now.base_commit,
        check=now.command("check"),
        setup=now.command("setup"),
    )
    reply = "Kept: the check runs once more on your branch, then it is the owner's. End your turn."
    reviewing = replace(now, review=review, stage=Stage.REVIEW)
    return reviewing, (*_reply(event.call, reply), judge)


def _judged(now: Goal, event: ReviewJudged) -> Step:
    judged = replace(
        now.review,
        head=event.head,
        stats=event.stats,
        verdict=event.verdict,
        risks=event.risks,
        put_at=event.at,
    )
    if not event.verdict.passed and now.red_reviews < MAX_RED_REVIEWS:
        return _hand_back(now, judged)
    return replace(now, review=replace(judged, stage=ReviewStage.OPEN), stage=Stage.REVIEW), ()


def _hand_back(now: Goal, review: Review) -> Step:
    """Red on the lead's branch: the lead has it mended before the owner is bothered."""
    back = replace(
        now,
        review=replace(review, stage=ReviewStage.HANDED_BACK),
        stage=Stage.BUILDING,
        red_reviews=now.red_reviews + 1,
    )
    return back, (_to_lead(now, news.review_red(review.verdict)),)


def _ship(now: Goal, at: float) -> Step:
    review = replace(now.review, stage=ReviewStage.SHIPPING, decided_at=at)
    opened = ShipOpened(
        ship=review.ship,
        review=review.id,
        project=now.project,
        base=now.base,
        base_commit=now.base_commit,
        head=review.head,
        check=now.command("check"),
        setup=now.command("setup"),
    )
    shipping = replace(now, review=review, stage=Stage.SHIPPING)
    return shipping, (Tell(stream=f"ship/{now.id}", event=opened),)


def _of_ship(now: Goal, event: GoalShipped | ShipFailed) -> Step:
    match event:
        case GoalShipped(commit=commit, where=where) if now.stage is Stage.SHIPPING:
            review = replace(now.review, stage=ReviewStage.SHIPPED)
            shipped = replace(now, stage=Stage.SHIPPED, review=review, shipped=commit, where=where)
            over = SessionStopped(why="shipped", final=True)
            return shipped, (
                Tell(stream=f"session/{now.session}", event=over),
                KeepTree(session=now.session, project=now.project),
                TidyBranch(project=now.project, branch=now.branch, landed_in=commit),
            )
        case ShipFailed() if now.stage is Stage.SHIPPING:
            review = replace(now.review, stage=ReviewStage.OPEN)
            return replace(now, stage=Stage.REVIEW, review=review), ()
        case _:
            return now, ()


# ---------------------------------------------------------------- stop, resume, drop


def _sessions(now: Goal) -> tuple[str, ...]:
    opened = (piece.session for piece in now.pieces if piece.opened and piece.stage in plan.OPEN)
    lead = () if now.stage is Stage.OPENING else (now.session,)
    return (*lead, *opened)


def _drop(now: Goal, at: float) -> Step:
    over = SessionStopped(why="dropped", final=True)
    stops = tuple(Tell(stream=f"session/{session}", event=over) for session in _sessions(now))
    keeps = tuple(KeepTree(session=session, project=now.project) for session in _sessions(now))
    review = now.review
    if review.stage is ReviewStage.OPEN:
        review = replace(review, stage=ReviewStage.DROPPED, decided_at=at)
    dropped = replace(now, stage=Stage.DROPPED, review=review, failure="")
    landing = Tell(stream=f"landing/{now.id}", event=LandingDropped())
    return dropped, (landing, *stops, *keeps)


def _hold(now: Goal, *, held: bool) -> Step:
    if held and now.held:
        raise Refused("It is stopped already. /resume goes on.")
    event = SessionStopped(why="stopped by you") if held else SessionResumed()
    told = tuple(Tell(stream=f"session/{session}", event=event) for session in _sessions(now))
    now = replace(now, held=held, failure="" if not held else now.failure)
    if held:
        return now, told
    opening = (_read_base(now),) if now.stage is Stage.OPENING else ()
    after, started = _start_ready(now)
    return after, (*opening, *told, *started)


# ---------------------------------------------------------------- small words


def _to_lead(now: Goal, text: str) -> Tell:
    return Tell(stream=f"session/{now.session}", event=Prompted(text=text, source="news"))


def _reply(call: str, text: str) -> tuple[Effect, ...]:
    """Answer a desk call; an owner's request has none."""
    return (ReplyDesk(call=call, text=text),) if call else ()


def _error(call: str, text: str) -> tuple[Effect, ...]:
    return (ReplyDesk(call=call, text=text, is_error=True),) if call else ()
