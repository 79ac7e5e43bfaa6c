"""A JSON Schema as the annotation of a parameter or result; checking by it is bounded."""

from typing import Annotated, Any

from lineshaft.tools.schemas import tell


def schema_type(schema: object, what: str) -> object:
    """Return the type of the values that fit a JSON Schema.

    Args:
        schema: It is not trusted.
        what: Names it in messages.

    Raises:
        ConfigError: It is none, too large, or leads outside or back to itself.
    """
    from pydantic import AfterValidator, WithJsonSchema  # noqa: PLC0415  slow to import

    from lineshaft.tools.from_schema import checker, problems_in, sound  # noqa: PLC0415  the same

    read = sound(schema, what)
    check = checker(read)

    def checked(value: object) -> object:
        if problems := problems_in(check, value, ()):
            raise ValueError(tell(problems, "it"))
        return value

    return Annotated[Any, AfterValidator(checked), WithJsonSchema(dict(read))]
