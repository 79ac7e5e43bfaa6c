"""Guards are asked before changes land, and nothing that one does goes unseen."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence

import anyio
import pytest

from lineshaft.errors import ConfigError, Guarded
from lineshaft.values import Change, Command, Finding, Stage
from lineshaft.workspace import guarded
from workspace.held import Held

CHANGES = (Change(path="a.txt", kind="modified"),)


def warn(changes: Sequence[Change], stage: Stage) -> list[Finding]:
    del stage
    return [Finding(code="seen", message="seen", path=change.path) for change in changes]


async def test_what_guards_say_comes_back_in_their_order() -> None:
    async def second(changes: Sequence[Change], stage: Stage) -> list[Finding]:
        del changes
        text = (await stage.read("a.txt")).data.decode()
        return [Finding(code="text", message=text, level="info")]

    found = await guarded([warn, second], CHANGES, Held({"a.txt": b"hello"}))

    assert [finding.code for finding in found] == ["seen", "text"]
    assert found[1].message == "hello"


async def test_an_error_keeps_the_changes_from_landing_and_has_all_findings() -> None:
    def refuse(changes: Sequence[Change], stage: Stage) -> list[Finding]:
        del changes, stage
        return [Finding(code="bad", message="no", level="error", path="a.txt", line=3, hint="mend")]

    with pytest.raises(Guarded, match=r"a\.txt:3: no \[bad\]") as caught:
        await guarded([warn, refuse], CHANGES, Held({}))

    codes = [finding.code for finding in caught.value.findings if isinstance(finding, Finding)]
    assert codes == ["seen", "bad"]
    assert caught.value.hint == "mend"


async def test_nobody_is_asked_about_nothing() -> None:
    def refuse(changes: Sequence[Change], stage: Stage) -> list[Finding]:
        raise AssertionError((changes, stage))

    assert await guarded([refuse], (), Held({})) == ()


@pytest.mark.parametrize("error", [ValueError("odd"), SystemExit(3), RecursionError()])
async def test_a_guard_that_raises_is_an_error_by_its_name(error: BaseException) -> None:
    def broken(changes: Sequence[Change], stage: Stage) -> list[Finding]:
        raise error

    async def broken_later(changes: Sequence[Change], stage: Stage) -> list[Finding]:
        raise error

    for guard in (broken, broken_later):
        with pytest.raises(Guarded, match=f"'{guard.__name__}' raised {type(error).__name__}"):
            await guarded([guard], CHANGES, Held({}))


async def test_a_guard_that_hangs_is_left_behind() -> None:
    release = threading.Event()

    def hangs(changes: Sequence[Change], stage: Stage) -> list[Finding]:
        del changes, stage
        release.wait()
        return []

    with anyio.fail_after(5), pytest.raises(Guarded, match=r"'hangs' took longer than 0\.05 s"):
        await guarded([hangs], CHANGES, Held({}), seconds=0.05)
    release.set()


async def test_an_asynchronous_guard_that_swallows_its_cancellation_is_left_behind() -> None:
    release = asyncio.Event()

    async def stubborn(changes: Sequence[Change], stage: Stage) -> list[Finding]:
        del changes, stage
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return []

    with anyio.fail_after(5), pytest.raises(Guarded, match="'stubborn' took longer"):
        await guarded([stubborn], CHANGES, Held({}), seconds=0.05)
    release.set()


@pytest.mark.parametrize("given", [None, "text", [1], 3])
async def test_a_guard_that_gives_something_else_is_an_error(given: object) -> None:
    def odd(changes: Sequence[Change], stage: Stage) -> object:
        del changes, stage
        return given

    with pytest.raises(Guarded, match="the guard 'odd' gave"):
        await guarded([odd], CHANGES, Held({}))  # pyright: ignore[reportArgumentType]  it is wrong


async def test_a_finding_of_a_level_that_is_none_names_the_levels() -> None:
    def odd(changes: Sequence[Change], stage: Stage) -> object:
        del changes, stage
        return [Finding(code="x", message="m", level="fatal")]  # pyright: ignore[reportArgumentType]  it is wrong

    said = "gave a finding of level 'fatal', which is none of error, warning, info"
    with pytest.raises(Guarded, match=said):
        await guarded([odd], CHANGES, Held({}))  # pyright: ignore[reportArgumentType]  it is wrong


CHANGING: dict[str, Callable[[Stage], object]] = {
    "write": lambda stage: stage.write("a.txt", b"mine"),
    "make_folder": lambda stage: stage.make_folder("b"),
    "link": lambda stage: stage.link("b", "a.txt"),
    "move": lambda stage: stage.move("a.txt", "b"),
    "delete": lambda stage: stage.delete("a.txt"),
    "run": lambda stage: stage.run(Command(argv=("touch", "b"))),
    "begin": lambda stage: stage.begin(),
    "undo": lambda stage: stage.undo("r"),
    "land": lambda stage: stage.land(),
    "discard": lambda stage: stage.discard(),
    "fork": lambda stage: stage.fork(),
    "pack": lambda stage: stage.pack(),
}


@pytest.mark.parametrize("name", CHANGING)
async def test_a_guard_can_change_nothing(name: str) -> None:
    async def change(stage: Stage) -> None:
        tried = CHANGING[name](stage)
        if isinstance(tried, Awaitable):
            await tried

    async def changes_something(changes: Sequence[Change], stage: Stage) -> list[Finding]:
        del changes
        with pytest.raises(ConfigError, match="can only read the view"):
            await change(stage)
        assert stage.capabilities == frozenset()
        return []

    held = Held({"a.txt": b"x"})
    assert await guarded([changes_something], CHANGES, held) == ()


async def test_a_file_is_read_once_for_all_guards() -> None:
    async def reads(changes: Sequence[Change], stage: Stage) -> list[Finding]:
        for change in changes:
            await stage.read(change.path)
        return []

    held = Held({"a.txt": b"x"})
    await guarded([reads, reads], CHANGES, held)
    assert held.reads == ["a.txt"]


async def test_the_worst_of_very_many_findings_are_kept() -> None:
    def talks(changes: Sequence[Change], stage: Stage) -> list[Finding]:
        del changes, stage
        last = Finding(code="x", message="the worst", level="error")
        return [*(Finding(code="x", message=str(n)) for n in range(1_000)), last]

    with pytest.raises(Guarded, match="the worst") as caught:
        await guarded([talks], CHANGES, Held({}))
    assert len(caught.value.findings) == 201
