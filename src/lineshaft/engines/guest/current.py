"""The current run of this interpreter, which has one at a time."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .wire import Wire

if TYPE_CHECKING:
    from .calls import Calls
    from .output import Output


@dataclass(frozen=True, slots=True)
class Run:
    """The facts about a run for the parts of Python that the guest changed."""

    wire: Wire
    calls: "Calls"
    output: "Output"
    name: str
    """The script's file name."""

    names: dict[str, Any]
    """The script's globals."""

    tools: frozenset[str]
    """Names of the tools without a namespace."""

    packages: bool
    """Whether packages can be imported."""

    workspace_imports: bool
    """Whether modules of the workspace can be imported."""


class Current:
    """Holds the run."""

    def __init__(self) -> None:
        self._run: Run | None = None

    @property
    def run(self) -> Run:
        """The run.

        Raises:
            RuntimeError: There is none.
        """
        if self._run is None:
            raise RuntimeError("no script runs")
        return self._run

    @property
    def maybe(self) -> Run | None:
        """The run, if there is one."""
        return self._run

    def begin(self, run: Run) -> None:
        """Let a run be the one."""
        self._run = run

    def end(self) -> None:
        """Let there be none."""
        self._run = None


current = Current()
"""Of this interpreter."""
