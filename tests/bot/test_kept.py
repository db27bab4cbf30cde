"""The list of kept rules on the phone: read, revoked by a button or by its number."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot import text, text_kept
from engine.rules.words import AlwaysKind, AlwaysRule
from engine.views import RuleView
from tests.bot.stage import Stage, permission

LINT = AlwaysRule(AlwaysKind.COMMAND, "make lint")
DOCS = AlwaysRule(AlwaysKind.SITE, "docs.example.org")
ISSUES = AlwaysRule(AlwaysKind.TOOL, "mcp__tracker__list_issues", unfenced=True)


def kept(number: int, rule: AlwaysRule = LINT, used: int = 0) -> RuleView:
    return RuleView(number=number, project="shop", rule=rule, used=used)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path) as stage:
        yield stage


async def test_a_rule_is_revoked_by_its_button(stage: Stage) -> None:
    stage.door.kept = [kept(3, used=2), kept(12, DOCS)]
    await stage.start_bot()
    stage.phone.send("/settings rules")
    panel = await stage.phone.wait_for(lambda m: "Allowed by your rules" in m.text)
    assert "3. exactly, in shop\nmake lint\nused twice" in panel.text
    assert "12. reading pages of docs.example.org, in shop" in panel.text
    stage.phone.tap(panel, "Revoke 12")
    await stage.phone.wait_for(lambda m: m.id == panel.id and "docs.example.org" not in m.text)
    assert await stage.asked() == [("revoke_rule", {"number": 12})]


async def test_the_settings_lead_to_the_rules_and_back(stage: Stage) -> None:
    stage.door.kept = [kept(number) for number in range(1, 11)]
    await stage.start_bot()
    stage.phone.send("/settings")
    panel = await stage.phone.wait_for(lambda m: m.text.startswith("Settings"))
    stage.phone.tap(panel, "Rules kept by Always")
    first = await stage.phone.wait_for(lambda m: m.id == panel.id and "8. exactly" in m.text)
    stage.phone.tap(first, "Later →")
    second = await stage.phone.wait_for(lambda m: m.id == panel.id and "9. exactly" in m.text)
    stage.phone.tap(second, "Revoke 10")
    left = await stage.phone.wait_for(
        lambda m: m.id == panel.id and "9. " in m.text and "10. " not in m.text
    )
    stage.phone.tap(left, "← Settings")
    await stage.phone.wait_for(lambda m: m.id == panel.id and m.text.startswith("Settings"))


async def test_a_project_s_panel_leads_to_its_own_rules_and_back(stage: Stage) -> None:
    stage.door.kept = [kept(3)]
    await stage.start_bot()
    stage.phone.send("/settings shop")
    panel = await stage.phone.wait_for(lambda m: m.text.startswith("shop"))
    stage.phone.tap(panel, "Rules")
    page = await stage.phone.wait_for(lambda m: m.id == panel.id and "3. exactly" in m.text)
    assert stage.door.listed_for == "shop"
    stage.phone.tap(page, "← Project")
    await stage.phone.wait_for(lambda m: m.id == panel.id and m.text.startswith("shop"))


async def test_a_rule_is_revoked_by_its_number_in_words(stage: Stage) -> None:
    stage.door.kept = [kept(3)]
    await stage.start_bot()
    stage.phone.send("/settings revoke 3")
    await stage.phone.wait_for(lambda m: "asked for again" in m.text)
    stage.phone.send("/settings revoke 3")
    await stage.phone.wait_for(lambda m: "There is no rule 3" in m.text)
    stage.phone.send("/settings revoke all")
    await stage.phone.wait_for(lambda m: "a rule's number" in m.text)


def test_the_list_says_what_each_rule_covers() -> None:
    page = text_kept.listed([kept(4, ISSUES)]).rich.text
    assert "the tool list_issues of tracker, whatever it is given, in shop, unfenced too" in page
    assert "not used yet" in page
    gone = RuleView(number=5, project="shop", rule=LINT, used=2, used_at=9.0, holds=False)
    page = text_kept.listed([gone]).rich.text
    assert "answers no more: it is asked for each time now" in page
    assert "last at" not in page
    assert "No rule is kept" in text_kept.listed([]).rich.text


def test_a_card_shows_what_always_would_keep_or_why_it_does_not() -> None:
    card = text.card(permission(rule=LINT, project="shop", buttons=("allow", "always", "deny")))
    assert "Always keeps: exactly this command, in shop." in card.rich.text
    assert [button.label for button in card.buttons[0]] == ["Allow", "Always", "Deny"]
    shown = text.card(permission(never="unknown")).rich.text
    assert "No Always: not a command I know to be safe to repeat." in shown
    assert "No Always: it can run" in text.card(permission(never="anything")).rich.text
    assert "Always" not in text.card(permission(never="edit")).rich.text
    done = permission(rule=LINT, project="shop", asks=False, decided="Always allowed by you")
    shown = text.card(done).rich.text
    assert shown.startswith("Command allowed")
    assert "Kept: exactly this command, in shop." in shown
