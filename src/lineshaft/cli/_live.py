"""The calls of a run on a terminal, drawn anew as it goes on."""

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live as Drawing
from rich.text import Text

from lineshaft.cli._display import Silent
from lineshaft.cli._models_used import ModelsUsed
from lineshaft.cli._shape import MARKS, took
from lineshaft.cli._terminal import has_colour, one_line
from lineshaft.cli._tree import CallNode, Tree
from lineshaft.trace import readable_line
from lineshaft.values import Event

_STYLES = {
    "done": "green",
    "failed": "red",
    "refused": "red",
    "unknown": "red",
    "waiting": "yellow",
    "running": "cyan",
}


_LEFT_STANDING = 12


class LiveDisplay(Silent):
    """A tree that is drawn anew as the run goes on."""

    def __init__(self) -> None:
        self._tree = Tree()
        self._models_used = ModelsUsed()
        self._since: dict[str, float] = {}
        self._most = 1_000
        self._console = Console(
            file=sys.stderr, no_color=not has_colour(sys.stderr), highlight=False, emoji=False
        )
        self._drawing = self._begin()

    def _begin(self) -> Drawing:
        drawing = Drawing(
            console=self._console,
            auto_refresh=False,
            get_renderable=self._render,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )
        drawing.start()
        return drawing

    def take(self, event: Event) -> None:
        """Put the event into the tree; the next refresh shows it."""
        self._models_used.take(event)
        node = self._tree.take(event)
        if node is not None and event.kind == "call_started":
            self._since[node.id] = time.monotonic()
        if node is not None and event.kind == "call_finished":
            self._since.pop(node.id, None)

    def refresh(self) -> None:
        """Draw the tree."""
        self._drawing.refresh()

    @contextmanager
    def aside(self) -> Generator[None]:
        """Take the tree away inside the block."""
        self._drawing.transient = True
        self._drawing.stop()
        try:
            yield
        finally:
            self._drawing = self._begin()  # the old one would draw over what was shown meanwhile

    def close(self) -> None:
        """Draw the tree for the last time, short, and leave it standing."""
        self._most = _LEFT_STANDING
        self._drawing.refresh()
        self._drawing.stop()

    def _render(self) -> Group:
        room = max(self._console.height - 4, 3)
        rows, hidden = self._tree.rows(min(room, self._most))
        lines = [Text(f"  … {hidden:,} more", style="dim")] if hidden else []
        for depth, node in rows:
            style = _STYLES.get(node.status, "")
            line = Text(f"{'  ' * depth}{MARKS.get(node.status, ' ')} ", style=style)
            line.append(self._words(node), style="dim" if node.status == "done" else "")
            line.no_wrap, line.overflow = True, "ellipsis"
            lines.append(line)
        if spent := self._models_used.line:
            lines.append(Text(f"  {spent}", style="dim", no_wrap=True, overflow="ellipsis"))
        return Group(*lines)

    def _words(self, node: CallNode) -> str:
        since = self._since.get(node.id)
        spent = node.duration_ms if since is None else (time.monotonic() - since) * 1000
        time_text = f"  {took(spent)}" if since is not None or node.duration_ms else ""
        tail = f"  {one_line(node.note)}" if node.note else ""
        room = max(self._console.width - 24 - min(len(tail), 60), 20)
        line = readable_line(node, self._tree.calls, tokens=node.tokens, width=room)
        return line + time_text + tail
