"""What an owner types to sign an account in, and never in clear: a token, or the code a login wants back.

Neighbours: sealed_prompt.py (how it is taken in), fleet.py (the panel that asks), taps.py (the card that
asks), text_login.py (the words).
"""

from __future__ import annotations

import re

from bot import text, text_fleet, text_login
from bot.cards import Cards
from bot.panels import Engine, verdict
from bot.sealed_prompt import Kind, SealedPrompts
from bot.unsaid import Item, Prompt, Say
from engine.views import AnyCard, LoginCard

TOKEN = "token"  # the verbs of the prompts that ask for one, and of the buttons that lead there
CODE = "code"
ASKING = (TOKEN, CODE)
BEGINS = ("log_in", "again")
NEEDS_NONE = "rehearsal"


async def close_over(cards: Cards, sealed: SealedPrompts) -> None:
    """Close the questions of logins that ended, however they did, until cancelled."""
    while True:
        await sealed.close(CODE, await cards.logins_over.get())


async def begin(engine: Engine, name: str, agent: str, cause: str) -> tuple[str, list[Item]]:
    """Add an account, whose card asks for a login then; of one there is, ask for another token."""
    await engine.call("may_add_account", name=name, agent=agent)
    if agent == NEEDS_NONE:
        return verdict(await engine.call("add_account", cause=cause, name=name, agent=agent)), []
    wanted = await engine.call("want_account", cause=cause, name=name, agent=agent)
    if not wanted["there"]:
        return verdict(wanted), []
    return "", [token_wanted(name, agent)]


def token_wanted(name: str, agent: str) -> Say:
    prompt = Prompt(TOKEN, project=name, revision=agent)
    words = text.said(text_fleet.TOKEN.format(name=name, agent=agent))
    return Say(words=words, prompt=prompt, placeholder=text_fleet.TOKEN_FIELD)


def code_wanted(name: str) -> Say:
    words = text.said(text_login.CODE.format(name=name))
    prompt = Prompt(CODE, project=name)
    return Say(words=words, prompt=prompt, placeholder=text_login.CODE_FIELD)


def asked_by(card: AnyCard | None, verb: str) -> Say | None:
    """Return what a button of a login's card asks for, before anything is decided."""
    if not isinstance(card, LoginCard) or verb not in card.buttons or verb not in ASKING:
        return None
    return code_wanted(card.account) if verb == CODE else token_wanted(card.account, card.agent)


def asked_after(card: AnyCard | None, verb: str) -> tuple[Item, ...]:
    """Return what a login that was just begun is known to want."""
    if isinstance(card, LoginCard) and verb in BEGINS and card.types_back:
        return (code_wanted(card.account),)
    return ()


async def _sign_in(engine: Engine, prompt: Prompt, sealed: bytes, cause: str) -> object:
    return await engine.call(
        "sign_in", cause=cause, name=prompt.project, agent=prompt.revision, sealed=sealed
    )


async def _answer(engine: Engine, prompt: Prompt, sealed: bytes, cause: str) -> object:
    return await engine.call("answer_login", cause=cause, name=prompt.project, sealed=sealed)


KINDS = (
    Kind(
        verb=TOKEN,
        keep=_sign_in,
        named=lambda prompt: text_fleet.TOKEN_OF.format(name=prompt.project),
        used=text_fleet.TOKEN_USED,
        as_text=text_fleet.TOKEN_AS_TEXT,
        bare=re.compile(r"(?!/)(?!\S*://)\S{16,}"),
    ),
    Kind(
        verb=CODE,
        keep=_answer,
        named=lambda prompt: text_login.CODE_OF.format(name=prompt.project),
        used=text_login.CODE_USED,
        as_text=text_login.CODE_AS_TEXT,
        bare=re.compile(r"(?!/)(?!\S*://)(?=\S*[#\d])\S{6,}"),
        kept=False,
        goes=True,
    ),
)
