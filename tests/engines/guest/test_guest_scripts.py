"""A script as a module: its names, its value, its arguments and its tools."""

import pytest

from engines.guest.conftest import Guest

VALUES: dict[str, tuple[str, object]] = {
    "nothing": ("", None),
    "a comment": ("# only", None),
    "a last expression": ("x = 1\nx + 1", 2),
    "a last text": ("'just text'", "just text"),
    "a last return": ("return {'a': (1, None)}", {"a": [1, None]}),
    "an early return": ("for n in range(9):\n    if n == 3:\n        return n\n4", 3),
    "a return in try": ("try:\n    return 1\nexcept BaseException:\n    return 2", 1),
    "no expression at the end": ("x = 5\nif x:\n    x", None),
    "an awaited expression": ("await give(3)", 3),
    "with a byte order mark and other line ends": ("\ufeffx = 1\r\nif x:\r\n    y = 2\r\ny", 2),
    "a class body": ("x = 1\nclass A:\n    x = x + 1\nA.x", 2),
    "a class body beside a return": (
        "x = 1\nclass A:\n    x = x + 1\nif A.x: return [A.x, A.__qualname__]",
        [2, "A"],
    ),
    "a global": ("def f():\n    global n\n    n = 5\nf()\nn", 5),
    "a global beside a return": ("def f():\n    global n\n    n = 5\nf()\nif n: return n", 5),
    "names that exec makes": ("exec('a = 1')\nif 1: return a", 1),
    "locals": ("locals() is globals()", True),
    "all names of a module": ("from math import *\nif 1: return floor(2.5)", 2),
    "annotations": ("x: int = 3\ny: str\nif x: return x", 3),
    "a comprehension beside a return": (
        "xs = [i for i in range(3)]\nif xs: return [xs, 'i' in globals()]",
        [[0, 1, 2], False],
    ),
    "a walrus beside a return": ("xs = [y := i for i in range(3)]\nif xs: return y", 2),
    "a match beside a return": (
        "match {'a': 1, 'b': 2}:\n    case {'a': q, **rest}: return [q, rest]",
        [1, {"b": 2}],
    ),
    "the future after a docstring": (
        "'''doc'''\nfrom __future__ import annotations\nif 1: return __doc__",
        "doc",
    ),
    "its module": (
        (
            "import sys, pickle\nclass A: pass\n"
            "[__name__, type(pickle.loads(pickle.dumps(A()))) is sys.modules['__main__'].A]"
        ),
        ["__main__", True],
    ),
    "its source": (
        "import inspect\ndef f(): return 1\ninspect.getsource(f)",
        "def f(): return 1\n",
    ),
    "an end by exit": ("import sys\nsys.exit(0)", None),
    "an enumeration": ("import enum\nclass A(str, enum.Enum):\n    B = 'b'\nA.B", "b"),
}


@pytest.mark.parametrize(("source", "value"), VALUES.values(), ids=VALUES)
def test_a_script_is_a_module_that_may_await_and_return(
    guest: Guest, source: str, value: object
) -> None:
    assert guest(source).value == value


NEWER: dict[str, tuple[tuple[int, int], str, object]] = {
    "quotes in an f-string": ((3, 12), "d = {'a': 1}\nf'{d['a']}'", "1"),
    "a type alias": ((3, 12), "type P = int\nif 1: return str(P)", "P"),
    "type parameters": ((3, 12), "def f[T](x: T) -> T: return x\nif 1: return f(2)", 2),
    "exceptions without brackets": (
        (3, 14),
        "try:\n    1/0\nexcept ZeroDivisionError, ValueError:\n    r = 1\nr",
        1,
    ),
}


@pytest.mark.parametrize(("since", "source", "value"), NEWER.values(), ids=NEWER)
def test_newer_syntax_is_that_of_its_python(
    guest: Guest, since: tuple[int, int], source: str, value: object
) -> None:
    ran = guest(source)
    if guest.place.version >= since:
        assert ran.value == value
    else:
        assert ran.error["kind"] == "SyntaxError"


REFUSED: dict[str, tuple[str, str]] = {
    "a set": ("{1}", "the script's value is not JSON: it is a set"),
    "deep inside": ("{'a': [1, {2}]}", "the script's value['a'][1] is not JSON: it is a set"),
    "an instance": (
        "class A: pass\n[A()]",
        "the script's value[0] is not JSON: it is an instance of the class A",
    ),
    "a class": ("class A: pass\nA", "the script's value is not JSON: it is a class"),
    "a key": (
        "{1: 2}",
        "the script's value is not JSON: it is a dict with the key 1, which is not a str",
    ),
    "no number": ("[0.5, float('nan')]", "the script's value[1] is not JSON: it is the float nan"),
    "half a character": (
        "{'a': ['é', 'b\\ud800']}",
        (
            "the script's value['a'][1] is not JSON:"
            " it is text with half a character (a lone surrogate)"
        ),
    ),
    "keys of half a character": (
        "[{'\\ud800': 1, '\\udc00': 2, '?': 3}]",
        (
            "the script's value[0] is not JSON: it is a dict with the key '\\ud800',"
            " text with half a character (a lone surrogate)"
        ),
    ),
    "itself": (
        "x = []\nx.append(x)\nx",
        "the script's value is not JSON: it is nested more than 200 deep",
    ),
}


@pytest.mark.parametrize(("source", "message"), REFUSED.values(), ids=REFUSED)
def test_a_value_that_is_not_json_is_refused_with_its_place(
    guest: Guest, source: str, message: str
) -> None:
    error = guest(source).error
    assert (error["kind"], error["code"], error["message"]) == ("TypeError", "E_NOT_JSON", message)


def test_a_value_that_is_too_long_is_refused(guest: Guest) -> None:
    error = guest("'x' * 17_000_000").error
    assert error["code"] == "E_TOO_LARGE"
    assert "17,000,002 bytes" in error["message"]


IN_SCOPE: dict[str, str] = {
    "modules": "[m.__name__ for m in (asyncio, json, math, re, datetime)] and 1",
    "helpers": "len([json_parse, retry, batched, table]) // 4",
    "the error": "issubclass(ToolError, Exception) + 0",
    "a module of tools": "from tools import give as g\nawait g(1)",
    "a namespace": "import github\nawait github.give(1)",
    "inputs": "given",
}


@pytest.mark.parametrize("source", IN_SCOPE.values(), ids=IN_SCOPE)
def test_names_are_in_scope(guest: Guest, source: str) -> None:
    assert guest(source, inputs={"given": 1}).value == 1


def test_a_name_that_the_script_binds_wins(guest: Guest) -> None:
    assert guest("def give(x): return 7\njson = give(1)\njson").value == 7


def test_a_tool_tells_of_itself(guest: Guest) -> None:
    source = (
        "import inspect\n[str(inspect.signature(give)), str(inspect.signature(github.give)), "
        "str(inspect.signature(hold)), inspect.iscoroutinefunction(give) and "
        "asyncio.iscoroutinefunction(give), give.__name__, sorted(tools.__all__)[:2]]"
    )
    value = guest(source).value
    assert value[0] == "(value: int, more: str | None = None)"
    assert value[1:] == ["(x: 'Unknown')", "(*args, **kwargs)", True, "give", ["fail", "give"]]


def test_help_on_a_tool_is_about_the_tool(guest: Guest) -> None:
    doc = "give(value: int, more: str | None = None)\n\nThe description: print(await describe_tool"
    assert guest("give.__doc__").value.startswith(doc)
    assert "give(value: int" in guest("help(give)").stdout


def test_each_warning_of_the_compiler_is_told_once(guest: Guest) -> None:
    source = (
        "def f():\n    try: return 1\n    finally:\n        return 2\nif f() is 3: return 4\n'\\d'"
    )
    for text in (source, source.replace("return 4", "pass")):
        told = [line for line in guest(text).stderr.splitlines() if "SyntaxWarning" in line]
        lines = [4, 5, 6] if guest.place.version >= (3, 14) else [5, 6]
        lines = lines if guest.place.version >= (3, 12) else [5]
        assert sorted(line.partition(": ")[0] for line in told) == [
            f"script.py:{line}" for line in lines
        ]


def test_a_script_is_not_disturbed_by_what_it_replaces(guest: Guest) -> None:
    source = """
import builtins, json, json.decoder, json.encoder, sys, time
json.dumps = json.loads = json.JSONEncoder.encode = json.encoder.c_make_encoder = None
json.decoder.JSONDecoder = builtins.print = builtins.enumerate = builtins.open = None
asyncio.gather = asyncio.sleep = asyncio.run = None
time.monotonic = time.time = None
sys.stdout = None
await give({"a": [1, (2,)]})
"""
    assert guest(source).value == {"a": [1, [2]]}


def test_the_guest_is_not_there_for_scripts(guest: Guest) -> None:
    for name in ("_lineshaft", "_lineshaft.loop", "wit_world", "app"):
        assert guest(f"import {name}").error["kind"] == "ModuleNotFoundError"


def test_every_run_has_random_numbers_of_its_own_source(guest: Guest) -> None:
    source = "import random\nrandom.seed(42)\n[random.randint(1, 100), random.choice('abc')]"
    assert guest(source).value == [82, "a"]


def test_code_is_compiled_for_the_host_to_keep(guest: Guest) -> None:
    modules = [
        {"name": "a", "path": "/packages/a.py", "source": "x = 1"},
        {"name": "b", "path": "/packages/b.py", "source": "x = ("},
    ]
    first, second = guest.order(do="compile", modules=modules)["modules"]
    assert first["name"] == "a"
    assert first["code"]
    assert second["error"].startswith("SyntaxError")
