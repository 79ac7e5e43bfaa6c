"""What the package says of the small engine is what the installed one does."""

import ast
import asyncio
import json
import sys
import warnings
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import cast

import pytest

from lineshaft.engines import subset
from lineshaft.engines._subset_probe import probe
from lineshaft.engines._subset_samples import IMPORTS, LANGUAGE, METHODS

LATER = {"`type` aliases", "type parameters"} if sys.version_info < (3, 12) else set[str]()
NOWHERE = {"relative imports"}
"""Nothing that a script can import is beside it."""


def _stored() -> dict[str, object]:
    text = (files("lineshaft.engines") / "_subset.json").read_text(encoding="utf-8")
    return cast("dict[str, object]", json.loads(text))


def _names(facts: Mapping[str, object]) -> Iterator[tuple[str, set[str]]]:
    for key, value in facts.items():
        if isinstance(value, dict):
            for name, names in cast("dict[str, list[str]]", value).items():
                yield f"{key} {name}", set(names)
        elif isinstance(value, list):
            yield key, set(cast("list[str]", value))


def test_the_stored_facts_are_those_of_the_installed_engine() -> None:
    stored, now = _stored(), cast("dict[str, object]", probe())
    again = "run `python -m lineshaft.engines._subset_probe --write`"
    assert stored["engine"] == now["engine"], again
    if stored["python"] == now["python"]:
        assert stored == now, again
    else:  # another Python has other names to try; those of both must agree
        fresh = dict(_names(now))
        for key in ("lacks", "differs", "methods"):
            assert set(cast("list[str]", stored[key])) == fresh[key], again


@pytest.mark.parametrize("name", sorted({*LANGUAGE, *METHODS} - NOWHERE - LATER))
def test_each_sample_holds_in_full_python(name: str) -> None:
    program = LANGUAGE.get(name) or METHODS[name]
    scope: dict[str, object] = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(IMPORTS, scope)  # noqa: S102  a sample
        code = compile(program, "sample", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        made: object = eval(code, scope)  # noqa: S307  a sample
        if asyncio.iscoroutine(made):
            asyncio.run(made)


def test_modules_and_their_names_are_known() -> None:
    small = subset()
    assert small.has_module("json")
    assert not small.has_module("statistics")
    assert small.has_member("json.dumps")
    assert small.has_member("json.JSONEncoder") is False
    assert small.has_member("datetime.datetime.now")
    assert small.has_member("datetime.datetime.fromordinal") is False
    assert small.has_member("somebody.knows") is None


def test_what_the_engine_puts_right_counts_as_the_same() -> None:
    assert "`round` to digits" in cast("list[str]", _stored()["differs"])
    assert "`round` to digits" not in subset().differs
