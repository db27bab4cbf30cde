"""The least that could do the same: a raw front, and a process that commits and spawns.

    cloud ─ poll ─> front ── unix socket ──> back ── one durable commit, and perhaps a child
    cloud <─ post ─ front <─ unix socket ─── back <── the child's lines, one durable commit each

Two processes, as ours are, with nothing between: no gate, no inbox, no rules, no fence, no tree, and an
agent that dies with its parent. Run by stage.py: `python -m tests.bench.floor front|back FOLDER ...`.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import aiohttp


async def front(folder: Path, url: str) -> None:
    """Poll, pass on, and post what comes back."""
    reader, writer = await asyncio.open_unix_connection(folder / "floor.sock")
    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:

        async def post(method: str, **params: Any) -> Any:
            async with session.post(f"{url}/{method}", data=params) as answer:
                return (await answer.json())["result"]

        async def speak() -> None:
            async for line in reader:
                said = json.loads(line)
                group.create_task(post(said.pop("method"), **said))

        group.create_task(speak())
        offset = 0
        while True:
            for update in await post("getUpdates", offset=offset, timeout=50):
                offset = update["update_id"] + 1
                writer.write(json.dumps(update).encode() + b"\n")


class Back:
    """Commits what it hears."""

    def __init__(self, folder: Path, agent: str) -> None:
        self._agent = agent
        self._file = sqlite3.connect(folder / "floor.sqlite3", isolation_level=None)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = FULL")
        self._file.execute("CREATE TABLE IF NOT EXISTS log (body BLOB)")

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.TaskGroup() as group:
            async for line in reader:
                self._commit(line)
                update = json.loads(line)
                if "callback_query" in update:
                    query = update["callback_query"]["id"]
                    self._say(
                        writer,
                        method="answerCallbackQuery",
                        callback_query_id=query,
                        text=str(time.time()),
                    )
                else:
                    group.create_task(self._run(writer))

    async def _run(self, writer: asyncio.StreamWriter) -> None:
        child = await asyncio.create_subprocess_exec(self._agent, stdout=subprocess.PIPE)
        assert child.stdout is not None
        async for line in child.stdout:
            self._commit(line)
            said = json.loads(line)
            if said["type"] == "result":
                self._say(writer, method="sendMessage", chat_id=42, text=said["result"])
        await child.wait()

    def _say(self, writer: asyncio.StreamWriter, **said: Any) -> None:
        writer.write(json.dumps(said).encode() + b"\n")

    def _commit(self, line: bytes) -> None:
        self._file.execute("INSERT INTO log VALUES (?)", (line,))


async def back(folder: Path, agent: str) -> None:
    """Listen for the front."""
    server = await asyncio.start_unix_server(Back(folder, agent).talk, folder / "floor.sock")
    await server.serve_forever()


if __name__ == "__main__":
    which, where, *rest = sys.argv[1:]
    asyncio.run({"front": front, "back": back}[which](Path(where), rest[0]))
