"""What a run may use."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one run; all of them are always in force."""

    seconds: float = 60
    """Of the run, without the time in which only approvals are awaited."""

    calls: int = 1_000
    """Dispatched calls; three times as many refused ones end the run."""

    memory_mb: int = 256
    call_seconds: float = 60
    """Of one call, from when it starts."""

    stdout_bytes: int = 50_000
    """Kept of what the script prints; two hundred times as much ends the run."""

    stderr_bytes: int = 10_000

    recursion: int = 1_000
    """Depth of the script's own calls."""

    @classmethod
    def for_model(cls) -> "Limits":
        """Return the limits for a script that a model wrote: 50 calls."""
        return cls(calls=50)

    def within(self, other: "Limits") -> "Limits":
        """Return these limits, none of them above the other's."""
        return replace(
            self,
            **{name: min(getattr(self, name), getattr(other, name)) for name in self.__slots__},
        )
