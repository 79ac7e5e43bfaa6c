"""One arm of a comparison: the cells of one variant, counted by task."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from lineshaft.evals._results import CellResult, TaskKind
from lineshaft.evals.statistics import CostSample, Interval, Stratum, wilson
from lineshaft.values import Struct


class Arm(Struct, frozen=True):
    """The finished cells of one variant."""

    variant: str
    cells: tuple[CellResult, ...]

    @property
    def valid(self) -> tuple[CellResult, ...]:
        """The cells that say something of the variant."""
        return tuple(cell for cell in self.cells if cell.outcome != "invalid")

    @property
    def by_task(self) -> Mapping[str, Sequence[CellResult]]:
        """The valid cells of each task."""
        found: dict[str, list[CellResult]] = {}
        for cell in self.valid:
            found.setdefault(cell.task, []).append(cell)
        return found

    @property
    def passes(self) -> int:
        """How many valid cells passed."""
        return sum(cell.outcome == "pass" for cell in self.valid)

    @property
    def runs(self) -> int:
        """How many valid cells there are."""
        return len(self.valid)

    @property
    def invalid(self) -> int:
        """How many cells are invalid."""
        return len(self.cells) - self.runs

    @property
    def rate(self) -> float:
        """The pass rate, tasks weighing equally; 0 where nothing is valid."""
        tasks = self.by_task.values()
        return fmean(_rate(cells) for cells in tasks) if tasks else 0.0

    @property
    def effective_runs(self) -> float:
        """The runs that `rate` is worth: all of them where each task has as many."""
        tasks = self.by_task.values()
        return len(tasks) ** 2 / sum(1 / len(cells) for cells in tasks) if tasks else 0.0

    @property
    def interval(self) -> Interval:
        """Wilson's interval of the pass rate, 95 %."""
        return wilson(self.rate * self.effective_runs, self.effective_runs)

    def samples(self, unit: str) -> Mapping[str, Sequence[CostSample]] | None:
        """Return what each valid run cost, by task.

        Args:
            unit: `cost`, `input_tokens` or `output_tokens`.

        Returns:
            None: the cost of a run is not known.
        """
        if any(getattr(cell, unit) is None for cell in self.valid):
            return None
        return {
            task: [CostSample(float(getattr(cell, unit)), cell.outcome == "pass") for cell in cells]
            for task, cells in self.by_task.items()
        }

    def only(self, kind: TaskKind) -> "Arm":
        """Return the arm with the tasks of one kind alone."""
        return Arm(self.variant, tuple(cell for cell in self.cells if cell.kind == kind))


def arm_of(cells: Iterable[CellResult], variant: str) -> Arm:
    """Return one variant's arm."""
    return Arm(variant, tuple(cell for cell in cells if cell.variant == variant))


def kinds_of(*arms: Arm) -> tuple[TaskKind, ...]:
    """Return the kinds of tasks that there are, in a fixed order."""
    order: tuple[TaskKind, ...] = ("win", "neutral", "lose")
    there = {cell.kind for arm in arms for cell in arm.cells}
    return tuple(kind for kind in order if kind in there)


def strata_of(own: Arm, base: Arm) -> list[Stratum]:
    """Return the tasks of two arms as strata."""
    mine, theirs = own.by_task, base.by_task
    return [
        Stratum(
            passes=_passes(mine.get(task, ())),
            runs=len(mine.get(task, ())),
            base_passes=_passes(theirs.get(task, ())),
            base_runs=len(theirs.get(task, ())),
        )
        for task in sorted(mine.keys() | theirs.keys())
    ]


def _passes(cells: Sequence[CellResult]) -> int:
    return sum(cell.outcome == "pass" for cell in cells)


def _rate(cells: Sequence[CellResult]) -> float:
    return _passes(cells) / len(cells)
