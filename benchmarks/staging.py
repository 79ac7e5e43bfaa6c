"""What it costs that changes wait and land whole, beside writing each at once.

Both sides are the same session, script and tools; they differ in `atomic`. Wall time and CPU time
are taken in turns; the ratio is to the first line of each table. The last table shows single steps
of a landing on the disk that the temporary folder is on.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from lineshaft import Limits, Policy, Session, kit
from lineshaft.workspace import Folder

FILES = 100
LINES = 100
EDITS = """
for i in range({files}):
    await edit_file(path=f"file-{{i}}.txt", old="version {old}", new="version {new}")
return {files}
"""
READS = "for i in range(100):\n    await read_file(path=f'file-{i}.txt')\nreturn 100"
ROOMY = Limits(seconds=600, calls=1_000_000)
WARMING = 2

Work = Callable[[], Awaitable[object]]


@dataclass(slots=True)
class Side:
    """One way to write, in a folder of its own."""

    name: str
    session: Session
    version: int = 0
    wall: list[float] = field(default_factory=list[float])
    cpu: list[float] = field(default_factory=list[float])

    async def edit(self) -> None:
        """Edit each file once."""
        script = EDITS.format(files=FILES, old=self.version, new=self.version + 1)
        self.version += 1
        (await self.session.run(script)).raise_for_status()

    async def timed(self, work: Work) -> None:
        """Do something and take its times."""
        wall, cpu = time.perf_counter(), time.process_time()
        await work()
        self.wall.append((time.perf_counter() - wall) * 1000)
        self.cpu.append((time.process_time() - cpu) * 1000)


def fill(folder: Path) -> Path:
    """Make a folder with files that have a version in the middle."""
    folder.mkdir()
    lines = [f"line {number} of a file like others" for number in range(LINES)]
    lines[LINES // 2] = "version 0"
    for number in range(FILES):
        (folder / f"file-{number}.txt").write_text("\n".join(lines))
    return folder


def table(title: str, rows: list[tuple[str, float]]) -> None:
    """Print medians with ratios to the first."""
    print(f"\n| {title:<57} | {'median':>8} | ratio |")
    print(f"| {'-' * 57} | {'-' * 7}: | {'-' * 4}: |")
    for name, value in rows:
        print(f"| {name:<57} | {value:8.2f} | {value / rows[0][1]:5.2f} |", flush=True)


async def scripts(base: Path, turns: int) -> None:
    """Compare a script of many edits, and one of as many reads."""
    async with AsyncExitStack() as stack:
        sides: list[Side] = []
        for name, atomic in (("each written at once", False), ("staged, landed at the end", True)):
            root = fill(base / f"{atomic}")
            session = Session(
                kit.tools("edit_file", "read_file"),
                workspace=Folder(root, journals=base / f"journals-{atomic}"),
                policy=Policy(mode="open"),
                limits=ROOMY,
                atomic=atomic,
                store=False,
            )
            sides.append(Side(name, await stack.enter_async_context(session)))
        for _ in range(turns + WARMING):
            for side in sides:
                await side.timed(side.edit)
        show(f"a script of {FILES} edits", sides)
        for side in sides:
            side.wall, side.cpu = [], []
        for _ in range(turns + WARMING):
            for side in sides:
                await side.timed(lambda side=side: side.session.run(READS))
        show(f"a script of {FILES} reads", sides)


def show(what: str, sides: list[Side]) -> None:
    """Print all times; the fastest says what is left when nobody else uses the disk."""
    table(f"{what}, ms", [(s.name, statistics.median(s.wall[WARMING:])) for s in sides])
    table(f"{what}, fastest, ms", [(s.name, min(s.wall[WARMING:])) for s in sides])
    table(f"{what}, ms of CPU", [(s.name, statistics.median(s.cpu[WARMING:])) for s in sides])


async def steps(base: Path, turns: int) -> None:
    """Take the times of single steps."""
    folder = Folder(fill(base / "steps"), journals=base / "journals-steps")
    for count in (1, 10, FILES):
        found: dict[str, list[float]] = {}

        async def timed(name: str, work: Work, found: dict[str, list[float]] = found) -> None:
            start = time.perf_counter()
            await work()
            found.setdefault(name, []).append((time.perf_counter() - start) * 1000)

        for turn in range(turns):
            run_id = f"run-{count}-{turn}"
            view = folder.begin(run_id, atomic=True)
            for number in range(count):
                await view.write(f"file-{number}.txt", f"{turn}\n".encode() * 300)
            await timed(f"pack a view of {count} files", view.pack)
            await timed(f"land {count} files, two syncs included", view.land)
            await timed(f"undo {count} files", lambda run_id=run_id: folder.undo(run_id))
            await view.discard()
        table(
            f"single steps, {count} files, ms",
            [(name, statistics.median(values)) for name, values in found.items()],
        )
    nothing: list[float] = []
    begun: list[float] = []
    for _ in range(100):
        start = time.perf_counter()
        await folder.recover()
        nothing.append((time.perf_counter() - start) * 1_000_000)
        start = time.perf_counter()
        folder.begin("run", atomic=True)
        begun.append((time.perf_counter() - start) * 1_000_000)
    table(
        "before a run, us",
        [
            ("recover, with nothing to do", statistics.median(nothing)),
            ("begin a staged view", statistics.median(begun)),
        ],
    )


async def show_staging(turns: int) -> None:
    """Print all tables."""
    with tempfile.TemporaryDirectory() as base:
        await scripts(Path(base), turns)
        await steps(Path(base), max(3, turns // 2))


if __name__ == "__main__":
    asyncio.run(show_staging(20))
