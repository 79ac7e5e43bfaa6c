"""Several servers over one store: each knows the runs of its own workspace alone."""

from pathlib import Path

import pytest

from fronts import ASKS, MODES, Mode, client_of, data_of, text_of
from lineshaft import Session, tool

made: list[str] = []


@tool(effect="external")
async def put(what: str) -> str:
    """Put something somewhere."""
    made.append(what)
    return what


@pytest.mark.parametrize("mode", MODES)
async def test_runs_of_another_workspace_are_not_there(mode: Mode, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    (tmp_path / "link").symlink_to(one)

    def session(at: Path) -> Session:
        return Session([put], workspace=at, policy=ASKS, store=tmp_path / "store.db")

    async with session(one) as here, client_of(here, mode=mode) as client:
        ended = data_of(await client.call_tool("run", {"code": "return 'of one'"}))["run_id"]
        code = {"code": "return await put(what='x')"}
        paused = data_of(await client.call_tool("run", code))["run_id"]
    async with session(other) as there, client_of(there, mode=mode, approvals="client") as client:
        for name, run_id in (("status", ended), ("status", paused), ("resume", ended)):
            told = await client.call_tool(name, {"run_id": run_id})
            assert told.is_error
            assert f"there is no run {run_id!r}" in text_of(told)
        told = await client.call_tool("resume", {"run_id": paused, "approve": ["all"]})
        assert f"there is no run {paused!r}" in text_of(told)
    assert made == []
    async with (
        session(tmp_path / "link") as here,
        client_of(here, mode=mode, approvals="client") as client,
    ):
        told = await client.call_tool("status", {"run_id": ended})
        assert data_of(told)["value"] == "of one"
        told = await client.call_tool("resume", {"run_id": paused, "approve": ["all"]})
        assert data_of(told)["value"] == "x"
    made.clear()
