"""A phone-sized tab: what a thumb does on it, and what the eye waits for.

Taps are touches at the place where an element is drawn, and fail when something lies over it;
typing goes to whatever has the focus. Waiting is for the page to change, never for time to pass.
"""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.browser.chromium import Browser, Failed

WIDTH, HEIGHT, SCALE = 390, 844, 2
WAIT_S = 30.0
KEYS = {
    "ArrowDown": 40,
    "Backspace": 8,
    "Enter": 13,
    "Escape": 27,
    "Tab": 9,
}
# Resolves once `look` gives something true; rejects with what the chat shows when it does not.
_UNTIL = """
new Promise((resolve, reject) => {
  const look = () => {
    const found = (%s);
    if (!found) return;
    watching.disconnect();
    clearTimeout(late);
    resolve(found === true ? true : JSON.parse(JSON.stringify(found)));
  };
  const watching = new MutationObserver(look);
  const late = setTimeout(
    () => reject(new Error(%s + " never came; shown is:\\n" + document.body.innerText)), %d);
  watching.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
  look();
})
"""
# The last one, not hidden, whose words are the given ones.
_FIND = """
[...document.querySelectorAll(%s)].filter(
  (one) => one.checkVisibility() && (%s === null || one.innerText.trim() === %s)).at(-1)
"""


class Screen:
    """One tab.

    complaints   what the page's console and its policy found wrong; a good page leaves it empty
    """

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session
        self.complaints: list[str] = []
        browser.on_event(session, self._hear)

    def _hear(self, method: str, params: dict[str, Any]) -> None:
        match method:
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                self.complaints.append(str(details.get("exception", details)))
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.complaints.append(params["entry"]["text"])

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        return await self._browser.call(method, self._session, **params)

    async def open(self, url: str) -> None:
        """Go to an address and wait until the phone has heard what there is."""
        await self.call("Page.navigate", url=url)
        await self.until("document.querySelector('#title')?.textContent && document.title")
        await self.until("document.querySelector('#face')?.textContent")

    async def look(self, script: str) -> Any:
        """Return what an expression gives in the page."""
        said = await self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in said:
            details = said["exceptionDetails"]
            raise Failed(details.get("exception", {}).get("description", details["text"]))
        return said["result"].get("value")

    async def until(self, script: str, wait_s: float = WAIT_S) -> Any:
        """Return what an expression gives, as soon as a change of the page makes it true.

        raises  Failed with all the page shows
        """
        return await self.look(_UNTIL % (script, json.dumps(script), wait_s * 1000))

    async def text(self, selector: str) -> str:
        """Return what the last of the elements shows."""
        found = await self.until(f"document.querySelector({json.dumps(selector)}) && [1]")
        assert found
        query = f"[...document.querySelectorAll({json.dumps(selector)})].at(-1).innerText"
        return str(await self.look(query))

    async def tap(self, selector: str, words: str | None = None, wait_s: float = WAIT_S) -> None:
        """Touch the last element that fits, where it is drawn, once it is there."""
        said = json.dumps(words)
        find = _FIND % (json.dumps(selector), said, said)
        await self.until(f"{find} && [1]", wait_s)
        place = await self.look(f"""(async () => {{
            const one = {find};
            await Promise.all(one.getAnimations().map((moving) => moving.finished));
            const inside = () => {{
                const {{ left, top, width, height }} = one.getBoundingClientRect();
                return [left + width / 2, top + height / 2];
            }};
            if (!one.contains(document.elementFromPoint(...inside())))
                one.scrollIntoView({{ block: "nearest", inline: "nearest" }});
            const [x, y] = inside();
            const hit = document.elementFromPoint(x, y);
            return one.contains(hit) ? [x, y] : hit?.outerHTML.slice(0, 200) ?? "nothing";
        }})()""")
        if isinstance(place, str):
            raise Failed(f"{selector} {words or ''} cannot be touched; over it lies {place}")
        x, y = place
        await self.call(
            "Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}]
        )
        await self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    async def type(self, text: str) -> None:
        """Type into what has the focus."""
        await self.call("Input.insertText", text=text)

    async def key(self, name: str) -> None:
        code = KEYS[name]
        text = {"text": "\r"} if name == "Enter" else {}
        common = {"key": name, "code": name, "windowsVirtualKeyCode": code}
        await self.call("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    async def write(self, text: str) -> None:
        """Write a message as a person does: touch the line, type, touch the arrow."""
        await self.tap("#words")
        await self.type(text)
        await self.tap("#send")

    async def empty(self) -> None:
        """Leave the page, and have nothing of it remembered."""
        origin = await self.look("window.origin")
        if origin != "null":  # a page that was never opened remembers nothing
            await self.call("Storage.clearDataForOrigin", origin=origin, storageTypes="all")
        await self.call("Page.navigate", url="about:blank")

    async def picture(self) -> bytes:
        """Return what the screen shows as PNG."""
        shot = await self.call("Page.captureScreenshot", format="png", optimizeForSpeed=False)
        return base64.b64decode(shot["data"])


async def new_tab(browser: Browser, context: str = "") -> str:
    """Open one more tab; return its id."""
    where = {"browserContextId": context} if context else {}
    made = await browser.call("Target.createTarget", url="about:blank", **where)
    return str(made["targetId"])


@asynccontextmanager
async def screen(
    browser: Browser, *, dark: bool = True, width: int = WIDTH
) -> AsyncIterator[Screen]:
    """Give a new tab with nothing remembered, closed afterwards."""
    context = (await browser.call("Target.createBrowserContext"))["browserContextId"]
    try:
        tab = await new_tab(browser, context)
        async with shown(browser, tab, dark=dark, width=width) as phone:
            yield phone
    finally:
        await browser.call("Target.disposeBrowserContext", browserContextId=context)


@asynccontextmanager
async def shown(
    browser: Browser, tab: str, *, dark: bool = True, width: int = WIDTH
) -> AsyncIterator[Screen]:
    """Give a tab that is open, and leave it empty: what it showed may have remembered nothing."""
    attached = await browser.call("Target.attachToTarget", targetId=tab, flatten=True)
    phone = Screen(browser, attached["sessionId"])
    for domain in ("Page", "Runtime", "Log"):
        await phone.call(f"{domain}.enable")
    await phone.call(
        "Emulation.setDeviceMetricsOverride",
        **{"width": width, "height": HEIGHT, "deviceScaleFactor": SCALE, "mobile": width < 700},
    )
    await phone.call("Emulation.setTouchEmulationEnabled", enabled=True)
    await phone.call("Emulation.setFocusEmulationEnabled", enabled=True)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    calm = {"name": "prefers-reduced-motion", "value": "reduce"}
    await phone.call("Emulation.setEmulatedMedia", features=[scheme, calm])
    try:
        yield phone
    finally:
        await phone.empty()
        await browser.call("Target.detachFromTarget", sessionId=attached["sessionId"])
