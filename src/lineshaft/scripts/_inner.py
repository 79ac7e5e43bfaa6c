"""Scripts of containers, such as a microagent's: from text to result, inside of a run."""

from contextlib import AsyncExitStack
from pathlib import PurePosixPath
from typing import Literal

from msgspec.structs import replace

from lineshaft.errors import EngineError, ToolError, WorkspaceError
from lineshaft.gate import REFUSALS_PER_CALL, ScriptPlace
from lineshaft.scripts._catalogue import by_script_name
from lineshaft.scripts._context import RunProgress
from lineshaft.scripts._control import Control
from lineshaft.scripts._engines import Engines
from lineshaft.scripts._execute import execution, program_of
from lineshaft.scripts._job import script_text
from lineshaft.scripts._outcome import Ended, advised, ended
from lineshaft.scripts._output import Printed
from lineshaft.scripts._reader import Reader
from lineshaft.scripts.reading import Prepared
from lineshaft.values import (
    Call,
    Diverged,
    Done,
    Engine,
    Failure,
    InnerScript,
    Limits,
    RunError,
    RunResult,
    ToolSpec,
)

_OFFERS = 8


class InnerScripting:
    """Executes the scripts of containers, on the engines of their session.

    Args:
        engines: The engines.
        reader: Reads and checks the scripts.
    """

    def __init__(self, engines: Engines, reader: Reader) -> None:
        self._engines = engines
        self._reader = reader
        self._offers: list[tuple[ToolSpec, ...]] = []
        """Tools of containers; a script that is read again with the same ones is known."""

    async def run(self, place: ScriptPlace, script: InnerScript) -> RunResult:
        """Execute a script of a container.

        Args:
            place: Its tools, and what its calls go through.
            script: The script.

        Raises:
            ToolError: It cannot be executed at all; it says why.
            StateError: It cannot be recorded.
        """
        limits = _limits(place, script)
        source = await _source(place, script)
        inside = _Inside(place, limits)
        with inside.control.inside():
            with inside.control.preparing():
                ready = await self._ready(source, place, script, inside.progress)
            if ready is not None:
                async with AsyncExitStack() as stack:
                    with inside.control.queued():
                        await stack.enter_async_context(place.slot())
                    await self._execute(*ready, place, script, inside)
        return inside.result()

    async def _ready(
        self, source: str, place: ScriptPlace, script: InnerScript, progress: RunProgress
    ) -> tuple[Prepared, Engine] | None:
        """Return a script as it can be executed, and its engine; None: it has errors."""
        specs = self._known(place.tools)
        prepared = await self._reader.read_with(
            source, specs=specs, hidden=place.hidden(specs), name=_name(script)
        )
        if place.earlier is not None:  # it was checked when it began
            engine = await self._engines.named(place.earlier.engine)
            if isinstance(engine, EngineError):
                raise engine
            return prepared, engine
        choice = await self._reader.choose(prepared, _inputs(script), progress)
        return None if choice is None or choice.engine is None else (prepared, choice.engine)

    async def _execute(
        self,
        prepared: Prepared,
        engine: Engine,
        place: ScriptPlace,
        script: InnerScript,
        inside: "_Inside",
    ) -> None:
        progress, control = inside.progress, inside.control
        replay = place.begin(engine, prepared.original)
        program = program_of(
            prepared,
            name=_name(script),
            inputs=_inputs(script),
            replay=replay,
            clock=control.elapsed,
        )
        with place.under_way(control.paused):
            outcome = await execution(
                engine,
                program,
                by_script_name(inside.dispatch, prepared.specs),
                limits=inside.limits,
                control=control,
                output=inside.printed.take,
                waiting=place.waiting,
            )
        if isinstance(outcome, Diverged):
            place.diverge(outcome.message)
        progress.ended = ended(
            outcome,
            source=prepared.original,
            specs=prepared.told,
            chosen=progress.engine_reason,
            python=engine.target.version,
            secrets=place.redactor,
        )

    def _known(self, specs: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
        """Return the same tuple for the same tools, as readers know them by it."""
        for known in self._offers:
            if len(known) == len(specs) and all(map(_is, known, specs)):
                return known
        self._offers = [specs, *self._offers[: _OFFERS - 1]]
        return specs


class _Inside:
    """One script of a container, while it is executed.

    Args:
        place: Its place.
        limits: Its limits.
    """

    def __init__(self, place: ScriptPlace, limits: Limits) -> None:
        self.limits = limits
        self.control = Control(limits.seconds)
        self.progress = RunProgress()
        self.printed = Printed(limits, redactor=place.redactor, note=_untold, heard=lambda: False)
        self._place = place
        self._refused = 0

    async def dispatch(self, call: Call) -> Done:
        """Make a call of the script; too many refused ones end it."""
        done = await self._place.dispatch(call)
        if isinstance(done, Failure) and done.status == "refused":
            self._refused += 1
            most = REFUSALS_PER_CALL * self.limits.calls
            if self._refused >= most:
                text = f"{most} calls of this script were refused"
                self.control.end("limit", "E_CALL_LIMIT", text)
        return done

    def result(self) -> RunResult:
        """Return how it ended."""
        progress, reason = self.progress, self.control.reason
        how = progress.ended or Ended(status="error", error=_NO_OUTCOME)
        if reason is not None:
            how = Ended(status=reason.status, error=reason.error)
        calls = () if how.status == "success" else self._place.calls
        return RunResult(
            run_id=self._place.run.run_id,
            status=how.status,
            engine=progress.engine,
            engine_reason=progress.engine_reason,
            value=how.value,
            stdout=self.printed.text("stdout"),
            stderr=self.printed.text("stderr"),
            truncated=self.printed.truncated,
            error=advised(how.error, calls),
            findings=progress.findings,
            calls=calls,
        )


_NO_OUTCOME = RunError(code="E_ENGINE", message="the script ended without an outcome")


def _untold(stream: Literal["stdout", "stderr"], text: str) -> None:
    """Record nothing: what a script of a container prints is a part of the call's result."""
    del stream, text


def _is(one: object, other: object) -> bool:
    return one is other


def _limits(place: ScriptPlace, script: InnerScript) -> Limits:
    """Return the limits of a model's script.

    Raises:
        ToolError: `E_INVALID_ARGS`: it asks for more time than it may have.
    """
    limits, seconds = place.limits, script.seconds
    if seconds is not None and seconds > limits.longest:
        text = f"timeout_seconds must be a number up to {limits.longest:g}, not {seconds:g}"
        raise ToolError("E_INVALID_ARGS", text)
    calls = Limits.for_model().calls
    return replace(limits, calls=calls, seconds=limits.seconds if seconds is None else seconds)


async def _source(place: ScriptPlace, script: InnerScript) -> str:
    """Return the text of a script, as it was when it began.

    Raises:
        ToolError: Its file cannot be read, or is no text.
    """
    if place.earlier is not None:
        return place.earlier.source
    if script.file is None:
        return script.code or ""
    try:
        return script_text(script.file, await place.read_script(script.file))
    except WorkspaceError as error:
        raise ToolError.of(error) from error


def _name(script: InnerScript) -> str:
    return "script.py" if script.file is None else PurePosixPath(script.file).name


def _inputs(script: InnerScript) -> dict[str, object]:
    return {"args": list(script.args)}
