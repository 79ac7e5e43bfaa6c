"""The contract of a tool from JSON Schemas that came from elsewhere.

The schemas are not trusted: no reference is fetched, and no circle, depth or slow pattern blocks
the host.
"""

from collections.abc import Mapping
from itertools import islice
from typing import cast

from lineshaft.errors import ConfigError
from lineshaft.tools.from_schema.errors import problems_of
from lineshaft.tools.from_schema.identifiers import name_parts_by_pointer
from lineshaft.tools.from_schema.validator import SchemaValidator, checker
from lineshaft.tools.schemas import (
    Function,
    Mismatch,
    NotPlain,
    Problem,
    Schema,
    as_list,
    as_schema,
    is_context,
    members,
    plain,
    resolve,
    subschemas,
    type_hints,
    unknown,
)
from lineshaft.values import beginning

_MOST_PARTS = 10_000
_LONGEST_CHAIN = 50
_MOST_PROBLEMS = 20
_IN_PLACE = ("not", "if", "then", "else")


class SchemaContract:
    """The contract that two JSON Schemas state.

    Args:
        input_schema: Of the arguments, an object.
        output_schema: Of the result, where known.
        function: Takes the arguments as keywords; looked at for a `Context` parameter only.
        name: For messages.

    Raises:
        ConfigError: A schema is not one, or leads outside, or back to itself.
    """

    description = ""

    def __init__(
        self,
        input_schema: Mapping[str, object],
        output_schema: Mapping[str, object] | None,
        *,
        function: Function,
        name: str,
    ) -> None:
        self.input_schema = sound(input_schema, f"the input schema of {name!r}")
        kind = self.input_schema.get("type", "object")
        if kind != "object":
            raise ConfigError(f"the input schema of {name!r} is of type {kind!r}, not 'object'")
        self.output_schema = None
        if output_schema is not None:
            self.output_schema = sound(output_schema, f"the output schema of {name!r}")
        found = members(self.input_schema, self.input_schema)
        self._names = tuple(found.properties)
        self._open = found.open
        self.context = _context(function, name)
        self.positional = _positional(self.input_schema)
        for parameter in set(self.context) & set(self._names):
            raise ConfigError(
                f"parameter {parameter!r} of {name!r} takes the Context, and is in the schema too",
                hint="give the function's parameter another name",
            )
        self._input = checker(self.input_schema)
        self._output = None if self.output_schema is None else checker(self.output_schema)

    def accept(self, arguments: dict[str, object]) -> dict[str, object]:
        """Return a copy of the arguments, if they fit the input schema."""
        problems: list[Problem] = []
        if not self._open:
            extra = [name for name in arguments if name not in self._names]
            problems = [Problem((name,), unknown(name, self._names)) for name in extra]
        problems += problems_in(self._input, arguments, self._names)
        if problems:
            raise Mismatch(list({problem.path: problem for problem in problems}.values()))
        return cast("dict[str, object]", plain(arguments))

    def deliver(self, result: object) -> object:
        """Return a result as plain values that fit the output schema."""
        try:
            value = plain(result)
        except NotPlain as error:
            raise Mismatch.of(error, "is") from error
        if self._output is not None and (problems := problems_in(self._output, value, ())):
            raise Mismatch(problems)
        return value


def problems_in(check: SchemaValidator, value: object, names: tuple[str, ...]) -> list[Problem]:
    """Return why a value does not fit a schema; nothing where it fits.

    Args:
        check: Of the schema.
        value: The value.
        names: Those that may stand at its top, for unknown ones.
    """
    try:
        return problems_of(islice(check(value), _MOST_PROBLEMS), names)
    except RecursionError:
        return [Problem((), "is nested too deeply to be checked against its schema")]
    except Exception as error:  # noqa: BLE001  a schema from elsewhere may break the validator
        return [Problem((), f"could not be checked against its schema: {error!r:.200}")]


def sound(given: object, what: str) -> Schema:
    """Return a copy of a schema, if it is one and can be worked with.

    `nullable` of OpenAPI 3.0, which JSON Schema does not know, is said in its words.

    Args:
        given: The schema.
        what: Names it in messages.

    Raises:
        ConfigError: It is none, too large, or leads outside or back to itself.
    """
    if not isinstance(given, Mapping):
        raise ConfigError(f"{what} is no object: {given!r:.80}")
    try:
        schema = as_schema(plain(cast("object", given)))
    except NotPlain as error:
        raise ConfigError(f"{what} holds {error.what}") from error
    if sum(1 for _ in islice(subschemas(schema), _MOST_PARTS + 1)) > _MOST_PARTS:
        raise ConfigError(f"{what} has more than {_MOST_PARTS:,} parts")
    for part in subschemas(schema):
        if part is not schema or schema.get("type") != "object":  # arguments are never None
            _say_null(cast("dict[str, object]", part))
    try:
        name_parts_by_pointer(schema)
        checker(schema).check_schema()
    except Exception as error:
        raise ConfigError(f"{what} is no valid JSON Schema: {_first_line(error)}") from error
    _check_references(schema, what)
    return schema


def _say_null(part: dict[str, object]) -> None:
    kind = part.get("type")
    if part.get("nullable") is not True or not isinstance(kind, str):
        return  # without a type beside it, it means nothing
    del part["nullable"]
    part["type"] = [kind, "null"]
    if "enum" in part:
        part["enum"] = [*as_list(part["enum"]), None]


def _first_line(error: Exception) -> str:
    text = getattr(error, "message", "") or str(error) or type(error).__name__
    return beginning(str(text).split("\n", maxsplit=1)[0], 200)


def _check_references(schema: Schema, what: str) -> None:
    anchors = {f"#{part.get('$anchor', part.get('$dynamicAnchor'))}" for part in subschemas(schema)}
    for part in subschemas(schema):
        for key in ("$ref", "$dynamicRef"):
            ref = part.get(key)
            if ref is None or (isinstance(ref, str) and ref in anchors):
                continue
            if not isinstance(ref, str) or resolve(ref, schema) is None:
                raise ConfigError(
                    f"{what} refers to {ref!r:.100}, which is not in it",
                    hint="references are never fetched: put their targets under $defs",
                )
    lengths: dict[int, int] = {}
    for part in subschemas(schema):
        if _chain(part, schema, lengths, ()) > _LONGEST_CHAIN:
            raise ConfigError(f"{what} refers to itself without end, or through too many steps")


def _chain(schema: Schema, root: Schema, lengths: dict[int, int], above: tuple[int, ...]) -> int:
    """Return how many schemas in a row a value must fit, at the most, before its own parts."""
    if id(schema) in above or len(above) > _LONGEST_CHAIN:
        return _LONGEST_CHAIN + 1
    if (known := lengths.get(id(schema))) is not None:
        return known
    above = (*above, id(schema))
    longest = 1
    for part in _in_place(schema, root):
        longest = max(longest, 1 + _chain(part, root, lengths, above))
        if longest > _LONGEST_CHAIN:
            break
    lengths[id(schema)] = longest
    return longest


def _in_place(schema: Schema, root: Schema) -> list[Schema]:
    """Return the schemas that the same value must fit, or may have to."""
    parts = [schema[key] for key in _IN_PLACE if key in schema]
    for key in ("allOf", "anyOf", "oneOf"):
        parts.extend(as_list(schema.get(key)))
    for key in ("dependentSchemas", "dependencies"):
        parts.extend(as_schema(schema.get(key)).values())
    parts.extend(resolve(schema[key], root) for key in ("$ref", "$dynamicRef") if key in schema)
    return [cast("Schema", part) for part in parts if isinstance(part, Mapping)]


def _positional(schema: Schema) -> tuple[str, ...]:
    """Return the parameters of a foreign schema whose order its author has chosen.

    The only required parameter has no order to lose. Several have one where `required` lists them
    as `properties` does, unless that is the order of the alphabet: programs that sort keys would
    swap a path and a content in silence.
    """
    if schema.keys() & {"$ref", "allOf", "anyOf", "oneOf", "if"}:
        return ()
    required = [str(name) for name in as_list(schema.get("required"))]
    written = [name for name in as_schema(schema.get("properties")) if name in required]
    if len(required) > 1 and (written != required or required == sorted(required)):
        return ()
    return tuple(required)


def _context(function: Function, name: str) -> tuple[str, ...]:
    try:
        hints = type_hints(function, name)
    except ConfigError:
        return ()
    return tuple(parameter for parameter, kind in hints.items() if is_context(kind))
