"""The node as one file, named by its content, ready to be sent to a machine and run there.

What goes in is `engine/node` and the empty packages above it. The same sources always make the
same file, so a machine that has it is never sent it again (engine/adapters/machines.py).
"""

import hashlib
import os
from pathlib import Path

import engine.node

_PACKAGE = Path(engine.node.__file__).parent
_BEGIN = "import sys\nfrom engine.node.__main__ import main\nmain(sys.argv[1:])\n"


def build(folder: Path) -> Path:
    """Return the node's file in `folder`, writing it there if it is not."""
    parts = {"__main__.py": _BEGIN.encode(), "engine/__init__.py": b""}
    for path in sorted(_PACKAGE.rglob("*.py")):
        parts[f"engine/node/{path.relative_to(_PACKAGE).as_posix()}"] = path.read_bytes()
    digest = hashlib.sha256()
    for name, data in parts.items():
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    target = folder / f"{digest.hexdigest()[:16]}.pyz"
    if not target.exists():
        import zipfile  # once a release

        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        rough = folder / f"{target.name}.{os.getpid()}.new"
        with zipfile.ZipFile(rough, "w") as file:
            for name, data in parts.items():
                file.writestr(zipfile.ZipInfo(name), data)
        rough.rename(target)
    return target
