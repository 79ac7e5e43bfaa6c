"""From the tools that a server lists to a toolset: names, schemas, effects, and what is left out.

Nothing here talks to a server, and nothing it wrote is trusted: a tool that cannot be used is left
out with its reason, and the others stay.
"""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import cast, get_args

import mcp_types as types
from msgspec import field

from lineshaft.errors import ConfigError, LineshaftError
from lineshaft.mcp._spec import Claim, Claims, catalogue_hash
from lineshaft.mcp._text import DESCRIPTION, clean, clean_schema
from lineshaft.mcp.client.listing import MOST_TOOLS, TOO_MANY_TOOLS
from lineshaft.mcp.client.results import ResultShape, is_wrapping, unwrapped_schema
from lineshaft.tools import Tool, Toolset, model_name, script_name
from lineshaft.values import Context, Effect, Struct

_LARGEST_SCHEMA = 200_000
_DEEPEST_SCHEMA = 60
_LONGEST_NAME = 128
_LONGEST_TITLE = 200
_SHOWN_LEFT_OUT = 5

CallTool = Callable[[types.Tool, ResultShape, Context, Mapping[str, object]], Awaitable[object]]
"""Makes a call: the tool as it was listed, its shape, the context, the arguments."""


class ServerCatalogue(Struct, frozen=True, kw_only=True):
    """The tools that a server offers."""

    tools: Toolset = field(default_factory=Toolset)
    claims: tuple[Claim, ...] = ()
    digest: str = ""
    accepted: bool | None = None
    """Whether claims count: all or some of them, none, or not answered."""

    believed: bool = False
    """Whether all claims count, so that what is beside the tools counts as what it is called."""

    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """Why tools are missing, by what the server calls them."""

    @property
    def problem(self) -> str:
        """The message about tools that are missing; empty where none is."""
        if not self.left_out:
            return ""
        shown = list(self.left_out.items())[:_SHOWN_LEFT_OUT]
        texts = [f"{clean(name, 80)!r} ({reason})" for name, reason in shown]
        more = len(self.left_out) - len(shown)
        rest = f" and {more} more" if more else ""
        return f"left out: {'; '.join(texts)}{rest}"

    def missing(self, namespace: str) -> dict[str, str]:
        """Return why tools are missing, by the names that they would have in a namespace."""
        return {canonical(namespace, name): reason for name, reason in self.left_out.items()}


class _NamedTool(Struct, frozen=True, kw_only=True):
    """One tool that has a name of its own."""

    name: str
    given: types.Tool
    definition: Mapping[str, object]
    claim: Claim


class CatalogueBuilder:
    """Builds the catalogues of one server; a tool that stays as it was stays the same object.

    Args:
        namespace: Of its tools.
        call: Makes one call of a tool.
        claims: Says which claims of effects count.
        seconds: Time for each call, where the server's definition says so.
        most_bytes: The largest result.
        needs_disk: Whether the run's changes land before each call.
    """

    def __init__(
        self,
        namespace: str,
        call: CallTool,
        *,
        claims: Claims,
        seconds: float | None,
        most_bytes: int,
        needs_disk: bool = False,
    ) -> None:
        self._namespace = namespace
        self._call = call
        self._claims = claims
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._needs_disk = needs_disk
        self._made: dict[str, Tool | str] = {}

    def build(
        self,
        listed: Sequence[types.Tool],
        left_out: Mapping[str, str],
        *,
        unwanted: Callable[[], bool] = lambda: False,
    ) -> ServerCatalogue:
        """Return what a server offers.

        Args:
            listed: Its tools as it listed them.
            left_out: Why others were left out already.
            unwanted: Whether nobody waits for it any longer; asked before each tool.

        Raises:
            LineshaftError: Nobody waits for it.
        """
        missing = dict(left_out)
        for tool in listed[MOST_TOOLS:]:
            missing[tool.name] = TOO_MANY_TOOLS
        entries = self._named(listed[:MOST_TOOLS], missing)
        digest = catalogue_hash([entry.definition for entry in entries])
        claims = tuple(entry.claim for entry in entries)
        answer = self._claims(claims, digest) if claims else None
        made: dict[str, Tool | str] = {}
        for entry in entries:
            if unwanted():
                raise LineshaftError("nobody waits for what the server offers")
            effect, idempotent = _effect(entry.claim, answer)
            key = _key(entry.definition, effect, idempotent)
            made[key] = self._made.get(key) or self._tool(entry, effect, idempotent=idempotent)
            if isinstance(found := made[key], str):
                missing[entry.given.name] = found
        self._made = made
        return ServerCatalogue(
            tools=Toolset(tool for tool in made.values() if isinstance(tool, Tool)),
            claims=claims,
            digest=digest,
            accepted=None if answer is None else bool(answer),
            believed=answer is True,
            left_out=missing,
        )

    def _named(self, listed: Sequence[types.Tool], missing: dict[str, str]) -> list[_NamedTool]:
        """Return the tools in order; of two with one name, in any spelling, the first stays."""
        owners: dict[str, str] = {}
        entries: list[_NamedTool] = []
        for tool in sorted(listed, key=lambda tool: tool.name):
            name = canonical(self._namespace, tool.name)
            spellings = {each.casefold() for each in (name, script_name(name), model_name(name))}
            definition = _definition(tool)
            taken = next((owners[each] for each in spellings if each in owners), None)
            if taken is not None:
                missing[f"{tool.name} (again)" if taken == tool.name else tool.name] = (
                    f"its name is taken by {clean(taken, 80)!r}"
                )
            elif reason := _unfit(tool, definition):
                missing[tool.name] = reason
            else:
                owners.update(dict.fromkeys(spellings, tool.name))
                claim = _claim(name, tool, definition)
                entries.append(
                    _NamedTool(name=name, given=tool, definition=definition, claim=claim)
                )
        return entries

    def _tool(self, entry: _NamedTool, effect: Effect, *, idempotent: bool) -> Tool | str:
        given = entry.given
        output = given.output_schema
        wrapped = is_wrapping(given.name, output)
        if output is not None and wrapped:
            output = unwrapped_schema(output)
        shape = ResultShape(
            has_schema=output is not None,
            wrapped=wrapped,
            has_room=output is None or output.get("additionalProperties") is not False,
            most_bytes=self._most_bytes,
        )
        try:
            made = Tool.from_schema(
                name=entry.name,
                description=_description(given),
                input_schema=_schema(given.input_schema),
                output_schema=None if output is None else _schema(output),
                function=_function(self._call, given, shape),
                effect=effect,
                destructive=entry.claim.destructive,
                idempotent=idempotent,
                seconds=self._seconds,
                needs_disk=self._needs_disk or effect == "exec",
            )
            return made.listed_as(given.name, _hints(given))
        except ConfigError as error:
            return clean(error.message, 300)
        except Exception as error:  # noqa: BLE001  a schema from elsewhere; the other tools stay
            return clean(f"its schemas cannot be used: {type(error).__name__}: {error}", 300)


def canonical(namespace: str, name: str) -> str:
    """Return the canonical name of a server's tool.

    Args:
        namespace: Of the server.
        name: What the server calls it; what is no plain letter, digit, `-` or `_` is replaced, so
            that no two names look alike.
    """
    plain = "".join(c if re.fullmatch(r"[A-Za-z0-9_-]", c) else _plain(c) for c in name) or "_"
    room = _LONGEST_NAME - len(namespace) - 1
    if len(plain) > room:
        plain = f"{plain[: room - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return f"{namespace}.{plain}"


def _plain(character: str) -> str:
    letter = not character.isascii() and character.isalnum()
    return f"u{ord(character):04x}" if letter else "_"


def _schema(schema: Mapping[str, object]) -> Mapping[str, object]:
    """Return a schema as it is used; servers in Go write null for what is empty."""
    given = {key: value for key, value in schema.items() if value is not None}
    return cast("Mapping[str, object]", clean_schema(given))


def _definition(tool: types.Tool) -> Mapping[str, object]:
    return tool.model_dump(by_alias=True, mode="json", exclude_none=True, exclude={"icons", "meta"})


def _unfit(tool: types.Tool, definition: Mapping[str, object]) -> str:
    """Return why a tool is not even looked at closer; empty where it is."""
    for schema in (tool.input_schema, tool.output_schema):
        if schema is not None and _depth(schema) > _DEEPEST_SCHEMA:
            return f"a schema of it is nested deeper than {_DEEPEST_SCHEMA} levels"
    size = sum(len(json.dumps(definition.get(key))) for key in ("inputSchema", "outputSchema"))
    if size > _LARGEST_SCHEMA:
        return f"its schemas have more than {_LARGEST_SCHEMA:,} characters"
    if tool.execution is not None and tool.execution.task_support == "required":
        return "it is called as a task alone (taskSupport), and tasks are not made here"
    return ""


def _depth(value: object) -> int:
    """Return how deep a value is nested, without recursion."""
    deepest, level = 0, [value]
    while level and deepest <= _DEEPEST_SCHEMA:
        deepest += 1
        below: list[object] = []
        for each in level:
            if isinstance(each, dict):
                below.extend(cast("dict[str, object]", each).values())
            elif isinstance(each, list):
                below.extend(cast("list[object]", each))
        level = below
    return deepest


def _claim(name: str, tool: types.Tool, definition: Mapping[str, object]) -> Claim:
    hints = tool.annotations or types.ToolAnnotations()
    reads = hints.read_only_hint is True
    return Claim(
        tool=name,
        effect="read" if reads else "external",
        destructive=not reads and hints.destructive_hint is True,
        idempotent=reads or hints.idempotent_hint is True,
        sha256=catalogue_hash([definition]),
    )


def _hints(tool: types.Tool) -> dict[str, object]:
    said = tool.annotations or types.ToolAnnotations()
    hints = said.model_dump(by_alias=True, mode="json", exclude_none=True, exclude={"title"})
    title = clean(_title(tool), _LONGEST_TITLE)
    return {**hints, "title": title} if title else hints


def _effect(claim: Claim, answer: bool | Mapping[str, Effect] | None) -> tuple[Effect, bool]:  # noqa: FBT001  what a person answered
    """Return the effect of a tool, and whether it may be done twice."""
    if isinstance(answer, Mapping):
        effect = answer.get(claim.tool, "external")
        known = claim.tool in answer and effect in get_args(Effect)
        return (effect, claim.idempotent) if known else ("external", False)
    return (claim.effect, claim.idempotent) if answer else ("external", False)


def _description(tool: types.Tool) -> str:
    return clean(tool.description or _title(tool), DESCRIPTION)


def _title(tool: types.Tool) -> str:
    return tool.title or (tool.annotations.title if tool.annotations else None) or ""


def _key(definition: Mapping[str, object], effect: Effect, idempotent: bool) -> str:  # noqa: FBT001  part of a key
    text = json.dumps([definition, effect, idempotent], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _function(
    call: CallTool, given: types.Tool, shape: ResultShape
) -> Callable[..., Awaitable[object]]:
    async def function(lineshaft_context: Context, **arguments: object) -> object:
        return await call(given, shape, lineshaft_context, arguments)

    return function


def all_count(claims: object, digest: str) -> bool:
    """Accept all claims."""
    del claims, digest
    return True


def nobody_said(claims: object, digest: str) -> None:
    """Note that there is no answer."""
    del claims, digest
