"""The calls of a container: made under its own call, and reaching no more than it leaves them."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from lineshaft.errors import ToolError
from lineshaft.gate._authority import CallAuthority
from lineshaft.gate._call_entry import CallEntry
from lineshaft.gate._run_info import RunInfo
from lineshaft.gate._script_place import ScriptPlace
from lineshaft.policy import Policy, narrowed, within_folders
from lineshaft.tasks import wait_until_done
from lineshaft.tools import Tool
from lineshaft.values import (
    Call,
    CallScope,
    Context,
    Dispatch,
    Done,
    Failure,
    Guard,
    InnerScript,
    Limits,
    Narrowing,
    Origin,
    RunResult,
    Stage,
    Struct,
)


async def merged(
    run: RunInfo, entry: CallEntry, layer: Stage, *, guards: Sequence[Guard] = ()
) -> bool:
    """Merge a container's layer; return whether it had changes.

    Raises:
        Guarded: A guard found an error; nothing was merged.
        StaleFile: A file was changed below since; nothing was merged.
        StateError: It cannot be recorded.
    """
    if not layer.touched:
        return False
    async with run.landing:
        work = asyncio.ensure_future(layer.merge(guards))
        try:
            await wait_until_done((work,))
        finally:  # a merge that is cancelled in the middle is merged all the same
            run.findings.extend(work.result())
            run.call_log.merged(entry)
    return True


NOTHING_AROUND = CallScope(origins=(), containers=())

_OF_SCRIPT = Limits.for_model().calls
"""Calls that a container's script may make: a model wrote it."""


class Container(Struct, frozen=True, kw_only=True):
    """The maker of one call's further calls, which are refused unless its tool is a container."""

    run: RunInfo
    entry: CallEntry
    tool: Tool
    authority: CallAuthority
    further: Dispatch
    tools: frozenset[str] | None
    """Those that may be called; None: all."""

    policy: Policy
    """What judges the calls."""

    kept: frozenset[str] | None = None
    """Those tools of its own that are left to its calls; None: all."""

    layer: Stage | None = None
    """Keeps their changes back from what stands around the container; None: nothing does."""

    @property
    def scope(self) -> CallScope:
        """The scope of the container's calls."""
        call, spec = self.entry.call, self.tool.spec
        outer = call.scope or NOTHING_AROUND
        return CallScope(
            origins=tuple(dict.fromkeys((call.origin, *outer.origins))),
            containers=(self.entry.key, *outer.containers),
            tools=self.tools,
            own=self.own,
            policy=self.policy,
            view=self.layer or outer.view,
            replayable=spec.replayable and outer.replayable,
            scripts=outer.scripts + (spec.calls_as == "script"),
            most_calls=_OF_SCRIPT if spec.calls_as == "script" else None,
            to_model=spec.calls_as == "agent",
        )

    @property
    def own(self) -> Mapping[str, Tool]:
        """The tools that are there for its calls alone."""
        outer = self.entry.call.scope or NOTHING_AROUND
        own, kept = self.tool.brings or outer.own, self.kept
        return own if kept is None else {name: tool for name, tool in own.items() if name in kept}

    @property
    def origin(self) -> Origin:
        """The way in of its calls."""
        return self.tool.spec.calls_as or self.entry.call.origin

    async def dispatch(self, call: Call) -> Done:
        """Make a call under the container's own."""
        if self.authority.over or not self.tool.spec.container:
            why = "its call is over" if self.authority.over else "it is not declared as a container"
            return Failure("E_DENIED", f"{self.tool.name} makes no calls: {why}", "", "refused")
        own = replace(call, id="", origin=self.origin, parent=self.entry.id, scope=self.scope)
        return await self.further(own)

    def lent(self, context: Context) -> Context:
        """Return a context whose calls are this container's."""

        async def confine(by: Narrowing) -> Context:
            return (await self._narrowed(by)).lent(context)

        return replace(
            context,
            dispatch=self.dispatch,
            confine=confine,
            commit=self.commit,
            script=self.script,
            replaying=partial(self.run.recorded, self.entry.id),
            uncommitted=lambda: self.layer is not None and self.layer.touched,
        )

    async def commit(self) -> bool:
        """Make its changes those of what stands around it; return whether there were any."""
        layer = self.layer
        if layer is None or self.authority.over:
            return False
        return await merged(self.run, self.entry, layer, guards=self.run.gate.guards)

    async def script(self, script: InnerScript) -> RunResult:
        """Execute a script over the tools that the container may call.

        Raises:
            ToolError: There are no scripts here, or it cannot be executed at all.
        """
        execute, spec = self.run.gate.scripting, self.tool.spec
        if execute is None:
            raise ToolError("E_DENIED", "scripts are switched off in this session")
        if spec.calls_as != "script" or self.authority.over:
            raise ToolError("E_DENIED", f"{self.tool.name} executes no scripts")
        if self.entry.scripted:
            raise ToolError("E_DENIED", f"a call of {self.tool.name} executes one script")
        self.entry.scripted = True
        place = ScriptPlace(run=self.run, entry=self.entry, scope=self.scope, make=self.dispatch)
        return await execute(place, script)

    async def _narrowed(self, by: Narrowing) -> "Container":
        """Return what makes calls that reach less.

        Raises:
            ToolError: Its tool is no container.
            WorkspaceError: A path leads out of the workspace.
        """
        if not self.tool.spec.container:
            raise ToolError(
                "E_DENIED", f"{self.tool.name} makes no calls: it is not declared as a container"
            )
        tools, policy, kept = self.tools, self.policy, self.kept
        if by.tools is not None:
            tools = by.tools if tools is None else tools & by.tools
            kept = by.tools if kept is None else kept & by.tools
        if by.policy is not None:
            policy = narrowed(policy, by.policy)
        if by.read is not None or by.write is not None:
            named = by.tools or frozenset()
            unconfined = [
                name
                for name, tool in {**self.run.gate.tools, **self.own}.items()
                if not tool.spec.confined and name not in named
            ]
            read, write = await self._decided(by.read or ()), await self._decided(by.write or ())
            folders = within_folders(read=read, write=write, unconfined=unconfined)
            policy = narrowed(policy, folders)
        return replace(self, tools=tools, policy=policy, kept=kept)

    async def _decided(self, paths: Iterable[str]) -> list[str]:
        view = self.layer or self.run.view_of(self.entry.call)
        return [str((await view.resolve(path)).path) for path in paths]
