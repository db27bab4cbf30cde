"""Everything we can owe the outside, and the one way streams speak: `Tell`.

An effect is stored in the same commit as the state that owes it and keeps its id on every retry, so
an adapter can make a repeat find the work done. What comes of it returns as an event. Performed by
engine/perform.py; `Tell` by the loop itself. `due_at` (Unix seconds) may lie ahead: the loop waits.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from engine.rules.events import AnyEvent
from engine.rules.words import Account, Attachment, Role


class Effect(Struct, frozen=True, tag=True, kw_only=True):
    """Base of all effects: `due_at` 0 means now."""

    due_at: float = 0.0


class Tell(Effect, frozen=True):
    """Post an event to another stream (or, with `due_at`, to one's own later: a wake)."""

    stream: str
    event: AnyEvent


class Say(Effect, frozen=True):
    """A line for the owner that is no card: kept in `notes`, shown once, silent unless `sounds`."""

    goal: str  # "" = General
    kind: str  # "words" (an agent's), "news" (plain code's), "warning", "stuck"
    text: str
    who: str = ""  # who says it; of what is stuck: the card whose buttons are of use
    sounds: bool = False


# ---------------------------------------------------------------- git, by engine/adapters/hub.py


class ReadBase(Effect, frozen=True):
    """Bring the hub up to date, name the base commit, make the lead branch, read the settings."""

    goal: str
    project: str
    base: str
    title: str


class TakeIn(Effect, frozen=True):
    """Look at a repository the owner named, and bring it into the hub."""

    project: str
    card: str
    source: str
    base: str = ""
    trust: str = ""  # the fingerprint of its host's key, as the owner accepted it


class Collect(Effect, frozen=True):
    """Take the one commit a worker's branch ends in into the hub's quarantine."""

    goal: str
    project: str
    piece: str
    session: str
    branch: str
    base: str


class Merge(Effect, frozen=True):
    """Join a piece's commit and the lead's head into one commit; nothing moves yet."""

    goal: str
    project: str
    piece: str
    commit: str
    title: str


class Land(Effect, frozen=True):
    """Compare-and-swap the lead's branch from `onto` to `commit`."""

    goal: str
    project: str
    piece: str
    commit: str
    onto: str


class TakeRemote(Effect, frozen=True):
    """Read the remote's head; if it moved, merge it with `head`."""

    goal: str
    project: str
    base: str
    base_commit: str
    head: str


class Push(Effect, frozen=True):
    """Push `commit`, only if the remote still is at `expected`; read the remote back."""

    goal: str
    project: str
    base: str
    commit: str
    expected: str


class TidyBranch(Effect, frozen=True):
    """Delete a branch in the hub once its commits are reachable from where they landed."""

    project: str
    branch: str
    landed_in: str


# ---------------------------------------------------------------- runs, by engine/adapters/runs.py


class Check(Effect, frozen=True):
    """Run the project's command on one commit; the verdict goes to `teller` as an event."""

    run: str  # the run's id, unique for this commit and try
    project: str
    commit: str
    command: str
    teller: str  # stream
    about: str  # piece, review or ship id, or "base"
    setup: str = ""
    session: str = ""  # in this session's warm tree, where that is; "" = a clean one, set up again
    machine: str = "here"
    tries: int = 1


class Judge(Effect, frozen=True):
    """Stats and risk marks of base...head, then the check in a clean tree; → ReviewJudged."""

    goal: str
    project: str
    review: str
    head: str
    base_commit: str
    check: str = ""
    setup: str = ""


class StartRun(Effect, frozen=True):
    """Start one turn's process; idempotent by run id."""

    run: str
    session: str
    goal: str
    role: Role
    project: str
    account: Account
    model: str
    mode: str
    machine: str
    branch: str
    commit: str
    preface: str
    prompt: str
    agent_session: str
    resume: bool
    setup: str = ""
    copy: tuple[str, ...] = ()  # paths a fresh tree gets a copy of, before its setup
    commands: tuple[str, ...] = ()  # the owner allowed them word for word: not asked for
    files: tuple[Attachment, ...] = ()  # all that the session was ever sent: its folder holds them
    sent: tuple[Attachment, ...] = ()  # those of this turn, which its prompt names


class RunKeyed(Effect, frozen=True):
    """Run a command with stored keys, by their names, in a fence of its own; never a second time."""

    run: str
    session: str  # in whose tree
    project: str
    ask: str
    names: tuple[str, ...]
    argv: tuple[str, ...]
    read_only: bool  # the tree, as that session has it
    allowed_at: float


class AnswerRun(Effect, frozen=True):
    """Write the answer of one request into the run's inbox."""

    run: str
    request: str
    kind: str  # "allow", "deny", "answer", "approve", "send_back"
    machine: str = "here"
    text: str = ""
    tool: str = ""
    input_json: str = ""
    answers: tuple[tuple[str, str], ...] = ()
    files: tuple[Attachment, ...] = ()


class ReplyDesk(Effect, frozen=True):
    """Answer a desk call: `call` is "<run>#<call id>"."""

    call: str
    text: str
    is_error: bool = False


class InterruptRun(Effect, frozen=True):
    """Ask the agent to end its turn."""

    run: str
    machine: str = "here"


class SteerRun(Effect, frozen=True):
    """Say something to the agent in the middle of its turn; `key` comes back once it read it."""

    run: str
    key: str
    text: str
    machine: str = "here"
    files: tuple[Attachment, ...] = ()


class CloseRun(Effect, frozen=True):
    """End the run: its clean way first, its fence after `grace_s`."""

    run: str
    machine: str = "here"
    grace_s: float = 10.0
    session: str = ""  # whose tree the run borrowed: then it is where that is
    unless_past: int = 0  # not if it has printed past this offset; 0: whatever it prints


class Watch(Effect, frozen=True):
    """When due, tell the session how long its run has been quiet."""

    run: str
    session: str


class AfterLimit(Effect, frozen=True):
    """A usage limit is over: tell the goal, with the owner's default and the hour."""

    session: str
    goal: str
    account: str = ""


class KeepTree(Effect, frozen=True):
    """A session is over: its tree goes back to the pool, unsaved work to a rescue branch."""

    session: str
    project: str


AnyEffect: TypeAlias = (
    Tell
    | Say
    | ReadBase
    | TakeIn
    | Collect
    | Merge
    | Land
    | TakeRemote
    | Push
    | TidyBranch
    | Check
    | Judge
    | StartRun
    | RunKeyed
    | AnswerRun
    | ReplyDesk
    | InterruptRun
    | SteerRun
    | CloseRun
    | Watch
    | AfterLimit
    | KeepTree
)
