"""What a client reads of a session before anything runs holds no secret of the session's."""

from pathlib import Path

import pytest
from mcp import Client

from fronts import ASKS, MODES, Mode, client_of, data_of, text_of
from lineshaft import Session, Tool
from lineshaft.mcp.client import McpServer

TOLD_NOBODY = "kumquat-marmalade-71"
DEAD = f"/nowhere/{TOLD_NOBODY}/server --token {TOLD_NOBODY}"


async def _put(**given: object) -> str:
    del given
    return ""


PUT = Tool.from_schema(
    name="put",
    description=f"Put. Use {TOLD_NOBODY}.",
    input_schema={
        "type": "object",
        "properties": {"what": {"type": "string", "description": f"Not {TOLD_NOBODY}."}},
        "required": ["what"],
    },
    function=_put,
    effect="external",
)


def _session(at: Path) -> Session:
    tools = [PUT, McpServer(DEAD, name="dead")]
    return Session(tools, workspace=at, policy=ASKS, store=at / "s.db", secrets=[TOLD_NOBODY])


async def _read(client: Client) -> str:
    """Return all that a client reads."""
    listed = await client.list_tools()
    found = [client.instructions or "", listed.model_dump_json()]
    for name, arguments in (
        ("search", {"words": "put", "detail": "full"}),
        ("search", {"words": "all", "namespace": "dead"}),
        ("describe", {"names": ["put", TOLD_NOBODY]}),
        ("describe", {"names": [TOLD_NOBODY]}),
        ("run", {"code": f"await put(what='{TOLD_NOBODY}')"}),
        ("run", {"code": f"await {TOLD_NOBODY.replace('-', '')}_{TOLD_NOBODY}()"}),
        ("run", {"code": "await dead.call()"}),
        ("resume", {"run_id": TOLD_NOBODY}),
        ("put", {}),
        ("put", {"what": 1, TOLD_NOBODY: 2}),
    ):
        result = await client.call_tool(name, arguments)
        found += [text_of(result), result.model_dump_json()]
        assert text_of(result) or data_of(result)
    return "\n".join(found)


@pytest.mark.parametrize("mode", MODES)
async def test_nothing_that_a_client_reads_holds_a_secret(mode: Mode, tmp_path: Path) -> None:
    async with _session(tmp_path) as session, client_of(session, mode=mode, direct=["*"]) as client:
        read = await _read(client)
    assert "Put. Use [redacted]." in read
    assert TOLD_NOBODY not in read


async def test_nothing_that_a_model_is_told_holds_a_secret(tmp_path: Path) -> None:
    async with _session(tmp_path) as session:
        problems = await session.ready()
        told = [session.definitions("mcp", direct=["put"]), session.instructions(), problems]
    assert problems
    assert "Put. Use [redacted]." in str(told)
    assert TOLD_NOBODY not in str(told)
