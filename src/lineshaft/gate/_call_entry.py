"""The facts of one call, from its arrival at the gate to its end."""

from collections.abc import Mapping, Sequence

from lineshaft.values import (
    Arguments,
    Call,
    CallError,
    CallRecord,
    CallStatus,
    Done,
    Failure,
    Stage,
    Struct,
    ToolSpec,
    Value,
    Verdict,
    encoded,
)


class CallEntry(Struct, kw_only=True, eq=False):
    """The facts of one call while it is under way."""

    __unshown__ = frozenset({"beside"})

    call: Call
    spec: ToolSpec | None = None
    arguments: Arguments
    """Exact; validated and with decided paths as far as the call has come."""

    shown: Mapping[str, object] | None = None
    """As recorded; made once the arguments are final."""

    rule: str = ""
    verdict: Verdict | None = None
    """What policy said."""

    told: bool = False
    """The log has it."""

    ended: bool = False
    """The log has its end."""

    key: str = ""
    reserved: bool = False
    """It counts among the calls that its run may make."""

    started: float | None = None
    """`time.monotonic()` when the tool itself was started."""

    answered: bool = False
    """Its result was known: an earlier segment of the run made it, and has its record."""

    refusal: Failure | None = None
    """Set where the call was refused, whatever becomes of the run after it."""

    status: CallStatus = "pending"
    duration_ms: float = 0
    error: CallError | None = None
    stage: int = 0
    """How many times changes had landed before it started."""

    staged: bool = False
    """It changed what its run keeps back until it lands."""

    keeps_back: bool = False
    """Its tool ran, and changes nothing but what its run keeps back."""

    layer: Stage | None = None
    """Keeps back what a container changes."""

    scripted: bool = False
    """Of a container: it has executed its script."""

    approved: bool = False
    """A person approved it."""

    schema: str = ""
    """Of a call that a person is asked about: the digest of its tool's input schema."""

    counted: bool = False
    """An earlier segment of the run has started it, and counts it."""

    weighed: bool = False
    """An earlier segment of the run counts its result."""

    again: bool = False
    """It waited in an earlier segment of the run, and the record has it already."""

    size: int | None = None
    """Of its result, in bytes."""

    beside: "Sequence[CallEntry]" = ()
    """All calls that came of one call of a script, this one too, where there is middleware."""

    @property
    def id(self) -> str:
        """The call's id."""
        return self.call.id

    @property
    def name(self) -> str:
        """The canonical name of the tool; the name as called where there is no such tool."""
        return self.spec.name if self.spec else self.call.tool

    @property
    def staged_after(self) -> int | None:
        """How many times changes had landed before it, where nothing that it did is on the disk."""
        kept_back = self.keeps_back and (self.staged or self.status == "failed")
        return self.stage if kept_back else None

    def weigh(self, done: Done) -> int:
        """Return the size of its result in bytes; that of a failure is none."""
        if self.size is None:
            self.size = 0 if isinstance(done, Failure) else _size(done)
        return self.size

    def record(self, shown: Mapping[str, object]) -> CallRecord:
        """Return the call as the record has it.

        Args:
            shown: Its arguments, redacted.
        """
        return CallRecord(
            id=self.id,
            tool=self.name,
            arguments=shown,
            status=self.status,
            effect=self.spec.effect if self.spec else None,
            rule=self.rule,
            duration_ms=round(self.duration_ms, 3),
            error=self.error,
            parent=self.call.parent,
            staged_after=self.staged_after,
        )


def _size(done: Value) -> int:
    return len(encoded(done.value))
