"""The whole goal from the phone, the bot dying at every point where dying could matter.

Before and after each commit to its file, each call of the Bot API and each request to the engine; the
engine and the owner's phone live on. What Telegram took and the bot did not live to note is looked for
by its next start: only a prompt, which nobody can look for, may be there twice.
"""

from __future__ import annotations

import logging
import sys

import pytest

from tests.walk.walked import ground
from tests.walk.with_bot import walk_bot


@pytest.mark.timeout(900)
async def test_the_end_is_the_same_wherever_the_bot_dies(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """BR-37: nothing the owner sent or pressed is lost or done twice, and no card is left behind."""
    caplog.set_level(logging.CRITICAL, "asyncio")  # what a dead task raised
    with ground() as folder:
        walked = await walk_bot(folder)
    sys.stdout.write(f"{walked}\n")
    assert walked.points > 250
    # How often a card is edited, and how many updates come with one poll, is chance.
    assert len(walked.left) <= walked.points // 20, walked.left
