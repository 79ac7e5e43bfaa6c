"""Programs as values: what is started, what is told of it, and how it ends."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import psutil
import pytest

from lineshaft.errors import ConfigError, FileMissing, ProgramTimedOut
from lineshaft.processes.programs import (
    CommandOptions,
    MavenOptions,
    NpmExecOptions,
    NpxOptions,
    PowerShellOptions,
    PythonCommandOptions,
    run_program,
    tagged,
)
from lineshaft.values import Line

Fake = Callable[[str, str], Path]

TELL = "import json, os, sys; print(json.dumps([sys.argv[1:], os.getcwd()]))"
HARD = ("a folder", "$HOME", 'a"b', ";rm -rf", "`id`", "*", "-x", "", "ü\n2")
"""Arguments that a shell would read as something else."""

TREE = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
    while True:
        signal.pause()
while True:
    signal.pause()
"""
"""A tree whose grandchild is in another session and says who it is; none of it heeds SIGTERM."""

Started = Callable[[], list[psutil.Process]]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Return a function that puts a program on the PATH, written in Python."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def make(name: str, source: str) -> Path:
        path = folder / name
        path.write_text(f"#!{sys.executable}\n{source}\n")
        path.chmod(0o755)
        return path

    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return make


def python(source: str, *args: str, **more: object) -> CommandOptions:
    return CommandOptions(sys.executable, ("-c", source, *args), **more)  # pyright: ignore[reportArgumentType]  settings by name


async def test_a_program_is_given_its_arguments_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / 'odd $HOME "; folder'
    folder.mkdir()

    done = await run_program(python(TELL, *HARD, cwd=folder))

    assert json.loads(done.stdout) == [list(HARD), str(folder)]
    assert (done.exit_code, done.lines_left_out, done.stdout_truncated) == (0, 0, False)
    assert done.argv[2] == TELL


async def test_lines_come_with_their_stream_and_an_exit_code_is_a_result(tmp_path: Path) -> None:
    source = "import sys; print('out'); sys.stdout.flush(); print('err', file=sys.stderr); exit(3)"
    options = python(source, cwd=tmp_path)
    heard: list[Line] = []

    done = await run_program(options, on_line=heard.append)

    assert done.exit_code == 3
    assert sorted(heard, key=str) == sorted(done.lines, key=str)
    assert {line.stream: line.text for line in heard} == {"stdout": "out", "stderr": "err"}
    name = Path(sys.executable).name
    assert {tagged(options, line) for line in heard} == {
        f"[{name} stdout] out",
        f"[{name} stderr] err",
    }


async def test_a_program_is_given_variables_by_name_and_no_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNNAMED", "1")
    source = (
        "import os, sys; print([os.environ.get(n) for n in ('A', 'UNNAMED')], sys.stdin.read())"
    )

    done = await run_program(python(source, cwd=tmp_path, env={"A": "b c"}))

    assert done.stdout == "['b c', None] \n"


async def test_of_long_output_the_middle_is_left_out(tmp_path: Path) -> None:
    source = "for n in range(20_000): print(f'line {n}')"

    done = await run_program(
        python(source, cwd=tmp_path, stdout_bytes=1_000, stderr_bytes=0, seconds=60)
    )

    assert done.stdout_truncated
    assert len(done.stdout) < 1_200
    assert (done.lines[0].text, done.lines[-1].text) == ("line 0", "line 19999")
    assert len(done.lines) + done.lines_left_out == 20_000
    assert len(done.output) <= 1_000


async def test_one_line_longer_than_all_that_is_kept_is_still_told(tmp_path: Path) -> None:
    done = await run_program(
        python("print('x' * 5_000)", cwd=tmp_path, stdout_bytes=100, stderr_bytes=0)
    )
    assert [len(line.text) for line in done.lines] == [5_000]


async def test_a_missing_program_is_told_with_how_it_is_installed(tmp_path: Path) -> None:
    script = tmp_path / "a.ps1"
    missing = PowerShellOptions(script, cwd=tmp_path, executable="no-such-pwsh")
    with pytest.raises(FileMissing, match="no-such-pwsh") as told:
        await run_program(missing)
    assert "install PowerShell 7" in told.value.hint
    with pytest.raises(FileMissing) as told:
        await run_program(PythonCommandOptions(module="x", venv=tmp_path / "v", cwd=tmp_path))
    assert told.value.hint == f"make the environment: python -m venv {tmp_path / 'v'}"


async def test_a_listener_that_fails_ends_the_program(tmp_path: Path, started: Started) -> None:
    def fail(line: Line) -> None:
        raise KeyError(line.text)

    with pytest.raises(KeyError):
        await run_program(python("import time; print(1, flush=True); time.sleep(99)"), on_line=fail)
    assert started() == []


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.long
async def test_a_time_out_leaves_nothing_of_trees_that_heed_no_signal(
    tmp_path: Path, started: Started
) -> None:
    ended: list[bool] = []

    async def overdue() -> None:
        with pytest.raises(ProgramTimedOut, match="was ended after 4 s") as told:
            await run_program(python(TREE, cwd=tmp_path, seconds=4))
        assert told.value.code == "E_TOOL_TIMEOUT"
        ended.append(gone(int(told.value.output)))

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(overdue)

    assert ended == [True] * 10
    assert started() == []


@pytest.mark.long
@pytest.mark.parametrize("turn", range(10))
async def test_a_cancel_leaves_nothing_of_such_a_tree_and_is_no_time_out(
    tmp_path: Path, turn: int, started: Started
) -> None:
    ends: list[str] = []
    said: list[int] = []

    async with anyio.create_task_group() as tasks:

        def hear(line: Line) -> None:
            said.append(int(line.text))
            tasks.cancel_scope.cancel()

        try:
            await run_program(python(TREE, cwd=tmp_path), on_line=hear)
        except BaseException as error:
            ends.append(type(error).__name__)
            raise

    assert ends == ["CancelledError"], turn
    assert gone(said[0])
    assert started() == []


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: CommandOptions(""), "name is empty"),
        (lambda: CommandOptions("a", ("b\0",)), "NUL"),
        (lambda: CommandOptions("a", env={"A": "\0"}), "NUL"),
        (lambda: CommandOptions("a", (1,)), "no text"),  # pyright: ignore[reportArgumentType]  wrong on purpose
        (lambda: CommandOptions("a", seconds=0), "above 0"),
        (lambda: CommandOptions("a", seconds=7_201), "7,200"),
        (lambda: CommandOptions("a", seconds=float("nan")), "above 0"),
        (lambda: NpxOptions("cspell", ("cspell",)), "exact version"),
        (lambda: NpxOptions("cspell@9", ("cspell",)), "exact version"),
        (lambda: NpxOptions("cspell@latest", ("cspell",)), "exact version"),
        (lambda: NpxOptions("cspell@^9.8.0", ("cspell",)), "exact version"),
        (lambda: NpxOptions("--call=x@1.2.3", ("cspell",)), "exact version"),
        (lambda: NpxOptions("git+ssh://x@1.2.3", ("cspell",)), "exact version"),
        (lambda: NpxOptions("cspell@9.8.0", ()), "name of a package's program"),
        (lambda: NpxOptions("cspell@9.8.0", ("--call",)), "name of a package's program"),
        (lambda: NpmExecOptions(Path(), ("../evil",)), "name of a package's program"),
        (lambda: MavenOptions((), Path("pom.xml")), "no goal"),
        (lambda: MavenOptions(("--file",), Path("pom.xml")), "no goal"),
        (lambda: PowerShellOptions(Path("a.sh")), "no PowerShell script"),
        (lambda: PowerShellOptions(Path("a.ps1"), {"a:b": "c"}), "PowerShell parameter"),
        (PythonCommandOptions, "either a script or a module"),
        (lambda: PythonCommandOptions(module="a", script=Path("b")), "either"),
        (lambda: PythonCommandOptions(module="-c"), "no name of a Python module"),
    ],
)
def test_what_cannot_be_started_as_it_is_meant_is_refused(
    make: Callable[[], object], told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        make()


async def test_python_runs_scripts_and_modules_apart_from_the_persons_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a b.py").write_text(
        "import sys; print(sys.argv[1:], sys.flags.ignore_environment)"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    script = PythonCommandOptions(script=tmp_path / "a b.py", args=("$x",), cwd=tmp_path)
    done = await run_program(script)
    assert done.stdout == "['$x'] 1\n"
    (tmp_path / "json.py").write_text("print('planted')")
    done = await run_program(PythonCommandOptions(module="json.tool", args=("-h",), cwd=tmp_path))
    assert done.exit_code == 0
    assert "usage" in done.stdout
    assert "planted" not in done.stdout


async def test_a_script_of_powershell_gets_its_values_by_name(tmp_path: Path, fake: Fake) -> None:
    fake("pwsh", TELL.replace("; ", "\n"))
    values = {"PackagePath": 'a "b" $c', "Dash": "-x", "Empty": "", "Quiet": True, "Loud": False}

    done = await run_program(PowerShellOptions(tmp_path / "Do It.ps1", values, cwd=tmp_path))

    [argv, _] = json.loads(done.stdout)
    assert argv == [
        *("-NoLogo", "-NoProfile", "-NonInteractive", "-File", str(tmp_path / "Do It.ps1")),
        *('-PackagePath:a "b" $c', "-Dash:-x", "-Empty:", "", "-Quiet"),
    ]


async def test_npm_runs_what_is_installed_and_fetches_nothing(tmp_path: Path, fake: Fake) -> None:
    fake("npm", "import sys; print('npm', sys.argv[1:])")
    prefix = tmp_path / "a b"
    prefix.mkdir()
    asked = NpmExecOptions(prefix, ("tool", "$x"), cwd=tmp_path)
    done = await run_program(asked)
    assert done.stdout == f"npm ['exec', '--no', '--prefix', '{prefix}', '--', 'tool', '$x']\n"
    there = prefix / "node_modules" / ".bin" / "tool"
    there.parent.mkdir(parents=True)
    there.symlink_to(fake("real-tool", "import sys; print('tool', sys.argv[1:])"))
    assert (await run_program(asked)).stdout == "tool ['$x']\n"
    assert asked.label == "tool"


async def test_npx_is_told_the_exact_version(tmp_path: Path, fake: Fake) -> None:
    fake("npx", "import sys; print(sys.argv[1:])")
    options = NpxOptions("@typespec/compiler@1.9.0", ("tsp", "--version"), cwd=tmp_path)
    done = await run_program(options)
    assert (
        done.stdout == "['--yes', '--package=@typespec/compiler@1.9.0', '--', 'tsp', '--version']\n"
    )


async def test_maven_is_told_to_ask_nothing(tmp_path: Path, fake: Fake) -> None:
    fake("mvn", "import sys; print(sys.argv[1:])")
    options = MavenOptions(
        ("compile",), tmp_path, offline=True, repository=Path("/r"), args=("-q",), cwd=tmp_path
    )
    done = await run_program(options)
    told = ["-B", "-Dstyle.color=never", "-o", "-Dmaven.repo.local=/r", "-f", str(tmp_path)]
    assert done.stdout == f"{[*told, 'compile', '-q']}\n"


@pytest.mark.long
@pytest.mark.parametrize("how", ["time-out", "cancel"])
async def test_real_npm_leaves_nothing_when_it_is_ended(
    tmp_path: Path, require: Callable[[str], str], how: str, started: Started
) -> None:
    require("npm")
    (tmp_path / "w.js").write_text("console.log('ready'); setInterval(() => {}, 1000)")
    (tmp_path / "package.json").write_text('{"scripts":{"w":"node w.js"}}')
    seconds = 6 if how == "time-out" else 60
    options = CommandOptions("npm", ("run", "w"), cwd=tmp_path, seconds=seconds)
    ready = anyio.Event()

    def hear(line: Line) -> None:
        if line.text == "ready":
            ready.set()

    async with anyio.create_task_group() as tasks:

        async def work() -> None:
            if how == "time-out":
                with pytest.raises(ProgramTimedOut):
                    await run_program(options, on_line=hear)
            else:
                await run_program(options, on_line=hear)

        tasks.start_soon(work)
        if how == "cancel":
            await ready.wait()
            tasks.cancel_scope.cancel()
    assert started() == []


@pytest.mark.long
async def test_maven_of_this_machine_validates_a_project(
    tmp_path: Path, require: Callable[[str], str]
) -> None:
    require("mvn")
    (tmp_path / "pom.xml").write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId>"
        "<artifactId>b</artifactId><version>1</version></project>"
    )
    done = await run_program(MavenOptions(("validate",), tmp_path, offline=True, cwd=tmp_path))
    assert done.exit_code == 0, done.output
    assert any("BUILD SUCCESS" in line.text for line in done.lines)
