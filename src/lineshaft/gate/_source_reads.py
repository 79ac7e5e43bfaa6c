"""Reads of source text that no call makes: files that hold scripts, modules that scripts import."""

from msgspec.structs import replace

from lineshaft.errors import ToolError
from lineshaft.gate._messages import refusal
from lineshaft.gate._run_info import RunInfo
from lineshaft.policy import judge
from lineshaft.values import Call, CallScope, Origin, ToolSpec

_READ = ToolSpec(name="read_file", effect="read", paths=(("path",),))
"""What stands for such a read in policy."""


async def read_source(
    run: RunInfo, path: str, *, what: str, origin: Origin = "script", scope: CallScope | None = None
) -> tuple[str, bytes]:
    """Return a file's decided path and its content, judged as `read_file`.

    Args:
        run: The run.
        path: Of the workspace.
        what: Names the read in a refusal, before the path.
        origin: The way in of the run or call that reads it.
        scope: What stands around it.

    Raises:
        ToolError: `E_DENIED`, with the rule.
        WorkspaceError: The file cannot be read.
    """
    asked = Call(tool=_READ.name, arguments={}, origin=origin, scope=scope)
    view = run.view_of(asked)
    place = (await view.resolve(path)).path
    decided = str(place)
    call = replace(asked, arguments={"path": decided})
    verdict = judge(run.policy_of(call), run.gate.subject(_READ, call, (decided,)))
    if verdict.kind != "allow":
        raise ToolError("E_DENIED", refusal(f"{what} {decided}", verdict))
    return decided, (await view.read(place)).data  # what was judged, and nothing that it became
