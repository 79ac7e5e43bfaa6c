"""The run of an agent that a person's message begins, shown in the window as it goes on.

Above: `host.py`, one for each conversation. Below: the starter of agents, a function.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Literal

from lineshaft.errors import LineshaftError
from lineshaft.remote.protocol import Json, PersonMessage
from lineshaft.remote.runs import event_told
from lineshaft.values import Event, Struct

_VALUE = 100_000


class AgentOutcome(Struct, frozen=True, kw_only=True):
    """How the run of an agent ended."""

    state: Literal["finished", "error", "paused", "stopped"]
    text: str = ""
    """Its result, or why there is none."""

    code: str = ""
    """Of an error."""


Hear = Callable[[Event], Awaitable[None]]
StartAgent = Callable[[PersonMessage, Hear], Awaitable[AgentOutcome]]
"""Runs an agent to its end, and tells its events as they come; to cancel it ends the run."""

Show = Callable[[Json], Awaitable[object]]
"""Shows an event in the window."""

_STATES = {
    "finished": "finished",
    "error": "error",
    "paused": "awaiting_user_confirmation",
    "stopped": "stopped",
}
"""OpenHands' names of them."""


class AgentRuns:
    """Runs one agent at a time for the person at a window.

    Args:
        start: Runs an agent.
        show: Shows an event in the window.
    """

    def __init__(self, start: StartAgent, show: Show) -> None:
        self._start, self._show = start, show
        self._task: asyncio.Task[None] | None = None
        self._run_id = ""
        self._stopping = False

    @property
    def works(self) -> bool:
        """Whether a run goes on."""
        return self._task is not None and not self._task.done()

    def begin(self, message: PersonMessage) -> Json:
        """Begin a run; return the answer to who said the message."""
        if self.works:
            return {"ok": False, "reason": "an agent is at work: wait for its end, or stop it"}
        self._run_id, self._stopping = "", False
        self._task = asyncio.get_running_loop().create_task(self._carry(message))
        return {"ok": True}

    def stop(self) -> Json:
        """End the run; return the answer to who said so."""
        if self._task is None or self._task.done():
            return {"ok": False, "reason": "no agent is at work"}
        if not self._stopping:  # a second cancel would cut off what the first one has begun
            self._stopping = True
            self._task.cancel()
        return {"ok": True}

    async def aclose(self) -> None:
        """End the run, and wait until nothing of it is left."""
        if self._task is not None:
            self.stop()
            with suppress(asyncio.CancelledError):  # it was cancelled before it began
                await self._task

    async def _carry(self, message: PersonMessage) -> None:
        said: Json = {"content": message.content, "agent": message.agent}
        try:
            await self._show({"source": "user", "action": "message", "args": said})
            await self._state("running")
            end = await self._start(message, self._hear)
        except asyncio.CancelledError:  # by `stop`: what it started has ended by now
            end = AgentOutcome(state="stopped")
        except LineshaftError as error:
            text = f"{error.message}; {error.hint}" if error.hint else error.message
            end = AgentOutcome(state="error", code=error.code, text=text)
        except Exception as error:  # noqa: BLE001  whatever it is, the window is told of an end
            end = AgentOutcome(state="error", text=f"the run could not be followed: {error!r}")
        text = end.text[:_VALUE]
        if end.state == "finished":
            await self._show({"action": "message", "args": {"content": text}})
        elif text:
            extras = {"error_id": end.code}
            await self._show({"observation": "error", "content": text, "extras": extras})
        await self._state(_STATES[end.state])

    async def _hear(self, event: Event) -> None:
        self._run_id = event.run_id
        if (told := event_told(event)) is not None:
            await self._show({"observation": "run_event", "content": "", "extras": told})

    async def _state(self, state: str) -> None:
        extras = {"agent_state": state, "run_id": self._run_id}
        await self._show({"observation": "agent_state_changed", "content": "", "extras": extras})
