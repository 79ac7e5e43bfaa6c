"""Errors of the database in words: messages hold no statement, no parameter and no path."""

import sqlite3
from collections.abc import Mapping

from lineshaft.errors import ConfigError, LineshaftError, StateError

_MOVE = "move the file away (a new store is begun), or put it back from a copy"

_SQLITE: Mapping[int, tuple[str, str]] = {
    sqlite3.SQLITE_BUSY: (
        "is locked by another process",
        "wait for that process or end it, then try again; nothing was lost",
    ),
    sqlite3.SQLITE_READONLY: (
        "cannot be written: it is read-only",
        "make file and folder writable, or name another place by LINESHAFT_STORE_URL",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened",
        "look at the rights of file and folder, or name another place by LINESHAFT_STORE_URL",
    ),
    sqlite3.SQLITE_FULL: (
        "cannot be written: the disk is full",
        (
            "make room on it, then try again: `lineshaft cache clear` removes what can be made "
            "again; `lineshaft runs prune --days N` deletes old records, and needs room to do so"
        ),
    ),
    sqlite3.SQLITE_IOERR: (
        "cannot be read or written: input/output error",
        (
            "look whether the disk is full or fails, and at limits of file size; "
            "the states kept so far are safe"
        ),
    ),
    sqlite3.SQLITE_CORRUPT: ("is damaged: the file was truncated or written over", _MOVE),
    sqlite3.SQLITE_NOTADB: ("is damaged: the file is no database", _MOVE),
    sqlite3.SQLITE_TOOBIG: ("cannot keep a value of this size", "return less from the tool"),
}


def told(error: Exception, name: str) -> StateError:
    """Return the error that a user gets.

    Args:
        error: The exception of SQLite or the system.
        name: The store's name for messages.
    """
    if isinstance(error, StateError):
        return error
    if isinstance(error, LineshaftError):
        kept = StateError(error.message, hint=error.hint)
        if isinstance(error, ConfigError):
            kept.code = error.code  # a folder that cannot be made stays a matter of settings
        return kept
    code = _code(error)
    if code is not None and code in _SQLITE:
        return fault(code, name)
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        hint = "name another place by LINESHAFT_STORE_URL, or in [store] of your own settings"
        return StateError(f"the store {name!r} cannot be used: {reason}", hint=hint)
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        hint = "there is no room for a thread: end processes, or raise `ulimit -u` or `ulimit -v`"
        return StateError(f"the store {name!r} cannot be used: {error}", hint=hint)
    return StateError(f"the store {name!r} failed: {type(error).__name__}")


def fault(code: int, name: str) -> StateError:
    """Return the error that a user gets for one of SQLite's codes."""
    what, hint = _SQLITE[code]
    return StateError(f"the store {name!r} {what}", hint=hint)


def damaged(name: str, how: str) -> StateError:
    """Return the error that a user gets for a damaged store."""
    return StateError(f"the store {name!r} is damaged: {how}", hint=_MOVE)


def _code(error: Exception) -> int | None:
    """Return SQLite's name for an error, without further details."""
    if isinstance(error, TimeoutError):  # of a lock of our own
        return sqlite3.SQLITE_BUSY
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None
