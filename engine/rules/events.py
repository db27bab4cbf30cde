"""Everything that can happen, grouped by the stream it happens to.

A stream is one thing's history: `goal/g-3`, `session/s-8`, `landing/g-3`, `ship/g-3`, `ask/a-5`,
`project/shop`, `fleet`, `owner`. The rule of a stream (`goal.py`, `session.py`, …) decides what each of its
events means; a stream speaks to another by the effect `Tell` (effects.py).

Requests are the owner's verbs and may be refused with a sentence; facts are logged whatever they say.
Times are Unix seconds (UTC) and arrive inside the event. The class name is stored: renaming one is a
migration, a new field needs a default.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from engine.rules.words import (
    Account,
    AlwaysRule,
    AskKind,
    Attachment,
    CheckVerdict,
    Collected,
    Command,
    Decision,
    Estimate,
    Kept,
    LeftOff,
    OpenTool,
    PieceDraft,
    Pulse,
    Question,
    Reach,
    Retry,
    Role,
    Stake,
    Stats,
    TurnError,
)


class Event(Struct, frozen=True, tag=True, kw_only=True):
    """Base of all events: `at` is when it was posted."""

    at: float = 0.0


# ---------------------------------------------------------------- project/<name>


class ProjectAdded(Event, frozen=True):
    """Request: the owner names a repository."""

    source: str  # path or URL as given
    push_url: str  # where Push goes; "" = the repository itself, to quarterdeck/<goal>
    base: str


class ProjectWanted(Event, frozen=True):
    """Request from the phone: take this repository in; what is not plain is asked on a card."""

    card: str
    source: str
    base: str = ""  # "" = found out, and asked where there are several
    whose: str = ""  # the owner who asked for it


class ProjectTaken(Event, frozen=True):
    """Fact: it could be read and lies in the hub."""

    card: str
    source: str
    push_url: str
    base: str
    notes: tuple[str, ...] = ()
    check: str = ""  # what its own settings say
    guess: str = ""  # where they say none


class ProjectBarred(Event, frozen=True):
    """Fact: its other side does not let us in yet; what the owner can do about it."""

    card: str
    why: str
    public: str = ""  # the line to be added there
    host: str = ""
    fingerprint: str = ""  # what the host shows
    expected: str = ""  # what was accepted before, where that is another


class ProjectBases(Event, frozen=True):
    """Fact: it can be read, and which branch to start from is not plain."""

    card: str
    branches: tuple[str, ...]  # likely ones, the likeliest first


class ProjectNotTaken(Event, frozen=True):
    """Fact: no, and why, in words that say what to do."""

    card: str
    why: str


class ProjectRetried(Event, frozen=True):
    """Request: look again; the host's fingerprint as it was shown counts as accepted."""

    base: str = ""  # the branch that was chosen


class ProjectLeft(Event, frozen=True):
    """Request: do not add it after all."""


class ProjectCheck(Event, frozen=True):
    """Request: what checks the project where its settings do not say; "" = nothing, ask no more."""

    text: str


class ProjectPorts(Event, frozen=True):
    """Request: which ports of their machine's 127.0.0.1 the project's runs may reach, and no others."""

    ports: tuple[int, ...] = ()


class ProjectRemoved(Event, frozen=True):
    """Request: forget the project; its hub stays on disk until no goal needs it."""


class CommandWanted(Event, frozen=True):
    """Fact from a goal: this exact command is needed; allowed, refused or to be asked."""

    goal: str
    command: Command
    ask: str  # the id to use if the owner must be asked


class ProjectRebased(Event, frozen=True):
    """Request: new goals start from another branch."""

    base: str


class CommandChanged(Event, frozen=True):
    """Request: another word on a command that was decided; None forgets it, so that it is asked anew."""

    command: Command
    allowed: bool | None
    goals: tuple[str, ...] = ()  # those under way: they go on by the new word


class CommandDecided(Event, frozen=True):
    """Fact from the ask: the owner's word on one exact command."""

    command: Command
    allowed: bool


class PermissionAsked(Event, frozen=True):
    """Fact from a session: its agent asks to use something; a kept rule answers, else the owner."""

    ask: str
    asked: Asked


class PermissionGone(Event, frozen=True):
    """Fact from a session: nobody needs that answer any more."""

    ask: str
    why: str


class PermissionDecided(Event, frozen=True):
    """Fact from the ask: decided; `always`: and its rule is kept from now on."""

    ask: str
    rule: AlwaysRule
    always: bool = False


class KeyForgotten(Event, frozen=True):
    """Fact: the vault has no key of that name any more; no rule answers for a later one."""

    name: str


class RuleRevoked(Event, frozen=True):
    """Request: a kept rule answers no more; named by the ask that it was kept of."""

    ask: str


# ---------------------------------------------------------------- goal/<id>


class GoalOpened(Event, frozen=True):
    """Request: the owner gives a goal."""

    project: str
    text: str
    session: str  # id for the lead
    base: str  # base branch
    account: Account
    model: str = ""
    mode: str = "edit"  # how far its workers may go; the lead itself is guarded
    go: str = "ask"
    files: tuple[Attachment, ...] = ()
    whose: str = ""  # the owner who gave it, by number


class GoalTaken(Event, frozen=True):
    """Request: another owner has its cards from now on."""

    whose: str


class GoalReworded(Event, frozen=True):
    """Request: the owner edited the goal they gave, before its lead began with it."""

    text: str


class GoalChanged(Event, frozen=True):
    """Request: the owner sets something of a lead that is at work (goal_settings.py)."""

    what: str  # mode, go, model, tick, untick
    value: str
    known: tuple[str, ...] = ()  # the machines there are just now
    fenced: tuple[str, ...] = ()  # those of them that fence


class BaseRead(Event, frozen=True):
    """Fact: the base commit and what its settings say; the lead branch now exists in the hub."""

    base_commit: str
    branch: str = ""  # the lead's, in the hub
    commands: tuple[Command, ...] = ()
    asks: tuple[str, ...] = ()  # one id for each command, should the owner have to be asked
    settings_from: str = ""
    check_by_owner: bool = False  # the settings name none: it is the one the owner set
    note: str = ""  # something to say: both settings files exist, detached head, …


class CommandSettled(Event, frozen=True):
    """Fact from the project: a command may run, or never will."""

    command: Command
    allowed: bool


class BaseChecked(Event, frozen=True):
    """Fact: the check on the base commit."""

    verdict: CheckVerdict


class PlanProposed(Event, frozen=True):
    """Fact from the desk: the lead proposes pieces."""

    plan: str
    summary: str
    pieces: tuple[PieceDraft, ...]
    call: str = ""  # the desk call to answer, "<run>#<call>"
    piece_ids: tuple[str, ...] = ()
    session_ids: tuple[str, ...] = ()
    estimates: tuple[Estimate, ...] = ()  # one a size that has a history
    reach: Reach = Reach()


class PlanChanged(Event, frozen=True):
    """Request: the owner changes one piece of a plan that is not started.

    what    drop, size, model, agent, machine or after
    value   of all but `after`; "" is what the lead itself has (model), or any (machine)
    after   the pieces it then waits for: this is the plan's order
    reach   what there is to choose from
    """

    plan: str
    piece: int
    what: str
    value: str = ""
    after: tuple[int, ...] = ()
    reach: Reach = Reach()
    edits: int = -1  # of the plan that was shown; -1: whatever it is


class PlanStarted(Event, frozen=True):
    """Request (owner) or desk call (lead, where the go allows it)."""

    plan: str
    by: str = "owner"
    call: str = ""
    edits: int = -1  # of the plan that was shown; -1: whatever it is


class PlanDiscarded(Event, frozen=True):
    """Request."""

    plan: str


class WorkerDone(Event, frozen=True):
    """Fact from the desk: a worker says it is done; its turn's end does the rest."""

    session: str
    summary: str
    call: str = ""


class TurnOver(Event, frozen=True):
    """Fact from a session: its turn ended by itself and nothing is queued, or it cannot go on."""

    session: str
    error: str = ""  # a sentence
    kind: TurnError = TurnError.NONE
    text: str = ""
    cost_usd: float = 0.0


class LinesLeft(Event, frozen=True):
    """Fact from a worker's session: it ended with lines of the owner it never took up."""

    session: str
    text: str
    files: tuple[Attachment, ...] = ()


class FilesSent(Event, frozen=True):
    """Fact from the lead's session: the owner sent it files; workers to come get them as well."""

    files: tuple[Attachment, ...]


class PieceCollected(Event, frozen=True):
    """Fact: what the worker's branch holds."""

    piece: str
    found: Collected


class PieceLanded(Event, frozen=True):
    """Fact from the landing."""

    piece: str
    head: str
    commit: str
    checked: str = ""  # "its check passed" / "no check"


class PieceReturned(Event, frozen=True):
    """Fact from the landing: not landed, and why; `conflict` does not count the first time."""

    piece: str
    why: str
    report: str = ""
    conflict: bool = False
    broken: bool = False  # could not be judged at all: no attempt


class TreeKept(Event, frozen=True):
    """Fact: a session's tree was given back; `rescue` is the branch its unsaved work went to."""

    session: str
    rescue: str = ""
    note: str = ""


class RetryDue(Event, frozen=True):
    """Fact: the pause before a piece's next attempt is over."""

    piece: str


class PieceRetried(Event, frozen=True):
    """Request (owner) or desk call."""

    piece: str
    model: str = ""
    note: str = ""
    call: str = ""


class PieceStopped(Event, frozen=True):
    """Request (owner) or desk call."""

    piece: str
    why: str = ""
    call: str = ""


class WorkerMessaged(Event, frozen=True):
    """Desk call: the lead's line to one worker."""

    piece: str
    text: str
    call: str = ""


class ReviewPut(Event, frozen=True):
    """Desk call: the lead puts the whole to the owner."""

    review: str
    ship: str
    summary: str
    call: str = ""


class ReviewJudged(Event, frozen=True):
    """Fact: stats and the check of the lead's branch, run again in a clean tree."""

    review: str
    head: str
    stats: Stats
    verdict: CheckVerdict
    risks: tuple[str, ...] = ()


class ReviewCorrected(Event, frozen=True):
    """Request: a line to the lead."""

    review: str
    text: str
    files: tuple[Attachment, ...] = ()


class ShipCalled(Event, frozen=True):
    """Request; `ship` is the id of the card that follows, new for each press."""

    review: str
    ship: str = ""


class GoalDropped(Event, frozen=True):
    """Request."""


class GoalStopped(Event, frozen=True):
    """Request: everything of this goal ends now; /resume goes on."""


class GoalResumed(Event, frozen=True):
    """Request."""


class AfterLimitChosen(Event, frozen=True):
    """Request: what this goal's work does once a usage limit is over; "" = as the owner's default."""

    how: str  # after_limit.CHOICES


class NewWorkerWaits(Event, frozen=True):
    """Fact from a worker's session: it does not begin, for its account's reserve is touched."""

    kept: Kept
    until: float


class LimitOver(Event, frozen=True):
    """Fact: the limit that stopped a session is over; the owner's default, and the hour, beside it."""

    session: str
    account: str = ""
    default: str = "go on"
    morning_at: float = 0.0  # it is night, and until when; 0: it is day
    ask: str = ""  # the id to use if the owner must be asked


class GoalShipped(Event, frozen=True):
    """Fact from the ship."""

    commit: str
    where: str


class ShipFailed(Event, frozen=True):
    """Fact from the ship: cancelled, or the base moved against it; back to the review."""

    why: str
    cancelled: bool = False
    moved_to: str = ""  # the remote's head that the branch conflicts with: its lead mends that


# ---------------------------------------------------------------- landing/<goal>


class LandingCalled(Event, frozen=True):
    """Fact from the goal: a finished piece waits for its turn."""

    piece: str
    session: str
    branch: str
    commit: str
    title: str
    project: str
    check: str = ""  # the allowed command, "" = none
    setup: str = ""


class Merged(Event, frozen=True):
    """Fact: `commit` joins the piece and the lead's head `onto`; or why it could not."""

    piece: str
    commit: str
    onto: str
    failure: str = ""
    conflict: bool = False


class Checked(Event, frozen=True):
    """Fact: the project's check on one commit."""

    piece: str
    commit: str
    verdict: CheckVerdict


class Landed(Event, frozen=True):
    """Fact: the compare-and-swap; `moved` means the head was not `onto` any more."""

    piece: str
    commit: str
    head: str
    moved: bool = False


class LandingDropped(Event, frozen=True):
    """Fact: the piece or its goal was stopped."""

    piece: str = ""  # "" = all


# ---------------------------------------------------------------- ship/<goal>


class ShipOpened(Event, frozen=True):
    """Fact from the goal: the owner pressed Ship on this review."""

    ship: str
    review: str
    project: str
    base: str
    base_commit: str
    head: str
    check: str = ""
    setup: str = ""


class ShipProceeded(Event, frozen=True):
    """Request."""


class ShipTaken(Event, frozen=True):
    """Fact: the remote was read and, where it moved, taken in."""

    remote_head: str
    commit: str  # what would be pushed
    beside: int = 0  # commits of the owner's own that go along: the remote never had them
    moved: bool = False
    failure: str = ""
    conflict: bool = False  # what is new at the remote does not go together with the branch


class ShipChecked(Event, frozen=True):
    """Fact."""

    commit: str
    verdict: CheckVerdict


class ShipPushed(Event, frozen=True):
    """Request: the Push button."""


class ShipCancelled(Event, frozen=True):
    """Request."""


class PushDone(Event, frozen=True):
    """Fact: the remote was read back after the push."""

    commit: str
    where: str
    landed: bool
    moved: bool = False
    words: str = ""  # the remote's own


# ---------------------------------------------------------------- session/<id>


class SessionOpened(Event, frozen=True):
    """Fact from a goal."""

    goal: str
    role: Role
    project: str
    account: Account
    model: str
    mode: str
    branch: str
    commit: str  # where its tree starts
    preface: str
    prompt: str
    piece: str = ""
    machine: str = ""  # "" = any
    number: int = 0
    title: str = ""
    setup: str = ""  # the allowed command that readies a fresh tree
    copy: tuple[str, ...] = ()  # paths copied into it before
    commands: tuple[str, ...] = ()  # allowed word for word: the agent need not ask for them
    files: tuple[Attachment, ...] = ()
    machines: tuple[str, ...] = ()  # ticked; () = any


class SessionSet(Event, frozen=True):
    """Fact from a goal: what holds from the next turn on; None: as it was."""

    mode: str | None = None
    model: str | None = None
    machines: tuple[str, ...] | None = None


class Prompted(Event, frozen=True):
    """Fact or request: text for the session; waits for the running turn to end."""

    text: str
    source: str  # owner, news, lead, answer, plain code
    model: str = ""  # from the next turn on; "" = as before
    wait_s: float = 0.0  # a session at rest may be let sleep so long, for more to come with it
    files: tuple[Attachment, ...] = ()
    key: str = ""  # the owner's message, where it may be edited


class LineReworded(Event, frozen=True):
    """Request: the owner edited a line; one that still waits is read so."""

    key: str
    text: str


class PromptReworded(Event, frozen=True):
    """Fact from the goal: its owner put it otherwise; `old` is how it read."""

    old: str
    text: str
    title: str


class WakeAsked(Event, frozen=True):
    """Desk call: the agent wants to be spoken to at a time of its own choice."""

    due_at: float
    clock: str  # the same, as the owner reads it
    why: str
    call: str = ""


class WakeDue(Event, frozen=True):
    """Fact: that time has come."""

    due_at: float
    why: str


class TreeMoved(Event, frozen=True):
    """Fact from the goal: a lead's next turn starts on this commit; a worker's copy gets it."""

    commit: str


class TreeBack(Event, frozen=True):
    """Fact from the goal: the worker's work was looked at and its tree is its own again."""


class Placed(Event, frozen=True):
    """Fact from the fleet: there is a slot for this run."""

    run: str
    machine: str
    why: str


class Queued(Event, frozen=True):
    """Fact from the fleet: no slot yet, why, and until when if that is known."""

    run: str
    why: str
    until: float = 0.0
    kept: Kept | None = None  # it is a new worker, and waits for the owner's reserve


class RunStarted(Event, frozen=True):
    """Fact; `note` is something the owner should hear of its tree, `uncopied` what it lacks."""

    run: str
    note: str = ""
    uncopied: str = ""


class RunRefused(Event, frozen=True):
    """Fact: the run could not be started, in a sentence; `final` means trying again is no use."""

    run: str
    why: str
    kind: TurnError = TurnError.START


class SessionNamed(Event, frozen=True):
    """Fact: the agent took the turn up under this id of its own."""

    run: str
    agent_session: str
    model: str = ""
    version: str = ""
    warning: str = ""


class AskRaised(Event, frozen=True):
    """Fact: the agent waits for an answer (or, by the desk, will get it as its next message)."""

    run: str
    ask: str
    request: str  # the agent's own request id; "" = the desk's ask_owner
    kind: AskKind
    title: str
    detail: str
    tool: str = ""
    input_json: str = ""
    questions: tuple[Question, ...] = ()
    call: str = ""
    unfenced: bool = False  # where the agent runs
    use: str = ""  # the agent's own id of the call it asks about
    stakes: tuple[Stake, ...] = ()  # as its agent says


class AskSettled(Event, frozen=True):
    """Fact from the ask."""

    ask: str
    decision: Decision
    text: str = ""
    by: str = "owner"
    answers: tuple[tuple[str, str], ...] = ()
    files: tuple[Attachment, ...] = ()


class KeyedOver(Event, frozen=True):
    """Fact: a command that was given keys is over, or was never begun; its output holds none of them."""

    ask: str
    how: str  # "exit 0 after 3 s"; CUT_OFF: not known
    output: str = ""
    began: bool = True


class AskParked(Event, frozen=True):
    """Fact from the ask: nobody answered in the time a run may be held for."""

    ask: str


class RequestWithdrawn(Event, frozen=True):
    """Fact: the agent took its request back."""

    run: str
    request: str


class LimitReached(Event, frozen=True):
    """Fact: the account's provider refuses until `resets_at` (0: not said)."""

    run: str
    resets_at: float
    window: str = ""


class TurnEnded(Event, frozen=True):
    """Fact: the agent's own end of the turn."""

    run: str
    text: str = ""
    error: str = ""
    kind: TurnError = TurnError.NONE
    cost_usd: float = 0.0


class RunBusy(Event, frozen=True):
    """Fact: how many tasks of its own an agent has running behind its turn."""

    run: str
    tasks: int


class RunExited(Event, frozen=True):
    """Fact: no process of the run lives any more; without TurnEnded before it, it was cut off."""

    run: str
    code: int = 0
    why: str = ""
    signal: int = 0  # that killed it, and was none of ours
    beside: int = 0  # agents there then, itself among them
    left: LeftOff | None = None  # where its agent was, if it did not end its turn


class RunQuiet(Event, frozen=True):
    """Fact: how long the run has printed nothing, and its first `Watch` is due again."""

    run: str
    silent_s: float
    tools: tuple[OpenTool, ...] = ()  # its agent has open
    retry: Retry | None = None  # what its agent said last: that it tries again
    pulse: Pulse | None = None  # None: not asked for, or its machine cannot tell
    spooled: int = 0  # what it had printed by then


class RunHeard(Event, frozen=True):
    """Fact: a run whose silence was shown prints again."""

    run: str


class RunWentOn(Event, frozen=True):
    """Fact: a run that was to be ended as hung was left alone, since it had printed meanwhile."""

    run: str


class HoldOver(Event, frozen=True):
    """Fact: the grace or pause asked for by `Wake` is over."""

    what: str
    run: str = ""


class LimitSettled(Event, frozen=True):
    """Fact from the goal: a parked session may go on (`why` ""), or what it still waits for."""

    why: str = ""
    until: float = 0.0  # 0: until its owner has said so


class TurnInterrupted(Event, frozen=True):
    """Request."""


class SaidNow(Event, frozen=True):
    """Request: what waits for the turn's end is said within it, or ends it."""


class LineTaken(Event, frozen=True):
    """Fact: the agent read what was said to it in the middle of its turn."""

    run: str
    key: str


class SessionStopped(Event, frozen=True):
    """Request, or fact from the goal; `final`: for good (landed, dropped)."""

    why: str = ""
    final: bool = False


class SessionResumed(Event, frozen=True):
    """Fact from the goal: go on; `again` False: take lines, but leave what failed to Retry."""

    again: bool = True


# ---------------------------------------------------------------- ask/<id>


class Asked(Event, frozen=True):
    """Fact: a decision waits."""

    kind: AskKind
    goal: str
    teller: str  # the stream to tell, `session/s-8`, `project/shop`
    title: str
    detail: str
    who: str = ""
    tool: str = ""
    questions: tuple[Question, ...] = ()
    command: Command | None = None
    hold_s: float = 0.0  # 0: nothing is held open for it
    options: tuple[tuple[str, str], ...] = ()  # (label, value) of a "where" ask
    shown: str = ""  # hash of what the owner is shown
    files: tuple[Attachment, ...] = ()  # sent with the line a "where" ask is about
    keeper: str = ""  # the stream that keeps a rule, `project/shop`
    rule: AlwaysRule | None = None  # what Always would keep
    never: str = ""  # why it would keep none
    stakes: tuple[Stake, ...] = ()
    keys: tuple[str, ...] = ()  # names of the stored keys a command is to be given
    whose: str = ""  # whose line it is about, of a "where" ask


class Answered(Event, frozen=True):
    """Request: the owner's tap or line; the first one counts."""

    decision: Decision
    by: str = "owner"
    text: str = ""
    index: int = -1  # which question; -1 = the only one
    files: tuple[Attachment, ...] = ()
    always: bool = False  # and each time from now on


class KeyedTold(Event, frozen=True):
    """Fact from the session: how the command went that was allowed here."""

    how: str


class AskWithdrawn(Event, frozen=True):
    """Fact: nobody needs the answer any more."""

    why: str


class AskHeldOut(Event, frozen=True):
    """Fact: the time a run may be held for is over."""


class RuleFits(Event, frozen=True):
    """Fact from the project: a rule kept meanwhile answers this too."""


# ---------------------------------------------------------------- fleet


class MachineSeen(Event, frozen=True):
    """Fact: a machine's node answered."""

    machine: str
    fenced: bool
    fence: str  # the probe's line
    agents: tuple[tuple[str, str], ...] = ()
    cores: int = 0  # 0: not told
    free_mb: int = -1  # memory that can be had; -1: not told
    disk_free_mb: int = -1  # room on its disk, likewise
    disk_needs_mb: int = 0  # how much of that new work needs


class MachineLoad(Event, frozen=True):
    """Fact: the memory and the room that can be had on a machine, as its node has just read them."""

    machine: str
    free_mb: int
    disk_free_mb: int = -1
    disk_needs_mb: int = 0
    tidied: bool = False  # nothing can be freed there any more without asking
    ours: tuple[tuple[str, int], ...] = ()  # what could be deleted by hand then, and its MB


class MachineLost(Event, frozen=True):
    """Fact: the link is down."""

    machine: str
    why: str


class MachineAdded(Event, frozen=True):
    """Request: another computer of the owner's, reached at `address`."""

    machine: str
    address: str
    max_runs: int


class MachineOffered(Event, frozen=True):
    """Request: a computer was looked at and waits for the owner's Add."""

    machine: str
    address: str
    max_runs: int
    fingerprint: str  # of the host key it showed
    expected: str = ""  # of the one accepted before, where that is another


class OfferLeft(Event, frozen=True):
    """Request: it is not added after all."""

    machine: str


class MachinePaused(Event, frozen=True):
    """Request: it takes no new runs, or takes them again; what runs there goes on."""

    machine: str
    paused: bool


class MachineRemoved(Event, frozen=True):
    """Request."""

    machine: str


class SlotWanted(Event, frozen=True):
    """Fact from a session: a run wants a place; on `machine`, and why there, where one is named."""

    run: str
    teller: str
    machine: str = ""
    account: str = ""  # whose limit or login may be in the way
    why: str = ""
    agent: str = ""  # "" = any machine can run it
    machines: tuple[str, ...] = ()  # ticked; () = any
    fresh: bool = False  # a worker that never ran
    careful: bool = False  # its last turn was killed, perhaps for want of memory


class SlotTicked(Event, frozen=True):
    """Fact from a session: a run that waits may now go elsewhere."""

    run: str
    machine: str = ""
    machines: tuple[str, ...] = ()


class RunUp(Event, frozen=True):
    """Fact from a session: the agent took its turn up, so that its start is over."""

    run: str


class StartOver(Event, frozen=True):
    """Fact: a run has had its time to start; it does not hold others up any longer."""

    run: str


class SlotFreed(Event, frozen=True):
    """Fact."""

    run: str
    let_in: bool = False  # its account's provider took the turn


class AccountAdded(Event, frozen=True):
    """Request; `signed_in` False: it waits for its owner to give it a login."""

    account: Account
    signed_in: bool = True


class AccountRemoved(Event, frozen=True):
    """Request."""

    name: str


class AccountRested(Event, frozen=True):
    """Fact from a session: a provider's limit, or (`until` 0) a refused login."""

    name: str
    until: float
    why: str


class AccountUsed(Event, frozen=True):
    """Fact from a run: where a window of its account stands; what it does not tell is -1 or 0."""

    name: str
    window: str
    percent: int = -1
    resets_at: float = 0.0
    clock: str = ""  # the reset as the owner reads it


class LinesUnknown(Event, frozen=True):
    """Fact from a run that is over: it printed kinds of line that its driver does not know."""

    agent: str
    version: str
    kinds: tuple[str, ...]
    goal: str = ""


class SpoolDamaged(Event, frozen=True):
    """Fact from a run that is over: of what it printed, its machine has lost or altered some."""

    machine: str
    run: str
    lines: int
    size: int  # bytes
    goal: str = ""


class WindowOver(Event, frozen=True):
    """Fact: a window that new workers waited for has reset."""

    name: str


class ReserveSet(Event, frozen=True):
    """Request: what share of every account's windows the owner keeps; "off" for none."""

    value: str


class RestOver(Event, frozen=True):
    """Fact: the limit an account rested for is over."""

    name: str
    until: float


class AccountFreed(Event, frozen=True):
    """Request: the account was signed in again; what waits for it is tried."""

    name: str


class LoginBegun(Event, frozen=True):
    """Request: the account's own login is to run on a machine."""

    account: str
    login: str
    machine: str


class LoginShown(Event, frozen=True):
    """Fact: what a login shows of itself by now; `strange`: its link leads elsewhere than expected."""

    login: str
    link: str = ""
    code: str = ""
    asks: bool = False
    strange: bool = False


class LoginTyped(Event, frozen=True):
    """Fact: what it asked for was typed back; what that was is nowhere."""

    login: str


class LoginCancelled(Event, frozen=True):
    """Request."""

    login: str


class LoginFailed(Event, frozen=True):
    """Fact; `words` are its program's own."""

    login: str
    why: str
    words: str = ""


class LoginDone(Event, frozen=True):
    """Fact: the account is signed in, by a secret of the vault (its name) or a folder."""

    login: str
    secret: str = ""
    config_dir: str = ""


class HeldAll(Event, frozen=True):
    """Request: /stop all and /resume all."""

    held: bool


# ---------------------------------------------------------------- owner


class SettingChanged(Event, frozen=True):
    """Request: quiet hours, time zone, heartbeat, defaults of new goals; "off" for none."""

    name: str
    value: str


class OwnerLocked(Event, frozen=True):
    """Request: nothing is decided any more until OwnerUnlocked."""


class OwnerUnlocked(Event, frozen=True):
    """Request, at the box: decisions count again."""


class PinSet(Event, frozen=True):
    """Request: a PIN from now on; `salted` is its slow hash."""

    salted: str


class PinOff(Event, frozen=True):
    """Request, with the PIN or at the box: none any more."""

    at_box: bool = False


class PinTried(Event, frozen=True):
    """Request: a PIN was typed, and is judged next."""


class PinRight(Event, frozen=True):
    """Fact: the one typed was it."""


class PinWrong(Event, frozen=True):
    """Fact: the one typed was another."""


class OwnerInvited(Event, frozen=True):
    """Request: a link for one more owner; `by_guest`: asked by one who was let in, not of the box."""

    by: str
    by_guest: bool = False


class OwnerJoined(Event, frozen=True):
    """Request: somebody pressed the link that an owner asked for."""

    owner: int
    name: str = ""


class OwnerLeft(Event, frozen=True):
    """Request: an owner who was let in commands no more."""

    owner: int
    by: str = ""
    of_the_box: bool = False  # config.toml names them
    by_guest: bool = False


class GroupInvited(Event, frozen=True):
    """Request: a link by which a group is allowed."""

    by: str


class GroupAllowed(Event, frozen=True):
    """Request: an owner put us into a group, by the link one of them asked for."""

    chat: int
    title: str = ""
    by: str = ""


class GroupTaken(Event, frozen=True):
    """Request: a group is allowed no more."""

    chat: int
    by: str = ""


class GroupLeft(Event, frozen=True):
    """Fact: we are in this group no more."""

    chat: int


class GroupMoved(Event, frozen=True):
    """Fact: Telegram gave a group another number, as it does where it becomes a supergroup."""

    chat: int
    to: int


class EngineAway(Event, frozen=True):
    """Fact: nobody lived here from when to when, as the owner reads the clock."""

    since: str
    until: str
    cut_off: int = 0  # turns


class BackupOld(Event, frozen=True):
    """Fact: the newest backup is from then, by the owner's clock, and why there is no newer one."""

    since: str
    why: str = ""


class BackupCopied(Event, frozen=True):
    """Fact: that machine has read back a backup of ours, whole, and keeps so many."""

    machine: str
    name: str
    taken_at: float
    size: int
    kept: int
    folder: str  # there


class BackupNotCopied(Event, frozen=True):
    """Fact: since then, by the owner's clock, none came to that machine, and why.

    away   it is only that it did not answer, and for long; else somebody must mend something
    """

    machine: str
    since: str
    why: str = ""
    away: bool = False


class HomeRestored(Event, frozen=True):
    """Fact: all here is as a backup had it, taken then by the owner's clock."""

    taken: str
    goals: int = 0  # that go on


# ---------------------------------------------------------------- any stream


class GaveUp(Event, frozen=True):
    """Fact: an effect was tried for the last time."""

    effect: str
    why: str
    about: str = ""  # the effect's own subject: a run, a piece, …
    untried: bool = False  # nothing failed: something is in the way, and `why` says how it goes


ProjectEvent: TypeAlias = (
    ProjectAdded
    | ProjectRemoved
    | ProjectRebased
    | CommandWanted
    | CommandDecided
    | CommandChanged
    | ProjectWanted
    | ProjectTaken
    | ProjectBarred
    | ProjectBases
    | ProjectNotTaken
    | ProjectRetried
    | ProjectLeft
    | ProjectCheck
    | ProjectPorts
    | PermissionAsked
    | PermissionGone
    | PermissionDecided
    | RuleRevoked
    | KeyForgotten
    | GaveUp
)
GoalEvent: TypeAlias = (
    GoalOpened
    | GoalReworded
    | GoalChanged
    | BaseRead
    | CommandSettled
    | BaseChecked
    | PlanProposed
    | PlanChanged
    | PlanStarted
    | PlanDiscarded
    | WorkerDone
    | TurnOver
    | LinesLeft
    | FilesSent
    | PieceCollected
    | PieceLanded
    | PieceReturned
    | TreeKept
    | RetryDue
    | PieceRetried
    | PieceStopped
    | WorkerMessaged
    | ReviewPut
    | ReviewJudged
    | ReviewCorrected
    | ShipCalled
    | GoalDropped
    | GoalStopped
    | GoalResumed
    | GoalTaken
    | AfterLimitChosen
    | LimitOver
    | NewWorkerWaits
    | AskSettled
    | GoalShipped
    | ShipFailed
    | GaveUp
)
LandingEvent: TypeAlias = LandingCalled | Merged | Checked | Landed | LandingDropped | GaveUp
ShipEvent: TypeAlias = (
    ShipOpened
    | ShipProceeded
    | ShipTaken
    | ShipChecked
    | ShipPushed
    | ShipCancelled
    | PushDone
    | GaveUp
)
SessionEvent: TypeAlias = (
    SessionOpened
    | SessionSet
    | Prompted
    | WakeAsked
    | WakeDue
    | TreeMoved
    | TreeBack
    | Placed
    | Queued
    | RunStarted
    | RunRefused
    | SessionNamed
    | AskRaised
    | AskSettled
    | KeyedOver
    | AskParked
    | RequestWithdrawn
    | LimitReached
    | TurnEnded
    | RunBusy
    | RunExited
    | RunQuiet
    | RunHeard
    | RunWentOn
    | HoldOver
    | LimitSettled
    | TurnInterrupted
    | SaidNow
    | LineReworded
    | PromptReworded
    | LineTaken
    | SessionStopped
    | SessionResumed
    | GaveUp
)
AskEvent: TypeAlias = Asked | Answered | AskWithdrawn | AskHeldOut | RuleFits | KeyedTold | GaveUp
FleetEvent: TypeAlias = (
    MachineSeen
    | MachineLost
    | MachineAdded
    | MachineOffered
    | OfferLeft
    | MachinePaused
    | MachineRemoved
    | MachineLoad
    | SlotWanted
    | RunUp
    | StartOver
    | SlotTicked
    | SlotFreed
    | AccountAdded
    | AccountRemoved
    | AccountRested
    | AccountUsed
    | LinesUnknown
    | SpoolDamaged
    | WindowOver
    | ReserveSet
    | RestOver
    | AccountFreed
    | LoginBegun
    | LoginShown
    | LoginTyped
    | LoginCancelled
    | LoginFailed
    | LoginDone
    | HeldAll
    | GaveUp
)
OwnerEvent: TypeAlias = (
    SettingChanged
    | OwnerLocked
    | OwnerUnlocked
    | PinSet
    | PinOff
    | PinTried
    | PinRight
    | PinWrong
    | OwnerInvited
    | OwnerJoined
    | OwnerLeft
    | GroupInvited
    | GroupAllowed
    | GroupTaken
    | GroupLeft
    | GroupMoved
    | EngineAway
    | BackupOld
    | BackupCopied
    | BackupNotCopied
    | HomeRestored
    | GaveUp
)
AnyEvent: TypeAlias = (
    ProjectEvent
    | GoalEvent
    | LandingEvent
    | ShipEvent
    | SessionEvent
    | AskEvent
    | FleetEvent
    | OwnerEvent
)
