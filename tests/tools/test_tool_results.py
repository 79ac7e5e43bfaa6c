"""Running a tool's body, and what becomes of its result."""

import asyncio
import dataclasses
import datetime
import decimal
import enum
import functools
import pathlib
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ContextDecorator, asynccontextmanager
from types import MappingProxyType
from typing import Any, NamedTuple, NotRequired, TypedDict, cast

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, field_serializer, model_serializer

from lineshaft import run_sync
from lineshaft.errors import ToolError
from lineshaft.gate._invoke import bind, invoke
from lineshaft.tools import Tool, tool
from lineshaft.values import Call, Context, Done, Value


class Colour(enum.Enum):
    RED = "red"


class One(enum.IntEnum):
    ONE = 1


class Report(TypedDict):
    path: str
    lines: list[int]


class Found(TypedDict):
    path: "str"
    line: "NotRequired[int]"


@dataclasses.dataclass
class Span:
    start: int
    when: datetime.datetime


class Place(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    name: str = Field(alias="Name")
    at: pathlib.PurePosixPath | None = None


class Pair(NamedTuple):
    left: int
    right: str


async def nobody(_call: Call) -> Done:
    return Value(None)


def context() -> Context:
    return Context(
        workspace=None,  # pyright: ignore[reportArgumentType]  no tool here uses it
        call_id="c1",
        run_id="r1",
        key="k1",
        deadline=0,
        dispatch=nobody,
        notify=lambda _kind, _data: None,
        deps={"answer": 42},
    )


async def run(made: Tool, **arguments: object) -> object:
    return await invoke(made, bind(made, arguments, ()), context())


def giving(value: object, kind: object = object) -> Tool:
    def body() -> object:
        return value

    body.__annotations__["return"] = kind
    return Tool.from_function(body)


async def refused(made: Tool) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await run(made)
    assert caught.value.code == "E_INVALID_RESULT"
    assert caught.value.tool == made.name
    return caught.value


NOW = datetime.datetime(2024, 5, 31, 12, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ((1, [2.5, "x"], {"k": None}), [1, [2.5, "x"], {"k": None}]),
        (Span(1, NOW), {"start": 1, "when": "2024-05-31T12:00:00Z"}),
        (Place(Name="x", at=pathlib.PurePosixPath("a/b")), {"Name": "x", "at": "a/b"}),
        ([Pair(1, "a")], [[1, "a"]]),
        ({"c": Colour.RED, Colour.RED: 1}, {"c": "red", "red": 1}),
        (NOW.date(), "2024-05-31"),
        (datetime.timedelta(hours=1), "PT1H"),
        (pathlib.Path("a/b"), "a/b"),
        (decimal.Decimal("1.50"), "1.50"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (MappingProxyType({"a": 1}), {"a": 1}),
        (OrderedDict[str, int](a=One.ONE), {"a": 1}),
        ("grüße", "grüße"),
        (2**70, 2**70),
    ],
)
async def test_results_without_a_type_become_plain(value: object, seen: object) -> None:
    assert await run(giving(value)) == seen


async def test_a_result_may_lack_a_key_that_is_not_required_in_text() -> None:
    assert await run(giving({"path": "a"}, Found)) == {"path": "a"}
    await refused(giving({"line": 1}, Found))


def deep(levels: int) -> object:
    value: object = []
    for _ in range(levels):
        value = [value]
    return value


def circle() -> object:
    value: dict[str, object] = {}
    value["self"] = [value]
    return value


def bomb() -> object:
    value: object = ["x"] * 10
    for _ in range(12):
        value = [value] * 10
    return value


class Opaque:
    """Nothing that JSON knows."""


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        ({"a": [1, Opaque()]}, "`a[1]` is an object of type Opaque, which has no JSON", "dict"),
        ({"a": float("nan")}, "`a` is nan, which JSON does not have", "None"),
        ([float("-inf")], "`[0]` is -inf, which JSON does not have", "None"),
        (b"abc", "it is bytes, which JSON does not have", "base64"),
        ({"a": bytearray(b"x")}, "`a` is bytearray", "base64"),
        ({"a b": {1, 2}}, "`['a b']` is a set", "sorted"),
        ({"a": {1: 2}}, "`a` is a dict with the key 1, which is no text", "str keys"),
        (circle(), "or contains itself", ""),
        (deep(500), "nested more than 100 levels deep", ""),
        (bomb(), "is more than 2,000,000 values", ""),
        ("\udc80", "it is text that is not valid Unicode", "decode"),
        pytest.param(10**5000, "it is an integer of too many digits", "hex", id="digits"),
        ((i for i in range(3)), "it is an object of type generator, which has no value", "list"),
        (Opaque, "it is an object of type type", "dict"),
    ],
)
async def test_results_that_are_no_json_are_refused_with_place_and_type(
    value: object, message: str, hint: str
) -> None:
    error = await refused(giving(value))
    assert message in error.message
    assert error.message.startswith("body() returned a result that does not fit: ")
    assert hint in error.hint


@pytest.mark.parametrize(
    ("kind", "value", "seen"),
    [
        (float, 3, 3.0),
        (list[int], (1, 2), [1, 2]),
        (Report, {"path": "a", "lines": [1]}, {"path": "a", "lines": [1]}),
        (Span, Span(1, NOW), {"start": 1, "when": "2024-05-31T12:00:00Z"}),
        (
            Span,
            {"start": 1, "when": "2024-05-31T12:00:00Z"},
            {"start": 1, "when": "2024-05-31T12:00:00Z"},
        ),
        (Place, Place(Name="x"), {"Name": "x", "at": None}),
        (Colour, Colour.RED, "red"),
        (Colour, "red", "red"),
        (dict[int, str], {1: "a"}, {"1": "a"}),
        (set[int], {1}, [1]),
        (tuple[int, str], (1, "a"), [1, "a"]),
        (Report | None, None, None),
        (dict[str, Any], {"at": NOW}, {"at": "2024-05-31T12:00:00Z"}),
        (None, None, None),
    ],
)
async def test_results_take_the_form_of_their_type(
    kind: object, value: object, seen: object
) -> None:
    result = await run(giving(value, kind))
    assert result == seen
    assert type(result) is type(seen)


class Mixed(BaseModel):
    """Holds parts of some types, and others of any."""

    model_config = ConfigDict(ser_json_timedelta="float")
    tags: set[str] = {"a"}
    by: dict[int, str] = {1: "x"}
    days: dict[datetime.date, float] = {NOW.date(): 1.0}
    lasts: datetime.timedelta = datetime.timedelta(seconds=3)
    pairs: dict[tuple[int, int], list[object]] = {(1, 2): [NOW]}
    inner: "Mixed | None" = None
    meta: dict[str, Any] = {}
    rest: Any = Field(default=None, examples=[1])


@dataclasses.dataclass
class Loose:
    tags: frozenset[str]
    extra: object


class Short(BaseModel):
    """Is written as text."""

    meta: dict[str, Any] = {}

    @model_serializer(when_used="json")
    def write(self) -> str:
        """Write it."""
        return "short"


MIXED: dict[str, object] = {
    "tags": ["a"],
    "by": {"1": "x"},
    "days": {"2024-05-31": 1.0},
    "lasts": 3.0,
    "pairs": {"1,2": ["2024-05-31T12:00:00Z"]},
    "inner": None,
    "meta": {},
    "rest": None,
}


@pytest.mark.parametrize(
    ("kind", "value", "seen"),
    [
        (Mixed, Mixed(), MIXED),
        (
            Mixed,
            Mixed(inner=Mixed(rest=datetime.timedelta(hours=1)), meta={"at": NOW}),
            MIXED | {"inner": MIXED | {"rest": "PT1H"}, "meta": {"at": "2024-05-31T12:00:00Z"}},
        ),
        (dict[int, Any], {1: [NOW]}, {"1": ["2024-05-31T12:00:00Z"]}),
        (list[dict[int, int] | Mixed], [{1: 2}, Mixed()], [{"1": 2}, MIXED]),
        (Loose, Loose(frozenset({"x"}), {"a": 1}), {"tags": ["x"], "extra": {"a": 1}}),
        (set[Any], {NOW}, ["2024-05-31T12:00:00Z"]),
        (tuple[set[int], Any], ({1}, [2]), [[1], [2]]),
        (tuple[Short, Any], (Short(meta={"a": 1}), 2), ["short", 2]),
    ],
)
async def test_parts_take_the_form_of_their_type_beside_parts_of_any(
    kind: object, value: object, seen: object
) -> None:
    assert await run(giving(value, kind)) == seen


class Scalar:
    """As NumPy has them."""

    def tolist(self) -> int:
        return 3


@pytest.mark.parametrize("kind", [list[int], object, list[Any]])
@pytest.mark.parametrize(
    ("value", "hint"),
    [(Scalar(), "value.tolist()"), (range(3), "list(...)"), ({1: 2}.keys(), "list(...)")],
)
async def test_a_value_that_can_be_made_plain_is_refused_with_its_way_out(
    value: object, hint: str, kind: object
) -> None:
    with pytest.raises(ToolError, match="which has no JSON form") as caught:
        await run(giving(value, kind))
    assert hint in caught.value.hint


class Chain(BaseModel):
    """May be long."""

    after: "Chain | None" = None
    note: Any = None


def chain(links: int) -> Chain:
    made = Chain()
    for _ in range(links):
        made = Chain(after=made)
    return made


class Liar(BaseModel):
    """Its values may be set to anything."""

    number: int


def changed() -> Liar:
    liar = Liar(number=1)
    vars(liar)["number"] = "one"
    return liar


class Fragile(BaseModel):
    number: int

    @field_serializer("number")
    def write(self, number: int) -> int:
        raise RuntimeError(number)


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (int, "7", "it must be an integer, not '7'"),
        (float, "12.5", "it must be a number, not '12.5'"),
        (str, None, "it must be a string, not None"),
        (None, 3, "it must be None, not 3"),
        (Report, {"path": "a", "lines": [1, "x"]}, "`lines[1]` must be an integer, not 'x'"),
        (Report, {"path": "a"}, "`lines` is missing"),
        (list[Span], [{"start": 1}], "`[0].when` is missing"),
        (Colour, "green", "it must be 'red', not 'green'"),
        (Report, Opaque(), "it is an object of type Opaque"),
        (float, float("inf"), "it is inf, which JSON does not have"),
        (Report, {"path": "a", "lines": {1}}, "`lines` is a set"),
        (Liar, changed(), "it has no JSON form as annotated"),
        (Fragile, Fragile(number=1), "it is an object of type Fragile"),
        (dict[str, bytes], {"a": b"x"}, "`a` is bytes, which JSON does not have"),
        (dict[str, Any], {"a": {1}}, "`a` is a set"),
        (dict[str, object], circle(), "contains itself"),
        (Mixed, Mixed(inner=Mixed(rest={1})), "`inner.rest` is a set"),
        (Mixed, Mixed(pairs={(1, 2): [b"x"]}), "is bytes, which JSON does not have"),
        (Mixed, Mixed(meta={"a": {1: 2}}), "`meta.a` is a dict with the key 1"),
        (Mixed, Mixed(rest=(i for i in range(3))), "`rest` is an object of type"),
        (Loose, Loose(frozenset(), b"x"), "`extra` is bytes"),
        (set[Any], {b"x"}, "bytes, which JSON does not have"),
        (dict[Any, Any], {b"x": 1}, "bytes, which JSON does not have"),
        (dict[Any, Any], {1: 2, "1": 3}, "a dict with keys that are one in JSON"),
        (dict[str, bytes | set[int]], {"a": b"x"}, "`a` is bytes"),
        (Chain, chain(150), "nested more than 100 levels deep"),
    ],
)
async def test_results_that_lie_about_their_type_are_refused(
    kind: object, value: object, message: str
) -> None:
    assert message in (await refused(giving(value, kind))).message


async def test_a_body_sees_objects_of_its_own_types() -> None:
    seen: list[object] = []

    @tool
    def body(
        span: Span,
        places: list[Place],
        colour: Colour = Colour.RED,
        day: datetime.date | None = None,
        pair: tuple[int, str] = (1, "a"),
    ) -> None:
        seen.extend((span, places, colour, day, pair))

    await run(
        body,
        span={"start": 1, "when": "2024-05-31T12:00:00Z"},
        places=[{"Name": "x"}],
        colour="red",
        pair=[2, "b"],
    )
    assert seen == [Span(1, NOW), [Place(Name="x")], Colour.RED, None, (2, "b")]


async def test_a_context_is_filled_in_and_is_no_argument() -> None:
    @tool
    async def body(key: str, ctx: Context, other: Context | None = None) -> str:
        assert ctx is other
        return f"{key} {ctx.call_id} {ctx.deps}"

    assert body.spec.input_schema["required"] == ["key"]
    assert await run(body, key="a") == "a c1 {'answer': 42}"


async def test_a_sync_body_runs_in_a_thread_and_many_at_once() -> None:
    here = threading.get_ident()
    all_there = threading.Barrier(100)

    @tool
    def body() -> bool:
        all_there.wait(10)
        return threading.get_ident() != here

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            for _ in range(100):
                tasks.start_soon(run, body)
    assert await run(giving(threading.get_ident())) == here


async def test_a_sync_body_is_left_behind_on_cancellation() -> None:
    started, release = threading.Event(), threading.Event()

    @tool
    def body() -> None:
        started.set()
        release.wait(10)

    before = time.monotonic()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, body)
        await anyio.to_thread.run_sync(started.wait)
        tasks.cancel_scope.cancel()
    release.set()
    assert time.monotonic() - before < 9


async def test_what_a_body_raises_passes_through() -> None:
    @asynccontextmanager
    async def raising(error: BaseException) -> AsyncGenerator[None]:
        with pytest.raises(type(error)) as caught:
            yield
        assert caught.value is error

    error = KeyError("x")

    @tool
    async def slow() -> None:
        raise error

    @tool
    def quick() -> None:
        raise error

    async with raising(error):
        await run(slow)
    async with raising(error):
        await run(quick)
    own = ToolError("E_FILE_NOT_FOUND", "no file")

    @tool
    async def chosen() -> None:
        raise own

    async with raising(own):
        await run(chosen)


async def test_a_sync_function_that_returns_an_awaitable_is_awaited() -> None:
    async def inner() -> int:
        return 3

    def outer() -> object:
        return inner()

    made = Tool.from_function(outer)
    assert not made.is_async
    assert await run(made) == 3


async def one_more(number: int) -> int:
    return number + 1


def test_a_sync_wrapper_may_run_what_it_wraps_to_its_end(tmp_path: pathlib.Path) -> None:
    @functools.wraps(one_more)
    def whole(number: int) -> int:
        return asyncio.run(one_more(number))

    made = Tool.from_function(whole, effect="read")
    assert not made.is_async
    result = run_sync("return await one_more(1)", tools=[made], workspace=tmp_path, store=False)
    assert result.value == 2


def handed_on(function: Callable[[int], Awaitable[int]]) -> Callable[[int], Awaitable[int]]:
    @functools.wraps(function)
    def wrapper(number: int) -> Awaitable[int]:
        return function(number)

    return wrapper


class Within(ContextDecorator, AbstractContextManager[None]):
    def __exit__(self, *raised: object) -> None: ...


@pytest.mark.parametrize(
    "wrapped",
    [
        handed_on(one_more),
        Within()(one_more),
        functools.cache(one_more),
        functools.partial(handed_on(one_more)),
    ],
)
async def test_a_wrapper_that_hands_a_coroutine_on_is_awaited(
    wrapped: Callable[[int], Awaitable[int]],
) -> None:
    made = Tool.from_function(wrapped, name="more")
    assert made.spec.input_schema["properties"] == {"number": {"type": "integer"}}
    assert await run(made, number=1) == 2


async def test_an_async_wrapper_and_a_static_method_are_awaited_where_they_are_called() -> None:
    @functools.wraps(one_more)
    async def wrapper(number: int) -> int:
        return await one_more(number)

    for each in (wrapper, staticmethod(one_more), functools.partial(wrapper)):
        made = Tool.from_function(each, name="more")
        assert made.is_async
        assert await run(made, number=1) == 2


async def test_a_result_is_copied() -> None:
    kept: dict[str, list[int]] = {"a": [1]}
    result = await run(giving(kept))
    kept["a"].append(2)
    assert result == {"a": [1]}


async def test_arguments_that_changed_after_binding_are_checked_again() -> None:
    @tool
    def body(path: str) -> str:
        return path

    with pytest.raises(ToolError, match="`path` must be a string") as caught:
        await invoke(body, {"path": 5}, context())
    assert caught.value.code == "E_INVALID_ARGS"


plain_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@given(plain_values)
def test_plain_values_come_back_as_they_are(value: object) -> None:
    contract = giving(value).contract
    result = contract.deliver(value)
    assert result == value
    assert repr(result) == repr(value)
    if isinstance(value, list | Mapping) and value:
        assert result is not value


MANY: dict[str, list[object]] = {
    "numbers": [*range(-50, 150)],
    "huge numbers": [2**14_000 - 1, *range(150), 1 - 2**14_000],
    "texts": [str(n) for n in range(150)],
    "other texts": ["ä", *(str(n) for n in range(150))],
    "fractions": [n / 7 for n in range(150)],
    "yes and no": [None, *([True, False] * 80)],
    "mixed": [*range(150), None, "x", 1.5, [1], One.ONE],
}


@pytest.mark.parametrize("kind", MANY)
async def test_many_values_become_plain_as_few_do(kind: str) -> None:
    many = MANY[kind]
    few = [await run(giving([each])) for each in many]
    made = await run(giving(many))
    assert repr(made) == repr([one for each in few for one in cast("list[object]", each)])
    assert made is not many
    keyed = {f"k{number}": each for number, each in enumerate(many)}
    found = await run(giving(keyed))
    assert found == dict(zip(keyed, cast("list[object]", made), strict=True))
    assert found is not keyed


@pytest.mark.parametrize(
    ("many", "bad", "says"),
    [
        (range(150), 2**14_000, "is an integer of too many digits"),
        (range(150), -(2**14_000), "is an integer of too many digits"),
        ([0.5] * 150, float("nan"), "is nan"),
        (["x"] * 150, "\udc80", "is text that is not valid Unicode"),
        ([None] * 150, {1}, "is a set"),
    ],
)
async def test_one_of_many_values_that_is_not_plain_is_named(
    many: Sequence[object], bad: object, says: str
) -> None:
    error = await refused(giving([*many, bad, *many]))
    assert f"`[150]` {says}" in error.message
    error = await refused(giving({f"k{n}": each for n, each in enumerate([*many, bad])}))
    assert f"`k150` {says}" in error.message
    error = await refused(giving({**{f"k{n}": each for n, each in enumerate(many)}, 5: 1}))
    assert "a dict with the key 5" in error.message
