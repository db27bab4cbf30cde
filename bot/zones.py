"""Which time zone this machine keeps, by name: what the owner is offered first."""

import os
import zoneinfo
from pathlib import Path

LINK = Path("/etc/localtime")
NAME = Path("/etc/timezone")


def here(link: Path = LINK, name: Path = NAME) -> str:
    """Return the IANA name of this machine's zone; "UTC" where it does not say."""
    told = [os.environ.get("TZ", "").lstrip(":"), _read(name)]
    target = str(link.resolve())
    told.insert(1, target.partition("/zoneinfo/")[2])
    return next((zone for zone in told if zone and _known(zone)), "UTC")


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _known(zone: str) -> bool:
    try:
        zoneinfo.ZoneInfo(zone)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return False
    return True
