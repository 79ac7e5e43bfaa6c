"""What a preview says is what a run lands, and undo gives the tree back."""

import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lineshaft import Context, Policy, Session, WorkspacePath, kit, tool

OPEN = Policy(mode="open")

pytestmark = pytest.mark.behaviour("F28")

NAMES = st.sampled_from(["a.txt", "b.txt", "d/a.txt", "d/e/c.txt", "ü n.txt"])
TEXTS = st.lists(st.sampled_from(["one", "two", "", "- x", "+ y", "\\ no"]), max_size=6).map(
    "\n".join
)
CONTENTS = st.tuples(TEXTS, st.sampled_from(["", "\n"])).map("".join)
TREES = st.dictionaries(NAMES, CONTENTS, max_size=4)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), NAMES, CONTENTS),
        st.tuples(st.just("delete"), NAMES, st.just("")),
        st.tuples(st.just("move"), NAMES, NAMES),
    ),
    min_size=1,
    max_size=6,
)
SCRIPT = """
for step in steps:
    kind, path, more = step
    try:
        if kind == "write":
            await write_file(path=path, content=more)
        elif kind == "delete":
            await delete_file(path=path)
        else:
            await move_file(source=path, target=more)
    except ToolError as error:
        print(error.code)
return len(steps)
"""


def planted(folder: Path, tree: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in tree.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())


def contents(folder: Path) -> dict[str, bytes | None]:
    """Return every file, and every folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@settings(max_examples=40, deadline=None)
@given(tree=TREES, steps=STEPS)
@example(tree={}, steps=[("write", "d/a.txt", ""), ("delete", "d/a.txt", "")])
@example(tree={"a.txt": "1"}, steps=[("move", "a.txt", "b.txt"), ("write", "a.txt", "1")])
async def test_a_run_lands_its_preview_and_undo_gives_the_tree_back(
    tree: dict[str, str], steps: list[tuple[str, str, str]]
) -> None:
    base = Path(tempfile.mkdtemp())
    try:
        planted(base / "work", tree)
        planted(base / "copy", tree)
        before = contents(base / "work")
        inputs = {"steps": [list(step) for step in steps]}
        async with Session(
            kit.tools(),
            workspace=base / "work",
            policy=Policy(mode="open"),
            store=base / "runs.db",
            check="off",
        ) as session:
            preview = await session.preview(SCRIPT, inputs=inputs)
            assert contents(base / "work") == before
            run = await session.run(SCRIPT, inputs=inputs)
            assert (run.status, run.stdout) == ("success", preview.run.stdout)
            told = tuple(replace(change, undoable=True) for change in preview.run.changes)
            assert run.changes == told
            _apply(preview.diff, base / "copy")
            landed = contents(base / "work")
            assert _files(landed) == _files(contents(base / "copy"))
            if run.changes:
                await session.undo(run.run_id)
            assert contents(base / "work") == before
    finally:
        shutil.rmtree(base)


def _files(tree: dict[str, bytes | None]) -> dict[str, bytes]:
    return {path: data for path, data in tree.items() if data is not None}


def _apply(diff: str, folder: Path) -> None:
    """Apply a diff as git does, where it says anything."""
    if diff:
        words = ["git", "-c", "core.quotePath=false", "apply", "--unsafe-paths", "-"]
        done = subprocess.run(
            words, cwd=folder, input=diff.encode(), capture_output=True, check=False
        )
        assert done.returncode == 0, (done.stderr, diff)


async def test_a_preview_stops_before_a_tool_that_writes_past_it(tmp_path: Path) -> None:
    @tool(effect="write")
    def past(name: str) -> str:
        """Write a file on the disk itself."""
        (tmp_path / name).write_text("x")
        return name

    @tool(effect="write")
    async def through(name: WorkspacePath, context: Context) -> str:
        """Write a file of the workspace."""
        await context.workspace.write(name, b"x")
        return name

    async with Session([past, through], workspace=tmp_path, policy=OPEN) as session:
        stopped = await session.preview("await through('a.txt'); await past('b.txt')")
        whole = await session.preview("return await through('a.txt')")
    assert stopped.stopped_at is not None
    assert stopped.stopped_at.tool == "past"
    assert "+++ b/a.txt" in stopped.diff
    assert (whole.run.status, whole.stopped_at) == ("success", None)
    assert list(tmp_path.iterdir()) == []
