"""The engine's door: the owner's requests in, views out, over a unix socket.

One JSON value a line, at most 16 MiB. A request names a verb, its arguments and its cause, and is
answered under its id, in whatever order answers are ready:

    {"id": 1, "do": "tap", "args": {"card": "a-5", …}, "cause": "telegram:8812"}
    {"id": 1, "ok": …}   or   {"id": 1, "refused": "…"}   or   {"id": 1, "unavailable": "…"}

`changes` takes a connection of its own. All live cards come first, then {"ready": true}, then what
changes: {"card": …}, {"gone": "a-5"}, {"note": …}; {"owner": …} comes first and when it changes. A slow
reader is given the newest of each card and holds nobody up; notes are read again from the ledger, so
none is missed.

The cause makes a repeat harmless: who got no answer asks again with the same one. Beside it stands on
whose behalf it is asked ("by": engine/asker.py), for `quarterdeck audit`.

Only a process of our own user is heard. verbs.py is what can be asked, wire.py the lines, server.py and
client.py the two ends. Neighbours: door.py and requests/ do what is asked, bot/ and cli.py ask.
"""

from engine.api.client import Client
from engine.api.server import Server
from engine.api.verbs import VERBS
from engine.api.wire import MAX_LINE, Change, Gone, Missing, Ready, WentAway
from engine.asker import Asker, asked_by, on_behalf_of, saw

__all__ = [
    "MAX_LINE",
    "VERBS",
    "Asker",
    "Change",
    "Client",
    "Gone",
    "Missing",
    "Ready",
    "Server",
    "WentAway",
    "asked_by",
    "on_behalf_of",
    "saw",
]
