"""The card of one ask: a card of its own for each kind of decision.

Pure. Neighbours: engine/rules/ask.py (what an answer does), engine/choices.py (what its taps carry).
"""

from __future__ import annotations

from engine.board.looking import World, fence_of, state_of
from engine.rules import ask as ask_rule
from engine.rules import brought, stakes
from engine.rules.ask import Ask
from engine.rules.fleet import Fleet
from engine.rules.goal_state import Goal, PlanStage
from engine.rules.project import Project
from engine.rules.session_state import Session
from engine.rules.words import BROUGHT, AskKind, Brought, Decision, Stake
from engine.views import (
    AnyCard,
    ApproachCard,
    CommandCard,
    KeyedCard,
    LimitCard,
    PermissionCard,
    QuestionCard,
    TrustCard,
    WhereCard,
)

LIMIT_WORDS = {
    Decision.ALLOW: "Goes on",
    Decision.DENY: "Left: Resume on its session's card goes on",
}

TRUST_WORDS = {
    Decision.ALLOW: "Trusted: sessions have it from their next turn",
    Decision.DENY: "Left off: nothing of it runs, and the work goes on without it",
}


def ask_card(world: World, ask: Ask) -> AnyCard:
    is_open = ask.stage is ask_rule.Stage.OPEN
    decided = ""
    if ask.decision is not None:
        decided = ask_rule.already(ask) if not is_open else ""
        decided = decided.removeprefix("Already ").removesuffix(".")
        decided = decided[:1].upper() + decided[1:]
    if ask.command is not None and ask.decision is Decision.DENY:
        decided = "Not this: it never runs, and the work goes on without it"
        if ask.kind is AskKind.COPY:
            decided = "Not this: nothing is copied, and the work goes on without it"
    if ask.kind is AskKind.BROUGHT and ask.decision in TRUST_WORDS:
        decided = TRUST_WORDS[ask.decision]
    if ask.kind is AskKind.LIMIT and ask.decision in LIMIT_WORDS:
        decided = LIMIT_WORDS[ask.decision]
    if ask.kind is AskKind.WHERE and ask.decision is Decision.ANSWER:
        decided = "Given to the lead" if ask.title == ask_rule.EDITED else f"For {ask.text}"
    session = state_of(world, ask.teller, Session)
    machine = session.machine if session else "here"
    fenced, _ = fence_of(world, machine)
    common: dict[str, object] = {
        "id": ask.id,
        "goal": ask.goal,
        "at": ask.asked_at,
        "asks": is_open,
        "decided": decided,
        "decided_at": ask.decided_at,
        "whose": ask.whose,
    }
    match ask.kind:
        case AskKind.PERMISSION:
            return PermissionCard(
                **common,  # type: ignore[arg-type]
                who=ask.who,
                tool=_tool_words(ask.tool),
                command=ask.detail,
                why=ask.title,
                machine=machine or "here",
                fenced=fenced,
                project=ask.keeper.removeprefix("project/"),
                rule=ask.rule,
                never=ask.never,
                stakes=ask.stakes,
                buttons=_permission_buttons(ask) if is_open else (),
            )
        case AskKind.KEY:
            return KeyedCard(
                **common,  # type: ignore[arg-type]
                who=ask.who,
                command=ask.detail,
                names=ask.keys,
                why=ask.title,
                machine=machine or "here",
                fenced=fenced,
                project=ask.keeper.removeprefix("project/"),
                rule=ask.rule,
                never=ask.never,
                outcome=ask.outcome,
                stakes=ask.stakes,
                buttons=_keyed_buttons(ask) if is_open else (),
            )
        case AskKind.QUESTION:
            question = ask.questions[len(ask.answers)] if is_open and ask.questions else None
            options = question.options if question else ()
            picks = tuple(f"option-{index}" for index in range(len(options)))
            if ask.stakes:  # leave is asked for: a plain no is always there
                picks = (*(picks or ("allow",)), "deny")
            return QuestionCard(
                **common,  # type: ignore[arg-type]
                who=ask.who,
                questions=ask.questions,
                answers=ask.answers,
                stakes=ask.stakes,
                buttons=(*picks, "answer") if is_open else (),
            )
        case AskKind.APPROACH:
            return ApproachCard(
                **common,  # type: ignore[arg-type]
                who=ask.who,
                text=ask.detail,
                buttons=("approve", "send_back", "stop") if is_open else (),
            )
        case AskKind.CHECK | AskKind.SETUP | AskKind.COPY:
            goal = state_of(world, f"goal/{ask.goal}", Goal)
            source = f"{goal.settings_from} at {goal.base_commit[:7]}" if goal else ""
            return CommandCard(
                **common,  # type: ignore[arg-type]
                kind=ask.kind.value,
                project=ask.title,
                command=ask.detail,
                source=source,
                held_since=_held_since(goal) if is_open else 0.0,
                stakes=_of_command(ask, unfenced=not fenced),
                buttons=("allow", "not_this") if is_open else (),
            )
        case AskKind.BROUGHT:
            return _trust_card(world, ask, common)
        case AskKind.LIMIT:
            goal = state_of(world, f"goal/{ask.goal}", Goal)
            return LimitCard(
                **common,  # type: ignore[arg-type]
                account=ask.title,
                title=goal.title if goal else "",
                buttons=("resume", "leave") if is_open else (),
            )
        case AskKind.WHERE:
            options = tuple(label for label, _ in ask.options)
            goal = state_of(world, f"goal/{ask.goal}", Goal)
            if is_open and goal is not None and not goal.live:
                is_open = False
                common |= {"asks": False, "decided": "The goal is over"}
            return WhereCard(
                **common,  # type: ignore[arg-type]
                text=ask.detail,
                options=options,
                edited=ask.title == ask_rule.EDITED,
                files=tuple(file.name for file in ask.files),
                buttons=(*(f"option-{i}" for i in range(len(options))), "leave") if is_open else (),
            )


def _trust_card(world: World, ask: Ask, common: dict[str, object]) -> TrustCard:
    goal = state_of(world, f"goal/{ask.goal}", Goal)
    fleet = state_of(world, "fleet", Fleet) or Fleet()
    found = brought.told(ask.command) or Brought("")
    project = state_of(world, f"project/{ask.title}", Project)
    decided = (*project.allowed, *project.refused) if project else ()
    names = [n for n in (".claude", ".mcp.json") if any(f.startswith(n) for f in found.files)]
    at = f" at {goal.base_commit[:7]}" if goal else ""
    return TrustCard(
        **common,  # type: ignore[arg-type]
        project=ask.title,
        what=brought.counted(found),
        source=f"{' and '.join(names)}{at}",
        brought=found,
        stakes=_of_brought(found),
        changed=any(c.kind == BROUGHT and c != ask.command for c in decided),
        unfenced=tuple(m.name for m in fleet.machines if m.fence and not m.fenced),
        buttons=("trust", "leave_off") if ask.stage is ask_rule.Stage.OPEN else (),
    )


def _held_since(goal: Goal | None) -> float:
    """When the owner started what waits for this command, if they did."""
    waits = goal is not None and goal.live and not goal.held and not goal.settled
    return goal.plan_at if goal and waits and goal.plan_stage is PlanStage.STARTED else 0.0


def _of_command(ask: Ask, *, unfenced: bool) -> tuple[Stake, ...]:
    """What a check or a setup puts at stake; folders to copy are no command."""
    if ask.kind is AskKind.COPY:
        return ()
    return stakes.of_command(ask.detail, unfenced=unfenced)


def _of_brought(found: Brought) -> tuple[Stake, ...]:
    """What all that would run by itself puts at stake."""
    runs = [item.text for item in brought.given(found) if item.kind in ("hook", "server")]
    told = [stake for text in runs for stake in stakes.of_command(text)]
    return tuple(dict.fromkeys(told))[: stakes.MOST]


def _tool_words(tool: str) -> str:
    """A tool as the owner may read it: a server's own by its two names."""
    if tool == "AskUserQuestion":
        return "a question that cannot be shown"
    kind, _, rest = tool.partition("__")
    server, _, name = rest.partition("__")
    return f"{name} of {server}" if kind == "mcp" and name else tool


def _keyed_buttons(ask: Ask) -> tuple[str, ...]:
    return ("allow_once", "deny") if ask.rule is None else ("allow_once", "always", "deny")


def _permission_buttons(ask: Ask) -> tuple[str, ...]:
    return ("allow", "deny") if ask.rule is None else ("allow", "always", "deny")
