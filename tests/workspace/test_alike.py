"""A stage over any workspace does what the folder's own does, whatever a run asks of it.

Random runs, the same on both: what each step gives, what is listed, and what has landed at the end.
Somebody else changes files meanwhile, but none whose only content the folder's stage has moved.
"""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from lineshaft.errors import LineshaftError
from lineshaft.values import Stage
from workspace.distant import STAGES

PATHS = ("a", "b", "d", "d/a", "d/b", "d/e", "d/e/f", "c/x/y")
CONTENTS = (b"1", b"two\n", b"three\nlines\n")
STEPS = {
    "write": 6,
    "delete": 4,
    "move": 5,
    "make_folder": 3,
    "read": 4,
    "stat": 2,
    "walk": 2,
    "before": 1,
    "changes": 2,
    "diff": 1,
    "layer": 2,
    "merge": 2,
    "drop": 1,
    "land": 2,
    "elsewhere": 2,
}
"""What a run does, and how often."""

Step = tuple[str, str, str, bytes]


class Run:
    """One run over a workspace of a kind, and layers over its stage."""

    def __init__(self, kind: str, root: Path) -> None:
        self.root = root
        self.views: list[Stage] = [STAGES[kind](root).begin("run", atomic=True)]

    async def take(self, step: Step) -> object:
        """Take a step; return what a script sees of it."""
        name, path, target, data = step
        try:
            match name:
                case "layer" | "merge" | "drop" | "elsewhere":
                    return await self._among(name, path, data)
                case "write":
                    return _told(await self.views[-1].write(path, data))
                case "move":
                    return _told(await self.views[-1].move(path, target))
                case "delete":
                    return _told(await self.views[-1].delete(path))
                case "make_folder":
                    return _told(await self.views[-1].make_folder(path))
                case "land":
                    await self.views[-1].land()
                    return name
                case _:
                    return await self._look(name, path)
        except LineshaftError as error:
            return (error.code, type(error).__name__)

    async def _among(self, name: str, path: str, data: bytes) -> object:
        if name == "elsewhere":
            self._elsewhere(self.root / path, data)
        elif name == "layer" and len(self.views) < 3:
            self.views.append(self.views[-1].layer(f"layer {len(self.views)}"))
        elif name == "merge" and len(self.views) > 1:
            await self.views[-1].merge()
            self.views.pop()
        elif name == "drop" and len(self.views) > 1:
            self.views.pop().drop()
        return None

    def _elsewhere(self, file: Path, data: bytes) -> None:
        """Have somebody else write a file, or delete it."""
        if file.is_file() and data == CONTENTS[0]:
            file.unlink()
        elif file.parent.is_dir() and not file.is_dir():
            file.write_bytes(b"theirs")

    async def _look(self, name: str, path: str) -> object:
        view = self.views[-1]
        match name:
            case "read":
                return (await view.read(path)).data
            case "before":
                content = await view.before(path)
                return None if content is None else content.data
            case "stat":
                there = await view.stat(path)
                return (there.path, there.kind)
            case "walk":
                return [(each.path, each.kind) async for each in view.walk(path, ignore=False)]
            case "diff":
                return await view.diff()
            case _:
                return [_told(change) for change in await view.changes()]

    async def moved(self) -> set[str]:
        """Return the paths of which files were moved away, and have not landed."""
        lowest = self.views[0]
        changes = [each for each in await lowest.changes() if each.stage > lowest.landed]
        return {change.moved_from for change in changes if change.moved_from is not None}

    async def end(self) -> object:
        """Land what is left; return how that ended, and all files."""
        ended = [await self.take(("merge", "", "", b"")) for _ in self.views[1:]]
        del self.views[1:]
        ended.append(await self.take(("land", "", "", b"")))
        await self.views[0].discard()
        files = {
            str(path.relative_to(self.root)): path.read_bytes() if path.is_file() else None
            for path in self.root.rglob("*")
        }
        return ended, files


def _told(change: object) -> object:
    names = ("path", "kind", "moved_from", "sha256", "stage", "added", "removed")
    return [getattr(change, name) for name in names]


def drawn(chance: random.Random) -> Step:
    """Return some step."""
    name = chance.choices(tuple(STEPS), tuple(STEPS.values()))[0]
    anywhere = (*PATHS, ".") if name != "elsewhere" else PATHS
    return (name, chance.choice(anywhere), chance.choice(anywhere), chance.choice(CONTENTS))


async def compared(seed: int, folder: Path) -> Sequence[object]:
    """Do the same with both; return the steps up to one that differs, or nothing."""
    chance = random.Random(seed)  # noqa: S311  no secret
    there = {
        path: chance.choice(CONTENTS) for path in ("a", "d/a", "d/e/f") if chance.random() < 0.7
    }
    runs: list[Run] = []
    for kind in STAGES:
        root = folder / kind / "root"
        for path, data in there.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        root.mkdir(parents=True, exist_ok=True)
        runs.append(Run(kind, root))
    done: list[object] = [there]
    for _ in range(chance.randint(3, 25)):
        step = drawn(chance)
        if step[0] == "elsewhere":
            moved = await runs[0].moved()
            if any(f"{path}/".startswith(f"{step[1]}/") for path in moved):
                continue
        seen = [await run.take(step) for run in runs]
        done.append((step, *seen))
        if seen[0] != seen[1]:
            return done
    ended = [await run.end() for run in runs]
    return [] if ended[0] == ended[1] else [*done, *ended]


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 200, 50))
async def test_a_stage_over_any_workspace_does_what_the_folders_does(
    first: int, tmp_path: Path
) -> None:
    for seed in range(first, first + 50):
        assert await compared(seed, tmp_path / str(seed)) == [], f"seed {seed}"
