"""The Python for scripts: the first of a fixed list of places, never silently another one."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from lineshaft.errors import PythonNotFound
from lineshaft.processes import attended
from lineshaft.sandbox.bundle._build import Bundle, build
from lineshaft.sandbox.bundle._libraries import is_library
from lineshaft.sandbox.bundle._manifest import MANIFEST, read_manifest
from lineshaft.sandbox.bundle._packages import libraries_of, package_set
from lineshaft.sandbox.bundle._places import building, cache_folder, installed_folder
from lineshaft.sandbox.bundle._seal import check
from lineshaft.sandbox.bundle._subject import running
from lineshaft.values import PythonOptions, Struct

_RECIPE = "1"
"""Changes with the contents of a bundle, so that older ones are made again."""

_UV_SECONDS = 20


class Interpreter(Struct, frozen=True, kw_only=True):
    """The Python that scripts get."""

    executable: Path
    root: Path
    """The bundle's folder."""

    readable: tuple[Path, ...]
    """Everything it needs to read: bundle, packages, and the machine's C library."""

    packages: Path | None
    """Folder to put on `sys.path`; None where no packages were asked for."""

    version: str
    digest: str
    """Of the bundle's files."""

    tag: str
    """Of compiled code, such as `cpython-311`."""

    source: str
    """Its origin, for people."""


def resolve(options: PythonOptions) -> Interpreter:
    """Return the Python that scripts get; builds a bundle and installs packages where needed.

    The order: the configured path; the bundle that `python build` or `python install` put into the
    data folder; a bundle of the running interpreter, built on first need; a Python that `uv`
    manages.

    Raises:
        PythonNotFound: None of them works. The message lists the places tried.
    """
    bundle, source = _find(options.path)
    packages = package_set(bundle, options.packages)
    libraries = [Path(name) for name in bundle.manifest.system]
    readable = [bundle.root, *_zones()]
    if packages is not None:
        libraries += libraries_of(packages)
        readable.append(packages)
    readable += filter(is_library, libraries)
    return Interpreter(
        executable=bundle.executable,
        root=bundle.root,
        readable=tuple(dict.fromkeys(path for path in readable if path.exists())),
        packages=packages,
        version=bundle.manifest.version,
        digest=hashlib.sha256((bundle.root / MANIFEST).read_bytes()).hexdigest(),
        tag=bundle.manifest.tag,
        source=source,
    )


def _find(path: str | None) -> tuple[Bundle, str]:
    if path is not None:
        return _configured(Path(path).expanduser()), f"configured: {path}"
    tried: list[str] = []
    places: tuple[tuple[str, Callable[[], Bundle]], ...] = (
        ("installed", _installed),
        ("the running interpreter", lambda: _cached(running())),
        ("uv", lambda: _cached(_managed())),
    )
    for name, find in places:
        try:
            return find(), name
        except PythonNotFound as error:
            tried.append(f"{name}: {error.message}")
    raise PythonNotFound(
        "no Python for scripts was found; tried " + "; ".join(tried),
        hint="build one: `lineshaft python build`, or install one: "
        "`lineshaft python install ARCHIVE`",
    )


def _configured(path: Path) -> Bundle:
    if not path.exists():
        raise PythonNotFound(f"the configured Python {str(path)!r} does not exist")
    if path.is_dir():
        return check(path)
    root = path.resolve().parent.parent
    return check(root) if (root / MANIFEST).is_file() else _cached(path)


def _installed() -> Bundle:
    folder = installed_folder()
    ending = sysconfig.get_platform()
    there = [path for path in folder.glob(f"[0-9]*-{ending}") if (path / MANIFEST).is_file()]
    if not there:
        raise PythonNotFound(f"nothing in {str(folder)!r}")
    return check(max(there, key=lambda path: _numbers(read_manifest(path).version)))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _cached(interpreter: Path) -> Bundle:
    """Return the bundle of an interpreter, built now if it is not there."""
    target = cache_folder() / "python" / _key(interpreter)
    if target.is_dir():
        return check(target)
    try:
        with building(target):
            if not target.is_dir():
                build(target, interpreter=interpreter)
    except OSError as error:
        raise PythonNotFound(f"the cache {str(target.parent)!r} is unfit: {error}") from error
    return check(target)


@lru_cache(maxsize=16)
def _key(interpreter: Path) -> str:
    real = interpreter.resolve()
    try:
        found = real.stat()
    except OSError as error:
        raise PythonNotFound(f"{str(interpreter)!r} cannot be read: {error}") from error
    version = platform.python_version() if interpreter == Path(sys.executable) else ""
    words = (_RECIPE, real, version, found.st_size, found.st_mtime_ns, platform.libc_ver())
    digest = hashlib.sha256(repr(words).encode()).hexdigest()[:16]
    return f"{real.name}-{digest}"


def _managed() -> Path:
    uv = shutil.which("uv")
    if uv is None:
        raise PythonNotFound("uv is not on the PATH")
    argv = [uv, "python", "find", "--managed-python", "--no-python-downloads"]
    try:
        found = attended(argv, seconds=_UV_SECONDS)
        found.check_returncode()
    except (OSError, subprocess.SubprocessError) as error:
        raise PythonNotFound("uv manages no Python here") from error
    return Path(os.fsdecode(found.stdout.strip()))


def _zones() -> tuple[Path, ...]:
    return (Path("/usr/share/zoneinfo"),)
