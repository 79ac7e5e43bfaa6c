"""No hostile script gets its way, whatever runs it; the host and the session go on as before."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ELSEWHERE, EVERYTHING
from hostile.grounds import Kind, Way
from hostile.siege import besiege
from lineshaft.errors import EngineError
from lineshaft.sandbox.bundle import Interpreter
from lineshaft.sandbox.jail import best_jail
from lineshaft.sandbox.webassembly import native_code
from lineshaft.values import WASM_BOUNDARY
from users import open_python, said_by

KINDS: tuple[Kind, ...] = ("cpython", "python_run")
WAYS = [
    Way("wasm"),
    Way("python_run", "wasm"),
    *(Way(kind, boundary) for boundary in ("sandlock", "bubblewrap") for kind in KINDS),
]

JAILED = [way for way in WAYS if WASM_BOUNDARY not in (way.kind, way.boundary)]
"""Those that the kernel holds, to whom it matters who asks."""


def missing(way: Way) -> str:
    """Return why a way is not to be had on this machine."""
    try:
        if way.boundary == WASM_BOUNDARY or way.kind == "wasm":
            native_code()
        else:
            best_jail(way.boundary)
    except EngineError as error:
        return error.message
    return ""


@pytest.mark.parametrize("way", WAYS, ids=[way.id for way in WAYS])
async def test_no_case_gets_its_way(way: Way, tmp_path: Path) -> None:
    if reason := missing(way):
        pytest.skip(f"needs {way.id}: {reason}")
    assert await besiege(way, tmp_path) == {}


ORDINARY = 1_000_000_000 + os.getpid()
"""A user whom nothing on this machine belongs to."""


@pytest.fixture(scope="module")
def python() -> Iterator[Interpreter]:
    """Return a full Python that every user may read."""
    with open_python() as interpreter:
        yield interpreter


@pytest.mark.skipif(os.geteuid() != 0, reason=f"{ELSEWHERE} an ordinary user runs all of this")
@pytest.mark.skipif(not EVERYTHING, reason="it takes minutes: ./dev test --all has it")
@pytest.mark.parametrize("way", JAILED, ids=[way.id for way in JAILED])
def test_no_case_gets_its_way_for_an_ordinary_user(way: Way, python: Interpreter) -> None:
    if reason := missing(way):
        pytest.skip(f"needs {way.id}: {reason}")
    words = (way.kind, way.boundary or "", str(python.root))
    program = Path(__file__).with_name("ordinary.py")
    said = json.loads(said_by(program, python, *words, user=ORDINARY))
    assert said == {"user": ORDINARY, "found": {}}
