"""A validator of JSON Schemas whose cost is bounded for any schema."""

import functools
import json
import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, cast

import regex
from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators
from referencing import Registry

from lineshaft.tools.schemas import Schema, as_schema
from lineshaft.values import is_costly

_FREE_STEPS = 2_000
_STEPS_FOR_A_VALUE = 10
_DEEPEST = 80
"""References inside each other; less than the stack holds. The validator compares with native code,
and where the stack ends inside of it, the exception is no `Exception`."""

_PATTERN_SECONDS = 0.2
"""Seconds of CPU for all patterns of one validation; values not matched by then pass."""

_SECONDS = 1.0
_SECONDS_FOR_A_PART = 100e-6
"""Seconds of CPU for a whole validation: some, and some for each part of the value."""

_steps: ContextVar["_Steps"] = ContextVar("steps")
"""Of the validation that is under way."""

Found = Iterator[ValidationError]
Keyword = Callable[[Any, Any, Any, Any], Found]


class TooManySteps(Exception):
    """A schema that would take for ever to check a value against."""


class _Steps:
    """Counts the references that are followed; allows some for each part of a value.

    It counts the time that patterns take, too.

    Args:
        value: The value to check.
    """

    def __init__(self, value: object) -> None:
        self._value = value
        self._taken = 0
        self._depth = 0
        self._most = _FREE_STEPS
        self._counted = False
        self._pattern_seconds = _PATTERN_SECONDS
        self._until = time.thread_time() + _SECONDS
        self._timed = False

    def matches(self, pattern: str, text: str) -> bool:
        """Return whether a pattern is found; yes, where Python cannot say so in good time."""
        if self._pattern_seconds <= 0 or is_costly(pattern):
            return True
        began = time.thread_time()
        try:
            return regex.search(pattern, text, timeout=self._pattern_seconds) is not None
        except (regex.error, TimeoutError):
            return True
        finally:
            self._pattern_seconds -= time.thread_time() - began

    def take(self) -> None:
        """Take one step."""
        self._taken += 1
        if self._taken > self._most and not self._counted:
            self._most += _STEPS_FOR_A_VALUE * _size(self._value)
            self._counted = True
        if self._taken > self._most:
            raise TooManySteps(f"more than {self._most:,} references to follow")

    def tick(self) -> None:
        """Check one keyword of the schema against one part of the value."""
        if time.thread_time() < self._until:
            return
        if self._timed:
            raise TooManySteps("it takes too long")
        self._timed = True
        self._until += _SECONDS_FOR_A_PART * _size(self._value)
        self.tick()

    @contextmanager
    def deeper(self) -> Generator[None]:
        """Follow a reference inside the block."""
        if self._depth == _DEEPEST:
            raise RecursionError(f"more than {_DEEPEST} references inside each other")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1


class SchemaValidator:
    """Checks values against one schema.

    Args:
        schema: Its references are not fetched.
    """

    def __init__(self, schema: Schema) -> None:
        draft = validators.validator_for(cast("Any", schema), default=Draft202012Validator)
        self._validator = _bounded(draft)(cast("Any", schema), registry=cast("Any", Registry)())
        self._schema = schema

    def check_schema(self) -> None:
        """Raise the error of the schema itself."""
        # No formats: a pattern that Python cannot read may still be a pattern.
        self._validator.check_schema(cast("Any", self._schema), format_checker=FormatChecker(()))

    def __call__(self, value: object) -> Found:
        """Yield the values that do not fit."""
        token = _steps.set(_Steps(value))
        try:
            yield from self._validator.iter_errors(cast("Any", value))
        finally:
            _steps.reset(token)


def checker(schema: Schema) -> SchemaValidator:
    """Return a checker of values against a schema."""
    return SchemaValidator(schema)


@functools.cache
def _bounded(draft: Any) -> Any:  # noqa: ANN401  jsonschema makes these classes at run time
    known = cast("Mapping[str, Keyword]", draft.VALIDATORS)
    counted = {key: _counted(known[key]) for key in known if key in _REFERENCES}
    keywords = {**known, **_KEYWORDS, **counted}
    timed = {key: _timed(keyword) for key, keyword in keywords.items()}
    return cast("Any", validators).extend(draft, timed)


_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def _counted(keyword: Keyword) -> Keyword:
    def counted(validator: object, value: object, instance: object, schema: object) -> Found:
        steps = _steps.get()
        steps.take()
        with steps.deeper():
            yield from keyword(validator, value, instance, schema) or ()

    return counted


def _timed(keyword: Keyword) -> Keyword:
    def timed(validator: object, value: object, instance: object, schema: object) -> Found:
        steps = _steps.get(None)
        if steps is not None:  # a value is checked, and not the schema itself
            steps.tick()
        return keyword(validator, value, instance, schema)

    return timed


def _size(value: object) -> int:
    if isinstance(value, Mapping):
        return 1 + sum(map(_size, cast("Schema", value).values()))
    if isinstance(value, list):
        return 1 + sum(map(_size, cast("list[object]", value)))
    return 1


def _matches(pattern: str, text: str) -> bool:
    return _steps.get().matches(pattern, text)


def _pattern(_validator: object, value: str, instance: object, _schema: object) -> Found:
    if isinstance(instance, str) and not _matches(value, instance):
        yield ValidationError("pattern")


def _required(_validator: object, value: object, instance: object, _schema: object) -> Found:
    if isinstance(instance, Mapping) and isinstance(value, list):
        for name in cast("list[str]", value):
            if name not in instance:
                yield ValidationError("required", path=[name])


def _additional(validator: Any, value: object, instance: object, schema: Schema) -> Found:  # noqa: ANN401  jsonschema's own
    if not isinstance(instance, Mapping):
        return
    known = as_schema(schema.get("properties"))
    patterns = as_schema(schema.get("patternProperties"))
    for name, item in cast("Schema", instance).items():
        if name in known or any(_matches(pattern, name) for pattern in patterns):
            continue
        if value is False:
            yield ValidationError("additionalProperties", path=[name])
        else:
            yield from validator.descend(item, value, path=name)


def _patterned(validator: Any, value: Schema, instance: object, _schema: object) -> Found:  # noqa: ANN401  jsonschema's own
    if isinstance(instance, Mapping):
        for pattern, part in value.items():
            for name, item in cast("Schema", instance).items():
                if _matches(pattern, name):
                    yield from validator.descend(item, part, path=name, schema_path=pattern)


def _unique(_validator: object, value: object, instance: object, _schema: object) -> Found:
    if value and isinstance(instance, list):
        items = cast("list[object]", instance)
        if len({json.dumps(item, sort_keys=True) for item in items}) < len(items):
            yield ValidationError("uniqueItems")


def _multiple(_validator: object, value: float, instance: object, _schema: object) -> Found:
    """Compare the numbers as they are written: 19.99 is a multiple of 0.01."""
    if isinstance(instance, bool) or not isinstance(instance, int | float):
        return
    if not math.isfinite(instance) or (_exact(instance) / _exact(value)).denominator != 1:
        yield ValidationError("multipleOf")


def _exact(number: float) -> Fraction:
    return Fraction(number if isinstance(number, int) else repr(number))


def _nothing(_validator: object, _value: object, _instance: object, _schema: object) -> Found:
    yield from ()


_KEYWORDS: dict[str, Keyword] = {
    "pattern": _pattern,
    "required": _required,
    "additionalProperties": _additional,
    "patternProperties": _patterned,
    "uniqueItems": _unique,
    "multipleOf": _multiple,
    "unevaluatedProperties": _nothing,
    "unevaluatedItems": _nothing,
}
