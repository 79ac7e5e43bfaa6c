"""The options that all programs have, and those of a program that is named outright."""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import cast

from lineshaft.errors import ConfigError
from lineshaft.values import Command

MOST_SECONDS = 7_200.0
"""Two hours: what takes longer hangs."""

STDOUT_BYTES = 50_000
STDERR_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """What every program has; each kind adds its own, and says what is started.

    Arguments reach the program one by one, as they are: no shell reads them, and nothing quotes
    them. Its standard input is empty.

    Raises:
        ConfigError: The time is not above 0 and at most two hours, or a text holds a NUL character.
    """

    _: KW_ONLY
    cwd: Path | None = None
    """Working folder; None: the present one, or that of the workspace it runs in."""

    seconds: float = 120.0
    """Time after which the whole process tree is ended."""

    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables by name, added to the minimal environment."""

    stdout_bytes: int = STDOUT_BYTES
    """Bytes of its output that are kept, head and tail."""

    stderr_bytes: int = STDERR_BYTES
    """The same of its errors."""

    def __post_init__(self) -> None:
        """Refuse what could not be started as it is meant."""
        if not (math.isfinite(self.seconds) and 0 < self.seconds <= MOST_SECONDS):
            raise ConfigError(
                f"a program's time is {self.seconds:g} s: it may be above 0, up to"
                f" {MOST_SECONDS:,.0f} seconds"
            )
        for word in (*self.argv, *self.env, *self.env.values()):
            if not isinstance(cast("object", word), str):
                raise ConfigError(f"an argument or variable of a program is no text: {word!r}")
            if "\0" in word:
                raise ConfigError(f"an argument or variable holds a NUL character: {word!r}")

    @property
    def argv(self) -> tuple[str, ...]:
        """The program and its arguments, one by one."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """Its short name, for lines of a log."""
        return Path(self.argv[0]).name

    @property
    def install(self) -> str:
        """How the program is installed where it is missing; empty where that is not known."""
        return ""

    @property
    def command(self) -> Command:
        """The same as a workspace starts it; the working folder is not part of it."""
        return Command(
            argv=self.argv,
            env=self.env,
            seconds=self.seconds,
            stdout_bytes=self.stdout_bytes,
            stderr_bytes=self.stderr_bytes,
        )


@dataclass(frozen=True, slots=True)
class CommandOptions(ProgramOptions):
    """A program that is named outright."""

    program: str
    """Its name on the PATH, or its path."""

    args: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse an empty name, beside what every program refuses."""
        if not self.program:
            raise ConfigError("there is no program to start: its name is empty")
        ProgramOptions.__post_init__(self)

    @property
    def argv(self) -> tuple[str, ...]:
        """The program and its arguments."""
        return (self.program, *self.args)
