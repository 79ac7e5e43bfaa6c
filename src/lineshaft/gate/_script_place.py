"""The place of a container's script: its tools, its calls, and what is kept of it."""

from collections.abc import Collection, Generator
from contextlib import (
    AbstractAsyncContextManager,
    contextmanager,
    nullcontext,
)
from typing import NoReturn

import anyio

from lineshaft.gate._call_entry import CallEntry
from lineshaft.gate._inner_scripts import StopsClock
from lineshaft.gate._run_info import RunInfo
from lineshaft.gate._source_reads import read_source
from lineshaft.policy import closed_by
from lineshaft.trace import Redactor
from lineshaft.values import (
    Call,
    CallRecord,
    CallScope,
    Dispatch,
    Done,
    Engine,
    KeptScript,
    Limits,
    ReplayInputs,
    Struct,
    ToolSpec,
)


class ScriptPlace(Struct, frozen=True, kw_only=True):
    """The gate's side of a container's script, for the executor of the script."""

    run: RunInfo
    entry: CallEntry
    """The container's call."""

    scope: CallScope
    """What stands around the script's calls."""

    make: Dispatch
    """Makes a call of the container."""

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools that the script may call."""
        scope = self.scope
        there = {**self.run.gate.tools, **scope.own}
        return tuple(
            tool.spec
            for name, tool in there.items()
            if tool.spec.scriptable and leaves(scope, name)
        )

    def hidden(self, tools: Collection[ToolSpec]) -> frozenset[str]:
        """Return the names of those tools that policy closes: of these a script knows no more."""
        policy = self.scope.policy or self.run.gate.policy
        origins = ("script", *self.scope.origins)
        return frozenset(
            spec.name
            for spec in tools
            if any(closed_by(policy, spec, (origin,)) for origin in origins)
        )

    @property
    def limits(self) -> Limits:
        """The run's limits."""
        return self.run.limits

    @property
    def redactor(self) -> Redactor:
        """Takes secrets out of what is shown."""
        return self.run.gate.redactor

    async def read_script(self, path: str) -> bytes:
        """Return the text of a script's file, judged as `read_file` of the container.

        Raises:
            ToolError: `E_DENIED`, with the rule.
            WorkspaceError: The file cannot be read.
        """
        origin = self.entry.call.origin
        return (
            await read_source(self.run, path, what="the script", origin=origin, scope=self.scope)
        )[1]

    @property
    def earlier(self) -> KeptScript | None:
        """What an earlier segment of the run has kept of the script; None: the script begins."""
        return self.run.inner.recorded.get(self.entry.key)

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """The calls of the script so far."""
        return self.run.call_log.records_in(self.entry.id)

    def begin(self, engine: Engine, source: str) -> ReplayInputs | None:
        """Record that the script begins; return its inputs beside its calls.

        Args:
            engine: What executes it.
            source: Its text.

        Returns:
            None: they are not kept.

        Raises:
            StateError: It cannot be recorded.
        """
        pauses = engine.pauses == "replay"
        return self.run.call_log.script_begins(
            self.entry,
            earlier=self.earlier,
            engine=engine.name,
            identity=engine.identity,
            source=source,
            unpausable="" if pauses else f"the engine {engine.name!r} has no pauses",
        )

    def slot(self) -> AbstractAsyncContextManager[None]:
        """Wait until the run executes few enough scripts of containers; the script is one then."""
        return self.run.inner.slot(self.entry.id, self.scope.scripts)

    @contextmanager
    def under_way(self, paused: StopsClock) -> Generator[None]:
        """Count the script as one that works, or waits, inside the block.

        Args:
            paused: Stops its clock inside a block.
        """
        inner, call_id = self.run.inner, self.entry.id
        inner.begin(call_id, paused)
        try:
            yield
        finally:
            inner.over(call_id)
            self.run.call_log.turns.end_inner(self.entry)

    async def dispatch(self, call: Call) -> Done:
        """Make a call of the script."""
        done = await self.make(call)
        self.run.inner.stir(self.entry.id)
        return done

    async def waiting(self, call_ids: Collection[str]) -> NoReturn:
        """Note that the script can only wait; whether the run pauses is decided for the whole run.

        Args:
            call_ids: Its unfinished calls.
        """
        del call_ids
        inner, call_id = self.run.inner, self.entry.id
        still = inner.pauses[call_id](script=False) if self._only_agents() else nullcontext()
        with still, inner.at_rest(call_id):
            while True:  # until it is given up
                await anyio.sleep_forever()

    def _only_agents(self) -> bool:
        """Return whether the script awaits agents alone, which have a time of their own."""
        entries = self.run.call_log.entries.values()
        inside = (e for e in entries if e.call.parent == self.entry.id and not e.ended)
        kinds = {each.spec and each.spec.calls_as for each in inside}
        return kinds == {"agent"}

    def diverge(self, message: str) -> None:
        """End the run: the script is not as its record says."""
        self.run.controls.end("error", "E_DIVERGED", message)


def leaves(scope: CallScope, name: str) -> bool:
    """Return whether the containers around a call leave it a tool."""
    return name in scope.own or scope.tools is None or name in scope.tools
