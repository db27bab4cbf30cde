"""The demo's stage: a home and a repository in a folder of their own, and the real processes on it.

All is set up by the commands an owner would type, so that the demo fails when those do. The folder
goes when all went well; when not, it stays and is named, with the last lines of the log.
"""

import argparse
import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import resources
from pathlib import Path

from bot.demo import owner, sample
from bot.emulator import Emulator

TOKEN = "424242:rehearsal"
OWNER = 42
LAST_LINES = 30
INTERRUPTED = 130  # as a shell has it


class Stage:
    """The demo's folder and what lies in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "up.log"
        self.env = {**os.environ, "QUARTERDECK_HOME": str(folder / "home")}

    async def quarterdeck(self, *arguments: str, stdin: str = "") -> None:
        """Run one command to its end.

        raises  WentWrong with the command's own words
        """
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "engine.cli", *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.env,
        )
        said, _ = await process.communicate(stdin.encode())
        if process.returncode != 0:
            words = said.decode(errors="replace").strip()
            raise owner.WentWrong(f"`quarterdeck {' '.join(arguments)}` failed: {words}")

    async def furnish(self, api_url: str) -> Path:
        """Set everything up and return the remote that Push goes to."""
        repository, remote = sample.make(self.folder)
        scenario = self.folder / "goal.json"
        scenario.write_bytes(resources.files("bot.demo").joinpath("goal.json").read_bytes())
        await self.quarterdeck(
            *("setup", "--token-file", "-", "--owner", str(OWNER), "--api-url", api_url, "--yes"),
            stdin=TOKEN,
        )
        await self.quarterdeck("project", "add", "pantry", str(repository), "--base", sample.BASE)
        await self.quarterdeck(
            *("account", "add", "rehearsal", "--agent", "rehearsal"),
            *("--env", f"QUARTERDECK_SCENARIO={scenario}"),
        )
        return remote

    @asynccontextmanager
    async def up(self) -> AsyncIterator[Process]:
        """Run `quarterdeck up` for as long as the block lasts."""
        with self.log.open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "engine.cli", "up"),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.env,
            )
            try:
                yield process
            finally:
                if process.returncode is None:
                    process.terminate()
                await process.wait()

    def sweep(self) -> None:
        """End what an unfinished goal left running: agents outlive the engine, by design.

        Known by this demo's own folder, which has a random name: in the command or in an open file.
        """
        for process in Path("/proc").glob("[0-9]*"):
            if int(process.name) == os.getpid():
                continue
            # It may end while we look, or be somebody else's.
            with suppress(OSError):
                signs = [(process / "cmdline").read_bytes().decode(errors="replace")]
                signs += [str(link.readlink()) for link in (process / "fd").iterdir()]
                if any(str(self.folder) in sign for sign in signs):
                    os.kill(int(process.name), signal.SIGKILL)

    def last_lines(self) -> str:
        """Return the end of the log, if there is one."""
        if not self.log.exists():
            return ""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-LAST_LINES:])


async def perform(stage: Stage, play: bool) -> None:
    """Play the goal, or be the person's phone, on a stage that is torn down afterwards."""
    acts = asyncio.current_task()
    assert acts is not None
    # Told to end, end what was started too: a bare SIGTERM would leave it running.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, acts.cancel)
    async with Emulator(token=TOKEN, owner_id=OWNER, threaded=True, hint=owner.WISH) as emulator:
        remote = await stage.furnish(emulator.url)
        async with stage.up() as process:
            if not play:
                say(f"The phone: {emulator.page_url}")
            person = owner.play if play else owner.converse
            acting = asyncio.create_task(person(emulator.phone, say))
            ended = asyncio.create_task(process.wait())
            await asyncio.wait({acting, ended}, return_when=asyncio.FIRST_COMPLETED)
            ended.cancel()
            if not acting.done():
                acting.cancel()
                raise owner.WentWrong("`quarterdeck up` ended on the way")
            acting.result()
        if play:
            say(f"\nPushed to {remote.name}, branch {sample.BASE}:")
            say(sample.git(remote, "log", "--oneline", "--graph", sample.BASE))


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="quarterdeck demo")
    parser.add_argument("--play", action="store_true", help="play a whole goal, print it, end")
    arguments = parser.parse_args()
    stage = Stage(Path(tempfile.mkdtemp(prefix="quarterdeck-demo-")))
    say("== Rehearsal: a scripted agent and an emulated chat; all between them is real. ==")
    try:
        asyncio.run(perform(stage, arguments.play))
    except owner.WentWrong as error:
        stage.sweep()
        say(f"\nThe rehearsal went wrong: {error}")
        say(f"{stage.last_lines()}\nAll of it is in {stage.folder}")
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        code = INTERRUPTED
    else:
        code = 0
    stage.sweep()
    shutil.rmtree(stage.folder, ignore_errors=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
