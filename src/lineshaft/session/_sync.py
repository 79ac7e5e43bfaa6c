"""One thin synchronous door, for scripts and notebooks."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextvars import Context
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from lineshaft.policy import Policy
from lineshaft.scripts import CheckLevel
from lineshaft.session._session import Session
from lineshaft.store import Store
from lineshaft.values import (
    Approver,
    Elicit,
    Engine,
    Guard,
    Limits,
    Middleware,
    PythonOptions,
    Roots,
    RunResult,
    Sample,
    Sink,
    Workspace,
)

T = TypeVar("T")


class SessionArguments(TypedDict, total=False):
    """The arguments of `Session` besides its tools."""

    workspace: str | Path | Workspace
    policy: Policy | None
    engine: str | Engine
    limits: Limits | None
    check: CheckLevel
    approver: Approver | None
    elicit: Elicit | None
    sample: Sample | None
    roots: Roots | None
    middleware: Sequence[Middleware]
    sinks: Sequence[Sink]
    deps: object
    guards: Sequence[Guard] | None
    atomic: bool
    store: Store | str | Path | Literal[False] | None
    scripts: bool
    secrets: Iterable[str]
    python: PythonOptions | None


def run_sync(
    script: str | Path,
    *,
    tools: Iterable[object] = (),
    inputs: Mapping[str, object] | None = None,
    **session_arguments: Unpack[SessionArguments],
) -> RunResult:
    """Run one script in a session of its own, and wait for it.

    Args:
        script: Its text, or the path of a file on this machine.
        tools: As for `Session`.
        inputs: Values that the script finds as globals.
        session_arguments: As for `Session`.

    Raises:
        ConfigError: An argument cannot be used.
    """

    async def work() -> RunResult:
        async with Session(tools, **session_arguments) as session:
            return await session.run(script, inputs=inputs)

    return waited_for(work)


def waited_for(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Do some work in an event loop of its own, and return its result."""
    if not _is_in_a_loop():  # outside of `except`, so that errors of the work stand alone
        return asyncio.run(work())
    # Inside a notebook's loop: a loop of its own, in a thread of its own. An interrupt of the
    # notebook cancels the work. The work is no part of a run that the caller may be in.
    from anyio.from_thread import start_blocking_portal  # noqa: PLC0415  of notebooks alone

    with start_blocking_portal() as portal:
        return Context().run(portal.call, work)


def _is_in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
