"""One browser for all these tests, and one tab, emptied after each: to open one costs more than most do in it.

CI must have a Chromium; elsewhere it may lack.
"""

import os
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.browser import chromium
from tests.browser.screen import Screen, new_tab, shown


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


@pytest.fixture(scope="session")
def tabs() -> list[str]:
    """The tab, once it is open: a connection to the browser does not outlive its test."""
    return []


@pytest.fixture
async def phone(browser: chromium.Browser, tabs: list[str]) -> AsyncIterator[Screen]:
    """The tab, whose page must leave the console and its own policy without a complaint."""
    if not tabs:
        tabs.append(await new_tab(browser))
    async with shown(browser, tabs[0]) as tab:
        yield tab
        assert tab.complaints == []
