-- The engine's ledger: what happened (events), where each stream stands (states), what is owed to
-- the outside (effects), and the little that must be as durable as they are. Bodies are tagged JSON.

CREATE TABLE events (
    n      INTEGER PRIMARY KEY,
    stream TEXT NOT NULL,
    cause  TEXT NOT NULL UNIQUE,  -- a redelivered event does nothing
    at     REAL NOT NULL,
    body   BLOB NOT NULL
);
CREATE INDEX events_by_stream ON events (stream, n);
CREATE INDEX events_by_age ON events (at);

CREATE TABLE states (
    stream TEXT PRIMARY KEY,
    body   BLOB NOT NULL,
    n      INTEGER NOT NULL  -- the event that made it so
) WITHOUT ROWID;

CREATE TABLE effects (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,  -- means something outside, so never used twice
    stream  TEXT NOT NULL,
    n       INTEGER NOT NULL,  -- the event that owes it
    body    BLOB NOT NULL,
    due_at  REAL NOT NULL,
    tries   INTEGER NOT NULL DEFAULT 0,  -- tries the outside did not answer
    deaths  INTEGER NOT NULL DEFAULT 0,  -- tries begun since then and never ended
    done_at REAL
);
CREATE INDEX effects_owed ON effects (id) WHERE done_at IS NULL;
CREATE INDEX effects_done ON effects (done_at) WHERE done_at IS NOT NULL;

CREATE TABLE tries (
    cause  TEXT PRIMARY KEY,
    stream TEXT NOT NULL,
    tries  INTEGER NOT NULL,
    mark   INTEGER NOT NULL  -- which try was counted last, so that none counts twice
) WITHOUT ROWID;

CREATE TABLE broken (
    stream  TEXT PRIMARY KEY,
    cause   TEXT NOT NULL,
    why     TEXT NOT NULL,
    at      REAL NOT NULL,
    dropped INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE counters (
    kind TEXT PRIMARY KEY,
    next INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE positions (
    run      TEXT PRIMARY KEY,
    position INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE notes (
    n      INTEGER PRIMARY KEY AUTOINCREMENT,  -- the bot remembers the last it has seen
    effect INTEGER NOT NULL UNIQUE,
    goal   TEXT NOT NULL,
    kind   TEXT NOT NULL,
    text   TEXT NOT NULL,
    who    TEXT NOT NULL,
    sounds INTEGER NOT NULL,
    at     REAL NOT NULL
);
CREATE INDEX notes_by_age ON notes (at);
