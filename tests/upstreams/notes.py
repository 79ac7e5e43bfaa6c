"""A server that knows a token from its environment and asks the person. Run as a program."""

import os
from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

server = MCPServer("notes")
READS = ToolAnnotations(read_only_hint=True)


@server.tool(annotations=READS)
def tell_token() -> str:
    """Return the token, as no server should."""
    return os.environ.get("NOTES_TOKEN", "")


class Wish(BaseModel):
    """What a person is asked."""

    colour: Literal["red", "blue"]
    count: int = Field(default=3, description="how many")


@server.tool(annotations=READS)
def get_note(name: str) -> str:
    """Return a note."""
    return f"{name}: {len(os.environ.get('NOTES_TOKEN', ''))}"


@server.tool()
def set_note(name: str, text: str) -> bool:
    """Keep a note."""
    return bool(name and text)


def asked() -> Elicit[Wish]:
    """Return the question."""
    return Elicit("What would you like?", Wish)


@server.tool(annotations=READS)
def wish(answer: Annotated[ElicitationResult[Wish], Resolve(asked)]) -> str:
    """Ask the person for a wish."""
    if not isinstance(answer, AcceptedElicitation):
        return answer.action
    return f"{answer.data.count} {answer.data.colour}"


if __name__ == "__main__":
    server.run("stdio")
