"""A sweep's report as one page: no script, no request, light and dark, wide and narrow."""

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any, cast

from lineshaft.evals._results import CellResult
from lineshaft.evals.report.money import dollars
from lineshaft.evals.report.summary import SweepSummary, TaskRow, VariantRow, nothing_valid
from lineshaft.evals.report.table import NO_MODEL, SCRIPTED_NOTE, judgement_lines, table_lines

_MOST_OF_A_TEXT = 6_000
_MOST_IN_ALL = 4_000_000
"""Characters of transcripts, scripts and differences; those of later cells are named only."""

_COLOURS = 6


def page_of(summary: SweepSummary, folder: Path) -> str:
    """Return the page.

    Args:
        summary: The numbers.
        folder: Of the sweep, where conversations, scripts and differences lie.
    """
    template = (Path(__file__).parent / "page.html").read_text(encoding="utf-8")
    return Template(template).substitute(
        title=escape(f"Evaluation: {', '.join(summary.summaries)}"[:120]),
        watermark='<p class="watermark">Scripted</p>' if summary.scripted else "",
        notes="".join(f"<p class='note'>{escape(text)}</p>" for text in _notes(summary)),
        facts=escape(_facts(summary)),
        first=_first_table(summary),
        losses=_losses(summary),
        judgements=_judgements(summary),
        intervals=_intervals(summary),
        tokens=_strips(summary, "input_tokens", "tokens in"),
        out=_strips(summary, "output_tokens", "tokens out"),
        times=_strips(summary, "wall_seconds", "seconds"),
        scatter="" if summary.scripted else _scatter(summary),
        tasks="".join(_tasks(summary, folder)),
    )


def _notes(summary: SweepSummary) -> Iterator[str]:
    if invalid := nothing_valid(summary):
        yield f"{invalid}."
    if summary.scripted:
        yield SCRIPTED_NOTE
        yield NO_MODEL
    if summary.finished < summary.planned:
        yield f"{summary.planned - summary.finished} cells are not finished."


def _facts(summary: SweepSummary) -> str:
    return next(line for line in table_lines(summary) if line.startswith("model "))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th scope='col'>{escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>"
        + "".join(
            f"<th scope='row'>{escape(cell)}</th>" if at == 0 else f"<td>{escape(cell)}</td>"
            for at, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f"<div class='wide' tabindex='0'><table><thead><tr>{top}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _first_table(summary: SweepSummary) -> str:
    priced = any(row.cost_per_solved is not None for row in summary.variants)
    cost = ["cost per solved"] if priced else ["tokens in per solved", "tokens out per solved"]
    head = ["variant", "tasks", "n", "pass", "95 %", *cost, "seconds", "sees a drop of"]
    return _table(head, [_variant(row, priced=priced) for row in summary.variants])


def _variant(row: VariantRow, *, priced: bool) -> list[str]:
    tokens = row.input_per_solved, row.output_per_solved
    cost = [dollars(row.cost_per_solved)] if priced else [_whole(each) for each in tokens]
    return [
        row.variant,
        str(row.tasks),
        str(row.runs),
        f"{row.rate:.0%}" if row.runs else "-",
        f"{row.low:.0%} to {row.high:.0%}" if row.runs else "-",
        *cost,
        f"{row.seconds:.2f}",
        f"{row.detectable:.0%}" if row.detectable <= row.rate else "-",
    ]


def _whole(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _losses(summary: SweepSummary) -> str:
    if not summary.losses:
        return "<p>None in anything that was measured.</p>"
    rows = [
        [
            loss.task,
            loss.kind,
            loss.variant,
            loss.what,
            _figure(loss.what, loss.base),
            _figure(loss.what, loss.own),
        ]
        for loss in summary.losses
    ]
    return _table(["task", "kind", "variant", "what", summary.base, "own"], rows)


def _figure(what: str, value: float) -> str:
    if what == "passes":
        return f"{value:.0%}"
    return f"{value:.2f}" if what == "seconds" else f"{value:,.0f}"


def _judgements(summary: SweepSummary) -> str:
    if summary.scripted:
        return "<p>Plans are not judged: nothing is said of a model.</p>"
    texts = ("\n".join(judgement_lines(judged)) for judged in summary.judgements)
    return "".join(f"<pre>{escape(text)}</pre>" for text in texts) or "<p>Nothing to compare.</p>"


def _colour(summary: SweepSummary, variant: str) -> int:
    return [row.variant for row in summary.variants].index(variant) % _COLOURS


def _intervals(summary: SweepSummary) -> str:
    """Return pass rates with intervals: of all tasks, then of each."""
    lines = [
        _interval("all tasks", row.variant, row.rate, (row.low, row.high), summary)
        for row in summary.variants
    ]
    lines += [
        _interval(row.task, row.variant, row.passes / row.runs, (row.low, row.high), summary)
        for row in summary.tasks
        if row.runs
    ]
    return f"<div class='plot'>{''.join(lines)}{_axis('0 %', '100 %')}</div>"


def _interval(
    what: str, variant: str, rate: float, limits: tuple[float, float], summary: SweepSummary
) -> str:
    low, high = limits
    told = f"{rate:.0%} ({low:.0%} to {high:.0%})"
    colour = _colour(summary, variant)
    return (
        f"<div class='row'><span class='label'>{escape(what)} <b class='v{colour}'>"
        f"{escape(variant)}</b> {told}</span><span class='track'>"
        f"<i class='bar v{colour}' style='left:{low:.2%};width:{high - low:.2%}'></i>"
        f"<i class='dot v{colour}' style='left:{rate:.2%}'></i></span></div>"
    )


def _axis(low: str, high: str) -> str:
    return f"<div class='row axis'><span></span><span><i>{low}</i><i>{high}</i></span></div>"


def _strips(summary: SweepSummary, unit: str, name: str) -> str:
    """Return one mark for each valid run, a line for each variant and task."""
    values = [_value(cell, unit) for cell in summary.cells if cell.outcome != "invalid"]
    most = max(values, default=0.0)
    if not most:
        return "<p>Nothing yet.</p>"
    lines: list[str] = []
    for row in summary.tasks:
        own = [
            _value(cell, unit)
            for cell in summary.cells
            if (cell.task, cell.variant) == (row.task, row.variant) and cell.outcome != "invalid"
        ]
        if own:
            lines.append(_strip(row, own, most, _colour(summary, row.variant)))
    high = f"{most:,.2f} {name}" if unit == "wall_seconds" else f"{most:,.0f} {name}"
    return f"<div class='plot'>{''.join(lines)}{_axis('0', high)}</div>"


def _strip(row: TaskRow, values: Sequence[float], most: float, colour: int) -> str:
    marks = "".join(
        f"<i class='tick v{colour}' style='left:{value / most:.2%}'></i>" for value in values
    )
    middle = sorted(values)[len(values) // 2]
    told = f"{middle:,.0f}" if most > 100 else f"{middle:.2f}"
    return (
        f"<div class='row'><span class='label'>{escape(row.task)} <b class='v{colour}'>"
        f"{escape(row.variant)}</b> {told}</span><span class='track'>{marks}</span></div>"
    )


def _value(cell: CellResult, unit: str) -> float:
    return float(getattr(cell, unit))


def _scatter(summary: SweepSummary) -> str:
    """Return cost per solved task against pass rate, of the variants that solved any."""
    rows = [row for row in summary.variants if row.input_per_solved is not None]
    priced = all(row.cost_per_solved is not None for row in rows)
    costs = {
        row.variant: (row.cost_per_solved or 0.0)
        if priced
        else (row.input_per_solved or 0.0) + (row.output_per_solved or 0.0)
        for row in rows
    }
    unit = "US dollars" if priced else "tokens in and out"
    most = max(costs.values(), default=0.0) * 1.1
    if not most:
        return ""
    marks = "".join(
        f"<i class='dot v{_colour(summary, row.variant)}' "
        f"style='left:{costs[row.variant] / most:.2%};bottom:{row.rate:.2%}'></i>"
        f"<b class='name v{_colour(summary, row.variant)}' "
        f"style='left:{min(costs[row.variant] / most, 0.75):.2%};bottom:{row.rate * 0.88:.2%}'>"
        f"{escape(row.variant)} {row.rate:.0%}</b>"
        for row in rows
    )
    return (
        f"<h2>Cost against pass rate</h2><div class='field'>{marks}</div>"
        f"<p class='small'>Across: {unit} per solved task, 0 to {most:,.4g}. Up: pass rate, 0 to "
        "100 %.</p>"
    )


def _tasks(summary: SweepSummary, folder: Path) -> Iterator[str]:
    room = _MOST_IN_ALL
    for task, line in summary.summaries.items():
        cells = [cell for cell in summary.cells if cell.task == task]
        passed = sum(cell.outcome == "pass" for cell in cells)
        yield (
            f"<details><summary>{escape(task)} <span class='small'>{passed} of {len(cells)}; "
            f"{escape(line)}</span></summary>"
        )
        for cell in sorted(cells, key=lambda each: (each.repeat, each.variant)):
            text = _cell(cell, folder if room > 0 else None)
            room -= len(text)
            yield text
        yield "</details>"


def _cell(cell: CellResult, folder: Path | None) -> str:
    cached = f" ({cell.cached_tokens:,} cached)" if cell.cached_tokens else ""
    figures = (
        f"score {cell.score:.2f}; {cell.turns} turns, {cell.calls} calls, {cell.script_calls} by "
        f"scripts; {cell.input_tokens:,} tokens in{cached}, {cell.output_tokens:,} out; "
        f"{cell.wall_seconds:.2f} s"
    )
    why = f"<p>{escape(cell.reason)}</p>" if cell.reason else ""
    inner = "".join(_bundle(folder / cell.bundle)) if folder and cell.bundle else ""
    if not inner:
        inner = f"<p class='small'>{escape(cell.bundle or 'nothing was kept')}</p>"
    return (
        f"<details class='cell'><summary><span class='{cell.outcome}'>{cell.outcome}</span> "
        f"{escape(cell.variant)} #{cell.repeat}</summary><p class='small'>{figures}</p>{why}"
        f"{inner}</details>"
    )


def _bundle(place: Path) -> Iterator[str]:
    for script in sorted(place.glob("script-*.py")):
        yield f"<h4>{script.name}</h4><pre>{_text(script)}</pre>"
    if text := _text(place / "changes.diff"):
        yield f"<h4>Changes</h4><pre>{text}</pre>"
    try:
        said: object = json.loads((place / "conversation.json").read_bytes())
    except (OSError, ValueError):
        return
    yield "<h4>Conversation</h4>"
    for message in cast("list[Mapping[str, Any]]", said):
        calls = json.dumps(message["calls"], ensure_ascii=False) if message.get("calls") else ""
        text = "\n".join(part for part in (str(message.get("text", "")), calls) if part)
        name = message.get("name", "")
        yield (
            f"<div class='said'><b>{escape(str(message.get('role')))} {escape(str(name))}</b>"
            f"<pre>{escape(_cut(text))}</pre></div>"
        )


def _text(path: Path) -> str:
    try:
        return escape(_cut(path.read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return ""


def _cut(text: str) -> str:
    if len(text) <= _MOST_OF_A_TEXT:
        return text
    return f"{text[:_MOST_OF_A_TEXT]}\n[{len(text) - _MOST_OF_A_TEXT:,} characters left out]"
