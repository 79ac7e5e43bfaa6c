"""A bundle works anywhere, needs nothing of where it was made, and knows its files."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lineshaft.errors import PythonNotFound
from lineshaft.sandbox.bundle import Bundle, BundledPython, build, unresolved_libraries, verify

MODULES = "ssl sqlite3 ctypes lzma bz2 zlib hashlib decimal asyncio zoneinfo uuid csv statistics"
LOADED = """
import json, sys
names = sys.argv[1].split()
for name in names:
    __import__(name)
files = {line.rstrip().split(maxsplit=5)[-1] for line in open("/proc/self/maps") if ".so" in line}
modules = [m.__file__ for m in list(sys.modules.values()) if getattr(m, "__file__", None)]
print(json.dumps({"prefix": sys.prefix, "files": sorted(files), "modules": modules}))
"""


@pytest.fixture(scope="module")
def moved(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the bundle in another folder, with other times."""
    place = tmp_path_factory.mktemp("elsewhere") / "a folder"
    shutil.copytree(bundle.root, place, symlinks=True, copy_function=shutil.copy)
    return place


def _ask(root: Path, code: str, *words: str) -> str:
    argv = [str(root / "bin" / "python3"), "-I", "-S", "-B", "-c", code, *words]
    done = subprocess.run(argv, capture_output=True, text=True, env={}, cwd="/", check=True)
    return done.stdout


def test_a_moved_bundle_loads_only_its_own_files_and_the_c_library(
    bundle: Bundle, moved: Path
) -> None:
    said = json.loads(_ask(moved, LOADED, MODULES))
    assert said["prefix"] == str(moved)
    outside = [path for path in said["files"] if not path.startswith(str(moved))]
    assert set(outside) <= {str(Path(path).resolve()) for path in bundle.manifest.system}
    assert [path for path in said["modules"] if not path.startswith(str(moved))] == []


def test_the_modules_of_a_moved_bundle_are_compiled_already(moved: Path) -> None:
    code = "import importlib._bootstrap_external as b, sys; import asyncio, csv, statistics"
    seen = subprocess.run(
        [str(moved / "bin" / "python3"), "-I", "-S", "-B", "-v", "-c", code],
        capture_output=True, text=True, env={}, cwd="/", check=True,
    ).stderr  # fmt: skip  # one command
    stdlib = [line for line in seen.splitlines() if line.startswith("# code object from '")]
    assert [line for line in stdlib if not line.endswith(".pyc'")] == []
    assert "matches" in seen


def test_tracebacks_of_a_moved_bundle_name_its_own_folder(moved: Path) -> None:
    code = "import json.decoder as d; print(d.JSONDecoder.decode.__code__.co_filename)"
    assert _ask(moved, code).startswith(str(moved))


def test_what_scripts_do_not_need_is_left_out(bundle: Bundle) -> None:
    names = {path.name for path in (bundle.root / bundle.manifest.stdlib).iterdir()}
    assert names.isdisjoint({"test", "idlelib", "tkinter", "ensurepip", "site-packages"})
    assert {"asyncio", "json", "encodings", "lib-dynload"} <= names


def test_the_manifest_says_what_the_bundle_is(bundle: Bundle) -> None:
    manifest = bundle.manifest
    version = ".".join(str(part) for part in sys.version_info[:3])
    assert (manifest.version, manifest.tag) == (version, sys.implementation.cache_tag)
    assert manifest.files[manifest.executable] != ""
    assert all((bundle.root / text).read_text(errors="replace") for text in manifest.licences)
    assert any("python" in text for text in manifest.licences)


def test_a_whole_bundle_is_verified(bundle: Bundle) -> None:
    assert verify(bundle.root) == bundle.manifest


@pytest.mark.parametrize("change", ["changed", "missing", "new", "link"])
def test_a_touched_bundle_is_refused_by_the_file(moved: Path, change: str) -> None:
    victim = next(moved.glob("lib/python3.*/json/decoder.py"))
    new = victim.with_name("new.py")
    text = victim.read_bytes()
    victim.chmod(0o644)
    match change:
        case "changed":
            victim.write_bytes(text + b"#")
        case "missing":
            victim.unlink()
        case "new":
            new.touch()
        case _:
            new.symlink_to(victim)
    with pytest.raises(PythonNotFound, match=r"json/(decoder|new)\.py"):
        verify(moved)
    new.unlink(missing_ok=True)
    victim.write_bytes(text)
    verify(moved)


def test_a_virtual_environment_counts_as_the_python_it_was_made_from(
    bundle: Bundle, tmp_path: Path
) -> None:
    done = subprocess.run(
        [str(bundle.executable), "-m", "venv", "--without-pip", str(tmp_path / "venv")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip  # one command
    assert done.returncode == 0, done.stderr
    (tmp_path / "venv" / "lib" / "mine.txt").touch()
    made = build(tmp_path / "made", interpreter=tmp_path / "venv" / "bin" / "python3")
    assert made.manifest.version == bundle.manifest.version
    assert not list(made.root.rglob("mine.txt"))
    assert "venv" not in _ask(made.root, "import sys; print(sys.prefix, sys.path)")


@pytest.mark.parametrize(
    ("text", "said"), [("echo hello", "it answered something else"), ("exit 3", "exit code 3")]
)
def test_what_is_no_python_is_refused_in_few_words(tmp_path: Path, text: str, said: str) -> None:
    program = tmp_path / "python3"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    with pytest.raises(PythonNotFound, match=said) as caught:
        build(tmp_path / "made", interpreter=program)
    assert "import" not in caught.value.message
    assert "3.11" in caught.value.hint
    assert sorted(path.name for path in tmp_path.iterdir()) == ["python3"]


def test_a_python_that_is_described_is_copied_and_not_started(
    bundle: Bundle, tmp_path: Path
) -> None:
    program = tmp_path / "usr" / "bin" / "python3.11"
    program.parent.mkdir(parents=True)
    shutil.copy(bundle.executable, program)
    program.chmod(0o644)  # whoever started it would fail
    stdlib = tmp_path / "usr" / "lib" / "python3.11"
    stdlib.mkdir(parents=True)
    (stdlib / "only.py").write_text("")
    described = BundledPython(
        name="cpython",
        tag="cpython-311",
        version="3.11.99",
        platform="linux-elsewhere",
        executable=program,
        prefix=tmp_path / "usr",
        stdlib=stdlib,
        platstdlib=stdlib,
    )
    made = build(tmp_path / "made", interpreter=described)
    assert (made.manifest.version, made.manifest.platform) == ("3.11.99", "linux-elsewhere")
    assert "lib/python3.11/only.py" in made.manifest.files


def test_libraries_that_a_bundle_lacks_or_cannot_use_are_named(moved: Path) -> None:
    assert unresolved_libraries(moved) == ()
    library = next(moved.glob("lib/lib*.so*"))
    away = library.rename(library.with_name("away"))
    assert library.name in "".join(unresolved_libraries(moved))
    away.rename(library)
    data = bytearray(library.read_bytes())
    data[18] ^= 0x80
    (moved / "lib" / "strange.so").write_bytes(data)
    assert unresolved_libraries(moved) == ("the processor of lib/strange.so",)
    (moved / "lib" / "strange.so").unlink()


def test_a_folder_that_is_there_is_not_built_over(bundle: Bundle) -> None:
    with pytest.raises(PythonNotFound, match="there already"):
        build(bundle.root)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PythonNotFound, match="cannot be written"):
        build(tmp_path / "file" / "bundle")


def test_of_many_files_that_cannot_be_copied_the_first_is_named_and_the_others_are_counted(
    tmp_path: Path,
) -> None:
    library = tmp_path / "lib" / "python3.14"
    library.mkdir(parents=True)
    for number in range(300):
        (library / f"m{number}.py").symlink_to("nowhere")
    described = BundledPython(
        name="CPython",
        tag="cpython-314",
        version="3.14.0",
        platform="linux-x86_64",
        executable=Path(sys.executable),
        prefix=tmp_path,
        stdlib=library,
        platstdlib=library,
    )
    with pytest.raises(PythonNotFound, match=r"No such file.* and 299 more$") as told:
        build(tmp_path / "bundle", interpreter=described)
    assert len(told.value.message) < 3 * len(str(tmp_path)) + 200
    assert not (tmp_path / "bundle").exists()


def test_files_of_a_bundle_are_for_everybody_to_read_and_for_nobody_to_write(
    bundle: Bundle,
) -> None:
    modes = {
        path: path.lstat().st_mode & 0o777
        for path in bundle.root.rglob("*")
        if path.is_file() and not path.is_symlink() and path.name != "manifest.json"
    }
    assert [path for path, mode in modes.items() if mode not in (0o444, 0o555)] == []
    assert os.access(bundle.executable, os.X_OK)
