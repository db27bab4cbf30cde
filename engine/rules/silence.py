"""Why a run prints nothing, and what is done about that: shown, told to its owner once, or ended.

    Watch is due ──> RunQuiet: how long, what its spool ends with, what its machine sees
        waits for its owner, a tool, the network, tasks of its own, a limit, or is stopped ──> shown
            and has done so for very long, with no sign of life ──> its owner is told, once
        nothing of all that, for QUIET_S ──> hung: ended, and resumed with a note (turn_ends.py)

A run is one of these and no two. Only a hung one is ended, and never while anything is asked of its owner
or an answer is on its way to it; one that prints just then is left alone (`unless_past`). What an agent said it does (an open tool, a try to come) counts only as
far as its machine does not see otherwise. Part of session.py's rule. Neighbours: engine/perform.py (asks
the machine), engine/node/pulse.py (what that sees), bot/text_silence.py (the words).
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.rules import news
from engine.rules.asking import held_by_run
from engine.rules.effects import AnyEffect, CloseRun, Say, Watch
from engine.rules.events import RunQuiet
from engine.rules.rests import believed
from engine.rules.session_state import Session, Stage, Step
from engine.rules.words import OpenTool, Pulse, Role, Silence, TurnError, Why

SHOWN_S = 3 * 60.0  # silence that is worth a look, and a word on the card
QUIET_S = 15 * 60.0  # of a run that waits for nothing: it hangs
LEFT_BEHIND_S = 30 * 60.0  # the same, where a process it does not wait for lives on beside it
LOOK_S = 60.0  # the least between two looks, and
LOOKS_S = 5 * 60.0  # the most
BUSY = 0.01  # of a core, from where on somebody works, and
BUSY_S = 0.2  # the least that counts
TOOL_BEGAN_S = 5.0  # a tool's process may be this much older than the line that tells of it
IDLE_TOOL_S = 2 * 3600.0  # a tool without a sign of life for so long is told of
BUSY_TOOL_S = 8 * 3600.0  # and one that works
RETRY_MOST_S = 24 * 3600.0  # a try that is said to be farther off is none to wait for
STEPS_MIN = (3, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 360, 480, 720)
HOURS = 12 * 60  # past the last step: every so many minutes


def begin(now: Session, at: float) -> Watch:
    """Have a run looked at that has just been started."""
    return Watch(run=now.run, session=now.id, due_at=at + SHOWN_S)


def heard(now: Session) -> Session:
    """It has printed something."""
    return replace(now, silence=None) if now.silence is not None else now


def quiet(now: Session, event: RunQuiet) -> Step:
    """Judge the silence of a running turn."""
    if is_ending(now):
        return now, ()
    if now.stopping or now.ending is TurnError.INTERRUPTED:  # who ended it has a grace running
        return now, (_look(now, event.at, SHOWN_S),)
    silent_s = event.silent_s
    if now.answered_at:
        silent_s = min(silent_s, event.at - now.answered_at)
    if silent_s < SHOWN_S:
        return heard(now), (_look(now, event.at, SHOWN_S - silent_s),)
    found = judged(now, event, silent_s)
    if found.why is Why.HUNG:
        return _end(now, found)
    told, says = _told(now, found, event, silent_s)
    again_s = min(_next_step_s(silent_s), LOOKS_S)
    return replace(now, silence=told), (*says, _look(now, event.at, again_s))


def _look(now: Session, at: float, in_s: float) -> Watch:
    return Watch(run=now.run, session=now.id, due_at=at + max(in_s, LOOK_S))


def _end(now: Session, found: Silence) -> Step:
    who = news.who(now.role, now.number, now.title)
    said = (
        f"{who} was silent for {found.minutes} min and nothing of it ran: it is ended, and goes on "
        "with a note."
    )
    return replace(now, ending=TurnError.SILENT, silence=found), (
        Say(goal=now.goal, kind="warning", text=said),
        CloseRun(run=now.run, machine=now.machine, grace_s=0.0, unless_past=found.spooled),
    )


def is_ending(now: Session) -> bool:
    """Whether it was found to hang, and its run is not over yet."""
    return now.stage is Stage.RUNNING and now.ending is TurnError.SILENT


def goes_on(now: Session, at: float) -> Step:
    """It printed just as it was to be ended, or could not be ended: judge it anew."""
    left_alone = replace(now, ending=TurnError.NONE, silence=None)
    return left_alone, (_look(now, at, SHOWN_S),)


# ---------------------------------------------------------------- which of them it is


def judged(now: Session, event: RunQuiet, silent_s: float) -> Silence:
    """Say what a run is silent for that has been so for `silent_s`."""
    why, what, since, until = _why(now, event, silent_s)
    before = now.silence
    begun = event.at - silent_s
    if before is not None and before.why is why and before.what == what:
        begun, since = before.begun, before.since or since
    minutes = _step(silent_s)
    told = before.told if before is not None else ""
    return Silence(
        why=why,
        what=what,
        minutes=minutes,
        begun=begun,
        since=since,
        until=until if until > event.at else 0.0,
        told=told,
        spooled=event.spooled,
    )


Found = tuple[Why, str, float, float]  # what it is, of what, since when, until when


def _why(now: Session, event: RunQuiet, silent_s: float) -> Found:
    at, pulse = event.at, event.pulse
    if now.asks:
        return Why.OWNER, "", 0.0, 0.0
    if pulse is not None and pulse.stopped:
        return Why.STOPPED, pulse.stopped, 0.0, 0.0
    if now.kept_end is not None:
        return Why.TASKS, "", 0.0, 0.0
    if believed(now.parked_until, at):
        return Why.LIMIT, "", 0.0, now.parked_until
    if event.retry is not None and at - QUIET_S < event.retry.until <= at + RETRY_MOST_S:
        return Why.NETWORK, event.retry.reason, 0.0, event.retry.until
    tool = next((tool for tool in event.tools if _runs(tool, event, silent_s)), None)
    if tool is not None:
        named = tool.given if tool.name == "Bash" and tool.given else tool.brief
        return Why.TOOL, named, min(tool.since, at - silent_s), 0.0
    if now.tasks or (pulse is not None and _works(pulse)):
        return Why.TASKS, pulse.busiest if pulse is not None else "", 0.0, 0.0
    left = LEFT_BEHIND_S if pulse is not None and pulse.others > pulse.halted else QUIET_S
    known = pulse is None or pulse.over_s > 0  # whether it works is told from the second look on
    return (Why.HUNG if silent_s >= left and known else Why.MODEL), "", 0.0, 0.0


def _runs(tool: OpenTool, event: RunQuiet, silent_s: float) -> bool:
    """Whether an open tool is at work: a process of its own lives, or its own time is not over."""
    age_s = max(event.at - tool.since, silent_s)
    if age_s < max(tool.timeout_s, QUIET_S):
        return True
    pulse = event.pulse
    if pulse is None:  # nothing can be seen there: the tool is believed, and its owner told
        return True
    began_in_it = pulse.others > 0 and pulse.youngest_s <= age_s + TOOL_BEGAN_S
    return began_in_it or _works(pulse)


def _works(pulse: Pulse) -> bool:
    return pulse.over_s > 0 and pulse.cpu_s >= max(BUSY * pulse.over_s, BUSY_S)


# ---------------------------------------------------------------- how coarsely it is told


def _step(silent_s: float) -> int:
    """The minutes that are shown: a card is not edited each minute."""
    minutes = int(silent_s / 60)
    if minutes >= STEPS_MIN[-1]:
        return minutes // HOURS * HOURS
    return max((step for step in STEPS_MIN if step <= minutes), default=STEPS_MIN[0])


def _next_step_s(silent_s: float) -> float:
    ahead = (step * 60.0 - silent_s for step in STEPS_MIN)
    return next((left for left in ahead if left > 0), LOOKS_S)


# ---------------------------------------------------------------- what its owner is told


def _told(
    now: Session, found: Silence, event: RunQuiet, silent_s: float
) -> tuple[Silence, tuple[AnyEffect, ...]]:
    """Tell the owner, once for each kind, of what will not end by itself."""
    words = _past_patience(found, event, silent_s)
    if not words or found.told == found.why:
        return found, ()
    who = news.who(now.role, now.number, now.title)
    card = now.goal if now.role is Role.LEAD else now.piece
    said = Say(
        goal=now.goal, kind="stuck", text=f"{who} {words}. Nothing is ended unasked.", who=card
    )
    return replace(found, told=found.why), (said,)


def _past_patience(found: Silence, event: RunQuiet, silent_s: float) -> str:
    """What there is to be told of a silence that has lasted very long; "" while it has not."""
    works = event.pulse is not None and _works(event.pulse)
    patience_s = BUSY_TOOL_S if works else IDLE_TOOL_S
    match found.why:
        case Why.STOPPED:
            return "does not go on: a signal from outside stopped one of its processes"
        case Why.NETWORK if silent_s >= IDLE_TOOL_S:
            return (
                f"has waited {silent_s / 3600:.0f} h for its model's service, which does not answer"
            )
        case Why.TOOL | Why.TASKS if silent_s >= patience_s:
            how = "without a word" if works else "without a word or a sign of life"
            what = "a tool" if found.why is Why.TOOL else "tasks of its own"
            return f"has waited {silent_s / 3600:.0f} h for {what}, {how}"
    return ""


def shows(now: Session) -> Silence | None:
    """What a card shows of it; of what holds its run for the owner the card that asks tells."""
    running = now.stage is Stage.RUNNING and not now.stopping
    if now.silence is None or not running or any(held_by_run(ask) for ask in now.asks):
        return None
    return replace(now.silence, told="", spooled=0)
