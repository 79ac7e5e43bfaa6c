"""Margins and prices of evaluations come from the settings, a file, or an option on top."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from evals.sweeping import swept
from forked.programs import Command
from lineshaft.config import KEYS
from lineshaft.evals import GateRules, SweepFolder, found_tasks

pytestmark = pytest.mark.anyio


def _settings(folder: Path, text: str) -> None:
    (folder / "lineshaft.toml").write_text(text, encoding="utf-8")


def test_what_is_built_in_is_said_in_one_way() -> None:
    built_in = {name: KEYS[f"eval.{name}"].default for name in asdict(GateRules())}
    assert built_in == asdict(GateRules())


async def test_the_gate_goes_by_the_settings_a_file_and_an_option(
    tmp_path: Path, lineshaft: Command
) -> None:
    await swept(found_tasks(["one-call"]), tmp_path / "eval", repeats=3)
    gate = ("eval", "gate", "--scripted")
    assert lineshaft(*gate, cwd=tmp_path).returncode == 6
    _settings(tmp_path, '[eval]\ninconclusive = "pass"\n')
    assert lineshaft(*gate, cwd=tmp_path).returncode == 0
    (tmp_path / "rules.toml").write_text('inconclusive = "fail"\n', encoding="utf-8")
    assert lineshaft(*gate, "--rules", "rules.toml", cwd=tmp_path).returncode == 6
    again = lineshaft(*gate, "--rules", "rules.toml", "--inconclusive", "pass", cwd=tmp_path)
    assert again.returncode == 0
    _settings(tmp_path, "[eval]\nmargin = 0.999\n")
    wide = lineshaft(*gate, "--json", cwd=tmp_path)
    assert (wide.returncode, json.loads(wide.stdout)["word"]) == (0, "no worse")
    assert "the gate's margin is 0.999, as " in wide.stderr
    assert "lineshaft.toml" in wide.stderr


@pytest.mark.long
async def test_prices_of_the_settings_are_in_the_plan(tmp_path: Path, lineshaft: Command) -> None:
    run = ("eval", "run", "one-call", "--model", "scripted", "-n", "1", "--slips", "0")
    _settings(tmp_path, "[eval.prices]\ndate = 2026-11-01\nmodels = {scripted = [10, 20.5]}\n")
    done = lineshaft(*run, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "prices of 2026-11-01" in done.stdout
    assert "$0.0" in done.stdout
    (tmp_path / "other.toml").write_text(
        'date = "2026-10-01"\n[models]\nscripted = [1.0, 2.0]\n', encoding="utf-8"
    )
    other = lineshaft(*run, "--prices", "other.toml", "--out", "other", cwd=tmp_path)
    assert "prices of 2026-10-01" in other.stdout
    plan = SweepFolder(tmp_path / "other").plan()
    assert plan.prices is not None
    assert plan.prices.models == {"scripted": (1.0, 2.0)}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("margin = 2", "eval.margin is 2; allowed: a number from 0.001 to 0.999"),
        ('inconclusive = "maybe"', "eval.inconclusive is 'maybe'"),
        ("margins = 0.1", "eval.margins"),
        ("[eval.prices]\nmodels = {m = [1, 2]}", "date is the day of the prices"),
        ('[eval.prices]\ndate = "today"\nmodels = {m = [1, 2]}', "date is the day of the prices"),
        ('[eval.prices]\ndate = "2026-11-01"', "models is a table of models"),
        ("[eval.prices]\ndate = 2026-11-01\nmodels = {m = [1]}", "prices of 'm': two numbers"),
        ("[eval.prices]\ndate = 2026-11-01\nmodels = {m = [-1, 2]}", "prices of 'm'"),
        ("[eval.prices]\ndate = 2026-11-01\nmodels = {m = 3}", "prices of 'm'"),
        ("[eval.prices]\nday = 2026-11-01", "there is no key 'day'"),
    ],
)
def test_what_cannot_be_used_is_named(
    tmp_path: Path, text: str, told: str, lineshaft: Command
) -> None:
    _settings(tmp_path, f"[eval]\n{text}\n")
    refused = lineshaft("eval", "gate", cwd=tmp_path)
    assert refused.returncode == 2
    assert told in refused.stderr


def test_a_file_of_rules_or_prices_that_cannot_be_used_is_named(
    tmp_path: Path, lineshaft: Command
) -> None:
    refused = lineshaft("eval", "gate", "--rules", "none.toml", cwd=tmp_path)
    assert refused.returncode == 2
    assert "rules of the gate in 'none.toml': No such file or directory\n" in refused.stderr
    refused = lineshaft("eval", "gate", "--inconclusive", "maybe", cwd=tmp_path)
    assert (refused.returncode, "'maybe' is not one of 'pass', 'fail'" in refused.stderr) == (
        2,
        True,
    )
    (tmp_path / "prices.toml").write_text("[models]\nm = [1.0]\n", encoding="utf-8")
    run = ("eval", "run", "one-call", "--model", "scripted", "--prices", "prices.toml")
    refused = lineshaft(*run, cwd=tmp_path)
    assert (refused.returncode, "date is the day" in refused.stderr) == (2, True)
