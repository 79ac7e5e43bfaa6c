"""`lineshaft agent run`: a microagent, as one call under the same policy as a script."""

import os
import sys
from pathlib import Path
from typing import Literal

import click
from msgspec.structs import replace

from lineshaft.cli._agents import (
    input_of_message,
    lack_of,
    refuse_wrong_inputs,
    settings_of_agent,
    tool_of,
)
from lineshaft.cli._options import (
    json_option,
    mode_option,
    options_again,
    origin_option,
    quiet_option,
    tools_option,
    workspace_option,
)
from lineshaft.cli._pairs import read_pairs
from lineshaft.cli._shown import display_for
from lineshaft.cli.commands.call import call_one
from lineshaft.errors import ConfigError
from lineshaft.models import model_named

_SECONDS = 1_800.0
_MOST_SECONDS = 86_400.0
_MOST_BYTES = 1_000_000


@click.argument("name", metavar="AGENT", help="The agent: PACK.AGENT, or AGENT.")
@click.argument(
    "arguments",
    nargs=-1,
    metavar="[K=V]...",
    help="k=text, or k:=json for numbers, lists and the like.",
)
@click.option("--model", metavar="M", help="The agent's model, instead of its own: openai:NAME.")
@click.option(
    "--timeout",
    type=float,
    default=_SECONDS,
    show_default=True,
    metavar="S",
    help="Seconds that the agent may take.",
)
@tools_option
@mode_option
@workspace_option
@click.option(
    "--message",
    metavar="TEXT",
    help="The text for its only input that is a text; - reads it from standard input.",
)
@click.option("--events", is_flag=True, help="Print the record as it comes, one event a line.")
@origin_option
@quiet_option
@json_option
def command(
    *,
    name: str,
    arguments: tuple[str, ...],
    model: str | None,
    timeout: float,
    tools: tuple[str, ...],
    mode: str | None,
    workspace: Path | None,
    message: str | None,
    events: bool,
    origin: Literal["model", "editor"] | None,
    quiet: bool,
    json: bool,
) -> None:
    """Run an agent and print its result; LINESHAFT_MODEL names its model where it has none.

    Its changes land with its result, and `lineshaft undo` takes them back.
    """
    if not 0 < timeout <= _MOST_SECONDS:
        raise ConfigError(f"--timeout is {timeout:g}: above 0, up to {_MOST_SECONDS:,.0f} seconds")
    given = read_pairs(arguments)
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
