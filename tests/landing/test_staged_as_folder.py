"""A staged view is what a folder would be; what lands is that; undone, all is as it was."""

import os
import tempfile
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landing.trees import Tree, make, tree_of
from lineshaft.errors import WorkspaceError
from lineshaft.values import Change, Content, Stage
from lineshaft.workspace import Folder

EXAMPLES = 250 if os.environ.get("DEV_TEST_ALL") == "1" else 60
NAMES = ("a", "b", "c", "d")
paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
contents = st.sampled_from(
    [b"", b"x", b"one\ntwo\n", b"one\nthree\n", b"\0binary", "ä\r\n".encode(), b"y" * 5000]
)
modes = st.sampled_from([None, None, 0o600, 0o755, 0o640])
targets = st.one_of(paths, st.sampled_from(["..", "../a", ".", "a/b", "missing"]))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), paths, contents, modes),
        st.tuples(st.just("move"), paths, paths),
        st.tuples(st.just("delete"), paths),
        st.tuples(st.just("folder"), paths, modes),
        st.tuples(st.just("link"), paths, targets),
        st.tuples(st.just("read"), paths),
        st.tuples(st.just("walk"), st.one_of(st.just("."), paths)),
        st.tuples(st.just("pack")),
    ),
    max_size=25,
)


def other_than(wanted: Tree, landed: Tree, before: Tree) -> set[str]:
    """Return the paths that are not as they should be.

    A new file with the content of the one that was there, and was moved away, is no change: the
    mode stays as well.
    """

    def is_right(path: str) -> bool:
        should, found = wanted.get(path), landed.get(path)
        if should is None or found is None or found[0] != "file":
            return should == found
        return should == found or (found == before.get(path) and should[::2] == found[::2])

    return {path for path in wanted.keys() | landed.keys() if not is_right(path)}


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    tree: Tree = {}
    for path in draw(st.lists(paths, max_size=8)):
        above = path.split("/")[:-1]
        parents = ["/".join(above[: n + 1]) for n in range(len(above))]
        if path in tree or any(tree.get(p, ("folder",))[0] != "folder" for p in parents):
            continue
        for parent in parents:
            tree.setdefault(parent, ("folder", 0o755))
        kind = draw(st.sampled_from(["file", "file", "file", "folder", "symlink"]))
        if kind == "file":
            mode = draw(st.sampled_from([0o644, 0o644, 0o755, 0o600]))
            tree[path] = ("file", mode, draw(contents))
        elif kind == "folder":
            tree[path] = ("folder", 0o755)
        else:
            tree[path] = ("symlink", draw(targets))
    return tree


Step = tuple[object, ...]


async def did(view: Stage, step: Step) -> object:
    """Return what came of one step, as far as it may be compared."""
    kind, *given = step
    path, more = str(given[0]), given[-1]
    mode = more if isinstance(more, int) else None
    data = given[1] if kind == "write" and isinstance(given[1], bytes) else b""
    does: dict[object, Callable[[], Awaitable[object]]] = {
        "write": lambda: view.write(path, data, mode=mode),
        "move": lambda: view.move(path, str(more)),
        "delete": lambda: view.delete(path),
        "folder": lambda: view.make_folder(path, mode=mode),
        "link": lambda: view.link(path, str(more)),
        "read": lambda: view.read(path),
        "walk": lambda: listed(view, path),
    }
    try:
        return told(await does[kind]())
    except WorkspaceError as error:
        return error.code, error.message


async def listed(view: Stage, path: str) -> object:
    return [entry async for entry in view.walk(path, ignore=False)]


def told(came: object) -> object:
    if isinstance(came, Change):
        return came.path, came.kind, came.moved_from, came.added, came.removed
    return came.sha256 if isinstance(came, Content) else came


async def seen(view: Stage) -> object:
    """Return all that can be seen of a view."""
    found: list[object] = []
    async for entry in view.walk(ignore=False):
        found.append(entry)
        if entry.kind == "file":
            found.append((await view.read(entry.path)).data)
    return found


def on_ground(work: Callable[[Path], Coroutine[object, object, None]]) -> None:
    """Do something in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(work, Path(folder))


@pytest.mark.no_cover
@given(trees(), steps)
@settings(max_examples=EXAMPLES, deadline=None)
def test_a_staged_view_is_what_a_folder_would_be(tree: Tree, todo: list[Step]) -> None:
    async def work(folder: Path) -> None:
        for name in ("real", "staged"):
            (folder / name).mkdir()
            make(folder / name, tree)
        before = tree_of(folder / "staged")
        real = Folder(folder / "real").begin()
        base = Folder(folder / "staged", journals=folder / "journals")
        staged = base.begin("run", atomic=True)
        for step in todo:
            if step[0] == "pack":
                packed, diff = await staged.pack(), await staged.diff()
                changes = await staged.changes()
                staged = base.begin("run", atomic=True, packed=packed)
                assert (await staged.changes(), await staged.diff()) == (changes, diff)
                continue
            assert await did(staged, step) == await did(real, step), step
            assert tree_of(folder / "staged") == before
        fork = await staged.fork()
        expected = await seen(real)
        assert await seen(staged) == await seen(fork) == expected
        await staged.land()
        assert other_than(tree_of(folder / "real"), tree_of(folder / "staged"), before) == set()
        assert await seen(staged) == expected
        if staged.landed:
            await base.undo("run")
        assert tree_of(folder / "staged") == before
        assert sorted(p.name for p in (folder / "journals").glob("*")) in ([], ["done", "lock"])

    on_ground(work)
