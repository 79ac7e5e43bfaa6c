"""What a run does to a folder is known exactly, and the folder itself stays as it is."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineshaft.errors import EngineError
from lineshaft.sandbox.jail import Changes, SandboxSpec
from sandbox.jail.inside import SECONDS, Inside, read_all, read_line
from sandbox.jail.land import land, tree

pytestmark = pytest.mark.usefixtures("own_temporary_folder")

STEPS = """
import json, os, shutil, sys
def replace(text, path):
    with open(path + ".new", "w") as file:
        file.write(text)
    os.replace(path + ".new", path)
def write(text, path):
    with open(path, "w") as file:
        file.write(text)
def append(text, path):
    with open(path, "a") as file:
        file.write(text)
def patch(text, path):
    with open(path, "r+b") as file:
        file.seek(1)
        file.write(text.encode())
def truncate(path):
    with open(path, "r+") as file:
        file.truncate(1)
def copytree(old, new):
    if not os.path.realpath(new + "/x").startswith(os.path.realpath(old) + "/"):  # without end
        shutil.copytree(old, new)
DO = {
    "write": write, "append": append, "patch": patch, "replace": replace, "truncate": truncate,
    "cut": lambda path: os.truncate(path, 0),
    "mkdir": os.mkdir, "makedirs": os.makedirs, "rmdir": os.rmdir, "unlink": os.unlink,
    "rmtree": shutil.rmtree, "rename": os.rename, "symlink": os.symlink,
    "copy": shutil.copy, "move": shutil.move, "executable": lambda p: os.chmod(p, 0o755),
    "private": lambda p: os.chmod(p, 0o700), "touch": lambda p: os.utime(p),
    "copytree": copytree,
}
os.umask(0o022)
for name, *words in json.loads(sys.argv[1]):
    try:
        DO[name](*words)
    except (OSError, shutil.Error):
        pass
"""
NAMES = st.sampled_from(["a.txt", "b.txt", "d", "d/e", "d/a.txt", "d/e/b.txt", "new", "new/x", "l"])
TEXTS = st.sampled_from(["", "one", "two\n" * 50, "ä€"])
ONE = ["mkdir", "makedirs", "rmdir", "unlink", "rmtree", "truncate", "cut", "executable", "touch"]
STEP = st.one_of(
    st.tuples(st.sampled_from(["write", "append", "patch", "replace"]), TEXTS, NAMES),
    st.tuples(st.sampled_from(ONE), NAMES),
    st.tuples(st.sampled_from(["rename", "symlink", "copy", "move", "copytree"]), NAMES, NAMES),
)


def _folder(place: Path) -> Path:
    """Make a folder with something of every kind in it."""
    (place / "d" / "e").mkdir(parents=True)
    for name in ("a.txt", "d/a.txt", "d/e/b.txt"):
        (place / name).write_text(f"{name} as it was\n" * 20)
    (place / "b.txt").write_text("b")
    (place / "l").symlink_to("d")
    return place


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder to be kept apart."""
    return _folder(tmp_path / "root")


def _changes(
    inside: Inside, root: Path, code: str, *words: str, spec: SandboxSpec | None = None
) -> Changes:
    """Run a program on a folder kept apart, land what it did on a copy, and return it."""
    before = tree(root)
    with inside.started(code, *words, spec=spec, apart=root) as (jailed, out):
        said = read_all(out)
        assert jailed.wait(SECONDS) == 0, said
        changes = jailed.changes()
        assert tree(root) == before
        if not changes.refused:
            copy = root.with_name("landed")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(root, copy, symlinks=True)
            land(changes, copy)
    assert [change for change in changes.files if Path(str(change.upper)).exists()] == []
    return changes


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(STEP, min_size=1, max_size=14))
def test_landed_changes_make_the_folder_that_the_run_saw(
    inside: Inside, tmp_path: Path, steps: list[tuple[str, ...]]
) -> None:
    for name in ("root", "plain", "landed"):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
    root, plain = _folder(tmp_path / "root"), _folder(tmp_path / "plain")
    words = json.dumps(steps)
    subprocess.run(inside.argv(STEPS, words), cwd=plain, check=True, env={})
    _changes(inside, root, STEPS, words)
    assert tree(tmp_path / "landed") == tree(plain)


def _kinds(changes: Changes) -> dict[str, str]:
    return {change.path: change.how for change in changes.files}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([["write", "x", "new"]], {"new": "written"}),
        ([["append", "x", "a.txt"]], {"a.txt": "written"}),
        ([["patch", "x", "a.txt"]], {"a.txt": "written"}),
        ([["cut", "a.txt"]], {"a.txt": "written"}),
        ([["unlink", "a.txt"]], {"a.txt": "deleted"}),
        ([["makedirs", "x/y"]], {"x": "folder", "x/y": "folder"}),
        ([["rename", "a.txt", "c.txt"]], {"a.txt": "deleted", "c.txt": "written"}),
        ([["symlink", "a.txt", "s"]], {"s": "symlink"}),
        ([["executable", "a.txt"]], {"a.txt": "written"}),
        ([["private", "d"]], {"d": "folder"}),
        ([["unlink", "l"], ["mkdir", "l"]], {"l": "folder"}),
        ([["touch", "a.txt"]], {}),
        ([["write", "b", "b.txt"]], {}),
        ([["write", "x", "new"], ["unlink", "new"]], {}),
        ([["rename", "a.txt", "c.txt"], ["rename", "c.txt", "a.txt"]], {}),
        ([["rmtree", "d"]], dict.fromkeys(["d", "d/a.txt", "d/e", "d/e/b.txt"], "deleted")),
        ([], {}),
    ],
)
def test_each_kind_of_change_is_named(
    inside: Inside, root: Path, steps: list[list[str]], expected: dict[str, str]
) -> None:
    assert _kinds(_changes(inside, root, STEPS, json.dumps(steps))) == expected


def test_a_change_knows_what_the_file_was_and_what_it_may(inside: Inside, root: Path) -> None:
    code = "import os; open('a.txt', 'w').write('x'); os.chmod('a.txt', 0o6750)"
    (change,) = _changes(inside, root, code).files
    assert change.mode == 0o750
    assert change.before_sha256 == tree(root)["a.txt"].digest


def test_the_inside_sees_the_folder_at_its_own_path_and_its_own_writes(
    inside: Inside, root: Path
) -> None:
    code = """
import os, subprocess, sys
print(os.getcwd() == sys.argv[1])
open(sys.argv[1] + "/new", "w").write("text")
os.rename("d/e", "d/f")
look = "print(open('new').read(), open('d/f/b.txt').readline())"
sys.stdout.flush()
subprocess.run([sys.executable, "-I", "-S", "-c", look], check=True)
print(sorted(os.listdir()), os.path.exists("d/e"))
"""
    with inside.started(code, str(root), apart=root) as (_, out):
        assert read_all(out).splitlines() == [
            "True",
            "text d/e/b.txt as it was",
            "",
            "['a.txt', 'b.txt', 'd', 'l', 'new'] False",
        ]


SECRET = "the secret"  # noqa: S105  nobody's


@pytest.fixture
def guarded(root: Path) -> SandboxSpec:
    """Return walls around hidden and read-only parts of the folder."""
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / ".git" / "config").write_text(SECRET)
    (root / ".env").write_text(SECRET)
    (root / "d" / ".env").write_text(SECRET)
    (root / "second-name").hardlink_to(root / ".env")
    (root / "to-it").symlink_to(".env")
    (root / "tool.toml").write_text("tool")
    hidden = (root / ".git", root / ".env", root / "d" / ".env")
    return SandboxSpec(readable=(), hidden=hidden, readonly=(root / "tool.toml",))


LOOK = f"""
import os
def looks():
    yield lambda: open(".env").read()
    yield lambda: open("d/.env").read()
    yield lambda: open(".git/config").read()
    yield lambda: open("second-name").read()
    yield lambda: open("to-it").read()
    yield lambda: open("d/../.env").read()
    yield lambda: open("/proc/self/cwd/.env").read()
    yield lambda: os.read(os.open("config", os.O_RDONLY, dir_fd=os.open(".git", os.O_PATH)), 99)
    yield lambda: (os.link(".env", "linked"), open("linked").read())
    yield lambda: (os.symlink(".git", "linked-git"), open("linked-git/config").read())
    yield lambda: (os.rename(".env", "moved"), open("moved").read())
    yield lambda: (os.rename("d", "moved-d"), open("moved-d/.env").read())
    yield lambda: (os.rename(".git", "moved-git"), open("moved-git/config").read())
for number, look in enumerate(looks()):
    try:
        found = repr(look())
    except OSError:
        continue
    if {SECRET!r} in found:
        print(number, found)
"""


def test_what_is_hidden_is_not_read_in_any_way(
    inside: Inside, root: Path, guarded: SandboxSpec
) -> None:
    assert subprocess.run(
        inside.argv(LOOK), cwd=shutil.copytree(root, root.with_name("bare"), symlinks=True),
        capture_output=True, text=True, check=True,
    ).stdout.count(SECRET) >= 10  # fmt: skip  # one command
    with inside.started(LOOK, spec=guarded, apart=root) as (jailed, out):
        assert read_all(out) == ""
        jailed.wait(SECONDS)
        for change in jailed.changes().files:
            if change.upper is not None:
                assert SECRET not in Path(change.upper).read_text()


@pytest.mark.parametrize(
    ("code", "refused"),
    [
        ("open('tool.toml', 'w').write('mine')", "tool.toml"),
        ("os.unlink('tool.toml')", "tool.toml"),
        ("os.rename('tool.toml', 'other.toml')", "tool.toml"),
        ("os.chmod('tool.toml', 0o777)", "tool.toml"),
        ("os.rename('d', 'moved')", "d/.env"),
        ("os.mkfifo('pipe')", "pipe"),
    ],
)
def test_what_changed_against_the_walls_is_refused_by_name(
    inside: Inside, root: Path, guarded: SandboxSpec, code: str, refused: str
) -> None:
    program = f"import os\ntry:\n    {code}\nexcept OSError:\n    print('refused inside')"
    with inside.started(program, spec=guarded, apart=root) as (jailed, out):
        said = read_all(out)
        jailed.wait(SECONDS)
        changes = jailed.changes()
    assert "refused inside" in said or refused in changes.refused
    assert refused not in _kinds(changes)


def test_hooks_cannot_be_planted(inside: Inside, root: Path, guarded: SandboxSpec) -> None:
    code = """
import os
for path in (".git/hooks/post-commit", ".env", "d/.env"):
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        open(path, "w").write("mine")
    except OSError:
        pass
"""
    changes = _changes(inside, root, code, spec=guarded)
    assert set(_kinds(changes)) & {".git/hooks/post-commit", ".env", "d/.env"} == set()


def test_a_run_that_was_killed_changed_nothing(inside: Inside, root: Path) -> None:
    before = tree(root)
    code = (
        "import time; open('a.txt', 'w').write('x'); print('written', flush=True); time.sleep(600)"
    )
    with inside.started(code, apart=root) as (jailed, out):
        assert read_line(out) == "written"
        with pytest.raises(EngineError, match="only after the end"):
            jailed.changes()
        jailed.kill()
    assert tree(root) == before


def test_other_names_of_outside_files_are_not_written(
    inside: Inside, root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("outside")
    (root / "linked.txt").hardlink_to(outside)
    (root / "out").symlink_to(outside)
    code = """
open("linked.txt", "w").write("x")
try:
    open("out", "w").write("x")
except OSError:
    pass
"""
    _changes(inside, root, code)
    assert outside.read_text() == "outside"


def test_several_runs_on_one_folder_are_kept_apart_from_each_other(
    inside: Inside, root: Path
) -> None:
    code = """
import sys
open("mine", "w").write(sys.argv[1])
print("ready", flush=True)
sys.stdin.read()
"""
    with (
        inside.started(code, "1", apart=root) as (one, out_one),
        inside.started(code, "2", apart=root) as (two, out_two),
    ):
        texts: list[str] = []
        for jailed, out in ((one, out_one), (two, out_two)):
            assert read_line(out) == "ready"
            assert jailed.wait(SECONDS) == 0
            (change,) = jailed.changes().files
            texts.append(Path(str(change.upper)).read_text())
        assert texts == ["1", "2"]
    assert not (root / "mine").exists()


def test_a_folder_of_many_files_is_kept_apart(inside: Inside, root: Path) -> None:
    for number in range(300):
        (root / f"file-{number}").write_text("x")
    code = """
import os
for number in range(300):
    open(f"made-{number}" + "y" * 150, "w").write("y")
    os.unlink(f"file-{number}")
"""
    changes = _changes(inside, root, code)
    assert len(changes.files) == 600
