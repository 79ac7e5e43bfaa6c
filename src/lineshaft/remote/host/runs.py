"""Requests about the runs of the folder that a host serves.

Above: `host.py`. Below: `remote/runs`, which reads them.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lineshaft.errors import ConfigError, LineshaftError, RunUnknown, TooLarge
from lineshaft.remote.host.answers import (
    CLIENT_GONE,
    WAIT_SECONDS,
    error_answer,
    json_answer,
    until_gone,
)
from lineshaft.remote.runs import KeptRuns

_LIMIT = 50

T = TypeVar("T")


class RunRequests:
    """Answers requests about runs.

    Args:
        open_runs: Gives what reads them; asked anew after each error, which may have been mended.
    """

    def __init__(self, open_runs: Callable[[], KeptRuns]) -> None:
        self._open = open_runs
        self._runs: KeptRuns | None = None

    def routes(self) -> list[Route]:
        """Return the endpoints."""
        return [
            Route("/api/runs", self._list, methods=["GET"]),
            Route("/api/runs/{id}", self._one, methods=["GET"]),
            Route("/api/runs/{id}/changes", self._change, methods=["GET"]),
        ]

    async def aclose(self) -> None:
        """Close the store."""
        if self._runs is not None:
            await self._runs.aclose()

    async def _list(self, request: Request) -> Response:
        """Tell the newest runs; with `after`, once they are others or after some seconds."""
        limit = _number(request.query_params.get("limit", ""))
        after = request.query_params.get("after", "")

        async def work(runs: KeptRuns) -> object:
            if after:
                with anyio.move_on_after(WAIT_SECONDS):
                    return await runs.other(after, limit)
            return await runs.newest(limit)

        return await self._answered(request, work)

    async def _one(self, request: Request) -> Response:
        return await self._answered(request, lambda runs: runs.run(request.path_params["id"]))

    async def _change(self, request: Request) -> Response:
        wanted = request.path_params["id"], request.query_params.get("path", "")
        return await self._answered(request, lambda runs: runs.change(*wanted))

    async def _answered(
        self, request: Request, work: Callable[[KeptRuns], Awaitable[object]]
    ) -> Response:
        try:
            if self._runs is None:
                self._runs = self._open()
            told = await until_gone(request, partial(work, self._runs))
        except RunUnknown as error:
            return error_answer(404, error)
        except TooLarge as error:
            return error_answer(413, error)
        except LineshaftError as error:
            if isinstance(error, ConfigError):
                self._runs = None
            return error_answer(400, error)
        return Response(status_code=CLIENT_GONE) if told is None else json_answer(told)


def _number(text: str) -> int:
    return int(text[:6]) if text.isascii() and text.isdecimal() else _LIMIT
