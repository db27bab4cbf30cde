"""What an owner types to sign an account in: a token, asked for and never seen in clear.

Neighbours: sealed_prompt.py (how it is taken in), fleet.py (the panel that asks), commands.py.
"""

from __future__ import annotations

import re

from bot import text, text_fleet
from bot.panels import Engine, verdict
from bot.sealed_prompt import Kind
from bot.unsaid import Item, Prompt, Say

TOKEN = "token"  # the verb of the prompts that ask for one
NEEDS_NONE = "rehearsal"


async def begin(engine: Engine, name: str, agent: str, cause: str) -> tuple[str, list[Item]]:
    """Ask for an account's token; add it at once where the agent needs none."""
    await engine.call("may_add_account", name=name, agent=agent)
    if agent == NEEDS_NONE:
        return verdict(await engine.call("add_account", cause=cause, name=name, agent=agent)), []
    prompt = Prompt(TOKEN, project=name, revision=agent)
    words = text.said(text_fleet.TOKEN.format(name=name, agent=agent))
    return "", [Say(words=words, prompt=prompt, placeholder=text_fleet.TOKEN_FIELD)]


async def _sign_in(engine: Engine, prompt: Prompt, sealed: bytes, cause: str) -> object:
    return await engine.call(
        "sign_in", cause=cause, name=prompt.project, agent=prompt.revision, sealed=sealed
    )


KINDS = (
    Kind(
        verb=TOKEN,
        keep=_sign_in,
        named=lambda prompt: text_fleet.TOKEN_OF.format(name=prompt.project),
        used=text_fleet.TOKEN_USED,
        as_text=text_fleet.TOKEN_AS_TEXT,
        bare=re.compile(r"(?!/)(?!\S*://)\S{16,}"),
    ),
)
