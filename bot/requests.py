"""A message or a tap -> one call of the engine's door, and what is answered to it.

inbox.py calls `Requests.handle` with one message at a time, and again while the engine is away: each
call carries a cause made of the update's id, so the engine does nothing twice. Here it is put together:
taps.py, messages.py (which hands commands.py what begins with a slash) and edits.py.
"""

import time
from collections.abc import Callable, Sequence

import telegram
from msgspec.structs import replace

from bot import key_panel, logins
from bot.cards import Cards
from bot.commands import Commands
from bot.edits import Edits
from bot.file_back import FileBack
from bot.fleet import Accounts, Machines
from bot.group_panel import GroupPanel
from bot.groups import Groups
from bot.heard import answered_in
from bot.in_group import InGroup
from bot.inbox import Arrived, Reply
from bot.kept import KeptRules
from bot.key_panel import KeyPanel
from bot.messages import Messages
from bot.on_phone import asked_by
from bot.outbox import Outbox
from bot.owners import OwnersPanel, Take
from bot.panels import Engine, Panel, Panels
from bot.pasted import Pasted
from bot.pin_pad import PinPad
from bot.plan_panel import PlanPanel
from bot.projects import Projects
from bot.sealed_prompt import SealedPrompts
from bot.sent import Sending
from bot.settings import Settings
from bot.stops import Which
from bot.taps import TAP_S, Taps
from engine.api import on_behalf_of
from stores.attached import Attached
from stores.cards import CardStore

PANELS: tuple[Panel, ...] = (
    Projects(),
    Machines(),
    Accounts(),
    Settings(),
    PlanPanel(),
    KeptRules(),
    Which("stop"),
    Which("resume"),
)

# What is typed next is a secret: by the verb of the prompt that asks.
SECRETS = (*logins.KINDS, *key_panel.KINDS)


class Requests:
    """Turns what owners send into calls.

    public   the vault's public key
    """

    def __init__(
        self,
        bot: telegram.Bot,
        engine: Engine,
        outbox: Outbox,
        store: CardStore,
        cards: Cards,
        groups: Groups,
        *,
        public: bytes,
        attached: Attached,
        panels: Sequence[Panel] = PANELS,
        tap_s: float = TAP_S,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._outbox = outbox
        self.sealed = SealedPrompts(bot, engine, outbox, store, SECRETS, public=public)
        pads = PinPad()

        def link(code: str) -> str:
            return f"https://t.me/{bot.username}?start={code}"

        def into_group(code: str) -> str:
            return f"https://t.me/{bot.username}?startgroup={code}"

        shown = Panels(
            engine,
            [
                *panels,
                KeyPanel(store, self.sealed),
                pads,
                OwnersPanel(pads, link),
                GroupPanel(pads, into_group),
                Take(),
            ],
            zone=lambda: cards.zone,
            wall=wall,
            card=lambda name: cards.live.get(name),
            live=lambda: list(cards.live.values()),
        )
        pasted = Pasted(bot, engine, outbox, store, public)
        file_back = FileBack(engine, cards)
        self._taps = Taps(bot, engine, outbox, cards, shown, pads, tap_s=tap_s)
        self._edits = Edits(engine, store, cards, pasted)
        commands = Commands(engine, store, cards, shown, file_back, wall=wall)
        sending = Sending(bot, attached)
        self._messages = Messages(
            engine,
            outbox,
            shown,
            commands,
            file_back,
            cards,
            pasted=pasted,
            sending=sending,
            sealed=self.sealed,
        )
        self._in_group = InGroup(bot, engine, groups, commands, pasted, sending)

    async def handle(self, parts: Sequence[Arrived]) -> Reply:
        """Act on one message or tap. Raises Unavailable: then nothing is lost by asking again."""
        with on_behalf_of(asked_by(parts)):
            reply = await self._done(parts)
        goal = self._topic(parts[0])
        return replace(reply, items=answered_in(goal, reply.items)) if goal else reply

    def _topic(self, one: Arrived) -> str:
        """Return the goal in whose topic a message was written: what is answered stands there too."""
        thread = int(one.body.get("message_thread_id") or 0)
        if one.by.kind == "callback_query" or not one.body.get("is_topic_message"):
            return ""
        return self._outbox.goal_of_thread(one.by.chat, thread)

    async def _done(self, parts: Sequence[Arrived]) -> Reply:
        if parts[0].by.in_group:
            return await self._in_group.handle(parts)
        match parts[0].by.kind:
            case "callback_query":
                return await self._taps.handle(parts[0])
            case "message":
                return await self._messages.handle(parts)
            case "edited_message":
                return await self._edits.handle(parts[0])
            case _:
                return Reply()
