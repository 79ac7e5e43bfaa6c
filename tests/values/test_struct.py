"""Values are structs, and dataclasses for those that ask."""

import dataclasses
import inspect
import io
import pydoc
from pprint import pformat

import pytest
import rich
from msgspec import field
from pydantic import TypeAdapter, ValidationError

import lineshaft
from lineshaft import (
    Answer,
    Call,
    Finding,
    Handled,
    Limits,
    RunResult,
    ShownImage,
    mcp,
    packs,
    values,
)
from lineshaft.errors import ConfigError
from lineshaft.mcp import ServerSpec
from lineshaft.values import Struct, ToolSpec, decode


class Counted(Struct, kw_only=True):
    """One with all kinds of fields."""

    name: str
    parts: list[int] = field(default_factory=list[int])
    size: int = 3


def test_a_value_is_taken_as_a_dataclass() -> None:
    call = Call(id="1", tool="read_file", arguments={"path": "a"}, origin="script")
    assert dataclasses.is_dataclass(call)
    other = dataclasses.replace(call, arguments={"path": "b"})
    assert (other.tool, other.arguments, call.arguments) == (
        "read_file",
        {"path": "b"},
        {"path": "a"},
    )
    assert dataclasses.asdict(Answer(True)) == {
        each.name: getattr(Answer(True), each.name) for each in dataclasses.fields(Answer)
    }


def test_fields_tell_types_and_defaults() -> None:
    name, parts, size = dataclasses.fields(Counted)
    assert (name.name, name.type, name.default) == ("name", str, dataclasses.MISSING)
    assert (parts.type, parts.default_factory) == (list[int], list[int])
    assert (size.type, size.default) == (int, 3)
    assert decode(Counted, {"name": "a", "parts": [1]}) == Counted(name="a", parts=[1])


def test_a_changed_copy_is_checked_as_a_new_one() -> None:
    with pytest.raises(ConfigError):
        dataclasses.replace(Limits(), calls=-1)


def test_a_frozen_value_cannot_be_set() -> None:
    finding = Finding(code="x", message="y", line=1)
    with pytest.raises(AttributeError):
        finding.code = "z"  # type: ignore[misc]  what a user may try


def test_secrets_are_not_in_the_text_of_a_value() -> None:
    spec = ServerSpec(command=("a",), env={"TOKEN": "s3cret"}, headers={"X": "s3cret"})
    shown = io.StringIO()
    rich.print(spec, file=shown)
    for text in (repr(spec), f"{[spec]}", pformat(spec), shown.getvalue()):
        assert "s3cret" not in text
        assert "command=('a',)" in text


def test_a_long_value_is_printed() -> None:
    value = Counted(name="a" * 60, parts=list(range(12)))
    shown = io.StringIO()
    rich.print(value, file=shown)
    for text in (pformat(value), shown.getvalue()):
        assert text.startswith("Counted(")
        assert f"name='{value.name}'" in text
        assert "size=3" in text


def test_a_signature_needs_nothing_that_only_a_type_checker_imports() -> None:
    parameters = inspect.signature(values.CallScope).parameters
    assert str(parameters["policy"]) == "policy: 'Policy | None' = None"
    assert next(iter(inspect.signature(Finding).parameters)) == "code"


def test_the_shapes_of_earlier_results_do_not_make_another_tool() -> None:
    spec = ToolSpec(name="now", effect="read")
    assert dataclasses.replace(spec, observed={"type": "string"}) == spec
    assert dataclasses.replace(spec, effect="write") != spec
    assert spec != "now"


def test_what_is_not_shown_is_said_of_its_field() -> None:
    hidden = {each.name for each in dataclasses.fields(ServerSpec) if not each.repr}
    assert hidden == {"env", "headers", "client_secret", "client_key", "assertion"}
    assert [each.kw_only for each in dataclasses.fields(ShownImage)] == [False, False]


def test_help_tells_of_every_public_class() -> None:
    for room in (lineshaft, values, mcp, packs):
        for each in (getattr(room, name) for name in room.__all__):
            if isinstance(each, type):
                assert each.__name__ in pydoc.render_doc(each)


def test_every_public_value_answers_as_a_dataclass() -> None:
    values = [
        kind
        for name in lineshaft.__all__
        if isinstance(kind := getattr(lineshaft, name), type) and issubclass(kind, Struct)
    ]
    assert len(values) > 8
    for kind in values:
        assert [each.name for each in dataclasses.fields(kind)] == list(kind.__struct_fields__)


def test_a_result_is_plain_data_to_the_last_value() -> None:
    result = RunResult(
        run_id="r",
        status="success",
        engine="wasm",
        value={"a": [1, {"b": (2,)}]},
        findings=(Finding(code="x", message="y", line=1),),
    )
    data = result.to_dict()
    assert data == dataclasses.asdict(result)
    assert data["findings"] == (dataclasses.asdict(result.findings[0]),)
    data["value"]["a"].append(3)  # type: ignore[index]  it is the value of above
    assert result.value == {"a": [1, {"b": (2,)}]}


def test_pydantic_reads_and_writes_values() -> None:
    answers = TypeAdapter(list[Answer])
    assert answers.validate_json('[{"allow": true}]') == [Answer(True)]
    assert answers.validate_python([Answer(False, "no")]) == [Answer(False, "no")]
    assert b'"reason":"no"' in answers.dump_json([Answer(False, "no")])
    handled = Handled(text="t", images=(ShownImage("image/png", b"abc"),))
    both = TypeAdapter(Handled)
    assert both.validate_json(both.dump_json(handled)) == handled
    assert TypeAdapter(Limits).validate_json('{"seconds": "3"}') == Limits(seconds=3)
    with pytest.raises(ValidationError, match="allow"):
        answers.validate_python([{"allowed": True}])
