"""Sweeps for tests: tasks written on the spot, and the library's."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent

from lineshaft.evals import (
    CellResult,
    EvalTask,
    PriceTable,
    SweepEnd,
    SweepFolder,
    offline_tokeniser,
    planned,
    read_task,
    run_sweep,
    variants_of,
)
from lineshaft.models import Model

CHECKER = """
def check(bench):
    return bench.share({"answer": lambda: bench.answer == "yes"})
"""


def written(place: Path, **files: str) -> EvalTask:
    """Return a task of a folder, with the given files; dots are written as `__`."""
    place.mkdir(parents=True)
    given = {"task__toml": 'kind = "win"\n', "prompt__md": "Say yes.", "checker__py": CHECKER}
    for name, text in {**given, **files}.items():
        (place / name.replace("__", ".")).write_text(dedent(text), encoding="utf-8")
    return read_task(place)


async def swept(
    tasks: Sequence[EvalTask],
    place: Path,
    *,
    model: Model | str = "scripted",
    axes: Sequence[str] = ("script=on,off",),
    repeats: int = 1,
    slip_rate: float = 0.0,
    again: bool = False,
    seed: int = 0,
    prices: PriceTable | None = None,
) -> tuple[SweepEnd, list[CellResult]]:
    """Carry out a sweep; return its end, and all cells in the order of the log."""
    tokeniser = offline_tokeniser()
    name = model if isinstance(model, str) else model.name
    models: Mapping[str, Model] = {} if isinstance(model, str) else {name: model}
    plan = planned(
        tasks,
        variants_of(axes),
        repeats=repeats,
        model=name,
        tokeniser=tokeniser.name,
        slip_rate=slip_rate,
        seed=seed,
        prices=prices,
    )
    folder = SweepFolder(place)
    end = await run_sweep(plan, tasks, folder, tokeniser=tokeniser, again=again, models=models)
    return end, list(folder.results().values())
