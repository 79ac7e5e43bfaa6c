"""Inputs that a pydantic model declares: its fields as parameters, and its own validators.

Imported with pydantic itself, where there is such a model.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, cast

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from lineshaft.errors import ToolError


def fields_of(model: type[BaseModel]) -> tuple[dict[str, object], dict[str, object]]:
    """Return the fields of a model as types of parameters, and the defaults.

    Constraints and descriptions are notes of the types, as a function would have them.
    """
    model.model_rebuild()
    later = AfterValidator if _validates(model) else ()  # the model calls them, and once is enough
    kinds: dict[str, object] = {}
    defaults: dict[str, object] = {}
    for name, field in model.model_fields.items():
        told: dict[str, Any] = {
            "title": field.title,
            "description": field.description,
            "examples": field.examples,
            "discriminator": field.discriminator,
            "json_schema_extra": field.json_schema_extra,
        }
        said = Field(**{key: value for key, value in told.items() if value is not None})
        notes = (note for note in field.metadata if not isinstance(note, later))
        kinds[name] = cast("dict[object, object]", Annotated)[(field.annotation, *notes, said)]
        if not field.is_required():
            defaults[name] = field.get_default(call_default_factory=True)
    return kinds, defaults


def validator_of(model: type[BaseModel]) -> Callable[[Mapping[str, object]], dict[str, object]]:
    """Return what takes given inputs by the model's own validators, those across fields too."""
    if not _validates(model):
        return dict  # the types of the parameters say all
    made = {
        name: default
        for name, default in fields_of(model)[1].items()
        if model.model_fields[name].default_factory is not None
    }

    def validated(given: Mapping[str, object]) -> dict[str, object]:
        try:
            # What a function makes by default is made once: a resume must find the same inputs.
            found = model.model_validate({**made, **given}, by_alias=False, by_name=True)
        except ValidationError as error:
            told = "; ".join(map(_told, error.errors(include_url=False)))
            raise ToolError("E_INVALID_ARGS", f"the inputs are refused: {told}") from None
        return {name: getattr(found, name) for name in model.model_fields}

    return validated


def _validates(model: type[BaseModel]) -> bool:
    """Return whether a model has validators that no type of a field tells of."""
    its = model.__pydantic_decorators__
    return any((its.validators, its.field_validators, its.root_validators, its.model_validators))


def _told(problem: Mapping[str, Any]) -> str:
    place = ".".join(map(str, problem["loc"]))
    text = str(problem["msg"]).removeprefix("Value error, ")
    return f"`{place}`: {text}" if place else text
