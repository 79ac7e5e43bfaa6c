"""The contract of a tool: the seam between a tool and the validation of its values.

Two implementations: `typed.TypedContract` from a Python signature, and
`from_schema.SchemaContract` from JSON Schemas.
"""

from collections.abc import Mapping
from typing import Protocol


class Contract(Protocol):
    """Checks arguments before a tool's body runs, and its result afterwards."""

    @property
    def description(self) -> str:
        """The tool's description, where the function has a docstring."""
        ...

    @property
    def input_schema(self) -> Mapping[str, object]:
        """JSON Schema of the arguments, an object."""
        ...

    @property
    def output_schema(self) -> Mapping[str, object] | None:
        """JSON Schema of the result; None where it is not known."""
        ...

    @property
    def positional(self) -> tuple[str, ...]:
        """Names of the parameters that may be given by position, in order."""
        ...

    @property
    def context(self) -> tuple[str, ...]:
        """Names of the parameters that are filled in with the `Context`."""
        ...

    def accept(self, arguments: dict[str, object]) -> dict[str, object]:
        """Return the arguments for the body.

        Args:
            arguments: Plain values by name, as they came.

        Raises:
            Mismatch: They do not fit.
        """
        ...

    def deliver(self, result: object) -> object:
        """Return a result as plain values.

        Raises:
            Mismatch: It does not fit, or has no plain form.
        """
        ...
