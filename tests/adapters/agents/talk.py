"""A turn with a real process behind a driver, as the runner and the engine have it, in one place.

async with Talk(driver, spec) as talk:
    asked = await talk.until(Asked)
    await talk.send(driver.allow(asked))
    ended = await talk.until(Ended)
    assert await talk.finish() == 0
"""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from engine.adapters.agents.driver import Driver, Meaning, Memory, TurnSpec

T = TypeVar("T", bound=Meaning)

# The stand-in as a program, from this checkout whether it is installed or not.
ROOT = Path(__file__).resolve().parents[3]
REHEARSE = ("env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "engine.node.rehearse")

PATIENCE_S = 60.0  # how long a slow machine may take for what is sure to come


@dataclass
class Talk:
    """One process, its lines read as they come."""

    driver: Driver
    spec: TurnSpec
    home: str
    meanings: list[Meaning] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    async def __aenter__(self) -> Talk:
        launch = self.driver.launch(self.spec)
        base = {
            "PATH": os.environ["PATH"],
            "HOME": self.home,
            "LANG": "C.UTF-8",
            "SHELL": "/bin/sh",
        }
        self.process = await asyncio.create_subprocess_exec(
            *launch.argv,
            env=base | launch.env,
            cwd=self.spec.tree,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=64 * 2**20,
            start_new_session=True,
        )
        self._memory = Memory()
        self._seen = 0
        for line in launch.first_lines:
            await self.send(line)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.communicate()

    async def send(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        await self.process.stdin.drain()

    async def until(self, kind: type[T]) -> T:
        """Return the next meaning of this kind, not seen before."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                while self._seen < len(self.meanings):
                    self._seen += 1
                    meaning = self.meanings[self._seen - 1]
                    if isinstance(meaning, kind):
                        return meaning
                if not await self._read():
                    stderr = await self._stderr()
                    raise AssertionError(f"no {kind.__name__} in {self.meanings}; {stderr}")

    def seen(self, kind: type[T]) -> list[T]:
        """Return all of this kind read so far."""
        return [meaning for meaning in self.meanings if isinstance(meaning, kind)]

    async def finish(self) -> int:
        """End it the clean way, read on to the last line, and return its exit code."""
        if self.process.returncode is None:
            await self.send(self.driver.end())
        return await self.exit_code()

    async def exit_code(self) -> int:
        """Read on to the last line and return its exit code."""
        async with asyncio.timeout(PATIENCE_S):
            while await self._read():
                pass
            return await self.process.wait()

    async def last_words(self) -> str:
        """Return what it wrote to stderr, once it is over."""
        await self.exit_code()
        return await self._stderr()

    async def _read(self) -> bool:
        assert self.process.stdout is not None
        line = (await self.process.stdout.readline()).decode()
        if line.strip():
            self.lines.append(line)
            self.meanings += self.driver.read(line, self._memory)
        return bool(line)

    async def _stderr(self) -> str:
        assert self.process.stderr is not None
        return (await self.process.stderr.read()).decode()
