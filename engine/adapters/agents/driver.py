"""The seam between us and any coding agent: a driver, and what an agent's line can mean.

A driver is pure. It names the command that serves one turn, turns each line the command prints into
meanings, and writes the lines that answer it. Starting, feeding and ending the process is the work of
the runner (engine/node/runner.py); what a meaning leads to is decided in engine/rules/session.py.
Drivers: claude.py, rehearsal.py.

`read` never raises and never holds a line back: agents change their format with every release, and an
odd line must not cost us the one that ends the turn. What it does not know it calls Unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct, field

from engine.rules.modes import Mode
from engine.rules.words import Question, Role

DESK: Final = "quarterdeck"  # the name of our MCP server, part of every desk tool's name

ErrorKind = Literal[
    "",
    "limit",  # the provider's usage limit: wait for the reset, or use another account
    "login",  # the account cannot be used until its owner acts: sign-in, permission, credit
    "interrupted",  # we asked for the end
    "budget",  # the money given for this run is spent
    "turns",
    "model",  # there is no such model for this account
    "api",  # the model's service failed, or the agent itself did
    "resume",  # there is no conversation of this id: start anew with the same id
    "exists",  # there is one already: resume it
]


class Launch(Struct, frozen=True):
    """A process that serves one turn."""

    argv: tuple[str, ...]
    env: dict[
        str, str
    ]  # laid over the machine's own short list (PATH, HOME, LANG, …), nothing else
    first_lines: tuple[str, ...]  # whole lines without their newline, fed to stdin at the start


class Kit(Struct, frozen=True):
    """What its owner trusted of what the repository brings, as the agent's own command takes it.

    folder     the copy of the repository's files that it is run from, to be shown read-only
    settings   JSON: hooks and permission rules; servers   JSON: MCP servers; plugin   a folder
    """

    folder: str = ""
    settings: str = ""
    servers: str = ""
    plugin: str = ""


class TurnSpec(Struct, frozen=True, kw_only=True):
    """All a driver needs to know of a turn."""

    session_id: str  # a uuid4 of ours
    resume: bool
    role: Role
    mode: Mode
    prompt: str
    config_dir: str
    tree: str
    command: tuple[str, ...]  # the CLI
    model: str = ""  # "": the account's default
    preface: str = ""  # our text about its role, below the agent's own system prompt
    desk_argv: tuple[str, ...] = ()  # the desk as an MCP server on stdio; (): no desk
    account_env: dict[str, str] = field(default_factory=dict)
    tmp: str = "/tmp"  # inside the fence: a folder of the session's own
    budget_usd: float = 0.0  # of this process; 0: no bound
    commands: tuple[str, ...] = ()  # shell commands the owner allowed, word for word
    files: str = ""  # the folder of what the owner sent along: read unasked
    kit: Kit = Kit()


class Memory(Struct):
    """What a driver remembers from line to line of one run.

    Only ever a help: after a restart the engine reads on from the middle of a run with a new one.
    """

    cwd: str = ""
    error: str = ""  # the agent's own word for the last failure it told of
    total_cost_usd: float = 0.0
    has_thought: bool = False  # in the turn that goes on


class Request(Struct, frozen=True):
    """What it takes to answer an agent's request; kept with the ask until somebody decides."""

    request_id: str
    tool: str
    input_json: str


class Asked(Request, frozen=True, tag=True):
    """The agent waits for an answer.

    title    says what kind of thing it is; holds no code, path or text of a repository
    detail   the whole command, change or plan, as the agent gave it
    """

    kind: Literal["permission", "question", "approach"]
    title: str
    detail: str
    questions: tuple[Question, ...] = ()
    use: str = ""  # its own id of the call


class AskWithdrawn(Struct, frozen=True, tag=True):
    """The agent took its request back."""

    request_id: str


class Began(Struct, frozen=True, tag=True):
    """The agent took a turn up; may come again within one run."""

    session_id: str
    model: str
    version: str
    tools_ok: bool  # it can ask questions and show an approach
    desk_ok: bool  # it reached the desk


class Said(Struct, frozen=True, tag=True):
    """Words of the agent, between its calls or at the end."""

    text: str


class Tool(Struct, frozen=True, tag=True):
    """What it does now, in one line.

    use     the agent's own id of the call; "": its result is not told of, or is another's
    given   what it is used with, one line
    timeout_s   the time it was given; 0: none was said
    """

    name: str
    brief: str
    use: str = ""
    given: str = ""
    timeout_s: float = 0.0


class ToolDone(Struct, frozen=True, tag=True):
    """The tool it used has given its result; `error` is what went wrong, "" if nothing did."""

    error: str = ""
    use: str = ""


class Taken(Struct, frozen=True, tag=True):
    """It read what was said to it in the middle of its turn."""

    key: str


class Limit(Struct, frozen=True, tag=True):
    """Where one of the account's windows stands. What is not said is None or "": merge, don't wipe."""

    resets_at: int | None  # Unix seconds
    window: str  # five_hour, seven_day, …
    utilization: float | None  # 0 to 1
    rejected: bool


class Retrying(Struct, frozen=True, tag=True):
    """The agent tries again by itself; nothing is asked of us."""

    reason: str
    attempt: int
    wait_s: float


class Busy(Struct, frozen=True, tag=True):
    """How many subagents or commands still run behind the turn: above 0 a run is not over."""

    tasks: int


class Ended(Struct, frozen=True, tag=True):
    """The turn is over."""

    text: str  # its last words
    error: str  # "": it ended by itself
    error_kind: ErrorKind
    cost_usd: float  # of this turn alone
    is_empty: bool  # neither words nor an error, nor a thought before


class Unknown(Struct, frozen=True, tag=True):
    """A line or part of one that we do not know: counted, shown once for each version."""

    kind: str


Meaning: TypeAlias = (
    Began
    | Asked
    | AskWithdrawn
    | Said
    | Tool
    | ToolDone
    | Taken
    | Limit
    | Retrying
    | Busy
    | Ended
    | Unknown
)


class Driver(Protocol):
    """One kind of agent. All methods are pure."""

    @property
    def name(self) -> str: ...

    @property
    def tested_version(self) -> str: ...

    @property
    def login_file(self) -> str:
        """The file of an account's config folder that is its login; "" if there is none."""
        ...

    def launch(self, spec: TurnSpec) -> Launch: ...

    def read(self, line: str, memory: Memory) -> tuple[Meaning, ...]:
        """Return what one line of the agent's output means; () where it tells us nothing."""
        ...

    def results_in(self, start: str) -> tuple[str, ...]:
        """Return the uses of tools whose results the start of a line tells, too long to be read."""
        ...

    def last_words(self, stderr: str, code: int | None) -> Ended:
        """Return how a run ended that printed no end: its last error lines, its exit code."""
        ...

    def version_warning(self, version: str) -> str:
        """Return a sentence if this version was never tried, else ""."""
        ...

    # The lines that go in, each without its newline.

    def prompt(self, text: str) -> str: ...

    def allow(self, request: Request) -> str: ...

    def deny(self, request: Request, message: str) -> str: ...

    def answer(self, request: Request, answers: Mapping[str, str]) -> str:
        """Answer questions: question text to an option's words, or to words of one's own."""
        ...

    def approve(self, request: Request, mode: Mode) -> str:
        """Approve an approach; the agent goes on in `mode`."""
        ...

    def send_back(self, request: Request, message: str) -> str: ...

    def interrupt(self) -> str: ...

    def end(self) -> str:
        """Ask the process to end, its own processes with it."""
        ...


@runtime_checkable
class Steers(Protocol):
    """What a driver can do besides whose agent hears a line in the middle of its turn."""

    def steer(self, text: str, key: str) -> str:
        """Return the line that says it; the agent names `key`, a uuid, once it has read it."""
        ...
