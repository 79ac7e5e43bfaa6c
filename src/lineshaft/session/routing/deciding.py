"""The decision of the router."""

from collections.abc import Sequence

from lineshaft.session.routing.habits import ToolHabits
from lineshaft.session.routing.route import Route

FEW_TOOLS = 10
"""Of so many, a model keeps sight without scripts; more are never offered for direct calls."""

FEW_CALLS = 3
"""In one task; published comparisons see no gain of scripts up to here."""

LOGGED_RUNS = 20
"""From so many on, the record decides."""

SEEN_RUNS = 5
"""A tool that fewer of them called is decided by the catalogue."""

MODEL_BYTES = 4_000
"""Of all results of a run: as much as a model reads of one result."""


def route_of(
    callable_by_models: Sequence[str],
    callable_by_scripts: Sequence[str],
    *,
    calls: int | None = None,
    habits: ToolHabits | None = None,
) -> Route:
    """Decide which tools a model calls directly.

    Args:
        callable_by_models: The tools that policy leaves open to a model's direct calls, by name.
        callable_by_scripts: Those that it leaves open to scripts.
        calls: Calls that a task is expected to take; None: not known.
        habits: From the record.
    """
    known = habits if habits is not None and habits.runs >= LOGGED_RUNS else ToolHabits()
    usual, why = _by_catalogue(len(callable_by_scripts), calls)
    reasons: dict[str, str] = {}
    chosen: dict[str, int] = {}
    for name in callable_by_scripts:
        used = known.used.get(name, 0)
        fits, reasons[name] = (usual, why) if used < SEEN_RUNS else _by_record(name, known)
        if name not in callable_by_models:
            reasons[name] = "policy closes it to direct calls"
        elif fits:
            chosen[name] = used
    for name in sorted(chosen, key=lambda each: -chosen[each])[FEW_TOOLS:]:
        del chosen[name]
        reasons[name] = f"{FEW_TOOLS} other tools are called directly more often"
    alone = [name for name in callable_by_models if name not in callable_by_scripts]
    reasons.update(dict.fromkeys(alone, "scripts cannot call it"))
    return Route(
        direct=tuple(name for name in callable_by_models if name in chosen or name in alone),
        scripted=tuple(name for name in callable_by_scripts if name not in chosen),
        reasons=reasons,
        runs=known.runs,
    )


def _by_catalogue(count: int, calls: int | None) -> tuple[bool, str]:
    if count > FEW_TOOLS:
        return False, f"there are {count} tools, more than {FEW_TOOLS}"
    if calls is None:
        return False, "it is not known how many calls a task takes"
    if calls > FEW_CALLS:
        return False, f"{calls} calls are expected, more than {FEW_CALLS}"
    return True, f"{calls} calls are expected, no more than {FEW_CALLS}, of few tools"


def _by_record(name: str, known: ToolHabits) -> tuple[bool, str]:
    calls, size = known.calls[name], known.size[name]
    told = f"{known.used[name]} logged runs with it: {calls:g} calls and {size:,.0f} bytes a run"
    return calls <= FEW_CALLS and size <= MODEL_BYTES, told
