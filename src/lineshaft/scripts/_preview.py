"""Preview of the changes of a run, read before they are dropped."""

from collections.abc import Awaitable

import anyio

from lineshaft.errors import Guarded
from lineshaft.scripts._context import RunContext, RunProgress
from lineshaft.scripts._outcome import Ended
from lineshaft.values import Finding, RunError


class PreviewOutcome:
    """The facts of a preview beside the run's result.

    Args:
        context: Of the run that lands nothing.
        progress: Its progress; guards that would refuse its changes end it as they would.
    """

    def __init__(self, context: RunContext, progress: RunProgress) -> None:
        self._context = context
        self._progress = progress
        self.diff = ""
        """All changes as one unified diff."""

    async def after(self, work: Awaitable[None]) -> None:
        """Look at the changes once the run's work is done, or ended."""
        try:
            await work
        finally:
            with anyio.CancelScope(shield=True):
                self.diff = await self._context.view.diff()
        ended = self._progress.ended
        if ended is not None and ended.status == "success":
            await self._ask_guards(ended.value)

    async def _ask_guards(self, value: object) -> None:
        try:
            self._progress.findings += await self._context.view.look(self._context.gate.guards)
        except Guarded as error:
            found = (finding for finding in error.findings if isinstance(finding, Finding))
            self._progress.findings += tuple(found)
            told = RunError(code=error.code, message=error.message, hint=error.hint)
            self._progress.ended = Ended(status="error", value=value, error=told)
