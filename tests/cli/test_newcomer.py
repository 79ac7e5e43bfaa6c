"""From the file that a person's client has already to the first script, in three commands."""

import json
import re
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client import ClientRequestContext
from mcp.types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult

from cli.conftest import Lineshaft
from upstreams.real import python_server

SCRIPT = """
note = await notes.get_note('a')
await notes.set_note(name='b', text=note)
await notes.set_note(name='b', text=note)
return note
"""


class Person:
    """Sits at the client and says yes to whatever is asked, for the rest of the run."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult:
        del context
        assert isinstance(params, ElicitRequestFormParams)
        self.asked.append(params.message)
        properties = params.requested_schema["properties"]
        content = {
            name: field["oneOf"][0]["const"] if "oneOf" in field else field.get("enum", [True])[0]
            for name, field in properties.items()
            if name in params.requested_schema.get("required", properties)
        }
        return ElicitResult(action="accept", content=content)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_from_a_clients_file_to_its_first_script(
    mode: str, lineshaft: Lineshaft, workspace: Path, environ: dict[str, str]
) -> None:
    command, *args = python_server("notes")
    notes = {"command": command, "args": args, "env": {"NOTES_TOKEN": "${MY_TOKEN:-none}"}}
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {"notes": notes}}))

    # 1: the servers come in, and are trusted, since a person typed this.
    brought = lineshaft("init", "--import-mcp")
    assert brought.returncode == 0, brought.stderr
    # 2: what they say of their tools is shown, and counts from then on.
    listed = lineshaft("config", "mcp", "claims", "--accept")
    assert "notes.get_note: only reads" in listed.stdout
    # 3: what the client is given as its one server.
    serve = StdioServerParameters(
        command=sys.executable, args=["-m", "lineshaft", "serve"], cwd=workspace, env=environ
    )

    person = Person()
    async with Client(serve, mode=mode, elicitation_callback=person) as client:
        tools = await client.list_tools()
        found = await client.call_tool("search", {"words": "return a note"})
        done = await client.call_tool("run", {"code": SCRIPT})
    assert {"search", "describe", "run"} <= {tool.name for tool in tools.tools}
    assert "notes.get_note" in str(found.content)
    ran = (done.meta or {})["lineshaft/run"]
    assert ran["status"] == "success", done
    assert ran["value"] == "a: 4"
    # What only reads asked nothing; of what acts, each call was asked about once.
    assert 1 <= len(person.asked) <= 2
    assert not any("get_note" in text for text in person.asked)
    record = json.loads(lineshaft("show", "--json").stdout)
    assert [call["status"] for call in record["calls"]] == ["done"] * 3


async def test_servers_start_after_the_first_answer_and_are_known_the_next_time(
    lineshaft: Lineshaft, workspace: Path, environ: dict[str, str]
) -> None:
    command, *args = python_server("notes")
    (workspace / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"notes": {"command": command, "args": args}}})
    )
    assert lineshaft("init", "--import-mcp").returncode == 0
    serve = StdioServerParameters(
        command=sys.executable, args=["-m", "lineshaft", "serve"], cwd=workspace, env=environ
    )
    told: list[str] = []
    for _ in range(2):
        async with Client(serve, mode="legacy") as client:
            told.append(client.instructions or "")
            await client.call_tool("describe", {"names": ["notes.get_note"]})
    assert "notes (connecting)" in told[0]
    assert re.search(r"notes \(\d+\)", told[1])
