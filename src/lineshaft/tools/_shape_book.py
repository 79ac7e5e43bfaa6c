"""A session's knowledge of results: kept shapes of earlier ones, and its own observations.

Above: the gate, which shows it results; the session, which describes them to scripts and models.
    Below: nothing; a function takes the observations to keep. Safe to use from several threads.
"""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from threading import Lock

from msgspec import field
from msgspec.structs import replace

from lineshaft.errors import LineshaftError
from lineshaft.tools._observed import (
    Shape,
    infer_shape,
    merge_shapes,
    shape_difference,
    tool_version,
)
from lineshaft.values import ObservedShape, Struct, ToolSpec

Keep = Callable[[ObservedShape], None]
Load = Callable[[], Awaitable[Iterable[ObservedShape]]]

_KNOWN_WELL = 5
"""After so many results, one that is different is worth a word."""


class _Page(Struct, eq=False):
    """The observations of one tool."""

    version: str
    shape: Shape | None = None
    count: int = 0
    drifted: int = 0
    new: ObservedShape | None = None
    """Observations that have not gone out yet."""


class ShapeBook(Struct, eq=False):
    """Shapes of results, for tools that do not say what they return.

    Args:
        keep: Takes observations, for later sessions.
        load: Gives the observations of earlier sessions.
    """

    keep: Keep | None = None
    load: Load | None = None
    _pages: dict[str, _Page] = field(default_factory=dict[str, _Page])
    _versions: dict[str, tuple[ToolSpec, str]] = field(
        default_factory=dict[str, tuple[ToolSpec, str]]
    )
    _lock: Lock = field(default_factory=Lock)
    _told: tuple[tuple[ToolSpec, ...], tuple[ToolSpec, ...]] | None = None

    def observe(self, spec: ToolSpec, value: object, shown: Callable[[str], str] = str) -> str:
        """Take a result; return how it differs from many before it, or an empty text.

        Args:
            spec: The tool; nothing is done where it says what it returns.
            value: JSON-like; only its types and keys are kept.
            shown: Returns a text without secrets: keys that have some are not kept.
        """
        if not is_observed(spec):
            return ""
        seen = infer_shape(value, shown=shown)
        with self._lock:
            page = self._page(spec)
            grown = seen if page.shape is None else merge_shapes(page.shape, seen)
            strange = ""
            if page.shape is not None and grown != page.shape and page.count >= _KNOWN_WELL:
                strange = shape_difference(page.shape, seen)
            changed = grown != page.shape
            page.shape = grown
            page.count += 1
            page.drifted += bool(strange)
            page.new = _more(page.new, spec, page, drifted=bool(strange))
            if changed:
                self._told = None
            if changed or not page.count & (page.count - 1):
                self._put_out(page)
        return f"{spec.name} returned a new shape: {strange}" if strange else ""

    async def learn(self) -> None:
        """Take over the observations of earlier sessions, once; a failure is ignored."""
        load, self.load = self.load, None
        if load is None:
            return
        found: Iterable[ObservedShape] = ()
        with suppress(LineshaftError):
            found = await load()
        with self._lock:
            for kept in found:
                page = self._pages.setdefault(kept.tool, _Page(kept.version))
                if page.version == kept.version:
                    schema = kept.schema
                    page.shape = merge_shapes(schema, page.shape or schema)
                    page.count += kept.count
                    page.drifted += kept.drifted
            self._told = None

    def told(self, specs: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
        """Return tools with their observed results; the same tuple until these change."""
        with self._lock:
            told = self._told
            if told is None or told[0] is not specs:
                found = tuple(map(self._of, specs))
                same = all(one is other for one, other in zip(found, specs, strict=True))
                told = self._told = (specs, specs if same else found)
        return told[1]

    def flush(self) -> None:
        """Hand out the observations since the last time."""
        with self._lock:
            for page in self._pages.values():
                self._put_out(page)

    def _of(self, spec: ToolSpec) -> ToolSpec:
        page = self._pages.get(spec.name)
        if page is None or page.shape is None or not is_observed(spec):
            return spec
        return replace(spec, observed=page.shape) if self._version(spec) == page.version else spec

    def _page(self, spec: ToolSpec) -> _Page:
        version = self._version(spec)
        page = self._pages.get(spec.name)
        if page is None or page.version != version:
            page = self._pages[spec.name] = _Page(version)
        return page

    def _version(self, spec: ToolSpec) -> str:
        held = self._versions.get(spec.name)
        if held is None or held[0] is not spec:
            held = self._versions[spec.name] = (spec, tool_version(spec))
        return held[1]

    def _put_out(self, page: _Page) -> None:
        new, page.new = page.new, None
        if new is not None and self.keep is not None:
            self.keep(new)


def is_observed(spec: ToolSpec) -> bool:
    """Return whether a tool's results are the only source about what it returns."""
    return spec.output_schema is None and not spec.container


def _more(
    had: ObservedShape | None, spec: ToolSpec, page: _Page, *, drifted: bool
) -> ObservedShape:
    shape = page.shape or {}
    if had is None:
        return ObservedShape(
            tool=spec.name, version=page.version, schema=shape, drifted=int(drifted)
        )
    return replace(had, schema=shape, count=had.count + 1, drifted=had.drifted + drifted)
