"""A sweep ends each cell as an outcome with its true cost, and goes on where it stopped."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from evals.sweeping import swept, written
from forked.programs import Command
from lineshaft.errors import ConfigError, ModelRefused
from lineshaft.evals import (
    PriceTable,
    SweepFolder,
    cells_of,
    found_tasks,
    page_of,
    planned,
    read_cells,
    summarised,
    variants_of,
)
from lineshaft.models import ModelReply, ModelRequest, OnText, TokenUsage
from lineshaft.testing import ScriptedModel, call, exit_with

pytestmark = pytest.mark.anyio

PLAN = """
SCRIPT = "return 'yes'"


def steps():
    yield [("poke", {})]
    return "yes"
"""
POKE = """
from lineshaft.evals import World
from lineshaft.tools import tool


@tool(effect="EFFECT")
async def poke() -> str:
    \"\"\"Poke.\"\"\"
    BODY
    return "poked"


def world():
    return World(tools=[poke])
"""


def _poking(body: str = "", effect: str = "read") -> str:
    return POKE.replace("BODY", body or "pass").replace("EFFECT", effect)


async def test_a_second_call_repeats_nothing(tmp_path: Path) -> None:
    task = written(tmp_path / "task", plan__py=PLAN, tools__py=_poking())
    first, cells = await swept([task], tmp_path / "eval", repeats=2)
    again, same = await swept([task], tmp_path / "eval", repeats=2)
    more, grown = await swept([task], tmp_path / "eval", repeats=3)
    assert (first.done, again.done, again.found, more.done) == (4, 0, 4, 2)
    assert same == cells
    assert grown[:4] == cells
    assert {cell.outcome for cell in grown} == {"pass"}


async def test_a_plan_grows_and_changes_in_nothing_else(tmp_path: Path) -> None:
    one, two = (written(tmp_path / n, plan__py=PLAN, tools__py=_poking()) for n in ("one", "two"))
    place = tmp_path / "eval"
    _, cells = await swept([one, two], place, repeats=2, axes=["script=on,off"])
    prices = PriceTable(date="2026-11-01", models={"m": (1.0, 2.0)})
    for tasks, changed, told in (
        ([one, two], {"repeats": 1}, "2 repeats, and not 1"),
        ([one], {}, "without the task 'two'"),
        ([one, two], {"axes": ["script=on"]}, "without the variant 'script=off'"),
        (
            [one, two],
            {"axes": ["engine=auto,wasm"]},
            "with the variants 'engine=auto', 'engine=wasm'",
        ),
        ([one, two], {"seed": 1}, "the seed was 0, and is 1"),
        ([one, two], {"slip_rate": 0.5}, "the rate of slips was 0.0, and is 0.5"),
        ([one, two], {"prices": prices}, "no prices, and not prices of 2026-11-01"),
        (
            [one, two, written(tmp_path / "three", plan__py=PLAN, tools__py=_poking())],
            {},
            "with the task 'three' on top",
        ),
    ):
        with pytest.raises(ConfigError) as refused:
            await swept(tasks, place, **{"repeats": 2, **changed})  # type: ignore[arg-type]  a table
        assert told in refused.value.message
        assert "--out" in refused.value.hint
    (one.folder / "prompt.md").write_text("Say yes, please.")
    [again] = found_tasks([str(one.folder)])
    with pytest.raises(ConfigError, match="the task 'one' changed since"):
        await swept([again, two], place, repeats=2)
    assert SweepFolder(place).plan().repeats == 2
    assert list(SweepFolder(place).results().values()) == cells
    (one.folder / "prompt.md").write_text("Say yes.")
    end, _ = await swept([two, one], place, repeats=2)  # in another order, it is the same plan
    assert (end.done, end.found) == (0, 8)


async def test_a_sweep_is_for_its_owner_alone(tmp_path: Path) -> None:
    task = written(tmp_path / "task", plan__py=PLAN, tools__py=_poking())
    await swept([task], tmp_path / "eval")
    made = [tmp_path / "eval", *(tmp_path / "eval").rglob("*")]
    assert {path.stat().st_mode & 0o777 for path in made if path.is_dir()} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in made if path.is_file()} == {0o600}


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, lineshaft: Command) -> None:
    (tmp_path / "file").touch()
    words = ("eval", "run", "one-call", "--model", "scripted", "-n", "1", "--out", "file/eval")
    refused = lineshaft(*words, cwd=tmp_path)
    assert refused.returncode == 2
    assert "file/eval' cannot be written: " in refused.stderr
    assert "Traceback" not in refused.stderr


async def test_a_report_that_cannot_be_written_is_told(tmp_path: Path, lineshaft: Command) -> None:
    task = written(tmp_path / "task", plan__py=PLAN, tools__py=_poking())
    await swept([task], tmp_path / "eval")
    (tmp_path / "eval" / "report.json").mkdir()
    refused = lineshaft("eval", "report", cwd=tmp_path)
    assert refused.returncode == 2
    assert "eval' cannot be written: " in refused.stderr


def test_a_sweep_without_a_valid_cell_is_an_error(tmp_path: Path, lineshaft: Command) -> None:
    task = written(tmp_path / "task", plan__py=PLAN, tools__py="raise OSError('gone')")
    words = ("eval", "run", str(task.folder), "--model", "scripted", "-n", "1")
    for command in (words, ("eval", "report")):
        failed = lineshaft(*command, cwd=tmp_path)
        assert failed.returncode == 1
        assert "nothing was measured: all 2 cells are invalid, mostly for: " in failed.stdout
        assert "gone" in failed.stderr
        assert "--again" in failed.stderr
        assert "no task lost" not in failed.stdout
    assert "all 2 cells are invalid" in (tmp_path / "eval" / "report.html").read_text()


def test_a_folder_that_is_no_task_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(ConfigError, match="it has no task") as refused:
        found_tasks([str(tmp_path / "mine")])
    assert "prompt.md and checker.py" in refused.value.hint
    with pytest.raises(ConfigError, match="has no tasks"):
        found_tasks(["all"], folders=[tmp_path / "mine"])
    with pytest.raises(ConfigError, match="is not there"):
        found_tasks(["all"], folders=[tmp_path / "other"])


def test_ctrl_c_says_what_is_kept_and_how_it_goes_on(tmp_path: Path, lineshaft: Command) -> None:
    """The second cell sends the signal, as a person would."""
    body = (
        f"import os, pathlib, signal, anyio; mark = pathlib.Path({str(tmp_path / 'mark')!r})\n"
        "    if mark.exists() and mark.read_text() == '1':\n"
        "        mark.write_text('2'); os.kill(os.getpid(), signal.SIGINT)\n"
        "        await anyio.sleep(60)\n"
        "    mark.exists() or mark.write_text('1')"
    )
    task = written(tmp_path / "a task", plan__py=PLAN, tools__py=_poking(body))
    words = ("eval", "run", str(task.folder), "--variants", "script=off", "-n", "3")
    words = (*words, "--model", "scripted", "--slips", "0")
    left = lineshaft(*words, cwd=tmp_path)
    assert left.returncode == 130
    assert "1 of 3 cells are finished and kept" in left.stderr
    [command] = [line for line in left.stderr.splitlines() if line.startswith("  lineshaft ")]
    assert shlex.split(command) == ["lineshaft", *words]
    on = lineshaft(*shlex.split(command)[1:], cwd=tmp_path)
    assert on.returncode == 0, on.stderr
    assert "2 of 3 cells were run, 1 were finished before" in on.stderr


async def test_a_bundle_is_kept_of_each_cell(tmp_path: Path) -> None:
    [task] = found_tasks(["bump-version"])
    _, cells = await swept([task], tmp_path / "eval")
    for cell in cells:
        folder = tmp_path / "eval" / cell.bundle
        assert '+  "version": "2.5.0"' in (folder / "changes.diff").read_text()
        roles = [m["role"] for m in json.loads((folder / "conversation.json").read_text())]
        assert roles[0] == "user"
        assert roles[-1] == "model"
        scripts = [path.read_text() for path in folder.glob("script-*.py")]
        assert len(scripts) == (cell.variant == "script=on")
        assert "run_finished" in (folder / "events.jsonl").read_text()
    assert not (tmp_path / "eval" / "work").exists()


async def test_secrets_of_the_environment_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "very-secret-value")
    body = "import os; return os.environ['SOME_API_KEY']"
    task = written(tmp_path / "task", tools__py=_poking(body))
    model = ScriptedModel([call("poke"), exit_with("very-secret-value")], name="given")
    await swept([task], tmp_path / "eval", model=model, axes=["script=off"])
    for path in (tmp_path / "eval").rglob("*"):
        assert not path.is_file() or b"very-secret" not in path.read_bytes(), path


async def test_the_environment_is_given_back(tmp_path: Path) -> None:
    body = "import os; os.environ['LEFT_HERE'] = '1'; os.chdir('/')"
    task = written(tmp_path / "task", plan__py=PLAN, tools__py=_poking(body))
    before = Path.cwd()
    await swept([task], tmp_path / "eval", axes=["script=off"])
    assert "LEFT_HERE" not in os.environ
    assert Path.cwd() == before


@pytest.mark.parametrize(
    ("checker", "reason"),
    [
        ("def check(bench):\n    raise KeyError('no such thing')", "no such thing"),
        ("def check(bench):\n    return 7.0", "gave the score 7.0"),
        ("def check(bench):\n    return None", "failed"),
        ("x = ", "SyntaxError"),
    ],
)
async def test_a_crashing_checker_is_invalid_and_paid(
    tmp_path: Path, checker: str, reason: str
) -> None:
    task = written(tmp_path / "task", plan__py=PLAN, tools__py=_poking(), checker__py=checker)
    _, cells = await swept([task], tmp_path / "eval")
    for cell in cells:
        assert cell.outcome == "invalid"
        assert reason in cell.reason
        assert cell.input_tokens > 0
    assert (await swept([task], tmp_path / "eval"))[0].done == 0
    assert (await swept([task], tmp_path / "eval", again=True))[0].done == 2


async def test_a_checker_that_ends_without_a_score_says_nothing(tmp_path: Path) -> None:
    checker = "import os\n\n\ndef check(bench):\n    os._exit(0)"
    task = written(tmp_path / "task", plan__py=PLAN, tools__py=_poking(), checker__py=checker)
    _, [cell] = await swept([task], tmp_path / "eval", axes=["script=off"])
    assert cell.outcome == "invalid"
    assert cell.reason == "the checker of 'task' failed: it gave no score"


async def test_checks_without_end_do_not_pass(tmp_path: Path) -> None:
    checker = "def check(bench):\n    while True:\n        pass"
    limits = "[limits]\nchecker_seconds = 1"
    task = written(
        tmp_path / "task",
        task__toml=limits,
        plan__py=PLAN,
        tools__py=_poking(),
        checker__py=checker,
    )
    _, [cell] = await swept([task], tmp_path / "eval", axes=["script=off"])
    assert (cell.outcome, cell.reason) == ("fail", "the checks did not end in 1 s")


async def test_a_model_that_never_stops_is_a_limit_with_its_cost(tmp_path: Path) -> None:
    task = written(
        tmp_path / "task", task__toml="[limits]\nturns = 4", tools__py=_poking("return str(id({}))")
    )

    def on(request: ModelRequest) -> ModelReply:
        return call("poke", **{f"n{len(request.messages)}": 1})

    model = ScriptedModel([on] * 9, name="given")
    _, [cell] = await swept([task], tmp_path / "eval", model=model, axes=["script=off"])
    assert (cell.outcome, cell.stuck, cell.turns) == ("limit", "E_AGENT_BUDGET", 4)
    assert cell.input_tokens > 0
    assert cell.bundle


async def test_the_time_of_a_request_that_the_limit_ended_counts(tmp_path: Path) -> None:
    class Hanging(ScriptedModel):
        async def complete(
            self, request: ModelRequest, *, on_text: OnText | None = None
        ) -> ModelReply:
            if len(request.messages) > 1:
                await anyio.sleep_forever()
            return await super().complete(request, on_text=on_text)

    task = written(tmp_path / "task", task__toml="[limits]\nseconds = 1", tools__py=_poking())
    model = Hanging([call("poke")], name="given")
    _, [cell] = await swept([task], tmp_path / "eval", model=model, axes=["script=off"])
    assert (cell.outcome, cell.turns) == ("limit", 1)
    assert cell.wall_seconds >= cell.model_seconds > 0.1


async def test_a_provider_that_refuses_is_invalid(tmp_path: Path) -> None:
    task = written(tmp_path / "task", tools__py=_poking())
    model = ScriptedModel([call("poke"), ModelRefused("the key is not known")], name="given")
    _, [cell] = await swept([task], tmp_path / "eval", model=model, axes=["script=off"])
    assert (cell.outcome, cell.turns) == ("invalid", 1)
    assert "the key is not known" in cell.reason
    assert cell.input_tokens > 0


async def test_a_call_that_asks_a_person_is_a_fail(tmp_path: Path) -> None:
    task = written(tmp_path / "task", tools__py=_poking(effect="external"))
    model = ScriptedModel([call("poke"), exit_with("yes")], name="given")
    _, [cell] = await swept([task], tmp_path / "eval", model=model, axes=["script=off"])
    assert (cell.outcome, cell.stuck) == ("fail", "asked")
    assert len(model.requests) == 1


async def test_a_broken_variant_and_broken_tools_do_not_stop_a_sweep(tmp_path: Path) -> None:
    good = written(tmp_path / "good", plan__py=PLAN, tools__py=_poking())
    broken = written(tmp_path / "broken", plan__py=PLAN, tools__py="raise OSError('gone')")
    _, cells = await swept(
        [good, broken], tmp_path / "eval", axes=["script=off", "direct=poke,nothing"]
    )
    found = {(cell.task, cell.variant.rpartition("=")[2]): cell for cell in cells}
    assert found["good", "poke"].outcome == "pass"
    assert found["good", "nothing"].outcome == "invalid"
    assert "there is no tool 'nothing'" in found["good", "nothing"].reason
    assert "gone" in found["broken", "poke"].reason


ASK_TWICE = """
SCRIPT = "return await second(of=await first())"


def steps():
    [text] = yield [("first", {})]
    [text] = yield [("second", {"of": text})]
    return text
"""
TWO = """
from lineshaft.evals import World
from lineshaft.tools import tool


@tool(effect="read")
async def first() -> str:
    \"\"\"Give a word.\"\"\"
    return "ye"


@tool(effect="read")
async def second(of: str) -> str:
    \"\"\"End a word.\"\"\"
    return of + "s"


def world():
    return World(tools=[first, second])
"""


async def test_a_plan_goes_the_way_that_the_direct_tools_leave_it(tmp_path: Path) -> None:
    task = written(tmp_path / "task", plan__py=ASK_TWICE, tools__py=TWO)
    axes = ["direct=all,none,first+second,first,second"]
    _, cells = await swept([task], tmp_path / "eval", axes=axes)
    ways = {cell.variant.rpartition("=")[2]: cell for cell in cells}
    assert {cell.outcome for cell in cells} == {"pass"}
    counts = {name: (cell.calls, cell.script_calls) for name, cell in ways.items()}
    assert counts == {
        "all": (1, 2),
        "none": (1, 2),
        "first+second": (2, 0),
        "first": (2, 2),
        "second": (1, 2),
    }


async def test_slips_are_drawn_by_the_seed_alike_in_all_variants(tmp_path: Path) -> None:
    task = written(tmp_path / "task", plan__py=PLAN, tools__py=_poking())
    _, cells = await swept([task], tmp_path / "eval", repeats=12, slip_rate=0.5)
    by_variant = [
        [c.outcome for c in sorted(cells, key=lambda c: c.repeat) if c.variant == name]
        for name in ("script=on", "script=off")
    ]
    assert by_variant[0] == by_variant[1]
    assert {"pass", "fail"} == set(by_variant[0])


def test_cells_stand_in_blocks_with_all_variants_adjacent() -> None:
    tasks = found_tasks(["win"])
    variants = variants_of(["script=on,off", "prompt=guided,plain"])
    plan = planned(tasks, variants, repeats=3, model="m", tokeniser="t", seed=1)
    cells = cells_of(plan)
    assert len({cell.key for cell in cells}) == len(cells) == len(tasks) * 3 * 4
    for at in range(0, len(cells), 4):
        assert len({(cell.task.name, cell.repeat) for cell in cells[at : at + 4]}) == 1
    other = planned(tasks, variants, repeats=3, model="m", tokeniser="t", seed=2)
    assert [c.key for c in cells_of(plan)] == [c.key for c in cells]
    assert {c.key for c in cells_of(other)} == {c.key for c in cells}
    assert [c.key for c in cells_of(other)] != [c.key for c in cells]
    assert {
        c.key for c in cells_of(planned(tasks, variants, repeats=3, model="n", tokeniser="t"))
    }.isdisjoint(c.key for c in cells)


def test_prices_have_a_date_and_no_guesses() -> None:
    prices = PriceTable(date="2026-11-01", models={"m": (1.0, 2.0)})
    assert prices.price_of("m") is not None
    assert prices.price_of("other") is None


async def test_tokens_that_the_provider_had_cached_cost_their_own_price(tmp_path: Path) -> None:
    prices = PriceTable(date="2026-11-01", models={"given": (10.0, 20.0, 1.0)})
    used = TokenUsage(input_tokens=1_000, output_tokens=100, cached_tokens=600)
    task = written(tmp_path / "task", tools__py=_poking(), task__toml="[limits]\nturns = 1")
    model = ScriptedModel([replace(call("poke"), usage=used)], name="given")
    _, [cell] = await swept(
        [task], tmp_path / "eval", model=model, axes=["script=off"], prices=prices
    )
    assert (cell.input_tokens, cell.cached_tokens) == (1_000, 600)
    assert cell.cost == pytest.approx((400 * 10 + 600 * 1 + 100 * 20) / 1_000_000)
    folder = SweepFolder(tmp_path / "eval")
    page = page_of(summarised(folder.plan(), folder.results()), folder.place)
    assert "1,000 tokens in (600 cached), 100 out" in page


@pytest.mark.parametrize(
    "axes",
    [
        ["script"],
        ["speed=1"],
        ["script=maybe"],
        ["script=on", "script=off"],
        ["engine=wasm,wasm"],
        ["script=off", "direct=none"],
    ],
)  # fmt: skip  one line each would be longer
def test_axes_that_are_none_are_refused(axes: list[str]) -> None:
    with pytest.raises(ConfigError):
        variants_of(axes)


async def test_a_sweep_that_is_killed_goes_on_and_says_what_was_wasted(
    tmp_path: Path, lineshaft: Command
) -> None:
    """The tool kills the process, the first time: in the middle of a cell, after a reply."""
    body = (
        f"import os, pathlib, signal; mark = pathlib.Path({str(tmp_path / 'mark')!r}); "
        "mark.exists() or (mark.touch(), os.kill(os.getpid(), signal.SIGKILL))"
    )
    task = written(tmp_path / "task", plan__py=PLAN, tools__py=_poking(body))
    words = ("eval", "run", str(task.folder), "--model", "scripted", "-n", "3", "--slips", "0")
    killed = lineshaft(*words, cwd=tmp_path)
    assert killed.returncode == -signal.SIGKILL
    before = (
        (tmp_path / "eval" / "log.jsonl").read_bytes()
        if (tmp_path / "eval" / "log.jsonl").exists()
        else b""
    )  # fmt: skip  the first cell may be the one that is killed
    with (tmp_path / "eval" / "log.jsonl").open("ab") as log:
        log.write(b'{"key": "half a li')
    done = lineshaft(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    cells = read_cells(tmp_path / "eval" / "log.jsonl")
    assert len(cells) == 6
    assert (tmp_path / "eval" / "log.jsonl").read_bytes().startswith(before)
    wasted = [cell for cell in cells if cell.wasted_tokens]
    assert [(cell.variant, cell.outcome) for cell in wasted] == [("script=off", "pass")]
    assert wasted[0].wasted_tokens < wasted[0].input_tokens + wasted[0].output_tokens
    assert "nothing was run again" in lineshaft(*words, cwd=tmp_path).stderr


def test_a_sweep_has_one_process_and_a_folder_of_its_own(tmp_path: Path) -> None:
    plan = planned(found_tasks(["one-call"]), variants_of([]), repeats=1, model="m", tokeniser="t")
    folder = SweepFolder(tmp_path / "eval")
    with folder.begun(plan), pytest.raises(ConfigError, match="another process"):
        folder.begun(plan).__enter__()
    assert folder.plan() == plan
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "thesis.tex").touch()
    with pytest.raises(ConfigError, match="not empty"):
        SweepFolder(tmp_path / "papers").begun(plan).__enter__()


FULL = """
import sys
from pathlib import Path
import anyio
from evals.sweeping import swept
from lineshaft.errors import EvalError
from lineshaft.evals import read_cells, read_task

place, task = Path(sys.argv[1]), read_task(Path(sys.argv[2]))
try:
    anyio.run(lambda: swept([task], place / "eval", axes=["script=off"], repeats=3))
except EvalError as error:
    print("stopped:", error.message)
print([(cell.outcome, cell.reason) for cell in read_cells(place / "eval" / "log.jsonl")])
(place / "filler").unlink()
end, cells = anyio.run(lambda: swept([task], place / "eval", axes=["script=off"], repeats=3))
print(end.done, [cell.outcome for cell in cells])
"""


def test_a_full_disk_stops_the_sweep_and_another_call_goes_on(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    body = (
        f"import pathlib; at = pathlib.Path({str(disk / 'filler')!r}); "
        f"mark = pathlib.Path({str(tmp_path / 'mark')!r})\n"
        "    if not mark.exists():\n"
        "        mark.touch()\n"
        "        with at.open('wb', buffering=0) as file:\n"
        "            try:\n"
        "                while file.write(bytes(4096)): pass\n"
        "            except OSError: pass"
    )
    task = written(tmp_path / "task", plan__py=PLAN, tools__py=_poking(body))
    ended = _on_small_disk(disk, FULL, str(task.folder))
    assert ended.returncode == 0, ended.stderr
    stopped, found, after = ended.stdout.splitlines()
    assert stopped.startswith("stopped: the disk is full")
    assert found.endswith("('invalid', 'the disk is full')]")
    assert after.startswith("3 ['pass'")


PART = """
import sys
from pathlib import Path
from lineshaft.evals import CellResult, SweepFolder, found_tasks, planned, variants_of

place = Path(sys.argv[1])
folder = SweepFolder(place / "eval")
plan = planned(found_tasks(["one-call"]), variants_of([]), repeats=1, model="m", tokeniser="t")

def cell(key):
    return CellResult(
        key=key, task="t", kind="win", variant="v", repeat=1, outcome="fail", reason="x" * 3_000
    )

with folder.begun(plan):
    folder.write(cell("first"))
    with (place / "filler").open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)): pass
        except OSError: pass
    folder.write(cell("second"))
print([(key, len(cell.reason)) for key, cell in folder.results().items()])
"""


def test_a_line_for_which_there_is_room_in_part_is_written_whole_in_the_reserve(
    tmp_path: Path,
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    ended = _on_small_disk(disk, PART)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "[('first', 3000), ('second', 3000)]\n"


def _on_small_disk(disk: Path, program: str, *more: str) -> subprocess.CompletedProcess[str]:
    """Run a program with a disk of 2 MB, its first argument; skip where none can be mounted."""
    if shutil.which("unshare") is None:
        pytest.skip("no small disk can be mounted here: unshare is missing")
    mount = 'mount -t tmpfs -o size=2m tmpfs "$1" && at=$1 python=$2 body=$3 && shift 3'
    shell = ["sh", "-c", mount + ' && exec "$python" -c "$body" "$at" "$@"', "sh"]
    apart = ["unshare", "--user", "--map-root-user", "--mount", *shell]
    ended = subprocess.run(
        [*apart, str(disk), sys.executable, program, *more],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode and "mount:" in ended.stderr + ended.stdout:
        pytest.skip("no small disk can be mounted here")
    return ended
