"""Contracts of the built-in tools, kept in a file, since making them costs each start 0.1 s.

`./dev reference` writes the file from the tools' own types and docstrings; a test compares.
"""

import functools
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypedDict, cast

from lineshaft.tools.schemas import Contract, Function, Schema, target_of

FILE = Path(__file__).with_name("built_in.json")


class _Kept(TypedDict):
    """One contract in the file."""

    description: str
    positional: list[str]
    context: list[str]
    input_schema: dict[str, object]
    output_schema: dict[str, object] | None


class BuiltIn:
    """A contract whose description and schemas are kept; its checks are made at the first call.

    Args:
        kept: The contract's entry in the file.
        make: Makes the contract that checks.
    """

    def __init__(self, kept: _Kept, make: Callable[[], Contract]) -> None:
        self.description = kept["description"]
        self.positional = tuple(kept["positional"])
        self.context = tuple(kept["context"])
        self.input_schema: Schema = kept["input_schema"]
        self.output_schema: Schema | None = kept["output_schema"]
        self._make = make

    @functools.cached_property
    def _checks(self) -> Contract:
        return self._make()

    def accept(self, arguments: dict[str, object]) -> dict[str, object]:
        """Return the arguments as the function's own types; defaults are not added."""
        return self._checks.accept(arguments)

    def deliver(self, result: object) -> object:
        """Return a result as plain values that fit the return annotation."""
        return self._checks.deliver(result)


def built_in(function: Function, make: Callable[[], Contract]) -> Contract | None:
    """Return the kept contract of a built-in tool's function; None of any other function.

    Args:
        function: The tool's function.
        make: Makes the contract from the function's types and docstring.
    """
    place = _place(function)
    if not place.startswith("lineshaft."):
        return None
    kept = _kept().get(place)
    return None if kept is None else BuiltIn(kept, make)


def text_of(tools: Iterable[tuple[Function, Contract]]) -> str:
    """Return the text of the file.

    Args:
        tools: Functions of built-in tools, with the contracts of their types and docstrings.
    """
    found = {
        _place(function): _Kept(
            description=contract.description,
            positional=list(contract.positional),
            context=list(contract.context),
            input_schema=dict(contract.input_schema),
            output_schema=None if contract.output_schema is None else {**contract.output_schema},
        )
        for function, contract in tools
    }
    return json.dumps(found, indent=1) + "\n"


def _place(function: Function) -> str:
    target = target_of(function)
    return f"{getattr(target, '__module__', '')}:{getattr(target, '__qualname__', '')}"


@functools.cache
def _kept() -> Mapping[str, _Kept]:
    return cast("Mapping[str, _Kept]", json.loads(FILE.read_text(encoding="utf-8")))
