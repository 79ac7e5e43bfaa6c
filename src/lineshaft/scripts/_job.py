"""One script to run, or one call: its inputs, and the call that stands for it in policy."""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal

from msgspec import field

from lineshaft.errors import ToolError
from lineshaft.values import Arguments, Caller, Limits, Origin, Struct, ToolSpec, decode

CheckLevel = Literal["error", "warn", "off"]

RUN_SCRIPT = ToolSpec(
    name="run_script",
    description="Run one Python script over many tools.",
    effect="exec",
    scriptable=False,
    container=True,
)
"""The call that stands for a run in policy."""


class Job(Struct, frozen=True, kw_only=True):
    """One script to run, or one call."""

    script: object
    """Its text; anything else is refused with a clear error."""

    name: str = "script.py"
    inputs: Mapping[str, object] = field(default_factory=dict[str, object])
    limits: Limits
    origin: Origin = "code"
    file: str | None = None
    """A workspace path to read the script from, instead of `script`; policy sees it."""

    tool: str = ""
    """The direct call that is made instead of a script."""

    arguments: Arguments = field(default_factory=dict[str, object])
    """Of the direct call."""

    seconds: float | None = None
    """The time of the direct call with all that it makes; None: as the limits say."""

    with_models: bool = False
    """A preview asks models all the same."""

    caller: Caller | None = None
    """The caller of the run, instead of the session's; not kept."""

    def kept(self, source: str) -> dict[str, object]:
        """Return the job as it is kept.

        Args:
            source: The script's text, from any source.
        """
        return {
            "script": source,
            "tool": self.tool,
            "arguments": dict(self.arguments),
            "name": self.name,
            "inputs": dict(self.inputs),
            "limits": self.limits.as_dict(),
            "origin": self.origin,
            "seconds": self.seconds,
        }

    @staticmethod
    def of(document: Mapping[str, object]) -> "Job":
        """Return the job that was kept."""
        known = {"seconds": None, **document}  # runs of earlier versions are kept without it
        kept = decode(_KeptJob, {name: known[name] for name in _KeptJob.__struct_fields__})
        return Job(
            tool=kept.tool,
            arguments=kept.arguments,
            script=kept.script,
            name=kept.name,
            inputs=kept.inputs,
            limits=kept.limits,
            origin=kept.origin,
            seconds=kept.seconds,
        )


class _KeptJob(Struct, frozen=True):
    """A job, as `Job.kept` writes it."""

    tool: str
    arguments: Mapping[str, object]
    script: object
    name: str
    inputs: Mapping[str, object]
    limits: Limits
    origin: Origin
    seconds: float | None


def script_text(path: str, data: bytes) -> str:
    """Return the script that a file holds.

    Args:
        path: Of the file, for the error.
        data: Its bytes.

    Raises:
        ToolError: `E_INVALID_ARGS`: it is no text.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ToolError("E_INVALID_ARGS", f"{path!r} is not a text in UTF-8") from error


def new_run_id() -> str:
    """Return an id that sorts by time and is hard to guess."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
