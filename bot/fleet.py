"""The panels of machines and accounts: looked at, added, paused, removed.

    /machines ─> all of them ─> one ─> Check, Pause, Remove?          pages: m…, c…, r…
        └─ add NAME ADDRESS ─> what it shows, and Add                 page o…
    /accounts ─> all of them ─> one ─> Log in, New token…, Remove?            pages: a…, r…

A page is a letter and the mark of a name (panels.py). text_fleet.py words them; engine/requests/ does
what is said. A token is never typed into a panel: logins.py asks for it.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from bot import logins, text_fleet
from bot.panels import At, Then, mark, marked, verdict
from bot.text import Words
from engine.errors import Refused
from engine.views import AccountView, MachineView, OfferView

T = TypeVar("T")


async def _read(at: At, verb: str, kind: type[T]) -> list[T]:
    return msgspec.convert(msgspec.to_builtins(await at.ask(verb)), list[kind])  # type: ignore[valid-type]


def _pair(line: str, usage: str) -> tuple[str, str]:
    match line.split():
        case [name, value]:
            return name, value
        case _:
            raise Refused(usage)


def offer_page(name: str) -> str:
    """Return the page that shows what was looked at."""
    return f"o{mark(name)}"


class Machines:
    """The owner's computers."""

    name = "machines"

    async def words(self, at: At) -> Words:
        kind, page = at.page[:1], at.page[1:]
        if kind == "o":
            return text_fleet.offer(await _offer(at, page))
        views = await _read(at, "machines", MachineView)
        if not kind:
            return text_fleet.machines(views, await _read(at, "offers", OfferView))
        name = marked(page, [view.name for view in views])
        view = next(view for view in views if view.name == name)
        if kind == "r":
            return text_fleet.removing(view)
        if kind == "c":
            return text_fleet.checked(name, await at.ask("check_machine", name=name))
        return text_fleet.machine(view)

    async def press(self, at: At, verb: str, line: str) -> Then:
        page = at.page[1:]
        match verb:
            case "list":
                return Then()
            case "back":
                return Then(page=f"m{page}")
            case "check":
                return Then(page=f"c{page}")
            case "remove":
                return Then(page=f"r{page}")
            case "add" if not line:
                return Then(prompt=text_fleet.MACHINE)
            case "add":
                name, address = _pair(line, text_fleet.MACHINE_USAGE)
                await at.do("offer_machine", name=name, address=address)
                return Then(page=offer_page(name))
            case "runs" if not line:
                return Then(prompt=text_fleet.RUNS)
            case "runs":
                view = await self._viewed(at)
                if not line.strip().isdecimal():
                    raise Refused(text_fleet.NO_NUMBER)
                runs = int(line.strip()[:4])
                await at.do("add_machine", name=view.name, address=view.address, max_runs=runs)
                return Then(page=at.page)
            case "take":
                name = (await _offer(at, page)).name
                return Then(said=verdict(await at.do("take_machine", name=name)), page=f"m{page}")
            case "leave":
                name = (await _offer(at, page)).name
                return Then(said=verdict(await at.do("leave_machine", name=name)))
            case "pause" | "resume":
                name = (await self._viewed(at)).name
                paused = verb == "pause"
                said = verdict(await at.do("pause_machine", name=name, paused=paused))
                return Then(said=said, page=at.page)
            case "keep" | "unkeep":
                view = await self._viewed(at)
                value = view.name if verb == "keep" else "off"
                said = verdict(await at.do("change_setting", name="backup", value=value))
                return Then(said=said, page=at.page)
            case "gone":
                name = (await self._viewed(at)).name
                await at.do("remove_machine", name=name)
                return Then(said=f"{name} is removed")
            case _:
                return Then(page=verb)

    async def _viewed(self, at: At) -> MachineView:
        views = await _read(at, "machines", MachineView)
        name = marked(at.page[1:], [view.name for view in views])
        return next(view for view in views if view.name == name)


async def _offer(at: At, page: str) -> OfferView:
    offers = await _read(at, "offers", OfferView)
    name = marked(page, [offer.name for offer in offers])
    return next(offer for offer in offers if offer.name == name)


class Accounts:
    """Who pays for agents' turns."""

    name = "accounts"

    async def words(self, at: At) -> Words:
        views = await _read(at, "account_views", AccountView)
        if not at.page:
            return text_fleet.accounts(views, at.zone, at.now)
        view = self._found(at, views)
        if at.page.startswith("r"):
            return text_fleet.removing_account(view.name)
        return text_fleet.account(view, at.zone, at.now)

    async def press(self, at: At, verb: str, line: str) -> Then:
        match verb:
            case "list":
                return Then()
            case "back":
                return Then(page=f"a{at.page[1:]}")
            case "remove":
                return Then(page=f"r{at.page[1:]}")
            case "add" if not line:
                return Then(prompt=text_fleet.ACCOUNT)
            case "add":
                name, agent = _pair(line, text_fleet.ACCOUNT_USAGE)
                said, items = await logins.begin(at.engine, name, agent, at.cause)
                return Then(said=said, items=tuple(items))
            case "token":
                view = self._found(at, await _read(at, "account_views", AccountView))
                _, items = await logins.begin(at.engine, view.name, view.agent, at.cause)
                return Then(page=at.page, items=tuple(items))
            case "log_in":
                view = self._found(at, await _read(at, "account_views", AccountView))
                said = verdict(await at.do("log_in", name=view.name))
                asked = (logins.code_wanted(view.name),) if view.types_back else ()
                return Then(said=said, page=at.page, items=asked)
            case "gone":
                view = self._found(at, await _read(at, "account_views", AccountView))
                return Then(said=verdict(await at.do("remove_account", name=view.name)))
            case _:
                return Then(page=verb)

    def _found(self, at: At, views: list[AccountView]) -> AccountView:
        name = marked(at.page[1:], [view.name for view in views])
        return next(view for view in views if view.name == name)
