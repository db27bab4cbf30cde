"""What the owner sets for one lead while it is at work: mode, go, model, the machines ticked.

Part of goal.py's rule. A mode and a model hold from each agent's next turn; ticks say where workers
that have no place yet may go. Which machines there are comes with the event. Pure. Neighbours: modes.py
(what a mode is), session.py (takes it up), fleet.py (places).
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.errors import Refused
from engine.rules import models, news
from engine.rules.effects import Tell
from engine.rules.events import GoalChanged, SessionSet
from engine.rules.goal_state import Goal, PlanStage, Stage, Step, to_lead
from engine.rules.modes import MODES, UNFENCED

GOES = ("ask", "auto")


def of_setting(now: Goal, event: GoalChanged) -> Step:
    match event.what:
        case "mode":
            return _mode(now, event)
        case "go":
            return _go(now, event.value)
        case "model":
            return _model(now, models.named(event.value))
        case "tick" | "untick":
            return _ticks(now, event)
        case _:
            raise Refused(f"A lead has no setting {event.what}: mode, go, model, tick, untick.")


def checked_mode(mode: str, places: tuple[str, ...], fenced: tuple[str, ...]) -> str:
    """Return the mode if one of these places can take it; refuse it otherwise."""
    if mode not in MODES:
        raise Refused(f"There is no mode {mode}. There are: {', '.join(MODES)}.")
    if mode not in UNFENCED and not set(places) & set(fenced):
        where = " and ".join(places) or "here"
        raise Refused(
            f"{where} {'are' if len(places) > 1 else 'is'} unfenced, so no agent goes past "
            f"{UNFENCED[-1]} there. /status says why; a machine that fences takes it."
        )
    return mode


def checked_go(go: str) -> str:
    if go not in GOES:
        raise Refused("The go is ask (you start each plan) or auto (the lead may).")
    return go


def _ticked(now: Goal, event: GoalChanged) -> tuple[str, ...]:
    return tuple(name for name in event.known if not now.machines or name in now.machines)


def _mode(now: Goal, event: GoalChanged) -> Step:
    mode = checked_mode(event.value, _ticked(now, event), event.fenced)
    return replace(now, mode=mode), _told(now, SessionSet(mode=mode))


def _go(now: Goal, go: str) -> Step:
    checked_go(go)
    if go == now.go:
        return now, ()
    changed = replace(now, go=go)
    if now.stage is Stage.OPENING:
        return changed, ()
    waits = now.plan_stage is PlanStage.PROPOSED
    return changed, (to_lead(now, news.go_changed(auto=go == "auto", waits=waits)),)


def _model(now: Goal, model: str) -> Step:
    """The lead's own, and that of pieces planned from now on; workers keep theirs."""
    told = _told(now, SessionSet(model=model))[:1] if now.stage is not Stage.OPENING else ()
    return replace(now, model=model), told


def _ticks(now: Goal, event: GoalChanged) -> Step:
    if event.value not in event.known:
        known = ", ".join(event.known)
        raise Refused(f"There is no machine {event.value}. There are: {known}.")
    ticked = set(_ticked(now, event))
    ticked = ticked | {event.value} if event.what == "tick" else ticked - {event.value}
    kept = tuple(name for name in event.known if name in ticked)
    if not kept:
        raise Refused("One machine must stay ticked: tick another one first.")
    checked_mode(now.mode, kept, event.fenced)
    machines = () if len(kept) == len(event.known) else kept
    return replace(now, machines=machines), _told(now, SessionSet(machines=machines))


def _told(now: Goal, event: SessionSet) -> tuple[Tell, ...]:
    """Tell the lead, then the workers that are not over."""
    lead = () if now.stage is Stage.OPENING else (now.session,)
    sessions = (*lead, *(piece.session for piece in now.at_work))
    return tuple(Tell(stream=f"session/{session}", event=event) for session in sessions)
