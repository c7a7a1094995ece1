-- What hook processes were asked and what they answered. Beside the events: a hook never writes
-- into a run's own sequence. Rows are added and, on request, pruned; never changed.
CREATE TABLE hook_trail (
    key INTEGER PRIMARY KEY,
    -- None outside of a run.
    run TEXT,
    session TEXT NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX hook_trail_by_run ON hook_trail (run, key);
