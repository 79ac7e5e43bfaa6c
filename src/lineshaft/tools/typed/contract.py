"""The contract of a tool from the types of a Python function, checked by pydantic."""

from collections.abc import Callable, Mapping
from enum import Flag
from functools import partial
from typing import Any, Literal, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import SchemaError, from_json, to_json
from typing_extensions import TypedDict

from lineshaft.errors import ConfigError
from lineshaft.tools.schemas import (
    Function,
    Mismatch,
    NotPlain,
    Parameter,
    Problem,
    Schema,
    Signature,
    as_schema,
    plain,
    read_signature,
)
from lineshaft.tools.typed.errors import problems_of
from lineshaft.tools.typed.hidden import refuse_hidden
from lineshaft.tools.typed.modern import modern, whole
from lineshaft.tools.typed.open_parts import formed, is_open

_make = cast("Callable[[str, dict[str, object]], type]", TypedDict)

_BYTES = (bytes, bytearray, memoryview)


class TypedContract:
    """The contract of a function, from its annotations and its docstring.

    Args:
        function: Sync or async; not called here.
        method: Whether its first parameter is the object.
        name: For messages.

    Raises:
        ConfigError: A type has no JSON Schema, or callers could not give a parameter by name.
    """

    def __init__(self, function: Function, *, method: bool, name: str) -> None:
        signature = read_signature(function, method=method, name=name)
        self.description = signature.description
        self.context = signature.context
        self.positional = tuple(p.name for p in signature.parameters if p.by_position)
        self._names = tuple(p.name for p in signature.parameters)
        self._arguments, schema = _arguments(signature, name)
        self.input_schema: Schema = _described(schema, signature)
        self._result: TypeAdapter[Any] | None = None
        self.output_schema: Schema | None = None
        if (result := _result(signature, name)) is not None:
            self._result, self.output_schema = result
            if signature.result:
                self.output_schema = {"description": signature.result, **self.output_schema}
        self._is_open = self.output_schema is not None and is_open(self.output_schema)

    def accept(self, arguments: dict[str, object]) -> dict[str, object]:
        """Return the arguments as the function's own types; defaults are not added."""
        try:
            # Only by the names in the schema: policy and the record know no others.
            return self._arguments.validate_json(
                to_json(arguments), strict=True, by_alias=True, by_name=False
            )
        except ValidationError as error:
            raise Mismatch(problems_of(error, arguments, self._names)) from None
        except Exception as error:
            try:
                plain(arguments)
            except NotPlain as reason:
                raise Mismatch.of(reason, "is") from error
            raise Mismatch([Problem((), f"could not be checked: {error!r}")]) from error

    def deliver(self, result: object) -> object:
        """Return a result as plain values that fit the return annotation."""
        try:
            if self._result is None:
                return plain(result)
            checked = self._checked(self._result, result)
            typed = partial(self._dumped, self._result, checked, "json")
            if not self._is_open:
                return plain(typed())
            schema = as_schema(self.output_schema)
            return formed(self._dumped(self._result, checked, "python"), schema, typed)
        except NotPlain as error:
            raise Mismatch.of(error, "is") from error

    def _checked(self, adapter: TypeAdapter[Any], result: object) -> object:
        """Return the result as the annotated type: given as such, or as its JSON form."""
        try:
            return adapter.validate_python(result, strict=True)
        except ValidationError:
            pass
        value = plain(result)
        try:
            return adapter.validate_json(to_json(value), strict=True)
        except ValidationError as error:
            raise Mismatch(problems_of(error, value, ())) from None

    def _dumped(
        self, adapter: TypeAdapter[Any], value: object, mode: Literal["json", "python"]
    ) -> object:
        try:
            return adapter.dump_python(value, mode=mode, by_alias=True, warnings="error")
        except Exception as error:
            plain(value)
            raise Mismatch([Problem((), "has no JSON form as annotated")]) from error


class _Schemas(GenerateJsonSchema):
    """JSON Schemas without the titles that only repeat names."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  theirs

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401  theirs
        return False

    def enum_schema(self, schema: Any) -> JsonSchemaValue:  # noqa: ANN401  theirs
        """Return an enum's schema; flags can be combined, which pydantic's leaves out."""
        made = super().enum_schema(schema)
        flags = [each for each in schema["members"] if isinstance(each, Flag)]
        if not flags:
            return made
        del made["enum"]
        named = ", ".join(f"{each.name} = {each.value}" for each in flags)
        most = 0
        for each in flags:
            most |= each.value
        return {
            **made,
            "description": f"{named}; several are added",
            "type": "integer",
            "minimum": 0,
            "maximum": most,
        }

    def generate(self, schema: Any, mode: Any = "validation") -> JsonSchemaValue:  # noqa: ANN401  theirs
        made = super().generate(schema, mode)
        for name, part in made.get("$defs", {}).items():
            if part.get("title") == name:
                del part["title"]
        return made


_Adapted = tuple[TypeAdapter[Any], dict[str, object]]
"""The validator of a type, and the type's schema."""


def _arguments(signature: Signature, name: str) -> _Adapted:
    fields: dict[str, object] = {}
    for parameter in signature.parameters:
        if isinstance(parameter.default, FieldInfo):
            raise ConfigError(
                f"the default of parameter {parameter.name!r} of {name}() is a pydantic Field",
                hint=f"write {parameter.name}: Annotated[..., Field(...)] = default",
            )
        fields[parameter.name] = whole(parameter.type)
    required = frozenset(p.name for p in signature.parameters if p.required)
    try:
        made = _make(name, fields)
        # Not by `Required`: `typing` takes `int | str` for `str | int` there, if it has seen that.
        made.__required_keys__, made.__optional_keys__ = required, frozenset(fields) - required  # pyright: ignore[reportAttributeAccessIssue]  read by pydantic
        made.__pydantic_config__ = ConfigDict(extra="forbid")  # pyright: ignore[reportAttributeAccessIssue]  read by pydantic
        adapter, schema = _adapter(made, f"{name}()")
    except ConfigError:
        _refuse_parameters(fields, name)
        raise
    except TypeError as error:
        _refuse_parameters(fields, name)
        raise ConfigError(
            f"a parameter of {name}() is annotated with what is no type of a value: {error}",
            hint="write the type alone",
        ) from error
    if "$ref" in schema:  # `Self`, for which pydantic takes all the arguments
        _refuse_parameters(fields, name)
    refuse_hidden(adapter.core_schema, schema, name)
    return adapter, schema


def _refuse_parameters(fields: Mapping[str, object], name: str) -> None:
    """Refuse a parameter whose type cannot be used, by its name."""
    for field, kind in fields.items():
        _adapter(kind, f"parameter {field!r} of {name}()")


def _result(signature: Signature, name: str) -> _Adapted | None:
    if signature.returns is object or signature.returns is Any:
        return None
    if any(signature.returns is kind for kind in _BYTES):
        raise ConfigError(
            f"the result of {name}() is bytes, which JSON does not have",
            hint="return text: data.decode(), or base64.b64encode(data).decode()",
        )
    return _adapter(modern(signature.returns), f"the result of {name}()", "serialization")


def _adapter(
    kind: object, what: str, mode: Literal["validation", "serialization"] = "validation"
) -> _Adapted:
    try:
        adapter = TypeAdapter[Any](cast("type", kind))
        made = adapter.json_schema(mode=mode, schema_generator=_Schemas)
    except PydanticUserError as error:
        if error.code == "class-not-fully-defined":
            raise ConfigError(
                f"{what} has a type that names itself, or something that is not there",
                hint="name it by TypeAliasType of typing_extensions, or use a pydantic model",
            ) from error
        reason = str(error).split("\n", maxsplit=1)[0].partition(". ")[0]
        raise ConfigError(
            f"{what} has a type without a JSON Schema: {reason}",
            hint="use JSON's types, a dataclass, a TypedDict or a pydantic model",
        ) from error
    except SchemaError as error:
        reason = str(error).strip().rpartition("\n")[2].strip().removeprefix("error: ")
        raise ConfigError(
            f"{what} has a type with a condition that cannot be checked: {reason}",
            hint="patterns have no look-around and no back-references, and bounds the value's type",
        ) from error
    except Exception as error:
        raise ConfigError(
            f"{what} has a type that cannot be used: {error}",
            hint="install what it needs, or use another type",
        ) from error
    return adapter, cast("dict[str, object]", from_json(to_json(made)))


def _described(schema: dict[str, object], signature: Signature) -> dict[str, object]:
    """Return the schema of the arguments, with the docstring's words and the defaults."""
    del schema["title"]
    properties = cast("dict[str, dict[str, object]]", schema.get("properties", {}))
    for parameter in signature.parameters:
        found = properties.get(parameter.name)
        if found is None:
            raise ConfigError(
                f"parameter {parameter.name!r} goes by another name in the schema",
                hint="leave the alias out, and give the parameter that name",
            )
        text = signature.described.get(parameter.name)
        if text and "description" not in found:
            found["description"] = text
        if not parameter.required:
            _add_default(found, parameter)
    return schema


def _add_default(schema: dict[str, object], parameter: Parameter) -> None:
    try:
        schema.setdefault("default", plain(parameter.default))
    except NotPlain:
        return
