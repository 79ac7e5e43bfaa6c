"""Package the extension for one platform, with a Python and Lineshaft inside.

`targets.json` is the manifest: what each platform's Python is made of, archive by archive, with
hashes; or why it is not built. Archives come by the system's own client, packages by the lock
`requirements/editor.txt`. Nothing of another processor is run: such a package is put together here
and looked through, and is untried. Run by `./dev vsix --platforms`; needs Debian's `apt-get` and
`dpkg-deb`.
"""

import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict, cast
from zipfile import ZIP_DEFLATED, ZipFile

from lineshaft.sandbox.bundle import Bundle, BundledPython, build, unresolved_libraries

ROOT = Path(__file__).parents[3]
EXTENSION = ROOT / "extensions" / "vscode"
DIST = EXTENSION / "dist"
CACHE = ROOT / ".venv" / "archives"


class Archive(TypedDict):
    """A file that the Python of a platform is made of."""

    package: str
    version: str
    sha256: str


class Unbuilt(TypedDict):
    """A platform without a package."""

    unbuilt: str
    """Why."""


class Target(TypedDict):
    """A platform with a Python."""

    python: str
    requires: str
    machine: str
    """As the kernel calls it."""

    architecture: str
    """As Debian calls it."""

    debian: str
    untried: NotRequired[str]
    """Why nobody has run it."""

    archives: list[Archive]


def main() -> None:
    """Build what can be built here, and say why the rest is not."""
    targets = cast("Mapping[str, Target | Unbuilt]", json.loads(_manifest().read_text()))
    for name, target in targets.items():
        if "unbuilt" in target:
            sys.stdout.write(f"unbuilt  {name}: {target['unbuilt']}\n")
        else:
            vsix = _built(name, target)
            size = vsix.stat().st_size / 1e6
            untried = f"; untried: {target['untried']}" if "untried" in target else ""
            place = vsix.relative_to(ROOT)
            sys.stdout.write(f"built    {name}: {place}, {size:.0f} MB{untried}\n")


def _manifest() -> Path:
    return Path(__file__).with_name("targets.json")


def _built(name: str, target: Target) -> Path:
    """Return the package of a platform: that of all, with a Python added and its name said."""
    vsix = DIST / f"lineshaft-{name}.vsix"
    draft = vsix.with_suffix(".draft")
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "python"
        _make_python(python, target, Path(folder) / "archives")
        with ZipFile(draft, "w", ZIP_DEFLATED) as to:
            with ZipFile(DIST / "lineshaft.vsix") as plain:
                for entry in plain.infolist():
                    to.writestr(entry, _for_platform(entry.filename, plain.read(entry), name))
            for file in sorted(python.rglob("*")):
                if file.is_file():
                    to.write(file, f"extension/python/{file.relative_to(python).as_posix()}")
    draft.replace(vsix)
    return vsix


def _for_platform(file: str, data: bytes, name: str) -> bytes:
    if file != "extension.vsixmanifest":
        return data
    said = data.decode()
    with_name = re.sub(r"<Identity ", f'<Identity TargetPlatform="{name}" ', said, count=1)
    if with_name == said or "TargetPlatform=" in said:
        sys.exit("the manifest of lineshaft.vsix is not as it was expected")
    return with_name.encode()


def _make_python(python: Path, target: Target, unpacked: Path) -> None:
    """Make a Python that works from any folder, with Lineshaft and what it needs."""
    unpacked.mkdir()
    for archive in target["archives"]:
        _run("dpkg-deb", "-x", str(_fetched(archive, target)), str(unpacked))
    for folder in ("usr/lib", "lib"):
        for library in (unpacked / folder / f"{target['machine']}-linux-gnu").glob("*.so*"):
            if not (unpacked / "usr/lib" / library.name).exists():  # where the bundle looks first
                shutil.copy(library, unpacked / "usr/lib" / library.name)
    bundle = build(python, interpreter=_described(target, unpacked / "usr"))
    packages = bundle.root / bundle.manifest.stdlib / "dist-packages"  # Debian's name for them
    packages.mkdir(exist_ok=True)
    wheels = unpacked / "wheels"
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels))
    uv = (str(Path(sys.executable).with_name("uv")), "pip", "install", "--target", str(packages))
    only = ("--python-version", target["python"], "--only-binary", ":all:", "--link-mode", "copy")
    there = ("--python-platform", f"{target['machine']}-unknown-linux-gnu")
    lock = str(ROOT / "requirements" / "editor.txt")
    _run(*uv, *only, *there, "--require-hashes", "-r", lock)
    _run(*uv, "--offline", "--no-deps", *(str(wheel) for wheel in wheels.iterdir()))
    for script in (packages / "bin").iterdir():
        if script.name != "ty":  # the checker is a program; scripts name a Python of this machine
            script.unlink()
    _look_through(bundle, unpacked)
    _compile(bundle, packages, target)
    (bundle.root / "bin" / "python3").unlink()  # a link, which a package cannot hold


def _described(target: Target, prefix: Path) -> BundledPython:
    """Return the Python that was unpacked, as it would describe itself."""
    name = f"python{target['python']}"
    stdlib = prefix / "lib" / name
    (archive,) = (each for each in target["archives"] if each["package"] == f"{name}-minimal")
    return BundledPython(
        name="cpython",
        tag=f"cpython-{target['python'].replace('.', '')}",
        version=archive["version"].partition("-")[0],
        platform=f"linux-{target['machine']}",
        executable=prefix / "bin" / name,
        prefix=prefix,
        stdlib=stdlib,
        platstdlib=stdlib,
    )


def _look_through(bundle: Bundle, unpacked: Path) -> None:
    """Look whether all libraries are there, and are those of the archives."""
    libraries = [each.name for each in (bundle.root / "lib").glob("*.so*")]
    of_here = [name for name in libraries if not (unpacked / "usr/lib" / name).exists()]
    wrong = [*sorted(of_here), *unresolved_libraries(bundle.root)]
    if wrong:
        sys.exit(f"{bundle.manifest.platform}: {_manifest().name} lacks {', '.join(wrong)}")


def _compile(bundle: Bundle, packages: Path, target: Target) -> None:
    """Compile the packages; where the Python runs here, by itself, and begin Lineshaft in it."""
    runs = target["machine"] == platform.machine()
    program = str(bundle.executable) if runs else sys.executable
    if not runs and importlib.util.cache_from_source("x.py") != _compiled(bundle):
        sys.exit(f"run it with a CPython {target['python']}: it compiles the packages")
    compiled = ("-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash")
    _run(program, "-I", *compiled, str(packages))
    if runs:
        _run(program, "-I", "-m", "lineshaft", "--version")


def _compiled(bundle: Bundle) -> str:
    return str(Path("__pycache__", f"x.{bundle.manifest.tag}.pyc"))


def _fetched(archive: Archive, target: Target) -> Path:
    """Return an archive of the manifest, whose hash was compared."""
    CACHE.mkdir(parents=True, exist_ok=True)
    kept = CACHE / f"{archive['sha256']}.deb"
    if not kept.exists():
        with tempfile.TemporaryDirectory() as folder:
            name = f"{archive['package']}:{target['architecture']}={archive['version']}"
            options = _lists_of(target["architecture"])
            _run("apt-get", *options, "download", name, cwd=Path(folder))
            (found,) = Path(folder).iterdir()
            shutil.move(found, kept)
    sha256 = hashlib.sha256(kept.read_bytes()).hexdigest()
    if sha256 != archive["sha256"]:
        kept.unlink()
        sys.exit(
            f"{archive['package']} {archive['version']} has the hash {sha256}, not the one"
            f" that {_manifest().name} names: nothing is built of it"
        )
    return kept


@cache
def _lists_of(architecture: str) -> tuple[str, ...]:
    """Return options of `apt-get` for an architecture; the machine's own lists stay as they are."""
    own = subprocess.run(
        ["dpkg", "--print-architecture"],  # noqa: S607  of the same Debian
        capture_output=True,
        text=True,
        check=True,
    )
    if architecture == own.stdout.strip():
        return ()
    lists = CACHE / f"lists-{architecture}"
    (lists / "partial").mkdir(parents=True, exist_ok=True)
    settings = {
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        "APT::Sandbox::User": "root",
        "Dir::State::lists": str(lists),
        "Dir::Cache": str(lists / "cache"),
    }
    options = tuple(f"-o{name}={value}" for name, value in settings.items())
    _run("apt-get", *options, "update")
    return options


def _run(*command: str, cwd: Path = ROOT) -> None:
    done = subprocess.run(  # noqa: S603  our own words and no shell
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
    )
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
