"""The engine's door: the owner's requests in, views out, over a unix socket.

One JSON value a line, at most 16 MiB. A request names a verb, its arguments and its cause, and is
answered under its id, in whatever order answers are ready:

    {"id": 1, "do": "tap", "args": {"card": "a-5", …}, "cause": "telegram:8812"}
    {"id": 1, "ok": …}   or   {"id": 1, "refused": "…"}   or   {"id": 1, "unavailable": "…"}

`changes` takes a connection of its own. All live cards come first, then {"ready": true}, then what
changes: {"card": …}, {"gone": "a-5"}, {"note": …}; {"owner": …} comes first and when it changes. A slow reader is given the newest of each card and
holds nobody up; notes are read again from the ledger, so none is missed.

The cause makes a repeat harmless: who got no answer asks again with the same one.

Only a process of our own user is heard. Neighbours: door.py and requests/ do what is asked, bot/ and cli.py ask.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import socket
import struct
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, Protocol, Self, TypeAlias

import msgspec
from msgspec import Struct

from engine.errors import Refused, Unavailable
from engine.rules import retry
from engine.views import (
    AccountView,
    AnyCard,
    Attachment,
    Board,
    Document,
    FoundFile,
    LeadSettings,
    MachineView,
    Note,
    OfferView,
    OwnerView,
    Peek,
    PlanChoices,
    ProjectView,
    Row,
    RuleView,
)

log = logging.getLogger(__name__)

MAX_LINE: Final = 16 * 1024 * 1024
READ_AHEAD: Final = 64 * 1024
CALL_TIMEOUT_S: Final = 10.0
LOOK_S = 5.0  # how often the engine looks whether its socket is still there
REDIAL_CAP_S: Final = 5.0
_UCRED: Final = struct.Struct("3i")


# ---------------------------------------------------------------- verbs


class Arguments(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of what a verb takes: a misspelt name is refused, not ignored."""


class Nothing(Arguments, frozen=True):
    """Of a verb that takes none."""


class NewGoal(Arguments, frozen=True):
    project: str
    text: str
    by: str = "owner"
    files: tuple[Attachment, ...] = ()


class Hear(Arguments, frozen=True):
    """A line of the owner: for a goal, for the session a card is about, or for us to find out."""

    text: str
    goal: str = ""
    card: str = ""
    by: str = "owner"
    files: tuple[Attachment, ...] = ()


class Tap(Arguments, frozen=True):
    """A button of a card as it was shown: `revision` is the one the owner saw."""

    card: str
    revision: str
    verb: str
    text: str = ""
    files: tuple[Attachment, ...] = ()


class DocumentOf(Arguments, frozen=True):
    card: str
    what: str


class OfPlan(Arguments, frozen=True):
    plan: str


class ChangePlan(Arguments, frozen=True):
    """One piece of a plan as it was shown: see engine/rules/events.py's PlanChanged."""

    plan: str
    revision: str
    piece: int
    what: str
    value: str = ""
    after: tuple[int, ...] = ()


class Reword(Arguments, frozen=True):
    goal: str
    text: str


class OfCard(Arguments, frozen=True):
    card: str


class OfGoal(Arguments, frozen=True):
    goal: str = ""  # "" = all


class FileAt(Arguments, frozen=True):
    """A path in a goal's branch, or in that of the worker whose card it is."""

    path: str
    goal: str = ""
    card: str = ""


class OneGoal(Arguments, frozen=True):
    goal: str


class AddProject(Arguments, frozen=True):
    name: str
    source: str
    base: str = ""


class Named(Arguments, frozen=True):
    name: str


class SetCheck(Arguments, frozen=True):
    name: str
    text: str


class AddAccount(Arguments, frozen=True):
    name: str
    agent: str
    command: str = ""
    config_dir: str = ""
    env: tuple[tuple[str, str], ...] = ()
    secret_env: tuple[str, ...] = ()


class Setting(Arguments, frozen=True):
    name: str
    value: str
    goal: str = ""  # "" = the owner's own


class ChangeLead(Arguments, frozen=True):
    """`what`: mode, go, model, tick or untick (a machine)."""

    goal: str
    what: str
    value: str


class ChangeBase(Arguments, frozen=True):
    name: str
    base: str


class ChangeCommand(Arguments, frozen=True):
    """`allowed` None: it is asked for anew."""

    name: str
    kind: str
    text: str
    allowed: bool | None


class OfProject(Arguments, frozen=True):
    project: str = ""  # "" = all


class Numbered(Arguments, frozen=True):
    number: int


class AtAddress(Arguments, frozen=True):
    address: str


class AddMachine(Arguments, frozen=True):
    """`fingerprint` is the host key's, as the owner accepted it."""

    name: str
    address: str
    max_runs: int = 4
    fingerprint: str = ""


class OfferMachine(Arguments, frozen=True):
    name: str
    address: str
    max_runs: int = 4


class PauseMachine(Arguments, frozen=True):
    name: str
    paused: bool


class OfAgent(Arguments, frozen=True):
    name: str
    agent: str


class SignIn(Arguments, frozen=True):
    """`sealed` is the token, sealed where it was typed."""

    name: str
    agent: str
    sealed: bytes


class KeepSecret(Arguments, frozen=True):
    name: str
    sealed: bytes


class Unseal(Arguments, frozen=True):
    sealed: bytes


class FollowChanges(Arguments, frozen=True):
    notes_after: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] = 0  # as SQLite counts


class Verb(Struct, frozen=True):
    """What a verb takes and gives.

    changes      it is passed a cause
    patience_s   how long it may take where that is longer than calls do
    """

    takes: type[Arguments]
    gives: Any = Any
    changes: bool = False
    patience_s: float = 0.0


VERBS: Final[dict[str, Verb]] = {
    "new_goal": Verb(NewGoal, changes=True),
    "hear": Verb(Hear, changes=True),
    "tap": Verb(Tap, changes=True),
    "document": Verb(DocumentOf, Document),
    "file": Verb(FileAt, FoundFile, patience_s=60),
    "plan_choices": Verb(OfPlan, PlanChoices),
    "change_plan": Verb(ChangePlan, changes=True),
    "peek": Verb(OfCard, Peek),
    "reword_goal": Verb(Reword, changes=True),
    "stop": Verb(OfGoal, changes=True),
    "resume": Verb(OfGoal, changes=True),
    "board": Verb(Nothing, Board),
    "asks": Verb(Nothing, tuple[Row, ...]),
    "projects": Verb(Nothing, tuple[ProjectView, ...]),
    "add_project": Verb(AddProject, changes=True, patience_s=1800),  # clones it
    "want_project": Verb(AddProject, changes=True),
    "set_check": Verb(SetCheck, changes=True),
    "remove_project": Verb(Named, changes=True),
    "rules": Verb(OfProject, tuple[RuleView, ...]),
    "revoke_rule": Verb(Numbered, changes=True),
    "machines": Verb(Nothing, tuple[MachineView, ...]),
    "offer_machine": Verb(OfferMachine, changes=True, patience_s=60),
    "offers": Verb(Nothing, tuple[OfferView, ...]),
    "take_machine": Verb(Named, changes=True, patience_s=180),  # sends it our node
    "leave_machine": Verb(Named, changes=True),
    "pause_machine": Verb(PauseMachine, changes=True),
    "look_at_machine": Verb(AtAddress, patience_s=60),
    "add_machine": Verb(AddMachine, changes=True, patience_s=180),  # sends it our node
    "check_machine": Verb(Named, patience_s=120),
    "remove_machine": Verb(Named, changes=True),
    "accounts": Verb(Nothing),
    "account_views": Verb(Nothing, tuple[AccountView, ...]),
    "may_add_account": Verb(OfAgent),
    "sign_in": Verb(SignIn, changes=True),
    "add_account": Verb(AddAccount, changes=True),
    "remove_account": Verb(Named, changes=True),
    "keep_secret": Verb(KeepSecret, changes=True),
    "unseal": Verb(Unseal, bytes),
    "health": Verb(Nothing),
    "settings": Verb(Nothing, OwnerView),
    "change_setting": Verb(Setting, changes=True),
    "lead_settings": Verb(OneGoal, LeadSettings),
    "change_lead": Verb(ChangeLead, changes=True),
    "change_base": Verb(ChangeBase, changes=True, patience_s=120),  # reads the repository
    "change_command": Verb(ChangeCommand, changes=True),
}


class Door(Protocol):
    """Who does what is asked: for each of VERBS an async method of its name, and what follows.

    A method takes the fields of its arguments by name, and `cause` where the verb changes anything.
    It raises Refused or Unavailable; anything else ends the engine.
    """

    def owner(self) -> OwnerView:
        """Return what the owner set for themself."""
        ...

    def cards(self) -> Iterable[AnyCard]:
        """Return all live cards."""
        ...

    async def notes(self, after: int) -> Sequence[Note]:
        """Return the next notes past number `after`, oldest first; none means there are no more."""
        ...


# ---------------------------------------------------------------- lines


class Request(Struct, frozen=True):
    id: int
    do: str
    args: msgspec.Raw = msgspec.Raw(b"{}")
    cause: str = ""


class Answer(Struct, frozen=True, omit_defaults=True):
    id: int
    ok: msgspec.Raw = msgspec.Raw(b"null")  # a Raw cannot be optional
    refused: str = ""
    unavailable: str = ""


class WentAway(Unavailable):
    """The engine ended with a request under way: by chance, or because of it."""


class Missing(Unavailable):
    """The engine is there and answered: something else, which it names, did not."""


class Gone(Struct, frozen=True):
    """A card that is no more."""

    id: str


class Ready(Struct, frozen=True):
    """All that was live has come; what follows are changes. Comes anew after each reconnect."""


class Push(Struct, frozen=True, omit_defaults=True):
    card: AnyCard | None = None
    note: Note | None = None
    owner: OwnerView | None = None
    gone: str = ""
    ready: bool = False
    refused: str = ""


Change: TypeAlias = AnyCard | Note | OwnerView | Gone | Ready

_REQUEST = msgspec.json.Decoder(Request)
_ANSWER = msgspec.json.Decoder(Answer)
_PUSH = msgspec.json.Decoder(Push)
_ENCODER = msgspec.json.Encoder()


async def _write(writer: asyncio.StreamWriter, value: Struct) -> None:
    writer.write(_ENCODER.encode(value) + b"\n")
    await writer.drain()


# ---------------------------------------------------------------- the engine's end


class _Follower:
    """One reader of changes: what it has not been sent yet, the newest of each card."""

    def __init__(self, cards: Iterable[AnyCard]) -> None:
        self.pending: dict[str, Push] = {card.id: Push(card=card) for card in cards}
        self.noted = True
        self.wake = asyncio.Event()

    def push(self, card: str, push: Push) -> None:
        self.pending[card] = push  # in the place of an older one: who changes often waits no longer
        self.wake.set()

    def note(self) -> None:
        self.noted = True
        self.wake.set()

    def take(self) -> Push:
        return self.pending.pop(next(iter(self.pending)))


class Server:
    """Listens at `path` and hands requests to `door`.

    owner   the user heard; ours
    """

    def __init__(self, path: Path, door: Door, *, owner: int | None = None) -> None:
        self.listening = asyncio.Event()
        self._path = path
        self._door = door
        self._owner = os.getuid() if owner is None else owner
        self._followers: set[_Follower] = set()

    async def run(self) -> None:
        """Serve until cancelled; what the door did not foresee ends it."""
        listener = _listen(self._path)
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    server = await asyncio.start_unix_server(
                        lambda reader, writer: group.create_task(self._talk(reader, writer)),
                        sock=listener,
                    )
                    self.listening.set()
                    try:
                        # Not serve_forever: from Python 3.12 on, its end waits for all who talk to us.
                        while self._is_there():  # noqa: ASYNC110 - files tell nobody
                            await asyncio.sleep(LOOK_S)
                    finally:
                        server.close()
                    log.warning("the socket was taken away; made anew at %s", self._path)
                    listener = _listen(self._path)
        finally:
            self.listening.clear()
            self._path.unlink(missing_ok=True)

    def _is_there(self) -> bool:
        return self._path.is_socket()

    def changed(self, card: AnyCard) -> None:
        """Tell all followers how a card looks now."""
        for follower in self._followers:
            follower.push(card.id, Push(card=card))

    def gone(self, card: str) -> None:
        """Tell all followers that a card is no more."""
        for follower in self._followers:
            follower.push(card, Push(gone=card))

    def owner_changed(self, owner: OwnerView) -> None:
        """Tell all followers what the owner set."""
        for follower in self._followers:
            follower.push("", Push(owner=owner))

    def noted(self) -> None:
        """Have all followers look for new notes."""
        for follower in self._followers:
            follower.note()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        uid = _peer(writer)
        if uid not in (self._owner, None):
            log.warning("turned away a process of uid=%s", uid)
            writer.close()
            return
        streams: set[asyncio.Task[None]] = set()
        try:
            async with asyncio.TaskGroup() as group:
                async for line in _lines(reader, writer):
                    self._take_up(line, writer, group, streams)
                # What was asked is done, heard or not; only the streams end with their reader.
                for stream in streams:
                    stream.cancel()
        finally:
            writer.close()

    def _take_up(
        self,
        line: bytes,
        writer: asyncio.StreamWriter,
        group: asyncio.TaskGroup,
        streams: set[asyncio.Task[None]],
    ) -> None:
        try:
            request = _REQUEST.decode(line)
        except (msgspec.MsgspecError, RecursionError) as fault:
            group.create_task(_reply(writer, Answer(0, refused=f"That is no request: {fault}.")))
            return
        if request.do == "changes":
            streams.add(group.create_task(self._follow(request, writer)))
        else:
            group.create_task(self._answer(request, writer))

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        try:
            ok = _ENCODER.encode(await self._do(request))
            if len(ok) > MAX_LINE - 1024:
                raise Refused("The answer is too long for this socket.")
            answer = Answer(request.id, ok=msgspec.Raw(ok))
        except Refused as no:
            answer = Answer(request.id, refused=no.sentence or "No.")
        except Unavailable as away:
            answer = Answer(request.id, unavailable=away.sentence or "No answer.")
        await _reply(writer, answer)

    async def _do(self, request: Request) -> Any:
        verb = VERBS.get(request.do)
        if verb is None:
            raise Refused(f"There is no request {request.do!r}.")
        arguments = _arguments(request, verb.takes)
        named = {field: getattr(arguments, field) for field in arguments.__struct_fields__}
        if verb.changes:
            named["cause"] = request.cause or f"api:{uuid.uuid4().hex}"
        method: Callable[..., Awaitable[Any]] = getattr(self._door, request.do)
        return await method(**named)

    async def _follow(self, request: Request, writer: asyncio.StreamWriter) -> None:
        try:
            after = _arguments(request, FollowChanges).notes_after
        except Refused as no:
            await _reply(writer, Push(refused=no.sentence))
            return
        follower = _Follower(self._door.cards())
        self._followers.add(follower)
        try:
            await _write(writer, Push(owner=self._door.owner()))
            while follower.pending:
                await _write(writer, follower.take())
            await _write(writer, Push(ready=True))
            while True:
                follower.wake.clear()
                after = await self._catch_up(follower, after, writer)
                await follower.wake.wait()
        except ConnectionError:
            pass  # its reader went away; it will come again
        finally:
            self._followers.discard(follower)

    async def _catch_up(self, follower: _Follower, after: int, writer: asyncio.StreamWriter) -> int:
        """Send what the follower has not been sent; return the last note sent."""
        while follower.pending or follower.noted:
            while follower.pending:
                await _write(writer, follower.take())
            if follower.noted:
                follower.noted = False
                for note in await self._door.notes(after):
                    await _write(writer, Push(note=note))
                    after, follower.noted = note.n, True
        return after


def _arguments(request: Request, takes: type[Any]) -> Any:
    try:
        return msgspec.json.decode(request.args, type=takes)
    except msgspec.MsgspecError as fault:
        raise Refused(f"{request.do}: {fault}.") from fault


async def _lines(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> AsyncIterator[bytes]:
    """Yield whole lines until the other end closes or sends one too long.

    Not by readline: its limit is also how much is read ahead of a slow consumer, twice over.
    """
    parts: list[bytes] = []
    held = 0
    while True:
        try:
            chunk = await reader.read(READ_AHEAD)
        except ConnectionError:
            return
        if not chunk:
            return  # what has no end was cut off
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            yield b"".join((*parts, line))
            parts.clear()
            held = 0
        parts.append(rest)
        held += len(rest)
        if held > MAX_LINE:
            await _reply(writer, Answer(0, refused="That line is longer than 16 MiB."))
            return


async def _reply(writer: asyncio.StreamWriter, value: Struct) -> None:
    """Send an answer; nobody being there to hear it any more is no fault of ours."""
    with suppress(ConnectionError):
        await _write(writer, value)


def _listen(path: Path) -> socket.socket:
    """Bind the socket for its owner only. Whoever calls holds the engine's lock."""
    path.unlink(missing_ok=True)  # left by one that was killed
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # from its first moment on, not a chmod later
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)
    listener.listen(64)
    listener.setblocking(False)
    return listener


def _peer(writer: asyncio.StreamWriter) -> int | None:
    """Return the other end's user, None where the kernel does not tell (the file's mode holds)."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    connection: socket.socket = writer.get_extra_info("socket")
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
    _, uid, _ = _UCRED.unpack(raw)
    return int(uid)


# ---------------------------------------------------------------- the other end


class Client:
    """Asks the engine; connects when first asked and again when the engine was away.

    timeout_s   how long one call may take, where the verb itself needs no longer
    pause       how to wait before dialling again
    """

    def __init__(
        self,
        path: Path,
        *,
        timeout_s: float = CALL_TIMEOUT_S,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
        luck: Callable[[], float] = random.random,
    ) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._pause = pause
        self._luck = luck
        self._dialling = asyncio.Lock()
        self._writer: asyncio.StreamWriter | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._last = 0
        self._open: dict[int, asyncio.Future[Answer]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Hang up; safe to repeat."""
        hearing, self._hearing = self._hearing, None
        if hearing is not None:
            hearing.cancel()
            await asyncio.wait([hearing])
        self._hang_up()

    async def call(self, verb: str, /, cause: str = "", **args: Any) -> Any:
        """Have the engine do one thing and return what it gives.

        raises   Refused with the engine's sentence. Unavailable when it is away or silent: whether
                 it was done is then not known, and asking again with the same cause is safe. Missing
                 when it answered that something else is away
        """
        known = VERBS.get(verb, Verb(Nothing))
        limit_s = max(self._timeout_s, known.patience_s)
        try:
            async with asyncio.timeout(limit_s):
                answer = await self._ask(verb, cause, args)
        except TimeoutError:
            raise Unavailable(f"The engine did not answer within {limit_s:.0f} s.") from None
        if answer.refused:
            raise Refused(answer.refused)
        if answer.unavailable:
            raise Missing(answer.unavailable)
        return msgspec.json.decode(answer.ok, type=known.gives)

    async def changes(self, notes_after: int) -> AsyncIterator[Change]:
        """Yield all live cards, Ready, and then every change, for ever, over any reconnect.

        What the owner set comes before all else, where it is not what was told last (or nothing).
        raises   Refused when the engine will not have us follow
        """
        failures = 0
        owner = OwnerView()
        while True:
            try:
                reader, writer = await asyncio.open_unix_connection(self._path)
            except OSError:
                failures += 1
            else:
                try:
                    args = msgspec.Raw(_ENCODER.encode(FollowChanges(notes_after=notes_after)))
                    await _reply(writer, Request(0, "changes", args))
                    async for line in _lines(reader, writer):
                        failures = 0
                        change = _change(line)
                        if isinstance(change, Note):
                            notes_after = max(notes_after, change.n)
                        if isinstance(change, OwnerView):
                            owner, before = change, owner
                            if owner == before:
                                continue
                        if change is not None:
                            yield change
                finally:
                    writer.close()
                failures += 1
            wait_s = retry.wait_s(min(failures, retry.MAX_TRIES), self._luck(), REDIAL_CAP_S)
            await self._pause(wait_s or 0.0)

    async def _ask(self, verb: str, cause: str, args: dict[str, Any]) -> Answer:
        try:
            body = msgspec.Raw(_ENCODER.encode(args))
        except UnicodeEncodeError as fault:
            odd = str(fault.object).encode("utf-8", "backslashreplace").decode()
            raise Refused(f"{odd} is no UTF-8: nothing was done.") from fault
        writer = await self._connected()
        self._last += 1
        number = self._last
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[number] = answer
        try:
            await _write(writer, Request(number, verb, body, cause))
            return await answer
        except ConnectionError as lost:
            raise WentAway("The engine went away while it was asked.") from lost
        finally:
            self._open.pop(number, None)

    async def _connected(self) -> asyncio.StreamWriter:
        async with self._dialling:
            if self._writer is None:
                try:
                    reader, writer = await asyncio.open_unix_connection(self._path)
                except OSError as away:
                    raise Unavailable("The engine is not running.") from away
                self._writer = writer
                self._hearing = asyncio.create_task(self._hear(reader, writer))
            return self._writer

    async def _hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async for line in _lines(reader, writer):
                answer = _ANSWER.decode(line)
                if (asked := self._open.get(answer.id)) is not None and not asked.done():
                    asked.set_result(answer)
        except msgspec.MsgspecError as fault:
            log.warning("cannot read an answer: %s", fault)
        self._hang_up()

    def _hang_up(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()
        for asked in self._open.values():
            if not asked.done():
                asked.set_exception(WentAway("The engine went away before it answered."))


def _change(line: bytes) -> Change | None:
    """Return what a line tells, None for what only a newer engine's reader would understand."""
    try:
        push = _PUSH.decode(line)
    except msgspec.MsgspecError as fault:
        log.warning("cannot read a change: %s", fault)
        return None
    if push.refused:
        raise Refused(push.refused)
    if push.gone:
        return Gone(push.gone)
    return Ready() if push.ready else push.card or push.note or push.owner
