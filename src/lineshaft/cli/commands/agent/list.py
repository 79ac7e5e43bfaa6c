"""`lineshaft agent list`: agents that are offered, and packs that are installed."""

import json as json_module
from collections.abc import Sequence
from typing import Annotated

import typer

from lineshaft.cli._agents import is_agent
from lineshaft.cli._options import Json, Tools, Workspace, settings_for, toolset_for
from lineshaft.cli._terminal import note, one_line, paint, result
from lineshaft.packs import FoundPack, discover, load_pack
from lineshaft.values import ToolSpec


def command(
    *,
    pack: Annotated[
        str | None,
        typer.Argument(help="An installed pack; it is loaded.", metavar="PACK"),
    ] = None,
    tools: Tools = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """List the agents of the configured tools and the installed packs, or those of one pack."""
    if pack is not None:
        specs = [agent.as_tool().spec for agent in load_pack(pack).agents]
        _print_agents(specs, prefix=f"{pack}.", as_json=json)
        return
    offered = toolset_for(settings_for(workspace, tools=tools))
    specs = [spec for spec in offered.specs if is_agent(spec.name)]
    packs = discover()
    if json:
        told = {"agents": [_facts(spec, "") for spec in specs], "packs": list(map(_pack, packs))}
        result(json_module.dumps(told, ensure_ascii=False))
        return
    _print_agents(specs, prefix="", as_json=False)
    for each in packs:
        home = one_line(f"{each.distribution} {each.version}")
        if each.problem:
            problem = one_line(each.problem, 300)
            note(f"{paint('broken', 'red')}: the pack {one_line(each.name)} of {home} {problem}")
        else:
            result(f"pack {each.name}  of {home}: `lineshaft agent list {each.name}`")
    if not specs and not packs:
        note("no agents are offered, and no packs are installed")
        hint = "name a Python file with agents by `--tools FILE`, or declare [agents.NAME]"
        note(f"{paint('hint', 'yellow')}: {hint} in lineshaft.toml")


def _print_agents(specs: Sequence[ToolSpec], *, prefix: str, as_json: bool) -> None:
    if as_json:
        told = [_facts(spec, prefix) for spec in specs]
        result(json_module.dumps({"agents": told}, ensure_ascii=False))
        return
    width = max((len(_name(spec, prefix)) for spec in specs), default=0)
    for spec in specs:
        about = one_line(spec.description.partition("\n")[0])
        result(f"{_name(spec, prefix):<{width}}  {about}")


def _name(spec: ToolSpec, prefix: str) -> str:
    return prefix + spec.name.rpartition(".")[2]


def _facts(spec: ToolSpec, prefix: str) -> dict[str, object]:
    return {
        "name": _name(spec, prefix),
        "description": spec.description,
        "inputs": spec.input_schema,
        "result": spec.output_schema,
    }


def _pack(pack: FoundPack) -> dict[str, object]:
    return {
        "name": pack.name,
        "distribution": pack.distribution,
        "version": pack.version,
        "problem": pack.problem or None,
    }
