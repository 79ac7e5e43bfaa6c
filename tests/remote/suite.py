"""What every runtime does alike: the actions on a folder, an editor or none.

Imported by the tests of each, which give the fixture `side`.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import anyio
import psutil
import pytest

from lineshaft.remote.protocol import (
    Action,
    EditAction,
    EditObservation,
    ErrorObservation,
    Observation,
    ReadAction,
    ReadObservation,
    RunAction,
    RunObservation,
    RunPythonAction,
    RunPythonObservation,
    WriteAction,
    WriteObservation,
)


class Perform(Protocol):
    def __call__(
        self, action: Action, *, seconds: float | None = None
    ) -> Awaitable[Observation]: ...


@dataclass
class Side:
    """A runtime and its folder."""

    root: Path
    perform: Perform
    settle: Callable[[Path], Awaitable[None]] | None = None
    """Waits until the runtime has seen that a file changed on the disk; None: it always has."""

    async def run(self, command: str, seconds: float | None = None, **more: Any) -> RunObservation:
        done = await self.perform(RunAction(command=command, **more), seconds=seconds)
        assert isinstance(done, RunObservation), done
        return done

    async def read(self, path: str, **more: Any) -> str:
        done = await self.perform(ReadAction(path=path, **more))
        assert isinstance(done, ReadObservation), done
        return done.content

    async def edit(self, path: str, command: Any, **more: Any) -> EditObservation:
        done = await self.perform(EditAction(path=path, command=command, **more))
        assert isinstance(done, EditObservation), done
        return done

    async def write(self, path: str, content: str, **more: Any) -> None:
        done = await self.perform(WriteAction(path=path, content=content, **more))
        assert isinstance(done, WriteObservation), done

    async def error(self, action: Action) -> ErrorObservation:
        done = await self.perform(action)
        assert isinstance(done, ErrorObservation), done
        return done

    def file(self, name: str, data: bytes | str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path


LINES = "".join(f"{number}\n" for number in range(1, 20_001))


@pytest.mark.parametrize(
    ("command", "code", "output"),
    [
        ("echo out", 0, "out\n"),
        ("exit 3", 3, ""),
        ("false", 1, ""),
        ("echo a; echo b >&2; echo c", 0, "a\nb\nc\n"),
        ("for i in 1 2 3; do\n  echo $i\ndone", 0, "1\n2\n3\n"),
        ("cat <<'EOF'\none $HOME\n  two\nEOF", 0, "one $HOME\n  two\n"),
        ("(echo sub; exit 4)", 4, "sub\n"),
        ("seq 1 20000", 0, LINES),
        ("printf 'ä€😀\\n'", 0, "ä€😀\n"),
        ("printf 'no end'", 0, "no end"),
        ("nonesuch-command 2>/dev/null", 127, ""),
        ("kill -9 $$", -1, ""),
        ("kill -9 $$ & wait", -1, ""),
    ],
    ids=[
        "echo",
        "exit",
        "false",
        "streams",
        "loop",
        "heredoc",
        "subshell",
        "lines",
        "unicode",
        "no-end",
        "missing",
        "killed",
        "killed-behind",
    ],
)  # fmt: skip  a table
async def test_a_command_has_its_real_exit_code_and_output(
    side: Side, command: str, code: int, output: str
) -> None:
    done = await side.run(command)
    assert (done.metadata.exit_code, done.content) == (code, output)
    assert done.metadata.signal == ("SIGKILL" if code == -1 else None)


async def test_an_unterminated_quote_is_an_error_of_the_shell_and_hangs_nothing(
    side: Side,
) -> None:
    done = await side.run("echo 'x")
    assert done.metadata.exit_code == 2
    assert "unexpected EOF" in done.content


async def test_time_that_is_over_ends_the_whole_tree(side: Side) -> None:
    pid_file = side.root / "pid"
    done = await side.run(f"setsid sh -c 'echo $$ > {pid_file.name}; sleep 600' & sleep 600", 1)
    assert done.metadata.exit_code == -1
    assert done.metadata.timed_out
    assert "1 s" in done.metadata.suffix
    await gone(int(pid_file.read_text()))
    assert (await side.run("echo next")).content == "next\n"


async def gone(pid: int) -> None:
    with anyio.fail_after(30):
        while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            await asyncio.sleep(0.02)


async def test_a_command_reads_input_that_is_sent_to_it(side: Side) -> None:
    running = asyncio.ensure_future(side.run("echo ready > ready; read x; echo got $x", 60))
    with anyio.fail_after(60):
        while not (side.root / "ready").exists():
            await asyncio.sleep(0.02)
    await side.run("bob", is_input=True)
    done = await running
    assert (done.metadata.exit_code, done.content) == (0, "got bob\n")
    none = await side.error(RunAction(command="x", is_input=True))
    assert "no command runs" in none.content


async def test_two_commands_at_once_keep_their_output_apart(side: Side) -> None:
    first, second = await asyncio.gather(
        side.run("for i in 1 2 3 4 5; do echo a; sleep 0.02; done; exit 1"),
        side.run("for i in 1 2 3 4 5; do echo b; sleep 0.02; done; exit 2"),
    )
    assert (first.metadata.exit_code, first.content) == (1, "a\n" * 5)
    assert (second.metadata.exit_code, second.content) == (2, "b\n" * 5)


async def test_a_command_runs_in_a_folder_of_the_workspace(side: Side) -> None:
    (side.root / "sub").mkdir()
    done = await side.run("pwd -P", cwd="sub")
    assert done.content == f"{(side.root / 'sub').resolve()}\n"
    assert done.metadata.working_dir == "sub"
    outside = await side.error(RunAction(command="pwd", cwd="/"))
    assert outside.error_id == "E_SANDBOX_VIOLATION"
    missing = await side.error(RunAction(command="pwd", cwd="none"))
    assert missing.error_id == "E_FILE_NOT_FOUND"


async def test_commands_get_no_secret_of_the_host(side: Side) -> None:
    done = await side.run("echo ${WINDOW_TEST_TOKEN-none}")
    assert done.content == "none\n"


CONTENTS = {
    "lf": b"one\ntwo\nthree\n",
    "crlf": b"one\r\ntwo\r\nthree\r\n",
    "no-end": b"one\ntwo\nthree",
    "bom": b"\xef\xbb\xbfone\ntwo\nthree\n",
    "utf-16": "one\ntwo\nthree\n".encode("utf-16"),
    "latin-1": "one\ntwo\nthr\xe9e\n".encode("latin-1"),
    "mixed": b"one\r\ntwo\nthree\r\n",
}
TEXTS = {
    **{name: data.decode("utf-8-sig", "replace") for name, data in CONTENTS.items()},
    "utf-16": "one\ntwo\nthree\n",
    "latin-1": "one\ntwo\nthr\xe9e\n",
}
ALL_CONTENTS = pytest.mark.parametrize("name", CONTENTS)


@ALL_CONTENTS
async def test_a_file_is_read_as_text_in_its_encoding(side: Side, name: str) -> None:
    side.file("a.txt", CONTENTS[name])
    assert await side.read("a.txt") == TEXTS[name]
    assert await side.read(str(side.root / "a.txt")) == TEXTS[name]


@ALL_CONTENTS
async def test_an_edit_keeps_encoding_and_line_ends(side: Side, name: str) -> None:
    file = side.file("a.txt", CONTENTS[name])
    done = await side.edit("a.txt", "str_replace", old_str="two", new_str="TWO")
    before = CONTENTS[name]
    wide = name == "utf-16"
    two = "two".encode("utf-16-le") if wide else b"two"
    assert file.read_bytes() == before.replace(
        two, two.upper() if not wide else "TWO".encode("utf-16-le")
    )
    assert (done.old_content, done.new_content) == (
        TEXTS[name],
        TEXTS[name].replace("two", "TWO"),
    )
    assert done.diff is not None
    assert "+TWO" in done.diff


async def test_lines_are_read_by_window_and_by_view(side: Side) -> None:
    side.file("a.txt", "1\n2\n3\n4\n")
    assert await side.read("a.txt", start=1, end=3) == "2\n3\n"
    assert await side.read("a.txt", start=2) == "3\n4\n"
    assert await side.read("a.txt", view_range=[2, 3]) == "2\n3\n"
    assert await side.read("a.txt", view_range=[3, -1]) == "3\n4\n"
    for wrong in ([0, 1], [3, 2], [1, 9], [1]):
        error = await side.error(ReadAction(path="a.txt", view_range=wrong))
        assert "`view_range`" in error.content


async def test_a_file_is_written_whole_in_lines_and_anew(side: Side) -> None:
    await side.write("deep/er/a.txt", "1\n2\n3\n")
    file = side.root / "deep" / "er" / "a.txt"
    assert file.read_text() == "1\n2\n3\n"
    await side.write("deep/er/a.txt", "TWO\n", start=1, end=2)
    assert file.read_text() == "1\nTWO\n3\n"
    await side.write("deep/er/a.txt", "all\n")
    assert file.read_text() == "all\n"


async def test_a_written_file_keeps_its_encoding(side: Side) -> None:
    file = side.file("a.txt", "x\n".encode("utf-16"))
    await side.write("a.txt", "ä\n")
    assert file.read_bytes() == "ä\n".encode("utf-16")


async def test_the_five_edits(side: Side) -> None:
    made = await side.edit("a.txt", "create", file_text="one\ntwo\n")
    assert not made.prev_exist
    assert (side.root / "a.txt").read_text() == "one\ntwo\n"
    await side.edit("a.txt", "insert", insert_line=1, new_str="mid")
    assert (side.root / "a.txt").read_text() == "one\nmid\ntwo\n"
    viewed = await side.edit("a.txt", "view", view_range=[2, 3])
    assert viewed.content == "     2\tmid\n     3\ttwo"
    changed = await side.edit("a.txt", "str_replace", old_str="mid\n", new_str="")
    assert changed.new_content == "one\ntwo\n"
    assert "     1\tone" in changed.content
    for text in ("one\nmid\ntwo\n", "one\ntwo\n"):
        undone = await side.edit("a.txt", "undo_edit")
        assert undone.new_content == text
        assert (side.root / "a.txt").read_text() == text
    await side.edit("a.txt", "undo_edit")
    assert not (side.root / "a.txt").exists()


async def test_an_edit_to_the_letter_comes_before_one_without_white_space(side: Side) -> None:
    file = side.file("a.txt", "x = 1\n")
    await side.edit("a.txt", "str_replace", old_str="  x = 1  ", new_str=" x = 2 ")
    assert file.read_text() == "x = 2\n"


async def test_crlf_files_are_edited_with_texts_of_plain_line_ends(side: Side) -> None:
    file = side.file("a.txt", b"a\r\nb\r\nc\r\n")
    await side.edit("a.txt", "str_replace", old_str="a\nb", new_str="a\nB")
    await side.edit("a.txt", "insert", insert_line=3, new_str="d")
    assert file.read_bytes() == b"a\r\nB\r\nc\r\nd\r\n"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"command": "str_replace", "old_str": "none"}, "is not in"),
        ({"command": "str_replace", "old_str": "a"}, "3 times in 'a.txt', in lines 1, 2, 3"),
        ({"command": "str_replace", "old_str": "b", "new_str": "b"}, "the same"),
        ({"command": "str_replace"}, "`old_str` is empty"),
        ({"command": "insert", "insert_line": 9, "new_str": "x"}, "0 to 4, not 9"),
        ({"command": "insert", "new_str": "x"}, "not None"),
        ({"command": "create", "file_text": "x"}, "exists"),
        ({"command": "undo_edit"}, "no edit"),
        ({"command": "view", "view_range": [2, 1]}, "`view_range`"),
    ],
)
async def test_an_edit_that_cannot_be_made_changes_nothing(
    side: Side, more: dict[str, Any], said: str
) -> None:
    name = "never-edited.txt" if more["command"] == "undo_edit" else "a.txt"
    file = side.file(name, "a\na\na\nb\n")
    error = await side.error(EditAction(path=name, **more))
    assert said in error.content.replace("null", "None").replace("undefined", "None")
    assert file.read_text() == "a\na\na\nb\n"


async def test_an_edit_is_taken_back_only_where_nobody_changed_the_file_since(side: Side) -> None:
    file = side.file("a.txt", "one\n")
    await side.edit("a.txt", "str_replace", old_str="one", new_str="two")
    file.write_text("three\n")
    if side.settle is not None:
        await side.settle(file)
    error = await side.error(EditAction(path="a.txt", command="undo_edit"))
    assert "changed since" in error.content
    assert file.read_text() == "three\n"


async def test_a_folder_is_viewed_two_levels_deep(side: Side) -> None:
    side.file("src/a/deep.txt", "")
    side.file("src/b.txt", "")
    side.file("src/.hidden", "")
    shown = (await side.edit("src", "view")).content.split("\n")
    assert shown == ["src/a/", "src/a/deep.txt", "src/b.txt"]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "link/x", "out", "/", "a\0b"])
async def test_paths_that_lead_out_are_refused(side: Side, path: str) -> None:
    (side.root / "link").symlink_to(side.root.parent)
    secret = side.root.parent / "outside.txt"
    secret.write_text("secret")
    (side.root / "out").symlink_to(secret)
    for action in (
        ReadAction(path=path),
        WriteAction(path=path, content="x"),
        EditAction(path=path, command="create", file_text="x"),
    ):
        assert (await side.error(action)).error_id == "E_SANDBOX_VIOLATION"
    assert secret.read_text() == "secret"
    assert not (side.root.parent / "x").exists()


async def test_a_folder_with_a_longer_name_beside_is_outside(side: Side) -> None:
    beside = side.root.parent / f"{side.root.name}-evil"
    beside.mkdir()
    (beside / "a.txt").write_text("x")
    error = await side.error(ReadAction(path=str(beside / "a.txt")))
    assert error.error_id == "E_SANDBOX_VIOLATION"


async def test_what_is_not_there_or_no_text_is_refused_by_name(side: Side) -> None:
    missing = await side.error(ReadAction(path="none.txt"))
    assert (missing.error_id, "none.txt" in missing.content) == ("E_FILE_NOT_FOUND", True)
    edited = await side.error(
        EditAction(path="none.txt", command="str_replace", old_str="a", new_str="b")
    )
    assert edited.error_id == "E_FILE_NOT_FOUND"
    file = side.file("a.bin", b"\0\1\2")
    for action in (
        ReadAction(path="a.bin"),
        EditAction(path="a.bin", command="insert", insert_line=0, new_str="x"),
    ):
        assert "not a text file" in (await side.error(action)).content
    assert file.read_bytes() == b"\0\1\2"


async def test_a_character_that_an_encoding_lacks_is_refused(side: Side) -> None:
    file = side.file("a.txt", "\xe9\n".encode("latin-1"))
    error = await side.error(EditAction(path="a.txt", command="insert", insert_line=1, new_str="€"))
    assert "'€'" in error.content
    assert file.read_bytes() == b"\xe9\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="platform: root may write what is read-only")
async def test_a_read_only_file_stays_as_it_is(side: Side) -> None:
    file = side.file("a.txt", "x\n")
    file.chmod(0o444)
    error = await side.error(WriteAction(path="a.txt", content="y\n"))
    assert "a.txt" in error.content
    assert file.read_text() == "x\n"


async def test_a_file_that_a_command_just_changed_is_read_as_it_is(side: Side) -> None:
    side.file("a.txt", "one\n")
    assert await side.read("a.txt") == "one\n"
    await side.run("echo two > a.txt")
    assert await side.read("a.txt") == "two\n"


async def test_python_programs_run_and_say_how_they_ended(side: Side) -> None:
    side.file("p.py", "import sys; print(sys.argv[1:]); sys.exit(4)")
    done = await side.perform(RunPythonAction(file="p.py", args=["a", "b c"]))
    assert isinstance(done, RunPythonObservation), done
    assert (done.exit_code, done.content) == (4, "['a', 'b c']\n")
    done = await side.perform(RunPythonAction(code="import sys; print('e', file=sys.stderr)"))
    assert isinstance(done, RunPythonObservation), done
    assert (done.exit_code, done.content, done.stderr) == (0, "", "e\n")
    assert "one of them" in (await side.error(RunPythonAction())).content
    outside = await side.error(RunPythonAction(file="../p.py"))
    assert outside.error_id == "E_SANDBOX_VIOLATION"
