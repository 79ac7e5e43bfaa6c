"""Shared libraries: those that a program needs, and their places on this machine."""

import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from lineshaft.sandbox.bundle._elf import Elf, NotElf, is_elf, is_for, read_elf

_SYSTEM = (
    *("ld-linux", "libanl.", "libBrokenLocale", "libc.", "libc_malloc_debug", "libdl.", "libm."),
    *("libmvec.", "libnsl.so.1", "libnss_", "libpthread.", "libresolv.", "librt.", "libthread_db"),
    *("libutil.", "libc.musl"),
)
"""The C library comes with the kernel's world: mixing two of them breaks programs."""

_PLACES = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
_FOR_WHEELS = ("libgcc_s.so.1", "libstdc++.so.6")
"""Libraries that compiled packages may expect of every machine."""

_LDCONFIG = ("/sbin/ldconfig", "/usr/sbin/ldconfig")


def is_system(name: str) -> bool:
    """Return whether a library is a part of the C library, and so is never bundled."""
    return name.startswith(_SYSTEM)


def needed_libraries(
    files: Iterable[Path], *, prefix: Path, within: Path | None = None
) -> dict[str, Path]:
    """Return all libraries that some files need, directly or through others, by name.

    Args:
        files: Programs and libraries; others are passed over.
        prefix: Where the interpreter is installed; its `lib` is searched too.
        within: A folder whose files are not trusted: they name no place outside of it.
    """
    found: dict[str, Path] = {}
    waiting = list(files)
    while waiting:
        for name, path in _needs(waiting.pop(), prefix, within):
            if name not in found:
                found[name] = path
                waiting.append(path)
    return found


def system_files(
    files: Iterable[Path], *, loaders: Iterable[Path] | None = None
) -> tuple[Path, ...]:
    """Return the libraries that a bundle leaves to the machine: loader and C library, by all names.

    Args:
        files: The bundle's programs and libraries.
        loaders: Those of them whose word on their loader counts; None: all.
    """
    files = tuple(files)
    chosen: set[Path] = set()
    needed = {name for file in files for name in _names(file)}
    machine = next((found for file in files if (found := _machine(file)) is not None), None)
    for name in sorted({n for n in needed if is_system(n)} | set(_FOR_WHEELS) | {"libm.so.6"}):
        place = find_library(name, machine=machine)
        if place is not None:
            chosen |= {place, place.resolve()}
    for loader in {_loader(file) for file in (files if loaders is None else loaders)} - {None}:
        chosen |= {Path(str(loader)), Path(str(loader)).resolve()}
    return tuple(sorted(chosen))


def is_library(path: Path) -> bool:
    """Return whether a file is a shared library, by its name and its first bytes.

    Whatever list names it: a list that came with a package or with a bundle opens nothing else.
    """
    return ".so" in path.name and _is_file(path) and is_elf(path)


def machine_libraries(folder: Path) -> tuple[Path, ...]:
    """Return the libraries that the compiled files of a folder need and that are not in it.

    The needs of those libraries are included. Wheels expect some libraries of every machine, such
    as `libz`, and old parts of the C library. They are looked for where the machine keeps its
    libraries: a run path of a package counts inside the folder only, and its loader not at all.

    Args:
        folder: With packages; their own libraries are found by the files' run paths.
    """
    files = [path for path in folder.rglob("*.so*") if path.is_file()]
    needed = needed_libraries(files, prefix=folder, within=folder).values()
    outside = [place for place in needed if not _is_inside(place, folder)]
    found = (*outside, *system_files([*files, *outside], loaders=outside))
    return tuple(place for place in dict.fromkeys(found) if is_library(place))


def unresolved_libraries(root: Path) -> tuple[str, ...]:
    """Return what compiled files of a bundle need and it does not have, beside the C library.

    Each is named with a file that needs it, or with one that is for another processor than most.
    Nothing is run: the bundle may be for another machine.
    """
    files = {path: elf for path in root.rglob("*") if (elf := _elf(path)) is not None}
    names = {path.name for path in files}
    assumed = {*_FOR_WHEELS}
    missing = {
        f"{name} (of {path.relative_to(root)})"
        for path, elf in files.items()
        for name in elf.needed
        if not is_system(name) and name not in names | assumed
    }
    kinds = Counter(elf.machine for elf in files.values()).most_common(1)
    strange = {
        f"the processor of {path.relative_to(root)}"
        for path, elf in files.items()
        if elf.machine != kinds[0][0]
    }
    return tuple(sorted(missing | strange))


def find_library(
    name: str, first: Iterable[Path] = (), *, machine: int | None = None
) -> Path | None:
    """Return the place of a library.

    Args:
        name: As programs ask for it, such as `libssl.so.3`.
        first: Folders to look into before the machine's own.
        machine: The processor that it has to be for; None: any.
    """
    listed = _cache().get(name)
    places = [folder / name for folder in first]
    places += [] if listed is None else [listed]
    places += [Path(folder) / name for folder in _PLACES]
    # First what kind of file: a device or a pipe of such a name is never opened.
    files = (place for place in places if _is_file(place))
    return next((file for file in files if machine is None or is_for(file, machine)), None)


def _needs(file: Path, prefix: Path, within: Path | None) -> Iterator[tuple[str, Path]]:
    elf = _elf(file)
    if elf is None:
        return
    origin = str(file.resolve().parent)
    first = [Path(p.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)) for p in elf.run_path]
    names = [name for name in elf.needed if not is_system(name)]
    if within is not None and _is_inside(file, within):
        first = [place for place in first if _is_inside(place, within)]
        names = [name for name in names if "/" not in name]
    for name in names:
        place = find_library(name, [*first, prefix / "lib"], machine=elf.machine)
        if place is not None:
            yield name, place


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long, or that is none
        return False


def _is_inside(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _names(file: Path) -> tuple[str, ...]:
    elf = _elf(file)
    return () if elf is None else elf.needed


def _machine(file: Path) -> int | None:
    elf = _elf(file)
    return None if elf is None else elf.machine


def _loader(file: Path) -> str | None:
    elf = _elf(file)
    return None if elf is None else elf.interpreter


def _elf(file: Path) -> Elf | None:
    try:
        return read_elf(file)
    except (NotElf, OSError):
        return None


@cache
def _cache() -> dict[str, Path]:
    """Return the loader's own list of libraries, first entry of each name."""
    program = next((p for p in _LDCONFIG if Path(p).exists()), None)
    if program is None:
        return {}
    listing = subprocess.run([program, "-p"], capture_output=True, text=True, check=False)  # noqa: S603  fixed
    found: dict[str, Path] = {}
    for line in listing.stdout.splitlines():
        name, arrow, place = line.strip().partition(" => ")
        if arrow and "x32" not in name and "i386" not in name:
            found.setdefault(name.split()[0], Path(place))
    return found
