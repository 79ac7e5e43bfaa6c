"""`lineshaft tools`: what can be called."""

import json as json_module
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Literal

import click
from msgspec.structs import replace

from lineshaft.cli import _completion
from lineshaft.cli._carry import carry
from lineshaft.cli._offer import gathered, offered_for, tell_down
from lineshaft.cli._options import json_option, settings_for, tools_option, workspace_option
from lineshaft.cli._records import look
from lineshaft.cli._terminal import note, one_line, paint, result
from lineshaft.config import Settings, policy
from lineshaft.errors import ConfigError, StateError
from lineshaft.policy import closed_by
from lineshaft.store import workspace_name
from lineshaft.tools import (
    describe,
    python_stubs,
    search_specs,
    spec_named,
    tool_version,
    typescript_stubs,
)
from lineshaft.values import ObservedShape, ToolSpec

_DESCRIBED = 2
"""So many tools are told in full; more of them as a list."""

_APART = (
    *(("words", "--tokens"), ("words", "--forget"), ("--stubs", "--tokens")),
    *(("--stubs", "--forget"), ("--tokens", "--forget"), ("--stubs", "--json")),
)


@click.argument(
    "words",
    nargs=-1,
    shell_complete=_completion.tools,
    metavar="[WORDS]...",
    help="A tool's name, or words to search for.",
)
@click.option(
    "--stubs",
    type=click.Choice(["python", "typescript"]),
    metavar="LANGUAGE",
    help="Print declarations.",
)
@click.option("--tokens", is_flag=True, help="Count what a client loads of them, and of Lineshaft.")
@click.option(
    "--forget",
    multiple=True,
    metavar="NAME",
    help="Forget what a tool's results looked like; all: of every tool.",
)
@tools_option
@workspace_option
@json_option
def command(
    *,
    words: tuple[str, ...],
    stubs: Literal["python", "typescript"] | None,
    tokens: bool,
    forget: tuple[str, ...],
    tools: tuple[str, ...],
    workspace: Path | None,
    json: bool,
) -> None:
    """List all tools, or describe those that fit the words."""
    given = {"--stubs": stubs, "--tokens": tokens, "--forget": forget, "--json": json}
    _refuse_two({"words": words, **given})
    settings = settings_for(workspace, tools=tools)
    if forget:
        _forget(settings, forget, as_json=json)
        return
    offered = offered_for(settings)
    if tokens:
        from lineshaft.cli._tokens import tell_tokens  # noqa: PLC0415  loads the SDK of MCP

        tell_tokens(settings, offered, as_json=json)
    else:
        found = carry(partial(gathered, offered))
        chosen = _chosen(found.toolset.specs, words)
        if stubs or json or (words and len(chosen) <= _DESCRIBED):
            chosen = _with_results(settings, chosen)
        closed = _closed(settings, chosen)
        _tell(chosen, words, closed=closed, stubs=stubs, as_json=json)
        found.tell()
    tell_down(offered)


def _refuse_two(given: Mapping[str, object]) -> None:
    """Refuse two words that ask for different things: one of them would not be heard."""
    for one, other in _APART:
        if given[one] and given[other]:
            raise ConfigError(f"{one} and {other} exclude each other", hint="give one of them")


def _closed(settings: Settings, specs: Sequence[ToolSpec]) -> dict[str, str]:
    """Return the rule that closes a tool to the shell and to scripts, by the tool's name."""
    held = policy(settings)
    found = ((spec.name, closed_by(held, spec, ("shell", "script"))) for spec in specs)
    return {name: verdict.rule for name, verdict in found if verdict is not None}


def _tell(
    chosen: Sequence[ToolSpec],
    words: Sequence[str],
    *,
    closed: Mapping[str, str],
    stubs: str | None,
    as_json: bool,
) -> None:
    if stubs is not None:
        result(python_stubs(chosen) if stubs == "python" else typescript_stubs(chosen))
    elif as_json:
        told = [{**asdict(spec), "closed_by": closed.get(spec.name)} for spec in chosen]
        result(json_module.dumps(told, ensure_ascii=False))
    elif words and len(chosen) <= _DESCRIBED:
        result("\n\n".join(f"{describe(spec)}\n{_facts(spec, closed)}" for spec in chosen))
    else:
        width = max((len(spec.name) for spec in chosen), default=0)
        for spec in chosen:
            about = one_line(spec.description.partition("\n")[0])
            rule = closed.get(spec.name)
            why = f"closed by {rule}: " if rule else ""
            result(f"{spec.name:<{width}}  {spec.effect:<8}  {why}{about}")
        if words:
            note(paint("`lineshaft tools NAME` describes one of them", "dim"))
    if not chosen:
        nothing = "nothing fits; try other words, or see all: `lineshaft tools`"
        note(paint(nothing if words else "there are no tools", "dim"))


def _with_results(settings: Settings, specs: Sequence[ToolSpec]) -> Sequence[ToolSpec]:
    """Return tools with what their results looked like, where they do not say it themselves."""
    if all(spec.output_schema is not None for spec in specs):
        return specs
    root = workspace_name(settings.root)
    kept: list[ObservedShape] = []
    with suppress(StateError):  # they are a comfort
        kept = look(settings, lambda store: store.shapes(root))
    shapes = {(shape.tool, shape.version): shape.schema for shape in kept}
    return [
        replace(spec, observed=shapes.get((spec.name, tool_version(spec))))
        if spec.output_schema is None
        else spec
        for spec in specs
    ]


def _forget(settings: Settings, names: Sequence[str], *, as_json: bool) -> None:
    root = workspace_name(settings.root)
    of = None if "all" in names else names
    count = look(settings, lambda store: store.forget_shapes(root, of))
    if as_json:
        result(json_module.dumps({"forgotten": count}))
    else:
        result(f"forgot what the results of {count} tool{'' if count == 1 else 's'} looked like")


def _chosen(specs: Sequence[ToolSpec], words: Sequence[str]) -> Sequence[ToolSpec]:
    if not words:
        return specs
    named = (spec_named(specs, word) for word in words)
    exact = {spec.name: spec for spec in named if spec is not None}
    return tuple(exact.values()) or search_specs(specs, " ".join(words), len(specs))


def _facts(spec: ToolSpec, closed: Mapping[str, str]) -> str:
    flags = [
        name
        for name, is_set in (
            ("destructive", spec.destructive),
            ("idempotent", spec.idempotent),
            ("not from scripts", not spec.scriptable),
            ("needs_disk: a run's changes land before it", spec.needs_disk),
        )
        if is_set
    ]
    if spec.name in closed:
        flags.append(f"closed by {closed[spec.name]}")
    return one_line(", ".join([f"effect: {spec.effect}", *flags]))
