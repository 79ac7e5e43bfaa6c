"""Display of a run under way: a live tree on a terminal, plain lines elsewhere."""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from lineshaft.cli._shape import took
from lineshaft.cli._terminal import note, one_line
from lineshaft.cli._tree import Tree
from lineshaft.trace import readable_line
from lineshaft.values import Event


class Display(Protocol):
    """Shows the calls of one run on standard error."""

    def take(self, event: Event) -> None:
        """Take one event of the run."""
        ...

    def refresh(self) -> None:
        """Draw again what has changed; called some ten times a second."""
        ...

    def aside(self) -> AbstractContextManager[None]:
        """Leave the terminal to other output inside the block."""
        ...

    def close(self) -> None:
        """Show the last state and leave the terminal as it was."""
        ...


class Silent:
    """Shows nothing."""

    def take(self, event: Event) -> None:
        """Drop the event."""

    def refresh(self) -> None:
        """Draw nothing."""

    def aside(self) -> AbstractContextManager[None]:
        """Nothing is to be left."""
        return nullcontext()

    def close(self) -> None:
        """Nothing is to be closed."""


class Notices(Silent):
    """What tools say while they run, a line each."""

    def take(self, event: Event) -> None:
        """Print the line if the event is one."""
        if event.kind == "log" and event.call_id is not None:
            note(f"{'log':<9} {one_line(str(event.data.get('text', '')))}")


class Plain(Notices):
    """One line a call, when it ends."""

    def __init__(self) -> None:
        self._tree = Tree()

    def take(self, event: Event) -> None:
        """Print the call if the event ends it, or what a tool says."""
        super().take(event)
        node = self._tree.take(event)
        if node is None or event.kind != "call_finished":
            return
        said = "" if node.note == node.logged else node.note  # what was logged has its own line
        tail = f"  {one_line(said)}" if said else ""
        head = readable_line(node, self._tree.calls, tokens=node.tokens)
        state = "staged" if node.status == "done" and node.staged_after is not None else node.status
        note(f"{state:<9} {head}  ({took(node.duration_ms)}){tail}")
