-- The owner's keys, each encrypted by itself and bound to its name and version.
CREATE TABLE secrets (
    name    TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    body    BLOB NOT NULL,      -- nonce, then ciphertext
    at      REAL NOT NULL
) STRICT;
