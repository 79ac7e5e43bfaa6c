"""The image: what is known of it, when it is made anew, and what is said where it cannot run."""

import hashlib
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from lineshaft.sandbox.webassembly import image

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path: Path, build: ModuleType) -> Path:
    """Return a checkout with all that an image is made from, and one that is said to be of it."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for part in (build.GUEST, build.ROOM / "inside", build.BUILD):
        shutil.copytree(ROOT / part, tmp_path / part)
    folder = tmp_path / build.ROOM / "image"
    folder.mkdir()
    (folder / "guest.wasm.zlib").write_bytes(b"")
    (folder / "facts.json").write_text(f'{{"sources": "{build.sources_digest(tmp_path)}"}}')
    return tmp_path


def test_the_component_is_the_one_that_was_built() -> None:
    data = image().component()
    assert hashlib.sha256(data).hexdigest() == image().digest
    assert data[:4] == b"\0asm"
    assert 20 << 20 < image().memory < len(data) + (40 << 20)


def test_the_image_has_all_of_the_standard_library_that_works() -> None:
    assert image().python.startswith("3.14.")
    assert {
        "asyncio",
        "json",
        "sqlite3",
        "zoneinfo",
        "decimal",
        "encodings.idna",
    } <= image().modules
    assert {"ssl", "lzma", "curses"} <= set(image().missing)
    assert not {name.partition(".")[0] for name in image().modules} & {"_lineshaft", "wit_world"}


def test_the_licences_of_what_is_in_it_lie_beside_it(build: ModuleType) -> None:
    folder = ROOT / build.ROOM / "image" / "licences"
    names = [path.name for path in folder.iterdir()]
    for part in ("componentize-py", "tzdata", *build.PAGES):
        assert any(name.startswith(part) for name in names), part


def test_an_image_of_the_same_sources_is_not_made_again(build: ModuleType, checkout: Path) -> None:
    assert build.is_made(checkout)
    for junk in ("__pycache__/entry.pyc", "entry.pyc"):
        path = checkout / build.GUEST / junk
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"compiled")
    assert build.is_made(checkout)


@pytest.mark.parametrize("change", ["edited", "added", "removed", "tools", "lost"])
def test_an_image_of_other_sources_is_made_again(
    change: str, build: ModuleType, checkout: Path
) -> None:
    entry = checkout / build.GUEST / "entry.py"
    if change == "edited":
        entry.write_text(entry.read_text() + "\n")
    elif change == "added":
        entry.with_name("more.py").write_text("")
    elif change == "removed":
        entry.unlink()
    elif change == "tools":
        project = checkout / "pyproject.toml"
        project.write_text(project.read_text().replace("componentize-py==", "componentize-py==9."))
    else:
        (checkout / build.ROOM / "image" / "guest.wasm.zlib").unlink()
    assert not build.is_made(checkout)


def test_only_a_build_without_an_image_needs_the_tools(build: ModuleType, checkout: Path) -> None:
    assert [each.partition("==")[0] for each in build.tools(checkout)] == [
        "componentize-py",
        "tzdata",
        *build.PAGES,
    ]


REFUSING = """
import sys

class Without:
    def find_spec(self, name, path=None, target=None):
        if name == "wasmtime":
            raise RuntimeError("unsupported architecture for wasmtime: riscv64")

sys.meta_path.insert(0, Without())
from lineshaft.sandbox.webassembly import Instances, WasmUnavailable
pool = Instances()
try:
    pool.take()
except WasmUnavailable as error:
    print(error, "|", error.hint)
pool.close()
"""


def test_a_machine_without_wasmtime_is_told_so() -> None:
    done = subprocess.run(
        [sys.executable, "-c", REFUSING], capture_output=True, text=True, check=False, timeout=100
    )
    assert done.stderr == ""
    assert "wasmtime does not work on this machine: unsupported architecture" in done.stdout
    assert "Linux, macOS and Windows" in done.stdout


BARE = f"""
import sys
sys.path[:0] = {[str(ROOT / "tests")]!r}
for name in ("fcntl", "resource", "pwd", "termios", "grp"):
    sys.modules[name] = None
import os
for name in ("fork", "register_at_fork", "memfd_create"):
    delattr(os, name)
from sandbox.webassembly.scripted import Started
from lineshaft.sandbox.webassembly import Instances
pool = Instances()
print(Started(pool.take(), "return await add(x=1)").value())
pool.close()
"""


def test_a_script_runs_where_python_lacks_what_only_unix_has() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BARE], capture_output=True, text=True, check=False, timeout=200
    )
    assert (done.stdout, done.stderr) == ("5\n", "")
