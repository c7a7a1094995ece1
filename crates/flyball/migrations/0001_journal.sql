-- Times are milliseconds since 1970, money is millionths of a dollar, bodies are JSON.

-- One row per run, kept up to date with every append: listing runs never reads events.
CREATE TABLE runs (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    root TEXT NOT NULL,
    agent TEXT NOT NULL,
    pid INTEGER,
    started INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    ended INTEGER,
    outcome TEXT,
    phase TEXT NOT NULL DEFAULT 'starting',
    iteration INTEGER NOT NULL DEFAULT 0,
    max_iterations INTEGER NOT NULL,
    mode TEXT,
    task TEXT,
    stuck INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0,
    cost_micro_usd INTEGER NOT NULL DEFAULT 0,
    stories_complete INTEGER NOT NULL DEFAULT 0,
    stories_total INTEGER NOT NULL DEFAULT 0,
    events INTEGER NOT NULL DEFAULT 0,
    ending TEXT
) STRICT;
CREATE INDEX runs_by_root ON runs (root, started);
CREATE INDEX runs_by_start ON runs (started);

-- The truth. Rows are added and, on request, pruned with their run; never changed.
CREATE TABLE events (
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- One row per closed iteration.
CREATE TABLE iterations (
    run INTEGER NOT NULL,
    iteration INTEGER NOT NULL,
    started INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    task TEXT,
    body TEXT NOT NULL,
    PRIMARY KEY (run, iteration)
) STRICT, WITHOUT ROWID;

-- What is remembered of tasks across runs, by repository.
CREATE TABLE attempts (
    key INTEGER PRIMARY KEY,
    root TEXT NOT NULL,
    task TEXT NOT NULL,
    at INTEGER NOT NULL,
    run TEXT NOT NULL,
    iteration INTEGER NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (root, task, at, run, iteration)
) STRICT;
CREATE INDEX attempts_by_time ON attempts (root, at);

CREATE TABLE remedies (
    key INTEGER PRIMARY KEY,
    root TEXT NOT NULL,
    task TEXT NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (root, task, at, body)
) STRICT;

CREATE TABLE standings (
    root TEXT NOT NULL,
    task TEXT NOT NULL,
    standing TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (root, task)
) STRICT, WITHOUT ROWID;

CREATE TABLE contexts (
    key INTEGER PRIMARY KEY,
    root TEXT NOT NULL,
    entry TEXT NOT NULL,
    topic TEXT NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (root, entry, at)
) STRICT;
CREATE INDEX contexts_by_topic ON contexts (root, topic, at);

-- The same tree is never checked twice by the same command in the same environment.
CREATE TABLE gate_results (
    tree TEXT NOT NULL,
    command TEXT NOT NULL,
    environment TEXT NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tree, command, environment)
) STRICT, WITHOUT ROWID;

-- The call ring between two hook calls of one agent session.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    updated INTEGER NOT NULL,
    state BLOB NOT NULL
) STRICT;

-- What other processes ask of a run; taken by the run.
CREATE TABLE requests (
    key INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX requests_by_run ON requests (run, key);

-- Weakened tests a human has accepted.
CREATE TABLE accepted (
    root TEXT NOT NULL,
    finding TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (root, finding)
) STRICT, WITHOUT ROWID;
