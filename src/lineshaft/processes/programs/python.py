"""Programs of Python: a script or a module, of a virtual environment or of the host."""

import sys
from dataclasses import dataclass
from pathlib import Path

from lineshaft.errors import ConfigError
from lineshaft.processes.programs.command import ProgramOptions


@dataclass(frozen=True, slots=True)
class PythonCommandOptions(ProgramOptions):
    """A script or a module of Python.

    Variables such as `PYTHONPATH` and the person's own packages do not count, nor do files of the
    working folder as modules: a tool such as `pylint` is never a `pylint.py` that lies there.

    Raises:
        ConfigError: Both a script and a module are named, or neither.
    """

    script: Path | None = None
    module: str | None = None
    args: tuple[str, ...] = ()
    venv: Path | None = None
    """A virtual environment, whose Python runs it; None: the Python of the host."""

    def __post_init__(self) -> None:
        """Refuse what names no program, or two."""
        if (self.script is None) == (self.module is None):
            raise ConfigError("name either a script or a module of Python")
        if self.module is not None and not all(p.isidentifier() for p in self.module.split(".")):
            raise ConfigError(f"{self.module!r} is no name of a Python module")
        ProgramOptions.__post_init__(self)

    @property
    def argv(self) -> tuple[str, ...]:
        """The call of the interpreter."""
        what = ("-P", "-m", self.module) if self.module is not None else (str(self.script),)
        return (str(self._executable), "-E", "-s", "-X", "utf8", *what, *self.args)

    @property
    def label(self) -> str:
        """The name of the script or of the module."""
        return self.module or (self.script.name if self.script is not None else "python")

    @property
    def install(self) -> str:
        """How its Python is made."""
        return "" if self.venv is None else f"make the environment: python -m venv {self.venv}"

    @property
    def _executable(self) -> Path:
        if self.venv is None:
            return Path(sys.executable)
        inside = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
        return self.venv.joinpath(*inside)
