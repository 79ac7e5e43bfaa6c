"""The tools of a command: the built-in ones, those of modules, and those of MCP servers."""

import getpass
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AsyncExitStack, suppress

import anyio
from msgspec import field

from lineshaft.cli._agents import agents_named, lacks, sentence_of
from lineshaft.cli._options import toolset_for
from lineshaft.cli._terminal import clean, note, one_line, paint
from lineshaft.config import (
    Input,
    ServerSetting,
    Settings,
    Starting,
    agent_settings,
    idle_rules,
    providers,
    unmasked,
)
from lineshaft.errors import ConfigError
from lineshaft.mcp import Authorize
from lineshaft.tools import Provider, Toolset, combined
from lineshaft.values import AGENT_NAMESPACE, Pending, Struct

_IDLE = 3
"""How many rules that fit no tool are told of."""


class OfferedTools(Struct, frozen=True, kw_only=True):
    """The tools of the settings that a session is given."""

    __unshown__ = frozenset({"secrets"})

    toolset: Toolset
    providers: tuple[Provider, ...]
    silent: dict[str, None] = field(default_factory=dict[str, None])
    """Servers whose claims have no answer yet."""

    secrets: frozenset[str] = frozenset()
    """What servers were given that no record may show."""

    @property
    def all(self) -> list[object]:
        """Return everything, as a session takes it."""
        return [self.toolset, *self.providers]

    def tell(self, pending: Iterable[Pending] = ()) -> None:
        """Say what does not count or is not said of tools, and what to do about it.

        Args:
            pending: Calls that wait: some because their tool does not say what it does.
        """
        for name in dict.fromkeys(call.tool for call in pending):
            waiting = self.toolset.get(name)
            if waiting is not None and waiting.effect_hint:
                note(f"{paint('hint', 'yellow')}: {clean(waiting.effect_hint)}")
        if self.silent:
            tell_silent(*sorted(self.silent))


def tell_silent(*names: str) -> None:
    """Note that the claims of some servers do not count."""
    note(
        f"{paint('note', 'dim')}: what {', '.join(names)} claims of its tools does not count yet: "
        f"`lineshaft config mcp claims {' '.join(names)}`"
    )


def offered_for(
    settings: Settings,
    *,
    words: str | None = None,
    only: Collection[str] | None = None,
    tool: str = "",
    accept_claims: bool = False,
    at_once: bool = False,
) -> OfferedTools:
    """Return the tools; asks about modules and inputs where a person can answer.

    Rules of policy that fit no tool are told of, and secrets that cannot be masked.

    Args:
        settings: What holds.
        words: A script: servers that it cannot reach are left out.
        only: The namespaces of servers that are wanted; all where nothing is given.
        tool: The tool that is called; empty: not known.
        accept_claims: Whether what servers say of their tools counts.
        at_once: Whether servers that are down, and claims that do not count, are told of as soon
            as they are known.

    Raises:
        ConfigError: A module cannot be used, or is not approved; an agent that the script or the
            call names.
    """
    left_out: dict[str, ConfigError] = {}
    named = f"{words or ''}\n{tool}"
    needed = agents_named(named, (each.name for each in agent_settings(settings)))
    toolset = toolset_for(settings, faulty=left_out.__setitem__, needed=needed)
    if (words is None and only is None) or AGENT_NAMESPACE in named:
        tell_left_out(left_out)
    tell_idle(settings, toolset)
    tell_unmasked(unmasked(settings))
    silent: dict[str, None] = {}

    def unanswered(server: ServerSetting) -> None:
        if at_once and server.name not in silent:
            tell_silent(server.name)
        silent[server.name] = None

    starting = starting_for(unanswered, accept_claims=accept_claims)
    found = providers(settings, words=words, only=only, starting=starting)
    secrets = frozenset(starting.secrets)
    offered = OfferedTools(toolset=toolset, providers=found, silent=silent, secrets=secrets)
    if at_once:
        tell_down(offered)
    return offered


class GatheredTools(Struct, frozen=True, kw_only=True):
    """All tools that there are."""

    toolset: Toolset
    left_out: dict[str, dict[str, str]]
    """Why tools of a server are left out, by their names, for each server."""

    def tell(self) -> None:
        """Say which tools are left out, and why."""
        for server, why in self.left_out.items():
            if why:
                what = one_line(f"left out: {'; '.join(why.values())}", 500)
                note(f"{paint('warning', 'yellow')}: {server}: {what}")


async def gathered(offered: OfferedTools) -> GatheredTools:
    """Connect to all servers at once, and return all tools that there are.

    Where names clash, those stay that came first.
    """
    async with AsyncExitStack() as stack:
        for provider in offered.providers:
            await stack.enter_async_context(provider.opened(lambda: None))
        await connected(offered.providers)
        found, left_out = offered.toolset, dict[str, dict[str, str]]()
        for provider in offered.providers:
            found, left_out[provider.name] = combined(found, provider)
        return GatheredTools(toolset=found, left_out=left_out)


async def connected(providers: Collection[Provider]) -> None:
    """Wait until each of the opened providers has connected, or says its problem."""
    async with anyio.create_task_group() as group:
        for provider in providers:
            group.start_soon(provider.ready)


def tell_left_out(agents: Mapping[str, ConfigError]) -> None:
    """Say in one line which agents of the settings are not offered, and why the first is not."""
    if not agents:
        return
    names = ", ".join(map(one_line, agents))
    error = sentence_of(next(iter(agents.values())))
    what = f"without the agent{'s' if len(agents) > 1 else ''} {names}: {error}"
    note(f"{paint('warning', 'yellow')}: {one_line(what, 500)}")


def tell_idle(settings: Settings, toolset: Toolset) -> None:
    """Say which rules of policy fit no tool: a misspelt one forbids nothing."""
    found = idle_rules(settings, toolset)
    for sentence in found[:_IDLE]:
        note(f"{paint('warning', 'yellow')}: {one_line(sentence, 500)}")
    if len(found) > _IDLE:
        note(f"  and {len(found) - _IDLE} more: `lineshaft doctor` lists them")


def tell_unmasked(names: Collection[str]) -> None:
    """Say which variables that commands get hold secrets too short to be masked."""
    for name in names:
        what = f"the value of {one_line(name)} is too short to be masked; records and models may"
        note(f"{paint('warning', 'yellow')}: {what} see it")


def tell_lacks(offered: OfferedTools, text: str) -> None:
    """Warn about agents that a script names and that cannot run, with what each lacks."""
    for name, error in lacks(offered.toolset, text).items():
        what = f"the agent {one_line(name)} cannot work: {sentence_of(error)}"
        note(f"{paint('warning', 'yellow')}: {one_line(what, 500)}")


def refuse_lacks(offered: OfferedTools, text: str) -> None:
    """Refuse to go on where an agent that a text names cannot be asked.

    Raises:
        ConfigError: Says what the first of them lacks.
    """
    for error in lacks(offered.toolset, text).values():
        raise error


def tell_down(offered: OfferedTools) -> None:
    """Say which servers are down, and why."""
    for provider in offered.providers:
        if provider.problem:
            what = f"{provider.name}: {one_line(provider.problem, 500)}"
            note(f"{paint('warning', 'yellow')}: {what}")


def starting_for(
    unanswered: Callable[[ServerSetting], None] | None = None, *, accept_claims: bool = False
) -> Starting:
    """Return how servers are started by a command.

    Args:
        unanswered: Takes servers whose claims have no answer yet.
        accept_claims: Whether what servers say of their tools counts.
    """
    asks = sys.stdin.isatty() and sys.stderr.isatty()
    return Starting(
        accept_claims=accept_claims,
        ask_input=ask_input if asks else None,
        unanswered=unanswered,
        authorize=_authorize() if sys.stderr.isatty() else None,
    )


def ask_input(server: str, wanted: Input) -> str | None:
    """Ask for a value that a server needs; what is typed is not shown, and nowhere kept."""
    text = one_line(wanted.description or wanted.id)
    note(f"{server} needs a value that is not kept: {text}")
    for option in wanted.options:
        note(f"  {one_line(option)}")
    empty = " (empty: as its file says)" if wanted.default is not None else ""
    try:
        return getpass.getpass(f"{one_line(wanted.id, 60)}{empty}: ", stream=sys.stderr) or None
    except EOFError:
        return None


def _authorize() -> Authorize:
    made: list[Authorize] = []

    async def authorize(url: str) -> str:
        from lineshaft.mcp.client import loopback  # noqa: PLC0415  loads the SDK

        if not made:
            made.append(loopback(_show))
        return await made[0](url)

    return authorize


def _show(url: str) -> None:
    note(f"a server wants you to grant access; open: {clean(url)}")
    if url.startswith(("https://", "http://")):  # a server said it; nothing else is opened
        _open(url)


def _open(url: str) -> None:
    """Open an address in the person's browser, which is given none of our streams."""
    if sys.platform == "win32":
        os.startfile(url)  # noqa: S606  an address, as it was checked
        return
    program = "open" if sys.platform == "darwin" else "xdg-open"
    none = subprocess.DEVNULL
    with suppress(OSError):  # the address is told all the same
        subprocess.Popen([program, url], stdin=none, stdout=none, stderr=none)  # noqa: S603  no shell
