"""The coding agents we can drive, by the name an account gives them.

driver.py is the seam; claude.py and rehearsal.py stand behind it.
"""

from __future__ import annotations

from typing import Final

from engine.adapters.agents.claude import Claude
from engine.adapters.agents.driver import Driver
from engine.adapters.agents.rehearsal import Rehearsal

DRIVERS: Final[dict[str, Driver]] = {driver.name: driver for driver in (Claude(), Rehearsal())}
