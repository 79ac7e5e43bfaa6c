"""Tools that a window offers: their definitions on the wire, in and out, without I/O.

Nothing vouches for what a window says of its tools. A definition that cannot be used is left out
with its reason, and the others stay; there are bounds for each and for all of them.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import cast

from msgspec import field

from lineshaft.errors import RemoteProtocolError
from lineshaft.remote.protocol.frames import DEEPEST, Json
from lineshaft.values import DecodeError, Struct, decode, too_deep

MOST_OFFERED = 500
"""Tools of one window."""

_MOST_DESCRIPTION = 20_000
_MOST_SCHEMAS = 200_000
"""Characters of both schemas of a tool, as JSON."""

_MOST_IN_ALL = 4_000_000
_MOST_TOLD = 200
"""Names of tools that are left out, and the length of each."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}")


class ClaimedEffects(Struct, frozen=True, kw_only=True):
    """A window's claim about the effects of a tool, like the claims of MCP servers."""

    read_only: bool = False
    """Whether it changes nothing."""

    destructive: bool = False
    """Whether it may destroy data for good."""

    idempotent: bool = False
    """Whether doing it twice is the same as doing it once."""


class WindowTool(Struct, frozen=True, kw_only=True):
    """The definition of a tool."""

    name: str
    """Up to 128 letters, digits and `_ . : / -`, the first of them a letter, digit or `_`."""

    input_schema: Mapping[str, object]
    """JSON Schema of the arguments, an object."""

    description: str = ""
    """For models."""

    output_schema: Mapping[str, object] | None = None
    """JSON Schema of the result; None: not known."""

    effects: ClaimedEffects = field(default_factory=ClaimedEffects)

    @property
    def sha256(self) -> str:
        """The hash of the definition: another one once anything in it changes."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


class ToolOffer(Struct, frozen=True, kw_only=True):
    """All tools that a window offers at one time."""

    tools: tuple[WindowTool, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """Why tools are missing, by name; of the first 200."""

    def tool(self, name: str) -> WindowTool | None:
        """Return a tool; None: there is none of this name."""
        return next((each for each in self.tools if each.name == name), None)


def read_offer(said: object) -> ToolOffer:
    """Return the tools of an announcement: an object whose `tools` are objects.

    Raises:
        RemoteProtocolError: It is none.
    """
    table: Json = cast("Json", said) if isinstance(said, Mapping) else {}
    listed = table.get("tools")
    if not isinstance(listed, list):
        raise RemoteProtocolError("an announcement of tools is an object with a list, `tools`")
    found: dict[str, WindowTool] = {}
    missing: dict[str, str] = {}
    room = _MOST_IN_ALL
    for number, given in enumerate(cast("list[object]", listed)):
        name = _name(given, number)
        if len(found) >= MOST_OFFERED:
            missing[name] = f"a window offers {MOST_OFFERED} tools at most"
            break
        read = _tool(given, name, found, room)
        if isinstance(read, str):
            if len(missing) < _MOST_TOLD:
                missing[name] = read
            continue
        tool, size = read
        found[name] = tool
        room -= size
    return ToolOffer(tools=tuple(found.values()), left_out=missing)


def offer_frame(offer: ToolOffer) -> Json:
    """Return tools as they are announced, and told to programs: with the hash of each."""
    tools = [{**asdict(tool), "sha256": tool.sha256} for tool in offer.tools]
    return {"tools": tools, "left_out": dict(offer.left_out)}


def _name(given: object, number: int) -> str:
    name = cast("Json", given).get("name") if isinstance(given, Mapping) else None
    return name[:_MOST_TOLD] if isinstance(name, str) else f"(tool {number})"


def _tool(
    given: object, name: str, found: Mapping[str, WindowTool], room: int
) -> tuple[WindowTool, int] | str:
    """Return a tool and the characters of its definition, or why it is left out."""
    if not isinstance(given, Mapping):
        return "it is no object"
    table = {key: value for key, value in cast("Json", given).items() if key != "sha256"}
    if too_deep(table, DEEPEST):
        return "its schemas are nested too deep"
    try:
        tool = decode(WindowTool, table)
    except DecodeError as error:
        return f"its definition cannot be read: {error}"
    if not _NAME.fullmatch(tool.name):
        return "its name has other characters than letters, digits and _.:/-, or over 128"
    if name in found:
        return "there is a tool of this name already"
    if len(tool.description) > _MOST_DESCRIPTION:
        return f"its description has more than {_MOST_DESCRIPTION:,} characters"
    try:
        schemas = len(json.dumps([tool.input_schema, tool.output_schema], allow_nan=False))
    except ValueError:
        return "its schemas are no JSON"
    if schemas > _MOST_SCHEMAS:
        return f"its schemas have more than {_MOST_SCHEMAS:,} characters"
    size = schemas + len(tool.description)
    if size > room:
        return f"all tools together have more than {_MOST_IN_ALL:,} characters"
    return tool, size
