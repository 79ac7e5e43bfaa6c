"""A script's text made ready: accepted, read, its forgotten `await`s repaired."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lineshaft.scripts._awaits import Awaits
from lineshaft.scripts._awaits_edits import Shift, Text, as_written
from lineshaft.scripts._choice_needs import Need
from lineshaft.scripts._names import Known
from lineshaft.scripts._names_refs import Resolver
from lineshaft.scripts._prepare_text import accept, parse
from lineshaft.values import Finding, ToolSpec


@dataclass(slots=True)
class Found:
    """What readers found of a script, each where it was first asked for."""

    needs: tuple[Need, ...] | None = None
    """What the small engine is not trusted with."""

    wrong: tuple[Mapping[str, str], tuple[Finding, ...]] | None = None
    """Types of inputs, and what is wrong with the script where it gets those."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A script that was read, and what the reading found."""

    name: str
    original: str
    """As written; empty where it was not text."""

    program_source: str = ""
    """For every engine: `await`s repaired, as many lines as the original, ends of lines `\\n`."""

    findings: tuple[Finding, ...] = ()
    """What keeps anybody from reading it: `E_INVALID_ARGS` or `syntax-error`."""

    unawaited: tuple[Finding, ...] = ()
    """Calls that are not awaited and could not be repaired; part of what the check finds."""

    read_text: str = ""
    """The original as it was read: with line feeds only at the ends of lines."""

    shifts: Mapping[int, tuple[Shift, ...]] = field(default_factory=dict[int, tuple[Shift, ...]])
    """What the repair did to each line."""

    specs: Sequence[ToolSpec] = field(default=(), repr=False)
    """The tools that it was read with."""

    missing: tuple[Finding, ...] = ()
    """Which of the tools that it speaks of are not to be had, and why."""

    resolver: Resolver | None = field(default=None, repr=False, compare=False)
    """What the names of the script stand for; None where it could not be read."""

    found: Found = field(default_factory=Found, repr=False, compare=False)
    """What was found of it later: a script that is run again is not looked at again."""

    @property
    def ok(self) -> bool:
        """Whether it could be read."""
        return not self.findings

    def written(self, line: int, column: int) -> tuple[int, int]:
        """Return where a position in the program stands in the script as written.

        Args:
            line: 1-based.
            column: 1-based, in characters.
        """
        return line, as_written(self.shifts.get(line, ()), column)


def prepare(source: object, *, specs: Sequence[ToolSpec], name: str = "script.py") -> Prepared:
    """Read a script and repair its forgotten `await`s; runs nothing and never raises for it.

    Args:
        source: The script; anything but text is a finding.
        specs: The tools that it may call.
        name: What to call it in messages.
    """
    text = accept(source)
    original = source if isinstance(source, str) else ""
    if isinstance(text, Finding):
        return Prepared(name=name, original=original, specs=specs, findings=(text,))
    reading = parse(text)
    if isinstance(reading, Finding):
        return Prepared(
            name=name, original=original, specs=specs, program_source=text, findings=(reading,)
        )
    resolver = Resolver(reading, Known.of(specs))
    awaits = Awaits.of(resolver, Text.of(text))
    edits = awaits.inserter.edits
    return Prepared(
        name=name,
        original=original,
        specs=specs,
        program_source=edits.applied(),
        read_text=text,
        unawaited=tuple(awaits.findings),
        shifts=edits.shifts(),
        resolver=resolver,
    )
