"""Programs of npm packages: fetched by `npx` in an exact version, or installed below a folder.

On Windows `npx` and `npm` are batch files, whose arguments `cmd` would read once more: there Node
is started with the script that the batch file starts.
"""

import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from lineshaft.errors import ConfigError
from lineshaft.processes.programs.command import ProgramOptions

INSTALL_NODE = "install Node.js 20 or newer, which brings npm and npx (Debian: apt install npm)"

_EXACT = re.compile(
    r"""
    (?:@[a-z0-9~][a-z0-9._~-]*/)? [a-z0-9~][a-z0-9._~-]*   # its name, with its scope
    @ \d+\.\d+\.\d+ (?:-[0-9A-Za-z.-]+)? (?:\+[0-9A-Za-z.-]+)?
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class NpxOptions(ProgramOptions):
    """A program of an npm package that `npx` fetches where it is not kept yet.

    Raises:
        ConfigError: The package has no exact version: another day would run another program.
    """

    package: str
    """Name and exact version, as in `@typespec/compiler@1.9.0`."""

    args: tuple[str, ...]
    """The program of the package, and its arguments."""

    def __post_init__(self) -> None:
        """Refuse a package without an exact version."""
        if not _EXACT.fullmatch(self.package):
            raise ConfigError(
                f"the npm package {self.package!r} has no exact version",
                hint="write it as NAME@1.2.3: a range or a tag runs another program another day",
            )
        _must_name_a_program(self.args)
        ProgramOptions.__post_init__(self)

    @property
    def argv(self) -> tuple[str, ...]:
        """The call of `npx`; it asks nothing."""
        return (*node_script("npx"), "--yes", f"--package={self.package}", "--", *self.args)

    @property
    def label(self) -> str:
        """The name of the package's program."""
        return self.args[0]

    @property
    def install(self) -> str:
        """How npx is installed."""
        return INSTALL_NODE


@dataclass(frozen=True, slots=True)
class NpmExecOptions(ProgramOptions):
    """A program of a package that is installed below a folder; nothing is fetched."""

    prefix: Path
    """The folder with `package.json` and `node_modules`."""

    args: tuple[str, ...]
    """The program of a package, and its arguments."""

    def __post_init__(self) -> None:
        """Refuse a call that names no program."""
        _must_name_a_program(self.args)
        ProgramOptions.__post_init__(self)

    @property
    def argv(self) -> tuple[str, ...]:
        """The program itself where it is there; else npm looks for it, and fetches nothing.

        A feed in an `.npmrc` may make npm take the program's name for that of a package.
        """
        program = self.prefix / "node_modules" / ".bin" / self.args[0]
        if sys.platform != "win32" and program.exists():
            return (str(program), *self.args[1:])
        npm = node_script("npm")
        return (*npm, "exec", "--no", "--prefix", str(self.prefix), "--", *self.args)

    @property
    def label(self) -> str:
        """The name of the package's program."""
        return self.args[0]

    @property
    def install(self) -> str:
        """How npm is installed."""
        return INSTALL_NODE


def node_script(name: str) -> tuple[str, ...]:
    """Return how `npx` or `npm` is started."""
    if sys.platform != "win32":
        return (name,)
    node = shutil.which("node") or "node"
    return (node, str(Path(node).parent / "node_modules" / "npm" / "bin" / f"{name}-cli.js"))


def _must_name_a_program(args: tuple[str, ...]) -> None:
    if not args or not args[0] or args[0].startswith("-") or "/" in args[0] or "\\" in args[0]:
        named = args[0] if args else ""
        raise ConfigError(f"{named!r} is no name of a package's program")
