"""The tools that the scripts of these tests call, and the reader of the scripts."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

import pytest

from lineshaft.sandbox.webassembly import Asker
from lineshaft.scripts.reading import AskReader, Prepared, Reading, through
from lineshaft.values import ToolSpec

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
FLAG = {"type": "boolean", "default": False}


def _object(properties: dict[str, object], required: list[str] | None = None) -> dict[str, object]:
    wanted = list(properties) if required is None else required
    return {"type": "object", "properties": properties, "required": wanted}


def _list(items: object) -> dict[str, object]:
    return {"type": "array", "items": items}


WHERE = {"type": "string", "default": "."}
ENTRY = _object({"path": TEXT, "kind": TEXT, "size": NUMBER})
MATCH = _object({"path": TEXT, "line": NUMBER, "text": TEXT})
CHANGE = _object({"path": TEXT, "kind": TEXT, "sha256": TEXT})
ISSUE = _object({"number": NUMBER, "title": TEXT, "labels": _list(TEXT), "state": TEXT})


def _files() -> list[ToolSpec]:
    return [
        ToolSpec(
            name="read_file",
            effect="read",
            input_schema=_object(
                {
                    "path": TEXT,
                    "start": {"type": "integer", "default": 1},
                    "end": {"anyOf": [NUMBER, {"type": "null"}], "default": None},
                },
                ["path"],
            ),
            output_schema=_object(
                {"path": TEXT, "content": TEXT, "total_lines": NUMBER, "truncated": FLAG}
            ),
            positional=("path",),
        ),
        ToolSpec(
            name="write_file",
            effect="write",
            input_schema=_object({"path": TEXT, "content": TEXT}),
            output_schema=CHANGE,
        ),
        ToolSpec(
            name="edit_file",
            effect="write",
            input_schema=_object(
                {
                    "path": TEXT,
                    "old": TEXT,
                    "new": TEXT,
                    "edits": _list(_object({"old": TEXT, "new": TEXT})),
                    "replace_all": FLAG,
                },
                ["path"],
            ),
            output_schema=CHANGE,
        ),
    ]


def _searches() -> list[ToolSpec]:
    return [
        ToolSpec(
            name="find_files",
            effect="read",
            input_schema=_object({"pattern": TEXT, "path": WHERE}, ["pattern"]),
            output_schema=_object({"entries": _list(ENTRY), "truncated": FLAG}),
            positional=("pattern",),
        ),
        ToolSpec(
            name="search_text",
            effect="read",
            input_schema=_object(
                {"pattern": TEXT, "path": WHERE, "ignore_case": FLAG}, ["pattern"]
            ),
            output_schema=_object({"matches": _list(MATCH), "truncated": FLAG}),
            positional=("pattern",),
        ),
    ]


def _others() -> list[ToolSpec]:
    return [
        ToolSpec(
            name="run_command",
            effect="exec",
            input_schema=_object(
                {"command": TEXT, "args": _list(TEXT), "timeout": {"type": "number"}}, ["command"]
            ),
            output_schema=_object({"exit_code": NUMBER, "stdout": TEXT, "stderr": TEXT}),
            positional=("command",),
        ),
        ToolSpec(name="fetch", input_schema=_object({"url": TEXT}), positional=("url",)),
        ToolSpec(
            name="github.list_issues",
            input_schema=_object({"repo": TEXT, "state": TEXT, "limit": NUMBER}, ["repo"]),
            output_schema=_list(ISSUE),
            positional=("repo",),
        ),
        ToolSpec(
            name="github.get_issue",
            input_schema=_object({"number": NUMBER}),
            output_schema=ISSUE,
        ),
        ToolSpec(
            name="github.add_label",
            input_schema=_object({"repo": TEXT, "number": NUMBER, "label": TEXT}),
        ),
        ToolSpec(
            name="github.set_state",
            input_schema=_object(
                {
                    "state": {"enum": ["open", "closed"]},
                    "counts": {"type": "object", "additionalProperties": NUMBER},
                    "kinds": {"type": "array", "items": {"enum": ["a", "b"]}},
                },
                ["state"],
            ),
        ),
        ToolSpec(name="my-server.do thing", input_schema=_object({"x": NUMBER}, [])),
    ]


@pytest.fixture(scope="session")
def specs() -> tuple[ToolSpec, ...]:
    """Return the tools, as a session would."""
    return (*_files(), *_searches(), *_others())


@pytest.fixture(scope="session")
def ask() -> Iterator[AskReader]:
    """Return the way to the reader in the image."""
    asker = Asker(seconds=300)  # also beside tests that take all cores
    yield through(asker)
    asker.close()


@pytest.fixture
def reading(ask: AskReader) -> Reading:
    """Return a reading that knows nothing yet."""
    return Reading(ask)


Prepare = Callable[..., Prepared]


@pytest.fixture(scope="session")
def prepare(ask: AskReader, specs: Sequence[ToolSpec]) -> Prepare:
    """Return a function that reads a script, with the tools above unless others are given."""

    def read(
        source: object, specs: Sequence[ToolSpec] = specs, name: str = "script.py"
    ) -> Prepared:
        return asyncio.run(Reading(ask).read(source, specs=specs, name=name))

    return read
