"""A program: die at each step of landing, taking back, recovering and undoing, then recover.

    python crashes.py FOLDER

prints one JSON line for each death: the scenario, the step, and what was wrong afterwards, if
anything. Each scenario starts from the same tree and has two outcomes, before and after.
"""

import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from landing.forks import die, done
from landing.trees import Tree, make, tree_of
from lineshaft.errors import StaleFile
from lineshaft.values import Stage
from lineshaft.workspace import Folder
from lineshaft.workspace.journal import failpoints

LARGE = 1_200_000
EVERYTHING = os.environ.get("DEV_TEST_ALL") == "1"
TREE: Tree = {
    "edited": ("file", 0o640, b"old\n"),
    "gone": ("file", 0o644, b"gone\n"),
    "moved": ("folder", 0o755),
    "moved/one": ("file", 0o600, b"one\n"),
    "moved/two": ("file", 0o644, b"two\n"),
    "moved/empty": ("folder", 0o755),
    "large": ("file", 0o644, b"l" * LARGE),
    "to-folder": ("file", 0o644, b"a file yet\n"),
    "to-file": ("folder", 0o755),
    "to-file/inside": ("file", 0o644, b"inside\n"),
    "link": ("symlink", "edited"),
    "closed": ("folder", 0o755),
    "kept": ("file", 0o644, b"kept\n"),
    "swapped-a": ("file", 0o644, b"a\n"),
    "swapped-b": ("file", 0o644, b"b\n"),
    "was-here": ("file", 0o644, b"went away\n"),
}

Work = Callable[[], Coroutine[object, object, None]]


async def edit(view: Stage) -> None:
    """Do one of each kind of change."""
    await view.write("edited", b"new\n")
    await view.delete("gone")
    await view.move("moved", "far/away")
    await view.write("far/away/two", b"two and a half\n")
    await view.write("large", b"m" * LARGE)
    await view.delete("to-folder")
    await view.write("to-folder/a/b", b"deep\n")
    await view.delete("to-file/inside")
    await view.delete("to-file")
    await view.write("to-file", b"a file now\n", mode=0o755)
    await view.delete("link")
    await view.link("link", "kept")
    await view.make_folder("closed", mode=0o700)
    await view.make_folder("new-empty")
    await view.move("swapped-a", "swapping")
    await view.move("swapped-b", "swapped-a")
    await view.move("swapping", "swapped-b")
    await view.move("was-here", "went-there")
    await view.write("was-here", b"another\n")
    for number in range(4):
        await view.write(f"made/{number}", f"made {number}\n".encode())


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a scenario is played."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "workspace"

    @property
    def workspace(self) -> Folder:
        return Folder(self.root, journals=self.folder / "journals")

    def clear(self) -> None:
        """Have the tree as it is before everything."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.root.mkdir(parents=True)
        make(self.root, TREE)


async def nothing() -> None:
    """Prepare nothing."""


async def land(ground: Ground) -> None:
    view = ground.workspace.begin("run", atomic=True)
    await edit(view)
    await view.land()


async def undo(ground: Ground) -> None:
    await ground.workspace.undo("run")


async def recover(ground: Ground) -> None:
    await ground.workspace.recover()


async def land_and_die(ground: Ground) -> None:
    at("file-placed", 3)
    await land(ground)


async def land_in_vain(ground: Ground) -> None:
    """Somebody puts a file where one is to be made, between two steps of the landing."""
    inner = failpoints.hook()

    def interfere(step: failpoints.Step) -> None:
        if step == "folder-made":
            (ground.root / "made").mkdir(exist_ok=True)
            (ground.root / "made" / "2").write_bytes(b"theirs\n")
        if inner is not None:
            inner(step)

    failpoints.at_each_step(interfere)
    try:
        await land(ground)
    except StaleFile:
        return
    raise AssertionError("a file of somebody else was overwritten")


@dataclass(frozen=True, slots=True)
class Scenario:
    """Something that may die in the middle."""

    prepare: Callable[[Ground], Coroutine[object, object, None]] | None
    play: Callable[[Ground], Coroutine[object, object, None]]
    theirs: bool = False
    """Whether somebody else makes a file meanwhile."""


SCENARIOS = {
    "landing": Scenario(None, land),
    "undoing": Scenario(land, undo),
    "recovering": Scenario(land_and_die, recover),
    "taking back": Scenario(None, land_in_vain, theirs=True),
}


def at(step: str, number: int) -> None:
    """Die when a step is reached for so many times."""
    seen: Counter[str] = Counter()

    def look(reached: failpoints.Step) -> None:
        seen[reached] += 1
        if reached == step and seen[reached] == number:
            die()

    failpoints.at_each_step(look)


def count(ground: Ground, scenario: Scenario) -> dict[str, int]:
    """Play a scenario to its end and return how often each step was reached."""
    told = ground.folder.parent / "steps.json"

    async def work() -> None:
        seen: Counter[str] = Counter()
        failpoints.at_each_step(lambda step: seen.update([step]))
        await scenario.play(ground)
        told.write_text(json.dumps(seen))

    assert done(work) == 0
    return json.loads(told.read_text())


def start(ground: Ground, scenario: Scenario) -> None:
    """Have everything as it is before the scenario."""
    ground.clear()
    if scenario.prepare is not None:
        assert done(partial(scenario.prepare, ground)) in (0, -9)


def without_theirs(tree: Tree, scenario: Scenario) -> Tree:
    """Leave out what somebody else made: `made` may be his alone."""
    if not scenario.theirs or tree.get("made/2") != ("file", 0o644, b"theirs\n"):
        return tree
    mine = {path: thing for path, thing in tree.items() if path != "made/2"}
    if not any(path.startswith("made/") for path in mine):
        mine.pop("made", None)
    return mine


def crash(ground: Ground, scenario: Scenario, step: str, number: int) -> str:
    """Die at a step and recover; return what is wrong then."""
    start(ground, scenario)

    async def work() -> None:
        at(step, number)
        await scenario.play(ground)

    if done(work) != -9:
        return "it was never reached"
    if done(partial(recover, ground)) != 0:
        return "recovery failed"
    return wrong(ground, scenario)


def wrong(ground: Ground, scenario: Scenario) -> str:
    """Return what is wrong with a tree that was recovered."""
    found = without_theirs(tree_of(ground.root), scenario)
    outcomes = [TREE, AFTER]
    if scenario.theirs:
        outcomes.append({path: thing for path, thing in AFTER.items() if path != "made/2"})
    if found not in outcomes:
        return f"half: {[differences(found, outcome) for outcome in outcomes]}"
    left = [path.name for path in (ground.folder / "journals").iterdir()]
    if set(left) - {"lock", "done", "kept"}:
        return f"journals were left: {left}"
    if scenario.theirs:
        return ""
    if found == AFTER and done(partial(undo, ground)) != 0:
        return "what landed cannot be undone"
    return "" if tree_of(ground.root) == TREE else "undone, it is not as before"


def differences(tree: Tree, other: Tree) -> list[str]:
    """Return the paths that are not the same."""
    paths = tree.keys() | other.keys()
    return sorted(path for path in paths if tree.get(path) != other.get(path))


def numbers(step: str, times: int) -> set[int]:
    """Return at which of the times that a step is reached somebody is to die."""
    middle = (times + 1) // 2
    if not EVERYTHING:
        return {middle, times} if step == "file-placed" else {middle}
    return set(range(1, times + 1)) if step == "file-placed" else {1, middle, times}


def report(ground: Ground, name: str, scenario: Scenario) -> None:
    """Die at each step, in the middle of the times that it is reached, or also at both ends."""
    start(ground, scenario)
    for step, times in count(ground, scenario).items():
        for number in sorted(numbers(step, times)):
            problem = crash(ground, scenario, step, number)
            sys.stdout.write(json.dumps([name, step, number, problem]) + "\n")


def after(ground: Ground) -> Tree:
    """Return the tree as it is after everything."""
    ground.clear()
    assert done(partial(land, ground)) == 0
    return tree_of(ground.root)


if __name__ == "__main__":
    os.umask(0o022)
    GROUND = Ground(Path(sys.argv[1]).resolve() / "ground")
    AFTER = after(GROUND)
    for title, one in SCENARIOS.items():
        report(GROUND, title, one)
