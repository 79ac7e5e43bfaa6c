"""Stubs of tools with any schema: two type checkers accept them, and they say what it says."""

import ast
import json
import keyword
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineshaft.tools import checker_stubs, python_stubs, script_name, signature
from lineshaft.tools.stubs import typescript_stubs
from lineshaft.values import ToolSpec

Schema = dict[str, object]

KEYS = [
    *("path", "count", "class", "odd-key", "str", "list", "None", "self", "__x", "größe", "\ufb01"),
    *("TypedDict", "Literal", "more", "a b", "", "return", "A", "match", "dict", "\n", '"'),
]
NAMES = ["read", "list", "str", "get-it", "Any", "TypedDict", "größe", "class", "Literal", "A"]

keys = st.sampled_from(KEYS)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=2),
    max_leaves=3,
)
kinds = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object", "x"])


def keyed(key: str) -> Callable[[object], object]:
    """Return what makes a schema of one keyword."""
    return lambda value: {key: value}


leaves: st.SearchStrategy[object] = st.one_of(
    st.just({}),
    st.booleans(),
    kinds.map(keyed("type")),
    st.lists(kinds, min_size=1, max_size=3).map(keyed("type")),
    st.lists(values, min_size=1, max_size=4).map(keyed("enum")),
    values.map(keyed("const")),
    st.sampled_from(["#/$defs/A", "#/$defs/B", "#/$defs/list", "#/?", "#"]).map(keyed("$ref")),
)


def larger(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    several = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(keys, inner, max_size=4)
    return st.one_of(
        inner.map(keyed("items")),
        st.builds(tuples, several, st.booleans()),
        st.builds(objects, named, st.booleans(), st.none() | st.booleans() | inner),
        several.map(keyed("anyOf")),
        several.map(keyed("oneOf")),
        several.map(keyed("allOf")),
        st.builds(with_default, inner, values),
    )


def tuples(places: list[object], full: bool) -> Schema:
    found: Schema = {"type": "array", "prefixItems": places, "minItems": len(places)}
    return {**found, "maxItems": len(places)} if full else found


def objects(named: dict[str, object], needed: bool, more: object) -> Schema:
    found: Schema = {"type": "object", "properties": named}
    if needed:
        found["required"] = list(named)[::2]
    return found if more is None else {**found, "additionalProperties": more}


def with_default(part: object, value: object) -> object:
    return {**cast("Schema", part), "default": value} if isinstance(part, dict) else part


schemas = st.recursive(leaves, larger, max_leaves=8)


@st.composite
def specs(draw: st.DrawFn) -> ToolSpec:
    """Make a tool with some schema, whether it makes sense or not."""
    properties = draw(st.dictionaries(keys, schemas, max_size=5))
    required = [name for name in properties if draw(st.booleans())]
    definitions = {name: draw(schemas) for name in ("A", "B", "list")}
    return ToolSpec(
        name=draw(st.sampled_from(NAMES)),
        description=draw(st.text(max_size=20)),
        input_schema={
            "type": "object",
            "properties": properties,
            "required": required,
            "$defs": definitions,
        },
        output_schema=draw(st.none() | st.just({"$defs": definitions, "$ref": "#/$defs/A"})),
        positional=tuple(required) if len(required) == 1 and draw(st.booleans()) else (),
    )


def collected(check: Callable[[ToolSpec], None], *, examples: int) -> list[ToolSpec]:
    """Return made specs, each checked, all with names of their own."""
    found: list[ToolSpec] = []

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(specs())
    def collect(spec: ToolSpec) -> None:
        check(spec)
        found.append(spec)

    collect()
    return found


def numbered(found: list[ToolSpec]) -> Iterator[ToolSpec]:
    for number, spec in enumerate(found):
        space = ("", "web.", "my-list.", "list.")[number % 4]
        name = spec.name if number < len(NAMES) * 4 and spec.name not in KEYS else f"t{number}"
        yield ToolSpec(
            name=f"{space}{name}{number}" if number % 3 else f"{space}t{number}",
            description=spec.description,
            input_schema=spec.input_schema,
            output_schema=spec.output_schema,
            positional=spec.positional,
        )


def is_parameter(name: str) -> bool:
    return (
        name.isidentifier()
        and not keyword.iskeyword(name)
        and not name.startswith("__")
        and unicodedata.normalize("NFKC", name) == name
    )


def says_what_the_schema_says(spec: ToolSpec) -> None:
    main = ast.parse(checker_stubs([spec]).main)
    human = ast.parse(python_stubs([spec]))
    for tree in (main, human):
        functions = [node for node in tree.body if isinstance(node, ast.AsyncFunctionDef)]
        assert [function.name for function in functions] == [script_name(spec.name)]
        compare(functions[0].args, spec)
    assert "\n" not in signature(spec)


def compare(arguments: ast.arguments, spec: ToolSpec) -> None:
    properties = cast("dict[str, Schema]", spec.input_schema["properties"])
    required = cast("list[str]", spec.input_schema["required"])
    named = {name for name in properties if is_parameter(name)}
    first = [argument.arg for argument in arguments.args]
    assert first == [name for name in spec.positional if name in named - {"self"}]
    assert {*first, *(argument.arg for argument in arguments.kwonlyargs)} == named
    assert (arguments.kwarg is not None) == (named != set(properties))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        assert (default is None) == (argument.arg in required)
        if default is not None and not is_ellipsis(default):
            written = ast.literal_eval(default)
            assert plain(written) == properties[argument.arg]["default"]
        elif default is not None:
            part = properties[argument.arg]
            assert not isinstance(part, dict) or not is_simple(part)


def is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def plain(value: object) -> object:
    return json.loads(json.dumps(value))


def is_simple(part: Schema) -> bool:
    """Return whether a default is there that fits a schema of a plain type."""
    fitting = {"string": str, "integer": int, "boolean": bool, "null": type(None)}
    kind = part.get("type")
    return (
        part.keys() == {"type", "default"}
        and isinstance(kind, str)
        and type(part["default"]) is fitting.get(kind)
        and len(repr(part["default"])) < 100
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the stubs of many tools, in both forms."""
    found = list(numbered(collected(says_what_the_schema_says, examples=250)))
    path = tmp_path_factory.mktemp("stubs")
    for start in range(0, len(found), 50):
        batch = found[start : start + 50]
        (path / f"human{start}.pyi").write_text(python_stubs(batch), encoding="utf-8")
        stubs = checker_stubs(batch)
        for name, text in {"main": stubs.main, **stubs.modules}.items():
            (path / f"{name}{start}.pyi").write_text(text, encoding="utf-8")
    (path / "coarse.pyi").write_text(python_stubs(found, budget=1), encoding="utf-8")
    (path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    return path


@pytest.mark.long
def test_pyright_accepts_every_stub(folder: Path) -> None:
    command = [sys.executable, "-m", "pyright", "--outputjson", "--project", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if not done.stdout.startswith("{"):
        pytest.skip(f"pyright cannot be started here: {done.stderr[-200:]}")
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] >= 20
    assert [found for found in report["generalDiagnostics"] if found["severity"] == "error"] == []


def test_ty_accepts_every_stub(folder: Path, require: Callable[[str], str]) -> None:
    command = require("ty")
    done = subprocess.run(
        [command, "check", "--output-format", "concise", "--python-version", "3.11", "."],
        cwd=folder, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip  # one command
    assert done.stdout.splitlines() == ["All checks passed!"]


def test_typescript_declarations_have_one_function_for_each_tool() -> None:
    def check(spec: ToolSpec) -> None:
        text = typescript_stubs([spec])
        assert text.count(f"function {script_name(spec.name)}(") == 1
        assert text.count("{") == text.count("}") or any(c in text for c in "\"'/")

    assert len(collected(check, examples=50)) >= 50
