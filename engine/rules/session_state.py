"""Where one conversation stands: the data behind session.py, and the few moves its rules share.

session.py is the rule; asking.py decides what is asked of the owner, turn_ends.py how turns end.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from engine.rules import attached
from engine.rules.effects import AnyEffect, Tell
from engine.rules.events import SlotWanted, TurnEnded
from engine.rules.words import (
    Account,
    AskKind,
    Attachment,
    LeftOff,
    OpenTool,
    Role,
    Silence,
    TurnError,
)


class Stage(StrEnum):
    NEW = "new"
    IDLE = "idle"
    WANTING = "wanting"
    STARTING = "starting"
    RUNNING = "running"
    CLOSING = "closing"
    GIVEN = "given"
    PARKED = "parked"
    HELD = "held"
    FAILED = "failed"


LIVE = (Stage.STARTING, Stage.RUNNING, Stage.CLOSING)
RESTING = (Stage.HELD, Stage.FAILED, Stage.PARKED)


class Line(Struct, frozen=True):
    """Text for the agent, and who it is from; `key`: the owner's message, where it may be edited."""

    text: str
    source: str
    files: tuple[Attachment, ...] = ()
    key: str = ""


class OpenAsk(Struct, frozen=True, kw_only=True):
    """A request of the agent's that the owner was asked about."""

    ask: str
    request: str  # "" = the desk's ask_owner: the answer is the next message
    kind: AskKind
    title: str
    detail: str
    tool: str
    input_json: str
    parked: bool = False
    use: str = ""  # the agent's own id of the call it asks about


class Steered(Struct, frozen=True):
    """Lines given to a running turn, until the agent tells that it read them."""

    key: str
    lines: tuple[Line, ...]


class OwnWake(Struct, frozen=True):
    """A time the agent asked to be woken at, and what for."""

    due_at: float
    why: str


class KeyedRun(Struct, frozen=True, kw_only=True):
    """A command with stored keys that was allowed, until it is over."""

    ask: str
    run: str
    command: str  # as it was shown
    names: tuple[str, ...]  # of the keys
    by: str = "owner"
    ended: bool = False  # stopped: it must not begin any more


class Session(Struct, frozen=True, tag=True, kw_only=True):
    """Where one conversation stands."""

    id: str
    stage: Stage = Stage.NEW
    goal: str = ""
    role: Role = Role.LEAD
    project: str = ""
    account: Account = Account("", "")
    model: str = ""
    mode: str = "edit"
    branch: str = ""
    commit: str = ""
    preface: str = ""
    brief: str = ""  # its first prompt, for a conversation that must begin anew
    piece: str = ""
    number: int = 0
    title: str = ""
    setup: str = ""
    copy: tuple[str, ...] = ()  # paths its fresh tree gets a copy of
    uncopied: str = ""  # what of them could not be copied, and why
    commands: tuple[str, ...] = ()
    wants: str = ""  # machine, "" = any
    ticked: tuple[str, ...] = ()  # machines it may go to, () = any
    machine: str = ""
    where: str = ""  # why it runs there, or why it waits
    waits_until: float = 0.0  # for a place, where that is known
    queue: tuple[Line, ...] = ()
    taken: tuple[Line, ...] = ()  # what the current turn was given
    turn: int = 0
    run: str = ""
    agent_session: str = ""
    resumable: bool = False  # the agent took a turn up under agent_session
    named: bool = False  # it took the current turn up, so what it was given is not said again
    asks: tuple[OpenAsk, ...] = ()
    wakes: tuple[OwnWake, ...] = ()
    granted: tuple[str, ...] = ()  # fingerprints of requests allowed after they were parked
    ending: TurnError = TurnError.NONE  # why we are closing the run, if it was us
    over: TurnEnded | None = None  # the agent's own end of the current turn
    tasks: int = 0  # of the agent's own, running behind its turn
    tasks_at: float = 0.0  # when that was told
    kept_end: TurnEnded | None = None  # of a turn whose run is kept for them
    ended_early: bool = False  # interrupted, and may go on by itself with lines it was given
    cut_offs: int = 0
    left: LeftOff | None = None  # how far the turn had got that was cut off before this one
    kills: int = 0  # in a row, by others than us
    given: bool = False  # a worker's work is being looked at: no turn until it is back
    parked_until: float = 0.0
    stopping: bool = False
    resuming: bool = False  # told to go on before the stop was over
    final: bool = False  # stopped for good: landed, dropped
    why: str = ""  # of HELD, PARKED, FAILED
    said: str = ""  # last words
    cost_usd: float = 0.0
    started_at: float = 0.0
    version_warning: str = ""
    tools: tuple[OpenTool, ...] = ()  # open when its run was last found silent
    silence: Silence | None = None  # it prints nothing, and why
    answered_at: float = 0.0  # when an answer was last sent into its run
    steered: tuple[Steered, ...] = ()  # said in the middle of the turn, not read yet
    interrupted: bool = False  # by the owner, and nothing has begun since
    files: tuple[Attachment, ...] = ()  # all that the owner ever sent it
    keyed: tuple[KeyedRun, ...] = ()

    @property
    def stream(self) -> str:
        return f"session/{self.id}"

    @property
    def live(self) -> bool:
        return self.stage in LIVE


Step = tuple[Session, tuple[AnyEffect, ...]]


def uuid_of(seed: str) -> str:
    """A version 4 shaped id: agents insist on one, and a rule may not draw lots."""
    return str(UUID(bytes=hashlib.sha256(seed.encode()).digest()[:16], version=4))


def next_turn(now: Session) -> Step:
    """Ask for a place if there is something to say and nobody is speaking."""
    if now.stage is not Stage.IDLE or not now.queue:
        return now, ()
    turn = now.turn + 1
    wanting = replace(
        now,
        stage=Stage.WANTING,
        turn=turn,
        run=f"{now.id}-t{turn}",
        where="",
        waits_until=0.0,
        over=None,
        interrupted=False,
    )
    wanted = SlotWanted(
        run=wanting.run,
        teller=now.stream,
        machine=now.machine or now.wants,
        why=_why_there(now),
        account=now.account.name,
        agent=now.account.agent,
        machines=now.ticked,
        fresh=now.role is Role.WORKER and not now.machine,
        careful=now.kills > 0,
    )
    return wanting, (Tell(stream="fleet", event=wanted),)


def with_files(now: Session, files: tuple[Attachment, ...]) -> Session:
    """Remember what the owner sent: the session's folder must hold it in every turn to come."""
    return replace(now, files=attached.merged(now.files, files)) if files else now


def _why_there(now: Session) -> str:
    """Say why a session runs on the one machine it names; its conversation and tree do not move."""
    if now.role is Role.LEAD:
        return "leads run here"
    return "its tree is there" if now.machine else "named in the plan"


def resume(now: Session) -> Step:
    if now.given:
        return replace(now, stage=Stage.GIVEN, why=""), ()
    return next_turn(replace(now, stage=Stage.IDLE, why="", parked_until=0.0))
