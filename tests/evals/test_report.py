"""The report tells the same in a table, as JSON and on a page that asks for nothing."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evals.sweeping import swept
from forked.programs import Command
from lineshaft.errors import ConfigError
from lineshaft.evals import (
    FEWEST_BASELINE,
    CellResult,
    PriceTable,
    SweepFolder,
    cells_of,
    found_tasks,
    judged_sweep,
    page_of,
    planned,
    summarised,
    table_lines,
    variants_of,
)

pytestmark = pytest.mark.anyio

EMPTY = {"meta", "link", "br"}


class _Outline(HTMLParser):
    """Open tags, and those that could ask for something."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.asking: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in EMPTY:
            self.open.append(tag)
        for name, value in attrs:
            if tag == "script" or name in ("src", "href", "srcset", "data", "action"):
                self.asking.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _outline(page: str) -> _Outline:
    outline = _Outline()
    outline.feed(page)
    assert outline.open == []
    return outline


def _made(
    place: Path, *, repeats: int, script: int, base: int, scripted: bool = False
) -> SweepFolder:
    """Write a sweep of a model over `one-call`: so many of its runs pass."""
    plan = planned(
        found_tasks(["one-call"]),
        variants_of(["script=on,off"]),
        repeats=repeats,
        model="some:model",
        tokeniser="t",
    )
    folder = SweepFolder(place)
    with folder.begun(plan):
        for cell in cells_of(plan):
            passes = script if cell.variant.script else base
            folder.write(
                CellResult(
                    key=cell.key,
                    task=cell.task.name,
                    task_digest=cell.task.digest,
                    kind=cell.task.kind,
                    variant=cell.variant.name,
                    repeat=cell.repeat,
                    outcome="pass" if cell.repeat <= passes else "fail",
                    reason="<script>alert(1)</script>",
                    input_tokens=100 + cell.repeat % 3,
                    output_tokens=10,
                    tokens_by="provider",
                    wall_seconds=1.0,
                    scripted=scripted,
                )
            )
    return folder


async def test_a_scripted_report_says_so_and_judges_nothing(tmp_path: Path) -> None:
    tasks = found_tasks(["bump-version", "one-call"])
    await swept(tasks, tmp_path / "eval")
    folder = SweepFolder(tmp_path / "eval")
    summary = summarised(folder.plan(), folder.results())
    assert summary.scripted
    assert summary.judgements == ()
    text = "\n".join(table_lines(summary))
    page = page_of(summary, folder.place)
    for told in (text, page):
        assert "SCRIPTED" in told
        assert "No model result yet" in told
        assert "better" not in told.lower()
        assert not re.search(r"\bworse\b", told)
    assert 'class="watermark"' in page
    assert "Cost against pass rate" not in page
    assert "2.5.0" in page  # the script, the conversation, the difference
    assert _outline(page).asking == ["link href=data:,"]
    lost = {(loss.task, loss.what) for loss in summary.losses}
    assert ("one-call", "input tokens") in lost
    with pytest.raises(ConfigError, match="scripted policies acted"):
        judged_sweep(folder)
    assert judged_sweep(folder, scripted=True).word == "not enough runs"


def test_a_report_of_a_model_judges_and_shows_what_it_says(tmp_path: Path) -> None:
    folder = _made(tmp_path / "eval", repeats=20, script=8, base=19)
    summary = summarised(folder.plan(), folder.results())
    text = "\n".join(table_lines(summary))
    page = page_of(summary, folder.place)
    for told in (text, page):
        assert "script=on against script=off: worse" in told
        assert "SCRIPTED" not in told
    assert "Cost against pass rate" in page
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert _outline(page).asking == ["link href=data:,"]
    [row] = [row for row in summary.variants if row.variant == "script=on"]
    assert (row.passes, row.runs, row.rate) == (8, 20, 0.4)
    spent = sum(cell.input_tokens for cell in summary.cells if cell.variant == row.variant)
    assert row.input_per_solved == pytest.approx(spent / 8)
    with pytest.raises(ConfigError, match="no variant 'x'"):
        summarised(folder.plan(), folder.results(), base="x")


def test_what_solved_nothing_or_sees_no_drop_is_not_drawn_as_if_it_did(tmp_path: Path) -> None:
    folder = _made(tmp_path / "eval", repeats=5, script=0, base=1)
    summary = summarised(folder.plan(), folder.results())
    page = page_of(summary, folder.place)
    field = page.partition("<div class='field'>")[2].partition("</div>")[0]
    assert "script=off 20%" in field
    assert "script=on" not in field  # it has no cost per solved task
    rows = [line for line in table_lines(summary) if line.startswith("script=o")]
    assert [row.split()[-1] for row in rows[:2]] == ["-", "-"]


def test_an_unfinished_sweep_decides_nothing(tmp_path: Path) -> None:
    folder = _made(tmp_path / "eval", repeats=20, script=8, base=19)
    log = tmp_path / "eval" / "log.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    assert judged_sweep(folder).word == "not enough runs"
    assert "39 of 40 cells" in "\n".join(table_lines(summarised(folder.plan(), folder.results())))


def test_a_baseline_is_a_file_of_enough_like_cells(tmp_path: Path) -> None:
    now = _made(tmp_path / "now", repeats=20, script=4, base=20)
    before = _made(tmp_path / "before", repeats=FEWEST_BASELINE, script=95, base=95)
    baseline = tmp_path / "before" / "log.jsonl"
    judged = judged_sweep(now, baseline=baseline)
    assert (judged.word, judged.base) == ("worse", "script=on (baseline)")
    few = _made(tmp_path / "few", repeats=99, script=9, base=9)
    with pytest.raises(ConfigError, match="99 valid runs"):
        judged_sweep(now, baseline=few.place / "log.jsonl")
    with pytest.raises(ConfigError, match="no variant 'script=maybe'"):
        judged_sweep(now, base="script=maybe", baseline=baseline)
    with pytest.raises(ConfigError, match="cannot be read"):
        judged_sweep(now, baseline=tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="compared with itself"):
        judged_sweep(now, variant="script=on", base="script=on")
    _refuses_unlike(now, before)


def _refuses_unlike(now: SweepFolder, before: SweepFolder) -> None:
    cells = list(before.results().values())
    log = before.place / "log.jsonl"
    for wrong, message in (
        ({"task_digest": "other"}, "not the same in both arms"),
        ({"tokens_by": "t"}, "counted differently"),
        ({"scripted": True}, "scripted policies"),
        ({"task": "other"}, "in one arm alone"),
    ):
        log.unlink()
        for cell in cells:
            before.write(replace(cell, **wrong))
        with pytest.raises(ConfigError, match=message):
            judged_sweep(now, baseline=log)


def test_the_gate_says_by_its_exit_code(tmp_path: Path, lineshaft: Command) -> None:
    _made(tmp_path / "lost", repeats=20, script=8, base=19)
    _made(tmp_path / "kept", repeats=100, script=99, base=99)
    _made(tmp_path / "few", repeats=5, script=5, base=5)
    (tmp_path / "rules.toml").write_text('inconclusive = "pass"\nmargin = 0.2\n')
    (tmp_path / "odd.toml").write_text("margins = 0.2\n")
    for words, code in (
        (["lost"], 1),
        (["kept"], 0),
        (["few"], 6),
        (["few", "--inconclusive", "pass"], 0),
        (["few", "--rules", "rules.toml"], 0),
        (["few", "--rules", "odd.toml"], 2),
        (["few", "--inconclusive", "maybe"], 2),
        (["none"], 2),
        (["few", "--base", "script=on"], 2),
    ):
        done = lineshaft("eval", "gate", "--out", *words, cwd=tmp_path)
        assert done.returncode == code, (words, done.stdout, done.stderr)
    told = json.loads(lineshaft("eval", "gate", "--out", "lost", "--json", cwd=tmp_path).stdout)
    assert (told["word"], told["exit"]) == ("worse", 1)
    assert json.loads(lineshaft("eval", "gate", "lost", "--json", cwd=tmp_path).stdout) == told
    report = lineshaft("eval", "report", "lost", cwd=tmp_path)
    assert report.returncode == 0, report.stderr
    assert "lost/report.html" in report.stderr


@pytest.mark.long
def test_run_writes_the_report_and_a_second_call_runs_nothing(
    tmp_path: Path, lineshaft: Command
) -> None:
    words = ("run", "migrate", "--variants", "script=on,off", "-n", "2", "--model", "scripted")
    first = lineshaft("eval", *words, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "4/4" in first.stderr
    assert "script=off" in first.stdout
    assert (tmp_path / "eval" / "report.html").read_text().startswith("<!doctype html>")
    second = lineshaft("eval", *words, "--json", cwd=tmp_path)
    assert "nothing was run again" in second.stderr
    assert json.loads(second.stdout)["finished"] == 4
    third = lineshaft("eval", "report", "--json", cwd=tmp_path)
    assert json.loads(third.stdout) == json.loads(second.stdout)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "migrate"], "there is no model"),
        (["run", "nothing", "--model", "scripted"], "no task 'nothing'"),
        (["run", "migrate", "--model", "scripted", "-n", "0"], "0 repeats"),
        (["run", "migrate", "--model", "scripted", "--slips", "1"], "rate of slips"),
        (["run", "migrate", "--model", "scripted", "--variants", "a=b"], "no axis 'a'"),
        (["run", "migrate", "--model", "scripted", "--prices", "none.toml"], "prices"),
        (["report"], "there is no sweep"),
        (["report", "one", "--out", "other"], "two folders are given: 'one' and --out 'other'"),
    ],
)
def test_what_cannot_be_done_is_said(
    tmp_path: Path, words: list[str], told: str, lineshaft: Command
) -> None:
    done = lineshaft("eval", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr
    assert "plan.json" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("prices", "told"),
    [
        ((0.0, 0.0), r" \$0 "),
        ((0.001, 0.001), r" \$0\.00000[1-9]\d "),
        ((500.0, 1000.0), r" \$0\.[1-9]\d\d\d "),
        (None, r" -  "),
    ],
)
async def test_a_cost_is_shown_as_it_is(
    tmp_path: Path, prices: tuple[float, float] | None, told: str
) -> None:
    table = PriceTable(date="2026-11-01", models={"scripted": prices}) if prices else None
    await swept(found_tasks(["one-call"]), tmp_path / "eval", prices=table)
    folder = SweepFolder(tmp_path / "eval")
    summary = summarised(folder.plan(), folder.results())
    [line, _] = [line for line in table_lines(summary) if line.startswith("script=")]
    assert re.search(told, line), line
    assert ("$" in page_of(summary, folder.place)) == bool(prices)
