"""A tap -> one call of the engine's door, and what the phone is told at once.

A tap is told its verdict within 800 ms or "Noted"; then its card tells, or a message. Neighbours:
buttons.py (what a button carries), panels.py (the taps that are no card's), messages.py.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import telegram
from msgspec.structs import replace
from telegram.error import BadRequest, InvalidToken, TelegramError

from bot import buttons, logins, text, text_board, text_drop, text_live, text_owners, text_stakes
from bot.buttons import Pressed
from bot.cards import Cards
from bot.entities import units
from bot.heard import as_view, prompt_for, said
from bot.inbox import Arrived, Reply
from bot.on_phone import under_tap
from bot.outbox import Outbox
from bot.panels import Engine, Panels, Then, verdict
from bot.pin_pad import PinPad
from bot.text import Words
from bot.text_drop import DROP_IT, KEEP_IT
from bot.unsaid import Edit, Item, Prompt, Say, Weight
from bot.wordless import wordless
from engine.api import Missing, saw
from engine.errors import Refused, Unavailable
from engine.views import NEEDS_TEXT, AnyCard, Document, Peek, ReviewCard, SessionCard, parted

log = logging.getLogger(__name__)

T = TypeVar("T")

TAP_S = 0.8
NOTED = "Noted"
KEPT = "Kept: done once the engine is back"
ANSWER_UNITS = 190
READS = ("diff", "peek")
LATE = "late taps"


class Taps:
    """Turns taps into calls.

    tap_s   how long a tap waits for its verdict
    """

    def __init__(
        self,
        bot: telegram.Bot,
        engine: Engine,
        outbox: Outbox,
        cards: Cards,
        panels: Panels,
        pads: PinPad,
        *,
        tap_s: float = TAP_S,
    ) -> None:
        self._bot = bot
        self._engine = engine
        self._outbox = outbox
        self._cards = cards
        self._panels = panels
        self._pads = pads
        self._tap_s = tap_s
        self._answers: set[asyncio.Task[None]] = set()
        self._noted: set[str] = set()  # taps that were answered so, and are not done yet

    async def handle(self, one: Arrived) -> Reply:
        """Act on one tap. Raises Unavailable: then nothing is lost by asking again."""
        reply = await self._pressed(one)
        self._noted.discard(str(one.body.get("id", "")))
        return reply

    async def _pressed(self, one: Arrived) -> Reply:
        query = one.body
        pressed = buttons.decode(str(query.get("data", "")))
        if pressed is None:
            self._answer(query, "This button is none of mine.", alert=True)
            return Reply()
        message = query.get("message") or {}
        goal = self._goal(pressed.card, message, one.by.chat)
        saw(under_tap(message, pressed, self._cards))
        if pressed.card == text_board.SHOW:
            card = self._cards.live.get(pressed.verb)
            if card is not None and (chat := self._cards.chat_of(card)) != one.by.chat:
                if self._cards.goal_of(card.id):
                    return await self._opened(query, f"take-{card.goal}", "")
                self._answer(query, text_owners.moved(self._cards.called(chat)), alert=True)
                return Reply()
            shown = self._cards.again(pressed.verb)
            there = text_board.IN_TOPIC if self._cards.in_topics else text_board.BELOW
            if not shown or not self._cards.goal_of(pressed.verb):
                there = text_board.BELOW if shown else text.NOT_THERE
            self._answer(query, there, alert=not shown)
            return Reply()
        if self._panels.knows(pressed.card):
            return await self._panel_tap(one, pressed, goal)
        if message.get("message_id") and pressed.verb not in READS:  # a look leaves all as it is
            await self._outbox.seen(pressed.card, one.by.chat, int(message["message_id"]))
        sure = self._sure(pressed, message, goal)
        secret = logins.asked_by(self._cards.live.get(pressed.card), pressed.verb)
        pinned = self._takes_pin(pressed)
        asks = pressed.verb in NEEDS_TEXT or any(
            what is not None for what in (sure, secret, pinned)
        )
        if self._cards.locked and asks:
            self._answer(query, text.LOCKED, alert=True)  # rather than ask for what is refused then
            return Reply()
        if pressed.verb in NEEDS_TEXT:
            self._answer(query, "")
            prompt = Prompt(pressed.verb, pressed.card, pressed.revision)
            return Reply((prompt_for(prompt, goal),))
        if secret is not None:
            self._answer(query, "")
            return Reply((secret,))
        if panel := self._panels.behind(pressed.card, pressed.verb):
            return await self._opened(query, panel, goal)
        if sure is not None:
            self._answer(query, "")
            return Reply((sure,))
        if pinned is not None:
            before = under_tap(message, pressed, self._cards)
            pad = self._pads.for_card(pinned, parted(pressed.verb)[0], before, self._outbox.wall())
            return await self._opened(query, pad, goal)
        if pressed.verb == DROP_IT:
            pressed = replace(pressed, verb="drop")
        follows = logins.asked_after(self._cards.live.get(pressed.card), pressed.verb)
        call = self._asked_by(pressed, f"telegram:{one.update_id}")
        result = await self._in_time(query, call, lambda found: (verdict(found), False), pressed)
        if isinstance(result, Reply):
            return result
        if pressed.verb not in READS:
            return Reply(follows)
        if pressed.verb == "peek":
            return Reply(self._peeked(as_view(result, Peek), pressed.card, goal))
        found = as_view(result, Document)
        return Reply(tuple(Say(words=w, goal=goal) for w in text.document(found)))

    async def _in_time(
        self,
        query: dict[str, Any],
        call: Awaitable[T],
        told: Callable[[T], tuple[str, bool]],
        pressed: Pressed | None = None,
    ) -> T | Reply:
        """Return what a call gives, once the tap is told its verdict; "Noted" if it takes long.

        A refusal is told too; what is left to be said then is the Reply.
        """
        asked = asyncio.ensure_future(call)
        ended, _ = await asyncio.wait({asked}, timeout=self._tap_s)
        if not ended:
            self._note(query)
        done = str(query.get("id", "")) not in self._noted
        try:
            result = await asked
        except Refused as refusal:
            if done:
                self._answer(query, refusal.sentence, alert=True)
                return Reply()
            return self._too_late(pressed, refusal.sentence)
        except Missing as away:
            if pressed and pressed.verb in READS:  # nobody waits for hours to be shown something
                sentence = f"{away.sentence.rstrip('.')}. Press it again later."
                if done:
                    self._answer(query, sentence, alert=True)
                    return Reply()
                return Reply((said(sentence),))
            if done:
                self._note(query)
            raise
        except Unavailable:
            if done:
                self._note(query, KEPT)
            raise
        if done:
            sentence, alert = told(result)
            self._answer(query, sentence, alert=alert)
        return result

    def _note(self, query: dict[str, Any], words: str = NOTED) -> None:
        """Answer "Noted": there is no second answer, so what comes of it is told otherwise."""
        self._noted.add(str(query.get("id", "")))
        self._answer(query, words)

    def _sure(self, pressed: Pressed, message: dict[str, Any], goal: str) -> Edit | None:
        """Return what a card says in its place before a goal is dropped, or once it is kept.

        Likewise between the two taps of what cannot be undone.

        None: there is nothing to ask. What is shown goes as soon as the card changes.
        """
        card = self._cards.live.get(pressed.card)
        if card is not None and card.twice:
            return self._twice(card, pressed, message, goal)
        if not isinstance(card, ReviewCard | SessionCard) or "drop" not in card.buttons:
            return None
        if pressed.verb not in ("drop", KEEP_IT) or not message.get("message_id"):
            return None
        drops = pressed.verb == "drop"
        return Edit(
            message_id=int(message["message_id"]),
            words=text_drop.sure(card) if drops else self._cards.words(card),
            goal=goal,
            card=card.id,
            revision=pressed.revision if drops else card.revision,
            below=card.asks,
        )

    def _takes_pin(self, pressed: Pressed) -> AnyCard | None:
        """Return the card whose button is to be followed by the PIN, None where it takes none now."""
        card = self._cards.live.get(pressed.card)
        verb, second = parted(pressed.verb)
        if card is None or not self._cards.pin or pressed.revision != card.revision:
            return None
        return card if verb in card.pinned and (second or verb not in card.twice) else None

    def _twice(
        self, card: AnyCard, pressed: Pressed, message: dict[str, Any], goal: str
    ) -> Edit | None:
        """Return what a card says between the two taps of what cannot be undone, and after Back.

        None: it is no matter of this card as it stands now, so the engine says what there is to say.
        """
        if not message.get("message_id") or pressed.revision != card.revision:
            return None
        words = self._cards.words(card)
        if pressed.verb in card.twice:
            words = text_stakes.second(card, pressed.verb, words)
        elif pressed.verb != text_stakes.BACK:
            return None
        return Edit(
            message_id=int(message["message_id"]),
            words=words,
            goal=goal,
            card=card.id,
            revision=card.revision,
            below=card.asks,
        )

    def _asked_by(self, pressed: Pressed, cause: str) -> Awaitable[Any]:
        """Return the call a button stands for."""
        if pressed.verb == "peek":
            return self._engine.call("peek", card=pressed.card)
        if pressed.verb in READS:
            return self._engine.call("document", card=pressed.card, what=pressed.verb)
        return self._engine.call(
            "tap",
            cause=cause,
            card=pressed.card,
            revision=pressed.revision,
            verb=pressed.verb,
            text="",
        )

    def _too_late(self, pressed: Pressed | None, sentence: str) -> Reply:
        """A tap that was answered "Noted" came to nothing: its card tells why, or one message does.

        Several such sentences that wait to be said are said together.
        """
        if pressed is None:
            return Reply((said(sentence),))
        card = self._cards.live.get(pressed.card)
        if card is None or pressed.verb not in card.buttons or card.revision != pressed.revision:
            return Reply()
        return Reply((Say(words=text.said(sentence), goal=card.goal, speaker=LATE),))

    async def _panel_tap(self, one: Arrived, pressed: Pressed, goal: str) -> Reply:
        message = one.body.get("message") or {}
        call = self._panels.press(
            pressed,
            message_id=int(message.get("message_id", 0)),
            goal=goal,
            cause=f"telegram:{one.update_id}",
            chat=one.by.chat,
        )
        then = await self._in_time(one.body, call, self._told_of_panel)
        if isinstance(then, Reply):
            return then
        if self._asks_while_locked(then):
            return Reply()
        late = str(one.body.get("id", "")) in self._noted
        told = (Say(words=text.said(then.said), goal=goal),) if late and then.alert else ()
        return Reply((*then.items, *told))

    def _told_of_panel(self, then: Then) -> tuple[str, bool]:
        return (text.LOCKED, True) if self._asks_while_locked(then) else (then.said, then.alert)

    def _asks_while_locked(self, then: Then) -> bool:
        """Return whether a line would be asked for that is refused as long as it is locked."""
        asks = any(isinstance(item, Say) and item.prompt is not None for item in then.items)
        return asks and self._cards.locked

    async def _opened(self, query: dict[str, Any], panel: str, goal: str) -> Reply:
        say = await self._in_time(query, self._panels.open(panel, goal), lambda _: ("", False))
        return say if isinstance(say, Reply) else Reply((say,))

    def _answer(self, query: dict[str, Any], sentence: str, *, alert: bool = False) -> None:
        """Tell the phone, at once and beside everything else; that it fails matters nothing."""
        task = asyncio.create_task(self._answering(query, sentence, alert))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _answering(self, query: dict[str, Any], whole: str, alert: bool) -> None:
        sentence = whole
        while units(sentence) > ANSWER_UNITS:
            sentence = f"{sentence[: ANSWER_UNITS // 2].rstrip('…')}…"
        try:
            await self._bot.answer_callback_query(
                str(query.get("id", "")), sentence or None, show_alert=alert
            )
        except InvalidToken:
            raise
        except BadRequest:
            # Too late for an answer: a refusal must be heard all the same, what was done its card tells.
            log.info("tap too old to be answered")
            chat = ((query.get("message") or {}).get("chat") or query.get("from") or {}).get("id")
            if alert and chat:
                late = Say(words=text.said(whole), speaker=LATE)
                await self._outbox.say(int(chat), Weight.ANSWER, late)
        except TelegramError as error:
            log.info("tap not answered why=%s", type(error).__name__)

    def _goal(self, card: str, message: dict[str, Any], chat: int) -> str:
        thread = int(message.get("message_thread_id") or 0)
        return self._cards.goal_of(card) or self._outbox.goal_of_thread(chat, thread)

    def _peeked(self, view: Peek, card: str, goal: str) -> tuple[Item, ...]:
        """Return what a Peek shows: the newest is the only one there is of a card, and silent."""
        if view.words is not None:
            return tuple(Say(words=words, goal=goal) for words in text.document(view.words))
        words = text.said("This cannot be shown: the log says why.")
        with wordless(f"a peek at {card}"):
            words = Words(text_live.peek(view, self._cards.zone, self._outbox.wall()))
        return (Say(words=words, goal=goal, card=card, instead=f"peek {card}"),)
