"""A plan that is already carried out may grow, and do nothing else."""

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from lineshaft.errors import ConfigError
from lineshaft.evals.sweep.planning import SweepPlan


def grown(old: SweepPlan, new: SweepPlan, place: Path) -> SweepPlan:
    """Return the plan that a sweep goes on by: the old one, with at least as many repeats.

    A plan that shrinks, or loses a task, after its first results were seen would be an early look:
    the gate decides at the planned number alone.

    Args:
        old: The plan in the folder of the sweep.
        new: The plan that is asked for now.
        place: The folder, for the message.

    Raises:
        ConfigError: The plans differ in more than added repeats.
    """
    if differences := list(_differences(old, new)):
        raise ConfigError(
            f"the sweep in {str(place)!r} was planned otherwise: {'; '.join(differences)}",
            hint="a plan only grows, by a larger -n; for another one name a new folder by --out",
        )
    return replace(old, repeats=new.repeats, provenance=new.provenance)


def _differences(old: SweepPlan, new: SweepPlan) -> Iterator[str]:
    yield from _of_tasks(old, new)
    yield from _of_variants(old, new)
    if new.repeats < old.repeats:
        yield f"{old.repeats} repeats, and not {new.repeats}"
    for name, told in (
        ("model", "model"),
        ("seed", "seed"),
        ("slip_rate", "rate of slips"),
        ("tokeniser", "tokeniser"),
    ):
        was, now = getattr(old, name), getattr(new, name)
        if was != now:
            yield f"the {told} was {was!r}, and is {now!r}"
    if old.prices != new.prices:
        yield f"it has {_priced(old)}, and not {_priced(new)}"


def _of_tasks(old: SweepPlan, new: SweepPlan) -> Iterator[str]:
    was, now = ({task.name: task for task in plan.tasks} for plan in (old, new))
    if gone := was.keys() - now.keys():
        yield f"without the {_named('task', gone)}"
    if more := now.keys() - was.keys():
        yield f"with the {_named('task', more)} on top"
    if changed := {name for name in was.keys() & now.keys() if was[name] != now[name]}:
        yield f"the {_named('task', changed)} changed since"


def _of_variants(old: SweepPlan, new: SweepPlan) -> Iterator[str]:
    was, now = ({variant.name for variant in plan.variants} for plan in (old, new))
    if gone := was - now:
        yield f"without the {_named('variant', gone)}"
    if more := now - was:
        yield f"with the {_named('variant', more)} on top"


def _named(what: str, names: set[str]) -> str:
    quoted = ", ".join(repr(name) for name in sorted(names))
    return f"{what} {quoted}" if len(names) == 1 else f"{what}s {quoted}"


def _priced(plan: SweepPlan) -> str:
    return f"prices of {plan.prices.date}" if plan.prices else "no prices"
