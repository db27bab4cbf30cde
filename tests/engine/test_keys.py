"""/keys, through the real bot, engine and vault: what the vault keeps, on the phone, and out of it again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.text_keys import listed
from engine.errors import Refused
from engine.views import KeyView
from stores.vault import seal
from tests.engine.chat import Chat, chatting

VALUE = "purple-monkey-dishwasher-77"


async def kept(chat: Chat, *names: str) -> None:
    public = chat.home.vault_pub.read_bytes()
    for name in names:
        await chat.engine.door.keep_secret(name, seal(public, VALUE.encode()), cause=name)


async def test_the_keys_panel_says_how_each_stands_scopes_one_and_forgets_it(
    tmp_path: Path,
) -> None:
    async with chatting(tmp_path) as chat:
        await chat.sent("/keys", "The vault is empty", "Paste a key")
        await kept(chat, "STRIPE_KEY", "OTHER_KEY")
        panel = await chat.sent("/keys", "2 keys in the vault", label="STRIPE_KEY")
        assert "STRIPE_KEY\neverywhere · version 1 · never used" in panel.text
        await chat.engine.door.secret("STRIPE_KEY")
        page = await chat.tapped(panel, "STRIPE_KEY", "Where: everywhere", label="Where…")
        assert re.search(r"Last used: at \d\d:\d\d", page.text)
        asked = await chat.tapped(page, "Where…", "Where may STRIPE_KEY be used?")
        scope = next(label for label in asked.labels if label.startswith("machine "))
        page = await chat.tapped(asked, scope, f"Where: {scope}", label="Forget…")
        asked = await chat.tapped(page, "Forget…", "Forget STRIPE_KEY?", label="Forget")
        await chat.tapped(asked, "Forget", "1 key in the vault")
        assert [view.name for view in await chat.engine.door.keys()] == ["OTHER_KEY"]
        assert VALUE not in chat.phone.transcript()


async def test_a_key_changed_on_disk_is_shown_and_refused_by_itself(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await kept(chat, "STRIPE_KEY", "OTHER_KEY")
        vault = chat.engine.door._of_vault()
        await vault._database.write(
            lambda c: c.execute("UPDATE secrets SET at = 1 WHERE name = 'STRIPE_KEY'")
        )
        panel = await chat.sent("/keys", "STRIPE_KEY\n⚠ cannot be opened", label="STRIPE_KEY")
        await chat.tapped(panel, "STRIPE_KEY", "it was changed on disk", label="Forget…")
        await chat.sent("/health", "Not all is well", "Keys refused: STRIPE_KEY")
        assert await chat.engine.door.secret("OTHER_KEY") == VALUE
        with pytest.raises(Refused, match="STRIPE_KEY cannot be opened"):
            await chat.engine.door.secret("STRIPE_KEY")


async def test_an_account_s_token_is_left_to_its_account(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        door = chat.engine.door
        await kept(chat, "account/main/TOKEN")
        await door.add_account("main", "rehearsal", secret_env=("TOKEN",), cause="add")
        for refused in (
            door.forget_key("account/main/TOKEN"),
            door.scope_key("account/main/TOKEN", ""),
            door.scope_key("OTHER", "project/none"),
            door.scope_key("OTHER", ""),
        ):
            with pytest.raises(Refused):
                await refused
        panel = await chat.sent("/keys", "account/main/TOKEN", label="account/main/TOKEN")
        page = await chat.tapped(panel, "account/main/TOKEN", "Signs account main in: /accounts")
        assert page.labels == ["← Keys"]


def test_many_keys_are_turned_over_by_pages() -> None:
    views = [KeyView(name=f"KEY_{number}", version=1, versions=1) for number in range(20)]
    last = listed(views, 9)
    assert "KEY_19" in last.rich.text
    assert "KEY_15" not in last.rich.text
