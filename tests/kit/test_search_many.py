"""A search with very many matches leaves the event loop to others."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from lineshaft import Session, kit

MANY = 1_500


@contextmanager
def calls_here() -> Generator[set[str]]:
    """Give the functions that this thread calls, from here on."""
    seen: set[str] = set()

    def note(frame: FrameType, event: str, arg: object) -> None:
        del event, arg
        seen.add(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield seen
    finally:
        sys.setprofile(before)


async def test_what_a_large_search_found_is_checked_in_another_thread(tmp_path: Path) -> None:
    (tmp_path / "few.txt").write_text("needle\n" * 3)
    (tmp_path / "many.txt").write_text("needle\n" * MANY)
    script = "return len((await search_text(pattern='needle', path={!r}))['matches'])"
    async with Session(kit.tools(), workspace=tmp_path, store=False) as session:
        with calls_here() as few:
            assert (await session.run(script.format("few.txt"))).value == 3
        with calls_here() as many:
            assert (await session.run(script.format("many.txt"))).value == MANY
    assert "deliver" in few
    assert "deliver" not in many
