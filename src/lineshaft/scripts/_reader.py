"""From a script's text to what is known of it: read, checked, an engine chosen."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import anyio.to_thread

from lineshaft.scripts._bench import Progress
from lineshaft.scripts._check import check, strangers
from lineshaft.scripts._engines import Choice, Engines
from lineshaft.scripts._job import CheckLevel
from lineshaft.scripts._offer import Offer
from lineshaft.scripts._outcome import Ended
from lineshaft.scripts._prepare import Prepared, prepare
from lineshaft.values import Finding, RunError, ToolSpec

_LONG_SCRIPT = 20_000
"""From so many characters on, a script is read beside the event loop."""

_RECENT = 16
"""Scripts that are known again: those that are previewed, resumed, or run with other inputs."""


class Reader:
    """Reads scripts.

    Args:
        engines: To choose from; their checker looks at types.
        offer: The tools that scripts may call.
        level: Whether findings block, only inform, or are not looked for.
    """

    def __init__(self, engines: Engines, *, offer: Offer, level: CheckLevel) -> None:
        self._engines = engines
        self._offer = offer
        self._level: CheckLevel = level
        self._recent: OrderedDict[tuple[str, str], Prepared] = OrderedDict()

    async def read(self, script: object, *, name: str) -> Prepared:
        """Return a script as it can be executed; waits for the tools that it speaks of."""
        text = script if isinstance(script, str) else ""
        missing = await self._offer.ready(text)
        specs = self._offer.scriptable
        if not self._engines.reads_scripts:
            text = str(script)
            return Prepared(name=name, original=text, specs=specs, program_source=text)
        if len(text) > _LONG_SCRIPT:
            prepared = await anyio.to_thread.run_sync(
                partial(prepare, script, specs=specs, name=name)
            )
        else:
            prepared = self._known(script, specs, name)
        return replace(prepared, missing=missing) if missing else prepared

    def _known(self, script: object, specs: tuple[ToolSpec, ...], name: str) -> Prepared:
        """Return a script as it was read before, with the same tools, or read it."""
        if not isinstance(script, str):
            return prepare(script, specs=specs, name=name)
        known = self._recent.pop((script, name), None)
        if known is None or known.specs is not specs:
            known = prepare(script, specs=specs, name=name)
        self._recent[script, name] = known
        if len(self._recent) > _RECENT:
            self._recent.popitem(last=False)
        return known

    async def find(
        self,
        prepared: Prepared,
        inputs: Mapping[str, object],
        *,
        level: CheckLevel | None = None,
    ) -> tuple[Finding, ...]:
        """Return what there is to say about a script.

        Args:
            prepared: The script.
            inputs: The values it is given, for their types.
            level: Instead of the session's.
        """
        if not self._engines.reads_scripts:
            return ()
        if not prepared.ok:
            return prepared.findings
        found = await check(
            prepared,
            checker=self._engines.checker,
            inputs=inputs,
            level=level or self._level,
        )
        return prepared.missing + found

    def strange(self, prepared: Prepared, inputs: Mapping[str, object]) -> tuple[Finding, ...]:
        """Return what a script names and nobody has here, where such names block.

        Args:
            prepared: The script.
            inputs: The values it is given.
        """
        return strangers(prepared, inputs) if self._level == "error" else ()

    async def choose(
        self, prepared: Prepared, inputs: Mapping[str, object], progress: Progress
    ) -> Choice | None:
        """Return the engine for a script; None where nothing can execute it, and say why."""
        choice = await self._engines.choose(prepared, inputs)
        progress.engine, progress.engine_reason = choice.name, choice.reason
        progress.findings = await self.find(prepared, inputs)
        blocking = [f for f in progress.findings if f.level == "error"]
        if blocking or choice.engine is None:
            error = _blocked(blocking) if blocking else choice.problem
            progress.ended = Ended(status="error", error=error)
            return None
        return choice


def _blocked(findings: list[Finding]) -> RunError:
    first = findings[0]
    code = {"E_INVALID_ARGS": "E_INVALID_ARGS", "not-awaited": "E_NOT_AWAITED"}.get(first.code)
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return RunError(
        code=code or "E_CHECK",
        message=f"{first.message}{more}",
        line=first.line,
        hint=first.hint,
    )
