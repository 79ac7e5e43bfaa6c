"""A tree that changes step by step, so that its version tells all that must be in it."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from landing.trees import Tree
from lineshaft.values import Stage

NAMES = tuple(
    f"{folder}{name}" for folder in ("", "p/", "q/", "q/r/") for name in "abcdefghijklmno"
)
VERSION = "version"

Edit = tuple[str, ...]


@dataclass(slots=True)
class Version:
    """A tree, and the edits that led to it from the one before."""

    tree: Tree = field(default_factory=dict[str, tuple[object, ...]])
    edits: list[Edit] = field(default_factory=list[Edit])


class History:
    """All versions of a tree, each made from the one before."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._versions = [Version({VERSION: ("file", 0o644, b"0")})]

    def at(self, number: int) -> Version:
        """Return a version."""
        while len(self._versions) <= number:
            self._versions.append(self._next(len(self._versions)))
        return self._versions[number]

    def _next(self, number: int) -> Version:
        chance = random.Random(f"{self._seed}/{number}")  # noqa: S311  no secret
        made = Version(dict(self._versions[-1].tree))
        for _ in range(chance.randint(10, 40)):
            _edit(made, chance, number)
        made.tree[VERSION] = ("file", 0o644, str(number).encode())
        made.edits.append(("write", VERSION, str(number)))
        return made


def _edit(made: Version, chance: random.Random, number: int) -> None:
    tree = made.tree
    path = chance.choice(NAMES)
    kind = chance.choice(("write", "write", "write", "delete", "delete", "move", "link", "mode"))
    files = sorted(name for name, thing in tree.items() if thing[0] != "folder" and name != VERSION)
    edits: dict[str, Callable[[], Edit | None]] = {
        "write": lambda: _write(tree, path, f"{number}\n" * chance.randint(0, 2_000)),
        "delete": lambda: _delete(tree, chance.choice(files)) if files else None,
        "move": lambda: _move(tree, chance.choice(files), path) if files else None,
        "link": lambda: _link(tree, path, f"to-{number}"),
        "mode": lambda: _mode(tree, path, chance.choice((0o600, 0o644, 0o755))),
    }
    edit = edits[kind]()
    if edit is not None:
        made.edits.append(edit)


def _above(tree: Tree, path: str) -> None:
    parts = path.split("/")[:-1]
    for count in range(1, len(parts) + 1):
        tree.setdefault("/".join(parts[:count]), ("folder", 0o755))


def _write(tree: Tree, path: str, text: str) -> Edit | None:
    was = tree.get(path, ("file", 0o644))
    if was[0] != "file":
        return None
    _above(tree, path)
    tree[path] = ("file", was[1], text.encode())
    return "write", path, text


def _delete(tree: Tree, path: str) -> Edit:
    del tree[path]
    return "delete", path


def _move(tree: Tree, source: str, target: str) -> Edit | None:
    if target in tree:
        return None
    _above(tree, target)
    tree[target] = tree.pop(source)
    return "move", source, target


def _link(tree: Tree, path: str, target: str) -> Edit | None:
    if path in tree:
        return None
    _above(tree, path)
    tree[path] = ("symlink", target)
    return "link", path, target


def _mode(tree: Tree, path: str, mode: int) -> Edit | None:
    was = tree.get(path)
    if was is None or was[0] != "file":
        return None
    tree[path] = ("file", mode, was[2])
    return "mode", path, str(mode)


async def make(view: Stage, edits: list[Edit]) -> None:
    """Make edits in a view."""
    for kind, path, *more in edits:
        if kind == "write":
            await view.write(path, more[0].encode())
        elif kind == "delete":
            await view.delete(path)
        elif kind == "move":
            await view.move(path, more[0])
        elif kind == "link":
            await view.link(path, more[0])
        else:
            await view.write(path, (await view.read(path)).data, mode=int(more[0]))
