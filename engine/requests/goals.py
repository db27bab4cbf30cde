"""Goals as the owner asks for them: opened, spoken to, stopped and let go on.

Each becomes one event of one stream; its rule says yes or no. Neighbour: taps.py, which sends lines and
taps here.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine import board
from engine.asker import asked_by
from engine.errors import Refused
from engine.requests.inside import Inside
from engine.rules import attached, session_state
from engine.rules.events import (
    AnyEvent,
    Asked,
    GoalOpened,
    GoalResumed,
    GoalStopped,
    HeldAll,
    LinesLeft,
    Prompted,
)
from engine.rules.modes import within_fence
from engine.rules.session_state import Session
from engine.rules.words import AskKind, Attachment
from engine.views import WorkerCard
from stores.attached import Attached

MAX_GOAL = 100_000
WITHOUT_GOAL = "Say what is wanted: /new project goal, or just write it."
WITHOUT_WORDS = (
    "A file alone starts nothing. Send it again with a caption that says what is wanted, or as a reply "
    "to the card of the session it is for."
)


class Goals(Inside):
    """Requests about goals."""

    async def new_goal(
        self,
        project: str,
        text: str,
        by: str = "owner",
        cause: str = "",
        files: Sequence[Attachment] = (),
    ) -> dict[str, str]:
        """Open a goal: {"goal": id, "verdict": words}; without a project, ask which if not plain."""
        if not text.strip():
            raise Refused(WITHOUT_WORDS if files else WITHOUT_GOAL)
        sent = self._sent(files)
        if len(text) > MAX_GOAL:
            raise Refused(
                f"That goal has {len(text)} characters; {MAX_GOAL} is the most. Put the long part "
                "into a file of the repository and name it."
            )
        known = self._projects()
        if not known:
            raise Refused(
                "No project yet. Add one: /projects add NAME PATH_OR_URL, or on the box: "
                "quarterdeck project add NAME PATH_OR_URL"
            )
        if project and project not in known:
            raise Refused(f"There is no project {project}. There are: {', '.join(sorted(known))}.")
        if not project and len(known) > 1:
            options = tuple((f"New goal in {name}", f"project:{name}") for name in sorted(known))
            return await self._ask_where(text, options, cause, sent)
        return await self._open_goal(project or next(iter(known)), text, cause, sent)

    def _sent(self, files: Sequence[Attachment]) -> tuple[Attachment, ...]:
        """Take what came with a line: under safe names, and only what is kept here whole."""
        if len(files) > attached.MAX_AT_ONCE:
            raise Refused(
                f"These are {len(files)} files; {attached.MAX_AT_ONCE} is the most with one line. "
                "Send them in parts."
            )
        kept = Attached(self._home.attached)
        for file in files:
            if not attached.is_hash(file.sha256) or kept.size(file.sha256) != file.size:
                name = attached.tidy_name(file.name)
                raise Refused(f"{name} did not arrive whole. Nothing was passed on: send it again.")
        return attached.merged(tuple(attached.tidied(file) for file in files))

    async def _open_goal(
        self, project: str, text: str, cause: str, files: tuple[Attachment, ...] = ()
    ) -> dict[str, str]:
        account = self._default_account()
        owner = self._owner()
        goal = await self._id("g")
        opened = GoalOpened(
            project=project,
            text=text,
            session=await self._id("s"),
            base=self._projects()[project].base,
            account=account,
            files=files,
            model=owner.model,
            mode=within_fence(owner.mode, any(found.fenced for found in self._fleet().machines)),
            go=owner.go,
            whose=asked_by(),
        )
        fresh = await self._loop.post(f"goal/{goal}", opened, cause)
        title = self._goal(goal).title if fresh else ""
        return {"goal": goal if fresh else "", "title": title, "verdict": f"Started in {project}"}

    async def _ask_where(
        self,
        text: str,
        options: tuple[tuple[str, str], ...],
        cause: str,
        files: tuple[Attachment, ...] = (),
    ) -> dict[str, str]:
        asked = Asked(
            kind=AskKind.WHERE,
            goal="",
            teller="",
            title="",
            detail=text,
            options=options,
            files=files,
            whose=asked_by(),
        )
        await self._loop.post(f"ask/{await self._id('a')}", asked, cause)
        return {"goal": "", "verdict": "Where to? Tap one."}

    async def _to_lead(
        self,
        goal_id: str,
        text: str,
        cause: str,
        files: tuple[Attachment, ...] = (),
        line: str = "",
    ) -> dict[str, str]:
        goal = self._goal(goal_id)
        if not goal.live:
            raise Refused("That goal is over. Write in General, or /new, for another one.")
        return await self._to_session(goal.session, text, cause, files, line)

    async def _to_worker(
        self,
        card: WorkerCard,
        text: str,
        cause: str,
        files: tuple[Attachment, ...] = (),
        line: str = "",
    ) -> dict[str, str]:
        goal = self._goal(card.goal)
        piece = next((p for p in (*goal.pieces, *goal.earlier) if p.id == card.id), None)
        if piece is None or not goal.live:
            raise Refused("That worker is not there any more.")
        session = self._loop.state(f"session/{piece.session}")
        if not isinstance(session, Session) or session.final:
            left = LinesLeft(session=piece.session, text=text, files=files)
            await self._loop.post(goal.stream, left, cause)
            return {"goal": goal.id, "verdict": "That worker has ended: its lead gets your line"}
        return await self._to_session(piece.session, text, cause, files, line)

    async def _to_session(
        self,
        session_id: str,
        text: str,
        cause: str,
        files: tuple[Attachment, ...] = (),
        line: str = "",
    ) -> dict[str, str]:
        session = self._loop.state(f"session/{session_id}")
        busy = isinstance(session, Session) and session.stage is not session_state.Stage.IDLE
        said = Prompted(text=text, source="owner", files=files, key=line)
        await self._loop.post(f"session/{session_id}", said, cause)
        goal = session.goal if isinstance(session, Session) else ""
        return {"goal": goal, "verdict": "after this turn" if busy else "on it"}

    async def stop(self, goal: str = "", cause: str = "") -> dict[str, str]:
        """Stop a goal, or everything; what was said is kept."""
        return await self._hold(goal, cause, held=True)

    async def resume(self, goal: str = "", cause: str = "") -> dict[str, str]:
        """Let a stopped goal, or everything, go on."""
        return await self._hold(goal, cause, held=False)

    async def _hold(self, goal_id: str, cause: str, *, held: bool) -> dict[str, str]:
        event: AnyEvent = GoalStopped() if held else GoalResumed()
        word = "Stopped" if held else "Goes on"
        if goal_id:
            await self._loop.post(self._goal(goal_id).stream, event, cause)
            return {"goal": goal_id, "verdict": word}
        await self._loop.post("fleet", HeldAll(held=held), cause)
        count = 0
        for goal in board.goals(self.world()):
            if goal.live and goal.held != held:
                try:
                    await self._loop.post(goal.stream, event, f"{cause}.{goal.id}")
                except Refused:
                    continue  # it has ended while we were at the others
                count += 1
        return {"goal": "", "verdict": f"{word}: {count} goal{'' if count == 1 else 's'}"}
