"""A command with stored keys: started on the session's machine, read to its end, told to the session.

    RunKeyed ─> values from the vault ─> run.start (its frame is kept nowhere) ─> spool ─> KeyedOver

The values are read as the order goes out, and go with it alone; the order that is stored names them. The
run's id is the ask's, and a machine starts a run of one id once: an order that comes again finds it begun,
and follows it. What it printed has no value in it when it is stored there (engine/node/printed.py), and is
looked through once more here, before it becomes an event.

Neighbours: engine/rules/keyed_run.py orders, engine/requests/keys.py hands out, runs.py has the rest.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.adapters.following import Followed
from engine.adapters.machines import NodeRefused
from engine.adapters.spool import Damage
from engine.errors import Refused
from engine.node.scrub import Scrubber
from engine.rules.effects import RunKeyed
from engine.rules.events import AnyEvent, KeyedOver
from engine.rules.keyed_run import CUT_OFF
from engine.rules.news import span

if TYPE_CHECKING:
    from engine.adapters.runs import Runs

log = logging.getLogger(__name__)

LIMIT_S = 10 * 60.0
STALE_S = 3600.0  # an Allow is for now: later, what it was given for may be long past
MOST_BYTES = 100_000  # of a value: more is no variable of a process
UNFENCED = "its machine has no fence, and unfenced machines take no key"
STALE = (
    "its machine or Quarterdeck was away for over an hour after it was allowed. Ask again if it is "
    "still needed"
)
STOPPED = "it was stopped before it began"
GONE = "The run's folder on its machine is gone."

Events = Sequence[tuple[str, AnyEvent]]


async def start(runs: Runs, effect: RunKeyed, where: str) -> Events:
    """Start the command, once ever; what is in the way is told to the session."""
    stream = f"session/{effect.session}"
    waiting = runs.session(effect.session).keyed
    if not any(one.ask == effect.ask for one in waiting):
        return []  # it was given up meanwhile, and its session has heard of that
    try:
        if not await runs.is_started(where, effect.run):
            await _start(runs, effect, where)
    except (Refused, NodeRefused) as no:
        why = no.sentence.rstrip(".")
        return [
            (stream, KeyedOver(ask=effect.ask, how="did not run", output=f"{why}.", began=False))
        ]
    runs.following.follow(
        Followed(
            run=effect.run,
            stream=stream,
            machine=where,
            project=effect.project,
            about=effect.ask,
            keys=effect.names,
        )
    )
    return []


async def _start(runs: Runs, effect: RunKeyed, where: str) -> None:
    machine = runs.machine(where)
    about = await machine.hello()
    if any(one.ask == effect.ask and one.ended for one in runs.session(effect.session).keyed):
        raise Refused(STOPPED)
    if not about["fenced"]:
        raise Refused(UNFENCED)
    if runs.now() - effect.allowed_at > STALE_S:
        raise Refused(STALE)
    made = await machine.call("tree.place", project=effect.project, session=effect.session)
    values = await runs.keys(effect.names, effect.project, where, used=True)
    spec: dict[str, Any] = {
        "run": effect.run,
        "kind": "command",
        "argv": list(effect.argv),
        "env": {
            "PATH": str(about["path"]),
            "HOME": str(about["user_home"]),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "TMPDIR": "/tmp",  # its own, and gone with it
        },
        "scrub": True,
        "limit_s": LIMIT_S,
        "fence": {
            "tree": made["tree"],
            "tree_read_only": effect.read_only,
            "ports": runs.ports(effect.project),
            "read": [*made["read"], *about["toolchains"]],
        },
    }
    await machine.call("run.start", spec=spec, secrets=values)


class Keyed:
    """Reads such a command's spool; nothing is posted before its end, so it is read from the start."""

    def __init__(self, runs: Runs, followed: Followed) -> None:
        self._runs = runs
        self._followed = followed
        self._lines: list[str] = []
        self._damage = Damage()
        self._note = ""
        self._began_at = self._at = 0.0
        self.began = False

    async def read(self, raw: bytes, position: tuple[str, int]) -> bool:
        """Act on one spooled line; true once the run is over."""
        self.began = True
        entry = self._damage.read(raw)
        if entry is None:
            return False
        self._at = float(entry.get("t", self._at))
        self._began_at = self._began_at or self._at
        kind, said = entry.get("k"), entry.get("d")
        if kind == "out":
            self._lines.append(str(said))
        elif kind == "note" and str(said).startswith("Ended: "):
            self._note = str(said).removeprefix("Ended: ").rstrip(".")
        elif kind == "exit" and isinstance(said, dict):
            await self._over(said)
            return True
        return False

    async def lose(self) -> None:
        await self._tell(KeyedOver(ask=self._followed.about, how=CUT_OFF, output=GONE))

    async def _over(self, how: Mapping[str, Any]) -> None:
        cause = f"run:{self._followed.run}:damage"
        await self._runs.note_damage(self._followed, self._damage, cause)
        ask, why = self._followed.about, how.get("why")
        if why in ("cut off", "killed"):
            words = str(how.get("words") or "")
            await self._tell(KeyedOver(ask=ask, how=CUT_OFF, output=words))
            return
        text = await self._scrubbed("\n".join(self._lines))
        if why == "not started":
            words = await self._scrubbed(str(how.get("words") or "it could not be started"))
            await self._tell(KeyedOver(ask=ask, how="did not run", output=words, began=False))
            return
        await self._tell(KeyedOver(ask=ask, how=self._in_words(how), output=text))

    def _in_words(self, how: Mapping[str, Any]) -> str:
        took = span(max(self._at - self._began_at, 0.0))
        if how.get("why") == "stopped":
            return f"stopped after {took}"
        if how.get("why"):
            return f"ended after {took}: {self._note or how['why']}"
        code = how.get("code")
        ended = f"exit {code}" if code is not None else f"ended by signal {how.get('signal')}"
        return f"{ended} after {took}"

    async def _scrubbed(self, text: str) -> str:
        """Look it through once more: a machine may be older, or be another's by now."""
        followed = self._followed
        values = await self._runs.keys(
            followed.keys, followed.project, followed.machine, used=False
        )
        return Scrubber(values).words(text)

    async def _tell(self, over: KeyedOver) -> None:
        cause = f"run:{self._followed.run}:over"
        await self._runs.post(self._followed.stream, over, cause)
