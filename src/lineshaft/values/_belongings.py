"""Resources that tools keep between calls of a session, until the session is closed."""

from collections.abc import Callable
from threading import Lock
from typing import Protocol, TypeVar, cast


class Belonging(Protocol):
    """A resource that has to be closed."""

    def close(self) -> None:
        """Release it."""
        ...


B = TypeVar("B", bound=Belonging)


class Belongings:
    """Resources by their type; closed together."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: dict[type[Belonging], Belonging] = {}

    def hold(self, kind: type[B], make: Callable[[], B]) -> B:
        """Return the resource of this type; it is made where there is none yet."""
        with self._lock:
            if kind not in self._held:
                self._held[kind] = make()
            return cast("B", self._held[kind])

    def close(self) -> None:
        """Close all of them; blocks, since files may have to be removed."""
        with self._lock:
            held = list(self._held.values())
            self._held.clear()
        for each in held:
            each.close()
