-- What a run answered to what other processes asked of it; taken by who asked.
CREATE TABLE replies (
    request INTEGER PRIMARY KEY,
    body TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

-- Runs in a worktree of their own: where it is, on which branch, and what they came from.
CREATE TABLE apart (
    run TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    origin TEXT NOT NULL,
    branch TEXT NOT NULL,
    -- None when no branch was checked out.
    target TEXT,
    base TEXT NOT NULL,
    -- What became of it: 'landed' or 'dropped'.
    fate TEXT,
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX apart_by_origin ON apart (origin, at);
