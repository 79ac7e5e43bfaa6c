"""Messages to a caller about a call that the gate did not make."""

from collections.abc import Iterator
from typing import cast

from lineshaft.errors import ToolError
from lineshaft.values import Call, Failure, Verdict

OVER = Failure("E_DENIED", "the run is over: it makes no further calls", "", "refused")
CANCELLED = Failure("E_CANCELLED", "the call was cancelled", "", "cancelled")

_MEMBERS = 5
"""Errors of a group that are told."""


def refusal(name: str, verdict: Verdict) -> str:
    """Return what is said where policy does not allow a call."""
    did = "stopped the run at" if verdict.kind == "stop" else "refused"
    reason = f": {verdict.reason}" if verdict.reason else ""
    return f"policy {did} {name} (rule {verdict.rule!r}){reason}"


def failed(call: Call, error: Exception) -> ToolError:
    """Return the error for a call whose way through the gate broke."""
    if isinstance(error, ToolError):  # of middleware, which says what it means
        return error
    return ToolError("E_TOOL_FAILED", f"{call.tool} failed: {described(error)}")


def described(error: BaseException) -> str:
    """Return an error as text: its type, its message, its notes, and the members of a group."""
    kind = type(error).__name__
    parts = [f"{kind}: {error}" if str(error) else kind]
    members = list(_members(error))
    if members != [error]:
        told = [described(member) for member in members[:_MEMBERS]]
        if len(members) > len(told):
            told.append(f"and {len(members) - len(told)} more")
        parts.append(f"({'; '.join(told)})")
    return " ".join((*parts, *map(str, getattr(error, "__notes__", ()))))


def only_one(error: BaseException) -> BaseException:
    """Return the one error of which a group is made; the error itself where it is no such group."""
    members = list(_members(error))
    return members[0] if len(members) == 1 else error


def _members(error: BaseException) -> Iterator[BaseException]:
    """Iterate over the errors of a group and of the groups in it; one that is no group is alone."""
    if isinstance(error, BaseExceptionGroup):
        for each in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _members(each)
    else:
        yield error
