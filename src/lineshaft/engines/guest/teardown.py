"""The end of a script's names: what they alone held has its last word, as at the end of Python.

Only what has one goes. The rest stays: to free it would take its time, and on deep structures all
of the stack.
"""

from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import cast

_DROP = compile("for name in held: drop(name, None)", "<names>", "exec", dont_inherit=True)

_COLLECTIONS = frozenset({dict, list, set, tuple})
_MOST = 1_000
"""Items of a collection that are looked at."""


def drop_names(names: dict[str, object], script: str, line: int) -> None:
    """Drop the names of coroutines, tasks, generators and all else that Python finalizes.

    Then those of collections that hold such.

    Args:
        names: The script's globals.
        script: Its file name.
        line: Its last line; warnings of what is dropped name it.
    """
    with suppress(BaseException):  # the answer is there already
        held = [name for name, value in names.items() if _is_finalized(type(value))]
        held += [
            name
            for name, value in names.items()
            if type(value) in _COLLECTIONS and any(map(_is_finalized, _kinds(value)))
        ]
        if held:
            code = _DROP.replace(co_filename=script, co_firstlineno=line)
            exec(code, names, {"held": held, "drop": names.pop})  # noqa: S102  so that the line is the script's


def _is_finalized(kind: type) -> bool:
    return hasattr(kind, "__del__")


def _kinds(collection: object) -> set[type]:
    """Return the types of the first items of a collection."""
    if isinstance(collection, dict):
        collection = cast("dict[object, object]", collection).values()
    return set(map(type, islice(cast("Iterable[object]", collection), _MOST)))
