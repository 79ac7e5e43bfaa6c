"""Each task of the library can be solved both ways, and not by doing nothing."""

from pathlib import Path
from typing import Any

import pytest

from evals.sweeping import swept, written
from lineshaft.errors import ConfigError
from lineshaft.evals import EvalTask, found_tasks
from lineshaft.models import ModelReply, ModelRequest
from lineshaft.testing import ScriptedModel, exit_with

pytestmark = pytest.mark.anyio

LIBRARY = found_tasks(["all"])


def _nothing(request: ModelRequest) -> ModelReply:
    """Exit with a result of the type that is asked for, whatever it says."""
    exit_tool = next(tool for tool in request.tools if tool.name == "Exit")
    asked: Any = exit_tool.input_schema["properties"]
    kind: str = asked["result"]["type"]
    by_kind: dict[str, object] = {"string": "no", "array": [], "number": 0}
    names = asked["result"].get("properties", {})
    by_kind["object"] = {name: "x" if name == "name" else 0 for name in names}
    return exit_with(by_kind[kind])


@pytest.mark.parametrize("task", LIBRARY, ids=lambda task: task.name)
async def test_both_plans_pass(task: EvalTask, tmp_path: Path) -> None:
    end, cells = await swept([task], tmp_path / "eval")
    assert end.done == 2
    assert {cell.variant: (cell.outcome, cell.reason) for cell in cells} == {
        "script=on": ("pass", ""),
        "script=off": ("pass", ""),
    }
    by_script = next(cell for cell in cells if cell.variant == "script=on")
    assert by_script.script_calls > 0
    assert all(cell.input_tokens > 0 and cell.output_tokens > 0 and cell.scripted for cell in cells)


@pytest.mark.parametrize("task", LIBRARY, ids=lambda task: task.name)
async def test_doing_nothing_does_not_pass(task: EvalTask, tmp_path: Path) -> None:
    model = ScriptedModel([_nothing], name="given")
    _, [cell] = await swept([task], tmp_path / "eval", model=model, axes=["script=off"])
    assert cell.outcome == "fail", cell
    assert not cell.scripted


def test_there_are_tasks_of_every_kind() -> None:
    kinds = [task.kind for task in LIBRARY]
    assert min(map(kinds.count, ("win", "neutral", "lose"))) >= 4
    names = {task.name for task in LIBRARY}
    assert {"migrate", "validators", "fixtures", "handlers", "fix-regression"} < names
    assert len(names) >= 17


def test_a_task_of_ones_own_is_found_by_its_folder(tmp_path: Path) -> None:
    written(tmp_path / "mine" / "greet")
    assert found_tasks([str(tmp_path / "mine" / "greet")])[0].name == "greet"
    assert found_tasks(["greet"], folders=[tmp_path / "mine"])[0].kind == "win"
    with pytest.raises(ConfigError, match="no task 'greet'"):
        found_tasks(["greet"])


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"task__toml": 'kind = "lucky"'}, "task.toml"),
        ({"task__toml": "size = 1"}, "no key 'size'"),
        ({"task__toml": "[limits]\nturns = 'many'"}, "turns"),
        ({"task__toml": "mode = 'plan'"}, "mode is 'plan'"),
        ({"task__toml": "="}, "task.toml"),
    ],
)
def test_what_is_no_task_is_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        written(tmp_path / "odd", **files)


def test_a_task_without_a_prompt_or_checker_is_refused(tmp_path: Path) -> None:
    for name in ("prompt.md", "checker.py"):
        task = written(tmp_path / name)
        (task.folder / name).unlink()
        with pytest.raises(ConfigError, match=name):
            found_tasks([str(task.folder)])
