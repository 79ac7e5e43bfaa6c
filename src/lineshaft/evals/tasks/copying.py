"""Fresh copies of a task's files, and what is laid over a copy afterwards."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from lineshaft.errors import TaskFailed
from lineshaft.evals.tasks.task import EvalTask

FIXTURE = ".fixture"
"""A name's ending that a copy does not have. In a task's folder it keeps linters and test runners
away from files that are wrong on purpose."""


def fresh_copy(task: EvalTask, place: Path, more: Mapping[str, str]) -> None:
    """Write a task's files into a new folder.

    Args:
        task: The task.
        place: The folder; it must not be there yet.
        more: Further files, by path.

    Raises:
        OSError: It cannot be written.
        TaskFailed: A path of `more` leads out of the folder.
    """
    place.mkdir(parents=True)
    overlaid(task.folder / "files", place)
    for name, text in more.items():
        target = place / name
        if not target.resolve().is_relative_to(place.resolve()):
            raise TaskFailed(f"the task {task.name!r} has a file outside of its folder: {name!r}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def overlaid(source: Path, place: Path) -> None:
    """Copy a folder's files over another folder; nothing where there is no such folder."""
    for path in sorted(source.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            target = place / path.relative_to(source)
            if target.suffix == FIXTURE:
                target = target.with_suffix("")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
