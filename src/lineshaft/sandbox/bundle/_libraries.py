"""Shared libraries: those that a program needs, and their places on this machine."""

import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from lineshaft.sandbox.bundle._elf import Elf, NotElf, is_for, read_elf

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


def needed_libraries(files: Iterable[Path], *, prefix: Path) -> dict[str, Path]:
    """Return all libraries that some files need, directly or through others, by name.

    Args:
        files: Programs and libraries; others are passed over.
        prefix: Where the interpreter is installed; its `lib` is searched too.
    """
    found: dict[str, Path] = {}
    waiting = list(files)
    while waiting:
        for name, path in _needs(waiting.pop(), prefix):
            if name not in found:
                found[name] = path
                waiting.append(path)
    return found


def system_files(files: Iterable[Path]) -> tuple[Path, ...]:
    """Return the libraries that a bundle leaves to the machine: loader and C library, by all names.

    Args:
        files: The bundle's programs and libraries.
    """
    chosen: set[Path] = set()
    needed = {name for file in files for name in _names(file)}
    machine = next((found for file in files if (found := _machine(file)) is not None), None)
    for name in sorted({n for n in needed if is_system(n)} | set(_FOR_WHEELS) | {"libm.so.6"}):
        place = find_library(name, machine=machine)
        if place is not None:
            chosen |= {place, place.resolve()}
    for loader in {_loader(file) for file in files} - {None}:
        chosen |= {Path(str(loader)), Path(str(loader)).resolve()}
    return tuple(sorted(chosen))


def machine_libraries(folder: Path) -> tuple[Path, ...]:
    """Return the libraries that the compiled files of a folder need and that are not in it.

    The needs of those libraries are included. Wheels expect some libraries of every machine, such
    as `libz`, and old parts of the C library.

    Args:
        folder: With packages; their own libraries are found by the files' run paths.
    """
    files = [path for path in folder.rglob("*.so*") if path.is_file()]
    needed = needed_libraries(files, prefix=folder).values()
    outside = [place for place in needed if folder not in place.parents]
    return tuple(dict.fromkeys((*outside, *system_files([*files, *outside]))))


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
    fits = (place for place in places if machine is None or is_for(place, machine))
    return next((place for place in fits if place.is_file()), None)


def _needs(file: Path, prefix: Path) -> Iterator[tuple[str, Path]]:
    elf = _elf(file)
    if elf is None:
        return
    origin = str(file.resolve().parent)
    first = [Path(p.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)) for p in elf.run_path]
    for name in elf.needed:
        if not is_system(name):
            place = find_library(name, [*first, prefix / "lib"], machine=elf.machine)
            if place is not None:
                yield name, place


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
