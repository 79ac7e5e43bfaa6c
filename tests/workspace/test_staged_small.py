"""Small contents are noted in the event loop, large ones in a thread: nobody sees a difference."""

from pathlib import Path

import anyio
import pytest

from lineshaft.values import Stage, Workspace
from workspace.distant import STAGES


@pytest.fixture(params=STAGES)
def folder(request: pytest.FixtureRequest, root: Path) -> Workspace:
    """Return a workspace over it that keeps changes back: on the disk, or far away."""
    return STAGES[request.param](root)


@pytest.mark.parametrize("size", [1, 64_000, 64_001, 1_000_001])
async def test_a_file_of_any_size_is_read_as_it_was_written(
    view: Stage, root: Path, size: int
) -> None:
    (root / "f").write_bytes(b"a" * size)
    await view.write("f", b"b" * size, if_match=(await view.read("f")).sha256)
    await view.write("f", (await view.read("f")).data + b"c")
    assert (await view.read("f")).data == b"b" * size + b"c"
    await view.land()
    assert (root / "f").read_bytes() == b"b" * size + b"c"


async def test_who_reads_and_writes_small_files_without_end_can_be_cancelled(
    view: Stage,
) -> None:
    await view.write("f", b"")
    begun = anyio.Event()

    async def read() -> None:
        while True:
            await view.read("f")
            begun.set()

    async def write() -> None:
        while True:
            await view.write("f", b"x")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        await begun.wait()
        tasks.cancel_scope.cancel()
    assert (await view.read("f")).data == b"x"
