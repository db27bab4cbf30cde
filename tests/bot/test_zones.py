"""What this machine's clock is set to, where it says so."""

from pathlib import Path

import pytest

from bot.zones import here


def test_the_machines_zone_is_found_where_systems_keep_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TZ", raising=False)
    (tmp_path / "zoneinfo/Asia").mkdir(parents=True)
    (tmp_path / "zoneinfo/Asia/Tokyo").touch()
    link, name = tmp_path / "localtime", tmp_path / "timezone"
    assert here(link, name) == "UTC"
    name.write_text("Europe/Berlin\n")
    assert here(link, name) == "Europe/Berlin"
    link.symlink_to(tmp_path / "zoneinfo/Asia/Tokyo")
    assert here(link, name) == "Asia/Tokyo"
    monkeypatch.setenv("TZ", ":America/New_York")
    assert here(link, name) == "America/New_York"
    monkeypatch.setenv("TZ", "../nonsense")
    assert here(link, name) == "Asia/Tokyo"
