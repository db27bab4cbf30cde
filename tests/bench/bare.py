"""The least that a detached runner could be: the standard library alone, and no fence.

    python -I -S bare.py zygote             one order a line on its input: {"spool", "argv",
                                            "env"}; forks a runner
    python -I -S bare.py run SPOOL ARGV     one runner, by an interpreter of its own

A runner is a session of its own which starts the command, copies what it says to the spool and waits for
its end. Both kinds load what a runner of ours would need. Started by runners.py.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys

NEEDED = (select, socket, subprocess)


def run(spool: str, argv: list[str]) -> None:
    """Be the runner of one command."""
    file = os.open(spool, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    said, say = os.pipe()
    os.set_inheritable(say, True)
    actions = [(os.POSIX_SPAWN_DUP2, say, 1)]
    child = os.posix_spawn(argv[0], argv, os.environ, file_actions=actions)
    os.close(say)
    while data := os.read(said, 65536):
        os.write(file, data)
    os.waitpid(child, 0)


def zygote() -> None:
    """Fork a runner for each order."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    os.write(1, b"ready\n")
    for line in sys.stdin.buffer:
        order = json.loads(line)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            try:
                os.environ.update(order["env"])
                run(order["spool"], order["argv"])
            finally:
                os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] == "zygote":
        zygote()
    else:
        run(sys.argv[2], sys.argv[3:])
