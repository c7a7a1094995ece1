-- What identifies a repository on this machine: its folders and its first commits. Worktrees and
-- clones share one of these.
CREATE TABLE repository_names (
    name TEXT PRIMARY KEY,
    repository INTEGER NOT NULL
) STRICT;
CREATE INDEX repository_names_by_repository ON repository_names (repository);

-- The tree a worktree is compared with for weakened checks: that of the run's beginning, or of an
-- earlier run that ended before it was looked at.
CREATE TABLE tamper_bases (
    key INTEGER PRIMARY KEY,
    repository INTEGER NOT NULL,
    root TEXT NOT NULL,
    tree TEXT NOT NULL,
    head TEXT,
    run TEXT NOT NULL,
    at INTEGER NOT NULL,
    examined INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX tamper_bases_by_root ON tamper_bases (root, key);
CREATE INDEX tamper_bases_by_repository ON tamper_bases (repository);

-- Weakened checks, until they are undone or accepted.
CREATE TABLE tamper_findings (
    key INTEGER PRIMARY KEY,
    base INTEGER NOT NULL,
    root TEXT NOT NULL,
    finding TEXT NOT NULL,
    state TEXT NOT NULL,
    run TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (base, finding)
) STRICT;
CREATE INDEX tamper_findings_by_state ON tamper_findings (state, base);
