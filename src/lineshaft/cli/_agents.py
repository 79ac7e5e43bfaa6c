"""Agents as the command line names them: `PACK.AGENT`, or `AGENT` of the configured tools."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

from lineshaft.cli._options import settings_for, toolset_for
from lineshaft.cli._terminal import one_line
from lineshaft.config import Settings
from lineshaft.errors import ConfigError
from lineshaft.tools import Mismatch, Tool, Toolset, tell
from lineshaft.values import AGENT_NAMESPACE

_IMPORTED = re.compile(rf"\b{AGENT_NAMESPACE}\s+import\b([^\n]*)")


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
    pack, _, agent = name.removeprefix(f"{AGENT_NAMESPACE}.").rpartition(".")
    if pack:
        from lineshaft.packs import load_pack  # noqa: PLC0415  few commands name a pack

        load_pack(pack).agent(agent)
    settings = settings_for(workspace, tools=tools, packs=[pack] if pack else (), mode=mode)
    return settings, f"{AGENT_NAMESPACE}.{agent}"


def tool_of(settings: Settings, tool: str) -> Tool:
    """Return an agent as a tool.

    Raises:
        ConfigError: The settings offer no such agent.
    """
    name = tool.removeprefix(f"{AGENT_NAMESPACE}.")
    # What is wrong with other agents is told where the session is made.
    offered = toolset_for(settings, faulty=lambda _name, _error: None, needed=[name])
    if tool in offered:
        return offered[tool]
    from lineshaft.packs import discover, load_pack  # noqa: PLC0415  few commands name a pack

    if any(each.name == name for each in discover()):
        agents = sorted(agent.name for agent in load_pack(name).agents)
        raise ConfigError(
            f"{name!r} is a pack; name one of its agents",
            hint=", ".join(f"{name}.{agent}" for agent in agents) or "it has none",
        )
    names = sorted(each.removeprefix(f"{AGENT_NAMESPACE}.") for each in offered if is_agent(each))
    there = f"there are: {', '.join(names)}; others" if names else "agents"
    raise ConfigError(
        f"there is no agent {name!r}",
        hint=f"{there} come with `--tools FILE`, or of a pack as PACK.AGENT; "
        "`lineshaft agent list` shows packs",
    )


def refuse_wrong_inputs(tool: Tool, given: Mapping[str, object]) -> None:
    """Refuse inputs that an agent does not take, before a run of it begins.

    Args:
        tool: The agent.
        given: Its inputs by name.

    Raises:
        ConfigError: One is missing, unknown or of another type.
    """
    try:
        tool.contract.accept({**given})
    except Mismatch as error:
        message = f"{tool.name}: {tell(error.problems, 'the call')}"
        hint = f"`lineshaft agent show {tool.name.rpartition('.')[2]}` says what it takes"
        kinds = cast("Mapping[str, Mapping[str, object]]", tool.spec.input_schema["properties"])
        wrong = next(
            (
                name
                for name, value in given.items()
                if isinstance(value, str)
                and f"`{name}` " in message
                and name in kinds
                and kinds[name].get("type") != "string"
            ),
            None,
        )
        if wrong is not None:
            hint = f"{wrong}=... gives text; write {wrong}:=... for other values"
        raise ConfigError(message, hint=hint) from error


def input_of_message(tool: Tool, message: str, given: Mapping[str, object]) -> Mapping[str, object]:
    """Return the input of an agent that a person's message is.

    It is the only text that the agent needs, or `text` where it needs several or none.

    Args:
        tool: The agent.
        message: What the person said.
        given: Its other inputs, by name.

    Raises:
        ConfigError: No input is the one that is meant.
    """
    schema = tool.spec.input_schema
    kinds = cast("Mapping[str, Mapping[str, object]]", schema.get("properties", {}))
    needed = cast("Sequence[str]", schema.get("required", ()))
    texts = [name for name, kind in kinds.items() if kind.get("type") == "string"]
    wanted = [name for name in needed if name in texts and name not in given]
    if len(wanted) != 1:
        wanted = [name for name in ("text",) if name in texts and name not in given]
    if not wanted:
        name = tool.name.rpartition(".")[2]
        inputs = ", ".join(kinds) or "none"
        hint = "name an agent with one text among its inputs"
        taken = ", ".join(text for text in texts if text in given)
        if taken:
            hint = f"{taken} is given already: leave it out, or leave out --message"
        raise ConfigError(
            f"a message is no input of the agent {name!r}: its inputs are {inputs}", hint=hint
        )
    return {wanted[0]: message}


def agents_named(text: str, names: Iterable[str]) -> list[str]:
    """Return the agents that a text names: a script, or names of tools.

    Args:
        text: Names them as `agents.NAME`, or imports them by name.
        names: Those that there may be.
    """
    imported = " ".join(_IMPORTED.findall(text))
    return [
        name
        for name in names
        if re.search(rf"\b{AGENT_NAMESPACE}\s*\.\s*{re.escape(name)}\b", text)
        or re.search(rf"\b{re.escape(name)}\b", imported)
    ]


def lack_of(tool: Tool) -> ConfigError | None:
    """Return what an agent's model lacks, such as a key; None where it can be asked."""
    from lineshaft.agents import refuse_without_model  # noqa: PLC0415  brings the session along

    try:
        refuse_without_model(tool)
    except ConfigError as error:
        return error
    return None


def lacks(offered: Toolset, text: str) -> Mapping[str, ConfigError]:
    """Return what the models of those agents lack that a text names, by name of the agent."""
    agents = {name.rpartition(".")[2]: offered[name] for name in offered if is_agent(name)}
    found = {name: lack_of(agents[name]) for name in agents_named(text, agents)}
    return {name: error for name, error in found.items() if error is not None}


def sentence_of(error: ConfigError) -> str:
    """Return an error and its next step on one line."""
    hint = f"; {error.hint}" if error.hint else ""
    return one_line(f"{error.message}{hint}", 500)


def is_agent(tool: str) -> bool:
    """Return whether a tool's name is that of an agent."""
    return tool.startswith(f"{AGENT_NAMESPACE}.")
