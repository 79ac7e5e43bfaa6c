"""What tools ask through a client: forms are made anew, whatever schema a server of theirs gave."""

import http.server
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from fronts import MODES, Mode, Person, accepts, data_of, served
from lineshaft import Context, tool

BOMB: dict[str, Any] = {
    **{f"l{i}": {"allOf": [{"$ref": f"#/$defs/l{i + 1}"}] * 2} for i in range(40)},
    "l40": {"type": "string"},
}
"""Checked by its references, it takes 2 to the 40th steps."""


class Asking:
    """A tool that asks with a schema."""

    def __init__(self, schema: Mapping[str, object]) -> None:
        self.schema = schema

    @tool(effect="read")
    async def ask(self, context: Context) -> object:
        """Ask."""
        return await context.elicit("which?", self.schema)


def schema(member: Mapping[str, object], **more: object) -> dict[str, object]:
    return {"type": "object", "properties": {"a": member}, "required": ["a"], **more}


@pytest.fixture
def address() -> Iterator[tuple[str, list[str]]]:
    """Give the address of a web server, and what was asked of it."""
    asked: list[str] = []

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  named so above
            del format, args

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}/schema.json", asked
        server.shutdown()


async def answered(asked: Mapping[str, object], said: object, at: Path, mode: Mode = "auto") -> Any:
    """Return the form that was shown, and what the script got."""
    person = Person([accepts(a=said)])
    async with served([Asking(asked)], at=at, mode=mode, person=person) as (client, _):
        with anyio.fail_after(30):
            ran = await client.call_tool("run", {"code": "return await ask()"})
    shown = person.asked[0].requested_schema if person.asked else None
    return shown, data_of(ran)


@pytest.mark.parametrize("mode", MODES)
async def test_no_reference_is_fetched(
    mode: Mode, address: tuple[str, list[str]], tmp_path: Path
) -> None:
    url, fetched = address
    asked = schema({"type": "string", "$ref": url}, **{"$ref": url})
    shown, ran = await answered(asked, "x", tmp_path, mode)
    assert ran["value"] == {"a": "x"}
    assert shown == schema({"type": "string"})
    assert fetched == []


@pytest.mark.parametrize(
    "member",
    [
        {"type": "string", "$ref": "#/$defs/l0"},
        {"type": "string", "allOf": [{"$ref": "#/$defs/l0"}] * 2},
        {"type": "string", "pattern": "^(a+)+$"},
        {"type": "string", "not": {"pattern": "^(a+)+$"}},
        {"type": "string", "minLength": "many", "format": 7, "title": 3, "default": {}},
    ],
)
async def test_nothing_but_the_words_of_forms_counts(
    member: Mapping[str, object], tmp_path: Path
) -> None:
    said = "a" * 60 + "!"
    shown, ran = await answered(schema(member, **{"$defs": BOMB}), said, tmp_path)
    assert ran["value"] == {"a": said}
    assert shown == schema({"type": "string"})


async def test_a_member_that_may_be_left_out_is_asked_for(tmp_path: Path) -> None:
    member = {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None, "title": "Age"}
    shown, ran = await answered(schema(member), 3, tmp_path)
    assert ran["value"] == {"a": 3}
    assert shown == schema({"type": "integer", "title": "Age"})


@pytest.mark.parametrize(
    ("member", "good", "bad"),
    [
        ({"type": "string", "minLength": 2, "maxLength": 3}, "ab", "abcd"),
        ({"type": "integer", "minimum": 1, "maximum": 5, "default": 2}, 5, 6),
        ({"type": "string", "enum": ["x", "y"], "enumNames": ["X", "Y"]}, "y", "z"),
        ({"type": "string", "oneOf": [{"const": "x", "title": "An x"}]}, "x", "y"),
        ({"type": "array", "items": {"type": "string", "enum": ["x", "y"]}}, ["x"], ["z"]),
        (
            {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}, "maxItems": 1},
            ["x"],
            ["y"],
        ),
        ({"type": "boolean", "title": "Sure", "description": "Really?"}, True, "yes"),
    ],
)
async def test_what_a_form_says_is_shown_and_held_to(
    member: Mapping[str, object], good: object, bad: object, tmp_path: Path
) -> None:
    shown, ran = await answered(schema(member), good, tmp_path)
    assert ran["value"] == {"a": good}
    held = shown["properties"]["a"]
    assert {key: value for key, value in held.items() if key != "items"}.items() >= {
        key: value for key, value in member.items() if key != "items"
    }.items()
    _, ran = await answered(schema(member), bad, tmp_path)
    assert ran["error"]["code"] == "E_DENIED"
    assert "does not fit" in ran["error"]["message"]


@pytest.mark.parametrize(
    "member",
    [
        {"$ref": "#/$defs/l0"},
        {"type": "object", "properties": {}},
        {"type": "array", "items": {"type": "string"}},
        {"type": "array", "items": {"$ref": "#/$defs/l0"}},
        {"enum": [{"a": 1}]},
        "text",
    ],
)
async def test_what_no_form_can_show_is_not_asked(member: object, tmp_path: Path) -> None:
    asked = {"type": "object", "properties": {"a": member}, "$defs": BOMB}
    shown, ran = await answered(asked, "x", tmp_path)
    assert shown is None
    assert ran["error"]["code"] == "E_DENIED"
