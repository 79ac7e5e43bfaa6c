"""The pack itself, and its loading by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lineshaft.errors import ConfigError
from lineshaft.packs._discovery import broken, find_pack
from lineshaft.tools import Tool, Toolset
from lineshaft.values import Struct

if TYPE_CHECKING:
    from lineshaft.agents import Microagent  # slow to import


class ProjectProgram(Struct, frozen=True, kw_only=True):
    """A program that a project's file names and a tool of a pack starts.

    It runs with the person's rights, so a person approves it first, by `lineshaft config trust`.
    """

    name: str
    """What the pack calls it."""

    place: Path
    """The project's file that names it."""

    command: str
    """What the file says, as a person is shown it."""

    files: Sequence[Path] = ()
    """Files of the project that it runs; their content is part of what is approved."""

    unknown: Sequence[str] = ()
    """Words of the command that may stand for further files, which are no part of it."""

    refused: ConfigError | None = None
    """Why it cannot be approved; the other programs of the file go on without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """The tools of a distribution, and its agents with tools of their own.

    Tools have a namespace, so that they clash with no others: `@tool(name="azure_sdk.compile")`.

    Raises:
        ConfigError: A tool has no namespace, or two things have one name.
    """

    description: str
    """One line for people."""

    tools: Sequence[Tool[..., Any]] = ()
    """For scripts and models, where the configuration names the pack."""

    agents: "Sequence[Microagent[Any]]" = ()
    """For the same, and for `lineshaft agent run PACK.AGENT`."""

    programs: Callable[[Path], Sequence[ProjectProgram]] | None = None
    """Returns the programs that the files of a workspace name, for a person's approval, the
    malformed ones as `refused`; raises `ConfigError` where none can be told. None: tools start no
    such programs."""

    def __post_init__(self) -> None:
        """Refuse what could not be offered."""
        for tool in self.tools:
            if "." not in tool.name:
                raise ConfigError(
                    f"the tool {tool.name!r} of a pack has no namespace",
                    hint=f'name it after the pack: @tool(name="my_pack.{tool.name}")',
                )
        self.toolset()

    def toolset(self) -> Toolset:
        """Return its tools, and its agents as tools.

        Raises:
            ConfigError: Two of them have one name.
        """
        return Toolset([*self.tools, *self.agents])

    def agent(self, name: str) -> "Microagent[Any]":
        """Return an agent by its name.

        Raises:
            ConfigError: There is none of that name.
        """
        for agent in self.agents:
            if agent.name == name:
                return agent
        names = ", ".join(sorted(agent.name for agent in self.agents))
        raise ConfigError(f"the pack has no agent {name!r}", hint=f"it has: {names or 'none'}")


def load_pack(name: str) -> Pack:
    """Import a pack, and return it.

    Args:
        name: As its distribution offers it.

    Raises:
        ConfigError: There is no such pack, or it is broken: it does not start, or is no pack.
    """
    found = find_pack(name)
    if found.point is None:
        raise broken(found, "has no entry point")
    try:
        loaded = cast("object", found.point.load())
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # foreign code may raise anything, SystemExit too
        raise broken(found, f"does not start: {type(error).__name__}: {error}") from error
    if not isinstance(loaded, Pack):
        raise broken(found, f"is no pack: {found.value!r} is a {type(loaded).__name__}")
    return loaded
