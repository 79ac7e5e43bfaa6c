"""The tables: the record, and apart from it what is kept of runs."""

NOW = "(julianday('now') - 2440587.5) * 86400.0"
"""The database's clock, in seconds since 1970, as an expression."""

SCHEMA = """
CREATE TABLE lineshaft_schema (version INTEGER NOT NULL PRIMARY KEY);
"""

RUNS = """
CREATE TABLE runs (
    run_id VARCHAR(200) NOT NULL PRIMARY KEY,
    workspace TEXT NOT NULL,
    started_at VARCHAR(40) NOT NULL,
    last_at VARCHAR(40) NOT NULL,
    last_seq INTEGER NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    engine TEXT NOT NULL DEFAULT '',
    origin TEXT NOT NULL DEFAULT '',
    status VARCHAR(40), -- none while it goes on
    code VARCHAR(40) NOT NULL DEFAULT '',
    duration_ms FLOAT NOT NULL DEFAULT 0,
    waiting TEXT NOT NULL DEFAULT '[]',
    expires_at VARCHAR(40),
    owner_pid INTEGER NOT NULL,
    owner_mark VARCHAR(200) NOT NULL
);
CREATE INDEX runs_by_workspace ON runs (workspace, last_at);
CREATE INDEX runs_by_status ON runs (status);
"""
"""One row a run: what a list of runs shows, and which process works on it."""

EVENTS = """
CREATE TABLE events (
    run_id VARCHAR(200) NOT NULL,
    seq INTEGER NOT NULL,
    at VARCHAR(40) NOT NULL,
    kind VARCHAR(40) NOT NULL,
    call_id TEXT,
    data TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
);
"""
"""The record, redacted before it came here."""

STATES = """
CREATE TABLE states (
    run_id VARCHAR(200) NOT NULL PRIMARY KEY,
    workspace TEXT NOT NULL,
    format INTEGER NOT NULL,
    phase VARCHAR(20) NOT NULL, -- running, paused, over, expired
    claim INTEGER NOT NULL,
    count INTEGER NOT NULL,
    head BLOB NOT NULL,
    pause BLOB NOT NULL,
    seal BLOB NOT NULL,
    key_id VARCHAR(40) NOT NULL,
    changed_at VARCHAR(40) NOT NULL,
    expires_at VARCHAR(40)
);
CREATE INDEX states_by_phase ON states (phase, changed_at);
"""
"""One row a run whose state is kept: how many rows there are, and the signature over them."""

ROWS = """
CREATE TABLE state_rows (
    run_id VARCHAR(200) NOT NULL,
    part VARCHAR(20) NOT NULL, -- run, started, finished, end, pause, blob
    ordinal INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (run_id, part, ordinal)
);
"""
"""What is kept of a run: exact, signed, and read only in order to go on or to replay."""

SHAPES = """
CREATE TABLE shapes (
    id VARCHAR(64) NOT NULL PRIMARY KEY, -- of workspace, tool and version
    workspace TEXT NOT NULL,
    tool VARCHAR(200) NOT NULL,
    version VARCHAR(64) NOT NULL,
    schema TEXT NOT NULL,
    results INTEGER NOT NULL,
    drifted INTEGER NOT NULL,
    last_at VARCHAR(40) NOT NULL
);
CREATE INDEX shapes_by_workspace ON shapes (workspace, tool);
"""
"""What results of tools looked like: types and keys, never a value."""
