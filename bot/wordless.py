"""The one boundary behind which wording may fail: what cannot be worded ends nothing else.

A card, a note, a panel or a row rests on what agents and ledgers hold. Whatever of it no wording foresaw
would meet the bot again after every restart: so it is logged, and a plain line of the caller's stands in
its place. Neighbours: cards.py, panels.py, text_board.py.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from engine.errors import EngineError

log = logging.getLogger(__name__)


@contextmanager
def wordless(what: str, known: set[str] | None = None) -> Iterator[None]:
    """Word something; if that fails, log it under `what` and go on behind the block.

    known   what was logged already: a card may come with every line its agent prints
    """
    try:
        yield
    except EngineError:  # the engine's answer, not our wording
        raise
    except Exception:
        if known is None or what not in known:
            log.exception("cannot be shown: %s", what)
        if known is not None:
            known.add(what)
