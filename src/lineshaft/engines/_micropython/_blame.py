"""What the interpreter says went wrong -> an outcome in the script's own terms."""

import re
from collections.abc import Sequence
from typing import cast

from lineshaft.engines._micropython._lower import Lowered, normal
from lineshaft.values import Program, Raised

_FRAME = re.compile(r'  File "(?P<file>[^"]*)", line (?P<line>\d+)(?:, in (?P<function>.*))?$')
_SCRIPT = "<script>"
_SHOWN = 10
"""Frames shown at each end of a long traceback."""

Place = tuple[int, str]
"""Line and function."""


class Blame:
    """Explains the errors of one run."""

    def __init__(self, program: Program, lowered: Lowered) -> None:
        self._program = program
        self._lowered = lowered
        self._lines = normal(program.source).split("\n")

    def raised(self, facts: object) -> Raised:
        """Return an error that the interpreter reported.

        Raises:
            ValueError: It is not a report.
        """
        if not isinstance(facts, dict):
            raise ValueError("not a report")  # noqa: TRY004  all that is wrong is a ValueError
        said = cast("dict[str, object]", facts)
        kind, message = str(said.get("kind")), str(said.get("message"))
        places = self._places(str(said.get("trace")))
        line = places[-1][0] if places else None
        if kind == "ToolError":
            code, tool = _text(said.get("code")), _text(said.get("tool"))
            return self.at(kind, message, places, code=code, tool=tool)
        if kind == "NotImplementedError" and message:
            return self.unsupported(message, line)
        return self.at(kind, message, places)

    def at(
        self,
        kind: str,
        message: str,
        places: Sequence[Place],
        *,
        code: str | None = None,
        tool: str | None = None,
    ) -> Raised:
        """Return an error at some place of the script."""
        return Raised(
            kind=kind,
            message=message,
            line=places[-1][0] if places else None,
            code=code,
            tool=tool,
            traceback=self._traceback(kind, message, places),
        )

    def unsupported(self, what: str, line: int | None) -> Raised:
        """Return that the interpreter lacks something."""
        message = f"the micropython engine does not support this: {what}"
        return self.at("Unsupported", message, [(line, "<module>")] if line else [])

    def not_python(self, error: SyntaxError) -> Raised:
        """Return what Python says of a text that is not Python."""
        line = min(max(error.lineno or 1, 1), len(self._lines)) if error.lineno else None
        message = error.msg or "invalid syntax"
        return self.at("SyntaxError", message, [(line, "<module>")] if line else [])

    def _places(self, trace: str) -> list[Place]:
        """Return the frames that are the script's."""
        places: list[Place] = []
        for text in trace.splitlines():
            frame = _FRAME.match(text)
            if frame is None or frame["file"] != _SCRIPT:
                continue
            line = self._lowered.line(int(frame["line"]))
            function = frame["function"] or "<module>"
            if line is not None:
                places.append((line, "<module>" if function.startswith("_ls_") else function))
        return places

    def _traceback(self, kind: str, message: str, places: Sequence[Place]) -> str:
        last = f"{kind}: {message}" if message else kind
        if not places:
            return last
        shown = [self._frame(place) for place in places]
        if len(shown) > 2 * _SHOWN:
            shown[_SHOWN:-_SHOWN] = [f"  ... {len(shown) - 2 * _SHOWN} more ..."]
        return "\n".join(["Traceback (most recent call last):", *shown, last])

    def _frame(self, place: Place) -> str:
        line, function = place
        text = self._lines[line - 1].strip() if 0 < line <= len(self._lines) else ""
        head = f'  File "{self._program.name}", line {line}, in {function}'
        return f"{head}\n    {text}" if text else head


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
