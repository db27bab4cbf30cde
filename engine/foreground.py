"""`quarterdeck up`: engine and bot as two processes in the foreground, and nothing more.

No supervisor: neither is started again. When one ends, or we are told to, the bot is ended first and
the engine after it, so that nothing new comes in while the engine closes; agents live on by design.
A service that restarts them is systemd's work.
"""

import asyncio
import ctypes
import logging
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Callable
from dataclasses import dataclass

log = logging.getLogger(__name__)

GRACE_S = 20.0
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Ended:
    """How `up` came to an end."""

    first: str  # which process ended by itself; "" when we were told to stop
    code: int


async def run(modules: tuple[str, ...] = ("engine", "bot")) -> Ended:
    """Run the modules as processes, in this order, until one ends or we get SIGINT or SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    running: dict[str, Process] = {}
    try:
        for module in modules:
            running[module] = await _start(module)
        return await _first_end(running, stop)
    finally:
        for module in reversed(running):
            await _end(module, running[module])
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


async def _start(module: str) -> Process:
    # A session of its own: Ctrl-C reaches us alone, and we end them in order.
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module,
        start_new_session=True,
        preexec_fn=_ends_with(os.getpid()) if sys.platform == "linux" else None,
    )


def _ends_with(parent: int) -> Callable[[], None]:
    """Return what a child does before it starts, so that even a kill -9 of us ends it."""
    libc = ctypes.CDLL(None)

    def before() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:  # we died before it took hold
            os._exit(1)

    return before


async def _first_end(running: dict[str, Process], stop: asyncio.Event) -> Ended:
    told = asyncio.create_task(stop.wait())
    ends = {asyncio.create_task(process.wait()): name for name, process in running.items()}
    done, pending = await asyncio.wait({told, *ends}, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    for task, name in ends.items():
        if task in done:
            return Ended(name, task.result())
    return Ended("", 0)


async def _end(module: str, process: Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(GRACE_S):
            await process.wait()
    except TimeoutError:
        log.warning("killed module=%s after_s=%.0f", module, GRACE_S)
        process.kill()
        await process.wait()
