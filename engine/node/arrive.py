"""What a machine is sent first: it puts the node in place and becomes it.

Its text travels as a word of the command that engine/adapters/ssh.py has run there, so it stands alone.
Whatever a shell's start-up file printed comes before `mark`, and whatever it exported stays behind:
what is started gets a short list of variables and no other. The node's one file is sent after us on
standard input if it is not there yet, once for each content.
"""

from __future__ import annotations

import hashlib
import os
import sys

_PASSED = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER")


def arrive(mark: str, box: str, name: str, digest: str, size: int, words: list[str]) -> None:
    """Have `name`, a file of `size` bytes, in the folder of `box`, and run it with `words`.

    A word "--home" is followed by that folder.
    """
    os.umask(0o077)
    place = os.environ.get("QUARTERDECK_NODE_HOME") or "~/.local/state/quarterdeck-node"
    home = os.path.join(os.path.realpath(os.path.expanduser(place)), box)
    os.makedirs(os.path.join(home, "node"), mode=0o700, exist_ok=True)
    target = os.path.join(home, "node", name)
    there = os.path.exists(target)
    _say("\n{} {}\n".format(mark, "there" if there else "send"))
    if not there:
        _take(target, digest, size)
    python = os.path.realpath(sys.executable)
    at = words.index("--home") + 1
    env = {
        key: value for key, value in os.environ.items() if key in _PASSED or key.startswith("LC_")
    }
    os.execve(python, [python, "-I", "-S", target, *words[:at], home, *words[at:]], env)


def _say(text: str) -> None:
    os.write(1, text.encode("ascii"))


def _take(target: str, digest: str, size: int) -> None:
    """Take exactly `size` bytes: what comes after them is for the node."""
    parts = []
    left = size
    while left:
        part = os.read(0, min(left, 65536))
        if not part:
            sys.exit("the link broke while the node was sent")
        parts.append(part)
        left -= len(part)
    data = b"".join(parts)
    if hashlib.sha256(data).hexdigest() != digest:
        sys.exit("the node did not arrive as it was sent")
    rough = f"{target}.{os.getpid()}.new"
    with open(rough, "wb") as file:
        file.write(data)
    os.rename(rough, target)
