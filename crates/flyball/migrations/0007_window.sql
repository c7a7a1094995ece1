-- What people did to runs, and what was refused them: by whom, and what came of it.
CREATE TABLE acts (
    key INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    run TEXT NOT NULL,
    act TEXT NOT NULL,
    -- 'cli', 'page', 'terminal' or 'mcp'.
    by TEXT NOT NULL,
    -- 'done', 'too_late' or 'refused'.
    result TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX acts_by_run ON acts (run, key);

-- Which runs moved since a moment.
CREATE INDEX runs_by_last ON runs (last_at);
