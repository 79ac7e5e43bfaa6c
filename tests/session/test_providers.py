"""Tools that come and go while a session is open."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from lineshaft import ConfigError, Session, Tool, Toolset
from lineshaft.store import Store
from lineshaft.tools import Provider, filtered, opened, renamed
from lineshaft.values import ToolSpec


class Place:
    """A provider that a test moves by hand."""

    def __init__(self, name: str = "shop", *, there: bool = True) -> None:
        self.name = name
        self.tools = Toolset()
        self.problem = ""
        self.open = False
        self.asked = 0
        self._first = anyio.Event()
        self._changed: Callable[[], None] = lambda: None
        if there:
            self.offer("price")

    def offer(self, *names: str) -> None:
        """Have these tools from now on."""

        def made(name: str) -> Tool:
            async def answer(item: str) -> str:
                """Answer."""
                return f"{name} of {item}"

            return Tool.from_function(answer, name=f"{self.name}.{name}", effect="read")

        self.tools = Toolset(made(name) for name in names)
        self._first.set()
        self._changed()

    def fail(self, problem: str) -> None:
        """Have no tools, and say why."""
        self.tools, self.problem = Toolset(), problem
        self._first.set()
        self._changed()

    @asynccontextmanager
    async def opened(self, changed: Callable[[], None]) -> AsyncGenerator[None]:
        """Be open."""
        self._changed, self.open = changed, True
        try:
            yield
        finally:
            self.open = False

    async def ready(self) -> None:
        """Wait for the first tools."""
        self.asked += 1
        await self._first.wait()


def names(session: Session) -> list[str]:
    return [spec.name for spec in session.tools.values()]


async def test_a_scripts_tools_come_from_providers_and_end_with_the_session(tmp_path: Path) -> None:
    place = Place()
    assert isinstance(place, Provider)
    async with Session([place], workspace=tmp_path, store=False) as session:
        assert place.open
        result = await session.run("return await shop.price(item='tea')")
        assert names(session) == ["shop.price"]
    assert result.value == "price of tea"
    assert not place.open


async def test_what_a_provider_offers_later_is_there_for_later_runs(tmp_path: Path) -> None:
    place = Place()
    script = "return [await shop.stock(item='tea'), len(await search_tools('stock'))]"
    async with Session([place], workspace=tmp_path, store=False) as session:
        place.offer("price", "stock")
        found = await session.run(script)
        place.offer("stock")
        gone = await session.run("return await shop.price(item='tea')")
        called = await session.call("shop.price", {"item": "tea"})
    assert found.value == ["stock of tea", 1]
    assert gone.error is not None
    assert called.error is not None
    assert called.error.code == "E_UNKNOWN_TOOL"


async def test_one_who_watches_and_fails_keeps_no_other_from_being_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = Place()
    told: list[list[str]] = []
    async with Session([place], workspace=tmp_path, store=False) as session:

        def fail() -> None:
            raise ValueError("of a watcher")

        session.watch(fail)
        session.watch(lambda: told.append(names(session)))
        place.offer("price", "stock")
    assert told == [["shop.price", "shop.stock"]]
    assert "ValueError: of a watcher" in caplog.text


async def test_a_script_waits_only_for_the_providers_it_speaks_of(tmp_path: Path) -> None:
    here, late = Place("here"), Place("late", there=False)
    async with Session([here, late], workspace=tmp_path, store=False) as session:
        assert (await session.run("return await here.price(item='a')")).value == "price of a"
        assert late.asked == 0
        run = await session.start("return await late.price(item='b')")
        while not late.asked:
            await anyio.lowlevel.checkpoint()
        late.offer("price")
        assert (await run.result()).value == "price of b"
        assert (await session.call("here.price", {"item": "c"})).value == "price of c"


async def test_waiting_for_a_provider_ends_when_the_run_is_cancelled(tmp_path: Path) -> None:
    late = Place("late", there=False)
    async with Session([late], workspace=tmp_path, store=False) as session:
        run = await session.start("return await late.price(item='b')")
        while not late.asked:
            await anyio.lowlevel.checkpoint()
        run.cancel()
        assert (await run.result()).status == "cancelled"


async def test_a_provider_that_is_not_there_is_named_with_its_reason(tmp_path: Path) -> None:
    place = Place(there=False)
    place.fail("its command was not found; install it")
    async with Session([place], workspace=tmp_path, store=False) as session:
        result = await session.run("return await shop.price(item='tea')")
        silent = await session.run("return 1")
    assert result.status == "error"
    said = [finding.message for finding in result.findings if finding.code == "provider"]
    assert said == ["shop: its command was not found; install it"]
    assert silent.findings == ()


async def test_a_tool_whose_name_is_taken_is_left_out_and_the_others_stay(tmp_path: Path) -> None:
    first, second = Place("a"), Place("a__b")
    first.offer("b__price")
    second.offer("price", "stock")
    async with Session([first, second], workspace=tmp_path, store=False) as session:
        assert names(session) == ["a.b__price", "a__b.stock"]
        result = await session.run("return await a__b.stock(item='tea')")
        lacking = await session.run("return await a__b.price(item='tea')")
        other = await session.run("return await a__b.prices(item='tea')")
        called = await session.call("a__b.price", {"item": "tea"})
        all_told = await session.ready()
    assert result.value == "stock of tea"
    assert result.findings == ()
    assert lacking.error is not None
    why = "a__b.price: left out: 'a__b.price' towards models is 'a__b__price', and so is"
    assert lacking.error.hint.startswith(why)
    assert other.error is not None
    assert "left out" not in other.error.hint
    assert called.error is not None
    assert called.error.hint.startswith(why)
    assert all_told == ("a__b: left out, as other tools have their names: a__b.price",)


@pytest.mark.parametrize("other", [Place("shop"), Tool.from_function(lambda: 1, name="shop")])
def test_two_things_of_one_name_are_refused_at_once(tmp_path: Path, other: object) -> None:
    with pytest.raises(ConfigError, match="shop"):
        Session([Place("shop"), other], workspace=tmp_path)


async def test_a_provider_can_be_filtered_renamed_and_used_alone(tmp_path: Path) -> None:
    place = Place()
    place.offer("price", "stock")
    some = renamed(filtered(place, lambda tool: "price" in tool.name), {"shop.price": "shop.cost"})
    async with opened(some) as tools:
        assert list(tools) == ["shop.cost"]
        assert place.open
    async with Session(some, workspace=tmp_path, store=False) as session:
        assert (await session.run("return await shop.cost(item='tea')")).value == "price of tea"


async def test_definitions_for_a_model_follow_the_providers(tmp_path: Path) -> None:
    place = Place()
    async with Session([place], workspace=tmp_path, store=False) as session:
        before = session.definitions("mcp", direct=["shop.price"])
        place.offer("stock")
        after = session.definitions("mcp", direct=["shop.stock"])
        handled = await session.handle("shop__stock", {"item": "tea"})
    assert [each["name"] for each in before][1:] == ["shop__price"]
    assert [each["name"] for each in after][1:] == ["shop__stock"]
    assert "stock of tea" in handled.text


def test_a_catalogue_looks_like_a_mapping_of_facts(tmp_path: Path) -> None:
    session = Session([Place()], workspace=tmp_path)
    assert isinstance(session.tools["shop.price"], ToolSpec)


async def test_providers_are_closed_together(tmp_path: Path) -> None:
    closing = anyio.Event()
    closed: list[str] = []

    class Slow(Place):
        """One that ends once the other is told to end too."""

        @asynccontextmanager
        async def opened(self, changed: Callable[[], None]) -> AsyncGenerator[None]:
            async with super().opened(changed):
                yield
            if self.name == "first":
                closing.set()
            with anyio.fail_after(10):
                await closing.wait()
            closed.append(self.name)

    async with Session([Slow("first"), Slow("second")], workspace=tmp_path, store=False):
        pass
    assert sorted(closed) == ["first", "second"]


async def test_a_call_of_a_tool_whose_provider_is_down_says_why(tmp_path: Path) -> None:
    place = Place("shop", there=False)
    place.fail("nobody answers at its address")
    async with Session([place], workspace=tmp_path, store=False) as session:
        result = await session.call("shop.price", {"item": "tea"})
        other = await session.call("shed.price")
    assert result.error is not None
    assert (result.error.code, result.error.hint) == (
        "E_UNKNOWN_TOOL",
        "shop: nobody answers at its address",
    )
    assert other.error is not None
    assert "nobody" not in other.error.hint


async def test_a_session_that_cannot_be_entered_leaves_nothing_open(tmp_path: Path) -> None:
    class Watched(Store):
        closed = 0

        async def aclose(self) -> None:
            self.closed += 1
            await super().aclose()

    class Broken(Place):
        @asynccontextmanager
        async def opened(self, changed: Callable[[], None]) -> AsyncGenerator[None]:
            raise ConfigError("it is open elsewhere")
            yield

    first, store = Place("first"), Watched(tmp_path / "runs.db")
    session = Session([first, Broken("second")], workspace=tmp_path, store=store)
    with pytest.raises(ConfigError, match="open elsewhere"):
        await session.__aenter__()
    assert (first.open, store.closed) == (False, 1)
    with pytest.raises(ConfigError, match="enter the session"):
        await session.run("return 1")
