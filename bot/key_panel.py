"""The panel of the keys the vault keeps: what each is for, a way to give one, to name it otherwise, to forget it.

    keys ─> all of them ─> one ─> Where…, Rename…, Forget?     pages: a number, k…, s…, f…
      └──> Add…, New value… ─> w: what comes next is the value; its name is suggested, and changed after
    "Stored as …" ─> the same of that one key                  pages: K…, S…, F…, N… (no secret?); M: of several

A page is a letter and the mark of a name (panels.py); a large one stands alone, in the message that said
that a key was stored, with no list around it. text_keys.py words it; engine/requests/keys.py and
given_keys.py do what is said, sealed_prompt.py takes what is typed, meant.py knows what a key was for. No
value is ever here: it comes back to nobody, but for a text that was no secret, and that to its session.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from bot import keys, meant, text_help, text_keys
from bot.panels import At, Engine, Then, mark, marked, verdict
from bot.sealed_prompt import OPEN_S, OVER, Kind, SealedPrompts
from bot.text import Words
from bot.unsaid import Item, Prompt, Say
from engine.errors import Refused
from engine.views import KeyView, MachineView, ProjectView
from stores.cards import CardStore

SECRET = "secret"  # the verb of the prompts that ask for a value
WAITING = "w"
NAMELESS = 1  # in a prompt for a value: nobody has named it
_MINUTES = int(OPEN_S / 60)
_COMMANDS = "|".join([*(name for name, _ in text_help.COMMANDS), "start", "unlock"])


async def _add(engine: Engine, prompt: Prompt, sealed: bytes, cause: str) -> object:
    """Keep it as the key it was asked for, or by a name of its own: `message` tells which."""
    return await engine.call(
        "add_key",
        cause=cause,
        name=prompt.project,
        scope=prompt.revision,
        sealed=sealed,
        fresh=prompt.message == NAMELESS,
    )


def _by_its_look(prompt: Prompt, typed: str) -> Prompt:
    """Suggest a name: that of its kind, where its shape tells it."""
    if prompt.project:
        return prompt
    known = [key.name for key in keys.find(typed) if key.sure and key.value == typed]
    return replace(prompt, project=known[0] if known else text_keys.NAMELESS, message=NAMELESS)


KINDS = (
    Kind(
        verb=SECRET,
        keep=_add,
        named=lambda prompt: prompt.project,
        used=text_keys.OVER,
        as_text=text_keys.AS_TEXT,
        bare=re.compile(rf"(?!/(?:{_COMMANDS})(?:@\w+)?(?:\s|\Z)).+", re.DOTALL),
        joined=False,
        anything=True,
        typed=_by_its_look,
        closing=lambda prompt: text_keys.given(prompt.project),
        too_late=lambda prompt: text_keys.too_late(prompt.project, _MINUTES),
        again=lambda prompt, why: Say(
            words=text_keys.once_more(prompt.project, why),
            card=text_keys.PANEL,
            revision=WAITING,
            prompt=prompt,
        ),
    ),
)


class KeyPanel:
    """What the vault keeps."""

    name = text_keys.PANEL

    def __init__(self, store: CardStore, sealed: SealedPrompts) -> None:
        self._store = store
        self._sealed = sealed

    async def words(self, at: At) -> Words:
        if at.page == WAITING:
            return await self._waiting(at)
        views = await _views(at)
        if not at.page or at.page.isdigit():
            own = await _asked(at, "own_keys")
            return text_keys.listed(views, int(at.page or 0), at.zone, at.now, own)
        view = _one(at, views)
        kind, alone = at.page[0].lower(), at.page[0].isupper()
        if kind == "f":
            return text_keys.forgetting(view)
        if kind == "s":
            return text_keys.scopes(view, await _scopes(at))
        if kind == "n":
            return text_keys.really_plain(view.name)
        about = await meant.of(self._store, view.name)
        maybe_none = about is not None and not about.over
        rest_of = about.rest_of if about is not None and maybe_none else ""
        return text_keys.one(
            view, at.zone, at.now, alone=alone, maybe_none=maybe_none, rest_of=rest_of
        )

    async def press(self, at: At, verb: str, line: str) -> Then:
        kind, _, about = verb.partition("-")
        if at.page == WAITING:
            return await self._press_waiting(at, kind, about)
        match kind:
            case "list":
                return Then()
            case "page":
                return Then(page=about)
            case "add":
                return await self._ask(at)
            case "value":
                view = _one(at, await _views(at))
                asks = await self._ask(at, view.name, view.scope)
                return Then(items=asks.items, page=at.page)
            case "key":
                return Then(page=("K" if at.page == "M" else "k") + about)
            case "back" | "forget" | "scope":
                return Then(page=_page(at, {"back": "k", "forget": "f", "scope": "s"}[kind]))
            case "rename" if not line:
                return Then(prompt=text_keys.NEW_NAME)
            case "rename" | "gone" | "was_no_secret" | "clear" | "join" | "apart":
                return await self._changed(at, kind, line)
            case "at":
                name = _one(at, await _views(at)).name
                scope = marked(about, await _scopes(at))
                said = verdict(await at.do("scope_key", name=name, scope=scope))
                return Then(said=said, page=_page(at, "k"))
            case _:
                return Then(page=at.page)

    # ---- one that is there

    async def _changed(self, at: At, verb: str, line: str) -> Then:
        """Rename a key, join it to another, forget it, or give it back; what was done once is said again, not done again."""
        name = marked(at.page[1:], [*await meant.names(self._store), *await _names(at)])
        about = await meant.of(self._store, name)
        if about is not None and about.over and name not in await _names(at):
            return Then(closed=about.over) if at.page[0].isupper() else Then(said=about.over)
        match verb:
            case "rename":
                return await self._renamed(at, name, line, about)
            case "gone":
                over = verdict(await at.do("forget_key", name=name))
            case "join" | "apart" if about is None or not about.rest_of:
                return Then(page=_page(at, "k"))
            case "join" | "apart" if about is not None:
                if verb == "apart":
                    await meant.note(self._store, name, replace(about, rest_of=""))
                    return Then(said=text_keys.APART, page=_page(at, "k"))
                over = verdict(await at.do("join_keys", name=about.rest_of, rest=name))
            case "was_no_secret" if about is None or about.sure:
                return Then(page=_page(at, "n"))
            case _:
                over = await self._given_back(at, name, about)
        await self._is_over(name, about, over)
        return Then(closed=over) if at.page[0].isupper() else Then(said=over)

    async def _given_back(self, at: At, name: str, about: meant.Meant | None) -> str:
        goal = await meant.goal_of(self._store, about) if about is not None else ""
        card = about.card if about is not None else ""
        result = await at.do("no_secret", name=name, goal=goal, card=card)
        digest = result.get("digest") if isinstance(result, dict) else ""
        if digest:
            await meant.keep_plain(self._store, str(digest))
        return verdict(result)

    async def _renamed(self, at: At, name: str, line: str, about: meant.Meant | None) -> Then:
        goal = await meant.goal_of(self._store, about) if about is not None else ""
        card = about.card if about is not None else ""
        result = await at.do("rename_key", name=name, new=line, goal=goal, card=card)
        new = str(result.get("name")) if isinstance(result, dict) else line.strip()
        if about is not None:
            await meant.note(self._store, new, about)
        await self._is_over(name, about, verdict(result))
        return Then(said=verdict(result), page=at.page[0] + mark(new))

    async def _is_over(self, name: str, about: meant.Meant | None, over: str) -> None:
        if about is not None:
            await meant.note(self._store, name, replace(about, over=over))

    # ---- one to come

    async def _ask(self, at: At, name: str = "", scope: str = "") -> Then:
        """Ask for a value. The name comes after it: what is typed where one is asked for is sent in clear."""
        await at.ask("may_add_key", name=name or text_keys.NAMELESS)  # not while it is locked
        over = await self._sealed.begin(at.chat, SECRET)
        prompt = Prompt(SECRET, project=name, revision=scope)
        words = await self._asking(at, prompt)
        asks = Say(words=words, goal=at.goal, card=self.name, revision=WAITING, prompt=prompt)
        items: tuple[Item, ...] = (*over, asks)
        return Then(items=items)

    async def _asking(self, at: At, prompt: Prompt) -> Words:
        known = next((v.version for v in await _views(at) if v.name == prompt.project), 0)
        scopes = await _scopes(at)
        return text_keys.asking(prompt.project, known, prompt.revision, scopes, _MINUTES)

    async def _waiting(self, at: At) -> Words:
        prompt = await self._sealed.waiting(at.chat, at.message)
        if prompt is None:
            raise Refused(text_keys.UNANSWERED)
        return await self._asking(at, prompt)

    async def _press_waiting(self, at: At, verb: str, about: str) -> Then:
        prompt = await self._sealed.waiting(at.chat, at.message)
        if prompt is None:
            return Then(said=text_keys.OVER_ALREADY, alert=True, closed=text_keys.OVER_ALREADY)
        if verb == "cancel":
            await self._sealed.change(at.chat, at.message, replace(prompt, used=OVER))
            return Then(closed=text_keys.CANCELLED)
        if verb == "at":
            scope = marked(about, await _scopes(at))
            await self._sealed.change(at.chat, at.message, replace(prompt, revision=scope))
        return Then(page=WAITING)


def _page(at: At, kind: str) -> str:
    return (kind.upper() if at.page[0].isupper() else kind) + at.page[1:]


async def _views(at: At) -> list[KeyView]:
    return await _asked(at, "keys")


async def _asked(at: At, verb: str) -> list[KeyView]:
    return msgspec.convert(msgspec.to_builtins(await at.ask(verb)), list[KeyView])


async def _names(at: At) -> list[str]:
    return [view.name for view in await _views(at)]


def _one(at: At, views: Sequence[KeyView]) -> KeyView:
    name = marked(at.page[1:], [view.name for view in views])
    return next(view for view in views if view.name == name)


async def _scopes(at: At) -> list[str]:
    """Return every scope there could be, everywhere first."""
    projects = msgspec.convert(msgspec.to_builtins(await at.ask("projects")), list[ProjectView])
    machines = msgspec.convert(msgspec.to_builtins(await at.ask("machines")), list[MachineView])
    there = [f"project/{view.name}" for view in projects]
    return ["", *there, *(f"machine/{view.name}" for view in machines)]
