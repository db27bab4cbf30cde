"""Files the owner sends along: what they are called, and where a session has them.

A sender's name is a wish and no path: of it stays a short plain name, and on a machine the first
letters of the content's hash stand before it, so that two of one name never meet. Pure. Neighbours:
news.py tells the agent of them, engine/adapters/runs.py brings them, stores/attached.py keeps them.
"""

from __future__ import annotations

import unicodedata

from engine.rules.words import Attachment

MAX_NAME = 60  # characters of at most four bytes: with what is put before it, a file system's most
MAX_EACH = 20_000_000  # bytes: what a bot may fetch of one file
MAX_AT_ONCE = 20  # files with one line; an album has ten
KEPT = 200  # files of one session that are brought to its machine

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+@ ()")


def tidy_name(name: str, otherwise: str = "file") -> str:
    """Return what of a sender's name may be a file's: no folder, nothing hidden, nothing unseen."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    kept = "".join(letter if _may_stay(letter) else "_" for letter in last if _is_seen(letter))
    kept = " ".join(kept.split()).strip(". -_")
    if len(kept) > MAX_NAME:
        stem, dot, ending = kept.rpartition(".")
        ending = f"{dot}{ending}" if stem and len(ending) <= 10 else ""
        kept = (kept[: MAX_NAME - len(ending)].rstrip(". -_") + ending).strip(". -_")
    return kept or otherwise


def _is_seen(letter: str) -> bool:
    """Leave out control and format characters: NUL, bidirectional overrides, zero width."""
    return unicodedata.category(letter)[0] != "C"


def _may_stay(letter: str) -> bool:
    return letter in _PLAIN or (not letter.isascii() and letter.isalnum())


def tidied(file: Attachment) -> Attachment:
    """Return a file with a name that is safe, whoever gave it."""
    kind = "photo" if file.kind == "photo" else "document"
    return Attachment(
        name=tidy_name(file.name),
        sha256=file.sha256,
        size=file.size,
        kind=kind,
        mime=file.mime if _is_mime(file.mime) else "",
        forwarded=file.forwarded,
    )


def _is_mime(said: str) -> bool:
    return len(said) <= 100 and said.count("/") == 1 and set(said) <= _PLAIN | {"/"}


def is_hash(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")


def merged(*groups: tuple[Attachment, ...]) -> tuple[Attachment, ...]:
    """Return all files once, in the order they came; of very many the newest."""
    found = {file.place: file for group in groups for file in group}
    return tuple(found.values())[-KEPT:]
