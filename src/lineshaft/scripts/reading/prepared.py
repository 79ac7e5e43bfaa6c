"""A script that was read: its repaired text, and the findings of reading."""

from collections.abc import Mapping, Sequence

import msgspec

from lineshaft.values import Finding, PythonTarget, Struct, ToolSpec

Checked = tuple[Mapping[str, str], PythonTarget]
"""The types of the inputs of a check, and the Python that it was for."""


class Import(Struct, frozen=True, kw_only=True):
    """A module that a script's text imports."""

    module: str
    """Dotted; one that is relative starts with a dot."""

    line: int
    optional: bool = False
    """The script goes on without it, or names it in types alone."""

    names: tuple[str, ...] = ()
    """The names taken out of it, which may be modules too."""


class NewerSyntax(Struct, frozen=True, kw_only=True):
    """Syntax that older Pythons lack."""

    python: tuple[int, int]
    """The version that brought it."""

    line: int
    what: str


class Prepared(Struct, frozen=True, kw_only=True):
    """A script that was read, and the findings of the reading."""

    __unshown__ = frozenset({"specs", "told", "checks"})

    name: str
    original: str
    """As written; empty where it was not text."""

    program_source: str = ""
    """For every engine: `await`s repaired, as many lines as the original, ends of lines `\\n`."""

    read_text: str = ""
    """The original as it was read: with line feeds only at the ends of lines."""

    findings: tuple[Finding, ...] = ()
    """The finding that makes it no script: `E_INVALID_ARGS` or `syntax-error`."""

    unawaited: tuple[Finding, ...] = ()
    """Calls that are not awaited and could not be repaired; the check reports them."""

    unknown: tuple[Finding, ...] = ()
    """Names that `tools` or a namespace does not have."""

    undefined: tuple[tuple[str, Finding], ...] = ()
    """Names that are not bound, unless an input binds them."""

    misused: tuple[Finding, ...] = ()
    """Results of tools that are records and are used as lists."""

    tells: tuple[Finding, ...] = ()
    """Findings that do not block."""

    missing: tuple[Finding, ...] = ()
    """Which of the tools that it speaks of are not to be had, and why."""

    imports: tuple[Import, ...] = ()
    newer: tuple[NewerSyntax, ...] = ()
    """The first use of syntax of each version above 3.11, oldest version first."""

    uses_tools: bool = False
    """It speaks of a tool, a namespace or `tools`."""

    wants_types: bool = False
    """Whether a type checker is useful: there are tools, or async functions of its own."""

    specs: Sequence[ToolSpec] = ()
    """The tools that it was read with."""

    hidden: frozenset[str] = frozenset()
    """Canonical names of tools that are known by name only."""

    told: Sequence[ToolSpec] = ()
    """The others: what messages and hints may speak of."""

    checks: list[tuple[Checked, tuple[Finding, ...]]] = msgspec.field(
        default_factory=list[tuple[Checked, tuple[Finding, ...]]]
    )
    """Findings of checks: a script that runs again is not checked again."""

    @property
    def ok(self) -> bool:
        """Whether it could be read."""
        return not self.findings

    @property
    def import_names(self) -> frozenset[str]:
        """The modules that it cannot do without, relative ones left out."""
        return frozenset(
            each.module for each in self.imports if not (each.optional or each.module[:1] == ".")
        )
