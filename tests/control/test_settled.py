"""A run whose workspace fails while it is settled: it has its end, whatever was raised."""

from pathlib import Path

import pytest

from control.world import Open
from lineshaft import Event
from lineshaft.values import NO_SECRETS, SecretFinder
from lineshaft.workspace import Folder, FolderView

WRITES = "await write_file(path='a.txt', content='a')"


class Failing(Folder):
    """A folder one of whose methods raises what no workspace should.

    Args:
        root: The folder.
        method: A method of its views.
        patch: Puts the failing method in place.
    """

    def __init__(self, root: Path, method: str, patch: pytest.MonkeyPatch) -> None:
        super().__init__(root)
        self._method = method
        self._patch = patch

    def begin(
        self,
        run_id: str = "",
        *,
        atomic: bool = False,
        packed: bytes | None = None,
        secrets: SecretFinder = NO_SECRETS,
    ) -> FolderView:
        """As `Workspace.begin`; the view fails."""
        view = super().begin(run_id, atomic=atomic, packed=packed, secrets=secrets)
        self._patch.setattr(view, self._method, _fail)
        return view


async def _fail(*_: object, **__: object) -> None:
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize(
    ("method", "status", "landed"),
    [
        ("consult", "error", False),
        ("land", "error", False),
        ("changes", "success", False),
        ("discard", "success", True),
    ],
)
async def test_a_run_ends_whatever_its_workspace_raises_then(
    opened: Open,
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    status: str,
    landed: bool,
) -> None:
    kinds: list[str] = []

    def hear(event: Event) -> None:
        kinds.append(event.kind)

    failing = Failing(workspace, method, monkeypatch)
    async with opened(workspace=failing, sinks=[hear]) as session:
        result = await session.run(WRITES)
        assert (await session.summary(result.run_id)).status == status
    assert (result.status, result.landed, kinds[-1]) == (status, landed, "run_finished")
    assert (workspace / "a.txt").exists() == (status == "success")
    told = [each.message for each in (*filter(None, [result.error]), *result.findings)]
    assert any("can't start new thread" in each for each in told)


async def test_so_does_one_that_cannot_wait(
    opened: Open, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(workspace=Failing(workspace, "pack", monkeypatch)) as session:
        result = await session.run("return await poke()")
        assert (await session.summary(result.run_id)).status == "error"
    assert result.error is not None
    assert "cannot wait: " in result.error.message
    assert "can't start new thread" in result.error.message


async def test_one_that_waits_does_so_whatever_becomes_of_its_view(
    opened: Open, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(workspace=Failing(workspace, "discard", monkeypatch)) as session:
        result = await session.run("return await poke()")
        assert (await session.summary(result.run_id)).status == result.status == "paused"
