"""A repository the owner named on the phone: looked at, let into, brought; what is not plain comes back.

Every outcome is an event for rules/adding.py, and none of them is an exception: the owner waits for a
word. The box's own way in is tried first; a project whose other side refuses it gets a key of its own.
Neighbours: hub.py and sources.py run git, deploy_keys.py keeps the keys, guess.py the check.
"""

from __future__ import annotations

import re
from typing import Final

from engine.adapters import deploy_keys, guess, settings, sources
from engine.adapters.hub import Hub
from engine.adapters.sources import NoAccess, NoBase, Source
from engine.errors import Refused, Unavailable, ended
from engine.rules.adding import Fact
from engine.rules.effects import TakeIn
from engine.rules.events import ProjectBarred, ProjectBases, ProjectNotTaken, ProjectTaken

LIKELY: Final = ("main", "master", "develop", "trunk")
MOST_BRANCHES = 8
MAY_ONLY_READ = "Push would be refused there as it stands: allow the key to write. It says: {}"

ALWAYS_SAID: Final = (
    "fatal: Could not read from remote repository",
    "Please make sure you have the correct access rights",
    "and the repository exists",
)

_WEB = re.compile(r"https?://(?P<host>[^/:@\s]+)(?::\d+)?/(?P<path>[^\s?#]+?)/?")


class _OtherHost(Exception):
    """The host does not show the key that the owner accepted."""


async def take_in(hub: Hub, order: TakeIn) -> Fact:
    """Do what can be done for this project now, and say what became of it."""
    try:
        if order.trust:
            await _trust(hub, order)
        found = await _inspect(hub, order)
        if not order.base and len(likely := _likely(found)) > 1:
            return ProjectBases(card=order.card, branches=likely)
        return await _bring(hub, order, found)
    except NoBase as no:
        if order.base:
            return ProjectNotTaken(card=order.card, why=_on_the_phone(no.sentence))
        return ProjectBases(card=order.card, branches=no.branches[:MOST_BRANCHES])
    except (NoAccess, _OtherHost) as no:
        return await _barred(hub, order, no.sentence if isinstance(no, NoAccess) else "")
    except (Refused, Unavailable) as no:
        return ProjectNotTaken(card=order.card, why=_on_the_phone(no.sentence, order.source))


def _on_the_phone(sentence: str, source: str = "") -> str:
    """Leave out what is for a terminal, and the address: the card has it already."""
    said = sentence.partition("\nTry `git ls-remote")[0]
    said = said.removeprefix(f"{source} could not be read. ") if source else said
    said = f"{said[:1].upper()}{said[1:]}" if said.startswith("git says:") else said
    return said.replace("with --base", "behind its address")


async def _inspect(hub: Hub, order: TakeIn) -> Source:
    try:
        return await hub.inspect(order.source, order.base or None, order.project)
    except NoAccess as no:
        if not await hub.keys.has(order.project, order.source):
            raise
        # Perhaps the box itself was let in meanwhile; then the key is not needed.
        try:
            found = await sources.inspect(order.source, order.base or None)
        except NoAccess:
            raise no from None
        await hub.keys.forget(order.project)
        return found


def _likely(found: Source) -> tuple[str, ...]:
    """Return the branches that work may be meant to start from, what the source says first."""
    others = [name for name in LIKELY if name in found.branches and name != found.base]
    return (found.base, *others)


async def _bring(hub: Hub, order: TakeIn, found: Source) -> Fact:
    if not await hub.keys.has(order.project, found.source):
        await hub.keys.forget(order.project)  # of a project that had this name before
    commit = await hub.bring(order.project, found.source, found.base)
    said = await settings.read(hub, order.project, commit)
    notes = [note for note in (*found.notes, said.note) if note]
    if await hub.keys.has(order.project, found.source):
        no = await hub.may_push(order.project, found.push_url, found.base, commit)
        notes += [MAY_ONLY_READ.format(no)] if no else []
    check = next((command.text for command in said.commands if command.kind == "check"), "")
    return ProjectTaken(
        card=order.card,
        source=found.source,
        push_url=found.push_url,
        base=found.base,
        notes=tuple(notes),
        check=check,
        guess="" if check else await guess.check(hub, order.project, commit),
    )


# ---------------------------------------------------------------- not let in


async def _trust(hub: Hub, order: TakeIn) -> None:
    """Believe the host if it still shows what the owner accepted."""
    key, shown = await _host_key(order.source)
    if shown != order.trust:
        raise _OtherHost
    hub.keys.trust(order.project, key)


async def _host_key(source: str) -> tuple[str, str]:
    from engine.adapters import ssh  # not loaded where nothing is reached that way

    key = await ssh.look(ssh.Address.read(deploy_keys.host_of(source)))
    return key, ssh.fingerprint(key)


async def _barred(hub: Hub, order: TakeIn, why: str) -> Fact:
    host = deploy_keys.host_of(order.source)
    words = _words(why)
    if not host:
        return ProjectNotTaken(card=order.card, why=_by_ssh_instead(order.source, words or why))
    try:
        _, fingerprint = await _host_key(order.source)
    except (Refused, Unavailable) as away:
        return ProjectNotTaken(card=order.card, why=_sentence(away.sentence))
    accepted = order.trust
    if not accepted and (kept := hub.keys.trusted(order.project)):
        from engine.adapters import ssh

        accepted = ssh.fingerprint(kept)
    try:
        public = await hub.keys.make(order.project, order.source)
    except Refused as no:
        return ProjectNotTaken(card=order.card, why=no.sentence)
    return ProjectBarred(
        card=order.card,
        why=words,
        public=public,
        host=host.rpartition("@")[2],
        fingerprint=fingerprint,
        expected=accepted if accepted != fingerprint else "",
    )


def _words(why: str) -> str:
    """Return git's own words, without what it says of every refusal."""
    said = why.partition(" git says: ")[2].partition("\nTry `git ls-remote")[0]
    return "\n".join(line for line in said.splitlines() if not line.startswith(ALWAYS_SAID))


def _by_ssh_instead(source: str, words: str) -> str:
    told = f"It asks for a login that this box does not have. git says: {words}\n"
    found = _WEB.fullmatch(source)
    if found is None:
        return f"{told}Let git sign in there on the box (a credential helper), then Retry."
    return (
        f"{told}Cancel, and give its SSH address, which gets a key of its own: "
        f"git@{found['host']}:{found['path']}"
    )


def _sentence(text: str) -> str:
    return ended(f"{text[:1].upper()}{text[1:]}")
