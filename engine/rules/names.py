"""Branch names out of titles: whatever the owner or an agent wrote, git takes what comes out.

    lead      quarterdeck/g-3-orders-page        kept in the hub
    worker    quarterdeck/worker-orders-page     kept in the worker's tree
    shipped   quarterdeck/g-3                    in a repository that has no remote of its own

Pure. engine/rules/goal.py names the branches; engine/adapters/hub.py and engine/node/trees.py make
them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container

PROJECT = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
NODES_OWN = ("pool-", "making-", "gone-", "damaged-")  # what the node calls things of its own
PREFIX = "quarterdeck/"
WORKER_PREFIX = f"{PREFIX}worker-"
SLUG_LENGTH = 40

# Letters that Unicode does not take apart into a plain one and a mark.
_PLAIN = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "\u0131": "i"}
)


def why_no_project(name: str) -> str:
    """Say why a project cannot be called so, "" if it can."""
    if not PROJECT.fullmatch(name):
        return (
            f"{name!r} cannot be a project's name: small letters, digits, dots and hyphens, "
            "at most 40, a letter or digit first."
        )
    if taken := next((start for start in NODES_OWN if name.startswith(start)), ""):
        return (
            f"{name!r} cannot be a project's name: what begins with {taken} is Quarterdeck's own "
            "there. Choose another."
        )
    return ""


def slug(title: str) -> str:
    """Return the title in a to z, 0 to 9 and single hyphens; empty if no letter of it fits."""
    plain = unicodedata.normalize("NFKD", title.casefold().translate(_PLAIN)).lower()
    words = "".join(
        letter if letter.isascii() and letter.isalnum() else " "
        for letter in plain
        if not unicodedata.combining(letter)
    ).split()
    whole = "-".join(words)
    if len(whole) <= SLUG_LENGTH:
        return whole
    cut = whole[: SLUG_LENGTH + 1].rpartition("-")[0] or whole[:SLUG_LENGTH]
    return cut.rstrip("-")


def lead_branch(goal: str, title: str) -> str:
    """Return the branch a goal's pieces land in."""
    words = slug(title)
    return f"{PREFIX}{goal}-{words}" if words else f"{PREFIX}{goal}"


def worker_branch(title: str, piece: str, taken: Container[str] = ()) -> str:
    """Return the branch a piece is built on, with the piece's id if the title does not do."""
    words = slug(title)
    plain = f"{WORKER_PREFIX}{words}"
    if words and plain not in taken:
        return plain
    return f"{plain}-{piece}" if words else f"{WORKER_PREFIX}{piece}"


def shipped_branch(goal: str) -> str:
    """Return where a goal is pushed in the owner's own repository."""
    return f"{PREFIX}{goal}"
