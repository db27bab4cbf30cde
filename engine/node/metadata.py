"""Whether a run could ask a cloud for this machine's keys: the metadata address, and a way to it.

Nothing is sent to find out. engine/node/fence.py has its probe ask, and says it on the machine's
card; how to close it is in docs/service.md.
"""

from __future__ import annotations

import platform
import socket

ADDRESSES = ("169.254.169.254", "fd00:ec2::254")  # that of nearly all clouds, and Amazon's by IPv6


def may_answer() -> bool:
    """Say whether this may be a cloud's machine, with a route to where it keeps its metadata."""
    return may_be_a_clouds() and any(_has_way_to(address) for address in ADDRESSES)


def may_be_a_clouds() -> bool:
    """Say whether a cloud may run this machine: a virtual one, or one of a cloud's own make."""
    if platform.machine() != "x86_64" or " hypervisor" in _text("/proc/cpuinfo"):
        return True
    makers = _text("/sys/class/dmi/id/sys_vendor") + _text("/sys/class/dmi/id/chassis_asset_tag")
    return "Amazon" in makers or "OracleCloud" in makers


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _has_way_to(address: str) -> bool:
    """Say whether a route leads to an address. A datagram socket's connect sends nothing."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as mine:
            mine.connect((address, 80))
    except OSError:
        return False
    return True
