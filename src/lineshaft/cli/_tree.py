"""The calls of a run as a tree that grows with its events. Pure: no clock, no terminal."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, cast

from msgspec import field

from lineshaft.values import Event, Struct

Status = Literal[
    "asked", "waiting", "running", "done", "failed", "refused", "cancelled", "pending", "unknown"
]
_OPEN = frozenset({"asked", "waiting", "running"})

DROPPED = "dropped: not on the disk"
_KEPT = 200
"""Finished top-level calls that are remembered; the record keeps all."""


class CallNode(Struct, kw_only=True, eq=False):
    """One call."""

    id: str
    tool: str
    arguments: Mapping[str, object]
    parent: str | None = None
    status: Status = "asked"
    started: str | None = None
    """When its tool was started, as the event says."""

    duration_ms: float = 0
    note: str = ""
    """Its progress or what it logged last while it runs; what went wrong afterwards, or else what
    it logged last."""

    logged: str = ""
    """What it logged last."""

    staged_after: int | None = None
    """How many stages had landed when its changes were staged; None: it staged none."""

    tokens: int | None = None
    """What a request to a model has used; None: not told."""

    children: list["CallNode"] = field(default_factory=list["CallNode"])

    @property
    def open(self) -> bool:
        """Return whether the call, or one under it, is still going on."""
        return self.status in _OPEN or any(child.open for child in self.children)


class Tree:
    """Takes events in order; says what to show."""

    def __init__(self) -> None:
        self._roots: list[CallNode] = []
        self._nodes: dict[str, CallNode] = {}
        self.left_out = 0
        """Finished top-level calls that are no longer remembered."""

        self.counts: Counter[Status] = Counter()
        """Finished calls by how they ended."""

    def take(self, event: Event) -> CallNode | None:
        """Take one event; return the call it speaks of."""
        if event.kind == "changes" and event.data.get("dropped"):
            self._drop(event.data)
        if event.call_id is None:
            return None
        node = self._nodes.get(event.call_id)
        if node is None and event.kind == "call_asked":
            return self._add(event.call_id, event.data)
        if node is None:
            return None
        match event.kind:
            case "verdict":
                node.status = "waiting" if event.data.get("verdict") == "ask" else node.status
            case "call_started":
                node.status, node.started = "running", event.at
            case "progress":
                node.note = _progress(event.data)
            case "log":
                node.note = node.logged = str(event.data.get("text", ""))
            case "usage":
                node.tokens = tokens_of(event.data)
            case "call_finished":
                self._finish(node, event.data)
            case _:
                pass
        return node

    @property
    def calls(self) -> Iterable[CallNode]:
        """The calls that are remembered, in the order in which they were asked for."""
        return self._nodes.values()

    def rows(self, limit: int) -> tuple[list[tuple[int, CallNode]], int]:
        """Return what to show: (depth, call) in order, and how many earlier calls are not.

        Args:
            limit: The most rows; finished calls make room for those under way.
        """
        everything = [row for root in self._roots for row in _walk(root, 0)]
        spare = [index for index, (_, node) in enumerate(everything) if not node.open]
        # What went well goes first, and the oldest of it.
        spare.sort(key=lambda index: (everything[index][1].status != "done", index))
        hidden = set(spare[: max(len(everything) - limit, 0)])
        shown = [row for index, row in enumerate(everything) if index not in hidden][:limit]
        return shown, self.left_out + len(everything) - len(shown)

    def _add(self, call_id: str, data: Mapping[str, object]) -> CallNode:
        arguments = data.get("arguments")
        parent = data.get("parent")
        node = CallNode(
            id=call_id,
            tool=str(data.get("tool", "?")),
            arguments=cast("dict[str, object]", arguments) if isinstance(arguments, dict) else {},
            parent=parent if isinstance(parent, str) else None,
        )
        self._nodes[call_id] = node
        home = self._nodes.get(node.parent) if node.parent else None
        (home.children if home else self._roots).append(node)
        return node

    def _finish(self, node: CallNode, data: Mapping[str, object]) -> None:
        node.status = cast("Status", str(data.get("status", "unknown")))
        duration = data.get("duration_ms")
        node.duration_ms = float(duration) if isinstance(duration, int | float) else 0
        node.note = _failure(data.get("error")) or node.logged
        staged = data.get("staged_after")
        node.staged_after = staged if isinstance(staged, int) else None
        self.counts[node.status] += 1
        while len(self._roots) > _KEPT and not self._roots[0].open:
            self._forget(self._roots.pop(0))

    def _drop(self, data: Mapping[str, object]) -> None:
        """Mark the calls whose changes never reached the disk."""
        dropped = cast("list[object]", data["dropped"])
        there = [each for each in cast("list[object]", data["changes"]) if each not in dropped]
        landings = max((cast("dict[str, int]", each)["stage"] for each in there), default=0)
        for node in self._nodes.values():
            if node.status == "done" and node.staged_after is not None:
                node.note = DROPPED if node.staged_after >= landings else node.note

    def _forget(self, node: CallNode) -> None:
        self.left_out += 1
        for _, gone in _walk(node, 0):
            self._nodes.pop(gone.id, None)


def _walk(node: CallNode, depth: int) -> Iterator[tuple[int, CallNode]]:
    yield depth, node
    for child in node.children:
        yield from _walk(child, depth + 1)


def tokens_of(usage: Mapping[str, object]) -> int:
    """Return the tokens, sent and received, of a `usage` event."""
    counts = (usage.get("input_tokens"), usage.get("output_tokens"))
    return sum(count for count in counts if isinstance(count, int))


def _progress(data: Mapping[str, object]) -> str:
    done, total, text = data.get("done"), data.get("total"), data.get("text")
    amount = f"{done:g}" if isinstance(done, int | float) else ""
    if amount and isinstance(total, int | float):
        amount += f"/{total:g}"
    return " ".join(part for part in (amount, str(text or "")) if part)


def _failure(error: object) -> str:
    if not isinstance(error, dict):
        return ""
    fields = cast("dict[str, object]", error)
    return f"{fields.get('code', '')}: {fields.get('message', '')}"
