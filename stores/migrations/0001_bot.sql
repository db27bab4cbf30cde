-- What the bot must not forget: what it heard, what it still has to say, what it has shown where.

-- Updates of the owner, sealed with the vault's public key; a row goes once it was handled.
CREATE TABLE inbox (
    update_id INTEGER PRIMARY KEY,
    at        REAL NOT NULL,
    joined    INTEGER,           -- the first update of the message this one is a part of
    lives     INTEGER NOT NULL DEFAULT 0,  -- how many starts of the bot found it unhandled
    sealed    BLOB NOT NULL
) STRICT;

-- Ids already handled: Telegram delivers at least once, and restarts its numbers now and then.
CREATE TABLE handled (
    update_id INTEGER PRIMARY KEY,
    at        REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- What is said once, until Telegram has it. Cards are not here: their table tells what is shown.
CREATE TABLE outbox (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    chat     INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    body     BLOB NOT NULL
) STRICT;

-- One message per card: where it stands and a hash of what it shows.
CREATE TABLE cards (
    card       TEXT PRIMARY KEY,
    goal       TEXT NOT NULL,
    chat       INTEGER NOT NULL,
    thread     INTEGER NOT NULL DEFAULT 0,
    message_id INTEGER NOT NULL,
    revision   TEXT NOT NULL,
    shown      TEXT NOT NULL,
    filed      TEXT NOT NULL,    -- a hash of the file last sent with it
    asked      INTEGER NOT NULL,
    live       INTEGER NOT NULL, -- it still has buttons that mean something
    at         REAL NOT NULL
) STRICT;

-- Which goal and card a message of ours belongs to, for replies to it; and what it asked for.
CREATE TABLE messages (
    chat       INTEGER NOT NULL,
    message_id INTEGER NOT NULL,
    goal       TEXT NOT NULL,
    card       TEXT NOT NULL DEFAULT '',
    prompt     BLOB,
    at         REAL NOT NULL,
    PRIMARY KEY (chat, message_id)
) STRICT, WITHOUT ROWID;

-- One topic per goal. thread 0: it is being made; -1: there is none, its messages carry its name.
CREATE TABLE topics (
    goal   TEXT NOT NULL,
    chat   INTEGER NOT NULL,
    title  TEXT NOT NULL,
    thread INTEGER NOT NULL,
    PRIMARY KEY (goal, chat)
) STRICT, WITHOUT ROWID;
CREATE INDEX topics_by_thread ON topics (chat, thread);

-- Single facts: the last note queued, strangers the owner was told of.
CREATE TABLE facts (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
