"""The runtime over a folder, with no editor: directly, and over the wire."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from lineshaft.remote.protocol import (
    GetErrorsAction,
    Observation,
)
from remote.far import near, python_window, serve
from remote.local import LocalRuntime
from remote.suite import *  # noqa: F403  the tests that every runtime passes
from remote.suite import Side


def _runtime(root: Path) -> LocalRuntime:
    return LocalRuntime(root, python=sys.executable)


@pytest.fixture(params=["here", "far"])
async def side(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Side]:
    monkeypatch.setenv("WINDOW_TEST_TOKEN", "secret")
    root = tmp_path / "ws"
    root.mkdir()
    if request.param == "here":
        yield Side(root, _runtime(root).perform)
        return
    async with near() as here:
        auth = {"conversation_id": here.conversation.id, "window": "w", "protocol": 1}
        async with python_window(here.url, auth) as far:
            serving = asyncio.create_task(serve(far, _runtime(root)))
            await far.next("connected")

            async def perform(action: object, *, seconds: float | None = None) -> Observation:
                end = await here.conversation.perform(action, seconds=seconds)  # type: ignore[arg-type]  as it is
                return end.observation

            while here.conversation.window is None:
                await asyncio.sleep(0.01)
            yield Side(root, perform)
            serving.cancel()


async def test_a_folder_alone_has_no_diagnostics(side: Side) -> None:
    assert (await side.error(GetErrorsAction())).error_id == "E_UNSUPPORTED"
