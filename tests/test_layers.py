"""Rooms are entered by their front door, and calls are made in few places."""

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "lineshaft"

MAKERS_OF_CALLS = {
    "agents/_commit.py": "the commit of an agent's changes",
    "agents/_microagent.py": "a call of an agent's model, and the validation of its result",
    "agents/_requests.py": "a request of an agent to its model",
    "engines/host/turns.py": "a script's call, out of the requests of a turn",
    "gate/_joining.py": "an agent that host code runs in the body of a tool",
    "gate/_source_reads.py": "the read of a script in a file or of a module, judged as `read_file`",
    "scripts/_runner.py": "a direct call, and the run itself",
}
"""Files that may construct a `Call`: the ways in. The canary covers each of them."""

GUEST = "engines/guest/"
"""The Python inside every engine: no room of the host, and it alone parses scripts."""

MORE_DOORS = {
    "kit": {"view"},
    "mcp": {"client", "front"},
    "processes": {"programs"},
    "remote": {"host", "local", "offered", "protocol", "window"},
    "sandbox": {"bundle", "jail", "webassembly"},
}
"""Folders with a front door beside the room's, since what is behind it takes time to import."""


@cache
def _trees() -> Sequence[tuple[str, ast.Module]]:
    return [
        (path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted(SOURCE.rglob("*.py"))
    ]


def _room(name: str) -> str:
    return name.split("/")[0].removesuffix(".py")


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _modules(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _relative(tree: ast.Module) -> Iterator[ast.ImportFrom]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level)


def test_only_the_guest_imports_what_stands_beside_it() -> None:
    assert [n for n, t in _trees() if list(_relative(t)) and not n.startswith(GUEST)] == []


def test_the_guest_imports_nothing_of_the_host() -> None:
    guest = [(n, t) for n, t in _trees() if n.startswith(GUEST)]
    assert len(guest) > 10
    assert [n for n, t in guest if any(i.startswith("lineshaft.") for i in _imports(t))] == []


def _private_room(imported: str) -> str | None:
    """Return the room whose inner module this is, or None."""
    top, room, *inner = (*imported.split("."), "")
    if top != "lineshaft" or not inner[:-1] or inner[0] in MORE_DOORS.get(room, ()):
        return None
    return room if _is_module((room, inner[0])) else None


def test_rooms_are_entered_by_their_front_door() -> None:
    entered = [
        f"{name} imports {imported}"
        for name, tree in _trees()
        for imported in _imports(tree)
        if _private_room(imported) not in (None, _room(name))
    ]
    assert entered == []


def test_files_inside_a_room_are_private() -> None:
    open_files = [
        name
        for name, _ in _trees()
        if name.count("/") == 1 and not name.partition("/")[2].startswith("_")
    ]
    assert open_files == []


def _entered_inside(name: str, imported: str) -> bool:
    """Return whether an import goes past the door of a folder that its file does not lie in."""
    here = ("lineshaft", *name.removesuffix(".py").split("/"))
    words = tuple(imported.split("."))
    return any(
        words[:depth] != here[:depth]
        and _is_door(words[1:depth])
        and _is_module(words[1 : depth + 1])
        and not _is_door(words[1 : depth + 1])
        for depth in range(3, len(words))
    )


def _is_door(words: tuple[str, ...]) -> bool:
    place = SOURCE.joinpath(*words, "__init__.py")
    return place.is_file() and "__all__" in place.read_text(encoding="utf-8")


def _is_module(words: tuple[str, ...]) -> bool:
    place = SOURCE.joinpath(*words)
    return (place / "__init__.py").is_file() or place.with_suffix(".py").is_file()


def test_folders_of_a_room_are_entered_by_their_front_door() -> None:
    entered = [
        f"{name} imports {imported}"
        for name, tree in _trees()
        if not name.startswith(GUEST)
        for imported in _imports(tree)
        if imported.startswith("lineshaft.") and _entered_inside(name, imported)
    ]
    assert entered == []


def test_no_door_gives_a_name_that_a_file_behind_it_has() -> None:
    """What an import of it gives would depend on what was imported before."""
    doors = [(name, tree) for name, tree in _trees() if name.endswith("/__init__.py")]
    both = [
        f"{name}: {alias.asname or alias.name}"
        for name, tree in doors
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and not name.startswith(GUEST)
        for alias in node.names
        if _is_module((*name.split("/")[:-1], alias.asname or alias.name))
        and node.module != ".".join(("lineshaft", *name.split("/")[:-1]))
    ]
    assert both == []


def _constructs_call(tree: ast.Module) -> bool:
    names = {"Call"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "lineshaft.values":
            names |= {alias.asname or "" for alias in node.names if alias.name == "Call"}
    return any(
        isinstance(node, ast.Call)
        and (
            (isinstance(node.func, ast.Name) and node.func.id in names)
            or (isinstance(node.func, ast.Attribute) and ast.unparse(node.func) == "values.Call")
        )
        for node in ast.walk(tree)
    )


def test_calls_are_constructed_only_in_listed_files() -> None:
    makers = {name for name, tree in _trees() if _constructs_call(tree)}
    assert makers - set(MAKERS_OF_CALLS) == set()


@pytest.mark.parametrize(
    "source",
    [
        "from lineshaft.values import Call\nCall(tool='x', arguments={}, origin='code')",
        "from lineshaft.values import Call as C\nC(tool='x', arguments={}, origin='code')",
        "from lineshaft import values\nvalues.Call(tool='x', arguments={}, origin='code')",
    ],
)
def test_a_constructed_call_is_seen_however_it_is_spelled(source: str) -> None:
    assert _constructs_call(ast.parse(source))


def test_annotations_are_evaluated_everywhere() -> None:
    """Tool schemas read them at run time."""
    lazy = [
        name
        for name, tree in _trees()
        if any(
            isinstance(node, ast.ImportFrom) and node.module == "__future__"
            for node in ast.walk(tree)
        )
    ]
    assert lazy == []


def _parses_out_of_turn(tree: ast.Module) -> bool:
    """Return whether a file calls `ast.parse` elsewhere than in `steadily(lambda: ...)`."""
    in_turn = {
        id(parse)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "steadily"
        for parse in ast.walk(call)
    }
    return any(
        isinstance(node, ast.Attribute) and ast.unparse(node) == "ast.parse"
        for node in ast.walk(tree)
        if id(node) not in in_turn
    )


def test_every_room_takes_its_turn_at_the_parser() -> None:
    parsers = {name for name, tree in _trees() if _parses_out_of_turn(tree)}
    assert {name for name in parsers if not name.startswith(GUEST)} == set()


def test_no_script_is_parsed_by_the_host() -> None:
    rooms = {_room(name) for name, tree in _trees() if "ast" in set(_modules(tree))}
    assert rooms <= {"engines", "workspace"}  # the guest's own files, and guards of Python files
