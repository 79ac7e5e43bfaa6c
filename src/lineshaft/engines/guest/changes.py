"""Changes of the guest to Python, which can be put back."""

from collections.abc import Callable, MutableMapping, MutableSequence
from typing import Any

_ABSENT = object()


class Changes:
    """Changes of attributes and items, in order."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def attribute(self, owner: object, name: str, value: object) -> None:
        """Set an attribute."""
        old = vars(owner).get(name, _ABSENT)
        setattr(owner, name, value)

        def undo() -> None:
            if old is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, old)

        self._undo.append(undo)

    def defaults(self, function: Any, values: tuple[object, ...]) -> None:
        """Set the defaults of a function's parameters."""
        old = function.__defaults__
        function.__defaults__ = values

        def undo() -> None:
            function.__defaults__ = old

        self._undo.append(undo)

    def item(self, mapping: MutableMapping[str, Any], name: str, value: object) -> None:
        """Set an item."""
        old = mapping.get(name, _ABSENT)
        mapping[name] = value

        def undo() -> None:
            if old is _ABSENT:
                mapping.pop(name, None)
            else:
                mapping[name] = old

        self._undo.append(undo)

    def contents(self, sequence: MutableSequence[Any], new: list[Any]) -> None:
        """Set all that is in a list."""
        old = list(sequence)
        sequence[:] = new

        def undo() -> None:
            sequence[:] = old

        self._undo.append(undo)

    def undo_all(self) -> None:
        """Put everything back, the last change first."""
        while self._undo:
            self._undo.pop()()


changes = Changes()
"""Of this interpreter."""


def undo_all() -> None:
    """Undo all changes."""
    changes.undo_all()
