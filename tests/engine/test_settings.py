"""What the owner sets by /settings, through the door: kept over a restart, refused with a sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.engine import opened
from engine.errors import Refused
from engine.paths import Home
from engine.views import OwnerView


def of(seen: OwnerView) -> OwnerView:
    """What was set, without what there is to choose from on this machine."""
    return replace(seen, modes=(), models=(), backup="")


async def test_settings_are_kept_over_a_restart(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with opened(home) as door:
        await door.change_setting("quiet", "23-7", cause="c1")
        told = await door.change_setting("zone", "europe/berlin", cause="c2")
        assert re.fullmatch(r"It is \d\d:\d\d for you \(Europe/Berlin\)\.", told["verdict"])
        off = await door.change_setting("quiet", "off", cause="c2.1")
        assert off["verdict"].startswith("No quiet hours")
        on = await door.change_setting("quiet", "23-7", cause="c2.2")
        assert on["verdict"].startswith("Quiet hours 23:00–07:00")
    async with opened(home) as door:
        assert of(await door.settings()) == OwnerView(zone="Europe/Berlin", quiet=(1380, 420))
        await door.change_setting("zone", "off", cause="c3")
        assert door.owner() == OwnerView(quiet=(1380, 420))


async def test_a_heartbeat_is_told_by_its_host_alone(tmp_path: Path) -> None:
    async with opened(Home(tmp_path)) as door:
        told = await door.change_setting("heartbeat", "https://alive.example/ab12", cause="c1")
        settings = await door.settings()
        health = await door.health()
    assert settings.heartbeat == health["heartbeat"] == "alive.example: not called yet"
    assert "ab12" not in str((told, settings, health))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("zone", "Mars/Olympus"),
        ("zone", "../../etc/passwd"),
        ("heartbeat", "alive.example"),
        ("quiet", "at night"),
        ("colour", "blue"),
    ],
)
async def test_what_cannot_be_kept_is_refused_and_changes_nothing(
    tmp_path: Path, name: str, value: str
) -> None:
    async with opened(Home(tmp_path)) as door:
        with pytest.raises(Refused):
            await door.change_setting(name, value, cause="c1")
        assert of(await door.settings()) == OwnerView()


async def test_health_tells_every_limit_there_is(tmp_path: Path) -> None:
    async with opened(Home(tmp_path)) as door:
        health = await door.health()
    assert health["kept"]["gone after"] == "90 days"
    assert health["patience"]["a check"] == "20 min"
    assert health["limits"] == {"here": 10}
