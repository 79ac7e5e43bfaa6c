"""The rule about a forgotten `await`, sample by sample."""

import asyncio
import textwrap
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineshaft.scripts.reading import Prepared

Prepare = Callable[..., Prepared]


def samples(name: str) -> dict[str, str]:
    """Return the samples of a file by their titles."""
    text = (Path(__file__).parent / "samples" / name).read_text("utf-8")
    titled = (part.split("\n", 1) for part in text.split("=== ")[1:])
    return {title: body.removesuffix("\n") for title, body in titled}


REPAIRED = samples("awaits_repaired.txt")
"""The script, an arrow, the program."""

KEPT = samples("awaits_kept.txt")

REPORTED: dict[str, tuple[str, int, int, str]] = {
    "sorted by a lambda": ("x = sorted(ps, key=lambda p: fetch(p)['n'])", 1, 20, "asyncio.gather"),
    "sorted by a tool": ("x = sorted(ps, key=fetch)", 1, 20, "gather(*[fetch(x) for x in ps])"),
    "min by a lambda": (
        "x = min(ps, key=lambda p: fetch(p)['n'])",
        1,
        17,
        "then `min(zip(results, ps), key=lambda pair: pair[0])[1]`",
    ),
    "max of several": ("x = max(a, b, key=fetch)", 1, 19, "gather(*[fetch(x) for x in items])"),
    "a lambda that adds up": (
        "f = lambda ps: sum(fetch(p) for p in ps)",
        1,
        20,
        "write `async def name(...)` with `await fetch(...)` in it",
    ),
    "max by a tool": ("x = max(ps, key=fetch)", 1, 17, "gather(*[fetch(x) for x in ps])"),
    "sort by a lambda": ("ps.sort(key=lambda p: fetch(p))", 1, 13, "zip(results, ps)"),
    "filter": ("x = list(filter(lambda p: fetch(p)['ok'], ps))", 1, 17, "if keep"),
    "filter by a tool": ("x = [p for p in filter(fetch, ps)]", 1, 24, "if keep"),
    "map": ("x = list(map(fetch, ps))\nreturn x[0]['a']", 1, 14, "gather(*[fetch(x) for x in ps])"),
    "map in sum": ("é = 'ü'; n = sum(map(fetch, ps))", 1, 22, "gather(*[fetch(x) for x in ps])"),
    "map over a lambda": ("x = list(map(lambda p: fetch(p)['n'], ps))", 1, 14, "async def one"),
    "sorted by a function": (
        "def size(p):\n    return fetch(p)['n']\nx = sorted(ps, key=size)",
        2,
        12,
        "async def size",
    ),
    "a lambda": ("f = lambda p: fetch(p)['n']\nreturn f(1)", 1, 15, "async def"),
    "a generator": (
        "def g():\n    for p in ps:\n        yield fetch(p)['n']",
        3,
        15,
        "async def g",
    ),
    "a decorated function": (
        "@cache\ndef f(p):\n    return fetch(p)['n']\nf(1)",
        3,
        12,
        "async def f",
    ),
    "a function bound twice": (
        "def f(p):\n    return fetch(p)['n']\nf = f or None\nf(1)",
        2,
        12,
        "async def f",
    ),
    "a method of two classes": (
        "class A:\n    def f(self): return fetch(1)['n']\nclass B:\n    def f(self): pass\nA().f()",
        2,
        25,
        "async def f",
    ),
    "a method used as a value": (
        "class A:\n    def f(self): return fetch(1)['n']\ng = A().f",
        2,
        25,
        "async def f",
    ),
    "gather in a decorated function": (
        "@cache\ndef f():\n    asyncio.gather(fetch(1))",
        3,
        5,
        "async def f",
    ),
    "a constructor": (
        "class A:\n    def __init__(self, p):\n        self.text = fetch(p)['a']",
        3,
        21,
        "make the call before, and give its result to `A(...)`",
    ),
    "a class body": ("class A:\n    x = fetch(1)['a']", 2, 9, "before the class"),
    "await in a generator": ("def g():\n    yield await fetch(1)", 2, 11, "async def g"),
    "a list that is the value": ("return [fetch(p) for p in ps]", 1, 9, "gather"),
    "a dict that is the value": ("return {'a': 1, 'b': fetch(1)}", 1, 22, "await"),
    "a list that is the last expression": (
        "x = 1\n[fetch(1), fetch(2)][:]\n(1, fetch(3))",
        3,
        5,
        "await",
    ),
    "a function called where nothing can wait": (
        "def f(p):\n    return fetch(p)['n']\nx = sorted(ps, key=lambda p: f(p))",
        2,
        12,
        "async def f",
    ),
    "a special method": (
        "class A:\n    def __len__(self):\n        return len(fetch(1))\nlen(A())",
        3,
        20,
        "of another name; `__len__` cannot wait",
    ),
    "an __enter__": (
        "class A:\n    def __enter__(self):\n        fetch(1)['n']",
        3,
        9,
        "`async def __aenter__(self)`, and use the object with `async with`",
    ),
    "a generator of its results": (
        "def f(p):\n    for x in fetch(p)['n']:\n        yield x\nlist(f(1))",
        2,
        14,
        "`async for` over each call of it",
    ),
    "an await in a generator": (
        "def f(p):\n    for x in (await fetch(p)):\n        yield x\nlist(f(1))",
        2,
        15,
        "`async for` over each call of it",
    ),
    "a property": (
        "class A:\n    @property\n    def n(self):\n        return fetch(1)['n']\nA().n",
        4,
        16,
        "`async def n(self)`, and `await x.n()`",
    ),
    "a cache": (
        "from functools import lru_cache\n@lru_cache(9)\ndef f(p):\n    return fetch(p)['n']\nf(1)",
        4,
        12,
        "without the decorator, and keep its results in a dict",
    ),
    "a function that is passed on": (
        "def f(p):\n    return fetch(p)['n']\nx = sorted(ps, key=f)",
        2,
        12,
        "`await asyncio.gather(*[f(x) for x in items])`",
    ),
    "a dict by keywords that is the value": ("return dict(a=[fetch(1)])", 1, 16, "await"),
    "an await in a lambda": ("f = lambda p: await fetch(p)", 1, 15, "async def"),
    "an await in a sort by a lambda": (
        "ps.sort(key=lambda p: await fetch(p))",
        1,
        13,
        "zip(results, ps)",
    ),
    "an await in a class body": ("class A:\n    x = await fetch(1)", 2, 9, "before the class"),
    "an `async with` in a class body": (
        "class A:\n    async with gate:\n        pass",
        2,
        5,
        "before the class",
    ),
    "an `async for` in a decorated function": (
        "@cache\ndef f():\n    async for x in ticks():\n        print(x)\nf()",
        3,
        5,
        "async def f",
    ),
    "an `async for` in a list of a lambda": (
        "f = lambda: [x async for x in ticks()]",
        1,
        13,
        "async def",
    ),
    "an `async for` over a result": (
        "async for row in fetch(1):\n    print(row)",
        1,
        18,
        "`for row in await fetch(1):`",
    ),
    "an `async for` over a result in a list": (
        "x = [row['a'] async for row in fetch(1)]",
        1,
        32,
        "`for row in await fetch(1)`",
    ),
    "a manager of a context": (
        "import contextlib\n@contextlib.contextmanager\ndef f():\n    yield fetch(1)['n']",
        4,
        11,
        "`@asynccontextmanager` and `async def f(...)`",
    ),
}


@pytest.mark.parametrize("name", REPAIRED)
def test_a_forgotten_await_is_put_in(name: str, prepare: Prepare) -> None:
    source, expected = REPAIRED[name].split("\n--->\n")
    prepared = prepare(source)
    assert prepared.program_source == expected
    assert (prepared.findings, prepared.unawaited) == ((), ())
    again = prepare(expected)
    assert again.program_source == expected


@pytest.mark.parametrize("name", KEPT)
def test_what_is_right_or_not_known_stays_as_it_is(name: str, prepare: Prepare) -> None:
    prepared = prepare(KEPT[name])
    assert prepared.program_source == KEPT[name]
    assert (prepared.findings, prepared.unawaited) == ((), ())


@pytest.mark.parametrize("name", REPORTED)
def test_what_cannot_be_repaired_is_a_finding_with_the_rewrite(name: str, prepare: Prepare) -> None:
    source, line, column, words = REPORTED[name]
    prepared = prepare(source)
    finding = prepared.unawaited[0]
    assert (finding.code, finding.level) == ("not-awaited", "error")
    assert (finding.line, finding.column) == (line, column)
    assert words in finding.hint
    assert prepared.ok


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("get", "built-in types have a method of this name, too"),
        ("__call__", "Python itself calls a method of this name"),
    ],
)
def test_why_a_method_is_not_made_async_goes_with_the_rewrite(
    name: str, why: str, prepare: Prepare
) -> None:
    source = f"class A:\n    def {name}(self, u):\n        return fetch(u)['a']\nx = A().{name}(1)"
    finding = prepare(source).unawaited[0]
    assert finding.message.endswith(f"`{name}` cannot be made async: {why}")
    assert f"write `async def {name}(...)`" in finding.hint


def _run(program: str, **names: object) -> object:
    """Run a repaired script with plain Python, its tools being async functions."""

    async def fetch(url: object) -> dict[str, object]:
        await asyncio.sleep(0)
        return {"a": url, "n": len(str(url))}

    body = textwrap.indent(program, "    ")
    scope: dict[str, object] = {"asyncio": asyncio, "fetch": fetch, **names}
    exec(f"async def script():\n{body}\n", scope)  # noqa: S102  scripts of this file
    made = cast("Callable[[], Coroutine[object, object, object]]", scope["script"])
    return asyncio.run(made())


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("return fetch('u')['a']", "u"),
        ("return sum(fetch(p)['n'] for p in ps if fetch(p))", 6),
        ("return max((fetch(p)['n'], p) for p in ps)", (3, "ccc")),
        ("def f(p):\n    return fetch(p)['n']\nreturn [f(p) + 1 for p in ps]", [2, 3, 4]),
        (
            "xs = [fetch(p) for p in ps]\nrs = asyncio.gather(*xs)\nreturn [r['n'] for r in rs]",
            [1, 2, 3],
        ),
        (
            "class A:\n    def n(self, p): return fetch(p)['n']\nreturn A().n('ccc') + A().n('a')",
            4,
        ),
        ("return f\"{fetch('é')['a']:>3}|{len(fetch('b'))}\"", "  é|2"),
        (
            "def walk(n):\n    return fetch(n)['n'] + (walk(n - 1) if n else 0)\nreturn walk(11)",
            14,
        ),
        ("a, b = fetch(1), fetch(22)\nreturn b['n'] - a['n']", 1),
        ("return max((fetch(p) for p in ps), key=lambda r: r['n'])['a']", "ccc"),
        ("return [i + r['n'] for i, r in enumerate(fetch(p) for p in ps)]", [1, 3, 5]),
        ("return [p + r['a'] for p, r in ((p, fetch(p)) for p in ps)]", ["aa", "bbbb", "cccccc"]),
        ("a, *b = (fetch(p)['n'] for p in ps)\nreturn [a, b]", [1, [2, 3]]),
        (
            "def texts(xs):\n    return (fetch(x)['a'] for x in xs)\nreturn list(texts(ps))",
            ["a", "bb", "ccc"],
        ),
        (
            "import itertools as i\nreturn [*i.chain.from_iterable(fetch(p)['a'] for p in ps)]",
            ["a", "b", "b", "c", "c", "c"],
        ),
    ],
)
def test_a_repaired_script_means_what_it_should(
    source: str, value: object, prepare: Prepare
) -> None:
    program = prepare(source).program_source
    assert _run(program, ps=["a", "bb", "ccc"]) == value


STATEMENTS = [
    "x = fetch('é')['a']",
    "print(f'ü {fetch(1)} {len(fetch(2))}')",
    "fetch(\n    1,\n)",
    "s = '''\nfetch(1)\nü'''; fetch(s)",
    "n = sum(fetch(p)['n'] for p in 'é')",
    "asyncio.run(fetch(1))",
    "t = fetch(1)",
    "await t",
    "if fetch(1):\n    fetch(2)['b']",
]


@given(statements=st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=12))
@settings(deadline=None)
def test_only_awaits_are_added_and_every_line_stays(
    statements: Sequence[str], prepare: Prepare
) -> None:
    source = "\n".join(statements)
    prepared = prepare(source)
    program = prepared.program_source
    assert program.count("\n") == source.count("\n")
    plain = program
    for added in ("(await ", "(", ")", "[", "]", " ", "await"):
        plain = plain.replace(added, "")
    bare = source
    for added in ("(", ")", "[", "]", " ", "await"):
        bare = bare.replace(added, "")
    assert plain == bare
    assert prepare(program).program_source == program
