"""Words of the person at a window: a message for an agent, or that its run is to end.

In the form of OpenHands: `message` with `content`, and `change_agent_state` to `stopped`. The
agent's name is an argument of ours.
"""

import re
from collections.abc import Mapping
from typing import cast

from lineshaft.errors import RemoteProtocolError
from lineshaft.remote.protocol.frames import Json
from lineshaft.values import Struct

MOST_SAID = 100_000
"""Characters of one message."""

_AGENT = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,199}", re.ASCII)


class PersonMessage(Struct, frozen=True, kw_only=True):
    """A message that begins a run of an agent."""

    agent: str
    """Its name, as the command line takes it: `PACK.AGENT`, or `AGENT`."""

    content: str


class PersonStop(Struct, frozen=True):
    """The run that a message began is to end."""


def read_person(frame: object) -> PersonMessage | PersonStop:
    """Read an `oh_user_action`.

    Raises:
        RemoteProtocolError: It is neither, or lacks something; the message says what to do.
    """
    if not isinstance(frame, Mapping):
        raise RemoteProtocolError("what a person says is no JSON object")
    said = cast("Json", frame)
    given = said.get("args")
    args: Json = cast("Json", given) if isinstance(given, Mapping) else {}
    match said.get("action"):
        case "change_agent_state" if args.get("agent_state") == "stopped":
            return PersonStop()
        case "message":
            return PersonMessage(agent=_agent(args.get("agent")), content=_said(args))
        case other:
            raise RemoteProtocolError(f"a person says a message or stop, not {str(other)[:80]!r}")


def _agent(given: object) -> str:
    if not isinstance(given, str) or not given:
        raise RemoteProtocolError(
            "no agent is named for the message", hint="name one in the setting lineshaft.agent"
        )
    if not _AGENT.fullmatch(given):
        raise RemoteProtocolError(
            f"{given[:80]!r} is no name of an agent", hint="`lineshaft agent list` shows them"
        )
    return given


def _said(args: Json) -> str:
    content = args.get("content")
    if not isinstance(content, str) or not content.strip():
        raise RemoteProtocolError("the message has no text")
    if len(content) > MOST_SAID:
        raise RemoteProtocolError(
            f"the message has {len(content):,} characters, over {MOST_SAID:,}",
            hint="put the long part into a file, and name that",
        )
    return content
