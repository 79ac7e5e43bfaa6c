"""The lists of `docs/architecture.md`: which functions a call and a landing pass.

    python tests/architecture/ways.py       # writes them: `./dev architecture`

A profiler hears each function that is entered while a session makes a recorded read, and a write
that lands. A function stands below the one that called it. Left out are what lies deeper than a
page can tell, properties, generators, the points at which tests kill a landing, and what is entered
a second time.
"""

import asyncio
import re
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from inspect import CO_GENERATOR, getattr_static
from pathlib import Path
from types import FrameType

import lineshaft
from lineshaft import Policy, Session, kit, tool

PAGE = Path(__file__).parent.parent.parent / "docs" / "architecture.md"
SOURCE = Path(lineshaft.__file__).parent
BLOCK = re.compile(r"(<!-- the way of a (\w+) -->\n).*?(?=<!-- end -->)", re.DOTALL)


@dataclass(slots=True, kw_only=True)
class Way:
    """The functions that are entered on the way of something, in order."""

    top: str
    """The qualified name of the function that it begins with."""

    hops: dict[str, str]
    """Functions that go on in another task or thread, each with the one that waits for them."""

    deepest: int
    """How many functions deep it is told."""

    also: frozenset[str] = frozenset()
    """Functions that are told however deep they are."""

    end: str = ""
    """The function that it ends with; empty: it ends with the first one."""

    lines: list[str] = field(default_factory=list[str])
    calls: int = 0
    frames: int = 0
    """How many functions were one inside of the other when the last one was entered."""

    hears: bool = False
    _depths: dict[str, int] = field(default_factory=dict[str, int])

    def hear(self, frame: FrameType, event: str, argument: object) -> None:
        """Take note of a function that is entered."""
        del argument
        if event != "call" or not self.hears:
            return
        way = self._inner(frame)
        if not way:
            return
        name, file = frame.f_code.co_qualname, Path(frame.f_code.co_filename)
        above = self._depths.get(self.hops.get(way[0].f_code.co_qualname, ""), -1)
        depth = self._depths[name] = above + len(way)
        self.calls += 1
        self.frames = depth + 1
        self.hears = name != self.end
        place = file.relative_to(SOURCE).as_posix() if self.hears else "the tool itself"
        line = f"{'  ' * depth}- `{name}` ({place})"
        told = depth <= self.deepest or name in self.also or not self.hears
        if told and line not in self.lines and not any(map(_is_small, way)):
            self.lines.append(line)

    def _inner(self, frame: FrameType) -> list[FrameType]:
        """Return our functions around a frame, from the first one or a hop on; none: elsewhere."""
        found = [frame] if _is_ours(frame) or frame.f_code.co_qualname == self.end else []
        outer: FrameType | None = frame
        while found and outer is not None:
            if outer is not frame and _is_ours(outer):
                found.append(outer)
            name = outer.f_code.co_qualname
            if name == self.top or self.hops.get(name) in self._depths:
                return found[::-1]
            outer = outer.f_back
        return []


_INLINED = frozenset({"<dictcomp>", "<listcomp>", "<setcomp>"})
"""Functions that Python has before 3.12 only."""


def _is_ours(frame: FrameType) -> bool:
    if frame.f_code.co_name in _INLINED:
        return False
    return Path(frame.f_code.co_filename).is_relative_to(SOURCE)


def _is_small(frame: FrameType) -> bool:
    """Return whether a function is no step of its own."""
    code = frame.f_code
    owner, _, name = code.co_qualname.rpartition(".")
    return (
        isinstance(getattr_static(frame.f_globals.get(owner), name, None), property)
        or bool(code.co_flags & CO_GENERATOR)
        or name.endswith((">", "__exit__"))
        or code.co_filename.endswith("failpoints.py")
    )


@tool(effect="read")
async def temperature(city: str) -> float:
    """Return the temperature in a city, in degrees Celsius."""
    return {"Oslo": 4.0}[city]


def of_a_call() -> Way:
    """Return the way of a read that is recorded, from the gate to the tool."""
    way = Way(
        top="CallPipeline._dispatch",
        hops={"_contained": "bounded"},
        deepest=2,
        also=frozenset({"_contained", "execute.<locals>.body", "invoke"}),
        end="temperature",
    )
    return _heard(way, lambda session: session.call("temperature", {"city": "Oslo"}))


def of_a_landing() -> Way:
    """Return the way of a file that is written into a folder."""
    hops = {"StagedView._land": "StagedView.land"}
    way = Way(top="StagedView.land", hops=hops, deepest=4)
    arguments = {"path": "a.txt", "content": "new"}
    return _heard(way, lambda session: session.call("write_file", arguments))


def _heard(way: Way, work: Callable[[Session], Awaitable[object]]) -> Way:
    """Do something in a session twice, and hear its way the second time."""
    before = sys.getprofile()
    threading.setprofile(way.hear)
    sys.setprofile(way.hear)
    try:
        asyncio.run(_done(way, work))
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return way


async def _done(way: Way, work: Callable[[Session], Awaitable[object]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder, "workspace")
        workspace.mkdir()
        (workspace / "a.txt").write_text("old", encoding="utf-8")
        tools = [*kit.tools("write_file").values(), temperature]
        async with Session(
            tools, workspace=workspace, policy=Policy(mode="open"), store=Path(folder, "runs.db")
        ) as session:
            if way.end:
                await work(session)
            way.hears = True
            await work(session)
            way.hears = False


def written(page: str) -> str:
    """Return the page with the lists as they are now."""
    ways = {"call": of_a_call, "landing": of_a_landing}

    def block(found: re.Match[str]) -> str:
        return "\n".join((found[1], *ways[found[2]]().lines, "", ""))

    return BLOCK.sub(block, page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
