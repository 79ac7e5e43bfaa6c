"""The tables: the record, and apart from it what is kept of runs."""

from sqlalchemy import (
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

METADATA = MetaData()

SCHEMA = Table(
    "lineshaft_schema",
    METADATA,
    Column("version", Integer, primary_key=True),
)

RUNS = Table(
    "runs",
    METADATA,
    Column("run_id", String(200), primary_key=True),
    Column("workspace", Text, nullable=False),
    Column("started_at", String(40), nullable=False),
    Column("last_at", String(40), nullable=False),
    Column("last_seq", Integer, nullable=False),
    Column("name", Text, nullable=False, server_default=""),
    Column("engine", Text, nullable=False, server_default=""),
    Column("origin", Text, nullable=False, server_default=""),
    Column("status", String(40)),  # none while it goes on
    Column("code", String(40), nullable=False, server_default=""),
    Column("duration_ms", Float, nullable=False, server_default="0"),
    Column("waiting", Text, nullable=False, server_default="[]"),
    Column("expires_at", String(40)),
    Column("owner_pid", Integer, nullable=False),
    Column("owner_mark", String(200), nullable=False),
    Index("runs_by_workspace", "workspace", "last_at"),
    Index("runs_by_status", "status"),
)
"""One row a run: what a list of runs shows, and which process works on it."""

EVENTS = Table(
    "events",
    METADATA,
    Column("run_id", String(200), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("at", String(40), nullable=False),
    Column("kind", String(40), nullable=False),
    Column("call_id", Text),
    Column("data", Text, nullable=False),
)
"""The record, redacted before it came here."""

STATES = Table(
    "states",
    METADATA,
    Column("run_id", String(200), primary_key=True),
    Column("workspace", Text, nullable=False),
    Column("format", Integer, nullable=False),
    Column("phase", String(20), nullable=False),  # running, paused, over, expired
    Column("claim", Integer, nullable=False, key="lock"),  # as released stores call it
    Column("count", Integer, nullable=False),
    Column("head", LargeBinary, nullable=False),
    Column("pause", LargeBinary, nullable=False),
    Column("seal", LargeBinary, nullable=False),
    Column("key_id", String(40), nullable=False),
    Column("changed_at", String(40), nullable=False),
    Column("expires_at", String(40)),
    Index("states_by_phase", "phase", "changed_at"),
)
"""One row a run whose state is kept: how many rows there are, and the signature over them."""

SHAPES = Table(
    "shapes",
    METADATA,
    Column("id", String(64), primary_key=True),  # of workspace, tool and version
    Column("workspace", Text, nullable=False),
    Column("tool", String(200), nullable=False),
    Column("version", String(64), nullable=False),
    Column("schema", Text, nullable=False),
    Column("results", Integer, nullable=False),
    Column("drifted", Integer, nullable=False),
    Column("last_at", String(40), nullable=False),
    Index("shapes_by_workspace", "workspace", "tool"),
)
"""What results of tools looked like: types and keys, never a value."""

ROWS = Table(
    "state_rows",
    METADATA,
    Column("run_id", String(200), primary_key=True),
    Column("part", String(20), primary_key=True),  # run, started, finished, end; pause, blob
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("body", LargeBinary, nullable=False),
)
"""What is kept of a run: exact, signed, and read only in order to go on or to replay."""
