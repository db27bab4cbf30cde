"""The card of an account that is not signed in, and of the login its owner began.

One for an account, however many of its runs wait. Pure. Neighbours: engine/rules/rests.py (why it waits),
engine/rules/logins.py (how far its login is).
"""

from __future__ import annotations

import hashlib

from engine.rules import logins
from engine.rules.fleet import Fleet
from engine.rules.logins import Login, Stage
from engine.rules.rests import Rest
from engine.rules.words import Account
from engine.views import LoginCard

GOES_ON = "What waits for it goes on by itself then."


def login_cards(fleet: Fleet) -> list[LoginCard]:
    """One for each account that needs a login, or has one under way."""
    rests = {rest.account: rest for rest in fleet.rests if rest.signed_out}
    tried = {login.account: login for login in fleet.logins}
    names = dict.fromkeys((*rests, *tried))
    return [_card(fleet, name, rests.get(name), tried.get(name)) for name in names]


def _card(fleet: Fleet, name: str, rest: Rest | None, login: Login | None) -> LoginCard:
    account = fleet.account(name) or Account(name=name, agent="")
    at = rest.at if rest else login.at if login else 0.0
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    why = f"{rest.why} {GOES_ON}".strip() if rest else ""
    card = LoginCard(
        id=f"login-{mark}-{int(at)}",
        at=at,
        account=name,
        agent=account.agent,
        stage="needed",
        types_back=logins.types_back(account),
        why=why,
        buttons=_ways(account, rest),
        asks=True,
    )
    return card if login is None else _tried(fleet, card, login, account, rest)


def _tried(
    fleet: Fleet, card: LoginCard, login: Login, account: Account, rest: Rest | None
) -> LoginCard:
    machine = fleet.machine(login.machine)
    buttons: tuple[str, ...] = ("code", "cancel") if login.asks else ("cancel",)
    if login.stage is Stage.FAILED:
        buttons = ("again", *_ways(account, rest)[1:])
    return LoginCard(
        id=card.id,
        at=card.at,
        account=card.account,
        agent=card.agent,
        stage=login.stage.value,
        login=login.id,
        machine=login.machine,
        link=login.link,
        strange=login.strange,
        code=login.code,
        asks_back=login.asks,
        types_back=card.types_back,
        why=login.why or card.why,
        words=login.words,
        unfenced=machine.fence if machine and not machine.fenced else "",
        buttons=buttons,
        asks=True,
    )


def _ways(account: Account, rest: Rest | None) -> tuple[str, ...]:
    """What can be pressed: the login first, if there is one, then a token, then that it was done."""
    own = ("log_in",) if logins.can_begin(account) else ()
    token = ("token",) if account.agent == "claude" else ()
    mended = ("retry",) if rest is not None and rest.why != logins.NO_LOGIN else ()
    return (*own, *token, *mended)
