"""A session as a few tools: calls of a client become runs and calls, in any protocol.

Above: `front/server.py`, which speaks the protocol. Below: the session, whose door everything goes
through. What is not listed here cannot be called by name either.
"""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from math import inf
from typing import Any, Literal, TypeVar

import anyio
from msgspec.structs import replace

from lineshaft.errors import ConfigError, LineshaftError
from lineshaft.mcp.client import HandleContent, McpServer
from lineshaft.mcp.front.client import Asked, Client, ToolReply, UnknownTool
from lineshaft.mcp.front.definitions import front_instructions, front_tools
from lineshaft.mcp.front.direct import Direct
from lineshaft.mcp.front.runs import Runs
from lineshaft.mcp.front.validation import checked
from lineshaft.session import Session
from lineshaft.tools import (
    Provider,
    Shaped,
    detailed,
    down,
    let_ask,
    own_names,
    plainest,
    script_name,
    search_specs,
    spec_named,
)
from lineshaft.values import Askable, ToolSpec, VerdictKind, counted

Approvers = Literal["person", "client"]
T = TypeVar("T")

_PATIENCE_SECONDS = 8.0
"""From the beginning: clients give a server ten seconds to start, and more."""

_OFFERED: Sequence[Askable] = ("elicit", "sample", "roots")
"""What clients may offer; each says for itself."""


class Front:
    """A session, offered to clients.

    Args:
        session: Made into a front before it is entered, where servers of the older protocol are
            to know that clients may offer sampling and roots.
        direct: Names and globs of tools that may be called without a script.
        approvals: Who answers what policy asks where a client cannot ask its person: a person
            elsewhere, or the caller of `resume`.
        passed: The namespace of a server whose tools are offered under the names that they have
            there, and its resources and prompts with them.
        known: Gives the number of tools that each server had when it was there last: told of
            servers that are not there yet.
    """

    def __init__(
        self,
        session: Session,
        *,
        direct: Sequence[str] = (),
        approvals: Approvers = "person",
        passed: str = "",
        known: Callable[[], Mapping[str, int]] = dict,
    ) -> None:
        self._known = known
        let_ask(session.providers, _OFFERED)
        self._session = session
        self._passed = passed
        self._answers = approvals == "client"
        self._direct = Direct(session, globs=direct, passed=passed)
        self._runs = Runs(session, answers=self._answers)
        self._patient_until = -inf
        self._schemas = {each["name"]: each["inputSchema"] for each in self._own()}

    @property
    def instructions(self) -> str:
        """The instructions for the client's model."""
        text = front_instructions(self._session, self._known(), direct=self._direct.wanted)
        return self._session.without_secrets(text)

    def definitions(self) -> list[dict[str, Any]]:
        """Return the tools as they are now, as `tools/list` tells them."""
        own = self._own()
        names = {each["name"] for each in own}
        own = [{**each, "inputSchema": _short(plainest(each["inputSchema"]))} for each in own]
        return self._session.without_secrets(own + self._direct.definitions(without=names))

    async def settled(self) -> None:
        """Wait for servers that have direct tools, in the first seconds, while they start.

        Many clients list tools once, and never hear of those that come later.
        """
        with anyio.CancelScope(deadline=self._patient_until):
            for provider in self._session.providers:
                if self._direct.may_have(provider.name):
                    await provider.ready()

    @property
    def passed(self) -> McpServer | None:
        """The server whose resources and prompts are passed on.

        Raises:
            ConfigError: There is no such server.
        """
        if not self._passed:
            return None
        for server in self._servers():
            if server.name == self._passed:
                return server
        raise ConfigError(f"there is no MCP server {self._passed!r} to pass through")

    def verdict(self, method: str, arguments: Mapping[str, object]) -> VerdictKind:
        """Return what policy says of a call of what the passed server has beside its tools.

        Args:
            method: Of the protocol, such as `resources/read`.
            arguments: Of the call.
        """
        return self._session.verdict(self._beside(method).name, arguments, origin="mcp").kind

    async def beside(
        self, method: str, arguments: Mapping[str, object], client: Client
    ) -> ToolReply | Asked:
        """Make a call of what the passed server has beside its tools.

        Args:
            method: Of the protocol, such as `resources/read`.
            arguments: By name.
            client: The calling client.
        """
        return await self._told_of(
            self._runs.call(self._beside(method), arguments, client, whole=True, beside=True)
        )

    def _beside(self, method: str) -> ToolSpec:
        server = self.passed
        assert server is not None  # noqa: S101  nothing else registers these methods
        return server.unlisted[server.beside.name(method)].spec

    def without_secrets(self, value: T) -> T:
        """Return data as a client may read it."""
        return self._session.without_secrets(value)

    def shorten(self, text: str, most: int) -> str:
        """Return a text as a client may read it, of so many characters at most."""
        return self._session.shown(text, most=most)

    def put_off(self) -> None:
        """Start servers, once the session is entered, only after `begin`, or when one is needed."""
        for server in self._servers():
            server.put_off()

    @property
    def idle_globs(self) -> tuple[str, ...]:
        """The names and globs of direct tools that fit no tool there is now."""
        return self._direct.idle_globs

    def begin(self) -> None:
        """Start the servers whose start was put off."""
        for server in self._servers():
            server.begin()

    def _servers(self) -> Iterator[McpServer]:
        for provider in self._session.providers:
            place = _unshaped(provider)
            if isinstance(place, McpServer):
                yield place

    def contents(self, handle: str) -> HandleContent | None:
        """Return what a handle in a result stands for; None where it was given up."""
        for server in self._servers():
            with suppress(LookupError):
                return server.content(handle)
        return None

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call a function whenever the definitions have changed; return what ends this."""
        told = json.dumps(self.definitions(), sort_keys=True)

        def look() -> None:
            nonlocal told
            now = json.dumps(self.definitions(), sort_keys=True)
            if now != told:
                told = now
                changed()

        return self._session.watch(look)

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """Take calls inside the block; what is under way at its end is ended and recorded."""
        self._patient_until = anyio.current_time() + _PATIENCE_SECONDS
        async with self._runs.works.opened():
            yield

    async def call(self, name: str, arguments: object, client: Client) -> ToolReply | Asked:
        """Carry out a call.

        Args:
            name: A tool's, as it is listed.
            arguments: By name.
            client: The calling client.

        Raises:
            UnknownTool: It is not listed; nothing was reached.
            MCPError: The server that is passed through refused it, in a way that the client is to
                see as it is.
        """
        return await self._told_of(self._call(name, arguments, client))

    async def _call(self, name: str, arguments: object, client: Client) -> ToolReply | Asked:
        if name in self._schemas:
            return await self._own_call(name, arguments, client)
        spec = self._direct.spec(name)
        if spec is None and self._direct.wanted:
            await self._session.ready(self._direct.provider_of(name))
            spec = self._direct.spec(name)
        spec = spec or self._direct.closed(name)
        if spec is None:
            raise UnknownTool(name)
        arguments = own_names(spec, arguments)
        whole = bool(self._passed) and spec.namespace == self._passed
        return await self._runs.call(spec, arguments, client, whole=whole)

    async def _told_of(self, call: Awaitable[ToolReply | Asked]) -> ToolReply | Asked:
        """Return the outcome of a call, also where it could not be made."""
        try:
            return await call
        except LineshaftError as error:
            hint = f"\n{error.hint}" if error.hint else ""
            text = f"{error.code}: {error.message}{hint}"
            return ToolReply(text=self._session.shown(text), is_error=True)

    async def _own_call(self, name: str, arguments: object, client: Client) -> ToolReply | Asked:
        given = checked(name, self._schemas[name], arguments)
        match name:
            case "search":
                return self._told(await self._search(given))
            case "describe":
                return self._told(await self._describe(given))
            case "run":
                return await self._runs.run(given, client)
            case "resume":
                return await self._runs.resume(given, client)
            case _:
                return await self._runs.status(given["run_id"], part=given.get("part", 1))

    def _told(self, reply: ToolReply) -> ToolReply:
        return replace(reply, text=self._session.shown(reply.text))

    def _own(self) -> list[dict[str, Any]]:
        return front_tools(self._session, answers=self._answers)

    def _specs(self) -> list[ToolSpec]:
        """Return the tools that a client can reach, in a script or directly."""
        opened = self._session.open_to("script") if self._session.guide() else ()
        scripts = {spec.name for spec in opened}
        found = {spec.name: spec for spec in self._session.open_to("script", "mcp")}
        reached = self._direct.reaches
        return [spec for name, spec in found.items() if name in scripts or reached(spec)]

    async def _search(self, given: Mapping[str, Any]) -> ToolReply:
        namespace = given.get("namespace")
        problems = await self._session.ready(namespace or "")
        specs = self._specs()
        if namespace is not None:
            spelt = script_name(namespace)
            specs = [spec for spec in specs if script_name(spec.namespace) == spelt]
        found = search_specs(specs, given["words"], limit=given.get("limit", 10))
        lines = [detailed(spec, given.get("detail", "brief")) for spec in found]
        if not lines:
            elsewhere = "" if namespace is None else ", or search without a namespace"
            lines.append(f"nothing fits: no tool here does that; try other words{elsewhere}")
        away = [each for each in self._session.providers if down(each) or not each.tools]
        without = tuple(f"{each.name}: " for each in away)
        lines += [f"not there now: {each}" for each in problems if each.startswith(without)]
        return ToolReply(text="\n".join(lines))

    async def _describe(self, given: Mapping[str, Any]) -> ToolReply:
        names: Sequence[str] = given["names"]
        problems = await self._session.ready(" ".join(names))
        specs = self._specs()
        found = {name: spec_named(specs, name) for name in names}
        known = {spec.name: spec for spec in found.values() if spec is not None}
        servers = {script_name(each.name): each for each in self._servers()}
        rest = [name for name, spec in found.items() if spec is None]
        named = {each.name: each for n in rest if (each := servers.get(script_name(n)))}
        told = ["\n\n".join(map(detailed, known.values()))] if known else []
        told += [_about(server, specs) for server in named.values()]
        told += [
            f"{server.name} tells how its tools are used: describe {server.name!r}"
            for server in servers.values()
            if server.instructions and any(s.namespace == server.name for s in known.values())
        ]
        unknown = [name for name in rest if script_name(name) not in servers]
        told += [f"there is no tool {name[:200]!r}; use search" for name in unknown]
        told += [each for each in problems if unknown and each.partition(":")[0] not in named]
        return ToolReply(text="\n".join(told), is_error=not (known or named))


def _about(server: McpServer, specs: Sequence[ToolSpec]) -> str:
    """Return what a server says of the use of its tools, each line marked as its own."""
    count = sum(spec.namespace == server.name for spec in specs)
    tools = counted(count, "tool")
    lines = [f"{server.name}: {tools}; `search` with its name as `namespace` finds them"]
    if server.problem:
        away = server.down or not server.tools
        lines.append(f"not there now: {server.problem}" if away else server.problem)
    lines += [f"> {line}" for line in server.instructions.splitlines()]
    return "\n".join(lines)


def _short(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without bounds that seldom matter: a client loads it at each turn."""
    bounds = {"minimum", "minItems", "maxItems"}
    properties = {
        name: {key: value for key, value in each.items() if key not in bounds}
        for name, each in schema["properties"].items()
    }
    return {**schema, "properties": properties}


def _unshaped(provider: Provider) -> Provider:
    while isinstance(provider, Shaped):
        provider = provider.provider
    return provider
