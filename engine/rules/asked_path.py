"""A path the owner asks for by a line: judged, and looked for among those that there are.

It is a path in a tree of git's, never of a file system: what is absolute or leads upwards is refused,
and so is what by its name holds secrets. Pure. Neighbour: engine/requests/files.py.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from engine.errors import Refused

MOST_NEAR = 6
MOST_COMPARED = 5000  # names looked at for one that is spelt nearly so
MOST_PATH = 1000  # characters

_SECRET = re.compile(
    r"\.env(?:\.(?!example$|sample$|template$|dist$).+)?"
    r"|\.netrc|\.pgpass|\.npmrc|\.pypirc|\.git-credentials|\.htpasswd|credentials(?:\.json)?"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|.+\.(?:pem|key|p12|pfx|jks|keystore|kdbx)",
    re.IGNORECASE,
)


def tidy(asked: str) -> str:
    """Return the path that is meant, "" for the whole tree; raises Refused for what is none."""
    path = asked.strip().strip("`'\"“”")
    if len(path) > MOST_PATH or any(ord(letter) < 32 or ord(letter) == 127 for letter in path):
        raise Refused("That is no path of a file.")
    if path.startswith(("/", "~", "\\")) or re.match(r"[A-Za-z]:[\\/]", path):
        raise Refused(
            "Only files of the goal's own branch can be sent, named from its top: docs/plan.md. "
            "Files of the machine itself are not shown here."
        )
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise Refused("A path with .. leads out of the branch. Name it from its top: docs/plan.md.")
    return "/".join(parts)


def is_secret(path: str) -> bool:
    """Say whether a file by its name is one that holds secrets."""
    return _SECRET.fullmatch(path.rpartition("/")[2]) is not None


def near(asked: str, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the paths that may have been meant, the likeliest first."""
    wanted = asked.lower()
    name = wanted.rpartition("/")[2]
    ending = [path for path in paths if f"/{path.lower()}".endswith(f"/{wanted}")]
    named = [path for path in paths if path.lower().rpartition("/")[2] == name]
    found = list(dict.fromkeys([*ending, *named]))
    if not found:
        stem = name.rpartition(".")[0] or name
        found = [path for path in paths if stem and stem in path.lower().rpartition("/")[2]]
    if not found:
        by_name: dict[str, str] = {}
        for path in paths[:MOST_COMPARED]:
            by_name.setdefault(path.lower().rpartition("/")[2], path)
        close = difflib.get_close_matches(name, list(by_name), MOST_NEAR, 0.6)
        found = [by_name[one] for one in close]
    return tuple(sorted(found, key=lambda path: (path.count("/"), path)))[:MOST_NEAR]


def only_one(asked: str, paths: Sequence[str]) -> str:
    """Return the one path a bare name or the end of a path means; "" if none, or several, do."""
    found = [path for path in paths if f"/{path}".endswith(f"/{asked}")]
    return found[0] if len(found) == 1 else ""
