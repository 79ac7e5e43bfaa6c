"""Agents as the command line names them: `PACK.AGENT`, or `AGENT` of the configured tools."""

from collections.abc import Iterable
from pathlib import Path

from lineshaft.agents import NAMESPACE
from lineshaft.cli._options import settings_for, toolset_for
from lineshaft.config import Settings
from lineshaft.errors import ConfigError
from lineshaft.packs import load_pack
from lineshaft.tools import Tool


def settings_of_agent(
    name: str,
    workspace: Path | None,
    *,
    tools: Iterable[str] | None = None,
    mode: str | None = None,
) -> tuple[Settings, str]:
    """Return the settings under which an agent is offered, and the name of its tool.

    Args:
        name: Of the agent; with its pack the pack is loaded, whatever the settings name.
        workspace: What was said.
        tools: What was said.
        mode: What was said.

    Raises:
        ConfigError: There is no such pack or agent.
    """
    pack, _, agent = name.rpartition(".")
    if pack:
        load_pack(pack).agent(agent)
    settings = settings_for(workspace, tools=tools, packs=[pack] if pack else (), mode=mode)
    return settings, f"{NAMESPACE}.{agent}"


def tool_of(settings: Settings, tool: str) -> Tool:
    """Return an agent as a tool.

    Raises:
        ConfigError: The settings offer no such agent.
    """
    offered = toolset_for(settings)
    if tool not in offered:
        names = sorted(each.removeprefix(f"{NAMESPACE}.") for each in offered if is_agent(each))
        raise ConfigError(
            f"there is no agent {tool.removeprefix(f'{NAMESPACE}.')!r}",
            hint=f"there are: {', '.join(names)}; one of a pack is PACK.AGENT"
            if names
            else "name one of a pack as PACK.AGENT; `lineshaft agent list` shows packs",
        )
    return offered[tool]


def is_agent(tool: str) -> bool:
    """Return whether a tool's name is that of an agent."""
    return tool.startswith(f"{NAMESPACE}.")
