"""What the small engine does otherwise than Python, and the lines around a script put right."""

from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.play import Play
from lineshaft.engines import MontyEngine
from lineshaft.engines._prelude import sums


@pytest.fixture
async def monty() -> AsyncIterator[Play]:
    """Return a host with the small engine."""
    engine = MontyEngine()
    yield Play(engine)
    await engine.aclose()


_SEVERAL = "return [[round(x, n) for n in range(-3, 12)] for x in numbers]"


@given(numbers=st.lists(st.floats(-1e12, 1e12) | st.integers(-(10**9), 10**9), max_size=50))
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
async def test_numbers_are_rounded_as_python_rounds_them(monty: Play, numbers: list[float]) -> None:
    found = await monty.value(_SEVERAL, numbers=numbers)
    assert repr(found) == repr([[round(x, n) for n in range(-3, 12)] for x in numbers])


async def test_halves_are_rounded_by_the_number_not_by_its_text(monty: Play) -> None:
    script = "return [round(2.675, 2), round(0.35, 1), round(2.5), round(number=1.005, ndigits=2)]"
    assert await monty.value(script) == [2.67, 0.3, 2, 1.0]


async def test_a_round_of_the_scripts_own_is_its_own(monty: Play) -> None:
    assert await monty.value("def round(x):\n    return 'mine'\nreturn round(1.5)") == "mine"


async def test_what_cannot_be_rounded_is_an_error_at_its_line(monty: Play) -> None:
    error = await monty.error("x = 1\nround('a', 2)")
    assert (error.kind, error.line) == ("TypeError", 2)


@given(
    rows=st.lists(st.lists(st.floats(-1e12, 1e12) | st.integers(-(10**9), 10**9), max_size=30)),
    start=st.floats(-5, 5) | st.integers(-5, 5),
)
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
async def test_sums_are_those_of_this_python(
    monty: Play, rows: list[list[float]], start: float
) -> None:
    script = "return [[sum(row), sum(row, start), sum(row, start=start)] for row in rows]"
    found = await monty.value(script, rows=rows, start=start)
    assert repr(found) == repr([[sum(r), sum(r, start), sum(r, start=start)] for r in rows])


@pytest.mark.parametrize(
    ("version", "sums_up"),
    [
        ((3, 11), [0.9999999999999999, 0.6000000000000001, 54.5, 6, 1e16]),
        ((3, 12), [1.0, 0.6, 54.5, 6, 1e16]),
        ((3, 14), [1.0, 0.6, 54.5, 6, 1.0000000000000004e16]),
    ],
)
async def test_sums_are_those_of_each_python(
    monty: Play, version: tuple[int, int], sums_up: list[float]
) -> None:
    rows = [[0.1] * 10, [0.1, 0.2, 0.3], [50, 2.25, 2.25], [1, 2, 3], [1e16, 1, 1, 1, 1]]
    script = sums(version) + "\nreturn [sum(row) for row in rows]"
    assert repr(await monty.value(script, rows=rows)) == repr(sums_up)


async def test_what_is_no_number_is_added_up_or_refused(monty: Play) -> None:
    script = sums((3, 12)) + "\nfloat = list = None\n"
    added = script + "return [sum([[1], [2]], []), sum(x / 2 for x in range(4)), sum([])]"
    assert await monty.value(added) == [[1, 2], 3.0, 0]
    error = await monty.error("\n" + sums((3, 12)) + "sum([0.5, 'a'])")
    assert error.kind == "TypeError"


_HAVE_NONE = "[None, [1], (1,), {}, b'a', ValueError('x'), datetime.timedelta(1)]"


@pytest.mark.parametrize("way", ["f'{x:>5}'", "f'{x:.2f}'", "format(x, '>5')", "'{:>5}'.format(x)"])
async def test_what_has_no_format_of_its_own_is_refused_as_python_refuses_it(
    monty: Play, way: str
) -> None:
    script = (
        f"found = []\nfor x in {_HAVE_NONE}:\n    try:\n        found.append({way})\n"
        "    except TypeError as e:\n        found.append(str(e))\nreturn found"
    )
    kinds = ("NoneType", "list", "tuple", "dict", "bytes", "ValueError", "datetime.timedelta")
    said = [f"unsupported format string passed to {kind}.__format__" for kind in kinds]
    assert await monty.value(script) == said
    error = await monty.error(f"x = None\n{way}")
    assert (error.kind, error.line) == ("TypeError", 2)


async def test_what_has_a_format_is_formatted_by_it(monty: Play) -> None:
    script = (
        "import decimal\nstr = type = None\nday = datetime.date(2024, 1, 2)\n"
        "return [f'{x:>6}|{x!r:>6}' for x in (1, 1.5, True, 'a', decimal.Decimal('2.5'))]"
        " + [f'{day:%d.%m.}', format(day, '%Y'), format(None), f'{None}', format(5, '03d')]"
    )
    assert await monty.value(script) == [
        "     1|     1",
        "   1.5|   1.5",
        "     1|  True",
        "     a|   'a'",
        "   2.5|Decimal('2.5')",
        "02.01.",
        "2024",
        "None",
        "None",
        "005",
    ]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("x = 1\nassert x == 2", ""),
        ("x = 1\nassert x == 2, 'no'", "no"),
        ("raise AssertionError('assert me')", "assert me"),
    ],
)
async def test_a_failed_assert_says_what_python_says(
    monty: Play, script: str, message: str
) -> None:
    error = await monty.error(script)
    assert (error.kind, error.message) == ("AssertionError", message)
