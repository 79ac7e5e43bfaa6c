"""The tables: one row a run, one row a step of it, and large contents apart."""

import re

VERSION = 1
"""Of the tables below."""

NOW = "(julianday('now') - 2440587.5) * 86400.0"
"""The database's clock, in seconds since 1970, as an expression."""

TABLES = """
CREATE TABLE meta (version INTEGER NOT NULL PRIMARY KEY);

CREATE TABLE runs (
    id TEXT NOT NULL PRIMARY KEY,
    workspace TEXT NOT NULL,
    format INTEGER NOT NULL,
    phase TEXT NOT NULL, -- recorded (nothing exact), running, paused, over, expired, older
    status TEXT, -- none while it goes on
    code TEXT NOT NULL,
    name TEXT NOT NULL,
    engine TEXT NOT NULL,
    origin TEXT NOT NULL,
    started_at TEXT NOT NULL,
    last_at TEXT NOT NULL,
    seq INTEGER NOT NULL,
    event_seq INTEGER NOT NULL,
    duration_ms REAL NOT NULL,
    waiting TEXT NOT NULL,
    expires_at TEXT,
    lease_no INTEGER NOT NULL,
    lease_until REAL NOT NULL,
    owner_pid INTEGER NOT NULL,
    owner_mark TEXT NOT NULL,
    head BLOB NOT NULL,
    seal BLOB NOT NULL,
    key_id TEXT NOT NULL,
    exact_bytes INTEGER NOT NULL,
    keep_until TEXT
);
CREATE INDEX runs_by_workspace ON runs (workspace, last_at);
CREATE INDEX runs_by_status ON runs (status);
CREATE INDEX runs_by_phase ON runs (phase, keep_until);

CREATE TABLE log (
    run TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    call_id TEXT,
    container TEXT,
    event_seq INTEGER NOT NULL,
    shown TEXT, -- redacted, all that readers of the record select
    exact BLOB, -- never shown
    mac BLOB NOT NULL,
    PRIMARY KEY (run, seq)
);

CREATE TABLE blobs (
    run TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    part INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (run, sha256, part)
);

CREATE TABLE shapes (
    id TEXT NOT NULL PRIMARY KEY, -- of workspace, tool and version
    workspace TEXT NOT NULL,
    tool TEXT NOT NULL,
    version TEXT NOT NULL,
    schema TEXT NOT NULL,
    results INTEGER NOT NULL,
    drifted INTEGER NOT NULL,
    last_at TEXT NOT NULL
);
CREATE INDEX shapes_by_workspace ON shapes (workspace, tool);
"""

NEEDED = frozenset(re.findall(r"CREATE TABLE (\w+)", TABLES))
"""The names of the tables, without which it is no whole store."""
