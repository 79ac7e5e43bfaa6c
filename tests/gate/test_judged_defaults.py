"""What a function gets by default is judged like what it is given, wherever it stands."""

import dataclasses
from pathlib import Path

import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from lineshaft import Policy, Rule, Session, Tool, ToolError, WorkspacePath, tool
from lineshaft.errors import ConfigError
from lineshaft.values import Call, CallResult, Context, Dispatch, Done

NO_SECRETS = Rule("no-secrets", "deny", path="secrets/**")


class Where(BaseModel):
    path: WorkspacePath = "secrets/key"


class Open(BaseModel):
    path: WorkspacePath = "open"


class Outer(BaseModel):
    where: Where = Field(default_factory=Where)


class Camel(BaseModel):
    model_config = ConfigDict(populate_by_name=True, alias_generator=to_camel)
    source_path: WorkspacePath


class Options(BaseModel):
    force: bool = True


@tool(effect="read")
def plain(path: WorkspacePath = "secrets/key") -> str:
    """Read a file."""
    return path


@tool(effect="read")
def linked(path: WorkspacePath = "link") -> str:
    """Read a file."""
    return path


@tool(effect="read")
def inside(where: Where) -> str:
    """Read a file."""
    return where.path


@tool(effect="read")
def further(outer: Outer) -> str:
    """Read a file."""
    return outer.where.path


@tool(effect="read")
def several(places: list[Where]) -> list[str]:
    """Read files."""
    return [each.path for each in places]


@tool(effect="read")
def either(where: Where | None = None, *, other: Where | Options) -> str:
    """Read a file."""
    return f"{where} {other}"


@tool(effect="read")
def one_of(where: Open | Where) -> str:
    """Read a file."""
    return where.path


@tool(effect="read")
def camel(job: Camel) -> str:
    """Read a file."""
    return job.source_path


@tool(effect="external")
def deploy(target: str, options: Options) -> str:
    """Deploy."""
    return f"{target} {options.force}"


TOOLS = [plain, linked, inside, further, several, either, one_of, camel, deploy]


async def _called(
    folder: Path, name: str, arguments: dict[str, object], *rules: Rule
) -> CallResult:
    (folder / "secrets").mkdir(exist_ok=True)
    (folder / "secrets" / "key").touch()
    (folder / "open").touch()
    if not (folder / "link").is_symlink():
        (folder / "link").symlink_to("/etc/hostname")
    policy = Policy(mode="open", rules=rules)
    async with Session(TOOLS, workspace=folder, policy=policy, store=False) as session:
        return await session.call(name, arguments)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("plain", {}),
        ("inside", {"where": {}}),
        ("further", {"outer": {}}),
        ("further", {"outer": {"where": {}}}),
        ("several", {"places": [{"path": "open"}, {}]}),
        ("either", {"other": {}}),
        ("one_of", {"where": {}}),
        ("camel", {"job": {"sourcePath": "secrets/key"}}),
    ],
)
async def test_a_path_by_default_is_judged(
    name: str, arguments: dict[str, object], tmp_path: Path
) -> None:
    result = await _called(tmp_path, name, arguments, NO_SECRETS)
    assert result.error is not None
    assert result.error.code == "E_DENIED"


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("plain", {"path": "./open"}, "open"),
        ("inside", {"where": {"path": "open"}}, "open"),
        ("several", {"places": [{"path": "open"}]}, ["open"]),
        ("camel", {"job": {"sourcePath": "open"}}, "open"),
    ],
)
async def test_a_path_that_is_given_stands_for_the_default(
    name: str, arguments: dict[str, object], value: object, tmp_path: Path
) -> None:
    result = await _called(tmp_path, name, arguments, NO_SECRETS)
    assert result.value == value


async def test_a_default_that_leads_out_is_refused(tmp_path: Path) -> None:
    result = await _called(tmp_path, "linked", {})
    assert result.error is not None
    assert result.error.code == "E_SANDBOX_VIOLATION"


async def test_a_default_inside_an_argument_counts_for_a_rule(tmp_path: Path) -> None:
    rule = Rule("no-force", "deny", tool="deploy", arguments={"options.force": "true"})
    by_default = await _called(tmp_path, "deploy", {"target": "x", "options": {}}, rule)
    given = await _called(tmp_path, "deploy", {"target": "x", "options": {"force": False}}, rule)
    assert by_default.error is not None
    assert by_default.error.code == "E_DENIED"
    assert given.value == "x False"


async def test_a_schema_that_contains_itself_is_filled_so_far(tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(20)]
    own: dict[str, object] = {"$ref": "#/$defs/node", "default": {}}
    node = {"type": "object", "properties": dict.fromkeys(names, own)}
    schema = {"type": "object", "properties": {"top": own}, "$defs": {"node": node}}

    def done() -> str:
        return "done"

    tree = Tool.from_schema(name="tree", input_schema=schema, function=done, effect="read")
    policy = Policy(mode="open", rules=(Rule("x", "deny", arguments={"top.x": "1"}),))
    async with Session([tree], workspace=tmp_path, policy=policy, store=False) as session:
        assert (await session.call("tree", {})).value == "done"


async def test_a_deep_value_of_many_forms_is_looked_at_once(tmp_path: Path) -> None:
    node = {"$ref": "#/$defs/node"}
    forms = [
        {"type": "object", "properties": {"left": node, f"own{number}": {"default": number}}}
        for number in range(12)
    ]
    schema = {"type": "object", "properties": {"top": node}, "$defs": {"node": {"anyOf": forms}}}
    deep: object = {}
    for _ in range(30):
        deep = {"left": deep}

    def done(top: object) -> str:
        return str(top)[:4]

    tree = Tool.from_schema(name="tree", input_schema=schema, function=done, effect="read")
    rule = Rule("no-seven", "deny", tool="tree", arguments={"top.left.left.own7": "7"})
    policy = Policy(mode="open", rules=(rule,))
    async with Session([tree], workspace=tmp_path, policy=policy, store=False) as session:
        result = await session.call("tree", {"top": deep})
    assert result.error is not None
    assert result.error.code == "E_DENIED"


async def test_a_field_has_no_name_that_the_schema_does_not_tell(tmp_path: Path) -> None:
    result = await _called(tmp_path, "camel", {"job": {"source_path": "secrets/key"}})
    assert result.error is not None
    assert result.error.code == "E_INVALID_ARGS"
    assert "job.sourcePath" in result.error.message


class Choices(BaseModel):
    name: str = Field(validation_alias=AliasChoices("one", "two"))


class Within(BaseModel):
    name: str = Field(validation_alias=AliasPath("names", 0))


class Made(BaseModel):
    path: WorkspacePath = Field(default_factory=lambda: "secrets/key")


@dataclasses.dataclass
class MadeToo:
    path: WorkspacePath = dataclasses.field(default_factory=lambda: "secrets/key")


@pytest.mark.parametrize("kind", [Choices, Within, Made, MadeToo])
def test_fields_that_policy_could_not_find_are_refused(kind: type) -> None:
    def read(job: object) -> str:
        """Read."""
        return str(job)

    read.__annotations__["job"] = kind
    with pytest.raises(ConfigError, match=r"several names|made by a function"):
        _ = Tool.from_function(read, effect="read").spec


@pytest.mark.parametrize("script", ['await plain("gold")', 'await plain(path="gold")'])
async def test_middleware_reads_arguments_by_name(script: str, tmp_path: Path) -> None:
    def no_gold(inner: Dispatch) -> Dispatch:
        async def dispatch(call: Call) -> Done:
            if call.arguments.get("path") == "gold":
                raise ToolError("E_MINE", "no gold")
            return await inner(call)

        return dispatch

    async with Session(
        [plain], workspace=tmp_path, middleware=[no_gold], store=False, scripts=True
    ) as session:
        result = await session.run(script)
    assert result.error is not None
    assert result.error.code == "E_MINE"


async def test_a_tool_that_is_not_there_is_told_behind_middleware(tmp_path: Path) -> None:
    async with Session(
        [plain], workspace=tmp_path, middleware=[lambda inner: inner], store=False
    ) as session:
        result = await session.call("plane")
    assert result.error is not None
    assert (result.error.code, result.error.hint) == ("E_UNKNOWN_TOOL", "did you mean 'plain'?")


async def test_what_fits_no_parameter_is_told_behind_middleware(tmp_path: Path) -> None:
    async with Session(
        [plain], workspace=tmp_path, middleware=[lambda inner: inner], store=False, check="off"
    ) as session:
        twice = await session.run('await plain("a", path="b")')
        more = await session.run('await plain("a", "b")')
    assert "by position and by name" in str(twice.error)
    assert "takes `path` by position, got 2" in str(more.error)


async def test_an_error_without_a_text_keeps_its_class(tmp_path: Path) -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise IndexError

    @tool(effect="read")
    def odd(context: Context) -> None:
        """Fail."""
        raise Odd(context)

    async with Session([odd], workspace=tmp_path, store=False) as session:
        result = await session.call("odd")
    assert result.error is not None
    assert "Odd: (its text cannot be had: IndexError)" in result.error.message
