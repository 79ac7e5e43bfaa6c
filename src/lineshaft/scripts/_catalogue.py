"""The tools under the names that a script uses for them."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from lineshaft.scripts.reading import Recent
from lineshaft.tools import script_name, signature
from lineshaft.values import Call, Dispatch, Done, ToolSpec


def program_names(
    specs: Sequence[ToolSpec],
) -> tuple[frozenset[str], Mapping[str, frozenset[str]]]:
    """Return the script names without a namespace, and those of each namespace."""
    return _NAMES.get(specs)


def _program_names(
    specs: Sequence[ToolSpec],
) -> tuple[frozenset[str], Mapping[str, frozenset[str]]]:
    flat: set[str] = set()
    spaces: dict[str, set[str]] = {}
    for spec in specs:
        space, _, name = script_name(spec.name).rpartition(".")
        (spaces.setdefault(space, set()) if space else flat).add(name)
    return frozenset(flat), {space: frozenset(names) for space, names in spaces.items()}


def by_script_name(dispatch: Dispatch, specs: Sequence[ToolSpec]) -> Dispatch:
    """Return a dispatch that takes tools by the names that scripts use."""
    canonical = _CANONICAL.get(specs)

    async def translated(call: Call) -> Done:
        name = canonical.get(call.tool, call.tool)
        return await dispatch(call if name == call.tool else replace(call, tool=name))

    return translated


def _canonical(specs: Sequence[ToolSpec]) -> Mapping[str, str]:
    return {script_name(spec.name): spec.name for spec in specs}


def signatures(specs: Sequence[ToolSpec], source: str) -> Mapping[str, str]:
    """Return the parameters of the tools that a script's text names, by script name."""
    known = _SIGNATURES.get(specs)
    named = {name: spec for name, spec in _by_name(specs) if name.rpartition(".")[2] in source}
    for name in named.keys() - known.keys():
        known[name] = signature(named[name]).partition("(")[2].partition(") -> ")[0]
    return {name: known[name] for name in named}


def _by_name(specs: Sequence[ToolSpec]) -> Iterator[tuple[str, ToolSpec]]:
    return ((script_name(spec.name), spec) for spec in specs)


def _no_signatures(specs: Sequence[ToolSpec]) -> dict[str, str]:
    del specs
    return {}


_NAMES = Recent(_program_names)
_CANONICAL = Recent(_canonical)
_SIGNATURES = Recent(_no_signatures)
