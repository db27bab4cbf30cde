"""A key split over two messages: whole in the vault, nowhere in clear, whatever came first. BR-119."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

from bot import ended, keys, two_goes
from bot.gate import Allowed
from bot.inbox import Arrived, Inbox
from bot.intake.halves import is_short
from engine.api import Client
from engine.paths import Home
from stores.cards import CardStore
from stores.database import Database
from stores.sealing import create_keys, read_key
from tests.bot.stage import Stage
from tests.intake import ordinary, planted

KEY = "ghp_Zx81kQpLmN0vT7yWc2RfJ5hUgB9dEaS4iOoP"
NAME = "GITHUB_TOKEN"
PEM = "\n".join(
    (
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        *("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz" for _ in range(4)),
        "-----END OPENSSH PRIVATE KEY-----",
    )
)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path) as stage:
        yield stage


def in_clear(stage: Stage, key: str, least: int = 8) -> set[str]:
    """Return the pieces of a key, of so many characters, that are in a file or in the chat."""
    there = stage.raw() + stage.phone.transcript().encode()
    pieces = {key[at : at + least] for at in range(4, len(key) - least + 1)}
    return {piece for piece in pieces if piece.encode() in there}


def held(stage: Stage) -> bool:
    """Return whether an update lies in the inbox, heard and not handled."""
    with sqlite3.connect(stage.home.bot_db) as there:
        return there.execute("SELECT 1 FROM inbox").fetchone() is not None


async def sent_in_two(stage: Stage, first: str, second: str) -> None:
    parts = [*stage.phone.send(first), *stage.phone.send(second)]
    for part in parts:
        await stage.phone.until(lambda part=part: stage.phone.message(part.id) is None)  # type: ignore[misc]


@pytest.mark.parametrize("cut", [4, 5, 9, 19, 20, 30, 39])
async def test_wherever_it_was_cut_it_is_kept_whole_and_both_messages_go(
    stage: Stage, cut: int
) -> None:
    await stage.start_bot()
    await sent_in_two(stage, f"use {KEY[:cut]}", KEY[cut:])
    await stage.phone.wait_for(lambda m: f"Stored as {NAME}" in m.text)
    await stage.asked()
    await stage.until(lambda: stage.phone.transcript().count("Stored as") == (1 if cut < 20 else 2))
    assert await stage.vault.get(NAME) == KEY
    assert {args["text"] for _, args in stage.door.asked} == {"use {{" + NAME + "}}"}
    await stage.stop_bot()
    assert in_clear(stage, KEY) == set()


async def test_cut_within_its_first_letters_the_rest_is_taken_all_the_same(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.send(KEY[:2])
    (second,) = stage.phone.send(KEY[2:])
    await stage.phone.until(lambda: stage.phone.message(second.id) is None)
    await stage.phone.wait_for(lambda m: "Stored as" in m.text)
    assert await stage.vault.get(NAME) == KEY
    await stage.stop_bot()
    assert in_clear(stage, KEY) == set()


@pytest.mark.parametrize(
    ("first", "second", "name", "value"),
    [
        ("the shop password:", "trout9-Hunter2", "PASSWORD", "trout9-Hunter2"),
        ("STRIPE_SECRET_KEY=", KEY[8:], "STRIPE_SECRET_KEY", KEY[8:]),
        (
            "sk_live_4e",
            "C39HqLyjWDarjtT1zdp7dc",
            "STRIPE_API_KEY",
            "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        ),
        (PEM[:150], PEM[150:], "PRIVATE_KEY", ""),
        (PEM[:200], PEM[200:] + "\nput it on the box", "PRIVATE_KEY", ""),
    ],
    ids=["said", "a settings line", "a shape", "a block", "a block with words behind"],
)
async def test_what_else_breaks_off_is_judged_with_what_comes_next(
    stage: Stage, first: str, second: str, name: str, value: str
) -> None:
    await stage.start_bot()
    await sent_in_two(stage, first, second)
    await stage.phone.wait_for(lambda m: "Stored as" in m.text)
    await stage.until(lambda: stage.phone.transcript().count("Stored as") >= (1 if value else 2))
    found = str(await stage.vault.get(name))
    if value:
        assert found == value
    else:
        assert "".join(found.split()) == "".join(PEM.split())
    await stage.stop_bot()
    assert in_clear(stage, "".join(value.split()) or "AAAAABG5vbmUAAAAEbm9uZQ", 12) == set()
    if "put it" in second:
        assert stage.door.asked[-1][1]["text"].endswith("\nput it on the box")


async def test_a_half_that_nothing_goes_on_with_is_judged_alone_after_its_time(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    defaults = Inbox.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "hold_s", 0.3)
    await stage.start_bot()
    short = stage.phone.send("the rest of ghp_4tQ9")[0]
    await stage.asked()
    assert stage.door.asked[0][1]["text"] == "the rest of ghp_4tQ9"
    assert stage.phone.message(short.id) is not None
    (long,) = stage.phone.send(f"use {KEY[:24]}")
    await stage.phone.until(lambda: stage.phone.message(long.id) is None)
    assert (await stage.asked(2))[1][1]["text"] == "use {{" + NAME + "}}"
    assert await stage.vault.get(NAME) == KEY[:24]
    await stage.stop_bot()
    assert in_clear(stage, KEY[:24]) == set()


async def test_a_half_is_two_messages_where_what_follows_is_none_of_it(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.send("the password is:")
    stage.phone.send("I have to look it up first")
    stage.phone.send(f"use {KEY}")
    stage.phone.send("thanks")
    stage.phone.send(f"use {KEY}")
    stage.phone.send("port=8080x")
    asked = await stage.asked(6)
    assert [args["text"] for _, args in asked] == [
        "the password is:",
        "I have to look it up first",
        "use {{" + NAME + "}}",
        "thanks",
        "use {{" + NAME + "}}",
        "port=8080x",
    ]


async def test_killed_between_the_halves_it_is_joined_by_the_next_start(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.send(f"use {KEY[:9]}")
    await stage.until(lambda: held(stage))
    await stage.kill_bot()
    stage.phone.send(KEY[9:])
    await stage.start_bot()
    ((_, args),) = await stage.asked()
    assert args["text"] == "use {{" + NAME + "}}"
    assert await stage.vault.get(NAME) == KEY
    await stage.stop_bot()
    assert in_clear(stage, KEY) == set()


def test_nobody_waits_for_an_ordinary_line() -> None:
    lines = [
        "fix the api-gateway",
        "what is the password?",
        "add sk-learn",
        "export API_KEY=test",
        "use pattern12",
        "the key-value store: look at it",
        "my token starts with ghp_…",
        "see pypi-mirror",
        "ok",
    ]
    assert [line for line in lines if two_goes.waits(line)] == []
    assert [line for line in lines if keys.find(line)] == []


def test_nobody_waits_for_ordinary_chat_or_code() -> None:
    assert [line for line in ordinary.chat(Random(4), 3000) if two_goes.waits(line)] == []
    code = list(ordinary.code())
    assert len([piece for piece in code if two_goes.waits(piece)]) <= len(code) / 500


def joined_up(key: str, cut: int, before: str) -> bool:
    """Return whether a key cut there is known whole once its second half comes."""
    first, second = before + key[:cut], key[cut:]
    if two_goes.waits(first):
        glued = two_goes.together(first, second)
        return glued is not None and key in {one.value for one in keys.find(glued)}
    found = keys.find(first)
    tail = two_goes.tail_of(first, found, {one.value: one.name for one in found})
    whole = two_goes.gone_on(tail, second) if tail is not None else None
    return whole is not None and whole.value == key


def test_nearly_every_known_key_is_put_together_wherever_it_is_surely_not_whole() -> None:
    chance = Random(1)
    made = [planted.key(kind, chance) for kind in planted.MOULDS for _ in range(10)]
    cuts = [(key, chance.randrange(6, len(key) - 2)) for key in made]
    short = [(key, cut) for key, cut in cuts if is_short(key[:cut])]
    assert len(short) >= 0.8 * len(cuts)
    assert sum(joined_up(key, cut, "use ") for key, cut in short) >= 0.98 * len(short)


AWS_ID = "AKIAIOSFODNN7EXAMPL3"
AWS_SECRET = "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"
SENDGRID = "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"
OPENAI = "sk-proj-aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7bC9dE1fG3"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (AWS_ID, AWS_SECRET),
        (KEY, AWS_SECRET),
        (OPENAI, KEY),
        ("my password is hunter2hunter", AWS_ID),
        ("token: 9f8e7d6c5b4a39281706f5e4d3c2b1a0", "deploy_to_staging_first"),
        ("token: 9f8e7d6c5b4a39281706f5e4d3c2b1a0", "9f8e7d6c5b4a3928"),
        (KEY[:30], "deploy_to_staging_first"),
        (KEY[:30], "step2 comes now"),
        (KEY[:30], AWS_ID),
        ("sk-ant-api03-aB3dE5fG7hI9jK1lM3nO5pQ7", "deploy_to_staging_first"),
    ],
)
def test_nothing_is_glued_to_a_whole_key_nor_words_or_another_key_to_a_half(
    first: str, second: str
) -> None:
    found = keys.find(first)
    tail = two_goes.tail_of(first, found, {one.value: one.name for one in found})
    assert tail is not None
    assert tail.name
    assert two_goes.gone_on(tail, second) is None


WHOLE = two_goes.Tail("use ", KEY, NAME, is_open=False)


@pytest.mark.parametrize(
    "rest",
    [AWS_SECRET, KEY[20:], KEY[30:], "9f8e7d6c5b4a3928", "'aB3dE5fG7h'", "xY5zA7bC9dE1fG3=="],
)
def test_one_word_of_a_machine_so_soon_behind_a_key_is_kept_too(rest: str) -> None:
    found = two_goes.maybe_rest(WHOLE, rest)
    assert found is not None
    assert (found.name, found.value) == (f"{NAME}_REST", rest.strip("'"))
    assert two_goes.maybe_rest(two_goes.Tail("", "word"), rest) is None


@pytest.mark.parametrize(
    "said",
    [
        "deploy_to_staging_first",
        "thanks",
        "step2",
        "https://example.org/x9f8e7",
        "v1.2.3-beta4",
        "src/app/main2.py",
        "2024-05-06",
        "12345678",
        "python3.11",
        "feature/orders-42",
        "my_shop_v2",
        "use it for staging9",
        "/status",
        "PORT=8080",
        "host.example.org:8080",
    ],
)
def test_what_people_write_behind_a_key_is_heard(said: str) -> None:
    assert two_goes.maybe_rest(WHOLE, said) is None


@pytest.mark.parametrize("first", ["use ghp_4tQ9", "GITHUB_TOKEN=4tQ9", "use sk-ant-ab12"])
@pytest.mark.parametrize("second", [AWS_ID, "deploy_to_staging_first", "step2 comes now"])
def test_what_is_held_is_not_joined_with_words_or_a_key_of_its_own(first: str, second: str) -> None:
    assert two_goes.together(first, second) is None


@pytest.mark.parametrize("key", [KEY, SENDGRID, OPENAI, AWS_ID])
@pytest.mark.parametrize(
    "behind", ["PORT=8080", "DEBUG=1", "host=db1", "step2 is next", "port8: 80", AWS_SECRET, KEY]
)
def test_the_next_line_is_not_glued_to_a_whole_key(key: str, behind: str) -> None:
    for before in ("", "SHOP_TOKEN="):
        found = keys.find(f"{before}{key}\n{behind}")
        assert found[0].value == key
        assert all(one.value in (key, behind) for one in found)


@pytest.mark.parametrize("behind", ["PORT=8080", "host=db1", "step2 is next", AWS_ID])
def test_the_next_line_is_not_glued_to_a_half(behind: str) -> None:
    assert not any(
        behind[:5] in one.value
        for one in keys.find(f"use {KEY[:24]}\n{behind}")
        if one.value != behind
    )


@pytest.mark.parametrize("cut", [9, 20, 30])
def test_a_wrapped_key_is_found_whole(cut: int) -> None:
    for said in (f"A={KEY[:cut]}\n{KEY[cut:]}\nB=1", f'"{KEY[:cut]}" \\\n"{KEY[cut:]}"'):
        assert [one.value for one in keys.find(said)] == [KEY]


async def test_restarted_between_the_halves_a_large_one_is_gone_on_with(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.send(f"use {KEY[:30]}")
    await stage.asked()
    await stage.phone.wait_for(lambda m: f"Stored as {NAME}" in m.text)
    await stage.kill_bot()
    assert in_clear(stage, KEY) == set()
    (second,) = stage.phone.send(KEY[30:])
    await stage.start_bot()
    await stage.phone.until(lambda: stage.phone.message(second.id) is None)
    await stage.until(lambda: stage.phone.transcript().count("Stored as") == 2)
    assert await stage.vault.get(NAME) == KEY
    assert len(stage.door.asked) == 1
    await stage.stop_bot()
    assert in_clear(stage, KEY) == set()


async def test_a_flood_of_halves_leaves_nothing_of_them_in_clear(stage: Stage) -> None:
    halves = [f"ghp_{n:02d}x81kQpLmN0vT7yWc2RfJ" for n in range(12)]
    await stage.start_bot()
    sent = [stage.phone.send(f"use {half}")[0] for half in halves]
    for one in sent:
        await stage.phone.until(lambda one=one: stage.phone.message(one.id) is None)  # type: ignore[misc]
    await stage.asked(len(halves))
    await stage.stop_bot()
    for half in halves:
        assert in_clear(stage, half, 12) == set()


async def test_of_many_places_few_ends_are_remembered_and_none_lies_in_clear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ended, "MOST_PLACES", 3)
    home = Home(tmp_path / "home").make()
    create_keys(home)
    async with Database(home.bot_db, "bot") as database:
        ends = ended.Ends(Client(home.engine_sock), CardStore(database), read_key(home.vault_pub))
        for n in range(1, 10):
            body = {"text": f"use {KEY[:24]}", "date": n, "message_id": n, "message_thread_id": n}
            one = Arrived(n, {"message": body}, Allowed(owner=42, chat=42, kind="message"))
            await ends.end([one], two_goes.Tail("use ", KEY[:24], NAME))
        assert len(ends._last) == 3
    there = b"".join(path.read_bytes() for path in home.root.rglob("*") if path.is_file())
    assert KEY[:24].encode() not in there
