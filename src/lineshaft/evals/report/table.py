"""A sweep's numbers as lines for a terminal."""

from collections.abc import Sequence

from lineshaft.evals.judging import GroupJudgement, Judgement
from lineshaft.evals.report.money import dollars
from lineshaft.evals.report.summary import Loss, SweepSummary, VariantRow, nothing_valid
from lineshaft.evals.statistics import CostRatio

SCRIPTED_NOTE = (
    "SCRIPTED: fixed plans acted, no model. The figures are arithmetic of tokens; all repeats of a "
    "plan are one observation."
)
NO_MODEL = (
    "No model result yet. One: "
    "`lineshaft eval run migrate --variants script=on,off -n 20 --model ollama:NAME`"
)


def table_lines(summary: SweepSummary, *, losses: int = 20) -> list[str]:
    """Return the report as lines.

    Args:
        summary: The numbers.
        losses: How many losses are shown, at most.
    """
    lines = [SCRIPTED_NOTE] if summary.scripted else []
    lines += [
        f"model {summary.model}; tokens by {summary.tokeniser}; "
        + (f"prices of {summary.priced}" if summary.priced else "no prices: tokens stand apart"),
        f"{summary.finished} of {summary.planned} cells are finished",
        "",
        *_aligned([_HEAD, *(_variant(row) for row in summary.variants)]),
        "",
    ]
    for row in summary.variants:
        extra = [f"{count} {code}" for code, count in row.stuck.items()]
        if row.wasted_tokens:
            extra.append(f"{row.wasted_tokens:,} tokens wasted by attempts that were killed")
        if extra:
            lines.append(f"{row.variant}: {', '.join(extra)}")
    for judged in summary.judgements:
        lines += judgement_lines(judged)
    if invalid := nothing_valid(summary):
        lines += ["", f"{invalid}."]
    else:
        lines += _loss_lines(summary, losses)
    if summary.scripted:
        lines += ["", NO_MODEL]
    return lines


def judgement_lines(judged: Judgement) -> list[str]:
    """Return what the gate says, with its reasons, as lines."""
    lines = [f"{judged.variant} against {judged.base}: {judged.word}"]
    lines += [f"  {reason}" for reason in judged.reasons]
    for group in judged.groups:
        lines += [f"  {line}" for line in _group(group)]
    return lines


_HEAD = (
    "variant",
    "tasks",
    "n",
    "pass (95 %)",
    "cost per solved",
    "in per solved",
    "out per solved",
    "seconds",
    "turns",
    "invalid",
    "sees a drop of",
)


def _variant(row: VariantRow) -> tuple[str, ...]:
    return (
        row.variant,
        str(row.tasks),
        str(row.runs),
        f"{row.rate:.0%} ({row.low:.0%}-{row.high:.0%})" if row.runs else "-",
        dollars(row.cost_per_solved),
        f"{row.input_per_solved:,.0f}" if row.input_per_solved is not None else "-",
        f"{row.output_per_solved:,.0f}" if row.output_per_solved is not None else "-",
        f"{row.seconds:.2f}",
        f"{row.turns:.1f}",
        str(row.invalid),
        f"{row.detectable:.0%}" if row.detectable <= row.rate else "-",
    )


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _group(group: GroupJudgement) -> list[str]:
    rates = f"passes {group.difference:+.0%}, not below {group.lower:+.0%}"
    chance = f"p of worse {group.p_worse:.4f} (level {group.level:.4f})"
    shown = f"shown only: Fisher {group.fisher:.4f}, z {group.z:.2f}"
    lines = [f"{group.kind}: {group.word}; {rates}; {chance}; {shown}"]
    for name, ratio in (
        ("cost", group.cost),
        ("tokens in", group.input_tokens),
        ("tokens out", group.output_tokens),
    ):
        if ratio is not None:
            lines.append(f"  {name} per solved task: {_ratio(ratio)}")
    if group.equal_rate is not None:
        tasks = ", ".join(group.equal_tasks)
        lines.append(f"  at an equal pass rate: {group.equal_rate:.2f} times (over {tasks})")
    return lines


def _ratio(found: CostRatio) -> str:
    if found.ratio is None:
        return "not known"
    if found.interval is None:
        return f"{found.ratio:.2f} times; too few runs for limits"
    limits = f"{found.interval.low:.2f} to {found.interval.high:.2f}"
    return f"{found.ratio:.2f} times ({limits}; {found.kind})"


def _loss_lines(summary: SweepSummary, most: int) -> list[str]:
    if not summary.losses:
        return ["", f"Against {summary.base}, no task lost in anything that was measured."]
    rows = [("lost against " + summary.base, "kind", "variant", "what", "base", "own")]
    rows += [_loss(loss) for loss in summary.losses[:most]]
    more = len(summary.losses) - most
    return ["", *_aligned(rows), *([f"and {more} more, in the page"] if more > 0 else [])]


def _loss(loss: Loss) -> tuple[str, ...]:
    if loss.what == "passes":
        figures = f"{loss.base:.0%}", f"{loss.own:.0%}"
    elif loss.what == "seconds":
        figures = f"{loss.base:.2f}", f"{loss.own:.2f}"
    else:
        figures = f"{loss.base:,.0f}", f"{loss.own:,.0f}"
    return loss.task, loss.kind, loss.variant, loss.what, *figures
