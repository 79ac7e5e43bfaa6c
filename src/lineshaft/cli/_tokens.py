"""Tokens that a client would load for all tools, and those that it loads for Lineshaft.

Counted on this machine, by an encoding that lies in a package; nothing is fetched.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from msgspec import field

from lineshaft import kit
from lineshaft.cli._carry import carry
from lineshaft.cli._offer import OfferedTools, connected
from lineshaft.cli._options import guards_for
from lineshaft.cli._terminal import one_line, result
from lineshaft.config import Settings, build, serve_settings
from lineshaft.errors import ConfigError
from lineshaft.mcp.front import Front
from lineshaft.session import Session
from lineshaft.values import Struct, ToolSpec

if TYPE_CHECKING:
    from lineshaft.evals import Tokeniser

Count = Callable[[str], int]
Definitions = Sequence[dict[str, object]]
Listed = list[tuple[ToolSpec, dict[str, object]]]
"""Tools, and what a client is told of each."""


class ContextCost(Struct, frozen=True, kw_only=True):
    """The tokens of context that the tools cost a client in one way."""

    tools: int
    tokens: int
    namespaces: dict[str, int] = field(default_factory=dict[str, int])
    """Tokens by namespace; the tools of none stand under an empty name."""

    instructions: int = 0
    """Tokens of the text beside the tools; they are among `tokens`."""


class ContextCosts(Struct, frozen=True, kw_only=True):
    """The tokens of context that the tools cost a client, directly and through Lineshaft."""

    encoding: str
    directly: ContextCost
    through: ContextCost


def tell_tokens(settings: Settings, offered: OfferedTools, *, as_json: bool) -> None:
    """Print what a client would load directly, and what it loads through Lineshaft.

    Raises:
        ConfigError: There is no encoding on this machine.
    """
    tokeniser = exact_tokeniser()
    session = build(settings, toolset=offered.all, guards=guards_for(settings))
    loads = carry(partial(_loads, session, offered, settings, tokeniser))
    if as_json:
        result(json.dumps(asdict(loads), ensure_ascii=False))
        return
    rows = [("", "tools", "tokens", "")]
    if len(loads.directly.namespaces) > 1:
        rows += [
            (one_line(name, 40) or "(no namespace)", "", f"{tokens:,}", "")
            for name, tokens in sorted(loads.directly.namespaces.items())
        ]
    for name, load in (("directly", loads.directly), ("through Lineshaft", loads.through)):
        rows.append((name, f"{load.tools:,}", f"{load.tokens:,}", _share(load, loads.directly)))
    width = max(len(row[0]) for row in rows)
    for name, tools, tokens, share in rows:
        result(f"{name:<{width}}  {tools:>6}  {tokens:>9}  {share}".rstrip())


def exact_tokeniser() -> "Tokeniser":
    """Return what counts the tokens of a text.

    Raises:
        ConfigError: The packages that it needs are not there.
    """
    from lineshaft.evals import offline_tokeniser  # noqa: PLC0415  for this option alone

    tokeniser = offline_tokeniser()
    if tokeniser.is_estimate:
        raise ConfigError(
            "to count tokens needs two more packages", hint='pip install "lineshaft[tokens]"'
        )
    return tokeniser


async def _loads(
    session: Session, offered: OfferedTools, settings: Settings, tokeniser: "Tokeniser"
) -> ContextCosts:
    count = tokeniser.count
    async with session:
        await connected(offered.providers)  # a count without a slow server is no count
        said = serve_settings(settings)

        served = Front(session, direct=said.direct, approvals=said.approvals)
        own = Front(session).definitions()
        listed_each = Front(session, direct=["*"]).definitions()[len(own) :]
        each = _without_kit(list(zip(session.tools.values(), listed_each, strict=True)))
        instructions = count(served.instructions)
        listed = served.definitions()
        return ContextCosts(
            encoding=tokeniser.name,
            directly=ContextCost(
                tools=len(each),
                tokens=count(_list([definition for _, definition in each])),
                namespaces=_by_namespace(each, count),
            ),
            through=ContextCost(
                tools=len(listed),
                tokens=count(_list(listed)) + instructions,
                instructions=instructions,
            ),
        )


def _without_kit(each: Listed) -> Listed:
    """Return the tools that a client would load without Lineshaft: the kit's are not among them.

    Where there are no others, the kit's are counted.
    """
    built_in = set(kit.tools())
    return [one for one in each if one[0].name not in built_in] or each


def _by_namespace(each: Listed, count: Count) -> dict[str, int]:
    """Return the tokens of each namespace's tools."""
    found: dict[str, list[dict[str, object]]] = {}
    for spec, definition in each:
        found.setdefault(spec.namespace, []).append(definition)
    return {name: count(_list(tools)) for name, tools in found.items()}


def _list(tools: Definitions) -> str:
    """Return tools as an answer to `tools/list` has them."""
    text = json.dumps({"tools": tools}, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="replace").decode()


def _share(load: ContextCost, whole: ContextCost) -> str:
    if load is whole or not whole.tokens:
        return ""
    return f"{100 * load.tokens / whole.tokens:.0f} %"
