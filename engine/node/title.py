"""What `ps` shows of our processes: their title in place of the interpreter and its arguments.

Written over the arguments in our own memory, which Linux allows and reads back. Started under
another name instead, an interpreter may look for its library in the wrong place.
"""

from __future__ import annotations


def show(title: str) -> None:
    """Let this process be seen as `title`; where that cannot be had it keeps its first look."""
    try:
        with open("/proc/self/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        start, end = int(fields[45]), int(fields[46])
        words = title.encode()[: end - start - 2]
        # A last byte that is not NUL tells the kernel to show the text up to its first NUL only.
        shown = words + b"\0" * (end - start - len(words) - 1) + b" "
        with open("/proc/self/mem", "r+b", buffering=0) as memory:
            memory.seek(start)
            memory.write(shown)
        with open("/proc/self/comm", "w", encoding="utf-8") as name:
            name.write(title[:15])
    except (OSError, IndexError, ValueError):
        return
