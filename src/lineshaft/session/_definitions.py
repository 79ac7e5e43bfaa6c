"""Texts for a model: tool definitions for its API, and the text about scripts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from lineshaft.errors import ConfigError
from lineshaft.tools import model_name, python_stubs
from lineshaft.values import Limits, ToolSpec

Api = Literal["openai", "openai-responses", "anthropic", "mcp"]

_WHEN = """\
Run one Python script that calls many tools; only what it prints and returns comes back.
Use it when calls depend on earlier results, or for about five files or more.
Do not use it for one edit, or for independent calls that fit one turn.
"""

_HOW = """\
How to write it:
- Tools are async functions: `r = await name(arg=...)`; many at once: `await asyncio.gather(...)`.
- End with `return value` (JSON); `print` comes back as text.
- A failed or refused call raises ToolError (.code, .tool, .message).
- Beside the standard library: json_parse(text), batched(items, n), table(rows),
  await retry(call, attempts, wait).
- Files, commands and network only by tools; nothing stays afterwards.
"""


def script_schema(limits: Limits) -> dict[str, Any]:
    """Return the JSON Schema of `run_script`'s arguments."""
    return {
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "The script itself."},
            "file": {
                "type": "string",
                "description": "Workspace path of a script, instead of `code`.",
            },
            "args": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Texts that the script finds in `args`.",
            },
            "timeout_seconds": {
                "type": "number",
                "exclusiveMinimum": 0,
                "maximum": limits.longest,
                "description": f"How long it may take; {limits.seconds:g} unless said.",
            },
        },
        "additionalProperties": False,
    }


def script_description(specs: Sequence[ToolSpec], limits: Limits) -> str:
    """Return the description of `run_script`, made from the present tools.

    Args:
        specs: The tools.
        limits: Of a model's script.
    """
    tools = python_stubs(specs) if specs else "(no tools are enabled)\n"
    return f"{_WHEN}\n{guide(limits)}\nTools:\n```python\n{tools.rstrip()}\n```"


def guide(limits: Limits) -> str:
    """Return how a script is written."""
    bounds = f"At most {limits.calls} calls and {limits.seconds:g} s.\n"
    return f"{_HOW}{bounds}"


def instructions(specs: Sequence[ToolSpec], limits: Limits, *, scripts: bool, mode: str) -> str:
    """Return the text for a system prompt, with what it says of scripts where there are any."""
    names = ", ".join(model_name(spec.name) for spec in specs) or "none"
    lines = [f"Tools: {names}. Policy mode: {mode}."]
    if scripts:
        lines += [
            "`run_script` runs a Python script over these tools.",
            _WHEN.strip(),
            _HOW.strip(),
        ]
        lines.append(f"A script may make {limits.calls} calls and take {limits.seconds:g} s.")
    return "\n".join(lines)


def definition(
    name: str, *, description: str, schema: Mapping[str, object], api: Api
) -> dict[str, Any]:
    """Return one tool definition in the shape of a model API.

    Raises:
        ConfigError: There is no such API.
    """
    known = model_name(name)
    match api:
        case "openai":
            function = {"name": known, "description": description, "parameters": schema}
            return {"type": "function", "function": function}
        case "openai-responses":
            return {
                "type": "function",
                "name": known,
                "description": description,
                "parameters": schema,
                "strict": False,
            }
        case "anthropic":
            return {"name": known, "description": description, "input_schema": schema}
        case "mcp":
            return {"name": known, "description": description, "inputSchema": schema}
        case _:
            kinds = "openai, openai-responses, anthropic, mcp"
            raise ConfigError(f"there is no model API {api!r}; there are: {kinds}")


def chosen(specs: Iterable[ToolSpec], names: Iterable[str]) -> list[ToolSpec]:
    """Return the named tools, each once, in the order asked for.

    Raises:
        ConfigError: A name is not a tool's.
    """
    if isinstance(names, str):  # for a type checker, a text is a list of names as well
        raise ConfigError(f"direct is a list of names, not {names!r}", hint="write direct=[...]")
    known = {spec.name: spec for spec in specs}
    once = list(dict.fromkeys(names))  # model APIs refuse two definitions of one name
    missing = [name for name in once if name not in known]
    if missing:
        there = ", ".join(known) or "none"
        raise ConfigError(f"there is no tool {missing[0]!r} for direct calls; there are: {there}")
    return [known[name] for name in once]
