"""The side of a session that faces a model: definitions, instructions, and what it calls."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, cast

from lineshaft.errors import ToolError
from lineshaft.scripts import RUN_SCRIPT
from lineshaft.session import _text
from lineshaft.session._definitions import (
    Api,
    chosen,
    definition,
    guide,
    instructions,
    script_description,
    script_schema,
)
from lineshaft.session._open_tools import OpenTools
from lineshaft.session._requests import ScriptRequest, arguments_of, script_request
from lineshaft.tools import model_name, own_names, plainest, published
from lineshaft.trace import Redactor, cut_for_model
from lineshaft.values import CallError, CallResult, Handled, Limits, RunResult, ShownImage, ToolSpec

MODEL_CHARACTERS = 4_000
"""Of one result, in any form that a model may read."""

_DATA = 100_000
"""Characters of JSON, or of text, that programs get of a result beside what a model reads."""

RunScript = Callable[[ScriptRequest], Awaitable[RunResult]]
MakeCall = Callable[[str, Mapping[str, object]], Awaitable[CallResult]]


class ModelSide:
    """The definitions and instructions for a model, and the handling of its calls.

    Args:
        specs: Gives the session's tools as they are now.
        open_tools: Gives those that a model may be told of.
        runtime: The runtime's own tools, which may be called too.
        limits: For a model's scripts.
        mode: The policy's mode; in `plan` there are no scripts.
        scripts: Whether the session has scripts.
        redactor: Takes secrets out of what the model reads.
        keep: Keeps a redacted text that is too long; returns its handle.
        images: Returns what a run has shown.
    """

    def __init__(
        self,
        specs: Callable[[], tuple[ToolSpec, ...]],
        *,
        open_tools: OpenTools,
        runtime: Iterable[ToolSpec],
        limits: Limits,
        mode: str,
        scripts: bool,
        redactor: Redactor,
        keep: Callable[[str], str],
        images: Callable[[str], tuple[ShownImage, ...]],
    ) -> None:
        self._specs = specs
        self._open = open_tools
        self._runtime = tuple(runtime)
        self._limits = limits
        self._mode = mode
        self._scripts = scripts and mode != "plan"
        self._redactor = redactor
        self._keep = keep
        self._images = images

    @property
    def has_scripts(self) -> bool:
        """Whether a model may write scripts."""
        return self._scripts

    def definitions(self, api: Api, direct: Iterable[str]) -> list[dict[str, Any]]:
        """Return the tool definitions for a model API."""
        found: list[dict[str, Any]] = []
        if self._scripts:
            text = script_description(self._open.to("script"), self._limits)
            schema = script_schema(self._limits)
            schema = plainest(schema)
            found.append(definition(RUN_SCRIPT.name, description=text, schema=schema, api=api))
        told = {spec.name for spec in self._open.to("model")}
        for spec in chosen(self._specs(), direct):
            if spec.name not in told:
                continue
            takes = published(spec)
            made = definition(
                spec.name, description=takes.description, schema=takes.schema, api=api
            )
            found.append(made)
        # An unknown API is an error also where there is nothing to define.
        definition("x", description="", schema={}, api=api)
        return cast("list[dict[str, Any]]", self.without_secrets(found))

    def instructions(self) -> str:
        """Return the text for a system prompt."""
        specs = self._open.to("model", "script") if self._scripts else self._open.to("model")
        text = instructions(specs, self._limits, scripts=self._scripts, mode=self._mode)
        return self._redactor.text(text)

    def guide(self) -> str:
        """Return how a script is written here."""
        return guide(self._limits) if self._scripts else ""

    def without_secrets(self, value: object) -> object:
        """Return a text, or data with texts in it, as a model may read it."""
        return _text.structured(value, self._redactor)

    async def handle(
        self, name: str, arguments: object, *, run: RunScript, call: MakeCall
    ) -> Handled:
        """Carry out what a model called."""
        said = str(name)  # a model may have said anything
        try:
            given = arguments_of(arguments)
            if name == RUN_SCRIPT.name:
                return await self._script(given, run)
            known = {model_name(spec.name): spec for spec in (*self._specs(), *self._runtime)}
            spec = known.get(said)
            if spec is not None:
                given = arguments_of(own_names(spec, given))
        except ToolError as error:
            problem = CallError(code=error.code, message=error.message, hint=error.hint)
            return self.of_call(CallResult(error=problem, status="refused"), None)
        return self.of_call(await call(spec.name if spec else said, given), spec)

    async def _script(self, given: Mapping[str, object], run: RunScript) -> Handled:
        if not self._scripts:
            why = "in mode 'plan'" if self._mode == "plan" else "in this session"
            raise ToolError("E_DENIED", f"there are no scripts {why}")
        request = script_request(given, most_seconds=self._limits.longest)
        return self.of_run(await run(request))

    def of_run(self, result: RunResult, *, beside: int = 0) -> Handled:
        """Return a run's result as a model reads it.

        Args:
            result: The result.
            beside: Characters that the reader gets beside it.
        """
        most = MODEL_CHARACTERS - beside
        error = None if result.status == "paused" else result.error
        structured: dict[str, object] = {
            "status": result.status,
            **self._bounded(result.value),
            "stdout": self._shown(_text.redacted(result.stdout, self._redactor), _DATA),
            "error": error and {"code": error.code, "message": error.message},
            "run_id": result.run_id,
        }
        return Handled(
            text=self._shown(_text.of_run(result, self._redactor), most),
            structured=_text.structured(structured, self._redactor),
            is_error=result.status not in ("success", "paused"),
            run_id=result.run_id,
            pending=result.pending,
            images=self._images(result.run_id),
        )

    def of_call(self, result: CallResult, spec: ToolSpec | None) -> Handled:
        """Return a call's result as a model reads it."""
        bounded = self._bounded(result.value)
        return Handled(
            text=self._shown(_text.of_call(result, spec, self._redactor)),
            structured=bounded["value"],
            left_out=bounded.get("left_out"),
            is_error=_has_failed(result),
            run_id=result.run_id,
            pending=result.pending,
        )

    def shown(self, text: str, most: int = MODEL_CHARACTERS) -> str:
        """Return a text as a model may read it: redacted, and cut where it is long."""
        return self._shown(self._redactor.text(text), most)

    def kept(self, value: object) -> dict[str, object]:
        """Keep a value without secrets; return what stands for it."""
        return self._kept(_text.plain(_text.structured(value, self._redactor)))

    def _shown(self, whole: str, most: int = MODEL_CHARACTERS) -> str:
        """Return a redacted text, cut where it is long; the whole is then kept."""
        if len(whole) <= most:
            return whole
        kept = f"all {len(whole):,} characters: read_result({self._keep(whole)!r}) in a script"
        note = f"\n[{kept}]"
        return f"{cut_for_model(whole, most - len(note))}{note}"

    def _bounded(self, value: object) -> dict[str, Any]:
        """Return a value without secrets, or what stands for one that is too long."""
        redacted = _text.structured(value, self._redactor)
        text = _text.plain(redacted)
        if len(text) <= _DATA:
            return {"value": redacted}
        return {"value": None, "left_out": self._kept(text)}

    def _kept(self, text: str) -> dict[str, object]:
        return {"handle": self._keep(text), "bytes": len(text.encode("utf-8", "replace"))}


def _has_failed(result: CallResult) -> bool:
    """Return whether a model is told of an error; a program's own exit code is a result."""
    if result.pending:
        return False
    return result.error is not None or _text.could_not_run(result.value)
