"""Landings that a crash interrupted in the workspace: search and repair."""

from collections.abc import Iterator

from lineshaft.cli._carry import carry
from lineshaft.cli._diagnosis import Diagnosis
from lineshaft.config import Settings, folder
from lineshaft.errors import LineshaftError
from lineshaft.values import Finding
from lineshaft.workspace import Folder

NAME = "landing"
_TOLD = 50


def landing(settings: Settings) -> Diagnosis:
    """Say whether changes are half landed."""
    try:
        half = folder(settings).half_landed()
    except LineshaftError as error:
        return Diagnosis(name=NAME, state="fail", text=error.message, hint=error.hint)
    if not half:
        return Diagnosis(name=NAME, state="ok", text="no changes are half landed")
    return Diagnosis(
        name=NAME,
        state="fail",
        text=f"changes of {half} stages are half landed, or landing just now",
        hint="finish or take them back: `lineshaft doctor --recover`",
    )


def recovered(settings: Settings) -> Iterator[Diagnosis]:
    """Finish or take back what is half landed, and say what was done."""
    try:
        workspace = folder(settings)
        findings = carry(lambda: _recover(workspace))
    except LineshaftError as error:
        yield Diagnosis(name=NAME, state="fail", text=error.message, hint=error.hint)
        return
    if not findings:
        yield Diagnosis(name=NAME, state="ok", text="nothing was half landed: nothing to recover")
    for finding in findings[:_TOLD]:
        state = "ok" if finding.level == "info" else "note"
        yield Diagnosis(name=NAME, state=state, text=finding.message, hint=finding.hint)
    if len(findings) > _TOLD:
        text = f"and {len(findings) - _TOLD} more files were left alone"
        yield Diagnosis(name=NAME, state="note", text=text)


async def _recover(workspace: Folder) -> tuple[Finding, ...]:
    return await workspace.recover()
