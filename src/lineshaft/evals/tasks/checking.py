"""The checker of a task, behind the wall of `python_run`.

It runs over a copy of the agent's copy, with hidden tests and the agent's answer laid over, so that
nothing of it was there for the agent to see, and what the agent wrote reaches nothing.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from lineshaft import kit
from lineshaft.errors import TaskFailed
from lineshaft.evals.tasks.copying import overlaid
from lineshaft.evals.tasks.task import EvalTask
from lineshaft.files import remove_tree
from lineshaft.policy import Policy
from lineshaft.session import Session
from lineshaft.values import Limits, PythonOptions

_FOLDER = "_lineshaft_check"
_MARK = "@lineshaft-score "
_MORE_SECONDS = 10
_NOTE = 2_000


@dataclass(frozen=True, slots=True)
class Score:
    """What a checker says."""

    value: float
    """From 0 to 1."""

    note: str = ""


async def checked(
    task: EvalTask, copy: Path, place: Path, *, answer: object, state: object
) -> Score:
    """Let a task's checker judge a copy.

    Args:
        task: The task.
        copy: The workspace, as the agent left it.
        place: A new folder for the checker's own copy.
        answer: The agent's result.
        state: Of the task's world.

    Raises:
        TaskFailed: The checker itself failed.
        OSError: The copy cannot be made.
    """
    shutil.copytree(copy, place, symlinks=True)
    folder = place / _FOLDER
    remove_tree(folder)
    folder.mkdir()
    shutil.copyfile(Path(__file__).parent / "scoring.py", folder / "scoring.py")
    shutil.copyfile(task.folder / "checker.py", folder / "checker.py")
    overlaid(task.folder / "hidden", folder)
    given = json.dumps({"answer": answer, "state": state})
    (folder / "given.json").write_text(given, encoding="utf-8")
    return _score(task, await _run(task, place))


async def _run(task: EvalTask, place: Path) -> Mapping[str, object]:
    seconds = task.limits.checker_seconds
    async with Session(
        kit.tools("python_run"),
        workspace=place,
        policy=Policy(mode="open"),
        store=False,
        guards=None,
        limits=Limits(call_seconds=seconds + _MORE_SECONDS),
        python=PythonOptions(seconds=seconds),
    ) as session:
        done = await session.call("python_run", {"file": f"{_FOLDER}/scoring.py"})
    if done.error is not None:
        raise TaskFailed(f"the checker of {task.name!r} could not be run: {done.error.message}")
    return cast("Mapping[str, object]", done.value)


def _score(task: EvalTask, done: Mapping[str, object]) -> Score:
    if not done.get("ok"):
        error = cast("Mapping[str, object]", done.get("error") or {})
        if error.get("code") == "PYTHON_TIMEOUT":
            return Score(0.0, f"the checks did not end in {task.limits.checker_seconds:g} s")
        raise TaskFailed(f"the checker of {task.name!r} could not be run: {error.get('message')}")
    lines = str(done.get("stdout", "")).splitlines()
    said = [line.removeprefix(_MARK) for line in lines if line.startswith(_MARK)]
    if not said and done.get("exitCode") == 0:
        return Score(0.0, "the code under test ended the checks")
    try:
        found: object = json.loads(said[-1])
        value, note = cast("list[object]", found)
        value = float(cast("float", value))
    except (ValueError, TypeError, IndexError):
        last = str(done.get("stderr", "")).strip().splitlines()[-1:] or ["it gave no score"]
        raise TaskFailed(f"the checker of {task.name!r} failed: {last[0]}") from None
    if not 0 <= value <= 1:
        raise TaskFailed(f"the checker of {task.name!r} gave the score {value!r}")
    return Score(value, str(note)[:_NOTE])
