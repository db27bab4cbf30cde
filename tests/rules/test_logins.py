"""Logins made from the phone, as the fleet's rule has them."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from engine import board
from engine.adapters import sign_in
from engine.errors import Refused
from engine.rules import fleet, logins
from engine.rules.effects import Say
from engine.rules.events import (
    AccountAdded,
    AccountRemoved,
    AccountRested,
    FleetEvent,
    LoginBegun,
    LoginCancelled,
    LoginDone,
    LoginFailed,
    LoginShown,
    LoginTyped,
    SlotWanted,
)
from engine.rules.fleet import Fleet
from engine.rules.logins import Stage
from engine.rules.words import HERE, Account
from engine.views import LoginCard

MAIN = Account(name="main", agent="claude", secret_env=("ANTHROPIC_API_KEY",))
BEGUN = LoginBegun(account="main", login="l-1", machine="here", at=2.0)
LINK = "https://claude.com/x"


def after(*events: FleetEvent, now: Fleet | None = None) -> Fleet:
    state = now or fleet.begin("fleet")
    for event in events:
        state, _ = fleet.decide(state, event)
    return state


def card(state: Fleet) -> LoginCard:
    (found,) = board.general({"fleet": state})
    assert isinstance(found, LoginCard)
    return found


def test_an_account_without_a_login_waits_with_a_card() -> None:
    state = after(AccountAdded(account=MAIN, signed_in=False, at=1.0))
    shown = card(state)
    assert (shown.stage, shown.buttons, shown.asks) == ("needed", ("log_in", "token"), True)
    state = after(SlotWanted(run="s-1-t1", teller="session/s-1", account="main"), now=state)
    assert state.wanting[0].told == "account main: not signed in"


def test_a_login_shows_its_link_takes_what_is_typed_and_ends_the_waiting() -> None:
    state = after(
        AccountAdded(account=MAIN, at=1.0),
        AccountRested(name="main", until=0.0, why="Token expired.", at=1.5),
        SlotWanted(run="s-1-t1", teller="session/s-1", account="main"),
        BEGUN,
    )
    assert (card(state).stage, card(state).buttons) == ("starting", ("cancel",))
    revision, where = card(state).revision, card(state).id
    state = after(LoginShown(login="l-1", link=LINK, asks=True), now=state)
    assert (card(state).stage, card(state).buttons) == ("open", ("code", "cancel"))
    assert (card(state).revision, card(state).id) == (revision, where)
    state = after(LoginTyped(login="l-1"), now=state)
    assert (card(state).stage, card(state).buttons) == ("checking", ("cancel",))
    done, effects = fleet.decide(state, LoginDone(login="l-1", secret="CLAUDE_CODE_OAUTH_TOKEN"))
    assert done.accounts == (replace(MAIN, secret_env=("CLAUDE_CODE_OAUTH_TOKEN",)),)
    assert (done.rests, done.logins, board.general({"fleet": done})) == ((), (), [])
    assert any(isinstance(said, Say) and "goes on" in said.text for said in effects)


def test_one_that_fails_says_why_and_another_is_begun() -> None:
    state = after(AccountAdded(account=MAIN, signed_in=False), BEGUN)
    state = after(LoginFailed(login="l-1", why="it ended with 1", words="No."), now=state)
    shown = card(state)
    assert (shown.stage, shown.why, shown.words) == ("failed", "it ended with 1", "No.")
    assert shown.buttons == ("again", "token")
    again = after(replace(BEGUN, login="l-2"), now=state)
    assert (again.logins[0].id, again.logins[0].stage) == ("l-2", Stage.STARTING)
    assert card(again).revision != shown.revision


@pytest.mark.parametrize("late", [LoginDone(login="l-1", secret="X"), LoginShown(login="l-1")])
def test_what_comes_of_a_login_that_was_given_up_changes_nothing(
    late: LoginDone | LoginShown,
) -> None:
    state = after(AccountAdded(account=MAIN, signed_in=False), BEGUN, LoginCancelled(login="l-1"))
    assert (card(state).stage, state.logins) == ("needed", ())
    assert after(late, now=state) == state
    assert after(LoginTyped(login="l-1"), now=state) == state
    with pytest.raises(Refused, match="not under way"):
        fleet.decide(state, LoginCancelled(login="l-1"))


def test_an_account_has_one_login_at_a_time_and_none_once_it_is_another_or_gone() -> None:
    state = after(AccountAdded(account=MAIN), BEGUN)
    with pytest.raises(Refused, match="is under way"):
        fleet.decide(state, replace(BEGUN, login="l-2"))
    with pytest.raises(Refused, match="no account other"):
        fleet.decide(state, replace(BEGUN, account="other"))
    assert after(AccountAdded(account=MAIN), now=state).logins == ()
    assert after(AccountRemoved(name="main"), now=state).logins == ()


def test_what_the_rule_says_of_agents_is_what_their_ways_are() -> None:
    assert tuple(sign_in.WAYS) == logins.BY_THEMSELVES
    assert tuple(name for name, way in sign_in.WAYS.items() if way.asks) == logins.TYPE_BACK


@pytest.mark.parametrize("way", [*sign_in.WAYS.values(), sign_in.BY_COMMAND])
def test_what_is_looked_for_in_a_login_s_output_repeats_nothing_without_end(
    way: sign_in.Way,
) -> None:
    """A node that looks has other work, and the program prints what it likes."""
    for pattern in way.finds.values():
        assert not re.search(r"(?<!\\)[*+]|,\}", pattern), pattern


def test_a_login_runs_where_its_agent_is_and_one_that_leaves_a_file_only_here() -> None:
    codex = Account(name="work", agent="codex")
    there = {HERE: (True, {}), "box": (True, {"claude": "/c", "codex": "/x"})}
    assert sign_in.machine_for(MAIN, there) == "box"
    with pytest.raises(Refused, match="codex is not installed here"):
        sign_in.machine_for(codex, there)
    assert sign_in.machine_for(codex, {HERE: (True, {"codex": "/x"})}) == HERE
    assert sign_in.machine_for(replace(codex, login_command="x y"), there) == HERE
    with pytest.raises(Refused, match="knows how rehearsal is signed in"):
        sign_in.machine_for(Account(name="a", agent="rehearsal"), there)


@pytest.mark.parametrize(
    ("link", "strange"),
    [
        ("https://claude.ai/oauth/authorize?x", False),
        ("https://claude.com.evil.example/oauth", True),
        ("https://claude.com@evil.example/oauth", True),
        ("https://claude.com:444/oauth", True),
        ("http://claude.com/oauth", True),
    ],
)
def test_a_link_elsewhere_is_marked(link: str, strange: bool) -> None:
    assert sign_in.is_strange(link, MAIN) is strange


def test_a_link_that_names_no_host_is_none() -> None:
    assert sign_in.openable("https://[broken/x") == ""
    assert sign_in.openable("https:///x") == ""
    assert sign_in.openable(LINK) == LINK
