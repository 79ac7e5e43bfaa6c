"""Packages are locked at first, installed once, into a folder that is only read."""

import base64
import hashlib
import os
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lineshaft.errors import PythonNotFound
from lineshaft.sandbox.bundle import Bundle, package_set, resolve
from lineshaft.sandbox.bundle._libraries import find_library
from lineshaft.values import PythonOptions

pytestmark = pytest.mark.usefixtures("own_folders")


def _wheel(
    folder: Path, version: str, requires: str = "", *, compiled: bytes | None = None
) -> Path:
    """Make a package of one module, and of a compiled one."""
    path = folder / f"tinywheel-{version}-py3-none-any.whl"
    info = f"tinywheel-{version}.dist-info"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    files = {
        "tinywheel.py": f"version = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tinywheel\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = [f"{name},sha256={_digest(text)},{len(text)}" for name, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,"]) + "\n"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        if compiled is not None:
            archive.writestr("tinycompiled.so", compiled)
    return path


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder that installers take packages from."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    _wheel(folder, "1.0")
    for name in [name for name in os.environ if name.startswith(("UV_", "PIP_"))]:
        monkeypatch.delenv(name)
    settings = {
        "NO_INDEX": "1",
        "FIND_LINKS": str(folder),
        "CACHE_DIR": str(tmp_path / "wheel-cache"),
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"PIP_{name}", value)
        monkeypatch.setenv(f"UV_{name}", value)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    return folder


@pytest.fixture(params=["uv", "pip"])
def installer(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """Make each installer in turn the only one there is."""
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    commands = tmp_path / "commands"
    commands.mkdir()
    name = str(request.param)
    if name == "uv":
        if uv is None:
            pytest.skip("needs 'uv', which is not installed here")
        (commands / "uv").symlink_to(uv)
    monkeypatch.setenv("PATH", str(commands))
    base = Path(str(getattr(sys, "_base_executable", sys.executable)))
    if name == "pip":
        monkeypatch.setattr(sys, "executable", str(base))
        if subprocess.run([str(base), "-c", "import pip"], check=False).returncode:
            pytest.skip("needs 'pip', which is not installed here")
    return name


@pytest.mark.usefixtures("installer", "wheels")
def test_packages_are_installed_once_and_can_be_imported(bundle: Bundle) -> None:
    options = PythonOptions(path=str(bundle.root), packages=("tinywheel",))
    found = resolve(options)
    assert found.packages is not None
    assert found.packages in found.readable
    code = "import sys; sys.path.append(sys.argv[1]); import tinywheel; print(tinywheel.version)"
    said = subprocess.run(
        [str(found.executable), "-I", "-S", "-B", "-c", code, str(found.packages)],
        capture_output=True, text=True, env={}, check=True,
    )  # fmt: skip  # one command
    assert said.stdout == "1.0\n"
    before = found.packages.stat().st_mtime_ns
    assert resolve(options) == found
    assert found.packages.stat().st_mtime_ns == before


@pytest.mark.usefixtures("installer", "wheels")
def test_nothing_of_the_present_folder_takes_part(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "pip.py").write_text(f"open({str(here / 'ran')!r}, 'w')")
    (here / "uv.toml").write_text("nonsense = [")
    monkeypatch.delenv("UV_NO_CONFIG")
    monkeypatch.chdir(here)
    assert package_set(bundle, ["tinywheel"]) is not None
    assert not (here / "ran").exists()


@pytest.mark.usefixtures("installer")
def test_the_lock_counts_even_when_something_newer_appears(bundle: Bundle, wheels: Path) -> None:
    first = package_set(bundle, ["tinywheel"])
    _wheel(wheels, "2.0")
    assert package_set(bundle, ["tinywheel"]) == first
    newer = package_set(bundle, ["tinywheel>=2"])
    assert newer != first
    assert newer is not None
    assert "tinywheel==2.0" in (newer / "lineshaft-lock.txt").read_text()


@pytest.mark.usefixtures("installer")
def test_a_wheel_that_is_not_the_locked_one_is_refused(bundle: Bundle, wheels: Path) -> None:
    first = package_set(bundle, ["tinywheel"])
    assert first is not None
    shutil.rmtree(first)
    _wheel(wheels, "1.0", requires="something-else")
    shutil.rmtree(wheels.parent / "wheel-cache", ignore_errors=True)
    with pytest.raises(PythonNotFound, match=r"(?i)hash"):
        package_set(bundle, ["tinywheel"])
    assert not first.exists()


@pytest.mark.usefixtures("installer", "wheels")
def test_what_cannot_be_installed_says_why_and_leaves_nothing(
    bundle: Bundle, own_folders: Path
) -> None:
    with pytest.raises(PythonNotFound, match="no-such-package-anywhere") as caught:
        package_set(bundle, ["tinywheel", "no-such-package-anywhere"])
    assert "cannot be installed" in caught.value.message
    left = [p for p in (own_folders / "cache").rglob("*") if p.is_file() and p.suffix != ".lock"]
    assert left == []


@pytest.mark.usefixtures("installer", "wheels")
def test_order_and_repetition_of_requirements_make_no_other_set(bundle: Bundle) -> None:
    one = package_set(bundle, ["tinywheel", " tinywheel==1.0"])
    assert package_set(bundle, ["tinywheel==1.0", "tinywheel", "tinywheel"]) == one


@pytest.mark.usefixtures("installer", "wheels")
def test_files_of_packages_are_not_to_be_written(bundle: Bundle) -> None:
    made = package_set(bundle, ["tinywheel"])
    assert made is not None
    files = [path for path in made.rglob("*") if path.is_file()]
    assert [path for path in files if path.stat().st_mode & 0o222] == []


def test_no_packages_are_no_folder(bundle: Bundle) -> None:
    assert package_set(bundle, ["", " "]) is None


@pytest.mark.usefixtures("wheels")
@pytest.mark.parametrize("word", ["--find-links=https://example.com", "-r /etc/passwd", "-e ."])
def test_an_option_is_no_requirement(bundle: Bundle, word: str) -> None:
    with pytest.raises(PythonNotFound, match="no requirement"):
        package_set(bundle, [word])


def _source(folder: Path) -> Path:
    """Make a package that is no wheel, and whose build says that it ran."""
    source = folder / "source"
    source.mkdir()
    (source / "backend.py").write_text(f"open({str(folder / 'ran')!r}, 'w')\n")
    (source / "pyproject.toml").write_text(
        "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n"
    )
    return source


@pytest.mark.usefixtures("installer")
def test_what_a_wheel_needs_from_an_address_is_not_built(
    bundle: Bundle, wheels: Path, tmp_path: Path
) -> None:
    _wheel(wheels, "2.0", requires=f"evil @ file://{_source(tmp_path)}")
    with pytest.raises(PythonNotFound, match=r"(?i)only wheels|URL dependenc"):
        package_set(bundle, ["tinywheel==2.0"])
    assert not (tmp_path / "ran").exists()


@pytest.mark.usefixtures("installer", "wheels")
@pytest.mark.parametrize(
    "word",
    [
        "evil @ file://{source}",
        "evil@file://{source}",
        "evil[extra] @ file://{source} ; python_version > '3'",
        "evil @ file://${{HOME}}/{source}",
        "{within}",
        "tinywheel --pre",
        "tinywheel==1.0 --pre",
        "tinywheel; python_version > '3' --pre",
    ],
)
def test_an_address_a_path_or_an_option_is_no_requirement_and_runs_nothing(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    source = _source(tmp_path)
    monkeypatch.chdir(tmp_path)
    given = word.format(source=source, within="source/../source")
    with pytest.raises(PythonNotFound, match="no requirement") as caught:
        package_set(bundle, [given])
    assert "by name" in caught.value.message
    assert not (tmp_path / "ran").exists()


@pytest.mark.usefixtures("installer", "wheels")
@pytest.mark.parametrize(
    "word",
    [
        "tinywheel >=1, !=1.1, <2",
        "TinyWheel[extra]~=1.0 ; python_version >= '3' and sys_platform != \"none\"",
        "tinywheel (==1.*)",
        "tinywheel<2,>=1;python_version>='3'",
    ],
)
def test_versions_extras_and_conditions_are_a_requirement(bundle: Bundle, word: str) -> None:
    assert package_set(bundle, [word]) is not None


def test_without_an_installer_the_error_says_what_is_missing(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "executable", str(bundle.executable))
    monkeypatch.setattr(sys, "_base_executable", str(bundle.executable))
    with pytest.raises(PythonNotFound, match="pip or uv"):
        package_set(bundle, ["tinywheel"])


def _needing(*names: str, run_path: str = "", loader: str = "") -> bytes:
    """Return a shared library that does nothing but need others."""
    texts = [*names, run_path, loader]
    strings = b"\0" + b"".join(text.encode() + b"\0" for text in texts)
    *starts, runs, loads = [strings.index(text.encode() + b"\0") for text in texts]
    head, part, entry = 64, struct.Struct("<IIQQQQQQ"), struct.Struct("<qQ")
    entries = [*((1, start) for start in starts), *([(29, runs)] if run_path else [])]
    dynamic_at = head + (3 if loader else 2) * part.size
    strings_at = dynamic_at + (len(entries) + 3) * entry.size
    entries += [(5, strings_at), (10, len(strings)), (0, 0)]
    dynamic = b"".join(entry.pack(*each) for each in entries)
    whole = strings_at + len(strings)
    parts = [part.pack(1, 4, 0, 0, 0, whole, whole, 4096)]
    parts += [part.pack(2, 4, dynamic_at, dynamic_at, dynamic_at, len(dynamic), len(dynamic), 8)]
    if loader:
        at, size = strings_at + loads, len(loader.encode()) + 1
        parts += [part.pack(3, 4, at, at, at, size, size, 1)]
    processor = Path(sys.executable).resolve().read_bytes()[18:20]
    magic = b"\x7fELF\x02\x01\x01".ljust(18, b"\0") + processor
    magic = magic.ljust(32, b"\0") + struct.pack("<Q", head)
    return (
        magic.ljust(54, b"\0")
        + struct.pack("<HH", part.size, len(parts)).ljust(10, b"\0")
        + b"".join(parts)
        + dynamic
        + strings
    )


OLD = "librt.so.1"
"""A part of the C library that no newer program asks for."""


@pytest.mark.usefixtures("installer")
def test_what_compiled_packages_need_of_the_machine_is_readable(
    bundle: Bundle, wheels: Path
) -> None:
    common = ("libz.so.1", "libcrypt.so.1", "libuuid.so.1", "libtinfo.so.6")
    (there, *_) = [name for name in common if find_library(name)]
    _wheel(wheels, "1.0", compiled=_needing(there, OLD, "libnobody-has.so.7"))
    found = resolve(PythonOptions(path=str(bundle.root), packages=("tinywheel",)))
    for name in (there, OLD):
        place = find_library(name)
        assert place is not None
        assert {place, place.resolve()} <= set(found.readable)
    assert found.packages is not None
    bare = resolve(PythonOptions(path=str(bundle.root)))
    assert set(bare.readable) <= set(found.readable)
    assert find_library(OLD) not in bare.readable


@pytest.mark.usefixtures("installer")
def test_a_package_cannot_name_what_is_opened_of_the_machine(
    bundle: Bundle, wheels: Path, tmp_path: Path
) -> None:
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "key").write_text("secret")
    (secrets / "libowned.so").write_bytes(_needing())
    bare = set(resolve(PythonOptions(path=str(bundle.root))).readable)
    for number, compiled in enumerate(
        (
            _needing(loader=str(secrets)),
            _needing(loader=str(secrets / "key")),
            _needing(loader=str(secrets / "libowned.so")),
            _needing(loader=f"/lib64/nothing.so\n{secrets}"),
            _needing("libowned.so", run_path=str(secrets)),
            _needing("libowned.so", run_path=f"$ORIGIN{'/..' * 40}{secrets}"),
            _needing(str(secrets / "libowned.so")),
        )
    ):
        _wheel(wheels, f"2.{number}", compiled=compiled)
        wanted = (f"tinywheel==2.{number}",)
        found = resolve(PythonOptions(path=str(bundle.root), packages=wanted))
        assert found.packages is not None
        opened = set(found.readable) - bare - {found.packages}
        assert [path for path in opened if path.resolve().is_relative_to(tmp_path)] == []
        assert [path for path in opened if not path.is_file()] == []


@pytest.mark.usefixtures("installer")
def test_damaged_libraries_of_a_package_are_passed_over(bundle: Bundle, wheels: Path) -> None:
    whole = _needing("libz.so.1")
    table = struct.Struct("<qQ").pack(5, 64 + 2 * 56 + 4 * 16)
    assert whole.count(table) == 1
    for number, compiled in enumerate(
        (
            whole.replace(table, bytes(8) + table[8:]),  # no table of texts
            whole.replace(b"libz.so.1", b"\xff" * 9),  # no text
            whole.rstrip(b"\0"),  # a text without an end
            _needing("x" * 300),
        )
    ):
        _wheel(wheels, f"2.{number}", compiled=compiled)
        assert package_set(bundle, [f"tinywheel==2.{number}"]) is not None
