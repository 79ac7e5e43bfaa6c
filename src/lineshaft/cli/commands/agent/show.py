"""`lineshaft agent show`: what an agent takes and gives, and how it is run."""

import json as json_module
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import click

from lineshaft.cli._agents import lack_of, sentence_of, settings_of_agent, tool_of
from lineshaft.cli._options import json_option, tools_option, workspace_option
from lineshaft.cli._terminal import note, one_line, paint, result
from lineshaft.tools import describe
from lineshaft.values import ToolSpec


@click.argument("name", metavar="AGENT", help="The agent: PACK.AGENT, or AGENT.")
@tools_option
@workspace_option
@json_option
def command(
    *,
    name: str,
    tools: tuple[str, ...],
    workspace: Path | None,
    json: bool,
) -> None:
    """Describe an agent, with a whole command line that runs it."""
    settings, tool = settings_of_agent(name, workspace, tools=tools)
    agent = tool_of(settings, tool)
    spec, lack = agent.spec, lack_of(agent)
    line = _command_line(name, spec, [str(each) for each in tools])
    if json:
        told = {
            "name": name,
            "description": spec.description,
            "inputs": spec.input_schema,
            "result": spec.output_schema,
            "command": line,
            "lacks": lack and {"message": lack.message, "hint": lack.hint},
        }
        result(json_module.dumps(told, ensure_ascii=False))
    else:
        result(f"{describe(spec)}\n\nRun it:\n  {line}")
        if lack is not None:
            note(f"{paint('cannot work yet', 'yellow')}: {sentence_of(lack)}")


def _command_line(name: str, spec: ToolSpec, modules: Sequence[str]) -> str:
    """Return a command line with all inputs that an agent needs, and the modules named by hand."""
    needed = cast("list[str]", spec.input_schema.get("required", []))
    kinds = cast("Mapping[str, Mapping[str, object]]", spec.input_schema.get("properties", {}))
    words = ["lineshaft", "agent", "run", name]
    for each in needed:
        example = cast("list[object]", kinds.get(each, {}).get("examples", []))
        words.append(_pair(each, kinds.get(each, {}), *example[:1]))
    for module in modules:
        words += ["--tools", module]
    return " ".join(shlex.quote(one_line(word, 300)) for word in words)


def _pair(name: str, kind: Mapping[str, object], *example: object) -> str:
    if kind.get("type") == "string":
        return f"{name}={example[0] if example else name.upper()}"
    stand_ins: dict[object, object] = {"array": [], "object": {}, "boolean": True}
    value = example[0] if example else stand_ins.get(kind.get("type"), 1)
    return f"{name}:={json_module.dumps(value, ensure_ascii=False)}"
