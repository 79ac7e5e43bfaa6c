"""The calls of one run: started, answered, waited for."""

import asyncio
from collections.abc import Callable, Collection
from contextvars import copy_context

from lineshaft.engines._again import Again
from lineshaft.engines._cpython._wire import TO_ENGINE, Asked, TooLarge, frame
from lineshaft.values import Call, Dispatch, Done, Failure, Waiting

_HELD_BYTES = 8_000_000
_HELD_CALLS = 50_000
_ID_LENGTH = 32


class Calls:
    """What a script has under way.

    Args:
        dispatch: Makes a call.
        waiting: Is told when nothing in the script can go on.
        answer: Sends the bytes of an answer to the script.
        failed: Told of what a dispatch raised against its contract.
        suspend: Told when `waiting` says so.
    """

    def __init__(
        self,
        dispatch: Dispatch,
        waiting: Waiting,
        *,
        answer: Callable[[bytes], None],
        failed: Callable[[BaseException], None],
        suspend: Callable[[], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._context = copy_context()
        self._dispatch = dispatch
        self._waiting = waiting
        self._answer = answer
        self._failed = failed
        self._suspend = suspend
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._seen: set[str] = set()
        self._held = 0
        self._waited_for: Collection[str] = ()
        self._again = Again(self._ask)
        self._closed = False

    @property
    def many(self) -> bool:
        """Whether so much is under way that nothing more should be taken."""
        return self._held > _HELD_BYTES or len(self._tasks) > _HELD_CALLS

    def may_be(self, call: str) -> bool:
        """Return whether an id may be a new call's."""
        return len(call) <= _ID_LENGTH and call not in self._seen

    def under_way(self, calls: Collection[str]) -> bool:
        """Return whether there are calls, and all of them are under way."""
        return bool(calls) and all(call in self._tasks for call in calls)

    def start(self, asked: Asked, size: int) -> None:
        """Make a call.

        Args:
            asked: The call.
            size: Bytes that it took, at most.
        """
        self._seen.add(asked.id)
        self._held += size
        self._again.not_now()
        call = Call(
            tool=asked.tool,
            arguments=asked.arguments,
            positional=asked.positional,
            origin="script",
            id=asked.id,
            replayable=asked.replayable,
        )
        # Whoever has it heard may be the answer to another call, with that one's context.
        task = self._loop.create_task(self._make(call, size), context=self._context.copy())
        self._tasks[asked.id] = task

    def refuse(self, call: str, why: str) -> None:
        """Answer a call that cannot be understood."""
        self._seen.add(call)
        self._send(call, Failure("E_INVALID_ARGS", f"a call that cannot be read: {why}"))

    def withdraw(self, call: str) -> None:
        """Cancel a call that nobody waits for any more."""
        task = self._tasks.get(call)
        if task is not None:
            self._loop.call_soon(_cancel, task)  # after its first step: every call is seen

    async def _make(self, call: Call, size: int) -> None:
        try:
            done = await self._dispatch(call)
        except asyncio.CancelledError:
            done = Failure("E_TOOL_FAILED", f"{call.tool} was cancelled", status="cancelled")
            if self._closed:
                raise
        except BaseException as error:  # noqa: BLE001  whoever awaits the run gets it
            self._failed(error)
            return
        finally:
            del self._tasks[call.id]
            self._held -= size
        if not self._closed:
            self._send(call.id, done)

    def _send(self, call: str, done: Done) -> None:
        self._again.not_now()
        self._answer(_answer(call, done))

    def blocked(self, calls: Collection[str]) -> None:
        """Ask whether to go on waiting, when the script waits for these calls, now and again.

        A call may come to wait for a person after it was started.
        """
        self._again.not_now()
        self._waited_for = calls
        self._ask()

    def _ask(self) -> None:
        calls = self._waited_for
        if self._closed or not self.under_way(calls):
            return  # something has come
        if self._waiting(tuple(calls)) == "suspend":
            self._suspend()
        else:
            self._again.later()

    def stop(self) -> "list[asyncio.Task[None]]":
        """Cancel all calls, let none begin, and return those that have not ended yet."""
        self._closed = True
        self._again.close()
        tasks = list(self._tasks.values())
        for task in tasks:
            _cancel(task)
        return tasks


def _cancel(task: "asyncio.Task[None]") -> None:
    if not task.cancelling():  # a second cancellation would break into its cleaning up
        task.cancel()


def _answer(call: str, done: Done) -> bytes:
    message: dict[str, object] = {"type": "tool_call_response", "id": call}
    if isinstance(done, Failure):
        return _failure(message, done)
    try:
        data = frame({**message, "value": done.value}, TO_ENGINE)
    except TooLarge as error:
        return _failure(message, Failure("E_TOO_LARGE", f"the result has {error}"))
    except (TypeError, ValueError, RecursionError) as error:
        return _failure(message, Failure("E_INVALID_RESULT", f"the result is not JSON: {error}"))
    return data


def _failure(message: "dict[str, object]", failure: Failure) -> bytes:
    error = {"code": failure.code, "message": failure.message, "hint": failure.hint}
    return frame({**message, "error": error}, TO_ENGINE)
