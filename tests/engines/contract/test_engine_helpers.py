"""The helpers of scripts, as Python runs them and as every engine does."""

import pytest

from engines.play import Play
from lineshaft.engines.guest import helpers
from lineshaft.errors import ToolError

CASES: dict[str, tuple[str, object]] = {
    "plain JSON": ("json_parse('{\"a\": [1, 2.5, null]}')", {"a": [1, 2.5, None]}),
    "a byte-order mark": ("json_parse('\\ufeff[1]')", [1]),
    "a fence": ("json_parse('```json\\n{\"a\": 1}\\n```')", {"a": 1}),
    "a fence without a language": ("json_parse('\\n```\\n[1]\\n```\\n')", [1]),
    "trailing commas": ('json_parse(\'{"a": [1, 2, ], "b": {},\\n}\')', {"a": [1, 2], "b": {}}),
    "commas in text stay": (r"""json_parse('["a,]", ",}\\",]", ]')""", ["a,]", ',}",]']),
    "batches": ("batched([1, 2, 3, 4, 5], 2)", [[1, 2], [3, 4], [5]]),
    "batches of a range": ("batched(range(3), 5)", [[0, 1, 2]]),
    "no batches": ("batched([], 3)", []),
    "a table of dicts": (
        "table([{'a': 1, 'b': None}, {'a': 'x|y', 'c': 'two\\nlines'}])",
        "| a | b | c |\n| --- | --- | --- |\n| 1 |  |  |\n| x\\|y |  | two lines |",
    ),
    "a table of lists": ("table([['a', 'b'], [1, 2]])", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
    "a table of nothing": ("table([])", ""),
}


@pytest.mark.parametrize(("expression", "expected"), CASES.values(), ids=CASES)
async def test_a_helper_does_the_same_everywhere(
    play: Play, expression: str, expected: object
) -> None:
    assert eval(expression, dict(vars(helpers))) == expected  # noqa: S307  our own text
    assert await play.value(f"return {expression}") == expected


@pytest.mark.parametrize("expression", ["json_parse('{')", "json_parse('')", "batched([1], 0)"])
async def test_a_helper_refuses_nonsense(play: Play, expression: str) -> None:
    with pytest.raises(ValueError, match=r".+") as raised:
        eval(expression, dict(vars(helpers)))  # noqa: S307  our own text
    error = await play.error(f"x = 1\n{expression}")
    assert (error.kind, error.line) == (type(raised.value).__name__, 2)


async def test_retry_makes_the_call_anew_until_it_succeeds(play: Play) -> None:
    source = """
async def flaky():
    n.append(1)
    return await give("ok") if len(n) == 3 else await fail("E_TOOL_FAILED", "no")
n = []
return [await retry(flaky, wait=0), len(n), await retry(lambda: give(5), attempts=1)]
"""
    assert await play.value(source) == ["ok", 3, 5]
    assert play.tools == ["fail", "fail", "give", "give"]


async def test_retry_raises_what_the_last_attempt_raised(play: Play) -> None:
    error = await play.error("\nawait retry(lambda: fail('E_STALE', 'x'), attempts=2, wait=0.001)")
    assert (error.code, error.line, play.tools) == ("E_STALE", 2, ["fail", "fail"])


async def test_retry_tries_again_whatever_was_raised(play: Play) -> None:
    source = """
async def f():
    n.append(1)
    [][0]
n = []
try:
    await retry(f, attempts=4, wait=0)
except IndexError:
    return len(n)
"""
    assert await play.value(source) == 4


@pytest.mark.parametrize(
    "given", ["give(5)", "fail('E_INVALID_ARGS', 'no')", "fail('E_X', 'no')", "5", "None"]
)
async def test_retry_refuses_what_is_no_function_at_once(play: Play, given: str) -> None:
    error = await play.error(f"x = {given}\nawait retry(x, wait=60)")
    name = given.partition("(")[0] if "(" in given else "read_file"
    assert (error.kind, error.line, play.tools) == ("TypeError", 2, [])
    assert error.message.endswith(f"each time: retry(lambda: {name}(...))")


@pytest.mark.parametrize("raised", ["await fail('E_INVALID_ARGS', 'no')", "len(5)"])
async def test_retry_does_not_repeat_what_no_try_would_cure(play: Play, raised: str) -> None:
    source = f"""
async def f():
    n.append(1)
    {raised}
n = []
try:
    await retry(f, wait=60)
except (ToolError, TypeError):
    return len(n)
"""
    assert await play.value(source) == 1


async def test_retry_in_python_does_the_same() -> None:
    made: list[int] = []

    async def call() -> object:
        made.append(1)
        if len(made) < 3:
            raise ToolError("E_TOOL_FAILED", "no")
        return len(made)

    assert await helpers.retry(call, wait=0) == 3
    made.clear()
    with pytest.raises(ToolError):
        await helpers.retry(call, attempts=2, wait=0)
