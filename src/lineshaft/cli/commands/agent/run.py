"""`lineshaft agent run`: a microagent, as one call under the same policy as a script."""

import os
import sys
from typing import Annotated

import typer
from msgspec.structs import replace

from lineshaft.cli._agents import (
    input_of_message,
    lack_of,
    refuse_wrong_inputs,
    settings_of_agent,
    tool_of,
)
from lineshaft.cli._options import AskedBy, Json, Mode, Quiet, Tools, Workspace, options_again
from lineshaft.cli._pairs import read_pairs
from lineshaft.cli._shown import display_for
from lineshaft.cli.commands.call import call_one
from lineshaft.errors import ConfigError
from lineshaft.models import model_named

_SECONDS = 1_800.0
_MOST_SECONDS = 86_400.0
_MOST_BYTES = 1_000_000


def command(
    *,
    name: Annotated[str, typer.Argument(help="The agent: PACK.AGENT, or AGENT.", metavar="AGENT")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(help="k=text, or k:=json for numbers, lists and the like.", metavar="K=V"),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="The agent's model, instead of its own: openai:NAME.", metavar="M"
        ),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option("--timeout", help="Seconds that the agent may take.", metavar="S"),
    ] = _SECONDS,
    tools: Tools = None,
    mode: Mode = None,
    workspace: Workspace = None,
    message: Annotated[
        str | None,
        typer.Option(
            "--message",
            help="The text for its only input that is a text; - reads it from standard input.",
            metavar="TEXT",
        ),
    ] = None,
    events: Annotated[
        bool,
        typer.Option("--events", help="Print the record as it comes, one event a line."),
    ] = False,
    origin: AskedBy = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run an agent and print its result; LINESHAFT_MODEL names its model where it has none.

    Its changes land with its result, and `lineshaft undo` takes them back.
    """
    if not 0 < timeout <= _MOST_SECONDS:
        raise ConfigError(f"--timeout is {timeout:g}: above 0, up to {_MOST_SECONDS:,.0f} seconds")
    given = read_pairs(arguments or ())
    settings, tool = settings_of_agent(name, workspace, tools=tools, mode=mode)
    if model is not None:
        model_named(model, environment=os.environ)  # a name that is none is told at once
        settings = replace(settings, models={tool.rpartition(".")[2]: model})
    agent = tool_of(settings, tool)
    if message is not None:
        given |= input_of_message(agent, _said(message), given)
    refuse_wrong_inputs(agent, given)
    if (lack := lack_of(agent)) is not None:
        raise lack
    limits = replace(settings.limits(), seconds=timeout, most_seconds=timeout, call_seconds=timeout)
    call_one(
        settings,
        tool,
        given,
        limits=limits,
        seconds=timeout,
        again=options_again(workspace),
        display=display_for(quiet=quiet or json or events),
        origin=origin or "shell",
        events=events,
        quiet=quiet,
        json=json,
    )


def _said(message: str) -> str:
    """Return what `--message` gives.

    Raises:
        ConfigError: Standard input is no text, or is too long.
    """
    if message != "-":
        return message
    data = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ConfigError(f"the message on standard input has over {_MOST_BYTES:,} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError("the message on standard input is no text in UTF-8") from error
