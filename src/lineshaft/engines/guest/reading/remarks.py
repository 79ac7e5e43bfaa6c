"""Remarks of a reading about a script."""

from dataclasses import dataclass
from typing import Any, Literal

SIGNATURE = "\x01"
"""Stands in a hint for the signature of the remark's tool, which the host writes."""

KEYS = "\x02"
"""Stands in a hint before the name of a record, for its keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One finding; the host makes a `Finding` of it."""

    code: str
    message: str
    level: Literal["error", "warning", "info"] = "error"
    line: int
    """1-based."""

    column: int
    """1-based, in characters."""

    hint: str = ""
    tool: str = ""
    """Canonical name of the tool whose signature stands in the hint."""

    name: str = ""
    """The unbound name, where it is about one."""

    def told(self) -> dict[str, Any]:
        """Return it as the host takes it."""
        return {
            "code": self.code,
            "message": self.message,
            "level": self.level,
            "line": self.line,
            "column": self.column,
            "hint": self.hint,
            "tool": self.tool,
            "name": self.name,
        }
