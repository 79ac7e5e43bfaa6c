"""The limits of a run."""

from collections.abc import Mapping

from msgspec.structs import replace

from lineshaft.errors import ConfigError
from lineshaft.values._struct import Struct

_LEAST: Mapping[str, int] = {
    "calls": 1,
    "agent_calls": 1,
    "memory_mb": 1,
    "stdout_bytes": 1,
    "stderr_bytes": 1,
    "recursion": 10,
}
"""Of the limits that are whole numbers; the others are seconds. Below these no script is of use:
its first call, or its first byte of output, ends it."""

_MOST = 1_000_000_000


class _Unsaid(int):
    """A default number; the same number given by a caller counts as given."""


_UNSAID = _Unsaid(1_000)
_OF_MODEL = 50


class Limits(Struct, frozen=True, kw_only=True):
    """Bounds of one run; all of them are always in force."""

    seconds: float = 60
    """Of the script, without the start of its engine and waits for approvals."""

    most_seconds: float = 600
    """The most that a model or client may ask for; `seconds`, where that is more."""

    calls: int = _UNSAID
    """Dispatched calls, 1,000 by default; three times as many refused ones end the run. The default
    for a model's script is 50."""

    agent_calls: int = 5_000
    """Dispatched calls of all microagents together; each has a budget of its own beside that."""

    memory_mb: int = 256
    """Megabytes of memory that the script may use."""

    call_seconds: float = 60
    """Of one call, from when it starts."""

    stdout_bytes: int = 50_000
    """Bytes kept of the script's output; two hundred times as much ends the run."""

    stderr_bytes: int = 10_000
    """Bytes kept of its error output; two hundred times as much ends the run too."""

    recursion: int = 1_000
    """Depth of the script's own calls."""

    def __post_init__(self) -> None:
        """Refuse values that are no bound."""
        for name in self.__struct_fields__:
            value: object = getattr(self, name)
            if not _bounds(name, value):
                least = _LEAST.get(name)
                allowed = "a number above 0" if least is None else f"a whole number from {least}"
                raise ConfigError(f"the limit {name} is {value!r}; allowed: {allowed} to {_MOST:,}")

    @classmethod
    def for_model(cls) -> "Limits":
        """Return the limits for a script that a model wrote: 50 calls."""
        return cls(calls=_OF_MODEL)

    @property
    def of_model(self) -> "Limits":
        """Return the same limits for a model's script: 50 calls, unless a number was given."""
        return replace(self, calls=_OF_MODEL) if isinstance(self.calls, _Unsaid) else self

    @property
    def longest(self) -> float:
        """The seconds that a model or client may ask for."""
        return max(self.most_seconds, self.seconds)

    def as_dict(self) -> dict[str, float]:
        """Return them by name."""
        return {name: getattr(self, name) for name in self.__struct_fields__}

    def within(self, other: "Limits") -> "Limits":
        """Return these limits, none of them above the other's."""
        return replace(
            self,
            **{
                name: min(getattr(self, name), getattr(other, name))
                for name in self.__struct_fields__
            },
        )


def _bounds(name: str, value: object) -> bool:
    """Return whether a value can be a limit."""
    least = _LEAST.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if least is None:
        return 0 < value <= _MOST
    return isinstance(value, int) and least <= value <= _MOST
