"""A message or a tap -> one call of the engine's door, and what is answered to it.

inbox.py calls `Requests.handle` with one message at a time, and again while the engine is away: each
call carries a cause made of the update's id, so the engine does nothing twice. Here it is put together:
taps.py, messages.py (which hands commands.py what begins with a slash) and edits.py.
"""

import time
from collections.abc import Callable, Sequence

import telegram

from bot.cards import Cards
from bot.commands import Commands
from bot.edits import Edits
from bot.file_back import FileBack
from bot.fleet import Accounts, Machines
from bot.inbox import Arrived, Reply
from bot.kept import KeptRules
from bot.logins import Logins
from bot.messages import Messages
from bot.outbox import Outbox
from bot.panels import Engine, Panel, Panels
from bot.pasted import Pasted
from bot.plan_panel import PlanPanel
from bot.projects import Projects
from bot.sent import Sending
from bot.settings import Settings
from bot.taps import TAP_S, Taps
from stores.attached import Attached
from stores.cards import CardStore

PANELS: tuple[Panel, ...] = (
    Projects(),
    Machines(),
    Accounts(),
    Settings(),
    PlanPanel(),
    KeptRules(),
)


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
        *,
        public: bytes,
        attached: Attached,
        panels: Sequence[Panel] = PANELS,
        tap_s: float = TAP_S,
        wall: Callable[[], float] = time.time,
    ) -> None:
        shown = Panels(
            engine, panels, zone=lambda: cards.zone, card=lambda name: cards.live.get(name)
        )
        pasted = Pasted(bot, engine, outbox, public)
        file_back = FileBack(engine, cards)
        self._taps = Taps(bot, engine, outbox, cards, shown, tap_s=tap_s)
        self._edits = Edits(engine, store, cards, pasted)
        self._messages = Messages(
            engine,
            outbox,
            store,
            shown,
            Commands(engine, store, cards, shown, file_back, wall=wall),
            file_back,
            pasted=pasted,
            sending=Sending(bot, attached),
            logins=Logins(bot, engine, store, public=public),
        )

    async def handle(self, parts: Sequence[Arrived]) -> Reply:
        """Act on one message or tap. Raises Unavailable: then nothing is lost by asking again."""
        match parts[0].by.kind:
            case "callback_query":
                return await self._taps.handle(parts[0])
            case "message":
                return await self._messages.handle(parts)
            case "edited_message":
                return await self._edits.handle(parts[0])
            case _:
                return Reply()
