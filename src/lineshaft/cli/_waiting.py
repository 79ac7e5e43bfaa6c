"""Calls that wait for a person, as text: what they would do, why they ask, how to answer."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TextIO

from lineshaft.cli._shape import counted
from lineshaft.cli._terminal import Colour, note, one_line, paint, wrapped
from lineshaft.trace import argument_texts
from lineshaft.values import Pending, RunResult, visible

_COLOURS: Mapping[str, Colour] = {"+": "green", "-": "red", "@": "dim"}

DIFF_LINES = 60
"""Lines shown of one diff; more only on request."""

_TEXT_LINES = 12
_TEXT_CHARACTERS = 1_000
_NAME_CHARACTERS = 200


def call_lines(number: int, call: Pending, *, whole: bool = False, ids: bool = False) -> list[str]:
    """Return what a person must know of one waiting call: tool, reason, arguments, diff.

    Args:
        number: Its place in the list.
        call: The call.
        whole: All of its arguments and its diff, however long.
        ids: Its id instead, for an answer that comes later: two numbers would be mistaken.
    """
    said = call.reason or call.rule
    why = f"  ({one_line(said)})" if said else ""
    label = f" {one_line(call.id)} " if ids else f" {number}."
    lines = [f"{label} {paint(one_line(call.tool), 'bold')}{why}"]
    for key, value in argument_texts(call.tool, call.arguments).items():
        text = _text(value)
        shown = text if whole else _beginning(text)
        name = one_line(key, _whole(key) if whole else _NAME_CHARACTERS)
        lines.append(f"      {name}: {_indented(shown)}")
        if len(shown) < len(text):
            left = f"… {len(text) - len(shown):,} more of {counted(len(text), 'character')}"
            lines.append(f"        {paint(left, 'dim')}")
    if call.holds_for:
        lines.append(
            f"      {paint(f'a yes for the run holds for {one_line(call.holds_for)}', 'dim')}"
        )
    lines += [f"      {line}" for line in diff_lines(call.diff, whole=whole)]
    return lines


def is_cut(call: Pending) -> bool:
    """Return whether more is to be said of a waiting call than is shown unasked."""
    told = argument_texts(call.tool, call.arguments)
    return (
        call.diff.count("\n") > DIFF_LINES
        or any(_beginning(text) != text for text in map(_text, told.values()))
        or any(one_line(key, _NAME_CHARACTERS) != one_line(key, _whole(key)) for key in told)
    )


def _whole(key: str) -> int:
    """Return a width at which nothing of a name is cut, each character written as its escape."""
    return 10 * len(key)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _beginning(text: str) -> str:
    """Return as much of an argument as is shown unasked; a last line break alone is not cut off."""
    head = "\n".join(text.split("\n", _TEXT_LINES)[:_TEXT_LINES])[:_TEXT_CHARACTERS]
    return text if text[len(head) :] in ("", "\n") else head


def diff_lines(diff: str, *, whole: bool = False, stream: TextIO | None = None) -> Iterator[str]:
    """Yield the lines of a unified diff, safe to show and coloured.

    Args:
        diff: The diff.
        whole: Show all of it.
        stream: Where the lines go, for colours; standard error if none is given.
    """
    lines = diff.removesuffix("\n").split("\n") if diff else []
    shown = lines if whole or len(lines) <= DIFF_LINES else lines[:DIFF_LINES]
    for line in shown:
        colour = _colour(line)
        safe = visible(line, keep="\t")
        yield paint(safe, colour, stream=stream) if colour else safe
    if len(shown) < len(lines):
        yield paint(f"… {counted(len(lines) - len(shown), 'more line')}", "dim", stream=stream)


def _colour(line: str) -> Colour | None:
    if line.startswith(("+++", "---", "diff ")):
        return "bold"
    return _COLOURS.get(line[:1])


def print_waiting(
    run_id: str,
    pending: Sequence[Pending],
    expires_at: str | None,
    *,
    options: str = "",
    whole: bool = False,
) -> None:
    """Print on standard error what a paused run waits for, and the commands that answer.

    Args:
        run_id: The run.
        pending: Its waiting calls.
        expires_at: Until when it waits.
        options: What the commands that answer need too, see `options_again`.
        whole: All of their arguments and diffs.
    """
    until = f" until {local_time(expires_at)}" if expires_at else ""
    note(f"{paint('paused', 'yellow')}: {counted(len(pending), 'call')} for your approval{until}")
    for number, call in enumerate(pending, 1):
        for line in call_lines(number, call, whole=whole, ids=True):
            note(wrapped(line))
    if not whole and any(map(is_cut, pending)):
        note(f"{paint('all of it:', 'dim')}\n  lineshaft resume {run_id}{options} --whole")
    for line in next_commands(run_id, pending, options):
        note(line)


def print_paused(run: RunResult, options: str = "") -> None:
    """Print on standard error what a paused run waits for, and the commands that answer."""
    print_waiting(run.run_id, run.pending, run.expires_at, options=options)


def next_commands(run_id: str, pending: Sequence[Pending], options: str = "") -> list[str]:
    """Return the commands that answer a paused run."""
    first = one_line(pending[0].id) if pending else "ID"
    resume = f"lineshaft resume {run_id}{options}"
    lines = [f"  {resume} --approve all", f"  {resume} --deny all --reason 'why not'"]
    if len(pending) > 1:
        lines.insert(1, f"  {resume} --approve {first} --deny all")
    return [paint("answer with one of:", "dim"), *lines, f"  {resume} --cancel"]


def local_time(at: str) -> str:
    """Return a time of a record as a person's clock shows it; as it is where it is no time."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return one_line(at)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.astimezone().strftime("%Y-%m-%d %H:%M %Z")


def _indented(text: str) -> str:
    return visible(text, keep="\n\t").replace("\n", "\n        ")
