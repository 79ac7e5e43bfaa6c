"""What is accepted as a script, and what is said of the rest."""

from collections.abc import Callable

import pytest

from lineshaft.scripts.reading import Import, Prepared
from lineshaft.values import Finding

Prepare = Callable[..., Prepared]


def refused(source: object, prepare: Prepare) -> Finding:
    """Return the one reason for which a source is refused."""
    prepared = prepare(source)
    assert not prepared.ok
    (finding,) = prepared.findings
    assert finding.level == "error"
    return finding


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "the script must be text, not NoneType"),
        (5, "the script must be text, not int"),
        (b"return 1", "the script must be text, not bytes"),
        ({"code": "return 1"}, "the script must be text, not dict"),
        ("", "the script is empty"),
        (" \n\t\r\n\f ", "the script is empty"),
        ("\ufeff", "the script is empty"),
        ("x" * 250_001, "the script has 250,001 characters, 250,000 bytes are allowed"),
        ("x" * 10_000_000, "the script has 10,000,000 characters, 250,000 bytes are allowed"),
        ("# " + "ü" * 200_000, "the script has 400,002 bytes, 250,000 are allowed"),
        ("x = 1\ny = '\0'", "the script has a NUL character on line 2"),
        ("x = 1\n\ny = '\ud800'", "the script has half a character (a lone surrogate) on line 3"),
    ],
)
def test_what_is_no_script_is_refused_with_its_reason(
    source: object, message: str, prepare: Prepare
) -> None:
    finding = refused(source, prepare)
    assert (finding.code, finding.message) == ("E_INVALID_ARGS", message)


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("x = (\ny = 1", 1, "was never closed"),
        ("x = 1\nif x\n    pass", 2, "expected ':'"),
        ("x = 1\n  y = 2", 2, "unexpected indent"),
        ("x = '''\nabc", 1, "unterminated triple-quoted string"),
        ("x = " + "1" * 5_000, 1, "4300 digits"),
        ("x = 1\n" + "[" * 5_000, 2, "nested"),
        ("[" * 5_000 + "]" * 5_000, 1, "nested"),
        ("x = 1\ny = " + "-" * 100_000 + "1", 2, "nested too deep"),
        ("a = 1\nx = a" + ".b" * 50_000, 2, "nested too deep"),
        ("x = a" + "()" * 50_000, 1, "nested too deep"),
        ("x = a" + "[0]" * 50_000, 1, "nested too deep"),
        ("x = 1" + "+1" * 50_000, 1, "nested too deep"),
        ("x = " + "not " * 50_000 + "1", 1, "nested too deep"),
        ("x = " + "lambda: " * 20_000 + "1", 1, "nested too deep"),
        ("\n".join(" " * n + "if 1:" for n in range(150)), 101, "too many levels of indentation"),
        ("x = f'" + "{" * 1_000, 1, ""),
        ("return return", 1, "invalid syntax"),
    ],
)
def test_broken_or_bottomless_code_is_one_syntax_error(
    source: str, line: int, words: str, prepare: Prepare
) -> None:
    finding = refused(source, prepare)
    assert finding.code == "syntax-error"
    assert words in finding.message
    assert finding.line is not None
    assert finding.line == line
    assert finding.column is not None
    assert finding.column >= 1


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("```python\nreturn 1\n```", "without the fence"),
        ("  return 1", "indent with four blanks"),
        ("print('a'", "close the bracket"),
    ],
)
def test_a_common_slip_has_a_hint(source: str, hint: str, prepare: Prepare) -> None:
    assert hint in refused(source, prepare).hint


@pytest.mark.parametrize(
    ("source", "program"),
    [
        ("return 1", "return 1"),
        ("# nothing but a comment", "# nothing but a comment"),
        ("\ufeffreturn 1\r\n", "return 1\n"),
        ("x = 1\rreturn x\r", "x = 1\nreturn x\n"),
        ("if 1:\n\treturn 2", "if 1:\n\treturn 2"),
        ("x = '''a\r\nb'''", "x = '''a\nb'''"),
        ("x = 'a\x0bb\u2028c'\nreturn x", "x = 'a\x0bb\u2028c'\nreturn x"),
        ("\fx = 1", "\fx = 1"),
    ],
)
def test_line_ends_and_marks_are_made_plain(source: str, program: str, prepare: Prepare) -> None:
    prepared = prepare(source, name="my.py")
    assert prepared.ok
    assert (prepared.name, prepared.original, prepared.program_source) == (
        "my.py",
        source,
        program,
    )


HOSTILE = {
    "calls": "f = read_file\n" + "x = f('a')\n" * 20_000,
    "arguments": "print(" + "read_file(1)," * 15_000 + ")",
    "non-ascii arguments": "'é'; print(" + "read_file(1)," * 15_000 + ")",
    "one name": "x = read_file('a')\nx['b']\n" * 8_000,
    "a chain of functions": "\n".join(f"def f{n}():\n return f{n + 1}()" for n in range(6_000)),
    "a chain of names": "\n".join(f"a{n} = a{n + 1}" for n in range(14_000)),
    "a name of itself": "a = b\nb = a\na = a\na('x')\nx = map(read_file, y)\nx = list(x)\nx = x",
    "lambdas of each other": "a = lambda: b()\nb = lambda: a()\nx = a()['k']",
    "functions of each other": "def a(x): return b(x)\ndef b(x): return a(x)\na(read_file('p'))",
    "a long tuple": ",".join(f"a{n}" for n in range(15_000)) + "=" + ",".join("1" * 15_000),
    "deep functions": "\n".join(" " * n + "def f():" for n in range(90)) + "\n" + " " * 90 + "f()",
    "a long f-string": 'f"' + "{read_file(1)}" * 3_000 + '"',
    "maps": "x = map(read_file, y)\n" * 10_000 + "z(x)\n" * 1_000,
}


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
def test_a_script_made_to_be_slow_to_read_is_read(name: str, prepare: Prepare) -> None:
    assert prepare(HOSTILE[name]).ok  # quadratic reading would take minutes


def test_the_program_has_as_many_lines(prepare: Prepare) -> None:
    source = 'x = read_file("a")["content"]\nfor e in find_files("b"):\n    print(e)\n'
    prepared = prepare(source)
    assert prepare(prepared.program_source).ok
    assert prepared.program_source.count("\n") == source.count("\n")


def test_a_prepared_script_is_a_value(prepare: Prepare) -> None:
    first, second = (prepare("return read_file('a')") for _ in range(2))
    assert first == second
    assert isinstance(first, Prepared)


IMPORTING = """import json, os.path as p
from typing import TYPE_CHECKING
from . import near
if TYPE_CHECKING:
    import pandas
try:
    import tomllib
except (ImportError, KeyError):
    import tomli as tomllib
else:
    import lzma
try:
    import numpy
except Exception:
    pass
def later():
    from xml import dom, sax
import importlib, github
from tools import read_file
importlib.import_module("yaml")
__import__("attr")
"""


def test_imports_are_told_with_what_can_be_done_without(prepare: Prepare) -> None:
    prepared = prepare(IMPORTING)
    assert prepared.imports == (
        Import(module="json", line=1),
        Import(module="os.path", line=1),
        Import(module="typing", line=2, names=("TYPE_CHECKING",)),
        Import(module=".", line=3, names=("near",)),
        Import(module="pandas", line=5, optional=True),
        Import(module="tomllib", line=7, optional=True),
        Import(module="tomli", line=9, optional=True),
        Import(module="lzma", line=11),
        Import(module="numpy", line=13),
        Import(module="xml", line=17, names=("dom", "sax")),
        Import(module="importlib", line=18),
        Import(module="yaml", line=20),
        Import(module="attr", line=21),
    )
    needed = ("json", "os.path", "typing", "lzma", "numpy", "xml", "importlib", "yaml", "attr")
    assert prepared.import_names == set(needed)


@pytest.mark.parametrize(
    ("source", "uses", "wants"),
    [
        ("return 1 + 1", False, False),
        ("import requests\nprint(len([1]))", False, False),
        ("async def f(): pass\nawait f()", False, True),
        ("return await read_file('a')", True, True),
        ("return github", True, True),
        ("import tools as t\nreturn t.gone", True, True),
        ("def f(read_file): return read_file(1)", False, False),
    ],
)
def test_what_speaks_of_tools_is_known(
    source: str, uses: bool, wants: bool, prepare: Prepare
) -> None:
    prepared = prepare(source)
    assert (prepared.uses_tools, prepared.wants_types) == (uses, wants)


@pytest.mark.parametrize(
    ("source", "versions"),
    [
        ("x = f\"{d['a']} it's {n:>{w}}\"", []),
        ("try:\n    pass\nexcept* ValueError:\n    pass", []),
        ("try:\n    pass\nexcept (ValueError, KeyError) as e:\n    pass", []),
        ("x = f'''{d[\"a\"]}\n{\nn}'''", []),
        ("type X = int", [(12, 1)]),
        ("x = 1\ndef f[T](a: T) -> T: return a", [(12, 2)]),
        ("class A[T, *Ts, **P]: pass", [(12, 1)]),
        ("class A[T = int]: pass", [(12, 1), (13, 1)]),
        ('x = f"{d["a"]}"', [(12, 1)]),
        ('x = 1\ny = f"{f"{x}"}"', [(12, 2)]),
        ("x = f\"{'\\n'.join(d)}\"", [(12, 1)]),
        ("x = f'{\n1}'", [(12, 1)]),
        ("x = f'''{1 # why\n}'''", [(12, 1)]),
        ("try:\n    pass\nexcept ValueError, KeyError:\n    pass", [(14, 3)]),
        ("try:\n    pass\nexcept (ValueError), (KeyError):\n    pass", [(14, 3)]),
        ("x = t'{1}'", [(14, 1)]),
        ("def f(a: int, b: Optional[int] = None): pass", [(14, 1)]),
        ("x = 1\nasync def f() -> Missing: pass", [(14, 2)]),
        ("class Node:\n    parent: Node | None = None", [(14, 2)]),
        ("class Node:\n    def add(self, other: Node): pass", [(14, 2)]),
        ("def f():\n    class A:\n        next: A", [(14, 3)]),
        ("def f(a: A): pass\nclass A: pass", [(14, 1)]),
        ("x: list[A] = []\nclass A: pass", [(14, 1)]),
        ("def f(a: f): pass", [(14, 1)]),
        ("class A:\n    x: B\nimport b as B", [(14, 2)]),
        ("from __future__ import annotations\nclass A:\n    x: A\ndef f(a: B): pass", []),
        ("class A: pass\nclass A:\n    x: A", []),
        ("class A:\n    x: 'A'\n    y: B\n    B = int", [(14, 3)]),
        ("B = int\nclass A:\n    y: B\n    B = str", []),
        ("from typing import *\ndef f(a: Optional[int]): pass", []),
        ("def f():\n    x: Missing = 1\n    def g(a: A): pass\nclass A: pass", []),
        ("x: A = 1\nif x: return 2\nclass A: pass", []),
        ("x: A = 1\nclass A: pass\nreturn 2", [(14, 1)]),
        ("def f(a: list): pass\nlist = 3", []),
        ("def g():\n    global A\n    A = int\ng()\ndef f(a: A): pass", []),
        ("try:\n    class A:\n        x: A\nexcept NameError:\n    pass", []),
        ("exec('A = int')\ndef f(a: A): pass", []),
        ("def f(a: (lambda: A)): pass\nclass A: pass", []),
        ("x = 1\nfor x in [1]:\n    def f(a: A): pass\n    class A: pass", []),
    ],
)
def test_syntax_that_older_pythons_lack_is_told(
    source: str, versions: list[tuple[int, int]], prepare: Prepare
) -> None:
    newer = prepare(source).newer
    assert [(each.python, each.line) for each in newer] == [((3, n), line) for n, line in versions]


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("break", 1, "'break' outside loop"),
        ("def f(a, a): pass", 1, "duplicate argument 'a'"),
        ("x = 1\ndef f():\n    print(x)\n    global x", 4, "prior to global declaration"),
        ("nonlocal x", 1, "nonlocal declaration not allowed at module level"),
        ("yield 1", 1, "outside function"),
        ("class A:\n    return 1", 2, "'return' outside function"),
    ],
)
def test_what_the_compiler_alone_refuses_is_a_syntax_error_too(
    source: str, line: int, words: str, prepare: Prepare
) -> None:
    finding = refused(source, prepare)
    assert (finding.code, finding.line) == ("syntax-error", line)
    assert words in finding.message


def test_a_return_at_the_top_is_part_of_a_script(prepare: Prepare) -> None:
    source = (
        "if x:\n    return\nfor y in x:\n    try:\n        return y\n    finally:\n        pass"
    )
    assert prepare(source).ok
    prepared = prepare("match x:\n    case 1:\n        return read_file('a')\nreturn 2")
    assert "return (await read_file('a'))" in prepared.program_source
