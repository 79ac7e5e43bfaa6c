"""Running programs as a script does."""

import sys
from collections.abc import Callable
from pathlib import Path
from shlex import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.errors import ToolError
from lineshaft.kit import run_command
from lineshaft.kit._commands import split_command
from lineshaft.values import Context


async def test_a_command_line_issplit_command_as_a_shell_would(call: Context) -> None:
    code = "import sys; print(sys.argv[1:])"

    done = await run_command(
        f"{quote(sys.executable)} -c '{code}' a 'b c' \"d 'e'\" f\\ g ''", call
    )

    assert done["stdout"] == "['a', 'b c', \"d 'e'\", 'f g', '']\n"
    assert (done["exit_code"], done["stderr"], done["changes"]) == (0, "", [])


async def test_given_arguments_are_taken_as_they_are(call: Context) -> None:
    done = await run_command("echo", call, ["a | b", "$HOME", "*", ""])

    assert done["stdout"] == "a | b $HOME * \n"


async def test_a_bad_exit_is_a_result(call: Context) -> None:
    done = await run_command("sh", call, ["-c", "echo no >&2; exit 3"])

    assert (done["exit_code"], done["stderr"]) == (3, "no\n")


async def test_bytes_that_are_no_text_are_counted(call: Context) -> None:
    program = (
        "import os; os.write(1, 'naïve café\\n'.encode('latin-1')); os.write(2, b'\\xff\\xe2\\x82')"
    )
    done = await run_command(sys.executable, call, ["-c", program])

    assert done["stdout"] == "na\ufffdve caf\ufffd\n"
    assert done["replaced_bytes"] == 5
    whole = await run_command(sys.executable, call, ["-c", "print('naïve \ufffd')"])
    assert whole["replaced_bytes"] == 0
    long = "import os; os.write(1, 'é'.encode('latin-1') * 30_000 + 'é'.encode() * 30_000)"
    cut = await run_command(sys.executable, call, ["-c", long])
    assert cut["stdout_truncated"]
    assert cut["replaced_bytes"] == cut["stdout"].count("\ufffd") > 19_000


@pytest.mark.parametrize(
    "command",
    [
        "a | b",
        "a|b",
        "a && b",
        "a; b",
        "a > f",
        "a 2>&1",
        "a < f",
        "a &",
        "a $(b)",
        "a `b`",
        'a "`b`"',
        'a "$(b)"',
        "a $HOME",
        'a "$HOME"',
        'a "x" $b',
        "a 'x' | b",
        "a ${b}",
        "(a)",
        "a\nb",
    ],
)
async def test_what_needs_a_shell_is_refused_with_the_way_to_call_one(
    call: Context, command: str
) -> None:
    with pytest.raises(ToolError) as caught:
        await run_command(command, call)

    assert caught.value.code == "E_INVALID_ARGS"
    assert "sh -c" in caught.value.hint


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("grep 'a|b' f", ("grep", "a|b", "f")),
        ('grep "a|b;c>d" f', ("grep", "a|b;c>d", "f")),
        ('grep "end$" f', ("grep", "end$", "f")),
        ("awk '{print $1}' f", ("awk", "{print $1}", "f")),
        (r"echo a\|b \$x", ("echo", "a|b", "$x")),
        ("git show HEAD~1 -- *.py # x", ("git", "show", "HEAD~1", "--", "*.py", "#", "x")),
        ("printf 100$", ("printf", "100$")),
        ("""echo "it's" 'a "b"' | cat""", None),
    ],
)
def test_signs_between_quotes_are_text(command: str, argv: tuple[str, ...] | None) -> None:
    if argv is None:
        with pytest.raises(ToolError):
            split_command(command)
    else:
        assert split_command(command) == argv


@given(st.lists(st.text(st.sampled_from("ab '\"\\|$`;\n*"), max_size=6), min_size=1, max_size=4))
def test_quoted_arguments_come_through(argv: list[str]) -> None:
    quoted = ["'" + one.replace("'", "'\\''") + "'" for one in argv]

    assert split_command(" ".join(quoted)) == tuple(argv)


@pytest.mark.parametrize("command", ["", "  ", "a 'b", 'a "b', "a \\"])
async def test_a_command_that_cannot_besplit_command_is_refused(
    call: Context, command: str
) -> None:
    with pytest.raises(ToolError) as caught:
        await run_command(command, call)

    assert caught.value.code == "E_INVALID_ARGS"


@pytest.mark.parametrize("seconds", [0, -1, 601, float("nan")])
async def test_a_time_out_has_bounds(call: Context, seconds: float) -> None:
    with pytest.raises(ToolError) as caught:
        await run_command("true", call, timeout=seconds)

    assert caught.value.code == "E_INVALID_ARGS"


async def test_a_program_that_is_missing_is_named(call: Context) -> None:
    with pytest.raises(ToolError, match="'no-such-program'") as caught:
        await run_command("no-such-program", call)

    assert caught.value.code == "E_FILE_NOT_FOUND"


async def test_a_time_out_tells_the_output_so_far(call: Context) -> None:
    with pytest.raises(ToolError) as caught:
        await run_command("sh", call, ["-c", "echo begun; echo oops >&2; sleep 60"], timeout=0.5)

    assert caught.value.code == "E_TOOL_TIMEOUT"
    assert "after 0.5 s" in caught.value.message
    assert "begun" in caught.value.message
    assert "oops" in caught.value.message


async def test_a_program_ends_before_its_call_does(make_call: Callable[[float], Context]) -> None:
    with pytest.raises(ToolError) as caught:
        await run_command("sleep 60", make_call(0.4))

    assert caught.value.code == "E_TOOL_TIMEOUT"
    assert "It had written nothing" in caught.value.message


async def test_output_is_cut_and_said_to_be(call: Context) -> None:
    code = "import sys; sys.stdout.write('a' * 60_000); sys.stderr.write('b' * 20_000)"

    done = await run_command(sys.executable, call, ["-c", code])

    assert (done["stdout_truncated"], done["stderr_truncated"]) == (True, True)
    assert "[... 10,000 bytes left out ...]" in done["stdout"]
    assert "[... 10,000 bytes left out ...]" in done["stderr"]


async def test_changed_files_are_told(call: Context, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("x")

    done = await run_command("sh", call, ["-c", "echo a > new; rm old"])

    assert [(made["path"], made["kind"]) for made in done["changes"]] == [
        ("new", "created"),
        ("old", "deleted"),
    ]


async def test_a_file_whose_name_is_no_text_does_not_cost_the_result(
    call: Context, tmp_path: Path
) -> None:
    done = await run_command("sh", call, ["-c", "echo made; : > \"$(printf 'n\\376')\""])

    assert (done["stdout"], [made["path"] for made in done["changes"]]) == ("made\n", ["n\ufffd"])


@pytest.mark.parametrize(
    ("command", "args", "hint"),
    [
        ("export NAME", None, 'command="sh"'),
        (" ", [], "the program alone"),
        ("NAME=1 program", None, "env NAME=VALUE"),
        ("echo hello", ["you"], "the program alone"),
        ("no-such-program", None, "Check its name"),
    ],
)
async def test_a_program_that_only_a_shell_knows_has_its_own_advice(
    call: Context, command: str, args: list[str] | None, hint: str
) -> None:
    with pytest.raises(ToolError) as caught:
        await run_command(command, call, args)

    assert caught.value.code == "E_FILE_NOT_FOUND"
    assert hint in caught.value.hint
