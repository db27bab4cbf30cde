"""What git here starts to reach a tree on another machine: standard input and output <-> a socket.

Run as a script by `git fetch --upload-pack`, which adds a path that means nothing to us. At the socket
is engine/adapters/ssh.py, which opens a channel to the machine for each who comes. Standard library
only, and nothing of ours: it starts in a few milliseconds.
"""

import os
import socket
import sys
import threading

_STEP = 256 * 1024


def main(path: str) -> None:
    """Hand on in both directions until the other end has said all."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.connect(path)

        def out() -> None:
            while data := os.read(0, _STEP):
                channel.sendall(data)
            channel.shutdown(socket.SHUT_WR)

        threading.Thread(target=out, daemon=True).start()
        while data := channel.recv(_STEP):
            left = memoryview(data)
            while left:
                left = left[os.write(1, left) :]
    os._exit(0)  # the thread may still wait for what git will never say


if __name__ == "__main__":
    main(sys.argv[1])
