"""The gate calls a loss a loss, noise noise, and says when it cannot tell."""

import random
from collections.abc import Mapping, Sequence

import pytest

from lineshaft.errors import ConfigError
from lineshaft.evals import (
    Arm,
    CellOutcome,
    CellResult,
    GateRules,
    Judgement,
    TaskKind,
    judge_arms,
)
from lineshaft.evals.statistics import Stratum, permutation_p

RULES = GateRules()


def _arm(
    variant: str,
    tasks: Mapping[str, Sequence[bool]],
    *,
    kind: TaskKind = "win",
    tokens: int = 100,
    spread: int = 0,
) -> Arm:
    return Arm(
        variant,
        tuple(
            _cell(variant, task, n, "pass" if passed else "fail", kind, tokens + spread * (n % 3))
            for task, outcomes in tasks.items()
            for n, passed in enumerate(outcomes, 1)
        ),
    )


def _cell(
    variant: str, task: str, n: int, outcome: CellOutcome, kind: TaskKind, tokens: int
) -> CellResult:
    return CellResult(
        key=f"{variant}-{task}-{n}",
        task=task,
        kind=kind,
        variant=variant,
        repeat=n,
        outcome=outcome,
        input_tokens=tokens,
        output_tokens=tokens // 10,
    )


def _passing(count: int, of: int) -> list[bool]:
    return [n < count for n in range(of)]


def _judged(own: Arm, base: Arm, rules: GateRules = RULES, missing: int = 0) -> Judgement:
    return judge_arms(own, base, rules=rules, missing=missing)


def test_a_planted_regression_is_worse() -> None:
    """19 of 20 against 8 of 20, spread over four tasks."""
    base = _arm(
        "base", {"a": _passing(5, 5), "b": _passing(5, 5), "c": _passing(5, 5), "d": _passing(4, 5)}
    )
    own = _arm("own", {task: _passing(2, 5) for task in "abcd"})
    found = _judged(own, base)
    assert (found.word, found.exit_code(RULES)) == ("worse", 1)
    assert _judged(base, own).word == "better"


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "rates",
    [[0.95] * 4, [0.9] * 4, [0.8] * 4, [0.99, 0.9, 0.7, 0.4], [1.0, 1.0, 0.5, 0.1, 0.9]],
    ids=str,
)
def test_noise_is_called_worse_in_few_sweeps(rates: list[float]) -> None:
    """1,000 sweeps of two equal arms, n = 20 an arm."""
    draw = random.Random(20)  # noqa: S311  a simulation, the same each time
    each = 20 // len(rates)
    false = 0
    for _ in range(1_000):
        strata = [
            Stratum(
                sum(draw.random() < rate for _ in range(each)),
                each,
                sum(draw.random() < rate for _ in range(each)),
                each,
            )
            for rate in rates
        ]
        false += permutation_p(strata) < RULES.level
    assert false <= 65


@pytest.mark.long
@pytest.mark.no_cover
def test_noise_over_three_kinds_is_called_worse_in_few_sweeps() -> None:
    draw = random.Random(21)  # noqa: S311  a simulation, the same each time
    kinds: tuple[TaskKind, ...] = ("win", "neutral", "lose")
    false = 0
    for _ in range(300):
        arms = [
            Arm(
                name,
                tuple(
                    cell
                    for kind in kinds
                    for cell in _arm(
                        name,
                        {f"{kind}{t}": [draw.random() < 0.8 for _ in range(5)] for t in range(4)},
                        kind=kind,
                    ).cells
                ),
            )
            for name in ("own", "base")
        ]
        false += _judged(arms[0], arms[1]).word == "worse"
    assert false <= 0.065 * 300


def test_a_lost_control_is_not_pooled_away() -> None:
    won = {"a": _passing(5, 5), "b": _passing(5, 5)}
    lost = {"a": _passing(1, 5), "b": _passing(1, 5)}
    own = Arm(
        "own",
        (
            *_arm("own", won).cells,
            *_arm("own", {"c": [False] * 5, "d": [False] * 5}, kind="lose").cells,
        ),
    )
    base = Arm(
        "base",
        (
            *_arm("base", lost).cells,
            *_arm("base", {"c": [True] * 5, "d": [True] * 5}, kind="lose").cells,
        ),
    )
    assert _judged(own, base).word == "worse"


def test_few_runs_are_not_enough_and_it_says_how_many_are() -> None:
    arm = {task: _passing(5, 5) for task in "abcd"}
    arm["d"] = _passing(4, 5)
    found = _judged(_arm("own", arm), _arm("base", arm))
    assert found.word == "not enough runs"
    assert "80 runs" in found.reasons[0]
    assert found.exit_code(RULES) == 6
    assert found.exit_code(GateRules(inconclusive="pass")) == 0


@pytest.mark.parametrize(("tokens", "word"), [(50, "better"), (100, "no worse"), (300, "no worse")])
def test_enough_runs_show_better_or_no_worse(tokens: int, word: str) -> None:
    tasks = {f"t{i}": _passing(19, 20) for i in range(6)}
    own = _arm("own", tasks, tokens=tokens, spread=3)
    found = _judged(own, _arm("base", tasks, spread=3))
    assert (found.word, found.exit_code(RULES)) == (word, 0)
    assert found.groups[0].equal_tasks == tuple(tasks)


def test_fewer_tokens_out_alone_are_no_gain_without_a_price() -> None:
    tasks = {f"t{i}": _passing(20, 20) for i in range(6)}
    own = Arm("own", tuple(_with_tokens(cell, 200, 1) for cell in _arm("own", tasks).cells))
    base = Arm("base", tuple(_with_tokens(cell, 100, 10) for cell in _arm("base", tasks).cells))
    assert _judged(own, base).word == "no worse"


def _with_tokens(cell: CellResult, given: int, written: int) -> CellResult:
    return CellResult(
        key=cell.key,
        task=cell.task,
        kind=cell.kind,
        variant=cell.variant,
        repeat=cell.repeat,
        outcome=cell.outcome,
        input_tokens=given,
        output_tokens=written,
    )


def test_nothing_is_decided_before_the_planned_number() -> None:
    base = _arm("base", {task: _passing(5, 5) for task in "abcd"})
    own = _arm("own", {task: _passing(0, 5) for task in "abcd"})
    found = _judged(own, base, missing=3)
    assert (found.word, found.exit_code(RULES)) == ("not enough runs", 6)
    assert "3 cells" in found.reasons[0]


def _broken(arm: Arm, count: int) -> Arm:
    bad = tuple(
        _cell(arm.variant, cell.task, cell.repeat, "invalid", cell.kind, 1)
        for cell in arm.cells[:count]
    )
    return Arm(arm.variant, (*bad, *arm.cells[count:]))


def test_many_or_uneven_invalid_runs_leave_it_open() -> None:
    tasks = {f"t{i}": _passing(20, 20) for i in range(6)}
    own, base = _arm("own", tasks), _arm("base", tasks)
    assert _judged(_broken(own, 2), base).word != "not enough runs"
    many = _judged(_broken(own, 12), _broken(base, 12))
    assert many.word == "not enough runs"
    assert "10%" in many.reasons[0]
    uneven = _judged(_broken(own, 6), base)
    assert uneven.reasons == ("invalid runs are uneven between the arms",)


@pytest.mark.parametrize(
    "wrong", [{"margin": 0.0}, {"level": 0.9}, {"inconclusive": "maybe"}, {"cheaper": 2.0}]
)
def test_rules_that_make_no_gate_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        GateRules(**wrong)  # pyright: ignore[reportArgumentType]  that is the test


def test_an_arm_without_cells_is_refused() -> None:
    with pytest.raises(ConfigError, match="no cells of the variant 'own'"):
        _judged(Arm("own", ()), _arm("base", {"a": [True]}))
