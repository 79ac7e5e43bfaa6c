"""Evidence: tasks with variants and repeats, each in its own copy, with figures that hold."""

import os
from pathlib import Path

import pytest

from evals.sweeping import swept, written
from lineshaft.evals import SweepFolder, found_tasks, summarised, table_lines
from lineshaft.evals.statistics import fisher_exact, two_proportion_z, wilson

PLAN = """
SCRIPT = "return await ask()"


def steps():
    [text] = yield [("ask", {})]
    return text
"""
TOOLS = """
import os

from lineshaft.evals import World
from lineshaft.tools import tool


@tool(effect="read")
async def ask() -> str:
    \"\"\"Answer, and leave traces in the process.\"\"\"
    os.environ["LEFT_BY_A_TASK"] = "1"
    os.chdir("/")
    return "yes"


def world():
    return World(tools=[ask])
"""


@pytest.mark.behaviour("K43")
async def test_a_sweep_takes_tasks_times_variants_times_repeats_and_no_failure_stops_it(
    tmp_path: Path,
) -> None:
    good = written(tmp_path / "good", plan__py=PLAN, tools__py=TOOLS)
    wrong = written(tmp_path / "wrong", plan__py=PLAN, tools__py=TOOLS.replace('"yes"', '"no"'))
    crashing = written(
        tmp_path / "crashing",
        plan__py=PLAN,
        tools__py=TOOLS,
        checker__py="def check(bench):\n    1 / 0",
    )
    before = Path.cwd()
    _, cells = await swept([good, wrong, crashing], tmp_path / "eval", repeats=2)
    assert Path.cwd() == before
    assert "LEFT_BY_A_TASK" not in os.environ
    ended = {(c.task, c.variant, c.repeat): c.outcome for c in cells}
    assert ended == {
        (task, variant, repeat): outcome
        for task, outcome in (("good", "pass"), ("wrong", "fail"), ("crashing", "invalid"))
        for variant in ("script=on", "script=off")
        for repeat in (1, 2)
    }
    for cell in cells:
        assert cell.input_tokens > 0
        assert cell.output_tokens > 0
        assert cell.wall_seconds > 0
    assert not (tmp_path / "eval" / "work").exists()


@pytest.mark.behaviour("K43")
async def test_the_report_has_intervals_and_shows_where_a_script_loses(tmp_path: Path) -> None:
    await swept(found_tasks(["one-call", "fan-out"]), tmp_path / "eval")
    folder = SweepFolder(tmp_path / "eval")
    summary = summarised(folder.plan(), folder.results())
    row = summary.variants[0]
    assert (row.runs, row.passes) == (2, 2)
    interval = wilson(2, 2)
    assert (row.low, row.high) == (interval.low, interval.high)
    lost = {loss.task for loss in summary.losses if loss.what == "input tokens"}
    assert lost == {"one-call"}
    assert any("one-call" in line and "input tokens" in line for line in table_lines(summary))


@pytest.mark.behaviour("K43")
def test_the_worked_example_comes_out_to_its_digits() -> None:
    assert round(fisher_exact(19, 20, 12, 20), 4) == 0.0197
    assert round(two_proportion_z(19, 20, 12, 20), 3) == 2.650
    limits = [wilson(19, 20), wilson(12, 20)]
    assert [(round(each.low, 3), round(each.high, 3)) for each in limits] == [
        (0.764, 0.991),
        (0.387, 0.781),
    ]


@pytest.mark.behaviour("K44")
async def test_migrate_and_its_controls_run_offline_with_scripted_policies(tmp_path: Path) -> None:
    tasks = found_tasks(["migrate", "validators", "fixtures", "handlers"])
    assert [task.kind for task in tasks] == ["win", "neutral", "neutral", "neutral"]
    _, cells = await swept(tasks, tmp_path / "eval")
    assert {cell.outcome for cell in cells} == {"pass"}
    assert all(cell.scripted for cell in cells)
    diff = next(c.bundle for c in cells if (c.task, c.variant) == ("migrate", "script=on"))
    text = (tmp_path / "eval" / diff / "changes.diff").read_text()
    assert "+TIMEOUT = 5\n" in text  # gold
    assert "+TIMEOUT = 15\n" in text  # silver
    assert "+TIMEOUT = 60\n" in text  # bronze
