"""A file back on request: what lies at a path in a goal's branch, as the hub has it.

A lead's is its branch as it stands (of a shipped goal, what was shipped); a worker's is the last commit
that was taken from it. No agent is asked. What goes into a chat is looked through for what the vault
holds first. Neighbours: rules/asked_path.py judges the path, adapters/browse.py reads the tree,
stores/attached.py hands the bytes to the bot.
"""

from __future__ import annotations

import asyncio

from engine.adapters import browse
from engine.adapters.browse import Entry
from engine.codec import whole
from engine.errors import Refused
from engine.requests.inside import Inside
from engine.rules import asked_path
from engine.views import Document, FoundFile, WorkerCard
from stores.attached import Attached
from stores.vault import NotOpened

MOST_BYTES = 50_000_000  # Telegram takes no more from a bot
MOST_LINES = 200  # of a folder
SHORT = 6  # characters: a value no longer stands in many a file by chance
LFS = b"version https://git-lfs.github.com/spec/"


class Files(Inside):
    """Requests about files of a branch."""

    async def file(self, path: str, goal: str = "", card: str = "") -> FoundFile:
        """Return what is at a path: the file, a folder's listing, or what is near that name."""
        asked = asked_path.tidy(path)
        project, commit, where = self._branch(goal, card)
        hub = self._hub.path(project)
        entries = await browse.listing(hub, commit)
        there = {entry.path: entry for entry in entries}
        names = [entry.path for entry in entries if entry.mode != browse.FOLDER]
        name = asked if not asked or asked in there else asked.rstrip(".,;:!?")
        if name and name not in there:
            name = await asyncio.to_thread(asked_path.only_one, name, names)
        if not name and asked:
            near = await asyncio.to_thread(asked_path.near, asked, _may_be_sent(names))
            return FoundFile(where=where, near=tuple(whole(one) for one in near))
        entry = there.get(name)
        if entry is None or entry.mode == browse.FOLDER:
            return FoundFile(path=name, where=where, folder=_listed(name, entries))
        return await self._read(project, entry, where)

    def _branch(self, goal_id: str, card: str) -> tuple[str, str, str]:
        """Return the project, the commit, and what the two are called towards the owner."""
        shown = self._cards.get(card)
        goal = self._goal(shown.goal if shown is not None and shown.goal else goal_id)
        if isinstance(shown, WorkerCard):
            piece = next((p for p in (*goal.pieces, *goal.earlier) if p.id == card), None)
            if piece is None or not piece.commit:
                raise Refused(
                    f"Worker {shown.number} has brought no commit in yet, so there is no file of its "
                    "to send. Its turn must end first."
                )
            return goal.project, piece.commit, f"{piece.branch} at {piece.commit[:7]}"
        commit = goal.shipped or goal.head
        if not commit:
            raise Refused("This goal has no branch yet: its lead has not begun.")
        return goal.project, commit, f"{goal.branch} at {commit[:7]}"

    async def _read(self, project: str, entry: Entry, where: str) -> FoundFile:
        name, hub = whole(entry.path), self._hub.path(project)
        if entry.mode == browse.LINK:
            to = whole(await browse.target(hub, entry))
            raise Refused(f"{name} is a link to {to[:200]}. Links are not followed: name the file.")
        if entry.mode == browse.MODULE:
            raise Refused(f"{name} is a submodule: its files are another repository's.")
        if asked_path.is_secret(entry.path):
            raise Refused(
                f"{name} is a name for secrets, and a chat is no place for those. Not sent."
            )
        if entry.size > MOST_BYTES:
            raise Refused(
                f"{name} has {entry.size / 1e6:.0f} MB; Telegram takes 50 MB from a bot at most. "
                "Fetch it with git, or ask the lead for a smaller form of it."
            )
        data = await browse.content(hub, entry, MOST_BYTES)
        await self._look_through(name, data)
        digest = await asyncio.to_thread(Attached(self._home.attached).keep, data)
        note = " · a Git LFS pointer, not its content" if data.startswith(LFS) else ""
        document = Document(
            name=whole(entry.path.rpartition("/")[2]),
            text="",
            caption=f"{name} · {where}{note}",
            held=digest,
            size=len(data),
        )
        return FoundFile(path=name, where=where, document=document)

    async def _look_through(self, name: str, data: bytes) -> None:
        """Refuse what holds a value of the vault, or the bot's own token."""
        for kept, value in (await self._secrets()).items():
            if value.encode() in data:
                raise Refused(
                    f"{name} holds {kept}, which the vault keeps: it is not sent into a chat. Take it "
                    "out of the repository, and replace the key."
                )
        if await asyncio.to_thread(self._holds_key, data):  # escaped, in base64, …
            raise Refused(
                f"{name} holds a key that the vault keeps, in another form: it is not sent into a chat. "
                "Take it out of the repository, and replace the key."
            )

    async def _secrets(self) -> dict[str, str]:
        """The bot's own token and all that the vault keeps, by name; what is too short to tell is left."""
        try:
            token = self._home.bot_token.read_text(encoding="utf-8").strip()
        except OSError:
            token = ""
        secrets = {"the bot's token": token.partition(":")[2] or token}
        for kept in await self._vault.listed() if self._vault is not None else ():
            for version in range(kept.version, 0, -1):
                older = "" if version == kept.version else f", older value {version}"
                try:
                    value = await self._vault.get(kept.name, version) if self._vault else None
                except NotOpened:
                    continue  # damaged: nothing to compare with
                secrets[f"{kept.name}{older}"] = value or ""
        return {kept: value for kept, value in secrets.items() if len(value) > SHORT}


def _may_be_sent(names: list[str]) -> list[str]:
    """Leave out what would be refused by its name: it is no suggestion."""
    return [name for name in names if not asked_path.is_secret(name)]


def _listed(folder: str, entries: list[Entry]) -> tuple[str, ...]:
    """Return a folder's lines: what lies in it directly, folders first."""
    inside = f"{folder}/" if folder else ""
    own = [
        entry
        for entry in entries
        if entry.path.startswith(inside) and "/" not in entry.path[len(inside) :]
    ]
    own.sort(key=lambda entry: (entry.mode != browse.FOLDER, entry.path))
    lines = [_line(entry, entry.path[len(inside) :]) for entry in own[:MOST_LINES]]
    more = len(own) - len(lines)
    return (*lines, f"… and {more} more") if more else tuple(lines)


def _line(entry: Entry, name: str) -> str:
    shown = whole(name)
    match entry.mode:
        case browse.FOLDER:
            return f"{shown}/"
        case browse.LINK:
            return f"{shown}  (link)"
        case browse.MODULE:
            return f"{shown}  (submodule)"
        case _:
            size = entry.size
            return f"{shown}  {size} bytes" if size < 1000 else f"{shown}  {size / 1000:.1f} kB"
