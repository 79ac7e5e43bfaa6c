"""A sweep carried out: one cell at a time, whatever becomes of each."""

import errno
import os
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from msgspec.structs import replace

from lineshaft.errors import ConfigError, EvalError, LineshaftError, TaskFailed
from lineshaft.evals._results import CellResult
from lineshaft.evals.solving import (
    SCRIPTED,
    Attempt,
    PlannedModel,
    SlipRule,
    Solved,
    Spending,
    Tokeniser,
    Workplace,
    solve,
)
from lineshaft.evals.sweep.difference import difference_of
from lineshaft.evals.sweep.folder import SweepFolder
from lineshaft.evals.sweep.planning import PlannedCell, SweepPlan, cells_of
from lineshaft.evals.tasks import EvalTask, World, checked, fresh_copy, plan_of, world_of
from lineshaft.files import remove_tree
from lineshaft.models import Model, TokenUsage, model_named
from lineshaft.values import Event, Struct, Usage, decode

Progress = Callable[[int, int, CellResult], None]
"""Takes how many cells are finished, of how many, and the last one."""

_FULL = (errno.ENOSPC, errno.EDQUOT)
_DISK = "the disk is full"


class SweepEnd(Struct, frozen=True, kw_only=True):
    """How a sweep ended."""

    cells: int
    """Of the plan."""

    done: int
    """Those that were carried out now."""

    found: int
    """Those that were finished before."""


async def run_sweep(
    plan: SweepPlan,
    tasks: Sequence[EvalTask],
    folder: SweepFolder,
    *,
    tokeniser: Tokeniser,
    progress: Progress | None = None,
    again: bool = False,
    models: Mapping[str, Model] | None = None,
) -> SweepEnd:
    """Carry out what is left of a plan.

    A cell that fails does not stop it. What is finished is not repeated; a cell of which a killed
    process left half is begun anew in a fresh copy, and what it spent is kept as wasted.

    Args:
        plan: The plan.
        tasks: Its tasks.
        folder: Where it lies.
        tokeniser: Counts where a provider does not.
        progress: Told of each finished cell.
        again: Carry out invalid cells once more.
        models: Models that are no names of `model_named`.

    Raises:
        ConfigError: A model has no such name or no key, or another process is at it.
        EvalError: The disk is full. All that was finished is kept; another call goes on.
    """
    by_name = {task.name: task for task in tasks}
    cells = cells_of(plan)
    known = {**(models or {})}
    for name in {plan.model_of(variant) for variant in plan.variants} - {SCRIPTED, *known}:
        known[name] = model_named(name, environment=os.environ)
    _check_plans(plan, tasks)
    with folder.begun(plan):
        finished = folder.results()
        left = [cell for cell in cells if _is_left(finished.get(cell.key), again=again)]
        before = len(cells) - len(left)
        for number, cell in enumerate(left, before + 1):
            with _environment():
                result = await _Cell(
                    cell, by_name[cell.task.name], plan, folder, tokeniser, known
                ).carried_out()
            try:
                folder.write(result)
            except OSError as error:
                raise _stopped(folder, error) from error
            if progress is not None:
                progress(number, len(cells), result)
            if result.reason == _DISK:
                raise _stopped(folder, None)
            folder.settle(cell.key)
    return SweepEnd(cells=len(cells), done=len(left), found=before)


def _stopped(folder: SweepFolder, error: OSError | None) -> EvalError:
    why = f" ({error.strerror})" if error is not None else ""
    return EvalError(
        f"{_DISK}: the sweep in {folder.place.name!r} stopped{why}; what is finished is kept",
        hint="make room, and run the same command again",
    )


def _is_left(found: CellResult | None, *, again: bool) -> bool:
    if found is None or found.reason == _DISK:
        return True
    return again and found.outcome == "invalid"


def _check_plans(plan: SweepPlan, tasks: Sequence[EvalTask]) -> None:
    """Refuse scripted policies for tasks that have no plan.

    Raises:
        ConfigError: One has none.
    """
    if any(plan.model_of(variant) == SCRIPTED for variant in plan.variants):
        for task in tasks:
            if not (task.folder / "plan.py").is_file():
                raise ConfigError(
                    f"the task {task.name!r} has no plan.py for the model {SCRIPTED!r}",
                    hint="name a model: --model openai:gpt-5-mini, ollama:NAME, or URL#NAME",
                )


@contextmanager
def _environment() -> Generator[None]:
    """Give back variables, working folder and import path as they were."""
    variables, folder, path = dict(os.environ), Path.cwd(), list(sys.path)
    try:
        yield
    finally:
        for name in os.environ.keys() - variables.keys():
            del os.environ[name]
        for name, value in variables.items():
            if os.environ.get(name) != value:
                os.environ[name] = value
        os.chdir(folder)
        sys.path[:] = path


class _Cell:
    """One cell, carried out."""

    def __init__(
        self,
        cell: PlannedCell,
        task: EvalTask,
        plan: SweepPlan,
        folder: SweepFolder,
        tokeniser: Tokeniser,
        models: Mapping[str, Model],
    ) -> None:
        self._cell = cell
        self._task = task
        self._plan = plan
        self._folder = folder
        self._tokeniser = tokeniser
        self._models = models
        self._work = folder.work / folder.cell(cell.key).name
        self._spending = Spending(tokens_by=tokeniser.name)

    async def carried_out(self) -> CellResult:
        """Return how the cell ended; nothing is raised but a cancellation."""
        begun = time.monotonic()
        tokens, seconds = 0, 0.0
        try:
            tokens, seconds = self._folder.wasted(self._cell.key)
            result = await self._tried()
        except OSError as error:
            full = error.errno in _FULL
            result = self._invalid(_DISK if full else f"{type(error).__name__}: {error.strerror}")
        except LineshaftError as error:
            result = self._invalid(error.message)
        except Exception as error:  # noqa: BLE001  a task's own code may raise anything
            result = self._invalid(f"{type(error).__name__}: {error}")
        finally:
            remove_tree(self._work)
        wall = result.wall_seconds or time.monotonic() - begun
        return replace(result, wall_seconds=wall, wasted_tokens=tokens, wasted_seconds=seconds)

    async def _tried(self) -> CellResult:
        copy, task = self._work / "copy", self._task
        world = world_of(task)
        fresh_copy(task, copy, world.files)
        solved = await solve(
            self._model(),
            Workplace(
                folder=str(copy),
                task=task,
                world=world,
                variant=self._cell.variant,
                tokeniser=self._tokeniser,
                spent=self._note,
            ),
        )
        self._spending = solved.spending
        kept = self._kept(copy, world, solved.attempt)
        return replace(await self._judged(copy, world, solved), bundle=kept)

    async def _judged(self, copy: Path, world: World, solved: Solved) -> CellResult:
        result = self._result(solved)
        if solved.outcome is not None:
            return replace(result, outcome=solved.outcome, reason=solved.reason, stuck=solved.stuck)
        try:
            score = await checked(
                self._task,
                copy,
                self._work / "check",
                answer=solved.result,
                state=world.state(),
            )
        except TaskFailed as error:
            return replace(result, reason=error.message)
        outcome = "pass" if score.value >= 1 else "fail"
        return replace(result, outcome=outcome, score=score.value, reason=score.note)

    def _kept(self, copy: Path, world: World, attempt: Attempt) -> str:
        pristine = self._work / "pristine"
        fresh_copy(self._task, pristine, world.files)
        return self._folder.keep(self._cell.key, attempt, difference_of(pristine, copy))

    def _note(self, spending: Spending) -> None:
        self._spending = spending
        self._folder.spend(self._cell.key, spending)

    def _model(self) -> Model:
        name = self._plan.model_of(self._cell.variant)
        if name != SCRIPTED:
            return self._models[name]
        slips = SlipRule(rate=self._plan.slip_rate, seed=self._plan.seed)
        place = self._task.name, self._cell.repeat  # alike in all variants
        module: ModuleType = plan_of(self._task)
        return PlannedModel(
            module,
            answer=self._task.answer,
            slips=slips.slips(*place),
            directly=self._cell.variant.prefers_direct,
        )

    def _result(self, solved: Solved) -> CellResult:
        """Return what is known before the checker has spoken."""
        scripts = list(_of_scripts(solved.attempt.events))
        return replace(
            self._invalid(""),
            calls=solved.calls,
            script_calls=sum(sum(usage.calls.values()) for usage in scripts),
            bytes_kept=sum(usage.bytes_kept for usage in scripts),
        )

    def _invalid(self, reason: str) -> CellResult:
        cell, spending = self._cell, self._spending
        price = self._plan.price_of(cell.variant)
        usage = TokenUsage(
            input_tokens=spending.input_tokens,
            output_tokens=spending.output_tokens,
            cached_tokens=spending.cached_tokens,
        )
        return CellResult(
            key=cell.key,
            task=cell.task.name,
            task_digest=cell.task.digest,
            kind=cell.task.kind,
            variant=cell.variant.name,
            repeat=cell.repeat,
            outcome="invalid",
            reason=reason,
            turns=spending.turns,
            input_tokens=spending.input_tokens,
            output_tokens=spending.output_tokens,
            cached_tokens=spending.cached_tokens,
            tokens_by=spending.tokens_by,
            cost=price.charged(usage).cost if price else None,
            wall_seconds=spending.seconds,
            model_seconds=spending.model_seconds,
            scripted=self._plan.model_of(cell.variant) == SCRIPTED,
        )


def _of_scripts(events: Sequence[Event]) -> Generator[Usage]:
    """Yield what each script used."""
    for event in events:
        if event.kind == "run_finished" and event.data.get("engine"):
            yield decode(Usage, event.data.get("usage"))
