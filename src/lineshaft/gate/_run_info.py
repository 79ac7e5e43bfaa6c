"""The fixed facts of one run for its calls at the gate."""

import os
import re
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Literal, Protocol

import anyio
from msgspec import field

from lineshaft.errors import ToolError
from lineshaft.gate._call_log import CallLog
from lineshaft.gate._gate import Gate
from lineshaft.gate._inner_scripts import InnerScripts
from lineshaft.policy import Policy
from lineshaft.values import Call, Caller, CallStatus, Failure, Finding, Limits, Stage, Struct

EndKind = Literal["refused", "limit", "error", "paused"]

_HOME = os.path.expanduser("~")  # noqa: PTH111  pathlib raises where there is none
_LONGEST_MESSAGE = 2_000


class Controls(Protocol):
    """The control that the gate has over the run whose calls it handles."""

    def end(self, kind: EndKind, code: str, message: str, hint: str = "") -> None:
        """End the run from outside; nothing is handed back to the script."""
        ...

    def paused(self, *, script: bool = True) -> AbstractContextManager[None]:
        """Stop the run's clock inside the block.

        Args:
            script: Whether the script's own clock stands still, too.
        """
        ...

    @property
    def ended(self) -> bool:
        """Whether the run has been told to end."""
        ...

    @property
    def stands(self) -> bool:
        """Whether it ended so that calls which were not made stay pending."""
        ...

    @property
    def remaining(self) -> float:
        """Seconds that the run has left."""
        ...

    def elapsed(self) -> float:
        """Return the seconds on the script's clock, without waits for approvals; thread-safe."""
        ...


class RunInfo(Struct, frozen=True, kw_only=True):
    """One run, as the gate sees it."""

    gate: Gate
    run_id: str
    view: Stage
    """The run's view of the workspace."""

    limits: Limits
    call_log: CallLog
    """Where its calls are written down."""

    controls: Controls
    caller: Caller = field(default_factory=Caller)
    """The caller of the run."""

    approver_lock: anyio.Lock = field(default_factory=anyio.Lock)
    """One call of its approver at a time."""

    landing: anyio.Lock = field(default_factory=anyio.Lock)
    """One landing or merge at a time: the log has them in the order in which they were."""

    root: str = ""
    """The workspace's place on this machine, which no message shows."""

    keeps_back: bool = False
    """Changes through the view wait until they land."""

    alone: bool = False
    """There is no script around the calls: a direct call."""

    findings: list[Finding] = field(default_factory=list[Finding])
    """What guards said of changes that landed, and what tools returned that they never did."""

    recorded: Callable[[str], bool] = bool
    """Says whether an earlier segment of the run has results of a container's calls, by the
    container's id, that were not given out yet."""

    inner: InnerScripts = field(default_factory=InnerScripts)
    """The scripts that its containers execute."""

    @contextmanager
    def paused(self) -> Generator[None]:
        """Stop the clocks of the run and of the scripts in it inside the block."""
        with ExitStack() as clocks:
            for paused in (self.controls.paused, *self.inner.pauses.values()):
                clocks.enter_context(paused())
            yield

    def policy_of(self, call: Call) -> Policy:
        """Return what judges a call: the run's policy, or what containers around it left of it."""
        scope = call.scope
        return self.gate.policy if scope is None else scope.policy or self.gate.policy

    def view_of(self, call: Call) -> Stage:
        """Return what a call sees of the workspace: the run's view, or its container's layer."""
        scope = call.scope
        return self.view if scope is None else scope.view or self.view

    def clean(self, text: str) -> str:
        """Return a message without places of this machine, cut to a sensible length."""
        for place, sign in ((self.root, "."), (_HOME, "~")):
            # A workspace or a home may be the root of the disk.
            if len(place) > 1 and place in text:
                text = re.sub(rf"(?<![\w.-]){re.escape(place)}(?![\w-]|\.\w)", sign, text)
        if len(text) <= _LONGEST_MESSAGE:
            return text
        # Half a secret could not be known as one.
        return f"{self.gate.redactor.text(text)[:_LONGEST_MESSAGE]}... (cut)"

    def failure(self, error: ToolError, status: CallStatus = "failed") -> Failure:
        """Return how a call ended that raised an error."""
        return Failure(error.code, self.clean(error.message), self.clean(error.hint), status)
