"""Packages for WebAssembly: locked for its Python, tried out, compiled, read and nothing else."""

import asyncio
import base64
import hashlib
import os
import zipfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from engines.play import Play
from lineshaft.engines.wasm import WasmEngine
from lineshaft.errors import PythonNotFound, ToolError
from lineshaft.sandbox.webassembly import Instances
from lineshaft.values import (
    Limits,
    ModuleText,
    Outcome,
    Program,
    PythonOptions,
    Raised,
    Returned,
)

PURE = {
    "plain/__init__.py": "from plain.inner import value\nimport plain_needs\n",
    "plain/inner.py": "value = 41\n",
    "plain/data/words.txt": "some words\n",
    "plain/broken.py": "def f(:\n",
    "plain_needs.py": "name = __name__\n",
    "spread/part.py": "here = __spec__.name\n",
}
NATIVE = {
    "fast/__init__.py": "from fast import _core\n",
    "fast/_core.cpython-314-x86_64-linux-gnu.so": "\x7fELF",
    "needs_fast.py": "import fast\n",
    "may_be_fast.py": "try:\n    from fast import _core\nexcept ImportError:\n    _core = None\n",
}


def _wheel(folder: Path, name: str, files: Mapping[str, str]) -> None:
    info = f"{name}-1.0.dist-info"
    all_files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = [f"{path},sha256={_digest(text)},{len(text)}" for path, text in all_files.items()]
    record = "\n".join([*lines, f"{info}/RECORD,,"]) + "\n"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for path, text in {**all_files, f"{info}/RECORD": record}.items():
            archive.writestr(path, text)


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder that installers take packages from."""
    Instances(ready=0).take().close()  # the native code is that of all tests
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache-home"))
    folder = tmp_path / "wheels"
    folder.mkdir()
    _wheel(folder, "plain", PURE)
    _wheel(folder, "fast", NATIVE)
    for name in [name for name in os.environ if name.startswith(("UV_", "PIP_"))]:
        monkeypatch.delenv(name)
    settings = {"NO_INDEX": "1", "FIND_LINKS": str(folder), "CACHE_DIR": str(tmp_path / "cache")}
    for name, value in settings.items():
        monkeypatch.setenv(f"PIP_{name}", value)
        monkeypatch.setenv(f"UV_{name}", value)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    return folder


@pytest.fixture
async def engine(wheels: Path) -> AsyncIterator[WasmEngine]:
    """Return an engine with both packages."""
    made = WasmEngine(PythonOptions(packages=("plain", "fast")))
    yield made
    await made.aclose()


async def _run(engine: WasmEngine, source: str, imports: frozenset[str] = frozenset()) -> Outcome:
    play = Play(engine)
    return await engine.run(
        Program(source=source, imports=imports),
        play.dispatch,
        limits=Limits(seconds=20),
        output=lambda _stream, _text: None,
        waiting=play.waiting,
    )


VALUES: dict[str, tuple[str, object]] = {
    "a module": ("import plain\nplain.value", 41),
    "a module that it needs": ("import plain\nplain.plain_needs.name", "plain_needs"),
    "by a name made at run time": (
        "import importlib\nimportlib.import_module('pl' + 'ain.inner').value",
        41,
    ),
    "a folder without a file of its own": ("import spread.part\nspread.part.here", "spread.part"),
    "its data": (
        "import importlib.resources as r\nr.files('plain').joinpath('data/words.txt').read_text()",
        "some words\n",
    ),
    "its metadata": ("import importlib.metadata as m\nm.version('plain')", "1.0"),
    "its source": ("import inspect, plain.inner\ninspect.getsource(plain.inner)", "value = 41\n"),
    "what may do without native code": ("import may_be_fast\nmay_be_fast._core", None),
    "a folder's names": ("import os\nsorted(os.listdir('/packages/plain/data'))", ["words.txt"]),
}


@pytest.mark.parametrize(("source", "value"), VALUES.values(), ids=VALUES)
async def test_a_script_uses_pure_packages(engine: WasmEngine, source: str, value: object) -> None:
    assert await _run(engine, source, frozenset({"plain"})) == Returned(value=value)


async def test_why_a_module_needs_another_engine_is_told_before_anything_runs(
    engine: WasmEngine,
) -> None:
    assert await engine.lacks("plain") == ""
    assert await engine.lacks("plain.inner") == ""
    assert await engine.lacks("may_be_fast") == ""
    assert await engine.lacks("nowhere") == ""
    assert await engine.lacks("json") == ""
    assert await engine.lacks("xml.etree.ElementTree") == ""
    assert "native code" in await engine.lacks("fast")
    assert "native code" in await engine.lacks("needs_fast")
    assert "ssl" in await engine.lacks("ssl")
    assert "ctypes.util" in await engine.lacks("ctypes.util")


@pytest.mark.parametrize("name", ["fast", "fast._core", "needs_fast"])
async def test_native_code_is_named_where_it_is_imported_all_the_same(
    engine: WasmEngine, name: str
) -> None:
    outcome = await _run(engine, f"import {name}")
    assert isinstance(outcome, Raised)
    assert outcome.kind in ("ModuleNotFoundError", "ImportError")
    assert "native" in outcome.message


async def test_a_module_that_does_not_compile_is_a_syntax_error(engine: WasmEngine) -> None:
    outcome = await _run(engine, "import plain.broken", frozenset({"plain.broken"}))
    assert isinstance(outcome, Raised)
    assert outcome.kind == "SyntaxError"


OUTSIDE = [
    "open('/packages/../etc/passwd')",
    "open('/packages/plain/../../../etc/passwd')",
    "open('/packages//etc/passwd')",
    "open('/etc/passwd')",
    "open('/packages/link')",
    "open('/packages/plain/inner.py', 'w')",
    "import os\nos.listdir('/packages/folder_link')",
    "import link_module",
]


@pytest.mark.parametrize("source", OUTSIDE)
async def test_nothing_outside_of_the_set_is_read(engine: WasmEngine, source: str) -> None:
    library = await asyncio.to_thread(engine.library)
    root = library.root
    root.chmod(0o755)
    secret = root.parent / "secret.py"
    secret.write_text("secret = 1")
    (root / "link").symlink_to(secret)
    (root / "link_module.py").symlink_to(secret)
    (root / "folder_link").symlink_to(root.parent)
    outcome = await _run(engine, source)
    assert isinstance(outcome, Raised), outcome


async def test_a_set_names_itself_and_one_that_cannot_be_had_is_told(wheels: Path) -> None:
    first = WasmEngine(PythonOptions(packages=("plain",)))
    second = WasmEngine(PythonOptions(packages=("plain", "fast")))
    absent = WasmEngine(PythonOptions(packages=("nowhere-at-all",)))
    try:
        assert await first.lacks("plain") == ""
        assert first.identity["packages"]
        assert first.identity != second.identity
        assert {**first.identity, "packages": ""} == WasmEngine().identity
        assert "nowhere-at-all" in await absent.lacks("anything")
        outcome = await _run(absent, "import nowhere_at_all")
        assert isinstance(outcome, Raised)
        assert await _run(absent, "import json\n1") == Returned(value=1)
        with pytest.raises(PythonNotFound):
            await _run(absent, "1", frozenset({"nowhere_at_all"}))
    finally:
        for engine in (first, second, absent):
            await engine.aclose()
    assert wheels.is_dir()


async def test_what_cannot_be_had_for_this_python_leaves_the_rest(wheels: Path) -> None:
    engine = WasmEngine(PythonOptions(packages=("plain", "no-wheel-here>=1")))
    try:
        assert await engine.lacks("plain") == ""
        assert "no_wheel_here" in await engine.lacks("no_wheel_here")
    finally:
        await engine.aclose()
    assert wheels.is_dir()


async def _module(name: str) -> ModuleText | None:
    if name == "closed":
        raise ToolError("E_DENIED", "policy closes it")
    texts = {
        "mine": ("lib/mine/__init__.py", b"from mine import sub\nvalue = sub.value"),
        "mine.sub": ("lib/mine/sub.py", "value = 'ä'".encode()),
        "old": ("old.py", b"# \xff\xfe"),
    }
    return texts.get(name)


WORKSPACE: dict[str, tuple[str, object]] = {
    "a package": ("import mine\nmine.value", "ä"),
    "where it is": ("import mine\nmine.__file__", "/workspace/lib/mine/__init__.py"),
    "one that is not there": (
        "try:\n    import absent\nexcept ModuleNotFoundError as e:\n    return e.name",
        "absent",
    ),
    "one that policy closes": (
        "try:\n    import closed\nexcept ImportError as e:\n    return 'policy' in str(e)",
        True,
    ),
}


@pytest.mark.parametrize(("source", "value"), WORKSPACE.values(), ids=WORKSPACE)
async def test_a_script_imports_from_the_workspace_where_it_may(
    play: Play, source: str, value: object
) -> None:
    engine = WasmEngine()
    outcome = await engine.run(
        Program(source=source, workspace_module=_module),
        play.dispatch,
        limits=Limits(seconds=20),
        output=lambda _stream, _text: None,
        waiting=play.waiting,
    )
    await engine.aclose()
    assert outcome == Returned(value=value)
