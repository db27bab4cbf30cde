"""A hook of a repository, run before its agent uses a tool: it may stop the tool, never allow it.

    hook COMMAND     what the agent gives on stdin goes to the command as it is

The owner trusted what the command runs. Whether a tool may be used is asked of the owner all the same,
so an answer that allows one, or puts other input in its place, loses that part here. What is no answer
that we can read is none. Inside the fence; started by the agent, as engine/adapters/kits.py has it do.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

MOST = 1024 * 1024  # bytes of an answer
SAYS = ("deny", "ask")


def judged(said: bytes) -> bytes:
    """Return what of an answer may reach the agent."""
    if len(said) > MOST:
        return b""
    try:
        answer = json.loads(said)
    except (ValueError, RecursionError):
        return b""
    if not isinstance(answer, dict):
        return b""
    if answer.get("decision") != "block":
        answer.pop("decision", None)
    own: Any = answer.get("hookSpecificOutput")
    if isinstance(own, dict):
        if own.get("permissionDecision") not in SAYS:
            own.pop("permissionDecision", None)
            own.pop("permissionDecisionReason", None)
        own.pop("updatedInput", None)
        own.pop("updatedPermissions", None)
    else:
        answer.pop("hookSpecificOutput", None)
    return json.dumps(answer).encode()


def main(argv: list[str]) -> int:
    shell = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
    process = subprocess.Popen([shell, "-c", argv[0]], stdout=subprocess.PIPE)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    said, _ = process.communicate()
    if process.returncode == 0:
        sys.stdout.buffer.write(judged(said))
    sys.stdout.flush()
    return process.returncode if process.returncode >= 0 else 1
