"""One goal from the owner's words to the push: its lead, plan, pieces, attempts and review.

    OPENING -> PLANNING -> BUILDING -> REVIEW -> SHIPPING -> SHIPPED        any -> DROPPED
                  ^            ^          |          |
                  +------------+-correct--+--cancel--+

Only this stream decides about the plan and the attempts. Sessions tell it how turns end, the landing
what landed, the ship what was pushed. Desk calls carry `call`, and every one is answered. Pure.
Its parts: goal_state.py (the data), planning.py, piece.py, review.py, after_limit.py, goal_settings.py.
Neighbours: session.py, landing.py, ship.py, news.py (all wording to agents).
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.errors import Refused
from engine.rules import attached, fenced, news, plan, roles
from engine.rules.after_limit import of_limit
from engine.rules.effects import AnyEffect, Check, ReadBase, Say, Tell
from engine.rules.events import (
    AfterLimitChosen,
    AskSettled,
    BaseChecked,
    BaseRead,
    CommandSettled,
    CommandWanted,
    FilesSent,
    GaveUp,
    GoalChanged,
    GoalDropped,
    GoalEvent,
    GoalOpened,
    GoalResumed,
    GoalReworded,
    GoalShipped,
    GoalStopped,
    GoalTaken,
    LimitOver,
    LinesLeft,
    PieceRetried,
    PieceStopped,
    PlanChanged,
    PlanDiscarded,
    PlanProposed,
    PlanStarted,
    PromptReworded,
    ReviewCorrected,
    ReviewJudged,
    ReviewPut,
    SessionOpened,
    SessionResumed,
    SessionStopped,
    ShipCalled,
    ShipFailed,
    TreeKept,
    TurnOver,
)
from engine.rules.goal_settings import of_setting
from engine.rules.goal_state import (
    CommandState,
    Goal,
    ReviewStage,
    Stage,
    Step,
    ask_no_more,
    end_all,
    error,
    to_lead,
)
from engine.rules.piece import of_piece, turn_over
from engine.rules.planning import of_plan, start_ready
from engine.rules.review import of_review, of_ship
from engine.rules.words import BROUGHT, COPY, HERE, Role

TITLE_LENGTH = 60


def begin(name: str) -> Goal:
    return Goal(id=name)


def decide(now: Goal, event: GoalEvent) -> Step:
    """Return where the goal stands after `event`, and what must now be done about it."""
    match event:
        case GoalOpened() if now.stage is None:
            return _open(now, event)
        case BaseRead() if now.stage is Stage.OPENING and not now.held:  # resuming reads it anew
            return _base_read(now, event)
        case CommandSettled() if now.live:
            return _command_settled(now, event)
        case BaseChecked(verdict=verdict) if now.live and now.base_verdict is None:
            checked = replace(now, base_verdict=verdict)
            return checked, (to_lead(now, news.base_checked(now.base, verdict)),)
        case TurnOver():
            return turn_over(now, event)
        case FilesSent(files=files):
            return replace(now, files=attached.merged(now.files, files)), ()
        case LinesLeft(session=session, text=text, files=files):
            known = (*now.pieces, *now.earlier)
            piece = next((piece for piece in known if piece.session == session), None)
            if piece is None or not now.live:
                return now, ()
            told = news.from_owner_to_worker(piece.number, piece.title, text)
            return now, (to_lead(now, told, files=files),)
        case TreeKept():
            return now, _kept(now.id, event)
        case GoalReworded() if now.live:
            return _reword(now, event.text)
        case GoalDropped() if now.live:
            return _drop(now, event.at)
        case GoalStopped() if now.live:
            return _hold(now, event.at, held=True)
        case GoalTaken(whose=whose) if now.live:
            if whose == now.whose:
                raise Refused("It is in your chat already.")
            return replace(now, whose=whose), ()
        case GoalTaken():
            raise Refused("That goal is over.")
        case GoalResumed() if now.live:
            return _hold(now, event.at, held=False)
        case GoalDropped() | GoalStopped() | GoalResumed() | GoalReworded():
            raise Refused("That goal is over.")
        case GaveUp(effect="ReadBase", why=why) if now.stage is Stage.OPENING:
            return replace(now, failure=why, failed_at=event.at), ()
        case AfterLimitChosen() if not now.live:
            raise Refused("That goal is over.")
        case AfterLimitChosen() | LimitOver() | AskSettled() if now.live:
            return of_limit(now, event)
        case _ if not now.live:
            return _too_late(now, event)
        case PlanProposed() | PlanChanged() | PlanStarted() | PlanDiscarded():
            return of_plan(now, event)
        case GoalChanged():
            return of_setting(now, event)
        case ReviewPut() | ReviewJudged() | ReviewCorrected() | ShipCalled():
            return of_review(now, event)
        case GoalShipped() | ShipFailed():
            return of_ship(now, event)
        case _:
            return of_piece(now, event)


def _too_late(now: Goal, event: GoalEvent) -> Step:
    """Answer what comes after the end; facts change nothing."""
    call = getattr(event, "call", "")
    if call:
        return now, error(call, "This goal is over; end your turn.")
    if isinstance(event, PlanChanged | PlanStarted | PlanDiscarded | ReviewCorrected | ShipCalled):
        raise Refused("That goal is over.")
    if isinstance(event, GoalChanged):
        raise Refused("That goal is over.")
    if isinstance(event, PieceRetried | PieceStopped):
        raise Refused("That goal is over.")
    return now, ()


# ---------------------------------------------------------------- opening


def short_title(text: str) -> str:
    """A goal's name: its first line, cut between words."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "goal")
    if len(line) <= TITLE_LENGTH:
        return line
    cut = line[: TITLE_LENGTH - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def _open(now: Goal, event: GoalOpened) -> Step:
    title = short_title(event.text)
    opened = replace(
        now,
        stage=Stage.OPENING,
        project=event.project,
        text=event.text,
        title=title,
        base=event.base,
        account=event.account,
        model=event.model,
        mode=event.mode,
        go=event.go,
        session=event.session,
        opened_at=event.at,
        files=event.files,
        whose=event.whose,
    )
    return opened, (_read_base(opened),)


def _reword(now: Goal, text: str) -> Step:
    """Take the owner's new words; a lead that was opened has the old ones in its first prompt."""
    anew = replace(now, text=text, title=short_title(text))
    if now.stage is Stage.OPENING:
        return anew, ()
    told = PromptReworded(old=now.text, text=text, title=anew.title)
    return anew, (Tell(stream=f"session/{now.session}", event=told),)


def _read_base(now: Goal) -> ReadBase:
    return ReadBase(goal=now.id, project=now.project, base=now.base, title=now.title)


def _base_read(now: Goal, event: BaseRead) -> Step:
    """The base is known: ask about its commands and start the lead, which need not wait for them."""
    read = replace(
        now,
        stage=Stage.PLANNING,
        base_commit=event.base_commit,
        head=event.base_commit,
        branch=event.branch,
        commands=tuple(CommandState(command) for command in event.commands),
        settings_from=event.settings_from,
        check_by_owner=event.check_by_owner,
        failure="",
    )
    wanted = tuple(
        Tell(
            stream=f"project/{now.project}",
            event=CommandWanted(goal=now.id, command=command, ask=ask),
        )
        for command, ask in zip(event.commands, event.asks, strict=True)
    )
    checks = tuple(
        f"{command.kind}: {fenced.code(command.text, 1000)} (waits for the owner's word)"
        for command in event.commands
        if command.kind not in (COPY, BROUGHT)
    )
    prompt = roles.rundown(
        project=now.project,
        branch=event.branch,
        base=now.base,
        base_commit=event.base_commit,
        checks=checks,
        note=event.note,
        goal=now.text,
    )
    lead = SessionOpened(
        goal=now.id,
        role=Role.LEAD,
        project=now.project,
        account=now.account,
        model=now.model,
        mode=now.mode,
        branch=event.branch,
        commit=event.base_commit,
        preface=roles.LEAD,
        prompt=prompt,
        title=now.title,
        machine=HERE,
        files=now.files,
    )
    noted = (Say(goal=now.id, kind="warning", text=event.note),) if event.note else ()
    return read, (*wanted, *noted, Tell(stream=f"session/{now.session}", event=lead))


def _command_settled(now: Goal, event: CommandSettled) -> Step:
    commands = tuple(
        replace(known, allowed=event.allowed) if known.command == event.command else known
        for known in now.commands
    )
    settled = replace(now, commands=commands)
    effects: list[AnyEffect] = []
    check = settled.command("check")
    if settled.settled and check and not now.settled:
        effects.append(_check_base(settled, check))
    after, started = start_ready(settled, event.at)
    return after, (*effects, *started)


def _check_base(now: Goal, check: str) -> Check:
    return Check(
        run=f"check-{now.id}-{now.base_commit[:12]}-base",
        project=now.project,
        commit=now.base_commit,
        command=check,
        setup=now.command("setup"),
        teller=now.stream,
        about="base",
    )


# ---------------------------------------------------------------- stop, resume, drop


def _drop(now: Goal, at: float) -> Step:
    review = now.review
    if review.stage is ReviewStage.SHIPPING:
        raise Refused("It is being shipped: Cancel that first.")
    if review.stage is ReviewStage.OPEN:
        review = replace(review, stage=ReviewStage.DROPPED, decided_at=at)
    ended, effects = end_all(now, "dropped")
    return replace(ended, stage=Stage.DROPPED, review=review), effects


def _kept(goal: str, event: TreeKept) -> tuple[AnyEffect, ...]:
    """Say where unsaved work went; nothing is thrown away unseen."""
    told = event.note
    if event.rescue:
        told = f"Work of {event.session} that was in no commit is kept on branch {event.rescue}."
    return (Say(goal=goal, kind="warning", text=told),) if told else ()


def _hold(now: Goal, at: float, *, held: bool) -> Step:
    if held and now.held:
        raise Refused("It is stopped already. /resume goes on.")
    now, gone = ask_no_more(now, "the goal was stopped" if held else "it goes on")
    now = replace(now, held=held, failure=now.failure if held else "")
    told = [_told(now.session, again=True, held=held)] if now.stage is not Stage.OPENING else []
    told += [
        _told(piece.session, again=piece.stage is not plan.Stage.FAILED, held=held)
        for piece in now.at_work
    ]
    if held:
        return now, (*gone, *told)
    opening = (_read_base(now),) if now.stage is Stage.OPENING else ()
    after, started = start_ready(now, at)
    return after, (*gone, *opening, *told, *started)


def _told(session: str, *, again: bool, held: bool) -> Tell:
    """Stop a session or let it go on; a failed piece's waits for its own Retry."""
    if held:
        return Tell(stream=f"session/{session}", event=SessionStopped(why="stopped by you"))
    return Tell(stream=f"session/{session}", event=SessionResumed(again=again))
