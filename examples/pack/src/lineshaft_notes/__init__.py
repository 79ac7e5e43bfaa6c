"""A pack to start from: one tool and one agent for notes in Markdown.

`pip install .`, then `lineshaft agent list notes`. `[tools] packs = ["notes"]` in
`lineshaft.toml` offers both to scripts as well.
"""

from typing import TypedDict

from lineshaft import ToolError, WorkspacePath, kit, tool
from lineshaft.agents import Budget, Microagent, PromptTemplate
from lineshaft.packs import Pack
from lineshaft.values import Context


class Note(TypedDict):
    """What the agent is given."""

    path: WorkspacePath


class Title(TypedDict):
    """What it returns."""

    title: str
    """At most eight words."""


@tool(name="notes.headings", effect="read")
async def headings(path: WorkspacePath, call: Context) -> list[str]:
    """Return the headings of a note, in their order.

    Args:
        path: The note.
        call: The call.
    """
    text = (await call.workspace.read(path)).data.decode("utf-8", "replace")
    found = [line.lstrip("#").strip() for line in text.splitlines() if line.startswith("#")]
    if not found:
        raise ToolError("E_TOOL_FAILED", f"{path!r} has no headings", hint="start one with `#`")
    return found


def check(title: Title) -> str | None:
    """Return what is wrong with a title, or None."""
    words = title["title"].split()
    return None if 0 < len(words) <= 8 else f"it has {len(words)} words: one to eight are wanted"


title = Microagent[Title](
    name="title",
    description="Find a title for a note.",
    instructions=PromptTemplate(
        id="note-title",
        version="1.0.0",
        task="Read the note at `path` with `read_file`, and find a title for it.",
        output=["The title alone, of at most eight words."],
    ),
    inputs=Note,
    tools=[kit.tools("read_file"), headings],
    budget=Budget(turns=10),
    validate=check,
)

pack = Pack(description="Notes in Markdown.", tools=[headings], agents=[title])
