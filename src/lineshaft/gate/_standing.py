"""Where a run stands when it is suspended, previewed, or not as it was when it is replayed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lineshaft.trace import Redactor
from lineshaft.values import Answer, CallRecord, Difference, KeptCall, Pending, ToolSpec, Verdict

Files = Mapping[str, str | None]
"""Files by path, each with the hash of what is on the disk; None: no file is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the gate needs to know when the run goes on."""

    pending: tuple[Pending, ...]
    keys: Mapping[str, str]
    """Of the pending calls, by their ids."""

    seen: Mapping[str, int]
    """How many times each pair of tool and arguments was called, pending calls left out."""

    for_the_run: Mapping[str, Answer]
    """By rule."""

    shown: Mapping[str, Files] = field(default_factory=dict[str, Files])
    """What the pending calls would change, by their keys, as it was when somebody was shown it."""


def pair_of(key: str) -> str:
    """Return the part of a call's identity that stands for its tool and arguments."""
    return key.split("/")[-2]


def difference(call: CallRecord, expected: KeptCall | None, redactor: Redactor) -> Difference:
    """Return what a replay says of a call that is not recorded.

    Args:
        call: The call.
        expected: The first recorded one that the script has not made.
        redactor: Makes its arguments fit to be shown.
    """
    wanted = None
    message = f"{call.id} calls {call.tool}, which was not called like this"
    if expected is not None:
        wanted = CallRecord(
            id=expected.id,
            tool=expected.tool,
            arguments=redactor.arguments(None, expected.arguments),
            status="done",
        )
        message += f"; the record goes on with {expected.id}: {expected.tool}"
    return Difference(call=call, expected=wanted, message=message)


def acts_beyond_files(spec: ToolSpec, verdict: Verdict) -> bool:
    """Return whether a preview cannot make a call: it acts, or a person must say first."""
    if spec.container or spec.effect == "write":
        return False
    return spec.effect != "read" or verdict.kind == "ask"
