"""Messages to a caller about a call that the gate did not make."""

from lineshaft.errors import ToolError
from lineshaft.gate._raised import described
from lineshaft.values import Call, Failure, Verdict

OVER = Failure("E_DENIED", "the run is over: it makes no further calls", "", "refused")
CANCELLED = Failure("E_CANCELLED", "the call was cancelled", "", "cancelled")


def refusal(name: str, verdict: Verdict) -> str:
    """Return what is said where policy does not allow a call."""
    did = "stopped the run at" if verdict.kind == "stop" else "refused"
    reason = f": {verdict.reason}" if verdict.reason else ""
    return f"policy {did} {name} (rule {verdict.rule!r}){reason}"


def failed(call: Call, error: BaseException, *, where: str = "", hint: str = "") -> ToolError:
    """Return the error for a call whose way through the gate broke."""
    if isinstance(error, ToolError):  # of middleware, which says what it means
        return error
    return ToolError("E_TOOL_FAILED", f"{call.tool} failed{where}: {described(error)}", hint=hint)
