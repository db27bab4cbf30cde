"""Plays the demo in Chromium and writes docs/pictures/*.png: `python -m scripts.pictures [folder]`.

Run from the repository's root, in the environment, when the page or the cards look different from
before. Needs Chromium, and pngquant to make the pictures small; Roboto or Inter makes them pleasant.
"""

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

from tests.browser import chromium, goal
from tests.browser.screen import Screen, screen

# Which picture each step of the goal gives.
NAMES = {
    "A plan waits for your go": "plan",
    "Allow a command?": "permission",
    "Corrected once": "review",
    "Ready to push": "ready-to-push",
}
SHOWN = "document.querySelectorAll('#messages li').length"
QUIET_S, QUIET_LOOKS = 2.2, 5
NEWEST_TOPIC = """Math.max(...[...document.querySelectorAll("#topics [data-where]")]
    .map((row) => Number(row.dataset.where)))"""
SECOND_WISH = "/new pantry Warn when something runs out this week."


def small(png: bytes) -> bytes:
    """Return the picture in 256 colours, where pngquant is there to choose them."""
    pngquant = shutil.which("pngquant")
    if pngquant is None:
        sys.stderr.write("pngquant is missing: the pictures stay large\n")
        return png
    command = [pngquant, "--speed", "1", "--strip", "256", "-"]
    return subprocess.run(command, input=png, stdout=subprocess.PIPE, check=True).stdout


class Camera:
    """Takes one picture of each card it knows, of the phone it holds."""

    def __init__(self, phone: Screen, folder: Path) -> None:
        self._phone = phone
        self._folder = folder

    async def step(self, card: str) -> None:
        if card in NAMES:
            await self.take(NAMES[card])
        await self._quiet()

    async def take(self, name: str) -> None:
        await self._phone.until(
            "['toast', 'banner'].every((id) => document.getElementById(id).hidden)"
        )
        picture = small(await self._phone.picture())
        (self._folder / f"{name}.png").write_bytes(picture)
        sys.stdout.write(f"{name}.png  {len(picture) / 1000:.0f} kB\n")

    async def _quiet(self) -> None:
        """Wait, not for long, until nothing changes: a person taps no faster."""
        for _ in range(QUIET_LOOKS):
            before = await self._phone.look(SHOWN)
            await asyncio.sleep(QUIET_S)
            if await self._phone.look(SHOWN) == before:
                return


async def topics(phone: Screen, camera: Camera) -> None:
    """Give a second goal and show the list of both."""
    await phone.tap(".tab", "General")
    await phone.write(SECOND_WISH)
    await phone.until("document.querySelectorAll('.tab').length > 2 && [1]", goal.STEP_S)
    await phone.tap("#back")
    plan = "document.querySelector('#topics li').innerText.includes('A plan waits')"
    await phone.until(plan, goal.STEP_S)
    await camera.take("topics")


async def second_goal(phone: Screen, camera: Camera) -> None:
    """Change its plan, start it, peek at a worker that waits, and look at the settings."""
    newest = await phone.look(NEWEST_TOPIC)
    await phone.tap(f'#topics [data-where="{newest}"]')
    await goal.press(phone, "A plan waits for your go", "Change…")
    await goal.press(phone, "which piece?", "3 · Print the list")
    await phone.until(goal.card_with("3 · Print the list", "Large"), goal.STEP_S)
    await camera.take("change")
    await goal.press(phone, "3 · Print the list", "Done")
    await goal.press(phone, "A plan waits for your go", "Start")
    await phone.until(goal.card_with("Allow a command?", "Allow"), goal.STEP_S)
    await goal.press(phone, "Worker 3", "Peek")
    peeked = "document.querySelector('#messages').innerText.includes('Peek: Worker 3') && [1]"
    await phone.until(peeked, goal.STEP_S)
    await camera.take("peek")
    await phone.tap('.tab[data-where="0"]')
    await phone.write("/settings")
    await phone.until(goal.card_with("Time zone", "Quiet hours"), goal.STEP_S)
    await camera.take("settings")


async def take_all(address: str, folder: Path) -> None:
    async with (
        chromium.connected(address) as browser,
        screen(browser) as phone,
        goal.demo() as (_, page),
    ):
        await phone.open(page)
        camera = Camera(phone, folder)
        await goal.play(phone, camera.step)
        await topics(phone, camera)
        await second_goal(phone, camera)


def main() -> int:
    """Return the exit code."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures")
    folder.mkdir(parents=True, exist_ok=True)
    command = chromium.found()
    if command is None:
        sys.stderr.write("There is no Chromium here (Debian: apt install chromium)\n")
        return 1
    with chromium.running(command) as address:
        asyncio.run(take_all(address, folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
