"""A search with very many matches leaves the event loop to others."""

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from lineshaft import Session, kit
from lineshaft.values import DecodedText, decoded_text

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


async def test_two_searches_match_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_text("needle")
    both, inside, most = threading.Barrier(2, timeout=60), set[int](), set[int]()

    def noted(data: bytes) -> DecodedText | None:
        inside.add(threading.get_ident())
        both.wait()  # whoever else is let in is counted
        most.add(len(inside))
        both.wait()
        inside.discard(threading.get_ident())
        return decoded_text(data)

    monkeypatch.setattr("lineshaft.kit._searching.decoded_text", noted)
    script = """
found = await asyncio.gather(*[search_text("needle") for _ in range(20)])
return [len(each["matches"]) for each in found]
"""
    async with Session(kit.tools("search_text"), workspace=tmp_path, store=False) as session:
        result = await session.run(script)

    assert result.value == [1] * 20
    assert most == {2}
