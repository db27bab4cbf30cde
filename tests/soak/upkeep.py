"""What a home costs while nothing is to be done, and what of that may grow with the goals it has seen.

Its processes, their memory and open files; its disk, room by room; its ledger. Neighbours: growth.py (the
same of goals that do nothing, for longer), week.py (a day against a week).
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from engine.paths import Home
from tests.soak.growth import Size

MB = 1024 * 1024
ROOMS = ("attached", "copies", "hub", "runs", "sessions", "trees")

MORE_MB = 0.35  # a goal of six sessions, of one process: their states and cards
MORE_FILES = 6  # that come and go
MORE_SHARE = 1.3  # of what a goal takes on the disk and in the ledger
SLACK_MB = 2.0  # rounded up to whole blocks and pages
STATES_SHARE = 0.5  # of a goal in the ledger: where its streams stand, without their events
PER_GOAL_MB = 0.6  # that stays for ever: its commits, its states


@dataclass(frozen=True)
class Upkeep:
    """One home at rest.

    processes   by their names, those of ours
    disk_mb     by room of the home
    ledger_mb   pages in use; bot_mb: of the bot's file
    """

    goals: int
    processes: dict[str, Size]
    alive: Counter[str]
    disk_mb: dict[str, float]
    ledger_mb: float
    bot_mb: float
    backups: int

    def __str__(self) -> str:
        sizes = ", ".join(f"{name} {size.mb:.0f} MB" for name, size in self.processes.items())
        rooms = ", ".join(f"{room} {mb:.1f}" for room, mb in self.disk_mb.items() if mb)
        files = sum(size.files for size in self.processes.values())
        return (
            f"{self.goals} goals: {sizes}, {files} open files, {self.alive.total()} processes; "
            f"disk in MB: {rooms}; ledger {self.ledger_mb:.1f}, bot {self.bot_mb:.1f}, "
            f"{self.backups} backups"
        )


def of(home: Home, pids: dict[str, int], goals: int) -> Upkeep:
    return Upkeep(
        goals,
        {name: Size.of(pid) for name, pid in pids.items()},
        alive(home),
        {room: on_disk(home.root / room) / MB for room in ROOMS},
        pages(home.engine_db) / MB,
        pages(home.bot_db) / MB,
        len(list(home.backups.iterdir())) if home.backups.exists() else 0,
    )


def alive(home: Home) -> Counter[str]:
    """Return the processes that name the home in their words or variables, by the first word."""
    found: Counter[str] = Counter()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes()
            if str(home.root).encode() in words + (entry / "environ").read_bytes():
                found[words.decode(errors="replace").partition("\0")[0].partition(" ")[0]] += 1
        except OSError:
            continue
    return found


def on_disk(path: Path) -> int:
    """Return the bytes that a file, or all below a folder, takes on the disk."""
    try:
        own = path.lstat().st_blocks * 512
        below = list(path.iterdir()) if path.is_dir() and not path.is_symlink() else []
    except OSError:
        return 0
    return own + sum(map(on_disk, below))


def pages(ledger: Path) -> int:
    """Return the bytes of a database that hold something."""
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as file:
        count, free, size = (
            file.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
    return int((count - free) * size)


def grown(first: Upkeep, last: Upkeep) -> list[str]:
    """Return what grew past reason, in words: past what each goal more may leave."""
    more = last.goals - first.goals
    found = []
    for name, before in first.processes.items():
        after = last.processes[name]
        if after.mb > before.mb + SLACK_MB + MORE_MB * more:
            found.append(f"{name}: {before.mb:.1f} → {after.mb:.1f} MB over {more} goals")
        if after.files > before.files + MORE_FILES:
            found.append(f"{name}: {before.files} → {after.files} open files")
        if after.zombies > 1:  # one may have ended just now
            found.append(f"{name}: {after.zombies} children that nobody waited for")
    if last.alive - first.alive:
        found.append(f"processes: {dict(first.alive)} → {dict(last.alive)}")
    found += [
        f"{room}: {first.disk_mb[room]:.1f} → {mb:.1f} MB over {more} goals"
        for room, mb in last.disk_mb.items()
        if _a_goal(mb, last)
        > _a_goal(first.disk_mb[room], first) * MORE_SHARE + SLACK_MB / last.goals
    ]
    for file, was, is_now in (
        ("ledger", first.ledger_mb, last.ledger_mb),
        ("bot", first.bot_mb, last.bot_mb),
    ):
        if _a_goal(is_now, last) > _a_goal(was, first) * MORE_SHARE:
            found.append(f"{file}: {was:.2f} → {is_now:.2f} MB over {more} goals")
    return found


def left(first: Upkeep, last: Upkeep) -> list[str]:
    """Return what is still there though all that has its time is over."""
    more = last.goals - first.goals
    found = [
        f"{room}: {last.disk_mb[room]:.1f} MB still there"
        for room in ("runs", "sessions", "attached")
        if last.disk_mb[room] > SLACK_MB
    ]
    most = sum(first.disk_mb.values()) + SLACK_MB + PER_GOAL_MB * more
    if sum(last.disk_mb.values()) > most:
        found.append(f"the home: {sum(last.disk_mb.values()):.1f} MB, {most:.1f} at most")
    if _a_goal(last.ledger_mb, last) > _a_goal(first.ledger_mb, first) * STATES_SHARE:
        found.append(f"ledger: {last.ledger_mb:.1f} MB though its past is over")
    if _a_goal(last.bot_mb, last) > _a_goal(first.bot_mb, first) * STATES_SHARE:
        found.append(f"bot: {last.bot_mb:.1f} MB though its messages are long forgotten")
    return found


def _a_goal(mb: float, home: Upkeep) -> float:
    return mb / home.goals
