"""How a script calls tools: by every name, at once, one after another, or never."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.play import Play

NAMES: dict[str, tuple[str, str]] = {
    "by name": ("return await give('x')", "give"),
    "in the module of all tools": ("return await tools.give('x')", "give"),
    "in a namespace": ("return await github.give('x')", "github.give"),
    "imported": ("from tools import give\nreturn await give('x')", "give"),
    "imported from a namespace": ("from github import give\nreturn await give('x')", "github.give"),
    "imported under another name": ("from tools import give as g\nreturn await g('x')", "give"),
    "module imported": ("import github\nreturn await github.give('x')", "github.give"),
    "module under another name": ("import github as gh\nreturn await gh.give('x')", "github.give"),
    "under a name of one's own": ("f = give\nreturn await f('x')", "give"),
    "from a list": ("fs = [github.give]\nreturn await fs[0]('x')", "github.give"),
    "through a parameter": ("async def f(g): return await g('x')\nreturn await f(give)", "give"),
    "in a namespace of all tools": ("return await tools.github.give('x')", "github.give"),
    "namespace imported": ("from tools import github as g\nawait g.give('x')", "github.give"),
    "imported from all tools": (
        "from tools.github import give\nreturn await give('x')",
        "github.give",
    ),
    "namespace of all tools imported": (
        "import tools.github\nreturn await tools.github.give('x')",
        "github.give",
    ),
    "by getattr": ("return await getattr(github, 'give')('x')", "github.give"),
}  # fmt: skip  # words, not one a line


@pytest.mark.parametrize(("source", "tool"), NAMES.values(), ids=NAMES)
async def test_a_tool_is_called_by_any_of_its_names(play: Play, source: str, tool: str) -> None:
    assert await play.value(source) == "x"
    assert play.tools == [tool]


async def test_arguments_arrive_as_they_were_given(play: Play) -> None:
    await play.value(
        "await give([1, (2,)], a='x', **{'b': None})\nawait give()\nawait give(*[1, 2])"
    )
    first, second, third = play.calls
    assert (first.positional, dict(first.arguments)) == (([1, [2]],), {"a": "x", "b": None})
    assert (second.positional, dict(second.arguments)) == ((), {})
    assert third.positional == (1, 2)
    assert [call.id for call in play.calls] == ["1", "2", "3"]
    assert {call.origin for call in play.calls} == {"script"}


VALUES: dict[str, tuple[str, object]] = {
    "as a statement": ("await give(1)\n2", 2),
    "as the last expression": ("await give({'a': 1})", {"a": 1}),
    "indexed": ("return (await give({'a': [5]}))['a'][0]", 5),
    "in an expression": ("return 1 + await give(2) * 3 - await give(1)", 6),
    "in an argument": ("return await give(await give(4))", 4),
    "in a condition": ("if await give(True) and not await give(False): return 'in'", "in"),
    "in a comprehension": ("return [await give(n) for n in range(3) if await give(n)]", [1, 2]),
    "in an f-string": ("return f'{await give(1)}-{await give(2)!r:>3}'", "1-  2"),
    "in a loop": ("t = 0\nfor n in range(4):\n    t += await give(n)\nt", 6),
    "in a while": ("n = 3\nwhile await give(n): n -= 1\nn", 0),
    "in a function": ("async def f(n): return await give(n)\nreturn await f(7)", 7),
    "in asyncio.run": ("async def f():\n    return await give(7)\nreturn asyncio.run(f())", 7),
    "over lines": ("x = await give(\n    # why\n    8,\n)\nx", 8),
    "over a line break": ("x = (await\n     give(8))\nx", 8),
    "in parentheses": ("return await (give(9))", 9),
    "in try": ("try:\n    return await give(1)\nfinally:\n    await give(2)", 1),
    "on many statements of a line": ("a = await give(1); b = await give(2); return [a, b]", [1, 2]),
    "beyond ASCII": ("ä = await give('ö'); return [ä, await give('€')]", ["ö", "€"]),
}


@pytest.mark.parametrize(("source", "expected"), VALUES.values(), ids=VALUES)
async def test_a_call_gives_its_value_wherever_it_stands(
    play: Play, source: str, expected: object
) -> None:
    assert await play.value(source) == expected


AT_ONCE: dict[str, str] = {
    "in gather": "await asyncio.gather(meet(3), meet(3), meet(3))",
    "from a list": "await asyncio.gather(*[meet(3) for _ in range(3)])",
    "from a list built before": (
        "jobs = []\nfor _ in range(3):\n    jobs.append(meet(3))\nawait asyncio.gather(*jobs)"
    ),
    "in functions": (
        "async def f():\n    await give(1)\n    return await meet(3)\n"
        "await asyncio.gather(f(), f(), f())"
    ),
    "in nested gather": (
        "async def f():\n    await asyncio.gather(meet(3), meet(3))\n"
        "await asyncio.gather(f(), meet(3))"
    ),
    "by a plain function that returns the call": (
        "def f(): return meet(3)\nawait asyncio.gather(*[f() for _ in range(3)])"
    ),
    "by a function given away": (
        "def f(n): return meet(n)\nawait asyncio.gather(*map(f, [3, 3, 3]))"
    ),
    "under another name": "f = meet\nawait asyncio.gather(*[f(3) for _ in range(3)])",
    "beside sleep": "await asyncio.gather(meet(3), asyncio.sleep(0), meet(3), meet(3))",
    "by gather imported by name": (
        "from asyncio import gather\nasync def f(): return await meet(3)\n"
        "await gather(f(), f(), f())"
    ),
}


@pytest.mark.parametrize("source", AT_ONCE.values(), ids=AT_ONCE)
async def test_calls_that_are_gathered_run_at_once(play: Play, source: str) -> None:
    await play.value(source)
    assert play.tools.count("meet") == 3


async def test_gathered_results_come_in_the_order_of_the_calls(play: Play) -> None:
    value = await play.value("return await asyncio.gather(*[give(n) for n in range(50)])")
    assert value == list(range(50))
    assert [call.positional for call in play.calls] == [(n,) for n in range(50)]


async def test_a_call_is_made_when_it_is_awaited(play: Play) -> None:
    source = "a = give('a')\nb = give('b')\nprint('now')\nreturn [await b, await a]"
    assert await play.value(source) == ["b", "a"]
    assert [call.positional for call in play.calls] == [("b",), ("a",)]


NEVER: dict[str, tuple[str, int]] = {
    "as a statement": ("x = 1\ngive(1)\nx", 2),
    "kept in a name": ("a = give(1)\n\nb = give(2)\nawait a", 3),
    "in a list": ("jobs = [give(n) for n in range(3)]\nawait give(9)", 1),
    "by another name": ("f = give\n\nf(1)", 3),
    "in a module": ("\n\ngithub.give(1)", 3),
}


@pytest.mark.parametrize(("source", "line"), NEVER.values(), ids=NEVER)
async def test_a_call_that_is_never_awaited_is_not_made_and_fails_the_run(
    play: Play, source: str, line: int
) -> None:
    error = await play.error(source)
    assert (error.code, error.line) == ("E_NOT_AWAITED", line)
    awaited = source.count("await")
    assert len(play.calls) == awaited


REFUSED = {
    "a function": "def f(): pass\nawait give(f)",
    "a lambda": "await give({'a': [lambda: 1]})",
    "a tool": "await give(hold)",
    "a set": "await give({1})",
    "an instance": "class A: pass\nawait give(A())",
    "a number that JSON has not": "await give(float('inf'))",
    "a key": "await give({1: 2})",
}


@pytest.mark.parametrize("source", REFUSED.values(), ids=REFUSED)
async def test_an_argument_that_is_not_json_is_refused_at_the_call(play: Play, source: str) -> None:
    error = await play.error(source)
    assert (error.kind, error.code, error.tool) == ("ToolError", "E_INVALID_ARGS", "give")
    assert error.message.startswith("give: argument 1")
    assert play.calls == []


async def test_a_refused_argument_can_be_caught_in_gather(play: Play) -> None:
    source = """
async def one(value):
    try:
        return await give(x=value)
    except ToolError as e:
        return e.message
return await asyncio.gather(one(1), one({2}))
"""
    assert await play.value(source) == [1, "give: x is not JSON: it is a set"]


async def test_an_unknown_name_is_not_dispatched(play: Play) -> None:
    error = await play.error("await github.nope(1)")
    assert error.kind == "AttributeError"
    error = await play.error("await list_issues(1)")
    assert (error.kind, error.message) == ("NameError", "name 'list_issues' is not defined")
    assert play.calls == []


async def test_files_and_environment_are_out_of_reach(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINESHAFT_TEST_SECRET", "out of reach")
    error = await play.error("x = 1\nopen('/etc/passwd')")
    assert error.line == 2
    assert "LINESHAFT_TEST_SECRET" not in str(await play.value("import os\ndict(os.environ)"))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(numbers=st.lists(st.integers(0, 5), min_size=1, max_size=5), gathered=st.booleans())
async def test_every_call_is_dispatched_once_in_the_order_of_the_script(
    play: Play, numbers: list[int], gathered: bool
) -> None:
    play.calls.clear()
    calls = ", ".join(f"give({n})" for n in numbers)
    if gathered:
        source = f"return await asyncio.gather({calls})"
    else:
        source = f"return [{calls.replace('give', 'await give')}]"
    assert await play.value(source) == numbers
    assert [call.positional for call in play.calls] == [(n,) for n in numbers]
    assert [call.id for call in play.calls] == [str(n + 1) for n in range(len(numbers))]


LONG: dict[str, str] = {
    "a text": "'é\"\\n' * 1_000_000",
    "texts": "['abcd' * 300] * 4_000",
    "numbers": "list(range(200_000))",
    "a dict": "{'a': ['b'] * 100_000}",
}


@pytest.mark.parametrize("source", LONG.values(), ids=LONG)
async def test_what_is_long_crosses_both_ways(play: Play, source: str) -> None:
    """In a time that grows with the length, not with its square: that would take minutes."""
    sent = await play.value(f"x = {source}\ny = await give(x)\nassert x == y\nreturn y")
    assert sent == eval(source)  # noqa: S307  our own words


async def test_a_long_message_of_an_error_comes_whole(play: Play) -> None:
    source = (
        "try:\n    await fail('E_X', 'ab' * 50_000)\nexcept ToolError as e:\n    return e.message"
    )
    assert await play.value(source) == "ab" * 50_000
