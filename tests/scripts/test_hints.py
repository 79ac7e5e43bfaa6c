"""One line of advice for what scripts get wrong most often."""

from collections.abc import AsyncIterator, Collection
from typing import Literal

import anyio
import pytest

from lineshaft.engines import make_wasm
from lineshaft.scripts.reading import Reading, hint_for
from lineshaft.values import (
    Call,
    Done,
    Engine,
    Limits,
    Program,
    PythonOptions,
    Raised,
    ToolSpec,
    Value,
)

Specs = tuple[ToolSpec, ...]

FAILING = [
    ("async def f():\n    return 1\nawait [f(), f()]", "`await asyncio.gather(*[...])`, with the"),
    ("async def f(): pass\nawait asyncio.gather([f(), f()])", "`await asyncio.gather(*[...])`"),
    (
        "async def f(x): pass\nawait asyncio.gather(f(x) for x in 'ab')",
        "`await asyncio.gather(*(...))`",
    ),
    (
        "print(await asyncio.gather(*[await read_file(p) for p in 'ab']))",
        "leave out the inner `await`: `asyncio.gather` awaits the calls",
    ),
    (
        "async def f(): pass\nawait asyncio.gather(*[await f() for _ in 'ab'])",
        "leave out the inner `await`: `asyncio.gather` awaits the calls",
    ),
    (
        "t = asyncio.create_task(await read_file('a'))",
        "leave out the inner `await`: `create_task` takes the call itself",
    ),
    (
        "t = asyncio.ensure_future(await read_file('a'))",
        "leave out the inner `await`: `ensure_future` takes the call itself",
    ),
    ("async def main(): pass\nawait main", "call it: `await main()`"),
    ("x = await read_file('a (1')['content']", "write `(await read_file(...))[...]`"),
    ("x = await read_file('a')['total_lines']", "write `(await read_file(...))[...]`"),
    ("x = await json_parse('[1]')", "`json_parse` is no tool: leave out the `await`"),
    ("x = await json_parse('1')", "`json_parse` is no tool: leave out the `await`"),
    ("class A:\n    async def go(self): pass\na = A()\nx = await a.go", "call it: `await a.go()`"),
    ("await read_file", "call it: `await read_file()`"),
    ("x = [1]\nasync for y in x:\n    pass", "write `for`, not `async for`"),
    ("async def f(): yield 1\nfor x in f(): pass", "write `async for x in items`"),
    ("async def f(): yield 1\nlist(f())", "as a list, `[x async for x in items]`"),
    ("import read_file", "`read_file` is a tool: it is there without an import"),
    ("from read_file import read", "`read_file` is a tool: it is there without an import"),
    ("import tools.read_file", "`read_file` is a tool: it is there without an import"),
    ("import tools.readfile", "`read_file` is a tool: it is there without an import"),
    (
        "async def f():\n    read_file = await read_file('a')\nawait f()",
        "take another name than the tool's: `read_file_ = await read_file(...)`",
    ),
    (
        "for p in 'ab':\n    read_file = await read_file(p)",
        "take another name than the tool's: `read_file_ = await read_file(...)`",
    ),
    (
        "read_file = None\nprint(len('a'), await read_file('a'))",
        "take another name than the tool's: `read_file_ = await read_file(...)`",
    ),
    ("import pandas as pd", "`pandas` is not here: use lists of dicts"),
    ("import os\nos.fork()", "a tool that runs commands is needed"),
    ("import requests", "`requests` is not here: a script has no network"),
    ("import made_up_module", "`made_up_module` is not here: write it in plain Python"),
    ("import tools\nawait tools.gh.get(x=1)", "`gh.tool(...)`"),
    ("await tools['read_file']('a')", "write `getattr(tools, name)(...)`"),
    ("from tools import gone", "`gone.tool(...)`"),
    ("tools.list_issues(repo='a')", "did you mean `github.list_issues`?"),
    ("await list_issues(repo='a')", "did you mean `github.list_issues`?"),
    ("await read_fil('a')", "did you mean `read_file`?"),
    ("await githb.list_issues(repo='a')", "did you mean `github`?"),
    ("x = 'abc'\nx['a']", "json_parse(text)"),
    ("x = [1]\nx['a']", "this is a list"),
    ("x = 'abc'\nx.get('a')", "json_parse(text)"),
    ("for k, v in '{}'.items():\n    pass", "json_parse(text)"),
    ("x = '{}'\nx.json()", "json_parse(text)"),
    ("x = [1]\nx.get('a')", "this is a list"),
    ("x = [{}]\nfor k, v in x.items():\n    pass", "this is a list"),
    ("x = ToolError('no')\nx['a']", "test `isinstance(x, ToolError)` first"),
    ("x = ToolError('no')\nx.get('a')", "test `isinstance(x, ToolError)` first"),
    ("x = ToolError('no')\nx.error", "it has `code`, `message`, `tool` and `hint`"),
    ("x = ToolError('no')\n'a' in x", "test `isinstance(x, ToolError)` first"),
    ("x = ToolError('no')\nfor y in x:\n    pass", "test `isinstance(x, ToolError)` first"),
    ("from datetime import datetime\ndatetime.datetime.now()", "not `datetime.datetime`"),
    ("from datetime import datetime\ndatetime.timedelta(1)", "`from datetime import timedelta`"),
    ("return await asyncio.to_thread(read_file, 'a')", "tools need no threads: `await tool(...)`"),
    (
        "from concurrent.futures import *\nx = list(ThreadPoolExecutor().map(read_file, 'ab'))",
        "`await asyncio.gather(*[tool(x) for x in items])`",
    ),
    ("x = {}.get('a')\nx['b']", "this is None"),
    ("x = None\nx.upper()", "this is None"),
    ("x = None\nlen(x)", "this is None"),
    ("for x in {}.get('a'):\n    pass", "this is None"),
    ("async def f():\n    return {}\nx = [f()]\nx[0]['a']", "write `await` before it"),
    ("async def f():\n    return {}\nx = [f()]\nx[0].get('a')", "write `await` before it"),
    ("async def f():\n    return {}\nx = [f()]\nx[0] + 1", "write `await` before it"),
    ("async def f():\n    return {}\nx = [f()]\nfor y in x[0]:\n    pass", "write `await`"),
    ("await 5", "leave out the `await`"),
    ("async def f():\n    return 1\nx = f()\nawait x\nawait x", "keep its result in a name"),
    ("f = await read_file('a')\nf['contents']", "results of `read_file` have `path`, `content`"),
    ("d = {'a': 1}\nd['b']", "`d.get(key)`"),
    ("f = await read_file('a')\nf.content", 'write `["content"]`'),
    ("f = await read_file('a')\nf.splitlines()", 'its text is `["content"]`'),
    ("json.loads({'a': 1})", "leave out `json.loads`"),
    ("json.loads([1])", "leave out `json.loads`"),
    ("json.loads(await read_file('a'))", 'its text is `["content"]`'),
    ("re.findall('a', await read_file('a'))", 'its text is `["content"]`'),
    ("import io\nio.StringIO(await read_file('a'))", 'its text is `["content"]`'),
    ("'x' + await read_file('a')", 'its text is `["content"]`'),
    ("await read_file('a') + 'x'", 'its text is `["content"]`'),
    ("json.loads('{bad')", "`json_parse(text)`"),
    ("x = 'ab'\nfor c in x:\n    c['path']", "going through a dict gives its keys"),
    ("x = {}\nx.items['a']", '["items"]'),
    ("'a' + 1", 'use `f"{a}{b}"`'),
    ("1 + 'a'", 'use `f"{a}{b}"`'),
    ("sorted([{'a': 1}, {'a': 2}])", "sorted(items, key="),
    ("[1][5]", "the list is shorter"),
    ("a, b = [1, 2, 3]", "print(items[0])"),
    ("for a, b in await read_file('a'):\n    pass", "`(await read_file(...)).items()`"),
    ("f = await read_file('a')\nx = [a for (a, b) in f]", "gives a dict: go through `f.items()`"),
    ("for a, b in (await read_file('a'))['content']:\n    pass", "print(items[0])"),
    ("f = [[1]]\nfor a, b in f:\n    pass", "print(items[0])"),
    ("f = await read_file('a')\nfor a, b in f['content']:\n    pass", "print(items[0])"),
    ("def f():\n    return f()\nf()", "write it as a loop"),
    ("datetime.now()", "`datetime` is the module"),
    ("[].add(1)", "a list has `append`"),
    ("{}.append(1)", "`d[key] = value`"),
    ("await read_file(when=datetime.date(2024, 1, 1))", "`x.isoformat()`"),
    ("await read_file(names={'a'})", "`sorted(items)`"),
    ("await read_file(data=b'a')", "`data.decode()`"),
    ("return {1, 2}", "`sorted(items)`"),
    ("return ['a\\ud800']", '`text.encode("utf-8", "replace").decode()`'),
    ("return {'a\\ud800': 1}", '`text.encode("utf-8", "replace").decode()`'),
    ("await read_file('a\\ud800')", '`text.encode("utf-8", "replace").decode()`'),
    ("return {'a': {1: 'a'}}", "`{str(k): v for k, v in d.items()}`"),
    (
        "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int\nreturn [A(1)]",
        "`dataclasses.asdict(x)`",
    ),
    ("import enum\nclass A(enum.Enum):\n    B = 1\nreturn A.B", "`x.value`"),
    ("class A:\n    pass\nreturn A()", "`vars(x)`"),
    ("import pathlib\nreturn {'p': pathlib.Path('a')}", "`str(x)`"),
    ("import pathlib\nreturn pathlib.PurePosixPath('a')", "`str(x)`"),
    ("import collections\nreturn collections.deque([1])", "`list(x)`"),
    ("return (x for x in 'ab')", "`list(x)`"),
    ("return {}.keys()", "`list(x)`"),
    ("return {}.items()", "`list(x)`"),
    ("return range(3)", "`list(x)`"),
    ("return map(str, [1])", "`list(x)`"),
    ("return iter([1])", "`list(x)`"),
    ("return float('nan')", "give None instead"),
    ("return [-float('inf')]", "give None instead"),
    ("return 10**5000", "`hex(x)`"),
    ("import decimal\nreturn decimal.Decimal(1)", "`float(x)`, or `str(x)`"),
    ("return datetime.datetime(2024, 1, 1)", "`x.isoformat()`"),
    ("return datetime.timedelta(1)", "`x.total_seconds()`"),
    ("return bytearray(b'a')", "`bytes(data).decode()`"),
    ("return 1j", "`str(x)`"),
    ("return re.match('a', 'a')", "`m.group()`"),
    ("def f():\n    return 1\nreturn f", "call it"),
    ("return asyncio.create_task(asyncio.sleep(0))", "`await task`"),
    ("await read_file(data={1: 2})", "`{str(k): v for k, v in d.items()}`"),
    ("json.dumps({'a': {1, 2}})", "`sorted(items)`"),
    ("json.dumps({'a': datetime.date(2024, 1, 1)})", "`x.isoformat()`"),
    ("import decimal\njson.dumps([decimal.Decimal(1)])", "`float(x)`, or `str(x)`"),
    ("json.dumps({}.keys())", "`list(x)`"),
    ("import uuid\njson.dumps(uuid.uuid4())", "`str(x)`"),
    ("async def f(): pass\nx = [f()]\njson.dumps(x)", "write `await` before it"),
    ("json.dumps({(1, 2): 3})", "`{str(k): v for k, v in d.items()}`"),
    ("return object()", "return dicts, lists"),
    ("async def f():\n    return 1\nx = [f()]\nreturn x[0]", "write `await` before it"),
]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def engine() -> AsyncIterator[Engine]:
    engine = make_wasm(PythonOptions())
    yield engine
    await engine.aclose()


async def _dispatch(call: Call) -> Done:
    return Value({"path": call.tool, "content": "text", "total_lines": 1})


async def _wait(ids: Collection[str]) -> Literal["wait", "suspend"]:
    return "wait"


@pytest.mark.parametrize(("source", "words"), FAILING)
async def test_a_script_that_fails_gets_advice(
    source: str, words: str, engine: Engine, specs: Specs, reading: Reading
) -> None:
    prepared = await reading.read(source, specs=specs)
    program = Program(source=prepared.program_source, tools=frozenset({"read_file"}))
    with anyio.fail_after(30):
        outcome = await engine.run(
            program,
            _dispatch,
            limits=Limits(seconds=10),
            output=lambda stream, text: None,
            waiting=_wait,
        )
    assert isinstance(outcome, Raised)
    hint = hint_for(outcome, source=source, specs=specs)
    assert words in hint
    assert "\n" not in hint


@pytest.mark.parametrize(
    ("kind", "message", "words"),
    [
        ("TypeError", "'coroutine' object is not subscriptable", "write `await`"),
        ("TypeError", "sequence item 0: expected str instance, coroutine found", "write `await`"),
        ("TypeError", "list indices must be integers or slices, not coroutine", "write `await`"),
        ("TypeError", "__str__ returned non-string (type coroutine)", "write `await`"),
        ("TypeError", "unsupported format string passed to coroutine.__format__", "write `await`"),
        ("TypeError", "object int can't be used in 'await' expression", "leave out"),
        ("TypeError", "object function can't be used in 'await' expression", "call it"),
        ("SyntaxError", "keyword argument repeated: a", "give each argument once"),
        ("TypeError", "read_file() missing 1 required positional argument", "read_file(path"),
        ("TypeError", "Object of type Own is not JSON serializable", "return dicts"),
        ("FileNotFoundError", "[Errno 2] No such file or directory: 'a'", "`await read_file("),
        ("TypeError", "'builtin_function_or_method' object is not subscriptable", '["items"]'),
        ("ToolError", "find: when is not JSON: it is a datetime", "`x.isoformat()`"),
        ("ToolError", "find: names is not JSON: it is a set", "`sorted(items)`"),
        ("TypeError", "'method' object is not iterable", '["items"]'),
        ("SyntaxError", "unterminated string literal (detected at line 1)", "close the quote"),
    ],
)
def test_other_engines_words_are_understood(
    kind: str, message: str, words: str, specs: Specs
) -> None:
    raised = Raised(kind=kind, message=message, line=1)
    assert words in hint_for(raised, source="x", specs=specs)


@pytest.mark.parametrize(
    "raised",
    [
        Raised(kind="ImportError", message="cannot import name 'batched' from 'itertools' (x)"),
        Raised(kind="AttributeError", message="module 'itertools' has no attribute 'batched'"),
    ],
)
def test_a_name_that_an_older_python_lacks_is_told_with_its_version(raised: Raised) -> None:
    hint = hint_for(raised, source="x", specs=(), python="3.11")
    assert hint.startswith("the engine has Python 3.11, and `batched` may be of a later one")
    assert "on the engine `wasm`, which has 3.14" in hint
    assert hint_for(raised, source="x", specs=()) == ""
    other = Raised(kind=raised.kind, message=raised.message.replace("itertools", "pandas"))
    assert hint_for(other, source="x", specs=(), python="3.11") == ""


def test_the_keys_of_an_item_are_named(specs: Specs) -> None:
    raised = Raised(
        kind="AttributeError", message="'dict' object has no attribute 'endswith'", line=2
    )
    source = "for f in (await find_files('*'))['entries']:\n    print(f.endswith('.py'))"
    hint = hint_for(raised, source=source, specs=specs)
    assert "an item of `entries` in results of `find_files`" in hint
    assert 'write `f["path"]`' in hint
    listed = "for i in await github.list_issues('a'):\n    print(i.endswith('.py'))"
    assert 'write `i["title"]`' in hint_for(raised, source=listed, specs=specs)
    single = "f = await read_file('a')\nprint(f.endswith('.py'))"
    assert '`["content"]`' in hint_for(raised, source=single, specs=specs)
    other = "for f in [{}]:\n    print(f.endswith('.py'))"
    assert 'write `["endswith"]`' in hint_for(raised, source=other, specs=specs)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("for e in await find_files(f(')', x))['entries']:", "`(await find_files(...))[...]`"),
        ("x = await github.list_issues('a')[0]", "`(await github.list_issues(...))[...]`"),
        ("x = await tools.find_files('*').entries", "`(await find_files(...)).entries`"),
        ("await [find_files('*')['entries']]", "`await asyncio.gather(*[...])`"),
        ("await own('a')[0]", "`await asyncio.gather(*[...])`"),
        ("await find_files('*'", "`await asyncio.gather(*[...])`"),
    ],
)
def test_an_await_before_a_part_of_a_result_is_told(line: str, words: str, specs: Specs) -> None:
    raised = Raised(kind="TypeError", message="'list' object can't be awaited", line=1)
    assert words in hint_for(raised, source=line, specs=specs)


@pytest.mark.parametrize(
    "raised",
    [
        Raised(kind="ValueError", message="the author's own words"),
        Raised(kind="ToolError", message="KeyError: 'x' None", code="E_DENIED", tool="x", line=1),
        Raised(kind="ZeroDivisionError", message="division by zero", line=99),
        Raised(kind="Strange", message="", line=0),
        Raised(kind="TypeError", message="'module' object is not subscriptable", line=1),
    ],
)
def test_nothing_is_said_where_nothing_is_known(raised: Raised, specs: Specs) -> None:
    assert hint_for(raised, source="return 1", specs=specs) == ""


def test_a_dict_that_is_called_beside_a_tool_has_not_hidden_it(specs: Specs) -> None:
    raised = Raised(kind="TypeError", message="'dict' object is not callable", line=2)
    source = "read_file_rows = {}\nread_file_rows(await read_file('a'))"
    assert hint_for(raised, source=source, specs=specs) == ""


def test_an_await_behind_what_gather_is_given_is_not_told_of(specs: Specs) -> None:
    raised = Raised(kind="TypeError", message="unhashable type: 'dict'", line=1)
    source = "a, b = {*await asyncio.gather(f(1), g(2))}, await h()"
    assert hint_for(raised, source=source, specs=specs) == ""


def test_json_parse_is_not_proposed_where_it_failed(specs: Specs) -> None:
    raised = Raised(kind="JSONDecodeError", message="Expecting value", line=1)
    assert hint_for(raised, source="x = json_parse('{bad')", specs=specs) == ""
