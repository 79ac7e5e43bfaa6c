"""What lies below a folder, where the folder does not let itself be looked into."""

from collections.abc import AsyncIterator
from typing import cast

import pytest

from lineshaft.errors import ToolError
from lineshaft.gate._authority import CallAuthority, CallWorkspace
from lineshaft.gate._subtree import paths_below
from lineshaft.values import Entry, Workspace
from lineshaft.workspace import Folder


class Closed:
    """A workspace with a folder that cannot be looked into."""

    async def stat(self, path: str) -> Entry:
        """Return a folder."""
        return Entry(path=path, kind="folder")

    async def walk(self, root: str, *, ignore: bool) -> AsyncIterator[Entry]:
        """Give what is in it."""
        del ignore
        yield Entry(path=f"{root}/inner", kind="folder", closed=True)


async def test_a_folder_that_cannot_be_looked_into_is_not_moved() -> None:
    with pytest.raises(ToolError, match="'a/inner' cannot be looked into") as caught:
        await paths_below(cast("Workspace", Closed()), ["a", "b"])
    assert caught.value.code == "E_DENIED"


async def test_who_moves_a_folder_may_refuse_what_is_below_it(folder: Folder) -> None:
    view = folder.begin()
    await view.write("a/x", b"x")
    lent = CallWorkspace(view, CallAuthority(look=lambda: lambda _: True, along=lambda _: True))
    asked: list[str] = []
    await lent.move("a", "b", approve=asked.extend)
    assert asked == ["a/x", "b/x"]


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return Folder(tmp_path_factory.mktemp("ws"))
