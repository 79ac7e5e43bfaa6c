"""Text made shorter: for a model's context, and the output of commands.

Redaction comes first (`Redactor.text`), everything here after it.
"""

import re
from collections.abc import Sequence
from itertools import accumulate, groupby

from lineshaft.values import Struct, lazy_pattern

_ANSI = lazy_pattern(
    r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]"  # colours, cursor
    r"|\][^\x07\x1b\r\n]*+(?:\x07|\x1b\\)?"  # window titles, links
    r"|[PX^_][^\x1b\r\n]*+(?:\x1b\\)?"  # device strings
    r"|[ -/]*+[0-~])?"
    r"|\x9b[0-?]*+[ -/]*+[@-~]"
    r"|[^\n]\x08"  # a letter struck over
    r"|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]"
)

_ERROR = lazy_pattern(
    r"error|exception|traceback|fail|fatal|panic|denied|refused|not found|cannot|E_[A-Z]",
    re.IGNORECASE,
)
_CUT = lazy_pattern(
    r"\n\[\.\.\. (?:(?P<characters>[\d,]{1,20}) characters)?(?: and )?"
    r"(?:(?P<bytes>[\d,]{1,20}) bytes)? left out \.\.\.\]\n"
)
"""Where text was cut before it came here."""

_HEAD, _ERRORS = 0.4, 0.25
_SMALLEST = 40
_LONGEST_LINE = 400
_MANY = 4
_PASSING = "\0passing"

_PASSED = lazy_pattern(
    r"\s*(?:"
    r"[✓✔√] .*"
    r"|ok \d.*"
    r"|(?:---|===) (?:PASS|RUN|PAUSE|CONT)\b.*"
    r"|test .* \.\.\. ok"
    r"|.* \.\.\. ok"
    r"|PASS(?:ED)?:? .*"
    r"|\S+ PASSED(?: +\[ *\d+%\])?"
    r"|(?:\S+ )?[.s]+(?: +\[ *\d+%\])?"
    r")\s*"
)
_PROGRESS = lazy_pattern(r"\d ?%|\d[\d.,]* ?/ ?\d|[#=█▏▎▍▌▋▊▉]{4}")
_COUNTS = lazy_pattern(r"[\d.,:%#=>█▏▎▍▌▋▊▉ -]+")


def strip_ansi(text: str) -> str:
    """Return a text without terminal codes and control characters; tabs and line breaks stay."""
    return _ANSI().sub("", text)


def cut_for_model(text: str, limit: int = 4_000) -> str:
    """Return a text of at most `limit` characters: its head, lines with errors, its tail.

    Args:
        text: Already redacted.
        limit: Most characters of the answer; what was left out is said in it, together with
            what was left out there before.

    Raises:
        ValueError: The limit is negative.
    """
    if limit < 0:
        raise ValueError(f"limit must not be negative, not {limit}")
    if len(text) <= limit:
        return text
    cuts = [_Cut.of(match) for match in _CUT().finditer(text)]
    room = limit - 2 * len(_Cut.all_of(cuts, len(text)).marker)
    if room < _SMALLEST:
        return text[:limit]
    head = int(room * _HEAD)
    short_tail = room - head - int(room * _ERRORS)
    errors = _error_lines(text[head : len(text) - short_tail], room - head - short_tail)
    end = len(text) - (short_tail if errors else room - head)
    within = [cut for cut in cuts if cut.start < end and cut.end > head]
    if within:  # a marker goes whole, so that what it says is counted
        head, end = min(head, within[0].start), max(end, within[-1].end)
    marked = sum(cut.end - cut.start for cut in within)
    left_out = _Cut.all_of(within, end - head - len(errors) - marked).marker
    between = f"{left_out}{errors}\n[...]\n" if errors else left_out
    return f"{text[:head]}{between}{text[end:]}"


def condense_command_output(text: str) -> str:
    """Return a command's output without the parts for a terminal only.

    Terminal codes go, of a line drawn over and over the last state stays, equal lines and passing
    tests become one line with their number. Not for answers: a printed list stays as it is.
    """
    plain = strip_ansi(text).replace("\r\n", "\n")
    lines = [_last_drawn(line) for line in plain.split("\n")]
    groups = groupby(lines, key=_kind)
    return "\n".join(line for kind, group in groups for line in _shortened(kind, list(group)))


class _Cut(Struct, frozen=True):
    """A place where text was left out."""

    start: int
    """Where its marker stands."""

    end: int
    characters: int
    bytes: int
    """Counted where text was cut as it came from a program."""

    @classmethod
    def of(cls, match: re.Match[str]) -> "_Cut":
        characters, size = (
            int((match[name] or "0").replace(",", "") or 0) for name in ("characters", "bytes")
        )
        return cls(match.start(), match.end(), characters, size)

    @classmethod
    def all_of(cls, cuts: "Sequence[_Cut]", characters: int) -> "_Cut":
        """Return the cut of so many characters that takes the place of others."""
        inner = sum(cut.characters for cut in cuts)
        return cls(0, 0, characters + inner, sum(cut.bytes for cut in cuts))

    @property
    def marker(self) -> str:
        before = f" and {self.bytes:,} bytes" if self.bytes else ""
        return f"\n[... {self.characters:,} characters{before} left out ...]\n"


def _error_lines(text: str, room: int) -> str:
    """Return the lines about errors, the first and the last where not all fit."""
    lines = [line[:_LONGEST_LINE] for line in text.split("\n")]
    found = list(dict.fromkeys(line for line in lines if _ERROR().search(line)))
    first = _fitting(found, room // 2)
    last = _fitting(found[: len(first) - 1 if first else None : -1], room - _size(first))
    return "\n".join([*first, *reversed(last)])


def _fitting(lines: Sequence[str], room: int) -> list[str]:
    """Return as many lines as fit, from the first on, counting a line break each."""
    sizes = accumulate(len(line) + 1 for line in lines)
    return [line for line, size in zip(lines, sizes, strict=True) if size <= room]


def _size(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _last_drawn(line: str) -> str:
    """Return the last state of a line that was drawn over."""
    states = [state for state in line.split("\r") if state.strip()]
    return states[-1] if states else line.rstrip("\r")


def _kind(line: str) -> str:
    """Return the key that neighbouring lines share to become one: a word, or the line itself."""
    if len(line) > _LONGEST_LINE:
        return line
    if _PASSED().fullmatch(line):
        return _PASSING
    if _PROGRESS().search(line):
        return _COUNTS().sub("\0", line)
    return line.rstrip()


def _shortened(kind: str, lines: list[str]) -> list[str]:
    if kind == "":
        return [""]
    if len(lines) < _MANY:
        return lines
    if kind == _PASSING:
        return [f"[{len(lines)} lines of passing tests]"]
    if "\0" in kind:
        return [lines[-1], f"[last of {len(lines)} lines of progress]"]
    return [lines[0], f"[this line {len(lines)} times]"]
