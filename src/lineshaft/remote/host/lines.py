"""The answer to who has an action done and wants to be told how far it is: lines of JSON.

Above: `host.py`. Each line but the last is `{"progress": {...}}`; where lines come faster than they
are read, some are left out. What keeps the action from beginning is an answer without lines.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from lineshaft.errors import LineshaftError
from lineshaft.remote.host.conversation import ActionProgress, HearProgress
from lineshaft.remote.protocol import LINES, Json


class ActionLines(Response):
    """Does work and tells of it; a client that goes cancels it.

    Args:
        work: Gives the last line, and tells of progress meanwhile.
        refused: Makes the answer of an error.
    """

    def __init__(
        self,
        work: Callable[[HearProgress], Awaitable[Json]],
        refused: Callable[[LineshaftError], Response],
    ) -> None:
        super().__init__(media_type=LINES)
        self._work, self._refused = work, refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, as ASGI has it."""
        lines = _Lines(send)
        newest: list[ActionProgress] = []
        news = anyio.Event()

        def hear(progress: ActionProgress) -> None:
            newest[:] = [progress]
            news.set()

        async def tell() -> None:
            nonlocal news
            while True:
                await news.wait()
                news = anyio.Event()
                await lines.line({"progress": asdict(newest[-1])})

        async def watch(scope: anyio.CancelScope) -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            scope.cancel()

        failed: LineshaftError | None = None
        end: Json | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(watch, group.cancel_scope)
            group.start_soon(tell)
            try:
                end = await self._work(hear)
            except LineshaftError as error:
                failed = error
            group.cancel_scope.cancel()
        if failed is not None:
            await self._refused(failed)(scope, receive, send)
        elif end is not None:
            await lines.line(end, last=True)


class _Lines:
    """An answer whose head is sent with its first line.

    Args:
        send: Sends messages of ASGI.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False

    async def line(self, said: Json, *, last: bool = False) -> None:
        """Send a line."""
        # A line that has begun is sent whole, also where its sender is cancelled meanwhile.
        with anyio.CancelScope(shield=True):
            if not self._begun:
                self._begun = True
                head = [(b"content-type", LINES.encode())]
                await self._send({"type": "http.response.start", "status": 200, "headers": head})
            body = json.dumps(said).encode() + b"\n"
            await self._send({"type": "http.response.body", "body": body, "more_body": not last})
