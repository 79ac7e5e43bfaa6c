"""Parts that all requests of a host need: an error as an answer, a client that goes."""

import json
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from starlette.requests import Request
from starlette.responses import Response

from lineshaft.errors import LineshaftError

WAIT_SECONDS = 25.0
"""For so long a client waits that asks for what differs; then it is told what there is."""

CLIENT_GONE = 499
"""The status of an answer that no client reads."""

T = TypeVar("T")


def error_answer(status: int, error: LineshaftError) -> Response:
    """Return an error as JSON: its code, its sentence and what to do."""
    said = {"code": error.code, "message": error.message, "hint": error.hint}
    return json_answer({"status": "error", **said}, status)


def json_answer(said: object, status: int = 200) -> Response:
    """Return a value as JSON; names of files that are no Unicode are escaped."""
    return Response(json.dumps(said), status, media_type="application/json")


async def until_gone(request: Request, work: Callable[[], Awaitable[T]]) -> T | None:
    """Return what work gives; None where the client goes meanwhile, which cancels it.

    Raises:
        LineshaftError: As the work.
    """
    done: list[T] = []
    failed: list[LineshaftError] = []
    async with anyio.create_task_group() as group:

        async def watch() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        group.start_soon(watch)
        try:
            done.append(await work())
        except LineshaftError as error:
            failed.append(error)
        group.cancel_scope.cancel()
    if failed:
        raise failed[0]
    return done[0] if done else None
