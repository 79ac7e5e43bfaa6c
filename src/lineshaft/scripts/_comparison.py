"""Comparison of a replay's end with the recorded end."""

from lineshaft.gate import RecordedResults
from lineshaft.values import CallRecord, Difference, RunResult, SavedRun


def at_the_end(result: RunResult, saved: SavedRun, recorded: RecordedResults) -> Difference | None:
    """Return the differences in the end of a replay that made only recorded calls."""
    if saved.end is None:
        return None
    missing = next((each.call for each in recorded.left if each.call.parent is None), None)
    if missing is not None:
        expected = CallRecord(id=missing.id, tool=missing.tool, arguments={}, status="done")
        text = f"the script ended without {missing.id}: {missing.tool}"
        return Difference(call=None, expected=expected, message=text)
    now = {
        "status": result.status,
        "value": result.value if result.status == "success" else None,
        "error": result.error.code if result.error else None,
        "stdout": result.stdout,
        "stderr": result.stderr,
    }
    if result.error is not None and result.error.code == "E_DIVERGED":
        return Difference(call=None, expected=None, message=result.error.message)
    for name, value in now.items():
        if _json(value) != _json(saved.end.get(name)):
            text = f"all calls were as recorded, and {name} is not"
            return Difference(call=None, expected=None, message=text)
    return None


def _json(value: object) -> bytes:
    from pydantic_core import to_json  # noqa: PLC0415  slow, and only replays compare

    return to_json(value, inf_nan_mode="constants")
