"""One browser for all these tests, a new tab for each. CI must have a Chromium; elsewhere it may lack."""

import os
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.browser import chromium
from tests.browser.screen import Screen, screen


@pytest.fixture(scope="session")
def browser_address() -> Iterator[str]:
    command = chromium.found()
    if command is None:
        missing = "no Chromium on this machine (Debian: apt install chromium)"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    with chromium.running(command) as address:
        yield address


@pytest.fixture
async def browser(browser_address: str) -> AsyncIterator[chromium.Browser]:
    async with chromium.connected(browser_address) as connection:
        yield connection


@pytest.fixture
async def phone(browser: chromium.Browser) -> AsyncIterator[Screen]:
    """A tab whose page must leave the console and its own policy without a complaint."""
    async with screen(browser) as tab:
        yield tab
        assert tab.complaints == []
