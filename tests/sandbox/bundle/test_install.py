"""A Python is installed from an archive whose hash somebody promised."""

import hashlib
import subprocess
import tarfile
from pathlib import Path

import pytest

from lineshaft.errors import PythonNotFound
from lineshaft.sandbox.bundle import Bundle, install, resolve, verify
from lineshaft.values import PythonOptions


@pytest.fixture(scope="module")
def archive(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an archive laid out as those of python-build-standalone."""
    path = tmp_path_factory.mktemp("archive") / "cpython-install_only.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        tar.add(bundle.root / "bin", "python/bin")
        tar.add(bundle.root / "lib", "python/lib")
    return path


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_an_installed_python_is_what_scripts_get(
    archive: Path, bundle: Bundle, own_folders: Path
) -> None:
    made = install(str(archive), sha256=_hash(archive))
    assert made.manifest.version == bundle.manifest.version
    assert [path.name for path in made.root.parent.iterdir()] == [made.root.name]
    verify(made.root)
    found = resolve(PythonOptions())
    assert (found.root, found.source) == (made.root, "installed")
    said = subprocess.run(
        [str(found.executable), "-I", "-S", "-c", "import ssl, sys; print(sys.prefix)"],
        capture_output=True, text=True, env={}, check=True,
    )  # fmt: skip  # one command
    assert said.stdout.strip() == str(made.root)


def test_the_hash_may_stand_beside_the_archive(archive: Path, tmp_path: Path) -> None:
    beside = archive.with_name(archive.name + ".sha256")
    beside.write_text(f"{_hash(archive)}  {archive.name}\n")
    try:
        install(str(archive), home=tmp_path)
    finally:
        beside.unlink()


def test_another_hash_is_refused(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(PythonNotFound, match="has the hash"):
        install(str(archive), sha256="0" * 64, home=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("promised", ["", "abc", "g" * 64])
def test_what_is_no_hash_is_refused(archive: Path, tmp_path: Path, promised: str) -> None:
    with pytest.raises(PythonNotFound, match=r"is no SHA-256|must have is not given"):
        install(str(archive), sha256=promised, home=tmp_path)


def test_an_archive_without_a_python_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        tar.add(__file__, "python/readme")
    with pytest.raises(PythonNotFound, match=r"no bin/python3"):
        install(str(path), sha256=_hash(path), home=tmp_path / "home")
    assert list((tmp_path / "home").iterdir()) == []


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("/nowhere/a.tar.gz", "no archive"),
        ("a.tar.zst", "not packed"),
        ("https://localhost:9/a.tar.gz", "cannot be fetched"),
        ("http://example.com/a.tar.gz", "no archive"),
    ],
)
def test_a_source_that_cannot_be_used_is_named(source: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(PythonNotFound, match=words):
        install(source, sha256="0" * 64, home=tmp_path)
