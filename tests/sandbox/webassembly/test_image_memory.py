"""The memory of the image: read, changed and written back by its build."""

import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from lineshaft.sandbox.webassembly import image

ROOT = Path(__file__).parents[3]
WORD = struct.Struct("<I")
IMMORTAL = 5 << 28


@pytest.fixture(scope="module", autouse=True)
def found() -> Iterator[None]:
    sys.path.insert(0, str(ROOT))
    yield
    sys.path.remove(str(ROOT))


@pytest.fixture
def memory() -> ModuleType:
    from image_build import memory  # noqa: PLC0415  the build is no part of what is installed

    return memory


@pytest.fixture
def immortal() -> ModuleType:
    from image_build import immortal  # noqa: PLC0415  as above

    return immortal


def test_the_memory_of_the_image_is_written_as_it_was_read(memory: ModuleType) -> None:
    component = image().component()
    held = memory.ImageMemory(component)
    assert len(held.data) == image().memory
    assert b"lineshaft facts " in held.data
    assert held.component() == component
    held.data[1_000_000:1_000_400] = b"\0\1\2\3" * 100
    again = memory.ImageMemory(held.component())
    assert again.data == held.data


def test_a_component_without_memory_is_refused(memory: ModuleType) -> None:
    with pytest.raises(ValueError, match="no module of the image has a memory"):
        memory.ImageMemory(b"\0asm\x0d\0\1\0")


def heap(*objects: tuple[int, int], table: list[tuple[int, int]]) -> bytearray:
    """Return a memory with objects (count and type) from 64 on, and a table at 1,024."""
    made = bytearray(4_096)
    for number, (count, kind) in enumerate(objects):
        struct.pack_into("<II", made, 64 + 16 * number, count, kind)
    for number, row in enumerate(table):
        struct.pack_into("<II", made, 1_024 + 8 * number, *row)
    return made


def test_objects_become_immortal_and_their_table_goes(immortal: ModuleType) -> None:
    made = heap((1, 7), (3 << 29, 7), (900, 8), table=[(64, 7), (80, 7), (96, 8)])
    assert immortal.make_immortal(made, 1_024, 8) == 2
    counts = [WORD.unpack_from(made, at)[0] for at in (64, 80, 96)]
    assert counts == [IMMORTAL, 3 << 29, IMMORTAL]
    assert not any(made[1_024:])


@pytest.mark.parametrize(
    "gone",
    [(0, 7), (4_000_000, 7), (1, 9)],
    ids=["freed and the last of its list", "freed, with the address of the next", "another type"],
)
def test_memory_that_is_no_such_object_any_more_is_left(
    immortal: ModuleType, gone: tuple[int, int]
) -> None:
    gone_row, *rows = [(64 + 16 * number, 7) for number in range(50)]
    made = heap(gone, *[(1, 7)] * 49, table=[*rows * 3, gone_row])
    before = made[64:72]
    assert immortal.make_immortal(made, 1_024, 2 * (3 * 49 + 1)) == 49
    assert made[64:72] == before


def test_a_table_that_does_not_fit_the_memory_is_refused(immortal: ModuleType) -> None:
    with pytest.raises(ValueError, match="1 of 2 objects"):
        immortal.make_immortal(heap((1, 7), table=[(64, 7), (80, 7)]), 1_024, 4)
    with pytest.raises(ValueError, match="0 of 0 objects"):
        immortal.make_immortal(bytearray(64), 0, 4)
