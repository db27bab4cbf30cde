"""A message or a tap -> one call of the engine's door, and what is answered to it.

Keys are taken out before anything else is looked at. A tap is told its verdict within 800 ms or
"Noted"; then its card tells. Commands come in the owner's own words only: forwarded text is passed
on as a quote and orders nothing. What looks like a mistyped command starts nothing, it suggests.

inbox.py calls `Requests.handle` with one message at a time, and again while the engine is away: each
call carries a cause made of the update's id, so the engine does nothing twice.
"""

import asyncio
import difflib
import logging
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import msgspec
import telegram
from msgspec import Struct
from telegram.error import InvalidToken, TelegramError

from bot import (
    buttons,
    file_back,
    keys,
    logins,
    text,
    text_files,
    text_fleet,
    text_live,
    text_places,
    text_start,
)
from bot.buttons import Pressed
from bot.cards import Cards
from bot.entities import TEXT_LIMIT, units
from bot.file_back import FileBack
from bot.fleet import Accounts, Machines, offer_page
from bot.inbox import Arrived, Reply, in_order
from bot.kept import KeptRules
from bot.logins import Logins
from bot.outbox import Outbox
from bot.panels import Engine, Panel, Panels, verdict
from bot.pasted import Pasted
from bot.plan_panel import PlanPanel
from bot.projects import Projects, wanted
from bot.sent import Sending, Sent
from bot.settings import NAMES, OF_LEADS, Settings
from bot.settings_project import panel_of
from bot.text import Words
from bot.unsaid import Item, Prompt, React, Say
from engine.api import Missing
from engine.errors import Refused, Unavailable
from engine.views import (
    NEEDS_TEXT,
    Attachment,
    Board,
    Document,
    OwnerView,
    Peek,
    ProjectView,
    SessionCard,
)
from stores.attached import Attached
from stores.cards import CardStore, Told

log = logging.getLogger(__name__)

T = TypeVar("T")

TAP_S = 0.8
ANSWER_UNITS = 190
LATE_S = 3600
# A verdict of so few words ("on it", "Started in shop") is said by a reaction alone.
BRIEF = 4
READS = ("diff", "peek")
LATE = "late taps"
FUTURE = ("chief", "budget", "usage", "schedules", "keys", "catchup")
PANELS: tuple[Panel, ...] = (
    Projects(),
    Machines(),
    Accounts(),
    Settings(),
    PlanPanel(),
    KeptRules(),
)
BARE = ("stop", "status", "resume", "help", "start", "new", "asks", "projects", "health", "cancel")


class Heard(Struct, frozen=True, kw_only=True):
    """One message, whole, with its keys taken out."""

    cause: str
    chat: int
    message_id: int
    date: float
    text: str
    quoted: bool  # the words are not the owner's own
    goal: str
    card: str
    prompt: Prompt | None
    files: tuple[Attachment, ...] = ()

    @property
    def along(self) -> dict[str, Any]:
        """What is passed on with the words, if anything is."""
        return {"files": self.files} if self.files else {}


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
        self._bot = bot
        self._engine = engine
        self._outbox = outbox
        self._store = store
        self._cards = cards
        self._pasted = Pasted(bot, engine, outbox, public)
        self._file_back = FileBack(engine, cards)
        self._sending = Sending(bot, attached)
        self._logins = Logins(bot, engine, store, public=public)
        self._tap_s = tap_s
        self._wall = wall
        self._answers: set[asyncio.Task[None]] = set()
        self._noted: set[str] = set()  # taps that were answered so, and are not done yet
        self._panels = Panels(
            engine, panels, zone=lambda: cards.zone, card=lambda name: cards.live.get(name)
        )

    async def handle(self, parts: Sequence[Arrived]) -> Reply:
        """Act on one message or tap. Raises Unavailable: then nothing is lost by asking again."""
        match parts[0].by.kind:
            case "callback_query":
                reply = await self._tap(parts[0])
                self._noted.discard(str(parts[0].body.get("id", "")))
                return reply
            case "message":
                return await self._message(parts)
            case "edited_message":
                return await self._edited(parts[0])
            case _:
                return Reply()

    # ---- taps

    async def _tap(self, one: Arrived) -> Reply:
        query = one.body
        pressed = buttons.decode(str(query.get("data", "")))
        if pressed is None:
            self._answer(query, "This button is none of mine.", alert=True)
            return Reply()
        message = query.get("message") or {}
        goal = self._goal(pressed.card, message, one.by.chat)
        if self._panels.knows(pressed.card):
            return await self._panel_tap(one, pressed, goal)
        if message.get("message_id"):
            await self._outbox.seen(pressed.card, one.by.chat, int(message["message_id"]))
        if pressed.verb in NEEDS_TEXT:
            self._answer(query, "")
            prompt = Prompt(pressed.verb, pressed.card, pressed.revision)
            return Reply((self._prompt(prompt, goal),))
        if panel := self._panels.behind(pressed.card, pressed.verb):
            return await self._opened(query, panel, goal)
        call = self._asked_by(pressed, f"telegram:{one.update_id}")
        result = await self._in_time(query, call, lambda found: (verdict(found), False), pressed)
        if isinstance(result, Reply) or pressed.verb not in READS:
            return result if isinstance(result, Reply) else Reply()
        if pressed.verb == "peek":
            return Reply(_peeked(_as(result, Peek), pressed.card, goal))
        found = _as(result, Document)
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
                return Reply((self._said(sentence),))
            if done:
                self._note(query)
            raise
        except Unavailable:
            if done:
                self._note(query)
            raise
        if done:
            sentence, alert = told(result)
            self._answer(query, sentence, alert=alert)
        return result

    def _note(self, query: dict[str, Any]) -> None:
        """Answer "Noted": there is no second answer, so what comes of it is told otherwise."""
        self._noted.add(str(query.get("id", "")))
        self._answer(query, "Noted")

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
            return Reply((self._said(sentence),))
        card = self._cards.live.get(pressed.card)
        if card is None or pressed.verb not in card.buttons or card.revision != pressed.revision:
            return Reply()
        return Reply((Say(words=text.said(sentence), goal=card.goal, speaker=LATE),))

    # ---- panels

    async def _panel_tap(self, one: Arrived, pressed: Pressed, goal: str) -> Reply:
        message = one.body.get("message") or {}
        call = self._panels.press(
            pressed,
            message_id=int(message.get("message_id", 0)),
            goal=goal,
            cause=f"telegram:{one.update_id}",
        )
        then = await self._in_time(one.body, call, lambda then: (then.said, then.alert))
        if isinstance(then, Reply):
            return then
        late = str(one.body.get("id", "")) in self._noted
        told = (Say(words=text.said(then.said), goal=goal),) if late and then.alert else ()
        return Reply((*then.items, *told))

    async def _opened(self, query: dict[str, Any], panel: str, goal: str) -> Reply:
        say = await self._in_time(query, self._panels.open(panel, goal), lambda _: ("", False))
        return say if isinstance(say, Reply) else Reply((say,))

    async def _typed(self, heard: Heard, prompt: Prompt) -> list[Item]:
        """Hand a panel the line it asked for; a line that will not do may be typed again."""
        pressed = Pressed(prompt.card, prompt.revision, prompt.verb)
        then = await self._panels.press(
            pressed,
            message_id=prompt.message,
            goal=heard.goal,
            cause=heard.cause,
            line=heard.text,
        )
        return [*then.items, *self._receipt(heard, then.said)]

    def _answer(self, query: dict[str, Any], sentence: str, *, alert: bool = False) -> None:
        """Tell the phone, at once and beside everything else; that it fails matters nothing."""
        task = asyncio.create_task(self._answering(str(query.get("id", "")), sentence, alert))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _answering(self, query: str, sentence: str, alert: bool) -> None:
        while units(sentence) > ANSWER_UNITS:
            sentence = f"{sentence[: ANSWER_UNITS // 2].rstrip('…')}…"
        try:
            await self._bot.answer_callback_query(query, sentence or None, show_alert=alert)
        except InvalidToken:
            raise
        except TelegramError as error:
            log.info("tap not answered why=%s", type(error).__name__)

    def _goal(self, card: str, message: dict[str, Any], chat: int) -> str:
        thread = int(message.get("message_thread_id") or 0)
        return self._cards.goal_of(card) or self._outbox.goal_of_thread(chat, thread)

    def _prompt(self, prompt: Prompt, goal: str) -> Say:
        sentence, placeholder = text.PROMPTS[prompt.verb]
        return Say(words=text.said(sentence), goal=goal, prompt=prompt, placeholder=placeholder)

    # ---- messages

    async def _message(self, parts: Sequence[Arrived]) -> Reply:
        if (renamed := parts[0].body.get("forum_topic_edited")) is not None:
            await self._renamed(parts[0], dict(renamed))
            return Reply()
        if (login := await self._logins.take(parts)) is not None:
            return login
        sent = await self._sending.fetch(parts)
        reply = await self._with_files(
            parts, sent
        )  # Unavailable: asked again, and not fetched again
        self._sending.done(parts)
        return reply

    async def _with_files(self, parts: Sequence[Arrived], sent: Sent) -> Reply:
        whole = _joined(in_order(parts))
        body = parts[0].body
        quote = body.get("quote") or {}
        quoted = str(quote.get("text") or "") if quote.get("is_manual") else ""
        outside = str((body.get("external_reply") or {}).get("text") or "")
        pieces = [whole, *sent.texts, quoted, outside]
        pieces, secrets = await self._pasted.taken_out(parts, pieces)
        whole, quoted = pieces[0], pieces[-2]
        inline, files = await self._sending.keep(sent, pieces[1:-2], forwarded=parts[0].by.quoted)
        items: list[Item] = list(secrets)
        heard = await self._heard(parts, _composed(whole, quoted, inline), files)
        empty = not heard.text.strip() or (bool(secrets) and keys.only_keys(heard.text))
        taken = not empty or bool(files)
        if taken:
            try:
                items += await self._act(heard)
            except Refused as refusal:
                taken = False
                # A message that is about to go cannot be replied to.
                items.append(self._said(refusal.sentence, 0 if secrets else heard.message_id))
        if sent.unread:
            items.append(
                self._said(text_files.not_taken(sent.unread, rest=taken), heard.message_id)
            )
        if secrets:
            items = [item for item in items if not isinstance(item, React)]
        return Reply(tuple(items))

    async def _renamed(self, one: Arrived, how: dict[str, Any]) -> None:
        """A topic that the owner renamed is theirs to name."""
        thread = int(one.body.get("message_thread_id") or 0)
        if how.get("name"):
            await self._outbox.named_by_hand(one.by.chat, thread, str(how["name"]))

    async def _heard(
        self, parts: Sequence[Arrived], whole: str, files: tuple[Attachment, ...]
    ) -> Heard:
        first = parts[0]
        body, chat = first.body, first.by.chat
        answered = body.get("reply_to_message") or {}
        told: Told | None = None
        if answered.get("message_id"):
            told = await self._store.told(chat, int(answered["message_id"]))
        thread = int(body.get("message_thread_id") or 0) if body.get("is_topic_message") else 0
        prompt = None
        if told is not None and told.prompt is not None:
            prompt = msgspec.json.decode(told.prompt, type=Prompt)
        return Heard(
            cause=f"telegram:{min(one.update_id for one in parts)}",
            chat=chat,
            message_id=int(body.get("message_id", 0)),
            date=float(body.get("date", 0)),
            text=whole,
            quoted=first.by.quoted,
            goal=(told.goal if told else "") or self._outbox.goal_of_thread(chat, thread),
            card=told.card if told else "",
            prompt=prompt,
            files=(*(prompt.files if prompt else ()), *files),
        )

    async def _act(self, heard: Heard) -> list[Item]:
        if heard.quoted:
            return await self._forwarded(heard)
        if heard.prompt is not None:
            return await self._prompted(heard, heard.prompt)
        command = re.fullmatch(r"/([A-Za-z0-9_]+)(?:@\w+)?(?:\s+(.*))?", heard.text, re.S)
        if command:
            name = command[1].lower()
            items = await self._command(heard, name, (command[2] or "").strip())
            if heard.files and name != "new":
                items.append(self._said(text_files.NOT_NEEDED, heard.message_id))
            return items
        wanted = None if heard.files else file_back.wish(heard.text)
        if wanted:
            sent = await self._file_back.wished(wanted, heard.goal, heard.card, heard.message_id)
            if sent is not None:
                return sent
        if meant := _meant(heard.text):
            return [self._said(f"Did you mean {meant}? Nothing was started.", heard.message_id)]
        if not heard.goal and self._panels.knows(heard.card):
            return [self._said(text.ANSWER_NONE, heard.message_id)]
        return await self._hear(heard, heard.text)

    async def _hear(self, heard: Heard, words: str) -> list[Item]:
        result = await self._engine.call(
            "hear",
            cause=heard.cause,
            text=words,
            goal=heard.goal,
            card=heard.card,
            by="owner",
            **heard.along,
        )
        if not heard.goal:
            await self._gave(heard, result)
        return self._receipt(heard, result)

    async def _forwarded(self, heard: Heard) -> list[Item]:
        """Pass somebody else's words on as what they are, where a session is spoken to."""
        if not heard.goal:
            return [
                self._said(
                    "Forwarded words order nothing. Forward them into a session's topic, or write "
                    "what you want.",
                    heard.message_id,
                )
            ]
        if not heard.text.strip():
            return await self._hear(heard, "")
        quote = "\n".join(f"> {line}" for line in heard.text.split("\n"))
        return await self._hear(
            heard, f"Forwarded by me; these are somebody else's words:\n{quote}"
        )

    async def _prompted(self, heard: Heard, prompt: Prompt) -> list[Item]:
        if self._panels.knows(prompt.card):
            return await self._typed(heard, prompt)
        if prompt.verb == "new":
            return await self._new_goal(heard, prompt.project, heard.text)
        result = await self._engine.call(
            "tap",
            cause=heard.cause,
            card=prompt.card,
            revision=prompt.revision,
            verb=prompt.verb,
            text=heard.text,
            **heard.along,
        )
        return self._receipt(heard, result)

    def _receipt(self, heard: Heard, result: object) -> list[Item]:
        """Confirm a line with the least there is: what became of it, its card shows anyway."""
        said = verdict(result)
        if len(said.split()) > BRIEF:
            return [self._said(said, heard.message_id)]
        return [React(message_id=heard.message_id)]

    def _done(self, heard: Heard, result: object) -> list[Item]:
        """Say what a command did."""
        return [self._said(verdict(result) or "Done.", heard.message_id)]

    # ---- commands

    async def _command(self, heard: Heard, name: str, rest: str) -> list[Item]:
        match name:
            case "new":
                return await self._new(heard, rest)
            case "file":
                return await self._file_back.asked(rest, heard.goal, heard.card, heard.message_id)
            case "stop" | "resume":
                return await self._stop_or_resume(heard, name, rest)
            case "status":
                return self._says(
                    text.board(_as(await self._engine.call("board"), Board), self._cards.zone)
                )
            case "asks":
                board = _as(await self._engine.call("board"), Board)
                return self._says(text.asks(board.now, self._cards.zone))
            case "machines":
                return await self._machines(heard, rest)
            case "accounts":
                return await self._accounts(heard, rest)
            case "projects":
                return await self._projects(heard, rest)
            case "settings":
                return await self._settings(heard, rest)
            case "health":
                return self._says(text.health(_as(await self._engine.call("health"), dict)))
            case "start":
                return await self._start()
            case "help":
                return [self._said(text.HELP)]
            case _ if name in FUTURE:
                return [self._said(f"/{name} does not exist yet.", heard.message_id)]
            case _:
                near = _meant(f"/{name}")
                hint = f"Did you mean {near}?" if near else "/help lists what can be said."
                return [
                    self._said(
                        f"There is no /{name}. {hint} Nothing was started.", heard.message_id
                    )
                ]

    async def _start(self) -> list[Item]:
        """Say what comes next to who just begins; ask for their time where nobody did."""
        projects = await self._known_projects()
        accounts = await self._engine.call("accounts")
        owner = _as(await self._engine.call("settings"), OwnerView)
        words = text_start.welcome(projects=bool(projects), accounts=bool(accounts))
        asks = [] if owner.zone else [await self._panels.open("settings", page="first")]
        return [Say(words=words), *asks]

    async def _settings(self, heard: Heard, rest: str) -> list[Item]:
        name, _, value = rest.partition(" ")
        if not rest:
            about = f"settings-{heard.goal}" if heard.goal else "settings"
            return [await self._panels.open(about, heard.goal)]
        if name.lower() in ("rules", "revoke"):
            return await self._rules(heard, value.strip())
        names = {view.name.lower(): view.name for view in await self._known_projects()}
        if not value and name.lower() in names and name.lower() not in NAMES:
            return [await self._panels.open(panel_of(names[name.lower()]))]
        if not value.strip():
            return [
                self._said(
                    "Say /settings quiet 23-7, /settings zone Europe/Berlin, /settings heartbeat URL or "
                    "/settings limit ask (off switches each off), /settings rules, or /settings and a "
                    "project's name.",
                    heard.message_id,
                )
            ]
        goal = heard.goal if name.lower() in OF_LEADS else ""
        result = await self._engine.call(
            "change_setting", cause=heard.cause, name=name.lower(), value=value, goal=goal
        )
        return self._done(heard, result)

    async def _rules(self, heard: Heard, number: str) -> list[Item]:
        """List what Always keeps, or take one back by its number."""
        number = number.lower().removeprefix("revoke").strip()
        if not number:
            return [await self._panels.open("rules")]
        if not re.fullmatch(r"[0-9]{1,9}", number):
            sentence = "Say /settings revoke and a rule's number; /settings rules lists them."
            return [self._said(sentence, heard.message_id)]
        result = await self._engine.call("revoke_rule", cause=heard.cause, number=int(number))
        return self._done(heard, result)

    async def _new(self, heard: Heard, rest: str) -> list[Item]:
        first, _, goal = rest.partition(" ") if " " in rest.split("\n")[0] else rest.partition("\n")
        names = {view.name.lower(): view.name for view in await self._known_projects()}
        project = names.get(first.lower(), "")
        words = goal.strip() if project else rest
        if not words:
            return [self._prompt(Prompt("new", project=project, files=heard.files), "")]
        return await self._new_goal(heard, project, words)

    async def _new_goal(self, heard: Heard, project: str, goal: str) -> list[Item]:
        result = await self._engine.call(
            "new_goal", cause=heard.cause, project=project, text=goal, by="owner", **heard.along
        )
        await self._gave(heard, result)
        return self._receipt(heard, result)

    async def _gave(self, heard: Heard, result: object) -> None:
        """Remember in which message a goal was given: it may be edited, or replied to."""
        goal = result.get("goal") if isinstance(result, dict) else None
        if goal:
            told = Told(str(goal), "", None)
            await self._store.keep_told(heard.chat, heard.message_id, told, self._wall())

    async def _stop_or_resume(self, heard: Heard, name: str, rest: str) -> list[Item]:
        late_s = self._wall() - heard.date
        if name == "stop" and heard.date and late_s > LATE_S:
            when = text.clock(heard.date, self._cards.zone)
            return [
                self._said(
                    f"Your /stop of {when} reached me only now and was not done. Send it again if "
                    "you still want it.",
                    heard.message_id,
                )
            ]
        every = rest.lower() == "all"
        goal = "" if every else heard.goal or self._only_goal(name)
        if not goal and not every:
            return [
                self._said(
                    f"Which one? Send /{name} in its topic or as a reply to its card, or /{name} all.",
                    heard.message_id,
                )
            ]
        return self._done(heard, await self._engine.call(name, cause=heard.cause, goal=goal))

    def _only_goal(self, verb: str) -> str:
        """Return the goal that alone can be meant, or nothing."""
        found = [
            card.id
            for card in self._cards.live.values()
            if isinstance(card, SessionCard) and verb in card.buttons
        ]
        return found[0] if len(found) == 1 else ""

    async def _projects(self, heard: Heard, rest: str) -> list[Item]:
        verb, *words = rest.split(maxsplit=2) or [""]
        match verb, words:
            case "", []:
                return [await self._panels.open("projects")]
            case "add", [_, _]:
                asked = wanted(rest.partition(" ")[2])
                result = await self._engine.call("want_project", cause=heard.cause, **asked)
                return self._receipt(heard, result)
            case "check", [name, *command]:
                result = await self._engine.call(
                    "set_check", cause=heard.cause, name=name, text=" ".join(command)
                )
                return self._done(heard, result)
            case "remove", [name]:
                result = await self._engine.call("remove_project", cause=heard.cause, name=name)
                return self._done(heard, result)
            case _:
                return [self._said(text_places.PROJECTS_USAGE, heard.message_id)]

    async def _machines(self, heard: Heard, rest: str) -> list[Item]:
        match rest.split():
            case []:
                return [await self._panels.open("machines")]
            case ["add", name, address]:
                await self._engine.call(
                    "offer_machine", cause=heard.cause, name=name, address=address
                )
                return [await self._panels.open("machines", page=offer_page(name))]
            case ["remove", name]:
                result = await self._engine.call("remove_machine", cause=heard.cause, name=name)
                return self._done(heard, result)
            case _:
                return [self._said(text_fleet.MACHINE_USAGE, heard.message_id)]

    async def _accounts(self, heard: Heard, rest: str) -> list[Item]:
        match rest.split():
            case []:
                return [await self._panels.open("accounts")]
            case ["add", name, agent]:
                said, items = await logins.begin(self._engine, name, agent, heard.cause)
                return [*([self._said(said, heard.message_id)] if said else []), *items]
            case ["remove", name]:
                result = await self._engine.call("remove_account", cause=heard.cause, name=name)
                return self._done(heard, result)
            case _:
                return [self._said(text_fleet.ACCOUNT_USAGE, heard.message_id)]

    async def _known_projects(self) -> list[ProjectView]:
        return _as(await self._engine.call("projects"), list[ProjectView])

    # ---- edits, files, keys

    async def _edited(self, one: Arrived) -> Reply:
        """A goal is put otherwise until its lead begins, and then by a card; no other edit counts."""
        (whole,), secrets = await self._pasted.taken_out([one], in_order([one]))
        if secrets or not whole.strip():
            return Reply(tuple(secrets))
        message_id = int(one.body.get("message_id", 0))
        told = await self._store.told(one.by.chat, message_id)
        lead = self._cards.live.get(told.goal) if told else None
        if isinstance(lead, SessionCard):
            return await self._reworded(one, lead, whole)
        sentence = (
            "You edited this; what I passed on is the first version. Send the new words as a message "
            "if they should be heard."
        )
        return Reply((self._said(sentence, message_id),))

    async def _reworded(self, one: Arrived, lead: SessionCard, words: str) -> Reply:
        """Have a goal read as its owner edited it; a card asks where its lead has begun."""
        project = re.escape(lead.project)
        command = re.match(rf"/new(?:@\w+)?\s+(?:{project}\s+)?", words, re.IGNORECASE)
        now = words[command.end() :] if command else words
        cause = f"telegram:{one.update_id}"
        message_id = int(one.body.get("message_id", 0))
        try:
            result = await self._engine.call("reword_goal", cause=cause, goal=lead.goal, text=now)
        except Refused as refusal:
            return Reply((self._said(refusal.sentence, message_id),))
        said = verdict(result)
        return Reply((self._said(said, message_id),) if said else ())

    # ---- words

    def _said(self, sentence: str, reply_to: int = 0) -> Say:
        return Say(words=text.said(sentence), reply_to=reply_to)

    def _says(self, messages: Sequence[Words]) -> list[Item]:
        return [Say(words=words) for words in messages]


def _peeked(view: Peek, card: str, goal: str) -> tuple[Item, ...]:
    """Return what a Peek shows: the newest is the only one there is of a card, and silent."""
    if view.words is not None:
        return tuple(Say(words=words, goal=goal) for words in text.document(view.words))
    words = Words(text_live.peek(view))
    return (Say(words=words, goal=goal, card=card, instead=f"peek {card}"),)


def _as(result: object, kind: type[T]) -> T:
    """Return what the engine answered as the view it is."""
    return msgspec.convert(msgspec.to_builtins(result), kind)


def _joined(texts: Sequence[str]) -> str:
    """Put together what the app has cut: where it cut at its limit, nothing was in between."""
    whole, before = "", ""
    for part in filter(None, texts):
        glued = whole + part
        spans = any(key.start < len(whole) < key.end for key in keys.find(glued))
        whole = glued if not whole or spans or units(before) >= TEXT_LIMIT else f"{whole}\n{part}"
        before = part
    return whole


def _composed(whole: str, quoted: str, files: Sequence[str]) -> str:
    """Return a message as the session gets it: what it is about, the words, the files."""
    about = "\n".join(f"> {line}" for line in quoted.split("\n")) if quoted.strip() else ""
    return "\n\n".join(part for part in (about, whole, *files) if part)


def _meant(said: str) -> str:
    """Return the command that a text looks mistyped for, or nothing."""
    word = said.strip()
    if not re.fullmatch(r"[/.!\\]?[A-Za-z]{3,12}(?:\s+all)?[.!]?", word):
        return ""
    bare = re.sub(r"[^a-z]", "", word.lower().split()[0])
    if word[0] not in "/.!\\":
        return f"/{bare}" if bare in BARE else ""
    near = difflib.get_close_matches(bare, [name for name, _ in text.COMMANDS], 1, 0.6)
    return f"/{near[0]}" if near else ""
