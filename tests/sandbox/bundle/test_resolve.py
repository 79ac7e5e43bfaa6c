"""Scripts get the first Python of a fixed list of places, never another one in silence."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lineshaft.errors import PythonNotFound
from lineshaft.sandbox.bundle import Bundle, build, resolve
from lineshaft.values import PythonOptions

AT_ONCE = """
import sys
from lineshaft.sandbox.bundle import resolve
from lineshaft.values import PythonOptions
print(resolve(PythonOptions()).root)
"""


def test_the_running_interpreter_is_bundled_on_first_need(own_folders: Path) -> None:
    first = resolve(PythonOptions())
    assert first.root.is_relative_to(own_folders / "cache")
    assert first.source == "the running interpreter"
    assert first.executable in first.root.rglob("*")
    assert resolve(PythonOptions()) == first


def test_processes_that_need_it_at_once_build_it_once(own_folders: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        found = [job.result() for job in [pool.submit(_elsewhere) for _ in range(2)]]
    assert len(set(found)) == 1
    kept = [path.name for path in Path(found[0]).parent.iterdir() if not path.name.startswith(".")]
    assert kept == [Path(found[0]).name]


def _elsewhere() -> str:
    done = subprocess.run(
        [sys.executable, "-c", AT_ONCE], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_what_was_built_on_purpose_comes_before_the_running_interpreter(own_folders: Path) -> None:
    made = build()
    assert made.root.is_relative_to(own_folders / "data")
    assert resolve(PythonOptions()).root == made.root


def test_a_configured_bundle_comes_first(bundle: Bundle, own_folders: Path) -> None:
    build()
    found = resolve(PythonOptions(path=str(bundle.root)))
    assert (found.root, found.source) == (bundle.root, f"configured: {bundle.root}")
    assert resolve(PythonOptions(path=str(bundle.executable))).root == bundle.root


def test_a_configured_interpreter_is_bundled(own_folders: Path) -> None:
    found = resolve(PythonOptions(path=sys.executable))
    assert found.root.is_relative_to(own_folders / "cache")
    assert found.version == ".".join(str(part) for part in sys.version_info[:3])


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/nowhere/python3", "PYTHON_NOT_FOUND"),
        ("/etc", "PYTHON_NOT_FOUND"),
        ("/etc/passwd", "PYTHON_EXEC_FAILED"),
        ("/bin/sh", "PYTHON_NOT_FOUND"),
    ],
)
def test_a_configured_path_that_is_unfit_is_never_replaced(
    path: str, code: str, own_folders: Path
) -> None:
    with pytest.raises(PythonNotFound) as caught:
        resolve(PythonOptions(path=path))
    assert path in caught.value.message
    assert caught.value.code == code


def test_an_installed_bundle_that_was_changed_is_not_used(own_folders: Path) -> None:
    made = build()
    assert resolve(PythonOptions()).root == made.root
    victim = next(made.root.glob("lib/python3.*/json/decoder.py"))
    victim.chmod(0o644)
    victim.write_text("raise SystemExit")
    found = resolve(PythonOptions())
    assert found.root != made.root
    with pytest.raises(PythonNotFound, match=r"json/decoder\.py"):
        resolve(PythonOptions(path=str(made.root)))


def test_where_nothing_works_the_message_says_what_was_tried(
    own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_folders / "cache").write_text("in the way")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(PythonNotFound) as caught:
        resolve(PythonOptions())
    message = caught.value.message
    assert [w for w in ("installed", "the running interpreter", "uv") if w not in message] == []
    assert "lineshaft python build" in caught.value.hint


def test_a_managed_interpreter_of_uv_is_the_last_resort(
    bundle: Bundle, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = own_folders / "commands"
    commands.mkdir()
    uv = commands / "uv"
    uv.write_text(f'#!/bin/sh\n[ "$3" = --managed-python ] && echo {bundle.executable}\n')
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(sys, "executable", str(own_folders / "no-python"))
    found = resolve(PythonOptions())
    assert (found.source, found.version) == ("uv", bundle.manifest.version)


def test_everything_the_interpreter_needs_is_readable(bundle: Bundle, own_folders: Path) -> None:
    found = resolve(PythonOptions(path=str(bundle.root)))
    assert found.root in found.readable
    assert [path for path in found.readable if not path.exists()] == []
    assert any(path.name.startswith("ld-") for path in found.readable)
    assert all(path != Path("/") and path != Path("/usr") for path in found.readable)


def test_a_cache_that_was_emptied_is_filled_again(own_folders: Path) -> None:
    first = resolve(PythonOptions())
    shutil.rmtree(first.root)
    assert resolve(PythonOptions()).root == first.root


def test_what_a_killed_process_had_made_of_it_goes(own_folders: Path) -> None:
    first = resolve(PythonOptions())
    shutil.rmtree(first.root)
    left = first.root.with_name(f".{first.root.name}.999999999")
    (left / "lib").mkdir(parents=True)
    (left / "lib/half").write_text("half")
    (left / "lib").chmod(0o500)
    resolve(PythonOptions())
    assert not left.exists()
