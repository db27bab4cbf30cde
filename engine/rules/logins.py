"""Logins their owner makes from the phone: an account's agent asks for a link to be opened, a code typed back.

    Begun ──> STARTING ──> OPEN (a link, a code) ──> CHECKING (something was typed) ──> over
                 └──────────────┴──────────────────────┴──> FAILED: Try again, or another way

Part of fleet.py's rule: an account whose login is over goes on at once. What a login is asked, and what it
gives, is never here: a token is in the vault before its end is told. Nothing of it is an effect, since a
login that was cut off is not begun again by itself. Pure. Neighbours: engine/sign_ins.py runs one and
tells, rests.py is why an account waits, board/login_card.py shows both.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules.events import (
    LoginBegun,
    LoginCancelled,
    LoginFailed,
    LoginShown,
    LoginTyped,
)
from engine.rules.words import Account

BY_THEMSELVES = ("claude", "codex")  # agents whose own login we know how to run
TYPE_BACK = ("claude",)  # those of them that want a code typed back
NO_LOGIN = "It has no login yet."
CUT_OFF = "it was cut off"
NOT_OPEN = "That login is not under way any more. Its card begins another."
NOT_TYPED = (
    "That login is over, so what you sent was not typed in; it is deleted. Log in or Try again on its card "
    "begins another, which asks anew."
)


class Stage(StrEnum):
    STARTING = "starting"
    OPEN = "open"
    CHECKING = "checking"
    FAILED = "failed"


class Login(Struct, frozen=True, kw_only=True):
    """One try to sign an account in.

    asks     something must be typed back
    strange  its link leads to where this agent's pages are not known to be
    why      it failed; `words` are its program's own
    """

    account: str
    id: str
    machine: str
    stage: Stage = Stage.STARTING
    link: str = ""
    code: str = ""
    asks: bool = False
    strange: bool = False
    why: str = ""
    words: str = ""
    at: float = 0.0

    @property
    def live(self) -> bool:
        return self.stage is not Stage.FAILED


Logins = tuple[Login, ...]


def can_begin(account: Account) -> bool:
    """Whether there is a program that signs this account in."""
    return bool(account.login_command) or account.agent in BY_THEMSELVES


def types_back(account: Account) -> bool:
    """Whether it is known beforehand that a code must be typed back."""
    return not account.login_command and account.agent in TYPE_BACK


def of(logins: Logins, account: str) -> Login | None:
    return next((login for login in logins if login.account == account), None)


def named(logins: Logins, login: str) -> Login | None:
    """The one of this id, while it is under way."""
    return next((one for one in logins if one.id == login and one.live), None)


def without(logins: Logins, account: str) -> Logins:
    return tuple(login for login in logins if login.account != account)


def after(
    logins: Logins, event: LoginBegun | LoginShown | LoginTyped | LoginFailed | LoginCancelled
) -> Logins:
    """Return the logins as they stand after what befell one of them."""
    if isinstance(event, LoginBegun):
        return _begun(logins, event)
    known = named(logins, event.login)
    match event:
        case LoginCancelled() if known is None:
            raise Refused(NOT_OPEN)
        case _ if known is None:
            return logins  # of a try that was given up
        case LoginShown():
            return _with(logins, _shown(known, event))
        case LoginTyped():
            return _with(logins, replace(known, stage=Stage.CHECKING, asks=False))
        case LoginFailed(why=why, words=words):
            over = replace(known, stage=Stage.FAILED, why=why, words=words, asks=False)
            return _with(logins, replace(over, link="", code="", strange=False))
        case LoginCancelled():
            return without(logins, known.account)


def _begun(logins: Logins, event: LoginBegun) -> Logins:
    known = of(logins, event.account)
    if known is not None and known.live:
        raise Refused(f"A login of {event.account} is under way: its card shows the link.")
    fresh = Login(account=event.account, id=event.login, machine=event.machine, at=event.at)
    return (*without(logins, event.account), fresh)


def _shown(known: Login, event: LoginShown) -> Login:
    checks = known.stage is Stage.CHECKING and not event.asks
    return replace(
        known,
        stage=Stage.CHECKING if checks else Stage.OPEN,
        link=event.link,
        code=event.code,
        asks=event.asks,
        strange=event.strange,
    )


def signed_in(account: Account, secret: str, config_dir: str) -> Account:
    """The account as its login left it: a token of the vault, or a folder with its login."""
    return replace(
        account,
        secret_env=(secret,)
        if secret
        else (),  # an old token would go before what is in the folder
        config_dir=config_dir,  # nor is one asked for a file beside a token
    )


def _with(logins: Logins, login: Login) -> Logins:
    return tuple(login if one.id == login.id else one for one in logins)
