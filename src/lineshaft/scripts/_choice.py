"""Which engine a script is for, decided by reading it: nothing of it has run yet.

The small engine takes what it is known to do as full Python does; in doubt a script goes up.
"""

import ast
from collections.abc import Sequence

from lineshaft.engines import subset
from lineshaft.scripts import _choice_calls as calls
from lineshaft.scripts import _choice_errors as errors
from lineshaft.scripts import _choice_lazy as lazy
from lineshaft.scripts import _choice_names as names
from lineshaft.scripts import _choice_sets as sets
from lineshaft.scripts import _choice_texts as texts
from lineshaft.scripts._choice_needs import Need, Reader
from lineshaft.scripts._choice_syntax import SYNTAX, Read
from lineshaft.scripts._names_refs import Resolver
from lineshaft.scripts._prepare import Prepared

_READERS: Sequence[tuple[type[ast.AST], Read]] = (
    *SYNTAX.items(),
    (ast.Name, names.name),
    (ast.Attribute, names.attribute),
    (ast.Call, names.call),
    (ast.Import, names.imported),
    (ast.ImportFrom, names.imported_from),
    (ast.GeneratorExp, lazy.generator),
    (ast.Call, lazy.steps),
    (ast.Module, sets.order),
    (ast.AugAssign, sets.in_place),
    (ast.Call, texts.call),
    (ast.ExceptHandler, errors.handler),
    (ast.Call, calls.call),
    (ast.arguments, calls.parameters),
)


def _table() -> dict[type[ast.AST], tuple[Read, ...]]:
    table: dict[type[ast.AST], tuple[Read, ...]] = {}
    for kind, read in _READERS:
        table[kind] = (*table.get(kind, ()), read)
    return table


_TABLE = _table()

_ORDER = {"lacks": 0, "differs": 1, "doubt": 2}


def needs(resolver: Resolver) -> tuple[Need, ...]:
    """Return what in a script the small engine is not trusted with, the plainest first.

    Args:
        resolver: Of the script.
    """
    reader = Reader(resolver, subset())
    for node in resolver.reading.nodes:
        for read in _TABLE.get(type(node), ()):
            read(reader, node)
    return tuple(sorted(reader.needs, key=lambda need: (_ORDER[need.kind], need.line)))


def choose(prepared: Prepared) -> tuple[str, str]:
    """Return the name of the engine that a script is for, and the reason.

    Args:
        prepared: The script, read.
    """
    if prepared.resolver is None:
        return "monty", "it cannot be read"
    found = needs(prepared.resolver)
    return ("cpython", found[0].reason) if found else ("monty", FITS)


FITS = "the small engine has all that the script uses"
