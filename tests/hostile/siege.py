"""Every hostile script on one way, some at a time, and what they got of what they were after."""

from collections import deque
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import psutil

from hostile.cases import Case, cases, groups
from hostile.grounds import LIMITS, Ground, Shown, Way, ground
from hostile.target import Target
from lineshaft.sandbox.webassembly import native_code

LONGEST = 120.0
"""Seconds within which anything has to be settled."""

HANDS = 3
"""So many scripts are under way at once, each in a session and with a target of its own."""

GROWTH = 200_000_000
"""Of the host, in bytes, beside what scripts may hold in it."""

Found = dict[str, list[str]]
"""By case: what it got that it should not have."""


async def besiege(way: Way, folder: Path, *, python: str | None = None) -> Found:
    """Let every case loose and return those that got anything.

    Args:
        way: How they are run.
        folder: An empty one, for workspaces.
        python: Which full Python; None: the usual places.
    """
    siege = _Siege(way)
    # A user without native code makes it, in 420 MB: guards of what a program changed need it too.
    await anyio.to_thread.run_sync(native_code)
    async with anyio.create_task_group() as hands:
        for number in range(HANDS):
            place = folder / str(number)
            place.mkdir()
            hands.start_soon(siege.take_part, place, python)
    assert siege.tried == len(siege.every)
    return siege.found


class _Siege:
    """What the hands share."""

    def __init__(self, way: Way) -> None:
        self.way = way
        self.every = [case for group in groups() for case in cases(group)]
        self.tried = 0
        self.found: Found = {}
        self._left = deque(self.every)
        self._memory = 0

    async def take_part(self, folder: Path, python: str | None) -> None:
        """Try one case after the other, until none is left."""
        with Target() as target:
            async with ground(self.way, folder, python) as here:
                self._memory = max(self._memory, psutil.Process().memory_info().rss)
                while self._left:
                    case = self._left.popleft()
                    if breaches := await self._breaches(case, here, target):
                        self.found[case.id] = breaches
                    self.tried += 1

    async def _breaches(self, case: Case, here: Ground, target: Target) -> list[str]:
        inputs = await anyio.to_thread.run_sync(target.inputs, case.id)
        try:
            with anyio.fail_after(LONGEST):
                shown = await here.run(case, inputs)
        except TimeoutError as error:
            raise AssertionError(f"{case.id} was not settled in {LONGEST:g} s") from error
        seen = await anyio.to_thread.run_sync(lambda: list(_got(case, shown, target, self.way)))
        grown = psutil.Process().memory_info().rss - self._memory
        inside = HANDS * LIMITS.memory_mb * 1_000_000 if self.way.kind == "wasm" else 0
        grew = grown > GROWTH + inside
        return [*seen, *([f"the host grew by {grown} bytes"] if grew else [])]


def _got(case: Case, shown: Shown, target: Target, way: Way) -> Iterator[str]:
    """Yield what a script got that it should not have."""
    yield from shown.amiss
    if target.told(*shown.said):
        yield "a secret was told"
    if target.written():
        yield "a file was written"
    if case.sign == "connects" and target.heard():
        yield "somebody connected"
    if case.sign == "signals" and target.hurt():
        yield "a neighbour was hurt"
    if left := target.left(case.id):
        yield f"{len(left)} processes were left"
    if len(shown.stdout) > shown.most[0] or len(shown.stderr) > shown.most[1]:
        yield "its output was kept"
    # A program may print what it likes, and be cut; a script that floods is ended.
    if shown.ended_well and case.sign == "floods" and way.kind != "python_run":
        yield "it was let go on"
    if shown.ended_well and case.sign == "forges" and shown.value != "honest":
        yield f"its value is {shown.value!r}"
