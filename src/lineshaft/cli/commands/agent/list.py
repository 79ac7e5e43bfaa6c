"""`lineshaft agent list`: agents that are offered, and packs that are installed."""

import json as json_module
from collections.abc import Sequence
from pathlib import Path

import click

from lineshaft.cli._agents import is_agent, lack_of, sentence_of
from lineshaft.cli._options import (
    json_option,
    settings_for,
    tools_option,
    toolset_for,
    workspace_option,
)
from lineshaft.cli._terminal import note, one_line, paint, result
from lineshaft.errors import ConfigError
from lineshaft.packs import FoundPack, discover, load_pack
from lineshaft.tools import Tool
from lineshaft.values import Struct, ToolSpec


@click.argument("pack", required=False, metavar="[PACK]", help="An installed pack; it is loaded.")
@tools_option
@workspace_option
@json_option
def command(
    *,
    pack: str | None,
    tools: tuple[str, ...],
    workspace: Path | None,
    json: bool,
) -> None:
    """List the agents of the configured tools and the installed packs, or those of one pack."""
    if pack is not None:
        agents = [_Agent.of(agent.as_tool(), f"{pack}.") for agent in load_pack(pack).agents]
        _print_agents(agents, as_json=json)
        return
    faulty: dict[str, ConfigError] = {}
    offered = toolset_for(settings_for(workspace, tools=tools), faulty=faulty.__setitem__)
    agents = [_Agent.of(offered[name], "") for name in offered if is_agent(name)]
    packs = discover()
    if json:
        told = {
            "agents": [each.facts for each in agents],
            "faulty": [{"name": name, **_told(error)} for name, error in faulty.items()],
            "packs": list(map(_pack, packs)),
        }
        result(json_module.dumps(told, ensure_ascii=False))
        return
    _print_agents(agents, as_json=False)
    for name, error in faulty.items():
        note(f"{paint('broken', 'red')}: the agent {one_line(name)}: {sentence_of(error)}")
    for each in packs:
        home = one_line(f"{each.distribution} {each.version}")
        if each.problem:
            problem = one_line(each.problem, 300)
            note(f"{paint('broken', 'red')}: the pack {one_line(each.name)} of {home} {problem}")
        else:
            result(f"pack {each.name}  of {home}: `lineshaft agent list {each.name}`")
    if not agents and not faulty and not packs:
        note("no agents are offered, and no packs are installed")
        hint = "name a Python file with agents by `--tools FILE`, or declare [agents.NAME]"
        note(f"{paint('hint', 'yellow')}: {hint} in lineshaft.toml")


class _Agent(Struct, frozen=True, kw_only=True):
    """An agent that is offered."""

    name: str
    spec: ToolSpec
    lack: ConfigError | None
    """What its model lacks; None where it can be asked."""

    @staticmethod
    def of(tool: Tool, prefix: str) -> "_Agent":
        """Return the agent that a tool is."""
        name = prefix + tool.name.rpartition(".")[2]
        return _Agent(name=name, spec=tool.spec, lack=lack_of(tool))

    @property
    def facts(self) -> dict[str, object]:
        """What `--json` says of it."""
        return {
            "name": self.name,
            "description": self.spec.description,
            "inputs": self.spec.input_schema,
            "result": self.spec.output_schema,
            "lacks": None if self.lack is None else _told(self.lack),
        }


def _print_agents(agents: Sequence[_Agent], *, as_json: bool) -> None:
    if as_json:
        told = [each.facts for each in agents]
        result(json_module.dumps({"agents": told}, ensure_ascii=False))
        return
    width = max((len(each.name) for each in agents), default=0)
    for each in agents:
        about = one_line(each.spec.description.partition("\n")[0])
        result(f"{each.name:<{width}}  {about}")
        if each.lack is not None:
            result(f"{'':<{width}}  {paint('cannot work yet', 'yellow')}: {sentence_of(each.lack)}")


def _told(error: ConfigError) -> dict[str, str]:
    return {"message": error.message, "hint": error.hint}


def _pack(pack: FoundPack) -> dict[str, object]:
    return {
        "name": pack.name,
        "distribution": pack.distribution,
        "version": pack.version,
        "problem": pack.problem or None,
    }
