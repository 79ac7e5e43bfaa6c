"""A program: kill a process that lands again and again, at any instant; recover; look; go on.

    python kills.py FOLDER ROUNDS SEED

prints one JSON line a round: what was found there, and what was wrong afterwards, if anything.
In every third round somebody else changes a file between crash and recovery.
"""

import json
import os
import random
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from landing.forks import begin, done, ended
from landing.history import VERSION, History, make
from landing.trees import Tree, tree_of
from lineshaft.workspace import Folder
from lineshaft.workspace.journal import Journals, failpoints

THEIRS = b"somebody else's\n"
KILLED = -9
LONGEST_SECONDS = 0.25
LANDING_SECONDS = 0.02


class Ground:
    """One workspace that goes through all rounds."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.root, self.journals = folder / "workspace", folder / "journals"
        self.told = folder / "told.json"
        self.history = History(seed)
        self.chance = random.Random(seed)  # noqa: S311  no secret
        self.signal = ""
        self.root.mkdir(parents=True)
        (self.root / VERSION).write_bytes(b"0")
        self.journals.mkdir()

    @property
    def version(self) -> int:
        """Which version the tree says it is."""
        return int((self.root / VERSION).read_bytes())

    async def land(self, ready: int) -> None:
        """Land one version after the other until the end of all time."""
        workspace = Folder(self.root, journals=self.journals)
        number = self.version
        failpoints.at_each_step(lambda step: os.write(ready, b"!") if step == self.signal else None)
        if self.signal == "start":
            os.write(ready, b"!")
        while True:
            number += 1
            view = workspace.begin(f"run-{number}", atomic=True)
            await make(view, self.history.at(number).edits)
            await view.land()
            await view.discard()

    async def recover(self) -> None:
        """Recover, and write down what was said."""
        findings = await Folder(self.root, journals=self.journals).recover()
        self.told.write_text(json.dumps([[one.code, one.path] for one in findings]))

    def killed(self) -> None:
        """Have a process land, and kill it at some instant, more often than not of a landing."""
        landing = self.chance.random() < 0.7
        self.signal = self.chance.choice(["checked", "committed"]) if landing else "start"
        read, write = os.pipe()
        pid = begin(partial(self.land, write))
        os.close(write)
        os.read(read, 1)
        time.sleep(self.chance.random() * (LANDING_SECONDS if landing else LONGEST_SECONDS))
        os.kill(pid, 9)
        os.close(read)
        assert ended(pid) == KILLED

    def interfere(self) -> str | None:
        """Change a file that a half-done landing was to change; return which."""
        kept = Journals(self.journals, 7)
        journals = [journal for path in kept.unfinished() if (journal := kept.load(path))]
        paths = [
            item.place.path
            for journal in journals
            for item in journal.header.items
            if item.after.kind == "file" and item.place.path != VERSION
        ]
        if not paths:
            return None
        path = self.root / self.chance.choice(paths)
        with suppress(FileNotFoundError, FileExistsError):
            path.parent.mkdir(parents=True)
        path.unlink(missing_ok=True)
        path.write_bytes(THEIRS)
        return path.relative_to(self.root).as_posix()

    def round(self, number: int) -> dict[str, object]:
        """Kill, recover, look."""
        self.killed()
        half = tree_of(self.root) != self.history.at(self.version).tree
        unfinished = len(Journals(self.journals, 7).unfinished())
        theirs = self.interfere() if number % 3 == 0 else None
        code = done(self.recover)
        findings: list[list[str]] = json.loads(self.told.read_text()) if code == 0 else []
        problem = "recovery failed" if code else self.wrong(theirs, findings)
        self.mend(theirs)
        return {
            "version": self.version,
            "half": half,
            "unfinished": unfinished,
            "codes": sorted({code for code, _ in findings}),
            "theirs": theirs,
            "wrong": problem,
        }

    def wrong(self, theirs: str | None, findings: Sequence[Sequence[str | None]]) -> str:
        """Return what is wrong after recovery."""
        found, expected = tree_of(self.root), dict(self.history.at(self.version).tree)
        if theirs is not None:
            if found.pop(theirs, ("", 0, b""))[2] != THEIRS:
                return f"{theirs} was overwritten"
            if ["landing-finished", None] in findings and ["left-alone", theirs] not in findings:
                return f"{theirs} was not named"
            expected.pop(theirs, None)
        wrong = sorted(p for p in found.keys() | expected.keys() if found.get(p) != expected.get(p))
        left = {path.name for path in self.journals.iterdir()} - {"lock", "done", "kept"}
        if wrong or left:
            return f"half: {wrong}, journals left: {left}"
        return ""

    def mend(self, theirs: str | None) -> None:
        """Have what the version says where somebody else was."""
        tree: Tree = self.history.at(self.version).tree
        if theirs is None:
            return
        path = self.root / theirs
        path.unlink(missing_ok=True)
        match tree.get(theirs):
            case ("file", int(mode), bytes(data)):
                path.write_bytes(data)
                path.chmod(mode)
            case ("symlink", str(target)):
                path.symlink_to(target)
            case _:
                with suppress(OSError):
                    for above in path.relative_to(self.root).parents:
                        if above.as_posix() not in tree:
                            (self.root / above).rmdir()


def main(folder: str, rounds: str, seed: str) -> None:
    """Go through all rounds."""
    os.umask(0o022)
    ground = Ground(Path(folder).resolve(), int(seed))
    for number in range(int(rounds)):
        told = ground.round(number)
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
        if told["wrong"]:
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
