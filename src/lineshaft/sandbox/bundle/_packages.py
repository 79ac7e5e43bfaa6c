"""Packages for scripts: resolved once, locked with hashes, installed into a read-only folder."""

import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, cast

from lineshaft.errors import PythonNotFound
from lineshaft.processes import attended
from lineshaft.sandbox.bundle._build import Bundle
from lineshaft.sandbox.bundle._libraries import machine_libraries
from lineshaft.sandbox.bundle._places import building, cache_folder
from lineshaft.values import Struct, is_requirement

_log = logging.getLogger("lineshaft.packages")
"""Says at level INFO what takes seconds: the command line shows it."""

_SECONDS = 600
_LAST_LINES = 12
_LOCK = "lineshaft-lock.txt"
_LIBRARIES = "lineshaft-libraries.txt"
_RECIPE = "3"
"""Changes with the files put beside the packages, so that older sets are made again."""

_ONLY_PIP = """
import os, runpy, sys
def watch(event, given):
    if event == "subprocess.Popen":
        word = os.fsdecode(given[0] or given[1])  # one text on Windows
        program = os.path.basename(word.split()[0])
        if os.path.splitext(program)[0] not in ("rustc", "lsb_release", "keyring"):
            raise PermissionError(f"only wheels are installed, and {program!r} would build one")
sys.addaudithook(watch)
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""
"""pip without the programs that build: a wheel may need what lies at an address, and pip builds
that whatever it was told of wheels. The three say what machine this is, and who asks.
"""

_PIP = ("-P", "-c", _ONLY_PIP)
"""No `pip.py` of the working folder: pip itself."""

_WHEELS = ("--only-binary", ":all:")
_LOCKED = ("--require-hashes", "--no-deps")


class PackageTarget(Struct, frozen=True, kw_only=True):
    """The Python that packages are for."""

    tag: str
    """Of compiled code, such as `cpython-311`."""

    platform: str
    version: str
    """Such as `3.11.7`."""

    interpreter: Path | None = None
    """None: it is not a program of this machine."""

    @property
    def minor(self) -> str:
        """The version without its last number."""
        return ".".join(self.version.split(".")[:2])

    @property
    def label(self) -> str:
        """The key of its package sets among those of other Pythons."""
        return f"{self.tag}-{self.platform}"


class _Installer(Protocol):
    """A program that installs packages."""

    def lock(self, python: PackageTarget, wanted: Sequence[str], draft: Path) -> str: ...
    def install(self, python: PackageTarget, lock: Path, target: Path) -> None: ...


def package_set(bundle: Bundle, requirements: Sequence[str]) -> Path | None:
    """Return the folder of some packages for a bundle, installed now if it is not there.

    Raises:
        PythonNotFound: They cannot be resolved or installed.
    """
    manifest = bundle.manifest
    python = PackageTarget(
        tag=manifest.tag,
        platform=manifest.platform,
        version=manifest.version,
        interpreter=bundle.executable,
    )
    return packages_for(python, requirements)


def lock_of(python: PackageTarget, requirements: Sequence[str]) -> Path:
    """Return the file that locks some packages; it need not exist.

    Raises:
        PythonNotFound: A requirement is none.
    """
    wanted = _wanted(requirements)
    return cache_folder() / "packages" / "locks" / f"{_digest(python.label, *wanted)}.txt"


def packages_for(python: PackageTarget, requirements: Sequence[str]) -> Path | None:
    """Return the folder of some packages, installed first if it is not there.

    The first time requirements are named they are resolved and locked; from then on the lock
    counts, until it is removed. Only wheels are installed: no code of a package runs outside the
    jail.

    Raises:
        PythonNotFound: They cannot be resolved or installed.
    """
    wanted = _wanted(requirements)
    if not wanted:
        return None
    home = cache_folder() / "packages"
    lock = lock_of(python, wanted)
    try:
        if not lock.is_file():
            with building(lock):
                if not lock.is_file():
                    _write_lock(python, wanted, lock)
        key = _digest(_RECIPE, python.label, lock.read_text(encoding="utf-8"))
        target = home / f"{python.tag}-{key}"
        if not target.is_dir():
            with building(target):
                if not target.is_dir():
                    _install(python, lock, target)
    except OSError as error:
        raise PythonNotFound(f"packages cannot be kept in {str(home)!r}: {error}") from error
    return target


def libraries_of(packages: Path) -> tuple[Path, ...]:
    """Return the machine's libraries that a folder of packages needs, under all their names."""
    lines = (packages / _LIBRARIES).read_text(encoding="utf-8").splitlines()
    return tuple(dict.fromkeys(path for p in map(Path, lines) for path in (p, p.resolve())))


def _wanted(requirements: Sequence[str]) -> list[str]:
    wanted = sorted({word.strip() for word in requirements if word.strip()})
    for word in wanted:
        if not is_requirement(word):
            raise PythonNotFound(
                f"{word!r} is no requirement by name and version",
                hint="write names, as in `pandas>=2`",
            )
    return wanted


def _write_lock(python: PackageTarget, wanted: Sequence[str], lock: Path) -> None:
    draft = lock.with_name(f".{lock.name}.{os.getpid()}")
    _log.info("looking up the packages %s, once for this machine ...", ", ".join(wanted))
    text = _installer().lock(python, wanted, draft)
    draft.write_text(text, encoding="utf-8")
    draft.rename(lock)


def _install(python: PackageTarget, lock: Path, target: Path) -> None:
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    _log.info("installing packages for Python %s, once for this machine ...", python.version)
    try:
        _installer().install(python, lock, draft)
        shutil.rmtree(draft / "bin", ignore_errors=True)
        shutil.copyfile(lock, draft / _LOCK)
        places = "".join(f"{place}\n" for place in machine_libraries(draft))
        (draft / _LIBRARIES).write_text(places, encoding="utf-8")
        _make_read_only(draft)
        draft.rename(target)
        size = sum(each.stat().st_size for each in target.rglob("*") if each.is_file())
        _log.info("the packages are installed: %.0f MB, in %s", size / 1e6, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _installer() -> _Installer:
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv is not None:
        return _Uv(uv)
    for python in (sys.executable, str(getattr(sys, "_base_executable", sys.executable))):
        if _has_pip(python):
            return _Pip(python)
    raise PythonNotFound("packages need pip or uv, and neither is here", hint="pip install uv")


class _Uv(Struct, frozen=True):
    program: str

    def lock(self, python: PackageTarget, wanted: Sequence[str], draft: Path) -> str:
        asked = draft.with_suffix(".in")
        asked.write_text("\n".join(wanted) + "\n", encoding="utf-8")
        options = ["--generate-hashes", "--no-header", "--no-annotate", *_WHEELS]
        argv = [self.program, "pip", "compile", str(asked), *options, *_named(python)]
        try:
            return _run(argv, wanted, draft.parent)
        finally:
            asked.unlink(missing_ok=True)

    def install(self, python: PackageTarget, lock: Path, target: Path) -> None:
        options = ["--target", str(target), *_LOCKED, *_WHEELS, "--link-mode", "copy"]
        argv = [self.program, "pip", "install", *options, *_named(python)]
        _run([*argv, "-r", str(lock)], [lock.name], lock.parent)


class _Pip(Struct, frozen=True):
    python: str

    def lock(self, python: PackageTarget, wanted: Sequence[str], draft: Path) -> str:
        options = ["--dry-run", "--ignore-installed", "--quiet", "--report", "-", *_WHEELS]
        # The folder is not made: it is named because pip asks for one beside a Python version.
        version = ["--python-version", python.minor, "--target", str(draft.with_suffix(".none"))]
        argv = [self.python, *_PIP, "install", *options, *version]
        report = cast(
            "dict[str, list[dict[str, object]]]",
            json.loads(_run([*argv, *wanted], wanted, draft.parent)),
        )
        return "".join(sorted(_pinned(item) for item in report["install"]))

    def install(self, python: PackageTarget, lock: Path, target: Path) -> None:
        options = ["--target", str(target), *_LOCKED, *_WHEELS, "--no-compile", "--quiet"]
        argv = [self.python, *_PIP, "install", *options, "--python-version", python.minor]
        _run([*argv, "-r", str(lock)], [lock.name], lock.parent)


def _named(python: PackageTarget) -> list[str]:
    """Return how `uv` is told which Python packages are for."""
    if python.interpreter is None:
        return ["--python-version", python.minor, "--python", sys.executable]
    return ["--python", str(python.interpreter)]


def _pinned(item: dict[str, object]) -> str:
    about = cast("dict[str, str]", item["metadata"])
    source = cast("dict[str, dict[str, dict[str, str]]]", item["download_info"])
    if "archive_info" not in source:
        raise PythonNotFound(
            f"the package {about['name']!r} is no wheel: only wheels are installed"
        )
    digest = source["archive_info"]["hashes"]["sha256"]
    return f"{about['name']}=={about['version']} --hash=sha256:{digest}\n"


def _run(argv: Sequence[str], wanted: Sequence[str], folder: Path) -> str:
    """Return what an installer printed; a folder of ours is its own, and not the workspace."""
    try:
        done = attended(argv, seconds=_SECONDS, cwd=folder)
    except (OSError, subprocess.SubprocessError) as error:
        raise PythonNotFound(f"{argv[0]!r} failed: {error}") from error
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        said = "\n".join(lines[-_LAST_LINES:])
        names = ", ".join(wanted)
        raise PythonNotFound(f"the packages {names} cannot be installed:\n{said}")
    return done.stdout.decode(errors="replace")


def _has_pip(python: str) -> bool:
    argv = [python, "-I", "-c", "import pip"]
    return attended(argv, seconds=_SECONDS).returncode == 0


def _make_read_only(root: Path) -> None:
    for folder, _, names in os.walk(root):
        Path(folder).chmod(0o755)
        for name in names:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(0o444 | (path.stat().st_mode & 0o111))


def _digest(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]
