"""What the one file sent to a machine can do, by its first argument.

    serve --home H     the machine's end of the link (engine/node/serve.py)
    desk ...           an agent's tools, as an MCP server or a command (engine/node/desk.py)
    rehearse ...       a scripted stand-in for an agent (engine/node/rehearse.py)
    hook COMMAND       a repository's hook before a tool, which may stop it (engine/node/hook.py)
    supply ...         commits to and from another machine (engine/node/supply.py)

Zipped, it first unpacks itself beside itself: compiled once, its parts load in a few milliseconds.
"""

from __future__ import annotations

import os
import sys


def unpacked(archive: str) -> str:
    """Return the folder `archive` (`<hash>.pyz`) is unpacked to, making it once."""
    import compileall
    import shutil
    import zipfile

    target = os.path.splitext(archive)[0]
    if os.path.isdir(target):
        return target
    rough = f"{target}.{os.getpid()}.new"
    with zipfile.ZipFile(archive) as file:
        file.extractall(rough)
    compileall.compile_dir(rough, quiet=2, ddir=target)
    try:
        os.rename(rough, target)
    except OSError:  # another did it at the same time
        shutil.rmtree(rough, ignore_errors=True)
    return target


def main(argv: list[str]) -> None:
    """Do what `argv` says, from the unpacked code."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if os.path.isfile(root):
        sys.path.insert(0, unpacked(root))
        for name in [name for name in sys.modules if name.split(".")[0] == "engine"]:
            del sys.modules[name]
    what, rest = (argv[0], argv[1:]) if argv else ("", [])
    if what == "serve":
        _serve(rest)
    elif what == "desk":
        from engine.node import desk

        desk.main(rest)
    elif what == "rehearse":
        from engine.node import rehearse

        sys.argv[1:] = rest
        sys.exit(rehearse.main())
    elif what == "hook":
        from engine.node import hook

        sys.exit(hook.main(rest))
    elif what == "supply":
        from engine.node import supply

        sys.exit(supply.main(rest))
    else:
        sys.exit("usage: serve --home HOME | desk [TOOL] [--json TEXT] | rehearse ...")


def _serve(argv: list[str]) -> None:
    import argparse

    from engine.node import serve

    words = argparse.ArgumentParser(prog="quarterdeck-node")
    words.add_argument("--home", required=True)
    serve.main(words.parse_args(argv).home)


if __name__ == "__main__":
    main(sys.argv[1:])
