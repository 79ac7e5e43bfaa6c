"""The way to the guest's reader: what is asked again, and answers that are not believed."""

from collections.abc import Mapping

import pytest

from lineshaft.errors import EngineError
from lineshaft.sandbox.webassembly import Asker, GuestStopped, GuestTrapped
from lineshaft.scripts.reading import AskReader, Prepared, Reading, through
from lineshaft.values import ToolSpec

Specs = tuple[ToolSpec, ...]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


class Counted:
    """Counts the orders that go to a reader."""

    def __init__(self, ask: AskReader) -> None:
        self._ask = ask
        self.orders: list[Mapping[str, object]] = []

    async def __call__(self, order: Mapping[str, object]) -> Mapping[str, object]:
        """Hand it on."""
        self.orders.append(order)
        return await self._ask(order)


async def test_a_script_is_asked_for_once_and_the_tools_are_told_once(
    ask: AskReader, specs: Specs
) -> None:
    counted = Counted(ask)
    reading = Reading(counted)
    first = await reading.read("return read_file('a')", specs=specs)
    assert await reading.read("return read_file('a')", specs=specs) is first
    assert len(counted.orders) == 1
    await reading.read("return read_file('b')", specs=specs)
    assert ["tools" in order for order in counted.orders] == [True, False]
    other = await reading.read("return read_file('a')", specs=specs[1:])
    assert other.program_source == "return read_file('a')"


async def test_a_reader_that_was_replaced_is_told_of_the_tools_again(specs: Specs) -> None:
    asker = Asker(seconds=60)
    counted = Counted(through(asker))
    reading = Reading(counted)
    await reading.read("x = 1", specs=specs)
    asker.close()
    prepared = await reading.read("return read_file('b')", specs=specs)
    assert prepared.program_source == "return (await read_file('b'))"
    assert ["tools" in order for order in counted.orders] == [True, False, True]
    asker.close()


async def test_a_script_that_takes_too_long_to_read_is_refused(specs: Specs) -> None:
    asker = Asker(seconds=0.001)
    reading = Reading(through(asker))
    broken = await reading.read("x = [" + "f(1), " * 20_000 + "]", specs=specs)
    assert not broken.ok
    assert broken.findings[0].message == "the code takes too long to read"
    asker.close()


@pytest.mark.parametrize(
    ("error", "words"),
    [(GuestTrapped("stack", "it ended"), "nested too deep"), (GuestStopped(), "too long to read")],
)
async def test_a_script_that_ends_its_reader_is_refused(
    error: Exception, words: str, specs: Specs
) -> None:
    async def ending(order: Mapping[str, object]) -> Mapping[str, object]:
        raise error

    prepared = await Reading(ending).read("x = 1\ny = [[1]]", specs=specs)
    assert words in prepared.findings[0].message
    assert (prepared.findings[0].code, prepared.findings[0].line) == ("syntax-error", 2)


LISTS = ("unawaited", "unknown", "undefined", "misused", "tells", "imports", "newer")
GOOD: dict[str, object] = {"program": None, **{name: [] for name in LISTS}}
REMARK: dict[str, object] = {
    "code": "a",
    "message": "b",
    "level": "error",
    "line": 1,
    "column": 1,
    "hint": "",
}


LIES: list[dict[str, object]] = [
    {"program": 5},
    {"program": "x\n"},
    {"program": "x" * 100_000},
    {"unawaited": None},
    {"unknown": {}},
    {"misused": [5]},
    {"tells": [{**REMARK, "level": "fatal"}]},
    {"tells": [{**REMARK, "line": 0}]},
    {"tells": [{**REMARK, "line": True}]},
    {"tells": [{**REMARK, "column": 10**30}]},
    {"tells": [{**REMARK, "message": None}]},
    {"undefined": [{**REMARK, "name": 1}]},
    {"imports": [["a", 1, False]]},
    {"imports": [["a", "1", False, []]]},
    {"newer": [[12, 1]]},
    {"newer": [["12", 1, "a"]]},
    {"syntax": 5},
]


@pytest.mark.parametrize("change", LIES)
async def test_an_answer_that_is_not_of_the_agreed_form_is_an_error_of_the_reader(
    change: dict[str, object],
) -> None:
    async def lying(order: Mapping[str, object]) -> Mapping[str, object]:
        return GOOD | change

    with pytest.raises(EngineError, match="no proper answer"):
        await Reading(lying).read("x = 1", specs=())


async def test_what_a_reader_says_is_bounded() -> None:
    long = {**REMARK, "message": "x" * 100_000, "hint": "\x01", "tool": "made up"}

    async def talking(order: Mapping[str, object]) -> Mapping[str, object]:
        return GOOD | {"tells": [long] * 5_000}

    prepared = await Reading(talking).read("x = 1", specs=())
    assert isinstance(prepared, Prepared)
    assert len(prepared.tells) == 1_000
    assert len(prepared.tells[0].message) < 3_000
    assert prepared.tells[0].hint == ""
