"""What the check of a script finds, and what it lets pass."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from lineshaft.checker import TyChecker
from lineshaft.engines.guest.reading.kinds import certainly_wrong
from lineshaft.scripts.reading import Reading, strangers
from lineshaft.values import Checker, Diagnostic, Finding, PythonTarget, Stubs, ToolSpec

Specs = tuple[ToolSpec, ...]
Level = Literal["error", "warn", "off"]

LATEST = PythonTarget()
INPUTS = {"city": "Oslo", "rows": [{"n": 1}], "count": 3}


def samples(name: str) -> list[tuple[str, str]]:
    """Return the samples of a file with their titles."""
    text = (Path(__file__).parent / "samples" / name).read_text("utf-8")
    titled = (part.split("\n", 1) for part in text.split("=== ")[1:])
    return [(title, body.removesuffix("\n")) for title, body in titled]


GOOD = samples("check_good.txt")
BAD = samples("check_bad.txt")
"""Titles: the code, and what the hint holds; a mark stands before the place."""


async def said(
    source: object, specs: Specs, checker: Checker, reading: Reading, level: Level = "error"
) -> tuple[Finding, ...]:
    """Return what there is to say of a script."""
    prepared = await reading.read(source, specs=specs)
    return await reading.check(prepared, checker=checker, inputs=INPUTS, level=level)


async def found(
    source: str, specs: Specs, checker: Checker, reading: Reading, level: Level = "error"
) -> list[tuple[str, str, int | None]]:
    """Return level, code and line of each finding."""
    told = await said(source, specs, checker, reading, level)
    return [(f.level, f.code, f.line) for f in told]


@pytest.fixture(scope="module")
async def checker() -> AsyncIterator[TyChecker]:
    checker = TyChecker()
    yield checker
    await checker.aclose()


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize(("title", "source"), GOOD, ids=[title for title, _ in GOOD])
async def test_a_good_script_is_not_blocked(
    title: str, source: str, specs: Specs, checker: TyChecker, reading: Reading
) -> None:
    found = await said(source, specs, checker, reading)
    assert [f for f in found if f.level == "error" or f.code == "checker-failed"] == [], title


async def test_a_text_sought_among_keys_is_told_and_runs(
    specs: Specs, checker: TyChecker, reading: Reading
) -> None:
    for source in (
        'print("TODO" in await read_file("a"))',
        'f = read_file("a")\nif "TODO" not in f: print(1)',
    ):
        told = await said(source, specs, checker, reading)
        assert [(f.level, f.code) for f in told] == [("warning", "unknown-key")]
        assert "`in` looks among these alone" in told[0].message


@pytest.mark.parametrize(
    ("title", "marked"), BAD, ids=[f"{n} {title}" for n, (title, _) in enumerate(BAD)]
)
async def test_a_bad_script_is_blocked_at_its_place(
    title: str, marked: str, specs: Specs, checker: TyChecker, reading: Reading
) -> None:
    code, *words = title.split(" ", 1)
    before, _, after = marked.partition("«")
    line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
    found = await said(before + after, specs, checker, reading)
    first = found[0]
    assert (first.level, first.code, first.line, first.column) == ("error", code, line, column)
    assert "".join(words) in first.hint


async def test_what_does_not_block_is_told(
    specs: Specs, checker: TyChecker, reading: Reading
) -> None:
    source = "import pandas\nx = await read_file('a')\nx['more'] = 1\nreturn x\nprint(x)"
    assert await found(source, specs, checker, reading) == [
        ("warning", "invalid-typed-dict-key", 3),
        ("warning", "unreachable-code", 5),
        ("info", "unresolved-import", 1),
    ]


@pytest.mark.parametrize(
    "name", ["code", "secrets", "numbers", "tkinter.Tk", "lzma.open", "_thread.start"]
)
async def test_no_import_is_proposed_for_a_variable_or_a_missing_module(
    name: str, specs: Specs, checker: Checker, reading: Reading
) -> None:
    told = await said(f"print({name})", specs, checker, reading)
    assert [(f.code, f.hint) for f in told] == [("undefined-name", "")]


async def test_what_gather_gives_with_its_errors_is_used_without_a_warning(
    specs: Specs, checker: TyChecker, reading: Reading
) -> None:
    gathered = (
        "rs = await asyncio.gather(read_file('a'), read_file('b'), return_exceptions=True)\n"
        "x, y = await asyncio.gather(\n"
        "    find_files('a'), github.list_issues('a'), return_exceptions=True\n"
        ")\n"
    )
    for use in (
        "for r in rs:\n    if isinstance(r, Exception): print(r)\n    else: print(r['path'])",
        "print([r['path'] for r in rs if not isinstance(r, Exception)])",
        "ok = [r for r in rs if not isinstance(r, Exception)]\nfor r in ok: print(r['path'])",
        "if not isinstance(y, Exception):\n    for i in y: print(i['title'], *y)",
        "if not isinstance(y, Exception): first, *others = y",
    ):
        assert await said(gathered + use, specs, checker, reading) == ()


async def test_a_list_in_a_dict_of_mixed_values_is_gone_over_without_a_warning(
    specs: Specs, checker: TyChecker, reading: Reading
) -> None:
    source = (
        'rows = [{"text": await read_file("a"), "n": 1, "of": [1, 2]}]\n'
        'for row in rows:\n    for x in row["of"]: print(x, row["n"])'
    )
    assert await said(source, specs, checker, reading) == ()

    source = 'rows = {"a": [await read_file("a")]}\nfor x in rows.get("b"): print(x)'
    told = await said(source, specs, checker, reading)
    assert [(f.level, f.code, f.line) for f in told] == [("warning", "not-iterable", 2)]


async def test_all_that_is_wrong_is_found_at_once_errors_first(
    specs: Specs, checker: TyChecker, reading: Reading
) -> None:
    source = "import pandas\nawait read_file()\nawait nope.x()\nawait read_file(1, 2)\nnope"
    assert await found(source, specs, checker, reading) == [
        ("error", "missing-argument", 2),
        ("error", "undefined-name", 3),
        ("error", "wrong-argument", 4),
        ("error", "too-many-arguments", 4),
        ("info", "unresolved-import", 1),
    ]


async def test_with_warn_nothing_blocks_and_with_off_nothing_is_said(
    specs: Specs, checker: TyChecker, reading: Reading
) -> None:
    source = "await read_file()\nx = sorted([], key=read_file)\nreturn nope"
    warned = await found(source, specs, checker, reading, "warn")
    assert [level for level, _, _ in warned] == ["warning"] * 3
    assert await found(source, specs, checker, reading, "off") == []


@pytest.mark.parametrize("level", ["error", "warn", "off"])
async def test_what_nobody_can_read_blocks_at_every_level(
    level: Level, specs: Specs, checker: TyChecker, reading: Reading
) -> None:
    assert await found("x = (", specs, checker, reading, level) == [("error", "syntax-error", 1)]
    (told,) = await said(5, specs, checker, reading, "off")
    assert told.code == "E_INVALID_ARGS"


async def test_the_parameter_of_a_wrong_argument_is_named(
    specs: Specs, checker: TyChecker, reading: Reading
) -> None:
    source = "await read_file(1)\nawait read_file('a', start='b')\nawait read_file(*[1], 2)"
    told = await said(source, specs, checker, reading)
    assert [f.message for f in told] == [
        "`path` of `read_file` must be str, not Literal[1]",
        '`start` of `read_file` must be int, not Literal["b"]',
        "`read_file` takes `path` alone by position: write name=value",
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("mail('q', 2)", ""),
        ("mail(from_='q', n=2)", ""),
        ("mail(**{'from': 'q', 'max-results': 3})", ""),
        ("mail('q', 2, **{'max-results': 3})", ""),
        ("mail('q', 2, max_results=3)", ""),
        ("mail(5)", "`from` of `mail` must be str, not Literal[5]"),
        ("mail(from_=5)", "`from_` of `mail` must be str, not Literal[5]"),
        ("mail('q', max_results='3')", '`max_results` of `mail` must be int, not Literal["3"]'),
        ("mail(n=2)", "`mail` is called without `from_`"),
        ("mail('q', 2, 3)", "`mail` takes `from`, `n` by position: write name=value"),
    ],
)
async def test_a_parameter_that_no_keyword_can_name_is_checked_as_it_is_taken(
    call: str, message: str, checker: TyChecker, reading: Reading
) -> None:
    number = {"type": "integer"}
    mail = ToolSpec(
        name="mail",
        input_schema={
            "type": "object",
            "properties": {"from": {"type": "string"}, "n": number, "max-results": number},
            "required": ["from"],
        },
        positional=("from", "n"),
        keywords={"from_": "from", "max_results": "max-results"},
    )
    told = await said(f"await {call}", (mail,), checker, reading)
    assert [f.message for f in told] == ([message] if message else [])


@pytest.mark.parametrize(
    ("use", "hint"),
    [
        ("await weather(city='x')", "did you mean `demo.weather("),
        ("await wether(city='x')", "did you mean `demo.weather("),
        ("await tools.weather(city='x')", "did you mean `demo.weather("),
        ("await demo__weather(city='x')", "did you mean `demo.weather("),
        ("await mcp__demo__weather(city='x')", "did you mean `demo.weather("),
        ("await other.weather(city='x')", "did you mean `demo.weather("),
        ("await demo.whether(city='x')", "did you mean `demo.weather("),
        ("print(weather)", "did you mean `demo.weather`?"),
        ("await dem.weather(city='x')", "did you mean `demo`?"),
    ],
)
async def test_a_tool_without_its_namespace_is_found(
    use: str, hint: str, checker: TyChecker, reading: Reading
) -> None:
    names = ("demo.weather", "other.place", "weather_map")
    (told,) = await said(use, tuple(ToolSpec(name=name) for name in names), checker, reading)
    assert told.hint.startswith(hint)


async def test_a_loop_over_keys_as_texts_is_told_and_runs(
    specs: Specs, checker: TyChecker, reading: Reading
) -> None:
    for use in ("print(k)", "if k.startswith('p'): print(1)", "if k == 'path': break"):
        source = f"c = await read_file('a')\nfor k in c:\n    {use}"
        assert await found(source, specs, checker, reading) == [("warning", "not-a-list", 2)]


async def test_the_tool_whose_result_lacks_a_key_is_named(
    specs: Specs, checker: TyChecker, reading: Reading
) -> None:
    find = next(spec for spec in specs if spec.name == "find_files")
    find = replace(find, output_schema={**(find.output_schema or {}), "title": "Found"})
    both = (find, replace(find, name="list_files"))
    for source, tool in (
        ("f = await list_files('a')\nf['files']", "`list_files`"),
        ("f = find_files('a')\nf['files']", "`find_files`"),
        ("for e in (await list_files('a'))['entries']: e['pth']", "`list_files`"),
        ("g = await list_files('a')\nfor e in g['entries']: e['pth']", "`list_files`"),
        ("es = await asyncio.gather(find_files('a'))\nes[0]['files']", "this kind"),
    ):
        (told,) = await said(source, both, checker, reading)
        assert (told.code, told.level) == ("unknown-key", "error")
        assert told.message.startswith(f"a result of {tool} has no key")
        assert told.hint.startswith("there: `")


async def test_a_key_of_one_of_several_results_is_not_refused(
    checker: TyChecker, reading: Reading
) -> None:
    def record(key: str) -> dict[str, object]:
        return {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}

    parts = {"Price": record("price"), "Failure": record("error")}
    price, failure = ({"$ref": f"#/$defs/{name}"} for name in parts)
    specs = (
        ToolSpec(name="price", output_schema={**price, "$defs": parts}),
        ToolSpec(name="any_price", output_schema={"anyOf": [price, failure], "$defs": parts}),
    )
    assert await found("r = await price()\nr['prize']", specs[:1], checker, reading) == [
        ("error", "unknown-key", 2)
    ]
    for use in ("if 'price' not in r: print(r['error'])", "print(r['price'])"):
        assert await found(f"r = await any_price()\n{use}", specs, checker, reading) == []
    for or_nothing in ("None", "['a', 'b']", "'text'"):
        source = f"import random\nr = await price() if random.random() else {or_nothing}"
        told = await found(f"{source}\nr['prize']", specs[:1], checker, reading)
        assert ("error", "unknown-key", 3) in told, or_nothing
    neither = await found("r = await any_price()\nr['prize']", specs, checker, reading)
    assert {(code, line) for _, code, line in neither} <= {
        ("invalid-typed-dict-key", 2),
        ("unknown-key", 2),
    }
    assert neither


async def test_a_name_is_reported_once(specs: Specs, checker: TyChecker, reading: Reading) -> None:
    source = "nope\nnope\ntools.gone('a')\ntools.gone('b')"
    assert await found(source, specs, checker, reading) == [
        ("error", "undefined-name", 1),
        ("error", "unknown-tool", 3),
    ]


async def test_no_more_than_twenty_findings(
    specs: Specs, checker: TyChecker, reading: Reading
) -> None:
    source = "\n".join(f"nope{n}" for n in range(50))
    assert len(await found(source, specs, checker, reading)) == 20


async def test_a_tool_that_scripts_may_not_call_is_unknown(
    checker: TyChecker, reading: Reading
) -> None:
    specs = (ToolSpec(name="install", scriptable=False), ToolSpec(name="read_file"))
    assert await found("await install()", specs, checker, reading) == [
        ("error", "undefined-name", 1)
    ]
    assert await found("await tools.install()", specs, checker, reading) == [
        ("error", "unknown-tool", 1)
    ]


async def test_without_tools_the_names_are_still_checked(
    checker: TyChecker, reading: Reading
) -> None:
    assert await found("return math.pi + len(rows)", (), checker, reading) == []
    assert await found("return read_file('a')", (), checker, reading) == [
        ("error", "undefined-name", 1)
    ]


class Failing:
    """A checker that cannot check."""

    asked = 0

    async def check(
        self, source: str, *, stubs: Stubs, inputs: Mapping[str, str], target: PythonTarget = LATEST
    ) -> tuple[Diagnostic, ...]:
        """Say so."""
        self.asked += 1
        return (Diagnostic(code="checker-failed", message="it ended", line=1, column=1),)

    async def aclose(self) -> None:
        """Do nothing."""


class Counting:
    """Counts what a checker is asked."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self.asked = 0

    async def check(
        self, source: str, *, stubs: Stubs, inputs: Mapping[str, str], target: PythonTarget = LATEST
    ) -> tuple[Diagnostic, ...]:
        """Hand it on."""
        self.asked += 1
        return await self._checker.check(source, stubs=stubs, inputs=inputs, target=target)

    async def aclose(self) -> None:
        """Do nothing."""


async def test_without_the_type_checker_a_script_is_only_read(
    specs: Specs, reading: Reading
) -> None:
    assert await found("await read_file()\nreturn nope", specs, Failing(), reading) == [
        ("error", "undefined-name", 2),
        ("info", "checker-failed", 1),
    ]


async def test_a_script_without_tools_needs_no_types(specs: Specs, reading: Reading) -> None:
    failing = Failing()
    assert await found("return sum(range(3))", specs, failing, reading) == []
    assert failing.asked == 0


async def test_a_script_is_checked_again_only_for_other_inputs(
    specs: Specs, checker: TyChecker, reading: Reading
) -> None:
    prepared = await reading.read("return read_file(name)", specs=specs)
    cases: list[tuple[dict[str, object], list[str]]] = [
        ({}, ["undefined-name"]),
        ({"name": "a"}, []),
        ({"name": 1}, ["wrong-argument"]),
    ]
    counting = Counting(checker)
    for number, (inputs, codes) in enumerate(cases, start=1):
        for _ in range(2):
            told = await reading.check(prepared, checker=counting, inputs=inputs)
            assert [each.code for each in told] == codes
        assert counting.asked == number
        assert [f.code for f in strangers(prepared, inputs)] == [
            code for code in codes if code == "undefined-name"
        ]
    assert await reading.read("return read_file(name)", specs=specs) is prepared


async def test_a_hidden_tool_is_known_by_its_name_alone(
    checker: TyChecker, reading: Reading
) -> None:
    specs = (ToolSpec(name="remove", positional=("path",)), ToolSpec(name="gh.close"))
    source = "await remove('a', 1, x=2)\nremove(1)['a']\nawait gh.close(3)\nawait gh.closer()"
    prepared = await reading.read(source, specs=specs, hidden=("remove", "gh.close"))
    assert "(await remove(1))['a']" in prepared.program_source
    (told,) = await reading.check(prepared, checker=checker, inputs={})
    assert (told.code, told.line, told.hint) == ("unknown-tool", 4, "")


@pytest.mark.parametrize(
    ("source", "version", "message"),
    [
        ("type X = int", "3.11", "a `type` alias needs Python 3.12, and the engine has 3.11"),
        ("x = t'a'", "3.13", "a t-string needs Python 3.14, and the engine has 3.13"),
        ("x = t'a'", "3.14", ""),
        (
            "x: Node\nclass Node: pass",
            "3.13",
            "an annotation that names `Node` before it is defined needs Python 3.14, and",
        ),
        (
            "class A:\n    x: A",
            "3.11",
            "an annotation that names `A` before it is defined needs Python 3.14, and the engine",
        ),
        ("class A:\n    x: A", "3.14", ""),
        ("class A[T = int]: pass", "3.12", "a default of a type parameter needs Python 3.13"),
    ],
)
async def test_syntax_that_the_engine_lacks_blocks_at_every_level(
    source: str, version: str, message: str, reading: Reading
) -> None:
    prepared = await reading.read(source, specs=())
    for level in ("error", "warn", "off"):
        told = await reading.check(
            prepared,
            checker=Failing(),
            inputs={},
            level=level,
            target=PythonTarget(version=version),
        )
        assert [(f.code, f.level) for f in told] == [("newer-syntax", "error")] * bool(message)
        assert not message or told[0].message.startswith(message)


@pytest.mark.parametrize(
    ("given", "expected", "wrong"),
    [
        ("Literal[1]", "str", True),
        ("str", "int | None", True),
        ("None", "str", True),
        ("str | None", "str", False),
        ("str | int", "str", False),
        ("bool", "int", False),
        ("float*", "str", True),
        ("float", "int", False),
        ("list[int]", "list[str] | tuple[str, ...]", False),
        ("list[int]", "Sequence[str]", True),
        ("list[str | int]", "Sequence[str]", False),
        ("list[Unknown]", "Sequence[str]", False),
        ("list[dict[str, str]]", "Sequence[Edit] | Sequence[Mapping[str, str]]", False),
        ("list[str]", "Sequence[Edit]", True),
        ("dict[str, str]", "Edit", False),
        ("Edit", "Mapping[str, Any]", False),
        ("Edit", "str", True),
        ("Path", "str", False),
        ("def len(obj: Sized, /) -> int", "str", True),
        ("(x) -> Unknown", "str | None", True),
        ("<class 'str'>", "str", True),
        ("<class 'str'>", "Any", False),
        ('Literal["a"]', 'Literal["b", "c"]', True),
        ('Literal["b"]', 'Literal["b", "c"]', False),
        ("str", 'Literal["b", "c"]', False),
        ("Literal[3]", 'Literal["b"]', True),
        ("dict[str, str]", "Mapping[str, int] | None", True),
        ("dict[str, int]", "Mapping[str, float] | None", False),
        ("dict[str, int | str]", "Mapping[str, int]", False),
        ("dict[Unknown, Unknown]", "Mapping[str, int]", False),
        ("dict", "Mapping[str, int]", False),
        ("dict[str, list[str]]", "Mapping[str, Sequence[int]]", True),
        ("tuple[str, ...]", "Sequence[int]", False),
        ("T@f", "str", False),
        ("tuple[int, int]", "str", True),
        ("what is this", "str", False),
    ],
)
def test_only_what_can_never_be_right_is_certainly_wrong(
    given: str, expected: str, wrong: bool
) -> None:
    assert certainly_wrong(given, expected, records={"Edit"}) == wrong
