"""Tasks read from their folders."""

import hashlib
import importlib.util
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from lineshaft.errors import ConfigError, TaskFailed
from lineshaft.evals._results import TaskKind
from lineshaft.evals.tasks.task import EvalTask, TaskLimits, World
from lineshaft.values import DecodeError, decode, toml_table

LIBRARY = Path(__file__).parent / "library"
PLAN = "plan.py"
JUDGING = ("scoring.py", "probing.py", "asking.py")
"""The files by which a task's code is judged."""

_TEXT: Mapping[str, object] = {"type": "string"}
_KEYS = {"kind", "summary", "kit", "mode", "answer", "limits"}
_FORM = "a task is a folder with task.toml, prompt.md and checker.py"
_MODES = ("read", "ask", "auto", "open")


def found_tasks(names: Sequence[str], *, folders: Iterable[Path] = ()) -> tuple[EvalTask, ...]:
    """Return tasks by name.

    Args:
        names: Of the library or of a folder below `folders`; a path of a task's folder; a kind
            (`win`, `neutral`, `lose`); `all`.
        folders: Of a person's own tasks, which come before those of the same name in the library.

    Raises:
        ConfigError: There is no such task, or one cannot be read.
    """
    places = {place.name: place for folder in (LIBRARY, *folders) for place in _tasks_in(folder)}
    known: dict[str, EvalTask] = {}
    for name in names:
        if name in places:
            chosen = [read_task(places[name])]
        elif name in ("all", "win", "neutral", "lose"):
            every = [read_task(place) for place in places.values()]
            chosen = [task for task in every if name in ("all", task.kind)]
        elif (Path(name) / "task.toml").is_file():
            chosen = [read_task(Path(name).absolute())]
        elif Path(name).is_dir():
            raise ConfigError(f"the folder {name!r} is no task: it has no task.toml", hint=_FORM)
        else:
            there = ", ".join(sorted(places))
            raise ConfigError(f"there is no task {name!r}", hint=f"a folder, a kind, or: {there}")
        for task in chosen:
            other = known.setdefault(task.name, task)
            if other.folder != task.folder:
                raise ConfigError(f"two tasks are named {task.name!r}")
    return tuple(known.values())


def _tasks_in(folder: Path) -> list[Path]:
    """Return the folders of tasks in a folder.

    Raises:
        ConfigError: There are none.
    """
    found = [place.parent for place in sorted(folder.glob("*/task.toml"))]
    if not found:
        what = "has no tasks" if folder.is_dir() else "is not there"
        raise ConfigError(f"the folder {str(folder)!r} {what}", hint=_FORM)
    return found


def read_task(folder: Path) -> EvalTask:
    """Return the task of a folder.

    Raises:
        ConfigError: A file is missing, or says something that is no task.
    """
    try:
        table = toml_table((folder / "task.toml").read_text(encoding="utf-8"))
        prompt = (folder / "prompt.md").read_text(encoding="utf-8").strip()
        if not (folder / "checker.py").is_file():
            raise ConfigError(f"the task {folder.name!r} has no checker.py")
        if unknown := sorted(table.keys() - _KEYS):
            raise ConfigError(f"task.toml of {folder.name!r}: there is no key {unknown[0]!r}")
        return EvalTask(
            name=folder.name,
            folder=folder,
            kind=decode(cast("Any", TaskKind), table.get("kind", "neutral")),
            summary=decode(str, table.get("summary", "")),
            prompt=prompt,
            kit=decode(tuple[str, ...], table.get("kit", [])),
            mode=_mode(table.get("mode", "auto")),
            answer=cast("Mapping[str, object]", table.get("answer", _TEXT)),
            limits=decode(TaskLimits, table.get("limits", {})),
        )
    except OSError as error:
        raise ConfigError(f"the task {folder.name!r} has no {Path(error.filename).name}") from None
    except (ValueError, DecodeError) as error:
        raise ConfigError(f"task.toml of {folder.name!r}: {error}") from None


def _mode(value: object) -> str:
    if value not in _MODES:
        raise DecodeError(f"mode is {value!r}, not one of {', '.join(_MODES)}")
    return cast("str", value)


def task_digest(task: EvalTask) -> str:
    """Return the digest of all that a task consists of: every file but a scripted plan."""
    digest = hashlib.sha256()
    files = [path for path in task.folder.rglob("*") if path.is_file() and _counts(path)]
    judging = [Path(__file__).parent / name for name in JUDGING]
    for path in (*sorted(files), *judging):
        name = path.name if path in judging else path.relative_to(task.folder).as_posix()
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _counts(path: Path) -> bool:
    return path.name != PLAN and "__pycache__" not in path.parts


def world_of(task: EvalTask) -> World:
    """Return a new world of a task; an empty one where it has no `tools.py`.

    Raises:
        TaskFailed: Its code raised, or gives no `World`.
    """
    if not (task.folder / "tools.py").is_file():
        return World(tools=())
    try:
        made: object = _module_of(task, "tools.py").world()
    except Exception as error:
        text = f"tools.py of the task {task.name!r}: {type(error).__name__}: {error}"
        raise TaskFailed(text) from error
    if not isinstance(made, World):
        raise TaskFailed(f"tools.py of the task {task.name!r}: `world()` gives no World")
    return made


def plan_of(task: EvalTask) -> ModuleType:
    """Return a task's plan for scripted policies.

    Raises:
        TaskFailed: It cannot be loaded.
    """
    try:
        return _module_of(task, PLAN)
    except Exception as error:
        text = f"{PLAN} of the task {task.name!r}: {type(error).__name__}: {error}"
        raise TaskFailed(text) from error


def _module_of(task: EvalTask, file: str) -> ModuleType:
    """Return a file of a task as a module of its own, executed anew."""
    name = f"_lineshaft_task_{task.name.replace('-', '_')}_{Path(file).stem}"
    spec = importlib.util.spec_from_file_location(name, task.folder / file)
    if spec is None or spec.loader is None:
        raise TaskFailed(f"{file} of the task {task.name!r} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module
