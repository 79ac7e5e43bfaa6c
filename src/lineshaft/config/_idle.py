"""Rules of settings files that fit no tool or no path, as a person is told of them."""

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from lineshaft import kit
from lineshaft.config._build import policy
from lineshaft.config._found import WINDOW, servers
from lineshaft.config._settings import Settings
from lineshaft.policy import Rule, idle_patterns, several
from lineshaft.tools import RUNTIME_TOOLS, Tool, Toolset, script_name
from lineshaft.values import AGENT_NAMESPACE, ASK_MODEL, COMMIT, ToolSpec

_ELSEWHERE = (*RUNTIME_TOOLS, ASK_MODEL, COMMIT, "get_errors")
"""Tools of sessions, agents and editors that are in no toolset, or not in each."""


def idle_rules(settings: Settings, offered: Toolset, *, of_all: bool = False) -> tuple[str, ...]:
    """Return a sentence for each pattern of a rule that fits no tool, or no path by its alias.

    Tools that a server, an agent or the kit may have count as there. A person's own file holds in
    every folder, so rules in it may be about tools of other projects.

    Args:
        settings: What `read_settings` settled.
        offered: The tools without those of servers.
        of_all: Whether rules of the person's own file count too whose pattern is like no name.

    Raises:
        ConfigError: The policy cannot be used.
    """
    rules = policy(settings)
    every = [rule for layer in rules.layers or (rules,) for rule in layer.rules]
    by_alias = tuple(_by_alias(settings, every))
    if not any(rule.tool or rule.namespace for rule in every):
        return by_alias
    specs = [tool.spec for tool in _with_brought((*offered.values(), *_kit().values()))]
    specs += [ToolSpec(name=name, effect="read") for name in _ELSEWHERE]
    names = {AGENT_NAMESPACE, WINDOW, *(each.name for each in servers(settings).servers)}
    spaces = {*names, *map(script_name, names)}
    own = f"{settings.user}:"
    return by_alias + tuple(
        f"the rule {idle.rule.id!r} ({idle.rule.source}) names the {idle.key} {idle.pattern!r}, "
        "and nothing here fits it" + (f"; did you mean {idle.near!r}?" if idle.near else "")
        for idle in idle_patterns(rules, specs, namespaces=spaces)
        if of_all or idle.near or not idle.rule.source.startswith(own)
    )


def _by_alias(settings: Settings, rules: Iterable[Rule]) -> Iterator[str]:
    """Yield a sentence for each path of a rule that names a folder of the workspace by an alias.

    One file has one name: there it is the one in the workspace.
    """
    if settings.in_editor or not settings.aliases:
        return
    root = Path(os.path.realpath(settings.root))
    inside = {
        f"@{name.removeprefix('@')}": real.relative_to(root).as_posix()
        for name, alias in settings.aliases.items()
        if (real := Path(os.path.realpath(alias.path))).is_relative_to(root)
    }
    for rule in rules:
        for pattern in several(rule.path):
            alias, _, rest = pattern.partition("/")
            if alias in inside:
                known = "/".join(filter(None, (inside[alias], rest)))
                yield (
                    f"the rule {rule.id!r} ({rule.source}) names the path {pattern!r}, and no call"
                    f" has such a one: {alias} is a folder of the workspace; write {known!r}"
                )


def _kit() -> Toolset:
    return kit.tools("default", "fetch_url")


def _with_brought(tools: Collection[Tool]) -> Iterator[Tool]:
    """Yield tools, and those that containers bring for their own calls."""
    for tool in tools:
        yield tool
        yield from _with_brought(tool.brings.values())
