"""A check that was refused a port of 127.0.0.1, where runs have a network of their own: said with its end.

What listens on the machine, a database for its tests say, is out of such a run's reach until the owner
gives its port to the project (rules/ports.py). Only numbers are taken from what a run prints. Neighbour:
reading.py asks once a command has failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_NAMED: Final = re.compile(
    r"(?:127\.0\.0\.1|localhost|\[?::1\]?)[^\d]{1,12}(\d{2,5})\b(?!\.\d)", re.IGNORECASE
)


def hint(printed: Iterable[str]) -> str:
    """Return what to say of the last such port, "" if none was refused."""
    for line in reversed(list(printed)):
        found = _NAMED.search(line) if "refused" in line.lower() else None
        if found and int(found[1]) < 65536:
            return (
                f"it was refused port {int(found[1])} of 127.0.0.1, which is its own there; one of the "
                "machine's is given by /projects ports"
            )
    return ""
