"""Imports by way of the host: packages, modules of the workspace, and what is missing."""

import pytest

from engines.guest.conftest import Guest
from lineshaft.engines.guest.missing import MISSING, STUBBED, reason

FILES = {
    "thing/__init__.py": "from .inner import value\nfrom .data import *\n",
    "thing/inner.py": "value = 7\ndef fail():\n    return 1 / 0\n",
    "thing/data/__init__.py": "",
    "thing/data/text.txt": "a text of some length\n",
    "spaces/part/__init__.py": "here = 1\n",
    "native.so": "",
    "single.py": "import bz2, lzma, ctypes, mmap, fcntl, resource\nsize = "
    "ctypes.sizeof(ctypes.c_long)\n",
    "thing-1.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: thing\nVersion: 1.2\n",
    "thing-1.2.dist-info/RECORD": "thing/__init__.py,,\n",
}

PACKAGES: dict[str, tuple[str, object]] = {
    "a package": ("import thing\nthing.value", 7),
    "where it is": ("import thing\nthing.inner.__file__", "/packages/thing/inner.py"),
    "a folder of parts": ("from spaces.part import here\nhere", 1),
    "what it imports for nothing": ("import single\nsingle.size", 4),
    "its version": ("import importlib.metadata as m\nm.version('thing')", "1.2"),
    "its files": (
        "import importlib.metadata as m\n[str(f) for f in m.files('thing')][0]",
        "thing/__init__.py",
    ),
    "its data": (
        "import importlib.resources as r\nr.files('thing.data').joinpath('text.txt').read_text()",
        "a text of some length\n",
    ),
    "its data as bytes": (
        "import pkgutil\nlen(pkgutil.get_data('thing.data', 'text.txt'))",
        22,
    ),
    "its data as a file": (
        (
            "import os, thing\nopen(os.path.join(os.path.dirname(thing.__file__), "
            "'data', 'text.txt'))"
            ".read()"
        ),
        "a text of some length\n",
    ),
    "its modules": (
        "import pkgutil, thing\nsorted(m.name for m in pkgutil.iter_modules(thing.__path__))",
        ["data", "inner"],
    ),
    "its folder": (
        (
            "from pathlib import Path\nimport thing\n"
            "sorted(p.name for p in Path(thing.__file__).parent.iterdir())"
        ),
        ["__init__.py", "data", "inner.py"],
    ),
    "its source": ("import inspect, thing\ninspect.getsource(thing.inner.fail)[:10]", "def fail()"),
}


@pytest.mark.parametrize(("source", "value"), PACKAGES.values(), ids=PACKAGES)
def test_packages_come_from_the_host(guest: Guest, source: str, value: object) -> None:
    if not guest.place.is_wasm:
        pytest.skip("platform: elsewhere packages are files")
    assert guest(source, files=FILES).value == value


def test_native_code_is_refused_with_the_engine_that_takes_it(guest: Guest) -> None:
    if not guest.place.is_wasm:
        pytest.skip("platform: elsewhere it is imported")
    error = guest("import native", files=FILES).error
    assert (error["kind"], error["line"]) == ("ModuleNotFoundError", 1)
    assert "`cpython` takes it" in error["message"]


def test_packages_are_read_only_and_asked_for_only_where_they_are_allowed(guest: Guest) -> None:
    if not guest.place.is_wasm:
        pytest.skip("platform: elsewhere packages are files")
    error = guest("import thing\nopen(thing.__file__, 'w')", files=FILES).error
    assert "read only" in error["message"]
    assert guest("import thing").error["message"] == "No module named 'thing'"


WORKSPACE = {
    "tool": "import json\nx = 1\ndef fail():\n    return 1 / 0\n",
    "parts": "from .one import y\n",
    "parts.one": "y = 5\n",
    "secret": "denied",
}


def test_modules_of_the_workspace_are_imported_where_it_is_allowed(guest: Guest) -> None:
    source = "import tool\nfrom parts import y\n[tool.x, y, tool.__file__]"
    assert guest(source, modules=WORKSPACE).value == [1, 5, "/workspace/tool.py"]
    assert guest("import tool").error["kind"] == "ModuleNotFoundError"


def test_an_error_in_a_module_of_the_workspace_is_shown_with_its_text(guest: Guest) -> None:
    error = guest("import tool\n\ntool.fail()", modules=WORKSPACE).error
    assert error["line"] == 3
    assert '  File "/workspace/tool.py", line 4, in fail\n    return 1 / 0' in error["traceback"]


def test_a_module_that_may_not_be_read_is_an_import_error(guest: Guest) -> None:
    error = guest("\nimport secret", modules=WORKSPACE).error
    assert (error["kind"], error["message"], error["line"]) == (
        "ImportError",
        "the module secret may not be read",
        2,
    )


@pytest.mark.parametrize("name", sorted(MISSING))
def test_what_is_missing_says_why(guest: Guest, name: str) -> None:
    if not guest.place.is_wasm:
        pytest.skip("platform: elsewhere it may be there")
    error = guest(f"import {name}").error
    assert error["kind"] == "ModuleNotFoundError"
    assert str(reason(name)) in error["message"]


EACH = """
import contextlib, importlib, io, sys
failed = []
with contextlib.redirect_stdout(io.StringIO()):
    for name in sorted(sys.stdlib_module_names):
        try:
            importlib.import_module(name)
        except ImportError as error:
            if not name.startswith("_") and "not in the engine" not in str(error):
                failed.append(name)
return failed
"""


def test_each_public_module_of_the_library_is_there_or_says_why_it_is_not(guest: Guest) -> None:
    if not guest.place.is_wasm:
        pytest.skip("platform: elsewhere the machine decides what is there")
    assert guest(EACH).value == ["nt"]


def test_what_prints_where_it_is_imported_prints(guest: Guest) -> None:
    assert guest("import this").stdout.startswith("The Zen of Python, by Tim Peters\n\nBeautiful")


@pytest.mark.parametrize("name", sorted(STUBBED))
def test_what_packages_import_for_nothing_raises_when_it_is_used(guest: Guest, name: str) -> None:
    if not guest.place.is_wasm:
        pytest.skip("platform: elsewhere it is there")
    use = {"bz2": "compress(b'')", "ctypes": "CDLL('x')", "fcntl": "flock(0, 1)"}
    use |= {"lzma": "open('x')", "mmap": "mmap(-1, 1)", "resource": "getrusage(0)"}
    error = guest(f"import {name}\n{name}.{use[name]}").error
    assert (error["kind"], error["line"]) == ("NotImplementedError", 2)
    assert STUBBED[name] in error["message"]


def test_the_library_does_not_believe_in_what_is_only_imported_for_nothing(guest: Guest) -> None:
    if not guest.place.is_wasm:
        pytest.skip("platform: elsewhere it is there")
    source = "import shutil\nsorted(name for name, _ in shutil.get_archive_formats())"
    assert guest(source).value == ["gztar", "tar", "zip"]
