"""Microagents that settings declare, as tables [agents.NAME].

An agent sends files to a provider, and its model's address and the variable of its key say where
and with whose rights. A project's agents are therefore there only once a person has approved them,
by the hash of the whole table and of the files that it names.
"""

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lineshaft import kit
from lineshaft.config._declared import AGENT_KEYS, AGENTS, agent_problem
from lineshaft.config._files import read_bytes
from lineshaft.config._settings import Settings
from lineshaft.config._trust import (
    Approval,
    Confirm,
    hash_with_files,
    need_approval,
    still_unapproved,
)
from lineshaft.errors import ConfigError, ModelRefused
from lineshaft.tools import Tool, Toolset, schema_type
from lineshaft.values import AGENT_NAMESPACE, Struct

if TYPE_CHECKING:
    from lineshaft.agents import Microagent
    from lineshaft.models import Model, ModelPrice, ModelReply, ModelRequest, OnText

_MAX_SCHEMA_BYTES = 1_000_000
_OTHER_KEY = "LINESHAFT_MODEL_KEY"

Faulty = Callable[[str, ConfigError], None]
"""Takes the name of an agent that cannot be offered, and why."""


class AgentSetting(Struct, frozen=True, kw_only=True):
    """One agent as settings declare it; nothing of it is made yet."""

    name: str
    table: Mapping[str, object]
    source: str
    """The file that declares it."""

    base: Path
    """The folder that paths in it start from."""

    fault: str = ""
    """What is wrong with its table; empty: nothing that can be seen without its files."""

    project: Path | None = None
    """The project's file, where that declares it: then a person must approve it first."""

    @property
    def model(self) -> str:
        """The name of its model; empty where each run names one."""
        return str(self.table.get("model", ""))

    @property
    def key_variable(self) -> str:
        """The variable whose value is sent to its model as a key; empty where none is named."""
        given = str(self.table.get("key_env", ""))
        return given or (_OTHER_KEY if self.model.startswith(("http://", "https://")) else "")

    def schema(self, key: str) -> Mapping[str, object] | None:
        """Return the schema of its inputs or its result; None where there is none.

        Raises:
            ConfigError: The file cannot be read, or holds no schema.
        """
        given = self.table.get(key)
        if not isinstance(given, str):
            return cast("Mapping[str, object] | None", given)
        path = self.base / given
        content = read_bytes(path, limit=_MAX_SCHEMA_BYTES)
        try:
            found = cast("object", json.loads(content))
        except (ValueError, RecursionError) as error:
            raise self.problem(f"{key}: {str(path)!r} is not JSON: {error}") from error
        if not isinstance(found, dict):
            raise self.problem(f"{key}: {str(path)!r} is no JSON Schema", "write an object")
        return cast("dict[str, object]", found)

    def problem(self, text: str, hint: str = "") -> ConfigError:
        """Return an error about it."""
        return ConfigError(f"{self.source}: [agents.{self.name}] {text}", hint=hint)


def agent_settings(settings: Settings) -> tuple[AgentSetting, ...]:
    """Return the agents that settings declare; a person's own take the place of the project's."""
    found: dict[str, AgentSetting] = {}
    for held in settings.values[AGENTS]:
        for name, table in cast("dict[str, object]", held.value).items():
            found[name] = AgentSetting(
                name=name,
                table=cast("dict[str, object]", table) if isinstance(table, dict) else {},
                fault=agent_problem(name, cast("object", table)),
                source=held.source,
                base=held.base,
                project=settings.project if held.giver == "project" else None,
            )
    return tuple(found.values())


def unapproved_agents(
    settings: Settings,
    *,
    environ: Mapping[str, str] | None = None,
    faulty: Faulty | None = None,
) -> tuple[Approval, ...]:
    """Return the agents that a project declares and that are not approved as they are now.

    Those whose table cannot be used are left out: there is nothing to approve.

    Args:
        settings: What `read_settings` settled.
        environ: Variables that say where approvals are kept.
        faulty: Takes the name of each agent that names a file which cannot be read, and why; None:
            the first one is raised.

    Raises:
        ConfigError: A file that one names cannot be read.
    """
    usable = ((e.name, e) for e in agent_settings(settings) if e.project and not e.fault)
    return still_unapproved(usable, _approval_of, faulty=faulty, environ=environ)


def _approval_of(agent: AgentSetting) -> Approval:
    said = json.dumps(agent.table, sort_keys=True, default=str)
    files = [agent.base / given for given in _paths(agent)]
    return Approval(
        project=agent.project or Path(agent.source),
        name=agent.name,
        sha256=hash_with_files(said, files, each=_MAX_SCHEMA_BYTES),
        files=tuple(files),
        kind="agent",
        told=_told(agent),
    )


def _paths(agent: AgentSetting) -> Iterable[str]:
    for key in ("inputs", "result"):
        if isinstance(given := agent.table.get(key), str):
            yield given


def _told(agent: AgentSetting) -> tuple[tuple[str, str], ...]:
    tools = ", ".join(cast("list[str]", agent.table.get("tools", []))) or "none"
    told = [
        ("sends to", agent.model or "the model that you name"),
        ("with the key in", agent.key_variable or "the variable of that provider, if it has one"),
        ("may call", tools),
    ]
    shown = {"model", "key_env", "tools"}
    told += [
        (key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for key, value in agent.table.items()
        if key not in shown
    ]
    return tuple(told)


def configured_agents(
    settings: Settings,
    offered: Toolset,
    *,
    confirm: Confirm | None = None,
    environ: Mapping[str, str] | None = None,
    faulty: Faulty | None = None,
    needed: Collection[str] = (),
) -> Toolset:
    """Return the agents that settings declare, as tools.

    Args:
        settings: What `read_settings` settled.
        offered: The tools that their models may be given, by name; tools of the kit are there
            anyway.
        confirm: Asks about agents of a project that are not approved; None: they are refused.
        environ: Variables that say where approvals are kept.
        faulty: Takes the name of each agent that is not approved or cannot be used, and why; the
            others are returned, and no person is asked. None: the first one is raised.
        needed: Names of agents that have to be there: they, and the agents that they may call, are
            asked about, and what is wrong with them is raised, whatever `faulty` takes.

    Raises:
        ConfigError: One is not approved, or something in it cannot be used.
    """
    found, declared = Toolset(()), agent_settings(settings)
    wanted = _with_their_own(needed, declared)
    for agent in declared:
        leaves_out = faulty is not None and agent.name not in wanted
        try:
            _approved(agent, confirm=None if leaves_out else confirm, environ=environ)
            found = found.combine(Toolset([agent_of(agent, settings, offered.combine(found))]))
        except ConfigError as error:
            if faulty is None or not leaves_out:
                raise
            faulty(agent.name, error)
    return found


def _with_their_own(needed: Collection[str], declared: Sequence[AgentSetting]) -> set[str]:
    """Return the names of agents, and of those that they may call, directly or not."""
    called = {each.name: each.table.get("tools") for each in declared}
    wanted: set[str] = set()
    left = [name for name in needed if name in called]
    while left:
        name = left.pop()
        wanted.add(name)
        tools = called[name]
        for tool in cast("list[object]", tools) if isinstance(tools, list) else ():
            space, _, own = str(tool).rpartition(".")
            if space == AGENT_NAMESPACE and own in called and own not in wanted:
                left.append(own)
    return wanted


def _approved(
    agent: AgentSetting, *, confirm: Confirm | None, environ: Mapping[str, str] | None
) -> None:
    """Refuse an agent of a project that no person has approved, or does now."""
    if agent.fault:
        raise agent.problem(agent.fault)
    if agent.project is None:
        return
    need_approval(_approval_of(agent), confirm=confirm, environ=environ)


def agent_of(agent: AgentSetting, settings: Settings, offered: Toolset) -> object:
    """Return an agent that settings declare, with its model; nothing of it runs.

    Args:
        agent: The declaration.
        settings: Name the models that were given by hand.
        offered: The tools that its model may be given.

    Raises:
        ConfigError: Something in it cannot be used.
    """
    try:
        return with_given_model(_made(agent, offered), settings.models)
    except ConfigError as error:
        if error.message.startswith(agent.source):
            raise
        raise agent.problem(error.message, error.hint) from error


def with_given_model(offered: object, models: Mapping[str, str]) -> object:
    """Return something that is offered; an agent with the model that was given by hand for it.

    Args:
        offered: A tool, a microagent, or anything else.
        models: Names of models by the name of the agent.
    """
    if not models:
        return offered
    from lineshaft.agents import Microagent  # noqa: PLC0415  brings the session along

    if not isinstance(offered, Microagent):
        return offered
    agent = cast("Microagent[Any]", offered)
    return agent.with_model(models[agent.name]) if agent.name in models else agent


def _made(agent: AgentSetting, offered: Toolset) -> "Microagent[Any]":
    from lineshaft.agents import Budget, Microagent  # noqa: PLC0415  brings the session along

    table = agent.table
    schema, inputs = agent.schema("result"), agent.schema("inputs")
    result = _kind(agent, "result", schema)
    if "$ref" in json.dumps(schema):  # those lead elsewhere in the schema of a call
        result = schema
    typed = cast("type[Microagent[Any]]", cast("Any", Microagent)[result])
    return typed(
        name=agent.name,
        instructions=str(table["instructions"]),
        description=str(table.get("description", "")),
        inputs=None if inputs is None else _inputs(agent, inputs),
        tools=[_tool(agent, name, offered) for name in cast("list[str]", table.get("tools", []))],
        model=_model(agent),
        budget=Budget(**_numbers(agent, "budget", Budget.__struct_fields__)),
        idempotent=table.get("idempotent") is True,
    )


def _tool(agent: AgentSetting, name: str, offered: Toolset) -> Tool:
    if name in offered:
        return offered[name]
    known = kit.tools("default", "fetch_url")
    if name in known:
        return known[name]
    close = get_close_matches(name, [*offered, *known], n=1)
    hint = f"did you mean {close[0]!r}?" if close else "`lineshaft tools` lists the tools"
    raise agent.problem(
        f"there is no tool {name!r}", f"{hint} Tools of MCP servers cannot be given to an agent"
    )


def _numbers(agent: AgentSetting, key: str, known: Sequence[str]) -> dict[str, Any]:
    table = cast("dict[str, Any]", agent.table.get(key, {}))
    for name in table:
        if name not in known:
            raise agent.problem(f"{key}: unknown key {name!r}", f"known: {', '.join(known)}")
    return table


def _inputs(agent: AgentSetting, schema: Mapping[str, object]) -> type:
    """Return inputs as a type, whose fields are checked by their schemas.

    Raises:
        ConfigError: The schema is not one of an object with named properties.
    """
    import pydantic  # noqa: PLC0415  slow to import

    _kind(agent, "inputs", schema)
    properties = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(properties, dict):
        hint = "name each: [agents.NAME.inputs.properties.path], with type"
        raise agent.problem("inputs is no schema of an object with properties", hint)
    if "$ref" in json.dumps(schema):
        raise agent.problem("inputs has a $ref", "write what it stands for in its place")
    required = cast("list[str]", schema.get("required", []))
    kinds: dict[str, Any] = {}
    for name, kind in cast("dict[str, object]", properties).items():
        if not name.isidentifier() or iskeyword(name) or name.startswith("_"):
            hint = "scripts name it: letters, digits and _, a letter first, and no word of Python"
            raise agent.problem(f"the input {name!r} cannot be named so", hint)
        about = cast("dict[str, object]", kind if isinstance(kind, dict) else {})
        made = _kind(agent, f"inputs.properties.{name}", cast("object", kind))
        kinds[name] = (made, ... if name in required else about.get("default"))
    missing = [name for name in required if name not in properties]
    if missing:
        raise agent.problem(f"inputs requires {missing[0]!r}, which is no property of it")
    return pydantic.create_model("Inputs", __config__={"protected_namespaces": ()}, **kinds)


def _kind(agent: AgentSetting, key: str, schema: object) -> object:
    if isinstance(schema, bool):  # JSON Schema's short forms of anything and nothing
        schema = {} if schema else {"not": {}}
    try:
        return schema_type(schema, key)
    except ConfigError as error:
        raise agent.problem(error.message, error.hint) from error


def _model(agent: AgentSetting) -> "str | Model | None":
    if not agent.model or not {"key_env", "price"} & agent.table.keys():
        return agent.model or None
    from lineshaft.models import ModelPrice  # noqa: PLC0415  brings the messages along

    price = None
    if "price" in agent.table:
        numbers = _numbers(agent, "price", ["input", "output", "cached"])
        if not {"input", "output"} <= numbers.keys() or not all(
            isinstance(each, int | float) and each >= 0 for each in numbers.values()
        ):
            raise agent.problem("price lacks a number", f"allowed: {AGENT_KEYS['price']}")
        price = ModelPrice(**numbers)
    return ConfiguredModel(agent.model, key_variable=agent.key_variable, price=price)


class ConfiguredModel:
    """A model whose key is in a variable of its own, or whose price is known; made at first use.

    Args:
        name: `openai:NAME` or `URL#NAME`.
        key_variable: Holds the key; empty: as for that name.
        price: What a million tokens cost; None: not known.
    """

    def __init__(self, name: str, *, key_variable: str, price: "ModelPrice | None") -> None:
        self._name = name
        self._variable = key_variable
        self._price = price

    @property
    def name(self) -> str:
        """As `Model.name`."""
        return self._name

    @property
    def priced(self) -> bool:
        """As `Model.priced`."""
        return self._price is not None

    async def complete(
        self, request: "ModelRequest", *, on_text: "OnText | None" = None
    ) -> "ModelReply":
        """As `Model.complete`."""
        try:
            found = self._found
        except ConfigError as error:
            raise ModelRefused(error.message, hint=error.hint) from error
        return await found.complete(request, on_text=on_text)

    def check(self) -> None:
        """As `CheckableModel.check`: the key is there, and the name is one of a model."""
        _ = self._found

    @cached_property
    def _found(self) -> "Model":
        """The model itself.

        Raises:
            ConfigError: Its key is missing, or the name is none of a model.
        """
        from lineshaft.models import model_named  # noqa: PLC0415  brings HTTP along

        environment = dict(os.environ)
        if self._variable and self._variable != _OTHER_KEY:
            key = environment.get(self._variable)
            if not key:
                raise ConfigError(
                    f"{self._name!r} needs a key", hint=f"set the variable {self._variable}"
                )
            environment |= {_OTHER_KEY: key, "OPENAI_API_KEY": key}
        return model_named(self._name, environment=environment, price=self._price)
