"""Every page of the settings fits a message and a keyboard, whatever things are called."""

from collections.abc import Iterator

import pytest

from bot import text_settings as page
from bot import zones
from bot.buttons import encode
from bot.entities import TEXT_LIMIT, units
from bot.settings_project import panel_of
from bot.text import Words
from engine.views import CommandView, LeadSettings, OwnerView, ProjectView, Ticked

LONG = "x" * 40
NAMES = [f"{LONG[:36]}{number:04d}" for number in range(300)]
ALL = ("plan", "ask", "edit", "auto", "full")
OWNER = OwnerView(zone="Europe/Berlin", modes=ALL, models=("opus", "sonnet"))
BACKED_UP = OwnerView(
    backup="03:30 here, 03:31 nas; 2.3 MB, 7 kept",
    backup_on=NAMES[0],
    backup_why="nas: " + "x" * 900,
    backup_places=tuple(NAMES),
    backup_unfenced=tuple(NAMES),
)
LEAD = LeadSettings(
    goal="g-123456",
    title="Orders",
    project=LONG,
    mode="edit",
    modes=ALL,
    go="ask",
    model="y" * 80,
    models=("opus",),
    machines=tuple(Ticked(name, True, False, True) for name in NAMES[:30]),
)
VIEW = ProjectView(
    name=LONG,
    source="/srv/" + LONG * 20,
    base="main",
    push="",
    decided=tuple(CommandView("check", f"make {n} " + "z" * 5000, n % 2 == 0) for n in range(30)),
)


def pages() -> Iterator[tuple[str, str, Words]]:
    yield "settings", "", page.owner(OWNER, NAMES)
    yield "settings", "quiet", page.quiet(OWNER)
    yield "settings", "zone", page.zone(OWNER, zones.here(), 1e9)
    yield "settings", "first", page.zone(OWNER, "UTC", 1e9, first=True)
    yield "settings", "heartbeat", page.heartbeat(OWNER)
    yield "settings", "limit", page.limit("ask")
    yield "settings", "reserve", page.reserve(OwnerView(reserve=90))
    yield "settings", "backup", page.backup(BACKED_UP)
    yield "settings", "backup", page.backup(OwnerView(backup="none yet"))
    yield "settings", "mode", page.mode("edit", ALL, NAMES)
    yield "settings", "go", page.go("auto")
    yield "settings", "model", page.model("y" * 80, ("opus",), page.FOR_NEW_GOALS)
    yield "settings-g-123456", "", page.lead(LEAD)
    yield "settings-g-123456", "machines", page.machines(LEAD)
    yield panel_of(LONG), "", page.project(VIEW)
    yield panel_of(LONG), "remove", page.removing(VIEW)


@pytest.mark.parametrize(("panel", "name", "words"), list(pages()))
def test_a_page_fits(panel: str, name: str, words: Words) -> None:
    assert units(words.rich.text) <= TEXT_LIMIT
    buttons = [button for row in words.buttons for button in row]
    assert len(buttons) <= 100
    assert len({button.verb for button in buttons}) == len(buttons)
    for button in buttons:
        encode(panel, name, button.verb)


def test_the_box_is_offered_its_own_zone_first_and_once() -> None:
    words = page.zone(OWNER, "Europe/Berlin", 0.0)
    assert words.buttons[0][0].label == "01:00 Berlin (the box)"
    assert sum("Berlin" in button.label for row in words.buttons for button in row) == 1


def test_a_command_that_is_cut_can_only_be_asked_for_anew() -> None:
    labels = [button.label for row in page.project(VIEW).buttons for button in row]
    assert "1. Ask me again" in labels
    assert not [label for label in labels if "Allow" in label]
