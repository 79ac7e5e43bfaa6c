"""Scripts with packages: native threads are possible, and bounded."""

import asyncio
import base64
import hashlib
import os
import zipfile
from collections.abc import Generator
from pathlib import Path

import pytest

from engines.cpython.conftest import made
from engines.cpython.raw import RAW
from engines.play import Play
from lineshaft.engines.cpython import CPythonEngine
from lineshaft.values import Crashed, Limits, PythonOptions

NAME = "tinythreads"


def wheel(folder: Path) -> None:
    """Make a package of one module."""
    info = f"{NAME}-1.0.dist-info"
    files = {
        f"{NAME}.py": "answer = 42\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = [f"{name},sha256={digest(text)},{len(text)}" for name, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,"]) + "\n"
    with zipfile.ZipFile(folder / f"{NAME}-1.0-py3-none-any.whl", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def digest(text: str) -> str:
    """Return the hash of a file as a wheel lists it."""
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Generator[CPythonEngine]:
    """Return an engine whose scripts have a package."""
    folder = tmp_path_factory.mktemp("wheels")
    wheel(folder)
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("UV_", "PIP_"))]:
            patch.delenv(name)
        for name in ("PIP_NO_INDEX", "UV_NO_INDEX"):
            patch.setenv(name, "1")
        for name in ("PIP_FIND_LINKS", "UV_FIND_LINKS"):
            patch.setenv(name, str(folder))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        engine = made(None, PythonOptions(packages=(NAME,)))
        asyncio.run(engine.ready())
    yield engine
    asyncio.run(engine.aclose())


async def test_a_package_is_imported_from_the_package_set(packaged: CPythonEngine) -> None:
    source = f"import {NAME}\nfrom importlib.metadata import version\n"
    source += f"return [{NAME}.answer, version({NAME!r})]"
    assert await Play(packaged).value(source) == [42, "1.0"]
    assert packaged.identity["packages"]


THREAD = """
import ctypes, threading
pthread = ctypes.CDLL(None)
kind = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
told = []
def work(_):
    told.append(1)
    return None
work = kind(work)
def start():
    thread = ctypes.c_ulong()
    return pthread.pthread_create(ctypes.byref(thread), None, work, None), thread
"""


async def test_native_threads_are_possible_with_packages(packaged: CPythonEngine) -> None:
    source = f"""{THREAD}
failed, thread = start()
if not failed:
    pthread.pthread_join(thread, None)
return [failed, told]
"""
    assert await Play(packaged).value(source) == [0, [1]]


async def test_and_without_packages_they_are_not(play: Play) -> None:
    value = await play.value(f"{THREAD}\nreturn [start()[0], told]")
    assert value == [1, []]  # EPERM


async def test_a_process_has_a_bounded_number_of_threads(packaged: CPythonEngine) -> None:
    source = f"""{RAW}
import mmap
code = ctypes.CDLL(None).pause
pthread = ctypes.CDLL(None)
count = 0
while True:
    attributes = ctypes.create_string_buffer(64)
    pthread.pthread_attr_init(attributes)
    pthread.pthread_attr_setstacksize(attributes, ctypes.c_size_t(1 << 16))
    thread = ctypes.c_ulong()
    pthread.pthread_create(ctypes.byref(thread), attributes, code, None)
"""
    outcome = await Play(packaged)(source, limits=Limits(seconds=20, memory_mb=1000))
    assert isinstance(outcome, Crashed), outcome
    assert "threads" in outcome.message
