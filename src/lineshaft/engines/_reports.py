"""What the small engine says went wrong -> an outcome in the script's own terms."""

import re
from collections.abc import Callable, Sequence

from pydantic_monty import Frame, MontyCrashedError, MontyError, MontyRuntimeError, MontySyntaxError

from lineshaft.engines._lower import Lowered, normal
from lineshaft.engines._state import Progress
from lineshaft.values import Crashed, Exceeded, Limits, Outcome, Program, Raised

_FED = "<python-input-0>"
_SHOWN = 10
"""Frames shown at each end of a long traceback."""

Place = tuple[str, int, str]
"""File, line and function."""

_UNSUPPORTED = re.compile(
    r"(?:The monty syntax parser does not yet support |Internal error in monty: )?(?P<what>.*)",
    re.DOTALL,
)
_UNSUPPORTED_SIGNS = (
    "not yet support",
    "not supported",
    "cannot suspend",
    "Internal error in monty",
)
_FACTS_IN_SORT = "external function '_ls_error' cannot suspend in this synchronous context"

_ASSERTED = re.compile(r"(?:(?P<own>.*)\n)?assert [^\n]*", re.DOTALL)
_BY_HAND = "raise AssertionError"
"""The engine adds the condition of an `assert` to its message, Python does not."""

_OUT_OF_MEMORY = re.compile(r"memory limit exceeded: |the worker exceeded its memory limit")
_OUT_OF_TIME = re.compile(r"(?:feed|turn) time limit exceeded: |total sleep")


Ask = Callable[[str], object]


class Reporter:
    """Explains the errors of one run."""

    def __init__(
        self, program: Program, lowered: Lowered, limits: Limits, progress: Progress
    ) -> None:
        self._program = program
        self._lowered = lowered
        self._limits = limits
        self._progress = progress

    def outcome(self, error: MontyError, ask: Ask) -> Outcome:
        """Return what an error of the engine means for the run.

        Args:
            error: What the engine raised.
            ask: Evaluates an expression in what is left of the script.
        """
        if isinstance(error, MontyCrashedError):
            if error.timed_out:
                return self._exceeded_seconds(None)
            return Crashed(message="the engine's worker process died")
        if isinstance(error, MontyRuntimeError | MontySyntaxError):
            return self._raised(error, ask)
        return Raised(kind=type(error.exception()).__name__, message=str(error))

    def _raised(self, error: MontyRuntimeError | MontySyntaxError, ask: Ask) -> Outcome:
        inner = error.exception()
        kind, message = type(inner).__name__, str(error.display("msg"))
        frames = self._own(error.traceback())
        line = frames[-1][1] if frames else None
        if isinstance(inner, MemoryError) and _OUT_OF_MEMORY.match(message):
            used = f"the script used more than {self._limits.memory_mb} MB of memory"
            return Exceeded(limit="memory_mb", message=used, line=line)
        if isinstance(inner, TimeoutError) and _OUT_OF_TIME.match(message):
            return self._exceeded_seconds(line)
        if isinstance(inner, NotImplementedError | RuntimeError) and _is_unsupported(message):
            kind, message = "Unsupported", _unsupported(message)
        if kind == "Error" and self._is_tool_error(error):
            return self._tool_error(message, frames, line)
        if kind == "AssertionError" and (found := _ASSERTED.fullmatch(message)):
            message = message if _BY_HAND in self._program.source else found["own"] or ""
        if line is not None and line in self._lowered.passes:
            came_from = ask(f"_ls_at[{self._lowered.passes[line]}]")
            if isinstance(came_from, int) and came_from > 0:
                frames[-1] = (frames[-1][0], came_from, frames[-1][2])
                line = came_from
        return self._report(kind, message, frames, line)

    def _exceeded_seconds(self, line: int | None) -> Exceeded:
        message = f"the script ran for more than {self._limits.seconds:g} s"
        return Exceeded(limit="seconds", message=message, line=line)

    def _is_tool_error(self, error: MontyRuntimeError | MontySyntaxError) -> bool:
        return "_csv.Error" in error.display("type-msg")[:12]

    def _tool_error(self, text: str, frames: list[Place], line: int | None) -> Raised:
        code, tool, message = self._progress.told.get(text, (None, None, text))
        raised_at = self._progress.raised_at.get(text, line)
        if raised_at is not None and raised_at != line:
            # The engine forgets where an error came from when it is raised again.
            frames = [*frames, (self._program.name, raised_at, self._lowered.name_at(raised_at))]
        return self._report("ToolError", message, frames, raised_at, code=code, tool=tool)

    def _report(
        self,
        kind: str,
        message: str,
        frames: Sequence[Place],
        line: int | None,
        *,
        code: str | None = None,
        tool: str | None = None,
    ) -> Raised:
        return Raised(
            kind=kind,
            message=message,
            line=line,
            code=code,
            tool=tool,
            traceback=self._traceback(kind, message, frames),
        )

    def at(self, kind: str, message: str, line: int | None, *, code: str | None = None) -> Raised:
        """Return an error of ours at a line of the script."""
        frames = [(self._program.name, line, "<module>")] if line else []
        return self._report(kind, message, frames, line, code=code)

    def _own(self, frames: Sequence[Frame]) -> list[Place]:
        """Return file, line and function of the frames that are the script's."""
        before = self._lowered.lines_before
        last = normal(self._program.source).count("\n") + 1
        return [
            (self._program.name, min(frame.line - before, last), frame.function_name or "<module>")
            for frame in frames
            if frame.filename == _FED and frame.line > before
        ]

    def _traceback(self, kind: str, message: str, frames: Sequence[Place]) -> str:
        if not frames:
            return f"{kind}: {message}" if message else kind
        lines = normal(self._program.source).split("\n")
        shown = [_frame(frame, lines) for frame in frames]
        if len(shown) > 2 * _SHOWN:
            left_out = f"  ... {len(shown) - 2 * _SHOWN} more ..."
            shown[_SHOWN:-_SHOWN] = [left_out]
        last = f"{kind}: {message}" if message else kind
        return "\n".join(["Traceback (most recent call last):", *shown, last])


def _is_unsupported(message: str) -> bool:
    return any(sign in message for sign in _UNSUPPORTED_SIGNS)


def _unsupported(message: str) -> str:
    what = _UNSUPPORTED.sub(r"\g<what>", message, count=1)
    if message == _FACTS_IN_SORT:
        what = "reading the parts of an error inside `sorted`, `map` and the like"
    return f"the monty engine does not support this: {what}"


def _frame(frame: Place, lines: Sequence[str]) -> str:
    name, line, function = frame
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    head = f'  File "{name}", line {line}, in {function}'
    return f"{head}\n    {text}" if text else head
