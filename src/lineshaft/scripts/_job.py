"""One script to run, or one call: what it is given, and what stands for it in policy."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, cast

from lineshaft.values import Call, Caller, Limits, Origin, ToolSpec

CheckLevel = Literal["error", "warn", "off"]

RUN_SCRIPT = ToolSpec(
    name="run_script",
    description="Run one Python script over many tools.",
    effect="exec",
    scriptable=False,
    container=True,
)
"""What stands for a run in policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One script to run, or one call."""

    script: object
    """Its text; anything else is refused with a clear error."""

    name: str = "script.py"
    inputs: Mapping[str, object] = field(default_factory=dict[str, object])
    limits: Limits
    origin: Origin = "code"
    file: str | None = None
    """A workspace path to read the script from, instead of `script`; policy sees it."""

    call: Call | None = None
    """What is made instead of a script: a direct call."""

    preview: bool = False
    """Nothing lands, and the first call that acts beyond files ends it."""

    caller: Caller | None = None
    """Who is behind the run, instead of whoever is behind the session; not kept."""

    @property
    def one_call(self) -> Call:
        """The call that is made instead of a script."""
        assert self.call is not None  # noqa: S101  asked only of such a job
        return self.call

    def kept(self, source: str) -> dict[str, object]:
        """Return the job as it is kept.

        Args:
            source: The script's text, wherever it came from.
        """
        call = self.call and {"tool": self.call.tool, "arguments": dict(self.call.arguments)}
        return {
            "script": source,
            "call": call,
            "name": self.name,
            "inputs": dict(self.inputs),
            "limits": self.limits.as_dict(),
            "origin": self.origin,
        }

    @staticmethod
    def of(document: Mapping[str, object]) -> "Job":
        """Return the job that was kept."""
        origin = cast("Origin", document["origin"])
        call = cast("Mapping[str, Any] | None", document.get("call"))
        return Job(
            call=Call(**call, origin=origin) if call else None,
            script=document["script"],
            name=str(document["name"]),
            inputs=cast("Mapping[str, object]", document["inputs"]),
            limits=Limits(**cast("dict[str, int]", document["limits"])),
            origin=origin,
        )


def new_run_id() -> str:
    """Return an id that sorts by time and is hard to guess."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
