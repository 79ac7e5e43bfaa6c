"""The contract of workspaces, on a folder, one that an editor shows, and one far away."""

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from lineshaft.values import Stage, Workspace
from lineshaft.workspace import Folder, StagedAnywhere
from workspace.contract import *  # noqa: F403  the tests that every workspace passes
from workspace.desk import Desk
from workspace.distant import Distant

Begin = Callable[[Workspace], Stage]

KINDS: dict[str, Begin] = {
    "direct": lambda folder: folder.begin("run"),
    "staged": lambda folder: folder.begin("run", atomic=True),
    "layer": lambda folder: folder.begin("run", atomic=True).layer("inner"),
    "editor": lambda folder: folder.begin("run", atomic=True),
    "distant": lambda distant: distant.begin("run"),
    "distant, staged": lambda distant: StagedAnywhere(distant).begin("run", atomic=True),
    "distant, a layer": lambda distant: (
        StagedAnywhere(distant).begin("run", atomic=True).layer("inner")
    ),
}
WAITS = {"staged", "layer", "editor", "distant, staged", "distant, a layer"}
"""Those whose changes wait until they land."""


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def waits(kind: str) -> bool:
    return kind in WAITS


@pytest.fixture
async def view(kind: str, root: Path, tmp_path: Path) -> AsyncGenerator[Stage]:
    editor = Desk() if kind == "editor" else None
    live: Workspace = Folder(root, journals=tmp_path / "journals", editor=editor)
    if kind.startswith("distant"):
        live = Distant(root)
    made = KINDS[kind](live)
    yield made
    await made.discard()
