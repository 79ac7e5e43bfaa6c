"""Make a bundle: a Python that works from any folder, copied from one that is installed."""

import importlib.util
import os
import py_compile
import shutil
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import cast

from lineshaft.errors import PythonNotFound
from lineshaft.sandbox.bundle._elf import NotElf, read_elf, set_run_path
from lineshaft.sandbox.bundle._libraries import needed_libraries, system_files
from lineshaft.sandbox.bundle._licences import collect_licences
from lineshaft.sandbox.bundle._manifest import Manifest, fingerprints, walk, write_manifest
from lineshaft.sandbox.bundle._places import installed_folder
from lineshaft.sandbox.bundle._subject import BundledPython, ask, running
from lineshaft.values import Struct

_LEFT_OUT = (
    *("site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter", "turtledemo"),
    *("lib2to3", "ensurepip", "pydoc_data", "config-*", "__pycache__", "turtle.py", "__phello__"),
    *("_test*.so", "_ctypes_test*.so", "_xxtestfuzz*.so", "xx*.so", "_tkinter*.so", "nis*.so"),
    *("*.a", "*.o", "*.pyo", "EXTERNALLY-MANAGED", "sitecustomize.py", "usercustomize.py"),
)


class Bundle(Struct, frozen=True, kw_only=True):
    """A Python that works from any folder."""

    root: Path
    manifest: Manifest

    @property
    def executable(self) -> Path:
        """The interpreter."""
        return self.root / self.manifest.executable


def build(target: Path | None = None, *, interpreter: Path | BundledPython | None = None) -> Bundle:
    """Make a bundle.

    Args:
        target: Folder that does not exist yet; it appears whole or not at all. None: the place
            where `resolve` looks first, instead of what may be there.
        interpreter: The Python to copy; of a virtual environment, the Python it was made from. One
            that is described is not started: it may be for another processor.

    Raises:
        PythonNotFound: The interpreter cannot be bundled, or the folder not be written.
    """
    described = isinstance(interpreter, BundledPython)
    subject = interpreter if described else ask(interpreter or running())
    if not subject.platform.startswith("linux"):
        raise PythonNotFound(f"bundles are built on Linux, not on {subject.platform!r}")
    if target is None:
        target = installed_folder() / f"{subject.version}-{subject.platform}"
        shutil.rmtree(target, ignore_errors=True)
    if target.exists():
        raise PythonNotFound(f"{str(target)!r} is there already", hint="name a new folder")
    # Beside the target: a rename does not cross file systems.
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        manifest = _fill(draft, subject)
        draft.rename(target)
    except OSError as error:
        reason = _reason(error)
        raise PythonNotFound(f"the bundle {str(target)!r} cannot be written: {reason}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return Bundle(root=target, manifest=manifest)


def _reason(error: OSError) -> str:
    """Return why a bundle cannot be written: of many files that failed, why the first one did."""
    failed: object = error.args[0] if isinstance(error, shutil.Error) else None
    if not isinstance(failed, list) or not failed:
        return str(error)
    first, *others = cast("list[tuple[str, str, str]]", failed)
    return f"{first[2]}, and {len(others):,} more" if others else first[2]


def _fill(root: Path, subject: BundledPython) -> Manifest:
    lib = root / "lib"
    stdlib = lib / f"python{subject.minor}"
    (root / "bin").mkdir(parents=True)
    program = root / "bin" / f"python{subject.minor}"
    shutil.copy2(subject.executable, program)
    (root / "bin" / "python3").symlink_to(program.name)
    _copy_tree(subject.stdlib, stdlib)
    if not (subject.stdlib / "lib-dynload").is_dir():
        _copy_tree(subject.platstdlib / "lib-dynload", stdlib / "lib-dynload")
    (stdlib / "lib-dynload").mkdir(exist_ok=True)
    _compile(subject, stdlib)
    binaries = [subject.executable, *(subject.platstdlib / "lib-dynload").glob("*.so")]
    kept = [p for p in binaries if not _left_out(p.name)]
    libraries = needed_libraries(kept, prefix=subject.prefix)
    for name, path in libraries.items():
        shutil.copy2(path.resolve(), lib / name)
    _relocate(program, lib, stdlib / "lib-dynload")
    licences = collect_licences(root / "licences", subject, libraries.values())
    _settle_modes(root)
    manifest = Manifest(
        version=subject.version,
        tag=subject.tag,
        platform=subject.platform,
        executable=f"bin/{program.name}",
        stdlib=stdlib.relative_to(root).as_posix(),
        source=f"copy of {subject.name} {subject.version}",
        system=tuple(str(p) for p in system_files(_binaries(program, lib, stdlib))),
        licences=tuple(licences),
        files=fingerprints(root),
    )
    write_manifest(root, manifest)
    return manifest


def _left_out(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _LEFT_OUT)


def _copy_tree(source: Path, target: Path) -> None:
    def ignore(_folder: str, names: list[str]) -> list[str]:
        return [name for name in names if _left_out(name)]

    if source.is_dir():
        shutil.copytree(source, target, ignore=ignore, dirs_exist_ok=True)


def _compile(subject: BundledPython, stdlib: Path) -> None:
    """Put compiled modules beside all modules, valid wherever and whenever they are read."""
    same = subject.tag == importlib.util.cache_from_source("x.py").split(".")[-2]
    for path in walk(stdlib):
        if path.suffix != ".py":
            continue
        source = path.read_bytes()
        cached = path.parent / "__pycache__" / f"{path.stem}.{subject.tag}.pyc"
        ready = _ready(subject.stdlib / cached.relative_to(stdlib), source, path)
        if ready is not None:
            cached.parent.mkdir(exist_ok=True)
            cached.write_bytes(ready)
        elif same:
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            inside = f"<python>/{path.relative_to(stdlib)}"
            py_compile.compile(str(path), str(cached), inside, invalidation_mode=mode, quiet=2)


def _ready(compiled: Path, source: bytes, path: Path) -> bytes | None:
    """Return an installed module's code, marked as valid for its text, if it belongs to it."""
    try:
        data = compiled.read_bytes()
    except OSError:
        return None
    modified = int(path.stat().st_mtime) & 0xFFFFFFFF
    stamp = bytes(4) + modified.to_bytes(4, "little") + len(source).to_bytes(4, "little")
    if len(data) < 16 or data[4:16] != stamp:
        return None
    return data[:4] + (1).to_bytes(4, "little") + importlib.util.source_hash(source) + data[16:]


def _binaries(program: Path, lib: Path, stdlib: Path) -> list[Path]:
    libraries = [p for p in lib.iterdir() if p.is_file() and ".so" in p.name]
    return [program, *libraries, *(stdlib / "lib-dynload").glob("*.so")]


def _relocate(program: Path, lib: Path, dynload: Path) -> None:
    there = {path.name for path in lib.iterdir()}
    for path, run_path in _run_paths(program, lib, dynload):
        try:
            elf = read_elf(path)
            if elf.run_path == (run_path,) or there.isdisjoint(elf.needed):
                continue
            path.chmod(path.stat().st_mode | stat.S_IWUSR)
            set_run_path(path, run_path)
        except NotElf as error:
            raise PythonNotFound(f"{path.name!r} cannot be moved: {error}") from error


def _run_paths(program: Path, lib: Path, dynload: Path) -> Iterator[tuple[Path, str]]:
    yield program, "$ORIGIN/../lib"
    for path in lib.iterdir():
        if path.is_file() and ".so" in path.name:
            yield path, "$ORIGIN"
    for path in dynload.glob("*.so"):
        yield path, "$ORIGIN/../.."


def _settle_modes(root: Path) -> None:
    """Make the bundle readable and not writable for all users."""
    for folder, _, names in os.walk(root):
        Path(folder).chmod(0o755)
        for name in names:
            path = Path(folder, name)
            if not path.is_symlink():
                runs = path.parent.name == "bin" or ".so" in path.name
                path.chmod(0o555 if runs else 0o444)
