"""The reading of scripts: questions to the guest's reader, and the use of its answers."""

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, cast

from msgspec.structs import replace

from lineshaft.errors import EngineError
from lineshaft.sandbox.webassembly import GuestStopped, GuestTrapped
from lineshaft.scripts.reading.acceptance import accept
from lineshaft.scripts.reading.answers import BadAnswer, findings, prepared
from lineshaft.scripts.reading.ask import AskReader
from lineshaft.scripts.reading.prepared import Prepared
from lineshaft.scripts.reading.tools import ToldTools
from lineshaft.values import LATEST_PYTHON, Checker, Diagnostic, Finding, PythonTarget, ToolSpec

_SCRIPTS = 32
_OFFERS = 8
_CHECKS = 4
"""Sizes of the caches of entries used last: scripts, sets of tools, checks of one script."""

_MOST = 20
"""Findings of one script."""

_DIAGNOSTICS = 500
"""Of the type checker, for one script."""

_SCALARS = (bool, int, float, str)

_Level = Literal["error", "warn", "off"]


class Reading:
    """Reads and checks scripts; one that was read with the same tools is known again.

    Args:
        ask: The way to the guest's reader.
    """

    def __init__(self, ask: AskReader) -> None:
        self._ask = ask
        self._scripts: OrderedDict[tuple[str, str], Prepared] = OrderedDict()
        self._offers: list[ToldTools] = []
        self._sent: OrderedDict[str, None] = OrderedDict()

    async def read(
        self,
        source: object,
        *,
        specs: Sequence[ToolSpec],
        name: str = "script.py",
        hidden: Collection[str] = (),
    ) -> Prepared:
        """Return a script as it was read, with its forgotten `await`s repaired; runs nothing.

        Args:
            source: The script; anything but text is a finding.
            specs: The tools that it may call; best the same tuple from run to run.
            name: Its name in messages.
            hidden: Canonical names of tools of which scripts know the name alone.

        Raises:
            EngineError: There is no reader here.
        """
        original = source if isinstance(source, str) else ""
        known = self._scripts.pop((original, name), None)
        if known is None or known.specs is not specs or known.hidden != frozenset(hidden):
            text = accept(source)
            if isinstance(text, Finding):
                return Prepared(name=name, original=original, specs=specs, findings=(text,))
            offered = self._offered(specs, frozenset(hidden))
            known = await self._read(text, original=original, name=name, offered=offered)
        self._scripts[original, name] = known
        if len(self._scripts) > _SCRIPTS:
            self._scripts.popitem(last=False)
        return known

    async def check(
        self,
        script: Prepared,
        *,
        checker: Checker,
        inputs: Mapping[str, object],
        level: _Level = "error",
        target: PythonTarget = LATEST_PYTHON,
    ) -> tuple[Finding, ...]:
        """Return the findings about a script; those of level `error` keep it from running.

        Args:
            script: The script, read.
            checker: Checks its types.
            inputs: Values that it gets as globals, by name.
            level: With `warn` only text that is no Python blocks; with `off` there is no check.
            target: The Python that will execute it.
        """
        if not script.ok:
            return script.findings
        newer = _too_new(script, target)
        if level == "off":
            return newer
        key = {name: _type_of(value) for name, value in inputs.items()}, target
        known = next((found for checked, found in script.checks if checked == key), None)
        if known is None:
            known = tuple(_ordered(await self._wrong(script, checker, *key)))
            if not any(each.code == "checker-failed" for each in known):
                script.checks.insert(0, (key, known))
                del script.checks[_CHECKS:]
        if level == "warn":
            known = tuple(replace(f, level="warning") if f.level == "error" else f for f in known)
        return (*newer, *known)[:_MOST]

    async def _read(self, text: str, *, original: str, name: str, offered: ToldTools) -> Prepared:
        try:
            answer = await self._answer("read", text, offered)
            return prepared(answer, text=text, original=original, name=name, offered=offered)
        except (GuestTrapped, GuestStopped) as error:
            broken = _unreadable(text, slow=isinstance(error, GuestStopped))
        except BadAnswer as error:
            raise EngineError(f"the reader of scripts gave no proper answer ({error})") from error
        return Prepared(
            name=name,
            original=original,
            program_source=text,
            read_text=text,
            findings=(broken,),
            specs=offered.specs,
            hidden=offered.hidden,
        )

    async def _wrong(
        self, script: Prepared, checker: Checker, types: Mapping[str, str], target: PythonTarget
    ) -> list[Finding]:
        found = [*script.unawaited, *script.unknown, *script.misused, *script.tells]
        found += [each for name, each in script.undefined if name not in types]
        if not script.wants_types:
            return found
        offered = self._offered(script.specs, script.hidden)
        source, stubs = script.program_source, offered.stubs
        said = await checker.check(source, stubs=stubs, inputs=types, target=target)
        if not said:
            return found
        try:
            return [*found, *await self._judged(script, offered, said)]
        except (GuestTrapped, GuestStopped, BadAnswer) as error:
            message = f"the type checker's findings could not be read: {type(error).__name__}"
            failed = Finding(code="checker-failed", message=message, level="info", line=1, column=1)
            return [*found, failed]

    async def _judged(
        self, script: Prepared, offered: ToldTools, said: Sequence[Diagnostic]
    ) -> tuple[Finding, ...]:
        told = [[one.code, one.message, one.line, one.column] for one in said[:_DIAGNOSTICS]]
        words = " ".join(one.message for one in said[:_DIAGNOSTICS])
        records = {name: tools for name, tools in offered.records.items() if name in words}
        answer = await self._answer(
            "judge", script.read_text, offered, diagnostics=told, records=records
        )
        return findings(answer, "judged", offered)

    async def _answer(
        self, do: str, source: str, offered: ToldTools, **more: object
    ) -> Mapping[str, object]:
        """Ask the reader; an instance that does not know the tools yet gets them."""
        order = {"do": do, "source": source, "catalogue": offered.id, **more}
        if offered.id in self._sent:
            answer = await self._ask(order)
            if answer.get("lacks") != "catalogue":
                return answer
        self._sent[offered.id] = None
        if len(self._sent) > _OFFERS:
            self._sent.popitem(last=False)
        return await self._ask({**order, "tools": offered.entries})

    def _offered(self, specs: Sequence[ToolSpec], hidden: frozenset[str]) -> ToldTools:
        for known in self._offers:
            if known.specs is specs and known.hidden == hidden:
                return known
        made = ToldTools(specs, hidden)
        if isinstance(specs, tuple):
            self._offers = [made, *self._offers[: _OFFERS - 1]]
        return made


def strangers(script: Prepared, inputs: Mapping[str, object]) -> tuple[Finding, ...]:
    """Return the unknown tools and undefined names of a script, as far as they block.

    Args:
        script: The script, read.
        inputs: Values that it gets as globals, by name.
    """
    undefined = (found for name, found in script.undefined if name not in inputs)
    blocking = tuple(each for each in (*script.unknown, *undefined) if each.level == "error")
    return blocking and script.missing + blocking


def _too_new(script: Prepared, target: PythonTarget) -> tuple[Finding, ...]:
    """Return the syntax of a script that a Python lacks."""
    major, _, minor = target.version.partition(".")
    python = int(major), int(minor)
    return tuple(
        Finding(
            code="newer-syntax",
            message=f"{each.what} needs Python {each.python[0]}.{each.python[1]}, and the engine "
            f"has {python[0]}.{python[1]}",
            level="error",
            line=each.line,
            column=1,
            hint="write it without, or run the script on the engine `wasm`",
        )
        for each in script.newer
        if each.python > python
    )


def _unreadable(text: str, *, slow: bool) -> Finding:
    """Return the finding about a script that ended its reader."""
    longest = max(text.split("\n"), key=len)
    line = text.count("\n", 0, text.index(longest)) + 1
    what = "takes too long to read" if slow else f"is nested too deep on line {line}"
    return Finding(
        code="syntax-error",
        message=f"the code {what}",
        level="error",
        line=line,
        column=1,
        hint="give parts of it names, and put them together in several statements",
    )


def _ordered(found: Sequence[Finding]) -> list[Finding]:
    """Return findings by severity and place, one for each place and code."""
    kept = {(f.line, f.column, f.code): f for f in reversed(found)}
    return sorted(kept.values(), key=lambda f: (_ORDER[f.level], f.line or 0, f.column or 0))


_ORDER = {"error": 0, "warning": 1, "info": 2}


def _type_of(value: object) -> str:
    """Return the type of an input as an annotation."""
    if isinstance(value, list):
        items = cast("list[object]", value)
        is_text = items and all(isinstance(item, str) for item in items)
        return "list[str]" if is_text else "list[Any]"
    if isinstance(value, dict):
        return "dict[str, Any]"
    return next((kind.__name__ for kind in _SCALARS if isinstance(value, kind)), "Any")
