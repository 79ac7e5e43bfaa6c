"""Whether the small engine stopped at something that full Python has."""

import builtins
import re
import sys
from collections.abc import Callable

from lineshaft.engines import Subset, subset
from lineshaft.values import Raised

_Found = re.Match[str]
_Lacks = Callable[[Subset, _Found], bool]


def lacks(raised: Raised) -> bool:
    """Return whether a script was stopped by the engine's limit, and by no error of its own.

    Args:
        raised: What the small engine raised.
    """
    if raised.kind == "Unsupported":
        return True
    for kinds, pattern, is_limit in _RULES:
        found = pattern.search(raised.message) if raised.kind in kinds else None
        if found:
            return is_limit(subset(), found)
    return False


def _module(small: Subset, found: _Found) -> bool:
    name = found["name"]
    return name.partition(".")[0] in sys.stdlib_module_names and not small.has_module(name)


def _member(small: Subset, found: _Found) -> bool:
    return small.has_member(f"{found['home']}.{found['name']}") is False


def _attribute(small: Subset, found: _Found) -> bool:
    """Return whether values of full Python have an attribute that one lacks here."""
    name, kind = found["name"], found["kind"].rpartition(".")[2]
    if name.startswith("__") or (kind == "function" and not name.startswith("_")):
        return True
    if kind in small.missing:  # methods are no values here, whatever their object
        return name in small.missing[kind] or name in small.members[kind]
    return name in small.attributes and kind in _KINDS


_KINDS = frozenset({"bool", "builtin_function_or_method", "JSONDecodeError", "OSError"})


def _of_class(small: Subset, found: _Found) -> bool:
    return small.has_member(f"{found['home']}.{found['name']}") is False


def _builtin(small: Subset, found: _Found) -> bool:
    return hasattr(builtins, found["name"]) and found["name"] not in small.builtins


def _of_kind(small: Subset, found: _Found) -> bool:
    return found["kind"] in small.members


def _always(small: Subset, found: _Found) -> bool:
    del small, found
    return True


_IMPORTS = frozenset({"ImportError", "ModuleNotFoundError"})
_ANY = frozenset(
    {"AttributeError", "LookupError", "NotImplementedError", "RuntimeError", "TypeError",
     "ValueError"}
)  # fmt: skip  # words, not one a line

_RULES: tuple[tuple[frozenset[str], re.Pattern[str], _Lacks], ...] = (
    (_IMPORTS, re.compile(r"No module named '(?P<name>[\w.]+)'"), _module),
    (_IMPORTS, re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<home>[\w.]+)'"), _member),
    (
        frozenset({"AttributeError"}),
        re.compile(r"module '(?P<home>[\w.]+)' has no attribute '(?P<name>\w+)'"),
        _member,
    ),
    (
        frozenset({"AttributeError"}),
        re.compile(r"type object '(?P<home>[\w.]+)' has no attribute '(?P<name>\w+)'"),
        _of_class,
    ),
    (
        frozenset({"AttributeError"}),
        re.compile(r"'(?P<kind>[\w.]+)' object has no attribute '(?P<name>\w+)'"),
        _attribute,
    ),
    (frozenset({"NameError"}), re.compile(r"name '(?P<name>\w+)' is not defined"), _builtin),
    (_ANY, re.compile(r"not yet support|not supported in this environment"), _always),
    (_ANY, re.compile(r"cannot create '\w+' instances|unknown encoding"), _always),
    (_ANY, re.compile(r"zero or one string argument|'list' object is not an iterator"), _always),
    (_ANY, re.compile(r"cannot convert 'list' object to bytes"), _always),
    (_ANY, re.compile(r"^can only concatenate list \(not "), _always),
    (_ANY, re.compile(r"_SpecialForm|JSON(?:En|De)coder\.__init__\(\)"), _always),
    (_ANY, re.compile(r"takes no keyword arguments|invalid keyword argument"), _always),
    (_ANY, re.compile(r"^[\w.]*(?P<kind>\b\w+)\.\w+\(\) takes (?:no|exactly|at most)"), _of_kind),
    (_ANY, re.compile(r"Invalid isoformat|does not match format"), _always),
    (_ANY, re.compile(r"'float' object cannot be interpreted as an integer"), _always),
    (_ANY, re.compile(r"of '\w*Path' and|'datetime\.timedelta' and 'float'"), _always),
    (_ANY, re.compile(r"must be string or compiled pattern|3rd argument specified"), _always),
    (_ANY, re.compile(r"(?:literal for int|string to float)[^\n]*[^\x00-\x7f]"), _always),
    (frozenset({"IndexError"}), re.compile(r"^no such group$"), _always),
)
"""Kinds of errors, what they say, and whether full Python would not raise them."""
