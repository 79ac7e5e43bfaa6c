"""Reading of scripts for runs: from text to a checked script with an engine."""

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from lineshaft.policy import Policy, closed_by
from lineshaft.scripts._context import RunProgress
from lineshaft.scripts._engines import Choice, Engines
from lineshaft.scripts._job import CheckLevel
from lineshaft.scripts._outcome import Ended
from lineshaft.scripts._tools import ToolSource
from lineshaft.scripts.reading import Prepared, Reading, strangers
from lineshaft.tools import script_name
from lineshaft.values import Engine, Finding, PythonTarget, RunError, ToolSpec

_NOT_THERE = frozenset({"undefined-name", "unknown-tool"})
"""Findings about names that stand for nothing."""


class Reader:
    """Reads scripts.

    Args:
        engines: To choose from; their checker looks at types.
        tools: The tools that scripts may call.
        policy: Tools that it always denies are known to the check by name alone.
        level: Whether findings block, only inform, or the check is off.
    """

    def __init__(
        self, engines: Engines, *, tools: ToolSource, policy: Policy, level: CheckLevel
    ) -> None:
        self._engines = engines
        self._policy = policy
        self._tools = tools
        self._level: CheckLevel = level
        self._reading = Reading(engines.ask)
        self._denied: tuple[Sequence[ToolSpec], frozenset[str]] = ((), frozenset())

    async def ready(self, tools: Iterable[str]) -> None:
        """Wait for tools, by name, that come from somewhere."""
        if words := "\n".join(tools):
            await self._tools.ready(words)

    async def read(self, script: object, *, name: str) -> Prepared:
        """Return a script as it can be executed; waits for the tools that it speaks of."""
        text = script if isinstance(script, str) else ""
        missing = await self._tools.ready(text)
        specs = self._tools.scriptable
        prepared = await self.read_with(script, specs=specs, hidden=self._hidden(specs), name=name)
        return replace(prepared, missing=missing) if missing else prepared

    async def read_with(
        self, script: object, *, specs: Sequence[ToolSpec], hidden: frozenset[str], name: str
    ) -> Prepared:
        """Return a script over certain tools as it can be executed.

        Args:
            script: The script.
            specs: The tools; best the same tuple each time.
            hidden: Names of those of which the script knows the name alone.
            name: Its name in messages.
        """
        if not self._engines.reads_scripts:
            text = str(script)
            told = tuple(spec for spec in specs if spec.name not in hidden)
            return Prepared(name=name, original=text, specs=specs, told=told, program_source=text)
        return await self._reading.read(script, specs=specs, name=name, hidden=hidden)

    def _hidden(self, specs: Sequence[ToolSpec]) -> frozenset[str]:
        if self._denied[0] is not specs:
            denied = (s.name for s in specs if closed_by(self._policy, s, ("script",)))
            self._denied = specs, frozenset(denied)
        return self._denied[1]

    async def find(
        self,
        prepared: Prepared,
        inputs: Mapping[str, object],
        *,
        engine: Engine | None = None,
        level: CheckLevel | None = None,
    ) -> tuple[Finding, ...]:
        """Return the findings about a script.

        Args:
            prepared: The script.
            inputs: The values it is given, for their types.
            engine: The engine that will execute it; None: the default one.
            level: Instead of the session's.
        """
        if not self._engines.reads_scripts:
            return ()
        if not prepared.ok:
            return prepared.findings
        found = await self._reading.check(
            prepared,
            checker=self._engines.checker,
            inputs=inputs,
            level=level or self._level,
            target=PythonTarget() if engine is None else engine.target,
        )
        return prepared.missing + tuple(_explained(one, prepared.missing) for one in found)

    def strange(self, prepared: Prepared, inputs: Mapping[str, object]) -> tuple[Finding, ...]:
        """Return the names in a script that stand for nothing here, where such names block.

        Args:
            prepared: The script.
            inputs: The values it is given.
        """
        return strangers(prepared, inputs) if self._level == "error" else ()

    async def choose(
        self, prepared: Prepared, inputs: Mapping[str, object], progress: RunProgress
    ) -> Choice | None:
        """Return the engine for a script; None with a finding where none can execute it."""
        choice = await self._engines.choose(prepared)
        progress.engine, progress.engine_reason = choice.name, choice.reason
        progress.findings = await self.find(prepared, inputs, engine=choice.engine)
        blocking = [f for f in progress.findings if f.level == "error"]
        if blocking or choice.engine is None:
            error = _blocked(blocking) if blocking else choice.problem
            progress.ended = Ended(status="error", error=error)
            return None
        return choice


def _explained(finding: Finding, missing: Sequence[Finding]) -> Finding:
    """Return a finding; where it is about a provider or tool that is lacking, its hint says why."""
    if finding.code not in _NOT_THERE:
        return finding
    for told in missing:
        namespace, _, tool = script_name(told.message.partition(":")[0]).partition(".")
        about = rf"`{re.escape(namespace)}[`.]"
        if tool:
            about = rf"`{re.escape(tool)}` in {about}"
        if re.search(about, finding.message):
            return replace(finding, hint=told.message)
    return finding


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
