"""The card of a repository on its way in: named on the phone, not yet a project.

Pure. Shown in General. Neighbour: engine/rules/adding.py (its states).
"""

from __future__ import annotations

from engine.rules import adding
from engine.rules.adding import Adding, Stage
from engine.rules.project import Project
from engine.views import ProjectCard

LATE_S = 60.0
BUTTONS = {
    Stage.READING: ("cancel",),
    Stage.BARRED: ("retry", "cancel"),
    Stage.FAILED: ("retry", "cancel"),
    Stage.CHECK: ("allow", "not_this", "another"),
}
DECIDED = {Stage.DONE: "Added", Stage.LEFT: "Left: nothing was added"}


def project_card(project: Project, now: Adding) -> ProjectCard:
    """The card of a repository that the phone named."""
    asks = now.stage in (*adding.OPEN, Stage.CHECK) and now.stage is not Stage.READING
    picks = tuple(f"option-{index}" for index in range(len(now.branches)))
    bases = now.stage is Stage.BASES
    barred = now.stage is Stage.BARRED
    return ProjectCard(
        id=now.card,
        at=now.since,
        asks=asks,
        buttons=(*picks, "cancel") if bases else BUTTONS.get(now.stage, ()),
        decided=DECIDED.get(now.stage, ""),
        decided_at=now.since if now.stage in DECIDED else 0.0,
        name=project.name,
        source=now.source,
        stage=now.stage.value,
        base=now.base,
        push=pushes_to(project) if project.known and project.source == now.source else "",
        why=now.why if now.stage in (Stage.BARRED, Stage.FAILED) else "",
        public=now.public if barred else "",
        host=now.host if barred else "",
        fingerprint=now.fingerprint if barred else "",
        expected=now.expected if barred else "",
        options=now.branches if bases else (),
        command=now.guess if now.stage is Stage.CHECK else "",
        check=_check(project, now),
        notes=now.notes,
        whose=now.whose,
        late=asks and now.since - now.wanted_at > LATE_S,
    )


def pushes_to(project: Project) -> str:
    return project.push_url or f"branch quarterdeck/<goal> in {project.source}"


def _check(project: Project, now: Adding) -> str:
    if now.stage is not Stage.DONE:
        return ""
    if now.check:
        return f"{now.check} (its settings name it)"
    return f"{project.check} (set by you)" if project.check else "none"
