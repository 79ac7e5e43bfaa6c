"""The compiled interpreter in the cache folder, and the compiled modules in the package."""

import shutil
import stat
from pathlib import Path

import pytest

from conftest import Require
from lineshaft.engines._micropython import _artifact, _guest_build


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache folder in which the interpreter was compiled."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        _artifact.compiled()
    return folder


@pytest.fixture
def cache(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the folder that the interpreter is kept in."""
    shutil.copytree(made, tmp_path / "cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "lineshaft" / "micropython"


def test_it_is_compiled_once_and_kept_for_its_owner_only(cache: Path) -> None:
    (code,) = cache.glob("*.cwasm")
    assert stat.S_IMODE(code.stat().st_mode) == 0o600
    assert stat.S_IMODE((cache / "key").stat().st_mode) == 0o600
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    before = code.stat()
    assert code.read_bytes().endswith(_artifact.compiled().code)
    assert code.stat().st_ino == before.st_ino


def test_a_file_that_was_changed_is_compiled_anew(cache: Path) -> None:
    (code,) = cache.glob("*.cwasm")
    bad = bytearray(code.read_bytes())
    bad[-100] ^= 1
    code.write_bytes(bad)
    _artifact.compiled()
    assert code.read_bytes() != bytes(bad)


def test_a_file_of_another_key_is_compiled_anew(cache: Path) -> None:
    (code,) = cache.glob("*.cwasm")
    old = code.read_bytes()
    (cache / "key").write_bytes(bytes(32))
    _artifact.compiled()
    assert code.read_bytes()[:32] != old[:32]


def test_a_file_that_others_may_write_is_not_used(cache: Path) -> None:
    (code,) = cache.glob("*.cwasm")
    code.chmod(0o666)
    before = code.stat().st_ino
    _artifact.compiled()
    assert code.stat().st_ino != before
    assert stat.S_IMODE(code.stat().st_mode) == 0o600


def test_a_link_is_not_followed(cache: Path, tmp_path: Path) -> None:
    (code,) = cache.glob("*.cwasm")
    elsewhere = tmp_path / "elsewhere"
    code.rename(elsewhere)
    code.symlink_to(elsewhere)
    _artifact.compiled()
    assert not code.is_symlink()


def test_where_nothing_can_be_kept_it_is_compiled_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert _artifact.compiled().code


def test_modules_are_compiled_from_their_sources(require: Require) -> None:
    require("mpy-cross")
    assert _guest_build.sources()
    for source in _guest_build.sources():
        assert source.with_suffix(".mpy").read_bytes() == _guest_build.build(source), source.name
