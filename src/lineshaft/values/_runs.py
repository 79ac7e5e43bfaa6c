"""The output of a run: events while it goes on, a result at its end."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import field

from lineshaft.errors import (
    CALL_CODES,
    ConfigError,
    EngineCrashed,
    EngineError,
    LimitExceeded,
    LineshaftError,
    NoBoundary,
    RecordError,
    ScriptFailed,
    StateError,
    StateExpired,
    ToolError,
    WasmUnavailable,
)
from lineshaft.values._calls import CallStatus, Effect, Pending
from lineshaft.values._struct import Struct, as_dict
from lineshaft.values._workspace import Change, Finding

EventKind = Literal[
    "run_started",
    "run_paused",
    "run_resumed",
    "answer",
    "call_asked",
    "verdict",
    "call_started",
    "call_finished",
    "output",
    "progress",
    "log",
    "usage",
    "changes",
    "run_finished",
]

RunStatus = Literal["success", "error", "refused", "timeout", "limit", "paused", "cancelled"]

EXIT_CODES: Mapping[RunStatus, int] = {
    "success": 0,
    "error": 1,
    "refused": 3,
    "timeout": 4,
    "limit": 4,
    "paused": 5,
    "cancelled": 130,
}

_EXIT_BY_CODE: Mapping[str, int] = {"E_DENIED": 3, "E_CALL_LIMIT": 4, "E_TOOL_TIMEOUT": 4}
"""Exit codes of calls that failed, also where a script did not catch them."""

UNDONE_BY_CANCEL = "python_run"
"""The tool of which nothing stays where it was cancelled: it keeps changes at its end."""


class Event(Struct, frozen=True, kw_only=True):
    """One step of a run, already redacted."""

    run_id: str
    """The run that it belongs to."""

    seq: int
    """From 1, without gaps."""

    at: str
    """UTC, ISO 8601 with milliseconds."""

    kind: EventKind
    """What happened, such as `call_asked`, `changes`, `run_finished` (`docs/record.md`)."""

    call_id: str | None = None
    """The call that it is about; null where it is about the whole run."""

    data: Mapping[str, object] = field(default_factory=dict[str, object])
    """JSON-like; its keys depend on the kind (`docs/record.md`)."""


Sink = Callable[[Event], None]
"""Takes each event at once, in order. An exception that it raises ends the run."""


class CallError(Struct, frozen=True, kw_only=True):
    """Why a call failed."""

    code: str
    """One of the codes on the page of errors."""

    message: str
    """What happened, to what, and what to do."""

    hint: str = ""
    """One more line of advice; empty where there is none."""


class CallRecord(Struct, frozen=True, kw_only=True):
    """One line about one call, safe to show."""

    id: str
    """Unique in its run."""

    tool: str
    """Canonical name of the tool."""

    arguments: Mapping[str, object]
    """Redacted; sizes and hashes instead of contents."""

    status: CallStatus
    """How it ended."""

    effect: Effect | None = None
    """None where the tool is unknown."""

    rule: str = ""
    """Id of the rule that decided, or `mode:auto` and the like."""

    duration_ms: float = 0
    """Milliseconds that it took."""

    error: CallError | None = None
    """Why it failed or was refused; null where it did not."""

    parent: str | None = None
    """Id of the call that made it; null for a call of the script itself."""

    staged_after: int | None = None
    """All it did waited to land, after so many landings; None: it acted at once, or not at all."""


def _may_have_acted(call: CallRecord, landings: int) -> bool:
    if call.effect in (None, "read"):
        return False
    if call.staged_after is not None and call.staged_after >= landings:
        return False
    beyond_files = call.effect in ("exec", "external")
    if call.status == "cancelled":  # one that had begun: others took no time
        return beyond_files and call.duration_ms > 0 and call.tool != UNDONE_BY_CANCEL
    return call.status in ("done", "unknown") or (call.status == "failed" and beyond_files)


class RunError(Struct, frozen=True, kw_only=True):
    """Why a run did not succeed."""

    code: str
    """One of the codes on the page of errors."""

    message: str
    """What happened, to what, and what to do."""

    line: int | None = None
    """In the script as written."""

    hint: str = ""
    """One more line of advice; empty where there is none."""

    traceback: str = ""
    """The lines of the script on the way to the error, as text."""


class ModelUsage(Struct, frozen=True, kw_only=True):
    """The usage of one model."""

    requests: int = 0
    """Requests that were answered."""

    input_tokens: int = 0
    """Tokens of the requests, cached ones included."""

    output_tokens: int = 0
    """Tokens of the replies, reasoning included."""

    cached_tokens: int = 0
    """Those of `input_tokens` that the provider had from before."""

    estimated: bool = False
    """Whether some of the tokens are estimates from the texts' lengths."""

    cost: float | None = None
    """US dollars, as far as prices are known; None: no price is known."""

    def plus(self, other: "ModelUsage") -> "ModelUsage":
        """Return both together."""
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return ModelUsage(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            estimated=self.estimated or other.estimated,
            cost=sum(known) if known else None,
        )


class Usage(Struct, frozen=True, kw_only=True):
    """Counters of a run."""

    calls: Mapping[str, int] = field(default_factory=dict[str, int])
    """Dispatched calls by tool."""

    refused: int = 0
    """Number of calls that were refused."""

    bytes_in: int = 0
    """Results that tools returned to the script, as JSON."""

    bytes_out: int = 0
    """Output and value, which a model reads."""

    bytes_kept: int = 0
    """Bytes that stayed out of the model's context."""

    models: Mapping[str, ModelUsage] = field(default_factory=dict[str, ModelUsage])
    """What its microagents have used, by name of the model."""


class RunResult(Struct, frozen=True, kw_only=True):
    """How a run ended."""

    run_id: str
    """Id of the run, for `show`, `resume`, `undo` and `replay`."""

    status: RunStatus
    """How it ended."""

    engine: str = ""
    """What executed it: `wasm` or `cpython`; empty where nothing did."""

    engine_reason: str = ""
    """Why that engine."""

    duration_ms: float = 0
    """Milliseconds from begin to end."""

    value: Any = None
    """The value that the script returned; JSON-like."""

    stdout: str = ""
    """What the script printed, as far as it was kept."""

    stderr: str = ""
    """What it wrote to standard error, as far as it was kept."""

    truncated: Mapping[str, int] = field(default_factory=dict[str, int])
    """Bytes left out, by stream; empty where none were."""

    error: RunError | None = None
    """Why it failed; null on success."""

    findings: tuple[Finding, ...] = ()
    """What the check of the script and the guards had to say."""

    calls: tuple[CallRecord, ...] = ()
    """Its calls, in order."""

    changes: tuple[Change, ...] = ()
    """What it did to files, or wants to do."""

    landed: bool = False
    """Whether the changes are on disk."""

    dropped: tuple[Change, ...] = ()
    """Staged changes that never reached the disk, of microagents and other containers too, one a
    path: the run failed, was ended or previewed."""

    pending: tuple[Pending, ...] = ()
    """Calls that wait for an answer."""

    expires_at: str | None = None
    """Until when they wait: UTC, ISO 8601; null where nothing waits."""

    usage: Usage = field(default_factory=Usage)
    """Counters of the run."""

    @property
    def exit_code(self) -> int:
        """Return the exit code of the command line for this result."""
        ordinary = EXIT_CODES[self.status]
        if self.status != "error" or self.error is None:
            return ordinary
        return _EXIT_BY_CODE.get(self.error.code, ordinary)

    @property
    def effects(self) -> tuple[CallRecord, ...]:
        """Return the calls that took effect, or may have taken effect."""
        landings = max((c.stage for c in self.changes), default=0)
        if self.status == "paused" and not self.landed:
            landings -= 1  # the last stage waits with the run
        return tuple(call for call in self.calls if _may_have_acted(call, landings))

    def to_dict(self) -> dict[str, object]:
        """Return the result as plain JSON-like data."""
        return as_dict(self)

    def json(self) -> str:
        """Return the result as one line of JSON, as `--json` prints it."""
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))

    def raise_for_status(self) -> "RunResult":
        """Return the result, or raise the error that kept it from success.

        Each error has the code, the message and the hint of the result's own.

        Raises:
            ToolError: A call failed and the script did not catch it.
            ScriptFailed: The script raised, or its value cannot be returned.
            LimitExceeded: The run took too long or used too much.
            EngineCrashed: The process of the script died.
            EngineError: Anything else that ended the run, such as a cancellation, a pause or a
                finding of the check.
            LineshaftError: What kept it from beginning, such as `ConfigError` or `NoBoundary`.
        """
        if self.status == "success":
            return self
        error = self.error or RunError(code="E_ENGINE", message=f"the run ended as {self.status}")
        call = next(
            (c for c in reversed(self.calls) if c.error and c.error.code == error.code), None
        )
        if error.code in CALL_CODES or (call is not None and self.status == "error"):
            raise ToolError(
                error.code, error.message, tool=call.tool if call else "", hint=error.hint
            )
        is_limit = self.status in ("timeout", "limit")
        kind = LimitExceeded if is_limit else _RAISED.get(error.code, EngineError)
        raised = kind(error.message, hint=error.hint)
        raised.code = error.code
        raise raised


_RAISED: Mapping[str, type[LineshaftError]] = {
    "E_SYNTAX": ScriptFailed,
    "E_NOT_AWAITED": ScriptFailed,
    "E_NOT_JSON": ScriptFailed,
    **{
        kind.code: kind
        for kind in (
            ConfigError,
            EngineCrashed,
            NoBoundary,
            RecordError,
            ScriptFailed,
            StateError,
            StateExpired,
            WasmUnavailable,
        )
    },
}
"""What a result raises that is no call's and no limit's, by its code; others are `EngineError`."""


class Preview(Struct, frozen=True, kw_only=True):
    """A preview of a run: reads were real, file changes were only staged, nothing landed."""

    run: RunResult
    """How far the script came; `changes` are those that would land."""

    diff: str = ""
    """All changes as one unified diff; a binary file is one line that says so."""

    stopped_at: Pending | None = None
    """The first call that acts beyond the run's view: it was not made; what follows is unknown."""

    def to_dict(self) -> dict[str, object]:
        """Return the preview as plain JSON-like data."""
        return as_dict(self)


class Difference(Struct, frozen=True, kw_only=True):
    """The point where a replay left its record."""

    call: CallRecord | None
    """The first call that is not as recorded; None: the end differs."""

    expected: CallRecord | None
    """The recorded call that the script should have made instead, where there is one."""

    message: str


class Replay(Struct, frozen=True, kw_only=True):
    """A script executed again against its recorded results, without effects."""

    run: RunResult
    difference: Difference | None = None
    """None: every call, the output and the value were as recorded."""


class CallResult(Struct, frozen=True, kw_only=True):
    """How one direct call ended."""

    value: Any = None
    """The value that the tool returned; JSON-like."""

    error: CallError | None = None
    """Why it failed or was refused; null where it did not."""

    status: CallStatus = "done"
    """How it ended."""

    rule: str = ""
    """Id of the rule that decided, or `mode:auto` and the like."""

    duration_ms: float = 0
    """Milliseconds that it took."""

    call_id: str = ""
    """Id of the call in its run."""

    run_id: str = ""
    """Id of the run that the call has of its own."""

    pending: tuple[Pending, ...] = ()
    """The call itself, where it waits for an approval. It is made when its run is resumed."""

    expires_at: str | None = None
    """Until when it waits: UTC, ISO 8601; null where it does not."""

    changes: tuple[Change, ...] = ()
    """What it did to files, or wanted to do."""

    landed: bool = False
    """Whether the changes are on disk."""

    dropped: tuple[Change, ...] = ()
    """Those of the changes that never reached the disk: the call failed, or was ended."""

    @property
    def exit_code(self) -> int:
        """Return the exit code of the command line for this result."""
        if self.error is None:
            return 0
        if self.pending:
            return EXIT_CODES["paused"]
        ended = {"E_TIMEOUT": 4, "E_CANCELLED": 130}
        return _EXIT_BY_CODE.get(self.error.code) or ended.get(self.error.code, 1)

    def raise_for_status(self) -> "CallResult":
        """Return the result, or raise the error of the call.

        Raises:
            ToolError: It failed, was refused or waits for an approval; with the code, the message
                and the hint of the result's own error.
        """
        error = self.error
        if error is None:
            return self
        unknown = self.status == "unknown"
        raise ToolError(error.code, error.message, hint=error.hint, unknown=unknown)


class ShownImage(Struct, frozen=True):
    """An image that a script showed to its model."""

    __unshown__ = frozenset({"data"})

    mime_type: str
    """`image/png`, `image/jpeg`, `image/gif` or `image/webp`; what its bytes are."""

    data: bytes
    """The bytes of the image file."""


class Handled(Struct, frozen=True, kw_only=True):
    """The answer to a model that called a tool."""

    text: str
    """Cut for a model's context, secrets redacted."""

    structured: Any = None
    """The same as data; JSON-like. A value of more than 100,000 characters is None."""

    left_out: Mapping[str, object] | None = None
    """Of a value that is too long for `structured`: the `handle` that `read_result` takes in a
    script, and its `bytes` as JSON. None: nothing was left out. For a run it stands in
    `structured`, beside `value`."""

    is_error: bool = False
    """Whether the call failed or was refused."""

    run_id: str = ""
    """Id of the run; of a call without a script, the run that it has of its own."""

    pending: tuple[Pending, ...] = ()
    """Calls that wait for an approval; `Session.resume` with `run_id` goes on once they are
    answered. Empty: nothing waits."""

    images: tuple[ShownImage, ...] = ()
    """What the script showed with `show`, in order: for the model, beside the text."""
