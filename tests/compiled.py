"""The node's code, unpacked and compiled once for all homes of a test run, as on a box once a release.

A home of each test's own would have each node compile it anew. That a node does so by itself is held where
processes are real from the start: tests/machines, tests/node/test_desk.py, tests/engine/test_real_kills.py.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.adapters import zipapp
from engine.node.__main__ import unpacked


@contextmanager
def compiled_once() -> Iterator[None]:
    """Have a home that is given the node's file be given its code too, ready to run."""
    build = zipapp.build
    with tempfile.TemporaryDirectory(prefix="quarterdeck-node-code-") as shelf:
        code = Path(unpacked(str(build(Path(shelf)))))

        def built(folder: Path) -> Path:
            archive = build(folder)
            there = archive.with_suffix("")
            if there.name == code.name and not there.exists():
                rough = there.with_suffix(".laid")
                shutil.copytree(code, rough)  # with its times: the compiled files hold by them
                rough.rename(there)
            return archive

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(zipapp, "build", built)
            yield
