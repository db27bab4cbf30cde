"""Where one goal stands: the data behind goal.py, and the few moves its rules share.

goal.py is the rule; planning.py, piece.py and review.py decide its parts.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules import plan
from engine.rules.effects import AnyEffect, KeepTree, ReplyDesk, Tell
from engine.rules.events import AskWithdrawn, LandingDropped, Prompted, SessionStopped
from engine.rules.plan import Piece
from engine.rules.words import (
    BROUGHT,
    Account,
    Attachment,
    CheckVerdict,
    Command,
    Estimate,
    Stats,
    TurnError,
)


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
    pieces: tuple[str, ...] = ()  # titles of those landed when it was put
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
    moved_base: str = ""  # the remote's head that a ship could not be joined with
    account: Account = Account("", "")
    model: str = ""
    mode: str = "edit"
    go: str = "ask"
    machines: tuple[str, ...] = ()  # ticked: where its next workers may go; () = any
    session: str = ""
    whose: str = ""  # the owner who gave it, or took it since; "" = not known: the first
    commands: tuple[CommandState, ...] = ()
    settings_from: str = ""
    check_by_owner: bool = False  # the check is the one they set; the settings name none
    base_verdict: CheckVerdict | None = None
    plan: str = ""
    plan_stage: PlanStage = PlanStage.NONE
    plan_summary: str = ""
    plan_by: str = ""
    plan_at: float = 0.0  # proposed, then decided
    pieces: tuple[Piece, ...] = ()
    plan_edits: int = 0  # by the owner; what they were shown is told by it
    as_proposed: tuple[Piece, ...] = ()  # by the lead, where the owner changed it since
    estimates: tuple[Estimate, ...] = ()  # of this plan, as things stood when it was proposed
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
    after_limit: str = ""  # what its work does after a usage limit; "" = the owner's default
    limit_ask: str = ""  # the open card about it
    limit_waits: tuple[str, ...] = ()  # sessions that wait for its answer
    files: tuple[Attachment, ...] = ()  # of the owner's; every worker to come gets them
    kept_until: float = 0.0  # its lead heard that no worker begins till then, for the reserve

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
    def undecided(self) -> tuple[Command, ...]:
        """The commands that work waits for the owner's word on; for what is brought it never does."""
        return tuple(
            c.command for c in self.commands if c.allowed is None and c.command.kind != BROUGHT
        )

    @property
    def settled(self) -> bool:
        """Every command that work waits for has the owner's word."""
        return not self.undecided

    def piece(self, piece_id: str) -> Piece | None:
        return next((piece for piece in self.pieces if piece.id == piece_id), None)

    def piece_of(self, session: str) -> Piece | None:
        return next((piece for piece in self.pieces if piece.session == session), None)

    @property
    def at_work(self) -> tuple[Piece, ...]:
        """The pieces that have a worker and are not over."""
        return tuple(p for p in self.pieces if p.opened and p.stage in plan.OPEN)


Step = tuple[Goal, tuple[AnyEffect, ...]]


def with_piece(now: Goal, piece: Piece) -> Goal:
    pieces = tuple(piece if other.id == piece.id else other for other in now.pieces)
    return replace(now, pieces=pieces)


def to_lead(
    now: Goal, text: str, *, wait_s: float = 0.0, files: tuple[Attachment, ...] = ()
) -> Tell:
    """Tell the lead; what is only good to know waits for what else happens just then."""
    told = Prompted(text=text, source="news", wait_s=wait_s, files=files)
    return Tell(stream=f"session/{now.session}", event=told)


def ask_no_more(now: Goal, why: str) -> Step:
    """Nothing waits for the owner's word on a limit that is over any more."""
    if not now.limit_ask:
        return now, ()
    gone = Tell(stream=f"ask/{now.limit_ask}", event=AskWithdrawn(why=why))
    return replace(now, limit_ask="", limit_waits=()), (gone,)


def end_all(now: Goal, why: str) -> Step:
    """Nothing of the goal goes on: every session ends for good, no piece is left open."""
    now, gone = ask_no_more(now, f"the goal was {why}")
    lead = () if now.stage is Stage.OPENING else (now.session,)
    sessions = (*lead, *(piece.session for piece in now.at_work))
    over = SessionStopped(why=why, final=True)
    pieces = tuple(
        replace(piece, stage=plan.Stage.STOPPED, why=why) if piece.stage in plan.OPEN else piece
        for piece in now.pieces
    )
    return replace(now, pieces=pieces, failure=""), (
        *gone,
        Tell(stream=f"landing/{now.id}", event=LandingDropped()),
        *(Tell(stream=f"session/{session}", event=over) for session in sessions),
        *(KeepTree(session=session, project=now.project) for session in sessions),
    )


def reply(call: str, text: str) -> tuple[AnyEffect, ...]:
    """Answer a desk call; an owner's request has none."""
    return (ReplyDesk(call=call, text=text),) if call else ()


def error(call: str, text: str) -> tuple[AnyEffect, ...]:
    return (ReplyDesk(call=call, text=text, is_error=True),) if call else ()


def refuse(now: Goal, call: str, wrong: str) -> Step:
    if call:
        return now, error(call, wrong)
    raise Refused(wrong)
