"""The tool itself, run within its time and its authority."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from functools import partial

from lineshaft.errors import LineshaftError, ToolError, WorkspaceError
from lineshaft.gate._authority import CallAuthority, CallWorkspace
from lineshaft.gate._bounded import Ending, bounded
from lineshaft.gate._call_entry import CallEntry
from lineshaft.gate._clock import RunClock
from lineshaft.gate._container import Container, merged
from lineshaft.gate._elicit import Elicitation
from lineshaft.gate._invoke import invoke
from lineshaft.gate._joining import SurroundingCall, current_call
from lineshaft.gate._lanes import CallPlace
from lineshaft.gate._raised import described, only_one
from lineshaft.gate._run_info import RunInfo
from lineshaft.policy import Policy, Subject, along, likewise, reach, sight
from lineshaft.tools import Tool
from lineshaft.values import (
    Context,
    Dispatch,
    EventKind,
    Finding,
    Origin,
    Reach,
    Struct,
    ToolSpec,
    Value,
    beginning,
)

_NOTICES: Mapping[str, EventKind] = {"progress": "progress", "log": "log"}
_LONGEST_NOTICE = 2_000
_LOG = logging.getLogger("lineshaft.tools")
"""Tracebacks of what tools raise, for their authors."""

_YET = "it may still take effect: look before you call it again"
_MODELS: frozenset[Origin] = frozenset({"model", "mcp"})
"""Where a result goes to a model as it is."""


class PathReach:
    """The reach of a call over paths that it does not name; worked out at the first question."""

    def __init__(self, policy: Policy, subject: Subject) -> None:
        self._policy = policy
        self._subject = subject
        self._reach: Callable[[str], Reach] | None = None
        self._along: Callable[[str], bool] | None = None

    def __call__(self, path: str) -> Reach:
        """Return what its program may do with a path."""
        if self._reach is None:
            self._reach = reach(self._policy, self._subject)
        return self._reach(path)

    def along(self, path: str) -> bool:
        """Return whether it may take along a path that it was not judged for."""
        if self._along is None:
            self._along = along(self._policy, self._subject)
        return self._along(path)

    def shows(self, path: str) -> bool:
        """Return whether its program sees what is staged at a path."""
        return self(path) != "hidden"

    def sight(self) -> Callable[[str], bool]:
        """Return which paths its view of the workspace may touch.

        What a jailed tool does there is what its program did.
        """
        spec = self._subject.spec
        if spec is not None and spec.jailed:
            return lambda path: self(path) == "open"
        return sight(self._policy, self._subject)


async def execute(
    run: RunInfo,
    entry: CallEntry,
    tool: Tool,
    *,
    subject: Subject,
    place: CallPlace,
    further: Dispatch,
) -> Value:
    """Run a tool whose call has been allowed, and whose turn has come.

    Args:
        run: The run.
        entry: The call; its arguments are final.
        tool: The tool.
        subject: The call, as policy judged it.
        place: Where it stands in its lanes.
        further: Makes the calls of a container.

    Raises:
        ToolError: The tool failed, or took too long, or its result is not what it declares.
    """
    seconds = _seconds(run, tool.spec)
    left = run.controls.remaining if seconds is None else seconds
    lent: _Lent | None = None
    if tool.contract.context:  # a tool that is given no context holds nothing
        lent = _lend(run, entry, tool, subject, place, further, RunClock(left))
    ending = Ending()

    async def body() -> object:
        place.hold(entry.key)
        current_call.set(SurroundingCall(run, entry, tool, further, asyncio.get_running_loop()))
        return await invoke(tool, entry.arguments, lent and lent.context)

    try:
        await bounded(body, seconds=seconds, ending=ending, left=lent and lent.left)
    finally:
        if lent is not None:
            lent.authority.end()
            entry.staged = lent.authority.changed
            entry.keeps_back = tool.spec.staged and run.keeps_back
        if goes_on := ending.left_behind or (ending.told_to_end and not tool.is_async):
            entry.status = "unknown"
    ending.error = ending.error and only_one(ending.error)
    if isinstance(ending.error, ToolError) and ending.error.unknown:
        entry.status = "unknown"
    value = _value(tool, ending, left, goes_on=goes_on)
    if entry.layer is not None:
        await merged(run, entry, entry.layer)
    if tool.spec.output_schema is None and run.gate.shapes is not None:
        _observe(run, entry, tool.spec, value.value)
    return value


def _observe(run: RunInfo, entry: CallEntry, spec: ToolSpec, value: object) -> None:
    """Learn what a tool returns that does not say so, and tell where it is not as before."""
    shapes = run.gate.shapes
    strange = "" if shapes is None else shapes.observe(spec, value, run.gate.redactor.text)
    if strange:
        run.call_log.note("log", entry.id, text=strange)
        run.findings.append(Finding(code="drift", message=strange, level="info"))


class _Lent(Struct, frozen=True):
    """The context, clock and authority that a call has for as long as it lasts."""

    authority: CallAuthority
    context: Context
    clock: RunClock

    def left(self) -> float:
        """Return the seconds that are left; they stand still while a person is asked."""
        return self.clock.remaining


def _lend(
    run: RunInfo,
    entry: CallEntry,
    tool: Tool,
    subject: Subject,
    place: CallPlace,
    further: Dispatch,
    clock: RunClock,
) -> _Lent:
    policy, scope, view = run.policy_of(entry.call), entry.call.scope, run.view_of(entry.call)
    if tool.spec.container and run.keeps_back:
        entry.layer = view.layer(entry.key)
    in_reach = PathReach(policy, subject)
    authority = CallAuthority(
        look=in_reach.sight,
        shows=in_reach.shows,
        along=in_reach.along,
        granted=frozenset(subject.paths),
        reads_only=tool.spec.effect == "read",
    )
    context = Context(
        workspace=CallWorkspace(entry.layer or view, authority),
        call_id=entry.id,
        run_id=run.run_id,
        key=entry.key,
        deadline=time.monotonic() + clock.remaining,
        clock=run.controls.elapsed,
        dispatch=further,
        notify=partial(_notify, run, entry, authority),
        ask=Elicitation(run=run, entry=entry, authority=authority, clock=clock, place=place),
        offers=run.caller.offers,
        deps=run.gate.deps,
        trace=run.caller.trace,
        reach=in_reach,
        permits=likewise(policy, subject),
        python=run.gate.python,
        whole=entry.call.origin not in _MODELS if scope is None else not scope.to_model,
        secrets=run.gate.redactor,
        spent=partial(run.call_log.spent, entry.id),
        belongings=run.gate.belongings,
    )
    calls = Container(
        run=run,
        entry=entry,
        tool=tool,
        authority=authority,
        further=further,
        tools=frozenset() if tool.brings else scope and scope.tools,
        policy=policy,
        layer=entry.layer,
    )
    return _Lent(authority, calls.lent(context), clock)


def _seconds(run: RunInfo, spec: ToolSpec) -> float | None:
    """Return a call's time; a container has only the run's, which stands still while it asks."""
    if spec.container:
        return None
    limits, own = run.limits, spec.seconds
    if spec.effect == "model" and own is not None:
        return own  # a model takes longer than a tool may
    most = min(limits.seconds, limits.call_seconds) if run.alone else limits.call_seconds
    return most if own is None else min(own, most)


def _value(tool: Tool, ending: Ending, seconds: float, *, goes_on: bool) -> Value:
    if ending.told_to_end:
        ended = "and could not be ended: it may still go on" if goes_on else "and was ended"
        may_act = goes_on and tool.spec.effect != "read" and not tool.spec.idempotent
        hint = _YET if may_act else ""
        text = f"{tool.name} took longer than {seconds:g} s {ended}"
        raise ToolError("E_TOOL_TIMEOUT", text, hint=hint)
    error = ending.error
    if error is None:
        return Value(ending.value)
    if isinstance(error, ToolError | WorkspaceError):
        raise ToolError.of(error) from error
    if isinstance(error, LineshaftError):
        text = f"{tool.name} failed: {type(error).__name__}: {error.message}"
        raise ToolError("E_TOOL_FAILED", text, hint=str(error.hint)) from error
    _LOG.info("%s failed", tool.name, exc_info=error)
    raise ToolError("E_TOOL_FAILED", f"{tool.name} failed: {described(error)}") from error


def _notify(
    run: RunInfo, entry: CallEntry, authority: CallAuthority, kind: str, data: Mapping[str, object]
) -> None:
    if authority.over or kind not in _NOTICES:
        return
    text = data.get("text")
    if isinstance(text, str) and len(text) > _LONGEST_NOTICE:
        data = {**data, "text": beginning(run.gate.redactor.text(text), _LONGEST_NOTICE)}
    run.call_log.note(_NOTICES[kind], entry.id, **data)
