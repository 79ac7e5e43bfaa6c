"""Lineshaft's own folders, with the home folder as the workspace: closed to all tools."""

from pathlib import Path

import pytest

from behaviour.programs import Open, value_of
from lineshaft import Policy
from lineshaft.values import WASM_BOUNDARY, PythonOptions
from native import CACHE_HOME, vouch_for_native_code

pytestmark = pytest.mark.behaviour("F26")

OWN = {"STATE": ".local/state", "DATA": ".local/share", "CONFIG": ".config"}

LOOK = """
import os
for own in {own}:
    for path in (own + "/inner/file", "link/" + own + "/inner/file"):
        try:
            print(open(path).read())
        except OSError:
            print("closed")
print(sorted(os.listdir(".cache")), open("mine").read())
"""


@pytest.fixture
def home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the workspace the home folder, with files of Lineshaft's own in it."""
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(CACHE_HOME))
    for kind, place in OWN.items():
        monkeypatch.delenv(f"XDG_{kind}_HOME", raising=False)
        (folder / place / "lineshaft" / "inner").mkdir(parents=True)
        (folder / place / "lineshaft" / "inner" / "file").write_text("hush")
    vouch_for_native_code(folder / OWN["STATE"])
    (folder / "link").symlink_to(".")
    (folder / "mine").write_text("open")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "other").write_text("hush, it is in the way")
    return folder


def snapshot(home: Path) -> list[str]:
    return sorted(
        str(path)
        for place in OWN.values()
        for path in (home / place / "lineshaft" / "inner").rglob("*")
    )


async def test_no_tool_of_the_kit_reaches_them(opened: Open, home: Path) -> None:
    session = await opened(policy=Policy(mode="open"))
    before = snapshot(home)
    refused = [
        ("read_file", {"path": "{own}/inner/file"}),
        ("read_file", {"path": "link/{own}/inner/file"}),
        ("write_file", {"path": "{own}/inner/new", "content": "x"}),
        ("edit_file", {"path": "{own}/inner/file", "old": "hush", "new": "x"}),
        ("delete_file", {"path": "{own}/inner/file"}),
        ("move_file", {"source": "{own}/inner/file", "target": "mine2"}),
        ("move_file", {"source": "mine", "target": "{own}/inner/new"}),
        ("move_file", {"source": "{above}", "target": "elsewhere"}),
        ("list_files", {"path": "{own}"}),
        ("find_files", {"pattern": "**/*", "path": "{own}"}),
        ("search_text", {"pattern": "hush", "path": "{own}"}),
        ("run_command", {"command": "cat file", "cwd": "{own}/inner"}),
    ]
    for place in OWN.values():
        words = {"own": f"{place}/lineshaft", "above": place}
        for tool, given in refused:
            arguments = {
                name: [each.format(**words) for each in value]
                if isinstance(value, list)
                else value.format(**words)
                for name, value in given.items()
            }
            done = await session.call(tool, arguments)
            text = repr(done.value) if done.error is None else done.error.message
            assert "own" in text, (tool, arguments, done)
            assert "hush" not in text
    assert snapshot(home) == before


async def test_what_looks_through_the_workspace_leaves_them_out(opened: Open, home: Path) -> None:
    session = await opened(policy=Policy(mode="open"))
    for tool, arguments in (
        ("find_files", {"pattern": "**/*"}),
        ("find_files", {"pattern": "**/.local/**"}),
        ("search_text", {"pattern": "hush"}),
        ("list_files", {"path": ".local/state"}),
    ):
        text = repr(value_of(await session.call(tool, arguments)))
        assert "inner" not in text
        assert "lineshaft" not in text


async def test_no_script_reaches_them(opened: Open, home: Path) -> None:
    session = await opened(policy=Policy(mode="open"))
    script = """
refused = []
for act in (
    lambda: read_file(path=".local/state/lineshaft/inner/file"),
    lambda: move_file(source=".local", target="elsewhere"),
):
    try:
        await act()
    except ToolError as error:
        refused.append(error.code)
return refused
"""
    done = await session.run(script)
    assert done.value == ["E_SANDBOX_VIOLATION"] * 2, done.error


async def test_no_program_reads_them(opened: Open, home: Path, boundary: str) -> None:
    session = await opened(policy=Policy(mode="open"), python=PythonOptions(boundary=boundary))
    code = LOOK.format(own=[f"{place}/lineshaft" for place in OWN.values()])
    answer = value_of(await session.call("python_run", {"code": code}))
    assert answer["stdout"] == "closed\n" * 6 + "['other'] open\n"


@pytest.mark.parametrize(
    "code",
    [
        "open('.local/state/lineshaft/inner/file', 'w').write('x')",
        "open('.local/state/lineshaft/new', 'w').write('x')",
        "import os; os.rename('.local', 'elsewhere')",
        "import shutil; shutil.rmtree('.local')",
        "import os; os.rename('.local/state', 'x'); os.makedirs('.local/state/lineshaft/inner')",
        "import os; os.rename('.config', 'x'); os.symlink('x', '.config')",
    ],
)
async def test_no_program_changes_them(opened: Open, home: Path, boundary: str, code: str) -> None:
    session = await opened(policy=Policy(mode="open"), python=PythonOptions(boundary=boundary))
    before = snapshot(home)
    await session.call("python_run", {"code": code})
    assert snapshot(home) == before
    for place in OWN.values():
        assert (home / place / "lineshaft" / "inner" / "file").read_text() == "hush"
        assert not (home / place).is_symlink()
        assert not (home / place / "lineshaft" / "new").exists()


async def test_with_the_cache_in_the_workspace_a_program_has_its_interpreter_and_no_more(
    opened: Open, home: Path, boundary: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if boundary == WASM_BOUNDARY:
        pytest.skip(
            "platform: the native code would be made anew; it is no file that a program has"
        )
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    (home / ".cache" / "lineshaft").mkdir()
    (home / ".cache" / "lineshaft" / "code").write_text("hush")
    session = await opened(policy=Policy(mode="open"), python=PythonOptions(boundary=boundary))
    code = """
try:
    print(open(".cache/lineshaft/code").read())
except OSError:
    print("closed")
print(open("mine").read())
"""
    answer = value_of(await session.call("python_run", {"code": code}))
    assert answer.get("stdout") == "closed\nopen\n", answer
    assert list((home / ".cache" / "lineshaft" / "python").iterdir())
    assert (home / ".cache" / "lineshaft" / "code").read_text() == "hush"
