"""A text at a parameter's annotation describes it."""

from dataclasses import dataclass
from typing import Annotated, Any, cast

from pydantic import Field

from lineshaft import tool


@dataclass(frozen=True)
class Doc:
    """A note as other libraries have it."""

    documentation: str


def properties(made: Any) -> dict[str, dict[str, object]]:
    return cast("dict[str, dict[str, object]]", made.spec.input_schema["properties"])


def test_a_text_at_an_argument_describes_it() -> None:
    @tool(effect="read")
    def weather(
        city: Annotated[str, "Name of\n    a city."],
        days: Annotated[int, 7, Doc("How far to look.")] = 1,
        unit: Annotated[str, Field(description="Of the degrees.")] = "C",
        wind: bool = False,
    ) -> Annotated[str, "A sentence."]:
        """Return the weather.

        Args:
            city: In the docstring.
            wind: Whether to tell of it.
        """
        return f"{city} {days} {unit} {wind}"

    told = {name: each.get("description") for name, each in properties(weather).items()}
    assert told == {
        "city": "Name of a city.",
        "days": "How far to look.",
        "unit": "Of the degrees.",
        "wind": "Whether to tell of it.",
    }
    assert weather.spec.output_schema == {"description": "A sentence.", "type": "string"}
