"""`lineshaft cache` shows what is kept outside the workspace; `clear` removes what can be made."""

import json
from pathlib import Path

import pytest

from cli.conftest import Lineshaft


@pytest.fixture
def kept(tmp_path: Path) -> dict[str, str]:
    """Return variables of folders in which something is kept."""
    for kind, names in {
        "CACHE": ["webassembly/old.native", "python/copy/bin/python", "seals/seal", "else"],
        "STATE": ["runs.db", "webassembly/old.sha256"],
        "DATA": ["python/bin/python"],
        "CONFIG": ["settings.toml"],
    }.items():
        for name in names:
            path = tmp_path / "kept" / kind / "lineshaft" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"x" * 200_000)
    (tmp_path / "kept" / "CACHE" / "lineshaft" / "link").symlink_to(tmp_path)
    (tmp_path / "kept" / "CACHE" / "lineshaft" / "python" / "copy").chmod(0o500)
    return {
        f"XDG_{kind}_HOME": str(tmp_path / "kept" / kind)
        for kind in ("CACHE", "STATE", "DATA", "CONFIG")
    }


def test_everything_is_listed_with_its_size(lineshaft: Lineshaft, kept: dict[str, str]) -> None:
    told = json.loads(lineshaft("cache", "--json", variables=kept).stdout)
    names = {(each["kind"], each["name"]) for each in told["entries"]}
    assert {("cache", "webassembly"), ("cache", "else"), ("state", "runs.db")} <= names
    assert {("data", "python"), ("config", "settings.toml"), ("cache", "link")} <= names
    sizes = {each["name"]: each["bytes"] for each in told["entries"] if each["kind"] == "cache"}
    assert sizes["webassembly"] >= 200_000
    assert sizes["link"] < 200_000  # what it leads to is no part of it
    assert told["bytes"] == sum(each["bytes"] for each in told["entries"])
    shown = lineshaft("cache", variables=kept)
    assert "native code of Python in WebAssembly" in shown.stdout
    assert "cache clear" in shown.stderr


def test_clear_removes_the_cache_and_nothing_else(
    lineshaft: Lineshaft, kept: dict[str, str], tmp_path: Path
) -> None:
    done = json.loads(lineshaft("cache", "clear", "--json", variables=kept).stdout)
    assert done["left"] == []
    assert done["bytes"] >= 1_000_000
    folders = tmp_path / "kept"
    assert list((folders / "CACHE" / "lineshaft").iterdir()) == []
    assert (folders / "STATE" / "lineshaft" / "runs.db").exists()
    assert not (folders / "STATE" / "lineshaft" / "webassembly" / "old.sha256").exists()
    assert (folders / "DATA" / "lineshaft" / "python" / "bin" / "python").exists()
    assert (folders / "CONFIG" / "lineshaft" / "settings.toml").exists()
    again = lineshaft("cache", "clear", variables=kept)
    assert (again.returncode, again.stdout) == (0, "")
    assert "0.0 kB freed" in again.stderr


def test_nothing_kept_is_nothing_listed(lineshaft: Lineshaft, tmp_path: Path) -> None:
    empty = {
        f"XDG_{kind}_HOME": str(tmp_path / "none") for kind in ("CACHE", "STATE", "DATA", "CONFIG")
    }
    done = lineshaft("cache", variables=empty)
    assert (done.returncode, done.stdout) == (0, "")
