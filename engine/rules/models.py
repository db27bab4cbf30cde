"""The models an agent is known to have by name, and what a model's name may look like.

Agents know more of them than we do and get new ones any day: the list is for buttons, any other name
is typed, and the agent itself refuses one it does not have.
"""

from __future__ import annotations

import re
from typing import Final

from engine.errors import Refused

OWN = ("", "off", "none", "no", "default")  # no name: whatever the agent takes by itself
KNOWN: Final[dict[str, tuple[str, ...]]] = {"claude": ("opus", "sonnet", "haiku")}

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,79}")


def fault(model: str) -> str:
    """Return why this is no model's name, in a sentence; "" if it may be one."""
    if _NAME.fullmatch(model):
        return ""
    return "That is no model's name. It is one word, such as opus or sonnet."


def named(said: str) -> str:
    """Return a model's name as the owner gave it, "" for the agent's own choice; else refuse."""
    said = said.strip()
    if said.lower() in OWN:
        return ""
    if wrong := fault(said):
        raise Refused(wrong)
    return said
