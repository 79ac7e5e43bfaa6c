"""Scripts of PowerShell."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lineshaft.errors import ConfigError
from lineshaft.processes.programs.command import ProgramOptions

_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class PowerShellOptions(ProgramOptions):
    """A script of PowerShell; never a text that PowerShell would read as a program.

    Raises:
        ConfigError: A parameter has no name that PowerShell takes, or the file is no script.
    """

    script: Path
    """A `.ps1` file."""

    parameters: Mapping[str, str | bool] = field(default_factory=dict[str, str | bool])
    """By name; True gives a switch, False leaves it out."""

    executable: str = "pwsh"

    def __post_init__(self) -> None:
        """Refuse what PowerShell would take for something else."""
        if self.script.suffix.lower() != ".ps1":
            raise ConfigError(f"{str(self.script)!r} is no PowerShell script", hint="name a .ps1")
        for name in self.parameters:
            if not _PARAMETER.fullmatch(name):
                raise ConfigError(f"{name!r} is no name of a PowerShell parameter")
        ProgramOptions.__post_init__(self)

    @property
    def argv(self) -> tuple[str, ...]:
        """The call with `-File`, after which every argument is text.

        `-Name:value` keeps a value that starts with a dash from being a name; an empty value is an
        argument of its own, as PowerShell takes what follows `-Name:` for the value.
        """
        given: list[str] = []
        for name, value in self.parameters.items():
            if isinstance(value, bool):
                given += [f"-{name}"] if value else []
            else:
                given += [f"-{name}:{value}"] if value else [f"-{name}:", ""]
        quiet = ("-NoLogo", "-NoProfile", "-NonInteractive")
        return (self.executable, *quiet, "-File", str(self.script), *given)

    @property
    def label(self) -> str:
        """The name of the script."""
        return self.script.name

    @property
    def install(self) -> str:
        """How PowerShell is installed."""
        return "install PowerShell 7, whose program is `pwsh`, or name it as the executable"
