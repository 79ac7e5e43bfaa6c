"""What a failed call is to a script: `ToolError`, and how it looks from every side."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.play import Play

SEEN: dict[str, tuple[str, object]] = {
    "its parts": (
        (
            "try:\n    await fail('E_DENIED', 'no')\n"
            "except ToolError as e:\n    return [e.code, e.tool, e.message, str(e)]"
        ),
        ["E_DENIED", "fail", "no", "no"],
    ),
    "in an f-string": (
        (
            "try:\n    await fail('E_DENIED', 'no')\n"
            "except ToolError as e:\n    return f'{e.code}: {e} {e.message!r} {e!r}'"
        ),
        "E_DENIED: no 'no' ToolError('no')",
    ),
    "in an f-string over lines": (
        (
            "try:\n    await fail('E_DENIED', 'no')\n"
            "except ToolError as e:\n    return f'''é\n{e.code}\n{e}'''"
        ),
        "é\nE_DENIED\nno",
    ),
    "by every other means": (
        (
            "try:\n    await fail('E_DENIED', 'no')\nexcept ToolError as e:\n"
            "    has = [getattr(e, 'code', 0), hasattr(e, 'tool')]\n"
            "    return ['%s' % e, '{}'.format(e), repr(e), *has, type(e).__name__, str([e.code])]"
        ),
        ["no", "no", "ToolError('no')", "E_DENIED", True, "ToolError", "['E_DENIED']"],
    ),
    "as an Exception": (
        (
            "try:\n    await fail('E_STALE', 'x')\n"
            "except Exception as e:\n    return [e.code, isinstance(e, ToolError)]"
        ),
        ["E_STALE", True],
    ),
    "not as anything else": (
        (
            "try:\n    try:\n        await fail('E_STALE', 'x')\n"
            "    except (ValueError, OSError, RuntimeError, KeyError, TimeoutError):\n"
            "        return 'caught'\nexcept ToolError:\n    return 'passed'"
        ),
        "passed",
    ),
    "of a missing file, as Python's own": (
        (
            "try:\n    await fail('E_FILE_NOT_FOUND', 'no a.txt')\n"
            "except FileNotFoundError as e:\n"
            "    return [e.code, e.tool, str(e), repr(e), isinstance(e, ToolError), e.args]"
        ),
        ["E_FILE_NOT_FOUND", "fail", "no a.txt", "ToolError('no a.txt')", True, ["no a.txt"]],
    ),
    "of a missing file, as a ToolError": (
        (
            "try:\n    await fail('E_FILE_NOT_FOUND', 'no a.txt')\n"
            "except ToolError as e:\n    return [e.code, type(e).__name__]"
        ),
        ["E_FILE_NOT_FOUND", "ToolError"],
    ),
    "of a missing file, as a copy and from a pickle": (
        (
            "import copy, pickle\n"
            "try:\n    await fail('E_FILE_NOT_FOUND', 'no a.txt')\n"
            "except ToolError as e:\n"
            "    copies = [copy.copy(e), copy.deepcopy(e), pickle.loads(pickle.dumps(e))]\n"
            "    return [[c.code, c.tool, str(c), isinstance(c, FileNotFoundError), c.args]"
            " for c in copies]"
        ),
        [["E_FILE_NOT_FOUND", "fail", "no a.txt", True, ["no a.txt"]]] * 3,
    ),
    "from a pickle": (
        (
            "import pickle\n"
            "try:\n    await fail('E_STALE', 'x')\n"
            "except ToolError as e:\n"
            "    c = pickle.loads(pickle.dumps(e))\n"
            "    return [type(c) is type(e) is ToolError, c.code, c.tool, c.message]"
        ),
        [True, "E_STALE", "fail", "x"],
    ),
    "of a class of the script, with keywords of its own": (
        (
            "class Missing(ToolError):\n    def __init__(self, *, path):\n"
            "        super().__init__('E_FILE_NOT_FOUND', f'no {path}')\n"
            "try:\n    raise Missing(path='a')\nexcept ToolError as e:\n"
            "    return [e.code, str(e), type(e).__name__]"
        ),
        ["E_FILE_NOT_FOUND", "no a", "Missing"],
    ),
    "raised by the script, of a missing file": (
        (
            "try:\n    raise ToolError('E_FILE_NOT_FOUND', 'no a.txt', tool='mine')\n"
            "except FileNotFoundError as e:\n    return [e.code, e.tool, str(e), e.args]"
        ),
        ["E_FILE_NOT_FOUND", "mine", "no a.txt", ["no a.txt"]],
    ),
    "in a tuple of classes": (
        (
            "try:\n    await fail('E_STALE', 'x')\nexcept (KeyError, ToolError) as e:\n"
            "    return e.code"
        ),
        "E_STALE",
    ),
    "after another handler": (
        (
            "try:\n    await fail('E_STALE', 'x')\nexcept KeyError:\n    return 1\n"
            "except ToolError as problem:\n    return problem.code"
        ),
        "E_STALE",
    ),
    "other errors are not taken for it": (
        (
            "try:\n    [][0]\nexcept ToolError:\n    return 1\nexcept IndexError as e:\n"
            "    return str(e)"
        ),
        "list index out of range",
    ),
    "raised again": (
        (
            "try:\n    try:\n        await fail('E_STALE', 'x')\n    except ToolError:\n"
            "        raise\n"
            "except ToolError as e:\n    return e.code"
        ),
        "E_STALE",
    ),
    "raised from another": (
        (
            "try:\n    try:\n        await fail('E_STALE', 'x')\n    except ToolError as e:\n"
            "        raise ValueError('outer') from e\nexcept ValueError as e:\n    return str(e)"
        ),
        "outer",
    ),
    "in a function of one's own": (
        (
            "def tell(e):\n    return e.code + '/' + e.tool\n"
            "try:\n    await github.list_issues({1})\nexcept ToolError as e:\n"
            "    return tell(e)"
        ),
        "E_INVALID_ARGS/github.list_issues",
    ),
    "kept in a list": (
        (
            "errors = []\nfor n in range(2):\n    try:\n        await fail('E_' + str(n), 'same')\n"
            "    except ToolError as e:\n        errors.append(e)\n"
            "return [[e.code, e.message, str(e).strip()] for e in errors]"
        ),
        [["E_0", "same", "same"], ["E_1", "same", "same"]],
    ),
    "finally runs": (
        (
            "steps = []\ntry:\n    try:\n        await fail('E_STALE', 'x')\n"
            "    finally:\n        steps.append('finally')\nexcept ToolError:\n    pass\nsteps"
        ),
        ["finally"],
    ),
    "else does not": (
        (
            "try:\n    await fail('E_STALE', 'x')\nexcept ToolError:\n    r = 'error'\n"
            "else:\n    r = 'else'\nreturn r"
        ),
        "error",
    ),
    "in gather": (
        (
            "async def one(n):\n    try:\n        return await fail('E_' + n, 'm' + n)\n"
            "    except ToolError as e:\n        return [e.code, e.message]\n"
            "return await asyncio.gather(one('a'), one('b'))"
        ),
        [["E_a", "ma"], ["E_b", "mb"]],
    ),
    "out of gather": (
        (
            "try:\n    await asyncio.gather(give(1), fail('E_STALE', 'x'))\n"
            "except ToolError as e:\n    return e.code"
        ),
        "E_STALE",
    ),
    "raised by the script": (
        "try:\n    raise ToolError('mine')\nexcept ToolError as e:\n    return [str(e), e.message]",
        ["mine", "mine"],
    ),
    "attributes of other things stay": (
        (
            "class Box:\n    def __init__(self):\n        self.code = 1\n"
            "        self.message = 'm'\n"
            "try:\n    1 / 0\nexcept ZeroDivisionError:\n    return [Box().code, Box().message]"
        ),
        [1, "m"],
    ),
}


@pytest.mark.parametrize(("source", "expected"), SEEN.values(), ids=SEEN)
async def test_a_failed_call_is_a_tool_error(play: Play, source: str, expected: object) -> None:
    assert await play.value(source) == expected


UNCAUGHT: dict[str, tuple[str, int]] = {
    "at the top": ("x = 1\nawait fail('E_DENIED', 'no')", 2),
    "in a function": ("async def f():\n    await fail('E_DENIED', 'no')\n\nawait f()", 2),
    "in gather": ("x = 1\n\nawait asyncio.gather(fail('E_DENIED', 'no'), give(1))", 3),
    "raised again": ("try:\n    await fail('E_DENIED', 'no')\nexcept ToolError:\n    raise", 2),
    "raised by its name": (
        "try:\n    await fail('E_DENIED', 'no')\nexcept ToolError as e:\n    x = 1\n    raise e",
        2,
    ),
}


@pytest.mark.parametrize(("source", "line"), UNCAUGHT.values(), ids=UNCAUGHT)
async def test_an_uncaught_one_ends_the_run_with_all_its_parts(
    play: Play, source: str, line: int
) -> None:
    error = await play.error(source)
    assert (error.kind, error.code, error.tool) == ("ToolError", "E_DENIED", "fail")
    assert (error.message, error.line) == ("no", line)
    assert error.traceback.endswith("ToolError: no")
    assert f'File "script.py", line {line}, in' in error.traceback


async def test_one_of_a_missing_file_is_told_as_any_other(play: Play) -> None:
    error = await play.error("await fail('E_FILE_NOT_FOUND', 'no a.txt')")
    assert (error.kind, error.code, error.tool) == ("ToolError", "E_FILE_NOT_FOUND", "fail")
    assert (error.message, error.line) == ("no a.txt", 1)
    assert error.traceback.endswith("ToolError: no a.txt")


async def test_one_that_the_script_made_has_no_code(play: Play) -> None:
    error = await play.error("\nraise ToolError('mine')")
    assert (error.kind, error.message, error.line) == ("ToolError", "mine", 2)
    assert (error.code, error.tool) == (None, None)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(messages=st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=3))
async def test_any_message_arrives_as_it_is(play: Play, messages: list[str]) -> None:
    source = """
seen = []
for n, message in enumerate(messages):
    try:
        await fail("E_" + str(n), message)
    except ToolError as e:
        seen.append([e.code, e.message])
return seen
"""
    expected = [[f"E_{n}", message] for n, message in enumerate(messages)]
    assert await play.value(source, messages=messages) == expected


async def test_a_message_is_what_str_gives(play: Play) -> None:
    source = "try:\n    await fail('E_X', m)\nexcept ToolError as e:\n    return [str(e), f'{e}']"
    for message in ("", "[denied read_file] x", "{'a': 1}", "two\nlines\u2028", "'\""):
        assert await play.value(source, m=message) == [message, message]
