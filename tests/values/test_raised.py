"""What `raise_for_status` of results raises."""

import pytest

from lineshaft import errors
from lineshaft.values import CallError, CallRecord, CallResult, RunError, RunResult, RunStatus


def result(status: RunStatus, code: str, *calls: CallRecord) -> RunResult:
    error = RunError(code=code, message="it ended", hint="mend it")
    return RunResult(run_id="run", status=status, error=error, calls=calls)


def failed_call(code: str) -> CallRecord:
    error = CallError(code=code, message="it ended")
    return CallRecord(id="c1", tool="a.b", arguments={}, status="failed", error=error)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        ("error", "E_SCRIPT", errors.ScriptFailed),
        ("error", "E_NOT_JSON", errors.ScriptFailed),
        ("error", "E_ENGINE_CRASHED", errors.EngineCrashed),
        ("error", "E_DIVERGED", errors.EngineError),
        ("error", "E_NO_BOUNDARY", errors.NoBoundary),
        ("error", "E_RECORD", errors.RecordError),
        ("error", "E_STALE", errors.ToolError),
        ("refused", "E_CHECK", errors.EngineError),
        ("refused", "E_DENIED", errors.ToolError),
        ("timeout", "E_TIMEOUT", errors.LimitExceeded),
        ("limit", "E_LIMIT", errors.LimitExceeded),
        ("paused", "E_PAUSED", errors.EngineError),
        ("cancelled", "E_CANCELLED", errors.EngineError),
    ],
)
def test_a_run_raises_the_class_of_its_code(
    status: RunStatus, code: str, kind: type[errors.LineshaftError]
) -> None:
    with pytest.raises(errors.LineshaftError) as caught:
        result(status, code).raise_for_status()
    assert type(caught.value) is kind
    assert (caught.value.code, caught.value.message, caught.value.hint) == (
        code,
        "it ended",
        "mend it",
    )


def test_a_code_of_the_tools_own_is_that_of_its_call() -> None:
    with pytest.raises(errors.ToolError) as caught:
        result("error", "E_MINE", failed_call("E_MINE")).raise_for_status()
    assert (caught.value.code, caught.value.tool) == ("E_MINE", "a.b")


def test_a_cancelled_run_is_no_failed_call() -> None:
    with pytest.raises(errors.EngineError):
        result("cancelled", "E_CANCELLED", failed_call("E_CANCELLED")).raise_for_status()


def test_a_successful_run_raises_nothing() -> None:
    done = RunResult(run_id="run", status="success", value=1)
    assert done.raise_for_status() is done


@pytest.mark.parametrize("unknown", [False, True])
def test_a_call_raises_its_error(*, unknown: bool) -> None:
    error = CallError(code="E_MINE", message="it ended", hint="mend it")
    failed = CallResult(error=error, status="unknown" if unknown else "failed")
    with pytest.raises(errors.ToolError) as caught:
        failed.raise_for_status()
    raised = caught.value
    assert (raised.code, raised.message, raised.hint) == ("E_MINE", "it ended", "mend it")
    assert raised.unknown == unknown


def test_a_call_that_was_made_raises_nothing() -> None:
    done = CallResult(value=1)
    assert done.raise_for_status() is done
