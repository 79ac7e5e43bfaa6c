"""A script as the type checker is shown it, and the way back to the script's own positions.

The checker takes a script only as the body of an async function: `return` and `await` may stand
at the top of it then, and nothing of it is ever executed.
"""

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass

from lineshaft.values import Stubs

_GLOBAL = re.compile(r"^[ \t]*global[ \t]+([\w, \t]+)", re.MULTILINE)
_FUTURE = re.compile(r"^[ \t]*from[ \t]+__future__[ \t]+import\b[^\n#;]*", re.MULTILINE)
_STAR = re.compile(r"^([ \t]*)from[ \t]+([\w.]+)[ \t]+import[ \t]*\*", re.MULTILINE)
_FUNCTION = re.compile(r"^(?:async )?def (\w+)", re.MULTILINE)
_ANY = re.compile(r"\bAny\b")


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A script inside of a function."""

    text: str
    header: int
    """Lines before the script's first one."""

    lines: int

    def place(self, line: int, column: int) -> tuple[int, int]:
        """Return a position of the wrapped text as one of the script."""
        return line - self.header, column - 1


def wrap(source: str, *, stubs: Stubs, inputs: Mapping[str, str]) -> Wrapped:
    """Return a script as the body of a function whose parameters are its inputs."""
    text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = _STAR.sub(lambda found: _by_name(found, stubs), _FUTURE.sub("pass", text))
    shared = _shared(text)
    given = {n: t for n, t in inputs.items() if _is_name(n) and n not in shared}
    header = [f"{name}: _Any" for name in shared]
    parameters = ", ".join(f"{name}: {_ANY.sub('_Any', type_)}" for name, type_ in given.items())
    header.append(f"async def __check__({parameters}):")
    if any("_Any" in line for line in header):  # an import is a fifth of a short script's check
        header.insert(0, "from typing import Any as _Any")
    body = text.split("\n")
    indented = (" " + (f" {line[1:]}" if line.startswith("\f") else line) for line in body)
    wrapped = "\n".join((*header, *indented, " pass", 'raise ValueError("checked")'))
    return Wrapped(wrapped, len(header), len(body))


def _shared(text: str) -> list[str]:
    """Return the names that a script declares `global`."""
    found = (name.strip() for names in _GLOBAL.findall(text) for name in names.split(","))
    return list(dict.fromkeys(name for name in found if _is_name(name)))


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _by_name(found: re.Match[str], stubs: Stubs) -> str:
    """Return an import of everything as one by name: functions may not have the other."""
    indent, module = found.groups()
    names = _FUNCTION.findall(stubs.modules.get(module, ""))
    return f"{indent}from {module} import {', '.join(names)}" if names else f"{indent}pass"
