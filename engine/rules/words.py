"""The small values that events, effects, states and views share.

Plain frozen data, one word per thing; no behaviour beyond reading itself. Neighbours: events.py,
effects.py, and the rules beside them.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

COPY = "copy"  # kind of a Command that is none: its text is paths, one a line
BROUGHT = (
    "brought"  # another: its text is all that a repository brings for agents (rules/brought.py)
)
HERE = "here"  # the machine the engine itself runs on


class Role(StrEnum):
    LEAD = "lead"
    WORKER = "worker"


class AskKind(StrEnum):
    PERMISSION = "permission"
    QUESTION = "question"
    APPROACH = "approach"
    CHECK = "check"
    SETUP = "setup"
    COPY = "copy"  # folders that git does not keep, into each worker's tree
    BROUGHT = "brought"  # what a repository brings that would run or steer an agent by itself
    LIMIT = "limit"  # whether work goes on after a usage limit
    WHERE = "where"  # which project or session a line of the owner is for
    KEY = "key"  # a command that is given stored keys


class Decision(StrEnum):
    ALLOW = "allow"
    DENY = "deny"
    APPROVE = "approve"
    SEND_BACK = "send_back"
    ANSWER = "answer"
    WITHDRAWN = "withdrawn"


class AlwaysKind(StrEnum):
    COMMAND = "command"
    SITE = "site"
    TOOL = "tool"
    KEYED = "keyed"  # a command, word for word, with the keys it is given (keyed_rule.py)


class AlwaysRule(Struct, frozen=True):
    """What the owner allows for good in one project: a command, a host, a tool, by its exact name."""

    kind: AlwaysKind
    text: str
    unfenced: bool = False  # outside a fence too

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the stored keys it hands out; none but with KEYED."""
        names = self.text.partition(": ")[0] if self.kind is AlwaysKind.KEYED else ""
        return tuple(names.split())

    @property
    def command(self) -> str:
        """The command, where it is one."""
        return self.text.partition(": ")[2] if self.kind is AlwaysKind.KEYED else self.text

    def covers(self, asked: AlwaysRule) -> bool:
        same = (self.kind, self.text) == (asked.kind, asked.text)
        return same and (self.unfenced or not asked.unfenced)


class Peril(StrEnum):
    """What only the owner decides, twice asked: by no lead, no mode and no rule kept by Always."""

    SPEND = "spend"
    ACCOUNT = "account"
    IRREVERSIBLE = "irreversible"


class Stake(Struct, frozen=True):
    """One thing a request would do that cannot be undone, costs money or opens an account."""

    peril: Peril
    what: str = ""  # which of the things rules/stakes.py knows; "" = as its agent says
    names: tuple[str, ...] = ()  # of what it is done to; foreign text
    amount_usd: float = 0.0  # 0: not said


class TurnError(StrEnum):
    """Why a turn ended badly; decides who acts and whether it counts as an attempt."""

    NONE = ""
    AGENT = "agent"  # the agent's own error: counts
    API = "api"  # the model's service failed
    LIMIT = "limit"  # a usage limit: never counts
    LOGIN = "login"  # not signed in: the owner acts
    RESUME = "resume"  # the agent lost the conversation: start anew
    INTERRUPTED = "interrupted"  # the owner or we ended it: never counts
    CUT_OFF = "cut_off"  # the process died under it: never counts
    START = "start"  # it could not be started
    SILENT = "silent"  # hung; ended by us


class OpenTool(Struct, frozen=True):
    """A tool an agent has begun to use and has no result of yet."""

    use: str  # the agent's own id of the call
    name: str
    brief: str  # one line, as the owner is shown it
    given: str = ""  # what it is used with, one line
    since: float = 0.0  # by our clock
    timeout_s: float = 0.0  # the time its agent gave it; 0: none was said
    waits: bool = False  # for its owner's answer: it has not run


class Retry(Struct, frozen=True):
    """A try of the agent's that is to come by itself, since its model's service did not answer."""

    reason: str
    until: float  # when it comes, by our clock


class Pulse(Struct, frozen=True):
    """What a machine sees of a silent run: of its processes, not of what it printed."""

    others: int  # processes of its own: neither the agent nor what is ours
    youngest_s: float = 0.0  # since the last of those began
    busiest: str = ""  # the name of the process that used the most time
    cpu_s: float = 0.0  # what all used in the last `over_s` seconds; those are 0 at the first look
    over_s: float = 0.0
    stopped: str = (
        ""  # the name of the agent, or what is above it, if a signal keeps it from going on
    )
    halted: int = 0  # how many of the others a signal keeps from going on


class Why(StrEnum):
    """What a silent run is silent for: one of these."""

    OWNER = "owner"  # an answer
    TOOL = "tool"
    NETWORK = "network"  # its model's service does not answer; it tries again
    TASKS = "tasks"  # of its own, behind it
    LIMIT = "limit"
    STOPPED = "stopped"  # by a signal from outside
    MODEL = "model"  # nothing but its model, not for long yet
    HUNG = "hung"


class Silence(Struct, frozen=True):
    """A running turn that prints nothing, as its card tells of it."""

    why: Why
    what: str = ""  # the tool, the process, what went wrong; foreign text
    minutes: int = 0  # at least, in coarse steps
    begun: float = 0.0
    since: float = 0.0  # of the tool: it began before the silence did
    until: float = 0.0  # 0: not known
    told: str = ""  # what of it its owner was told
    spooled: int = 0  # what the run had printed: lines before that are none of its breaking


class LeftOff(Struct, frozen=True):
    """How far an agent got with its turn, as far as its lines tell."""

    tools: tuple[OpenTool, ...] = ()  # open, the oldest first
    more: int = 0  # that were open before those, and are not among them
    unread: int = 0  # lines too long to be read: what those began or ended is not known
    done: str = ""  # the tool that gave its result last
    said: str = ""  # its last words
    went_s: float | None = None  # from taking the turn up to its last line; None: not known
    retry: Retry | None = None  # it said last that its model's service did not answer


class Attachment(Struct, frozen=True):
    """A file the owner sent along; its bytes are kept by their hash (stores/attached.py)."""

    name: str  # made safe by attached.tidy_name: never a path
    sha256: str
    size: int = 0
    kind: str = "document"  # photo, document
    mime: str = ""
    forwarded: bool = False  # somebody else's, passed on

    @property
    def place(self) -> str:
        """What it is called in a session's folder: two of one name never meet."""
        return f"{self.sha256[:8]}-{self.name}"


class Question(Struct, frozen=True):
    """One question of an agent."""

    text: str
    header: str = ""
    options: tuple[str, ...] = ()
    multi: bool = False


class Command(Struct, frozen=True):
    """A command of the project's settings, allowed by the owner word for word."""

    kind: str  # "check", "setup", or COPY, BROUGHT
    text: str


class BroughtItem(Struct, frozen=True):
    """One thing of a repository that would run or steer an agent, if its owner trusts it.

    kind   hook, server, allow, deny, ask, agent, skill, command, setting; file: a script of one of them
    name   when it runs, or what it is called
    text   what runs, word for word; "" for what is text alone
    why    why it stays off even so (rules/brought.py, Off); "" = it is given
    """

    kind: str
    name: str
    text: str = ""
    why: str = ""


class Brought(Struct, frozen=True):
    """All of that at one commit; `digest` is of the files, and of nothing else."""

    digest: str
    items: tuple[BroughtItem, ...] = ()
    files: tuple[str, ...] = ()


class Account(Struct, frozen=True):
    """Whose subscription pays, and by which agent."""

    name: str
    agent: str  # claude, rehearsal, …
    command: str = ""  # path of the CLI; "" = found on the machine
    config_dir: str = ""
    env: tuple[tuple[str, str], ...] = ()
    secret_env: tuple[str, ...] = ()  # names; the values are in the vault as account/<name>/<KEY>
    login_command: str = ""  # what signs it in, where not its agent's own way


class Kept(Struct, frozen=True):
    """Why an account takes no new workers: what of it is used, and what its owner keeps, in per cent."""

    account: str
    percent: int
    reserve: int
    clock: str = ""  # when it resets, as the owner reads it; "" = not told


class Reach(Struct, frozen=True):
    """Where runs can go and who can pay for them, as the fleet stood when that was asked."""

    machines: tuple[tuple[str, tuple[str, ...]], ...] = ()  # name, and the agents it has
    accounts: tuple[Account, ...] = ()

    def account(self, agent: str) -> Account | None:
        """The first account that drives an agent."""
        return next((account for account in self.accounts if account.agent == agent), None)

    @property
    def agents(self) -> tuple[str, ...]:
        """Every agent some account drives, in the order they were added."""
        return tuple(dict.fromkeys(account.agent for account in self.accounts))


class Estimate(Struct, frozen=True):
    """What pieces of one size cost and took before: medians of those that landed."""

    size: str
    pieces: int  # how many were looked at
    cost_usd: float
    took_s: float
    same_project: bool = True


class PlanEstimate(Struct, frozen=True):
    """A whole plan's: money adds up, time is that of the longest chain of pieces."""

    cost_usd: float
    took_s: float
    pieces: int  # that landed before, and that this is taken from
    unknown: int = 0  # pieces of the plan of a size that never landed here
    same_project: bool = True


class PieceDraft(Struct, frozen=True):
    """A piece as a lead proposes it; numbered from 1 by its place."""

    title: str
    task: str
    size: str = "M"
    after: tuple[int, ...] = ()
    machine: str = ""
    agent: str = ""
    model: str = ""
    budget_usd: float = 0.0


class Collected(Struct, frozen=True):
    """What a worker left in its tree."""

    head: str = ""
    commits: int = 0
    dirty: tuple[str, ...] = ()  # paths, at most 20
    failure: str = ""  # could not be read at all


class CheckVerdict(Struct, frozen=True):
    """What the project's check said of one commit."""

    passed: bool
    ran: bool = True
    summary: str = ""  # "passed in 12 s", "exit 1", "no check"
    report: str = ""  # the last lines
    failure: str = ""  # not empty: it could not be run, nothing was judged


class Stats(Struct, frozen=True):
    """Commits without merges in base..head; files and lines of base...head."""

    commits: int = 0
    files: int = 0
    added: int = 0
    removed: int = 0
