"""What begins with a slash -> what it asks for.

Commands come in the owner's own words only. What looks like a mistyped one starts nothing, it suggests.
Neighbours: messages.py hands them over, text_help.py lists them, panels.py shows what has no one answer.
"""

import difflib
import re
import time
from collections.abc import Callable, Sequence

from bot import logins, text, text_fleet, text_places, text_start, text_stops
from bot.cards import Cards
from bot.entities import one_line
from bot.file_back import FileBack
from bot.fleet import offer_page
from bot.heard import Heard, as_view, done, opened, prompt_for, receipt, said
from bot.panels import Engine, Panels, verdict
from bot.projects import wanted
from bot.settings import NAMES, OF_LEADS
from bot.settings_project import panel_of
from bot.stops import meant_by
from bot.text import Words
from bot.text_board import SHOW
from bot.unsaid import Item, Prompt, Say
from engine.views import Board, OwnerView, ProjectView, SessionCard
from stores.cards import CardStore, Told

LATE_S = 3600
ZONE_ASKED = "zone asked"  # by which /start: pressed again, it does not ask again
FUTURE = ("chief", "budget", "usage", "schedules", "catchup")
BARE = (
    "stop",
    "status",
    "resume",
    "help",
    "start",
    "new",
    "asks",
    "projects",
    "health",
    "keys",
    "cancel",
)


class Commands:
    """Does what a command says."""

    def __init__(
        self,
        engine: Engine,
        store: CardStore,
        cards: Cards,
        panels: Panels,
        file_back: FileBack,
        *,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._engine = engine
        self._store = store
        self._cards = cards
        self._panels = panels
        self._file_back = file_back
        self._wall = wall

    async def do(self, heard: Heard, name: str, rest: str) -> list[Item]:
        match name:
            case "new":
                return await self._new(heard, rest)
            case "file":
                return await self._file_back.asked(rest, heard.goal, heard.card, heard.message_id)
            case "stop" | "resume":
                return await self._stop_or_resume(heard, name, rest)
            case "status":
                board = as_view(await self._engine.call("board"), Board)
                return _says(text.board(board, self._cards.zone, self._wall()))
            case "asks":
                board = as_view(await self._engine.call("board"), Board)
                return _says(text.asks(board.now, self._cards.zone, self._wall()))
            case "machines":
                return await self._machines(heard, rest)
            case "accounts":
                return await self._accounts(heard, rest)
            case "keys":
                return [await self._panels.open("keys")]
            case "projects":
                return await self._projects(heard, rest)
            case "settings":
                return await self._settings(heard, rest)
            case "health":
                return _says(text.health(as_view(await self._engine.call("health"), dict)))
            case "lock":
                return done(heard, await self._engine.call("lock", cause=heard.cause))
            case "unlock":
                return [said(text.ONLY_THERE, heard.message_id)]
            case "start":
                return await self._start(heard)
            case "help":
                return [said(text.HELP)]
            case _ if name in FUTURE:
                return [said(f"/{name} does not exist yet.", heard.message_id)]
            case _:
                near = meant(f"/{name}")
                hint = f"Did you mean {near}?" if near else "/help lists what can be said."
                return [said(f"There is no /{name}. {hint} Nothing was started.", heard.message_id)]

    async def _start(self, heard: Heard) -> list[Item]:
        """Say what comes next to who just begins; ask for their time first, once."""
        projects = await self._known_projects()
        accounts = await self._engine.call("accounts")
        owner = as_view(await self._engine.call("settings"), OwnerView)
        welcome = Say(words=text_start.welcome(projects=bool(projects), accounts=bool(accounts)))
        asked = await self._store.fact(ZONE_ASKED)
        if owner.zone or asked not in ("", heard.cause):
            return [welcome]
        first = await self._panels.open("settings", page="first")
        await self._store.keep_fact(ZONE_ASKED, heard.cause)
        return [first, welcome]

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
        if not value.strip() and name.lower() not in NAMES:
            sentence = text_places.NO_PROJECT.format(name=one_line(name, 60))
            return [said(f"{sentence} /settings shows what can be set.", heard.message_id)]
        if not value.strip():
            return [
                said(
                    "Say /settings quiet 23-7, /settings zone Europe/Berlin, /settings heartbeat URL, "
                    "/settings limit ask, /settings reserve 20 or /settings backup MACHINE (off switches "
                    "each off), /settings rules, or /settings and a project's name.",
                    heard.message_id,
                )
            ]
        goal = heard.goal if name.lower() in OF_LEADS else ""
        result = await self._engine.call(
            "change_setting", cause=heard.cause, name=name.lower(), value=value, goal=goal
        )
        return done(heard, result)

    async def _rules(self, heard: Heard, number: str) -> list[Item]:
        """List what Always keeps, or take one back by its number."""
        number = number.lower().removeprefix("revoke").strip()
        if not number:
            return [await self._panels.open("rules")]
        if not re.fullmatch(r"[0-9]{1,9}", number):
            sentence = "Say /settings revoke and a rule's number; /settings rules lists them."
            return [said(sentence, heard.message_id)]
        result = await self._engine.call("revoke_rule", cause=heard.cause, number=int(number))
        return done(heard, result)

    async def _new(self, heard: Heard, rest: str) -> list[Item]:
        project, words = await self.named(rest)
        if not words:
            return [prompt_for(Prompt("new", project=project, files=heard.files), "")]
        return await self.new_goal(heard, project, words)

    async def named(self, rest: str) -> tuple[str, str]:
        """Return the project that a goal begins with, "" where it names none, and the goal."""
        first, _, goal = rest.partition(" ") if " " in rest.split("\n")[0] else rest.partition("\n")
        names = {view.name.lower(): view.name for view in await self._known_projects()}
        project = names.get(first.lower(), "")
        return project, goal.strip() if project else rest

    async def new_goal(self, heard: Heard, project: str, goal: str) -> list[Item]:
        result = await self._engine.call(
            "new_goal", cause=heard.cause, project=project, text=goal, by="owner", **heard.along
        )
        await self.gave(heard, result)
        return self.told(heard, result)

    def told(self, heard: Heard, result: object) -> list[Item]:
        """Confirm a line that may have opened a goal; with topics, say which is its."""
        return (opened if self._cards.in_topics else receipt)(heard, result)

    async def gave(self, heard: Heard, result: object) -> None:
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
                said(
                    f"Your /stop of {when} reached me only now and was not done. Send it again if "
                    "you still want it.",
                    heard.message_id,
                )
            ]
        if rest and rest.lower() != "all":
            return [said(text_stops.only_all(name), heard.message_id)]
        found = {card.id: card for card in meant_by(name, self._cards.live.values())}
        goal = "" if rest else heard.goal
        if not goal and not rest:
            if len(found) != 1:
                return [await self._panels.open(name)]
            goal = next(iter(found))
        told = verdict(await self._engine.call(name, cause=heard.cause, goal=goal))
        lead = self._cards.live.get(goal)
        title = lead.title if isinstance(lead, SessionCard) else ""
        return [said(text_stops.named(told or "Done", title), heard.message_id)]

    async def _projects(self, heard: Heard, rest: str) -> list[Item]:
        verb, *words = rest.split(maxsplit=2) or [""]
        match verb, words:
            case "", []:
                return [await self._panels.open("projects")]
            case "add", [_, _]:
                asked = wanted(rest.partition(" ")[2])
                result = await self._engine.call("want_project", cause=heard.cause, **asked)
                return receipt(heard, result)
            case "check", [name, *command]:
                result = await self._engine.call(
                    "set_check", cause=heard.cause, name=name, text=" ".join(command)
                )
                return done(heard, result)
            case "ports", [name, *ports]:
                result = await self._engine.call(
                    "set_ports", cause=heard.cause, name=name, text=" ".join(ports)
                )
                return done(heard, result)
            case "remove", [name]:
                names = [view.name for view in await self._known_projects()]
                if name.lower() not in names:
                    return [
                        said(
                            text_places.NO_PROJECT.format(name=one_line(name, 60)), heard.message_id
                        )
                    ]
                return [await self._panels.open(panel_of(name.lower()), page="remove")]
            case _:
                return [said(text_places.PROJECTS_USAGE, heard.message_id)]

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
                return done(heard, result)
            case _:
                return [said(text_fleet.MACHINE_USAGE, heard.message_id)]

    async def _accounts(self, heard: Heard, rest: str) -> list[Item]:
        match rest.split():
            case []:
                return [await self._panels.open("accounts")]
            case ["add", name, agent]:
                words, items = await logins.begin(self._engine, name, agent, heard.cause)
                return [*([said(words, heard.message_id)] if words else []), *items]
            case ["remove", name]:
                result = await self._engine.call("remove_account", cause=heard.cause, name=name)
                return done(heard, result)
            case _:
                return [said(text_fleet.ACCOUNT_USAGE, heard.message_id)]

    async def _known_projects(self) -> list[ProjectView]:
        return as_view(await self._engine.call("projects"), list[ProjectView])


def _says(messages: Sequence[Words]) -> list[Item]:
    return [Say(words=words, card=SHOW if words.buttons else "") for words in messages]


def meant(said: str) -> str:
    """Return the command that a text looks mistyped for, or nothing."""
    word = said.strip()
    if not re.fullmatch(r"[/.!\\]?[A-Za-z]{3,12}(?:\s+all)?[.!]?", word):
        return ""
    bare = re.sub(r"[^a-z]", "", word.lower().split()[0])
    if word[0] not in "/.!\\":
        return f"/{bare}" if bare in BARE else ""
    near = difflib.get_close_matches(bare, [name for name, _ in text.COMMANDS], 1, 0.6)
    return f"/{near[0]}" if near else ""
