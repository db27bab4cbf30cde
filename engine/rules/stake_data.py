"""Judges of programs that hold data: databases, files and disks, containers, copies to elsewhere.

A statement is read where it stands; what a program would read from a file, from another command or a
variable is not, and so is a stake. Pure. Neighbours: stake_programs.py has all other judges and the table
of them, stake_lines.py hands over what a program is given to read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Final

from engine.rules.shell import named
from engine.rules.shell_reader import END, MARK
from engine.rules.stake_told import Told, after, plain, stake

# ---------------------------------------------------------------- statements

_SQL: Final = re.compile(
    r"\b(drop\s+(?:table|database|keyspace|schema|view|index|user|role|column|owned|function|sequence|trigger|type)|"
    r"truncate\s+\w+|delete\s+from|update\s+[\w.\"`]+\s+set\b|"
    r"alter\s+\w+\s+[\w.\"`]+\s+(?:drop|rename)|dropdatabase|flushall|flushdb)\b[^;]{0,60}"
    r"|\b(?:drop|deletemany|deleteone|dropindexes|remove)\s*\(",
    re.IGNORECASE,
)
_IN_CODE: Final = re.compile(
    r"\b(?:drop\s+(?:table|database|schema|view|index|user|role|column)|truncate\s+table|delete\s+from|"
    r"update\s+\w+\s+set)\b[^;\"']{0,60}|\b(?:dropdatabase|flushall|flushdb|deletemany|drop_all|"
    r"dropcollection)\b",
    re.IGNORECASE,
)
_READS_FILE: Final = re.compile(r"(?:^|[\s;])(?:\\ir?\s|\.read\s|source\s|\\\.\s|load\s*\()\s*\S+")
_OPTIONS: Final = {  # where a statement stands, and where a file of them
    "psql": ("-c --command", "-f --file"),
    "mysql": ("-e --execute", "--init-command-file"),
    "mariadb": ("-e --execute", "--init-command-file"),
    "sqlite3": ("-cmd", "-init"),
    "sqlite": ("-cmd", "-init"),
    "sqlcmd": ("-q -Q --query", "-i --input-file"),
    "mongosh": ("--eval", "-f --file"),
    "mongo": ("--eval", ""),
    "cqlsh": ("-e --execute", "-f --file"),
    "duckdb": ("-c -s", "-init -f"),
    "clickhouse": ("-q --query", "--queries-file"),
    "clickhouse-client": ("-q --query", "--queries-file"),
    "redis-cli": ("", "--eval --pipe"),
    "valkey-cli": ("", "--eval --pipe"),
    "cockroach": ("-e --execute", "-f --file"),
    "influx": ("-execute", "-f --file"),
}
READERS: Final = frozenset(_OPTIONS) | named("mycli pgcli litecli")
_GONE: Final = named("del unlink hdel zrem srem ltrim lrem shutdown flushall flushdb")


def statement(text: str) -> Told:
    """Return what a program's statements put at stake, where they stand in the command."""
    found = _stands(text)
    if found is None and text.lstrip().startswith(MARK):
        return stake("statements", text.split()[0])
    return found


def _stands(text: str) -> Told:
    if (found := _SQL.search(text)) is not None:
        return stake("data", " ".join(found[0].split()))
    if (found := _READS_FILE.search(text)) is not None:
        return stake("statements", found[0].split()[-1].strip("'\"();"))
    return None


def in_code(text: str) -> Told:
    """Return what the statements within a program's own text do."""
    found = _IN_CODE.search(text)
    return stake("data", " ".join(found[0].split())) if found else None


def database(name: str, words: Sequence[str]) -> Told:
    if name in ("mysqladmin", "pg_ctl"):
        return stake("data", name) if "drop" in words else None
    if name == "influx" and "delete" in plain(words)[:2]:
        return stake("data", "influx delete")
    if name in ("redis-cli", "valkey-cli") and (gone := _GONE & set(map(str.lower, words))):
        return stake("data", f"{name} {min(gone)}")
    given, files = (flags.split() for flags in _OPTIONS.get(name, ("", "")))
    read = after(words, *files) if files else ""
    if "--pipe" in words:
        read = "--pipe"
    told = [after(words, *given)] if given else []
    told += plain(words)[1:2] if name in ("sqlite3", "sqlite", "duckdb") else []
    found = next(filter(None, map(statement, told)), None) or _stands(" ".join(words))
    if found is not None:
        return found
    if name in ("mongosh", "mongo"):
        read = read or next((word for word in plain(words) if word.endswith((".js", ".mjs"))), "")
    return stake("statements", read) if read and read not in ("/dev/null", "-") else None


_ENDS: Final = {
    "etcdctl": named("del"),
    "zfs": named("destroy rollback"),
    "zpool": named("destroy labelclear"),
    "wp": named("reset drop delete"),
    "drush": named("sql-drop sql:drop site-install si"),
}


def keeper(name: str, words: Sequence[str]) -> Told:
    """What keeps data without statements: a verb of its own throws it away."""
    told = plain(words)[:3]
    gone = next(filter(_ENDS.get(name, frozenset()).__contains__, told), "")
    return stake("data", f"{name} {gone}") if gone else None


def read_by(name: str, text: str | None, source: str) -> Told:
    """Judge what a database's program reads: the text itself, or where it comes from."""
    if name not in READERS:
        return None
    return stake("statements", source) if text is None else statement(text)


def restore(name: str, words: Sequence[str]) -> Told:
    clears = {"-c", "--clean", "--drop", "--delete", "-D", "--replace", "-r"} & set(words)
    return stake("data", f"{name} {min(clears)}") if clears else None


def framework(name: str, words: Sequence[str]) -> Told:
    told = " ".join(word for word in plain(words)[:3] if " " not in word).lower()
    if re.search(
        r"\b(migrate[ :](reset|fresh|rollback|down)|db[:_ ](drop|reset|wipe)|flush|downgrade|"
        r"database:drop|schema:drop|drop)\b",
        told,
    ) or told.startswith("db push"):
        return stake("data", f"{name} {told}")
    return None


# ---------------------------------------------------------------- files and disks

_HERE: Final = re.compile(rf"(?!/|~|{MARK}|\.\.(/|$)|.*/\.\.(/|$)).+|/tmp/.+|/dev/null", re.DOTALL)
_ALL: Final = re.compile(rf"(?:{MARK}PWD{END}|\.|(?:\./)?(?:\*|\.\*|\.git)|{MARK}PWD{END}/\*)/?")
_DISK: Final = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|dm-|md)\w*.*")
_NARROWS: Final = re.compile(
    r"-i?(?:name|path|regex|wholename)|-(?:newer\w*|[acm](?:time|min)|size|empty)"
)


def remover(name: str, words: Sequence[str]) -> Told:
    """rm and its like: all of the tree it works in, or what lies outside."""
    told = plain(words)
    deep = any(re.fullmatch(r"-[a-zA-Z]*[rR][a-zA-Z]*|--recursive", word) for word in words)
    if deep and any(_ALL.fullmatch(word) for word in told if word):
        return stake("tree")
    outside = [word for word in told if not _HERE.fullmatch(word)]
    return stake("files", ", ".join(outside[:5])) if outside else None


def find(_name: str, words: Sequence[str]) -> Told:
    removes = "-delete" in words or any(
        before in ("-exec", "-execdir") and word.rpartition("/")[2] in ("rm", "unlink", "shred")
        for before, word in pairwise(words)
    )
    if not removes:
        return None
    roots = list(takewhile(lambda word: not word.startswith(("-", "(", "!")), words))
    whole = all(_ALL.fullmatch(word) for word in roots)
    if whole and not any(_NARROWS.fullmatch(word) for word in words):
        return stake("tree")
    return remover("find", roots)


def dd(_name: str, words: Sequence[str]) -> Told:
    onto = next((w[3:] for w in words if w.startswith("of=")), "")
    return written_to(onto)


def written_to(place: str) -> Told:
    """Return what writing to a place puts at stake: a disk, or what is at a socket's other end."""
    if place.startswith(("/dev/tcp/", "/dev/udp/")):
        return stake("sends", place.split("/")[2], place.split("/")[3])
    return stake("disk", place) if _DISK.fullmatch(place) else None


def tee(_name: str, words: Sequence[str]) -> Told:
    return next(filter(None, map(written_to, plain(words))), None)


def mover(name: str, words: Sequence[str]) -> Told:
    """mv, truncate …: what is taken away outside the tree, or written over on a disk."""
    told = plain(words)
    taken = told[:-1] if name == "mv" else told
    outside = [
        word for word in taken if word.startswith(("/", "~", "..")) and not _HERE.match(word)
    ]
    disk = next(filter(None, map(written_to, told)), None)
    return disk or (stake("files", ", ".join(outside[:5])) if outside else None)


# ---------------------------------------------------------------- containers, schedules, copies


def containers(name: str, words: Sequence[str]) -> Told:
    told = plain(words)
    pair = told[:2]
    if told[:1] == ["push"] or pair in (["image", "push"], ["manifest", "push"]):
        return stake("publishes", " ".join([name, *told[:3]]))
    if "compose" in (name, *told[:1]) and "push" in told[:3]:
        return stake("publishes", " ".join([name, *told[:3]]))
    if name == "skopeo" and told[:1] == ["copy"] and told[-1].startswith("docker://"):
        return stake("publishes", " ".join([name, "copy", told[-1]]))
    if "--push" in words:
        return stake("publishes", f"{name} build --push")
    data = pair in (["volume", "rm"], ["volume", "prune"], ["system", "prune"])
    if data or ("down" in told[:3] and ({"-v", "--volumes"} & set(words))):
        return stake("data", " ".join([name, *told[:3]]))
    return None


def crontab(_name: str, words: Sequence[str]) -> Told:
    return stake("data", "crontab -r") if "-r" in words else None


def sync(name: str, words: Sequence[str]) -> Told:
    """rsync, scp …: what goes to another machine, or has what is there deleted."""
    told = plain(words)
    there = [w for w in told if re.match(r"([\w.-]+@)?[\w.-]+:(?!//)", w) or "://" in w]
    if told and there and told[-1] == there[-1]:
        return stake("sends", name, there[-1].partition(":")[0].rpartition("@")[2])
    if name in ("sftp", "lftp", "ftp") and told and not (there and len(told) > 1):
        return stake("sends", name, told[-1].rpartition("@")[2])
    if any(w.startswith("--delete") for w in words) and not {"-n", "--dry-run"} & set(words):
        return None if told and _HERE.fullmatch(told[-1]) else stake("files", *told[-1:])
    return None
