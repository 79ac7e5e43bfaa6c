"""The licence texts of the software in a bundle."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from lineshaft.sandbox.bundle._subject import BundledPython

_DEBIAN_LISTS = Path("/var/lib/dpkg/info")
_DEBIAN_TEXTS = Path("/usr/share/doc")


def collect_licences(target: Path, subject: BundledPython, libraries: Iterable[Path]) -> list[str]:
    """Copy licence texts and return their places, relative to the bundle.

    Libraries whose text this machine does not have are named in `licences/MISSING`.
    """
    target.mkdir()
    found = [p for p in _python_texts(subject) if p.is_file()]
    for text in found[:1]:
        shutil.copyfile(text, target / "python.txt")
    missing = [] if found else ["python"]
    owners = _owners()
    for library in sorted(set(libraries)):
        text = _text_of(library, owners)
        if text is not None:
            shutil.copyfile(text, target / f"{library.name}.txt")
        elif not library.is_relative_to(subject.prefix):
            missing.append(library.name)
    if missing:
        (target / "MISSING").write_text("\n".join(missing) + "\n", encoding="utf-8")
    return [f"{target.name}/{path.name}" for path in sorted(target.iterdir())]


def _python_texts(subject: BundledPython) -> Iterable[Path]:
    yield subject.stdlib / "LICENSE.txt"
    yield subject.prefix / "LICENSE.txt"
    yield _DEBIAN_TEXTS / f"python{subject.minor}" / "copyright"


def _owners() -> dict[str, str]:
    """Return which package of the machine each library belongs to, by the library's path."""
    owners: dict[str, str] = {}
    for listing in _DEBIAN_LISTS.glob("lib*.list"):
        package = listing.stem.partition(":")[0]
        for line in listing.read_text(encoding="utf-8", errors="replace").splitlines():
            if ".so" in line:
                owners[line] = package
    return owners


def _text_of(library: Path, owners: dict[str, str]) -> Path | None:
    real = library.resolve()
    for path in (str(real), str(library), str(real).removeprefix("/usr")):
        text = _DEBIAN_TEXTS / owners.get(path, "?") / "copyright"
        if text.is_file():
            return text
    return None
