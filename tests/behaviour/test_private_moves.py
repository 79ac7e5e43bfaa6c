"""A move into `@state`, or out of it, takes no content along that policy was not asked about."""

from pathlib import Path
from typing import Any

import pytest

from lineshaft import Context, EntryPath, Policy, RunResult, Session, Tool, kit
from workspace.distant import Distant

pytestmark = pytest.mark.behaviour("F26")

POLICY = Policy.from_dict(
    {
        "mode": "open",
        "rules": [{"id": "own", "tool": "*", "path": "closed/**", "verdict": "deny"}],
    }
)
SETTINGS: dict[str, dict[str, Any]] = {
    "staged": {"atomic": True},
    "direct": {"atomic": False},
    "distant": {"atomic": True},
}
"""Of a session, by the kind of view that its runs have."""

PRIVATE = "private content\n"
CLOSED = {"built in": ".env", "of the user": "closed/k"}
"""Files that policy closes to every call, by what closes them."""


@pytest.fixture
def folder(folder: Path) -> Path:
    """Return a workspace with files that policy closes."""
    for name in CLOSED.values():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(PRIVATE)
    return folder


async def link(path: EntryPath, target: str, context: Context) -> None:
    """Make a symlink.

    Args:
        path: Its place.
        target: Its text.
        context: The call.
    """
    await context.workspace.link(path, target)


async def steps(folder: Path, view: str, *calls: str) -> list[Any]:
    """Make calls in one run; return the result of each, or its error's code and message."""
    workspace = Distant(folder) if view == "distant" else folder
    given = [*kit.tools().values(), Tool.from_function(link, effect="write", staged=True)]
    lines = ["out = []"]
    for call in calls:
        lines += [
            "try:",
            f"    out.append(await {call})",
            "except ToolError as error:",
            "    out.append([error.code, str(error)])",
        ]
    session = Session(given, workspace=workspace, policy=POLICY, store=False, **SETTINGS[view])
    async with session:
        result: RunResult = await session.run("\n".join([*lines, "return out"]))
    assert result.value is not None, result.error
    return result.value


@pytest.mark.parametrize("view", SETTINGS)
@pytest.mark.parametrize("by", CLOSED)
@pytest.mark.parametrize("far", [False, True])
async def test_a_symlink_to_a_closed_file_gives_nothing_of_it_in_the_private_folder(
    folder: Path, view: str, by: str, far: bool
) -> None:
    target = folder / CLOSED[by] if far else Path(CLOSED[by])
    (folder / "l").symlink_to(target)
    plain, moved, read = await steps(
        folder,
        view,
        "read_file(path='l')",
        "move_file(source='l', target='@state/x')",
        "read_file(path='@state/x')",
    )
    assert plain[0] == "E_DENIED"
    assert isinstance(read, list), read
    if view != "direct":  # which moves the symlink as it is
        assert moved[0] == "E_TOOL_FAILED"
        assert "'l' is a symlink: only regular files are moved into '@state'" in moved[1]
        assert (folder / "l").readlink() == target


@pytest.mark.parametrize("view", ["staged", "direct"])
@pytest.mark.parametrize("by", CLOSED)
async def test_a_symlink_that_a_call_made_gives_nothing_either(
    folder: Path, view: str, by: str
) -> None:
    made, _, read = await steps(
        folder,
        view,
        f"link(path='l', target={CLOSED[by]!r})",
        "move_file(source='l', target='@state/x')",
        "read_file(path='@state/x')",
    )
    assert made is None
    assert isinstance(read, list), read


@pytest.mark.parametrize("view", SETTINGS)
@pytest.mark.parametrize("by", CLOSED)
async def test_a_symlink_in_the_private_folder_gives_nothing_outside_of_it(
    folder: Path, view: str, by: str
) -> None:
    target = str(folder / CLOSED[by])
    made, moved, read = await steps(
        folder,
        view,
        f"link(path='@state/l', target={target!r})",
        "move_file(source='@state/l', target='out')",
        "read_file(path='out')",
    )
    assert made is None
    assert read[0] in ("E_DENIED", "E_FILE_NOT_FOUND")
    if view != "direct":
        assert "'@state/l' is a symlink" in moved[1]
        assert not (folder / "out").exists()


@pytest.mark.parametrize("view", SETTINGS)
@pytest.mark.parametrize("by", CLOSED)
async def test_a_folder_takes_no_content_along_for_a_symlink_in_it(
    folder: Path, view: str, by: str
) -> None:
    (folder / "d").mkdir()
    (folder / "d" / "l").symlink_to(folder / CLOSED[by])
    moved, read, _, back = await steps(
        folder,
        view,
        "move_file(source='d', target='@state/d')",
        "read_file(path='@state/d/l')",
        "move_file(source='@state/d', target='e')",
        "read_file(path='e/l')",
    )
    assert isinstance(read, list), read
    assert isinstance(back, list), back
    if view != "direct":
        assert "'d' is a folder: only regular files are moved" in moved[1]
        assert (folder / "d" / "l").is_symlink()


@pytest.mark.parametrize("view", SETTINGS)
async def test_files_themselves_move_in_and_out(folder: Path, view: str) -> None:
    (folder / "f").write_text("open\n")
    results = await steps(
        folder,
        view,
        "write_file(path='g', content='new')",
        "move_file(source='f', target='@state/f')",
        "move_file(source='g', target='@state/g')",
        "move_file(source='@state/f', target='@state/inner/f')",
        "move_file(source='@state/inner/f', target='f2')",
        "read_file(path='@state/g')",
        "move_file(source='none', target='@state/none')",
    )
    assert results[-2]["content"] == "new"
    assert results[-1][0] == "E_FILE_NOT_FOUND"
    assert (folder / "f2").read_text() == "open\n"
    assert not (folder / "f").exists()
    assert not (folder / "g").exists()
