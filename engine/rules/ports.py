"""Which ports of a machine's 127.0.0.1 a project's runs may reach: a database that its tests need, say.

Where runs have a network of their own nothing else of the machine answers inside; where they share the
machine's, all of it does, whatever is said here. Pure. Neighbours: project.py keeps them,
adapters/runs.py hands them to each run, engine/node/network.py leads there.
"""

from __future__ import annotations

from typing import Final

from engine.errors import Refused

MOST: Final = 16
NONE: Final = ("none", "off", "-")
_SAY: Final = "Say ports as numbers from 1 to 65535, such as 5432 6379, or none."


def named(text: str) -> tuple[int, ...]:
    """Return the ports that a line names, in order, each once."""
    words = text.replace(",", " ").split()
    if text.strip().lower() in NONE:
        return ()
    if not words or not all(word.isascii() and word.isdigit() and len(word) <= 5 for word in words):
        raise Refused(_SAY)
    return checked(tuple(map(int, words)))


def checked(ports: tuple[int, ...]) -> tuple[int, ...]:
    """Return them in order, each once, or refuse them."""
    if not all(0 < port < 65536 for port in ports):
        raise Refused(_SAY)
    if len(set(ports)) > MOST:
        raise Refused(f"A project's runs may reach {MOST} ports of its machine at most.")
    return tuple(sorted(set(ports)))


def in_words(ports: tuple[int, ...]) -> str:
    return ", ".join(map(str, ports))
