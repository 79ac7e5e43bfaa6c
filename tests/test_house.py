"""The house is in order: locks, and nothing that belongs to one machine."""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "lineshaft"
NOT_PROSE = {".lock", ".png", ".gif", ".svg"}

# Put together here so that this file is no finding itself.
HOSTS = re.compile("|".join(("py" + r"pi\.org", "python" + "hosted", "npm" + r"js\.(org|com)")))
MACHINE = re.compile(r"/(?:root|home/\w+|Users/\w+)/|/work" + "/(?:main|shared)")
SILENCED = re.compile(
    r"(?:ruff: ?noqa|noqa|type: ?ignore|pyright: ?ignore|fmt: ?(?:skip|off)|pragma: ?no \w+)"
    r"(?:\[[\w, -]*\])?(?::? ?[A-Z]+\d+(?:, ?[A-Z]+\d+)*)?"
)
"""A remark that a tool is not to look, with the names of what it is not to look at."""

BROAD = {"Exception", "BaseException"}
MARKS = {f"pytest.mark.{kind}" for kind in ("skip", "skipif", "xfail")}


def _committed() -> Iterator[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.split("\0"):
        path = ROOT / name
        if name and path.is_file():
            yield path


def _python() -> Iterator[Path]:
    return (path for path in _committed() if path.suffix == ".py")


def _text() -> Iterator[tuple[str, str]]:
    for path in _committed():
        if path.suffix not in NOT_PROSE:
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8", errors="replace")


@pytest.mark.long
def test_whatever_is_silenced_says_why_on_its_line() -> None:
    silent = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in _python()
        for line in _without_reason(path.read_text(encoding="utf-8"))
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("x = 1  # noqa: S105\n", 1),
        ("x = 1  # noqa: S105  a test's\n", 0),
        ("x = 1  # type: ignore[arg-type]\n", 1),
        ("x = 1  # pyright: ignore[reportA, reportB]  # noqa: A1\n", 1),
        ("x = [1]  # fmt: skip\n", 1),
        ("x = [1]  # fmt: skip  # a table\n", 0),
        ("x = '# noqa'\n", 0),
        ("if x:  # pragma: no cover\n    y()\n", 1),
        ("try:\n    x()\nexcept Exception:\n    y()\n", 1),
        ("try:\n    x()\nexcept (ValueError, Exception):\n    y()\n", 1),
        ("try:\n    x()\nexcept:\n    y()\n", 1),
        ("try:\n    x()\nexcept Exception:  # noqa: BLE001\n    y()\n", 1),
        ("try:\n    x()\nexcept Exception:  # noqa: BLE001  foreign code\n    y()\n", 0),
        ("try:\n    x()\nexcept BaseException:\n    y()\n    raise\n", 0),
        ("@pytest.mark.skip\ndef test(): ...\n", 1),
        ("@pytest.mark.skipif(True)\ndef test(): ...\n", 1),
        ("@pytest.mark.xfail(True, reason='so')\ndef test(): ...\n", 0),
        ("pytest.skip()\n", 1),
        ("pytest.skip('so')\n", 0),
    ],
)
def test_what_is_silenced_without_a_reason_is_found(text: str, count: int) -> None:
    assert len(_without_reason(text)) == count


def _without_reason(text: str) -> set[int]:
    """Return the lines on which something is silenced, and nothing says why."""
    found: set[int] = set()
    marks: set[int] = set()
    reasons: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ExceptHandler) and _is_broad(node):
            found.add(node.lineno)
        elif isinstance(node, ast.Attribute) and _named(node) in MARKS:
            marks.add(node.lineno)
        elif isinstance(node, ast.Call):
            if _named(node.func) == "pytest.skip" and not node.args:
                marks.add(node.lineno)
            if any(each.arg == "reason" for each in node.keywords):
                reasons.add(node.lineno)
    marks -= reasons
    if not found and not SILENCED.search(text):
        return marks  # splitting all files into tokens would take most of a minute
    comments = {
        token.start[0]: token.string
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    }
    told = {n for n, said in comments.items() if re.search(r"[a-z]{2}", SILENCED.sub("", said))}
    found |= {n for n, said in comments.items() if SILENCED.search(said)}
    return (found - told) | marks


def _named(node: ast.expr) -> str:
    """Return a name with dots, such as `pytest.skip`."""
    if isinstance(node, ast.Attribute):
        return f"{_named(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _is_broad(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler takes anything, and does not raise it again at its end."""
    kinds = {"Exception"} if handler.type is None else set[str]()
    if handler.type is not None:
        kinds = {n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)}
    return bool(kinds & BROAD) and not isinstance(handler.body[-1], ast.Raise)


def _sources() -> Iterator[Path]:
    """Yield our modules but for the guest, the Python inside of every engine."""
    guest = SOURCE / "engines" / "guest"
    return (path for path in SOURCE.rglob("*.py") if not path.is_relative_to(guest))


def test_a_class_name_stands_once_in_the_house() -> None:
    homes: dict[str, list[str]] = {}
    for path in _sources():
        place = path.relative_to(SOURCE)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(place.as_posix())
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_a_family_of_files_is_a_folder_and_no_prefix() -> None:
    families: dict[tuple[str, str], set[str]] = {}
    for path in _sources():
        first, *rest = path.stem.lstrip("_").split("_")
        if first:
            families.setdefault((str(path.parent.relative_to(SOURCE)), first), set()).add(
                "_".join(rest)
            )
    assert [family for family, files in families.items() if len(files) > 2] == []


def test_a_module_says_what_it_does_and_opens_with_a_noun() -> None:
    opening = re.compile(r"(?:what|where|whether|how|who|whoever)\b", re.IGNORECASE)
    asking = [
        f"{path.relative_to(SOURCE)}: {text.splitlines()[0]}"
        for path in SOURCE.rglob("*.py")
        if opening.match(text := ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "")
    ]
    assert asking == []


def test_no_file_names_a_package_registry() -> None:
    assert [name for name, text in _text() if HOSTS.search(text)] == []


def test_no_file_names_a_folder_of_one_machine() -> None:
    assert [name for name, text in _text() if MACHINE.search(text)] == []


def test_every_link_between_our_pages_leads_somewhere() -> None:
    link = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
    broken = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in _committed()
        if path.suffix == ".md"
        for target in link.findall(path.read_text(encoding="utf-8"))
        if not (path.parent / target).exists()
    ]
    assert broken == []


def test_every_requirement_is_in_the_lock_with_its_hashes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    wanted = {"test": [*project["project"]["dependencies"], *groups["test"]]}
    wanted["all"] = [*wanted["test"], *(item for item in groups["dev"] if isinstance(item, str))]
    wanted["uv"] = groups["lock"]
    for name, requirements in wanted.items():
        locked = _locked((ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8"))
        for requirement in map(Requirement, requirements):
            version = locked.get(canonicalize_name(requirement.name))
            assert version is not None, f"{requirement} is not in {name}.txt: run ./dev lock"
            assert requirement.specifier.contains(version), f"{name}.txt has {version}"


def test_what_tests_import_first_of_all_is_in_their_lock() -> None:
    """`./dev test` installs it alone; what a test needs beyond that it asks for."""
    folder = ROOT / "tests"
    locked = _locked((ROOT / "requirements" / "test.txt").read_text(encoding="utf-8"))
    found = {path: _imported(path) for path in folder.rglob("*.py")}
    reached = [path for path in found if path.name.startswith(("test_", "conftest"))]
    for path in reached:  # it grows
        for name in found[path]:
            parts = name.split(".")
            near = (folder.joinpath(*parts[:n]).with_suffix(".py") for n in range(1, len(parts)))
            reached += (each for each in near if each in found and each not in reached)
    known = {*sys.stdlib_module_names, *(path.stem for path in folder.iterdir()), "__future__"}
    foreign = packages_distributions()
    missing = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in reached
        for name in found[path]
        if (root := name.split(".")[0]) not in known and not root.startswith("lineshaft")
        if not {canonicalize_name(each) for each in foreign.get(root, ())} & locked.keys()
    }
    assert missing == set()


def _imported(path: Path) -> list[str]:
    """Return the modules that a file imports at its top, each with a name behind it."""
    found: list[str] = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found += (f"{each.name}.*" for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            found += (f"{node.module}.{each.name}" for each in node.names)
    return found


def _locked(text: str) -> dict[str, str]:
    """Return versions by name; each line of a lock must bring a hash."""
    entries = re.split(r"\n(?=\S)", text.replace("\\\n", " "))
    pinned: dict[str, str] = {}
    for entry in entries:
        found = re.match(r"([\w.-]+)(?:\[[\w,]+\])?==(\S+)", entry)
        if found:
            assert "--hash=sha256:" in entry, entry
            pinned[canonicalize_name(found[1])] = found[2]
    return pinned


def test_dev_names_its_commands_and_refuses_others() -> None:
    known = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True)
    unknown = subprocess.run(
        [ROOT / "dev", "nonsense"], capture_output=True, text=True, check=False
    )
    assert "./dev COMMAND" in known.stdout
    assert unknown.returncode == 2
    assert "'nonsense'" in unknown.stderr


def test_dev_says_what_is_missing_where_there_is_no_python() -> None:
    done = subprocess.run(
        ["/bin/sh", ROOT / "dev", "test"],
        env={"PATH": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "Python 3.11" in done.stderr
