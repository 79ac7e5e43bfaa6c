"""The plan of a sweep: its cells, their keys and their order."""

import hashlib
import json
import platform
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from msgspec import field

from lineshaft import __version__
from lineshaft.errors import ConfigError
from lineshaft.evals._results import TaskKind
from lineshaft.evals._variants import Variant
from lineshaft.evals.solving import SCRIPTED, SlipRule
from lineshaft.evals.tasks import EvalTask, TaskLimits, task_digest
from lineshaft.models import ModelPrice
from lineshaft.values import Struct

_MOST_REPEATS = 10_000


class PriceTable(Struct, frozen=True, kw_only=True):
    """The prices of models, and the day they are from."""

    date: str
    """A day, as `2026-11-01`."""

    models: Mapping[str, tuple[float, ...]]
    """US dollars for a million tokens in and out, by model; a third number is for tokens in that
    the provider had cached, which else cost as others."""

    def price_of(self, model: str) -> ModelPrice | None:
        """Return a model's price; None where the table has none."""
        found = self.models.get(model)
        if found is None:
            return None
        return ModelPrice(input=found[0], output=found[1], cached=next(iter(found[2:]), None))


class TaskFacts(Struct, frozen=True, kw_only=True):
    """A task as a plan has it."""

    name: str
    kind: TaskKind
    summary: str
    mode: str
    limits: TaskLimits
    digest: str
    """Of prompt, files, tools, checker and limits: all of its folder but the scripted plan."""


class SweepPlan(Struct, frozen=True, kw_only=True):
    """The plan of a sweep, written down before it begins."""

    tasks: tuple[TaskFacts, ...]
    variants: tuple[Variant, ...]
    repeats: int
    """Of each task with each variant."""

    model: str
    """Its name, with the address where it has one."""

    seed: int
    """Of the order, and of the slips of scripted policies."""

    slip_rate: float
    """Of scripted policies."""

    tokeniser: str
    prices: PriceTable | None
    """None: tokens in and out stand apart, and there is no total."""

    provenance: Mapping[str, str] = field(default_factory=dict[str, str])
    """Versions and the platform; they are in no key."""

    def model_of(self, variant: Variant) -> str:
        """Return the name of a variant's model."""
        return variant.model or self.model

    def price_of(self, variant: Variant) -> ModelPrice | None:
        """Return the price of a variant's model."""
        return self.prices.price_of(self.model_of(variant)) if self.prices else None


class PlannedCell(Struct, frozen=True, kw_only=True):
    """One cell: a task, a variant, a repeat."""

    task: TaskFacts
    variant: Variant
    repeat: int
    key: str


def planned(
    tasks: Sequence[EvalTask],
    variants: Sequence[Variant],
    *,
    repeats: int,
    model: str,
    tokeniser: str,
    seed: int = 0,
    slip_rate: float = 0.1,
    prices: PriceTable | None = None,
) -> SweepPlan:
    """Return a plan.

    Raises:
        ConfigError: There is nothing to do, or a number is out of range.
    """
    if not tasks or not variants:
        raise ConfigError("a sweep needs a task and a variant")
    if not 1 <= repeats <= _MOST_REPEATS:
        raise ConfigError(f"{repeats} repeats", hint=f"1 to {_MOST_REPEATS:,}")
    if not 0 <= slip_rate < 1:
        raise ConfigError(f"the rate of slips is {slip_rate:g}", hint="0 or more, and below 1")
    return SweepPlan(
        tasks=tuple(
            TaskFacts(
                name=task.name,
                kind=task.kind,
                summary=task.summary,
                mode=task.mode,
                limits=task.limits,
                digest=task_digest(task),
            )
            for task in tasks
        ),
        variants=tuple(variants),
        repeats=repeats,
        model=model,
        seed=seed,
        slip_rate=slip_rate,
        tokeniser=tokeniser,
        prices=prices,
        provenance={
            "lineshaft": __version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
        },
    )


def cells_of(plan: SweepPlan) -> tuple[PlannedCell, ...]:
    """Return a plan's cells in their order.

    A block is a task and a repeat, with all variants next to each other, so that whatever changes
    in time meets all variants alike. The order of blocks, and that in each, is drawn by the seed.
    """
    drawn = random.Random(plan.seed)  # noqa: S311  no secret
    blocks = [(task, repeat) for repeat in range(1, plan.repeats + 1) for task in plan.tasks]
    drawn.shuffle(blocks)
    return tuple(
        PlannedCell(
            task=task, variant=variant, repeat=repeat, key=_key(plan, task, variant, repeat)
        )
        for task, repeat in blocks
        for variant in _shuffled(drawn, plan.variants)
    )


def _shuffled(drawn: random.Random, variants: Sequence[Variant]) -> Iterator[Variant]:
    order = list(variants)
    drawn.shuffle(order)
    yield from order


def _key(plan: SweepPlan, task: TaskFacts, variant: Variant, repeat: int) -> str:
    """Return the digest of all that a cell depends on."""
    model = plan.model_of(variant)
    depends = {
        "task": task.digest,
        "name": task.name,
        "limits": asdict(task.limits),
        "variant": {**asdict(variant), "name": "", "mode": variant.mode or task.mode},
        "model": model,
        "slips": asdict(SlipRule(rate=plan.slip_rate, seed=plan.seed)) if model == SCRIPTED else {},
        "tokeniser": plan.tokeniser,
        "repeat": repeat,
    }
    return hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()
