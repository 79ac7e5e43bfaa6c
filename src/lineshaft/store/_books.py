"""One transaction over the store: the record, and what is kept of runs.

Work that raises a `LineshaftError` has changed nothing that must not stay; what stands beside it in
the transaction is committed all the same.
"""

from datetime import datetime
from sqlite3 import Connection

from lineshaft.store._key import Keys
from lineshaft.store._owner import Owner
from lineshaft.store._record import Record
from lineshaft.store._shapes import Shapes
from lineshaft.store._states import States


class Books:
    """What a transaction can do.

    Args:
        connection: In a transaction.
        keys: Find the key that states are signed with.
        keep_days: How long states stay.
        now: The time of the transaction.
        owner: This process.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        keys: Keys,
        keep_days: float,
        now: datetime,
        owner: Owner,
    ) -> None:
        self.record = Record(connection, now=now, owner=owner)
        self.shapes = Shapes(connection, now=now)
        self.states = States(connection, self.record, keys=keys, keep_days=keep_days, now=now)

    @property
    def written(self) -> int:
        """About how many bytes were written."""
        return self.record.written + self.states.written + self.shapes.written

    def settle(self) -> None:
        """Write what was put off to the end of the transaction."""
        self.states.settle()
