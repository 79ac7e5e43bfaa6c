"""Questions to an interpreter before a bundle is made of it."""

import json
import subprocess
import sys
from pathlib import Path

from lineshaft.errors import PythonNotFound, PythonNotStarted
from lineshaft.processes import attended
from lineshaft.values import Struct

_QUESTION = """
import json, platform, sys, sysconfig
paths = sysconfig.get_paths(vars={"base": sys.base_prefix, "platbase": sys.base_exec_prefix,
    "installed_base": sys.base_prefix, "installed_platbase": sys.base_exec_prefix})
print(json.dumps({
    "name": sys.implementation.name, "tag": sys.implementation.cache_tag,
    "version": platform.python_version(), "platform": sysconfig.get_platform(),
    "executable": getattr(sys, "_base_executable", sys.executable) or sys.executable,
    "prefix": sys.base_prefix, "stdlib": paths["stdlib"], "platstdlib": paths["platstdlib"],
}))
"""
_SECONDS = 30
_OLDEST = (3, 11)


class BundledPython(Struct, frozen=True, kw_only=True):
    """An interpreter, without its virtual environment."""

    name: str
    tag: str
    version: str
    platform: str
    executable: Path
    prefix: Path
    stdlib: Path
    platstdlib: Path

    @property
    def minor(self) -> str:
        """First two numbers of the version."""
        return ".".join(self.version.split(".")[:2])


def ask(interpreter: Path) -> BundledPython:
    """Return an interpreter's description of itself.

    Raises:
        PythonNotStarted: The system does not start it.
        PythonNotFound: It is not there, or is no CPython that we support.
    """
    argv = [str(interpreter), "-I", "-S", "-B", "-c", _QUESTION]
    try:
        answer = attended(argv, seconds=_SECONDS, cwd=Path("/"), env={})
        answer.check_returncode()
        said = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        there = isinstance(error, OSError) and not isinstance(error, FileNotFoundError)
        raise (PythonNotStarted if there else PythonNotFound)(
            f"{str(interpreter)!r} does not say what Python it is: {_reason(error)}",
            hint="name the program of a CPython 3.11 or newer, or the folder of a bundle",
        ) from error
    subject = _subject(said)
    numbers = tuple(int(part) for part in subject.minor.split("."))
    if subject.name != "cpython" or numbers < _OLDEST:
        raise PythonNotFound(
            f"{str(interpreter)!r} is {subject.name} {subject.version}",
            hint="CPython 3.11 or newer is needed",
        )
    return subject


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        return f"it ended with exit code {error.returncode}"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"it took longer than {_SECONDS} s"
    if isinstance(error, ValueError):
        return "it answered something else"
    return str(getattr(error, "strerror", None) or error)


def running() -> Path:
    """Return the interpreter that runs this program."""
    return Path(sys.executable)


def _subject(said: dict[str, str]) -> BundledPython:
    return BundledPython(
        name=said["name"],
        tag=said["tag"],
        version=said["version"],
        platform=said["platform"],
        executable=Path(said["executable"]).resolve(),
        prefix=Path(said["prefix"]),
        stdlib=Path(said["stdlib"]),
        platstdlib=Path(said["platstdlib"]),
    )
