"""The checker of a task, and the code that it judges, each behind the wall of `python_run`.

The checker works over a copy of the agent's copy, with hidden tests and the agent's answer beside
it, so that nothing of it was there for the agent to see. It never imports what the agent wrote:
what it wants to know of that is asked in a program of its own, over another copy, which knows no
right answer and reaches nothing of the checker's.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lineshaft import kit
from lineshaft.errors import TaskFailed
from lineshaft.evals.tasks.copying import overlaid
from lineshaft.evals.tasks.task import EvalTask
from lineshaft.files import remove_tree
from lineshaft.policy import Policy
from lineshaft.session import Session
from lineshaft.values import Limits, PythonOptions, Struct

_BENCH = "bench"
_ASKED = "_lineshaft_asked"
_MORE_SECONDS = 10
_NOTE = 2_000
_ROUNDS = 10
"""How often the code under test is asked: again, where a question needs an answer before it."""

_ANSWER_BYTES = 5_000_000


class Score(Struct, frozen=True):
    """The score that a checker gives."""

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
    work, bench = place / "work", place / _BENCH
    shutil.copytree(copy, work, symlinks=True)
    bench.mkdir()
    for name in ("scoring.py", "probing.py"):
        shutil.copyfile(Path(__file__).parent / name, bench / name)
    shutil.copyfile(task.folder / "checker.py", bench / "checker.py")
    overlaid(task.folder / "hidden", place / "hidden")
    overlaid(task.folder / "probes", place / "probes")
    answers: Mapping[str, Sequence[Any]] = {}
    for number in range(_ROUNDS):
        given = json.dumps({"answer": answer, "state": state, "answers": answers})
        (bench / "given.json").write_text(given, encoding="utf-8")
        verdict = await _judged(task, place)
        if not (questions := verdict["asks"]):
            return _score(task, verdict["score"])
        asked = place.with_name(f"{place.name}-{number}")
        try:
            shutil.copytree(copy, asked, symlinks=True)
            found = await _answers(task, asked, questions)
        finally:
            if asked.exists():
                remove_tree(asked)
        if found is None:
            return Score(0.0, f"the checks did not end in {task.limits.checker_seconds:g} s")
        answers = found
    return Score(0.0, "the code under test answers otherwise each time")


async def _judged(task: EvalTask, place: Path) -> Mapping[str, Any]:
    """Let the checker judge; return its score, or what it has to ask."""
    written = place / _BENCH / "verdict.json"
    written.unlink(missing_ok=True)
    done = await _run(task, place, f"{_BENCH}/scoring.py")
    if _timed_out(done):
        seconds = task.limits.checker_seconds
        return {"score": [0.0, f"the checks did not end in {seconds:g} s"], "asks": None}
    try:
        return cast("Mapping[str, Any]", json.loads(written.read_bytes()))
    except (OSError, ValueError):
        last = str(done.get("stderr", "")).strip().splitlines()[-1:] or ["it gave no score"]
        raise TaskFailed(f"the checker of {task.name!r} failed: {last[0]}") from None


async def _answers(
    task: EvalTask, place: Path, questions: Mapping[str, Sequence[object]]
) -> Mapping[str, Sequence[object]] | None:
    """Ask the code under test; return pairs of question and answer, None where it took too long."""
    folder = place / _ASKED
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.exists():
        remove_tree(folder)
    folder.mkdir()
    shutil.copyfile(Path(__file__).parent / "asking.py", folder / "asking.py")
    overlaid(task.folder / "probes", folder)
    (folder / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    if _timed_out(await _run(task, place, f"{_ASKED}/asking.py")):
        return None
    said = _said(folder / "answers.jsonl")
    return {
        scope: [[question, said.get((scope, at))] for at, question in enumerate(asked)]
        for scope, asked in questions.items()
    }


def _said(path: Path) -> Mapping[tuple[str, int], object]:
    """Return the answers in a file that the code under test may have written anew."""
    found: dict[tuple[str, int], object] = {}
    if path.parent.is_symlink() or path.is_symlink() or not path.is_file():
        return found
    with path.open("rb") as file:
        for line in file.read(_ANSWER_BYTES).splitlines():
            try:
                match json.loads(line):
                    case [str(scope), int(at), answer]:
                        found[scope, at] = answer
                    case _:
                        pass
            except (ValueError, RecursionError):
                continue
    return found


def _timed_out(done: Mapping[str, object]) -> bool:
    error = cast("Mapping[str, object]", done.get("error") or {})
    return error.get("code") == "PYTHON_TIMEOUT"


async def _run(task: EvalTask, place: Path, file: str) -> Mapping[str, object]:
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
        done = await session.call("python_run", {"file": file})
    if done.error is not None:
        raise TaskFailed(f"the checker of {task.name!r} could not be run: {done.error.message}")
    value = cast("Mapping[str, object]", done.value)
    if not value.get("ok") and not _timed_out(value):
        error = cast("Mapping[str, object]", value.get("error") or {})
        raise TaskFailed(f"the checker of {task.name!r} could not be run: {error.get('message')}")
    return value


def _score(task: EvalTask, said: object) -> Score:
    try:
        value, note = cast("list[object]", said)
        value = float(cast("float", value))
    except (ValueError, TypeError):
        raise TaskFailed(f"the checker of {task.name!r} failed: it gave no score") from None
    if not 0 <= value <= 1:
        raise TaskFailed(f"the checker of {task.name!r} gave the score {value!r}")
    return Score(value, str(note)[:_NOTE])
