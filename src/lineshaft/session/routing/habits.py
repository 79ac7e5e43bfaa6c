"""The habits of tools, by the record: calls in a run, and the size of a result."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import cast

from msgspec import field
from msgspec.structs import replace

from lineshaft.store import Store
from lineshaft.values import Event, Struct

_NEWEST = 200
"""Runs that are looked at."""

_STRETCH = timedelta(minutes=2)
"""Direct calls of a model that are no further apart count as one run: each is recorded alone."""

_FROM_MODELS = ("model", "mcp")


class ToolHabits(Struct, frozen=True, kw_only=True):
    """How tools were used in logged runs."""

    runs: int = 0
    """Scripts, and stretches of a model's direct calls."""

    used: Mapping[str, int] = field(default_factory=dict[str, int])
    """Runs that called a tool, by tool."""

    calls: Mapping[str, float] = field(default_factory=dict[str, float])
    """Calls of all tools in a run that called the tool, median: a task that has many calls of
    another tool is one for a script, also where this one is called once."""

    size: Mapping[str, float] = field(default_factory=dict[str, float])
    """Bytes of all results of such a run as JSON, median."""


class _Seen(Struct, frozen=True):
    """The calls of one recorded run."""

    script: bool
    begun: datetime
    ended: datetime
    counts: Counter[str]
    size: int


async def logged_habits(store: Store, workspace: str) -> ToolHabits:
    """Return the habits of tools in the newest 200 runs of a workspace.

    Args:
        store: The runs.
        workspace: Its real path.

    Raises:
        StateError: The store cannot be read.
    """
    listed = await store.runs(workspace=workspace, limit=_NEWEST)
    return habits_of([await store.events(run.run_id) for run in listed if run.calls])


def habits_of(records: Iterable[Sequence[Event]]) -> ToolHabits:
    """Return the habits of tools in recorded runs.

    A script counts however it came in; a direct call counts where a model made it. Calls that
    containers made are theirs.

    Args:
        records: The events of each run.
    """
    from statistics import median  # noqa: PLC0415  slow, and few sessions ask

    seen = [found for events in records if (found := _seen(events)) is not None]
    runs = [each for each in seen if each.script]
    runs += _stretches(sorted((s for s in seen if not s.script), key=lambda each: each.begun))
    by_tool: dict[str, list[_Seen]] = {}
    for run in runs:
        for tool in run.counts:
            by_tool.setdefault(tool, []).append(run)
    return ToolHabits(
        runs=len(runs),
        used={tool: len(found) for tool, found in by_tool.items()},
        calls={tool: median(r.counts.total() for r in found) for tool, found in by_tool.items()},
        size={tool: median(run.size for run in found) for tool, found in by_tool.items()},
    )


def _stretches(direct: Iterable[_Seen]) -> list[_Seen]:
    """Return the stretches of direct calls, given in the order of time."""
    found: list[_Seen] = []
    for each in direct:
        if found and each.begun - found[-1].ended <= _STRETCH:
            last = found.pop()
            each = replace(  # noqa: PLW2901  the stretch with one call more
                each, begun=last.begun, counts=last.counts + each.counts, size=last.size + each.size
            )
        found.append(each)
    return found


def _seen(events: Sequence[Event]) -> _Seen | None:
    """Return the calls of a run; None: none of them counts."""
    tools: dict[str, str] = {}
    size = 0
    script = False
    for event in events:
        data, call = event.data, event.call_id or ""
        if event.kind == "call_asked" and data.get("parent") is None:
            tools[call] = str(data["tool"])
            script = script or data.get("origin") == "script"
            if data.get("origin") not in ("script", *_FROM_MODELS):
                return None
        elif event.kind == "call_finished" and call in tools and data.get("status") == "done":
            size += int(cast("int", data.get("bytes", 0)))
    if not tools:
        return None
    times = [datetime.fromisoformat(events[at].at) for at in (0, -1)]
    return _Seen(script, times[0], times[1], Counter(tools.values()), size)
