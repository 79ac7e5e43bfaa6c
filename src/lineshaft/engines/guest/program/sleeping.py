"""Event loops of programs: no event comes from outside, so a loop only runs tasks and sleeps."""

import asyncio
import asyncio.events
import asyncio.selector_events
import time
from collections.abc import Mapping
from typing import Any, NoReturn

from ..changes import Changes


class _Sleeper:
    """A selector without files to select from."""

    def select(self, timeout: float | None = None) -> list[Any]:
        """Sleep until the next timer."""
        if timeout is None:
            raise RuntimeError(
                "the program waits for what never comes: every task waits, and nothing is scheduled"
            )
        if timeout > 0:
            time.sleep(timeout)
        return []

    def get_map(self) -> Mapping[Any, Any]:
        """Return the registered file."""
        return {}

    def get_key(self, fileobj: Any) -> NoReturn:
        """Return that no file is ready."""
        raise KeyError(f"{fileobj!r} is not registered")

    def register(self, *_args: Any) -> NoReturn:
        """Refuse."""
        raise OSError("a program in WebAssembly has no sockets or pipes to wait for")

    modify = register

    def unregister(self, fileobj: Any) -> NoReturn:
        """Refuse."""
        self.get_key(fileobj)

    def close(self) -> None:
        """Do nothing."""


class SleepingLoop(asyncio.selector_events.BaseSelectorEventLoop):
    """An event loop without sockets."""

    _ssock: Any
    _csock: Any
    _internal_fds: int

    def __init__(self, selector: object = None) -> None:
        del selector
        super().__init__(_Sleeper())  # type: ignore[arg-type]  all that a loop asks of one

    def _make_self_pipe(self) -> None:
        self._ssock = self._csock = None

    def _close_self_pipe(self) -> None:
        self._ssock = self._csock = None

    def _write_to_self(self) -> None:
        """Do nothing: there is no other thread that could add work."""

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Shut it down here: its work is done."""
        del timeout
        self._executor_shutdown_called = True
        executor: Any = getattr(self, "_default_executor", None)
        if executor is not None:
            executor.shutdown()


def use_sleeping_loops(changes: Changes) -> None:
    """Make new event loops of this kind."""
    for name in ("SelectorEventLoop", "EventLoop"):
        changes.attribute(asyncio, name, SleepingLoop)
    for module in (asyncio, asyncio.events):
        changes.attribute(module, "new_event_loop", SleepingLoop)
    policy: object = vars(asyncio.events)["_get_event_loop_policy"]()
    changes.attribute(type(policy), "_loop_factory", SleepingLoop)
