"""Which tool a call is about."""

from difflib import get_close_matches

from lineshaft.errors import ToolError
from lineshaft.gate._call_log import CallEntry
from lineshaft.gate._run_info import RunInfo
from lineshaft.policy import closed_by
from lineshaft.tools import Tool


def find(run: RunInfo, entry: CallEntry) -> Tool:
    """Return the tool that a call names, and note which it is.

    Raises:
        ToolError: There is none, or none for a script.
    """
    tools, name = run.gate.tools, entry.call.tool
    tool = tools.get(name)
    if tool is None:
        run.call_log.called(entry)
        close = get_close_matches(name, _open(run, entry), n=1)
        hint = f"did you mean {close[0]!r}?" if close else "search_tools(words) finds tools"
        hint = run.gate.why_missing(name) or hint
        raise ToolError("E_UNKNOWN_TOOL", f"there is no tool {name!r}", hint=hint)
    entry.spec = tool.spec
    if entry.call.origin == "script" and not tool.spec.scriptable:
        entry.rule = "not-scriptable"
        run.call_log.called(entry)
        raise ToolError("E_DENIED", f"{name!r} may not be called from a script")
    return tool


def _open(run: RunInfo, entry: CallEntry) -> list[str]:
    """Return the names of the tools that policy does not close to whoever made a call."""
    policy, origin = run.gate.policy, entry.call.origin
    return [n for n, t in run.gate.tools.items() if closed_by(policy, t.spec, (origin,)) is None]
