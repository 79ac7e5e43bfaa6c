"""One direct call: conversion of its end to that of its run, and of the run's to the call's."""

from lineshaft.scripts._outcome import Ended
from lineshaft.values import CallError, CallResult, Done, Failure, RunError, RunResult


def of_call(done: Done) -> Ended:
    """Return the end of the run that the end of its one call means."""
    if isinstance(done, Failure):
        error = RunError(code=done.code, message=done.message, hint=done.hint)
        return Ended(status="error", error=error)
    return Ended(status="success", value=done.value)


def call_result(result: RunResult) -> CallResult:
    """Return the result of the one call, given that of its run."""
    first = next(iter(result.calls), None)
    error = result.error
    if result.status == "paused" and first is not None:
        inside = error is not None and all(each.id != first.id for each in result.pending)
        message = f"{first.tool} waits for an approval (rule {first.rule!r}), and was not made"
        hint = f"once it is answered it is made: `lineshaft resume {result.run_id}`"
        if error is not None and inside:  # calls that it made wait, and not itself
            message, hint = f"{first.tool} is in its middle: {error.message}", error.hint
        error = RunError(code="E_PAUSED", message=message, hint=hint)
    return CallResult(
        value=result.value,
        error=error and CallError(code=error.code, message=error.message, hint=error.hint),
        status=first.status if first else "refused",
        rule=first.rule if first else "",
        duration_ms=result.duration_ms,
        call_id=first.id if first else "",
        run_id=result.run_id,
        pending=result.pending,
        expires_at=result.expires_at,
        changes=result.changes,
        landed=result.landed,
        dropped=result.dropped,
    )
