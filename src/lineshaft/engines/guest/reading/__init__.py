"""The reader: it finds facts about a script by its text alone, and never runs one.

The host asks it in a kept instance, for both engines: imports, forgotten `await`s, names, syntax,
and the meaning of the type checker's words.
"""

from typing import Any

from .reader import KeptReader

__all__ = ["run"]

_READER = KeptReader()


def run(order: dict[str, Any], wire: object) -> dict[str, Any]:
    """Carry out an order to read a script, or to judge the type checker's diagnostics of it.

    Args:
        order: Of the host, `do` being `read` or `judge`.
        wire: The host; the reader asks nothing of it.
    """
    del wire
    return _READER.read(order) if order["do"] == "read" else _READER.judge(order)
