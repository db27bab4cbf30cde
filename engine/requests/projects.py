"""Repositories the owner gives us.

Neighbours: adapters/hub.py looks at what is added, rules/project.py decides.
"""

from __future__ import annotations

from typing import Any

from engine import board
from engine.adapters import sources
from engine.asker import asked_by
from engine.board.project_card import pushes_to
from engine.errors import Refused, Unavailable
from engine.requests.inside import Inside
from engine.rules import always, brought, names, ports
from engine.rules.events import (
    ProjectAdded,
    ProjectCheck,
    ProjectPorts,
    ProjectRemoved,
    ProjectWanted,
    RuleRevoked,
)
from engine.rules.words import Command
from engine.views import CommandView, ProjectView, RuleView


class Projects(Inside):
    """Requests about projects."""

    async def projects(self) -> tuple[ProjectView, ...]:
        return tuple(
            ProjectView(
                name=project.name,
                source=project.source,
                base=project.base,
                push=pushes_to(project),
                commands=(
                    *((f"check: {project.check} (set by you)",) if project.check else ()),
                    *(
                        _in_a_line(c, "allowed", "trusted")
                        for c in project.allowed
                        if c != Command("check", project.check)
                    ),
                    *(_in_a_line(c, "not this", "left off") for c in project.refused),
                ),
                decided=(
                    *(_view(c, allowed=True) for c in project.allowed),
                    *(_view(c, allowed=False) for c in project.refused),
                ),
                check=project.check,
                ports=project.ports,
            )
            for project in sorted(self._projects().values(), key=lambda found: found.name)
        )

    async def rules(self, project: str = "") -> tuple[RuleView, ...]:
        """What Always keeps, oldest first; of one project, or of all."""
        if project and project not in self._projects():
            raise Refused(f"There is no project {project}. /projects lists them.")
        found = [
            RuleView(
                number=_number(one.ask),
                project=of.name,
                rule=one.rule,
                kept_at=one.kept_at,
                used=one.used,
                used_at=one.used_at,
                holds=always.holds(one.rule),
            )
            for of in self._projects().values()
            if project in ("", of.name)
            for one in of.rules.kept
        ]
        return tuple(sorted(found, key=lambda view: view.number))

    async def revoke_rule(self, number: int, cause: str = "") -> dict[str, str]:
        """Forget a rule by the number it is listed under: {"verdict": words}."""
        keeper = next(
            (
                project.name
                for project in self._projects().values()
                if any(_number(one.ask) == number for one in project.rules.kept)
            ),
            next(iter(self._projects()), ""),  # any says no, but to a repeat of what it did
        )
        if not keeper:
            raise Refused(f"There is no rule {number}: no project keeps any.")
        await self._loop.post(f"project/{keeper}", RuleRevoked(ask=f"a-{number}"), cause)
        return {"verdict": "Revoked: it is asked for again."}

    async def add_project(
        self, name: str, source: str, base: str = "", cause: str = ""
    ) -> dict[str, Any]:
        """Take a repository in: {"name", "base", "push", "notes"}."""
        _may_be_called(name)
        try:
            found = await self._hub.inspect(source, base or None, name)
        except Unavailable as away:  # asked for ever, a mistyped address would hold up the chat
            raise Refused(f"{away.sentence}\nNothing was added.") from away
        added = ProjectAdded(source=found.source, push_url=found.push_url, base=found.base)
        await self._loop.post(f"project/{name}", added, cause)
        notes = list(found.notes)
        try:
            await self._hub.bring(name, found.source, found.base)
        except Unavailable as away:  # a goal brings it again before it begins
            notes.append(f"{away.sentence} It is read again with its first goal.")
        push = found.push_url or f"branch quarterdeck/<goal> in {found.source}"
        return {"name": name, "base": found.base, "push": push, "notes": notes}

    async def want_project(
        self, name: str, source: str, base: str = "", cause: str = ""
    ) -> dict[str, str]:
        """Take a repository in, in its own time: a card tells how that goes and asks what it must."""
        _may_be_called(name)
        source = sources.spelt(sources.named(source))
        wanted = ProjectWanted(
            card=await self._id("pr"), source=source, base=base.strip(), whose=asked_by()
        )
        await self._loop.post(f"project/{name}", wanted, cause)
        return {"verdict": "on it"}

    async def set_check(self, name: str, text: str, cause: str = "") -> dict[str, str]:
        """Say how a project is checked where its settings do not; "" = not at all."""
        await self._loop.post(f"project/{name}", ProjectCheck(text=text), cause)
        if not text.strip():
            return {"verdict": f"{name} has no check of yours any more."}
        return {
            "verdict": f"Goals of {name} that start from now on are checked by it, unless its "
            "settings name a check."
        }

    async def set_ports(self, name: str, text: str, cause: str = "") -> dict[str, str]:
        """Say which ports of their machine's 127.0.0.1 a project's runs may reach."""
        chosen = ports.named(text)
        await self._loop.post(f"project/{name}", ProjectPorts(ports=chosen), cause)
        if not chosen:
            return {
                "verdict": f"Runs of {name} that start from now on reach no port of their machine."
            }
        many = "ports" if len(chosen) > 1 else "port"
        return {
            "verdict": f"Runs of {name} that start from now on reach {many} {ports.in_words(chosen)} "
            "of their machine's 127.0.0.1."
        }

    async def remove_project(self, name: str, cause: str = "") -> str:
        live = [g.title for g in board.goals(self.world()) if g.live and g.project == name]
        if live:
            raise Refused(f"Project {name} has goals that are not over: {', '.join(live)}.")
        await self._loop.post(f"project/{name}", ProjectRemoved(), cause)
        if await self._hub.keys.forget(name):
            return "Its repository was not touched. Take its key away on the other side, too."
        return "Its repository was not touched."


def _may_be_called(name: str) -> None:
    if why := names.why_no_project(name):
        raise Refused(why)


def _view(command: Command, *, allowed: bool) -> CommandView:
    found = brought.told(command)
    what = brought.counted(found) if found else ""
    return CommandView(command.kind, command.text, allowed, found, what)


def _in_a_line(command: Command, said: str, of_brought: str) -> str:
    found = brought.told(command)
    if found is None:
        return f"{command.kind}: {command.text} ({said})"
    return f"{command.kind}: {brought.counted(found)}, {found.digest[:7]} ({of_brought})"


def _number(ask: str) -> int:
    """The number a rule goes by: that of the ask it was kept of."""
    return int(ask.rpartition("-")[2])
