"""What the owner sent along, brought to the machine a session runs on, before its agent is told of it.

Kept here by its hash (stores/attached.py) and sent in parts over the link, so that a restart of ours or
another machine needs nothing but the list. What is there already is not sent again. The other end is
engine/node/files.py; runs.py calls this.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Sequence

from engine.adapters.machines import Machine
from engine.node.files import PART
from engine.rules.words import Attachment
from stores.attached import Attached

log = logging.getLogger(__name__)


async def bring(
    machine: Machine, session: str, files: Sequence[Attachment], attached: Attached
) -> set[str]:
    """Have a session's folder hold these files; return what those are called that we keep no more.

    raises   Unavailable while the machine is away; NodeRefused for what it will not take
    """
    if not files:
        return set()
    wanted = [{"name": file.place, "size": file.size} for file in files]
    lacks = set((await machine.call("files.lacks", session=session, files=wanted))["lacks"])
    gone: set[str] = set()
    for file in files:
        if file.place not in lacks:
            continue
        data = await asyncio.to_thread(attached.read, file.sha256)
        if data is None:
            log.warning("not kept any more session=%s file=%s", session, file.sha256[:8])
            gone.add(file.place)
            continue
        await asyncio.to_thread(attached.touch, file.sha256)
        for offset in range(0, max(len(data), 1), PART):
            await machine.call(
                "files.put",
                session=session,
                name=file.place,
                sha256=file.sha256,
                size=len(data),
                offset=offset,
                data=base64.b64encode(data[offset : offset + PART]).decode("ascii"),
            )
    return gone
