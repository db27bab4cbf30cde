"""One checker for every play: what must be true of files and chat, however often something died.

    ledger ────────────────┐
    hubs, remote ──────────┤
    trees, runs, locks,    ├──> a sentence for each fault ──> judge_history raises with all of them
      processes ───────────┤
    the bot's file, chat ──┘

    judge_history(scene, expected)

`Scene` says where the evidence lies, and what is not there is not asked; `Expected` says what the story
comes to. Used by the walks (tests/engine/test_crash_walk.py, tests/walk), real kills and soak
(tests/soak) and the paths of tests/strace. test_history.py spoils each thing and sees it named.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.history.decided import of_ledger
from tests.history.left import of_home
from tests.history.repositories import of_repositories
from tests.history.scene import Chat, Expected, Scene, Span
from tests.history.shown import of_chat

__all__ = ["Chat", "Expected", "Scene", "Span", "behind", "faults", "judge_history"]


def judge_history(scene: Scene, expected: Expected | None = None) -> None:
    """Assert that nothing was lost and nothing done twice; the error names each thing that was."""
    found = faults(scene, expected)
    assert not found, "\n".join(["what the play left is not as it should be:", *found])


def faults(scene: Scene, expected: Expected | None = None) -> list[str]:
    """Return a sentence for each thing that is not as it should be."""
    with scene.looked_at():
        return list(_faults(scene, expected or Expected()))


def behind(scene: Scene, expected: Expected | None = None) -> list[str]:
    """Return in what the chat is behind what is known: empty once all was heard, done and shown."""
    with scene.looked_at():
        return list(of_chat(scene, expected or Expected()))


def _faults(scene: Scene, expected: Expected) -> Iterator[str]:
    if scene.ledger is not None:
        yield from of_ledger(scene, expected)
    yield from of_repositories(scene, expected)
    if scene.home is not None:
        yield from of_home(scene, scene.home, expected)
    yield from of_chat(scene, expected)
