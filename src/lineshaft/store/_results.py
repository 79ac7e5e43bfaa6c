"""Texts that were too long for a model, in the store: by handle, until their time is over."""

from datetime import datetime, timedelta
from sqlite3 import Connection, OperationalError

from lineshaft.store._json import storable
from lineshaft.store._log import stamp

TABLE = """
CREATE TABLE IF NOT EXISTS results (
    handle TEXT NOT NULL PRIMARY KEY,
    text TEXT NOT NULL, -- redacted
    keep_until TEXT NOT NULL
)
"""


class Results:
    """Reads and writes such texts in a transaction.

    Args:
        connection: In a transaction.
        now: The time of the transaction.
        keep_days: How long a text stays.
    """

    def __init__(self, connection: Connection, *, now: datetime, keep_days: float) -> None:
        self._connection = connection
        self._now = now
        self._keep_days = keep_days
        self.written = 0

    def add(self, handle: str, text: str) -> None:
        """Keep a text under a handle that nothing else has."""
        until = stamp(self._now + timedelta(days=self._keep_days))
        kept = storable(text)
        self._connection.execute(
            "INSERT OR REPLACE INTO results (handle, text, keep_until) VALUES (?, ?, ?)",
            (handle, kept, until),
        )
        self.written += len(kept)

    def get(self, handle: str) -> str | None:
        """Return the text of a handle; None: there is none, or its time is over."""
        try:
            row = self._connection.execute(
                "SELECT text FROM results WHERE handle = ? AND keep_until > ?",
                (handle, stamp(self._now)),
            ).fetchone()
        except OperationalError:  # no text was ever kept in this file
            return None
        return None if row is None else str(row["text"])

    def forget_expired(self) -> None:
        """Delete the texts whose time is over."""
        self._connection.execute("DELETE FROM results WHERE keep_until <= ?", (stamp(self._now),))
