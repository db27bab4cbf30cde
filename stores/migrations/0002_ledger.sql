-- What was decided, by whom, and with what before their eyes: kept longer than the events it came of.

CREATE TABLE decisions (
    n      INTEGER PRIMARY KEY AUTOINCREMENT,  -- a gap is one that was taken out
    at     REAL NOT NULL,
    cause  TEXT NOT NULL,
    stream TEXT NOT NULL,
    goal   TEXT NOT NULL,
    body   BLOB NOT NULL
);
CREATE INDEX decisions_by_age ON decisions (at);
