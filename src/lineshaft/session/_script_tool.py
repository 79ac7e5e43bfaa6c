"""The script tool of a container: a model that has few tools works on them by programs."""

from collections.abc import Sequence
from typing import Any

from lineshaft.errors import ToolError
from lineshaft.scripts import RUN_SCRIPT
from lineshaft.session import _text
from lineshaft.session._definitions import script_description
from lineshaft.session._model_side import MODEL_CHARACTERS
from lineshaft.session._requests import script_request
from lineshaft.tools import Tool, WorkspacePath
from lineshaft.trace import cut_for_model
from lineshaft.values import Context, InnerScript, Limits, RunResult, ToolSpec

_LIMITS = Limits.for_model()
_LONGEST_ERROR = 1_900
"""Of what a call that fails may say; the gate cuts what is longer."""


def script_tool(specs: Sequence[ToolSpec]) -> Tool[..., Any]:
    """Return `run_script` over the tools of a container, which brings it beside them.

    Args:
        specs: Those tools; the description tells of the ones that scripts may call.
    """
    told = [spec for spec in specs if spec.scriptable]

    async def run_script(
        *,
        code: str | None = None,
        file: WorkspacePath | None = None,
        args: list[str] | None = None,
        timeout_seconds: float | None = None,
        context: Context,
    ) -> str:
        """Run one Python script over many tools.

        Args:
            code: The script itself.
            file: Workspace path of a script, instead of `code`.
            args: Texts that the script finds in `args`.
            timeout_seconds: How long it may take, up to 600; 60 unless said.
            context: Of this call.
        """
        given = {"code": code, "file": file, "args": args, "timeout_seconds": timeout_seconds}
        request = script_request(given, most_seconds=_LIMITS.longest)
        result = await context.script(
            InnerScript(
                code=request.code,
                file=request.file,
                args=tuple(request.args),
                seconds=request.seconds,
            )
        )
        if result.status == "success":
            return _shown(_text.of_run(result, context.secrets))
        raise _failed(result, context)

    return Tool.from_function(
        run_script,
        name=RUN_SCRIPT.name,
        description=script_description(told, _LIMITS),
        effect="exec",
        scriptable=False,
        container=True,
        calls_as="script",
        replayable=True,
    )


def _failed(result: RunResult, context: Context) -> ToolError:
    """Return the error of a script that failed: where, and what it had printed until then."""
    said = _text.of_run(result, context.secrets)
    if context.uncommitted():
        said += "\n[its changes to files were dropped]"
    code = "E_TOOL_TIMEOUT" if result.status == "timeout" else "E_TOOL_FAILED"
    return ToolError(code, cut_for_model(said, _LONGEST_ERROR))


def _shown(text: str) -> str:
    if len(text) <= MODEL_CHARACTERS:
        return text
    note = f"\n[of {len(text):,} characters; print or return less]"
    return f"{cut_for_model(text, MODEL_CHARACTERS - len(note))}{note}"
