"""What the lines of a run's spool mean: events of an agent's session, or a check's verdict.

    Turn       an agent's lines, as its driver reads them, and its desk calls ──> events
    Checked    a command's output ──> Output ──> the event of who had it checked

An agent's lines are no events, but for what a rule must know. Neighbours: following.py brings the lines,
runs.py answers and starts, agents/ (what an agent's lines mean), engine/calls.py (the desk's calls).
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.adapters import refused_port, spool, tail
from engine.adapters.agents import driver as lines
from engine.adapters.agents.driver import Driver, Memory
from engine.adapters.at_work import AtWork
from engine.adapters.following import Followed
from engine.adapters.machines import NodeRefused
from engine.adapters.spool import Damage
from engine.errors import Refused, Unavailable, Unreachable
from engine.node import folder
from engine.node.fence import OWN_NETWORK
from engine.node.hold import NO_ROOM
from engine.rules.effects import ReplyDesk
from engine.rules.events import (
    AnyEvent,
    AskRaised,
    LimitReached,
    LineTaken,
    Prompted,
    RequestWithdrawn,
    RunBusy,
    RunExited,
    RunHeard,
    SessionNamed,
    TurnEnded,
)
from engine.rules.rests import believed
from engine.rules.session_state import Stage
from engine.rules.words import AskKind, CheckVerdict, LeftOff, TurnError

if TYPE_CHECKING:
    from engine.adapters.runs import Runs

log = logging.getLogger(__name__)

REPORT_LINES = 40
ERROR_LINES = 40
ERROR_LENGTH = 1000  # characters kept of each
LOST = "what was kept of it on its machine is gone"
ENDED = "Ended: "  # how the runner begins a note on what it ended
WAITS = "waits: "  # how its node begins one on what its end waits for
STRAY = 200  # characters shown of what is no line of an agent's protocol
MAX_KINDS = 20  # of lines that are not known
MAX_SAID = 200_000  # characters kept of an agent's last words; its spool has them all
MAX_ASKED = 1024 * 1024  # characters of a request that may be put to the owner

NOTHING_DONE = "The agent ended its turn without a word, and had done nothing in it."
TOO_LONG = "That is too long to be put to the owner. Do it in smaller parts."

ERRORS: Mapping[str, TurnError] = {
    "": TurnError.NONE,
    "limit": TurnError.LIMIT,
    "login": TurnError.LOGIN,
    "interrupted": TurnError.INTERRUPTED,
    "budget": TurnError.AGENT,
    "turns": TurnError.AGENT,
    "model": TurnError.START,
    "api": TurnError.API,
    "resume": TurnError.RESUME,
    "exists": TurnError.RESUME,
}


class Turn:
    """Reads one agent's spool."""

    def __init__(self, runs: Runs, followed: Followed, agent: Driver) -> None:
        self._runs = runs
        self._followed = followed
        self._driver = agent
        self._memory = Memory()
        self._errors: deque[str] = deque(maxlen=ERROR_LINES)
        self._ended = False
        self._tasks = -1  # not told yet
        self._unknown: dict[str, int] = {}  # kinds of line, and how often
        self._damage = Damage()
        self._version = ""
        self._stray = ""  # the last it printed that is no line of its protocol
        self._at_work = AtWork()
        self._is_whole = False  # what `_at_work` knows: we read the run from its start
        self._saw_begin = False  # of the turn that goes on
        self._at = 0.0  # of the line being read, by its machine's clock

    @property
    def began(self) -> bool:
        """Whether the run is known to have been started."""
        session = self._runs.session(self._followed.session)
        return session.run == self._followed.run and session.stage is Stage.RUNNING

    async def lose(self) -> None:
        exited = RunExited(run=self._followed.run, code=-1, why=LOST)
        await self._runs.post(self._followed.stream, exited, f"run:{self._followed.run}:lost")

    async def read(self, raw: bytes, position: tuple[str, int]) -> bool:
        """Act on one spooled line; true once the run is over."""
        entry = self._damage.read(raw)
        if entry is None:
            return False
        if spool.is_no_text(entry):
            self._unknown["no-UTF-8"] = self._unknown.get("no-UTF-8", 0) + 1
        number, kind, said = entry.get("n", 0), entry.get("k"), entry.get("d")
        self._is_whole = self._is_whole or number == 1
        if self._at_work.set_clock(float(entry.get("t") or 0.0), self._runs.now()):
            self._at = float(entry["t"])
        cause = f"run:{self._followed.run}:{number}"
        if kind not in ("out", "note"):  # by what those mean; and notes are our own
            await self._heard(cause, position)
        if kind == "out":
            text = str(said)
            if "blob" in entry:
                text = await self._runs.blob(
                    self._followed, str(entry["blob"]), int(entry.get("size", 0))
                )
                if not text:
                    self._at_work.unread(self._driver.results_in(str(said)))
                    self._runs.following.note_doing(
                        self._followed.run, "printed a line too long to read"
                    )
            await self._meanings(text, cause, position)
        elif kind == "err":
            self._errors.append(str(said)[:ERROR_LENGTH])
        elif kind == "note" and str(said).startswith(WAITS):
            self._runs.following.note_doing(self._followed.run, str(said))
        elif kind == "desk" and isinstance(said, dict):
            if "tool" in said:
                self._at_work.has_acted = True
                await self._call(said, cause, position)
            elif said.get("late"):
                await self._late(said, cause, position)
        elif kind == "exit" and isinstance(said, dict):
            await self._exit(said, cause, position)
            return True
        return False

    async def _heard(self, cause: str, position: tuple[str, int]) -> None:
        """Note that the run is not silent, and have its card follow where that said it was."""
        session = self._runs.session(self._followed.session)
        shown = session.silence if session.run == self._followed.run else None
        if shown is not None and position[1] <= shown.spooled:
            return  # from before the silence, and read once more after a start of ours
        self._runs.following.hear_anew(self._followed.run)
        if shown is not None:
            heard = RunHeard(run=self._followed.run)
            await self._runs.post(self._followed.stream, heard, f"{cause}.heard")

    async def _meanings(self, text: str, cause: str, position: tuple[str, int]) -> None:
        found = self._read(text)
        if not found or not all(isinstance(one, lines.Retrying) for one in found):
            await self._heard(cause, position)  # that it tries again is no sign of its model's
        for index, meaning in enumerate(found):
            self._at_work.note(meaning, self._at)
            if isinstance(meaning, lines.Unknown) and meaning.kind == "text":
                self._stray = text.strip()[:STRAY]
            if isinstance(meaning, lines.Limit):
                await self._runs.note_use(self._followed, meaning, f"{cause}.{index}.used")
            event = await self._event(meaning)
            if event is not None:
                await self._runs.post(
                    self._followed.stream, event, f"{cause}.{index}", position=position
                )

    def _read(self, text: str) -> Sequence[lines.Meaning]:
        try:
            return self._driver.read(text, self._memory)
        except RecursionError:  # brackets within brackets, by the hundred
            return (lines.Unknown("object"),)

    async def _event(self, meaning: lines.Meaning) -> AnyEvent | None:
        run = self._followed.run
        match meaning:
            case lines.Began():
                return self._began(meaning)
            case lines.Asked(input_json=asked) if len(asked) > MAX_ASKED or folder.is_deep(asked):
                await self._turn_down(meaning)
            case lines.Asked():
                return await self._asked(meaning)
            case lines.AskWithdrawn(request_id=request):
                return RequestWithdrawn(run=run, request=request)
            case lines.Taken(key=key):
                return LineTaken(run=run, key=key)
            case lines.Limit(rejected=True):
                resets_at = believed(float(meaning.resets_at or 0), self._runs.now())
                return LimitReached(run=run, resets_at=resets_at, window=meaning.window)
            case lines.Busy(tasks=tasks) if tasks != self._tasks:
                self._tasks = tasks
                return RunBusy(run=run, tasks=tasks)
            case lines.Ended():
                self._ended = True
                return self._turn_ended(meaning)
            case lines.Tool(brief=brief):
                self._runs.following.note_doing(run, brief)
            case lines.Said(text=text):
                self._runs.following.note_doing(run, text.strip().partition("\n")[0][:120])
            case lines.Retrying(reason=reason, attempt=attempt):
                said = f"waits for its model ({reason}), try {attempt}"
                self._runs.following.note_doing(run, said)
            case lines.Unknown(kind=kind) if kind != "text" and len(self._unknown) < MAX_KINDS:
                self._unknown[kind] = self._unknown.get(kind, 0) + 1
            case _:
                pass
        return None

    def _turn_ended(self, ended: lines.Ended) -> TurnEnded:
        """A turn's end as the agent tells it; "success" with nothing said or done is none."""
        idle = ended.is_empty and self._saw_begin and not self._at_work.has_acted
        return TurnEnded(
            run=self._followed.run,
            text=ended.text[:MAX_SAID],
            error=NOTHING_DONE if idle else ended.error[:MAX_SAID],
            kind=TurnError.AGENT if idle else ERRORS[ended.error_kind],
            cost_usd=ended.cost_usd,
        )

    def _began(self, began: lines.Began) -> SessionNamed:
        self._ended = False
        self._saw_begin = True
        self._version = began.version
        warning = self._driver.version_warning(began.version)
        if not began.desk_ok:
            warning = (
                "The agent did not reach its desk, so it can neither plan nor ask: stop it and "
                "start it again; quarterdeck doctor looks for the cause."
            )
        return SessionNamed(
            run=self._followed.run,
            agent_session=began.session_id,
            model=began.model,
            version=began.version,
            warning=warning,
        )

    async def _turn_down(self, asked: lines.Asked) -> None:
        """Say no to what nobody could read before deciding on it."""
        request = lines.Request(asked.request_id, asked.tool, "")
        line = self._driver.deny(request, TOO_LONG)
        await self._runs.feed(self._followed, f"turned-down-{asked.request_id}", line)

    async def _asked(self, asked: lines.Asked) -> AskRaised:
        return AskRaised(
            run=self._followed.run,
            ask=await self._runs.new_id("a"),
            request=asked.request_id,
            kind=AskKind(asked.kind),
            title=asked.title,
            detail=asked.detail,
            tool=asked.tool,
            input_json=asked.input_json,
            questions=asked.questions,
            unfenced=not self._runs.is_fenced(self._followed.machine),
            use=asked.use,
        )

    async def _cut_off(self, how: Mapping[str, Any]) -> LeftOff:
        left = await self.left_off()
        if how.get("why") == "cut off" or left.went_s is None:  # who wrote that did not see it end
            return left
        self._at_work.ended(self._at)
        return self._at_work.left_off()

    async def left_off(self) -> LeftOff:
        """How far its agent has got; raises Unreachable if what we missed is not to be had now."""
        if not self._is_whole:
            await self._make_good()
        return self._at_work.left_off()

    async def _make_good(self) -> None:
        """Learn from the spool's end what was printed before we began to read."""
        try:
            machine = self._runs.machine(self._followed.machine)
            found = await tail.at_work(machine, self._driver, self._followed.run, self._runs.now)
        except Unreachable:
            raise
        except (NodeRefused, Unavailable) as no:  # then what we read must do
            log.info("not made good run=%s: %s", self._followed.run, no)
        else:
            self._at_work = found
        self._is_whole = True

    async def _call(self, said: Mapping[str, Any], cause: str, position: tuple[str, int]) -> None:
        """Pass a desk call on: what changes something is an event, what only reads is answered."""
        call = f"{self._followed.run}#{said.get('call')}"
        arguments = said.get("args")
        session = self._runs.session(self._followed.session)
        found = await self._runs.calls(
            session, call, str(said.get("tool")), arguments if isinstance(arguments, dict) else {}
        )
        if isinstance(found, str):
            await self._runs.reply(ReplyDesk(call=call, text=found))
            return
        for index, (stream, event) in enumerate(found):
            try:
                await self._runs.post(stream, event, f"{cause}.{index}", position=position)
            except Refused as no:
                await self._runs.reply(ReplyDesk(call=call, text=no.sentence, is_error=True))
                return
        if not any(getattr(event, "call", "") for _, event in found):
            await self._runs.reply(ReplyDesk(call=call, text="Passed on."))

    async def _late(self, said: Mapping[str, Any], cause: str, position: tuple[str, int]) -> None:
        """A call was answered "Kept" before it ran: how it went comes as a message."""
        answer = self._runs.answer_to(f"{self._followed.run}#{said.get('call')}")
        text = f"[Quarterdeck] Your call that was kept has run: {answer}"
        event = Prompted(text=text, source="news")
        await self._runs.post(self._followed.stream, event, f"{cause}.0", position=position)

    async def _exit(self, how: Mapping[str, Any], cause: str, position: tuple[str, int]) -> None:
        """A run that never told of its end may still have said why on its way out."""
        run = self._followed.run
        code = how.get("code")
        session = self._runs.session(self._followed.session)
        ended = self._ended or session.over is not None or session.kept_end is not None
        killed = how.get("signal") is not None or how.get("why") in ("cut off", "killed")
        if how.get("why") == "not started" and not ended:
            words = str(how.get("words") or "it could not be started")
            over = TurnEnded(run=run, error=words, kind=TurnError.START)
            await self._runs.post(self._followed.stream, over, f"{cause}.0")
        elif not ended and not killed and how.get("why") in ("", None):
            last = self._driver.last_words("\n".join(self._errors), code)
            kind = ERRORS[last.error_kind] if last.error_kind else TurnError.AGENT
            error = last.error or f"it ended at once without a word (exit {code})"
            if self._stray and not self._errors:
                error = f"{error} What it printed was no line of its protocol: {self._stray}"
            over = TurnEnded(run=run, error=error, kind=kind)
            await self._runs.post(self._followed.stream, over, f"{cause}.0")
        why = str(how.get("words") or how.get("why") or "")
        await self._runs.note_drift(self._followed, self._version, self._unknown, f"{cause}.drift")
        await self._runs.note_damage(self._followed, self._damage, f"{cause}.damage")
        exited = RunExited(
            run=run,
            code=code if isinstance(code, int) else -1,
            why=why,
            signal=_foreign_signal(how),
            beside=self._runs.agents_on(self._followed.machine),
            left=None if ended else await self._cut_off(how),
        )
        await self._runs.post(self._followed.stream, exited, f"{cause}.1", position=position)


def _foreign_signal(how: Mapping[str, Any]) -> int:
    """The signal that killed a run, if it was sent by nobody of ours."""
    number = how.get("signal")
    ours = how.get("why") not in ("", None, "killed")
    return number if isinstance(number, int) and not ours else 0


class Output:
    """Collects a command's output down to its verdict."""

    def __init__(self) -> None:
        self._tail: deque[str] = deque(maxlen=REPORT_LINES)
        self.damage = Damage()
        self._began = 0.0
        self._over: Mapping[str, Any] | None = None
        self._at = 0.0
        self._note = ""  # the runner's own words on why it ended the command
        self._apart = False  # it had a network of its own

    def take(self, raw: bytes) -> bool:
        """Read one spooled line; true once it was the last."""
        entry = self.damage.read(raw)
        if entry is None:
            return False
        self._at = float(entry.get("t", self._at))
        self._began = self._began or self._at
        kind, said = entry.get("k"), entry.get("d")
        if kind in ("out", "err"):
            self._tail.append(str(said)[:500])
        elif kind == "note" and str(said).startswith(ENDED):
            self._note = str(said).removeprefix(ENDED).strip().removesuffix(".")
        elif kind == "note" and OWN_NETWORK in str(said):
            self._apart = True
        elif kind == "exit" and isinstance(said, dict):
            self._over = said
            return True
        return False

    def verdict(self) -> CheckVerdict:
        how = self._over or {}
        report = "\n".join(self._tail)
        took = _took(self._at - self._began)
        code = how.get("code")
        if how.get("why") in ("cut off", "not started", "killed", NO_ROOM):
            words = str(how.get("words") or how["why"])
            return CheckVerdict(passed=False, ran=False, failure=words, report=report)
        if how.get("why"):
            why = how.get("words") or self._note or how["why"]
            summary = f"ended after {took}: {why}"
            return CheckVerdict(passed=False, summary=summary, report=report)
        if code == 0:
            return CheckVerdict(passed=True, summary=f"passed in {took}", report=report)
        ended = f"exit {code}" if code is not None else f"signal {how.get('signal')}"
        hint = refused_port.hint(self._tail) if self._apart else ""
        summary = f"{ended} after {took}" + (f"; {hint}" if hint else "")
        return CheckVerdict(passed=False, summary=summary, report=report)


class Checked:
    """Reads one check's spool; nothing is posted before its end, so it is read from the start."""

    def __init__(self, runs: Runs, followed: Followed) -> None:
        self._runs = runs
        self._followed = followed
        self._reading = Output()
        self.began = False

    async def read(self, raw: bytes, position: tuple[str, int]) -> bool:
        """Act on one spooled line; true once the run is over."""
        self.began = True
        if not self._reading.take(raw):
            return False
        cause = f"run:{self._followed.run}:damage"
        await self._runs.note_damage(self._followed, self._reading.damage, cause)
        await self._tell(self._reading.verdict())
        return True

    async def lose(self) -> None:
        await self._tell(CheckVerdict(passed=False, ran=False, failure=LOST))

    async def _tell(self, verdict: CheckVerdict) -> None:
        await self._runs.give_back(self._followed)
        cause = f"run:{self._followed.run}:verdict"
        found = await self._runs.judged(self._followed, verdict)
        for index, (stream, event) in enumerate(found):
            await self._runs.post(stream, event, f"{cause}.{index}")


def _took(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 0):.0f} s"
    return f"{seconds / 60:.0f} min"
