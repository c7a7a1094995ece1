-- Conversations of `flyball session`: one row each, and every entry as it happened.
CREATE TABLE conversations (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    root TEXT NOT NULL,
    model TEXT NOT NULL,
    pid INTEGER,
    started INTEGER NOT NULL,
    last_at INTEGER NOT NULL
) STRICT;
CREATE INDEX conversations_by_root ON conversations (root, last_at);

-- Rows are only ever added: a call's beginning before its deed, its result after it.
CREATE TABLE conversation_entries (
    conversation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    -- Empty for the main agent.
    agent TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (conversation, seq)
) STRICT, WITHOUT ROWID;
