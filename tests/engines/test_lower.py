"""How a script is put into the small engine's terms."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.engines._lower import lower
from lineshaft.values import Program

TOOLS = frozenset({"give", "hold"})


def lowered(source: str) -> str:
    """Return the script's part of the text that is fed."""
    result = lower(Program(source=source, tools=TOOLS, namespaces={"github": TOOLS}))
    return "\n".join(result.text.split("\n")[result.lines_before :])


TEXTS: dict[str, tuple[str, str]] = {
    "awaited at the top": ("x = await give(1)", "x = give(1)"),
    "awaited as a statement": ("if x:\n    await give(1)", "if x:\n    give(1)"),
    "awaited without a blank": ("x = [await give(1)for y in z]", "x = [give(1)for y in z]"),
    "awaited in a function": (
        "async def f(): return await give(1)",
        "async def f(): return give(1)",
    ),
    "awaited in a function beside gather": (
        "async def f(): return await give(1)\nx = gather",
        "async def f(): return await give(1)\nx = gather",
    ),
    "in parentheses": ("x = await (give(1))", "x = await (give(1))"),
    "in an f-string": ("x = f'{await give(1)=}'", "x = f'{await give(1)=}'"),
    "in a lazy expression": ("x = (await give(y) for y in z)", "x = (await give(y) for y in z)"),
    "made and kept": ("\nx = give(1, a=2)", "\nx = _ls_later(2, give, 1, a=2)"),
    "made without arguments": ("x = give()", "x = _ls_later(1, give, )"),
    "made over lines": ("x = give(\n  1,\n)", "x = _ls_later(1, give, \n  1,\n)"),
    "made in gather": (
        "x = await gather(give(1), github.hold(2))",
        "x = await gather(_ls_later(1, give, 1), _ls_later(1, github.hold, 2))",
    ),
    "in a plain function": ("def f(): return give(1)[0]", "def f(): return give(1)[0]"),
    "a function of one's own": ("def give(): pass\ny = give(1)", "def give(): pass\ny = give(1)"),
    "a name of one's own": ("give = 1\ny = give(1)", "give = 1\ny = give(1)"),
    "no tool": (
        "x = await other(1)\ny = github.other(2)",
        "x = await other(1)\ny = github.other(2)",
    ),
    "the value": ("return (yes,\n 2)", "return (_ls_value := ((yes,\n 2)))"),
    "a value that is awaited": ("await give(1)", "(_ls_value := (give(1)))"),
    "a caught error": (
        "try: pass\nexcept E as e: x = e.code; y = f'{e!r}'",
        "try: pass\nexcept E as e: x = _ls_te(e).code; y = f'{_ls_te(e)!r}'",
    ),
    "a caught error that is shown with its own text": (
        "try: pass\nexcept E as e: f'{e=} { e.code = !s} {e!r}='",
        "try: pass\nexcept E as e: f'e={_ls_te(e)!r}  e.code = { _ls_te(e).code!s} {_ls_te(e)!r}='",
    ),
    "no caught error": ("x = e.code", "x = e.code"),
    "what a template formats": (
        "'{:>5}{}{!r:>5}{a:.2f}'.format(x, y, z, a=w.v)",
        "'{:>5}{}{!r:>5}{a:.2f}'.format(_ls_formats(x), y, z, a=_ls_formats(w.v))",
    ),
    "a template in a template": ("'{:{}}'.format(x, 5)", "'{:{}}'.format(x, 5)"),
    "what is formatted": (
        "f'{x:>5}{ x[0] :.2f}{x.y!r:>5}{x=:>5}{(x):>5}{x}{len(x):3}{1:3}{x:{w}}'",
        "f'{_ls_formats(x):>5}{ x[0] :.2f}{x.y!r:>5}{x=:>5}{(x):>5}{x}{len(x):3}{1:3}{x:{w}}'",
    ),
    "its own attribute": (
        "try: pass\nexcept E: self.code.x",
        "try: pass\nexcept E: self.code.x",
    ),
    "not Python": ("x = = 1", "x = = 1"),
}


@pytest.mark.parametrize(("source", "expected"), TEXTS.values(), ids=TEXTS)
def test_a_script_is_changed_only_where_it_must_be(source: str, expected: str) -> None:
    tree = lowered(source + "\npass") if "value" not in expected else lowered(source)
    assert tree.removesuffix("\npass") == expected


def test_only_what_is_named_is_put_before_a_script() -> None:
    def before(source: str) -> int:
        return lower(Program(source=source, tools=TOOLS)).lines_before

    assert before("x = await give(1)") == 0
    assert before("x = json.dumps(1) + re.escape('a')") == 1
    assert before("import json\nx = json.dumps(1)") == 0
    assert before("x = retry") > 5


def test_inputs_are_not_bound_over() -> None:
    program = Program(source="x = json", inputs={"json": 1})
    assert lower(program).text == "x = json"


def test_direct_calls_are_known_by_their_bytes() -> None:
    source = "ä = json\né = await give('ö'); y = [hold(x) for x in z]\ndef f(): hold(2)[0]\npass"
    result = lower(Program(source=source, tools=TOOLS))
    data = result.text.encode()
    texts = {data[start:end].decode() for start, end in result.direct}
    assert texts == {"give('ö')", "hold(2)"}
    start = data.index(b"hold(2)")
    assert result.line_at(start) == 3
    assert result.name_at(3) == "f"


pieces = st.sampled_from(
    [
        "await give(1)", "give(2)", "x = await github.hold(é)", "print(f'{await give(3)}')",
        "return [await give(1), hold()]", "y = e.code", "é = 'ö'", "", "# hold()", "json.dumps(x)",
        "retry(lambda: give(1))", "x = (give(\n 1))", "'''\ngive(1)\n'''",
    ]
)  # fmt: skip  # lines of scripts, not one a line


@given(lines=st.lists(pieces, max_size=6), caught=st.booleans())
def test_lines_stay_where_they_are_and_the_text_stays_python(
    lines: list[str], caught: bool
) -> None:
    source = "\n".join(lines)
    if caught:
        indented = "".join(f"    {line}\n" for line in source.split("\n"))
        source = f"try:\n    pass\n{indented}except E as e:\n    e.code, repr(e)"
    try:
        before = ast.parse(source)
    except SyntaxError:
        return
    result = lower(Program(source=source, tools=TOOLS, namespaces={"github": TOOLS}))
    after = ast.parse(result.text).body[len(ast.parse(result.text).body) - len(before.body) :]
    places = [node.lineno for node in before.body]
    assert [node.lineno - result.lines_before for node in after] == places
