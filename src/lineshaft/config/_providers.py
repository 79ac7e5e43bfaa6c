"""Conversion of servers in files to providers of tools.

Variables are put in here, right before a server is started; what they hold goes to that server and
nowhere else. A failure of one server is its own: it has no tools and says why, and the others are
there.
"""

import os
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import field
from msgspec.structs import replace

from lineshaft import mcp
from lineshaft.config._claims import claims_for
from lineshaft.config._found import server_approved, servers
from lineshaft.config._keys import INVOCATION
from lineshaft.config._secrets import holds_secret, kept_secrets
from lineshaft.config._settings import Settings
from lineshaft.config.definitions import (
    AskInput,
    Input,
    ServerSetting,
    Variables,
    access_of,
    env_file,
    url_problem,
)
from lineshaft.errors import ConfigError
from lineshaft.mcp import Authorize, Claims, ServerSpec
from lineshaft.tools import Provider, Shaped, Tool, Toolset, script_name
from lineshaft.values import Struct

if TYPE_CHECKING:
    from lineshaft.mcp.client import McpServer  # loads the SDK
    from lineshaft.remote.offered import WindowTools

_ALL = frozenset({"tools", "search_tools", "describe_tool"})
"""What a script may reach any tool by."""


class Starting(Struct, frozen=True, kw_only=True):
    """How servers are started: what a person said beforehand, and how they can be asked."""

    __unshown__ = frozenset({"answers", "secrets"})

    accept_claims: bool = False
    """Whether what servers say of their tools counts as it is met first, until it changes."""

    ask_input: AskInput | None = None
    unanswered: Callable[[ServerSetting], None] | None = None
    """Called with a server whose claims have no answer yet."""

    authorize: Authorize | None = None
    """Shows a person where to grant access (OAuth)."""

    environ: Mapping[str, str] | None = None
    """Variables; those of the process where nothing is given."""

    answers: dict[tuple[Path, str], str | None] = field(
        default_factory=dict[tuple[Path, str], str | None]
    )
    """What was answered to inputs, by file and id: of one file, nothing is asked twice."""

    secrets: set[str] = field(default_factory=set[str])
    """Takes what servers were given that no record may show."""


class Down:
    """A provider that has no tools, and says why.

    Args:
        name: The namespace that its tools would have.
        problem: Why there are none.
    """

    def __init__(self, name: str, problem: str) -> None:
        self._name = name
        self._problem = problem

    @property
    def name(self) -> str:
        """The namespace that its tools would have."""
        return self._name

    @property
    def tools(self) -> Toolset:
        """None."""
        return Toolset()

    @property
    def problem(self) -> str:
        """Why there are none."""
        return self._problem

    @asynccontextmanager
    async def opened(self, changed: Callable[[], None]) -> AsyncGenerator[None]:
        """Connect to nothing."""
        del changed
        yield

    async def ready(self) -> None:
        """Nothing is waited for."""


class _Chosen(Shaped):
    """A provider of those tools that a server's definition chooses.

    Args:
        provider: Of all its tools.
        server: The definition.
    """

    def __init__(self, provider: Provider, server: ServerSetting) -> None:
        super().__init__(provider, lambda tools: tools.filter(self._is_offered))
        self._server = server

    @property
    def problem(self) -> str:
        """Why it has no tools now, or not all of them; and which globs fit none."""
        source, tools = self.provider, self.provider.tools.values()
        idle = [
            f"`tools` {kind} {glob!r}, which fits none of its tools"
            for kind, globs, names in (
                ("includes", self._server.include, _included_by),
                ("excludes", self._server.exclude, _excluded_by),
            )
            for glob in globs
            if tools and not any(_fits(names(tool), glob) for tool in tools)
        ]
        return "; ".join(text for text in (source.problem, *idle) if text)

    def _is_offered(self, tool: Tool) -> bool:
        include, exclude = self._server.include, self._server.exclude
        included = not include or any(_fits(_included_by(tool), glob) for glob in include)
        return included and not any(_fits(_excluded_by(tool), glob) for glob in exclude)


def _included_by(tool: Tool) -> tuple[str, ...]:
    return (tool.spec.own_name,)


def _excluded_by(tool: Tool) -> tuple[str, ...]:
    """Return the names that keep a tool out: the server's own, and the one that is shown here."""
    return (tool.spec.own_name, tool.name.partition(".")[2])


def _fits(names: Collection[str], glob: str) -> bool:
    return any(fnmatchcase(name, glob) for name in names)


def providers(
    settings: Settings,
    *,
    words: str | None = None,
    only: Collection[str] | None = None,
    starting: Starting | None = None,
) -> tuple[Provider, ...]:
    """Return the MCP servers of the settings as providers; none of them is started yet.

    Args:
        settings: What `read_settings` settled.
        words: A script: servers that it cannot reach are left out.
        only: The namespaces that are wanted; all where nothing is given.
        starting: How they are started.

    Raises:
        ConfigError: A project's file says what only a person may.
    """
    starting = starting or Starting()
    wanted = None if only is None else {script_name(name) for name in only}
    return tuple(
        _shaped(provider_for(server, settings, starting), server)
        for server in _one_each(servers(settings, environ=starting.environ).servers)
        if (wanted is None or script_name(server.name) in wanted)
        and (words is None or _reaches(words, server.name))
    )


def _one_each(found: Sequence[ServerSetting]) -> list[ServerSetting]:
    """Return one server of each name, in their order: what can start, the person's own first."""
    first: dict[str, ServerSetting] = {}
    for server in sorted(found, key=lambda each: (bool(each.problem), each.giver != "user")):
        first.setdefault(script_name(server.name), server)
    return [server for server in found if first[script_name(server.name)] is server]


def _reaches(words: str, name: str) -> bool:
    if name in words or script_name(name) in words:
        return True
    return any(each in words for each in _ALL)


def _shaped(provider: Provider, server: ServerSetting) -> Provider:
    if not server.include and not server.exclude:
        return provider
    return _Chosen(provider, server)


def provider_for(
    server: ServerSetting, settings: Settings, starting: Starting
) -> "McpServer | WindowTools | Down":
    """Return one server with all its tools; what keeps it down is its problem.

    Args:
        server: Its description.
        settings: Where we are.
        starting: How it is started.
    """
    try:
        if server.problem:
            return Down(server.name, server.problem)
        if not server_approved(server, environ=starting.environ):
            text = f"it is not approved yet as {server.source} describes it"
            return Down(server.name, f"{text}; read it, then run `lineshaft config trust`")
        if server.transport == "window":
            return _window(server, settings, starting)
        spec = _spec(server, settings, starting)
    except ConfigError as error:
        return Down(server.name, f"{error.message}; {error.hint}" if error.hint else error.message)
    return mcp.server(
        spec,
        name=server.name,
        claims=_claims(server, starting),
        authorize=None if server.auth == "none" else starting.authorize,
        secrets=starting.secrets,
    )


def _window(server: ServerSetting, settings: Settings, starting: Starting) -> "WindowTools":
    from lineshaft.remote.offered import WindowTools  # noqa: PLC0415  loads the SDK of MCP
    from lineshaft.remote.window import window_at  # noqa: PLC0415  loads what few need

    environ = os.environ if starting.environ is None else starting.environ
    return WindowTools(
        window_at(settings.root),
        name=server.name,
        claims=_claims(server, starting),
        invocation=environ.get(INVOCATION, ""),
    )


def _claims(server: ServerSetting, starting: Starting) -> Claims:
    return claims_for(
        server,
        accept=starting.accept_claims,
        unanswered=starting.unanswered,
        environ=starting.environ,
    )


def _spec(server: ServerSetting, settings: Settings, starting: Starting) -> ServerSpec:
    """Return how a server is reached, all variables put in."""
    environ = os.environ if starting.environ is None else starting.environ
    variables = Variables(
        environ=environ,
        secrets=kept_secrets(starting.environ),
        folder=server.base,
        inputs=server.inputs,
        server=server.name,
        ask=_once(server, starting),
        told=starting.secrets,
    )
    spec = (
        _command(server, variables) if server.transport == "stdio" else _address(server, variables)
    )
    return replace(spec, seconds=server.seconds)


def _command(server: ServerSetting, variables: Variables) -> ServerSpec:
    fill = variables.fill
    folder = _folder(server, variables)
    if not folder.is_dir():
        raise ConfigError(f"its folder {str(folder)!r} is missing")
    given: dict[str, str] = {}
    if server.env_file:
        given = env_file(folder / Path(fill(server.env_file)).expanduser())
    given |= {name: fill(text) for name, text in server.env.items()}
    variables.told.update(text for name, text in given.items() if holds_secret(name, text))
    words = (fill(server.command), *map(fill, server.args))
    return ServerSpec(command=words, env=given, cwd=folder)


def _folder(server: ServerSetting, variables: Variables) -> Path:
    """Return where a server runs.

    A person's own is away from the project unless they say so: many programs run files that they
    find beside them, which the project's author put there.
    """
    if not server.cwd and not server.of_project:
        return Path(variables.environ.get("HOME") or Path.home())
    return server.base / Path(variables.fill(server.cwd)).expanduser()


def _address(server: ServerSetting, variables: Variables) -> ServerSpec:
    fill = variables.fill
    url = fill(server.url)
    problem = url_problem(url)
    if problem:
        raise ConfigError(f"its url {problem}")
    headers = {name: fill(text) for name, text in server.headers.items()}
    for name, text in headers.items():
        if "\n" in text or "\r" in text:
            raise ConfigError(f"its header {name!r} has a line break in it")
        if holds_secret(name, text):
            variables.told.add(text.rpartition(" ")[2])
    known = dict[str, str]() if isinstance(server.auth, str) else server.auth
    return ServerSpec(url=url, headers=headers, **access_of(known, variables))


def _once(server: ServerSetting, starting: Starting) -> AskInput | None:
    """Return what asks for an input unless it was asked for before."""
    ask, answers = starting.ask_input, starting.answers
    if ask is None:
        return None

    def asked(name: str, wanted: Input) -> str | None:
        key = (server.source, wanted.id)
        if key not in answers:
            answers[key] = ask(name, wanted)
        return answers[key]

    return asked
