"""Rules of settings files that fit no tool, as a person is told of them."""

from collections.abc import Collection, Iterator

from lineshaft import kit
from lineshaft.config._build import policy
from lineshaft.config._found import WINDOW, servers
from lineshaft.config._settings import Settings
from lineshaft.policy import idle_patterns
from lineshaft.tools import RUNTIME_TOOLS, Tool, Toolset, script_name
from lineshaft.values import AGENT_NAMESPACE, ASK_MODEL, COMMIT, ToolSpec

_ELSEWHERE = (*RUNTIME_TOOLS, ASK_MODEL, COMMIT, "get_errors")
"""Tools of sessions, agents and editors that are in no toolset, or not in each."""


def idle_rules(settings: Settings, offered: Toolset, *, of_all: bool = False) -> tuple[str, ...]:
    """Return a sentence for each pattern of a rule that fits no tool.

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
    if not any(
        rule.tool or rule.namespace for each in rules.layers or (rules,) for rule in each.rules
    ):
        return ()
    specs = [tool.spec for tool in _with_brought((*offered.values(), *_kit().values()))]
    specs += [ToolSpec(name=name, effect="read") for name in _ELSEWHERE]
    names = {AGENT_NAMESPACE, WINDOW, *(each.name for each in servers(settings).servers)}
    spaces = {*names, *map(script_name, names)}
    own = f"{settings.user}:"
    return tuple(
        f"the rule {idle.rule.id!r} ({idle.rule.source}) names the {idle.key} {idle.pattern!r}, "
        "and nothing here fits it" + (f"; did you mean {idle.near!r}?" if idle.near else "")
        for idle in idle_patterns(rules, specs, namespaces=spaces)
        if of_all or idle.near or not idle.rule.source.startswith(own)
    )


def _kit() -> Toolset:
    return kit.tools("default", "fetch_url")


def _with_brought(tools: Collection[Tool]) -> Iterator[Tool]:
    """Yield tools, and those that containers bring for their own calls."""
    for tool in tools:
        yield tool
        yield from _with_brought(tool.brings.values())
