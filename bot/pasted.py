"""Pasted keys, taken out of a message before anything else is done with it.

Each is sealed for the vault, `{{NAME}}` stands in its place, and the messages that held one are deleted.
One that the next message goes on with is kept whole in the place of its first half; what may be the rest of
one that could be whole is kept beside it. keys.py knows what
looks like a key, two_goes.py what goes on; messages.py asks here first.
"""

import asyncio
import hashlib
import re
from collections.abc import Sequence

import msgspec
import telegram
from msgspec.structs import replace

from bot import delivery, keys, meant, text, text_keys, two_goes
from bot.ended import Ends
from bot.inbox import Arrived
from bot.outbox import Outbox
from bot.panels import Engine
from bot.projects import Projects
from bot.two_goes import Tail
from bot.unsaid import Delete, Item, Prompt, Say, Weight, packed
from engine.errors import Refused
from stores.cards import CardStore
from stores.sealing import seal


class Pasted:
    """Takes keys out.

    public   the vault's public key
    """

    def __init__(
        self,
        bot: telegram.Bot,
        engine: Engine,
        outbox: Outbox,
        store: CardStore,
        public: bytes,
    ) -> None:
        self._bot = bot
        self._engine = engine
        self._outbox = outbox
        self._store = store
        self._public = public
        self._ends = Ends(engine, store, public)

    async def taken_out(
        self, parts: Sequence[Arrived], pieces: list[str]
    ) -> tuple[list[str], list[Item]]:
        """Return a message's pieces without their keys, and what is to be deleted and said of it.

        Raises Refused where the vault takes a key no more: `not_kept` says what follows.
        """
        found = [await self._keys_in(piece) for piece in pieces]
        half = await self._ends.before(parts[0])
        rest = two_goes.gone_on(half, pieces[0]) if half is not None else None
        if half is not None and rest is not None:
            behind = (key for key in found[0] if key.start >= rest.end)
            found[0] = [rest, *behind]
        apart = await self._apart(half, pieces[0]) if rest is None and not found[0] else None
        if apart is not None:
            found[0] = [apart]
        if not any(found):
            await self._ends.end(parts, two_goes.tail_of(pieces[0], [], {}))
            return pieces, []
        ids = [int(one.body["message_id"]) for one in parts]
        # At once, whatever else is slow or away; what is queued below makes sure of it.
        for message_id in ids:
            await delivery.delete(self._bot, parts[0].by.chat, message_id)
        kept = not await self._is_address(parts[0], pieces[0])
        about = await self._about(parts)
        names: dict[str, str] = {}
        scopes: dict[str, str] = {}
        for key in [key for piece in found for key in piece]:
            if keys.is_recovery(key.value):
                names[key.value] = keys.RECOVERY
            elif not kept:
                names[key.value] = key.name
            elif key.value not in names:
                more = key is rest and half is not None and bool(half.name)
                name, scope = await self._kept(key, parts[0].update_id, len(names), instead=more)
                names[key.value], scopes[name] = name, scope
                rest_of = half.name if key is apart and half is not None else ""
                await meant.note(self._store, name, replace(about, sure=key.sure, rest_of=rest_of))
        clean = [
            keys.replaced(piece, in_piece, lambda key: names[key.value])
            for piece, in_piece in zip(pieces, found, strict=True)
        ]
        codes = [value for value, name in names.items() if name == keys.RECOVERY]
        ends = kept and not codes
        tail = two_goes.tail_of(pieces[0], found[0], names) if ends else None
        if tail is not None and apart is not None and half is not None:
            tail = replace(tail, name=half.name, is_open=False)  # a third would be the same key's
        await self._ends.end(parts, tail)
        last = tuple(dict.fromkeys(name for value, name in names.items() if value not in codes))
        kept = kept and bool(last)
        goal = self._goal_here(parts[0])
        deletes = [Delete(message_id=message_id, goal=goal) for message_id in ids[:-1]]
        where = tuple(scopes[name] for name in last) if kept else ()
        named = Delete(
            message_id=ids[-1],
            names=last or (keys.RECOVERY,),
            goal=goal,
            kept=kept,
            where=where,
            rest_of=half.name if apart is not None and half is not None else "",
        )
        told = [Say(words=text.said(text_keys.RECOVERY), goal=goal, sounds=True)] if codes else []
        return clean, [*deletes, named, *told]

    async def _apart(self, half: Tail | None, piece: str) -> keys.Key | None:
        """Return what may be the rest of a key that could be whole: kept apart, till its owner joins them."""
        found = two_goes.maybe_rest(half, piece) if half is not None else None
        return found if found is not None and not await self._is_plain(found) else None

    def not_kept(self, parts: Sequence[Arrived], no: Refused) -> tuple[Item, ...]:
        """Return what is done with a message whose keys the vault does not take: it is nobody's line."""
        gone = [Delete(message_id=int(one.body["message_id"])) for one in parts]
        return (*gone, Say(words=text.said(f"{no.sentence} {text_keys.NOT_KEPT}")))

    async def told_once(self, one: Arrived, items: Sequence[Item]) -> None:
        """Queue what is deleted and said of a message before the rest of it is asked about, and once."""
        queue = packed(one.by.chat, Weight.DECISION, items)
        told, update = f"keys told {one.by.chat}", str(one.update_id)
        await self._store.first(told, queue, self._outbox.take_up, update)

    def _goal_here(self, one: Arrived) -> str:
        thread = int(one.body.get("message_thread_id") or 0)
        return self._outbox.goal_of_thread(one.by.chat, thread)

    async def _about(self, parts: Sequence[Arrived]) -> meant.Meant:
        """Return what a message is for, as far as it can be known before it is read."""
        chat, body = parts[0].by.chat, parts[0].body
        answered = int((body.get("reply_to_message") or {}).get("message_id") or 0)
        told = await self._outbox.told(chat, answered) if answered else None
        return meant.Meant(
            chat=chat,
            message_id=int(body["message_id"]),
            goal=(told.goal if told else "") or self._goal_here(parts[0]),
            card=told.card if told else "",
        )

    async def _keys_in(self, whole: str) -> list[keys.Key]:
        """Look a text through; in a long one others have their turn in between."""
        found: list[keys.Key] = []
        for part in keys.by_parts(whole):
            found += [key for key in part if not await self._is_plain(key)]
            await asyncio.sleep(0)
        return found

    async def _is_plain(self, key: keys.Key) -> bool:
        """Return whether its owner said of this very text that it is no secret."""
        digest = hashlib.sha256(key.value.encode(errors="replace")).hexdigest()
        return await meant.is_plain(self._store, digest)

    async def _is_address(self, one: Arrived, whole: str) -> bool:
        """Return whether a line names a project: an address with a password in it is refused.

        Nobody could use that password by name, so it is not kept either.
        """
        answered = int((one.body.get("reply_to_message") or {}).get("message_id") or 0)
        told = await self._outbox.told(one.by.chat, answered) if answered else None
        if told is None or told.prompt is None:
            return _ADDING.match(whole) is not None
        prompt = msgspec.json.decode(told.prompt, type=Prompt)
        return prompt.card == Projects.name and prompt.verb == "add"

    async def _kept(
        self, key: keys.Key, update: int, number: int, *, instead: bool = False
    ) -> tuple[str, str]:
        """Have a key kept; `instead` of the half that was kept as its name.

        Return what it is kept as, and where it may be used.
        """
        sealed = seal(self._public, key.value.encode(errors="replace"))
        result = await self._engine.call(
            "keep_secret",
            cause=f"telegram:{update}.key{number}",
            name=key.name,
            sealed=sealed,
            instead=instead,
        )
        if isinstance(result, dict):
            return str(result.get("name") or key.name), str(result.get("scope") or "")
        return str(result) if result else key.name, ""


_ADDING = re.compile(r"\s*/projects(?:@\w+)?\s+add\s", re.IGNORECASE)
