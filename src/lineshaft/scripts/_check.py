"""The check of a script before it runs: what blocks it, and what is only told.

Only these block, on every engine: a wrong, missing or unknown argument of a tool call, an unknown
tool, a call that is not awaited and cannot be repaired, an undefined name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from lineshaft.scripts._awaits_edits import Text
from lineshaft.scripts._check_reading import undefined_names, unknown_tools
from lineshaft.scripts._check_said import judge
from lineshaft.scripts._check_stubs import stubs_of, type_of
from lineshaft.scripts._names_refs import Resolver
from lineshaft.scripts._prepare import Prepared
from lineshaft.values import Checker, Finding

_MOST = 20
"""Findings of one script."""


async def check(
    prepared: Prepared,
    *,
    checker: Checker,
    inputs: Mapping[str, object],
    level: Literal["error", "warn", "off"] = "error",
) -> tuple[Finding, ...]:
    """Return what is wrong with a script, by line; those of level `error` keep it from running.

    Args:
        prepared: The script, read.
        checker: Checks its types.
        inputs: Values that it gets as globals, by name.
        level: With `warn` nothing blocks but what nobody can read; with `off` nothing is looked at.
    """
    if prepared.resolver is None:
        return prepared.findings
    if level == "off":
        return ()
    types = {name: type_of(value) for name, value in inputs.items()}
    known = prepared.found.wrong
    if known is None or known[0] != types:
        known = types, await _wrong(prepared, prepared.resolver, checker, types)
        if not any(finding.code == "checker-failed" for finding in known[1]):
            prepared.found.wrong = known
    found = known[1]
    if level == "warn":
        found = [replace(f, level="warning") if f.level == "error" else f for f in found]
    return tuple(found[:_MOST])


def strangers(prepared: Prepared, inputs: Mapping[str, object]) -> tuple[Finding, ...]:
    """Return the unknown tools and undefined names of a script, as far as they block."""
    resolver = prepared.resolver
    if resolver is None:
        return ()
    text = Text.of(prepared.read_text)
    found = (*unknown_tools(resolver, text), *undefined_names(resolver, text, inputs))
    blocking = tuple(each for each in found if each.level == "error")
    return blocking and prepared.missing + blocking


async def _wrong(
    prepared: Prepared, resolver: Resolver, checker: Checker, types: Mapping[str, str]
) -> tuple[Finding, ...]:
    stubs = stubs_of(prepared.specs)
    said = await checker.check(prepared.program_source, stubs=stubs, inputs=types)
    text = Text.of(prepared.read_text)
    found = [
        *prepared.unawaited,
        *unknown_tools(resolver, text),
        *undefined_names(resolver, text, types),
        *judge(prepared, text, said, stubs=stubs),
    ]
    return tuple(_without_echoes(found))


def _without_echoes(found: Sequence[Finding]) -> list[Finding]:
    """Return findings by severity and place, one for each place and code."""
    kept = {(f.line, f.column, f.code): f for f in reversed(found)}
    return sorted(kept.values(), key=lambda f: (_ORDER[f.level], f.line or 0, f.column or 0))


_ORDER = {"error": 0, "warning": 1, "info": 2}
