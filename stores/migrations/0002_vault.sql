-- Every value a name ever had, until it is forgotten; bound to name, version, scope and time.
CREATE TABLE versions (
    name    TEXT NOT NULL,
    version INTEGER NOT NULL,
    scope   TEXT NOT NULL,      -- '' everywhere, or project/NAME, or machine/NAME
    form    INTEGER NOT NULL,   -- how it is bound: 1 before there were scopes, 2 since
    body    BLOB NOT NULL,      -- nonce, then ciphertext
    at      REAL NOT NULL,
    used    REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (name, version)
) STRICT;
INSERT INTO versions (name, version, scope, form, body, at)
    SELECT name, version, '', 1, body, at FROM secrets;
DROP TABLE secrets;
ALTER TABLE versions RENAME TO secrets;

-- Which version of a name is its newest, sealed: one taken away is missed.
CREATE TABLE newest (
    name    TEXT PRIMARY KEY,
    body    BLOB NOT NULL
) STRICT;

-- The vault's keys before this one, each closed with this one: for what was sealed to them before.
CREATE TABLE retired (
    public  BLOB PRIMARY KEY,
    body    BLOB NOT NULL,
    at      REAL NOT NULL
) STRICT;

-- Whose the rows are: says after a cut-off rotation which of two keys it is.
CREATE TABLE sealed_by (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    public  BLOB NOT NULL
) STRICT;
