"""The seam between a container and the engine that executes a script for it."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping

from msgspec import field

from lineshaft.errors import ToolError
from lineshaft.values._engines import ReplayInputs
from lineshaft.values._runs import RunResult
from lineshaft.values._struct import Struct


class InnerScript(Struct, frozen=True, kw_only=True):
    """A script that a container has executed over the tools that it may call."""

    code: str | None = None
    """Its text; None: it stands in `file`."""

    file: str | None = None
    """Canonical path of a file of the workspace, judged before."""

    args: tuple[str, ...] = ()
    """Texts that it finds in `args`."""

    seconds: float | None = None
    """How long it may take; None: as long as a run of the session."""


RunInner = Callable[[InnerScript], Awaitable[RunResult]]
"""Executes a script of a container; returns how it ended. Raises `ToolError` where it cannot be
executed at all."""


async def no_scripts(script: InnerScript) -> RunResult:
    """Refuse a script where there is nothing that executes it."""
    del script
    raise ToolError("E_DENIED", "there are no scripts here")


def inner_seed(seed: str, key: str) -> str:
    """Return the seed of a container's script.

    Args:
        seed: The run's.
        key: Of the container's call.
    """
    return hashlib.sha256(f"{seed} {key}".encode()).hexdigest()


class KeptScript(Struct, frozen=True, kw_only=True):
    """The inputs of a container's script, kept so that it can be executed again."""

    __unshown__ = frozenset({"source"})

    engine: str
    """Name of the engine that executes it."""

    identity: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of the engine."""

    source: str = ""
    """The text of the script, as it was when it began."""

    replay: ReplayInputs
