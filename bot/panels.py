"""Panels: one message whose buttons set or choose things, edited in place after each tap.

No card and no decision: a panel makes no sound, is computed afresh at each look and lives only as long
as its message. A button carries `c:<panel id>:<page>:<verb>`, a card's shape with the page in the
revision's place. The id is the panel's name, or name-about: `settings`, `plan-pl-3`. To add one, write

    class Colours:
        name = "colours"

        async def words(self, at: At) -> Words:                  # what to show, from a fresh read
            return text_colours.page(await at.ask("colours", goal=at.about), at.page)

        async def press(self, at: At, verb: str, line: str) -> Then:
            if verb == "name" and not line:                       # a typed value comes by a prompt
                return Then(prompt=text_colours.NAME)             # its reply: the same verb, with `line`
            if verb == "all":
                return Then(page="all")                           # another page, nothing done
            return Then(said=verdict(await at.do("set_colour", goal=at.about, colour=line or verb)))

and name it in requests.py's PANELS; open it with `panels.open("colours-g-3", goal)`. A button of a card
opens it if `opens_on` is that button's verb: the panel is then about that card. Both may raise Refused:
from `press` it is told and the panel shown anew, from `words` it is all that is left of the panel. Names
too long or too odd for a button go into it as `mark(name)` and come back by `marked`. Wording is
text_*.py's; a page that may have changed meanwhile is the engine's to refuse.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import tzinfo
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from bot import text
from bot.buttons import Pressed
from bot.text import Button, Words
from bot.unsaid import Edit, Item, Prompt, Say
from bot.wordless import wordless
from engine.errors import Refused
from engine.views import AnyCard

BACK = Button("Back", "list")  # a verb that no panel takes for more than a look
UNSHOWN = "This cannot be shown: the log says why."


class Engine(Protocol):
    """engine.api.Client, as far as it is used here. Raises Refused and Unavailable."""

    async def call(self, verb: str, /, cause: str = "", **args: Any) -> Any: ...


class At(Struct, frozen=True, kw_only=True):
    """One look at a panel, or one press in it.

    about   what stands behind the panel's name in its id: a goal, a card, a machine
    page    the page the owner looks at, or is to see; "" = the first
    chat    where its message stands, `message`; 0 while there is none
    goal    whose topic the message stands in; "" = General
    """

    engine: Engine
    about: str = ""
    page: str = ""
    goal: str = ""
    chat: int = 0
    message: int = 0
    cause: str = ""
    zone: tzinfo | None = None
    now: float = 0.0
    card: Callable[[str], AnyCard | None] = lambda _id: None
    live: Callable[[], Iterable[AnyCard]] = lambda: ()

    async def ask(self, verb: str, /, **args: Any) -> Any:
        """Read something of the engine."""
        return await self.engine.call(verb, **args)

    async def do(self, verb: str, /, *, part: str = "", **args: Any) -> Any:
        """Have the engine do something, once for this tap; a second one needs a `part` of its own."""
        cause = f"{self.cause}.{part}" if part else self.cause
        return await self.engine.call(verb, cause=cause, **args)


class Question(Struct, frozen=True):
    """What is asked where a value must be typed; the placeholder stands in the reply field."""

    sentence: str
    placeholder: str = ""


class Then(Struct, frozen=True, kw_only=True):
    """What follows a press: the panel is shown anew, with this.

    said     told at the tap, or under a typed line; `alert`: so that it must be read
    page     the page shown next
    panel    the panel shown next in this message, where it is another one
    prompt   a line is asked for; it comes back to the same verb and page
    closed   what the message says from now on: the panel is over, and has no button but, where `panel`
             names one, a Back to it
    items    anything to be said besides
    """

    said: str = ""
    alert: bool = False
    page: str = ""
    panel: str = ""
    prompt: Question | None = None
    closed: str = ""
    items: tuple[Item, ...] = ()


class Panel(Protocol):
    """One kind of panel; see the top of this page."""

    name: str

    async def words(self, at: At) -> Words: ...

    async def press(self, at: At, verb: str, line: str) -> Then: ...


class Panels:
    """All panels there are, and how their messages come and change."""

    def __init__(
        self,
        engine: Engine,
        known: Sequence[Panel],
        *,
        zone: Callable[[], tzinfo | None] = lambda: None,
        wall: Callable[[], float] = time.time,
        card: Callable[[str], AnyCard | None] = lambda _id: None,
        live: Callable[[], Iterable[AnyCard]] = lambda: (),
    ) -> None:
        self._engine = engine
        self._known = {panel.name: panel for panel in known}
        self._opened = {
            verb: panel.name for panel in known if (verb := getattr(panel, "opens_on", ""))
        }
        self._zone = zone
        self._wall = wall
        self._card = card
        self._live = live

    def knows(self, panel_id: str) -> bool:
        """Return whether an id is a panel's: no card's begins with a panel's name."""
        return panel_id.partition("-")[0] in self._known

    def behind(self, card: str, verb: str) -> str:
        """Return the panel that a card's button opens, or nothing."""
        name = self._opened.get(verb, "")
        return f"{name}-{card}" if name else ""

    async def open(self, panel_id: str, goal: str = "", page: str = "", reply_to: int = 0) -> Say:
        """Return the message that a panel begins with; raises Refused if there is nothing to show."""
        panel, at = self._at(panel_id, page, goal)
        return Say(
            words=await self._worded(panel, at),
            goal=goal,
            card=panel_id,
            revision=page,
            reply_to=reply_to,
        )

    async def press(
        self,
        pressed: Pressed,
        *,
        message_id: int,
        goal: str,
        cause: str,
        line: str = "",
        chat: int = 0,
    ) -> Then:
        """Do what a button says, or what was typed for it; `items` then hold all there is to say.

        raises  Refused only for a typed line: at a tap it is `said`, and the panel shown anew
        """
        there = (chat, message_id)
        panel, at = self._at(pressed.card, pressed.revision, goal, cause, there)
        try:
            then = await panel.press(at, pressed.verb, line)
        except Refused as refusal:
            if line:
                raise
            then = Then(said=refusal.sentence, alert=True, page=at.page)
        if then.prompt is not None:
            return Then(items=(*then.items, self._prompt(then.prompt, pressed, message_id, goal)))
        panel_id = then.panel or pressed.card
        if then.closed:
            words = text.said(then.closed)
            words = replace(words, buttons=((BACK,),)) if then.panel else words
        else:
            words = await self._words(panel_id, then.page, goal, there)
        shown = Edit(
            message_id=message_id, words=words, goal=goal, card=panel_id, revision=then.page
        )
        return Then(said=then.said, alert=then.alert, items=(shown, *then.items))

    async def _words(
        self, panel_id: str, page: str, goal: str, there: tuple[int, int] = (0, 0)
    ) -> Words:
        panel, at = self._at(panel_id, page, goal, there=there)
        try:
            return await self._worded(panel, at)
        except Refused as refusal:
            return text.said(refusal.sentence)

    async def _worded(self, panel: Panel, at: At) -> Words:
        with wordless(f"panel {panel.name} {at.page}"):
            return await panel.words(at)
        return text.said(UNSHOWN)

    def _prompt(self, asked: Question, pressed: Pressed, message_id: int, goal: str) -> Say:
        prompt = Prompt(pressed.verb, pressed.card, pressed.revision, message=message_id)
        words = text.said(asked.sentence)
        return Say(words=words, goal=goal, prompt=prompt, placeholder=asked.placeholder or "…")

    def _at(
        self,
        panel_id: str,
        page: str,
        goal: str,
        cause: str = "",
        there: tuple[int, int] = (0, 0),
    ) -> tuple[Panel, At]:
        name, _, about = panel_id.partition("-")
        at = At(
            engine=self._engine,
            about=about,
            page=page,
            goal=goal,
            chat=there[0],
            message=there[1],
            cause=cause,
            zone=self._zone(),
            now=self._wall(),
            card=self._card,
            live=self._live,
        )
        return self._known[name], at


def verdict(result: object) -> str:
    """Return what an answer of the engine's says in words, if anything."""
    if isinstance(result, dict):
        result = result.get("verdict")
    return result.strip() if isinstance(result, str) else ""


def mark(name: str) -> str:
    """Return eight letters that stand for a name in a button."""
    return hashlib.blake2b(name.encode(errors="replace"), digest_size=4).hexdigest()


def marked(found: str, names: Iterable[str]) -> str:
    """Return the name of these that a mark stands for.

    raises  Refused when it is none of them any more
    """
    name = next((name for name in names if mark(name) == found), None)
    if name is None:
        raise Refused(text.NOT_THERE)
    return name
