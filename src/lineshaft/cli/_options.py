"""Options that several commands share, and the settings they lead to."""

import os
import shlex
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

import click

from lineshaft.cli import _completion
from lineshaft.cli._terminal import note, one_line, paint, wrapped
from lineshaft.config import EDITOR, Approval, Faulty, Settings, policy, read_settings
from lineshaft.config import guards as configured_guards
from lineshaft.config import tools as configured_tools
from lineshaft.errors import ConfigError
from lineshaft.tools import Toolset
from lineshaft.values import Guard, visible


class _Folder(click.Path):
    """A folder of a workspace; an empty word, as of a variable that is not set, names none."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(
        self,
        value: "str | os.PathLike[str]",
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> "str | bytes | os.PathLike[str]":
        if value == "":
            self.fail("it is empty; name a folder, or leave it out", param, ctx)
        return super().convert(value, param, ctx)


run_argument = click.argument(
    "run",
    required=False,
    shell_complete=_completion.runs,
    metavar="[RUN]",
    help="The run's id, its beginning or its end; the last run if left out.",
)
workspace_option = click.option(
    "--workspace",
    type=_Folder(),
    metavar="DIR",
    help="The folder to work in; `vscode:DIR`, or `vscode:` alone: as a window shows it.",
)
tools_option = click.option(
    "--tools",
    multiple=True,
    shell_complete=_completion.files,
    metavar="FILE",
    help="A Python file with more tools.",
)
engine_option = click.option(
    "--engine",
    shell_complete=_completion.engines,
    metavar="E",
    help="auto, wasm or cpython.",
)
mode_option = click.option(
    "--mode",
    shell_complete=_completion.modes,
    metavar="M",
    help="plan, read, ask, auto or open; rules stay.",
)
timeout_option = click.option(
    "--timeout", type=float, metavar="S", help="Seconds the run may take."
)
limit_option = click.option(
    "--limit", multiple=True, metavar="NAME=N", help="A limit for this run, such as calls=50."
)
origin_option = click.option(
    "--origin",
    type=click.Choice(["model", "editor"]),
    help="Who asks, for policy, limits and record: a model, or a person in an editor.",
)
json_option = click.option("--json", is_flag=True, help="Print JSON.")
atomic_option = click.option(
    "--atomic/--no-atomic", default=None, help="Changes land whole, or each is made at once."
)
accept_claims_option = click.option(
    "--accept-claims", is_flag=True, help="Let count what MCP servers say of their tools."
)
accept_changed_option = click.option(
    "--accept-changed",
    is_flag=True,
    help="Go on with tools and settings as they are now, though they changed since.",
)
quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress on standard error.")


def settings_for(
    workspace: Path | None = None,
    *,
    tools: Iterable[str] | None = None,
    packs: Iterable[str] | None = None,
    engine: str | None = None,
    mode: str | None = None,
    limits: Iterable[str] | None = None,
    python_seconds: float | None = None,
    atomic: bool | None = None,
) -> Settings:
    """Read the settings, with what was given by hand on top.

    Raises:
        ConfigError: A file, a variable or an option cannot be used.
    """
    flags: dict[str, object] = {}
    if workspace is not None:
        flags["workspace.root"] = str(workspace)
    if tools:
        flags["tools.modules"] = list(tools)
    if packs:
        flags["tools.packs"] = list(packs)
    if engine is not None:
        flags["engine.name"] = engine
    if mode is not None:
        flags["policy.mode"] = mode
    if python_seconds is not None:
        flags["python.timeout_seconds"] = python_seconds
    if atomic is not None:
        flags["workspace.atomic"] = atomic
    for limit in limits or ():
        name, sign, text = limit.partition("=")
        if not sign:
            raise ConfigError(f"--limit {limit!r} is not NAME=N", hint="such as --limit calls=50")
        flags[f"limits.{name.strip()}"] = text.strip()
    return read_settings(flags=flags)


def settings_to_look(workspace: Path | None) -> Settings:
    """Read the settings for a command that needs only the places of a workspace and of its runs.

    Where they cannot be used, as after a run that changed them, one note says why, and what can
    be read of places counts.

    Args:
        workspace: What the command line said of it.

    Raises:
        ConfigError: A variable or an option cannot be used.
    """
    try:
        settings = settings_for(workspace)
        _use(settings)
    except ConfigError as error:
        flags = {} if workspace is None else {"workspace.root": str(workspace)}
        settings = read_settings(flags=flags, places_only=True)
        why = one_line(error.message, 1_000)
        note(f"{paint('note', 'dim')}: settings are left out, this needs none of them: {why}")
    return settings


def _use(settings: Settings) -> None:
    """Look at what a session without tools takes of settings.

    Raises:
        ConfigError: Some of it cannot be used.
    """
    policy(settings)
    for each in ("aliases", "atomic", "pass_environment", "python", "store"):
        getattr(settings, each)
    settings.limits()


def options_again(workspace: Path | None) -> str:
    """Return what of a command line another one needs that goes on with the same run.

    Its files of `--tools` are remembered, see `remember`.
    """
    words = [] if workspace is None else ["--workspace", _absolute(str(workspace))]
    return "".join(f" {one_line(shlex.quote(word), 1_000)}" for word in words)


def _absolute(workspace: str) -> str:
    """Return a workspace as it is named from any folder."""
    if not workspace.startswith(EDITOR):
        return str(Path(workspace).absolute())
    folder = workspace.removeprefix(EDITOR)
    return f"{EDITOR}{Path(folder).absolute()}" if folder else EDITOR


def toolset_for(
    settings: Settings, *, faulty: Faulty | None = None, needed: Collection[str] = ()
) -> Toolset:
    """Return the tools; asks once about a project's modules if a person can answer.

    Args:
        settings: What holds.
        faulty: Takes each agent of the settings that cannot be offered; None: that is an error.
        needed: Names of agents for which that is an error all the same.

    Raises:
        ConfigError: A module cannot be used, or is not approved.
    """
    asks = sys.stdin.isatty() and sys.stderr.isatty()
    confirm = confirm_module if asks else None
    return configured_tools(settings, confirm=confirm, faulty=faulty, needed=needed)


def guards_for(settings: Settings) -> tuple[Guard, ...]:
    """Return the guards; asks once about a project's modules if a person can answer.

    Raises:
        ConfigError: A module cannot be used, or is not approved.
    """
    asks = sys.stdin.isatty() and sys.stderr.isatty()
    return configured_guards(settings, confirm=confirm_module if asks else None)


def confirm_module(module: Approval) -> bool:
    """Ask the person at the terminal whether a project's module or agent may run."""
    describe_module(module)
    return click.confirm("Trust it as it is now?", default=False, err=True)


def describe_module(module: Approval) -> None:
    """Print what a person should know before trusting a module, an agent or a program."""
    if module.kind == "agent":
        _describe_agent(module)
        return
    if module.kind == "program":
        _describe_program(module)
        return
    note(f"{one_line(str(module.project))} names the Python module {one_line(module.name)}.")
    note("It would run with your rights, outside policy. Its files:")
    for file in module.files:
        note(f"  {one_line(str(file))}")
    note(f"  sha256 {module.sha256}")


def _describe_program(program: Approval) -> None:
    note(f"{one_line(str(program.project))} names the program {one_line(program.name)}.")
    note("It would run with your rights, each time after a question:")
    for label, text in program.told:
        note(wrapped(f"  {one_line(label)}: {visible(text, keep=chr(10))}"))
    note(f"  files in this approval: {len(program.files) or 'none'}")
    for file in program.files:
        note(f"  file, approved as it is now: {one_line(str(file))}")
    note("  not in this approval: what it reads or starts in its turn")
    note(f"  sha256 {program.sha256}")


def _describe_agent(agent: Approval) -> None:
    note(f"{one_line(str(agent.project))} declares the microagent {one_line(agent.name)}.")
    note("What it is given and reads goes to its model, and its model calls its tools:")
    for label, text in agent.told:
        note(wrapped(f"  {one_line(label)}: {visible(text, keep=chr(10))}"))
    for file in agent.files:
        note(f"  file, approved as it is now: {one_line(str(file))}")
    note(f"  sha256 {agent.sha256}")
