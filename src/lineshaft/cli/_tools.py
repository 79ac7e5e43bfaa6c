"""`lineshaft tools`: what can be called."""

import json as json_module
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Annotated, Literal

import typer

from lineshaft.cli._carry import carry
from lineshaft.cli._offer import gathered, offered_for, tell_down
from lineshaft.cli._options import Json, Tools, Workspace, settings_for
from lineshaft.cli._terminal import note, one_line, paint, result
from lineshaft.tools import describe, python_stubs, search_specs, typescript_stubs
from lineshaft.values import ToolSpec

_DESCRIBED = 2
"""So many tools are told in full; more of them as a list."""


def command(
    *,
    words: Annotated[
        list[str] | None,
        typer.Argument(help="A tool's name, or words to search for.", metavar="WORDS"),
    ] = None,
    stubs: Annotated[
        Literal["python", "typescript"] | None,
        typer.Option("--stubs", help="Print declarations.", metavar="LANGUAGE"),
    ] = None,
    tools: Tools = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """List all tools, or describe those that fit the words."""
    offered = offered_for(settings_for(workspace, tools=tools))
    specs = carry(partial(gathered, offered)).specs
    chosen = _chosen(specs, words or [])
    if stubs is not None:
        result(python_stubs(chosen) if stubs == "python" else typescript_stubs(chosen))
    elif json:
        result(json_module.dumps([asdict(spec) for spec in chosen], ensure_ascii=False))
    elif words and len(chosen) <= _DESCRIBED:
        result("\n\n".join(f"{describe(spec)}\n{_facts(spec)}" for spec in chosen))
    else:
        width = max((len(spec.name) for spec in chosen), default=0)
        for spec in chosen:
            result(
                f"{spec.name:<{width}}  {spec.effect:<8}  {spec.description.partition(chr(10))[0]}"
            )
        if words:
            note(paint("lineshaft tools NAME describes one of them", "dim"))
    if not chosen:
        note(paint("no tool fits" if words else "there are no tools", "dim"))
    tell_down(offered)


def _chosen(specs: Sequence[ToolSpec], words: Sequence[str]) -> Sequence[ToolSpec]:
    if not words:
        return specs
    exact = [spec for spec in specs if spec.name in words]
    return exact or search_specs(specs, " ".join(words))


def _facts(spec: ToolSpec) -> str:
    flags = [
        name
        for name, is_set in (
            ("destructive", spec.destructive),
            ("idempotent", spec.idempotent),
            ("not from scripts", not spec.scriptable),
        )
        if is_set
    ]
    return one_line(", ".join([f"effect: {spec.effect}", *flags]))
