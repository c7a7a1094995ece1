-- What a run answered to what other processes asked of it; taken by who asked.
CREATE TABLE replies (
    request INTEGER PRIMARY KEY,
    body TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
