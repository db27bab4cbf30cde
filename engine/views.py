"""Read models: what the owner can see, as data. bot/text.py turns them into words.

A card is one message kept current. `revision` is a short hash of what a decision on it would rest
on: a tap carries it back, and a tap on another revision is refused with what changed. `asks` is true
while the card waits for the owner (its first showing may sound). `buttons` are verbs (design names
in snake case: start, discard, allow, always, deny, not_this, ship, correct, diff, drop, proceed, push,
cancel, trust, leave_off, retry, another, log_in, again, token, code, stop, interrupt, now, approve,
send_back, answer, peek, option-0, option-1 …); verbs
in NEEDS_TEXT are answered by a line. Built by engine/board/ from the streams' states.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from engine.rules.words import AlwaysRule, Question
from engine.rules.words import Attachment as Attachment
from engine.rules.words import Brought as Brought
from engine.rules.words import BroughtItem as BroughtItem
from engine.rules.words import PlanEstimate as PlanEstimate
from engine.rules.words import Silence as Silence
from engine.rules.words import Stake as Stake
from engine.rules.words import Why as Why

NEEDS_TEXT = frozenset({"correct", "answer", "another", "send_back"})
_SURE = "-sure"


def sure(verb: str) -> str:
    """Return what the second tap of a button says."""
    return f"{verb}{_SURE}"


def parted(verb: str) -> tuple[str, bool]:
    """Return a button's verb, and whether this is its second tap."""
    return verb.removesuffix(_SURE), verb.endswith(_SURE)


# Waits that are said as they are: "Interrupted by you: …".
INTERRUPTED, STOPPED = "interrupted by you", "stopped by you"


OURS = frozenset(
    {
        STOPPED,
        INTERRUPTED,
        "Start",
        "a command with a stored key",
        "a line from you",
        "a place to run",
        "its plan's usage limit",
        "the morning",
        "your answer",
    }
)


class Wait(Struct, frozen=True):
    """Why something does not go on, until when (Unix seconds, 0 unknown), and the way out."""

    what: str
    why: str
    until: float = 0.0
    latest: bool = False  # it may be over before that

    @property
    def ours(self) -> bool:
        """Whether why is plain code's: a command in it may be tapped. All else may quote an agent."""
        return self.what in OURS

    @property
    def said(self) -> str:
        """What is waited for as a phrase: "waits for your answer", "interrupted by you"."""
        as_it_is = self.what in (INTERRUPTED, STOPPED)
        return self.what if as_it_is else f"waits for {self.what}"


class Card(Struct, frozen=True, tag=True, kw_only=True):
    """Base of all cards; `goal` is the thread it belongs to, "" = General."""

    id: str
    goal: str = ""
    revision: str = ""
    buttons: tuple[str, ...] = ()
    asks: bool = False
    at: float = 0.0  # when what it asks came up
    decided: str = ""  # what was decided, by whom: "Allowed by you" …; "" while open
    decided_at: float = 0.0
    twice: tuple[str, ...] = ()  # buttons that take a second tap: it comes as `sure(verb)`
    pinned: tuple[str, ...] = ()  # buttons that take the PIN, where one is set
    whose: str = ""  # the owner in whose chat it stands, by number; "" = its goal's, or the first


class WorkLine(Struct, frozen=True):
    """A piece that is not over, as the goal's card tells of it; foreign text."""

    number: int
    title: str
    doing: str  # "Bash: pytest", "starts after piece 1", "waits for its next attempt"
    machine: str = ""
    silence: Silence | None = None  # in place of what it does


class SessionCard(Card, frozen=True, kw_only=True):
    """One per goal: the lead's session and the whole at a glance. Its id is the goal's."""

    project: str
    title: str
    text: str  # the goal, word for word
    stage: str  # planning, waits for your go, building, in review, shipping, shipped, dropped, stopped, failed
    doing: str = ""  # what the lead does now, one line
    silence: Silence | None = None  # it prints nothing: shown in place of what it does
    agent: str = ""
    model: str = ""
    mode: str = ""
    machine: str = ""
    machines: tuple[str, ...] = ()  # the only ones its next workers may go to
    fence: str = ""  # "fenced: …" or "unfenced: why"
    branch: str = ""
    base: str = ""
    check: str = ""  # "check: make test · passes on main", "already red on main", …
    waits: tuple[Wait, ...] = ()
    pieces: int = 0
    landed: int = 0
    cost_usd: float = 0.0
    queued: int = 0  # the owner's lines waiting for the turn's end
    files: int = 0  # that the owner sent along
    steered: int = 0  # those said in the middle of it, not read yet
    rehearsal: bool = False
    work: tuple[WorkLine, ...] = ()  # who works at what, and what starts next
    more: int = 0  # lines left out
    cut_off: str = ""  # "cut off during Bash: make", of the lead's turn before this one


class PieceLine(Struct, frozen=True):
    """One piece as the plan card lists it."""

    number: int
    title: str
    task: str
    size: str
    after: tuple[int, ...]
    where: str  # "here: only machine"
    agent: str
    model: str
    stage: str  # proposed, waiting, working, landing, landed, returned, failed, stopped, dropped
    cost_usd: float = 0.0  # estimated; 0 = not known


class PlanCard(Card, frozen=True, kw_only=True):
    """The lead's plan. Start, Change…, Discard."""

    summary: str
    pieces: tuple[PieceLine, ...]
    estimate: PlanEstimate | None = None
    changed: bool = False  # by the owner, since the lead proposed it
    edits: int = 0  # how often
    first: str = ""  # "the check": nothing starts before the owner's word on it
    first_elsewhere: bool = False  # another goal asked about it, in its own topic


class PieceChoice(Struct, frozen=True):
    """One piece of a plan that can be changed, and what it may wait for."""

    line: PieceLine
    machine: str = ""  # "" = any
    may_wait_for: tuple[int, ...] = ()


class PlanChoices(Struct, frozen=True):
    """What the owner can change of a plan, as it stands at `revision` of its card."""

    plan: str
    goal: str
    revision: str
    pieces: tuple[PieceChoice, ...]
    machines: tuple[str, ...]  # ticked for its goal
    agents: tuple[str, ...]
    models: dict[str, tuple[str, ...]]  # known by name, for each agent
    estimate: PlanEstimate | None = None
    over: str = ""  # why nothing can be changed any more
    away: tuple[tuple[str, str], ...] = ()  # machines that are, and why


class WorkerCard(Card, frozen=True, kw_only=True):
    """One worker, in its lead's topic; reply to it to speak to it. Its id is the piece's."""

    number: int
    title: str
    stage: str
    doing: str = ""
    silence: Silence | None = None
    where: str = ""
    agent: str = ""
    model: str = ""
    branch: str = ""
    attempt: int = 1
    waits: tuple[Wait, ...] = ()
    said: str = ""  # its last words, whole
    cost_usd: float = 0.0
    queued: int = 0
    steered: int = 0
    failure: str = ""  # what went wrong, with Retry and Stop as the way out
    report: str = ""
    uncopied: str = ""  # what its tree lacks of what the settings have copied, and why
    cut_off: str = ""  # "cut off during Bash: make", of its turn before this one


class PermissionCard(Card, frozen=True, kw_only=True):
    """A command or tool an agent wants to use. Allow, Always where a rule could be kept, Deny."""

    who: str  # "The lead", "Worker 2 “Orders page”"
    tool: str
    command: str  # whole, as the agent wrote it
    why: str = ""  # the agent's own description; foreign text
    machine: str = "here"
    fenced: bool = True
    project: str = ""
    rule: AlwaysRule | None = None  # what Always would keep
    never: str = ""  # why it would keep none (rules/always.py, Never)
    stakes: tuple[Stake, ...] = ()  # what of it only the owner may allow


class KeyedCard(Card, frozen=True, kw_only=True):
    """A command that is to be given stored keys. Allow once, Always where a rule could be kept, Deny."""

    who: str
    command: str  # whole: its argv as a shell would have it
    names: tuple[str, ...]  # of the keys
    why: str  # the agent's own words
    machine: str = "here"
    fenced: bool = True
    project: str = ""
    rule: AlwaysRule | None = None  # what Always would keep
    never: str = ""  # why it would keep none
    outcome: str = ""  # how it went, once it is over
    stakes: tuple[Stake, ...] = ()


class QuestionCard(Card, frozen=True, kw_only=True):
    """An agent's question(s). Option buttons for the next open one, and Answer…"""

    who: str
    questions: tuple[Question, ...]
    answers: tuple[str, ...] = ()  # so far; the open question is number len(answers)
    stakes: tuple[Stake, ...] = ()  # it asks for leave: to spend, to open an account …


class ApproachCard(Card, frozen=True, kw_only=True):
    """What a worker means to do. Approve, Send back…"""

    who: str
    text: str


class CommandCard(Card, frozen=True, kw_only=True):
    """The project's check or setup, asked once per exact command. Allow, Not this."""

    kind: str  # check, setup
    project: str
    command: str
    source: str = ""  # ".quarterdeck/settings.toml at 1a2b3c4"
    held_since: float = 0.0  # when a plan was started that waits for this
    stakes: tuple[Stake, ...] = ()


class TrustCard(Card, frozen=True, kw_only=True):
    """What a repository brings that would run or steer agents by itself. Trust, Leave off."""

    project: str
    what: str  # "2 hooks and 1 MCP server"
    source: str  # ".claude and .mcp.json at 1a2b3c4"
    brought: Brought
    stakes: tuple[Stake, ...] = ()
    changed: bool = False  # another state of it was decided about before
    unfenced: tuple[str, ...] = ()  # machines where what runs is in no fence


class LimitCard(Card, frozen=True, kw_only=True):
    """A usage limit is over, and the owner wants to be asked before work goes on. Resume, Leave it."""

    account: str
    title: str


class WhereCard(Card, frozen=True, kw_only=True):
    """A line of the owner that could mean several places: one button each."""

    text: str
    options: tuple[str, ...]
    edited: bool = False  # it is how a goal reads now, whose lead has begun with the first words
    files: tuple[str, ...] = ()  # names of what came with it


class ProjectCard(Card, frozen=True, kw_only=True):
    """A repository on its way in. Retry, Cancel; a branch each; Allow, Not this, Another…"""

    name: str
    source: str
    stage: str  # reading, barred, bases, failed, check, done, left
    base: str = ""
    push: str = ""  # where Push goes
    why: str = ""  # git's words, or ours
    public: str = ""  # the key to be added at the other side
    host: str = ""
    fingerprint: str = ""  # what the host shows; Retry accepts it
    expected: str = ""  # what was accepted before, where that is another
    options: tuple[str, ...] = ()  # branches
    command: str = ""  # how it is probably checked
    check: str = ""  # how it is checked, once that is known
    notes: tuple[str, ...] = ()
    late: bool = False  # what it asks came up when the owner may be looking elsewhere


class ReviewCard(Card, frozen=True, kw_only=True):
    """The whole put to the owner. Ship, Correct…, Diff, Drop."""

    title: str
    summary: str  # the lead's words
    commits: int = 0
    files: int = 0
    added: int = 0
    removed: int = 0
    check: str = ""  # "check passed in 3 s", "check failed: exit 1", "checking…"
    check_passed: bool = False
    report: str = ""
    risks: tuple[str, ...] = ()
    cost_usd: float = 0.0
    corrected: int = 0
    pieces: tuple[str, ...] = ()  # titles, landed


class Step(Struct, frozen=True):
    text: str
    state: str  # done, doing, todo, failed


class ShipCard(Card, frozen=True, kw_only=True):
    """Proceed; then Ready to push: Push, Cancel; then Shipped."""

    title: str
    stage: str  # proceed, working, ready, pushing, shipped, cancelled, handed back, failed
    steps: tuple[Step, ...]
    target: str = ""  # "main at origin", "branch quarterdeck/x in /path"
    commit: str = ""
    why: str = ""  # it did not go on
    words: str = ""  # the remote's or the check's own words, foreign text
    speaker: str = ""  # whose words: "remote", "check"
    merge_hint: str = ""  # how to merge, where Push goes to a branch of the owner's repository


class FailureCard(Card, frozen=True, kw_only=True):
    """Something ended badly and waits for the owner. Retry, Stop."""

    what: str  # "The lead could not start"
    why: str  # a sentence that says what to do
    report: str = ""


class LoginCard(Card, frozen=True, kw_only=True):
    """An account that needs a login, and how far one is that was begun. Log in, or a token pasted.

    stage      needed, starting, open, checking, failed
    link       to be opened; `strange`: not where this agent's pages are known to be
    code       to be typed there
    asks_back  something must be typed back now; `types_back`: it is known that it will
    why        it is not signed in; or, failed: why that
    words      of the login's own program, foreign text
    unfenced   why it runs outside a fence; "": it does not
    """

    account: str
    agent: str
    stage: str
    login: str = ""
    machine: str = ""
    link: str = ""
    strange: bool = False
    code: str = ""
    asks_back: bool = False
    types_back: bool = False
    why: str = ""
    words: str = ""
    unfenced: str = ""

    @property
    def runs(self) -> bool:
        return self.stage in ("starting", "open", "checking")


AnyCard: TypeAlias = (
    SessionCard
    | PlanCard
    | WorkerCard
    | PermissionCard
    | KeyedCard
    | QuestionCard
    | ApproachCard
    | CommandCard
    | TrustCard
    | LimitCard
    | WhereCard
    | ProjectCard
    | ReviewCard
    | ShipCard
    | FailureCard
    | LoginCard
)


class Note(Struct, frozen=True, tag=True, kw_only=True):
    """A line shown once: an agent's last words, plain code's news, a warning."""

    n: int  # grows; the bot remembers the last it has queued
    goal: str
    kind: str  # words, news, warning, stuck
    text: str
    who: str = ""  # of what is stuck: the card whose Interrupt and Peek belong under it
    sounds: bool = False
    at: float = 0.0


class OwnerEntry(Struct, frozen=True, kw_only=True):
    """One who commands; `of_the_box`: named in config.toml, and removed there alone."""

    id: int
    name: str = ""  # as Telegram had it when they were let in; foreign text
    at: float = 0.0
    of_the_box: bool = False


class GroupEntry(Struct, frozen=True, kw_only=True):
    """A group where owners are heard."""

    id: int
    title: str = ""  # as Telegram had it when it was allowed; foreign text
    by: str = ""  # the owner who put us there


class OwnerView(Struct, frozen=True, tag=True, kw_only=True):
    """What the owner set for themself; `quiet` is from and to, in minutes after midnight there."""

    zone: str = ""  # IANA name; "" = this machine's
    quiet: tuple[int, int] | None = None
    heartbeat: str = ""  # the host that is called, and how the last call went
    after_limit: str = "go on"  # or "ask", "morning"
    mode: str = "edit"  # of new goals, as are go and model
    go: str = "ask"
    model: str = ""
    modes: tuple[str, ...] = ()  # what there is to choose
    models: tuple[str, ...] = ()
    reserve: int = 0  # per cent of every account's windows that no new worker may use
    backup: str = ""  # when the newest was made, and where it lies
    backup_on: str = ""  # the machine that is to have each too
    backup_why: str = ""  # the newest is not there
    backup_places: tuple[str, ...] = ()  # what there is to choose
    backup_unfenced: tuple[str, ...] = ()  # those of them where agents could delete it
    locked: bool = False  # nothing is decided now
    pin: bool = False  # one is set
    owners: tuple[OwnerEntry, ...] = ()  # who commands; () = as config.toml says
    groups: tuple[GroupEntry, ...] = ()  # where they are heard beside their private chats


class Ticked(Struct, frozen=True):
    """A machine, and whether a lead's next workers may go there."""

    name: str
    ticked: bool
    fenced: bool
    up: bool


class LeadSettings(Struct, frozen=True, kw_only=True):
    """What is set for one lead, and what there is to choose."""

    goal: str
    title: str
    project: str
    mode: str
    modes: tuple[str, ...]
    go: str
    model: str
    models: tuple[str, ...]
    machines: tuple[Ticked, ...]
    after_limit: str = ""  # "" = the owner's default
    default_limit: str = "go on"
    over: str = ""  # why nothing can be set any more


class Row(Struct, frozen=True):
    """One line of the board."""

    goal: str
    card: str
    title: str
    text: str
    until: float = 0.0
    silence: Silence | None = None
    # What is not ours on it: a piece's title, what an agent does now, why something waits.
    piece: str = ""
    doing: str = ""
    why: str = ""


class Board(Struct, frozen=True):
    """/status: what waits on the owner, what runs, what starts next, what landed."""

    now: tuple[Row, ...] = ()
    running: tuple[Row, ...] = ()
    next: tuple[Row, ...] = ()
    landed: tuple[Row, ...] = ()
    machines: tuple[str, ...] = ()  # "here · fenced: bwrap 0.8.0 … · 3 of 10 runs"
    locked: str = ""  # since when, in words: nothing is decided now


class DecisionView(Struct, frozen=True, kw_only=True):
    """One decision: who, through which message, about which card, what, and what they saw."""

    n: int
    at: float
    cause: str
    goal: str
    who: str
    through: str
    verb: str
    card: str
    revision: str
    made: str  # SHA-256 of the card as the engine made it
    verdict: str
    shown: str  # the words on the phone
    shown_hash: str  # SHA-256 of them


class CommandView(Struct, frozen=True):
    """A project's command that the owner decided about."""

    kind: str
    text: str
    allowed: bool
    brought: Brought | None = None  # of kind "brought": what its text stands for
    what: str = ""  # "2 hooks and 1 MCP server"


class MachineView(Struct, frozen=True, kw_only=True):
    """A computer that runs agents, and how it is."""

    name: str
    address: str = ""  # "" = this one
    state: str  # "up", "paused", "down: why"
    up: bool = False
    paused: bool = False
    runs: int = 0
    max_runs: int = 0
    fence: str = ""
    fenced: bool = False
    agents: tuple[str, ...] = ()
    logins: tuple[str, ...] = ()  # of each agent there, who signs it in
    keeps_backups: bool = False
    backups: int = 0  # of ours that lie there, as far as we know
    backups_in: str = ""


class OfferView(Struct, frozen=True, kw_only=True):
    """A computer that was looked at and waits for Add."""

    name: str
    address: str
    max_runs: int
    fingerprint: str  # of the host key it shows
    expected: str  # of the one accepted before, "" where there was none
    public: str  # the line that lets us in there
    no_key: str = ""  # why there is none just now


class UsageView(Struct, frozen=True):
    """Where a window of an account stands; `window` is its provider's word."""

    window: str
    percent: int  # used; -1 = not told
    resets: str = ""  # on the owner's clock; "" = not told


class AccountView(Struct, frozen=True, kw_only=True):
    """Who pays for an agent's turns, and whether it can just now."""

    name: str
    agent: str
    command: str = ""
    config_dir: str = ""
    secrets: tuple[str, ...] = ()  # by name
    first: bool = False  # new goals take it
    until: float = 0.0  # rests until then
    why: str = ""  # why it rests
    signed_out: bool = False
    untried: bool = False  # no agent was let in by it yet
    logs_in: bool = False  # its own login can be run from here
    types_back: bool = False  # which then wants a code
    usage: tuple[UsageView, ...] = ()  # of its windows, the fullest first
    reserve: int = 0  # per cent of each that the owner keeps


class ProjectView(Struct, frozen=True):
    name: str
    source: str
    base: str
    push: str
    commands: tuple[str, ...] = ()  # "check: make test (allowed)"
    decided: tuple[CommandView, ...] = ()
    check: str = ""  # the owner's own, for where its settings name none
    ports: tuple[int, ...] = ()  # of its machine's 127.0.0.1, which its runs may reach


class RuleView(Struct, frozen=True):
    """A rule kept by Always; `number` names it for good."""

    number: int
    project: str
    rule: AlwaysRule
    kept_at: float = 0.0
    used: int = 0
    used_at: float = 0.0
    holds: bool = True  # no: kept by an earlier release, of what is asked for each time now


class KeyView(Struct, frozen=True):
    """A name in the vault, and all that may be told of it.

    scope     "" everywhere, project/NAME, machine/NAME
    refused   why it cannot be used; "" = it can
    damaged   older versions that cannot be opened
    account   which account it signs in, if it is one's
    """

    name: str
    scope: str = ""
    version: int = 0
    versions: int = 0
    kept_at: float = 0.0
    used_at: float = 0.0
    refused: str = ""
    damaged: tuple[int, ...] = ()
    account: str = ""


class Document(Struct, frozen=True):
    """A text too long for a card, or any bytes that are kept in home/attached; sent as a file."""

    name: str
    text: str
    caption: str = ""
    held: str = ""  # the hash of its bytes, in place of text
    size: int = 0


class FoundFile(Struct, frozen=True):
    """What is at a path the owner named: a file, a folder, or nothing but what is near."""

    where: str  # "quarterdeck/g-1-export at 1a2b3c4"
    path: str = ""
    document: Document | None = None
    folder: tuple[str, ...] = ()
    near: tuple[str, ...] = ()


class Peek(Struct, frozen=True, kw_only=True):
    """What an agent does just now and did last; or, once it is over, its last words whole."""

    who: str  # "The lead", "Worker 2 “Orders page”"
    goal: str
    running: bool = False
    doing: str = ""  # the tool it uses now, foreign text
    doing_s: float = 0.0
    silent_s: float = 0.0  # since it last printed anything
    silence: Silence | None = None  # what for, if that was looked into
    lines: tuple[str, ...] = ()  # the last it said and did, oldest first; foreign text
    missing: str = ""  # why there are none: a sentence of ours
    waits: str = ""  # what it waits for while it runs: "waits for your answer"
    words: Document | None = None
