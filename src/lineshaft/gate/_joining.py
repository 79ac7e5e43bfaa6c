"""Calls that a tool's body makes without being a container: host code that runs an agent inside."""

import asyncio
from collections.abc import Mapping
from contextvars import ContextVar

from msgspec.structs import replace

from lineshaft.gate._call_entry import CallEntry
from lineshaft.gate._container import NOTHING_AROUND
from lineshaft.gate._run_info import RunInfo
from lineshaft.tools import Tool
from lineshaft.values import Call, Dispatch, Done, Failure, Struct


class SurroundingCall(Struct, frozen=True):
    """The call in whose body the current task is."""

    run: RunInfo
    entry: CallEntry
    tool: Tool
    further: Dispatch
    loop: asyncio.AbstractEventLoop
    """The event loop in which calls are made."""

    @property
    def run_id(self) -> str:
        """The run that it is part of."""
        return self.run.run_id

    async def call(self, tool: Tool, arguments: Mapping[str, object]) -> Done:
        """Call a tool under it, in the same run.

        Args:
            tool: The session need not have it.
            arguments: By name.
        """
        entry, around = self.entry, self.entry.call.scope or NOTHING_AROUND
        if entry.ended:
            text = f"{self.tool.name} makes no calls: its call is over"
            return Failure("E_DENIED", text, "", "refused")
        scope = replace(
            around,
            origins=tuple(dict.fromkeys((entry.call.origin, *around.origins))),
            containers=(entry.key, *around.containers),
            own={**around.own, tool.name: tool},
            policy=self.run.policy_of(entry.call),
            view=entry.layer or around.view,
            replayable=around.replayable and self.tool.spec.replayable,
        )
        return await self.further(
            Call(
                tool=tool.name,
                arguments=arguments,
                origin="code",
                parent=entry.id,
                scope=scope,
            )
        )


current_call: ContextVar[SurroundingCall | None] = ContextVar("lineshaft_call", default=None)
"""Set in the task of each call's body, and so in all tasks and threads that the body starts."""


def surrounding_call() -> SurroundingCall | None:
    """Return the call in whose body the current task or thread is; None: it is in none.

    A task of another event loop is in none.
    """
    found = current_call.get()
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        return found  # the thread of a sync tool
    return found if found is not None and running is found.loop else None
