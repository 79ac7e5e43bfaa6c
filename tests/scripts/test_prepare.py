"""What is accepted as a script, and what is said of the rest."""

import ast
import warnings

import pytest

from lineshaft.scripts import Prepared, prepare
from lineshaft.values import Finding, ToolSpec

Specs = tuple[ToolSpec, ...]


def refused(source: object, specs: Specs) -> Finding:
    """Return the one reason for which a source is refused."""
    prepared = prepare(source, specs=specs)
    assert not prepared.ok
    (finding,) = prepared.findings
    assert finding.level == "error"
    return finding


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "code must be text, not NoneType"),
        (5, "code must be text, not int"),
        (b"return 1", "code must be text, not bytes"),
        ({"code": "return 1"}, "code must be text, not dict"),
        ("", "code must not be empty"),
        (" \n\t\r\n\f ", "code must not be empty"),
        ("\ufeff", "code must not be empty"),
        ("x" * 250_001, "code has 250,001 characters, 250,000 bytes are allowed"),
        ("x" * 10_000_000, "code has 10,000,000 characters, 250,000 bytes are allowed"),
        ("# " + "ü" * 200_000, "code has 400,002 bytes, 250,000 are allowed"),
        ("x = 1\ny = '\0'", "code has a NUL character on line 2"),
        ("x = 1\n\ny = '\ud800'", "code has half a character (a lone surrogate) on line 3"),
    ],
)
def test_what_is_no_script_is_refused_with_its_reason(
    source: object, message: str, specs: Specs
) -> None:
    finding = refused(source, specs)
    assert (finding.code, finding.message) == ("E_INVALID_ARGS", message)


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("x = (\ny = 1", 1, "was never closed"),
        ("x = 1\nif x\n    pass", 2, "expected ':'"),
        ("x = 1\n  y = 2", 2, "unexpected indent"),
        ("x = '''\nabc", 1, "unterminated triple-quoted string"),
        ("x = " + "1" * 5_000, 1, "4300 digits"),
        ("x = 1\n" + "[" * 5_000, 2, "too many nested parentheses"),
        ("[" * 5_000 + "]" * 5_000, 1, "too many nested parentheses"),
        ("x = 1\ny = " + "-" * 100_000 + "1", 2, "nested too deep"),
        ("a = 1\nx = a" + ".b" * 50_000, 2, "nested too deep"),
        ("x = a" + "()" * 50_000, 1, "nested too deep"),
        ("x = a" + "[0]" * 50_000, 1, "nested too deep"),
        ("x = 1" + "+1" * 50_000, 1, "nested too deep"),
        ("x = " + "not " * 50_000 + "1", 1, "nested too deep"),
        ("x = " + "lambda: " * 20_000 + "1", 1, "nested too deep"),
        ("x = 1\ny = 2\nz = 1" + "+1" * 300, 3, "nested too deep"),
        ("if a:\n pass\n" + "elif a:\n pass\n" * 5_000, 1, "nested too deep"),
        ("\n".join(" " * n + "if 1:" for n in range(150)), 101, "too many levels of indentation"),
        ("x = f'" + "{" * 1_000, 1, ""),
        ("return return", 1, "invalid syntax"),
    ],
)
def test_broken_or_bottomless_code_is_one_syntax_error(
    source: str, line: int, words: str, specs: Specs
) -> None:
    finding = refused(source, specs)
    assert finding.code == "syntax-error"
    assert words in finding.message
    assert finding.line is not None
    if "elif" not in source:
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
def test_a_common_slip_has_a_hint(source: str, hint: str, specs: Specs) -> None:
    assert hint in refused(source, specs).hint


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
def test_line_ends_and_marks_are_made_plain(source: str, program: str, specs: Specs) -> None:
    prepared = prepare(source, specs=specs, name="my.py")
    assert prepared.ok
    assert (prepared.name, prepared.original, prepared.program_source) == (
        "my.py",
        source,
        program,
    )


def test_a_scripts_own_warnings_stay_its_own(specs: Specs) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepared = prepare("x = '\\d'\nreturn 0in [1]", specs=specs)
    assert prepared.ok


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


@pytest.mark.parametrize("name", HOSTILE)
def test_a_script_made_to_be_slow_to_read_is_read(name: str, specs: Specs) -> None:
    assert prepare(HOSTILE[name], specs=specs).ok  # quadratic reading would take minutes


def test_the_program_is_python_with_as_many_lines(specs: Specs) -> None:
    source = 'x = read_file("a")["content"]\nfor e in find_files("b"):\n    print(e)\n'
    prepared = prepare(source, specs=specs)
    ast.parse(prepared.program_source)
    assert prepared.program_source.count("\n") == source.count("\n")


def test_columns_lead_back_to_the_script_as_written(specs: Specs) -> None:
    source = 'é = "ü"; x = read_file("a")["content"] + tools.read_file("b")["content"]; nope'
    prepared = prepare(source, specs=specs)
    program = prepared.program_source
    for part in ("read_file(", '["content"]', '"b"', "nope", "é", "tools"):
        assert prepared.written(1, program.index(part) + 1) == (1, source.index(part) + 1)
    opening = program.index("(await read_file") + 1
    assert prepared.written(1, opening) == (1, source.index("read_file") + 1)
    assert prepared.written(2, 5) == (2, 5)


def test_a_prepared_script_is_a_value(specs: Specs) -> None:
    first, second = (prepare("return read_file('a')", specs=specs) for _ in range(2))
    assert first == second
    assert isinstance(first, Prepared)
