"""The tools that the scripts of these tests call."""

import pytest

from lineshaft.values import ToolSpec

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
FLAG = {"type": "boolean", "default": False}


def _object(properties: dict[str, object], required: list[str] | None = None) -> dict[str, object]:
    wanted = list(properties) if required is None else required
    return {"type": "object", "properties": properties, "required": wanted}


def _list(items: object) -> dict[str, object]:
    return {"type": "array", "items": items}


def _tools() -> list[ToolSpec]:
    where = {"type": "string", "default": "."}
    entry = _object({"path": TEXT, "kind": TEXT, "size": NUMBER})
    match = _object({"path": TEXT, "line": NUMBER, "text": TEXT})
    change = _object({"path": TEXT, "kind": TEXT, "sha256": TEXT})
    issue = _object({"number": NUMBER, "title": TEXT, "labels": _list(TEXT), "state": TEXT})
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
            positional="path",
        ),
        ToolSpec(
            name="write_file",
            effect="write",
            input_schema=_object({"path": TEXT, "content": TEXT}),
            output_schema=change,
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
            output_schema=change,
        ),
        ToolSpec(
            name="find_files",
            effect="read",
            input_schema=_object({"pattern": TEXT, "path": where}, ["pattern"]),
            output_schema=_object({"entries": _list(entry), "truncated": FLAG}),
            positional="pattern",
        ),
        ToolSpec(
            name="search_text",
            effect="read",
            input_schema=_object(
                {"pattern": TEXT, "path": where, "ignore_case": FLAG}, ["pattern"]
            ),
            output_schema=_object({"matches": _list(match), "truncated": FLAG}),
            positional="pattern",
        ),
        ToolSpec(
            name="run_command",
            effect="exec",
            input_schema=_object(
                {"command": TEXT, "args": _list(TEXT), "timeout": {"type": "number"}}, ["command"]
            ),
            output_schema=_object({"exit_code": NUMBER, "stdout": TEXT, "stderr": TEXT}),
            positional="command",
        ),
        ToolSpec(name="fetch", input_schema=_object({"url": TEXT}), positional="url"),
        ToolSpec(
            name="github.list_issues",
            input_schema=_object({"repo": TEXT, "state": TEXT, "limit": NUMBER}, ["repo"]),
            output_schema=_list(issue),
            positional="repo",
        ),
        ToolSpec(
            name="github.add_label",
            input_schema=_object({"repo": TEXT, "number": NUMBER, "label": TEXT}),
        ),
        ToolSpec(name="my-server.do thing", input_schema=_object({"x": NUMBER}, [])),
    ]


@pytest.fixture(scope="session")
def specs() -> tuple[ToolSpec, ...]:
    """Return the tools, as a session would."""
    return tuple(_tools())
