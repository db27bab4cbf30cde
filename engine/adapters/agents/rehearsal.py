"""The rehearsal agent: a scripted stand-in that speaks Claude Code's lines and does real work.

No model is asked and nothing is paid for; all else (files, commits, desk calls, questions, limits,
crashes) is real. The program is engine/node/rehearse.py, which says how a scenario is written; this
driver is Claude's but for the name it goes by and the one thing a script needs to know: whose turn it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from engine.adapters.agents.claude import Claude
from engine.adapters.agents.driver import Ended, Launch, Meaning, Memory, Request, TurnSpec
from engine.rules.modes import Mode


class Rehearsal:
    """Drives the stand-in."""

    name = "rehearsal"
    login_file = ""  # it signs in nowhere
    tested_version = "rehearsal"  # it is ours: it cannot be older or newer than we are

    def __init__(self) -> None:
        self._wire = Claude()

    def launch(self, spec: TurnSpec) -> Launch:
        launch = self._wire.launch(spec)
        return replace(launch, env=launch.env | {"QUARTERDECK_ROLE": spec.role.value})

    def read(self, line: str, memory: Memory) -> tuple[Meaning, ...]:
        return self._wire.read(line, memory)

    def results_in(self, start: str) -> tuple[str, ...]:
        return self._wire.results_in(start)

    def last_words(self, stderr: str, code: int | None) -> Ended:
        return self._wire.last_words(stderr, code)

    def version_warning(self, version: str) -> str:
        return ""

    def prompt(self, text: str) -> str:
        return self._wire.prompt(text)

    def steer(self, text: str, key: str) -> str:
        return self._wire.steer(text, key)

    def allow(self, request: Request) -> str:
        return self._wire.allow(request)

    def deny(self, request: Request, message: str) -> str:
        return self._wire.deny(request, message)

    def answer(self, request: Request, answers: Mapping[str, str]) -> str:
        return self._wire.answer(request, answers)

    def approve(self, request: Request, mode: Mode) -> str:
        return self._wire.approve(request, mode)

    def send_back(self, request: Request, message: str) -> str:
        return self._wire.send_back(request, message)

    def interrupt(self) -> str:
        return self._wire.interrupt()

    def end(self) -> str:
        return self._wire.end()
